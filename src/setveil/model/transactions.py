"""Set-valued data: one set of items a record, as compressed rows.

`indptr` and `items` are CSR arrays: record r holds ``items[indptr[r]:indptr[r + 1]]``, sorted and
unique. A record is a person; its place in the arrays means nothing and is never published. `layout`
remembers the format the data came in, `notices` what the reader had to say about them, `source` and
`first_line_by_item` where each item was seen first, so that later errors can name file and line.
`unprotected` holds, record by record, the raw cells of columns that no promise covers; no method sees
them.

`Rows` are transactions bound to a hierarchy: their items are the numbers of its leaves. `Records` are
those of a table with set-valued columns. A kept cell is known to an attacker as an item is, so it
counts as one: every value is the item ``column=value``, and all columns together make one set a record.
The id of a person, if there was one, has served to merge rows and is gone.

Labels have int32 ids, given in label order (by code point): they do not depend on the order of rows.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ..distinct import distinct, sort_within
from ..errors import DataError, HierarchyError, Problem, UsageError
from ..hierarchy.tree import Hierarchy
from ..plain import Summary
from .layout import Layout, LayoutColumn

Ids = NDArray[np.int32]
Counts = NDArray[np.int64]
_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True)
class Vocabulary:
    """The distinct labels in code point order; the position of a label is its id.

    >>> words = Vocabulary.of(["milk", "beer", "milk"])
    >>> words.labels, words.id_of("milk")
    (('beer', 'milk'), 1)
    """

    labels: tuple[str, ...]

    @classmethod
    def of(cls, labels: Iterable[str]) -> Vocabulary:
        return cls(tuple(sorted(set(labels))))

    @cached_property
    def ids(self) -> dict[str, int]:
        return {label: number for number, label in enumerate(self.labels)}

    def id_of(self, label: str) -> int:
        return self.ids[label]

    def __contains__(self, label: object) -> bool:
        return label in self.ids

    def __len__(self) -> int:
        return len(self.labels)

    def __iter__(self) -> Iterator[str]:
        return iter(self.labels)


def label_fault(label: str) -> tuple[str, str, str] | None:
    """Return (code, what, remedy) if no format could hold this label, else None."""
    if not label:
        return "empty-item", "an empty item.", "Remove it, or give it a name."
    if "\0" in label:
        return "nul-byte", "an item with a zero character.", "Remove it."
    if "\ufeff" in label:
        return "bom-inside", "a byte order mark (U+FEFF) in an item.", "Remove it."
    if not label.isascii() and _SURROGATE.search(label):
        return "lone-surrogate", "an item with half a surrogate pair.", "Write the whole character."
    return None


def cleaned(label: str) -> str:
    """Return what a reader sees: no invisible characters, no blanks at the ends, one kind of blank."""
    if label.isascii():
        return label.strip()
    seen = "".join(mark for mark in label if unicodedata.category(mark) != "Cf")
    return unicodedata.normalize("NFC", seen).replace("\u00a0", " ").strip()


def label_faults(labels: Iterable[str]) -> list[Problem]:
    """Return what is wrong with labels made in Python that no reader would have handed over.

    A label without text, one that is not whole, and two that look the same. What a format cannot hold
    is told where it is written.

    >>> [problem.code for problem in label_faults(["milk", "caf\u00e9", "cafe\u0301", ""])]
    ['empty-item', 'two-spellings']
    """
    problems: list[Problem] = []
    first_of_cleaned: dict[str, str] = {}
    for label in sorted(labels):
        fault = label_fault(label)
        if fault is not None and fault[0] in ("empty-item", "lone-surrogate"):
            problems.append(Problem(*fault))
        elif (twin := first_of_cleaned.setdefault(cleaned(label), label)) != label:
            problems.append(
                Problem(
                    "two-spellings",
                    f"{twin[:40]!a} and {label[:40]!a} are two spellings of the same text.",
                    "Make them one label, or two that can be told apart.",
                )
            )
    return problems


@dataclass(frozen=True, eq=False)
class Transactions(Summary):
    """Records as sets of items.

    >>> baskets = Transactions.from_rows([["milk", "beer"], ["milk", "milk"]])
    >>> baskets
    Transactions(2 records, 2 items, 3 occurrences)
    >>> list(baskets.rows())
    [('beer', 'milk'), ('milk',)]
    """

    vocabulary: Vocabulary
    indptr: Counts
    items: Ids
    layout: Layout | None = None
    notices: tuple[str, ...] = ()
    source: str | None = None
    first_line_by_item: Counts | None = None
    unprotected: tuple[tuple[str, ...], ...] | None = None

    def __post_init__(self) -> None:
        for name in ("indptr", "items"):
            kept = getattr(self, name).view()
            kept.flags.writeable = False
            object.__setattr__(self, name, kept)

    @classmethod
    def from_rows(cls, rows: Iterable[Iterable[str]]) -> Transactions:
        """Return the transactions of these rows of labels; an item counts once in a row.

        Labels are held to what files must keep: no empty one, none with half a character, no two that
        look the same.
        """
        sets = [_as_set(row, number) for number, row in enumerate(_as_rows(rows), 1)]
        faults = label_faults({label for row in sets for label in row})
        if faults:
            raise DataError(faults)
        vocabulary = Vocabulary.of(label for row in sets for label in row)
        lengths = np.fromiter((len(row) for row in sets), dtype=np.int64, count=len(sets))
        indptr = np.zeros(len(sets) + 1, dtype=np.int64)
        np.cumsum(lengths, out=indptr[1:])
        ids = vocabulary.ids
        items = np.fromiter(
            (number for row in sets for number in sorted(ids[label] for label in row)),
            dtype=np.int32,
            count=int(indptr[-1]),
        )
        return cls(vocabulary, indptr, items)

    @classmethod
    def from_codes(
        cls, labels: Sequence[str], record_of_entry: Counts, code_of_entry: Ids, n_records: int
    ) -> Transactions:
        """Return the transactions given as (record, code) pairs, in any order, repeats allowed.

        `labels[code]` need not be sorted, unique or all used; records without a pair stay empty.
        """
        used = np.flatnonzero(np.bincount(code_of_entry, minlength=len(labels)))
        vocabulary = Vocabulary.of(labels[code] for code in used.tolist())
        id_of_code = np.full(max(len(labels), 1), -1, dtype=np.int64)
        ids = vocabulary.ids
        for code, label in enumerate(labels):
            id_of_code[code] = ids.get(label, -1)
        width = max(len(vocabulary), 1)
        keys = record_of_entry.astype(np.int64) * width + id_of_code[code_of_entry]
        keys = distinct(keys)
        indptr = np.zeros(n_records + 1, dtype=np.int64)
        np.cumsum(np.bincount(keys // width, minlength=n_records), out=indptr[1:])
        return cls(vocabulary, indptr, (keys % width).astype(np.int32))

    def __len__(self) -> int:
        return len(self.indptr) - 1

    def __repr__(self) -> str:
        return (
            f"Transactions({len(self):,} records, {len(self.vocabulary):,} items, "
            f"{len(self.items):,} occurrences)"
        )

    def lines(self) -> list[tuple[str, str]]:
        held, lengths = len(self.items), self.length_by_record
        mean = f"{held / len(self):.3g} in the mean, " if len(self) else ""
        lines = [
            ("records", f"{len(self):,}"),
            ("items", f"{len(self.vocabulary):,} different, {held:,} occurrences"),
            ("a record", f"{mean}{int(lengths.max(initial=0)):,} items at most"),
        ]
        return lines + [("note", notice) for notice in self.notices]

    def as_transactions(self) -> Transactions:
        """Return these records; tables with set-valued columns answer with their own."""
        return self

    @property
    def length_by_record(self) -> Counts:
        """How many items each record holds."""
        return np.diff(self.indptr)

    @property
    def count_by_item(self) -> Counts:
        """In how many records each item is."""
        return np.bincount(self.items, minlength=len(self.vocabulary)).astype(np.int64)

    def first_line_of(self, label: str) -> int | None:
        """Return the line of the source where an item is seen first, if it is known."""
        item = self.vocabulary.ids.get(label)
        if item is None or self.first_line_by_item is None:
            return None
        return int(self.first_line_by_item[item]) or None

    def rows(self) -> Iterator[tuple[str, ...]]:
        """Yield each record's labels, sorted."""
        labels = self.vocabulary.labels
        bounds = self.indptr.tolist()
        items = self.items.tolist()
        for start, end in pairwise(bounds):
            yield tuple(labels[item] for item in items[start:end])

    def take(self, records: NDArray[np.int64]) -> Transactions:
        """Return the given records only, in the given order; the vocabulary stays."""
        indptr, places = _entries_of(self.indptr, records)
        cells = self.unprotected
        if cells is not None:
            cells = tuple(cells[record] for record in records.tolist())
        return replace(self, indptr=indptr, items=self.items[places], unprotected=cells)


