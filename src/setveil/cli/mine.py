"""``setveil mine``: patterns of the original records, for their holder. Private."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import typer

from ..errors import UsageError
from . import mine_patterns, mine_rules, screen
from .flags import NOTICES, READING, TABLE, Flag, picked, taking, whole
from .inputs import HIERARCHY, THREADS
from .reading import hierarchy_files, read_data, read_hierarchies, refuse_stdin_twice

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

OWN = (
    Flag(
        "min_support",
        str,
        "records that hold a set at least: a share such as 1% or 0.01, or a count such as 50",
        default=...,
        panel="Mining",
        metavar="SUPPORT",
    ),
    Flag(
        "kind",
        str,
        "all; closed: without sets that a larger one of the same support stands for; maximal: without "
        "sets that any larger frequent one stands for",
        default="all",
        panel="Mining",
    ),
    Flag("most_items", str | None, "items of a set at most", panel="Mining", metavar="N"),
    replace(THREADS, panel="Mining"),
)
LEVELS = tuple(flag for flag in HIERARCHY if flag.name != "private_hierarchy")
OUTPUT = (
    Flag(
        "top",
        str | None,
        f"the N most frequent only; {TOP} on the screen if not given, all in a file and as JSON",
        panel="Output",
        metavar="N",
    ),
    Flag(
        "output",
        str | None,
        "write the sets as CSV: support, share, items, itemset",
        ("-o", "--output"),
        panel="Output",
        metavar="FILE.csv",
    ),
    Flag("force", bool, "with -o: replace an existing file", default=False, panel="Output"),
    Flag("as_json", bool, "print the sets as JSON", ("--json",), default=False, panel="Output"),
)


@app.command(epilog=EXAMPLE)
@taking(OWN, LEVELS, OUTPUT, READING, NOTICES, TABLE)
def itemsets(
    data: str = typer.Argument(help="The data; - is standard input.", metavar="DATA"), **given: Any
) -> None:
    """Find the sets of items that many records hold, exactly.

    With --hierarchy sets of items and categories at all levels are found, none of which holds an item
    and a category above it.

    The result is private: it tells about the original records, under their original labels.
    """
    from ..mining.itemsets import least_count
    from ..model.guarantees import exact_support

    asked = exact_support(given["min_support"])
    numbers = {
        name: None if given[name] is None else whole(name, given[name])
        for name in ("most_items", "threads", "top")
    }
    _check(data, given)
    transactions = read_data(data, given)
    least = least_count(asked, len(transactions))
    from ..progress import Watch

    with (
        screen.notices_before_error(transactions.notices, verbose=given["verbose"]),
        screen.progress() as listener,
    ):
        watch = Watch(listener=listener)
        found, labels, told = _mined(
            transactions, least, given, watch, numbers["most_items"], numbers["threads"]
        )
    screen.notices([*transactions.notices, *told], verbose=given["verbose"])
    _deliver(found, labels, least, len(transactions), numbers["top"], given)


def _check(data: str, given: Mapping[str, Any]) -> None:
    """Refuse what does not go together, before anything is read."""
    from ..mining.itemsets import KINDS

    if given["kind"] not in KINDS:
        raise UsageError(
            f"unknown kind of itemsets {given['kind'][:40]!r}.", f"Known: {', '.join(KINDS)}."
        )
    hierarchies = given["hierarchy"] or []
    if not hierarchies and picked(given, LEVELS):
        raise UsageError("options for a hierarchy go with --hierarchy FILE.", "Give one.")
    if given["force"] and given["output"] is None:
        raise UsageError("--force is for -o FILE.", "Leave it out.")
    files = hierarchy_files(hierarchies, given)
    refuse_stdin_twice(data, files, given)
    if given["output"] is not None:
        from ..io.files import check_new_file

        inputs = [name for name in (data, *files, given["labels"]) if name and name != "-"]
        check_new_file(given["output"], force=given["force"], inputs=inputs)


def _mined(
    transactions: Transactions,
    least: int,
    given: Mapping[str, Any],
    watch: Watch,
    most_items: int | None,
    threads: int | None,
) -> tuple[Itemsets, tuple[str, ...], tuple[str, ...]]:
    """Return the sets, the labels of their items, and what to tell about the hierarchy."""
    import numpy as np

    from ..mining.itemsets import frequent_itemsets

    parent = None
    told: tuple[str, ...] = ()
    labels, indptr, items = transactions.vocabulary.labels, transactions.indptr, transactions.items
    trees = read_hierarchies(given["hierarchy"] or [], transactions, given)
    if given["hierarchy"]:
        from ..model.fit import fit_hierarchy
        from ..model.guarantees import KmAnonymity
        from ..model.transactions import bind

        # As for a release; which promise it would keep makes no difference here.
        fitted, _, told = fit_hierarchy(
            transactions, trees, KmAnonymity(2, 1), unknown=given["unknown"]
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
        kind=given["kind"],
        most_items=most_items,
        parent=parent,
        threads=threads,
        watch=watch,
    )
    return found, labels, told


def _deliver(
    found: Itemsets,
    labels: tuple[str, ...],
    least: int,
    n_records: int,
    top: int | None,
    given: Mapping[str, Any],
) -> None:
    """Write the file, then show the sets, the most frequent first."""
    chosen = found.most_frequent(len(found) if top is None else top)
    if given["output"] is not None:
        from ..io.files import write_text_file
        from ..io.lists import itemsets_as_csv

        text = itemsets_as_csv(chosen.labelled(labels), n_records)
        write_text_file(given["output"], text, mode=0o600, force=given["force"])
        screen.written(given["output"])
    if given["as_json"]:
        screen.print_json(
            {
                "personal_data": PRIVATE,
                "records": n_records,
                "least_support": least,
                "kind": given["kind"],
                "found": len(found),
                "itemsets": [
                    {"itemset": list(names), "support": support, "share": support / n_records}
                    for names, support in chosen.labelled(labels)
                ],
            }
        )
        return
    word = {"all": "", "closed": "closed ", "maximal": "maximal "}[given["kind"]]
    shown = chosen if top is not None else chosen.most_frequent(TOP)
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
