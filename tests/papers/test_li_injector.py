"""Li, Li: Injector: mining background knowledge for data anonymization (ICDE 2008).

Tables I and II, sections V-A to V-C and the formulas of section VI. What is mined from the tables is
tested with the miner; here the rule that no man has ovarian cancer is a known fact.
"""

from __future__ import annotations

import csv
import gzip
from fractions import Fraction
from itertools import chain, combinations
from random import Random

import numpy as np
import pytest

from setveil.audit.bucket_tables import PublishedBuckets
from setveil.audit.buckets import audit_buckets
from setveil.hierarchy.tree import Hierarchy
from setveil.kernels.buckets.injector import (
    Classes,
    Tallies,
    add_tuples,
    are_incompatible,
    count_incompatible,
)
from setveil.measure.buckets import CountQuery, Queries, Reconstruction, measure_queries, measure_rules
from setveil.methods import anatomy, injector
from setveil.mining.negative_rules import mine_negative_rules
from setveil.model.guarantees import LDiversity, MatchingDiversity
from setveil.model.microdata import Microdata
from setveil.model.rules import NegativeRule
from setveil.progress import Watch
from setveil.release.buckets import Bucketing
from setveil.release.possible import classify, possible_counts
from setveil.risk.buckets import attack_by_rules
from tests.oracle.buckets import Person, is_matching_diverse, nit, nit_by_formula, valid_values
from tests.shared_data import shared_data

PATIENTS = [
    ("47677", "29", "F", "Ovarian Cancer"),
    ("47602", "22", "F", "Ovarian Cancer"),
    ("47678", "27", "M", "Prostate Cancer"),
    ("47905", "43", "M", "Flu"),
    ("47909", "52", "F", "Heart Disease"),
    ("47906", "47", "M", "Heart Disease"),
    ("47605", "30", "M", "Heart Disease"),
    ("47673", "36", "M", "Flu"),
    ("47607", "32", "M", "Flu"),
]
TABLE_I = Microdata.from_columns(
    dict(zip(("ZIP Code", "Age", "Sex", "Disease"), zip(*PATIENTS, strict=True), strict=True)),
    "Disease",
)
TABLE_II = Bucketing(np.array([0, 0, 0, 1, 1, 1, 2, 2, 2], dtype=np.int32))
NO_MAN_OVARIAN = (NegativeRule((("Sex", "M"),), "Ovarian Cancer"),)
BOB = 2


def test_table_ii_gives_bob_away() -> None:
    # Two values are in Bob's group, and he can have only one of them.
    assert attack_by_rules(TABLE_I, TABLE_II, (), 2).vulnerable == 0
    attack = attack_by_rules(TABLE_I, TABLE_II, NO_MAN_OVARIAN, 2)
    possible = possible_counts(classify(TABLE_I, NO_MAN_OVARIAN), TABLE_II)
    assert possible[BOB] == 1
    # If he has prostate cancer, both women have ovarian cancer.
    assert possible.tolist() == [1, 1, 1, 2, 2, 2, 2, 2, 2]
    assert (attack.vulnerable, attack.disclosed, attack.by_elimination) == (3, 3, 1)


def test_the_audit_sees_it_from_the_published_tables() -> None:
    counted = [
        *((0, "Ovarian Cancer", 2), (0, "Prostate Cancer", 1)),
        *((1, "Flu", 1), (1, "Heart Disease", 2), (2, "Heart Disease", 1), (2, "Flu", 2)),
    ]
    cells = {name: [row[place] for row in PATIENTS] for place, name in enumerate(("ZIP", "Age", "Sex"))}
    tables = PublishedBuckets.of(cells, TABLE_II.bucket_by_tuple.tolist(), counted)
    rules = [((("Sex", "M"),), "Ovarian Cancer")]
    finding = audit_buckets(tables, MatchingDiversity(2), rules=rules)
    assert (finding.holds, finding.fewest_possible, finding.violations) == (False, 1, 3)
    assert audit_buckets(tables, MatchingDiversity(2)).holds
    assert finding.worst_share == Fraction(2, 3)


def test_the_expectation_of_the_rule_in_table_i() -> None:
    ovarian, men = Fraction(2, 9), 6
    assert float(1 - (1 - ovarian) ** men) == pytest.approx(0.779, abs=0.0005)


