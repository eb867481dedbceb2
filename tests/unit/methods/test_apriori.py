from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import setveil as sv
from setveil.errors import Cancelled, HierarchyError, Infeasible, TimeLimit, UsageError
from setveil.hierarchy.tree import Hierarchy
from setveil.io.records import read_records
from setveil.methods import Outcome, apriori
from setveil.model.costs import make_cost
from setveil.model.guarantees import KAnonymity, KmAnonymity
from setveil.progress import Watch
from tests.oracle import cuts
from tests.shared_data import shared_data
from tests.unit.methods.worlds import World, toy, world_of, worlds

ks, ms = st.integers(2, 4), st.integers(1, 4)


def run(world: World, k: int, m: int, *, cost: str = "ncp", negative: bool = False, **options):
    return apriori.anonymize(
        world.local(),
        KmAnonymity(k, m, negative),
        cost=make_cost(cost, world.hierarchy),
        watch=Watch(),
        **options,
    )


def run_or_none(world: World, k: int, m: int, **options) -> Outcome | None:
    try:
        return run(world, k, m, **options)
    except Infeasible:
        return None


@settings(max_examples=500, deadline=None)
@given(worlds(), ks, ms, st.sampled_from(["ncp", "lm"]))
def test_fast_equals_reference(world: World, k: int, m: int, cost: str):
    fast = run_or_none(world, k, m, cost=cost)
    slow = run_or_none(world, k, m, cost=cost, path="reference")
    if fast is None or slow is None:
        assert fast is None and slow is None
        roots = frozenset(world.hierarchy.roots)
        rows = cuts.published(world.hierarchy, world.sets, roots)
        assert len(world.sets) < k or not cuts.is_km_anonymous(rows, k, m)
        return
    assert fast.recoding.cut().tolist() == slow.recoding.cut().tolist()
    assert fast.objective == slow.objective
    assert fast.figures["repairs"] == slow.figures["repairs"]


@settings(max_examples=200, deadline=None)
@given(worlds(), ks, ms)
def test_pairs_listed_first_change_nothing(world: World, k: int, m: int):
    with pytest.MonkeyPatch.context() as patch:
        usual = run_or_none(world, k, m)
        patch.setattr(apriori, "_PAIRS_PER_NODE", 0)
        without = run_or_none(world, k, m)
        patch.setattr(apriori, "_PAIRS_PER_NODE", 1)
        patch.setattr(apriori, "_PAIRS_AT_ONCE", 1)
        patch.setattr(apriori, "_WALKED_AT_ONCE", 2)
        single = run_or_none(world, k, m)
    if usual is None or without is None or single is None:
        assert usual is None and without is None and single is None
        return
    assert usual.recoding.cut().tolist() == without.recoding.cut().tolist()
    assert usual.recoding.cut().tolist() == single.recoding.cut().tolist()


@settings(max_examples=150, deadline=None)
@given(worlds(most_rows=8), ks, ms)
def test_result_holds_by_brute_force_and_costs_what_it_says(world: World, k: int, m: int):
    outcome = run_or_none(world, k, m)
    if outcome is None:
        return
    assert outcome.objective is not None
    cut = frozenset(outcome.recoding.cut().tolist())
    assert (outcome.recoding.node_of_leaf() >= 0).all()
    assert cuts.is_km_anonymous(cuts.published(world.hierarchy, world.sets, cut), k, m)
    cost = make_cost("ncp", world.hierarchy)
    assert outcome.objective.cost == cuts.cut_cost(world.hierarchy, world.sets, cut, cost)
    assert not outcome.objective.proven
    best = cuts.least_cost(world.hierarchy, world.sets, k, m, cost)
    assert best is not None and outcome.objective.cost >= best


@settings(max_examples=60, deadline=None)
@given(worlds(most_rows=7), ks, st.integers(1, 3))
def test_runs_on_an_engine_without_rows(world: World, k: int, m: int):
    cost = make_cost("ncp", world.hierarchy)
    local = run_or_none(world, k, m)
    if local is None:
        return
    seam = apriori.anonymize(world.loopback(), KmAnonymity(k, m), cost=cost, watch=Watch())
    assert seam.recoding.cut().tolist() == local.recoding.cut().tolist()


@settings(max_examples=40, deadline=None)
@given(worlds(), ks, ms, st.randoms(use_true_random=False))
def test_row_order_changes_nothing(world: World, k: int, m: int, random):
    order = list(range(len(world.rows)))
    random.shuffle(order)
    shuffled = World(
        world.hierarchy,
        world.rows.take(np.array(order, dtype=np.int64)),
        tuple(world.sets[place] for place in order),
    )
    first, second = run_or_none(world, k, m), run_or_none(shuffled, k, m)
    assert (first is None) == (second is None)
    if first is not None and second is not None:
        assert first.recoding.cut().tolist() == second.recoding.cut().tolist()


