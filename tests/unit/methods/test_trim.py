"""`trim` against brute force over all antichains, and against what is known of real data."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

import setveil as sv
from setveil.engines.base import Engine
from setveil.engines.local import LocalEngine
from setveil.errors import Cancelled, Infeasible, UsageError
from setveil.hierarchy.tree import Hierarchy
from setveil.methods import proof, trim
from setveil.methods.trim import greedy_hitting_set
from setveil.model.costs import make_cost
from setveil.model.guarantees import KAnonymity, KmAnonymity
from setveil.model.transactions import Transactions, bind
from setveil.progress import Watch
from setveil.report.frontier import Sweep
from tests.oracle.loopback import LoopbackEngine
from tests.oracle.worlds import World, all_antichains, generalize, is_km, random_world

CASES_A_BLOCK = 100


def cost_of(published: dict[str, str], hierarchy: Hierarchy, name: str, world: World) -> int:
    cost = make_cost(name, hierarchy)
    node = hierarchy.node_of_label
    return sum(
        int(cost.unit_by_node[node[published[label]]]) if label in published else cost.scale
        for row in world.rows
        for label in set(row)
    )


def check(world: World, guarantee: KmAnonymity, name: str, engine_type: type[Engine]) -> None:
    hierarchy, rows = bind(world.transactions, world.hierarchy)
    best = min(
        cost_of(published, hierarchy, name, world)
        for published in all_antichains(hierarchy)
        if is_km(generalize(world.rows, published), guarantee.k, guarantee.m)
    )
    engine = engine_type(hierarchy, rows)  # type: ignore[call-arg]
    cost = make_cost(name, hierarchy)
    outcome = trim.anonymize(engine, guarantee, cost=cost, watch=Watch())
    assert outcome.objective is not None
    assert outcome.objective.proven
    assert outcome.objective.cost == best
    published = {
        hierarchy.labels[leaf]: hierarchy.labels[node]
        for leaf, node in enumerate(outcome.recoding.node_of_leaf().tolist())
        if node >= 0
    }
    assert cost_of(published, hierarchy, name, world) == best
    assert is_km(generalize(world.rows, published), guarantee.k, guarantee.m)


@pytest.mark.parametrize("block", range(10))
def test_equals_brute_force(block: int) -> None:
    for seed in range(block * CASES_A_BLOCK, (block + 1) * CASES_A_BLOCK):
        random = Random(seed)
        world = random_world(seed, most_labels=6, roots=1 + seed % 2, empty=seed % 3 == 0)
        k = random.randint(2, min(4, len(world.rows))) if len(world.rows) > 1 else 2
        if len(world.rows) < k:
            continue
        check(world, KmAnonymity(k, random.randint(1, 4)), random.choice(["ncp", "lm"]), LocalEngine)


def test_the_integer_program_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the LP and the heuristics every world is left to the rounds of the integer program."""
    monkeypatch.setattr(trim.Search, "relax", lambda self: None)
    monkeypatch.setattr(trim.Search, "seed", lambda self: None)
    for seed in range(100):
        world = random_world(seed, most_labels=6, roots=1 + seed % 2)
        if len(world.rows) >= 2:
            check(world, KmAnonymity(2, 1 + seed % 3), "lm", LocalEngine)


def test_the_same_without_rows() -> None:
    for seed in range(40):
        world = random_world(seed, most_labels=6)
        if len(world.rows) >= 2:
            check(world, KmAnonymity(2, 2), "lm", LoopbackEngine)


def test_suppression_alone() -> None:
    """Where every item is a tree of its own, nothing can be generalized."""
    for seed in range(60):
        world = random_world(seed, most_labels=6, roots=6)
        flat = Hierarchy.from_parents(dict.fromkeys(world.hierarchy.labels[: world.hierarchy.n_leaves]))
        if len(world.rows) >= 2:
            check(World(world.rows, flat), KmAnonymity(2, 2), "lm", LocalEngine)


