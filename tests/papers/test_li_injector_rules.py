"""Li & Li, Injector, sections II to IV and VI: negative rules of Table I and of the Adult data.

Adult: the 30,162 complete rows, the seven attributes of Table III, ARX's hierarchies, ages below crisp
intervals. The paper prints |R| = 45, 39, 32, 22, 15 for minExp 0.75 to 0.95 without saying how many
attributes a rule may have or which hierarchies it used; rules of one attribute come close.
"""

from __future__ import annotations

import csv
import gzip

import numpy as np
import pytest

from setveil.io.hierarchies import read_hierarchy
from setveil.mining.negative_rules import mine_negative_rules
from setveil.mining.rule_findings import expectation
from setveil.model.microdata import Microdata
from setveil.model.rules import NegativeRule, impossible_values
from tests.shared_data import shared_data

TABLE_1 = {
    "ZIP Code": ["47677", "47602", "47678", "47905", "47909", "47906", "47605", "47673", "47607"],
    "Age": ["29", "22", "27", "43", "52", "47", "30", "36", "32"],
    "Sex": ["F", "F", "M", "M", "F", "M", "M", "M", "M"],
    "Disease": [
        "Ovarian Cancer", "Ovarian Cancer", "Prostate Cancer", "Flu", "Heart Disease", "Heart Disease",
        "Heart Disease", "Flu", "Flu",
    ],
}  # fmt: skip
QUASI = ("age", "workclass", "education", "marital-status", "race", "sex")
EXPECTATIONS = ("0.75", "0.80", "0.85", "0.90", "0.95")


@pytest.fixture(scope="module")
def adult() -> Microdata:
    with gzip.open(shared_data("adult.csv.gz"), "rt", newline="") as file:
        rows = [row for row in csv.DictReader(file) if "?" not in row.values()]
    columns = {name: [row[name] for row in rows] for name in (*QUASI, "occupation")}
    hierarchies = {name: read_hierarchy(shared_data(f"adult_hierarchy_{name}.csv")) for name in QUASI}
    return Microdata.from_columns(columns, "occupation", hierarchies=hierarchies)


def test_table_1() -> None:
    data = Microdata.from_columns(TABLE_1, "Disease")
    found = mine_negative_rules(data, min_expectation="0.75", control="none")
    rule = NegativeRule((("Sex", "M"),), "Ovarian Cancer")
    (finding,) = [finding for finding in found.findings if finding.rule == rule]
    assert round(finding.expectation, 3) == 0.779
    assert (finding.count, finding.count_with_value, finding.confidence) == (6, 0, 1)
    assert rule not in mine_negative_rules(data, min_expectation="0.78", control="none").rules


def test_section_4_the_expectation_of_frequent_and_rare_values() -> None:
    """A frequent value is expected among few tuples, a rare one only among many."""
    assert expectation(50, 100, 4) == pytest.approx(1 - 0.5**4)
    assert expectation(1, 100, 4) == pytest.approx(1 - 0.99**4)
    assert expectation(1, 100, 230) >= 0.9 > expectation(1, 100, 229)


def test_section_5_the_rule_of_table_1_rules_out_one_value_for_men() -> None:
    data = Microdata.from_columns(TABLE_1, "Disease")
    impossible = impossible_values(data, (NegativeRule((("Sex", "M"),), "Ovarian Cancer"),))
    ovarian = data.values.index("Ovarian Cancer")
    assert impossible[:, ovarian].tolist() == [sex == "M" for sex in TABLE_1["Sex"]]
    assert impossible.sum() == 6


