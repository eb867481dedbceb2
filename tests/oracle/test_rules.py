"""The oracle of negative rules on cases that can be worked out by hand."""

from __future__ import annotations

from fractions import Fraction

from tests.oracle.rules import all_rules, implied, membership, narrow, tail

AGES = {
    **dict.fromkeys(("20", "22", "24"), "young"),
    **dict.fromkeys(("30", "36"), "old"),
    "young": "ALL",
    "old": "ALL",
    "ALL": None,
}
USED = ["20", "22", "24", "30", "36"]


def test_a_category_for_everybody_is_no_condition() -> None:
    assert narrow(AGES, USED) == sorted([*USED, "old", "young"])
    assert narrow(AGES, ["20", "22"]) == ["20", "22"]
    assert narrow(AGES, ["20"]) == []


def test_a_number_belongs_in_part_up_to_the_middle_of_the_next_category() -> None:
    # young reaches from 24 to the middle of old, 33; old from 30 down to 22, the middle of young.
    assert membership(AGES, "young", USED, "22") == 1
    assert membership(AGES, "young", USED, "30") == Fraction(33, 100)
    assert membership(AGES, "young", USED, "36") == 0
    assert membership(AGES, "old", USED, "24") == Fraction(25, 100)
    assert membership(AGES, "old", USED, "22") == 0
    # Between single numbers down to the second next: 20 below 24, and 36 above it.
    assert membership(AGES, "24", USED, "22") == Fraction(1, 2)
    assert membership(AGES, "24", USED, "30") == Fraction(1, 2)
    assert membership(AGES, "24", USED, "20") == 0


def test_rules_and_what_follows_from_them() -> None:
    rows = [{"age": age} for age in USED for _ in range(2)]
    values = ["a", "a", "a", "a", "a", "b", "b", "b", "b", "b"]
    found, tests = all_rules({"age": AGES}, rows, values, min_expectation=Fraction(3, 4))
    # Two tuples are enough to expect a value that half of all have, 1 - 1/4.
    assert tests == [14]
    bare = {(conditions[0][1], value): counts for (conditions, value), counts in found.items()}
    assert bare == {
        ("old", "a"): (4, 0), ("30", "a"): (2, 0), ("36", "a"): (2, 0),
        ("20", "b"): (2, 0), ("22", "b"): (2, 0),
    }  # fmt: skip
    bound = {"age": {label: {leaf for leaf in USED if label in (leaf, AGES[leaf])} for label in AGES}}
    follow = {rule[0][0][1] for rule in found if implied(rule, set(found), {"age": AGES}, bound)}
    assert follow == {"30", "36"}


def test_the_lower_tail() -> None:
    assert tail(Fraction(1, 2), Fraction(3), Fraction(0)) == 0.125
    assert tail(Fraction(1, 2), Fraction(3), Fraction(1)) == 0.5
