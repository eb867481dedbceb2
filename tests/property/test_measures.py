"""Every measure against its twin in the oracle, and the laws they keep, on small random data.

Recodings of all kinds: cuts, cuts with suppression, and local ones with another antichain a group.
"""

from __future__ import annotations

import math
from fractions import Fraction
from random import Random

import numpy as np
import pytest

from setveil.hierarchy.tree import Hierarchy
from setveil.kernels.supports import estimate_supports
from setveil.measure.branches import branch_losses
from setveil.measure.catalogue import NAMES, chosen, score
from setveil.measure.queries import query_errors, random_workload, workload_of
from setveil.measure.scores import discernibility_sum
from setveil.model.transactions import Rows, bind
from setveil.release.recoding import BeforeAfter, Recoding
from tests.oracle import losses
from tests.oracle.losses import Case
from tests.oracle.worlds import random_world

SEEDS = range(120)
ABOUT_WHAT_IS_PUBLISHED = ("itemset_precision", "label_recall", "label_support_error")
"""Measures that ask whether what is published is true: where nothing is, nothing is wrong."""


def random_antichain(random: Random, hierarchy: Hierarchy, suppress: float) -> list[int]:
    """Return an antichain by a walk down from the roots that stops, or leaves out, by chance."""
    found: list[int] = []
    stack = list(hierarchy.roots)
    while stack:
        node = stack.pop()
        children = hierarchy.children[node]
        if children and random.random() < 0.6:
            stack += children
        elif random.random() >= suppress:
            found.append(node)
    return found


def random_case(seed: int) -> tuple[BeforeAfter, Case, Random]:
    """Return a pair and the same for the oracle; half of them local, some with suppression."""
    world = random_world(seed, roots=1 + seed % 2, empty=seed % 3 == 0)
    random = Random(seed)
    hierarchy, rows = bind(world.transactions, world.hierarchy)
    suppress = (0.0, 0.3)[seed % 4 > 1]
    if random.random() < 0.5:
        recoding = Recoding.from_cut(hierarchy, random_antichain(random, hierarchy, suppress))
        groups = [0] * len(rows)
    else:
        cuts = [random_antichain(random, hierarchy, suppress) for _ in range(3)]
        groups = [random.randrange(3) for _ in range(len(rows))]
        recoding = Recoding.by_group(hierarchy, cuts, np.array(groups, dtype=np.int32))
    labels = hierarchy.labels
    published_as = []
    for group in groups:
        nodes = recoding.node_of_leaf(group).tolist()
        published_as.append({labels[x]: labels[node] for x, node in enumerate(nodes) if node >= 0})
    case = Case(hierarchy, [frozenset(row) for row in world.rows], published_as)
    return BeforeAfter(recoding, rows), case, random


def random_queries(random: Random, hierarchy: Hierarchy) -> list[list[str]]:
    return [random.sample(hierarchy.labels, min(1 + q % 3, len(hierarchy))) for q in range(12)]


def lowest(hierarchy: Hierarchy, query: list[str]) -> list[str]:
    """Return the labels that are above no other of the query."""
    return [
        label for label in query if not any(label in hierarchy.path(x) for x in query if x != label)
    ]


@pytest.mark.parametrize("seed", SEEDS)
def test_counted_measures_are_those_of_the_oracle(seed: int) -> None:
    pair, case, _ = random_case(seed)
    n = len(case.rows)
    found = score(pair)
    assert found["discernibility_sum"] == losses.discernibility(case)
    assert found["discernibility"] == Fraction(losses.discernibility(case), n * n)
    occurrences = [
        (item, cut.get(item))
        for row, cut in zip(case.rows, case.published_as, strict=True)
        for item in row
    ]
    gone = [item for item, shown in occurrences if shown is None]
    assert found["suppressed"] == Fraction(len(gone), len(occurrences))
    assert found["suppressed_items"] == Fraction(len(set(gone)), len({x for x, _ in occurrences}))
    assert found["unchanged"] == Fraction(sum(x == y for x, y in occurrences), len(occurrences))
    emptied = sum(bool(x) and not y for x, y in zip(case.rows, case.published, strict=True))
    assert found["emptied_records"] == Fraction(emptied, sum(map(bool, case.rows)))
    for name in ("ncp", "lm"):
        lost = losses.occurrence_losses(case, name)
        assert found[name] == sum(loss for _, loss in lost) / len(lost)


@pytest.mark.parametrize("seed", SEEDS)
def test_branches_add_up_and_are_those_of_the_oracle(seed: int) -> None:
    pair, case, _ = random_case(seed)
    found = branch_losses(pair)
    tree = pair.hierarchy
    branches = list(found)
    for name in ("ncp", "lm"):
        lost = losses.occurrence_losses(case, name)
        assert found.total(name) == score(pair, [name])[name]
        for node, branch in enumerate(branches):
            own = [loss for item, loss in lost if item in case.leaves(branch.label)]
            assert branch.losses[name] == sum(own, Fraction(0)) / len(lost)
            assert branch.own_losses[name] == sum(own, Fraction(0)) / len(own)
            assert branch.occurrences == len(own)
            below = [branches[child] for child in tree.children[node]]
            if below:
                assert branch.losses[name] == sum(b.losses[name] for b in below)
                assert branch.shares[name] == sum(b.shares[name] for b in below)
        for depth in range(tree.height + 1):
            level = [branches[node] for node in found.level(depth)]
            assert sum(b.losses[name] for b in level) == found.total(name)
        assert sum(b.losses[name] for b in found.worst_items(99, name=name)) == found.total(name)
        assert sum(b.losses[name] for b in found.worst_branches(99, name=name)) == found.total(name)
    for node, branch in enumerate(branches):
        below = [branches[child] for child in tree.children[node]]
        for count in ("occurrences", "suppressed", "unchanged"):
            assert not below or getattr(branch, count) == sum(getattr(b, count) for b in below)


