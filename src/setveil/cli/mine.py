"""``setveil mine``: patterns of the original records, for their holder. Private."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import typer

from ..errors import UsageError
from ..run import Shown
from ..run.fields import Text, declare, switch
from ..run.reading import SetsInput, Trees, input_files
from . import mine_patterns, mine_rules, screen
from .flags import as_json, check_outputs, with_flags, write_output

if TYPE_CHECKING:
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

app.command("rules", epilog=mine_rules.EXAMPLE)(mine_rules.rules)
app.command("patterns", epilog=mine_patterns.EXAMPLE)(mine_patterns.patterns)

EXAMPLE = (
    "Examples: setveil mine itemsets baskets.csv --min-support 1%    "
    "setveil mine itemsets baskets.csv --min-support 50 --hierarchy products.csv --kind closed    "
    "setveil mine itemsets baskets.csv --min-support 0.01 -o itemsets.csv"
)
PRIVATE = "Personal data: these are counts of the original records. Keep them as safe as those."
TOP = 20


class Asked(SetsInput, Shown):
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


@app.command(epilog=EXAMPLE)
@with_flags(Asked)
def itemsets(
    data: str = typer.Argument(help="The data; - is standard input.", metavar="DATA"), **given: Any
) -> None:
    """Find the sets of items that many records hold, exactly.

    With --hierarchy sets of items and categories at all levels are found, none of which holds an item
    and a category above it.

    The result is private: it tells about the original records, under their original labels.
    """
    asked = Asked.take(given)
    from ..mining.itemsets import least_count
    from ..model.numbers import exact_support

    support = exact_support(asked.min_support)
    _check(data, asked)
    transactions = asked.read_sets(data)
    least = least_count(support, len(transactions))
    from ..progress import Watch

    with (
        screen.notices_before_error(transactions.notices, verbose=asked.verbose),
        screen.progress() as listener,
    ):
        watch = Watch(listener=listener)
        found, labels, notices = _mine(transactions, least, asked, watch)
    screen.notices([*transactions.notices, *notices], verbose=asked.verbose)
    _deliver(found, labels, least, len(transactions), asked)


def _check(data: str, asked: Asked) -> None:
    """Refuse what does not go together, before anything is read."""
    from ..mining.itemsets import KINDS

    if asked.kind not in KINDS:
        raise UsageError(
            f"unknown kind of itemsets {asked.kind[:40]!r}.", f"Known: {', '.join(KINDS)}."
        )
    if not asked.hierarchy and asked.given(Trees):
        raise UsageError("options for a hierarchy go with --hierarchy FILE.", "Give one.")
    check_outputs(asked, input_files(asked, data), "output", force_is_for="-o FILE")


def _mine(
    transactions: Transactions, least: int, asked: Asked, watch: Watch
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


def _deliver(
    found: Itemsets, labels: tuple[str, ...], least: int, n_records: int, asked: Asked
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
                "personal_data": PRIVATE,
                "records": n_records,
                "least_support": least,
                "kind": asked.kind,
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
    screen.echo(PRIVATE)
