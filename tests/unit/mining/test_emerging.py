"""Emerging patterns: the front, what it refuses, and how its results are told."""

from __future__ import annotations

import csv
import threading
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from setveil.errors import Cancelled, TimeLimit, UsageError
from setveil.mining import emerging
from setveil.mining.emerging import EmergingPattern, EmergingPatterns, emerging_patterns
from setveil.model.numbers import exact_growth
from setveil.model.transactions import Transactions
from setveil.progress import Watch

BEFORE = Transactions.from_rows([["ale", "bun"], ["ale"], ["bun"], ["ale", "bun"]])
AFTER = Transactions.from_rows([["bun", 'o"a,t'], ["ale", 'o"a,t'], ["bun", 'o"a,t']])
NAMES = ("last <year>", "this year")


def mined(growth: Any = 2, **options: Any) -> EmergingPatterns:
    options = {"min_support": Fraction(1, 2), "names": NAMES} | options
    return emerging_patterns(BEFORE, AFTER, growth=growth, **options)


def test_patterns_with_their_counts() -> None:
    oat, bun_oat, ale_bun, ale = mined()
    assert oat == EmergingPattern(('o"a,t',), "this year", 3, 3, 0, 4)
    assert bun_oat.items == ("bun", 'o"a,t')
    assert ale_bun == EmergingPattern(("ale", "bun"), "last <year>", 2, 4, 0, 3)
    assert (ale.growth, ale.told_growth, ale.is_jumping) == (Fraction(9, 4), "2.25", False)
    assert (oat.growth, oat.told_growth, oat.is_jumping) == (None, "infinite", True)
    assert (ale.share, ale.share_elsewhere) == (Fraction(3, 4), Fraction(1, 3))


def test_the_bounds_are_exact() -> None:
    assert ("ale",) in {pattern.items for pattern in mined("9/4")}
    assert ("ale",) in {pattern.items for pattern in mined(2.25)}
    assert ("ale",) not in {pattern.items for pattern in mined(Fraction(9, 4) + Fraction(1, 10**15))}
    # Two of three records are less than 67 %, and as much as two.
    assert ("bun", 'o"a,t') not in {pattern.items for pattern in mined(min_support="67%")}
    assert ("bun", 'o"a,t') in {pattern.items for pattern in mined(min_support=2)}


def test_one_way_minimal_and_short() -> None:
    assert [pattern.items for pattern in mined(both_ways=False)] == [('o"a,t',), ("bun", 'o"a,t')]
    assert [pattern.items for pattern in mined(minimal=True)] == [('o"a,t',), ("ale",)]
    assert [pattern.items for pattern in mined(most_items=1)] == [('o"a,t',), ("ale",)]


def test_a_minimal_pattern_may_be_far_below() -> None:
    """{a} grows, {a, b} and {a, c} do not, {a, b, c} does again: it has {a} in it all the same."""
    here = Transactions.from_rows([["a", "b", "c"], ["a"], ["a"], ["a"], []])
    there = Transactions.from_rows([["a", "b"], ["a", "c"], [], [], [], [], []])
    found = emerging_patterns(there, here, growth=2, min_support=1, both_ways=False)
    items = {"".join(pattern.items) for pattern in found}
    assert {"a", "abc"} <= items
    assert not {"ab", "ac"} & items
    least = emerging_patterns(there, here, growth=2, min_support=1, both_ways=False, minimal=True)
    assert {"".join(pattern.items) for pattern in least} == {"a", "bc"}


def test_data_sets_without_common_items_and_empty_records() -> None:
    one, other = Transactions.from_rows([["a"], []]), Transactions.from_rows([["b"]])
    assert [pattern.items for pattern in emerging_patterns(one, other, growth=9)] == [("b",), ("a",)]
    nothing = Transactions.from_rows([[], []])
    assert len(emerging_patterns(nothing, nothing, growth=2)) == 0
    assert len(emerging_patterns(nothing, nothing, growth=2, minimal=True)) == 0
    assert [p.items for p in emerging_patterns(nothing, other, growth=2)] == [("b",)]


