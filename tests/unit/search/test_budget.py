"""Estimates of what a search holds."""

from __future__ import annotations

import numpy as np
import pytest

from setveil.errors import UsageError
from setveil.hierarchy.tree import Hierarchy
from setveil.model.transactions import Rows
from setveil.search.parts import (
    BYTES_PER_OCCURRENCE,
    BYTES_PER_OCCURRENCE_OF_OPTIMAL,
    BYTES_PER_TREE_PATH,
    bytes_by_record,
    check_memory,
    parts_for,
)

TREE = Hierarchy.from_parents({"a": "A", "b": "A", "A": "T", "c": "T", "T": None})


def test_bytes_by_record_follow_the_method() -> None:
    rows = Rows(np.array([0, 2, 2, 3]), np.array([0, 1, 2], dtype=np.int32))
    by_occurrence = np.array([2, 0, 1])
    aa = bytes_by_record(TREE, rows, 2, "aa")
    assert aa.tolist() == (by_occurrence * BYTES_PER_OCCURRENCE).tolist()
    optimal = bytes_by_record(TREE, rows, 2, "optimal")
    assert optimal.tolist() == (by_occurrence * BYTES_PER_OCCURRENCE_OF_OPTIMAL).tolist()
    # {a, b} expands to {a, b, A, T}: 4 nodes and 6 pairs; {c} to {c, T}: 2 and 1.
    tree = bytes_by_record(TREE, rows, 2, "da")
    assert tree.tolist() == [10 * BYTES_PER_TREE_PATH, 0, 3 * BYTES_PER_TREE_PATH]


def test_parts_fit_the_budget() -> None:
    assert parts_for(0.0, 1024, 2) == 1
    assert parts_for(1024.0, 1024, 1) == 1
    assert parts_for(1025.0, 1024, 1) == 2
    assert parts_for(1024.0, 1024, 4) == 4


@pytest.mark.parametrize("memory", [0, 1023, -5, True, 1e9, "1G"])
def test_no_budget(memory: object) -> None:
    with pytest.raises(UsageError, match="memory="):
        check_memory(memory)  # type: ignore[arg-type]
