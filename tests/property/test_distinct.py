"""Distinct keys are those of numpy, in its order; and no run hashes keys by the million."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import setveil as sv
from setveil.distinct import count_distinct, distinct, first_places, number_distinct, sort_within
from setveil.io.demo import groceries

WIDE = st.integers(-(2**62), 2**62)
CLOSE = st.integers(-20, 20)
KEYS = st.one_of(
    *(arrays.arrays(np.int64, st.integers(0, 60), elements=some) for some in (WIDE, CLOSE)),
    arrays.arrays(np.int64, st.integers(0, 60), elements=st.one_of(WIDE, CLOSE)),
    arrays.arrays(st.sampled_from([np.int8, np.int32, np.uint8, np.uint64]), st.integers(0, 60)),
    st.lists(st.integers(-(2**70), 2**70), max_size=20).map(lambda some: np.array(some, dtype=object)),
)


def same(found: np.ndarray[Any, Any], true: np.ndarray[Any, Any]) -> bool:
    return found.dtype == true.dtype and found.tolist() == true.tolist()


@given(KEYS)
def test_as_numpy_finds_them(keys: np.ndarray[Any, Any]) -> None:
    before = keys.copy()
    values, first, number, counts = np.unique(
        keys, return_index=True, return_inverse=True, return_counts=True
    )
    assert same(distinct(keys), values)
    assert all(map(same, count_distinct(keys), (values, counts)))
    assert all(map(same, number_distinct(keys), (values, number)))
    assert same(first_places(number_distinct(keys)[1], len(values)), first)
    assert same(keys, before)


@given(st.lists(st.lists(st.integers(0, 9), max_size=6), max_size=8), st.integers(10, 12))
def test_each_record_is_sorted_by_itself(rows: list[list[int]], width: int) -> None:
    indptr = np.cumsum([0, *map(len, rows)])
    ids = np.array([number for row in rows for number in row], dtype=np.int32)
    assert same(
        sort_within(indptr, ids, width),
        np.array([number for row in rows for number in sorted(row)], dtype=np.int32),
    )


@pytest.mark.parametrize("method", ["vpa", "lra", "optimal", "trim", "partition"])
def test_a_run_hashes_no_long_keys(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A key for each occurrence or record is sorted; `np.unique` would hash it, many times slower."""
    data, hierarchy = groceries(400)
    hashed: list[int] = []
    unique = np.unique

    def watched(keys: Any, *arguments: Any, **asked: Any) -> Any:
        if not any(asked.get(name) for name in ("return_index", "return_inverse", "return_counts")):
            hashed.append(np.size(keys))
        return unique(keys, *arguments, **asked)

    monkeypatch.setattr(np, "unique", watched)
    guarantee = sv.KAnonymity(5) if method == "partition" else sv.KmAnonymity(k=5, m=2)
    release = sv.anonymize(data, guarantee, hierarchy=hierarchy, method=method)
    assert sv.audit(release).holds
    assert max(hashed, default=0) < len(data)
