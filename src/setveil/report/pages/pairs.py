"""The two reports of a release of two data sets: what anybody may read, and what only its holder may.

The public page is made of the certificate, the published rows and the published hierarchy alone, so two
inputs that lead to the same release give the same page. The private one tells the patterns of before,
and what hiding them cost. Most patterns hold a smaller one and say little more than it. So the minimal
ones come first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from ...audit.verdict import PairFinding
from ...measure.pairs import MOST_PATTERNS, PairScores
from ...mining.emerging import EmergingPattern, EmergingPatterns
from ...mining.itemsets import Itemsets
from ...progress import where_time_went
from ...release.pair_release import PairRelease, PairTables
from ..charts import bar_chart
from ..drawing import Figure
from ..html import (
    Content,
    Html,
    bar,
    element,
    join,
    label,
    listed,
    paragraph,
    picture,
    section,
    table,
    terms_and_meanings,
)
from .sections import (
    Certificate,
    counted,
    guarantee_name,
    head_of,
    in_percent,
    labels_part,
    private_page,
    public_page,
    run_part,
)

MOST_BARS, MOST_SETS = 20, 50
MOST_COMPARED = 200_000
"""Of more patterns than this it is not told which are minimal."""


def public_report(
    certificate: Certificate, tables: PairTables, paths: Sequence[Sequence[str]]
) -> bytes:
    """Return the page of a release folder; the labels come by their `paths` up to their roots."""
    return public_page(
        certificate,
        _head(certificate, paths),
        *_parts(certificate, tables, paths),
        recoding="local recoding of two data sets",
        column="one value or a category, covered by the promise",
    )


def private_report(
    release: PairRelease,
    certificate: Certificate,
    *,
    finding: PairFinding,
    notices: Sequence[str],
    scores: PairScores,
    seconds: Mapping[str, float],
) -> bytes:
    """Return the page for the holder of the data alone, with what the audit said and what it cost."""
    paths = [release.pair.hierarchy.path(name) for name in release.published.labels]
    columns = release.pair.is_table
    return private_page(
        certificate,
        _head(certificate, paths),
        _patterns_before(scores, columns=columns),
        _patterns_after(finding),
        _rarer_sets(scores),
        _raised(scores, columns=columns),
        _frequent_sets(scores),
        *_parts(certificate, release.published, paths),
        run_part(
            release,
            "How the run went",
            ("Data sets", listed(map(label, release.pair.names))),
            ("Time", where_time_went(seconds)),
            ("Search", "went to its end" if release.complete else "was ended by the time limit"),
        ),
        notices=notices,
    )


def _parts(
    certificate: Certificate, tables: PairTables, paths: Sequence[Sequence[str]]
) -> tuple[Html, Html]:
    return _data_sets(certificate, tables), _labels(tables, paths)


def _head(certificate: Certificate, paths: Sequence[Sequence[str]]) -> Html:
    first, second = (part["records"] for part in certificate["data"]["parts"])
    name = guarantee_name(certificate)
    return head_of(
        certificate,
        [
            (f"{first:,}", "records in the first data set"),
            (f"{second:,}", "records in the second"),
            (f"{len(paths):,}", "label" if len(paths) == 1 else "different labels"),
        ],
        name=Html(name[:1].upper() + name[1:]),
    )


def _data_sets(certificate: Certificate, tables: PairTables) -> Html:
    """Return what the two files are."""
    data = certificate["data"]
    classes = data.get("classes")
    told: list[Content] = ["data set 1", "data set 2"]
    said: Content = "Two data sets of the same kind, to be compared with each other."
    if classes is not None:
        told = [join((label(classes["column"]), " = ", label(value))) for value in classes["values"]]
        said = join(
            (
                "One table was split in two by the column ",
                label(classes["column"]),
                ", which is not in the files: the file tells the class.",
            )
        )
    rows: list[tuple[Content, ...]] = []
    for name, part, side in zip(told, data["parts"], tables.sides, strict=True):
        empty = int((side.length_by_record == 0).sum())
        number = f"{len(side.items) / len(side):.1f}" if len(side) else "0"
        rows.append((element("code", part["file"]), name, f"{part['records']:,}", f"{empty:,}", number))
    return section(
        "data",
        "The data sets",
        paragraph(said),
        table(
            ("file", "holds", "#records", "#of them empty", "#values a record, on average"),
            rows,
            caption="The two files",
        ),
    )


def _labels(tables: PairTables, paths: Sequence[Sequence[str]]) -> Html:
    """Return the published hierarchy, with how many records of either data set hold each label."""
    records = [max(len(side), 1) for side in tables.sides]
    counts = [
        Counter(dict(zip(side.vocabulary.labels, side.count_by_item.tolist(), strict=True)))
        for side in tables.sides
    ]

    def told_of_label(name: str) -> str:
        first, second = (
            f"{count[name] / number:.1%}" for count, number in zip(counts, records, strict=True)
        )
        return f"in {first} and {second} of the records"

    return labels_part(
        paths,
        {name: sum(count[name] for count in counts) for name in chain(*counts)},
        told_of_label,
        paragraph(
            f"{counted(len(paths), 'label')} can stand in a record. A category stands for a value "
            "below it; which one is not told. A value can stand in one record and a category above it "
            "in another. The numbers are the shares of the records of the first and of the "
            "second data set."
        ),
    )


def _patterns_after(finding: PairFinding) -> Html:
    """Return what the audit counted in the written files."""
    said = "Counted by the audit in the published files: no pattern is left, "
    if finding.guarantee.every_level:
        said += "neither of values as they stand nor of the categories above them."
    else:
        said += (
            "values taken as they stand. Whoever reads a value also as every category above it, at "
            "every level, may still see some: they are counted here, but nothing is promised of them."
        )
    return section("after", "Patterns after", paragraph(said), terms_and_meanings(finding.lines()))


def _patterns_before(scores: PairScores, *, columns: bool) -> Html:
    """Return the patterns of before: first the minimal ones, of these the fastest growing."""
    title, found = "Patterns before", scores.before
    if found is None:
        return section("before", title, paragraph("There are too many to be listed."))
    growth = scores.guarantee.growth
    if not len(found):
        told = f"None of growth {growth} or more: nothing had to be hidden."
        return section("before", title, paragraph(told))
    is_minimal = minimal_patterns(found)
    kind = "closed set" if found.options.get("kind") == "closed" else "set"
    jumping = len(found.jumping)
    said = f"{counted(len(found), kind)} of values in the originals had a growth of {growth} or more"
    said += (
        f"; {counted(jumping, 'of them is', 'of them are')} in one data set alone." if jumping else "."
    )
    if is_minimal is None:
        number, which = len(found), "patterns"
        first, rest = list(found[:MOST_PATTERNS]), []
        said += " They are too many to tell which are minimal."
    else:
        number, which = int(is_minimal.sum()), "minimal patterns"
        first = [found[place] for place in np.flatnonzero(is_minimal)[:MOST_PATTERNS].tolist()]
        left = np.flatnonzero(~is_minimal)[: MOST_PATTERNS - len(first)]
        rest = [found[place] for place in left.tolist()]
        said += (
            f" {counted(number, 'of them is', 'of them are')} minimal: without a smaller one among "
            "them that is more frequent in the same data set."
        )
    all_told = len(first) == number
    caption = f"All {which}" if all_told else f"The {len(first)} fastest growing {which}"
    others = f"Of the others, which add values to these, the {len(rest)} fastest growing"
    return section(
        "before",
        title,
        paragraph(said),
        picture(
            _growths(first[:MOST_BARS], scores, columns, which),
            "A pattern that is in one data set only has no finite growth: its bar is the longest."
            if any(pattern.is_jumping for pattern in first[:MOST_BARS])
            else "",
        ),
        _listed(first, caption),
        _listed(rest, others) if rest else "",
    )


def minimal_patterns(found: EmergingPatterns) -> NDArray[np.bool_] | None:
    """Tell which patterns hold no smaller one more frequent in the same data set; None for too many."""
    if len(found) > MOST_COMPARED:
        return None
    is_minimal = np.zeros(len(found), dtype=np.bool_)
    for side in np.unique(found.side_by_pattern):
        places = np.flatnonzero(found.side_by_pattern == side)
        sets = found.sets.take(places)
        bits_by_item = _bits_by_item(sets)
        # A bit for each pattern: whether a minimal one is part of it.
        above = np.zeros((len(sets) + 7) // 8, dtype=np.uint8)
        for size in np.unique(sets.size_by_set):
            is_above = np.unpackbits(above, count=len(sets)).astype(np.bool_)
            chosen = np.flatnonzero((sets.size_by_set == size) & ~is_above)
            is_minimal[places[chosen]] = True
            for items in sets.take(chosen):
                above |= np.bitwise_and.reduce([bits_by_item[item] for item in items])
    return is_minimal


def _bits_by_item(sets: Itemsets) -> dict[int, NDArray[np.uint8]]:
    """Return for each item a bit for each set: whether it is in it."""
    order = np.argsort(sets.items, kind="stable")
    holder = np.repeat(np.arange(len(sets)), sets.size_by_set)[order]
    items, starts = np.unique(sets.items[order], return_index=True)
    bits_by_item = {}
    for item, holders in zip(items.tolist(), np.split(holder, starts[1:]), strict=True):
        is_in = np.zeros(len(sets), dtype=np.bool_)
        is_in[holders] = True
        bits_by_item[item] = np.packbits(is_in)
    return bits_by_item


def _listed(patterns: Sequence[EmergingPattern], caption: str) -> Html:
    """Return a table so narrow that a phone shows growth and shares without scrolling."""
    rows: list[tuple[Content, ...]] = []
    for pattern in patterns:
        shares = element(
            "span",
            f"{in_percent(float(pattern.share))} of ",
            label(pattern.more_frequent_in),
            f", {in_percent(float(pattern.share_elsewhere))} of the other",
            class_="note",
        )
        rows.append((pattern.told_growth, join((_labels_of(pattern.items), shares))))
    return table(
        ("#growth", "pattern, and the shares of the records that hold it"), rows, caption=caption
    )


def _labels_of(items: Sequence[str]) -> Html:
    return join(map(label, items), ", ")


def _growths(
    patterns: Sequence[EmergingPattern], scores: PairScores, columns: bool, which: str
) -> Figure:
    finite = [float(pattern.growth) for pattern in patterns if pattern.growth is not None]
    # A jumping pattern has no length: it gets the longest there is, and says so.
    longest = max(finite, default=float(scores.guarantee.growth)) * 1.1
    items = {item for pattern in patterns for item in pattern.items}
    value_of = {item: item.partition("=")[2] if columns else item for item in items}
    # A value that two columns have is named with its column.
    times = Counter(value_of.values())
    name_of = {item: value if times[value] == 1 else item for item, value in value_of.items()}
    return bar_chart(
        [
            (
                ", ".join(name_of[item] for item in pattern.items),
                longest if pattern.growth is None else float(pattern.growth),
            )
            for pattern in patterns
        ],
        title=f"Growth of the {which} of before",
        x_label="times as frequent in one data set as in the other",
        told=["only there" if pattern.is_jumping else pattern.told_growth for pattern in patterns],
        groups=[f"more frequent in {pattern.more_frequent_in}" for pattern in patterns],
    )


def _raised(scores: PairScores, *, columns: bool) -> Html:
    """Return how far values were raised, by `columns` of tables or by hierarchies."""
    share = scores.raised / scores.values if scores.values else 0.0
    steps = max((len(column.values_by_steps) for column in scores.columns), default=1)
    heads = ["column" if columns else "hierarchy", "#values", "#as they are"]
    heads += [f"#{step} up" for step in range(1, steps)]
    rows: list[tuple[Content, ...]] = []
    for column in scores.columns:
        counts = [*column.values_by_steps, *(0,) * (steps - len(column.values_by_steps))]
        rows.append(
            (
                label(column.name),
                f"{column.values:,}",
                *(f"{count:,}" for count in counts),
                f"{float(column.ncp):.3f}",
                bar(column.raised / column.values if column.values else 0.0),
            )
        )
    return section(
        "raised",
        "What was raised",
        paragraph(
            f"{counted(scores.raised, 'value')} of {scores.values:,} ({in_percent(share)}) are "
            "published as something more general."
        ),
        paragraph(
            f"NCP {float(scores.ncp):.4f}: 0 where all values are as they are, 1 where all are "
            "raised to the root."
        ),
        table(
            (*heads, "#NCP", "share raised"),
            rows,
            caption="Values by how many steps up they are published",
        ),
    )


def _rarer_sets(scores: PairScores) -> Html:
    """Return what became of sets that are too rare to be patterns, or nothing where none is."""
    found = scores.rarer
    if found is None:
        return Html("")
    title = "Rarer sets"
    if found.before is None or found.after is None:
        return section("rarer", title, paragraph(f"{found.told[:1].upper()}{found.told[1:]}."))
    kind = "Closed sets" if found.kind == "closed" else "Sets"
    rows: list[tuple[Content, ...]] = [
        (when, f"{one.patterns:,}", f"{one.jumping:,}", one.told_largest)
        for when, one in (("before", found.before), ("after", found.after))
    ]
    return section(
        "rarer",
        title,
        paragraph(
            f"{kind} of values with a growth of {scores.guarantee.growth} or more, counted from half "
            f"the minimum support on ({found.told_support}). Nothing is promised of those below the "
            "minimum support: hiding moves supports, and can make such a difference larger than it was."
        ),
        table(
            ("when", "#patterns", "#in one data set alone", "#largest finite growth"),
            rows,
            caption="Patterns from half the minimum support on",
        ),
    )


def _frequent_sets(scores: PairScores) -> Html:
    """Return what became of the frequent sets of values."""
    title, found = "Frequent sets of values", scores.frequent
    if not found.kept:
        return section("frequent", title, paragraph("No set of values was frequent."))
    fates = scores.fates
    largest = found.largest
    share = float(found.distortion / largest) if largest else 0.0
    order = sorted(found.kept, key=lambda one: (one.distance is not None, -(one.distance or 0)))
    rows: list[tuple[Content, ...]] = [
        (
            _labels_of(one.items),
            _labels_of(one.published) if one.published else "lost",
            "" if one.distance is None else f"{float(one.distance):.2f}",
            f"{float(one.largest):.2f}",
        )
        for one in order[:MOST_SETS]
    ]
    caption = "All frequent sets" if len(rows) == len(found.kept) else f"The {len(rows)} that lost most"
    return section(
        "frequent",
        title,
        paragraph(
            f"Of {counted(len(found.kept), 'maximal frequent set')} {fates['exactly']:,} are kept, "
            f"{fates['in a general form']:,} have a more general form, and {fates['lost']:,} are lost. "
            f"The distortion is {in_percent(share)} of the largest possible, lost sets aside."
        ),
        table(
            ("frequent before", "frequent after", "#distance", "#largest possible"),
            rows,
            caption=caption,
        ),
    )
