"""The loss for the holder of the data: exact, with its distance from the best, branch by branch."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from ..measure.branches import BranchLosses
from ..measure.scores import Scores
from ..model.costs import cost_title
from ..progress import where_time_went
from ..release.header import UNKNOWN_OPTIMUM
from ..release.release import Release, dropped_words, empty_words
from .html import Content, Html, bar, join, label, section, table, terms_and_meanings
from .sections import counted, in_percent

FEW_BRANCHES, MOST_BRANCHES = 5, 15


def loss_part(
    release: Release,
    branches: BranchLosses | None,
    scores: Scores | None,
    seconds: Mapping[str, float] | None,
) -> Html:
    """Return the exact losses, how far from the best they are, and where they come from."""
    pairs: list[tuple[Content, Content]] = [
        (
            cost_title(name),
            join((bar(float(loss)), f"{float(loss):.6f}, exactly {_fraction(loss)}")),
        )
        for name, loss in release.all_losses.items()
    ]
    told = UNKNOWN_OPTIMUM if release.objective is None else release.objective.told(6)
    pairs.append(("Distance from the best", told))
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
        pairs.append(("Dropped", dropped_words(len(release.dropped))))
    if release.empty_records:
        pairs.append(("Empty", empty_words(release)))
    pairs.append(
        (
            "Run",
            f"{release.method}, {release.seconds:.2f} s"
            + ("" if release.complete else ", cut short by the time limit")
            + "".join(f", {name} = {value}" for name, value in sorted(release.options.items())),
        )
    )
    if seconds is not None:
        pairs.append(("Time", where_time_went(seconds)))
    parts: list[Content] = [terms_and_meanings(pairs)]
    if branches is not None:
        parts.append(_branches(branches))
    if scores is not None and len(scores):
        parts.append(_scores(scores))
    return section("loss", "What was lost, exactly", *parts)


def _scores(scores: Scores) -> Html:
    rows = [
        (
            score.measure.title,
            score.told,
            f"{score.measure.goal} is better",
            score.measure.about,
        )
        for score in scores.scores
    ]
    return table(("measure", "#value", "goal", "what it means"), rows, caption="All measures")


def _fraction(value: Fraction) -> str:
    return f"{value.numerator:,}/{value.denominator:,}"


def _telling_depth(found: BranchLosses) -> int | None:
    """Return the first depth that has some branches to compare; None where none has."""
    depths = range(found.hierarchy.height + 1)
    return next((depth for depth in depths if len(found.level(depth)) >= FEW_BRANCHES), None)


def _branches(found: BranchLosses) -> Html:
    worst = found.worst_branches(MOST_BRANCHES, depth=_telling_depth(found))
    if not worst:
        return Html("")
    rows: list[tuple[Content, ...]] = [
        (
            label(branch.label),
            bar(float(branch.shares["ncp"])),
            in_percent(float(branch.shares["ncp"])),
            f"{float(branch.own_losses['ncp']):.3f}",
            f"{branch.occurrences:,}",
            f"{branch.unchanged:,}",
            f"{branch.suppressed:,}",
        )
        for branch in worst
    ]
    heads = ("branch", "", "#of the loss", "#own NCP", "#occurrences", "#kept", "#left out")
    return table(heads, rows, caption="Where the loss is, worst branches first")
