"""Patterns of present and absent labels that too few records match, as an engine's answer."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from ..kernels.itemsets.signed import find_rare_signed
from ..model.guarantees import KmAnonymity
from .base import Violations, numbered, padded

Ids = NDArray[np.int32]
Counts = NDArray[np.int64]


def rare_signed(
    indptr: Counts, nodes: Ids, weight_by_row: Counts, guarantee: KmAnonymity, limit: int | None
) -> Violations:
    """Return the minimal signed patterns of at most m nodes in 1 .. k - 1 records, smaller first.

    With a `limit`, larger sizes are searched only while fewer patterns than that were found.
    """
    used, code = numbered(nodes)
    known: dict[frozenset[int], int] = {}
    complete = True
    for size in range(1, guarantee.m + 1):
        most = 0 if limit is None else 4 * limit + 64
        found, support = find_rare_signed(
            indptr, code, weight_by_row, len(used), guarantee.k, size, most
        )
        complete = complete and not (0 < most <= len(found))
        for line, records in zip(found.tolist(), support.tolist(), strict=True):
            pattern = frozenset(literal for literal in line if literal != -1)
            if len(pattern) == size and not _has_smaller(pattern, known):
                known[pattern] = records
        if limit is not None and len(known) >= limit:
            complete = complete and size == guarantee.m
            break
    patterns = sorted(known, key=lambda pattern: (len(pattern), sorted(pattern)))[:limit]
    return Violations(
        padded([[int(used[x]) for x in sorted(pattern) if x >= 0] for pattern in patterns]),
        np.array([known[pattern] for pattern in patterns], dtype=np.int64),
        complete and len(patterns) == len(known),
        padded([[int(used[-2 - x]) for x in sorted(pattern) if x < 0] for pattern in patterns]),
    )


def _has_smaller(pattern: frozenset[int], known: dict[frozenset[int], int]) -> bool:
    return any(
        frozenset(part) in known
        for size in range(1, len(pattern))
        for part in combinations(pattern, size)
    )