def _as_rows(rows: object) -> Iterable[object]:
    """Return rows as they are; `UsageError` for what holds none."""
    if isinstance(rows, Iterable) and not isinstance(rows, str | bytes | Mapping):
        return rows
    what = f"rows must be a list of records (got {type(rows).__name__[:40]})."
    remedy = "Give for example [['milk', 'beer'], ['milk']]."
    raise UsageError(what, remedy, code="no-rows")


def _as_set(row: object, number: int) -> set[str]:
    """Return the labels of a row; `UsageError` for a text, which is a label, or other things."""
    fit = isinstance(row, Iterable) and not isinstance(row, str | bytes | Mapping)
    labels: list[object] = list(row) if fit else []  # type: ignore[call-overload]
    wrong = [type(label).__name__ for label in labels if not isinstance(label, str)]
    if fit and not wrong:
        return set(labels)  # type: ignore[arg-type]
    told = f"holds a label of type {wrong[0][:40]}" if wrong else f"is a {type(row).__name__[:40]}"
    what = f"row {number} must be a list of labels, each of it text: it {told}."
    remedy = "Give for example ['milk', 'beer']."
    raise UsageError(what, remedy, code="no-row")


@dataclass(frozen=True, eq=False)
class Rows:
    """Records bound to a hierarchy: ``leaves[indptr[r]:indptr[r + 1]]``, sorted and unique."""

    indptr: Counts
    leaves: Ids

    def __len__(self) -> int:
        return len(self.indptr) - 1

    def take(self, records: NDArray[np.int64]) -> Rows:
        """Return the given records only, in the given order."""
        indptr, places = _entries_of(self.indptr, records)
        return Rows(indptr, self.leaves[places])


