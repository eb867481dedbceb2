"""Frequent itemsets: the front, what it refuses, and what real data hold."""

from __future__ import annotations

import csv
import gzip
import threading
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from setveil.api import anonymize
from setveil.errors import Cancelled, ResourceLimit, TimeLimit, UsageError
from setveil.hierarchy.tree import Hierarchy
from setveil.io.transactions import read_transactions
from setveil.kernels.itemsets import projected
from setveil.kernels.itemsets.together import NOT_COUNTED
from setveil.mining.itemsets import Itemsets, frequent_itemsets, least_count
from setveil.model.guarantees import KmAnonymity
from setveil.model.numbers import exact_support
from setveil.model.transactions import Transactions, bind
from setveil.progress import Watch
from tests.shared_data import shared_data

BASKETS = Transactions.from_rows([["ale", "bun"], ["wine", "bun"], ["ale", "bun"], ["bun"]])
PRODUCTS = Hierarchy.from_parents(
    {"ale": "alcohol", "wine": "alcohol", "alcohol": "ALL", "bun": "ALL", "ALL": None}
)


def mined(least: int, **options: Any) -> dict[tuple[str, ...], int]:
    """The frequent sets of the baskets, as labels."""
    tree = options.pop("tree", None)
    if tree is None:
        labels, rows = BASKETS.vocabulary.labels, (BASKETS.indptr, BASKETS.items)
    else:
        restricted, bound = bind(BASKETS, tree)
        labels, rows = restricted.labels, (bound.indptr, bound.leaves)
        options["parent"] = restricted.parent
    weights = np.ones(len(BASKETS), np.int64)
    return dict(frequent_itemsets(*rows, weights, len(labels), least, **options).labelled(labels))


def test_one_level() -> None:
    assert mined(2) == {("ale",): 2, ("bun",): 4, ("ale", "bun"): 2}
    assert mined(2, most_items=1) == {("ale",): 2, ("bun",): 4}
    assert mined(1, kind="maximal") == {("ale", "bun"): 2, ("bun", "wine"): 1}
    assert mined(2, kind="closed") == {("bun",): 4, ("ale", "bun"): 2}
    assert mined(5) == {}


def test_across_levels() -> None:
    found = mined(3, tree=PRODUCTS)
    assert found == {("bun",): 4, ("alcohol",): 3, ("ALL",): 4, ("alcohol", "bun"): 3}
    # {bun} says all that {ALL} does, and {alcohol, bun} all that {alcohol} does.
    assert mined(3, tree=PRODUCTS, kind="closed") == {("bun",): 4, ("alcohol", "bun"): 3}
    assert mined(3, tree=PRODUCTS, kind="maximal") == {("alcohol", "bun"): 3}
    assert mined(1, tree=PRODUCTS, kind="closed", most_items=1) == {("bun",): 4}


def test_no_records_and_empty_records() -> None:
    for indptr in ([0], [0, 0, 0]):
        nothing = np.array(indptr), np.empty(0, np.int32), np.ones(len(indptr) - 1, np.int64)
        for kind in ("all", "closed", "maximal"):
            assert len(frequent_itemsets(*nothing, 0, 1, kind=kind)) == 0


@pytest.mark.parametrize(
    ("least", "options", "said"),
    [
        (0, {}, "1 record or more"),
        (1, {"kind": "some"}, "Known: all, closed, maximal"),
        (1, {"most_items": 0}, "1 item or more"),
    ],
)
def test_refusals(least: int, options: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        mined(least, **options)


def test_too_many_sets() -> None:
    with pytest.raises(ResourceLimit, match="more than 2 itemsets that at least 1 of the records hold"):
        mined(1, most_sets=2)


def test_watch_can_stop_and_hears_of_the_progress() -> None:
    heard: list[tuple[str, float | None]] = []
    mined(1, watch=Watch(lambda stage, share: heard.append((stage, share))))
    assert heard[0] == ("mining", 0.0)
    stopped = threading.Event()
    stopped.set()
    with pytest.raises(Cancelled):
        mined(1, watch=Watch(stop=stopped))
    with pytest.raises(TimeLimit):
        mined(1, watch=Watch(time_limit=-1.0))


def test_shares_become_counts_exactly() -> None:
    assert least_count(Fraction(1, 100), 100) == 1
    assert least_count(Fraction(1, 100), 101) == 2
    assert least_count(Fraction(29, 100), 100) == 29
    assert least_count(Fraction(1, 10**9), 5) == 1
    assert least_count(Fraction(1), 7) == 7
    assert least_count(Fraction(1, 2), 0) == 1
    assert least_count(12, 3) == 12
    for wrong in (Fraction(0), Fraction(3, 2), 0, -1):
        with pytest.raises(UsageError):
            least_count(wrong, 10)


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("1%", Fraction(1, 100)),
        ("0.05 %", Fraction(1, 2000)),
        ("100%", Fraction(1)),
        ("0.01", Fraction(1, 100)),
        ("1.0", Fraction(1)),
        ("1", 1),
        ("77512", 77512),
    ],
)
def test_supports_are_read(text: str, meant: Fraction | int) -> None:
    read = exact_support(text)
    assert read == meant
    assert type(read) is type(meant)


