"""mm: no mole is left, the greedy order is the written one, private items stay."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from setveil.errors import Cancelled, Infeasible, ResourceLimit, TimeLimit, UsageError
from setveil.methods import moles
from setveil.model.costs import make_cost
from setveil.model.guarantees import Coherence, KAnonymity, KmAnonymity
from setveil.progress import Watch
from setveil.release.recoding import Recoding
from tests.oracle.promises import is_coherent, is_km_anonymous, occurring_sets, support
from tests.unit.methods.worlds import World, world_of

LEAVES = "abcdefg"
shares = st.sampled_from([0, 20, "100/3", 50, 75, 100])


@st.composite
def flat_worlds(draw: st.DrawFn) -> World:
    """Items without a hierarchy: each is a tree of its own."""
    row = st.lists(st.sampled_from(LEAVES), max_size=5)
    return world_of(dict.fromkeys(LEAVES), draw(st.lists(row, min_size=2, max_size=14).filter(any)))


def rows_of(world: World, recoding: Recoding | None = None) -> list[set[str]]:
    nodes = (recoding or Recoding.identity(world.hierarchy)).node_of_leaf()
    labels = world.hierarchy.labels
    return [{labels[leaf] for leaf in row if nodes[leaf] >= 0} for row in world.sets]


def minimal_moles(rows, h: Fraction, k: int, p: int, private) -> set[frozenset[str]]:
    found: set[frozenset[str]] = set()
    for size in range(1, p + 1):
        for chosen, count in sorted(occurring_sets(rows, size).items()):
            if set(chosen) & set(private) or any(mole < set(chosen) for mole in found):
                continue
            if count < k or any(100 * support(rows, [*chosen, s]) > h * count for s in private):
                found.add(frozenset(chosen))
    return found


def run(world: World, guarantee, **options):
    cost = make_cost("lm", world.hierarchy)
    return moles.anonymize(world.local(), guarantee, cost=cost, watch=Watch(), **options)


@settings(max_examples=200, deadline=None)
@given(world=flat_worlds(), h=shares, k=st.integers(2, 4), p=st.integers(1, 4), data=st.data())
def test_engines_list_the_minimal_moles(world, h, k, p, data):
    private = frozenset(data.draw(st.sets(st.sampled_from(LEAVES), max_size=2)))
    guarantee = Coherence(h, k, p, private)
    expected = minimal_moles(rows_of(world), guarantee.h, k, p, private)
    labels = world.hierarchy.labels
    for engine in (world.local(), world.loopback()):
        found = engine.violations(Recoding.identity(world.hierarchy), guarantee)
        lines = [frozenset(labels[node] for node in line if node >= 0) for line in found.sets]
        assert len(lines) == len(set(lines))
        assert set(lines) == expected
        assert found.complete
        for line, held in zip(lines, found.support.tolist(), strict=True):
            assert held == support(rows_of(world), line)


@settings(max_examples=200, deadline=None)
@given(world=flat_worlds(), h=shares, k=st.integers(2, 4), p=st.integers(1, 4), data=st.data())
def test_no_mole_is_left_and_private_items_stay(world, h, k, p, data):
    private = frozenset(data.draw(st.sets(st.sampled_from(LEAVES), max_size=2)))
    if len(world.sets) < k:
        with pytest.raises(Infeasible):
            run(world, Coherence(h, k, p, private))
        return
    outcome = run(world, Coherence(h, k, p, private))
    shown = rows_of(world, outcome.recoding)
    assert is_coherent(shown, Fraction(h), k, p, private)
    before = rows_of(world)
    assert [row & private for row in shown] == [row & private for row in before]
    lost = sum(len(row) for row in before) - sum(len(row) for row in shown)
    assert outcome.objective.cost == lost * make_cost("lm", world.hierarchy).scale


@settings(max_examples=100, deadline=None)
@given(world=flat_worlds(), k=st.integers(2, 4), m=st.integers(1, 4))
def test_km_is_coherence_with_h_100(world, k, m):
    if len(world.sets) < k:
        return
    one, other = run(world, KmAnonymity(k, m)), run(world, Coherence(100, k, m))
    assert one.recoding.nodes.tolist() == other.recoding.nodes.tolist()
    assert is_km_anonymous(rows_of(world, one.recoding), k, m)


def greedy(found: set[frozenset[str]], occurrences: dict[str, int]) -> set[str]:
    """Most moles for what it costs, of equal ones the larger label goes."""
    gone: set[str] = set()
    left = set(found)
    while left:
        items = sorted({item for mole in left for item in mole})
        item = max(items, key=lambda x: (Fraction(sum(x in mole for mole in left), occurrences[x]), x))
        gone.add(item)
        left = {mole for mole in left if item not in mole}
    return gone


@settings(max_examples=150, deadline=None)
@given(world=flat_worlds(), h=shares, k=st.integers(2, 4), p=st.integers(1, 3), data=st.data())
def test_the_greedy_order_by_plain_enumeration(world, h, k, p, data):
    private = frozenset(data.draw(st.sets(st.sampled_from(LEAVES), max_size=1)))
    if len(world.sets) < k:
        return
    rows = rows_of(world)
    found = minimal_moles(rows, Fraction(h), k, p, private)
    single = {item for mole in found if len(mole) == 1 for item in mole}
    occurrences = {item: support(rows, [item]) for item in LEAVES}
    expected = single | greedy({mole for mole in found if len(mole) > 1}, occurrences)
    labels = world.hierarchy.labels
    kept = {labels[node] for node in run(world, Coherence(h, k, p, private)).recoding.nodes}
    assert set(labels) - kept == expected


def test_items_that_cost_nothing_go_first():
    world = world_of(dict.fromkeys("abc"), [["a", "b"], ["a"], ["b"], ["c"], ["c"]])
    cost = make_cost("lm", world.hierarchy, weights={"a": 0})
    outcome = moles.anonymize(world.local(), KmAnonymity(2, 2), cost=cost, watch=Watch())
    assert [world.hierarchy.labels[node] for node in outcome.recoding.nodes] == ["b", "c"]
    assert outcome.objective.cost == 0


def test_equal_ratios_are_compared_exactly():
    ranks = np.array([0, 1, 2], dtype=np.int32)
    sets = np.array([[0, 1], [0, 2]], dtype=np.int32)
    paid = np.array([2, 1, 1], dtype=np.int64)
    # 2/2 = 1/1 = 1/1: the largest label goes, then 1/2 against 1/1.
    assert moles.suppression_order(sets, paid, ranks, Watch()) == [2, 1]
    large = np.array([2 * 10**17, 10**17 + 1, 10**17 + 1], dtype=np.int64)
    assert moles.suppression_order(sets, large, ranks, Watch()) == [0]


def test_every_pair_of_records_is_covered_by_suppressing_one_of_two():
    world = world_of(dict.fromkeys("abcd"), [list(pair) for pair in combinations("abcd", 2)] * 2)
    outcome = run(world, KmAnonymity(3, 2))
    assert len(outcome.recoding.nodes) == 1
    assert outcome.figures["moles"] == 6


def test_wrong_questions_are_refused():
    world = world_of(dict.fromkeys("ab"), [["a", "b"], ["a"], ["b"]])
    for guarantee in (KAnonymity(2), KmAnonymity(2, 1, negative=True)):
        with pytest.raises(UsageError):
            run(world, guarantee)
    with pytest.raises(ResourceLimit):
        run(world, KmAnonymity(3, 1), max_moles=1)


class _Stopping(Watch):
    """A watch that is told to stop when it has ticked so many times."""

    def __init__(self, last: int) -> None:
        super().__init__()
        self.last, self.ticks = last, 0

    def tick(self, stage: str, share: float | None = None) -> None:
        super().tick(stage, share)
        self.ticks += 1
        if self.ticks == self.last:
            self.cancel()


@pytest.mark.parametrize("engine", ["local", "loopback"])
@pytest.mark.parametrize("guarantee", [KmAnonymity(3, 2), Coherence(50, 3, 2, frozenset("d"))])
def test_every_look_at_the_watch_can_end_the_run(engine, guarantee):
    world = world_of(dict.fromkeys("abcd"), [list(pair) for pair in combinations("abcd", 2)] * 2)
    cost = make_cost("lm", world.hierarchy)
    for last in range(1, 6):
        watch = _Stopping(last)
        with pytest.raises(Cancelled):
            moles.anonymize(getattr(world, engine)(), guarantee, cost=cost, watch=watch)
        assert watch.ticks == last


class _Late(Watch):
    """A watch whose time is up after so many ticks of a stage."""

    def __init__(self, stage: str, ticks: int) -> None:
        super().__init__(time_limit=3600)
        self.stage, self.ticks = stage, ticks

    def tick(self, stage: str, share: float | None = None) -> None:
        super().tick(stage, share)
        self.ticks -= stage == self.stage

    @property
    def expired(self) -> bool:
        return self.ticks <= 0


@pytest.mark.parametrize("stage", ["mm: single items", "mm: minimal moles", "mm: suppressing"])
def test_a_time_limit_is_an_error_wherever_it_passes(stage):
    world = world_of(dict.fromkeys("abcd"), [list(pair) for pair in combinations("abcd", 2)] * 2)
    cost = make_cost("lm", world.hierarchy)
    for ticks in (1, 2):
        with pytest.raises(TimeLimit):
            moles.anonymize(world.local(), KmAnonymity(3, 2), cost=cost, watch=_Late(stage, ticks))
