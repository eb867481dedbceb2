"""Sets of labels that point to a sensitive item too surely, as an engine's answer."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..kernels.diverse import find_undiverse
from ..model.guarantees import LmDiversity
from .base import Violations, numbered, padded

Ids = NDArray[np.int32]
Counts = NDArray[np.int64]


def undiverse_sets(
    indptr: Counts,
    nodes: Ids,
    weight_by_row: Counts,
    guarantee: LmDiversity,
    sensitive: Sequence[int],
    limit: int | None,
) -> Violations:
    """Return the sets of at most m nodes against `guarantee`, smaller first: all, not only minimal.

    Diversity is not monotone: a set can fail although its subsets do not, and the other way round.
    """
    used, code = numbered(nodes)
    is_sensitive = np.isin(used, np.asarray(sensitive, dtype=np.int64))
    known: dict[tuple[int, ...], int] = {}
    complete = True
    for size in range(1, guarantee.m + 1):
        most = 0 if limit is None else 4 * limit + 64
        for secret in np.flatnonzero(is_sensitive).tolist():
            found, support = find_undiverse(
                indptr,
                code,
                weight_by_row,
                is_sensitive,
                secret,
                guarantee.l,
                size,
                most,
            )
            complete = complete and not (0 < most <= len(found))
            for line, records in zip(found.tolist(), support.tolist(), strict=True):
                known[tuple(item for item in line if item >= 0)] = records
        if limit is not None and len(known) >= limit:
            complete = complete and size == guarantee.m
            break
    sets = sorted(known, key=lambda line: (len(line), line))[:limit]
    return Violations(
        padded([[int(used[item]) for item in line] for line in sets]),
        np.array([known[line] for line in sets], dtype=np.int64),
        complete and len(sets) == len(known),
    )