@pytest.mark.parametrize(
    "text", ["", "0", "0%", "101%", "1.5", "-1", "1e3", "a", "٣", "1,5", "%", "007"]
)
def test_supports_that_are_none(text: str) -> None:
    with pytest.raises(UsageError, match="a share of the records or a count"):
        exact_support(text)


def test_a_list_of_sets() -> None:
    sets = Itemsets(np.array([0, 1, 2, 4]), np.array([3, 5, 3, 5], np.int32), np.array([7, 9, 7]))
    assert repr(sets) == "Itemsets(3 sets of up to 2 items)"
    assert sets.as_dict() == {(3,): 7, (5,): 9, (3, 5): 7}
    assert list(sets.most_frequent(2)) == [(5,), (3,)]
    assert list(sets.labelled("zzzbza"))[2] == (("a", "b"), 7)


@pytest.mark.parametrize(
    ("share", "number"), [(Fraction(1, 1000), 23_294), (Fraction(1, 2000), 114_216)]
)
def test_webview_2(share: Fraction, number: int) -> None:
    data = read_transactions(str(shared_data("BMS-WebView-2.dat.gz")))
    weights = np.ones(len(data), np.int64)
    rows = (data.indptr, data.items, weights, len(data.vocabulary))
    least = least_count(share, len(data))
    found = frequent_itemsets(*rows, least)
    assert len(found) == number
    sets = found.as_dict()
    closed = frequent_itemsets(*rows, least, kind="closed").as_dict()
    maximal = frequent_itemsets(*rows, least, kind="maximal").as_dict()
    assert sets.items() >= closed.items() >= maximal.items()
    # Every frequent set has the support of a closed one around it: count those of two items.
    best: dict[tuple[int, ...], int] = {}
    for chosen, support in closed.items():
        for pair in {(a, b) for a in chosen for b in chosen if a < b}:
            best[pair] = max(best.get(pair, 0), support)
    assert best == {chosen: support for chosen, support in sets.items() if len(chosen) == 2}


def test_adult_has_the_seven_maximal_sets_that_cheng_lists() -> None:
    # The eight nominal attributes of the complete rows, at 40 %.
    names = ["workclass", "education", "marital-status", "occupation", "relationship", "race", "sex"]
    names.append("native-country")
    with gzip.open(shared_data("adult.csv.gz"), "rt") as file:
        people = [
            [row[name].strip() for name in names] for row in csv.DictReader(file) if complete(row)
        ]
    assert len(people) == 30_162
    data = Transactions.from_rows(people)
    found = frequent_itemsets(
        data.indptr,
        data.items,
        np.ones(len(data), np.int64),
        len(data.vocabulary),
        least_count(Fraction(40, 100), len(data)),
        kind="maximal",
    )
    assert {labels for labels, _ in found.labelled(data.vocabulary.labels)} == {
        ("Husband", "Male", "Married-civ-spouse"),
        ("Married-civ-spouse", "White"),
        ("Married-civ-spouse", "United-States"),
        ("Male", "Private", "White"),
        ("Male", "Private", "United-States"),
        ("Male", "United-States", "White"),
        ("Private", "United-States", "White"),
    }


def complete(row: dict[str, str]) -> bool:
    return all(value.strip() != "?" for value in row.values())


def test_more_than_32_bits_can_number_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(projected, "MOST", 4)
    with pytest.raises(ResourceLimit, match="itemsets are searched in fewer than") as told:
        mined(1)
    assert told.value.exit_code == 6
    # So many records are too many for the counts of pairs as well.
    monkeypatch.setattr("setveil.engines.local.count_pairs", lambda *_: NOT_COUNTED)
    with pytest.raises(ResourceLimit, match="Take a sample"):
        anonymize(BASKETS, KmAnonymity(2, 3), hierarchy=PRODUCTS, method="trim")
