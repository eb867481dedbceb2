"""The background-knowledge attack counts tuples with too few possible values."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from setveil.errors import UsageError
from setveil.model.microdata import Microdata
from setveil.model.rules import NegativeRule
from setveil.release.buckets import Bucketing
from setveil.release.possible import classify
from setveil.risk.buckets import attack_by_rules, takeable_counts

TRAP = Microdata.from_columns({"sex": list("FMMM"), "ill": ["ovary", "flu", "gout", "cold"]}, "ill")
NOT_OVARY = [NegativeRule((("sex", "M"),), "ovary")]
ONE = Bucketing(np.zeros(4, dtype=np.int32))


def test_what_elimination_alone_does_not_see() -> None:
    attack = attack_by_rules(TRAP, ONE, NOT_OVARY, 3)
    assert attack.by_elimination == 0
    assert (attack.vulnerable, attack.disclosed, attack.fewest) == (1, 1, 1)
    assert attack.tuples_by_possible == (0, 1, 0, 3)
    assert attack.share == attack.vulnerable / 4
    assert attack.as_dict()["vulnerable"] == 1


def test_without_rules_all_values_of_a_bucket_are_possible() -> None:
    attack = attack_by_rules(TRAP, ONE, (), 4)
    assert attack.vulnerable == attack.by_elimination == 0
    assert attack_by_rules(TRAP, ONE, (), 5).vulnerable == 4


def test_rules_that_contradict_a_bucket_leave_no_value() -> None:
    rules = [*NOT_OVARY, NegativeRule((("sex", "F"),), "ovary")]
    attack = attack_by_rules(TRAP, ONE, rules, 2)
    assert attack.tuples_by_possible == (4,)
    assert attack.vulnerable == 4
    assert attack.disclosed == 0


def test_l_is_checked_and_empty_tables_have_no_risk() -> None:
    with pytest.raises(UsageError):
        attack_by_rules(TRAP, ONE, (), 1)
    nobody = Microdata(TRAP.quasi, TRAP.sensitive, TRAP.values, TRAP.value_by_tuple[:0])
    attack = attack_by_rules(nobody, Bucketing(np.empty(0, np.int32)), (), 2)
    assert (attack.tuples, attack.vulnerable, attack.fewest, attack.share) == (0, 0, None, 0)


def test_takeable_values_by_plain_counting() -> None:
    random = Random(2)
    for _ in range(50):
        n = random.randint(1, 20)
        sexes, ills = random.choices("FMX", k=n), random.choices("abcd", k=n)
        data = Microdata.from_columns({"sex": sexes, "ill": ills}, "ill")
        rules = [
            NegativeRule((("sex", random.choice("FMX")),), random.choice("abcd")) for _ in range(3)
        ]
        raw = [random.randrange(3) for _ in range(n)]
        number = {old: new for new, old in enumerate(sorted(set(raw)))}
        buckets = [number[old] for old in raw]
        cannot = {(rule.conditions[0][1], rule.value) for rule in rules}
        expected = [
            sum(
                (sex, ill) not in cannot
                for ill in {i for i, b in zip(ills, buckets, strict=True) if b == own}
            )
            for sex, own in zip(sexes, buckets, strict=True)
        ]
        found = takeable_counts(classify(data, rules), Bucketing(np.array(buckets, np.int32)))
        assert found.tolist() == expected
