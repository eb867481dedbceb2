"""Partition: the guarantee by counting, honest generalization, no trace of the input's order."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from setveil.engines.local import LocalEngine
from setveil.errors import Infeasible, TimeLimit, UsageError
from setveil.hierarchy.tree import Hierarchy
from setveil.methods import Outcome, partition
from setveil.model.costs import make_cost
from setveil.model.guarantees import KAnonymity, KmAnonymity
from setveil.model.transactions import Transactions
from setveil.progress import Watch
from tests.oracle.loopback import LoopbackEngine
from tests.oracle.promises import is_k_anonymous
from tests.oracle.worlds import World, random_world
from tests.shared_data import shared_data

FLAT = Hierarchy.from_parents({"a": "T", "b": "T", "c": "T", "T": None})


def run(
    rows: list[list[str]], hierarchy: Hierarchy, k: int, cost: str = "ncp"
) -> tuple[LocalEngine, Outcome]:
    engine = LocalEngine.of(Transactions.from_rows(rows), hierarchy)
    outcome = partition.anonymize(
        engine, KAnonymity(k), cost=make_cost(cost, engine.hierarchy), watch=Watch()
    )
    return engine, outcome


def release(rows: list[list[str]], hierarchy: Hierarchy, k: int) -> list[tuple[str, ...]]:
    engine, outcome = run(rows, hierarchy, k)
    return list(engine.publish(outcome.recoding).rows())


def feasible(world: World, k: int) -> bool:
    """Records with the same set of roots must be at least k: generalizing never changes that set."""
    roots = [frozenset(world.hierarchy.path(label)[-1] for label in row) for row in world.rows]
    return all(roots.count(own) >= k for own in roots)


def slow_parts(hierarchy: Hierarchy, records: list[frozenset[int]], k: int) -> list[tuple[int, ...]]:
    """The method in plain Python: what each record, in sorted order, is published as."""
    cost = make_cost("ncp", hierarchy)
    below = [sorted(nodes) for nodes in hierarchy.children]

    def descend(node: int) -> int:
        while len(below[node]) == 1:
            node = below[node][0]
        return node

    def child(node: int, leaf: int) -> int:
        return descend(next(under for under in below[node] if hierarchy.covers(under, leaf)))

    def key(record: frozenset[int], node: int) -> frozenset[int]:
        return frozenset(child(node, leaf) for leaf in record if hierarchy.covers(node, leaf))

    def saved(record: frozenset[int], node: int) -> int:
        under = [leaf for leaf in record if hierarchy.covers(node, leaf)]
        units = cost.unit_by_node
        return sum(int(units[node] - units[child(node, leaf)]) for leaf in under)

    def attempt(part, node):
        """The groups by key and the leftover, or None where the split fails."""
        groups: dict[frozenset[int], list[frozenset[int]]] = {}
        for record in part:
            groups.setdefault(key(record, node), []).append(record)
        kept = [list(group) for group in groups.values() if len(group) >= k]
        leftover = [record for group in groups.values() if len(group) < k for record in group]
        while kept and 0 < len(leftover) < k:
            large = [group for group in kept if len(group) > k]
            if not large:
                return None
            places = [
                (saved(record, node), len(group), part.index(record), record, group)
                for group in large
                for record in group
            ]
            *_, record, group = min(places, key=lambda place: place[:3])
            group.remove(record)
            leftover.append(record)
        return (kept, leftover) if kept else None

    def split(part, published, frozen):
        choices = []
        for node in sorted(published - frozen, key=lambda node: hierarchy.label_rank[node]):
            if below[node]:
                attempted = attempt(part, node)
                if attempted is not None:
                    gross = sum(saved(record, node) for record in part)
                    real = sum(saved(record, node) for group in attempted[0] for record in group)
                    choices.append(((-real, -gross), node, *attempted))
        if not choices:
            return [(record, tuple(sorted(published))) for record in part]
        _, node, groups, leftover = min(choices, key=lambda choice: choice[0])
        result = []
        for group in groups:
            deeper = published - {node} | key(group[0], node)
            result += split(sorted(group, key=sorted), deeper, frozen)
        if leftover:
            result += split(sorted(leftover, key=sorted), published, frozen | {node})
        return result

    by_roots: dict[frozenset[int], list[frozenset[int]]] = {}
    for record in sorted(records, key=sorted):
        tops = frozenset(descend(int(hierarchy.root[leaf])) for leaf in record)
        by_roots.setdefault(tops, []).append(record)
    parts = [pair for tops, part in by_roots.items() for pair in split(part, tops, frozenset())]
    return sorted(published for _, published in parts)


@settings(max_examples=300, deadline=None)
@given(st.integers(0, 10**9), st.integers(2, 4), st.integers(1, 2))
def test_the_kernel_does_what_the_plain_method_does(seed: int, k: int, roots: int) -> None:
    world = random_world(seed, most_rows=30, roots=roots)
    if not feasible(world, k):
        return
    engine, outcome = run(world.rows, world.hierarchy, k)
    hierarchy, rows = engine.hierarchy, engine.rows()
    records = [
        frozenset(rows.leaves[rows.indptr[r] : rows.indptr[r + 1]].tolist()) for r in range(len(rows))
    ]
    node_of_label = hierarchy.node_of_label
    published = sorted(
        tuple(sorted(node_of_label[label] for label in row))
        for row in engine.publish(outcome.recoding).rows()
    )
    assert published == slow_parts(hierarchy, records, k)


@settings(max_examples=400, deadline=None)
@given(st.integers(0, 10**9), st.integers(2, 5), st.integers(1, 3), st.booleans())
def test_every_published_record_occurs_k_times(seed: int, k: int, roots: int, empty: bool) -> None:
    world = random_world(seed, most_rows=25, roots=roots, empty=empty)
    if not feasible(world, k):
        with pytest.raises(Infeasible):
            run(world.rows, world.hierarchy, k)
        return
    engine, outcome = run(world.rows, world.hierarchy, k)
    assert is_k_anonymous(list(engine.publish(outcome.recoding).rows()), k)
    nodes = outcome.recoding.nodes_of(engine.rows())
    leaves = engine.rows().leaves
    for node, leaf in zip(nodes.tolist(), leaves.tolist(), strict=True):
        assert engine.hierarchy.covers(node, leaf)
    cost = make_cost("ncp", engine.hierarchy)
    assert outcome.objective is not None
    assert outcome.objective.cost == int(cost.unit_by_node[nodes].sum())


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 10**9), st.integers(2, 4))
def test_the_order_of_records_does_not_matter(seed: int, k: int) -> None:
    world = random_world(seed, most_rows=25)
    if feasible(world, k):
        shuffled = list(world.rows)
        Random(seed).shuffle(shuffled)
        assert release(shuffled, world.hierarchy, k) == release(world.rows, world.hierarchy, k)


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 10**9), st.integers(2, 4))
def test_what_is_anonymous_already_stays(seed: int, k: int) -> None:
    world = random_world(seed, most_rows=6)
    rows = world.rows * k
    assert release(rows, world.hierarchy, k) == sorted(tuple(row) for row in map(sorted, rows))


def test_all_records_in_one_part_when_k_is_their_number() -> None:
    assert release([["a"], ["b"], ["a", "b"]], FLAT, 3) == [("T",)] * 3
    assert release([["a"], ["a"], ["a"]], FLAT, 3) == [("a",)] * 3


def test_leftover_takes_a_record_of_a_larger_group() -> None:
    # {b} is alone: one {a} stays with it at the root, and k of them are left.
    assert release([["a"]] * 4 + [["b"]], FLAT, 2) == [("T",)] * 2 + [("a",)] * 3


def test_a_split_that_would_leave_too_few_is_not_made() -> None:
    assert release([["a"]] * 2 + [["b"]], FLAT, 2) == [("T",)] * 3


def test_chains_of_only_children_are_passed() -> None:
    chain = Hierarchy.from_parents({"a": "A", "b": "A", "A": "B", "B": "C", "C": None})
    assert release([["a"], ["b"]], chain, 2) == [("A",)] * 2
    assert release([["a"], ["a"]], chain, 2) == [("a",)] * 2


def test_a_forest_with_enough_of_each_kind() -> None:
    forest = Hierarchy.from_parents({"a": "A", "b": "A", "A": None, "s": None})
    rows = [["a", "s"], ["b", "s"], ["a"], ["a"]]
    assert release(rows, forest, 2) == [("A", "s")] * 2 + [("a",)] * 2


@pytest.mark.parametrize(
    ("rows", "k", "code"),
    [
        ([["a"], ["b"], []], 2, "too-few-empty"),
        ([["a"]], 2, "too-few-records"),
        ([["a"], [], []], 2, "too-few-records"),
    ],
)
def test_infeasible_with_the_reason(rows: list[list[str]], k: int, code: str) -> None:
    with pytest.raises(Infeasible) as caught:
        run(rows, FLAT, k)
    assert caught.value.problems[0].code == code
    assert caught.value.problems[0].remedy


def test_infeasible_in_a_forest() -> None:
    forest = Hierarchy.from_parents({"a": None, "b": None})
    with pytest.raises(Infeasible, match="different trees"):
        run([["a"], ["a"], ["b"]], forest, 2)


def test_enough_empty_records_are_a_part_of_their_own() -> None:
    assert release([[], [], []], FLAT, 2) == [()] * 3
    assert release([[], [], ["a"], ["a"]], FLAT, 2) == [(), (), ("a",), ("a",)]


def test_nothing_in_nothing_out() -> None:
    engine, outcome = run([], FLAT, 2)
    assert outcome.recoding.n_groups == 0
    assert len(engine.publish(outcome.recoding)) == 0


def test_weights_decide_what_is_kept() -> None:
    # Either A or B can be told apart, not both: every pair of their children is in two records only.
    tree = Hierarchy.from_parents(
        {"a1": "A", "a2": "A", "b1": "B", "b2": "B", "A": "T", "B": "T", "T": None}
    )
    rows = [["a1", "b1"], ["a1", "b2"], ["a2", "b1"], ["a2", "b2"]] * 2
    engine = LocalEngine.of(Transactions.from_rows(rows), tree)
    for heavy, kept in (("a", ("a1", "a2")), ("b", ("b1", "b2"))):
        weights = {f"{heavy}1": 5, f"{heavy}2": 5}
        cost = make_cost("ncp", engine.hierarchy, weights=weights)
        outcome = partition.anonymize(engine, KAnonymity(4), cost=cost, watch=Watch())
        published = set(engine.publish(outcome.recoding).vocabulary.labels)
        assert published.issuperset(kept)


def test_wrong_guarantee_and_engines_without_rows() -> None:
    engine = LocalEngine.of(Transactions.from_rows([["a"], ["b"]]), FLAT)
    cost = make_cost("ncp", engine.hierarchy)
    with pytest.raises(UsageError, match=r"partition.*does not give"):
        partition.anonymize(engine, KmAnonymity(2, 2), cost=cost, watch=Watch())
    rowless = LoopbackEngine(engine.hierarchy, engine.rows())
    with pytest.raises(UsageError, match="no rows"):
        partition.anonymize(rowless, KAnonymity(2), cost=cost, watch=Watch())


def test_stops_at_the_deadline_and_may_pause_between_strides(monkeypatch: pytest.MonkeyPatch) -> None:
    world = random_world(5, most_rows=40, most_labels=9)
    rows = world.rows * 3
    whole = release(rows, world.hierarchy, 2)
    monkeypatch.setattr(partition, "STRIDE", 1)
    assert release(rows, world.hierarchy, 2) == whole
    engine = LocalEngine.of(Transactions.from_rows(rows), world.hierarchy)
    with pytest.raises(TimeLimit):
        partition.anonymize(
            engine,
            KAnonymity(2),
            cost=make_cost("ncp", engine.hierarchy),
            watch=Watch(time_limit=-1.0),
        )


def test_loss_on_real_clicks() -> None:
    import gzip

    with gzip.open(shared_data("BMS-WebView-2.dat.gz"), "rt") as file:
        rows = [line.split() for line in file]
    tree = shared_data("BMS-WebView-2.hierarchy.synthetic.csv").read_text().splitlines()
    hierarchy = Hierarchy.from_paths(line.split(";") for line in tree)
    engine, outcome = run(rows, hierarchy, 5)
    assert outcome.objective is not None
    cost = make_cost("ncp", engine.hierarchy)
    assert cost.share(outcome.objective.cost, engine.item_counts()) <= 0.0514
    assert np.bincount(outcome.recoding.group_of_record).min() >= 5
