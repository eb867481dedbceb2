"""The audit of buckets against the oracle, against the methods' own check, and rule by rule."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from random import Random

import numpy as np
import pytest

from setveil.audit.buckets import PublishedBuckets, audit_buckets
from setveil.audit.conditions import ruled_out
from setveil.model.guarantees import LDiversity, MatchingDiversity
from setveil.model.hierarchy import Hierarchy
from setveil.model.microdata import Microdata
from setveil.model.rules import NegativeRule, impossible_values
from setveil.release.bucketing import Bucketing
from setveil.search.classes import classify
from setveil.search.matching import possible_counts
from tests.oracle.buckets import Person, valid_values

AGES = Hierarchy.from_paths(
    [(str(age), f"[{age // 10 * 10}, {age // 10 * 10 + 10})", "any") for age in range(0, 60)]
)
PLACES = Hierarchy.from_paths(
    [("a1", "A", "X", "*"), ("a2", "A", "X", "*"), ("b", "B", "X", "*"), ("c", "*")]
)
LABELS = {
    "age": [
        "7",
        "[10, 20)",
        "0-19",
        "(20, 31]",
        "[5.5,40)",
        "[30, 10)",
        "]1, 5]",
        "any",
        "old",
        "20-29",
    ],
    "place": ["a1", "A", "B", "X", "*", "c", "0-19", "nowhere"],
}


def random_case(random: Random) -> tuple[Microdata, Bucketing, tuple[NegativeRule, ...]]:
    n = random.randint(1, 18)
    columns = {
        "age": [str(random.randrange(60)) for _ in range(n)],
        "place": [random.choice(["a1", "a2", "b", "c"]) for _ in range(n)],
        "ill": ["rstuv"[int(random.random() ** 1.5 * 5)] for _ in range(n)],
    }
    hierarchies = {"age": AGES, "place": PLACES}
    if random.random() < 0.3:
        del hierarchies["age"]
    data = Microdata.from_columns(columns, "ill", hierarchies=hierarchies)
    rules = []
    for _ in range(random.randint(0, 6)):
        names = random.sample(["age", "place"], random.randint(1, 2))
        conditions = tuple((name, random.choice(LABELS[name])) for name in names)
        rules.append(NegativeRule(conditions, random.choice("rstuvw")))
    raw = [random.randrange(random.randint(1, 4)) for _ in range(n)]
    number = {old: new for new, old in enumerate(sorted(set(raw)))}
    return data, Bucketing(np.array([number[old] for old in raw], np.int32)), tuple(rules)


def published(data: Microdata, bucketing: Bucketing) -> PublishedBuckets:
    buckets = bucketing.bucket_by_tuple.tolist()
    counted = Counter(zip(buckets, (data.values[v] for v in data.value_by_tuple), strict=True))
    return PublishedBuckets.of(
        {a.name: [a.hierarchy.labels[leaf] for leaf in a.leaf_by_tuple] for a in data.quasi},
        buckets,
        [(bucket, value, count) for (bucket, value), count in sorted(counted.items())],
    )


def paths(data: Microdata) -> dict[str, dict[str, tuple[str, ...]]]:
    return {
        a.name: {label: a.hierarchy.path(label) for label in a.hierarchy.labels[: a.hierarchy.n_leaves]}
        for a in data.quasi
    }


def plain(rules: tuple[NegativeRule, ...]) -> list[tuple[tuple[tuple[str, str], ...], str]]:
    return [(rule.conditions, rule.value) for rule in rules]


@pytest.mark.parametrize("block", range(10))
def test_matching_diversity_is_judged_as_the_oracle_does(block: int) -> None:
    answers: Counter[bool] = Counter()
    for seed in range(60 * block, 60 * block + 60):
        data, bucketing, rules = random_case(Random(seed))
        impossible = impossible_values(data, rules)
        people = [
            Person(int(value), frozenset(np.flatnonzero(cannot).tolist()))
            for value, cannot in zip(data.value_by_tuple, impossible, strict=True)
        ]
        counts = []
        for bucket in range(bucketing.n_buckets):
            group = [people[place] for place in np.flatnonzero(bucketing.bucket_by_tuple == bucket)]
            counts += [len(valid_values(group, place)) for place in range(len(group))]
        assert sorted(counts) == sorted(possible_counts(classify(data, rules), bucketing).tolist())
        for l in (2, 3):  # noqa: E741
            finding = audit_buckets(
                published(data, bucketing), MatchingDiversity(l), rules=plain(rules), paths=paths(data)
            )
            assert finding.fewest_possible == min(counts)
            assert finding.violations == sum(count < l for count in counts)
            assert finding.holds == bool(finding) == (min(counts) >= l)
            answers[finding.holds] += 1
    assert answers[True]
    assert answers[False]


@pytest.mark.parametrize("block", range(4))
def test_l_diversity_is_judged_by_shares(block: int) -> None:
    for seed in range(60 * block, 60 * block + 60):
        data, bucketing, _ = random_case(Random(seed))
        values = data.value_by_tuple
        worst: list[Fraction] = []
        for bucket in range(bucketing.n_buckets):
            held = values[bucketing.bucket_by_tuple == bucket].tolist()
            worst.append(Fraction(max(Counter(held).values()), len(held)))
        for l in (2, 3):  # noqa: E741
            finding = audit_buckets(published(data, bucketing), LDiversity(l))
            assert finding.worst_share == max(worst)
            assert finding.violations == sum(share > Fraction(1, l) for share in worst)
            assert finding.holds == (max(worst) <= Fraction(1, l))
            assert finding.buckets == len(worst)


def test_rules_mean_to_the_audit_what_they_mean_to_the_methods() -> None:
    for seed in range(400):
        data, bucketing, rules = random_case(Random(seed))
        tables = published(data, bucketing)
        kind, cannot = ruled_out(tables.columns, len(data), data.values, plain(rules), paths(data))
        assert (cannot[kind] == impossible_values(data, rules)).all()


def test_large_counts_are_moved_as_a_whole() -> None:
    half = 50_000
    tables = PublishedBuckets.of(
        {"sex": ["F"] * half + ["M"] * half}, [0] * 2 * half, [(0, "a", half), (0, "b", half)]
    )
    finding = audit_buckets(tables, MatchingDiversity(2), rules=[((("sex", "F"),), "a")])
    assert (finding.fewest_possible, finding.violations) == (1, 2 * half)
    assert audit_buckets(tables, MatchingDiversity(2)).holds
    assert audit_buckets(tables, LDiversity(2)).holds
