"""Cheng, Hiding emerging pattern with local recoding generalization: the hiding half.

Table 1 hidden, section 6 (Examples 6.1 to 6.3, the distances), and section 8's two data sets.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

import numpy as np
import pytest

from setveil.audit import Published, audit_pair
from setveil.hierarchy.tree import Hierarchy
from setveil.measure.pairs import frequent_distortion
from setveil.methods.hide_patterns import SEARCHES, anonymize
from setveil.methods.hide_patterns.scoring import FrequentForms, Scores
from setveil.methods.hide_patterns.searches import distortion, overlapping, scored, utility_gain
from setveil.methods.hide_patterns.state import Patterns, find_moves
from setveil.methods.hide_patterns.work import PatternWork
from setveil.model.costs import ValueDistance
from setveil.model.guarantees import HiddenPatterns
from setveil.model.pattern_pair import PatternPair
from setveil.model.transactions import Transactions
from setveil.progress import Watch
from setveil.release.recoding import PairRecoding
from tests.papers.test_cheng import TABLE_1

COLUMNS = ("edu", "martial", "occup", "rel", "race", "sex")
EDUCATION = Hierarchy.from_parents(
    {"BA": "Deg", "MSE": "Deg", "PhD": "Deg", "HS": "School", "9th": "School", "Deg": "All",
     "School": "All", "All": None}
)  # fmt: skip
"""Height 2, three leaves under Deg, as Example 6.2 counts them; Figure 4 itself is not in the text."""


def table_1(columns: tuple[str, ...] = COLUMNS) -> PatternPair:
    """Table 1 as two data sets, married and never married; their difference is no column."""
    kept = [name for name in columns if name != "martial"]
    sides = [
        Transactions.from_rows(
            [
                [f"{name}={value}" for name, value in zip(COLUMNS, row, strict=True) if name in kept]
                for row in TABLE_1
                if row[1] == name_of_side
            ]
        )
        for name_of_side in ("married", "never")
    ]
    return PatternPair.of_tables(sides[0], sides[1], kept, {"edu": EDUCATION})


def recoded(pair: PatternPair, education: Mapping[int, str]) -> PairRecoding:
    """Table 1 with the education of some records, by their number, published as something else."""
    nodes = []
    number = 0
    for rows in pair.sides:
        side = rows.leaves.copy()
        for record in range(len(rows)):
            number += 1
            for place in range(int(rows.indptr[record]), int(rows.indptr[record + 1])):
                is_education = pair.hierarchy.labels[side[place]].startswith("edu=")
                if is_education and number in education:
                    side[place] = pair.hierarchy.node_of_label[f"edu={education[number]}"]
        nodes.append(side)
    return PairRecoding((nodes[0], nodes[1]))


def test_definition_6_2_and_example_6_2() -> None:
    node = EDUCATION.node_of_label
    distance = ValueDistance(EDUCATION)
    assert distance.between(node["MSE"], node["Deg"]) == Fraction(3, 2)  # 1 x 3 / 2
    assert distance.between(node["MSE"], node["MSE"]) == 0
    assert distance.between(node["MSE"], node["All"]) == Fraction(3, 2) + Fraction(2 * 5, 2)


def test_example_6_2_of_itemsets() -> None:
    """(MSE, manager) becomes (Deg, manager): 1.5, where all of them are recoded."""
    pair = table_1(("edu", "occup"))
    told = frequent_distortion(
        pair, recoded(pair, dict.fromkeys((2, 3, 4, 6), "Deg")), frequent_support=Fraction(4, 9)
    )
    (kept,) = (one for one in told.kept if one.items == ("edu=MSE", "occup=manager"))
    assert kept.published == ("edu=Deg", "occup=manager")
    assert kept.distance == Fraction(3, 2)


def test_example_6_1() -> None:
    """At a support of 4, BA and MSE to Deg in Example 4.1's records make (Deg, manager) frequent."""
    pair = table_1(("edu", "occup"))
    told = frequent_distortion(
        pair, recoded(pair, dict.fromkeys((2, 3, 4, 5, 8, 9), "Deg")), frequent_support=Fraction(4, 9)
    )
    (kept,) = (one for one in told.kept if "edu=MSE" in one.items)
    assert kept.published == ("edu=Deg", "occup=manager")


def test_example_6_3() -> None:
    """Records 1 and 2 to Deg: BA and MSE, each in 4 of 9, are not frequent at 40 % any more."""
    pair = table_1(("edu",))
    told = frequent_distortion(pair, recoded(pair, {1: "Deg", 2: "Deg"}), frequent_support=0.4)
    assert [one.items for one in told.kept] == [("edu=BA",), ("edu=MSE",)]
    assert told.missing == 2
    assert told.distortion == 0


