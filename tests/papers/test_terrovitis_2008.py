"""Terrovitis, Mamoulis, Kalnis: Privacy-preserving anonymization of set-valued data (VLDB 2008).

The worked example: Figures 1 to 6 and the walks of sections 4.1 to 4.4.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from setveil.methods import apriori, direct, exhaustive
from setveil.model.costs import make_cost
from setveil.model.guarantees import KmAnonymity
from setveil.progress import Watch
from setveil.release.recoding import Recoding
from setveil.search.count_tree import CountTree, Visit, build_count_tree, counted_nodes
from setveil.search.cuts import WorkingCut, count_cuts, falling_support_rank, next_cuts, node_supports
from tests.oracle import cuts
from tests.oracle.cuts import expand, reduce
from tests.unit.methods.worlds import toy

WORLD = toy()
HIERARCHY = WORLD.hierarchy
ENGINE = WORLD.local()
COST = make_cost("ncp", HIERARCHY)
GUARANTEE = KmAnonymity(k=2, m=2)
METHODS = {"aa": apriori, "da": direct, "oa": exhaustive}


def names(nodes) -> list[str]:
    return [HIERARCHY.labels[node] for node in nodes]


def nodes(*labels: str) -> list[int]:
    return [HIERARCHY.node_of_label[label] for label in labels]


def cut_of(*labels: str) -> Recoding:
    return Recoding.from_cut(HIERARCHY, nodes(*labels))


def full_tree() -> CountTree:
    rank_of_node = falling_support_rank(HIERARCHY, node_supports(ENGINE))
    everything = np.ones(len(HIERARCHY), dtype=np.bool_)
    return build_count_tree(HIERARCHY, WORLD.rows, rank_of_node, everything, range(1, 3), Watch())


def test_figure_1_hierarchy():
    assert HIERARCHY.path("a1") == ("a1", "A", "ALL")
    assert HIERARCHY.path("b2") == ("b2", "B", "ALL")
    assert HIERARCHY.n_leaves == 4


def test_figure_2_the_original_is_not_anonymous_and_the_recoded_is():
    broken = ENGINE.violations(Recoding.identity(HIERARCHY), GUARANTEE)
    assert {tuple(sorted(names(line))) for line in broken.sets} == {("a1", "a2"), ("a1", "b1")}
    recoded = cut_of("A", "b1", "b2")
    assert len(ENGINE.violations(recoded, GUARANTEE)) == 0
    assert sorted(ENGINE.publish(recoded).rows()) == [
        ("A", "b1"),
        ("A", "b1", "b2"),
        ("A", "b1", "b2"),
        ("A", "b2"),
    ]


def test_section_3_1_supports_in_the_recoded_data():
    # {a1, b2} is {A, b2} there, in 3 records; {a1, a2} is {A}, in 4.
    asked = np.array([nodes("A", "b2"), [*nodes("A"), -1]], dtype=np.int32)
    assert ENGINE.supports(asked).tolist() == [3, 4]


def test_figure_3_five_cuts():
    assert count_cuts(HIERARCHY) == 5
    assert {frozenset(names(cut)) for cut in cuts.all_cuts(HIERARCHY)} == {
        frozenset({"a1", "a2", "b1", "b2"}),
        frozenset({"A", "b1", "b2"}),
        frozenset({"a1", "a2", "B"}),
        frozenset({"A", "B"}),
        frozenset({"ALL"}),
    }


def test_figure_4_lattice_of_cuts():
    def above(*labels: str) -> list[frozenset[str]]:
        return [frozenset(names(cut)) for cut in next_cuts(HIERARCHY, frozenset(nodes(*labels)))]

    assert above("a1", "a2", "b1", "b2") == [
        frozenset({"A", "b1", "b2"}),
        frozenset({"a1", "a2", "B"}),
    ]
    assert above("A", "b1", "b2") == [frozenset({"A", "B"})]
    assert above("a1", "a2", "B") == [frozenset({"A", "B"})]
    assert above("A", "B") == [frozenset({"ALL"})]
    assert above("ALL") == []


def test_section_3_3_ncp():
    node_a = HIERARCHY.node_of_label["A"]
    assert Fraction(int(COST.unit_by_node[node_a]), COST.scale) == Fraction(2, 4)
    cut = WorkingCut(HIERARCHY, COST, ENGINE.item_counts())
    assert cut.cost == 0
    assert COST.share(cut.added_cost(node_a), ENGINE.item_counts()) == Fraction(5, 2) / 11
    cut.raise_to(node_a)
    assert COST.share(cut.cost, ENGINE.item_counts()) == Fraction(5, 2) / 11


def test_section_4_1_order_by_falling_frequency():
    rank_of_node = falling_support_rank(HIERARCHY, node_supports(ENGINE))
    assert names(np.argsort(rank_of_node)) == ["A", "ALL", "B", "a2", "b1", "b2", "a1"]
    # ALL ties with A and B at 4; the paper lists it first and then leaves it out of the tree.
    assert names(np.flatnonzero(~counted_nodes(HIERARCHY))) == ["ALL"]
    assert names([full_tree().nodes(path)[0] for path in range(len(full_tree()))][0:1]) == ["A"]


def test_figure_5_count_tree():
    tree = full_tree()
    paths = {
        "-".join(names(tree.nodes(path))): int(tree.support_by_path[path]) for path in range(len(tree))
    }
    assert list(paths.items()) == [
        ("A", 4),
        ("A-B", 4),
        ("A-b1", 3),
        ("A-b2", 3),
        ("B", 4),
        ("B-a2", 3),
        ("B-a1", 2),
        ("a2", 3),
        ("a2-b1", 2),
        ("a2-b2", 2),
        ("a2-a1", 1),
        ("b1", 3),
        ("b1-b2", 2),
        ("b1-a1", 1),
        ("b2", 3),
        ("b2-a1", 2),
        ("a1", 2),
    ]
    assert tree.n_nodes == 17
    assert tree.support(nodes("a1")) == 2
    assert tree.support(nodes("A", "b2")) == 3
    assert tree.support(nodes("b2", "A")) == 3


def test_figure_6_expanded_database():
    expanded = [sorted(names(expand(HIERARCHY, row))) for row in WORLD.sets]
    assert expanded == [
        ["A", "B", "a1", "b1", "b2"],
        ["A", "B", "a2", "b1"],
        ["A", "B", "a2", "b1", "b2"],
        ["A", "B", "a1", "a2", "b2"],
    ]


def test_section_4_1_itemsets_of_t2():
    rank_of_node = falling_support_rank(HIERARCHY, node_supports(ENGINE))
    everything = np.ones(len(HIERARCHY), dtype=np.bool_)
    t2 = WORLD.rows.take(np.array([1], dtype=np.int64))
    tree = build_count_tree(HIERARCHY, t2, rank_of_node, everything, range(1, 3), Watch())
    assert {frozenset(names(tree.nodes(path))) for path in range(len(tree))} == {
        frozenset(labels)
        for labels in (
            {"a2"}, {"b1"}, {"A"}, {"B"}, {"a2", "b1"}, {"a2", "B"}, {"b1", "A"}, {"A", "B"}
        )
    }  # fmt: skip


@pytest.mark.parametrize("method", METHODS)
def test_oa_da_and_aa_return_the_same_cut(method: str):
    outcome = METHODS[method].anonymize(ENGINE, GUARANTEE, cost=COST, watch=Watch())
    assert names(outcome.recoding.cut()) == ["A", "b1", "b2"]
    assert outcome.objective is not None
    assert COST.share(outcome.objective.cost, ENGINE.item_counts()) == Fraction(5, 2) / 11
    assert outcome.objective.proven == (method == "oa")


def test_section_4_2_oa_checks_the_cuts_in_breadth():
    outcome = exhaustive.anonymize(ENGINE, GUARANTEE, cost=COST, watch=Watch())
    # No generalization fails, {A,b1,b2} holds and marks {A,B}; {a1,a2,B} fails, its ancestor is in H.
    assert outcome.figures["cuts_checked"] == 3


def test_section_4_3_walk_of_da():
    visits: list[Visit] = []
    direct.anonymize(ENGINE, GUARANTEE, cost=COST, watch=Watch(), listener=visits.append)
    story = [
        ("-".join(names(visit.nodes)), visit.verdict, tuple(names(visit.risen))) for visit in visits
    ]
    first_rare = next(place for place, (_, verdict, _) in enumerate(story) if verdict == "rare")
    assert story[first_rare] == ("a2-a1", "rare", ("A",))
    assert all(verdict == "fine" for _, verdict, _ in story[:first_rare])
    assert story[first_rare + 1 :] == [
        ("b1-b2", "fine", ()),
        ("b1-a1", "skipped", ()),
        ("b2-a1", "skipped", ()),
        ("a1", "skipped", ()),
    ]


def test_section_4_4_second_loop_of_aa_reduces_t4():
    cut = WorkingCut(HIERARCHY, COST, ENGINE.item_counts())
    cut.raise_to(HIERARCHY.node_of_label["A"])
    expanded = expand(HIERARCHY, WORLD.sets[3])
    assert sorted(names(expanded)) == ["A", "B", "a1", "a2", "b2"]
    assert sorted(names(reduce(expanded, cut.in_force_by_node()))) == ["A", "B", "b2"]


def test_section_4_4_both_paths_of_aa():
    reference = apriori.anonymize(ENGINE, GUARANTEE, cost=COST, watch=Watch(), path="reference")
    fast = apriori.anonymize(ENGINE, GUARANTEE, cost=COST, watch=Watch())
    assert reference.recoding.cut().tolist() == fast.recoding.cut().tolist()
    # Loop 2's tree: the 11 pairs of Figure 5 and their 5 first nodes.
    assert reference.figures["count_tree_nodes"] == 16
