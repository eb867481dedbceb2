"""New records of two data sets under a release: each value as before, and the union audited."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

import setveil as sv
from setveil.errors import HierarchyError, UsageError
from setveil.extend import PairExtension
from setveil.model.guarantees import HiddenPatterns
from setveil.model.pattern_pair import PatternPair
from setveil.release.pair_release import PairRelease, seal_of_pair
from setveil.release.recoding import PairRecoding
from tests.contract.cases import public_bytes
from tests.oracle.pair_patterns import frequent, is_pattern

Rows = list[list[str]]
TREE = sv.Hierarchy.from_parents(
    {"ale": "drink", "tea": "drink", "bun": "bread", "rye": "bread", "ham": "all"}
    | {"drink": "all", "bread": "all", "all": None}
)
FORMS = ({"ale": "drink", "tea": "drink"}, {"ale": "drink", "tea": "drink", "bun": "bread"})
"""What is published as something else, in each data set."""
ITEMS = ("ale", "tea", "bun", "rye")


def draw(random: Random, records: int) -> Rows:
    return [random.sample(ITEMS, random.randint(0, 3)) for _ in range(records)]


def pair_of(first: Rows, second: Rows) -> PatternPair:
    sides = [sv.Transactions.from_rows(rows) for rows in (first, second)]
    return PatternPair.of_sets(*sides, TREE, names=("before", "after"))


def release_of(first: Rows, second: Rows, guarantee: HiddenPatterns) -> PairRelease:
    """A release that publishes each value of a data set in one form, whether it keeps the promise."""
    pair = pair_of(first, second)
    nodes = []
    for side, forms in zip(pair.sides, FORMS, strict=True):
        labels = [TREE.labels[leaf] for leaf in side.leaves.tolist()]
        nodes.append([TREE.node_of_label[forms.get(label, label)] for label in labels])
    first_nodes, second_nodes = (np.array(one, dtype=np.int32) for one in nodes)
    return PairRelease(
        pair=pair,
        recoding=PairRecoding((first_nodes, second_nodes)),
        guarantee=guarantee,
        method="hide-patterns",
        options={"frequent_support": 0.4},
        seal=seal_of_pair(pair),
    )


def by_hand(rows: Rows, place: int) -> list[frozenset[str]]:
    return [frozenset(FORMS[place].get(item, item) for item in row) for row in rows]


def published(release: PairRelease, place: int) -> Counter[frozenset[str]]:
    return Counter(frozenset(row) for row in release.published.sides[place].rows())


@pytest.mark.parametrize("seed", range(40))
def test_the_union_is_what_one_recoding_of_both_would_publish(seed: int, tmp_path: Path) -> None:
    random = Random(seed)
    old, new = ((draw(random, 12), draw(random, 12)) for _ in range(2))
    every = list(ITEMS)
    old[0].append(every[:])
    old[1].append(every[:])
    new = (new[0][: random.randint(0, 9)], new[1][: random.randint(0, 9)])
    growth = random.choice([Fraction(3, 2), Fraction(2), Fraction(6)])
    release = release_of(*old, HiddenPatterns(growth, "1/2"))
    union = sv.apply(release, pair_of(*new))
    data = (by_hand(old[0] + new[0], 0), by_hand(old[1] + new[1], 1))
    left = [one for one in frequent(data, Fraction(1, 2)) if is_pattern(data, one, growth)]
    assert union.holds == (not left)
    assert union.new_records == (len(new[0]), len(new[1]))
    assert (union.alone is None) == (not all(new))
    if new[0] and new[1]:
        few = (by_hand(new[0], 0), by_hand(new[1], 1))
        assert union.alone == (
            not any(is_pattern(few, one, growth) for one in frequent(few, Fraction(1, 2)))
        )
    if union.release is None:
        assert left and "of them" not in str(union)
        return
    assert [published(union.release, place) for place in (0, 1)] == [*map(Counter, data)]
    assert union.release.seal is not None
    whole = pair_of(old[0] + new[0], old[1] + new[1])
    assert seal_of_pair(whole, bytes.fromhex(union.release.seal.key)) == union.release.seal
    if not sv.audit(release).holds:
        return
    # What is read back takes the same records, whatever their order.
    sv.publish(release, tmp_path / "old", allow_useless=True)
    again: Any = sv.read_release(tmp_path / "old")
    other = sv.apply(again, pair_of(new[0][::-1], new[1][::-1])).release
    assert other is not None
    for name, one in (("one", union.release), ("two", other)):
        sv.publish(one, tmp_path / name, allow_useless=True)
    assert public_bytes(tmp_path / "one") == public_bytes(tmp_path / "two")
    assert sv.audit(tmp_path / "one").holds


def small() -> PairRelease:
    rows = [["ale", "bun"], ["tea", "bun"], ["rye"], ["rye", "ham"], ["ale", "rye"]]
    return release_of(rows, rows[::-1], HiddenPatterns(3, "9/10"))


def test_the_union_can_be_measured_and_takes_records_again(tmp_path: Path) -> None:
    union = sv.apply(small(), pair_of([["ale"]], [["bun"]])).release
    assert union is not None
    assert (union.method, union.made_by) == ("apply", "hide-patterns")
    sv.publish(union, tmp_path / "one", allow_useless=True)
    again: Any = sv.read_release(tmp_path / "one")
    assert sv.measure(again).raised == union.raised
    twice = sv.apply(again, pair_of([], [["tea"]])).release
    assert twice is not None
    assert (twice.method, twice.made_by) == ("apply", "hide-patterns")
    assert twice.records == (6, 7)


def test_a_value_with_two_forms_is_refused_in_numbers() -> None:
    release = small()
    first = release.recoding.node_by_entry[0].copy()
    place = int(np.flatnonzero(release.pair.sides[0].leaves == TREE.node_of_label["rye"])[0])
    first[place] = TREE.node_of_label["bread"]
    local = PairRelease(
        pair=release.pair,
        recoding=PairRecoding((first, release.recoding.node_by_entry[1])),
        guarantee=release.guarantee,
        method="hide-patterns",
    )
    with pytest.raises(UsageError) as raised:
        sv.apply(local, pair_of([["ale"]], []))
    (problem,) = raised.value.problems
    assert problem.code == "local-recoding"
    assert problem.what == (
        "in the first data set 1 of 5 values have more than one published form: one has 2, in 2 and 1 "
        "records. How a new record's would be published is not told."
    )
    assert "rye" not in problem.what + problem.remedy


def test_a_value_is_known_in_the_data_set_that_it_was_in() -> None:
    rows = [["ale"], ["tea"]]
    release = release_of(rows, [["ale"], ["tea"], ["rye"]], HiddenPatterns(9, 3))
    assert sv.apply(release, pair_of([], [["rye"]])).holds
    with pytest.raises(HierarchyError, match="'rye' is not among those that the first data set"):
        sv.apply(release, pair_of([["rye"]], []))
    union = sv.apply(release, pair_of([["rye", "ale"]], [["ham"]]), unseen="suppress")
    assert union.release is not None
    assert (union.unseen, union.new_records) == (2, (1, 1))
    assert published(union.release, 0) == Counter(map(frozenset, [["drink"]] * 3))
    assert published(union.release, 1)[frozenset()] == 1
    assert any("left out: 2." in notice for notice in union.release.notices)
    assert not any("rye" in notice or "ham" in notice for notice in union.release.notices)


def test_wrong_data_are_refused() -> None:
    release, new = small(), pair_of([["ale"]], [])
    table = PatternPair.of_tables(
        sv.Transactions.from_rows([["job=cook"]]), sv.Transactions.from_rows([["job=cook"]]), ["job"]
    )
    with pytest.raises(UsageError, match="other columns"):
        sv.apply(release, table)
    with pytest.raises(UsageError, match="new records of two data sets"):
        sv.apply(release, sv.Transactions.from_rows([["ale"]]))  # type: ignore[call-overload]
    with pytest.raises(UsageError, match="whole hierarchy"):
        sv.apply(release, new, hierarchy=TREE)  # type: ignore[call-overload]
    with pytest.raises(UsageError, match="unseen"):
        sv.apply(release, new, unseen="maybe")
    category = sv.Transactions.from_rows([["drink"]])
    flat = PatternPair.of_sets(category, sv.Transactions.from_rows([]))
    with pytest.raises(HierarchyError, match="category of the first data set"):
        sv.apply(release, flat)


def test_classes_must_be_those_of_the_release() -> None:
    sides = [sv.Transactions.from_rows([["job=cook"], ["job=guard"]]) for _ in range(2)]

    def table(*classes: str) -> PatternPair:
        return PatternPair.of_tables(*sides, ["job"], classes=("pay", (classes[0], classes[1])))

    pair = table("high", "low")
    release = sv.anonymize(pair, HiddenPatterns(3))
    assert sv.apply(release, pair).holds
    assert sv.apply(release, PatternPair.of_tables(*sides, ["job"])).holds
    with pytest.raises(UsageError, match="other order"):
        sv.apply(release, table("low", "high"))


def test_a_no_says_what_would_be_left() -> None:
    union = sv.apply(small(), pair_of([["ham"]] * 200, []))
    assert isinstance(union, PairExtension)
    assert not union.holds and union.release is None
    assert "200 and 0 new records does not keep the promise: 1 pattern would be left" in str(union)
    plain = union.as_dict()
    assert plain["new_records"] == [200, 0]
    assert plain["new_records_keep_the_promise_alone"] is None
