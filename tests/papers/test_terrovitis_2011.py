"""Terrovitis, Mamoulis, Kalnis: Local and global recoding methods for anonymizing set-valued data
(VLDB Journal 2011).

What this paper adds to the one of 2008: Table 1 and Figure 7 (Gray order), sections 4.5 (LRA) and 4.6
(VPA), the examples of section 5 (negative knowledge, l^m-diversity), and ML2 and dML2 (sections 3.3
and 6).
"""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from setveil.engines.local import LocalEngine
from setveil.errors import Infeasible
from setveil.hierarchy.tree import Hierarchy
from setveil.measure.mining import MiningLoss, mining_losses, ml2_measures
from setveil.methods import apriori, local, optimal, partition, vertical
from setveil.model.costs import make_cost
from setveil.model.guarantees import KAnonymity, KmAnonymity, LmDiversity
from setveil.model.transactions import Transactions, bind
from setveil.progress import Watch
from setveil.release.recoding import BeforeAfter, Recoding
from setveil.search.parts import chunk_bounds, combinations_by_record, gray_order, gray_rank
from tests.oracle.promises import (
    is_k_anonymous,
    is_lm_diverse,
    is_negative_km_anonymous,
    support,
    worst_share,
)

PARENTS = {"a1": "A", "a2": "A", "b1": "B", "b2": "B", "A": "ALL", "B": "ALL", "ALL": None}
FIGURE_1 = Hierarchy.from_parents(PARENTS)
FIGURE_2A = [["a1", "b1", "b2"], ["a2", "b1"], ["a2", "b1", "b2"], ["a1", "a2", "b2"]]


def engine_of(rows: list[list[str]], hierarchy: Hierarchy) -> LocalEngine:
    return LocalEngine.of(Transactions.from_rows(rows), hierarchy)


def bits_of(rows: list[list[str]], hierarchy: Hierarchy) -> list[str]:
    """The records as bit strings, the last leaf first."""
    leaves = hierarchy.labels[: hierarchy.n_leaves]
    return ["".join("01"[leaf in row] for leaf in reversed(leaves)) for row in rows]


def test_table_1_gray_codes_of_0_to_7() -> None:
    codes = ["000", "001", "011", "010", "110", "111", "101", "100"]
    ranks = [gray_rank([bit for bit in range(3) if code[2 - bit] == "1"]) for code in codes]
    assert ranks == list(range(8))


def test_figure_7_gray_order() -> None:
    engine = engine_of(FIGURE_2A, FIGURE_1)
    assert bits_of(FIGURE_2A, engine.hierarchy) == ["1101", "0110", "1110", "1011"]
    rows = engine.rows()
    ranks = [
        gray_rank(rows.leaves[rows.indptr[record] : rows.indptr[record + 1]].tolist())
        for record in range(4)
    ]
    assert ranks == [9, 4, 11, 13]
    assert gray_order(rows, 4).tolist() == [1, 0, 2, 3]


def test_section_4_5_1_neighbours_in_the_order_differ_in_one_item() -> None:
    # All sixteen records over four items: the order is the Gray sequence itself.
    everything = [
        [label for bit, label in enumerate(("a1", "a2", "b1", "b2")) if n >> bit & 1] for n in range(16)
    ]
    engine = engine_of(everything, FIGURE_1)
    in_order = [set(everything[record]) for record in gray_order(engine.rows(), 4)]
    assert in_order[0] == set()
    assert [len(one ^ other) for one, other in pairwise(in_order)] == [1] * 15


def test_section_4_5_1_chunks_have_about_equal_numbers_of_combinations() -> None:
    # Single items and pairs: 6, 3, 6, 6 in the records, 3, 6, 6, 6 in Gray order.
    rows = engine_of(FIGURE_2A, FIGURE_1).rows()
    weights = combinations_by_record(rows, 2)
    assert weights.tolist() == [6, 3, 6, 6]
    order = gray_order(rows, 4)
    assert chunk_bounds(rows, order, weights, 2, 0, 1).tolist() == [0, 3, 4]
    assert chunk_bounds(rows, order, weights, 3, 0, 1).tolist() == [0, 2, 3, 4]