def test_section_4_nobody_of_21_earns_50k_but_half_of_those_beside_do() -> None:
    """Age 21 alone makes a rule; with ages as fuzzy numbers the neighbours speak against it."""
    ages = [str(age) for age in range(18, 31) for _ in range(12)]
    pay = [
        "50K" if age != "21" and place % 2 else ("30K", "40K")[place // 2 % 2]
        for place, age in enumerate(ages)
    ]
    data = Microdata.from_columns({"age": ages, "pay": pay}, "pay")
    rule = NegativeRule((("age", "21"),), "50K")
    assert rule in mine_negative_rules(data, control="none").rules
    assert not mine_negative_rules(data, fuzzy=True, control="none").findings


def test_figure_3_number_of_rules(adult: Microdata) -> None:
    assert len(adult) == 30_162
    found = [
        mine_negative_rules(adult, min_expectation=share, control="none") for share in EXPECTATIONS
    ]
    assert [len(each) for each in found] == [49, 47, 41, 31, 20]
    without_age = [
        sum(finding.rule.conditions[0][0] != "age" for finding in each.findings) for each in found
    ]
    assert without_age == [30, 29, 26, 22, 19]


def test_rules_of_one_condition_that_chance_makes_too_are_kept_out(adult: Microdata) -> None:
    """With the occupations dealt out anew 23 to 1 such rules appear, and none passes the control."""
    dealt = Microdata(
        adult.quasi,
        adult.sensitive,
        adult.values,
        np.random.default_rng(5).permutation(adult.value_by_tuple),
    )
    found = {
        control: [
            len(mine_negative_rules(dealt, min_expectation=share, control=control))
            for share in EXPECTATIONS
        ]
        for control in ("none", "all")
    }
    assert found == {"none": [23, 20, 12, 3, 1], "all": [0, 0, 0, 0, 0]}
    believed = [mine_negative_rules(adult, min_expectation=share) for share in EXPECTATIONS]
    assert [len(each) for each in believed] == [16, 16, 15, 15, 12]


def test_section_6_the_rules_the_paper_names(adult: Microdata) -> None:
    rules = {finding.rule for finding in mine_negative_rules(adult, control="none").findings}
    assert NegativeRule((("workclass", "Government"),), "Priv-house-serv") in rules
    assert NegativeRule((("education", "Doctorate"),), "Handlers-cleaners") in rules


def test_figure_3_tuples_by_incompatible_values(adult: Microdata) -> None:
    """The paper: none without one, 80 to 96 % with exactly one."""
    none, one = [], []
    for share in EXPECTATIONS:
        rules = mine_negative_rules(adult, min_expectation=share, control="none").rules
        by_number = np.bincount(impossible_values(adult, rules).sum(axis=1), minlength=2)
        none.append(round(100 * by_number[0] / len(adult), 1))
        one.append(round(100 * by_number[1] / len(adult), 1))
    assert one == [73.5, 73.5, 74.2, 74.3, 81.1]
    assert none == [0, 0, 0, 0, 0]


def test_two_attributes_are_mostly_chance(adult: Microdata) -> None:
    found = [
        mine_negative_rules(adult, min_expectation=share, max_antecedent=2, control="none")
        for share in EXPECTATIONS
    ]
    assert [len(each) for each in found] == [4555, 3777, 3118, 2430, 1773]


def test_any_number_of_attributes(adult: Microdata) -> None:
    found = mine_negative_rules(adult, max_antecedent=6, control="none")
    assert len(found) == 137_214
    assert len(found.rules) == 8_862
    assert sum(found.tests) == 988_081


def test_the_control_of_false_discoveries_keeps_chance_out(adult: Microdata) -> None:
    """With the occupations dealt out anew there is nothing to find, and hardly anything is."""
    dealt = Microdata(
        adult.quasi,
        adult.sensitive,
        adult.values,
        np.random.default_rng(5).permutation(adult.value_by_tuple),
    )
    believed = mine_negative_rules(dealt, max_antecedent=2)
    unchecked = mine_negative_rules(dealt, max_antecedent=2, control="none")
    longer = [sum(len(rule.conditions) > 1 for rule in each.rules) for each in (believed, unchecked)]
    assert longer == [0, 252]
    of_two = [
        len(mine_negative_rules(adult, max_antecedent=2, control=control).rules)
        for control in ("longer", "all")
    ]
    assert of_two == [311, 296]