def test_a_safe_input_is_left_alone():
    world = world_of(
        {"a": "T", "b": "T", "c": "T", "T": None}, [["a", "b"], ["a", "b"], ["c"], ["c"], []]
    )
    outcome = run(world, 2, 3)
    assert outcome.recoding.cut().tolist() == [0, 1, 2]
    assert outcome.objective is not None and outcome.objective.cost == 0


def test_short_records_are_protected_too():
    # Pairs alone would pass; `a` by itself is in one record.
    world = world_of(
        {"a": "A", "b": "A", "c": "T", "A": "T", "T": None}, [["a"], ["b", "c"], ["b", "c"]]
    )
    cut = run(world, 2, 2).recoding.cut()
    assert [world.hierarchy.labels[node] for node in cut] == ["A", "c"]


def test_an_m_beyond_every_record_is_no_burden():
    assert run(toy(), 2, 2**31 - 1).recoding.cut().tolist() == run(toy(), 2, 3).recoding.cut().tolist()
    assert run(toy(), 2, 2**31 - 1, path="reference").recoding.cut().tolist() == [4, 2, 3]


def test_ties_go_to_the_first_label():
    parents: dict[str, str | None] = {
        "p": "Y",
        "q": "Y",
        "r": "X",
        "s": "X",
        "X": "T",
        "Y": "T",
        "T": None,
    }
    rows = [["p", "r"], ["q", "r"], ["p", "s"], ["q"], ["s"], ["p"], ["r"]]
    world = world_of(parents, rows)
    # {p, r}, {p, s} and {q, r} are each in one record. {p, r} comes first and costs the same at X or Y.
    cut = run(world, 2, 2).recoding.cut()
    assert "X" in {world.hierarchy.labels[node] for node in cut}


def test_k_above_the_number_of_records_is_infeasible():
    with pytest.raises(Infeasible, match="exceeds the number of records"):
        run(toy(), 5, 1)


def test_rare_roots_of_a_forest_are_infeasible_with_the_reason():
    parents = {"a": "A", "b": "A", "A": None, "s": None}
    rows = [["a"], ["b"], ["a", "s"], ["s"], ["s"]]
    with pytest.raises(Infeasible, match="combination of 2 roots"):
        run(world_of(parents, rows), 2, 2)
    with pytest.raises(Infeasible, match="a root of the hierarchy"):
        run(world_of(parents, [["a"], ["b"], ["s"]]), 2, 1)
    # The same roots are fine by themselves.
    assert len(run(world_of(parents, rows), 2, 1).recoding.cut())


def test_wrong_guarantee_and_path_are_refused():
    cost = make_cost("ncp", toy().hierarchy)
    with pytest.raises(UsageError, match="'aa' does not give"):
        apriori.anonymize(toy().local(), KAnonymity(2), cost=cost, watch=Watch())
    with pytest.raises(UsageError, match="unknown path"):
        run(toy(), 2, 2, path="other")
    with pytest.raises(UsageError, match="holds no rows"):
        apriori.anonymize(
            toy().loopback(), KmAnonymity(2, 2), cost=cost, watch=Watch(), path="reference"
        )


@pytest.mark.parametrize("path", apriori.PATHS)
def test_cancel_and_time_limit_stop_the_work(path: str):
    cost = make_cost("ncp", toy().hierarchy)
    stopped = Watch()
    stopped.cancel()
    with pytest.raises(Cancelled):
        apriori.anonymize(toy().local(), KmAnonymity(2, 2), cost=cost, watch=stopped, path=path)
    with pytest.raises(TimeLimit):
        apriori.anonymize(
            toy().local(), KmAnonymity(2, 2), cost=cost, watch=Watch(time_limit=0.0), path=path
        )


@settings(max_examples=150, deadline=None)
@given(worlds(most_rows=8), st.integers(2, 3), st.integers(1, 3))
def test_negative_knowledge_holds_or_the_roots_fail(world: World, k: int, m: int):
    engine = world.loopback()
    guarantee = KmAnonymity(k, m, negative=True)
    cost = make_cost("ncp", world.hierarchy)
    try:
        outcome = apriori.anonymize(engine, guarantee, cost=cost, watch=Watch())
    except Infeasible:
        from setveil.release.recoding import Recoding

        roots = Recoding.from_cut(world.hierarchy, list(world.hierarchy.roots))
        assert len(world.sets) < k or len(engine.violations(roots, guarantee))
        return
    assert len(engine.violations(outcome.recoding, guarantee)) == 0
    assert (outcome.recoding.node_of_leaf() >= 0).all()


