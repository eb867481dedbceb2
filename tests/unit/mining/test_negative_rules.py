"""Negative rules: order, evidence, limits, and how a set of them is shown."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from setveil.errors import Cancelled, ResourceLimit, UsageError
from setveil.hierarchy.tree import Hierarchy
from setveil.kernels import rules
from setveil.mining import negative_rules
from setveil.mining.negative_rules import mine_negative_rules
from setveil.mining.rule_findings import RuleFinding, RuleSet
from setveil.model.microdata import Microdata
from setveil.model.rules import NegativeRule, impossible_values
from setveil.progress import Watch

TOWNS = Hierarchy.from_paths(
    [("Rome", "south", "ALL"), ("Bari", "south", "ALL"), ("Oslo", "north", "ALL")]
)


def people() -> Microdata:
    """Nobody in the south has c, and no woman has b."""
    rows = [("Rome", "F", "a")] * 6 + [("Bari", "M", "b")] * 6 + [("Oslo", "F", "c")] * 6
    columns = {name: [row[place] for row in rows] for place, name in enumerate(("town", "sex", "ill"))}
    return Microdata.from_columns(columns, "ill", hierarchies={"town": TOWNS})


def test_conditions_at_all_levels_but_the_root() -> None:
    found = mine_negative_rules(people())
    told = [(str(finding.rule), finding.redundant) for finding in found.findings]
    assert (
        told
        == [
            ("town=Bari => not a", False),
            ("town=Bari => not c", True),
            ("town=Oslo => not a", True),
            ("town=Oslo => not b", True),
            ("town=Rome => not b", False),
            ("town=Rome => not c", True),
            ("town=north => not a", False),
            ("town=north => not b", False),
            ("town=south => not c", False),
            ("sex=F => not b", False),
            ("sex=M => not a", False),
            ("sex=M => not c", False),
        ]
        or told
    )


def test_rules_bind_as_all_findings_do() -> None:
    data = people()
    found = mine_negative_rules(data, max_antecedent=2, control="none")
    every = tuple(finding.rule for finding in found.findings)
    assert len(found.rules) < len(every)
    assert (impossible_values(data, every) == impossible_values(data, found.rules)).all()


def test_a_value_at_the_boundary_of_its_expectation() -> None:
    """Half of all have it: 1 - (1/2)^2 is exactly 3/4, which is enough."""
    columns = {"a": ["x", "x", "y", "y"], "s": ["p", "p", "q", "q"]}
    data = Microdata.from_columns(columns, "s")
    for expects, found in ((Fraction(3, 4), 2), ("0.750001", 0), (0.75, 2), (".75", 2)):
        assert len(mine_negative_rules(data, min_expectation=expects, control="none")) == found


def test_a_confidence_at_its_boundary() -> None:
    columns = {"a": ["x"] * 10 + ["y"] * 10, "s": ["p"] + ["q"] * 9 + ["p"] * 10}
    data = Microdata.from_columns(columns, "s")
    found = mine_negative_rules(data, min_confidence="0.9")
    assert [str(finding.rule) for finding in found.findings] == ["a=x => not p", "a=y => not q"]
    assert found.findings[0].confidence == Fraction(9, 10)
    assert len(mine_negative_rules(data, min_confidence="0.900001")) == 1


def test_one_value_gives_no_rules() -> None:
    data = Microdata.from_columns({"a": ["x", "y"] * 9, "s": ["p"] * 18}, "s")
    assert len(mine_negative_rules(data)) == 0
    alone = Microdata.from_columns({"a": ["x"] * 18, "s": ["p", "q"] * 9}, "s")
    found = mine_negative_rules(alone, min_confidence="0.1", max_antecedent=3)
    assert (len(found), found.tests) == (0, (0,))


def test_the_same_rule_for_any_number_of_threads() -> None:
    data = people()
    one, three = (mine_negative_rules(data, max_antecedent=2, threads=n) for n in (1, 3))
    assert one == three


@pytest.mark.parametrize(
    "options",
    [
        {"min_expectation": 0},
        {"min_expectation": 1},
        {"min_expectation": "nine"},
        {"min_expectation": True},
        {"min_expectation": 0.1234567},
        {"min_confidence": 0},
        {"min_confidence": "1.5"},
        {"max_antecedent": 0},
        {"max_antecedent": 1.5},
        {"membership": "sum"},
        {"control": "some"},
    ],
)
def test_wrong_options(options: dict[str, Any]) -> None:
    with pytest.raises(UsageError) as error:
        mine_negative_rules(people(), **options)
    assert error.value.problems[0].remedy


def test_options_of_the_registry_are_those_of_the_miner() -> None:
    from inspect import signature

    from setveil.registry import MINING_OPTIONS, method

    keywords = signature(mine_negative_rules).parameters
    assert {option.name for option in MINING_OPTIONS} == set(negative_rules.KEYWORDS)
    for option in MINING_OPTIONS:
        default = keywords[negative_rules.KEYWORDS[option.name]].default
        assert str(option.default).removesuffix(".0") == str(default)
    assert set(MINING_OPTIONS) <= set(method("injector").options)
    options = {"min_exp": "0.5", "control": "none", "suppress_infeasible": True}
    assert negative_rules.mine_by_options(people(), options) == mine_negative_rules(
        people(), min_expectation="0.5", control="none"
    )


def test_no_tuples() -> None:
    with pytest.raises(UsageError, match="no tuples"):
        mine_negative_rules(Microdata.from_columns({"a": [], "s": []}, "s"))


def test_too_much_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    columns = {name: ["1", "2", "3"] for name in "abcdefghij"}
    data = Microdata.from_columns({**columns, "s": ["p", "q", "p"]}, "s")
    with pytest.raises(ResourceLimit, match="counted exactly"):
        mine_negative_rules(data, fuzzy=True, max_antecedent=10)
    monkeypatch.setattr(negative_rules, "MOST_RULES", 3)
    with pytest.raises(ResourceLimit, match="more than 3 rules"):
        mine_negative_rules(people())
    monkeypatch.setattr(negative_rules, "MOST_CELLS", 3)
    with pytest.raises(ResourceLimit, match="too many"):
        mine_negative_rules(people())


def test_it_can_be_stopped_and_tells_where_it_is() -> None:
    stages: list[tuple[str, float | None]] = []
    mine_negative_rules(people(), watch=Watch(listener=lambda *told: stages.append(told)))
    assert stages[0] == ("counting conditions", 0.0)
    watch = Watch()
    watch.cancel()
    with pytest.raises(Cancelled):
        mine_negative_rules(people(), watch=watch)


def test_many_columns_are_merged_by_parts() -> None:
    """The product of the columns' sizes does not fit in a machine word."""
    chance = np.random.default_rng(3)
    columns = {f"c{n}": [str(v) for v in chance.integers(0, 50, 60)] for n in range(14)}
    columns["s"] = ["p"] * 30 + ["q"] * 30
    doubled = {name: cells * 2 for name, cells in columns.items()}
    leaves, _, weight = negative_rules._merged(Microdata.from_columns(doubled, "s"))
    assert (leaves.shape, set(weight.tolist())) == ((60, 14), {2})


