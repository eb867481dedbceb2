"""LRA: the guarantee by counting on the union, chunks that cannot stand alone, wrong options."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from setveil.engines.local import LocalEngine
from setveil.errors import Cancelled, Infeasible, TimeLimit, UsageError
from setveil.hierarchy.tree import Hierarchy
from setveil.methods import Outcome, local, optimal
from setveil.methods.local import INNER
from setveil.model.costs import make_cost
from setveil.model.guarantees import Guarantee, KAnonymity, KmAnonymity, LmDiversity
from setveil.model.transactions import Transactions
from setveil.progress import Watch
from setveil.release.recoding import Recoding
from tests.oracle.loopback import LoopbackEngine
from tests.oracle.promises import is_km_anonymous, is_lm_diverse, is_negative_km_anonymous
from tests.oracle.worlds import World, random_world

FLAT = Hierarchy.from_parents({"a": "T", "b": "T", "c": "T", "T": None})


def run(
    rows: list[list[str]],
    hierarchy: Hierarchy,
    guarantee: Guarantee,
    *,
    watch: Watch | None = None,
    parts: int = 3,
    f: int = 10,
    inner: str | None = "aa",
    memory: int | None = None,
    threads: int | None = None,
) -> tuple[LocalEngine, Outcome]:
    engine = LocalEngine.of(Transactions.from_rows(rows), hierarchy)
    outcome = local.anonymize(
        engine,
        guarantee,
        cost=make_cost("ncp", engine.hierarchy),
        watch=watch or Watch(),
        parts=parts,
        f=f,
        inner=inner,
        memory=memory,
        threads=threads,
    )
    return engine, outcome


def published(engine: LocalEngine, outcome: Outcome) -> list[tuple[str, ...]]:
    return list(engine.publish(outcome.recoding).rows())


def roots_hold(world: World, guarantee: KmAnonymity) -> bool:
    rows = [{world.hierarchy.path(label)[-1] for label in row} for row in world.rows]
    return len(rows) >= guarantee.k and is_km_anonymous(rows, guarantee.k, guarantee.m)


@settings(max_examples=200, deadline=None)
@given(
    st.integers(0, 10**9),
    st.integers(2, 4),
    st.integers(1, 3),
    st.integers(1, 5),
    st.integers(0, 5),
    st.integers(1, 3),
    st.booleans(),
)
def test_the_union_is_anonymous(
    seed: int, k: int, m: int, parts: int, f: int, roots: int, empty: bool
) -> None:
    world = random_world(seed, most_rows=25, roots=roots, empty=empty)
    guarantee = KmAnonymity(k, m)
    if not roots_hold(world, guarantee):
        with pytest.raises(Infeasible):
            run(world.rows, world.hierarchy, guarantee, parts=parts, f=f)
        return
    engine, outcome = run(world.rows, world.hierarchy, guarantee, parts=parts, f=f)
    assert is_km_anonymous(published(engine, outcome), k, m)
    nodes = outcome.recoding.nodes_of(engine.rows())
    for node, leaf in zip(nodes.tolist(), engine.rows().leaves.tolist(), strict=True):
        assert engine.hierarchy.covers(node, leaf)
    assert outcome.objective is not None
    assert outcome.objective.cost == int(make_cost("ncp", engine.hierarchy).unit_by_node[nodes].sum())
    assert outcome.objective.bound is None


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**9), st.sampled_from(sorted(INNER)))
def test_any_inner_method_will_do(seed: int, inner: str) -> None:
    world = random_world(seed, most_rows=25)
    guarantee = KmAnonymity(2, 2)
    if roots_hold(world, guarantee):
        engine, outcome = run(world.rows, world.hierarchy, guarantee, inner=inner, f=2)
        assert is_km_anonymous(published(engine, outcome), 2, 2)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**9), st.sampled_from(["aa", "optimal"]), st.integers(1, 4))
def test_negative_knowledge_survives_the_union(seed: int, inner: str, parts: int) -> None:
    world = random_world(seed, most_rows=20, most_labels=5)
    guarantee = KmAnonymity(2, 2, negative=True)
    try:
        engine, outcome = run(world.rows, world.hierarchy, guarantee, inner=inner, parts=parts, f=2)
    except Infeasible:
        return
    assert is_negative_km_anonymous(published(engine, outcome), 2, 2)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**9), st.integers(1, 4))
def test_diversity_survives_the_union(seed: int, parts: int) -> None:
    world = random_world(seed, most_rows=20, most_labels=5)
    random = Random(seed)
    rows = [[*row, "s"] if random.random() < 0.3 else row for row in world.rows]
    hierarchy = Hierarchy.from_parents({**world.hierarchy.parents_by_label(), "s": None})
    guarantee = LmDiversity(2, 2, frozenset({"s"}))
    try:
        engine, outcome = run(rows, hierarchy, guarantee, inner="optimal", parts=parts, f=2)
    except Infeasible:
        # Then one chunk of all records was infeasible as well, so no cut meets it at all.
        engine = LocalEngine.of(Transactions.from_rows(rows), hierarchy)
        cost = make_cost("ncp", engine.hierarchy)
        with pytest.raises(Infeasible):
            optimal.anonymize(engine, guarantee, cost=cost, watch=Watch())
        return
    assert is_lm_diverse(published(engine, outcome), 2, 2, {"s"})


@settings(max_examples=80, deadline=None)
@given(st.integers(0, 10**9), st.integers(0, 4))
def test_the_order_of_records_does_not_matter(seed: int, f: int) -> None:
    world = random_world(seed, most_rows=25)
    guarantee = KmAnonymity(2, 2)
    if roots_hold(world, guarantee):
        shuffled = list(world.rows)
        Random(seed).shuffle(shuffled)
        one = published(*run(world.rows, world.hierarchy, guarantee, f=f))
        assert published(*run(shuffled, world.hierarchy, guarantee, f=f)) == one


def test_one_thread_or_many_give_the_same() -> None:
    world = random_world(3, most_rows=60, most_labels=9)
    rows = world.rows * 2
    one = published(*run(rows, world.hierarchy, KmAnonymity(2, 2), threads=1))
    assert published(*run(rows, world.hierarchy, KmAnonymity(2, 2), threads=4)) == one


def test_chunks_have_k_records_each() -> None:
    rows = [["a"], ["b"], ["c"], ["a", "b"], ["b", "c"], ["a", "b", "c"], ["a", "c"]]
    _, outcome = run(rows, FLAT, KmAnonymity(3, 2), parts=7, f=0)
    assert outcome.recoding.group_of_record is not None
    assert np.bincount(outcome.recoding.group_of_record).tolist() == [3, 4]


def test_k_records_are_one_chunk() -> None:
    engine, outcome = run([["a"], ["b"], ["a", "b"]], FLAT, KmAnonymity(3, 1), parts=3)
    assert outcome.recoding.n_groups == 1
    assert published(engine, outcome) == [("T",)] * 3


def test_one_record_is_infeasible() -> None:
    with pytest.raises(Infeasible):
        run([["a"]], FLAT, KmAnonymity(2, 1))


def test_empty_records_stay_empty() -> None:
    rows = [[], ["a"], ["a"], [], ["b"], ["b"]]
    engine, outcome = run(rows, FLAT, KmAnonymity(2, 1), parts=2, f=0)
    assert published(engine, outcome) == [(), (), ("a",), ("a",), ("b",), ("b",)]


def test_only_empty_records() -> None:
    engine, outcome = run([[], [], []], FLAT, KmAnonymity(2, 2))
    assert published(engine, outcome) == [()] * 3


def test_a_chunk_that_cannot_stand_alone_joins_a_neighbour() -> None:
    # Two trees: the lone s of the middle chunk is safe only together with those of the last one.
    forest = Hierarchy.from_parents({"a": "A", "b": "A", "A": None, "s": None})
    rows = [["a"]] * 4 + [["b"]] * 3 + [["s"]] * 4
    engine, outcome = run(rows, forest, KmAnonymity(2, 1), parts=3, f=0)
    assert outcome.recoding.group_of_record is not None
    assert np.bincount(outcome.recoding.group_of_record).tolist() == [4, 7]
    assert published(engine, outcome) == sorted(map(tuple, rows))
    engine, outcome = run(rows, forest, KmAnonymity(4, 1), parts=2, f=0)
    assert outcome.recoding.n_groups == 1
    assert published(engine, outcome) == [("A",)] * 7 + [("s",)] * 4


def test_infeasible_only_when_the_whole_is() -> None:
    forest = Hierarchy.from_parents({"a": None, "b": None})
    with pytest.raises(Infeasible):
        run([["a"]] * 6 + [["b"]], forest, KmAnonymity(2, 1), parts=3, f=0)


@pytest.mark.parametrize("inner", ["aa", "da", "optimal"])
def test_a_memory_budget_makes_more_parts(inner: str) -> None:
    world = random_world(11, most_rows=60, most_labels=9)
    rows = world.rows * 10
    guarantee = KmAnonymity(2, 2)
    _, free = run(rows, world.hierarchy, guarantee, parts=1, threads=1, inner=inner)
    engine, bound = run(
        rows, world.hierarchy, guarantee, parts=1, threads=1, inner=inner, memory=20_000
    )
    assert free.recoding.n_groups == 1
    assert bound.recoding.n_groups > 1
    assert is_km_anonymous(published(engine, bound), 2, 2)


def test_a_time_limit_is_shared_by_the_parts_of_an_anytime_method() -> None:
    world = random_world(11, most_rows=60, most_labels=9)
    watch = Watch(time_limit=60.0)
    _, outcome = run(world.rows * 2, world.hierarchy, KmAnonymity(2, 2), inner="optimal", watch=watch)
    assert outcome.complete
    with pytest.raises(TimeLimit):
        run(world.rows * 2, world.hierarchy, KmAnonymity(2, 2), watch=Watch(time_limit=-1.0))


def test_cancelling_stops_it() -> None:
    watch = Watch()
    watch.cancel()
    with pytest.raises(Cancelled):
        run([["a"], ["a"]], FLAT, KmAnonymity(2, 1), watch=watch)


def test_the_inner_method_follows_from_the_guarantee() -> None:
    rows = [["a", "s"], ["a"], ["a"], ["b"]] * 2
    tree = Hierarchy.from_parents({"a": "T", "b": "T", "T": None, "s": None})
    guarantees: dict[Guarantee, str] = {
        KmAnonymity(2, 1): "aa",
        KmAnonymity(2, 1, negative=True): "aa",
        LmDiversity(2, 1, frozenset({"s"})): "optimal",
    }
    for guarantee, inner in guarantees.items():
        _, outcome = run(rows, tree, guarantee, inner=None)
        assert outcome.figures["inner"] == inner


def test_wrong_options() -> None:
    rows = [["a"], ["a"]]
    with pytest.raises(UsageError, match="whole records"):
        run(rows, FLAT, KAnonymity(2))
    with pytest.raises(UsageError, match="unknown inner method 'lra'"):
        run(rows, FLAT, KmAnonymity(2, 1), inner="lra")
    for options in ({"parts": 0}, {"f": -1}, {"memory": 5}):
        with pytest.raises(UsageError, match=f"{next(iter(options))}="):
            run(rows, FLAT, KmAnonymity(2, 1), **options)  # type: ignore[arg-type]


def test_needs_rows_and_gives_a_local_recoding() -> None:
    engine, outcome = run([["a"], ["a"], ["b"], ["b"]], FLAT, KmAnonymity(2, 1), parts=2)
    assert isinstance(outcome.recoding, Recoding)
    assert not outcome.recoding.is_global
    rowless = LoopbackEngine(engine.hierarchy, engine.rows())
    with pytest.raises(UsageError, match="no rows"):
        local.anonymize(
            rowless, KmAnonymity(2, 1), cost=make_cost("ncp", engine.hierarchy), watch=Watch()
        )
