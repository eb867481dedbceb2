"""One picture a method: its idea on the papers' toy data, drawn from what the code really does.

Cuts, supports, walks and parts come from running the methods on `io.demo.toy`; only the arrangement on
the sheet and the words are made here.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from fractions import Fraction

import numpy as np

from setveil.engines.local import LocalEngine
from setveil.io.demo import toy
from setveil.methods import Outcome, direct, local, optimal, partition, vertical
from setveil.model.costs import make_cost
from setveil.model.guarantees import KAnonymity, KmAnonymity
from setveil.progress import Watch
from setveil.release.recoding import Recoding
from setveil.report.drawing import (
    ABOVE,
    CHOSEN,
    GREEN,
    HIDDEN,
    INK,
    MUTED,
    PLAIN,
    PUBLISHED,
    RARE,
    REMARK,
    RULE,
    VERMILION,
    Drawing,
    Style,
    text_width,
)
from setveil.report.tree_picture import place_tree, styles_of
from setveil.search.cuts import next_cuts
from setveil.search.parts import gray_order, gray_rank

DATA, TREE = toy()
ENGINE = LocalEngine.of(DATA, TREE)
LABELS = ENGINE.hierarchy.labels
COST = make_cost("ncp", ENGINE.hierarchy)
GOAL = KmAnonymity(k=2, m=2)
NODE = ENGINE.hierarchy.node_of_label


def rows_as_labels() -> list[list[str]]:
    """Return the toy's records as labels, in their order."""
    rows = ENGINE.rows()
    return [
        [LABELS[leaf] for leaf in rows.leaves[start:end].tolist()]
        for start, end in zip(rows.indptr[:-1].tolist(), rows.indptr[1:].tolist(), strict=True)
    ]


def recoded(row: Iterable[str], recoding: Recoding, group: int = 0) -> list[str]:
    """Return a record as a recoding publishes it."""
    node_of_leaf = recoding.node_of_leaf(group)
    return sorted({LABELS[node_of_leaf[NODE[label]]] for label in row})


def supports(nodes: Sequence[Sequence[int]]) -> list[int]:
    """Return in how many records each set of nodes is."""
    width = max(len(one) for one in nodes)
    sets = np.array([[*one, *[-1] * (width - len(one))] for one in nodes], dtype=np.int32)
    return [int(support) for support in ENGINE.supports(sets)]


def support_by_node() -> dict[int, int]:
    """Return in how many records each node is."""
    return dict(enumerate(supports([[node] for node in range(len(LABELS))])))


def loss_of(recoding: Recoding) -> Fraction:
    """Return the NCP of a global recoding of the toy."""
    counts = ENGINE.item_counts()
    paid = int((COST.weighted_counts(counts) * COST.unit_by_node[recoding.node_of_leaf()]).sum())
    return COST.share(paid, counts)


def chips(
    sheet: Drawing,
    x: float,
    y: float,
    labels: Iterable[str],
    *,
    marked: Collection[str] = (),
    style: Style = PLAIN,
    mark: Style = RARE,
) -> float:
    """Draw labels as small boxes in a line; return where the line ends."""
    for label in labels:
        width = text_width(label, 12) + 14
        sheet.label_box(x, y - 15, width, 21, label, mark if label in marked else style, size=12)
        x += width + 5
    return x


def record_list(
    sheet: Drawing,
    x: float,
    y: float,
    rows: Sequence[Sequence[str]],
    *,
    names: Sequence[str] = (),
    marked: Callable[[Sequence[str]], Collection[str]] = lambda _row: (),
    style: Style = PLAIN,
    step: float = 29,
) -> None:
    """Draw records below each other, each a line of labels after its name."""
    for place, row in enumerate(rows):
        foot = y + place * step
        left = x
        if names:
            sheet.text(x, foot, names[place], size=12, colour=MUTED)
            left += 30
        chips(sheet, left, foot, row, marked=marked(row), style=style)


def both(*labels: str) -> Callable[[Sequence[str]], Collection[str]]:
    """Return a rule that marks these labels in records that hold them all."""
    return lambda row: labels if set(labels) <= set(row) else ()


