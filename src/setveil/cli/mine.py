"""``setveil mine``: itemsets and emerging patterns of the original records. Private."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import typer

from ..errors import UsageError
from ..run import Shown
from ..run.fields import TABLE_PANEL, Text, check_threads, declare, refuse_stdin_twice, switch
from ..run.reading import SetsInput, Trees, TwoSets, input_files, warn_of_nothing_shared
from . import mine_rules, screen
from .flags import as_json, check_outputs, with_flags, write_output

if TYPE_CHECKING:
    from ..mining.emerging import EmergingPatterns
    from ..mining.itemsets import Itemsets
    from ..model.transactions import Transactions
    from ..progress import Watch

app = typer.Typer(
    help="Find patterns in data. What it shows are the original labels: it is private.",
    epilog="Example: setveil mine itemsets baskets.csv --min-support 1%",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
)

ITEMSETS_EXAMPLE = (
    "Examples: setveil mine itemsets baskets.csv --min-support 1%    "
    "setveil mine itemsets baskets.csv --min-support 50 --hierarchy products.csv --kind closed    "
    "setveil mine itemsets baskets.csv --min-support 0.01 -o itemsets.csv"
)
COUNTS_PRIVATE = "Personal data: these are counts of the original records. Keep them as safe as those."
TOP = 20
PATTERNS_EXAMPLE = (
    "Examples: setveil mine patterns january.csv --against june.csv --growth 5    "
    "setveil mine patterns adult.csv --class-column salary-class --attributes sex,race,relationship "
    "--growth 35 --minimal    "
    "setveil mine patterns 2019.csv --against 2020.csv --table --growth 2 -o patterns.csv"
)
PATTERNS_PRIVATE = (
    "Personal data: these patterns and counts are drawn from the original records. Keep them as safe "
    "as those."
)


class ItemsetsAsked(SetsInput, Shown):
    """What `mine itemsets` can be asked."""

    PANEL = "Output"
    LEFT_OUT: ClassVar[frozenset[str]] = frozenset({"private_hierarchy"})

    min_support: str = declare(
        "records that hold a set at least: a share such as 1% or 0.01, or a count such as 50",
        default=...,
        metavar="SUPPORT",
        panel="Mining",
    )
    kind: str = declare(
        "all; closed: without sets that a larger one of the same support stands for; maximal: without "
        "sets that any larger frequent one stands for",
        default="all",
        panel="Mining",
    )
    most_items: int | None = declare("items of a set at most", metavar="N", panel="Mining")
    threads: int | None = declare(
        "how many threads count; all if not given", metavar="N", panel="Mining"
    )
    top: int | None = declare(
        f"the N most frequent only; {TOP} on the screen if not given, all in a file and as JSON",
        metavar="N",
    )
    output: Text = declare(
        "write the sets as CSV: support, share, items, itemset", "-o", "--output", metavar="FILE.csv"
    )
    force: bool = switch("with -o: replace an existing file")
    as_json: bool = as_json("the sets")


@with_flags(ItemsetsAsked)
def itemsets(
    data: str = typer.Argument(help="The data; - is standard input.", metavar="DATA"), **given: Any
) -> None:
    """Find the sets of items that many records hold, exactly.

    With --hierarchy sets of items and categories at all levels are found, none of which holds an item
    and a category above it.

    The result is private: it tells about the original records, under their original labels.
    """
    asked = ItemsetsAsked.take(given)
    from ..mining.itemsets import least_count
    from ..model.numbers import exact_support

    support = exact_support(asked.min_support)
    _check_itemsets(data, asked)
    transactions = asked.read_sets(data)
    least = least_count(support, len(transactions))
    with screen.working(transactions.notices, verbose=asked.verbose) as watch:
        found, labels, notices = _mine_itemsets(transactions, least, asked, watch)
    screen.notices([*transactions.notices, *notices], verbose=asked.verbose)
    _deliver_itemsets(found, labels, least, len(transactions), asked)


def _check_itemsets(data: str, asked: ItemsetsAsked) -> None:
    """Refuse what does not go together, before anything is read."""
    from ..mining.itemsets import KINDS

    if asked.kind not in KINDS:
        raise UsageError(
            f"unknown kind of itemsets {asked.kind[:40]!r}.", f"Known: {', '.join(KINDS)}."
        )
    if not asked.hierarchy and asked.given(Trees):
        raise UsageError("options for a hierarchy go with --hierarchy FILE.", "Give one.")
    check_outputs(asked, input_files(asked, data), "output", force_is_for="-o FILE")


def _mine_itemsets(
    transactions: Transactions, least: int, asked: ItemsetsAsked, watch: Watch
) -> tuple[Itemsets, tuple[str, ...], tuple[str, ...]]:
    """Return the sets, the labels of their items, and what to tell about the hierarchy."""
    import numpy as np

    from ..mining.itemsets import frequent_itemsets

    parent = None
    notices: tuple[str, ...] = ()
    labels, indptr, items = transactions.vocabulary.labels, transactions.indptr, transactions.items
    trees = asked.read_trees(transactions)
    if asked.hierarchy:
        from ..model.fit import fit_hierarchy
        from ..model.guarantees import KmAnonymity
        from ..model.transactions import bind

        # As for a release; which promise it would keep makes no difference here.
        fitted, _, notices = fit_hierarchy(
            transactions, trees, KmAnonymity(2, 1), unknown=asked.unknown
        )
        tree, rows = bind(transactions, fitted)
        labels, indptr, items, parent = tree.labels, rows.indptr, rows.leaves, tree.parent
    weights = np.ones(len(transactions), dtype=np.int64)
    found = frequent_itemsets(
        indptr,
        items,
        weights,
        len(labels),
        least,
        kind=asked.kind,
        most_items=asked.most_items,
        parent=parent,
        threads=asked.threads,
        watch=watch,
    )
    return found, labels, notices


def _deliver_itemsets(
    found: Itemsets, labels: tuple[str, ...], least: int, n_records: int, asked: ItemsetsAsked
) -> None:
    """Write the file, then show the sets, the most frequent first."""
    chosen = found.most_frequent(len(found) if asked.top is None else asked.top)
    if asked.output is not None:
        from ..io.lists import itemsets_as_csv

        text = itemsets_as_csv(chosen.labelled(labels), n_records)
        write_output(asked.output, text, force=asked.force)
    if asked.as_json:
        screen.print_json(
            {
                "personal_data": COUNTS_PRIVATE,
                "records": n_records,
                "least_support": least,
                "which": asked.kind,
                "found": len(found),
                "itemsets": [
                    {"itemset": list(names), "support": support, "share": support / n_records}
                    for names, support in chosen.labelled(labels)
                ],
            }
        )
        return
    word = {"all": "", "closed": "closed ", "maximal": "maximal "}[asked.kind]
    shown = chosen if asked.top is not None else chosen.most_frequent(TOP)
    title = f"{len(found):,} {word}frequent itemsets, in at least {least:,} of {n_records:,} records"
    if len(shown) < len(found):
        title += f"; the {len(shown):,} most frequent"
    screen.echo(title)
    screen.table(
        "",
        ("support", "share", "itemset"),
        [
            (f"{support:,}", f"{support / n_records:.2%}", ", ".join(names))
            for names, support in shown.labelled(labels)
        ],
    )
    screen.echo(COUNTS_PRIVATE)


class PatternsAsked(TwoSets, Shown):
    """What `mine patterns` can be asked."""

    PANEL = "Mining"

    growth: str = declare(
        "how many times as frequent a pattern must be in one data set as in the other, above 1",
        default=...,
        metavar="RATE",
    )
    min_support: str = declare(
        "records that hold it at least, where it is more frequent: a share such as 10% or 1/3, "
        "or a count",
        default="0.1",
        metavar="SUPPORT",
    )
    one_way: bool = switch("only those that are more frequent in the second data set")
    minimal: bool = switch("without patterns that contain another one of the same direction")
    most_items: int | None = declare("items of a pattern at most", metavar="N")
    threads: int | None = declare("how many threads count; all if not given", metavar="N")
    top: int | None = declare(
        f"the N fastest growing only; {TOP} on the screen if not given, all in a file and as JSON",
        panel="Output",
        metavar="N",
    )
    output: Text = declare(
        "write the patterns as CSV, one a line", "-o", "--output", panel="Output", metavar="FILE.csv"
    )
    force: bool = switch("with -o: replace an existing file", panel="Output")
    as_json: bool = as_json("the patterns")
    missing_cells: Text = declare(
        "error, suppress, suppress-row, complete-rows (complete in all columns) or category for cells "
        "without a value",
        panel=TABLE_PANEL,
    )


@with_flags(PatternsAsked)
def patterns(
    data: str = typer.Argument(help="The first data set; - is standard input.", metavar="DATA"),
    **given: Any,
) -> None:
    """Find emerging patterns: sets of items that one data set holds far more often than another.

    The data sets are two files, or a table split by the values of one column. The growth of a pattern
    is the ratio of the shares of records that hold it. One that the other data set does not hold at all
    is jumping: its growth is infinite, and it comes first.

    The result is private: it tells about the original records, under their original labels.
    """
    asked = PatternsAsked.take(given)
    check_threads(asked.threads)
    _check_patterns(data, asked)
    pair = asked.read_two(data)
    from ..mining.emerging import emerging_patterns

    with screen.working(pair.notices, verbose=asked.verbose) as watch:
        found = emerging_patterns(
            pair.first,
            pair.second,
            growth=asked.growth,
            min_support=asked.min_support,
            both_ways=not asked.one_way,
            minimal=asked.minimal,
            most_items=asked.most_items,
            names=pair.names,
            watch=watch,
            threads=asked.threads,
        )
    screen.notices([*pair.notices, *warn_of_nothing_shared(pair)], verbose=asked.verbose)
    _deliver_patterns(found, asked)


def _check_patterns(data: str, asked: PatternsAsked) -> None:
    """Refuse what does not go together, before anything is read."""
    from ..model.numbers import exact_growth, exact_support

    exact_growth(asked.growth)
    exact_support(asked.min_support)
    files = asked.check_two(data)
    refuse_stdin_twice(files)
    inputs = [name for name in files if name != "-"]
    check_outputs(asked, inputs, "output", force_is_for="-o FILE")


def _deliver_patterns(found: EmergingPatterns, asked: PatternsAsked) -> None:
    """Write the file, then show the patterns, the fastest growing first."""
    chosen = found if asked.top is None else found[: asked.top]
    if asked.output is not None:
        from ..io.folder.staging import write_text_file

        write_text_file(asked.output, chosen.to_csv(), mode=0o600, force=asked.force)
    if asked.as_json:
        plain = found.as_dict(top=asked.top)
        screen.print_json({"personal_data": PATTERNS_PRIVATE, "output": asked.output, **plain})
        return
    shown = chosen if asked.top is not None else found[:TOP]
    title = found.summary()
    if len(shown) < len(found):
        title += f" The first {len(shown):,}:"
    screen.echo(title)
    if len(shown):
        screen.table(
            "",
            ("growth", "share", "elsewhere", "more frequent in", "pattern"),
            [
                (
                    pattern.told_growth,
                    f"{float(pattern.share):.2%}",
                    f"{float(pattern.share_elsewhere):.2%}",
                    pattern.more_frequent_in,
                    ", ".join(pattern.items),
                )
                for pattern in shown
            ],
        )
    if asked.output is not None:
        screen.echo(f"Written to {asked.output}.")
    screen.echo(PATTERNS_PRIVATE)


app.command("rules", epilog=mine_rules.EXAMPLE)(mine_rules.rules)
app.command("patterns", epilog=PATTERNS_EXAMPLE)(patterns)
app.command("itemsets", epilog=ITEMSETS_EXAMPLE)(itemsets)
