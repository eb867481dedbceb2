"""``setveil measure`` on two data sets, and what other verbs say where they are handed two."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..errors import UsageError
from . import screen
from .flags import Flag

PRIVATE = "Personal data: these figures come from the original records. Keep them as safe as those."
_FITTING = frozenset({"support", "top", "as_json", "verbose"})
REASONS: Mapping[str, tuple[str, str]] = {
    "risk": (
        "nothing is promised about single people in two data sets that hide their differences",
        "`setveil measure` tells what was hidden, `setveil audit` whether it is.",
    ),
    "explain": (
        "values of two data sets are raised to hide patterns, not to let records fit one another",
        "The private folder's report.html lists the patterns and what was raised.",
    ),
    "report": (
        "the private report of two data sets was made whole when they were published",
        "It is report.html in the private folder.",
    ),
    "apply": (
        "new records would change what is frequent in two data sets, and so what must be hidden",
        "Anonymize all records anew.",
    ),
}


def refuse_pair(path: str, verb: str) -> None:
    """Raise `UsageError` where a verb about one data set is handed the folder of two."""
    from ..io.folder.ownership import holds_pair

    if holds_pair(path):
        what, remedy = REASONS[verb]
        raise UsageError(f"{verb} does not take this release: {what}.", remedy, code="pair")


def measure_pair(target: str, given: Mapping[str, Any], flags: Sequence[Flag], top: int) -> None:
    """Show what hiding the patterns of two data sets cost.

    Parameters
    ----------
    target
        The folder.
    given, flags
        The flags of `measure`; those that do not fit two data sets are refused.
    top
        How many patterns to show where --top is not given.
    """
    for flag in flags:
        if flag.name not in _FITTING and given[flag.name] not in (flag.default, []):
            raise UsageError(
                f"{flag.spelled[0].partition('/')[0]} does not fit two data sets.",
                "Leave it out; the folder and its private twin tell all that is needed.",
                code="option-does-not-fit",
            )
    from .measure import share_of

    support = None if given["support"] is None else share_of("support", given["support"])
    from ..audit import audit_folder
    from ..editions.pairs import scores_of
    from ..progress import Watch
    from ..reopen.pairs import read_pair_release

    with screen.progress() as listener:
        watch = Watch(listener=listener)
        release = read_pair_release(target, watch=watch)
        scores = scores_of(release, frequent_support=support, watch=watch)
        watch.tick("auditing", None)
        finding: Any = audit_folder(target)
    if given["as_json"]:
        told = {"guarantee": release.guarantee.as_dict(), "method": release.method}
        screen.print_json(
            {"personal_data": PRIVATE, **told, **scores.as_dict(), "verdict": finding.as_dict()}
        )
        return
    first, second = release.records
    screen.echo(f"{release.guarantee}, {first:,} and {second:,} records")
    every = finding.patterns_every_level
    after = [
        ("patterns after", f"{finding.patterns:,}", "closed sets, as the audit counts"),
        (
            "at every level",
            "not counted" if every is None else f"{every:,}",
            "where a value is also read as the categories above it",
        ),
    ]
    screen.table("", ("measure", "value", "meaning"), [*scores.lines(), *after, *scores.rarer_lines()])
    if scores.before is not None and len(scores.before):
        screen.echo()
        screen.table(
            "Patterns before, the fastest growing",
            ("growth", "more frequent in", "pattern"),
            [
                (pattern.told_growth, pattern.more_frequent_in, ", ".join(pattern.items))
                for pattern in scores.before[:top]
            ],
        )
    screen.echo(f"\n{PRIVATE}")