def aa() -> str:
    """Apriori anonymization: sizes one after the other, each on the cut left by the one before."""
    sheet = Drawing(
        940,
        334,
        title="aa: small sets first",
        description="No single item is rare. The pair a1, a2 is in one record, so both become A.",
    )
    rows, names = rows_as_labels(), ["t1", "t2", "t3", "t4"]
    hierarchy = ENGINE.hierarchy
    leaves = range(hierarchy.n_leaves)
    pair = [NODE["a1"], NODE["a2"]]
    sheet.heading(24, 34, "k = 2, m = 2")
    record_list(sheet, 24, 78, rows, names=names, marked=both("a1", "a2"))
    sheet.lines(24, 226, [f"{{a1, a2}}: {supports([pair])[0]} record, rare."], colour=VERMILION)
    sheet.heading(214, 34, "Single items: none is rare", number="1.")
    found = styles_of(hierarchy, leaves)
    place_tree(sheet, hierarchy, 206, 56, 320, styles=found, support_by_node=support_by_node())
    sheet.lines(214, 272, ["Every item is in at least 2 records.", "Nothing has to rise."])
    sheet.heading(560, 34, "Pairs: {a1, a2} rises to A", number="2.")
    cut = Recoding.from_cut(hierarchy, [NODE["A"], NODE["b1"], NODE["b2"]])
    after = styles_of(hierarchy, cut.cut().tolist()) | dict.fromkeys(pair, RARE)
    place_tree(sheet, hierarchy, 552, 56, 320, styles=after, support_by_node=support_by_node())
    x = 560.0
    for row in (recoded(row, cut) for row in rows):
        x = chips(sheet, x, 280, row, style=PUBLISHED) + 8
    sheet.lines(560, 312, [f"The four published records. NCP {float(loss_of(cut)):.4f}."])
    return sheet.svg()


