"""The two reports of a release of sets: what anybody may read, and what only its holder may.

The public page is made of three things that are public anyway: the certificate, the published records,
and the hierarchy at and above the cut. Nothing else is at hand for it, so two inputs that lead to the
same release give the same page, byte by byte.

The private page adds exact losses and how far from the best possible they are, what became of which
item, what was left out, the whole hierarchy with the cut through it, notices. It is personal data, and
says so at its top, in its title and in print. It lies in the private twin, never in a release folder.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...audit.verdict import Verdict
from ...measure.branches import branch_losses
from ...measure.scores import Scores
from ...model.guarantees import Guarantee, guarantee_from_dict
from ...model.transactions import Transactions
from ...release.documents import PERSONAL
from ...release.recoding import BeforeAfter
from ...release.release import Release
from ...risk.curve import RiskCurve
from ..drawing import Figure
from ..html import (
    Content,
    Html,
    bar,
    box,
    element,
    first_of,
    join,
    label,
    listed,
    page,
    paragraph,
    picture,
    section,
    table,
)
from ..risk_picture import risk_after, risk_before_after
from .originals import changes_part, cut_part, generalized, left_out, left_out_part, loss_part
from .sections import (
    Certificate,
    counted,
    footer,
    guarantee_name,
    head_of,
    in_percent,
    labels_part,
    loss,
    making,
    plain_name,
    promises,
    public_page,
    questions,
    tiled,
    verification,
)

SUPPORTS: Mapping[str, str] = {
    "exact": "exact support: every published label is counted as it stands",
    "cover": "cover support: a label counts for every item that it may stand for",
}
MOST_SECRET = 20
MOST_SIZES, MOST_NOTICES = 30, 60
JUMPS: Mapping[str, str] = {
    "verdict": "Verdict",
    "loss": "Loss",
    "risk": "Risk",
    "changes": "What became what",
    "left-out": "Left out",
    "hierarchy": "Hierarchy",
    "frontier": "Other strengths",
    "notices": "Notices",
    "promise": "Promise",
    "questions": "Three questions",
    "making": "Making",
    "verify": "Check it",
}


def public_report(
    certificate: Certificate,
    published: Transactions,
    paths: Sequence[Sequence[str]],
    curve: RiskCurve | None = None,
) -> bytes:
    """Return the page of a release folder; the labels come by their `paths` up to their roots."""
    guarantee = guarantee_from_dict(certificate["guarantee"])
    least, empty = guarantee.least_support, int((published.length_by_record == 0).sum())
    return public_page(
        certificate,
        _public_head(certificate, published, paths),
        loss(certificate, f"<{least}" if 0 < empty < least else empty),
        risk_after(curve, guarantee),
        labels(guarantee, published, paths),
        recoding=_recoding(certificate),
    )


def _recoding(certificate: Certificate) -> str:
    return f"{certificate['recoding']} recoding"


def _public_head(
    certificate: Certificate, published: Transactions, paths: Sequence[Sequence[str]]
) -> Html:
    records = certificate["data"]["records"]
    tiles = [
        (f"{records:,}" if isinstance(records, int) else records, "records"),
        (f"{len(paths):,}", "label" if len(paths) == 1 else "different labels"),
    ]
    if isinstance(records, int) and records:
        tiles.append((f"{len(published.items) / records:.1f}", "labels in a record, on average"))
    if "ncp" in certificate["loss"]:
        tiles.append((f"{certificate['loss']['ncp']:.2f}", "lost, from 0 (nothing) to 1"))
    counting = SUPPORTS[certificate["verdict"]["mode"]]
    return head_of(certificate, tiles, warnings(certificate, paths), counting=counting)


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
    return box("warning", *map(paragraph, told)) if told else Html("")


def labels(guarantee: Guarantee, published: Transactions, paths: Sequence[Sequence[str]]) -> Html:
    """Return the published hierarchy at and above the cut, with how many records hold each label."""
    records, least = len(published), guarantee.least_support
    count_by_label = dict(
        zip(published.vocabulary.labels, published.count_by_item.tolist(), strict=True)
    )

    def told_of_label(name: str) -> Content:
        count = count_by_label[name]
        if count < least:
            return f"in fewer than {least} records"
        return join((bar(count / records), f"in {counted(count, 'record')}"))

    return labels_part(
        paths,
        count_by_label,
        told_of_label,
        paragraph(
            f"{counted(len(paths), 'label')} can stand in a record. A category stands for one or more "
            "of the items below it; which ones is not told. The bars show how many of the records "
            "hold a label."
        ),
        _named_as_secret(guarantee),
    )


def _named_as_secret(guarantee: Guarantee) -> Html:
    """Return which published labels the promise treats as sensitive or private."""
    names = sorted(guarantee.secret_labels)
    if not names:
        return Html("")
    shown = first_of([label(name) for name in names], MOST_SECRET)
    return paragraph(f"Named as {guarantee.secrets}: ", join(shown, ", "), ".")


def private_report(
    release: Release,
    certificate: Certificate,
    *,
    verdict: Verdict,
    notices: Sequence[str],
    after: RiskCurve | None = None,
    before: RiskCurve | None = None,
    scores: Scores | None = None,
    frontier: Sequence[tuple[Figure, str]] = (),
    seconds: Mapping[str, float] | None = None,
) -> bytes:
    """Return the page ``report.html`` of a private twin.

    The risk curves of the published and of the original records, measures of the loss, pictures of what
    other strengths of the promise would cost, each with a sentence, and what each stage took may be
    missing; so may what needs the original records, where they are not at hand.
    """
    pair = None if release.rows is None else BeforeAfter(release.recoding, release.rows)
    branches = None if pair is None else branch_losses(pair)
    parts = [
        _verdict(verdict, certificate),
        loss_part(release, branches, scores, seconds),
        risk_before_after(before, after, release.guarantee),
    ]
    if pair is not None:
        parts += [
            changes_part(generalized(pair)),
            left_out_part(left_out(pair), len(release.dropped)),
            cut_part(pair),
        ]
    if frontier:
        drawn = [picture(figure, said) for figure, said in frontier]
        parts.append(section("frontier", "What other strengths would cost", *drawn))
    if notices:
        said = [_sentence(notice) for notice in notices[:MOST_NOTICES]]
        parts.append(section("notices", "Notices of the run", listed(said)))
    parts += [
        promises(certificate),
        questions(certificate),
        making(certificate, _recoding(certificate)),
        verification(certificate, private=True),
    ]
    shown = [part for part in parts if part]
    jumps = [
        element("a", title, href=f"#{name}")
        for name, title in JUMPS.items()
        if any(part.startswith(f'<section id="{name}"') for part in shown)
    ]
    return page(
        f"PRIVATE report, personal data: {plain_name(certificate)}",
        _private_head(release, certificate),
        element("nav", *jumps, aria_label="Parts of this page"),
        element("main", *shown),
        footer(certificate),
        private=True,
    )


def _private_head(release: Release, certificate: Certificate) -> Html:
    share = release.unchanged / release.occurrences if release.occurrences else 1.0
    tiles = [
        (f"{release.records:,}", "records published"),
        (f"{len(release.labels):,}", f"labels, for {release.items:,} items in the data"),
        (in_percent(share), "of occurrences under their own label"),
    ]
    if "ncp" in release.losses:
        tiles.append((f"{float(release.losses['ncp']):.4f}", "NCP, from 0 (nothing lost) to 1"))
    useless = release.useless
    return element(
        "header",
        paragraph("setveil · report for the holder of the data", class_="kind"),
        box("secret", paragraph(element("strong", "Private. "), PERSONAL), role="note"),
        element("h1", guarantee_name(certificate), ": the private report"),
        paragraph(certificate["promised"][-1], class_="lead"),
        tiled(tiles),
        box("warning", paragraph(_sentence(useless))) if useless else Html(""),
        class_="top",
    )


def _verdict(verdict: Verdict, certificate: Certificate) -> Html:
    rows = [
        (
            str(found.size),
            f"{found.checked:,}",
            "-" if found.achieved_k is None else f"{found.achieved_k:,}",
            f"{found.violations:,}",
        )
        for found in verdict.by_size
    ]
    said = "✓ The promise holds." if verdict.holds else "✗ The promise does not hold."
    name = guarantee_name(certificate)
    answer = (element("strong", said), " ", name, f", {SUPPORTS[verdict.mode]}.")
    parts: list[Content] = [
        box("verdict" if verdict.holds else "secret", paragraph(*answer)),
    ]
    if verdict.smallest_support is not None:
        rarest = counted(verdict.smallest_support, "record")
        parts.append(paragraph(f"The rarest combination is in {rarest}."))
    if verdict.worst_ratio is not None:
        parts.append(paragraph(f"The largest share of a sensitive label is {verdict.worst_ratio}."))
    if rows:
        heads = ("labels known", "#combinations counted", "#rarest up to here", "#violations")
        caption = "What the audit of the written files counted"
        parts.append(table(heads, rows[:MOST_SIZES], caption=caption))
    parts.append(listed(verdict.notes))
    return section("verdict", "What the audit counted", *parts)


def _sentence(text: str) -> str:
    starts_with_a_name = text[1:2] == "="
    return text if starts_with_a_name else text[:1].upper() + text[1:]