def _entries_of(indptr: Counts, records: Counts) -> tuple[Counts, Counts]:
    """Return where each of these records begins in the new order, and the places of its entries."""
    lengths = np.diff(indptr)[records]
    begins = np.zeros(len(records) + 1, dtype=np.int64)
    np.cumsum(lengths, out=begins[1:])
    places = np.repeat(indptr[:-1][records] - begins[:-1], lengths)
    places += np.arange(int(begins[-1]), dtype=np.int64)
    return begins, places


def problem_with(data: Transactions, label: str, code: str, what: str, remedy: str) -> Problem:
    """Return a problem with an item, told where it is seen first."""
    return Problem(code, what, remedy, data.source, data.first_line_of(label))


def bind(transactions: Transactions, hierarchy: Hierarchy) -> tuple[Hierarchy, Rows]:
    """Return the hierarchy restricted to the items that occur, and the records as its leaves.

    >>> toy = Hierarchy.from_parents({"a": "T", "b": "T", "c": "T", "T": None})
    >>> restricted, rows = bind(Transactions.from_rows([["c", "a"], ["a"]]), toy)
    >>> restricted.labels, rows.leaves.tolist()
    (('a', 'c', 'T'), [0, 1, 0])
    """
    used = distinct(transactions.items)
    labels = [transactions.vocabulary.labels[item] for item in used]
    unknown = [
        problem_with(
            transactions,
            label,
            "unknown-item",
            f"item {label[:40]!r} is not in the hierarchy.",
            "Add it.",
        )
        for label in labels
        if label not in hierarchy.node_of_label
    ]
    if unknown:
        raise HierarchyError(unknown)
    categories = [
        problem_with(
            transactions,
            label,
            "item-is-category",
            f"item {label[:40]!r} of the data is a category of the hierarchy.",
            f"Add a leaf such as '{label[:30]} (unspecified)' and use it in the data.",
        )
        for label in labels
        if hierarchy.node_of_label[label] >= hierarchy.n_leaves
    ]
    if categories:
        raise HierarchyError(categories)
    restricted = hierarchy.restricted_to(labels)
    return restricted, as_leaves(transactions, restricted)


def as_leaves(transactions: Transactions, hierarchy: Hierarchy) -> Rows:
    """Return the records as leaves of a hierarchy of which all their items are leaves."""
    node, labels = hierarchy.node_of_label, transactions.vocabulary.labels
    leaf_of_item = np.array([node.get(label, -1) for label in labels] or [-1], dtype=np.int32)
    # A copy that may be written: the kernels are compiled for such arrays alone.
    indptr = transactions.indptr.copy()
    return Rows(indptr, sort_within(indptr, leaf_of_item[transactions.items], hierarchy.n_leaves))