@pytest.mark.parametrize("seed", SEEDS)
def test_queries_are_answered_as_by_the_oracle(seed: int) -> None:
    pair, case, random = random_case(seed)
    queries = random_queries(random, pair.hierarchy)
    for threads in (1, 3):
        found = query_errors(pair, workload_of(queries, pair.hierarchy), threads=threads)
        for place, query in enumerate(queries):
            asked = lowest(pair.hierarchy, query)
            assert found.true_by_query[place] == losses.true_count(case, query)
            assert math.isclose(
                found.estimate_by_query[place], losses.estimated_count(case, asked), abs_tol=1e-9
            )
    assert (found.error_by_query >= 0).all()
    assert sum(count for _, count in found.histogram) == len(queries)
    errors = sorted(found.error_by_query.tolist())
    assert found.quantile(100) == errors[-1]
    assert all(sum(e <= found.quantile(q) for e in errors) * 100 >= q * len(errors) for q in (50, 90))


def test_the_empty_set_is_in_every_record() -> None:
    sets = np.full((1, 2), -1, dtype=np.int32)
    parent, leaf_count = np.array([-1], dtype=np.int32), np.array([1], dtype=np.int64)
    for weights in ([], [3, 4]):
        indptr = np.zeros(len(weights) + 1, dtype=np.int64)
        data = (indptr, np.zeros(0, dtype=np.int32), np.array(weights, dtype=np.int64))
        assert estimate_supports(sets, *data, parent, leaf_count).tolist() == [sum(weights)]
        assert estimate_supports(sets[:0], *data, parent, leaf_count).tolist() == []


@pytest.mark.parametrize("seed", SEEDS)
def test_random_queries_fit_their_description(seed: int) -> None:
    pair, case, _ = random_case(seed)
    drawn = random_workload(pair, 30, size=3)
    roots = {case.hierarchy.labels[root] for root in case.hierarchy.roots}
    assert drawn.queries() == random_workload(pair, 30, size=3).queries()
    for query in drawn.queries():
        assert 1 <= len(query) <= 3
        assert losses.true_count(case, query) > 0
        assert not roots - set(case.hierarchy.labels[: case.hierarchy.n_leaves]) & set(query)
    anywhere = random_workload(pair, 30, size=3, drawn_from="items")
    assert all(1 <= len(query) <= 3 for query in anywhere.queries())


@pytest.mark.parametrize("seed", SEEDS)
def test_publishing_all_loses_nothing_and_nothing_loses_all(seed: int) -> None:
    pair, case, _ = random_case(seed)
    tree, rows = pair.hierarchy, pair.rows
    same, none = (
        BeforeAfter(Recoding.identity(tree), rows),
        BeforeAfter(Recoding.from_cut(tree, []), rows),
    )
    for measure in chosen("all"):
        if measure.name.startswith("discernibility"):
            continue
        best, worst = (0, 1) if measure.goal == "lower" else (1, 0)
        assert measure.compute(same) == best, measure.name
        if measure.name.startswith("dml2"):
            assert measure.compute(none) >= worst, measure.name
        elif measure.name not in ABOUT_WHAT_IS_PUBLISHED:
            assert measure.compute(none) == worst, measure.name
    n = len(rows)
    alike = sum(one == other for one in case.rows for other in case.rows)
    assert discernibility_sum(same) == alike
    assert discernibility_sum(none) == n * n


def _coarser(hierarchy: Hierarchy, cut: list[int], random: Random) -> list[int]:
    """Return the cut with one node, and all beside it, raised to the parent."""
    above = [int(hierarchy.parent[node]) for node in cut if hierarchy.parent[node] >= 0]
    if not above:
        return cut
    raised = random.choice(above)
    return [raised, *(node for node in cut if not hierarchy.covers(raised, node))]


@pytest.mark.parametrize("seed", SEEDS)
def test_a_coarser_cut_never_loses_less(seed: int) -> None:
    pair, _, random = random_case(seed)
    tree = pair.hierarchy
    names = ("ncp", "lm", "discernibility", "suppressed")
    cut = list(range(tree.n_leaves))
    before = score(BeforeAfter(Recoding.from_cut(tree, cut), pair.rows), names)
    for _ in range(2 * len(tree)):
        cut = _coarser(tree, cut, random)
        after = score(BeforeAfter(Recoding.from_cut(tree, cut), pair.rows), names)
        assert all(after[name] >= before[name] for name in names)
        before = after
    while cut:
        cut.pop(random.randrange(len(cut)))
        after = score(BeforeAfter(Recoding.from_cut(tree, cut), pair.rows), names)
        assert all(after[name] >= before[name] for name in names)
        before = after


@pytest.mark.parametrize("seed", SEEDS)
def test_ranges_hold(seed: int) -> None:
    pair, _, _ = random_case(seed)
    found = score(pair, "all")
    assert tuple(found) == NAMES
    for entry in found.scores:
        low, high = entry.measure.range
        assert entry.value >= low
        assert high is None or entry.value <= high


def test_data_without_an_item_lose_nothing() -> None:
    tree = Hierarchy.from_parents({})
    for n in (0, 2):
        rows = Rows(np.zeros(n + 1, dtype=np.int64), np.zeros(0, dtype=np.int32))
        found = score(BeforeAfter(Recoding.identity(tree), rows))
        assert found["ncp"] == found["suppressed"] == found["emptied_records"] == 0
        assert found["unchanged"] == 1
        assert found["discernibility_sum"] == n * n
