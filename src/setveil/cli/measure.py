"""``setveil measure``: how much a release lost, told from the original records. Private."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import typer

from ..errors import UsageError
from ..run import Shown
from ..run.fields import (
    ALL,
    BUCKETS,
    LEAVE_OUT,
    SETS,
    Text,
    declare,
    listed,
    switch,
)
from ..run.reading import Reading, input_files
from . import screen
from .flags import as_json, check_outputs, with_flags
from .releases import ORIGINAL, check_original, check_top, original_of
from .risk import confirm_original, refuse_unread

if TYPE_CHECKING:
    from fractions import Fraction

    from ..measure.branches import Branch
    from ..release.release import Release

EXAMPLE = (
    "Examples: setveil measure release --original baskets.csv    "
    "setveil measure release --original baskets.csv --by-branch    "
    "setveil measure release --original baskets.csv --random-queries 1000 --save-queries queries.csv"
)
PRIVATE = "Personal data: these figures come from the original records. Keep them as safe as those."
TOP = 10


class Asked(Reading, Shown):
    """What `measure` can be asked."""

    PANEL = "Measure"
    FITS = SETS

    original: Text = declare(ORIGINAL, metavar="DATA", fits="sets buckets")
    measures: Text = declare("which, by commas, or all; the cheap ones if not given", metavar="NAMES")
    support: Text = declare(
        "share of the records that makes an itemset frequent, for measures that mine; 1% if not given, "
        "for ml2 and dml2 the mean of 1%, 2% and 3%",
        fits=ALL,
        metavar="SHARE",
    )
    by_branch: bool = switch("show which categories and items lost most")
    top: int | None = declare(
        f"how many categories, items and queries to show; {TOP} if not given",
        metavar="N",
        fits="sets pairs",
    )
    as_json: bool = as_json("the figures", "Measure")
    queries: Text = declare(
        "COUNT queries to ask, one a line: labels of items or categories by commas",
        panel="Queries",
        metavar="FILE",
    )
    random_queries: int | None = declare(
        "ask N random queries", panel="Queries", metavar="N", fits="sets buckets"
    )
    query_size: int | None = declare(
        "labels of a random query at most; 3 if not given",
        panel="Queries",
        metavar="Q",
        fits="sets buckets",
    )
    drawn_from: Text = declare(
        "records: labels that occur together, or items: any labels; records if not given",
        panel="Queries",
    )
    sanity: Text = declare(
        "share of the records below which a true count counts as that; 0.1% if not given",
        panel="Queries",
        metavar="SHARE",
    )
    save_queries: Text = declare("write the queries asked", panel="Queries", metavar="FILE")
    force: bool = switch("with --save-queries: replace the file", panel="Queries")
    min_conviction: Text = declare(
        "how far a rule must be from chance to be interesting; 1.01 if not given",
        panel="Tables in buckets",
        metavar="NUMBER",
        fits=BUCKETS,
    )
    max_conditions: int | None = declare(
        "columns that a rule has conditions on at most; 2 if not given",
        panel="Tables in buckets",
        metavar="N",
        fits=BUCKETS,
    )
    selectivity: Text = declare(
        "share of a column's values that a query names at most; 0.3 if not given",
        panel="Tables in buckets",
        metavar="SHARE",
        fits=BUCKETS,
    )


@with_flags(Asked)
def measure(
    release: str = typer.Argument(
        help="A release folder; its private twin must lie beside it.", metavar="RELEASE"
    ),
    **given: Any,
) -> None:
    """Tell how much a release lost, from the original records.

    Measures: ncp, lm, unchanged, suppressed, suppressed_items, emptied_records, discernibility,
    discernibility_sum. Where asked for also: are (the error of COUNT queries); ml2, dml2, dml2_lost,
    itemset_recall, itemset_precision, label_recall, label_support_error, item_support_error (frequent
    itemsets).

    Of a table in buckets (anonymize --quasi): errors of association rules and of counting queries;
    --support, --random-queries and --query-size (columns of a query) count there too, and no --original
    is needed.

    Of two data sets (anonymize --against or --class-column): values raised, frequent sets kept and lost
    (--support), and the patterns that were there. No --original is needed.

    The figures are private: they are about the original records, not about the release alone.
    """
    asked = Asked.take(given)
    from ..io.folder.ownership import holds_buckets, holds_pair

    screen.about_folder(release)
    if holds_buckets(release):
        _measure_buckets(release, asked)
        return
    for field in asked.given_fields():
        if field.fits == (BUCKETS,):
            raise UsageError(
                f"{field.flag} is for tables in buckets.", LEAVE_OUT, code="option-does-not-fit"
            )
    top = check_top(asked.top, TOP)
    if holds_pair(release):
        _measure_pair(release, asked, top)
        return
    wanted = _wanted(asked)
    original = check_original(asked.original)
    inputs = input_files(asked, original, asked.queries)
    check_outputs(asked, inputs, "save_queries")
    if asked.queries is not None:
        from ..io.lists import read_queries

        wanted["queries"] = read_queries(asked.queries)
    with original_of(asked, asked.queries) as (transactions, watch):
        from ..api import measure as measure_release
        from ..reopen import read_set_release

        opened = read_set_release(release, transactions, watch=watch)
        scores = measure_release(opened, watch=watch, **wanted)
    if scores.queries is not None and asked.save_queries is not None:
        from ..io.lists import write_queries

        write_queries(scores.queries.workload.queries(), asked.save_queries, force=asked.force)
        screen.written(asked.save_queries)
    branches, items = _worst(opened, top) if asked.by_branch else ((), ())
    worst = [] if scores.queries is None or asked.top is None else scores.queries.worst(top)
    if asked.as_json:
        plain: dict[str, Any] = {"personal_data": PRIVATE, **scores.as_dict()}
        if asked.by_branch:
            plain["branches"] = [branch.as_dict() for branch in branches]
            plain["items"] = [item.as_dict() for item in items]
        if worst:
            plain["queries"]["worst"] = worst
        screen.print_json(plain)
        return
    screen.echo(str(scores))
    if asked.by_branch:
        _show_branches("Categories that lost most", "category", branches)
        _show_branches("Items that lost most", "item", items)
    if worst:
        _show_queries(worst)
    screen.echo(f"\n{PRIVATE}")


def _wanted(asked: Asked) -> dict[str, Any]:
    """Return the options of `api.measure`, checked as far as no file is needed for it."""
    from ..measure.catalogue import ALL, chosen
    from ..measure.queries import SOURCES

    names = listed(asked.measures)
    measures: Any = ALL if names == [ALL] else names or None
    support = None if asked.support is None else share_of("support", asked.support)
    taken = [found.name for found in chosen(measures, support=support)]
    check_original(asked.original)
    asks = asked.queries is not None or asked.random_queries is not None
    if asked.queries is not None and asked.random_queries is not None:
        raise UsageError("--queries and --random-queries do not go together.", "Keep one.")
    for field in asked.given_fields():
        if field.name in ("query_size", "drawn_from") and asked.random_queries is None:
            raise UsageError(
                f"{field.flag} is for random queries.", "Give --random-queries N, or leave it out."
            )
        if field.name in ("sanity", "save_queries") and not asks and "are" not in taken:
            raise UsageError(
                f"{field.flag} is for queries.", "Give --queries FILE or --random-queries N."
            )
    if asked.drawn_from not in (None, *SOURCES):
        raise UsageError(
            f"queries cannot be drawn from {str(asked.drawn_from)[:40]!r}.",
            f"Known: {', '.join(SOURCES)}.",
        )
    if asked.top is not None and not asked.by_branch and not asks and "are" not in taken:
        raise UsageError("--top is for --by-branch and for queries.", "Give one of them.")
    if asked.force and asked.save_queries is None:
        raise UsageError("--force is for --save-queries.", "Leave it out.")
    return {
        "measures": measures,
        "support": support,
        "drawn_from": asked.drawn_from,
        "sanity": None if asked.sanity is None else share_of("sanity", asked.sanity),
        "random_queries": asked.random_queries,
        "query_size": asked.query_size,
    }


def share_of(name: str, text: str) -> Fraction:
    """Return a share of the records, written as 2% or 0.02."""
    from fractions import Fraction

    found = re.fullmatch(r"([0-9]{1,3}(?:\.[0-9]{1,9})?)( ?%)?", text)
    share = Fraction(found[1]) / (100 if found[2] else 1) if found else Fraction(0)
    if not 0 < share <= 1:
        raise UsageError(
            f"{name} must be a share of the records above 0 and up to 1 (got {text[:40]!r}).",
            "Give for example 0.1% or 0.001.",
            code="not-a-number",
        )
    return share


def _worst(release: Release, top: int) -> tuple[tuple[Branch, ...], tuple[Branch, ...]]:
    from ..editions.sets import original_rows
    from ..measure.branches import branch_losses
    from ..release.recoding import BeforeAfter

    found = branch_losses(BeforeAfter(release.recoding, original_rows(release)))
    return found.worst_branches(top), found.worst_items(top)


def _show_branches(title: str, head: str, branches: tuple[Branch, ...]) -> None:
    screen.echo()
    if not branches:
        screen.echo(f"{title}: none, nothing was lost.")
        return
    screen.table(
        title,
        (head, "occurrences", "as they were", "left out", "own NCP", "part of the loss"),
        [
            (
                branch.label,
                f"{branch.occurrences:,}",
                f"{branch.unchanged:,}",
                f"{branch.suppressed:,}",
                f"{float(branch.own_losses['ncp']):.4f}",
                f"{float(branch.shares['ncp']):.1%}",
            )
            for branch in branches
        ],
    )


def _show_queries(worst: list[dict[str, Any]]) -> None:
    screen.echo()
    screen.table(
        "Queries with the largest errors",
        ("query", "true", "estimate", "error"),
        [
            (" + ".join(q["query"]), f"{q['true']:,}", f"{q['estimate']:,.1f}", f"{q['error']:.4f}")
            for q in worst
        ],
    )


def _measure_buckets(target: str, asked: Asked) -> None:
    """Show how far a table in buckets is from the original one."""
    refuse_unread(target, asked)
    how: dict[str, Any] = {
        "queries": asked.random_queries,
        "dimensions": asked.query_size,
        "max_conditions": asked.max_conditions,
        "min_support": _exact("support", asked.support),
        "min_conviction": _exact("min_conviction", asked.min_conviction),
        "selectivity": _exact("selectivity", asked.selectivity),
    }
    how = {name: value for name, value in how.items() if value is not None}
    from ..measure.buckets import measure_buckets
    from ..progress import Watch
    from ..reopen.others import read_bucket_release

    with screen.progress() as listener:
        watch = Watch(listener=listener)
        release = read_bucket_release(target, watch=watch)
        screen.notices(confirm_original(release, asked.original, asked), verbose=asked.verbose)
        scores = measure_buckets(release.data, release.bucketing, watch=watch, **how)
    if asked.as_json:
        made = {"guarantee": release.guarantee.as_dict(), "method": release.method}
        screen.print_json({"personal_data": PRIVATE, **made, **scores.as_dict()})
        return
    buckets = release.bucketing.n_buckets
    screen.echo(f"{release.guarantee}, {release.records:,} records in {buckets:,} buckets")
    screen.table("", ("measure", "value", "meaning"), scores.lines())
    screen.echo(f"\n{PRIVATE}")


def _exact(name: str, text: str | None) -> str | None:
    """Return a number as it was typed, without a sign of percent."""
    from ..measure.buckets import exact_number

    if text is None:
        return None
    if text.endswith("%"):
        return str(exact_number(name, text.removesuffix("%").strip()) / 100)
    exact_number(name, text)
    return text


def _measure_pair(target: str, asked: Asked, top: int) -> None:
    """Show what hiding the patterns of two data sets cost."""
    refuse_unread(target, asked)
    support = None if asked.support is None else share_of("support", asked.support)
    from ..audit import audit_folder
    from ..editions.pairs import scores_of
    from ..progress import Watch
    from ..reopen.others import read_pair_release

    with screen.progress() as listener:
        watch = Watch(listener=listener)
        release = read_pair_release(target, watch=watch)
        scores = scores_of(release, frequent_support=support, watch=watch)
        watch.tick("auditing", None)
        finding: Any = audit_folder(target)
    if asked.as_json:
        made = {"guarantee": release.guarantee.as_dict(), "method": release.method}
        screen.print_json(
            {"personal_data": PRIVATE, **made, **scores.as_dict(), "verdict": finding.as_dict()}
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
    screen.table(
        "", ("measure", "value", "meaning"), [*scores.main_lines(), *after, *scores.rarer_lines()]
    )
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
