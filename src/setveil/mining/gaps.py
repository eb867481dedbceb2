"""Gaps: rules that would have been found if they held, and were not; so somebody breaks them.

Rules are told completely from some probability on (`Completeness`). Whoever sees that among so many
men surely some would have a disease, and that no rule says that none has, knows that one has. Where few
buckets hold the disease and a man who may have it, that is much. `find_gaps` counts in how many
buckets each pair of conditions and value meets, and lists the pairs that meet in few.

What meets is up to the caller: tuples and the values they have, or the values they can have.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from ..errors import ResourceLimit
from ..kernels.base import plain
from ..kernels.rules import MINIMUM, PRODUCT, Conjunctions, add_buckets, add_supports, list_buckets
from ..model.microdata import Microdata
from ..model.rules import Completeness
from .negative_rules import scale_of
from .rule_conditions import Conditions, conditions_of
from .rule_findings import UNREACHABLE, least_counts

Ids = NDArray[np.int32]
Counts = NDArray[np.int64]
Flags = NDArray[np.bool_]

CELLS = 2**24
"""How many pairs of conjunction and value are counted at a time."""


@dataclass(frozen=True)
class Gap:
    """Conditions and a value that meet in few buckets, all in `buckets`, though one would expect more.

    `met` are the leaves that meet each condition, with the number of their attribute.
    """

    conditions: tuple[tuple[str, str], ...]
    value: int
    met: tuple[tuple[int, Counts], ...]
    buckets: tuple[int, ...]

    def tuples_meeting(self, data: Microdata) -> Flags:
        """Return which tuples meet the conditions, be it in part."""
        met = np.ones(len(data), dtype=np.bool_)
        for attribute, leaves in self.met:
            is_met = np.zeros(data.quasi[attribute].hierarchy.n_leaves, dtype=np.bool_)
            is_met[leaves] = True
            met &= is_met[data.quasi[attribute].leaf_by_tuple]
        return met


@dataclass(frozen=True, eq=False)
class Meetings:
    """Which tuples meet which values, and in which bucket; equal buckets side by side."""

    tuples: Ids
    values: Ids
    buckets: Ids


def find_gaps(data: Microdata, meetings: Meetings, complete: Completeness, *, most: int) -> list[Gap]:
    """Return the pairs of conditions and value that meet in 1 to `most` buckets, though expected.

    A tuple and a value may meet once. `complete` tells from where on rules are told completely.
    """
    chances = {
        size: chance for size, chance in enumerate(complete.chance_by_length, 1) if chance is not None
    }
    if not chances or not len(meetings.tuples):
        return []
    scale = scale_of(data, max(chances), fuzzy=complete.fuzzy, membership=complete.membership)
    counts = data.count_by_value.tolist()
    least = {
        size: np.stack([least_counts(counts, len(data), 1 - chance, unit) for unit in scale.units])
        for size, chance in chances.items()
    }
    needed = [int(min(table[step].min() for table in least.values())) for step in scale.steps]
    conditions = conditions_of(data, needed, fuzzy=scale.is_fuzzy, full=scale.full)
    gaps: list[Gap] = []
    for size in chances:
        for chosen in combinations(range(len(data.quasi)), size):
            steps = sum(scale.steps[attribute] for attribute in chosen)
            gaps += _gaps_over(
                data,
                meetings,
                conditions,
                chosen,
                least[size][steps],
                most=most,
                combine=PRODUCT if complete.membership == "product" else MINIMUM,
                full=scale.full,
            )
    return gaps


def _gaps_over(
    data: Microdata,
    meetings: Meetings,
    conditions: Conditions,
    chosen: tuple[int, ...],
    least_by_value: Counts,
    *,
    most: int,
    combine: int,
    full: int,
) -> list[Gap]:
    """Return the gaps whose conditions are about the attributes `chosen`."""
    first = np.searchsorted(conditions.attribute, chosen).astype(np.int64)
    sizes = np.searchsorted(conditions.attribute, chosen, side="right") - first
    n_values = len(data.values)
    radix = np.append(np.cumprod(sizes[:0:-1], dtype=np.int64)[::-1], 1)
    width = int(radix[0])
    if width * n_values > 8 * CELLS:
        raise ResourceLimit(
            f"{width:,} combinations of conditions and {n_values:,} sensitive values are too many.",
            "Allow fewer conditions (--max-antecedent), or give hierarchies with fewer categories.",
            code="too-many-rules",
        )
    if not sizes.all():
        return []
    entries = np.diff(conditions.entry_start)
    ends = [*conditions.leaf_start[1:].tolist(), len(entries)]
    met_by_one = int(
        np.prod([entries[conditions.leaf_start[a] : ends[a]].max(initial=0) for a in chosen])
    )
    found: list[Gap] = []
    at_a_time = max(1, CELLS // (width * n_values))
    for low in range(0, int(sizes[0]), at_a_time):
        high = min(low + at_a_time, int(sizes[0]))
        which = Conjunctions(
            plain(data.leaves, np.int32),
            np.array(chosen, dtype=np.int32),
            plain(conditions.leaf_start, np.int64),
            plain(conditions.entry_start, np.int64),
            plain(conditions.condition_of_entry, np.int32),
            plain(conditions.membership_of_entry, np.int64),
            first,
            plain(radix, np.int64),
            low,
            high,
        )
        n_cells = (high - low) * width
        support = np.zeros(n_cells, dtype=np.int64)
        add_supports(which, met_by_one, combine, full, support)
        shape = (n_cells, n_values)
        last, spread = np.full(shape, -1, dtype=np.int32), np.zeros(shape, dtype=np.int32)
        pairs = (meetings.tuples, meetings.values, meetings.buckets)
        add_buckets(which, met_by_one, *pairs, last, spread)
        expected = (support[:, None] >= least_by_value) & (least_by_value < UNREACHABLE)
        cells, values = np.nonzero(expected & (spread > 0) & (spread <= most))
        if not len(cells):
            continue
        ends_at = np.cumsum(spread[cells, values], dtype=np.int64)
        buckets = np.empty(int(ends_at[-1]), dtype=np.int32)
        place_of = np.full(shape, -1, dtype=np.int32)
        place_of[cells, values] = np.arange(len(cells))
        last[:] = -1
        start = ends_at - spread[cells, values]
        list_buckets(which, met_by_one, *pairs, last, place_of, start.copy(), buckets)
        for begin, end, cell, value in zip(
            start.tolist(), ends_at.tolist(), cells.tolist(), values.tolist(), strict=True
        ):
            number = cell + low * width
            digits = [number // int(r) % int(s) for r, s in zip(radix, sizes, strict=True)]
            ids = [int(f) + digit for f, digit in zip(first, digits, strict=True)]
            found.append(
                Gap(
                    tuple(
                        (data.quasi[a].name, conditions.label[c])
                        for a, c in zip(chosen, ids, strict=True)
                    ),
                    value,
                    tuple(
                        (a, conditions.leaves_of(c) - int(conditions.leaf_start[a]))
                        for a, c in zip(chosen, ids, strict=True)
                    ),
                    tuple(buckets[begin:end].tolist()),
                )
            )
    return found