def test_section_4_5_2_a_border_moves_to_the_largest_hamming_distance() -> None:
    # In Gray order t2, t1, t3, t4: successive records differ in 3, 2 and 2 items.
    rows = engine_of(FIGURE_2A, FIGURE_1).rows()
    order, weights = gray_order(rows, 4), combinations_by_record(rows, 2)
    in_order = [set(FIGURE_2A[record]) for record in order]
    assert [len(one ^ other) for one, other in pairwise(in_order)] == [
        3,
        2,
        2,
    ]
    assert chunk_bounds(rows, order, weights, 2, 1, 1).tolist() == [0, 3, 4]
    assert chunk_bounds(rows, order, weights, 2, 2, 1).tolist() == [0, 1, 4]
    # Not where a chunk would have fewer than k records.
    assert chunk_bounds(rows, order, weights, 2, 2, 2).tolist() == [0, 2, 4]


def test_section_4_5_local_recoding_generalizes_in_one_part_only() -> None:
    # o1 and o2 twice each in D1, 0 and 4 times in D2, k=3.
    hierarchy = Hierarchy.from_parents({"o1": "g", "o2": "g", "g": None})
    rows = [["o1"]] * 2 + [["o2"]] * 6
    engine = engine_of(rows, hierarchy)
    cost = make_cost("ncp", engine.hierarchy)
    outcome = local.anonymize(engine, KmAnonymity(3, 1), cost=cost, watch=Watch(), parts=2, f=0)
    assert outcome.recoding.group_of_record is not None
    assert np.bincount(outcome.recoding.group_of_record).tolist() == [4, 4]
    assert list(engine.publish(outcome.recoding).rows()) == [("g",)] * 4 + [("o2",)] * 4
    # A global recoding has to take all eight up.
    everywhere = apriori.anonymize(engine, KmAnonymity(3, 1), cost=cost, watch=Watch())
    assert list(engine.publish(everywhere.recoding).rows()) == [("g",)] * 8


def test_section_4_5_a_safe_combination_may_be_rare_in_every_part() -> None:
    # 2k - 2 times in all, k - 1 times in each half: generalized, though the whole was safe.
    hierarchy = Hierarchy.from_parents({"c": "g", "d": "g", "e": "g", "g": None})
    rows = [["c", "d"]] * 2 + [["d"]] * 2 + [["c", "e"]] * 2 + [["e"]] * 2
    engine = engine_of(rows, hierarchy)
    cost = make_cost("ncp", engine.hierarchy)
    k = 3
    assert support(rows, ["c"]) == 2 * k - 2
    whole = apriori.anonymize(engine, KmAnonymity(k, 1), cost=cost, watch=Watch())
    parts = local.anonymize(engine, KmAnonymity(k, 1), cost=cost, watch=Watch(), parts=2, f=0)
    assert whole.objective is not None
    assert whole.objective.cost == 0
    assert parts.objective is not None
    assert parts.objective.cost > 0
    group_of_record = parts.recoding.group_of_record
    assert group_of_record is not None
    for half in (0, 1):
        members = [row for row, group in zip(rows, group_of_record, strict=True) if group == half]
        assert support(members, ["c"]) == k - 1


@pytest.mark.parametrize("method", [local, vertical])
def test_figure_2_lra_and_vpa_reach_the_papers_cut(method) -> None:
    # Four records are one chunk at k=2 unless each half is anonymous by itself.
    engine = engine_of(FIGURE_2A, FIGURE_1)
    cost = make_cost("ncp", engine.hierarchy)
    outcome = method.anonymize(engine, KmAnonymity(2, 2), cost=cost, watch=Watch(), parts=1)
    labels = [engine.hierarchy.labels[node] for node in outcome.recoding.cut()]
    assert labels == ["A", "b1", "b2"]
    assert cost.share(outcome.objective.cost, engine.item_counts()) == Fraction(5, 22)


def test_algorithm_7_parts_are_committed_before_the_last_pass() -> None:
    # Split at A | B: A's pair {a1, a2} is rare, B's {b1, b2} is not; then nothing is left to do.
    engine = engine_of(FIGURE_2A, FIGURE_1)
    cost = make_cost("ncp", engine.hierarchy)
    counts = engine.item_counts()
    assert vertical.domain_parts(engine.hierarchy, counts, 2, 1).tolist() == [0, 0, 1, 1]
    outcome = vertical.anonymize(engine, KmAnonymity(2, 2), cost=cost, watch=Watch(), parts=2)
    assert dict(outcome.figures) == {"parts": 2, "repairs in parts": 1, "repairs": 0}
    assert [engine.hierarchy.labels[node] for node in outcome.recoding.cut()] == ["A", "b1", "b2"]


