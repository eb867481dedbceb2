"""``setveil measure``: how much a release lost, told from the original records. Private."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import typer

from ..errors import UsageError
from . import screen
from .flags import NOTICES, READING, TABLE, Flag, listed, taking, whole
from .measure_pair import measure_pair
from .measure_table import BUCKETS, measure_table, refuse_for_sets
from .reading import read_data, refuse_stdin_twice

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

OWN = (
    Flag(
        "original",
        str | None,
        "the data the release was made from, read with the same options as then; - is standard input",
        panel="Measure",
        metavar="DATA",
    ),
    Flag(
        "measures",
        str | None,
        "which, by commas, or all; the cheap ones if not given",
        panel="Measure",
        metavar="NAMES",
    ),
    Flag(
        "support",
        str | None,
        "share of the records that makes an itemset frequent, for measures that mine; 1% if not given, "
        "for ml2 and dml2 the mean of 1%, 2% and 3%",
        panel="Measure",
        metavar="SHARE",
    ),
    Flag(
        "by_branch",
        bool,
        "show which categories and items lost most",
        panel="Measure",
        default=False,
    ),
    Flag(
        "top",
        str | None,
        f"how many categories, items and queries to show; {TOP} if not given",
        panel="Measure",
        metavar="N",
    ),
    Flag("as_json", bool, "print the figures as JSON", ("--json",), panel="Measure", default=False),
)
QUERIES = (
    Flag(
        "queries",
        str | None,
        "COUNT queries to ask, one a line: labels of items or categories by commas",
        panel="Queries",
        metavar="FILE",
    ),
    Flag("random_queries", str | None, "ask N random queries", panel="Queries", metavar="N"),
    Flag(
        "query_size",
        str | None,
        "labels of a random query at most; 3 if not given",
        panel="Queries",
        metavar="Q",
    ),
    Flag(
        "drawn_from",
        str | None,
        "records: labels that occur together, or items: any labels; records if not given",
        panel="Queries",
    ),
    Flag(
        "sanity",
        str | None,
        "share of the records below which a true count counts as that; 0.1% if not given",
        panel="Queries",
        metavar="SHARE",
    ),
    Flag("save_queries", str | None, "write the queries asked", panel="Queries", metavar="FILE"),
    Flag("force", bool, "with --save-queries: replace the file", panel="Queries", default=False),
)


FLAGS = (OWN, QUERIES, BUCKETS, READING, NOTICES, TABLE)


@taking(*FLAGS)
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
    from ..io.folder.ownership import holds_buckets, holds_pair

    if holds_buckets(release):
        measure_table(release, given, [flag for group in FLAGS for flag in group])
        return
    refuse_for_sets(given)
    top = TOP if given["top"] is None else whole("top", given["top"])
    if not top:
        raise UsageError("top must be 1 or more.", f"Give for example {TOP}.")
    if holds_pair(release):
        measure_pair(release, given, [flag for group in FLAGS for flag in group], top)
        return
    asked = _asked(given)
    _check_files(given)
    if given["queries"] is not None:
        from ..io.lists import read_queries

        asked["queries"] = read_queries(given["queries"])
    transactions = read_data(given["original"], given)
    with screen.notices_before_error(transactions.notices, verbose=given["verbose"]):
        from ..api import measure as measure_release
        from ..progress import Watch
        from ..reopen.sets import read_set_release

        with screen.progress() as listener:
            watch = Watch(listener=listener)
            opened = read_set_release(release, transactions, watch=watch)
            scores = measure_release(opened, watch=watch, **asked)
    screen.notices(transactions.notices, verbose=given["verbose"])
    if scores.queries is not None and given["save_queries"] is not None:
        from ..io.lists import write_queries

        write_queries(scores.queries.workload.queries(), given["save_queries"], force=given["force"])
        screen.written(given["save_queries"])
    branches, items = _worst(opened, top) if given["by_branch"] else ((), ())
    worst = [] if scores.queries is None or given["top"] is None else scores.queries.worst(top)
    if given["as_json"]:
        plain: dict[str, Any] = {"personal_data": PRIVATE, **scores.as_dict()}
        if given["by_branch"]:
            plain["branches"] = [branch.as_dict() for branch in branches]
            plain["items"] = [item.as_dict() for item in items]
        if worst:
            plain["queries"]["worst"] = worst
        screen.print_json(plain)
        return
    screen.echo(str(scores))
    if given["by_branch"]:
        _show_branches("Categories that lost most", "category", branches)
        _show_branches("Items that lost most", "item", items)
    if worst:
        _show_queries(worst)
    screen.echo(f"\n{PRIVATE}")


def _asked(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of `api.measure`, checked as far as no file is needed for it."""
    from ..measure.catalogue import ALL, chosen
    from ..measure.queries import SOURCES

    names = listed(given["measures"])
    measures: Any = ALL if names == [ALL] else names or None
    support = None if given["support"] is None else share_of("support", given["support"])
    taken = [found.name for found in chosen(measures, support=support)]
    if given["original"] is None:
        raise UsageError(
            "the original records are needed.", "Give them: --original DATA.", code="no-original"
        )
    asks = given["queries"] is not None or given["random_queries"] is not None
    if given["queries"] is not None and given["random_queries"] is not None:
        raise UsageError("--queries and --random-queries do not go together.", "Keep one.")
    for name in ("query_size", "drawn_from"):
        if given[name] is not None and given["random_queries"] is None:
            flag = "--" + name.replace("_", "-")
            raise UsageError(
                f"{flag} is for random queries.", "Give --random-queries N, or leave it out."
            )
    if given["drawn_from"] not in (None, *SOURCES):
        raise UsageError(
            f"queries cannot be drawn from {given['drawn_from'][:40]!r}.",
            f"Known: {', '.join(SOURCES)}.",
        )
    for name in ("sanity", "save_queries"):
        if given[name] is not None and not asks and "are" not in taken:
            flag = "--" + name.replace("_", "-")
            raise UsageError(f"{flag} is for queries.", "Give --queries FILE or --random-queries N.")
    if given["top"] is not None and not given["by_branch"] and not asks and "are" not in taken:
        raise UsageError("--top is for --by-branch and for queries.", "Give one of them.")
    if given["force"] and given["save_queries"] is None:
        raise UsageError("--force is for --save-queries.", "Leave it out.")
    numbers = {
        name: whole(name, given[name])
        for name in ("random_queries", "query_size")
        if given[name] is not None
    }
    return {
        "measures": measures,
        "support": support,
        "drawn_from": given["drawn_from"],
        "sanity": None if given["sanity"] is None else share_of("sanity", given["sanity"]),
        **numbers,
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


def _check_files(given: Mapping[str, Any]) -> None:
    """Refuse files that cannot be read or written together, before anything is read."""
    files = [given["queries"]] if given["queries"] is not None else []
    refuse_stdin_twice(given["original"], files, given)
    if given["save_queries"] is not None:
        from ..io.files import check_new_file

        inputs = [name for name in (given["original"], *files) if name != "-"]
        check_new_file(given["save_queries"], force=given["force"], inputs=inputs)


def _worst(release: Release, top: int) -> tuple[tuple[Branch, ...], tuple[Branch, ...]]:
    from ..api import original_rows
    from ..measure.branches import branch_losses
    from ..release.apply import BeforeAfter

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
