"""What breaks a promise other than by being rare: signed patterns, and sets that give secrets away."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from ..kernels.base import in_threads, new_stop
from ..kernels.itemsets.signed import Telling, find_rare_signed, find_undiverse
from ..model.guarantees import Coherence, KmAnonymity, LmDiversity
from .base import Ask, NodeSets, Violations, numbered, padded

Ids = NDArray[np.int32]
Counts = NDArray[np.int64]

_LINES_BETWEEN_LOOKS = 20_000


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
    data = (indptr, code, weight_by_row)
    is_sensitive = np.isin(used, np.asarray(sensitive, dtype=np.int64))
    known: dict[tuple[int, ...], int] = {}
    complete = True
    for size in range(1, guarantee.m + 1):
        most = 0 if limit is None else 4 * limit + 64
        for secret in np.flatnonzero(is_sensitive).tolist():
            found, support = find_undiverse(
                *data, is_sensitive, Telling(secret, guarantee.l, 1, 0, size, most), new_stop()
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


def with_breaches(
    indptr: Counts,
    nodes: Ids,
    weight_by_row: Counts,
    guarantee: Coherence,
    private: Sequence[int],
    rare: tuple[NodeSets, Counts],
    ask: Ask | None = None,
) -> tuple[NodeSets, Counts]:
    """Return the minimal moles: those that are rare, given, and those that give a private item away.

    A rare set with a part that gives something away is not minimal, and neither is a set found here
    with such a part.
    """
    used, code = numbered(nodes)
    data = (indptr, code, weight_by_row)
    is_private = np.isin(used, np.asarray(private, dtype=np.int64))
    share = guarantee.share
    p = min(guarantee.p, int(np.diff(indptr).max(initial=1)))
    stop = new_stop()

    def given_away(secret: int) -> tuple[Ids, Counts]:
        wanted = Telling(secret, share.denominator, share.numerator, guarantee.k, p, 0)
        return find_undiverse(*data, is_private, wanted, stop)

    found: dict[tuple[int, ...], int] = {}
    secrets = np.flatnonzero(is_private & (share < 1)).tolist()
    for sets, support in in_threads(given_away, secrets, 1, ask, stop):
        for line, records in zip(sets.tolist(), support.tolist(), strict=True):
            found[tuple(sorted(int(used[item]) for item in line if item >= 0))] = records
    if not found:
        return rare
    for line, records in zip(rare[0].tolist(), rare[1].tolist(), strict=True):
        found[tuple(sorted(node for node in line if node >= 0))] = records
    minimal: list[tuple[int, ...]] = []
    for place, line in enumerate(sorted(found, key=lambda line: (len(line), line))):
        if ask is not None and place % _LINES_BETWEEN_LOOKS == 0:
            ask()
        parts = (part for size in range(1, len(line)) for part in combinations(line, size))
        if not any(part in found for part in parts):
            minimal.append(line)
    return padded(minimal), np.array([found[line] for line in minimal], dtype=np.int64)


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