def test_negative_knowledge_is_not_monotone_and_is_still_met():
    parents: dict[str, str | None] = {"a": "A", "b": "A", "c": "T", "A": "T", "T": None}
    world = world_of(parents, [["a"], ["b"], ["c"], ["a", "b", "c"]])
    outcome = run(world, 2, 1, negative=True)
    assert outcome.recoding.cut().tolist() == [0, 1, 2]
    # Merging a and b would leave one record without A, though no single item needed a repair.
    assert outcome.figures["negative_steps"] == 0


def test_a_rare_absence_is_repaired():
    parents: dict[str, str | None] = {"a": "T", "b": "T", "T": None}
    world = world_of(parents, [["a", "b"], ["a", "b"], ["a", "b"], ["b"]])
    assert run(world, 2, 2).recoding.cut().tolist() == [0, 1]
    # One record lacks a; with negative knowledge a and b have to become T.
    outcome = run(world, 2, 2, negative=True)
    assert [world.hierarchy.labels[node] for node in outcome.recoding.cut()] == ["T"]
    assert outcome.figures["negative_steps"] == 1


def test_a_rare_absence_of_a_root_is_infeasible():
    world = world_of({"a": "T", "b": "T", "T": None}, [["a", "b"], ["a", "b"], []])
    with pytest.raises(Infeasible, match="presence or absence of roots is rare"):
        run(world, 2, 1, negative=True)


# Loss at k=5 on real data, m = 1, 2, 3; the cut must not move unnoticed.
REAL = {
    "groceries": (0.002597, 0.076014, 0.137354),
    "fruithut": (0.106124, 0.163863, 1.0),
    "BMS-WebView-1": (0.000413, 0.075331, 0.203000),
    "BMS-WebView-2": (0.000058, 0.018463, 0.049268),
}


def real_world(name: str) -> World:
    import csv
    import gzip

    data = shared_data("groceries.csv.gz" if name == "groceries" else f"{name}.dat.gz")
    tree = next(iter(sorted(data.parent.glob(f"{name}.hierarchy*.csv"))))
    with gzip.open(data, "rt", encoding="utf-8") as file:
        rows = list(csv.reader(file)) if name == "groceries" else [line.split() for line in file]
    with tree.open(encoding="utf-8") as file:
        hierarchy = Hierarchy.from_paths(csv.reader(file, delimiter=";"))
    return world_of(hierarchy.parents_by_label(), rows)


@pytest.mark.parametrize("name", REAL)
def test_losses_on_real_data(name: str):
    world = real_world(name)
    engine = world.local()
    cost = make_cost("ncp", world.hierarchy)
    for m, loss in enumerate(REAL[name], start=1):
        outcome = apriori.anonymize(engine, KmAnonymity(5, m), cost=cost, watch=Watch())
        assert outcome.objective is not None
        share = cost.share(outcome.objective.cost, engine.item_counts())
        assert abs(share - Fraction(loss)) < Fraction(1, 10**6)
        assert len(engine.violations(outcome.recoding, KmAnonymity(5, m), limit=1)) == 0


@pytest.mark.parametrize(("name", "m"), [("groceries", 3), ("BMS-WebView-1", 3)])
def test_reference_on_real_data(name: str, m: int):
    world = real_world(name)
    fast, slow = run(world, 5, m), run(world, 5, m, path="reference")
    assert fast.recoding.cut().tolist() == slow.recoding.cut().tolist()
    assert slow.figures["count_tree_nodes"] > len(world.hierarchy)


@pytest.mark.parametrize("method", ["aa", "da", "optimal", "trim", "hghs", "mhghs", "vpa", "lra"])
def test_a_table_is_a_forest_and_plain_sets_need_one_root(method: str, tmp_path: Path) -> None:
    """Two set-valued columns, each with a tree of its own; and one hierarchy with two roots."""
    drinks = sv.Hierarchy.from_parents({"ale": "drink", "gin": "drink", "drink": None})
    foods = sv.Hierarchy.from_parents({"bun": "food", "rye": "food", "food": None})
    (tmp_path / "t.csv").write_text("drinks,foods\n" + "ale gin,bun\nale,rye\ngin,bun rye\n" * 2)
    table = read_records(tmp_path / "t.csv", set_columns={"drinks": " ", "foods": " "})
    release = sv.anonymize(
        table, KmAnonymity(4, 2), hierarchy={"drinks": drinks, "foods": foods}, method=method
    )
    assert {label.partition("=")[0] for label in release.labels} == {"drinks", "foods"}
    assert sv.publish(release, tmp_path / "out", allow_useless=True).verdict.holds
    assert sv.audit(tmp_path / "out").holds
    both = sv.Hierarchy.from_parents({**drinks.parents_by_label(), **foods.parents_by_label()})
    rows = sv.Transactions.from_rows([["ale", "bun"], ["gin", "rye"]] * 4)
    with pytest.raises(HierarchyError, match="several roots") as caught:
        sv.anonymize(rows, KmAnonymity(4, 2), hierarchy=both, method=method)
    assert "--add-root" in str(caught.value)
