"""Every method on random trees and records: the oracle judges the folder that was written."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import setveil as sv
from setveil.errors import Infeasible
from tests.contract.cases import CASES, Case
from tests.contract.test_methods import published

LEAVES = tuple("abcdefg")


@st.composite
def trees(draw: st.DrawFn) -> sv.Hierarchy:
    """Draw a tree over the leaves: unbalanced, with unary chains."""
    parents: dict[str, str | None] = {}
    open_nodes = list(LEAVES)
    number = 0
    while len(open_nodes) > 1:
        size = draw(st.integers(1, min(3, len(open_nodes))))
        above = f"n{number:02d}"
        number += 1
        for label in open_nodes[:size]:
            parents[label] = above
        open_nodes = [*open_nodes[size:], above]
        if number > 14:
            parents.update(dict.fromkeys(open_nodes, "top"))
            open_nodes = ["top"]
    parents[open_nodes[0]] = None
    return sv.Hierarchy.from_parents(parents)


rows_of_items = st.lists(
    st.lists(st.sampled_from(LEAVES), min_size=1, max_size=5).map(lambda row: sorted(set(row))),
    min_size=1,
    max_size=14,
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
@settings(
    max_examples=60,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
@given(tree=trees(), rows=rows_of_items, k=st.integers(2, 4), m=st.integers(1, 3))
def test_oracle_confirms_what_is_written(
    case: Case, tree: sv.Hierarchy, rows: list[list[str]], k: int, m: int
) -> None:
    guarantee = case.guarantee(k=k, m=m)
    if isinstance(guarantee, sv.LmDiversity):
        if not any("a" in row for row in rows):
            return
        guarantee = sv.LmDiversity(k, m, frozenset("a"))
    if isinstance(guarantee, sv.Coherence):
        private = frozenset("a") if any("a" in row for row in rows) else frozenset()
        guarantee = sv.Coherence(guarantee.h, k, m, private)
    try:
        release = case.release(rows, guarantee=guarantee, hierarchy=tree)
    except Infeasible:
        # Only where even the roots do not keep the promise; l^m has its own test of this.
        if not isinstance(guarantee, sv.LmDiversity):
            root = tree.labels[tree.roots[0]]
            assert not case.kept_by([(root,) for _ in rows], guarantee)
        return
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "release"
        assert sv.publish(release, folder, allow_useless=True).verdict.holds
        shown = published(folder)
    assert case.kept_by(shown, guarantee)
    assert len(shown) == len(rows) - len(release.dropped)
    assert len(release.dropped) < k
    if isinstance(guarantee, sv.LmDiversity | sv.Coherence):
        assert sum("a" in row for row in shown) == sum("a" in row for row in rows)


@settings(max_examples=30, deadline=None, derandomize=True)
@given(tree=trees(), rows=rows_of_items)
def test_a_stronger_promise_never_costs_less(tree: sv.Hierarchy, rows: list[list[str]]) -> None:
    optimal = next(case for case in CASES if case.name == "optimal-km")
    lost = {}
    for k in (2, 3):
        for m in (1, 2, 3):
            try:
                release = optimal.release(rows, guarantee=sv.KmAnonymity(k, m), hierarchy=tree)
                lost[k, m] = release.losses["ncp"]
            except Infeasible:
                assert len(rows) < k
                return
    assert lost[2, 1] <= lost[2, 2] <= lost[2, 3] <= lost[3, 3]
    assert lost[2, 1] <= lost[3, 1] <= lost[3, 2] <= lost[3, 3]
