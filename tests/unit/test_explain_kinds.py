"""Explanations of tables in buckets and of two data sets, against brute force."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

import setveil as sv
from setveil.errors import UsageError
from setveil.explain import NOTHING, PERSONAL, explain_all
from setveil.model.layout import NO_VALUE
from setveil.model.microdata import Microdata
from setveil.model.pattern_pair import PatternPair
from setveil.model.rules import NegativeRule
from setveil.release.buckets import Bucketing, BucketRelease
from setveil.release.pair_release import PairRelease
from setveil.release.recoding import PairRecoding
from tests.oracle import pair_patterns
from tests.oracle.buckets import Person, valid_values_by_permutation
from tests.unit.pair_cases import COLUMNS, DEGREES, FOOD

AGES = ("20", "30", "40")
ILLS = ("flu", "gout", "cold", NO_VALUE)


def random_buckets(seed: int, guarantee: Any) -> BucketRelease:
    random = Random(seed)
    number = random.randint(4, 14)
    columns = {
        "age": [random.choice(AGES) for _ in range(number)],
        "sex": [random.choice("FM") for _ in range(number)],
        "ill": [random.choice(ILLS[: 3 + seed % 2]) for _ in range(number)],
    }
    data = Microdata.from_columns(columns, "ill")
    buckets = np.array([place % max(1, number // 5) for place in range(number)], dtype=np.int32)
    rules = [
        NegativeRule(tuple(sorted(random.sample([("age", random.choice(AGES)), ("sex", "F")], 1))), ill)
        for ill in random.sample(ILLS[:3], random.randint(0, 3))
    ]
    return BucketRelease(
        data=data,
        bucketing=Bucketing(buckets),
        rules=tuple(dict.fromkeys(rules)) if guarantee.takes_rules else (),
        guarantee=guarantee,
        method="anatomy",
        left_out=(("20", "F", "flu"),),
    )


def meets(row: dict[str, str], rule: NegativeRule) -> bool:
    return all(row[name] == cell for name, cell in rule.conditions)


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize("guarantee", [sv.MatchingDiversity(2), sv.LDiversity(2)])
def test_possible_values_are_those_of_all_ways_to_hand_them_out(seed: int, guarantee: Any) -> None:
    release = random_buckets(seed, guarantee)
    tables, values = release.tables, release.data.values
    header = tables.quasi_header[:-1]
    shown = [dict(zip(header, row, strict=False)) for row in tables.quasi_rows()]
    people = [
        Person(int(value), frozenset(values.index(r.value) for r in release.rules
               if r.value in values and meets(row, r)))
        for row, value in zip(shown, tables.value_of_row, strict=True)
    ]  # fmt: skip
    answers = explain_all(release, list(range(1, len(shown) + 1)), top=1)
    for place, answer in enumerate(answers):
        (row,) = answer.rows
        assert (row.row, row.shown) == (place + 1, shown[place])
        assert row.value == values[people[place].value]
        members = np.flatnonzero(tables.bucket_of_row == tables.bucket_of_row[place]).tolist()
        group = [people[member] for member in members]
        assert (row.bucket, row.size) == (int(tables.bucket_of_row[place]) + 1, len(group))
        valid = {values[v] for v in valid_values_by_permutation(group, members.index(place))}
        held = [values[person.value] for person in group]
        assert {each.value: each.records for each in row.values} == {v: held.count(v) for v in held}
        assert {each.value for each in row.values if each.possible} == valid
        assert row.possible == len(valid - {NO_VALUE})
        for each in row.values:
            against = [str(r) for r in sorted(release.rules)
                       if r.value == each.value and meets(shown[place], r)]  # fmt: skip
            assert list(each.ruled_out_by) == against
            assert not (each.possible and against)
            if not each.possible and not against:
                assert "leaves somebody else with none" in str(each) or each.value == NO_VALUE
        real = [value for value in held if value != NO_VALUE]
        assert row.with_value == len(real)
        assert row.most_records == max(map(real.count, real), default=0)


def test_the_share_is_told_against_one_in_l() -> None:
    data = Microdata.from_columns({"sex": list("FFMM"), "ill": ["flu", "flu", "gout", "cold"]}, "ill")
    release = BucketRelease(
        data=data,
        bucketing=Bucketing(np.zeros(4, dtype=np.int32)),
        guarantee=sv.LDiversity(2),
        method="anatomy",
    )
    told = str(sv.explain(release, {"sex": "F"}, top=1))
    assert told.splitlines()[0] == "2 published rows have sex=F."
    assert (
        "flu, the most frequent, is in 2 of 4 records; at most 1 in 2 may have a value: the bucket "
        in told
    )
    assert "cannot do without one of the others" in told
    assert "... and 1 more row" in told
    assert "at least 2 are promised" in told


@pytest.mark.parametrize(
    ("question", "rows", "left_out"),
    [
        ("age=20", 2, 1),
        ({"age": "20", "sex": "F"}, 1, 1),
        ("age=20, sex=F", 1, 1),
        ("sex=M,age=30", 0, 0),
        (" 3 ", 1, 0),
        (3, 1, 0),
        ("age=*", 4, 1),
        ("age=90", 0, 1),
    ],
)
def test_rows_are_named_by_what_they_show_or_by_their_place(
    question: Any, rows: int, left_out: int
) -> None:
    columns = {"age": ["20", "20", "30", "40"], "sex": list("FMFM"), "ill": ["flu", "gout"] * 2}
    lost = ("90", "F", "flu") if question == "age=90" else ("20", "F", "flu")
    release = BucketRelease(
        data=Microdata.from_columns(columns, "ill"),
        bucketing=Bucketing(np.array([0, 0, 1, 1], dtype=np.int32)),
        guarantee=sv.LDiversity(2),
        method="anatomy",
        left_out=(lost,),
    )
    answer = sv.explain(release, question)
    assert (answer.rows_total, answer.left_out) == (rows, left_out)
    assert len(answer.rows) == rows
    assert answer.as_dict()["personal_data"] == PERSONAL
    assert list(answer.as_dict())[-1] == "conclusion"
    assert "<pre>" in answer._repr_html_()


@pytest.mark.parametrize(
    ("question", "said"),
    [
        (0, "no row 0"),
        (5, "no row 5"),
        ("flu", "names no row"),
        ("job=cook", "names no row"),
        ({"job": "cook"}, "'job' is no quasi-identifying column"),
        ({"ill": "flu"}, "'ill' is no quasi-identifying column"),
        ("age=99", "'99' is neither"),
        ("age=20,age=30", "named twice"),
    ],
)
def test_what_names_no_row_is_refused(question: Any, said: str) -> None:
    columns = {"age": ["20", "20", "30", "40"], "sex": list("FMFM"), "ill": ["flu", "gout"] * 2}
    release = sv.anonymize(Microdata.from_columns(columns, "ill"), sv.LDiversity(2))
    with pytest.raises(UsageError, match=said):
        sv.explain(release, question)


def different_pair(seed: int) -> PatternPair:
    """Two data sets that differ, as sets or as tables."""
    random = Random(seed)
    if seed % 2:
        leaves = list(FOOD.labels[: FOOD.n_leaves])
        first, second = (
            sv.Transactions.from_rows([random.sample(leaves, random.randint(1, 4)) for _ in range(n)])
            for n in (7, 9)
        )
        return PatternPair.of_sets(first, second, FOOD, names=("old", "new"))
    values = {"sex": "FM", "education": ["BSc", "MSc", "none"], "job": ["a,b", "ü", "nurse"]}
    first, second = (
        sv.Transactions.from_rows(
            [[f"{name}={random.choice(list(values[name]))}" for name in COLUMNS] for _ in range(n)]
        )
        for n in (7, 9)
    )
    return PatternPair.of_tables(first, second, COLUMNS, {"education": DEGREES}, names=("old", "new"))


def raised_at_random(pair: PatternPair, seed: int) -> PairRecoding:
    random, tree = Random(seed), pair.hierarchy
    first, second = (
        np.array(
            [random.choice([leaf, *tree.ancestors(leaf)]) for leaf in side.leaves.tolist()],
            dtype=np.int32,
        )
        for side in pair.sides
    )
    return PairRecoding((first, second))


def as_asked(release: PairRelease, label: str) -> tuple[list[list[frozenset[str]]], int]:
    """Both data sets with the label as itself again, by hand; and how many records that changes."""
    tree, changed, sides = release.hierarchy, 0, []
    for rows, nodes in zip(release.pair.sides, release.recoding.node_by_entry, strict=True):
        told = []
        for start, end in pairwise(rows.indptr.tolist()):
            row, was = set(), False
            for leaf, node in zip(
                rows.leaves[start:end].tolist(), nodes[start:end].tolist(), strict=True
            ):
                path, now = tree.path(tree.labels[leaf]), tree.labels[node]
                if label in path and path.index(now) > path.index(label):
                    now, was = label, True
                row.add(now)
            told.append(frozenset(row))
            changed += was
        sides.append(told)
    return sides, changed


@pytest.mark.parametrize("seed", range(30))
@pytest.mark.parametrize("every_level", [False, True])
def test_patterns_that_would_appear_are_those_of_all_sets(seed: int, every_level: bool) -> None:
    pair = different_pair(seed)
    growth, support = Fraction(3, 2), (Fraction(1, 4), 2)[seed // 2 % 2]
    release = PairRelease(
        pair=pair,
        recoding=raised_at_random(pair, seed),
        guarantee=sv.HiddenPatterns(growth, support, every_level=every_level),
        method="hide-patterns",
    )
    tree = pair.hierarchy
    paths = {label: tree.path(label) for label in tree.labels}
    for label in Random(seed).sample(sorted(tree.labels), 3):
        answer = sv.explain(release, label, top=10**6)
        sides, changed = as_asked(release, label)
        assert answer.raised == changed
        assert [side.records for side in answer.sides] == [
            sum(any(label in tree.path(tree.labels[leaf]) for leaf in row) for row in _rows(rows))
            for rows in pair.sides
        ]
        if not changed:
            assert answer.conclusion == NOTHING and not answer.patterns.total
            continue
        if every_level:
            sides = [pair_patterns.raised(side, paths) for side in sides]
        both = (sides[0], sides[1])
        expected = {
            (plainest(left.labels, tree) if every_level else frozenset(left.labels),
             pair.names[left.side - 1], left.count, left.elsewhere)
            for left in pair_patterns.frequent(both, support)
            if pair_patterns.is_pattern(both, left, growth) and pair_patterns.is_closed(both, left)
        }  # fmt: skip
        shown = [one.pattern for one in answer.patterns.shown]
        found = {(frozenset(p.items), p.more_frequent_in, p.count, p.count_elsewhere) for p in shown}
        assert found == expected
        assert answer.patterns.total == len(shown) == len(expected)
        shares = [pattern.share for pattern in shown]
        assert shares == sorted(shares, reverse=True)
        assert ("nothing forces it any more" in answer.conclusion) == (not expected)
        assert ("forced" in answer.conclusion.split(",")[0]) == bool(expected)


def _rows(rows: Any) -> list[list[int]]:
    leaves = rows.leaves.tolist()
    return [leaves[start:end] for start, end in pairwise(rows.indptr.tolist())]


def plainest(labels: tuple[str, ...], tree: sv.Hierarchy) -> frozenset[str]:
    return frozenset(one for one in labels if not any(one in tree.path(other)[1:] for other in labels))


@pytest.fixture
def hidden() -> PairRelease:
    rows = (
        [["ale", "bun"], ["ale"], ["ale", "tea"], ["bun"]],
        [["tea"], ["tea", "bun"], ["bun"], ["tea"]],
    )
    tree = sv.Hierarchy.from_parents(
        {"ale": "drink", "tea": "drink", "bun": "all", "drink": "all", "all": None}
    )
    pair = PatternPair.of_sets(*map(sv.Transactions.from_rows, rows), tree, names=("old", "new"))
    return sv.anonymize(pair, sv.HiddenPatterns(2, "25%"))


def test_a_release_and_its_folder_tell_the_same(hidden: PairRelease, tmp_path: Path) -> None:
    sv.publish(hidden, tmp_path / "out", allow_useless=True)
    for label in ("ale", "bun", "drink"):
        answer = sv.explain(hidden, label)
        assert answer.as_dict() == sv.explain(tmp_path / "out", label).as_dict()
    told = str(sv.explain(hidden, "ale", top=1))
    assert "'ale' is raised in 3 records." in told
    assert "in 3 of 4 records of old: 3 as 'drink'" in told
    assert "ale: 3 of 4 records of old, 0 of 4 records of new; only there" in told
    assert "... and 4 more" in told
    assert sv.explain(hidden, "bun").conclusion == NOTHING


@pytest.mark.parametrize("question", ["gin", {"age": "3"}, 3])
def test_what_is_no_value_is_refused(hidden: PairRelease, question: Any) -> None:
    with pytest.raises(UsageError, match=r"neither an item|a label is needed"):
        sv.explain(hidden, question)


def test_a_report_of_a_release_of_any_kind(hidden: PairRelease, tmp_path: Path) -> None:
    columns = {"sex": ["F", "M"] * 6, "ill": ["flu", "flu", "gout", "gout", "cold", "cold"] * 2}
    table = sv.anonymize(Microdata.from_columns(columns, "ill"), sv.MatchingDiversity(2))
    baskets = sv.Transactions.from_rows([["ale"], ["ale"], ["tea"], ["tea"]])
    sets = sv.anonymize(baskets, sv.KmAnonymity(2, 1), hierarchy=hidden.hierarchy)
    for name, release, own in (
        ("table", table, "What was lost"),
        ("pair", hidden, "Patterns before"),
        ("sets", sets, "All measures"),
    ):
        with pytest.raises(UsageError, match="Name a file"):
            sv.report(release)
        before = sv.report(release, output=tmp_path / f"{name}.html").read_text()
        folder = tmp_path / name
        sv.publish(release, folder, allow_useless=True)
        page = sv.report(folder, baskets if name == "sets" else None)
        assert page == folder.with_name(f"{name}.private") / "report.html"
        assert own in before and own in page.read_text()
        assert sv.audit(folder).holds
        assert sv.report(folder, None if name != "sets" else baskets) == page  # it is still ours
