"""The audit of two data sets against every set tried: tables and sets, both readings, all supports."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from random import Random

import pytest

from setveil.audit import PairFinding, Published, audit_pair
from setveil.errors import ResourceLimit
from setveil.model.guarantees import HiddenPatterns
from tests.oracle.pair_patterns import (
    Left,
    frequent,
    highest_growth,
    is_closed,
    is_pattern,
    raised,
)

Data = tuple[list[frozenset[str]], list[frozenset[str]]]
Paths = dict[str, tuple[str, ...]]
GROWTHS = (Fraction(3, 2), Fraction(2), Fraction(5), Fraction(35, 10))
SUPPORTS = (Fraction(1, 10), Fraction(1, 4), Fraction(2, 3), Fraction(1), 1, 2, 4)
TREE: Paths = {
    "a": ("a", "A", "T"),
    "b": ("b", "A", "T"),
    "c": ("c", "C", "T"),
    "d": ("d", "T"),
    "A": ("A", "T"),
    "C": ("C", "T"),
    "T": ("T",),
}


def random_sets(random: Random) -> tuple[Data, Paths]:
    """Sets of items and categories; no label of a row is above another one."""
    labels = sorted(TREE) if random.random() < 0.7 else list("abcdefg")
    sides = []
    for _ in range(2):
        tilt = random.uniform(0.1, 0.8)
        rows = []
        for _ in range(random.randint(1, 14)):
            chosen = [label for label in labels if random.random() < tilt]
            above = {step for label in chosen for step in TREE.get(label, (label,))[1:]}
            rows.append(frozenset(chosen) - above)
        sides.append(rows)
    return (sides[0], sides[1]), {} if "A" not in labels else TREE


def random_tables(random: Random) -> tuple[Data, Paths]:
    """Rows with a value a column, some raised, some missing; some columns are * everywhere."""
    columns = range(random.randint(1, 4))
    flat = [random.random() < 0.4 for _ in columns]
    paths: Paths = {}
    for column in columns:
        star = f"{column}=*"
        paths |= {f"{column}={value}": (f"{column}={value}", star) for value in "xy"}
        paths[star] = (star,)
    sides = []
    for _ in range(2):
        tilts = [random.random() for _ in columns]
        rows = []
        for _ in range(random.randint(1, 16)):
            row = set()
            for column in columns:
                value = "x" if random.random() < tilts[column] else random.choice("xy*")
                if random.random() < 0.9 or flat[column]:
                    row.add(f"{column}={'*' if flat[column] else value}")
            rows.append(frozenset(row))
        sides.append(rows)
    return (sides[0], sides[1]), paths


def judged(data: Data, guarantee: HiddenPatterns, paths: Paths, **given: int) -> PairFinding:
    first, second = (Published.from_rows([sorted(row) for row in rows]) for rows in data)
    return audit_pair(first, second, guarantee, paths=paths, threads=1, **given)


def closed_patterns(data: Data, guarantee: HiddenPatterns) -> tuple[set[Left], list[Left], bool]:
    """The closed patterns, the closed frequent sets, and whether any set is a pattern."""
    sets = frequent(data, guarantee.min_support)
    closed = [left for left in sets if is_closed(data, left)]
    patterns = {left for left in sets if is_pattern(data, left, guarantee.growth)}
    return patterns & set(closed), closed, bool(patterns)


@pytest.mark.parametrize("make", [random_sets, random_tables], ids=["sets", "tables"])
@pytest.mark.parametrize("block", range(6))
def test_the_audit_finds_what_brute_force_finds(make, block: int) -> None:  # type: ignore[no-untyped-def]
    answers: Counter[tuple[bool, bool]] = Counter()
    for seed in range(50 * block, 50 * block + 50):
        random = Random(seed)
        data, tree = make(random)
        high = (
            (raised(data[0], tree), raised(data[1], tree))
            if len(tree) < 10 or random.random() < 0.5
            else None
        )
        for every_level in (False, True) if high else (False,):
            guarantee = HiddenPatterns(random.choice(GROWTHS), random.choice(SUPPORTS), every_level)
            seen = high if every_level and high else data
            patterns, closed, is_broken = closed_patterns(seen, guarantee)
            finding = judged(data, guarantee, tree if high else {}, witnesses=1000)
            assert finding.holds == bool(finding) == (not is_broken)
            assert finding.patterns == len(patterns)
            assert finding.checked == len(closed)
            assert {
                Left(one.labels, one.more_frequent_in, one.count, one.count_elsewhere)
                for one in finding.witnesses
            } == patterns
            assert finding.highest_growth == highest_growth(seen, closed)
            if finding.holds:
                every = frequent(seen, guarantee.min_support)
                assert finding.highest_growth == highest_growth(seen, every)
            expected = len(closed_patterns(high, guarantee)[0]) if high else finding.patterns
            assert finding.patterns_every_level == expected
            answers[finding.holds, every_level] += 1
    assert answers[True, False]
    assert answers[False, False]
    assert answers[False, True]


def test_threads_change_nothing() -> None:
    random = Random(7)
    rows = [
        [sorted(set(random.choices("abcdefghijkl", k=random.randint(1, 6)))) for _ in range(400)]
        for _ in range(2)
    ]
    first, second = (Published.from_rows(side) for side in rows)
    guarantee = HiddenPatterns("1.5", 3)
    found = [
        audit_pair(first, second, guarantee, witnesses=5, threads=threads) for threads in (1, 2, 7)
    ]
    assert found[0].patterns > 100
    assert found[0] == found[1] == found[2]


def test_growth_is_compared_exactly() -> None:
    """One record more or less at either side of the border, with a growth of many digits."""
    # The second growth does not fit into the numbers of a machine.
    for growth in (Fraction(999_999_999, 999_999_998), 1 + Fraction(1, 10**30)):
        for other, holds in ((1000, True), (999, False)):
            data = ([frozenset("a")] * 1000, [frozenset("a")] * other + [frozenset()] * (1000 - other))
            assert judged(data, HiddenPatterns(growth), {}).holds is holds
    # 3 of 4 against 1 of 5 is 15/4 exactly.
    data = (
        [frozenset("a")] * 3 + [frozenset()],
        [frozenset("a")] + [frozenset()] * 4,
    )
    assert not judged(data, HiddenPatterns("15/4"), {}).holds
    finding = judged(data, HiddenPatterns("3.750000001"), {})
    assert finding.holds
    assert finding.highest_growth == Fraction(15, 4)


def test_columns_that_say_nothing_cost_nothing() -> None:
    """Sixty root values in every row are one closed set, not two to the sixty."""
    stars = [f"c{number}=*" for number in range(60)]
    rows = [[*stars, "x=1"]] * 30 + [[*stars, "x=2"]] * 30
    finding = audit_pair(
        Published.from_rows(rows), Published.from_rows(rows[20:]), HiddenPatterns(5), work_limit=20_000
    )
    assert finding.holds
    # The stars alone, and with either value, in both data sets.
    assert finding.checked == 6


def test_a_chain_of_rows_is_no_danger() -> None:
    """A closed set for each of two thousand rows, each inside the next."""
    labels = [f"{number:05}" for number in range(2_000)]
    rows = Published.from_rows([labels[:end] for end in range(1, 2_001)])
    finding = audit_pair(rows, rows, HiddenPatterns(2, 1))
    assert finding.holds
    assert finding.checked == 4_000
    assert finding.highest_growth == 1


def test_work_that_is_too_much_is_told() -> None:
    random = Random(3)
    labels = [f"i{number}" for number in range(16)]
    same = [sorted(random.sample(labels, 11)) for _ in range(60)]
    rows = Published.from_rows(same)
    with pytest.raises(ResourceLimit, match="more than 1,000 steps"):
        audit_pair(rows, rows, HiddenPatterns(2, 1), work_limit=1_000)
    # Once a pattern is found the answer is no, whatever is left to count.
    other = Published.from_rows([["z"]])
    finding = audit_pair(other, rows, HiddenPatterns(2, 1), work_limit=1_000)
    assert (finding.holds, finding.counted_all) == (False, False)
    assert "at least" in str(finding)


def test_the_stricter_reading_is_given_up_alone() -> None:
    """Past the work limit nothing is told of every level; the promise is still judged."""
    labels = [f"i{number}" for number in range(40)]
    rows = Published.from_rows([[label] for label in labels])
    paths = {
        label: (label, *(f"{number % size} of {size}" for size in (20, 10, 5)), "T")
        for number, label in enumerate(labels)
    }
    guarantee = HiddenPatterns(2, 1)
    plain = audit_pair(rows, rows, guarantee, paths=paths)
    assert plain.patterns_every_level == 0
    few = audit_pair(rows, rows, guarantee, paths=paths, work_limit=1_500)
    assert few.holds
    assert few.patterns_every_level is None
    with pytest.raises(ResourceLimit):
        audit_pair(rows, rows, HiddenPatterns(2, 1, every_level=True), paths=paths, work_limit=1_500)
