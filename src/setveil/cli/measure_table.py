"""``setveil measure`` on a table in buckets: rules and counts that a reader still gets right."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..errors import UsageError
from . import screen
from .flags import Flag, whole
from .risk_table import refuse_unfit
from .table_original import FITTING, confirm_original

PANEL = "Tables in buckets"
BUCKETS = (
    Flag(
        "min_conviction",
        str | None,
        "how far a rule must be from chance to be interesting; 1.01 if not given",
        panel=PANEL,
        metavar="NUMBER",
    ),
    Flag(
        "max_conditions",
        str | None,
        "columns that a rule has conditions on at most; 2 if not given",
        panel=PANEL,
        metavar="N",
    ),
    Flag(
        "selectivity",
        str | None,
        "share of a column's values that a query names at most; 0.3 if not given",
        panel=PANEL,
        metavar="SHARE",
    ),
)
_FITTING = (
    frozenset({"support", "random_queries", "query_size", "as_json", "verbose"})
    | {flag.name for flag in BUCKETS}
    | FITTING
)
PRIVATE = "Personal data: these figures come from the original records. Keep them as safe as those."


def refuse_for_sets(given: Mapping[str, Any]) -> None:
    """Raise `UsageError` for a flag that only tables in buckets take."""
    for flag in BUCKETS:
        if given[flag.name] is not None:
            raise UsageError(
                f"{flag.spelled[0]} is for tables in buckets.",
                "Leave it out.",
                code="option-does-not-fit",
            )


def measure_table(target: str, given: Mapping[str, Any], flags: Sequence[Flag]) -> None:
    """Show how far a table in buckets is from the original one.

    Parameters
    ----------
    target
        The folder.
    given, flags
        The flags of `measure`; those that do not fit a table in buckets are refused.
    """
    refuse_unfit(given, flags, _FITTING)
    numbers = {
        name: whole(flag, given[flag])
        for flag, name in (
            ("random_queries", "queries"),
            ("query_size", "dimensions"),
            ("max_conditions", "max_conditions"),
        )
        if given[flag] is not None
    }
    exact: dict[str, Any] = {
        name: _exact(flag, given[flag])
        for flag, name in (
            ("support", "min_support"),
            ("min_conviction", "min_conviction"),
            ("selectivity", "selectivity"),
        )
        if given[flag] is not None
    }
    from ..measure.bucket_scores import measure_buckets
    from ..progress import Watch
    from ..reopen.buckets import read_bucket_release

    with screen.progress() as listener:
        watch = Watch(listener=listener)
        release = read_bucket_release(target, watch=watch)
        if given["original"] is not None:
            screen.notices(confirm_original(release, given), verbose=given["verbose"])
        scores = measure_buckets(release.data, release.bucketing, watch=watch, **exact, **numbers)
    if given["as_json"]:
        told = {"guarantee": release.guarantee.as_dict(), "method": release.method}
        screen.print_json({"personal_data": PRIVATE, **told, **scores.as_dict()})
        return
    buckets = release.bucketing.n_buckets
    screen.echo(f"{release.guarantee}, {release.records:,} records in {buckets:,} buckets")
    screen.table("", ("measure", "value", "meaning"), scores.lines())
    screen.echo(f"\n{PRIVATE}")


def _exact(name: str, text: str) -> str:
    """Return a number as it was typed, without a sign of percent."""
    from ..measure.bucket_queries import exact_number

    if text.endswith("%"):
        return str(exact_number(name, text.removesuffix("%").strip()) / 100)
    exact_number(name, text)
    return text
