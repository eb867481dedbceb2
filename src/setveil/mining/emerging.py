"""Emerging patterns: sets of items that are far more frequent in one data set than in another.

Dong and Li, *Efficient mining of emerging patterns* (1999), as M. W.-K. Cheng, *Hiding emerging pattern
with local recoding generalization*, section 3, uses them: the growth of a set from one data set to the
other is the ratio of its supports, shares of the records. A set of growth rho or more is a rho-emerging
pattern. Where the other data set does not hold it at all its growth is infinite: a jumping pattern.

Differences from the paper: patterns must be frequent where they are more frequent, by default in a
tenth of the records. The paper names no such bound, but with this one the Adult data have 8 patterns at
rho = 35, as it says, and without any 300,431. Both directions are searched, and each pattern tells
where it is more frequent; the paper's Example 3.1 names directions the other way round than its
Definition 3.1.

The search goes one direction at a time, in whole numbers. A pattern must be frequent where it is more
frequent, so the candidates are the frequent itemsets of that side; each is then counted on the other
side. What is asked of the growth becomes a bound: a set of this support may be in so many records of
the other side at most. There can be millions of patterns, so their list holds arrays and makes a
pattern when it is asked for one.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from html import escape
from itertools import islice
from typing import overload

import numpy as np
from numpy.typing import NDArray

from ..distinct import first_places, number_distinct
from ..errors import UsageError
from ..io.csv_text import quoted
from ..kernels.rows import merge_rows
from ..kernels.supports import count_supports, index_nodes
from ..model.numbers import exact_growth, exact_support
from ..model.transactions import Transactions, Vocabulary
from ..progress import Watch
from .itemsets import MOST_SETS, Counts, Ids, Itemsets, frequent_itemsets, least_count


def emerging_patterns(
    first: Transactions,
    second: Transactions,
    *,
    growth: Fraction | int | float | str,
    min_support: Fraction | int | float | str = Fraction(1, 10),
    both_ways: bool = True,
    minimal: bool = False,
    most_items: int | None = None,
    kind: str = "all",
    most_sets: int = MOST_SETS,
    names: tuple[str, str] = ("first", "second"),
    watch: Watch | None = None,
    threads: int | None = None,
) -> EmergingPatterns:
    """Return all sets of items that one data set holds `growth` times as often as the other.

    Parameters
    ----------
    first, second
        The data sets; items are the same where their labels are.
    growth
        The least ratio of the two shares of records, above 1. A float counts as it is written.
    min_support
        How many records must hold a pattern in the data set where it is more frequent: a share of its
        records, or with a whole number a count.
    both_ways
        Also those that are more frequent in the first; else only those that are so in the second.
    minimal
        Leave out patterns that contain another one that is more frequent in the same data set.
    most_items
        The most items of a pattern.
    kind
        "closed": only patterns that no larger set in the same records of their data set stands for.
    most_sets
        `ResourceLimit` where a data set has more frequent sets than this.
    names
        What to call the data sets.
    watch
        Progress and cancelling.
    threads
        How many threads work; all by default. The result does not depend on it.

    Examples
    --------
    >>> last_year = Transactions.from_rows([["ale", "bun"], ["ale"], ["bun"], ["ale", "bun"]])
    >>> this_year = Transactions.from_rows([["bun", "oat"], ["ale", "oat"], ["bun", "oat"]])
    >>> names = ("last year", "this year")
    >>> print(emerging_patterns(last_year, this_year, growth=2, min_support="50%", names=names))
    4 emerging patterns: 2 more frequent in last year (4 records), 2 more frequent in this year \