@pytest.mark.parametrize(
    "growth", [1, 0, -3, "1", "0.5", "x", "", "2e3", "5/0", "nan", float("inf"), True]
)
def test_growths_that_are_none(growth: Any) -> None:
    with pytest.raises(UsageError, match="a number above 1") as caught:
        exact_growth(growth)
    assert caught.value.exit_code == 2


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"min_support": 0}, "1 record or more"),
        ({"min_support": Fraction(2)}, "at most 1"),
        ({"min_support": "two"}, "a share of the records or a count"),
        ({"most_items": 0}, "1 item or more"),
        ({"names": ("a", "a")}, "the same name"),
    ],
)
def test_refusals(options: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        mined(**options)


def test_a_data_set_without_records_is_refused() -> None:
    with pytest.raises(UsageError, match="'second' has no records"):
        emerging_patterns(BEFORE, Transactions.from_rows([]), growth=2)


def test_a_list_of_patterns() -> None:
    found = mined()
    assert (len(found), repr(found)) == (
        4,
        "EmergingPatterns(4 patterns, 'last <year>' and 'this year')",
    )
    assert found[0] == next(iter(found))
    assert found[-1].items == ("ale",)
    assert [pattern.items for pattern in found[1:3]] == [("bun", 'o"a,t'), ("ale", "bun")]
    assert len(found.jumping) == 3
    assert len(found.more_frequent_in("this year")) == 2
    with pytest.raises(KeyError, match="no data set"):
        found.more_frequent_in("first")
    with pytest.raises(IndexError):
        found[4]


def test_the_same_as_text_html_csv_and_plain_values() -> None:
    found = mined()
    assert str(found).splitlines() == [
        "4 emerging patterns: 2 more frequent in last <year> (4 records), 2 more frequent in this year "
        "(3 records); 3 jumping.",
        '  o"a,t: only in this year (100.0% against 0.0%)',
        '  bun, o"a,t: only in this year (66.7% against 0.0%)',
        "  ale, bun: only in last <year> (50.0% against 0.0%)",
        "  ale: 2.25 times in last <year> (75.0% against 33.3%)",
    ]
    html = found._repr_html_()
    assert html.count("<tr>") == 5
    assert "last &lt;year&gt;" in html
    assert "<year>" not in html
    [head, *lines] = csv.reader(found.to_csv().splitlines())
    assert head[:2] == ["more_frequent_in", "growth"]
    assert lines[0] == ["this year", "inf", "1", "0", "3", "0", "1", '"o""a,t"']
    assert next(csv.reader([lines[1][-1]])) == ["bun", 'o"a,t']
    assert lines[3][1:4] == ["2.25", "0.75", "0.333333333"]
    plain = found.as_dict(top=1)
    assert plain["found"] == 4
    assert plain["jumping"] == 3
    assert plain["options"] == {
        "growth": "2",
        "min_support": "1/2",
        "both_ways": True,
        "minimal": False,
        "most_items": None,
        "kind": "all",
    }
    (first,) = plain["patterns"]  # type: ignore[misc]
    assert first == found.as_dicts()[0]
    assert (first["growth"], first["growth_exact"], first["jumping"]) == (None, "infinite", True)
    assert found.as_dicts()[3]["growth_exact"] == "9/4"


def test_long_lists_are_cut() -> None:
    wide = Transactions.from_rows([list("abcde")])
    found = emerging_patterns(wide, BEFORE, growth=2, names=("wide", "before"))
    assert len(found.more_frequent_in("wide")) == 31
    assert str(found).endswith("more")
    assert str(mined(both_ways=False)).startswith("2 emerging patterns: 2 more frequent in this year")
    assert mined(minimal=True, both_ways=False).summary().startswith("1 minimal emerging pattern: ")


def test_watch_can_stop_and_hears_of_the_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(emerging, "AT_ONCE", 2)
    heard: list[tuple[str, float | None]] = []
    found = mined(minimal=True, watch=Watch(lambda stage, share: heard.append((stage, share))))
    assert len(found) == 2
    assert {stage for stage, _ in heard} >= {"mining", "counting on the other side"}
    assert "telling the minimal ones" in {stage for stage, _ in heard}
    stopped = threading.Event()
    stopped.set()
    with pytest.raises(Cancelled):
        mined(watch=Watch(stop=stopped))
    with pytest.raises(TimeLimit):
        mined(watch=Watch(time_limit=-1.0))


def test_the_bound_on_the_other_side_does_not_overflow() -> None:
    support = np.array([10**9, 7, 7], np.int64)
    most = emerging.most_elsewhere(support, 10**10, 10**11, Fraction(10**9 + 1, 10**9))
    assert most.tolist() == [9_999_999_990, 69, 69]