def test_section_5_1_negative_knowledge() -> None:
    # Over a, b, c, d the record {a, b} is {a, b, not c, not d}: {a, b, not c} can identify.
    rows = [["a", "b"]] + [["a", "b", "c"]] * 2 + [["c", "d"]] * 2
    assert support(rows, ["a", "b"], ["c"]) == 1
    assert not is_negative_km_anonymous(rows, 2, 3)
    assert is_negative_km_anonymous([*rows, ["a", "b"]], 2, 3)
    hierarchy = Hierarchy.from_parents({"a": "T", "b": "T", "c": "T", "d": "T", "T": None})
    engine = engine_of(rows, hierarchy)
    identity = Recoding.identity(engine.hierarchy)
    assert len(engine.violations(identity, KmAnonymity(2, 3))) == 0
    found = engine.violations(identity, KmAnonymity(2, 3, negative=True))
    assert len(found) > 0
    assert found.support.min() == 1


def test_section_5_2_anonymous_is_not_diverse() -> None:
    rows = [["a", "b", "s1"]] * 3
    assert is_k_anonymous(rows, 3)
    assert not is_lm_diverse(rows, 2, 2, {"s1"})
    assert worst_share(rows, 2, {"s1"}) == 1
    hierarchy = Hierarchy.from_parents({"a": "T", "b": "T", "T": None, "s1": None})
    engine = engine_of(rows, hierarchy)
    cost = make_cost("ncp", engine.hierarchy)
    kept = partition.anonymize(engine, KAnonymity(3), cost=cost, watch=Watch())
    assert list(engine.publish(kept.recoding).rows()) == [("a", "b", "s1")] * 3
    diverse = LmDiversity(2, 2, frozenset({"s1"}))
    assert len(engine.violations(Recoding.identity(engine.hierarchy), diverse)) > 0
    with pytest.raises(Infeasible):
        optimal.anonymize(engine, diverse, cost=cost, watch=Watch())


def test_section_5_2_the_root_may_fail_where_the_leaves_pass() -> None:
    # Contrary to the text, generalizing need not help: 2/3 at the root, 1/2 at the leaves.
    rows = [["a", "s"], ["b", "s"], ["a", "b"]]
    at_root = [["T", "s"], ["T", "s"], ["T"]]
    assert worst_share(rows, 2, {"s"}) == Fraction(1, 2)
    assert worst_share(at_root, 2, {"s"}) == Fraction(2, 3)
    hierarchy = Hierarchy.from_parents({"a": "T", "b": "T", "T": None, "s": None})
    engine = engine_of(rows, hierarchy)
    cost = make_cost("ncp", engine.hierarchy)
    diverse = LmDiversity(2, 2, frozenset({"s"}))
    for method, options in ((optimal, {}), (local, {"inner": "optimal"})):
        outcome = method.anonymize(engine, diverse, cost=cost, watch=Watch(), **options)
        assert list(engine.publish(outcome.recoding).rows()) == sorted(map(tuple, rows))


def before_and_after(
    rows: list[list[str]], parents: dict[str, str | None], cut: list[str]
) -> BeforeAfter:
    """The records, and what a cut publishes of them."""
    hierarchy, bound = bind(Transactions.from_rows(rows), Hierarchy.from_parents(parents))
    nodes = [hierarchy.node_of_label[label] for label in cut]
    return BeforeAfter(Recoding.from_cut(hierarchy, nodes), bound)


def loss_of(pair: BeforeAfter, share: Fraction) -> MiningLoss:
    return mining_losses(pair, [share])[0]


def test_equations_1_and_2_on_figure_2() -> None:
    # At 50 %: a1, a2, b1, b2 and the pairs a1 b2, a2 b1, a2 b2, b1 b2; A, B, AB; ALL. Of level 0 the
    # release shows b1, b2 and b1 b2; the other five are found as A or AB, one level higher.
    loss = loss_of(before_and_after(FIGURE_2A, PARENTS, ["A", "b1", "b2"]), Fraction(1, 2))
    assert loss.least == 2
    assert loss.frequent_by_level == (8, 3, 1)
    assert loss.found_by_level == (3, 3, 1)
    assert loss.ml2 == 1 - Fraction(7, 12)
    assert loss.dml2 == Fraction(5, 12)
    assert loss.dml2_lost == 1


