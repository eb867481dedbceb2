"""Hierarchies made from labels, codes, numbers and data."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from setveil.errors import HierarchyError, UsageError
from setveil.hierarchy.build import (
    balanced,
    flat,
    forest,
    from_intervals,
    from_paths,
    from_prefixes,
    learned,
    with_counts,
)
from setveil.hierarchy.tree import Hierarchy
from setveil.io.demo import groceries
from setveil.model.transactions import Transactions


def child_counts(tree: Hierarchy) -> list[int]:
    return [len(below) for below in tree.children if below]


@given(st.sets(st.text(min_size=1, max_size=4), min_size=2, max_size=90), st.integers(2, 7))
def test_balanced_groups_have_two_to_fan_out_members(labels: set[str], fan_out: int) -> None:
    tree = balanced(labels, fan_out, root="the root of all")
    assert set(tree.labels[: tree.n_leaves]) == labels
    assert len(tree.roots) == 1
    most = fan_out if fan_out > 2 else 3
    assert all(2 <= count <= most for count in child_counts(tree))


def test_balanced_has_the_level_sizes_of_the_papers_trees() -> None:
    tree = balanced([str(number) for number in range(3340)], 4)
    assert np.bincount(tree.depth).tolist() == [1, 4, 14, 53, 209, 835, 3340]


def test_balanced_sorts_digits_as_numbers_and_text_as_text() -> None:
    assert balanced(["10", "9", "100", "8"], 2).path("10")[1] == "[10..100]"
    assert balanced(["10", "9", "100", "x"], 2).path("10")[1] == "[10..100]"
    assert balanced(["007", "7", "8", "9"], 2).path("7")[1] == "[007..7]"


def test_balanced_of_one_label_and_names_that_are_taken() -> None:
    assert balanced(["a"]).path("a") == ("a", "ALL")
    tree = balanced(["a", "b", "c", "[a..b]", "d"], 3)
    assert len(set(tree.labels)) == len(tree.labels)


@pytest.mark.parametrize("fan_out", [1, 0, -3, True, 2.5])
def test_a_fan_out_below_two_is_refused(fan_out: int) -> None:
    with pytest.raises(UsageError, match="out of range"):
        balanced(["a", "b"], fan_out)
    with pytest.raises(UsageError, match="out of range"):
        learned(Transactions.from_rows([["a"]]), fan_out=fan_out)


@pytest.mark.parametrize("make", [balanced, flat, lambda labels, **_: from_prefixes(labels, [1])])
def test_a_root_named_like_an_item_and_no_items_are_refused(make) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(HierarchyError) as caught:
        make(["ALL", "a"])
    assert caught.value.problems[0].code == "root-name-taken"
    with pytest.raises(HierarchyError) as caught:
        make([])
    assert caught.value.problems[0].code == "empty-hierarchy"


def test_from_paths_wants_one_root() -> None:
    assert from_paths([("a", "A", "T"), ("b", "T")]).path("a") == ("a", "A", "T")
    with pytest.raises(HierarchyError, match="2 roots"):
        from_paths([("a", "A"), ("b", "B")])


def test_prefixes_leave_out_categories_that_hide_nothing() -> None:
    tree = from_prefixes(["A00.1", "A00.9", "A01", "B20.0", "B20.1", "C50"], [1, 3])
    assert tree.path("A00.1") == ("A00.1", "A00*", "A*", "ALL")
    assert tree.path("A01") == ("A01", "A*", "ALL")
    assert tree.path("B20.0") == ("B20.0", "B20*", "ALL")
    assert tree.path("C50") == ("C50", "ALL")


def test_a_code_that_is_itself_a_prefix_stays_a_leaf() -> None:
    tree = from_prefixes(["250", "250.1", "2"], [1, 3])
    assert tree.path("250") == ("250", "250*", "2*", "ALL")
    assert tree.path("2") == ("2", "2*", "ALL")
    assert tree.n_leaves == 3


@given(
    st.sets(st.text("ab.*", min_size=1, max_size=5), min_size=1, max_size=30),
    st.sets(st.integers(1, 5), min_size=1, max_size=4),
)
def test_prefix_trees_hold_all_codes_and_no_chain(labels: set[str], lengths: set[int]) -> None:
    tree = from_prefixes(labels, sorted(lengths))
    assert set(tree.labels[: tree.n_leaves]) == labels
    inner = [
        count for node, count in enumerate(map(len, tree.children)) if count and tree.parent[node] >= 0
    ]
    assert all(count >= 2 for count in inner)


@pytest.mark.parametrize("lengths", [[], [0], [1, 1], [-2]])
def test_bad_prefix_lengths(lengths: list[int]) -> None:
    with pytest.raises(UsageError):
        from_prefixes(["a"], lengths)


def test_intervals_are_closed_left_and_open_right() -> None:
    tree = from_intervals(["0", "9.99", "10", "19", "20", "39"], [0, 10, 20, 40], coarser=[[0, 20, 40]])
    assert tree.path("9.99") == ("9.99", "[0, 10)", "[0, 20)", "ALL")
    assert tree.path("10") == ("10", "[10, 20)", "[0, 20)", "ALL")
    # The two levels share the interval from 20 to 40.
    assert tree.path("20") == ("20", "[20, 40)", "ALL")


def test_decimal_edges_are_exact() -> None:
    tree = from_intervals(["0.3", "0.1"], ["0", "0.1", "0.3", "0.4"])
    assert tree.path("0.3")[1] == "[0.3, 0.4)"
    assert tree.path("0.1")[1] == "[0.1, 0.3)"


@pytest.mark.parametrize(
    ("edges", "coarser", "code"),
    [
        ([0, 10, 10, 20], [], "interval-overlap"),
        ([0, 20, 10], [], "interval-overlap"),
        ([0, 10, 20], [[0, 15, 20]], "interval-overlap"),
        ([0, 10, 20], [[0, 10]], "interval-gap"),
        ([0, 10, 20], [[0, 30]], "interval-overlap"),
        ([5, 10], [], "interval-gap"),
        ([0, 3], [], "interval-gap"),
    ],
)
def test_gaps_and_overlaps_are_refused(edges: list[int], coarser: list[list[int]], code: str) -> None:
    with pytest.raises(HierarchyError) as caught:
        from_intervals(["4"], edges, coarser=coarser)
    assert {problem.code for problem in caught.value.problems} == {code}


@pytest.mark.parametrize("value", ["x", "1e3", "１２", " 7", "1_000", "", "nan", "٣"])
def test_values_that_are_no_plain_numbers_are_all_named(value: str) -> None:
    with pytest.raises(HierarchyError) as caught:
        from_intervals(["1", value, "y"], [0, 10])
    assert [problem.code for problem in caught.value.problems] == ["not-a-number"] * 2


@pytest.mark.parametrize("edges", [["a", "b"], [1], [], [0, float("nan")], [0, float("inf")]])
def test_edges_that_are_no_numbers(edges: list[object]) -> None:
    with pytest.raises(UsageError):
        from_intervals(["1"], edges)  # type: ignore[arg-type]


def test_forest_prefixes_labels_and_keeps_trees_apart() -> None:
    trees = forest({"sex": flat(["F", "M"], "any"), "age": flat(["1", "2"], "any")})
    assert trees.path("sex=F") == ("sex=F", "sex=any")
    assert {trees.labels[root] for root in trees.roots} == {"sex=any", "age=any"}
    with pytest.raises(HierarchyError, match="two columns"):
        forest({"a": flat(["b=x"]), "a=b": flat(["x"])})


def test_counts_become_leaves_below_their_item() -> None:
    tree = with_counts(
        flat(["milk", "tea", "cup x2"]), ["milk x1", "milk x12", "cup x2", "tea", "no x1"]
    )
    assert tree.path("milk x12") == ("milk x12", "milk", "ALL")
    assert tree.path("cup x2") == ("cup x2", "ALL")
    assert tree.path("tea") == ("tea", "ALL")
    assert "no x1" not in tree.node_of_label


def test_learned_puts_items_with_the_same_company_together() -> None:
    rows = [["pen", "paper"], ["pencil", "paper"], ["pen", "ruler"], ["pencil", "ruler"]] * 20
    rows += [["hammer", "nail"], ["mallet", "nail"], ["hammer", "wood"], ["mallet", "wood"]] * 20
    tree = learned(Transactions.from_rows(rows), fan_out=2)
    assert tree.path("pen")[1] == tree.path("pencil")[1]
    assert tree.path("hammer")[1] == tree.path("mallet")[1]
    assert tree.path("pen")[1] != tree.path("hammer")[1]
    assert tree.private


def test_learned_finds_bundles_of_the_demo_shop() -> None:
    baskets, _ = groceries(n=6000)
    tree = learned(baskets, fan_out=5)
    assert set(tree.labels[: tree.n_leaves]) == set(baskets.vocabulary.labels)
    assert all(2 <= count <= 5 for count in child_counts(tree))
    assert tree.path("spaghetti")[1] == tree.path("tomato sauce")[1]


def test_learned_does_not_depend_on_the_order_of_records() -> None:
    baskets, _ = groceries(n=800)
    shuffled = baskets.take(np.random.default_rng(1).permutation(len(baskets)))
    assert learned(baskets).parents_by_label() == learned(shuffled).parents_by_label()


@given(st.lists(st.sets(st.sampled_from("abcdefghij"), max_size=5), min_size=1, max_size=12),
       st.integers(2, 4))  # fmt: skip
def test_learned_holds_exactly_the_items_that_occur(rows: list[set[str]], fan_out: int) -> None:
    transactions = Transactions.from_rows(rows)
    if not len(transactions.items):
        with pytest.raises(HierarchyError, match="no items"):
            learned(transactions, fan_out=fan_out)
        return
    tree = learned(transactions, fan_out=fan_out)
    assert set(tree.labels[: tree.n_leaves]) == set().union(*rows)
    assert len(tree.roots) == 1