def da() -> str:
    """Direct anonymization: every leaf of the one count-tree in preorder."""
    visits: list[direct.Visit] = []
    outcome = direct.anonymize(ENGINE, GOAL, cost=COST, watch=Watch(), listener=visits.append)
    sheet = Drawing(
        780,
        372,
        title="da: one count-tree, one walk",
        description="Leaves of the count-tree in preorder, with supports. The rare one is repaired.",
    )
    sheet.heading(24, 34, "The count-tree's leaves, most frequent nodes first")
    looks = {"fine": PUBLISHED, "rare": RARE, "skipped": HIDDEN}
    words = {"fine": "fine", "rare": "rare: repair", "skipped": "passed over"}
    half = (len(visits) + 1) // 2
    for place, visit in enumerate(visits):
        x, y = 24 + 262 * (place // half), 76 + 42 * (place % half)
        sheet.text(x, y, f"{place + 1}.", size=12, colour=MUTED)
        end = x + 28
        for node in visit.nodes:
            if end > x + 28:
                sheet.line(end - 5, y - 5, end + 3, y - 5)
                end += 3
            end = chips(sheet, end, y, [LABELS[node]], style=looks[visit.verdict])
        told = f"in {visit.support}: {words[visit.verdict]}"
        colour = VERMILION if visit.verdict == "rare" else INK if visit.verdict == "fine" else MUTED
        sheet.text(x + 128, y, told, size=12, colour=colour)
    rare = next(visit for visit in visits if visit.verdict == "rare")
    sheet.heading(560, 34, "The repair")
    y = 76
    end = chips(sheet, 560, y, [LABELS[node] for node in rare.nodes], style=RARE)
    sheet.line(end + 4, y - 5, end + 36, y - 5, colour=MUTED, arrow=True)
    chips(sheet, end + 44, y, [LABELS[node] for node in rare.risen], style=CHOSEN)
    sheet.lines(
        560,
        112,
        [
            "The cheapest raising that",
            "brings the pair to 2 records.",
            "From now on a1 and a2 are",
            "out of force: paths with",
            "them are passed over.",
        ],
    )
    sheet.lines(560, 226, ["Published:"], colour=INK)
    chips(sheet, 560, 252, [LABELS[node] for node in outcome.recoding.cut().tolist()], style=PUBLISHED)
    tree_nodes = outcome.figures["count_tree_nodes"]
    sheet.lines(
        24, 344, [f"The whole tree has {tree_nodes} nodes here; on real data that is what stops da."]
    )
    return sheet.svg()


def oa() -> str:
    """The lattice of cuts: the first valid one on each way up."""
    hierarchy = ENGINE.hierarchy
    start = frozenset(range(hierarchy.n_leaves))
    levels: list[list[frozenset[int]]] = [[start]]
    while levels[-1]:
        above = {cut for one in levels[-1] for cut in next_cuts(hierarchy, one)}
        levels.append(sorted(above, key=lambda cut: sorted(LABELS[node] for node in cut)))
    levels.pop()
    sheet = Drawing(
        780,
        430,
        title="oa: climb the lattice of cuts",
        description="The five cuts. The lowest breaks the promise; the cheapest that holds is taken.",
    )
    sheet.heading(24, 34, "The five cuts; upwards, more is generalized")
    middle: dict[frozenset[int], tuple[float, float]] = {}
    for level, cuts in enumerate(levels):
        for place, cut in enumerate(cuts):
            x = 390 + (place - (len(cuts) - 1) / 2) * 270
            middle[cut] = (x, 380 - level * 102)
    for cut, (x1, y1) in middle.items():
        for above in next_cuts(hierarchy, cut):
            x2, y2 = middle[above]
            sheet.line(x1, y1 - 26, x2, y2 + 26)
    valid = [cut for cut in middle if _holds(cut)]
    best = min(valid, key=lambda cut: loss_of(Recoding.from_cut(hierarchy, sorted(cut))))
    for cut, (x, y) in middle.items():
        style = CHOSEN if cut == best else PUBLISHED if cut in valid else RARE
        labels = ", ".join(LABELS[node] for node in Recoding.from_cut(hierarchy, sorted(cut)).cut())
        loss = float(loss_of(Recoding.from_cut(hierarchy, sorted(cut))))
        said = "cheapest" if cut == best else "holds" if cut in valid else "publishes a rare set"
        sheet.label_box(x - 98, y - 26, 196, 52, labels, style, note=f"NCP {loss:.4f}, {said}", size=14)
    sheet.lines(
        24,
        70,
        ["Above a cut that holds,", "all hold and none", "costs less: the climb", "stops there."],
    )
    return sheet.svg()


def _holds(cut: Iterable[int]) -> bool:
    recoding = Recoding.from_cut(ENGINE.hierarchy, sorted(cut))
    return len(ENGINE.violations(recoding, GOAL, limit=1)) == 0


def lra() -> str:
    """Local recoding: Gray order, chunks, a cut for each."""
    rows = ENGINE.rows()
    order = gray_order(rows, ENGINE.hierarchy.n_leaves).tolist()
    outcome = local.anonymize(ENGINE, GOAL, cost=COST, watch=Watch(), parts=2, f=0)
    groups = outcome.recoding.group_of_record
    assert groups is not None
    sheet = Drawing(
        820,
        318,
        title="lra: similar records together, a cut for each chunk",
        description="The records in Gray order, cut into two chunks that are anonymized one by one.",
    )
    bits = list(reversed(LABELS[: ENGINE.hierarchy.n_leaves]))
    sheet.heading(24, 34, "Sort by Gray code", number="1.")
    sheet.heading(318, 34, "Cut into chunks", number="2.")
    sheet.heading(548, 34, "A cut for each chunk", number="3.")
    for column, label in enumerate(bits):
        sheet.text(88 + 38 * column, 68, label, size=12, colour=MUTED, anchor="middle")
    sheet.text(252, 68, "rank", size=12, colour=MUTED, anchor="middle")
    labels = rows_as_labels()
    last = None
    for place, record in enumerate(order):
        y = 96 + place * 36 + (22 if groups[record] else 0)
        if last is not None and groups[record] != last:
            sheet.line(24, y - 33, 790, y - 33, colour=VERMILION, dashed=True)
        last = groups[record]
        sheet.text(24, y, f"t{record + 1}", size=13)
        for column, label in enumerate(bits):
            has = label in labels[record]
            sheet.label_box(
                72 + 38 * column, y - 18, 32, 26, "1" if has else "0", PUBLISHED if has else PLAIN
            )
        leaves = rows.leaves[rows.indptr[record] : rows.indptr[record + 1]].tolist()
        sheet.text(252, y, str(gray_rank(leaves)), size=13, anchor="middle")
        chips(sheet, 318, y, labels[record])
        sheet.line(488, y - 5, 532, y - 5, colour=MUTED, arrow=True)
        after = recoded(labels[record], outcome.recoding, int(groups[record]))
        chips(sheet, 548, y, after, style=PUBLISHED)
    sheet.text(790, 124, "chunk 1", size=12, colour=MUTED, anchor="end")
    sheet.text(790, 216, "chunk 2", size=12, colour=MUTED, anchor="end")
    sheet.lines(
        24,
        278,
        [
            "Chunks as small as these have to give up much. With thousands of records, an item that is",
            "rare in one chunk may stay as it is in another. It is published sorted: Gray order leaks.",
        ],
    )
    return sheet.svg()


def vpa() -> str:
    """Vertical partitioning: the domain is split, not the records."""
    hierarchy = ENGINE.hierarchy
    part_of_leaf = vertical.domain_parts(hierarchy, ENGINE.item_counts(), 2, 1).tolist()
    outcome = vertical.anonymize(ENGINE, GOAL, cost=COST, watch=Watch(), parts=2)
    sheet = Drawing(
        820,
        330,
        title="vpa: split the items, not the records",
        description="Items under A and items under B are anonymized apart; a last pass joins them.",
    )
    rows = rows_as_labels()
    names = ["t1", "t2", "t3", "t4"]
    for part, (x, name) in enumerate(((24, "A"), (282, "B"))):
        sheet.heading(x, 34, f"Items under {name} alone", number=f"{part + 1}.")
        sheet.box(x, 50, 236, 240, Style("#ffffff", RULE, INK))
        kept = {LABELS[leaf] for leaf, own in enumerate(part_of_leaf) if own == part}
        seen = [[label for label in row if label in kept] for row in rows]
        record_list(sheet, x + 14, 80, seen, names=names, marked=both("a1", "a2"))
        nodes = [node for node in outcome.recoding.cut().tolist() if hierarchy.covers(NODE[name], node)]
        said = "rare pair, so" if part == 0 else "nothing rare, so"
        sheet.text(x + 14, 218, said, size=12.5, colour=VERMILION if part == 0 else MUTED)
        chips(sheet, x + 14, 248, [LABELS[node] for node in nodes], style=CHOSEN)
        sheet.text(x + 14, 274, "is committed" if part == 0 else "stay", size=12.5, colour=MUTED)
    sheet.line(524, 170, 556, 170, colour=MUTED, arrow=True)
    sheet.heading(572, 34, "All items, cuts kept", number="3.")
    after = [recoded(row, outcome.recoding) for row in rows]
    record_list(sheet, 572, 80, after, names=names, style=PUBLISHED)
    sheet.lines(
        572,
        218,
        [
            "Only sets that reach over",
            "both parts are left to check,",
            "on a smaller domain.",
            f"Repairs needed here: {outcome.figures['repairs']}.",
        ],
    )
    return sheet.svg()


def partition_picture() -> str:
    """Partition: from the root downwards, as long as every part keeps k records."""
    outcome = partition.anonymize(ENGINE, KAnonymity(2), cost=COST, watch=Watch())
    groups = outcome.recoding.group_of_record
    assert groups is not None
    rows = rows_as_labels()
    sheet = Drawing(
        820,
        404,
        title="partition: start at the root, split while k records stay together",
        description="All records begin as ALL, then A and B; one part is split further.",
    )
    sheet.heading(24, 34, "From the top down, k = 2")

    def part(
        x: float, y: float, width: float, records: Sequence[int], group: int | None, cut: str
    ) -> None:
        style = PUBLISHED if group is not None else ABOVE
        sheet.box(x, y, width, 62, style)
        sheet.text(x + 14, y + 24, cut, size=14, bold=True)
        said = ", ".join(f"t{record + 1}" for record in records)
        sheet.text(x + 14, y + 47, f"{len(records)} records: {said}", size=12, colour=MUTED)

    everyone = list(range(len(rows)))
    part(290, 54, 240, everyone, None, "{ALL}")
    sheet.line(410, 116, 410, 146, colour=MUTED, arrow=True)
    sheet.text(424, 137, "ALL splits: every record holds both children", size=12, colour=MUTED)
    part(290, 150, 240, everyone, None, "{A, B}")
    ends = ((90, 246), (490, 246))
    finals = sorted(
        range(outcome.recoding.n_groups), key=lambda group: -len(outcome.recoding.cut(group))
    )
    for group, (x, y) in zip(finals, ends, strict=True):
        sheet.line(410, 212, x + 120, y - 3, colour=MUTED, arrow=True)
        records = [record for record in everyone if groups[record] == group]
        published = recoded(rows[records[0]], outcome.recoding, group)
        part(x, y, 240, records, group, "{" + ", ".join(published) + "}")
    sheet.text(90, 330, "B splits for those with the same children", size=12, colour=MUTED)
    sheet.text(490, 330, "the rest stays: alone it would be too few", size=12, colour=MUTED)
    sheet.lines(
        24,
        364,
        [
            "Every part publishes one set, which at least k records share. A node is split only where",
            "that stays so; the split that saves most loss is tried first.",
        ],
    )
    return sheet.svg()


class _Recorded(optimal.Search):
    """The search, with its bound after each LP."""

    def report(self, stage: str) -> None:
        """Note bound and incumbent."""
        self.__dict__.setdefault("history", []).append((self.bound, self.best_cost))
        super().report(stage)


def optimal_picture() -> str:
    """The clauses of rare sets, and the bound that meets the incumbent."""
    hierarchy = ENGINE.hierarchy
    search = _Recorded(ENGINE, GOAL, COST, Watch(), optimal.ClausePool())
    outcome: Outcome = search.run(seed=True)
    whole = COST.whole(ENGINE.item_counts())
    found = ENGINE.violations(Recoding.identity(hierarchy), GOAL)
    sheet = Drawing(
        900,
        372,
        title="optimal: every rare set is a clause, and the bound meets the best cut",
        description="Rare sets give clauses. The lower bound rises to the cost of a valid cut.",
    )
    sheet.heading(24, 34, "Rare sets", number="1.")
    for place, (nodes, support) in enumerate(
        zip(found.sets.tolist(), found.support.tolist(), strict=True)
    ):
        y = 78 + 88 * place
        end = chips(sheet, 24, y, [LABELS[node] for node in nodes if node >= 0], style=RARE)
        sheet.text(end + 6, y, f"in {support} record", size=12.5, colour=VERMILION)
        parents = sorted({int(hierarchy.parent[node]) for node in nodes if node >= 0})
        clause = " or ".join(LABELS[node] for node in parents)
        sheet.text(24, y + 28, f"so: generalize to {clause}", size=12.5)
        sheet.text(
            24, y + 46, " + ".join(f"z({LABELS[p]})" for p in parents) + " ≥ 1", size=12.5, colour=GREEN
        )
    sheet.heading(250, 34, "Cheapest z for all clauses", number="2.")
    styles = styles_of(hierarchy, outcome.recoding.cut().tolist())
    place_tree(sheet, hierarchy, 242, 60, 320, styles=styles, support_by_node=support_by_node())
    first = hierarchy.n_leaves
    z = {first + column: int(on) for column, on in enumerate(search.best.tolist())}  # type: ignore[union-attr]
    told = [f"z({LABELS[node]}) = {value}" for node, value in z.items()]
    costs = [
        f"{LABELS[first + column]} {cost}" for column, cost in enumerate(search.model.coefficients)
    ]
    sheet.text(250, 282, ", ".join(told), size=12.5, colour=GREEN)
    sheet.lines(250, 308, ["Added cost, in integers: " + ", ".join(costs) + "."])
    sheet.lines(250, 328, ["z of a node means: published at it or above."])
    sheet.heading(610, 34, "The bound closes the gap", number="3.")
    left, bottom, top, right = 656.0, 282.0, 80.0, 868.0
    history: list[tuple[int, int | None]] = search.__dict__["history"]
    most = max(best or 0 for _, best in history)

    def height(value: int) -> float:
        return bottom - (bottom - top) * 0.86 * value / most

    sheet.line(left, bottom, right, bottom, colour=MUTED)
    sheet.line(left, bottom, left, top - 6, colour=MUTED)
    step = (right - left) / (len(history) + 0.4)
    line_y = height(most)
    sheet.line(left, line_y, right, line_y, colour=GREEN, weight=2.4)
    sheet.text(left + 8, line_y - 15, f"valid cut: {most} of {whole}", size=12.5, colour=GREEN)
    before: tuple[float, float] | None = None
    for round_number, (bound, _) in enumerate(history):
        x, y = left + step * (round_number + 0.55), height(bound)
        if before is not None:
            sheet.line(*before, x, y, colour="#0072b2", weight=2.4)
        before = (x, y)
    for round_number, (bound, _) in enumerate(history):
        x, y = left + step * (round_number + 0.55), height(bound)
        sheet.label_box(x - 15, y - 13, 30, 26, str(bound), PUBLISHED)
        sheet.text(x, bottom + 28, f"LP {round_number + 1}", size=12, colour=MUTED, anchor="middle")
    sheet.text(left - 6, height(0) + 4, "0", size=12, colour=MUTED, anchor="end")
    sheet.text(left - 6, line_y + 4, str(most), size=12, colour=MUTED, anchor="end")
    sheet.lines(610, 340, [f"Bound = cost: proven, NCP {float(Fraction(most, whole)):.4f}."])
    sheet.box(24, 258, 206, 74, REMARK)
    sheet.lines(
        36,
        280,
        [
            "Clauses are found as they",
            f"are needed: {len(search.model.clauses)} were enough",
            "for this tree's five cuts.",
        ],
        colour=INK,
    )
    return sheet.svg()


PICTURES: dict[str, Callable[[], str]] = {
    "aa": aa,
    "da": da,
    "oa": oa,
    "lra": lra,
    "vpa": vpa,
    "partition": partition_picture,
    "optimal": optimal_picture,
}
