"""Measures of mining: how they tell themselves, and what they say of real data."""

from __future__ import annotations

from fractions import Fraction

import pytest

import setveil as sv
from setveil.errors import UsageError
from setveil.hierarchy.tree import Hierarchy
from setveil.measure.mining import itemset_measures, mining_losses, ml2_measures, survival
from setveil.model.transactions import Transactions, bind
from setveil.release.recoding import BeforeAfter, Recoding
from tests.shared_data import shared_data


def test_names_titles_and_ranges() -> None:
    ml2, dml2, dml2_lost = ml2_measures()[-3:]
    assert (ml2.name, dml2.name, dml2_lost.name) == ("ml2", "dml2", "dml2_lost")
    assert ml2.title == "ML2, multiple level mining loss, mean at 1%, 2%, 3%"
    assert ml2_measures([Fraction(1, 2000)])[0].name == "ml2_0.05%"
    every = [*ml2_measures(), *itemset_measures()]
    assert len({measure.name for measure in every}) == len(every) == 12 + 5
    assert all(measure.about and measure.goal in ("lower", "higher") for measure in every)
    assert ml2.range == (0, 1)
    assert dml2.range == (0, None)


def test_no_records_lose_nothing() -> None:
    tree = Hierarchy.from_parents({"a": "R", "R": None})
    hierarchy, rows = bind(Transactions.from_rows([[], []]), tree)
    pair = BeforeAfter(Recoding.identity(hierarchy), rows)
    assert [measure.compute(pair) for measure in ml2_measures()] == [0] * 12
    assert [measure.compute(pair) for measure in itemset_measures()] == [1, 1, 1, 0, 0]


@pytest.mark.parametrize("share", [Fraction(0), Fraction(2)])
def test_shares_that_are_none(share: Fraction) -> None:
    tree = Hierarchy.from_parents({"a": "R", "R": None})
    hierarchy, rows = bind(Transactions.from_rows([["a"]]), tree)
    pair = BeforeAfter(Recoding.identity(hierarchy), rows)
    for ask in (lambda: mining_losses(pair, [share]), lambda: survival(pair, share)):
        with pytest.raises(UsageError, match="above 0 and at most 1"):
            ask()


def test_a_forest_takes_each_tree_from_its_own_root() -> None:
    # A table of two columns: the tree of one has three levels, that of the other two.
    forest = Hierarchy.from_parents(
        {"a1": "A1", "a2": "A1", "A1": "A", "A": None, "b1": "B", "b2": "B", "B": None}
    )
    hierarchy, rows = bind(Transactions.from_rows([["a1", "b1"], ["a2", "b2"]]), forest)
    nodes = [hierarchy.node_of_label[label] for label in ("A1", "b1", "b2")]
    loss = mining_losses(BeforeAfter(Recoding.from_cut(hierarchy, nodes), rows), [Fraction(1, 2)])[0]
    # Levels: a1 a2 b1 b2; A1 b1 b2; A B. At level 0 the release shows b1 and b2.
    assert loss.frequent_by_level == (6, 5, 3)
    assert loss.found_by_level == (2, 5, 3)
    assert loss.levels_up == 4


def test_webview_1_by_aa() -> None:
    data = sv.read_transactions(str(shared_data("BMS-WebView-1.dat.gz")))
    tree = sv.read_hierarchy(str(shared_data("BMS-WebView-1.hierarchy.synthetic.csv")))
    release = sv.anonymize(data, sv.KmAnonymity(5, 3), hierarchy=tree, method="aa")
    assert release.rows is not None
    pair = BeforeAfter(release.recoding, release.rows)
    one, two, three = mining_losses(pair)
    assert one.frequent_by_level == (77, 95, 91, 35, 3, 1)
    assert one.found_by_level == (0, 0, 10, 12, 3, 1)
    assert 1 > one.ml2 > two.ml2 > three.ml2 > 0
    assert one.dml2_lost == Fraction(557, 276)
    found = survival(pair)
    assert (found.of_items, found.kept) == (77, 0)
    assert found.label_support_error == 0