def test_a_set_of_rules_is_shown() -> None:
    rule = NegativeRule((("a", "<b>"),), "x")
    follows = NegativeRule((("a", "c"),), "x")
    findings = (
        RuleFinding(rule, 1200, 0, 0.95),
        RuleFinding(follows, Fraction(5, 2), Fraction(1, 2), 0.91, redundant=True),
    )
    found = RuleSet(findings, ("a",), "s", 5000, (7, 30), 4, {"min_expectation": Fraction(9, 10)})
    assert str(found) == (
        "1 negative rule, and 1 that follow from them, from 5,000 tuples and 37 tests; 4 left out as "
        "likely chance.\n  a=<b> => not x  (expectation 0.950, 1,200 tuples)"
    )
    assert "&lt;b&gt;" in found._repr_html_()
    assert "<b>" not in found._repr_html_()
    assert found.rules == (rule,)
    assert found.as_dict()["options"] == {"min_expectation": "9/10"}
    plain = found.as_dicts()[1]
    assert (plain["count"], plain["confidence"], plain["redundant"]) == (2.5, 0.8, True)
    many = RuleSet(tuple(RuleFinding(rule, 1, 0, 0.9) for _ in range(30)), ("a",), "s", 1, (1,))
    assert str(many).endswith("… and 10 more")


def test_the_kernel_ends_early_where_rules_are_too_many() -> None:
    coded = rules.Coded(
        np.zeros((4, 1), np.int32), np.zeros(4, np.int32), np.ones(4, np.int64), np.zeros(1, np.int64),
        np.array([0, 1]), np.zeros(1, np.int32), np.ones(1, np.int64), np.zeros(1, np.int64), 1,
    )  # fmt: skip
    found = rules.find_rules(
        coded, np.ones((1, 5), np.int64), first=0, longest=1, doubt=1, whole=1, most=1
    )
    assert len(found.values) == 2
