"""Intervals of numbers: a hierarchy by them, and faults in one that was given.

Intervals are closed on the left and open on the right, ``[10, 20)``. Edges are decimal numbers and are
compared exactly. Gaps and overlaps are refused, and so is the notation ``[10,20[``, whose last bracket
may be read either way.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from itertools import pairwise

from ..errors import HierarchyError, Problem, UsageError
from .tree import Hierarchy

_NUMBER = r"[+-]?(?:[0-9]{1,100}(?:\.[0-9]{0,100})?|\.[0-9]{1,100})"
_PLAIN = re.compile(_NUMBER)
_BRACKETS = re.compile(rf"([\[\](]) *({_NUMBER}) *[,;] *({_NUMBER}) *([\])\[])")
_DASHED = re.compile(r"([0-9]{1,18})-([0-9]{1,18})")


@dataclass(frozen=True)
class Interval:
    """From `low` to `high`; `whole` if it was written ``0-9``, of whole numbers, both ends in."""

    label: str
    low: Decimal
    high: Decimal
    holds_low: bool
    holds_high: bool
    whole: bool = False
    ambiguous: bool = False

    @property
    def broken(self) -> bool:
        """Whether it cannot be compared with others."""
        return self.ambiguous or self.low > self.high

    def holds(self, value: Decimal) -> bool:
        above = value >= self.low if self.holds_low else value > self.low
        below = value <= self.high if self.holds_high else value < self.high
        return above and below

    def surrounds(self, other: Interval) -> bool:
        low = self.low < other.low or (
            self.low == other.low and (self.holds_low or not other.holds_low)
        )
        high = self.high > other.high or (
            self.high == other.high and (self.holds_high or not other.holds_high)
        )
        return low and high


def parse_number(text: str) -> Decimal | None:
    """Return a plain decimal number, or None; no exponents, no foreign digits, no blanks."""
    return Decimal(text) if _PLAIN.fullmatch(text) else None


def parse_interval(text: str) -> Interval | None:
    """Return the interval a label stands for, or None if it is none."""
    match = _BRACKETS.fullmatch(text)
    if match:
        left, right = match[1], match[4]
        ambiguous = left == "]" or right == "["
        low, high = Decimal(match[2]), Decimal(match[3])
        return Interval(text, low, high, left == "[", right == "]", ambiguous=ambiguous)
    match = _DASHED.fullmatch(text)
    if match:
        return Interval(text, Decimal(match[1]), Decimal(match[2]), True, True, whole=True)
    return None


def from_intervals(
    values: Iterable[str],
    edges: Sequence[str | int | float | Decimal],
    *,
    coarser: Sequence[Sequence[str | int | float | Decimal]] = (),
    root: str = "ALL",
) -> Hierarchy:
    """Return a tree of plain decimal numbers below intervals ``[a, b)``.

    The finest intervals begin and end at the rising `edges`; `coarser` has the edges of each higher
    level, every one an edge of the level below.

    >>> from_intervals(["5", "12", "31"], [0, 10, 20, 40], coarser=[[0, 20, 40]]).path("12")
    ('12', '[10, 20)', '[0, 20)', 'ALL')
    """
    levels = [_checked_edges(level) for level in (edges, *coarser)]
    for finer, higher in pairwise(levels):
        _check_nested(finer, higher)
    labels = sorted(set(values))
    if not labels:
        raise HierarchyError("there are no values.", "Give numbers.", code="empty-hierarchy")
    parent_of: dict[str, str | None] = {root: None}
    problems: list[Problem] = []
    for label in labels:
        number = parse_number(label)
        if number is None:
            what = f"{label[:40]!r} is not a plain decimal number."
            problems.append(Problem("not-a-number", what, "Clean it, or use another hierarchy."))
            continue
        if not levels[0][0] <= number < levels[0][-1]:
            what = f"{label[:40]!r} lies in no interval of [{levels[0][0]}, {levels[0][-1]})."
            problems.append(Problem("interval-gap", what, "Add an edge below or above it."))
            continue
        here = label
        for level in levels:
            name = _interval_label(level, number)
            if name != here:
                parent_of[here] = name
            here = name
        parent_of[here] = root
    clashes = [label for label in labels if label == root or parse_interval(label)]
    problems += [
        Problem("root-name-taken", f"{label[:40]!r} is the label of an interval.", "Rename it.")
        for label in clashes
    ]
    if problems:
        raise HierarchyError(problems)
    return Hierarchy.from_parents(parent_of)


def _interval_label(level: Sequence[Decimal], number: Decimal) -> str:
    place = bisect_right(level, number)
    return f"[{level[place - 1]}, {level[place]})"


def _checked_edges(edges: Sequence[str | int | float | Decimal]) -> list[Decimal]:
    numbers: list[Decimal] = []
    for edge in edges:
        try:
            number = parse_number(edge.strip()) if isinstance(edge, str) else Decimal(str(edge))
        except InvalidOperation:
            number = None
        if number is None or not number.is_finite():
            raise UsageError(f"the edge {str(edge)[:40]!r} is not a number.", "Give e.g. 0,10,20.")
        numbers.append(number)
    if len(numbers) < 2:
        raise UsageError("an interval needs two edges.", "Give e.g. 0,10,20.")
    for low, high in pairwise(numbers):
        if low >= high:
            what = f"the intervals at the edges {low} and {high} overlap; edges must rise."
            remedy = "Sort the edges and drop repeats."
            raise HierarchyError(what, remedy, code="interval-overlap")
    return numbers


def _check_nested(finer: Sequence[Decimal], higher: Sequence[Decimal]) -> None:
    known = set(finer)
    for edge in higher:
        if edge not in known:
            place = bisect_right(finer, edge)
            if 0 < place < len(finer):
                what = f"the edge {edge} cuts the finer interval [{finer[place - 1]}, {finer[place]})."
            else:
                what = f"the edge {edge} lies outside the finer intervals."
            raise HierarchyError(what, "Use edges of the level below.", code="interval-overlap")
    if (higher[0], higher[-1]) != (finer[0], finer[-1]):
        what = f"[{higher[0]}, {higher[-1]}) leaves a gap over [{finer[0]}, {finer[-1]})."
        remedy = "Begin and end all levels at the same edges."
        raise HierarchyError(what, remedy, code="interval-gap")


Fault = tuple[str, str, str, str, bool]
"""Label, code, what, remedy, and whether it is certain."""


def interval_faults(parent_of: Mapping[str, str | None]) -> Iterator[Fault]:
    """Yield faults of labels that look like intervals.

    A fault is certain where brackets were written; ``10-20`` may be a code and no interval.
    """
    known = {
        label: interval
        for label in parent_of
        if label[-1:] in "])[" or "-" in label
        if (interval := parse_interval(label)) is not None
    }
    children: dict[str | None, list[Interval]] = {}
    for label, interval in known.items():
        certain = not interval.whole
        if interval.ambiguous:
            what = f"the interval {label[:40]!r} may be read as open or closed."
            yield label, "ambiguous-interval", what, "Write [10, 20) for 10 <= x < 20.", True
            continue
        if interval.low > interval.high:
            what = f"the interval {label[:40]!r} ends before it begins."
            yield label, "interval-order", what, "Swap its ends.", certain
            continue
        above = parent_of[label]
        children.setdefault(above, []).append(interval)
        outer = known.get(above) if above is not None else None
        if outer is not None and not outer.broken and not outer.surrounds(interval):
            what = f"the interval {label[:40]!r} does not lie in {outer.label[:40]!r} above it."
            yield label, "interval-overlap", what, "Move it.", certain and not outer.whole
    for label, above in parent_of.items():
        outer = known.get(above) if above is not None else None
        number = None if outer is None else parse_number(label)
        if outer is None or number is None or outer.broken or outer.holds(number):
            continue
        what = f"the number {label[:40]!r} does not lie in {outer.label[:40]!r} above it."
        yield label, "outside-interval", what, "Move it.", not outer.whole
    for siblings in children.values():
        yield from _sibling_faults(siblings)


def _sibling_faults(siblings: list[Interval]) -> Iterator[Fault]:
    ordered = sorted(siblings, key=lambda interval: (interval.low, interval.high))
    for left, right in pairwise(ordered):
        both = f"{left.label[:40]!r} and {right.label[:40]!r}"
        certain = not (left.whole or right.whole)
        touch = left.high == right.low
        if left.high > right.low or (touch and left.holds_high and right.holds_low):
            what = f"the intervals {both} overlap."
            yield right.label, "interval-overlap", what, "Separate them.", certain
            continue
        if left.whole and right.whole:
            apart, certain = right.low > left.high + 1, False
        else:
            apart = not touch or not (left.holds_high or right.holds_low)
        if apart:
            what = f"there is a gap between the intervals {both}."
            yield right.label, "interval-gap", what, "Close it.", certain