@pytest.mark.parametrize("seed", range(20))
def test_injector_protects_bob(seed: int) -> None:
    outcome = injector.anonymize(
        TABLE_I, MatchingDiversity(2), rules=NO_MAN_OVARIAN, random=Random(seed), watch=Watch()
    )
    assert attack_by_rules(TABLE_I, outcome.bucketing, NO_MAN_OVARIAN, 2).vulnerable == 0


def test_anatomy_gives_somebody_away_now_and_then() -> None:
    vulnerable = []
    for seed in range(40):
        outcome = anatomy.anonymize(TABLE_I, LDiversity(2), random=Random(seed), watch=Watch())
        vulnerable.append(attack_by_rules(TABLE_I, outcome.bucketing, NO_MAN_OVARIAN, 2).vulnerable)
    assert max(vulnerable) > 0


@pytest.mark.parametrize("l", [2, 3, 6])
def test_the_trap_of_section_v_a(l: int) -> None:  # noqa: E741
    """One woman and l men, one ovarian cancer and l common diseases."""
    common = [f"common {number}" for number in range(l)]
    data = Microdata.from_columns(
        {"Sex": ["F", *"M" * l], "Disease": ["Ovarian Cancer", *common]}, "Disease"
    )
    one = Bucketing(np.zeros(l + 1, dtype=np.int32))
    attack = attack_by_rules(data, one, NO_MAN_OVARIAN, l)
    # Each can take at least l values of the group: the simple requirement is met.
    assert attack.by_elimination == 0
    # Yet only the woman can take ovarian cancer, so she has it.
    assert possible_counts(classify(data, NO_MAN_OVARIAN), one).tolist() == [1, *[l] * l]
    assert attack.vulnerable == 1


def test_a_group_that_keeps_the_requirement_keeps_it_when_tuples_are_added() -> None:
    """Section V-C, as long as everybody may have the own value."""
    random = Random(8)
    grown = 0
    while grown < 60:
        cannot = [frozenset(random.sample(range(5), random.randint(0, 2))) for _ in range(3)]
        people = [
            Person(value, random.choice(cannot) - {value})
            for value in (random.randrange(5) for _ in range(8))
        ]
        group = people[: random.randint(2, 6)]
        if is_matching_diverse(group, 2):
            grown += 1
            added = [*group, *people[len(group) :]]
            assert all(len(valid_values(added, place)) >= 2 for place in range(len(group)))


def as_classes(people: list[Person], values: int) -> tuple[Classes, list[int]]:
    """Return the classes of the people as the kernels take them, each person a class of their own."""
    cannot = np.array([[value in person.cannot for value in range(values)] for person in people])
    start = np.concatenate(([0], np.cumsum(cannot.sum(axis=1)))).astype(np.int64)
    ruled = np.flatnonzero(cannot.any(axis=0))
    column = np.full(values, -1, dtype=np.int32)
    column[ruled] = np.arange(len(ruled))
    arrays = Classes(
        np.array([person.value for person in people], dtype=np.int32),
        np.arange(len(people), dtype=np.int32),
        cannot,
        start,
        np.nonzero(cannot)[1].astype(np.int32),
        column,
    )
    return arrays, ruled.tolist()


def test_definition_2_incompatible_tuples() -> None:
    people = [
        Person(0, frozenset()),
        Person(0, frozenset({2})),
        Person(1, frozenset({0})),
        Person(2, frozenset()),
    ]
    arrays, _ = as_classes(people, 3)
    found = {pair for pair in combinations(range(4), 2) if are_incompatible(arrays, *pair)}
    # (1) the same value; (2), (3) one cannot take the value of the other.
    assert found == {(0, 1), (0, 2), (1, 2), (1, 3)}


