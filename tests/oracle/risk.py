"""Brute force for the risk of records: every subset of every record, counted in plain Python."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import combinations

Record = frozenset[str]


def matching(records: Sequence[Record], known: Iterable[str], absent: Iterable[str] = ()) -> int:
    """How many records hold all that is known, and nothing that is known to be absent."""
    return sum(record.issuperset(known) and record.isdisjoint(absent) for record in records)


def subsets(record: Record, known: int) -> list[tuple[str, ...]]:
    """What somebody may know who knows so many items: all of a record that has fewer."""
    return list(combinations(sorted(record), min(known, len(record))))


def worst(records: Sequence[Record], k: int, known: int) -> Fraction:
    """The share of records with some subset that fewer than k records hold."""
    hits = sum(any(matching(records, part) < k for part in subsets(r, known)) for r in records)
    return Fraction(hits, len(records))


def average(records: Sequence[Record], k: int, known: int) -> Fraction:
    """The mean over records of the share of their subsets that fewer than k records hold."""
    total = Fraction(0)
    for record in records:
        parts = subsets(record, known)
        total += Fraction(sum(matching(records, part) < k for part in parts), len(parts))
    return total / len(records)


def least_known(records: Sequence[Record], record: Record, k: int) -> int | None:
    """The size of a smallest subset of a record that fewer than k records hold; None without one."""
    for size in range(1, len(record) + 1):
        if any(matching(records, part) < k for part in combinations(sorted(record), size)):
            return size
    return None


def mean_of_one_over(records: Sequence[Record], population: Sequence[Record], known: int) -> Fraction:
    """The mean over records and their subsets of one over the number of the population that match."""
    total = Fraction(0)
    for record in records:
        parts = subsets(record, known)
        total += sum(Fraction(1, matching(population, part)) for part in parts) / len(parts)
    return total / len(records)
