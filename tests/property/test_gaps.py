"""Rules that are missing: what they tell, by every possible world of small tables."""

from __future__ import annotations

import json
from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations, product
from pathlib import Path
from random import Random

import numpy as np
import pytest

from setveil.api import anonymize
from setveil.audit import BucketFinding, audit_folder
from setveil.errors import DataError, Infeasible
from setveil.hierarchy.tree import Hierarchy
from setveil.methods.injector import form_buckets
from setveil.methods.injector.gap_guard import guard_gaps
from setveil.mining.negative_rules import mine_negative_rules
from setveil.model.guarantees import MatchingDiversity
from setveil.model.microdata import Microdata
from setveil.model.rules import NOT_KNOWN, Completeness, NegativeRule, tuples_meeting
from setveil.progress import Watch
from setveil.publish import edition_of, publish
from setveil.release.buckets import Bucketing, BucketRelease
from setveil.release.possible import classify
from setveil.reopen.others import read_public_buckets
from setveil.risk.buckets import TableRisk, attack_by_rules, possible_despite_gaps
from tests.oracle.buckets import Person, every_way, values_in_worlds

PLACES = Hierarchy.from_paths([("a1", "A", "*"), ("a2", "A", "*"), ("b", "*")])
SEXES = Hierarchy.from_paths([("F", "*"), ("M", "*")])
Pair = tuple[np.ndarray, int]


def random_table(random: Random, n: int) -> Microdata:
    return Microdata.from_columns(
        {
            "place": [random.choice(["a1", "a2", "b"]) for _ in range(n)],
            "sex": [random.choice("FM") for _ in range(n)],
            "ill": [random.choice("rrst") for _ in range(n)],
        },
        "ill",
        hierarchies={"place": PLACES, "sex": SEXES},
    )


def random_completeness(random: Random) -> Completeness:
    chances = [Fraction(random.randint(1, 9), 10), None]
    return Completeness((random.choice(chances), random.choice(chances)))


def expected_pairs(
    data: Microdata, complete: Completeness
) -> Iterator[tuple[NegativeRule, np.ndarray]]:
    """Every rule that would be told if it held, and who meets its conditions."""
    choices = [
        [(attribute.name, label) for label in attribute.hierarchy.labels] for attribute in data.quasi
    ]
    for size, chance in enumerate(complete.chance_by_length, 1):
        if chance is None:
            continue
        for chosen in combinations(choices, size):
            for conditions in product(*chosen):
                if any(tuples_meeting(data, NegativeRule((c,), "")).all() for c in conditions):
                    continue  # What everybody meets is no condition.
                for value in data.values:
                    rule = NegativeRule(conditions, value)
                    meets = tuples_meeting(data, rule)
                    count = int(data.count_by_value[data.values.index(value)])
                    if (1 - Fraction(count, len(data))) ** int(meets.sum()) <= chance:
                        yield rule, meets


def told(data: Microdata, complete: Completeness) -> tuple[tuple[NegativeRule, ...], list[Pair]]:
    """The expected rules that hold, and the others: who meets the conditions, and the value."""
    rules, gaps = [], []
    for rule, meets in expected_pairs(data, complete):
        value = data.values.index(rule.value)
        if (data.value_by_tuple[meets] == value).any():
            gaps.append((meets, value))
        elif meets.any():
            rules.append(rule)
    return tuple(rules), gaps


def groups_of(
    data: Microdata, rules: tuple[NegativeRule, ...], buckets: np.ndarray
) -> tuple[list, list]:
    """The buckets as the oracle takes them, and the tuple of each of their people in turn."""
    classes = classify(data, rules)
    cannot = classes.impossible_by_set[classes.set_by_class[classes.class_by_tuple]]
    groups, people = [], []
    for bucket in range(int(buckets.max()) + 1):
        members = np.flatnonzero(buckets == bucket).tolist()
        people += members
        groups.append(
            [
                Person(int(data.value_by_tuple[p]), frozenset(np.flatnonzero(cannot[p]).tolist()))
                for p in members
            ]
        )
    return groups, people


def is_broken(gap: Pair, people: list[int], world: tuple[int, ...]) -> bool:
    meets, value = gap
    return any(meets[p] and has == value for p, has in zip(people, world, strict=True))


