"""The private report: all that the public one says, and what only the holder of the data may know.

Exact losses and how far from the best possible they are, what became of which item, what was left out,
the whole hierarchy with the cut through it, notices. It is personal data, and says so at its top, in
its title and in print. It lies in the private twin and never in a release folder.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..audit.verdict import Verdict
from ..measure.branches import branch_losses
from ..measure.scores import Scores
from ..release.apply import BeforeAfter
from ..release.documents import PERSONAL
from ..release.release import Release
from ..risk.curve import RiskCurve
from .changes import changes_part, generalized, left_out, left_out_part
from .cut_part import cut_part
from .figure import Figure
from .html import Content, Html, element, listed, page, picture, section, table
from .private_loss import loss_part
from .risk_part import risk_before_after
from .sections import (
    SUPPORTS,
    Certificate,
    counted,
    footer,
    guarantee_name,
    in_percent,
    making,
    plain_name,
    promises,
    questions,
    tile,
    verification,
)

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


@dataclass(frozen=True)
class Extras:
    """What a report can show beside the release itself; each part may be missing.

    `after` and `before` are the risk curves of the published and of the original records, `scores`
    measures of the loss, `frontier` pictures of what other strengths of the promise would cost, each
    with a sentence, `seconds` what each stage took until the page was made.
    """

    after: RiskCurve | None = None
    before: RiskCurve | None = None
    scores: Scores | None = None
    frontier: Sequence[tuple[Figure, str]] = ()
    seconds: Mapping[str, float] | None = None


def private_report(
    release: Release,
    certificate: Certificate,
    *,
    verdict: Verdict,
    notices: Sequence[str],
    extras: Extras,
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
    parts = [
        _verdict(verdict, certificate),
        *_about_originals(release, extras),
        _frontier(extras.frontier),
        _notices(notices),
        promises(certificate),
        questions(certificate),
        making(certificate),
        verification(certificate, private=True),
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


def _about_originals(release: Release, extras: Extras) -> list[Html]:
    """Return the parts on what became of the original records, as far as they are at hand."""
    risk = risk_before_after(extras.before, extras.after, release.guarantee)
    if release.rows is None:
        return [loss_part(release, None, extras.scores, extras.seconds), risk]
    pair = BeforeAfter(release.recoding, release.rows)
    return [
        loss_part(release, branch_losses(pair), extras.scores, extras.seconds),
        risk,
        changes_part(generalized(pair)),
        left_out_part(left_out(pair), len(release.dropped)),
        cut_part(pair),
    ]


def _head(release: Release, certificate: Certificate) -> Html:
    share = release.unchanged / release.occurrences if release.occurrences else 1.0
    tiles = [
        tile(f"{release.records:,}", "records published"),
        tile(f"{len(release.labels):,}", f"labels, for {release.items:,} items in the data"),
        tile(in_percent(share), "of occurrences under their own label"),
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
    answer = "✓ The promise holds." if verdict.holds else "✗ The promise does not hold."
    parts: list[Content] = [
        element(
            "div",
            element(
                "p",
                element("strong", answer),
                " ",
                guarantee_name(certificate["guarantee"]),
                f", {SUPPORTS[verdict.mode]}.",
            ),
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
                rows[:MOST_SIZES],
                caption="What the audit of the written files counted",
            )
        )
    parts.append(listed(verdict.notes))
    return section("verdict", "What the audit counted", *parts)


def _frontier(pictures: Sequence[tuple[Figure, str]]) -> Html:
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
    starts_with_a_name = text[1:2] == "="
    return text if starts_with_a_name else text[:1].upper() + text[1:]