def test_a_time_limit_keeps_a_valid_result_and_a_true_bound() -> None:
    for seed in range(20):
        world = random_world(seed, most_labels=6, most_rows=14)
        hierarchy, rows = bind(world.transactions, world.hierarchy)
        if len(rows) < 2:
            continue
        cost = make_cost("lm", hierarchy)
        engine = LocalEngine(hierarchy, rows)
        best = trim.anonymize(engine, KmAnonymity(2, 2), cost=cost, watch=Watch()).objective
        search = trim.Search(engine, KmAnonymity(2, 2), cost, Watch())
        search.seed()
        if not search.best.any():
            continue
        search.watch.time_limit = 1e-9
        cut = search.run()
        assert best is not None and cut.objective is not None and cut.objective.bound is not None
        assert cut.objective.bound <= best.cost <= cut.objective.cost
        found = engine.violations(cut.recoding, KmAnonymity(2, 2))
        assert not len(found)


def test_what_only_the_solver_says_is_told_as_its_word(monkeypatch: pytest.MonkeyPatch) -> None:
    """On one world the LP ends with halves; its claim is shown by branching, or told as a claim."""
    rows = [["a", "b"], ["b", "c"], ["a", "c"], ["a"], ["b"], ["c"]]
    data = Transactions.from_rows(rows)
    shown = sv.anonymize(data, KmAnonymity(2, 2), method="trim", cost="lm")
    assert shown.objective is not None
    assert shown.objective.proven and shown.objective.certified
    assert "proven: no recoding" in str(shown)
    monkeypatch.setattr(proof, "holds", lambda model, target, watch: False)
    said = sv.anonymize(data, KmAnonymity(2, 2), method="trim", cost="lm")
    assert said.objective is not None
    assert said.objective.proven and not said.objective.certified
    word = "by the solver's word, which nothing recomputed"
    assert f"proven {word}: no recoding" in str(said)
    assert said.objective.as_dict()["certified"] is False
    compared = sv.compare(data, KmAnonymity(2, 2), methods=["trim"], cost="lm")
    assert "proven (solver)" in str(compared)
    assert any(reason.endswith(f"{word}.") for reason in compared.reasons)
    swept = sv.sweep(data, None, 2, 2, method="trim", cost="lm")
    assert not swept.points[0].certified
    assert not Sweep.from_json(swept.to_json()).points[0].certified


def test_refusals_and_cancel() -> None:
    world = random_world(3)
    hierarchy, rows = bind(world.transactions, world.hierarchy)
    engine, cost = LocalEngine(hierarchy, rows), make_cost("lm", hierarchy)
    for guarantee in (KAnonymity(2), KmAnonymity(2, 2, negative=True)):
        with pytest.raises(UsageError):
            trim.anonymize(engine, guarantee, cost=cost, watch=Watch())
    with pytest.raises(Infeasible):
        trim.anonymize(engine, KmAnonymity(10_000, 1), cost=cost, watch=Watch())
    watch = Watch()
    watch.cancel()
    with pytest.raises(Cancelled):
        trim.anonymize(engine, KmAnonymity(2, 2), cost=cost, watch=watch)


def test_a_hitting_set_hits_and_has_nothing_needless() -> None:
    for seed in range(200):
        random = Random(seed)
        sets = np.full((random.randint(1, 12), 3), -1, dtype=np.int32)
        for line in sets:
            chosen = random.sample(range(8), random.randint(1, 3))
            line[: len(chosen)] = sorted(chosen)
        loss = np.array([random.randint(0, 9) for _ in range(8)], dtype=np.int64)
        hit = set(greedy_hitting_set(sets, loss).tolist())
        members = [set(line.tolist()) - {-1} for line in sets]
        assert all(nodes & hit for nodes in members)
        assert all(any(nodes & hit == {node} for nodes in members) for node in hit)
