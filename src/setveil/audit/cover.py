"""The other reading of support: a row covers every leaf under its labels.

Every set of at most m leaves must be covered by no row or by at least k. A row is widened to all the
leaves it covers, and the widened rows are counted as for exact support. Leaves covered by the same
labels are covered by the same rows, so one of them stands for all; violations count these
representatives.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

import numpy as np

from ..errors import ResourceLimit
from ..model.guarantees import KmAnonymity
from .counting import WORK_LIMIT
from .km import audit_km
from .published import Published
from .verdict import Verdict

WIDEST = 500_000_000
"""The most labels that all widened rows together may have."""


def audit_cover(
    published: Published,
    guarantee: KmAnonymity,
    leaves_under: Mapping[str, Collection[str]],
    *,
    witnesses: int = 0,
    threads: int | None = None,
    work_limit: int = WORK_LIMIT,
) -> Verdict:
    """Check k^m-anonymity of the leaves covered.

    Parameters
    ----------
    published
        The published rows.
    guarantee
        k and m.
    leaves_under
        The leaves that each label covers; a label not named covers itself alone.
    witnesses, threads, work_limit
        As in `audit_km`.
    """
    widened = widen(published, leaves_under)
    verdict = audit_km(widened, guarantee, witnesses=witnesses, threads=threads, work_limit=work_limit)
    return replace(verdict, mode="cover")


def widen(published: Published, leaves_under: Mapping[str, Collection[str]]) -> Published:
    """Return the rows with each label replaced by the (representative) leaves it covers."""
    codes_of_leaf: dict[str, list[int]] = {}
    for code, label in enumerate(published.labels):
        for leaf in set(leaves_under.get(label, (label,))):
            codes_of_leaf.setdefault(leaf, []).append(code)
    leaf_of_codes: dict[tuple[int, ...], str] = {}
    for leaf, codes in sorted(codes_of_leaf.items()):
        leaf_of_codes.setdefault(tuple(codes), leaf)
    leaves = sorted((leaf, codes) for codes, leaf in leaf_of_codes.items())
    covered: list[list[int]] = [[] for _ in published.labels]
    for number, (_, covering) in enumerate(leaves):
        for code in covering:
            covered[code].append(number)
    length_by_code = np.array([len(numbers) for numbers in covered], np.int64)
    first_by_code = np.concatenate([[0], np.cumsum(length_by_code)]).astype(np.int64)
    flat = np.array([number for numbers in covered for number in numbers], np.int64)
    length_by_entry = length_by_code[published.items]
    total = int(length_by_entry.sum())
    if total > WIDEST:
        raise ResourceLimit(
            f"the rows cover {total:,} leaves in all; the limit is {WIDEST:,}.",
            "Use mode exact, which implies cover.",
            code="audit-work",
        )
    row_by_entry = np.repeat(np.arange(published.records), np.diff(published.indptr))
    row = np.repeat(row_by_entry, length_by_entry)
    inside = np.arange(total) - np.repeat(np.cumsum(length_by_entry) - length_by_entry, length_by_entry)
    leaf_number = flat[np.repeat(first_by_code[published.items], length_by_entry) + inside]
    # Sorted by hand, since np.unique hashes: far slower where keys are many and nearly in order.
    keys = np.sort(row * max(len(leaves), 1) + leaf_number, kind="stable")
    keys = keys[np.diff(keys, prepend=-1) > 0]
    rows, numbers = np.divmod(keys, max(len(leaves), 1))
    indptr = np.zeros(published.records + 1, np.int64)
    np.cumsum(np.bincount(rows, minlength=published.records), out=indptr[1:])
    return Published(indptr, numbers.astype(np.int32), tuple(leaf for leaf, _ in leaves))