(3 records); 3 jumping.
      oat: only in this year (100.0% against 0.0%)
      bun, oat: only in this year (66.7% against 0.0%)
      ale, bun: only in last year (50.0% against 0.0%)
      ale: 2.25 times in last year (75.0% against 33.3%)
    """
    exact = exact_growth(growth)
    support = min_support
    if not isinstance(support, Fraction | int):
        support = exact_support(str(support))
    for data, name in zip((first, second), names, strict=True):
        if not len(data):
            raise UsageError(
                f"the data set {name[:40]!r} has no records.", "Give some.", code="no-records"
            )
    if len(set(names)) < 2:
        raise UsageError("both data sets have the same name.", "Give two names.")
    sides, labels = as_sides(first, second)
    watch = watch or Watch()
    parts: list[tuple[Itemsets, Counts, int]] = []
    for side in (1, 0) if both_ways else (1,):
        up, down = sides[side], sides[1 - side]
        sets, elsewhere = grown_sets(
            up,
            down,
            len(labels),
            growth=exact,
            least=least_count(support, up.n_records),
            minimal=minimal,
            most_items=most_items,
            watch=watch,
            threads=threads or len(os.sched_getaffinity(0)),
            kind=kind,
            most_sets=most_sets,
        )
        parts.append((sets, elsewhere, side))
    options = {
        "growth": exact,
        "min_support": support,
        "both_ways": both_ways,
        "minimal": minimal,
        "most_items": most_items,
        "kind": kind,
    }
    return _in_order(parts, labels, names, (len(first), len(second)), options)


def _in_order(
    parts: list[tuple[Itemsets, Counts, int]],
    labels: tuple[str, ...],
    names: tuple[str, str],
    records: tuple[int, int],
    options: Mapping[str, object],
) -> EmergingPatterns:
    """Return the patterns of all directions as one list, the fastest growing first."""
    sizes = np.concatenate([sets.size_by_set for sets, _, _ in parts])
    joined = Itemsets(
        np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        np.concatenate([sets.items for sets, _, _ in parts]),
        np.concatenate([sets.support for sets, _, _ in parts]),
    )
    elsewhere = np.concatenate([counts for _, counts, _ in parts])
    side = np.repeat(
        np.array([side for _, _, side in parts], dtype=np.int64), [len(sets) for sets, _, _ in parts]
    )
    # Patterns with the same counts on the same side are ranked once, exactly. Records are numbered by
    # 32 bits, so that one number of 64 holds both counts and the side.
    code = (side * (max(records) + 1) + joined.support) * (max(records) + 1) + elsewhere
    codes, kind = number_distinct(code)
    first = first_places(kind, len(codes))

    def key(place: int) -> tuple[bool, Fraction, Fraction]:
        where, other = int(side[place]), int(elsewhere[place])
        share = Fraction(int(joined.support[place]), records[where])
        return other > 0, -share * records[1 - where] / other if other else Fraction(0), -share

    keys = [key(place) for place in first.tolist()]
    rank_of_key = {value: rank for rank, value in enumerate(sorted(set(keys)))}
    rank = np.array([rank_of_key[value] for value in keys], dtype=np.int64)[kind]
    order = np.argsort(rank, kind="stable")  # equal ranks stay by direction, size and labels, as found
    sets = joined.take(order)
    return EmergingPatterns(labels, names, records, sets, elsewhere[order], side[order], options)


AT_ONCE = 1 << 18
"""How many sets are counted between two looks at the watch."""

Bools = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Side:
    """One of the data sets: distinct rows of items, how many records each is, and all of them."""

    indptr: Counts
    items: Ids
    weight_by_row: Counts
    n_records: int


def as_sides(first: Transactions, second: Transactions) -> tuple[tuple[Side, Side], tuple[str, ...]]:
    """Return both data sets over one list of labels, identical records merged."""
    here, there = first.vocabulary, second.vocabulary
    both = here if here == there else Vocabulary.of((*here.labels, *there.labels))
    return (_side(first, both), _side(second, both)), both.labels


def _side(data: Transactions, both: Vocabulary) -> Side:
    items = data.items
    if data.vocabulary != both:
        # Ids follow the labels in both vocabularies, so the rows stay ascending.
        number = np.array([both.ids[label] for label in data.vocabulary.labels], dtype=np.int32)
        items = number[items] if len(number) else items
    ones = np.ones(len(data), dtype=np.int64)
    indptr, merged, weight_by_row, _ = merge_rows(data.indptr, items, ones)
    return Side(indptr, merged, weight_by_row, len(data))


def grown_sets(
    up: Side,
    down: Side,
    n_items: int,
    *,
    growth: Fraction,
    least: int,
    minimal: bool,
    most_items: int | None,
    watch: Watch,
    threads: int,
    parent: Ids | None = None,
    kind: str = "all",
    most_sets: int = MOST_SETS,
) -> tuple[Itemsets, Counts]:
    """Return the sets `growth` times as frequent in `up` as in `down`, and their counts there.

    They are in `least` records of `up` or more. `minimal` leaves out sets that have a smaller one among
    those found. With the `parent` of each node of a hierarchy, items are its nodes, and a record also
    holds what is above its items; without, items count as they stand. `kind` is "all", or, not together
    with `minimal`, "closed" for the sets that no larger one in the same records of `up` stands for:
    where any set is grown, a closed one is. `ResourceLimit` where `up` has more than `most_sets`
    frequent ones.
    """
    found = frequent_itemsets(
        up.indptr,
        up.items,
        up.weight_by_row,
        n_items,
        least,
        kind=kind,
        most_items=most_items,
        parent=parent,
        most_sets=most_sets,
        threads=threads,
        watch=watch,
    )
    above = np.full(n_items, -1, dtype=np.int32) if parent is None else parent
    index = index_nodes(down.indptr, down.items, above, down.weight_by_row)
    elsewhere = np.empty(len(found), dtype=np.int64)
    for start in range(0, len(found), AT_ONCE):
        watch.tick("counting on the other side", start / len(found))
        watch.check_deadline()
        part = found.take(np.arange(start, min(start + AT_ONCE, len(found))))
        elsewhere[start : start + AT_ONCE] = count_supports(part.padded(), index, threads=threads)
    is_grown = elsewhere <= most_elsewhere(found.support, up.n_records, down.n_records, growth)
    if minimal:
        is_grown &= ~_above_others(found, is_grown, watch)
    places = np.flatnonzero(is_grown)
    return found.take(places), elsewhere[places]


def most_elsewhere(support: Counts, here: int, there: int, growth: Fraction) -> Counts:
    """Return in how many records of the other side a set of each support may be."""
    # support / here >= growth * count / there, solved for count; by Python's whole numbers, which do
    # not overflow, once for each support that occurs.
    values, place = number_distinct(support)
    most = [
        value * there * growth.denominator // (growth.numerator * here) for value in values.tolist()
    ]
    return np.array(most, dtype=np.int64)[place]


def _above_others(found: Itemsets, is_grown: Bools, watch: Watch) -> Bools:
    """Tell which sets have a proper subset that is grown.

    All subsets of a frequent set are frequent and so among those found. Growth has no order along
    subsets, so what is known of each set is handed on to those of one more item.
    """
    is_above = np.zeros(len(found), dtype=np.bool_)
    longest = int(found.size_by_set.max(initial=0))
    # The sets come by size; those of s items begin at start_of_size[s - 1].
    start_of_size = np.searchsorted(found.size_by_set, np.arange(1, longest + 2))
    for size in range(2, longest + 1):
        watch.tick("telling the minimal ones", size / (longest + 1))
        watch.check_deadline()
        before, start, end = start_of_size[size - 2 : size + 1].tolist()
        below = found.take(np.arange(before, start))
        known = is_grown[before:start] | is_above[before:start]
        lines = found.items[found.indptr[start] : found.indptr[end]].reshape(-1, size)
        indptr = np.arange(len(lines) + 1, dtype=np.int64) * (size - 1)
        for left_out in range(size):
            smaller = np.delete(lines, left_out, axis=1)
            is_above[start:end] |= known[below.places_of(indptr, smaller.reshape(-1))]
    return is_above


SHOWN = 20
"""How many patterns a printed list shows."""
HEADER = "more_frequent_in,growth,share,share_elsewhere,count,count_elsewhere,items,pattern"


@dataclass(frozen=True)
class EmergingPattern:
    """A set of items that is far more frequent in one data set than in the other.

    `count` of the `records` of the data set named `more_frequent_in` hold it, and `count_elsewhere` of
    the `records_elsewhere` of the other.

    >>> pattern = EmergingPattern(("MSE", "manager"), "married", 3, 4, 1, 5)
    >>> pattern.growth, pattern.is_jumping, str(pattern)
    (Fraction(15, 4), False, 'MSE, manager: 3.75 times in married (75.0% against 20.0%)')
    """

    items: tuple[str, ...]
    more_frequent_in: str
    count: int
    records: int
    count_elsewhere: int
    records_elsewhere: int

    @property
    def share(self) -> Fraction:
        """Its support where it is more frequent."""
        return Fraction(self.count, self.records)

    @property
    def share_elsewhere(self) -> Fraction:
        """Its support in the other data set."""
        return Fraction(self.count_elsewhere, self.records_elsewhere)

    @property
    def is_jumping(self) -> bool:
        """Whether no record of the other data set holds it."""
        return self.count_elsewhere == 0

    @property
    def growth(self) -> Fraction | None:
        """How many times as frequent it is; None where that is infinite."""
        return None if self.is_jumping else self.share / self.share_elsewhere

    @property
    def told_growth(self) -> str:
        """The growth as text: two decimals, or ``infinite``."""
        return "infinite" if self.growth is None else f"{float(self.growth):,.2f}"

    def __str__(self) -> str:
        times = "only" if self.is_jumping else f"{self.told_growth} times"
        return (
            f"{', '.join(self.items)}: {times} in {self.more_frequent_in} "
            f"({float(self.share):.1%} against {float(self.share_elsewhere):.1%})"
        )

    def as_dict(self) -> dict[str, object]:
        """Return the pattern as plain values; `growth_exact` is a fraction as text."""
        growth = self.growth
        return {
            "pattern": list(self.items),
            "more_frequent_in": self.more_frequent_in,
            "jumping": self.is_jumping,
            "growth": None if growth is None else float(growth),
            "growth_exact": "infinite" if growth is None else str(growth),
            "share": float(self.share),
            "share_elsewhere": float(self.share_elsewhere),
            "count": self.count,
            "count_elsewhere": self.count_elsewhere,
        }


@dataclass(frozen=True, eq=False, repr=False)
class EmergingPatterns(Sequence[EmergingPattern]):
    """The emerging patterns of two data sets, the fastest growing first; ``print`` it for a summary.

    Jumping patterns come first; then by growth, by support, by the data set (the second before the
    first), by size and by labels. `sets` holds the items and how many records have them where they are
    more frequent, which is the data set of that number in `side_by_pattern`.
    """

    labels: tuple[str, ...]
    names: tuple[str, str]
    records: tuple[int, int]
    sets: Itemsets
    count_elsewhere: NDArray[np.int64]
    side_by_pattern: NDArray[np.int64]
    options: Mapping[str, object] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.sets)

    def __iter__(self) -> Iterator[EmergingPattern]:
        counts = (self.sets.support, self.count_elsewhere, self.side_by_pattern)
        for items, count, elsewhere, side in zip(self.sets, *(c.tolist() for c in counts), strict=True):
            labels = tuple(self.labels[item] for item in items)
            here, there = self.records[side], self.records[1 - side]
            yield EmergingPattern(labels, self.names[side], count, here, elsewhere, there)

    @overload
    def __getitem__(self, place: int) -> EmergingPattern: ...
    @overload
    def __getitem__(self, place: slice) -> EmergingPatterns: ...
    def __getitem__(self, place: int | slice) -> EmergingPattern | EmergingPatterns:
        chosen = np.arange(len(self))[place]
        if isinstance(place, slice):
            return self._taken(chosen)
        return next(iter(self._taken(np.array([chosen]))))

    @property
    def jumping(self) -> EmergingPatterns:
        """Those that one of the data sets does not hold at all."""
        return self._taken(np.flatnonzero(self.count_elsewhere == 0))

    def more_frequent_in(self, name: str) -> EmergingPatterns:
        """Return those that are more frequent in the data set of this name; KeyError if none is."""
        if name not in self.names:
            raise KeyError(f"no data set {name!r}; there are {self.names[0]!r} and {self.names[1]!r}")
        return self._taken(np.flatnonzero(self.side_by_pattern == self.names.index(name)))

    def as_dicts(self) -> list[dict[str, object]]:
        return [pattern.as_dict() for pattern in self]

    def as_dict(self, *, top: int | None = None) -> dict[str, object]:
        """Return everything as plain values, of the patterns the first `top`; all by default."""
        return {
            "data_sets": [
                {"name": name, "records": records, "patterns": number}
                for name, records, number in zip(self.names, self.records, self._numbers(), strict=True)
            ],
            "options": {
                n: str(value) if isinstance(value, Fraction) else value
                for n, value in self.options.items()
            },
            "found": len(self),
            "jumping": int((self.count_elsewhere == 0).sum()),
            "patterns": self[:top].as_dicts(),
        }

    def to_csv(self) -> str:
        """Return the patterns as CSV; the labels of a pattern are one cell, a line of CSV itself."""
        lines = [HEADER]
        for pattern in self:
            growth = "inf" if pattern.growth is None else f"{float(pattern.growth):.9g}"
            cells = (
                quoted(pattern.more_frequent_in, ","),
                growth,
                f"{float(pattern.share):.9g}",
                f"{float(pattern.share_elsewhere):.9g}",
                str(pattern.count),
                str(pattern.count_elsewhere),
                str(len(pattern.items)),
                quoted(",".join(quoted(label, ",") for label in pattern.items), ","),
            )
            lines.append(",".join(cells))
        return "\n".join(lines) + "\n"

    def summary(self) -> str:
        word = "minimal " if self.options.get("minimal") else ""
        told = f"{len(self):,} {word}emerging pattern{'' if len(self) == 1 else 's'}"
        parts = [
            f"{number:,} more frequent in {name} ({records:,} records)"
            for name, records, number in zip(self.names, self.records, self._numbers(), strict=True)
        ]
        where = ", ".join(parts if self.options.get("both_ways", True) else parts[1:])
        return f"{told}: {where}; {int((self.count_elsewhere == 0).sum()):,} jumping."

    def __str__(self) -> str:
        lines = [self.summary(), *(f"  {pattern}" for pattern in islice(self, SHOWN))]
        if len(self) > SHOWN:
            lines.append(f"  … and {len(self) - SHOWN:,} more")
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"EmergingPatterns({len(self):,} patterns, {self.names[0]!r} and {self.names[1]!r})"

    def _repr_html_(self) -> str:
        heads = ("pattern", "more frequent in", "growth", "share", "share elsewhere")
        rows = "".join(
            f"<tr><td>{escape(', '.join(pattern.items))}</td>"
            f"<td>{escape(pattern.more_frequent_in)}</td><td>{pattern.told_growth}</td>"
            f"<td>{float(pattern.share):.1%}</td><td>{float(pattern.share_elsewhere):.1%}</td></tr>"
            for pattern in islice(self, SHOWN)
        )
        head = "".join(f"<th>{name}</th>" for name in heads)
        return f"<p>{escape(self.summary())}</p><table><tr>{head}</tr>{rows}</table>"

    def _numbers(self) -> list[int]:
        return np.bincount(self.side_by_pattern, minlength=2).tolist()  # type: ignore[no-any-return]

    def _taken(self, places: NDArray[np.int64]) -> EmergingPatterns:
        return EmergingPatterns(
            self.labels,
            self.names,
            self.records,
            self.sets.take(places),
            self.count_elsewhere[places],
            self.side_by_pattern[places],
            self.options,
        )
