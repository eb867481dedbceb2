"""How numbers belong to categories, and how a rule says whom it binds."""

from __future__ import annotations

import numpy as np

from setveil.hierarchy.intervals import from_intervals
from setveil.hierarchy.tree import Hierarchy
from setveil.mining.rule_conditions import fuzzy_belonging
from setveil.mining.rule_findings import UNREACHABLE, least_counts, power_at_most
from setveil.model.microdata import QuasiAttribute
from setveil.model.rules import leaves_meeting


def attribute(tree: Hierarchy) -> QuasiAttribute:
    return QuasiAttribute("age", tree, np.arange(tree.n_leaves, dtype=np.int32))


def shares(found: QuasiAttribute, label: str) -> dict[str, int]:
    tree = found.hierarchy
    one = fuzzy_belonging(found)[tree.node_of_label[label]]
    return {tree.labels[leaf]: int(part) for leaf, part in zip(one.leaves, one.hundredths, strict=True)}


AGES = attribute(from_intervals([str(n) for n in range(0, 60, 5)], [0, 20, 40, 60]))


def test_a_trapezoid_to_the_middle_of_the_neighbours() -> None:
    # 20 .. 35; below lie 0 .. 15 with the middle 7.5, above 40 .. 55 with the middle 47.5.
    inside = dict.fromkeys(("20", "25", "30", "35"), 100)
    assert shares(AGES, "[20, 40)") == {**inside, "10": 20, "15": 60, "40": 60, "45": 20}
    assert shares(AGES, "[0, 20)") == {**dict.fromkeys(("0", "5", "10", "15"), 100), "20": 60, "25": 20}
    assert shares(AGES, "25") == {"20": 50, "25": 100, "30": 50}


def flat(*numbers: int) -> QuasiAttribute:
    return attribute(Hierarchy.from_paths([(str(number), "ALL") for number in numbers]))


def test_a_single_number_is_softened_by_its_neighbours() -> None:
    """Section IV-B: age 21 beside ages close by; what is far away hardly counts."""
    ages = flat(*range(18, 31))
    assert shares(ages, "21") == {"20": 50, "21": 100, "22": 50}
    assert fuzzy_belonging(ages)[ages.hierarchy.node_of_label["21"]].label == "[20, 22]"
    # The last number has nothing after it, so membership falls as far again.
    assert shares(ages, "29") == {"28": 50, "29": 100, "30": 50}
    assert shares(ages, "30") == {"29": 50, "30": 100}
    assert shares(flat(21, 59, 60), "21") == {"21": 100, "59": 2}
    assert shares(flat(18, 21, 30), "21") == {"18": 50, "21": 100, "30": 50}


def test_who_is_bound_is_told_as_an_interval() -> None:
    found = fuzzy_belonging(AGES)
    tree = AGES.hierarchy
    for node, one in enumerate(found):
        met = np.flatnonzero(leaves_meeting(AGES, one.label))
        assert met.tolist() == one.bound.tolist(), one.label
        assert set(range(tree.first_leaf[node], tree.end_leaf[node])) <= set(one.bound.tolist())
    assert found[tree.node_of_label["[20, 40)"]].label == "[15, 40]"
    assert found[tree.node_of_label["25"]].label == "[20, 30]"


def test_the_interval_is_spelled_as_no_label_is() -> None:
    """Somebody named a category of other numbers like the interval that is needed."""
    parents = {**AGES.hierarchy.parents_by_label()}
    tree = Hierarchy.from_parents(
        {
            ("[15, 40]" if label == "[40, 60)" else label): (
                "[15, 40]" if above == "[40, 60)" else above
            )
            for label, above in parents.items()
        }
    )
    found = attribute(tree)
    one = fuzzy_belonging(found)[tree.node_of_label["[20, 40)"]]
    assert one.label == "[15,  40]"
    assert np.flatnonzero(leaves_meeting(found, one.label)).tolist() == one.bound.tolist()


def test_a_category_that_is_no_interval_stays_crisp() -> None:
    tree = Hierarchy.from_paths(
        [(str(n), "odd" if n % 2 else "even", "ALL") for n in (1, 2, 3, 4)], private=False
    )
    assert shares(attribute(tree), "odd") == {"1": 100, "3": 100}


def test_branches_of_different_depth() -> None:
    paths = [
        ("1", "low", "ALL"),
        ("2", "low", "ALL"),
        ("5", "ALL"),
        ("9", "high", "ALL"),
        ("7", "high", "ALL"),
    ]
    found = attribute(Hierarchy.from_paths(paths))
    # 5 stands alone at the level of low and high; beside a category the middle of 5 is 5.
    assert shares(found, "low") == {"1": 100, "2": 100}
    # From 5 the middle of high is 8, of low 1.5.
    assert shares(found, "5") == {"5": 100, "7": 33, "2": 14}


def test_values_that_nothing_reaches() -> None:
    from fractions import Fraction

    assert least_counts([0, 3], 3, Fraction(1, 2)).tolist() == [UNREACHABLE, 1]
    assert least_counts([1], 10**6, Fraction(999_999, 10**6), 10**12).tolist() == [UNREACHABLE]
    near = Fraction(10**6 - 1, 10**6)
    assert power_at_most(near, 2_302_584, Fraction(1, 10), 1)
    assert not power_at_most(near, 2_302_583, Fraction(1, 10), 1)
