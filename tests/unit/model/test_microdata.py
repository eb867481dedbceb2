"""Tables with a sensitive attribute, and what conditions of rules mean in them."""

from __future__ import annotations

import numpy as np
import pytest

from setveil.errors import DataError, HierarchyError, UsageError
from setveil.hierarchy.intervals import from_intervals
from setveil.hierarchy.tree import Hierarchy
from setveil.model.microdata import Microdata, QuasiAttribute
from setveil.model.rules import NegativeRule, impossible_values, leaves_meeting

COLUMNS = {"age": ["20", "3", "20", "100"], "town": ["b", "a", "*", "a"], "ill": ["y", "x", "y", "x"]}


def test_columns_are_numbered() -> None:
    data = Microdata.from_columns(COLUMNS, "ill")
    assert data.values == ("x", "y")
    assert data.value_by_tuple.tolist() == [1, 0, 1, 0]
    assert data.count_by_value.tolist() == [2, 2]
    age, town = data.quasi
    assert [age.hierarchy.labels[leaf] for leaf in age.leaf_by_tuple] == COLUMNS["age"]
    # A value is named like the usual root, so the root gets another name.
    assert town.hierarchy.labels[town.hierarchy.roots[0]] == "**"
    assert data.leaves.tolist() == [[1, 2], [2, 1], [1, 0], [0, 1]]
    assert (age.is_numeric, town.is_numeric) == (True, False)
    assert len(data) == 4


def test_codes_with_texts_that_do_not_occur_or_occur_twice() -> None:
    columns = {
        "a": (("unused", "p", "q", "p"), np.array([1, 2, 3], np.int32)),
        "s": (("v", "w"), np.array([1, 1, 1], np.int32)),
    }
    data = Microdata.from_codes(columns, "s", notices=["told."])
    assert data.values == ("w",)
    assert data.quasi[0].hierarchy.labels == ("p", "q", "*")
    assert data.quasi[0].leaf_by_tuple.tolist() == [0, 1, 0]
    assert data.notices == ("told.",)


@pytest.mark.parametrize(
    ("quasi", "sensitive", "trees", "code"),
    [
        (["job"], "ill", {}, "unknown-column"),
        (["age"], "job", {}, "unknown-column"),
        (["age", "ill"], "ill", {}, "two-roles"),
        ([], "ill", {}, "usage"),
        (["age"], "ill", {"town": from_intervals(["1"], [0, 2])}, "usage"),
    ],
)
def test_wrong_roles(quasi: list[str], sensitive: str, trees: dict[str, Hierarchy], code: str) -> None:
    with pytest.raises(UsageError) as error:
        Microdata.from_columns(COLUMNS, sensitive, quasi=quasi, hierarchies=trees)
    assert error.value.problems[0].code == code


def test_cells_that_cannot_be() -> None:
    with pytest.raises(DataError, match="empty"):
        Microdata.from_columns({"a": ["x", ""], "s": ["p", "q"]}, "s")
    with pytest.raises(DataError, match="empty"):
        Microdata.from_columns({"a": ["x", "y"], "s": ["p", ""]}, "s")
    tree = Hierarchy.from_paths([("20", "ALL"), ("100", "ALL")])
    with pytest.raises(HierarchyError, match="'3'"):
        Microdata.from_columns(COLUMNS, "ill", hierarchies={"age": tree})


AGES = QuasiAttribute(
    "age", from_intervals(["3", "20", "25", "100"], [0, 20, 50, 200]), np.arange(4, dtype=np.int32)
)


@pytest.mark.parametrize(
    ("label", "met"),
    [
        ("20", {"20"}),
        ("[20, 50)", {"20", "25"}),
        ("ALL", {"3", "20", "25", "100"}),
        ("[4, 25)", {"20"}),
        ("[4, 25]", {"20", "25"}),
        ("3-25", {"3", "20", "25"}),
        ("[25, 4]", set()),
        ("[4, 25[", set()),
        ("21", set()),
        ("", set()),
    ],
)
def test_who_meets_a_condition(label: str, met: set[str]) -> None:
    leaves = np.flatnonzero(leaves_meeting(AGES, label)).tolist()
    assert {AGES.hierarchy.labels[leaf] for leaf in leaves} == met


def test_what_rules_rule_out() -> None:
    data = Microdata.from_columns(COLUMNS, "ill")
    rules = (
        NegativeRule((("age", "20"), ("town", "b")), "x"),
        NegativeRule((("age", "[0, 50]"),), "y"),
        NegativeRule((("age", "20"),), "unknown"),
    )
    assert impossible_values(data, rules).tolist() == [
        [True, True],
        [False, True],
        [False, True],
        [False, False],
    ]
    with pytest.raises(UsageError, match="'job'"):
        impossible_values(data, (NegativeRule((("job", "x"),), "x"),))
