"""A release of two data sets: what is published of either, what it promises, and how it was made.

Rows are ordered by what is published of them, never by the input, so that places tell nothing. A table
is ordered by its cells, column by column; sets are ordered as records of one data set are. Rows that
look the same are ordered by their originals, which only the private documents of the release show.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..hierarchy.tree import Hierarchy
from ..model.guarantees import HiddenPatterns
from ..model.layout import Layout, LayoutColumn
from ..model.pattern_pair import PatternPair, column_of
from ..model.transactions import Transactions, canonical_order
from .header import Header, Seal, is_useless, telling_records
from .recoding import BeforeAfter, EntryRecoding, InMemory, PairRecoding, Part

if TYPE_CHECKING:
    import pyarrow

DATA_SET, SIDES = "data_set", ("first", "second")
"""What frames call the column that tells the data set, and its values; names of files stay private."""
RECODED = "pair"
"""What certificates and private twins say of how two data sets were recoded."""
Ids = NDArray[np.int32]
Places = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class PairTables:
    """The published rows of either side, and the record that each of them was."""

    sides: tuple[Transactions, Transactions]
    record_by_row: tuple[Places, Places]

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(sorted({label for side in self.sides for label in side.vocabulary.labels}))


@dataclass(frozen=True, eq=False)
class PairRelease(Header):
    """The result of hiding the patterns of two data sets; ``print`` it for a summary.

    `complete` is False where a time limit ended the search early: the promise is kept all the same, at
    a larger loss.

    >>> import setveil as sv
    >>> tree = sv.Hierarchy.from_parents({"ale": "drink", "tea": "drink", "drink": None})
    >>> before = sv.Transactions.from_rows([["ale"], ["ale"], ["tea"]])
    >>> after = sv.Transactions.from_rows([["tea"], ["tea"], ["ale"]])
    >>> pair = sv.PatternPair.of_sets(before, after, tree)
    >>> release = sv.anonymize(pair, sv.HiddenPatterns(growth=2))
    >>> release.records, release.raised
    ((3, 3), 6)
    >>> release.to_arrow().column_names
    ['data_set', 'items']
    """

    guarantee: HiddenPatterns = field(kw_only=True)
    pair: PatternPair
    recoding: PairRecoding
    complete: bool = True

    @property
    def records(self) -> tuple[int, int]:
        """How many records either side has; all of them are published."""
        return self.pair.records

    @property
    def hierarchy(self) -> Hierarchy:
        return self.pair.hierarchy

    @cached_property
    def parts(self) -> tuple[BeforeAfter, BeforeAfter]:
        """The records of either side before and after."""
        return parts_of(self.pair, self.recoding)

    @property
    def sides(self) -> tuple[Part, Part]:
        first, second = self.published.sides
        return InMemory(first), InMemory(second)

    @property
    def labels(self) -> tuple[str, ...]:
        return self.published.labels

    @property
    def values(self) -> int:
        """How many values the records of both sides hold: cells, or items of sets."""
        return sum(len(side.leaves) for side in self.pair.sides)

    @property
    def raised(self) -> int:
        """How many of them are published as something more general."""
        return sum(int((part.node_of_occurrence != part.rows.leaves).sum()) for part in self.parts)

    @cached_property
    def published(self) -> PairTables:
        """The published rows of both sides, in canonical order."""
        return publish_pair(self.pair, self.recoding)

    def frame(self) -> pyarrow.Table:
        """Return both data sets as one table, whose first column says which one a row is of.

        It is the column that split one table in two, with its values; else ``data_set``, "first" and
        "second". Then come the columns of the tables, or ``items``.
        """
        import pyarrow

        columns, layout = self.pair.columns, None
        if columns:
            layout = Layout("table", columns=tuple(LayoutColumn(name, "kept") for name in columns))
        name, names = self.pair.classes or (DATA_SET, SIDES)
        while name in columns:
            name += "_"
        tables = [
            self.frame_of(replace(side, layout=layout)).add_column(0, name, [[told] * len(side)])
            for told, side in zip(names, self.published.sides, strict=True)
        ]
        return pyarrow.concat_tables(tables)

    @property
    def useless(self) -> str | None:
        telling = sum(telling_records(side, self.hierarchy) for side in self.sides)
        held = sum(int(np.count_nonzero(np.diff(side.indptr))) for side in self.pair.sides)
        if not is_useless(telling, held):
            return None
        more = "a finer hierarchy, a larger growth or a larger minimum support"
        if not self.complete:
            more = "more time"
        if not telling:
            return f"nothing but topmost categories is left to publish: {more} would keep more."
        return (
            f"{held - telling:,} of {held:,} records would say nothing but topmost categories: {more} "
            "would keep more."
        )

    def lines(self) -> list[tuple[str, str]]:
        first, second = self.records
        what = "cells" if self.pair.is_table else "items"
        share = f" ({self.raised / self.values:.1%})" if self.values else ""
        cut = "" if self.complete else ", cut short by the time limit"
        lines = [
            ("promise", str(self.guarantee)),
            ("method", self._chosen + cut),
            ("records", f"{first:,} and {second:,}"),
            ("raised", f"{self.raised:,} of {self.values:,} {what}{share}"),
            ("time", f"{self.seconds:.2f} s"),
        ]
        return lines + [("note", notice) for notice in self.notices]

    def __repr__(self) -> str:
        first, second = self.records
        return f"PairRelease({self.guarantee}, {self.method}, {first:,} and {second:,} records)"

    def account(self) -> dict[str, object]:
        return {
            "names": list(self.pair.names),
            "records": list(self.records),
            "values": self.values,
            "raised": self.raised,
            "complete": self.complete,
        }

    def hidden(self) -> dict[str, object]:
        """Return the original values of every published row, side by side.

        A row is a text, its values by blanks: the place of each in `values`, and where it was raised
        ``>`` and the place in `labels` of what it is published as.
        """
        labels = self.hierarchy.labels
        values = sorted(labels[: self.hierarchy.n_leaves])
        place_of_value = {label: place for place, label in enumerate(values)}
        place_of_label = {label: place for place, label in enumerate(self.labels)}
        sides = []
        for part, order in zip(self.parts, self.published.record_by_row, strict=True):
            rows = part.rows
            entries = list(zip(rows.leaves.tolist(), part.node_of_occurrence.tolist(), strict=True))
            told: dict[tuple[int, int], tuple[int, str]] = {}
            for leaf, node in set(entries):
                value = place_of_value[labels[leaf]]
                above = "" if leaf == node else f">{place_of_label[labels[node]]}"
                told[leaf, node] = value, f"{value}{above}"
            bounds = list(pairwise(rows.indptr.tolist()))
            sides.append(
                [
                    " ".join(text for _, text in sorted(told[entry] for entry in entries[start:end]))
                    for start, end in (bounds[record] for record in order.tolist())
                ]
            )
        return {"recoding": RECODED, "values": values, "labels": list(self.labels), "rows": sides}


def parts_of(pair: PatternPair, recoding: PairRecoding) -> tuple[BeforeAfter, BeforeAfter]:
    """Return the records of either side with what is published of them."""
    first, second = (
        BeforeAfter(EntryRecoding(pair.hierarchy, nodes), rows)
        for rows, nodes in zip(pair.sides, recoding.node_by_entry, strict=True)
    )
    return first, second


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
    sides, orders = [], []
    for part, (_, of_originals) in zip(parts_of(pair, recoding), pair.originals, strict=True):
        published = part.by_record.take(of_originals)
        again = _order(published, pair.columns)
        sides.append(published.take(again))
        orders.append(of_originals[again])
    return PairTables((sides[0], sides[1]), (orders[0], orders[1]))


def _order(published: Transactions, columns: Sequence[str]) -> Places:
    """Return the order of the rows: by their cells where there are columns, else by their labels."""
    if not columns:
        return canonical_order(published)
    cells = cell_by_row(published, columns)
    # The last key counts most. Labels of one column are in the order of their values.
    return np.lexsort(tuple(cells[:, place] for place in range(len(columns) - 1, -1, -1)))


def cell_by_row(published: Transactions, columns: Sequence[str]) -> Ids:
    """Return the item in each cell, -1 where it is empty.

    Rows are labels ``column=value``, at most one of a column in a row.
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


def seal_of_pair(pair: PatternPair, key: bytes | None = None) -> Seal:
    """Return a keyed hash of the original records of both sides, whatever their order."""
    labels = sorted(pair.hierarchy.labels[: pair.hierarchy.n_leaves])
    parts = [json.dumps([list(pair.columns), labels], ensure_ascii=False).encode()]
    for unordered, order in pair.originals:
        records = unordered.take(order)
        parts += [
            np.int64(len(records)).astype("<i8").tobytes(),
            records.indptr.astype("<i8").tobytes(),
            records.items.astype("<i4").tobytes(),
        ]
    return Seal.over(parts, key)
