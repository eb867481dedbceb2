"""Is a pattern left in two published data sets? All closed sets of either are counted in both.

A pattern is a set of labels that has the minimum support in one data set and is there at least `growth`
times as frequent as in the other. Closed sets are enough: among sets with the same records of the data
set where they are frequent the largest has the fewest records in the other one. So a pattern exists
exactly if a closed one does. Shares are compared as whole numbers: with growth = p/q, counts a of n and
b of m are a pattern if ``a * m * q >= p * b * n``.

At every level a row also holds all labels above its own; then the same is counted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import gcd
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import ResourceLimit, UsageError
from ..model.guarantees import HiddenPatterns
from .counting import TASKS, WITNESSES_AT_MOST, WORK_LIMIT, Effort, share_out, supports
from .pattern_kernels import (
    Asked,
    Tally,
    add_label,
    count_closed,
    new_desk,
    note,
    raise_rows,
    smaller_part,
    whole_part,
)
from .published import Published
from .verdict import PairFinding, PatternWitness

EVERY_LEVEL_WORK_LIMIT = 4_000_000_000
"""How much work may go into the reading at every level where it is not promised."""

WITNESS_ROOM = 2**18
"""Labels that a task keeps for its witnesses, or more where one set needs more."""

Paths = Mapping[str, tuple[str, ...]]


class _Side(NamedTuple):
    """The distinct rows of one data set in codes that both share."""

    row_ptr: NDArray[np.int64]
    codes: NDArray[np.int32]
    weight_by_row: NDArray[np.int64]
    records: int


class _Found(NamedTuple):
    checked: int
    patterns: int
    best: Fraction | None
    witnesses: list[PatternWitness]
    stopped: bool


def audit_pair(
    first: Published,
    second: Published,
    guarantee: HiddenPatterns,
    *,
    paths: Paths | None = None,
    witnesses: int = 0,
    threads: int | None = None,
    work_limit: int = WORK_LIMIT,
) -> PairFinding:
    """Return whether two data sets hold no pattern.

    Parameters
    ----------
    first, second
        The published rows.
    guarantee
        The promise.
    paths
        For each published label its path, from itself to its root; labels not named are roots.
    witnesses
        How many closed patterns to return. They may point at single persons.
    threads
        How many threads to use; all available ones if None.
    work_limit
        How many entries of rows to look at. Beyond it the answer is `ResourceLimit`, or no if a
        pattern was found before.

    Examples
    --------
    >>> one = Published.from_rows([["a"], ["a", "b"]])
    >>> other = Published.from_rows([["a"], ["b"]])
    >>> finding = audit_pair(one, other, HiddenPatterns(3))
    >>> finding.holds, finding.patterns, finding.highest_growth
    (False, 1, Fraction(2, 1))
    """
    if isinstance(witnesses, bool) or not isinstance(witnesses, int) or witnesses < 0:
        raise UsageError("witnesses must be a whole number, 0 or more.")
    given, effort = paths or {}, Effort(witnesses, threads, work_limit)
    read = given if guarantee.every_level else {}
    found = _count((first, second), guarantee, read, effort)
    if found.stopped and not found.patterns:
        raise ResourceLimit(
            f"the audit needs more than {work_limit:,} steps on these records.",
            "Raise the work limit, or promise a larger minimum support.",
            code="audit-work",
        )
    every_level: int | None = None if found.stopped else found.patterns
    if not guarantee.every_level and any(len(path) > 1 for path in given.values()):
        effort = Effort(0, threads, min(work_limit, EVERY_LEVEL_WORK_LIMIT))
        raised = _count((first, second), guarantee, given, effort)
        every_level = None if raised.stopped else raised.patterns
    return PairFinding(
        found.patterns == 0,
        guarantee,
        (first.records, second.records),
        found.checked,
        found.best,
        found.patterns,
        every_level,
        not found.stopped,
        tuple(found.witnesses),
    )


def _count(
    data: tuple[Published, Published], guarantee: HiddenPatterns, paths: Paths, effort: Effort
) -> _Found:
    """Count the closed sets of either data set; rows hold all labels on the paths of their own."""
    labels, sides = _in_shared_codes(data, paths)
    checked, patterns, stopped = 0, 0, False
    best: list[Fraction] = []
    found: list[PatternWitness] = []
    for place, (here, elsewhere) in enumerate((sides, sides[::-1]), 1):
        tally, code_of_rank = _search(here, elsewhere, len(labels), guarantee, effort)
        checked += int(tally.checked.sum())
        patterns += int(tally.patterns.sum())
        used = int(tally.work.sum())
        stopped = stopped or used > effort.limit
        effort = effort._replace(limit=max(effort.limit - used, 0))
        best += [
            Fraction(int(count) * elsewhere.records, int(other) * here.records)
            for count, other in tally.best
            if count
        ]
        found += _witnesses(tally, code_of_rank, labels, place)
    found.sort(key=lambda one: (len(one.labels), one.labels, one.more_frequent_in))
    return _Found(checked, patterns, max(best, default=None), found[: effort.witnesses], stopped)


def _in_shared_codes(
    data: tuple[Published, Published], paths: Paths
) -> tuple[tuple[str, ...], tuple[_Side, _Side]]:
    """Return all labels that count, sorted, and both data sets in codes of those."""
    published = sorted({*data[0].labels, *data[1].labels})
    path_of = {label: paths.get(label, (label,)) for label in published}
    labels = tuple(sorted({step for path in path_of.values() for step in path}))
    code = {label: number for number, label in enumerate(labels)}
    sides = []
    for rows in data:
        ups = [[code[step] for step in path_of[label]] for label in rows.labels]
        up_ptr = np.zeros(len(ups) + 1, np.int64)
        np.cumsum([len(up) for up in ups], out=up_ptr[1:])
        up_codes = np.array([step for up in ups for step in up], np.int32)
        merged = rows.merged
        row_ptr, codes = raise_rows(merged.indptr, merged.items, up_ptr, up_codes)
        sides.append(_Side(row_ptr, codes, merged.weight_by_row, rows.records))
    return labels, (sides[0], sides[1])


def _search(
    here: _Side,
    elsewhere: _Side,
    n_codes: int,
    guarantee: HiddenPatterns,
    effort: Effort,
) -> tuple[Tally, NDArray[np.int64]]:
    """Count the closed sets of one data set; return the tally, and the code of each rank in it."""
    least = _least_count(guarantee.min_support, here.records)
    support_by_code = supports(here.row_ptr, here.codes, here.weight_by_row, n_codes)
    by_support = np.argsort(support_by_code, kind="stable")
    code_of_rank = by_support[support_by_code[by_support] >= least]
    rank_by_code = np.full(n_codes, -1, np.int32)
    rank_by_code[code_of_rank] = np.arange(len(code_of_rank), dtype=np.int32)
    tally = _no_tally(len(code_of_rank), effort.witnesses)
    if not len(code_of_rank):
        return tally, code_of_rank
    most_elsewhere = _most_elsewhere(guarantee.growth, here.records, elsewhere.records)
    nobody = (
        np.zeros(len(here.weight_by_row), np.int64),
        np.zeros(len(elsewhere.weight_by_row), np.int64),
    )
    whole = whole_part(
        np.concatenate([here.row_ptr, elsewhere.row_ptr[1:] + here.row_ptr[-1]]),
        np.concatenate([here.codes, elsewhere.codes]),
        rank_by_code,
        len(code_of_rank),
        np.concatenate([here.weight_by_row, nobody[1]]),
        np.concatenate([nobody[0], elsewhere.weight_by_row]),
    )
    desk = new_desk(len(whole.name_by_item))
    held, held_elsewhere, closing, touched, entries = add_label(whole, 0, desk)
    tally.work[0] += entries
    names = whole.name_by_item[desk.closing[:closing]]
    asked = Asked(least, most_elsewhere, here.records, elsewhere.records)
    if closing:
        note(held, held_elsewhere, names, asked, tally, 0)
    root = smaller_part(whole, 0, held, closing, touched, least, desk)
    firsts = len(root.name_by_item)

    def run(task: int, chosen: NDArray[np.int64]) -> None:
        count_closed(chosen, root, names, len(code_of_rank), asked, tally, task, effort.limit)

    if firsts:
        share_out(run, firsts, tally.work, effort)
    return tally, code_of_rank


def _least_count(support: Fraction | int, records: int) -> int:
    """Return how many records a set needs: a share of them, rounded up, or the count itself."""
    if isinstance(support, Fraction):
        return max(1, -(-support.numerator * records // support.denominator))
    return support


def _most_elsewhere(growth: Fraction, here: int, elsewhere: int) -> NDArray[np.int64]:
    """Return for each count here the largest count elsewhere that makes a set a pattern."""
    times, by = elsewhere * growth.denominator, here * growth.numerator
    common = gcd(times, by)
    times, by = times // common, by // common
    if here * times < 2**63 and by < 2**63:
        return np.arange(here + 1, dtype=np.int64) * times // by
    return np.array([count * times // by for count in range(here + 1)], np.int64)


def _no_tally(n_ranks: int, witnesses: int) -> Tally:
    kept = min(witnesses, WITNESSES_AT_MOST)
    room = max(n_ranks, min(kept * n_ranks, WITNESS_ROOM)) if kept else 0
    return Tally(
        np.zeros(TASKS, np.int64),
        np.zeros(TASKS, np.int64),
        np.tile(np.array([0, 1], np.int64), (TASKS, 1)),
        np.zeros(TASKS, np.int64),
        np.zeros(TASKS, np.int64),
        np.zeros((TASKS, kept, 2), np.int64),
        np.zeros((TASKS, kept + 1), np.int64),
        np.empty((TASKS, room), np.int32),
    )


def _witnesses(
    tally: Tally, code_of_rank: NDArray[np.int64], labels: Sequence[str], place: int
) -> list[PatternWitness]:
    found = []
    for task in range(TASKS):
        for number in range(int(tally.witness_count[task])):
            begin, end = tally.witness_ptr[task, number : number + 2]
            ranks = tally.witness_names[task, begin:end]
            count, other = tally.witness_counts[task, number]
            names = tuple(sorted(labels[code_of_rank[rank]] for rank in ranks))
            found.append(PatternWitness(names, place, int(count), int(other)))
    return found