def canonical_order(transactions: Transactions) -> Counts:
    """Return the order of the records by their labels, as tuples; ids are in label order.

    Records with the same labels are ordered by their unprotected cells, where there are some.
    """
    # Big-endian bytes compare as the tuples of ids do, a prefix before its extensions.
    content = transactions.items.astype(">u4").tobytes()
    bounds = (4 * transactions.indptr).tolist()
    order = _by_first_items(transactions, lambda record: content[bounds[record] : bounds[record + 1]])
    cells = transactions.unprotected
    if cells is not None:
        order.sort(key=lambda record: (content[bounds[record] : bounds[record + 1]], cells[record]))
    return np.array(order, dtype=np.int64)


def _by_first_items(transactions: Transactions, content_of: Callable[[int], bytes]) -> list[int]:
    """Return the records in order: by as many first items as fit in one number, then by all of them."""
    starts, lengths = transactions.indptr[:-1], transactions.length_by_record
    bits = max(1, len(transactions.vocabulary).bit_length())
    packed = 63 // bits
    key = np.zeros(len(transactions), dtype=np.int64)
    for place in range(packed):
        key <<= bits
        longer = np.flatnonzero(lengths > place)
        # An item counts one more than its id: a record comes before those that go on.
        key[longer] |= transactions.items[starts[longer] + place].astype(np.int64) + 1
    order = np.argsort(key, kind="stable")
    records: list[int] = order.tolist()
    if not records:
        return records
    in_order = key[order]
    first = np.flatnonzero(np.append(True, in_order[1:] != in_order[:-1]))
    ends = np.append(first[1:], len(order))
    longest = np.maximum.reduceat(lengths[order], first)
    for run in np.flatnonzero((ends - first > 1) & (longest > packed)).tolist():
        low, high = int(first[run]), int(ends[run])
        records[low:high] = sorted(records[low:high], key=content_of)
    return records


def as_labels(rows: Rows, hierarchy: Hierarchy) -> Transactions:
    """Return records that are leaves of a hierarchy as records of labels, in the same order."""
    return labelled(rows.indptr, rows.leaves, hierarchy.labels[: hierarchy.n_leaves])


def labelled(indptr: Counts, nodes: Ids, labels: Sequence[str]) -> Transactions:
    """Return records that are nodes, ``labels[n]`` that of node n, as records of labels."""
    order = sorted(range(len(labels)), key=labels.__getitem__)
    item_of_node = np.empty(len(labels), dtype=np.int64)
    item_of_node[order] = np.arange(len(labels))
    items = sort_within(indptr, item_of_node[nodes], len(labels))
    vocabulary = Vocabulary(tuple(labels[node] for node in order))
    return Transactions(vocabulary, indptr, items)


@dataclass(frozen=True, eq=False)
class Records(Summary):
    """Records as sets of ``column=value`` items, with the columns they came from.

    >>> table = Transactions.from_rows([["sex=F", "drug=a", "drug=b"], ["sex=M"]])
    >>> columns = (LayoutColumn("sex", "kept"), LayoutColumn("drug", "set", " "))
    >>> records = Records(columns, table)
    >>> records
    Records(2 records, sex kept, drug set)
    >>> list(records.column("drug").rows())
    [('a', 'b'), ()]
    """

    columns: tuple[LayoutColumn, ...]
    items: Transactions

    def __len__(self) -> int:
        return len(self.items)

    def __repr__(self) -> str:
        roles = ", ".join(f"{column.name} {column.role}" for column in self.columns)
        return f"Records({len(self):,} records, {roles})"

    def lines(self) -> list[tuple[str, str]]:
        lines = [("records", f"{len(self):,}")]
        lines += [(column.name, column.role) for column in self.columns]
        return lines + [("note", notice) for notice in self.notices]

    @property
    def notices(self) -> tuple[str, ...]:
        return self.items.notices

    def as_transactions(self) -> Transactions:
        """Return all columns as one set a record, labelled ``column=value``."""
        return self.items

    def labels_of(self, name: str) -> tuple[str, ...]:
        prefix = f"{name}="
        return tuple(label for label in self.items.vocabulary.labels if label.startswith(prefix))

    def column(self, name: str) -> Transactions:
        """Return one column as transactions, its values without the name of the column."""
        prefix = f"{name}="
        labels = [
            label.removeprefix(prefix) if label.startswith(prefix) else ""
            for label in self.items.vocabulary.labels
        ]
        of_column = np.array([label.startswith(prefix) for label in self.items.vocabulary.labels])
        records = np.repeat(np.arange(len(self), dtype=np.int64), self.items.length_by_record)
        kept = of_column[self.items.items] if len(of_column) else np.zeros(0, dtype=np.bool_)
        return Transactions.from_codes(labels, records[kept], self.items.items[kept], len(self))
