"""The audit of buckets against the oracle, against the methods' own check, and rule by rule."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from random import Random

import numpy as np
import pytest

from setveil.api import anonymize
from setveil.audit.bucket_tables import PublishedBuckets, ruled_out
from setveil.audit.buckets import audit_buckets
from setveil.errors import DataError, Infeasible
from setveil.hierarchy.tree import Hierarchy
from setveil.methods import anatomy, injector
from setveil.model.guarantees import LDiversity, MatchingDiversity
from setveil.model.microdata import Microdata
from setveil.model.rules import NegativeRule, impossible_values
from setveil.progress import Watch
from setveil.publish import edition_of
from setveil.release.buckets import Bucketing
from setveil.release.possible import classify, possible_counts
from tests.oracle.buckets import Person, is_share_diverse, real_values, valid_values

EMPTY = "(missing)"
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


def with_empty_cells(random: Random) -> tuple[Microdata, Bucketing, tuple[NegativeRule, ...]]:
    """Return a random case in which some have no value, and a rule may say who has one."""
    data, bucketing, rules = random_case(random)
    n = len(data)
    held = [
        "(missing)" if random.random() < 0.3 else data.values[value]
        for value in data.value_by_tuple.tolist()
    ]
    columns = {name: [row[place] for row in data.rows()] for place, name in enumerate(("age", "place"))}
    hierarchies = {"age": AGES, "place": PLACES}
    if random.random() < 0.2:
        rules = (*rules, NegativeRule((("place", random.choice(LABELS["place"])),), "(missing)"))
    assert len(held) == n
    return (
        Microdata.from_columns({**columns, "ill": held}, "ill", hierarchies=hierarchies),
        bucketing,
        rules,
    )


def people_of(data: Microdata, rules: tuple[NegativeRule, ...]) -> list[Person]:
    return [
        Person(int(value), frozenset(np.flatnonzero(cannot).tolist()))
        for value, cannot in zip(data.value_by_tuple, impossible_values(data, rules), strict=True)
    ]


@pytest.mark.parametrize("block", range(5))
def test_no_value_counts_as_none_to_audit_and_method_as_to_the_oracle(block: int) -> None:
    answers: Counter[tuple[str, bool]] = Counter()
    for seed in range(80 * block, 80 * block + 80):
        data, bucketing, rules = with_empty_cells(Random(seed))
        people = people_of(data, rules)
        real = []
        shares = []
        for bucket in range(bucketing.n_buckets):
            inside = np.flatnonzero(bucketing.bucket_by_tuple == bucket)
            group = [people[place] for place in inside]
            real += [len(real_values(group, place, data.values)) for place in range(len(group))]
            held = [data.values[person.value] for person in group]
            shares.append([is_share_diverse(held, 2), is_share_diverse(held, 3)])
        assert sorted(real) == sorted(possible_counts(classify(data, rules), bucketing).tolist())
        for column, l in enumerate((2, 3)):  # noqa: E741
            tables = published(data, bucketing)
            finding = audit_buckets(tables, MatchingDiversity(l), rules=plain(rules), paths=paths(data))
            assert finding.fewest_possible == min(real)
            assert finding.violations == sum(count < l for count in real)
            by_share = audit_buckets(tables, LDiversity(l))
            assert by_share.violations == sum(not diverse[column] for diverse in shares)
            assert by_share.worst_share is not None
            assert by_share.holds == (by_share.worst_share <= Fraction(1, l))
            answers["matching", finding.holds] += 1
            answers["l", by_share.holds] += 1
    assert len(answers) == 4


@pytest.mark.parametrize("block", range(5))
def test_methods_place_everybody_who_has_no_value(block: int) -> None:
    seen: Counter[str] = Counter()
    for seed in range(80 * block, 80 * block + 80):
        random = Random(seed)
        data, _, rules = with_empty_cells(random)
        people = people_of(data, rules)
        l = random.choice([2, 2, 3])  # noqa: E741
        have = [place for place in range(len(data)) if data.values[data.value_by_tuple[place]] != EMPTY]
        for method, guarantee, more in (
            (anatomy, LDiversity(l), {}),
            (injector, MatchingDiversity(l), {"rules": rules}),
        ):
            try:
                outcome = method.anonymize(data, guarantee, random=random, watch=Watch(), **more)
            except Infeasible:
                seen[f"{guarantee.model}, infeasible"] += 1
                held = [data.values[person.value] for person in people]
                alone = [people[place] for place in have]
                if guarantee.model == "l":
                    assert not is_share_diverse(held, l)
                else:
                    # One bucket of everything leaves somebody too few, or would but for empty cells.
                    assert any(
                        len(real_values(group, place, data.values)) < l
                        for group in (people, alone)
                        for place in range(len(group))
                    )
                continue
            seen[guarantee.model] += 1
            tables = published(data, outcome.bucketing)
            assert audit_buckets(
                tables, guarantee, rules=plain(rules) if more else (), paths=paths(data)
            ).holds
            for bucket in range(outcome.bucketing.n_buckets):
                inside = np.flatnonzero(outcome.bucketing.bucket_by_tuple == bucket)
                group = [people[place] for place in inside]
                if guarantee.model == "l":
                    assert is_share_diverse([data.values[p.value] for p in group], l)
                else:
                    assert all(len(real_values(group, n, data.values)) >= l for n in range(len(group)))
    assert min(seen.values()) > 3
    assert len(seen) == 4


def test_rows_are_left_out_where_some_have_no_value_too() -> None:
    """Facts with exceptions, empty cells and people whom no buckets hide, all at once."""
    seen: Counter[str] = Counter()
    options = {"min_exp": 0.999999, "min_fact_conf": 0.1, "suppress_infeasible": True}
    for seed in range(300):
        random = Random(seed)
        data, _, rules = with_empty_cells(random)
        guarantee = MatchingDiversity(random.choice([2, 2, 3]))
        try:
            release = anonymize(data, guarantee, rules=rules, random=random, **options)
        except (Infeasible, DataError) as error:
            seen[type(error).__name__] += 1
            continue
        assert edition_of(release).audit_unwritten().holds
        assert release.left_out is not None
        assert Counter((*release.data.rows(), *release.left_out)) == Counter(data.rows())
        seen["some left out" if release.left_out else "nobody"] += 1
    assert min(seen.values()) > 5
    assert len(seen) == 4


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
