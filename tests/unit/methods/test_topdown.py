"""hghs and mhghs on small worlds and real data: valid, greedy as written, deterministic."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import setveil as sv
from setveil.engines.local import LocalEngine
from setveil.errors import Cancelled, Infeasible, TimeLimit, UsageError
from setveil.methods import topdown
from setveil.model.costs import make_cost
from setveil.model.guarantees import KAnonymity, KmAnonymity
from setveil.progress import Watch
from setveil.release.recoding import Recoding
from tests.oracle.promises import is_km_anonymous
from tests.shared_data import shared_data
from tests.unit.methods.test_top_down import scenario, whole
from tests.unit.methods.worlds import World, world_of, worlds

BOTH = pytest.mark.parametrize("method", [topdown.anonymize, topdown.anonymize_rounds])


def run(method, world: World, k: int, m: int, name: str = "lm", **options):
    cost = make_cost(name, world.hierarchy)
    return method(world.local(), KmAnonymity(k, m), cost=cost, watch=Watch(), **options)


def published(world: World, recoding: Recoding) -> list[set[str]]:
    nodes, labels = recoding.node_of_leaf(), world.hierarchy.labels
    return [{labels[nodes[leaf]] for leaf in row if nodes[leaf] >= 0} for row in world.sets]


@BOTH
@settings(max_examples=150, deadline=None)
@given(world=worlds(), k=st.integers(2, 5), m=st.integers(1, 4))
def test_the_promise_holds_and_the_cost_is_right(method, world, k, m):
    if len(world.sets) < k:
        with pytest.raises(Infeasible):
            run(method, world, k, m)
        return
    outcome = run(method, world, k, m)
    assert outcome.complete
    assert is_km_anonymous(published(world, outcome.recoding), k, m)
    cost = make_cost("lm", world.hierarchy)
    nodes = outcome.recoding.node_of_leaf()
    paid = sum(
        int(cost.unit_by_node[nodes[leaf]]) if nodes[leaf] >= 0 else cost.scale
        for row in world.sets
        for leaf in row
    )
    assert outcome.objective.cost == paid


@settings(max_examples=100, deadline=None)
@given(world=worlds(), k=st.integers(2, 4), m=st.integers(1, 3))
def test_hghs_is_the_greedy_descent_by_plain_enumeration(world, k, m):
    if len(world.sets) < k:
        return
    cost, taxonomy = make_cost("lm", world.hierarchy), whole(world)
    cut = set(taxonomy.roots)
    paid, kept = scenario(world, cost, cut, k, m)
    while True:
        tried = []
        for node in cut:
            if taxonomy.children[node]:
                child = (cut - {node}) | set(taxonomy.children[node])
                tried.append(
                    (scenario(world, cost, child, k, m)[0], world.hierarchy.labels[node], child)
                )
        if not tried or min(tried)[0] >= paid:
            break
        paid, _, cut = min(tried)
        kept = scenario(world, cost, cut, k, m)[1]
    outcome = run(topdown.anonymize, world, k, m)
    assert outcome.objective.cost == paid
    assert set(outcome.recoding.cut().tolist()) == kept


@BOTH
@settings(max_examples=40, deadline=None)
@given(world=worlds(), k=st.integers(2, 4), m=st.integers(1, 3))
def test_an_engine_without_rows_gives_the_same(method, world, k, m):
    if len(world.sets) < k:
        return
    cost = make_cost("lm", world.hierarchy)
    results = [
        method(engine, KmAnonymity(k, m), cost=cost, watch=Watch()).recoding.nodes.tolist()
        for engine in (world.local(), world.loopback())
    ]
    assert results[0] == results[1]


def test_one_round_is_hghs_of_single_items():
    world = world_of(
        dict.fromkeys("abc", "A") | dict.fromkeys("de", "B") | dict.fromkeys("AB", "T") | {"T": None},
        [["a", "d"], ["b", "d"], ["c", "e"], ["a", "e"], ["a", "d"]],
    )
    one, rounds = run(topdown.anonymize, world, 2, 1), run(topdown.anonymize_rounds, world, 2, 1)
    assert one.recoding.nodes.tolist() == rounds.recoding.nodes.tolist()
    assert rounds.figures["rounds"] == 1


def test_of_equal_steps_the_smaller_label_is_taken():
    # A and B are alike, and each may be opened, but not both: a1 with b1 is rare then.
    parents = {"a1": "A", "a2": "A", "b1": "B", "b2": "B", "A": "T", "B": "T", "T": None}
    rows = [["a1", "b1"], ["a1", "b2"], ["a2", "b1"], ["a2", "b2"]]
    world = world_of(parents, rows)
    for method in (topdown.anonymize, topdown.anonymize_rounds):
        labels = world.hierarchy.labels
        kept = {labels[node] for node in run(method, world, 2, 2).recoding.cut().tolist()}
        assert kept == {"a1", "a2", "B"}


def test_of_equal_costs_the_smaller_label_is_kept():
    world = world_of({"e": "T", "i": "T", "T": None}, [["e", "i"], ["e"], ["i"]])
    kept = run(topdown.anonymize, world, 2, 2).recoding.cut().tolist()
    assert [world.hierarchy.labels[node] for node in kept] == ["e"]


@BOTH
def test_everything_may_have_to_go(method):
    world = world_of(dict.fromkeys("ab", "T") | {"T": None}, [["a"], ["b"], [], [], []])
    outcome = run(method, world, 3, 2)
    assert outcome.recoding.cut().tolist() == []
    assert outcome.objective.cost == 2 * make_cost("lm", world.hierarchy).scale


@BOTH
def test_other_guarantees_are_refused(method):
    world = world_of({"a": None}, [["a"], ["a"]])
    cost = make_cost("lm", world.hierarchy)
    for guarantee in (KAnonymity(2), KmAnonymity(2, 1, negative=True)):
        with pytest.raises(UsageError):
            method(world.local(), guarantee, cost=cost, watch=Watch())


class _Late(Watch):
    """A watch whose time is up after so many steps, or ticks that tell no share before the first.

    What the machine's clock says is all the same to it.
    """

    def __init__(self, *, steps: int = 1, mining: int = 10**9) -> None:
        super().__init__(time_limit=3600)
        self.steps, self.mining = steps, mining

    def tick(self, stage: str, share: float | None = None) -> None:
        super().tick(stage, share)
        if share is None:
            self.mining -= 1
        else:
            self.steps -= 1

    @property
    def remaining(self) -> float:
        return 3600.0

    @property
    def expired(self) -> bool:
        return self.steps <= 0 or self.mining <= 0


def small_world() -> World:
    parents = {"a1": "A", "a2": "A", "b1": "B", "b2": "B", "A": "T", "B": "T", "T": None}
    return world_of(parents, [["a1", "b1"], ["a2", "b2"]] * 3)


def test_a_time_limit_gives_the_cut_in_hand_or_an_error_before_there_is_one():
    world = small_world()
    cost, goal = make_cost("lm", world.hierarchy), KmAnonymity(2, 2)
    early = topdown.anonymize(world.local(), goal, cost=cost, watch=Watch(time_limit=3600))
    assert early.complete and early.objective.cost == 0
    with pytest.raises(TimeLimit):
        topdown.anonymize(world.local(), goal, cost=cost, watch=Watch(time_limit=1e-9))
    # Of the cuts further down the finest one needs nothing left out.
    late = topdown.anonymize(world.local(), goal, cost=cost, watch=_Late(steps=1))
    assert not late.complete
    assert late.objective.cost == 0


@pytest.mark.parametrize("engine", ["local", "loopback"])
def test_a_time_limit_is_seen_while_threats_are_listed(engine, monkeypatch):
    world = small_world()
    cost, goal = make_cost("lm", world.hierarchy), KmAnonymity(2, 2)
    monkeypatch.setattr(topdown, "ROUNDS_SHARE", 0)
    for method in (topdown.anonymize, topdown.anonymize_rounds):
        # The first tick is that of the round, the second comes from the mining.
        with pytest.raises(TimeLimit):
            method(getattr(world, engine)(), goal, cost=cost, watch=_Late(mining=2))


@pytest.mark.parametrize("engine", ["local", "loopback"])
@pytest.mark.parametrize("late", [{"mining": 2}, {"steps": 0}])
def test_hghs_cut_by_time_takes_what_the_rounds_gave(engine, late):
    world = small_world()
    cost, goal = make_cost("lm", world.hierarchy), KmAnonymity(2, 2)
    rounds = topdown.anonymize_rounds(world.local(), goal, cost=cost, watch=Watch())
    cut = topdown.anonymize(getattr(world, engine)(), goal, cost=cost, watch=_Late(**late))
    assert not cut.complete
    assert cut.objective.cost <= rounds.objective.cost
    if "mining" in late:
        assert cut.recoding.nodes.tolist() == rounds.recoding.nodes.tolist()
        assert cut.notices == (topdown.FROM_ROUNDS,)


LEAVES_COST_LESS = world_of(
    {"d": "c", "k": "c", "b": "a", "t": "a", "c": "root", "a": "root", "root": None},
    [["t"], ["d", "k"], ["b", "d", "k", "t"]],
)


@BOTH
@settings(max_examples=60, deadline=None)
@given(world=worlds(), m=st.integers(1, 3), steps=st.integers(1, 5))
@example(world=LEAVES_COST_LESS, m=2, steps=2)
def test_what_time_cuts_is_valid_and_no_worse_than_the_roots_and_the_leaves(method, world, m, steps):
    if len(world.sets) < 2:
        return
    cost, taxonomy = make_cost("lm", world.hierarchy), whole(world)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(topdown, "ROUNDS_SHARE", 0)
        try:
            cut = method(world.local(), KmAnonymity(2, m), cost=cost, watch=_Late(steps=steps))
        except TimeLimit:
            assert method is topdown.anonymize_rounds and m > 1
            return
    assert is_km_anonymous(published(world, cut.recoding), 2, m)
    leaves = {node for node in taxonomy.nodes.tolist() if not taxonomy.children[node]}
    # A search that ends before its time ends where no step helps, which may cost more than the leaves.
    if cut.complete:
        assert cut.objective.cost == run(method, world, 2, m).objective.cost
    for known in (set(taxonomy.roots),) if cut.complete else (set(taxonomy.roots), leaves):
        if method is topdown.anonymize or m == 1:
            assert cut.objective.cost <= scenario(world, cost, known, 2, m)[0]


@BOTH
@pytest.mark.parametrize("engine", ["local", "loopback"])
def test_a_cancelled_run_stops_while_threats_are_listed(method, engine):
    world = small_world()
    told: list[float | None] = []

    def stop_at_the_second(stage: str, share: float | None) -> None:
        told.append(share)
        if len(told) == 2:
            watch.cancel()

    watch = Watch(stop_at_the_second)
    cost = make_cost("lm", world.hierarchy)
    with pytest.raises(Cancelled):
        method(getattr(world, engine)(), KmAnonymity(2, 2), cost=cost, watch=watch)
    # No step was tried: the third look ended the run within the list of threats.
    assert told == [None, None]


@pytest.mark.parametrize(
    ("name", "m", "most"),
    [
        ("groceries", 2, "0.0462"),
        ("groceries", 3, "0.0808"),
        ("BMS-WebView-1", 2, "0.0204"),
        ("BMS-WebView-1", 3, "0.0512"),
    ],
)
@BOTH
def test_loss_on_real_data(method, name, m, most):
    tree = "hierarchy.csv" if name == "groceries" else "hierarchy.synthetic.csv"
    file = "groceries.csv.gz" if name == "groceries" else f"{name}.dat.gz"
    data = sv.read_transactions(str(shared_data(file)))
    engine = LocalEngine.of(data, sv.read_hierarchy(str(shared_data(f"{name}.{tree}"))))
    cost = make_cost("lm", engine.hierarchy)
    outcome = method(engine, KmAnonymity(5, m), cost=cost, watch=Watch())
    assert cost.share(outcome.objective.cost, engine.item_counts()) < Fraction(most)
    assert len(engine.violations(outcome.recoding, KmAnonymity(5, m), limit=1)) == 0
    assert np.all(np.diff(np.sort(outcome.recoding.nodes)) > 0)
