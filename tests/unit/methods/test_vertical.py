"""VPA: the guarantee by counting, parts of the domain, and work without rows."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from setveil.engines.base import Engine
from setveil.engines.local import LocalEngine
from setveil.errors import Cancelled, Infeasible, UsageError
from setveil.hierarchy.tree import Hierarchy
from setveil.methods import Outcome, apriori, vertical
from setveil.methods.vertical import classes_at, domain_parts
from setveil.model.costs import make_cost
from setveil.model.guarantees import Guarantee, KmAnonymity
from setveil.model.transactions import Transactions
from setveil.progress import Watch
from tests.oracle.loopback import LoopbackEngine
from tests.oracle.promises import is_km_anonymous
from tests.oracle.worlds import random_world

TREE = Hierarchy.from_parents(
    {"a1": "A", "a2": "A", "b1": "B", "b2": "B", "c": "T", "A": "T", "B": "T", "T": None}
)


def run(engine: Engine, guarantee: Guarantee, **options: int) -> Outcome:
    cost = make_cost("ncp", engine.hierarchy)
    return vertical.anonymize(engine, guarantee, cost=cost, watch=Watch(), **options)


def engine_of(rows: list[list[str]], hierarchy: Hierarchy) -> LocalEngine:
    return LocalEngine.of(Transactions.from_rows(rows), hierarchy)


def published(engine: Engine, outcome: Outcome) -> list[tuple[str, ...]]:
    return list(engine.publish(outcome.recoding).rows())


@settings(max_examples=200, deadline=None)
@given(
    st.integers(0, 10**9),
    st.integers(2, 4),
    st.integers(1, 3),
    st.integers(1, 4),
    st.integers(0, 4),
    st.integers(1, 2),
    st.booleans(),
)
def test_the_release_is_anonymous(
    seed: int, k: int, m: int, parts: int, level: int, roots: int, empty: bool
) -> None:
    world = random_world(seed, most_rows=25, roots=roots, empty=empty)
    engine = engine_of(world.rows, world.hierarchy)
    at_roots = [{world.hierarchy.path(label)[-1] for label in row} for row in world.rows]
    if len(at_roots) < k or not is_km_anonymous(at_roots, k, m):
        with pytest.raises(Infeasible):
            run(engine, KmAnonymity(k, m), parts=parts, level=level)
        return
    outcome = run(engine, KmAnonymity(k, m), parts=parts, level=level)
    assert outcome.recoding.is_global
    assert (outcome.recoding.node_of_leaf() >= 0).all()
    assert is_km_anonymous(published(engine, outcome), k, m)
    cost = make_cost("ncp", engine.hierarchy)
    node_of_leaf = outcome.recoding.node_of_leaf()
    paid = int((engine.item_counts() * cost.unit_by_node[node_of_leaf]).sum())
    assert outcome.objective is not None
    assert outcome.objective.cost == paid


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**9))
def test_no_rows_are_touched_and_their_order_does_not_matter(seed: int) -> None:
    world = random_world(seed, most_rows=15)
    engine = engine_of(world.rows, world.hierarchy)
    shuffled = list(world.rows)
    Random(seed).shuffle(shuffled)
    try:
        one = run(engine, KmAnonymity(2, 2)).recoding.cut().tolist()
    except Infeasible:
        return
    assert run(engine_of(shuffled, world.hierarchy), KmAnonymity(2, 2)).recoding.cut().tolist() == one
    rowless = LoopbackEngine(engine.hierarchy, engine.rows())
    assert run(rowless, KmAnonymity(2, 2)).recoding.cut().tolist() == one


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**9), st.integers(2, 3), st.integers(1, 3))
def test_one_part_is_aa(seed: int, k: int, m: int) -> None:
    world = random_world(seed, most_rows=20)
    engine = engine_of(world.rows * k, world.hierarchy)
    cost = make_cost("ncp", engine.hierarchy)
    aa = apriori.anonymize(engine, KmAnonymity(k, m), cost=cost, watch=Watch())
    assert run(engine, KmAnonymity(k, m), parts=1).recoding.cut().tolist() == aa.recoding.cut().tolist()


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**9), st.integers(1, 4))
def test_what_is_anonymous_already_stays(seed: int, parts: int) -> None:
    world = random_world(seed, most_rows=8)
    engine = engine_of(world.rows * 3, world.hierarchy)
    cut = run(engine, KmAnonymity(3, 3), parts=parts, level=2).recoding.cut()
    assert cut.tolist() == list(range(engine.hierarchy.n_leaves))


def test_classes_at_each_depth() -> None:
    labels = TREE.labels
    leaves = ["a1", "a2", "b1", "b2", "c"]
    assert list(labels[:5]) == leaves
    assert [labels[node] for node in classes_at(TREE, 0)] == ["T"] * 5
    assert [labels[node] for node in classes_at(TREE, 1)] == ["A", "A", "B", "B", "c"]
    assert [labels[node] for node in classes_at(TREE, 2)] == leaves
    assert [labels[node] for node in classes_at(TREE, 9)] == leaves


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 10**9), st.integers(1, 5), st.integers(0, 4), st.integers(1, 3))
def test_parts_are_runs_of_whole_classes(seed: int, parts: int, level: int, roots: int) -> None:
    hierarchy = random_world(seed, most_labels=12, roots=roots).hierarchy
    counts = np.array([Random(seed + leaf).randint(1, 50) for leaf in range(hierarchy.n_leaves)])
    part_of_leaf = domain_parts(hierarchy, counts, parts, level)
    steps = np.diff(part_of_leaf)
    assert part_of_leaf[0] == 0
    assert set(steps.tolist()) <= {0, 1}
    assert part_of_leaf[-1] < parts
    class_of_leaf = classes_at(hierarchy, level)
    assert (class_of_leaf[1:][steps == 1] != class_of_leaf[:-1][steps == 1]).all()


def test_parts_are_balanced_by_occurrences() -> None:
    counts = np.array([10, 10, 1, 1, 20])
    assert domain_parts(TREE, counts, 2, 2).tolist() == [0, 0, 0, 1, 1]
    assert domain_parts(TREE, counts, 3, 1).tolist() == [0, 0, 1, 1, 2]


def test_a_memory_budget_makes_more_parts_and_a_finer_level() -> None:
    world = random_world(11, most_rows=60, most_labels=20)
    engine = engine_of(world.rows * 2, world.hierarchy)
    free = run(engine, KmAnonymity(2, 3), parts=1, level=0, threads=1)
    bound = run(engine, KmAnonymity(2, 3), parts=1, level=0, threads=1, memory=2_048)
    assert free.figures["parts"] == 1
    assert int(bound.figures["parts"]) > 1
    assert is_km_anonymous(published(engine, bound), 2, 3)


def test_one_thread_or_many_give_the_same() -> None:
    world = random_world(7, most_rows=60, most_labels=12)
    engine = engine_of(world.rows * 2, world.hierarchy)
    cuts = {
        tuple(run(engine, KmAnonymity(3, 2), level=2, threads=threads).recoding.cut().tolist())
        for threads in (1, 2, 4)
    }
    assert len(cuts) == 1


def test_only_empty_records() -> None:
    engine = engine_of([[], [], []], TREE)
    assert published(engine, run(engine, KmAnonymity(2, 2))) == [()] * 3


def test_k_is_the_number_of_records() -> None:
    engine = engine_of([["a1"], ["a2"], ["b1"]], TREE)
    assert published(engine, run(engine, KmAnonymity(3, 1))) == [("T",)] * 3


def test_wrong_parameters() -> None:
    engine = engine_of([["a1"], ["a2"]], TREE)
    with pytest.raises(Infeasible):
        run(engine, KmAnonymity(3, 1))
    with pytest.raises(UsageError, match="negative"):
        run(engine, KmAnonymity(2, 1, negative=True))
    for options in ({"parts": 0}, {"level": -1}, {"memory": 5}):
        with pytest.raises(UsageError, match=f"{next(iter(options))}="):
            run(engine, KmAnonymity(2, 1), **options)


def test_cancelling_stops_it() -> None:
    engine = engine_of([["a1"], ["a1"]], TREE)
    watch = Watch()
    watch.cancel()
    with pytest.raises(Cancelled):
        vertical.anonymize(
            engine, KmAnonymity(2, 1), cost=make_cost("ncp", engine.hierarchy), watch=watch
        )