def test_definition_6_5() -> None:
    """RD_local weighs what is distorted by theta_q and what is lost by 1 - theta_q."""
    node = EDUCATION.node_of_label
    forms = FrequentForms(
        [(node["BA"],), (node["MSE"],), (node["HS"],)], ValueDistance(EDUCATION), 4, every_level=False
    )
    scores = Scores(np.zeros(1, dtype=np.int64), np.zeros(1), np.array([[1.5, 0.0, -1.0]]))
    largest = 1.5 + 5.0
    assert distortion(scores, forms, 0.8) == pytest.approx([0.8 * 1.5 / largest + 0.2])
    assert distortion(scores, forms, 0.0) == pytest.approx([1.0])
    assert distortion(scores, forms, 1.0) == pytest.approx([1.5 / largest])


def test_the_utility_gain_by_hand() -> None:
    """Ten records either side, (8, 1, 1) and (1, 7, 2) of them a1, a2 and a3: two patterns, 8 and 7.

    To hide a1 its 8 records are raised with the 7 of a2, both to A, or with the 2 of a3 to the root.
    """
    tree = Hierarchy.from_parents({"a1": "A", "a2": "A", "A": "*", "a3": "*", "*": None})
    sides = [
        Transactions.from_rows([["c=a1"]] * one + [["c=a2"]] * two + [["c=a3"]] * three)
        for one, two, three in ((8, 1, 1), (1, 7, 2))
    ]
    pair = PatternPair.of_tables(sides[0], sides[1], ("c",), {"c": tree})
    promise = HiddenPatterns(3, Fraction(1, 5))
    work = PatternWork(pair, promise, frequent_support=0.4, multilevel=False, watch=Watch(), threads=1)
    patterns, node = work.begin(), pair.hierarchy.node_of_label
    assert sorted(patterns.sets.ravel().tolist()) == sorted((node["c=a1"], node["c=a2"]))
    moves = find_moves(work.state, np.array([node["c=a1"]], dtype=np.int32), 0, every_level=False)
    tier, gain = utility_gain(work, patterns, scored(work, moves, patterns), 0.4, 0.8)
    found = {
        pair.hierarchy.labels[int(moves.targets_of(which)[0])]: gain[which]
        for which in range(len(moves))
    }
    assert tier.tolist() == [0, 0]
    # Both become A, 8 against 7. They are 1 x 2 / 2 = 1 from A, and 2 x 3 / 2 = 3 more from the root.
    assert found["c=A"] == pytest.approx(0.4 * (8 + 7 - 2 * 8 / 7) / 15 - 0.6 * 0.8 * 2 * (1 / 4))
    # 8 against 2 under the root, where a1 is found again, at its largest distance; a2 stays as it is.
    assert found["c=*"] == pytest.approx(0.4 * (8 - 8 / 2) / 15 - 0.6 * 0.8 * 1)


def test_of_several_correspondents_the_nearest_counts() -> None:
    pair = table_1(("edu",))
    told = frequent_distortion(
        pair, recoded(pair, {1: "Deg", 2: "Deg"}), frequent_support=Fraction(2, 9)
    )
    by_items = {one.items: one for one in told.kept}
    assert by_items[("edu=BA",)].published == ("edu=BA",)
    assert by_items[("edu=BA",)].distance == 0


def test_next_overlapping_pattern() -> None:
    sets = np.array([[0, 1, -1], [1, 2, 3], [4, -1, -1]], dtype=np.int32)
    patterns = Patterns(sets, np.ones((3, 2), dtype=np.int64), np.zeros(3, dtype=np.int64))
    assert overlapping(patterns).tolist() == [0, 1, 2]
    more = Patterns(sets[::-1].copy(), patterns.counts, patterns.side)
    assert overlapping(more)[0] == 1


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("growth", [2, 3])
@pytest.mark.parametrize("every_level", [False, True])
def test_table_1_is_hidden(search: str, growth: int, every_level: bool) -> None:
    pair, promise = table_1(), HiddenPatterns(growth, Fraction(1, 5), every_level)
    outcome = anonymize(pair, promise, search=search, frequent_support=0.5)
    assert outcome.figures["patterns before"] > 0
    labels = pair.hierarchy.labels
    rows = [
        [
            [labels[node] for node in nodes[side.indptr[r] : side.indptr[r + 1]]]
            for r in range(len(side))
        ]
        for side, nodes in zip(pair.sides, outcome.recoding.node_by_entry, strict=True)
    ]
    paths = {label: pair.hierarchy.path(label) for label in labels}
    found = audit_pair(Published.from_rows(rows[0]), Published.from_rows(rows[1]), promise, paths=paths)
    assert found.holds
