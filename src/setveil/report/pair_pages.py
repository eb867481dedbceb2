"""The two reports of a release of two data sets: what anybody may read, and what only its holder may.

The public page is made of the certificate, the published rows and the published hierarchy alone, so two
inputs that lead to the same release give the same page.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..audit.pair_finding import PairFinding
from ..hierarchy.tree import Hierarchy
from ..measure.pair_scores import PairScores
from ..progress import where_time_went
from ..release.pair_release import PairRelease, PairTables
from .html import Content, Html, element, join, label, listed, page, section, table, terms_and_meanings
from .outline import ABOVE, MOST_LINES, PUBLISHED, outline
from .pair_loss import frequent_part, patterns_part, raised_part, rarer_part
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
    verdict,
    verification,
)

MOST_FREQUENT = 10


def public_pair_report(
    certificate: Certificate, tables: PairTables, paths: Sequence[Sequence[str]]
) -> bytes:
    """Return the page ``report.html`` of a release folder.

    Parameters
    ----------
    certificate
        The certificate, which need not name the report yet.
    tables
        The published rows of both data sets.
    paths
        The published labels, each with what is above it up to its root.
    """
    return page(
        f"Release report: {plain_name(certificate['guarantee'])}",
        _head(certificate, paths),
        element(
            "main",
            promises(certificate),
            data_sets(certificate, tables),
            labels(tables, paths),
            questions(certificate),
            making(certificate),
            verification(certificate),
        ),
        footer(certificate),
    )


def private_pair_report(
    release: PairRelease,
    certificate: Certificate,
    *,
    finding: PairFinding,
    notices: Sequence[str],
    scores: PairScores,
    seconds: Mapping[str, float],
) -> bytes:
    """Return the page for the holder of the data alone.

    Parameters
    ----------
    release, certificate
        What is published, and its certificate.
    finding
        What the audit said.
    notices
        What was told during the run.
    scores
        What the release cost.
    seconds
        What each stage took until the page was made.
    """
    paths = [release.pair.hierarchy.path(name) for name in release.published.labels]
    options = {name.replace("_", " "): value for name, value in release.options.items()}
    first, second = release.pair.names
    facts: list[tuple[Content, Content]] = [
        ("Method", element("code", release.method)),
        ("Data sets", listed((label(first), label(second)))),
        ("Time", where_time_went(seconds)),
        ("Search", "went to its end" if release.complete else "was ended by the time limit"),
        *((name, str(value)) for name, value in options.items()),
        *((name, str(value)) for name, value in release.figures.items()),
    ]
    return page(
        f"Private: release report, {plain_name(certificate['guarantee'])}",
        element(
            "div",
            element("strong", "Personal data. "),
            "This page tells about the original records. Keep it as safe as those, and never publish "
            "it.",
            class_="warning",
        ),
        _head(certificate, paths),
        element(
            "main",
            promises(certificate),
            patterns_part(scores, columns=release.pair.is_table),
            after(finding),
            rarer_part(scores),
            raised_part(scores, columns=release.pair.is_table),
            frequent_part(scores),
            data_sets(certificate, release.published),
            labels(release.published, paths),
            section("run", "How the run went", terms_and_meanings(facts)),
            section("notices", "Notices", listed(notices) if notices else element("p", "None.")),
            questions(certificate),
            verification(certificate, private=True),
        ),
        footer(certificate),
        private=True,
    )


def _head(certificate: Certificate, paths: Sequence[Sequence[str]]) -> Html:
    first, second = (part["records"] for part in certificate["data"]["parts"])
    name = guarantee_name(certificate["guarantee"])
    tiles = [
        tile(f"{first:,}", "records in the first data set"),
        tile(f"{second:,}", "records in the second"),
        tile(f"{len(paths):,}", "label" if len(paths) == 1 else "different labels"),
    ]
    return element(
        "header",
        element("p", "setveil · report of a release", class_="kind"),
        element("h1", Html(name[:1].upper() + name[1:]), ", verified"),
        element("p", certificate["promised"][-1], class_="lead"),
        element("div", *tiles, class_="tiles"),
        verdict(certificate),
        class_="top",
    )


def data_sets(certificate: Certificate, tables: PairTables) -> Html:
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
        element("p", said),
        table(
            ("file", "holds", "#records", "#of them empty", "#values a record, on average"),
            rows,
            caption="The two files",
        ),
    )


def labels(tables: PairTables, paths: Sequence[Sequence[str]]) -> Html:
    """Return the published hierarchy, with how many records of either data set hold each label."""
    if not paths:
        return Html("")
    tree = Hierarchy.from_paths(paths)
    records = [max(len(side), 1) for side in tables.sides]
    counts = [
        dict(zip(side.vocabulary.labels, side.count_by_item.tolist(), strict=True))
        for side in tables.sides
    ]
    shown = [any(name in count for count in counts) for name in tree.labels]
    own = [sum(count.get(name, 0) for count in counts) for name in tree.labels]
    weight, below = list(own), [int(yes) for yes in shown]
    for node, above in enumerate(tree.parent.tolist()):
        if above >= 0:
            weight[above] += weight[node]
            below[above] += below[node]

    def told_of_node(node: int) -> Content:
        if not shown[node]:
            return counted(below[node], "label")
        shares = [
            f"{count.get(tree.labels[node], 0) / number:.1%}"
            for count, number in zip(counts, records, strict=True)
        ]
        return f"in {shares[0]} and {shares[1]} of the records"

    frequent: list[tuple[Content, ...]] = []
    if len(paths) > MOST_LINES // 2:
        nodes = sorted(
            (node for node, yes in enumerate(shown) if yes),
            key=lambda node: (-own[node], tree.labels[node]),
        )
        frequent = [(label(tree.labels[node]), told_of_node(node)) for node in nodes[:MOST_FREQUENT]]
    return section(
        "labels",
        "The labels it shows",
        element(
            "p",
            f"{counted(len(paths), 'label')} can stand in a record. A category stands for a value "
            "below it; which one is not told. A value can stand in one record and a category above it "
            "in another. The numbers are the shares of the records of the first and of the "
            "second data set.",
        ),
        outline(
            tree,
            kind_by_node=[PUBLISHED if yes else ABOVE for yes in shown],
            weight_by_node=weight,
            told_of_node=told_of_node,
            told_of_rest=lambda nodes: f"and {counted(sum(below[n] for n in nodes), 'label')} more",
        ),
        table(("label", "records"), frequent, caption="The most frequent labels") if frequent else "",
    )


def after(finding: PairFinding) -> Html:
    """Return what the audit counted in the written files."""
    said = "Counted by the audit in the published files: no pattern is left, "
    if finding.guarantee.every_level:
        said += "neither of values as they stand nor of the categories above them."
    else:
        said += (
            "values taken as they stand. Whoever reads a value also as every category above it, at "
            "every level, may still see some: they are counted here, but nothing is promised of them."
        )
    return section("after", "Patterns after", element("p", said), terms_and_meanings(finding.lines()))
