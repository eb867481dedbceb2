"""One run on two data sets: their patterns hidden, nothing written yet."""

from __future__ import annotations

import time
from collections import Counter
from typing import Any

import numpy as np

from .errors import UsageError
from .io.column_look import told_of_identifiers
from .model.guarantees import HiddenPatterns
from .model.pattern_pair import PatternPair
from .progress import Watch
from .registry import default_method, method
from .release.pair_release import PairRelease
from .release.sealing import seal_of_pair

FLAT = (
    "nothing stands between values and their root, so a value is published as it is or as {root!r}: a "
    "hierarchy would keep more."
)
UNGUARDED = (
    "sets below the minimum support are too many to be looked after: they may differ more than before."
)
MOST_THREADS = 4096
ENDED = "the time limit ended the search: the promise is kept, at a larger loss than need be."


def hide_patterns(
    pair: PatternPair,
    guarantee: HiddenPatterns,
    *,
    method_key: str | None = None,
    watch: Watch | None = None,
    threads: int | None = None,
    **options: Any,
) -> PairRelease:
    """Return a release of two data sets in which no pattern is left; nothing is written.

    Parameters
    ----------
    pair
        The data sets, as `setveil.read_pattern_pair` returns them.
    guarantee
        ``HiddenPatterns(growth)``.
    method_key
        "hide-patterns", the only one so far.
    watch
        Progress, deadline and cancelling.
    threads
        How many threads count; all by default.
    options
        The method's own options.

    >>> from setveil.hierarchy.tree import Hierarchy
    >>> from setveil.model.transactions import Transactions
    >>> drinks = Hierarchy.from_parents({"ale": "drink", "tea": "drink", "drink": None})
    >>> before = Transactions.from_rows([["ale"], ["ale"], ["tea"]])
    >>> after = Transactions.from_rows([["tea"], ["tea"], ["tea"]])
    >>> release = hide_patterns(PatternPair.of_sets(before, after, drinks), HiddenPatterns(2))
    >>> [list(side.rows()) for side in release.published.sides]
    [[('drink',), ('drink',), ('drink',)], [('drink',), ('drink',), ('drink',)]]
    """
    started = time.monotonic()
    if not isinstance(pair, PatternPair):
        raise UsageError(
            f"{guarantee} is about two data sets.",
            "Read them first: setveil.read_pattern_pair(first, second), or with class_column=... where "
            "one table holds both.",
        )
    check_threads(threads)
    record = default_method(guarantee) if method_key is None else method(method_key)
    record.check_guarantee(guarantee)
    checked = record.checked_options(options)
    for name, records in zip(pair.names, pair.records, strict=True):
        if not records:
            raise UsageError(
                f"the data set {name[:40]!r} has no records.", "Give some.", code="no-records"
            )
    outcome = record.load()(pair, guarantee, watch=watch or Watch(), threads=threads, **checked)
    return PairRelease(
        pair=pair,
        recoding=outcome.recoding,
        guarantee=guarantee,
        method=record.key,
        options=checked,
        figures=outcome.figures,
        seconds=round(time.monotonic() - started, 6),
        complete=outcome.complete,
        notices=(
            *pair.notices,
            *_told_of_names(pair),
            *_told_of_flat(pair),
            *((UNGUARDED,) if "rarer sets" in outcome.figures else ()),
            *(() if outcome.complete else (ENDED,)),
        ),
        seal=seal_of_pair(pair),
    )


def check_threads(threads: int | None) -> None:
    """Raise `UsageError` for a number of threads that cannot be; 0 is not "all"."""
    if threads is not None and (
        isinstance(threads, bool) or not isinstance(threads, int) or not 1 <= threads <= MOST_THREADS
    ):
        raise UsageError(
            f"threads must be a whole number from 1 to {MOST_THREADS} (got {str(threads)[:40]!r}).",
            "Give for example 2, or leave it out.",
        )


def _told_of_names(pair: PatternPair) -> tuple[str, ...]:
    """Return a notice for each column of tables that can name people."""
    used = np.unique(np.concatenate([side.leaves for side in pair.sides]))
    # The name of a column holds no '='.
    values = Counter(pair.hierarchy.labels[leaf].partition("=")[0] for leaf in used.tolist())
    values_of_column = {name: values[name] for name in pair.columns}
    remedy = "leave it out (--attributes names the others)"
    return told_of_identifiers(values_of_column, sum(pair.records), remedy=remedy)


def _told_of_flat(pair: PatternPair) -> tuple[str, ...]:
    """Return a notice where no value has anything above it but a root."""
    tree = pair.hierarchy
    if tree.height > 1 or not tree.n_leaves or tree.n_leaves == len(tree):
        return ()
    root = tree.labels[tree.roots[0]]
    return (FLAT.format(root="*" if pair.is_table else root),)