def test_nit_of_table_i_by_its_formula() -> None:
    men = frozenset({2})  # Flu 0, Heart Disease 1, Ovarian Cancer 2, Prostate Cancer 3
    number = {name: place for place, name in enumerate(TABLE_I.values)}
    people = [
        Person(number[disease], men if sex == "M" else frozenset()) for _, _, sex, disease in PATIENTS
    ]
    # A woman with ovarian cancer is incompatible with the other one and with all six men.
    assert nit([people[0]], people) == nit_by_formula([people[0]], people) == 8
    # Bob is so with both women who have it, and with himself.
    assert nit([people[BOB]], people) == nit_by_formula([people[BOB]], people) == 3
    arrays, ruled = as_classes(people, 4)
    tallies = Tallies(
        np.ones(9, dtype=np.int64),
        np.zeros(4, dtype=np.int64),
        np.zeros(len(ruled), dtype=np.int64),
        np.zeros((4, len(ruled)), dtype=np.int64),
    )
    for place in range(9):
        add_tuples(arrays, tallies, place, 1)
    assert [count_incompatible(arrays, tallies, place) for place in range(9)] == [
        nit([person], people) for person in people
    ]
    for group in chain.from_iterable(combinations(people, size) for size in (1, 2, 3)):
        assert nit(group, people) == nit_by_formula(group, people)


SMALL = Microdata.from_columns({"Sex": list("FFMM"), "Disease": ["a", "a", "b", "a"]}, "Disease")
PAIRED = Bucketing(np.array([0, 1, 0, 1], dtype=np.int32))
"""Buckets {F a, M b} and {F a, M a}."""


def test_confidence_error_of_section_vi_c() -> None:
    told = Reconstruction.of(SMALL, PAIRED)
    women = np.array([True, True, False, False])
    # F => a has confidence 1; from the buckets (1/2 + 1) / 2.
    assert told.count(women, [0]) / 2 == Fraction(3, 4)
    errors = measure_rules(SMALL, PAIRED, min_support="0.5", min_conviction=1)
    assert errors.original == 1
    assert errors.confidence == pytest.approx(0.25)


def test_identification_error_of_section_vi_c() -> None:
    # F => a is interesting; told are 3/2 women of 4 people, below a support of one half.
    errors = measure_rules(SMALL, PAIRED, min_support="0.5", min_conviction=1)
    assert (errors.original, errors.found) == (1, 0)
    assert (errors.false_positive, errors.false_negative) == (0, 1)
    # With a support of 3/8 men are told to have a as often, and their rule is not convincing before.
    errors = measure_rules(SMALL, PAIRED, min_support="0.375", min_conviction=1)
    assert (errors.original, errors.found) == (1, 2)
    assert (errors.false_positive, errors.false_negative) == (1, 0)


def test_query_error_of_section_vi_d() -> None:
    sex = SMALL.quasi[0].hierarchy.node_of_label
    queries = Queries(
        (
            CountQuery(((0, frozenset({sex["F"]})),), frozenset({0}), 2),
            CountQuery(((0, frozenset({sex["M"]})),), frozenset({1}), 1),
        ),
        2,
    )
    # 3/2 told for 2, and 1/2 told for 1.
    found = measure_queries(SMALL, PAIRED, queries)
    assert found.mean == pytest.approx((0.25 + 0.5) / 2)


def adult() -> Microdata:
    """Return the table of section VI: Table III of the paper."""
    names = ("age", "workclass", "education", "marital-status", "race", "sex")
    with gzip.open(shared_data("adult_arx.csv.gz"), "rt", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    trees = {
        name: Hierarchy.from_paths(
            line.split(";")
            for line in shared_data(f"adult_hierarchy_{name}.csv").read_text("utf-8").splitlines()
        )
        for name in names
    }
    columns = {name: [row[name] for row in rows] for name in (*names, "occupation")}
    return Microdata.from_columns(columns, "occupation", hierarchies=trees)


def test_adult_has_vulnerable_tuples_with_anatomy_and_none_with_injector() -> None:
    data = adult()
    assert len(data) == 30_162
    assert len(data.values) == 14
    rules = mine_negative_rules(data, min_expectation="0.9", control="none").rules
    assert NegativeRule((("workclass", "Government"),), "Priv-house-serv") in rules
    random = Random(1)
    rival = anatomy.anonymize(data, LDiversity(6), random=random, watch=Watch()).bucketing
    ours = injector.anonymize(data, MatchingDiversity(6), rules=rules, random=random, watch=Watch())
    assert attack_by_rules(data, rival, rules, 6).vulnerable > 100
    attack = attack_by_rules(data, ours.bucketing, rules, 6)
    assert attack.vulnerable == 0
    assert attack.fewest == 6
    assert ours.bucketing.n_buckets == rival.n_buckets == len(data) // 6
