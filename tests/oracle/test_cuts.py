from __future__ import annotations

from setveil.hierarchy.tree import Hierarchy
from setveil.model.costs import make_cost

from . import cuts

TOY = Hierarchy.from_parents(
    {"a1": "A", "a2": "A", "b1": "B", "b2": "B", "A": "ALL", "B": "ALL", "ALL": None}
)
ROWS = [frozenset(row) for row in ((0, 2, 3), (1, 2), (1, 2, 3), (0, 1, 3))]


def named(cut: frozenset[int]) -> set[str]:
    return {TOY.labels[node] for node in cut}


def test_the_toy_hierarchy_has_five_cuts():
    assert sorted(sorted(named(cut)) for cut in cuts.all_cuts(TOY)) == [
        ["A", "B"],
        ["A", "b1", "b2"],
        ["ALL"],
        ["B", "a1", "a2"],
        ["a1", "a2", "b1", "b2"],
    ]


def test_a_forest_multiplies_and_a_unary_chain_adds():
    forest = Hierarchy.from_parents({"a": "A", "A": "AA", "AA": None, "b": "B", "B": None, "c": None})
    assert len(set(cuts.all_cuts(forest))) == 3 * 2 * 1


def test_best_cut_of_the_toy():
    cost = make_cost("ncp", TOY)
    assert cuts.least_cost(TOY, ROWS, 2, 2, cost) == 2 * 2 + 3 * 2  # a1 twice, a2 thrice, |A| = 2
    assert cuts.least_cost(TOY, ROWS, 5, 1, cost) is None


def test_repairs_of_a_pair():
    found = cuts.repairs(TOY, ROWS, (0, 2), 2)
    assert {frozenset(named(way)) for way in found} == {
        frozenset({"A", "b1"}),
        frozenset({"A", "B"}),
        frozenset({"a1", "B"}),
        frozenset({"ALL"}),
    }


def test_rare_sets_above_the_identity():
    found = cuts.rare_at_or_above(TOY, ROWS, frozenset({0, 1, 2, 3}), 2, 2)
    assert {frozenset(named(nodes)) for nodes in found} == {
        frozenset({"a1", "a2"}),
        frozenset({"a1", "b1"}),
    }
