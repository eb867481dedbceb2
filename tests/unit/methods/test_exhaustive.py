from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from setveil.errors import Cancelled, Infeasible, ResourceLimit, TimeLimit, UsageError
from setveil.methods import exhaustive
from setveil.model.costs import make_cost
from setveil.model.guarantees import KAnonymity, KmAnonymity
from setveil.progress import Watch
from tests.oracle import cuts
from tests.unit.methods.worlds import World, toy, world_of, worlds


def run(world: World, k: int, m: int, *, cost: str = "ncp", **options):
    return exhaustive.anonymize(
        world.local(),
        KmAnonymity(k, m),
        cost=make_cost(cost, world.hierarchy),
        watch=Watch(),
        **options,
    )


@settings(max_examples=200, deadline=None)
@given(worlds(most_rows=8), st.integers(2, 4), st.integers(1, 4), st.sampled_from(["ncp", "lm"]))
def test_equals_brute_force_over_all_cuts(world: World, k: int, m: int, cost: str):
    best = cuts.least_cost(world.hierarchy, world.sets, k, m, make_cost(cost, world.hierarchy))
    try:
        outcome = run(world, k, m, cost=cost)
    except Infeasible:
        assert best is None or len(world.sets) < k
        return
    assert outcome.objective is not None
    assert outcome.objective.cost == best
    assert outcome.objective.proven
    cut = frozenset(outcome.recoding.cut().tolist())
    assert cuts.is_km_anonymous(cuts.published(world.hierarchy, world.sets, cut), k, m)


def test_too_many_cuts_are_counted_and_refused():
    parents: dict[str, str | None] = {"T": None}
    for group in range(20):
        parents |= {f"g{group}": "T", f"x{group}": f"g{group}", f"y{group}": f"g{group}"}
    world = world_of(parents, [sorted(label for label in parents if label[0] in "xy")] * 3)
    with pytest.raises(ResourceLimit, match=r"has 1,048,577 cuts.*Use method optimal"):
        run(world, 2, 1)
    assert len(run(world, 2, 1, max_cuts=2_000_000).recoding.cut()) == 40


def test_an_astronomic_number_of_cuts_is_told_by_its_size():
    assert exhaustive._readable(2**100) == "about 10^30"
    assert exhaustive._readable(2**3_000_000) == "about 10^903089"


def test_refusals():
    cost = make_cost("ncp", toy().hierarchy)
    for guarantee in (KAnonymity(2), KmAnonymity(2, 2, negative=True)):
        with pytest.raises(UsageError, match="'oa' does not give"):
            exhaustive.anonymize(toy().local(), guarantee, cost=cost, watch=Watch())
    with pytest.raises(Infeasible):
        run(toy(), 5, 1)
    stopped = Watch()
    stopped.cancel()
    with pytest.raises(Cancelled):
        exhaustive.anonymize(toy().local(), KmAnonymity(2, 2), cost=cost, watch=stopped)
    with pytest.raises(TimeLimit):
        exhaustive.anonymize(toy().local(), KmAnonymity(2, 2), cost=cost, watch=Watch(time_limit=0.0))
