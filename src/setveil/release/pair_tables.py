"""What is published of two data sets: each row as the set of its nodes, in canonical order.

Rows are ordered by what is published of them, never by the input, so that places tell nothing. A table
is ordered by its cells, column by column; sets are ordered as `release.apply` orders records. Rows that
look the same are ordered by their originals, which only the private documents of the release show.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..model.pattern_pair import PatternPair, column_of
from ..model.transactions import Rows, Transactions
from .apply import canonical_order, labelled_nodes
from .recoding import PairRecoding
from .sealing import as_labels

Ids = NDArray[np.int32]
Places = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class PairTables:
    """The published rows of either side, and the record that each of them was."""

    sides: tuple[Transactions, Transactions]
    record_by_row: tuple[Places, Places]

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels that are published, sorted."""
        return tuple(sorted({label for side in self.sides for label in side.vocabulary.labels}))


def publish_pair(pair: PatternPair, recoding: PairRecoding) -> PairTables:
    """Return the published rows of both sides.

    >>> from setveil.hierarchy.tree import Hierarchy
    >>> tree = Hierarchy.from_parents({"ale": "drink", "tea": "drink", "drink": None})
    >>> before, after = Transactions.from_rows([["tea"], ["ale"]]), Transactions.from_rows([["tea"]])
    >>> pair = PatternPair.of_sets(before, after, tree)
    >>> drink, tea = pair.hierarchy.node_of_label["drink"], pair.hierarchy.node_of_label["tea"]
    >>> nodes = (np.array([drink, drink], dtype=np.int32), np.array([tea], dtype=np.int32))
    >>> [list(side.rows()) for side in publish_pair(pair, PairRecoding(nodes)).sides]
    [[('drink',), ('drink',)], [('tea',)]]
    """
    first, second = (
        _side(pair, rows, nodes) for rows, nodes in zip(pair.sides, recoding.node_by_entry, strict=True)
    )
    return PairTables((first[0], second[0]), (first[1], second[1]))


def _side(pair: PatternPair, rows: Rows, nodes: Ids) -> tuple[Transactions, Places]:
    """Return the rows of one side in canonical order, and the record of each."""
    original = as_labels(rows, pair.hierarchy)
    published = labelled_nodes(pair.hierarchy, rows, nodes)
    order = canonical_order(original)
    order = order[_order(published.take(order), pair.columns)]
    return published.take(order), order


def _order(published: Transactions, columns: Sequence[str]) -> Places:
    """Return the order of the rows: by their cells where there are columns, else by their labels."""
    if not columns:
        return canonical_order(published)
    cells = cell_by_row(published, columns)
    # The last key counts most. Labels of one column are in the order of their values.
    return np.lexsort(tuple(cells[:, place] for place in range(len(columns) - 1, -1, -1)))


def cell_by_row(published: Transactions, columns: Sequence[str]) -> Ids:
    """Return the item in each cell, -1 where it is empty.

    Parameters
    ----------
    published
        Rows of labels ``column=value``, at most one of a column in a row.
    columns
        The names of the columns.
    """
    place = {name: number for number, name in enumerate(columns)}
    labels = published.vocabulary.labels
    column_of_item = np.array(
        [place[column_of(label, columns)] for label in labels] or [0], dtype=np.int64
    )
    cells = np.full((len(published), len(columns)), -1, dtype=np.int32)
    row = np.repeat(np.arange(len(published), dtype=np.int64), published.length_by_record)
    cells[row, column_of_item[published.items]] = published.items
    return cells