def test_section_6_dml2_over_the_lost_is_at_least_1() -> None:
    # Everything at the root: eight sets go up two levels, three go up one; Eq. 2 counts ALL too.
    loss = loss_of(before_and_after(FIGURE_2A, PARENTS, ["ALL"]), Fraction(1, 2))
    assert loss.found_by_level == (0, 0, 1)
    assert loss.ml2 == Fraction(11, 12)
    assert loss.dml2 == Fraction(8 * 2 + 3, 12)
    assert loss.dml2_lost == Fraction(8 * 2 + 3, 11)
    # The least that a loss can be is 1; where nothing was lost there is nothing to tell.
    nothing_lost = loss_of(
        before_and_after(FIGURE_2A, PARENTS, ["a1", "a2", "b1", "b2"]), Fraction(1, 2)
    )
    assert (nothing_lost.ml2, nothing_lost.dml2, nothing_lost.dml2_lost) == (0, 0, 0)


def test_section_3_3_a_generalized_itemset_may_have_a_smaller_arity() -> None:
    # At 25 % the pair {a1, a2} of t4 is frequent; as published it is {A}, which still expresses it.
    pair = before_and_after(FIGURE_2A, PARENTS, ["A", "b1", "b2"])
    loss = loss_of(pair, Fraction(1, 4))
    sets = {
        frozenset(items)
        for items in (("a1", "a2"), ("a1", "a2", "b2"), ("a1", "b1"), ("a1", "b1", "b2"))
    }
    assert all(support(FIGURE_2A, sorted(chosen)) == 1 for chosen in sets)
    # Besides the eight: those four and a2 b1 b2. Ten of the thirteen hold an a, all found at level 1.
    assert loss.frequent_by_level == (13, 3, 1)
    assert loss.found_by_level == (3, 3, 1)
    assert loss.levels_up == 10


SHOP = {
    "skimmed milk 2%": "skimmed milk",
    "skimmed milk 0.5%": "skimmed milk",
    "cookies 100g": "cookies",
    "cookies 250g": "cookies",
    "skimmed milk": "dairy",
    "cookies": "sweets",
    "dairy": "ALL",
    "sweets": "ALL",
    "ALL": None,
}


def test_section_3_3_skimmed_milk_and_cookies() -> None:
    # No detailed pair is in half of the records; skimmed milk and cookies are, in all of them.
    detailed = [
        [milk, cookie]
        for milk in ("skimmed milk 2%", "skimmed milk 0.5%")
        for cookie in ("cookies 100g", "cookies 250g")
    ]
    unchanged = before_and_after(detailed, SHOP, [label for row in detailed[::3] for label in row])
    assert loss_of(unchanged, Fraction(1, 2)).frequent_by_level == (4, 3, 3, 1)
    # The pair is frequent at l = 0. The release hides skimmed milk 2%: l + d with d = 1.
    rows = [["skimmed milk 2%", "cookies 100g"]] * 3 + [["skimmed milk 0.5%", "cookies 100g"]]
    loss = loss_of(before_and_after(rows, SHOP, ["skimmed milk", "cookies 100g"]), Fraction(3, 4))
    assert loss.frequent_by_level == (3, 3, 3, 1)
    assert loss.found_by_level == (1, 3, 3, 1)
    assert loss.levels_up == 2


def test_figure_20_averages_supports_of_1_2_and_3_percent() -> None:
    # x1 in one record of a hundred, x2 in two, y in the others; X is published for x1 and x2.
    rows = [["x1"]] + [["x2"]] * 2 + [["y"]] * 97
    pair = before_and_after(
        rows, {"x1": "X", "x2": "X", "y": "Y", "X": "R", "Y": "R", "R": None}, ["X", "y"]
    )
    found = {measure.name: measure.compute(pair) for measure in ml2_measures()}
    assert [found[f"ml2_{percent}%"] for percent in (1, 2, 3)] == [Fraction(1, 3), Fraction(1, 5), 0]
    assert found["ml2"] == (Fraction(1, 3) + Fraction(1, 5)) / 3
    assert found["dml2"] == found["ml2"]
    # At 3 % nothing is lost, which says nothing about how far up the lost ones are.
    assert [found[f"dml2_lost_{percent}%"] for percent in (1, 2, 3)] == [1, 1, 0]
    assert found["dml2_lost"] == 1
