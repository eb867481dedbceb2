"""The public report: what a release promises and shows, for whoever is handed it.

It is made of three things that are public anyway: the certificate, the published records, and the
hierarchy at and above the cut. Nothing else is at hand here, so two inputs that lead to the same
release give the same page, byte by byte.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..hierarchy.tree import Hierarchy
from ..model.guarantees import guarantee_from_dict
from ..model.transactions import Transactions
from ..risk.curve import RiskCurve
from .html import Content, Html, bar, element, join, label, page, section, table
from .outline import ABOVE, MOST_LINES, PUBLISHED, outline
from .risk_part import risk_after
from .sections import (
    Certificate,
    counted,
    footer,
    guarantee_name,
    loss,
    making,
    plain_name,
    promises,
    questions,
    tile,
    verdict,
    verification,
)

MOST_FREQUENT, MOST_SECRET = 10, 20


def public_report(
    certificate: Certificate,
    published: Transactions,
    paths: Sequence[Sequence[str]],
    curve: RiskCurve | None = None,
) -> bytes:
    """Return the page ``report.html`` of a release folder.

    Parameters
    ----------
    certificate
        The certificate, which need not name the report yet.
    published
        The published records.
    paths
        The published labels, each with what is above it up to its root.
    curve
        The risk that the published records leave, counted from them alone.
    """
    return page(
        f"Release report: {plain_name(certificate['guarantee'])}",
        _head(certificate, published, paths),
        element(
            "main",
            promises(certificate),
            loss(certificate, _empty_records(certificate, published)),
            risk_after(curve, guarantee_from_dict(certificate["guarantee"])),
            labels(certificate, published, paths),
            questions(certificate),
            making(certificate),
            verification(certificate),
        ),
        footer(certificate),
    )


def _head(certificate: Certificate, published: Transactions, paths: Sequence[Sequence[str]]) -> Html:
    records = certificate["data"]["records"]
    tiles = [
        tile(f"{records:,}" if isinstance(records, int) else records, "records"),
        tile(f"{len(paths):,}", "label" if len(paths) == 1 else "different labels"),
    ]
    if isinstance(records, int) and records:
        tiles.append(tile(f"{len(published.items) / records:.1f}", "labels in a record, on average"))
    if "ncp" in certificate["loss"]:
        tiles.append(tile(f"{certificate['loss']['ncp']:.2f}", "lost, from 0 (nothing) to 1"))
    return element(
        "header",
        element("p", "setveil · report of a release", class_="kind"),
        element("h1", guarantee_name(certificate["guarantee"]), ", verified"),
        element("p", certificate["promised"][-1], class_="lead"),
        element("div", *tiles, class_="tiles"),
        verdict(certificate),
        warnings(certificate, paths),
        class_="top",
    )


def warnings(certificate: Certificate, paths: Sequence[Sequence[str]]) -> Html:
    """Return what a reader must know first: that nothing is told, or that something is not covered."""
    told: list[Content] = []
    if not paths:
        told.append("This release holds no label at all: every item was left out.")
    elif certificate["loss"].get("ncp") == 1.0 and all(len(set(path)) == 1 for path in paths):
        told.append(
            "This release says nothing but the topmost categories: nobody can learn anything from it."
        )
    columns = [
        column["name"]
        for column in certificate["data"].get("columns", ())
        if column["kind"] == "unprotected"
    ]
    if columns:
        told.append(
            f"The promise does not cover {counted(len(columns), 'column')} published as in the "
            "original. Which, is told below."
        )
    return (
        element("div", *(element("p", sentence) for sentence in told), class_="warning")
        if told
        else Html("")
    )


def labels(certificate: Certificate, published: Transactions, paths: Sequence[Sequence[str]]) -> Html:
    """Return the published hierarchy at and above the cut, with how many records hold each label."""
    if not paths:
        return Html("")
    tree = Hierarchy.from_paths(paths)
    records, least = len(published), least_told(certificate)
    count_by_label = dict(
        zip(published.vocabulary.labels, published.count_by_item.tolist(), strict=True)
    )
    own = [count_by_label.get(name, 0) for name in tree.labels]
    shown = [name in count_by_label for name in tree.labels]
    weight, below = list(own), [int(yes) for yes in shown]
    for node, above in enumerate(tree.parent.tolist()):
        if above >= 0:
            weight[above] += weight[node]
            below[above] += below[node]

    def told_of_node(node: int) -> Content:
        if not shown[node]:
            return counted(below[node], "label")
        if own[node] < least:
            return f"in fewer than {least} records"
        said = f"in {counted(own[node], 'record')}"
        return join((bar(own[node] / records), said))

    frequent: list[tuple[Content, ...]] = []
    if len(paths) > MOST_LINES // 2:
        first = sorted(count_by_label, key=lambda name: (-count_by_label[name], name))[:MOST_FREQUENT]
        frequent = [(label(name), told_of_node(tree.node_of_label[name])) for name in first]
    return section(
        "labels",
        "The labels it shows",
        element(
            "p",
            f"{counted(len(paths), 'label')} can stand in a record. A category stands for one or more "
            "of the items below it; which ones is not told. The bars show how many of the records "
            "hold a label.",
        ),
        _named_as_secret(certificate),
        outline(
            tree,
            kind_by_node=[PUBLISHED if yes else ABOVE for yes in shown],
            weight_by_node=weight,
            told_of_node=told_of_node,
            told_of_rest=lambda nodes: f"and {counted(sum(below[n] for n in nodes), 'label')} more",
        ),
        table(("label", "records"), frequent, caption="The most frequent labels") if frequent else "",
    )


def _empty_records(certificate: Certificate, published: Transactions) -> int | str:
    """Return how many published records hold no label: a band where they are few."""
    count = int((published.length_by_record == 0).sum())
    least = least_told(certificate)
    return f"<{least}" if 0 < count < least else count


def _named_as_secret(certificate: Certificate) -> Html:
    """Return which published labels the promise treats as sensitive or private."""
    guarantee = certificate["guarantee"]
    kind = "sensitive" if "sensitive" in guarantee else "private"
    names: Sequence[str] = guarantee.get(kind, ())
    if not names:
        return Html("")
    shown: list[Content] = [label(name) for name in names[:MOST_SECRET]]
    if len(names) > MOST_SECRET:
        shown.append(f"and {len(names) - MOST_SECRET:,} more")
    return element("p", f"Named as {kind}: ", join(shown, ", "), ".")


def least_told(certificate: Certificate) -> int:
    """Return below which number a count is told only as a band: k, or l where there is no k."""
    guarantee = certificate["guarantee"]
    return int(guarantee["k"] if "k" in guarantee else guarantee["l"])