def random_buckets(random: Random, n: int) -> np.ndarray:
    raw = [random.randrange(max(1, n // 3)) for _ in range(n)]
    return np.unique(raw, return_inverse=True)[1].astype(np.int32)


@pytest.mark.parametrize("seed", range(60))
def test_attack_and_audit_find_what_each_missing_rule_tells(seed: int) -> None:
    """Whichever rule tells most; the attack and the audit share no code."""
    random = Random(seed)
    data = random_table(random, random.randint(4, 8))
    complete = random_completeness(random)
    rules, gaps = told(data, complete)
    buckets = random_buckets(random, len(data))
    groups, people = groups_of(data, rules, buckets)
    if sum(1 for _, _ in zip(every_way(groups), range(3000), strict=False)) == 3000:
        return
    expected = [len(values) for values in values_in_worlds(groups, lambda world: True)]
    for gap in gaps:
        found = values_in_worlds(groups, lambda world, gap=gap: is_broken(gap, people, world))
        expected = [min(pair) for pair in zip(expected, map(len, found), strict=True)]
    possible = possible_despite_gaps(data, Bucketing(buckets), rules, complete)
    assert possible[people].tolist() == expected
    attack = attack_by_rules(data, Bucketing(buckets), rules, 2, complete=complete)
    release = BucketRelease(
        data, Bucketing(buckets), rules, complete, guarantee=MatchingDiversity(2), method="injector"
    )
    audited = edition_of(release).audit_unwritten()
    if any(chance is not None for chance in complete.chance_by_length):
        assert attack.vulnerable_by_gaps == sum(number < 2 for number in expected)
        assert audited.fewest_by_missing_rules == min(expected)
    assert audited.violations == sum(number < 2 for number in expected)


def fewest_in_worlds(data: Microdata, rules: tuple, gaps: list[Pair], buckets: np.ndarray) -> int:
    """The fewest values that anybody has in the worlds in which every gap is broken."""
    groups, people = groups_of(data, rules, buckets)
    found = values_in_worlds(groups, lambda world: all(is_broken(gap, people, world) for gap in gaps))
    return min(map(len, found))


def test_the_guard_leaves_l_values_to_whoever_knows_of_all_missing_rules_together() -> None:
    gave_away, joined_some, refused = 0, 0, 0
    for seed in range(250):
        random = Random(seed)
        data = random_table(random, random.randint(5, 8))
        complete = random_completeness(random)
        rules, gaps = told(data, complete)
        try:
            before = form_buckets(data, MatchingDiversity(2), rules=rules, watch=Watch(), random=random)
        except Infeasible:
            continue
        start = before.bucketing.bucket_by_tuple
        gave_away += fewest_in_worlds(data, rules, gaps, start) < 2
        classes = classify(data, rules)
        try:
            buckets, joined = guard_gaps(data, classes, start, complete, 2, random, Watch())
        except Infeasible:
            refused += 1
            assert fewest_in_worlds(data, rules, gaps, np.zeros(len(data), np.int32)) < 2
            continue
        joined_some += joined > 0
        assert fewest_in_worlds(data, rules, gaps, buckets) >= 2
        # Buckets are joined, never cut.
        assert len({*zip(start.tolist(), buckets.tolist(), strict=True)}) == start.max() + 1
    assert gave_away > refused > 0
    assert joined_some > 10


@pytest.mark.parametrize("control", ["all", "longer", "none"])
@pytest.mark.parametrize("seed", range(12))
def test_every_rule_that_holds_is_told_from_where_on_it_is_said_so(control: str, seed: int) -> None:
    random = Random(seed)
    n = random.randint(20, 60)
    columns = {
        "place": [random.choice(["a1", "a2", "b"]) for _ in range(n)],
        "sex": [random.choice("FM") for _ in range(n)],
    }
    columns["ill"] = [
        random.choice("rs" if place == "b" else "st" if sex == "F" else "rstu")
        for place, sex in zip(columns["place"], columns["sex"], strict=True)
    ]
    data = Microdata.from_columns(columns, "ill", hierarchies={"place": PLACES, "sex": SEXES})
    found = mine_negative_rules(data, min_expectation="0.6", max_antecedent=2, control=control)
    known = {finding.rule for finding in found.findings}
    assert any(chance is not None for chance in found.complete.chance_by_length)
    for rule, meets in expected_pairs(data, found.complete):
        if not (data.value_by_tuple[meets] == data.values.index(rule.value)).any():
            assert rule in known


def people_of_a_hospital(seed: int) -> Microdata:
    """Wards in which some diagnoses do not occur, or only once where one would expect more."""
    random = Random(seed)
    never = {(ward, ill) for ward in range(12) for ill in range(8) if random.random() < 0.35}
    rows = []
    for _ in range(600):
        ward, sex = random.randrange(12), random.choice("FM")
        rows.append((ward, sex, random.choice([i for i in range(8) if (ward, i) not in never])))
    rows += [(ward, "F", ill) for ward, ill in sorted(never)[::3]]
    ward, sex, ill = ([str(row[place]) for row in rows] for place in range(3))
    return Microdata.from_columns({"ward": ward, "sex": sex, "ill": ill}, "ill")


@pytest.mark.parametrize(("grouping", "at_least"), [("printed", 30), ("compact", 20)])
def test_missing_rules_gave_people_away_and_do_no_more(grouping: str, at_least: int) -> None:
    known_before = 0
    for seed, control in product(range(6), ("all", "none")):
        data = people_of_a_hospital(seed)
        mined = mine_negative_rules(data, control=control)
        plain = form_buckets(
            data,
            MatchingDiversity(2),
            rules=mined.rules,
            watch=Watch(),
            random=Random(seed),
            grouping=grouping,
        )
        attack = attack_by_rules(data, plain.bucketing, mined.rules, 2, complete=mined.complete)
        assert attack.vulnerable == 0
        assert attack.vulnerable_by_gaps is not None
        known_before += attack.vulnerable_by_gaps
        before = BucketRelease(
            data,
            plain.bucketing,
            mined.rules,
            mined.complete,
            guarantee=MatchingDiversity(2),
            method="injector",
        )
        assert edition_of(before).audit_unwritten().holds == (attack.vulnerable_by_gaps == 0)
        after = anonymize(
            data, MatchingDiversity(2), random=Random(seed), control=control, grouping=grouping
        )
        attack = attack_by_rules(data, after.bucketing, after.rules, 2, complete=after.complete)
        assert attack.vulnerable_by_gaps == 0
        assert edition_of(after).audit_unwritten()
    assert known_before >= at_least


def test_the_guard_finds_the_worlds_of_a_large_bucket() -> None:
    """Any of 25 men may be the one with breast cancer; drawn worlds must show it of each."""
    people = [("M", "kidney")] * 24 + [("M", "breast")] + [("F", "breast")] * 12 + [("F", "flu")] * 14
    data = Microdata.from_columns({"sex": [p[0] for p in people], "ill": [p[1] for p in people]}, "ill")
    facts = (NegativeRule((("sex", "F"),), "kidney"),)
    for seed in range(20):
        found = anonymize(data, MatchingDiversity(2), rules=facts, random=Random(seed))
        assert (found.figures["buckets"], found.figures["joined for missing rules"]) == (13, 0)


def test_a_release_tells_from_where_on_rules_are_complete_and_is_held_to_it(tmp_path: Path) -> None:
    data = people_of_a_hospital(1)
    release = anonymize(data, MatchingDiversity(2))
    publish(release, tmp_path / "out")
    file = tmp_path / "out" / "certificate.json"
    document = json.loads(file.read_text())
    assert document["rules"]["complete"] == release.complete.told()
    assert "rules.complete" in document["promised"][-1]
    finding = audit_folder(tmp_path / "out")
    assert isinstance(finding, BucketFinding)
    assert finding.fewest_by_missing_rules is not None
    assert finding.fewest_by_missing_rules >= 2
    public = read_public_buckets(tmp_path / "out")
    attack = attack_by_rules(public.data, public.bucketing, public.rules, 2, complete=public.complete)
    assert (attack.vulnerable_by_gaps, attack.disclosed_by_gaps) == (0, 0)
    assert "rules that are missing" in str(TableRisk(public.guarantee, len(data), 9, 9, attack))
    # Who takes the number away takes the promise away.
    del document["rules"]["complete"]
    file.write_text(json.dumps(document, ensure_ascii=False, indent=2, sort_keys=True) + "\n")
    with pytest.raises(DataError, match="belong together"):
        audit_folder(tmp_path / "out")


def test_where_nothing_is_told_of_missing_rules_nothing_is_concluded_from_them() -> None:
    data = people_of_a_hospital(1)
    mined = mine_negative_rules(data)
    attack = attack_by_rules(data, Bucketing(np.zeros(len(data), np.int32)), mined.rules, 2)
    assert attack.vulnerable_by_gaps is None
    assert NOT_KNOWN.told() == []
    fuzzy = Completeness((Fraction(1, 3),), fuzzy=True)
    assert fuzzy.told() == []
    assert Completeness.of_told(["0.05", None]).chance_by_length == (Fraction(1, 20), None)
