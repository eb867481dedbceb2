"""Liu, Wang: Anonymizing transaction data by integrating suppression and generalization (PAKDD 2010).

The running example: Figure 1, the searches of Figure 2, the threats of section 4.1, the rounds of 4.2.
The figures' drawings are not needed: this taxonomy reproduces every number of the text.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import setveil as sv
from setveil.methods import apriori, moles, optimal, partition, topdown
from setveil.methods.topdown import CutSearch, Taxonomy, threats_by_levels, threats_of_all_cuts
from setveil.model.costs import make_cost
from setveil.model.guarantees import Coherence, KAnonymity, KmAnonymity
from setveil.progress import Watch
from setveil.release.recoding import Recoding
from tests.oracle.promises import is_km_anonymous
from tests.oracle.worlds import all_cuts, generalize
from tests.unit.methods.worlds import world_of

CHILDREN = {"T": "PQei", "P": "HK", "H": "ab", "K": "cd", "Q": "JM", "J": "fg", "M": "xyz"}
PARENTS: dict[str, str | None] = {
    **{child: above for above, below in CHILDREN.items() for child in below},
    "T": None,
}
ROWS = ["bcd", "afg", "dfyz", "cdfx", "abcfg", "ei", "e", "i"]
WORLD = world_of(PARENTS, [list(row) for row in ROWS])
HIERARCHY, ENGINE = WORLD.hierarchy, WORLD.local()
COST = make_cost("lm", HIERARCHY)
LONGEST = 5
"""m unbounded is m = the longest record."""
GUARANTEE = KmAnonymity(2, LONGEST)
THREATS = [
    *("x", "y", "z"),
    *("Hd", "Jb", "Ka", "Kg", "Mc", "Qb", "ab", "ac", "bd", "bf", "bg", "cg", "ei"),
    *("HJK", "HJc", "HKQ", "HKf", "HQc", "Hcf", "Jcd", "Qcd", "cdf"),
]


def named(nodes) -> set[str]:
    return {HIERARCHY.labels[node] for node in nodes if node >= 0}


def taxonomy() -> Taxonomy:
    return Taxonomy.above(HIERARCHY, np.arange(HIERARCHY.n_leaves, dtype=np.int32))


def search(*steps: str) -> CutSearch:
    """Return the search at the cut that these steps lead to."""
    threats = threats_of_all_cuts(ENGINE, taxonomy().nodes, 2, LONGEST, most=1000)
    at = CutSearch(taxonomy(), threats, COST, ENGINE.item_counts())
    for label in steps:
        at.descend(HIERARCHY.node_of_label[label])
    return at


def lm(cost: int) -> Fraction:
    return Fraction(cost, COST.scale)


def run(method, m: int = LONGEST, engine=ENGINE):
    outcome = method(engine, KmAnonymity(2, m), cost=COST, watch=Watch())
    return named(outcome.recoding.cut()), lm(outcome.objective.cost)


def test_the_data_have_23_occurrences_of_11_items():
    assert HIERARCHY.n_leaves == 11
    assert ENGINE.item_counts().sum() == 23


@pytest.mark.parametrize(
    ("steps", "cut", "suppressed", "cost"),
    [
        ("", "T", "", "23"),
        ("T", "PQei", "i", "8.6"),
        ("TP", "HKQei", "Hi", "10.2"),
        ("TQ", "PJMei", "i", "6.2"),
        ("TQJ", "PfgMei", "i", "5.6"),
    ],
)
def test_figure_2_costs_of_the_five_cuts(steps, cut, suppressed, cost):
    at = search(*steps)
    assert named(at.cut) == set(cut)
    assert named(at.suppressed) == set(suppressed)
    assert lm(at.cost) == Fraction(cost)


def test_section_2_generalization_and_suppression_add_up():
    at = search("T", "Q", "J")
    weights = COST.weight_by_node(HIERARCHY, ENGINE.item_counts())
    assert lm(weights[at.cut].sum()) == Fraction("3.6")
    assert lm(at.cost) - Fraction("3.6") == 2
    assert lm(weights[search("T").cut].sum()) == Fraction("6.6")


def test_figure_2_no_child_of_the_last_cut_costs_less():
    assert all(added >= 0 for _, added in search("T", "Q", "J").steps())
    assert {HIERARCHY.labels[node]: lm(added) for node, added in search("T").steps()} == {
        "P": Fraction("10.2") - Fraction("8.6"),
        "Q": Fraction("6.2") - Fraction("8.6"),
    }


def test_figure_2b_the_scenario_keeps_q_k_and_e():
    at = search("T", "P")
    assert named(at.kept) == {"Q", "K", "e"}
    weights = COST.weight_by_node(HIERARCHY, ENGINE.item_counts())
    occurrences = {"Q": 9, "K": 6, "H": 4, "e": 2, "i": 2}
    costs = {
        label: occurrences[label] - lm(int(weights[HIERARCHY.node_of_label[label]]))
        for label in occurrences
    }
    assert costs["Q"] == costs["K"] == Fraction("5.4")  # a tie
    assert costs["H"] == Fraction("3.6")
    assert costs["e"] == costs["i"] == 2  # the smaller label is kept


def test_section_4_1_the_25_minimal_threats_of_all_cuts():
    found = threats_of_all_cuts(ENGINE, taxonomy().nodes, 2, LONGEST, most=1000)
    assert len(found) == 25
    assert {frozenset(named(line)) for line in found} == {frozenset(threat) for threat in THREATS}
    by_levels = threats_by_levels(WORLD.loopback(), taxonomy().nodes, 2, LONGEST)
    assert {frozenset(named(line)) for line in by_levels} == {frozenset(line) for line in THREATS}


def test_section_4_1_threats_of_one_cut_are_what_is_rare_in_it():
    cut = set("HKQei")
    relevant = {frozenset(threat) for threat in THREATS if set(threat) <= cut}
    assert relevant == {frozenset("HKQ"), frozenset("ei")}
    recoding = Recoding.from_cut(HIERARCHY, [HIERARCHY.node_of_label[label] for label in cut])
    assert {frozenset(named(line)) for line in ENGINE.violations(recoding, GUARANTEE).sets} == relevant


def test_hghs_ends_where_the_paper_says():
    for engine in (ENGINE, WORLD.loopback()):
        kept, cost = run(topdown.anonymize, engine=engine)
        assert kept == set("PfgMe")
        assert cost == Fraction("5.6")


def test_hghs_gives_the_last_column_of_figure_1a():
    release = sv.anonymize(
        sv.Transactions.from_rows(map(tuple, ROWS)),
        GUARANTEE,
        hierarchy=HIERARCHY,
        method="hghs",
        cost="lm",
    )
    after = {leaf: HIERARCHY.labels[node] for leaf, node in _published(release.recoding).items()}
    shown = [{after[item] for item in row if item in after} for row in ROWS]
    assert shown == [set(row) for row in ("P", "Pfg", "PfM", "PfM", "Pfg", "e", "e", "")]
    # One record has nothing left, fewer than k = 2: it is not published.
    assert release.records == 7 and len(release.dropped) == 1


def _published(recoding: Recoding) -> dict[str, int]:
    nodes = recoding.node_of_leaf().tolist()
    return {HIERARCHY.labels[leaf]: node for leaf, node in enumerate(nodes) if node >= 0}


@pytest.mark.parametrize(
    ("m", "kept", "cost"),
    [
        (1, "abcdfgMei", "0.6"),
        (2, "HJKMe", "4.2"),
        (3, "PJMe", "6.2"),
        (4, "PJMe", "6.2"),
        (5, "PJMe", "6.2"),
    ],
)
def test_mhghs_runs_as_its_procedure_does(m, kept, cost):
    # The paper ends at {P,f,g,M,e,i} with i suppressed (5.6), where its own rounds do not lead:
    # round 2 takes J, so that f and g are gone from round 3 on.
    assert run(topdown.anonymize_rounds, m) == (set(kept), Fraction(cost))


def test_mhghs_round_2_takes_the_best_of_all_cuts_so_the_papers_end_cannot_be_reached():
    pairs = KmAnonymity(2, 2)
    below_first = {"x", "y", "z"}
    best: dict[frozenset[str], Fraction] = {}
    for cut in all_cuts(HIERARCHY):
        labels = frozenset(cut.values())
        if labels & below_first:
            continue
        nodes = [HIERARCHY.node_of_label[label] for label in labels]
        shown = Recoding.from_cut(HIERARCHY, nodes)
        rare = [frozenset(named(line)) for line in ENGINE.violations(shown, pairs).sets]
        best[labels] = _with_scenario(labels, rare)
    assert len(best) == 16
    assert min(best.values()) == Fraction("4.2")
    assert [cut for cut, cost in best.items() if cost == Fraction("4.2")] == [frozenset("HJKMei")]
    assert best[frozenset("PfgMei")] == Fraction("5.6")


def _with_scenario(cut: frozenset[str], rare: list[frozenset[str]]) -> Fraction:
    """Return what a cut costs with its suppression scenario, tried node by node."""
    weights = COST.weight_by_node(HIERARCHY, ENGINE.item_counts())
    counts = ENGINE.item_counts()
    cost_if_kept, cost_if_gone = {}, {}
    for label in cut:
        node = HIERARCHY.node_of_label[label]
        cost_if_kept[label] = lm(int(weights[node]))
        below = counts[HIERARCHY.first_leaf[node] : HIERARCHY.end_leaf[node]]
        cost_if_gone[label] = Fraction(int(below.sum()))
    kept: set[str] = set()
    for label in sorted(cut, key=lambda x: (cost_if_kept[x] - cost_if_gone[x], x)):
        if not any(threat <= kept | {label} for threat in rare):
            kept.add(label)
    return sum((cost_if_kept[x] if x in kept else cost_if_gone[x] for x in cut), start=Fraction(0))


def test_hkjm_with_its_suppression_costs_7_8_without_a_bound_on_m():
    assert lm(search("T", "P", "Q").cost) == Fraction("7.8")


def test_figure_1a_total_item_suppression():
    for guarantee in (GUARANTEE, Coherence(100, 2, LONGEST)):
        outcome = moles.anonymize(ENGINE, guarantee, cost=COST, watch=Watch())
        assert set("abcdefgixyz") - named(outcome.recoding.cut()) == set("bcixyz")
        assert lm(outcome.objective.cost) == 10
    shown = [frozenset(row) - set("bcixyz") for row in ROWS]
    assert shown == [frozenset(row) for row in ("d", "afg", "df", "df", "afg", "e", "e", "")]
    assert is_km_anonymous(shown, 2, LONGEST)


@pytest.mark.parametrize("method", [apriori, optimal])
def test_figure_1a_global_generalization_has_only_the_root(method):
    # e and i are in one record together, so without suppression everything goes to the top.
    outcome = method.anonymize(ENGINE, GUARANTEE, cost=COST, watch=Watch())
    assert named(outcome.recoding.cut()) == {"T"}
    valid = [cut for cut in all_cuts(HIERARCHY) if is_km_anonymous(_rows(cut), 2, LONGEST)]
    assert [set(cut.values()) for cut in valid] == [{"T"}]


def _rows(cut: dict[str, str]) -> list[frozenset[str]]:
    return generalize([list(row) for row in ROWS], cut)


def test_figure_1a_local_generalization_up_to_ties():
    outcome = partition.anonymize(ENGINE, KAnonymity(2), cost=COST, watch=Watch())
    groups = outcome.recoding.group_of_record
    shown = []
    for record, row in enumerate(ROWS):
        node_of_leaf = outcome.recoding.node_of_leaf(int(groups[record]))
        shown.append(named(node_of_leaf[HIERARCHY.node_of_label[item]] for item in row))
    assert shown[1] == shown[4] == {"P", "f", "g"}
    assert shown[2] == shown[3] == {"K", "f", "M"}
    assert shown[0] == shown[5] == shown[6] == shown[7] == {"T"}


def test_domain_exclusiveness_is_lost_only_by_local_generalization():
    local = partition.anonymize(ENGINE, KAnonymity(2), cost=COST, watch=Watch()).recoding
    everywhere = {node for group in range(local.n_groups) for node in local.cut(group).tolist()}
    labels = {HIERARCHY.labels[node] for node in everywhere}
    assert {"T", "P", "K"} <= labels
    for method in (topdown.anonymize, topdown.anonymize_rounds, moles.anonymize):
        recoding = method(ENGINE, GUARANTEE, cost=COST, watch=Watch()).recoding
        assert recoding.is_global
        covered = [
            leaf
            for node in recoding.cut().tolist()
            for leaf in range(HIERARCHY.first_leaf[node], HIERARCHY.end_leaf[node])
        ]
        assert len(covered) == len(set(covered))
