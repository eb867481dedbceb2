"""The private report: all that the public one says, and what only the holder of the data may know.

Exact losses and how far from the best possible they are, what became of which item, what was left out,
the whole hierarchy with the cut through it, notices. It is personal data, and says so at its top, in
its title and in print. It lies in the private twin and never in a release folder.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from ..audit.verdict import Verdict
from ..measure.before_after import BeforeAfter
from ..measure.scores import Scores
from ..release.documents import PERSONAL
from ..release.release import ObjectiveValue, Release
from .changes import Change, generalized, left_out
from .figure import Figure
from .html import (
    Content,
    Html,
    bar,
    element,
    join,
    label,
    listed,
    page,
    picture,
    section,
    table,
    terms_and_meanings,
)
from .outline import ABOVE, HIDDEN, LEFT_OUT, PUBLISHED, outline
from .sections import (
    Certificate,
    counted,
    footer,
    guarantee_name,
    making,
    plain_name,
    promises,
    questions,
    tile,
    verification,
)

MOST_CHANGES, MOST_ITEMS, MOST_LEFT_OUT, MOST_NOTICES = 25, 6, 40, 60
JUMPS: Mapping[str, str] = {
    "verdict": "Verdict",
    "loss": "Loss",
    "changes": "What became what",
    "left-out": "Left out",
    "hierarchy": "Hierarchy",
    "notices": "Notices",
    "promise": "Promise",
    "questions": "Three questions",
    "making": "Making",
    "verify": "Check it",
}


@dataclass(frozen=True)
class Extras:
    """What a report can show beside the release itself; each part may be missing.

    `scores` are measures of the loss, `frontier` pictures of what other strengths of the promise would
    cost, each with a sentence.
    """

    scores: Scores | None = None
    frontier: Sequence[tuple[Figure, str]] = ()


def private_report(
    release: Release,
    certificate: Certificate,
    *,
    verdict: Verdict,
    notices: Sequence[str],
    extras: Extras | None = None,
) -> bytes:
    """Return the page ``report.html`` of a private twin.

    Parameters
    ----------
    release
        The release; what needs the original records is left out where it does not hold them.
    certificate
        The public certificate.
    verdict
        What the audit of the written files said.
    notices
        What was noticed on the way.
    extras
        What else is shown.
    """
    extras = extras or Extras()
    pair = None if release.rows is None else BeforeAfter(release.recoding, release.rows)
    parts = [
        _verdict(verdict),
        _loss(release, extras),
        *([] if pair is None else [_changes(generalized(pair)), _left_out(release, left_out(pair))]),
        *([] if pair is None else [_hierarchy(pair)]),
        _notices(notices),
        promises(certificate),
        questions(certificate),
        making(certificate),
        verification(certificate),
    ]
    shown = [part for part in parts if part]
    jumps = [
        element("a", title, href=f"#{name}")
        for name, title in JUMPS.items()
        if any(part.startswith(f'<section id="{name}"') for part in shown)
    ]
    return page(
        f"PRIVATE report, personal data: {plain_name(certificate['guarantee'])}",
        _head(release, certificate),
        element("nav", *jumps, aria_label="Parts of this page"),
        element("main", *shown),
        footer(certificate),
        private=True,
    )


def _head(release: Release, certificate: Certificate) -> Html:
    share = release.unchanged / release.occurrences if release.occurrences else 1.0
    tiles = [
        tile(f"{release.records:,}", "records published"),
        tile(f"{len(release.labels):,}", f"labels, for {release.items:,} items in the data"),
        tile(f"{share:.1%}", "of occurrences under their own label"),
    ]
    if "ncp" in release.losses:
        tiles.append(tile(f"{float(release.losses['ncp']):.4f}", "NCP, from 0 (nothing lost) to 1"))
    useless = release.useless
    return element(
        "header",
        element("p", "setveil · report for the holder of the data", class_="kind"),
        element(
            "div",
            element("p", element("strong", "Private. "), PERSONAL),
            class_="secret",
            role="note",
        ),
        element("h1", guarantee_name(certificate["guarantee"]), ": the private report"),
        element("p", certificate["promised"][-1], class_="lead"),
        element("div", *tiles, class_="tiles"),
        element("div", element("p", _sentence(useless)), class_="warning") if useless else Html(""),
        class_="top",
    )


def _verdict(verdict: Verdict) -> Html:
    rows = [
        (
            str(found.size),
            f"{found.checked:,}",
            "-" if found.achieved_k is None else f"{found.achieved_k:,}",
            f"{found.violations:,}",
        )
        for found in verdict.by_size
    ]
    answer = "✓ The promise holds." if verdict.holds else "✗ The promise does not hold."
    parts: list[Content] = [
        element(
            "div",
            element("p", element("strong", answer), f" {verdict.guarantee}, {verdict.mode} support."),
            class_="verdict" if verdict.holds else "secret",
        )
    ]
    if verdict.smallest_support is not None:
        parts.append(
            element("p", f"The rarest combination is in {counted(verdict.smallest_support, 'record')}.")
        )
    if verdict.worst_ratio is not None:
        parts.append(element("p", f"The largest share of a sensitive label is {verdict.worst_ratio}."))
    if rows:
        parts.append(
            table(
                ("labels known", "#combinations counted", "#rarest up to here", "#violations"),
                rows[:MOST_CHANGES],
                caption="What the audit of the written files counted",
            )
        )
    parts.append(listed(verdict.notes))
    return section("verdict", "What the audit counted", *parts)


def _loss(release: Release, extras: Extras) -> Html:
    pairs: list[tuple[Content, Content]] = [
        (
            name.upper(),
            join((bar(float(loss)), f"{float(loss):.6f}, exactly {_fraction(loss)}")),
        )
        for name, loss in release.losses.items()
    ]
    pairs.append(("Distance from the best", _optimum(release.objective)))
    pairs.append(
        (
            "Kept",
            f"{release.unchanged:,} of {counted(release.occurrences, 'occurrence')} under their own "
            "label",
        )
    )
    if release.suppressed_items:
        pairs.append(
            (
                "Left out",
                f"{counted(release.suppressed_items, 'item')} with "
                f"{counted(release.suppressed, 'occurrence')}",
            )
        )
    if release.dropped:
        pairs.append(
            (
                "Dropped",
                f"{counted(len(release.dropped), 'record')} of which nothing was left, fewer than "
                "may stand out",
            )
        )
    pairs.append(
        (
            "Run",
            f"{release.method}, {release.seconds:.2f} s"
            + ("" if release.complete else ", cut short by the time limit")
            + "".join(f", {name} = {value}" for name, value in sorted(release.options.items())),
        )
    )
    parts: list[Content] = [terms_and_meanings(pairs)]
    if extras.scores is not None and len(extras.scores):
        parts.append(_scores(extras.scores))
    return section("loss", "What was lost, exactly", *parts)


def _scores(scores: Scores) -> Html:
    rows = [
        (
            score.measure.title,
            f"{float(score.value):.4f}",
            f"{score.measure.goal} is better",
            score.measure.about,
        )
        for score in scores.scores
    ]
    return table(("measure", "#value", "goal", "what it means"), rows, caption="All measures")


def _fraction(value: Fraction) -> str:
    return f"{value.numerator:,}/{value.denominator:,}"


def _optimum(objective: ObjectiveValue | None) -> str:
    if objective is None or objective.bound is None or objective.gap is None:
        return "not known: this method gives no bound"
    name, value = objective.name.upper(), float(objective.value)
    if objective.proven:
        return f"proven: no recoding of this kind has a lower {name} than {value:.6f}"
    return (
        f"at most {float(objective.gap):.6f}: {name} {value:.6f} was reached, and none is below "
        f"{float(objective.bound):.6f}"
    )


def _changes(changes: Sequence[Change]) -> Html:
    if not changes:
        said = element("p", "Nothing: every item that is published stands under its own label.")
        return section("changes", "What was generalized to what", said)
    rows: list[tuple[Content, ...]] = [
        (
            label(change.label),
            _items(change.items),
            f"{change.occurrences:,}",
            f"{change.lost:.1%}",
        )
        for change in changes[:MOST_CHANGES]
    ]
    rest = changes[MOST_CHANGES:]
    if rest:
        rows.append(
            (
                f"and {len(rest):,} more",
                "",
                f"{sum(change.occurrences for change in rest):,}",
                f"{sum(change.lost for change in rest):.1%}",
            )
        )
    return section(
        "changes",
        "What was generalized to what",
        element("p", "What costs most stands first. The numbers behind items are their occurrences."),
        table(
            ("published", "stands for", "#occurrences", "#of the loss"),
            rows,
            caption="Categories in the release and the items they stand for",
        ),
    )


def _items(items: Sequence[tuple[str, int]]) -> Html:
    named = [join((label(name), f" {count:,}")) for name, count in items[:MOST_ITEMS]]
    if len(items) > MOST_ITEMS:
        named.append(Html(f"and {len(items) - MOST_ITEMS:,} more"))
    return join(named, ", ")


def _left_out(release: Release, gone: Sequence[tuple[str, int]]) -> Html:
    if not gone:
        return Html("")
    named = [join((label(name), f" {count:,}")) for name, count in gone[:MOST_LEFT_OUT]]
    if len(gone) > MOST_LEFT_OUT:
        named.append(Html(f"and {len(gone) - MOST_LEFT_OUT:,} more"))
    dropped = (
        f"{counted(len(release.dropped), 'record')} of which nothing was left are not published."
        if release.dropped
        else "No record was dropped for it."
    )
    return section(
        "left-out",
        "What was left out",
        element(
            "p", "Items with the number of records that held them. The release does not name them."
        ),
        element("p", join(named, ", ")),
        element("p", dropped),
    )


def _hierarchy(pair: BeforeAfter) -> Html:
    """Return the whole hierarchy with the cut through it."""
    tree, nodes, leaves = pair.hierarchy, pair.node_of_occurrence, pair.rows.leaves
    published = set(nodes[nodes >= 0].tolist())
    kept = set(leaves[nodes >= 0].tolist())
    kinds = [ABOVE] * len(tree)
    for node in range(len(tree) - 1, -1, -1):
        above = int(tree.parent[node])
        if node in published:
            kinds[node] = PUBLISHED
        elif node < tree.n_leaves and node not in kept:
            kinds[node] = LEFT_OUT
        elif node < tree.n_leaves or (above >= 0 and kinds[above] in (PUBLISHED, HIDDEN)):
            kinds[node] = HIDDEN
    weight = [*pair.count_by_leaf.tolist(), *[0] * (len(tree) - tree.n_leaves)]
    for node, above in enumerate(tree.parent.tolist()):
        if above >= 0:
            weight[above] += weight[node]

    def told(node: int) -> str:
        if node < tree.n_leaves:
            return f"in {counted(weight[node], 'record')}"
        return counted(int(tree.leaf_count[node]), "item")

    def told_of_rest(rest: Sequence[int]) -> str:
        return f"and {counted(sum(int(tree.leaf_count[node]) for node in rest), 'item')} more"

    return section(
        "hierarchy",
        "The hierarchy, and the cut through it",
        element("p", "The numbers are those of the original records. The most frequent stand first."),
        outline(
            tree,
            kind_by_node=kinds,
            weight_by_node=weight,
            told_of_node=told,
            told_of_rest=told_of_rest,
        ),
    )


def frontier_section(pictures: Sequence[tuple[Figure, str]]) -> Html:
    """Return what other strengths of the promise would cost."""
    if not pictures:
        return Html("")
    drawn = [picture(figure, said) for figure, said in pictures]
    return section("frontier", "What other strengths would cost", *drawn)


def _notices(notices: Sequence[str]) -> Html:
    if not notices:
        return Html("")
    said = [_sentence(notice) for notice in notices[:MOST_NOTICES]]
    return section("notices", "Notices of the run", listed(said))


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]
