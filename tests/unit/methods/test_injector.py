"""Injector: each tuple has l possible values to whoever knows the rules, and chance picks tuples."""

from __future__ import annotations

from collections import Counter
from random import Random, SystemRandom

import numpy as np
import pytest

from setveil.errors import Cancelled, Infeasible, TimeLimit
from setveil.methods.injector import anonymize
from setveil.methods.injector import grouping as injector_grouping
from setveil.model.guarantees import MatchingDiversity
from setveil.model.microdata import Microdata
from setveil.model.rules import NegativeRule
from setveil.progress import Watch
from tests.oracle.buckets import Person, is_matching_diverse, most_buckets


def table(people: list[tuple[str, str]]) -> Microdata:
    """Return a table of (group of people, illness); a third column tells everybody apart."""
    return Microdata.from_columns(
        {
            "of": [group for group, _ in people],
            "who": [f"p{number:03}" for number in range(len(people))],
            "ill": [illness for _, illness in people],
        },
        "ill",
    )


def never(*pairs: str) -> tuple[NegativeRule, ...]:
    """Return rules from pairs such as "M ovary"."""
    return tuple(NegativeRule((("of", pair.split()[0]),), pair.split()[1]) for pair in pairs)


def run(
    data: Microdata,
    l: int,  # noqa: E741
    rules: tuple[NegativeRule, ...],
    seed: int = 0,
    grouping: str = "compact",
) -> list[list[int]]:
    outcome = anonymize(
        data,
        MatchingDiversity(l),
        rules=rules,
        random=Random(seed),
        watch=Watch(),
        grouping=grouping,
    )
    bucket = outcome.bucketing.bucket_by_tuple
    assert sorted(set(bucket.tolist())) == list(range(outcome.bucketing.n_buckets))
    return [np.flatnonzero(bucket == number).tolist() for number in range(outcome.bucketing.n_buckets)]


def people_of(people: list[tuple[str, str]], rules: tuple[NegativeRule, ...]) -> list[Person]:
    number = {illness: place for place, illness in enumerate(sorted({ill for _, ill in people}))}
    cannot = {
        group: frozenset(
            number[rule.value]
            for rule in rules
            if rule.conditions == (("of", group),) and rule.value in number
        )
        for group, _ in people
    }
    return [Person(number[illness], cannot[group]) for group, illness in people]


def random_case(random: Random) -> tuple[list[tuple[str, str]], tuple[NegativeRule, ...], int]:
    """Return people, rules that may contradict them, and l."""
    groups, illnesses = "FMX"[: random.randint(1, 3)], "abcdef"[: random.randint(2, 6)]
    people = [
        (random.choice(groups), illnesses[int(random.random() ** 1.5 * len(illnesses))])
        for _ in range(random.randint(2, 24))
    ]
    contradict = random.random() < 0.5
    rules = [
        f"{group} {illness}"
        for group in groups
        for illness in illnesses
        if random.random() < 0.3 and (contradict or (group, illness) not in people)
    ]
    return people, never(*rules), random.randint(2, 4)


@pytest.mark.parametrize("grouping", ["compact", "printed"])
@pytest.mark.parametrize("block", range(10))
def test_every_bucket_keeps_definition_1_and_refusals_are_right(block: int, grouping: str) -> None:
    refused = 0
    for seed in range(40 * block, 40 * block + 40):
        people, rules, l = random_case(Random(seed))  # noqa: E741
        persons = people_of(people, rules)
        try:
            found = run(table(people), l, rules, seed, grouping)
        except Infeasible:
            refused += 1
            assert not is_matching_diverse(persons, l)
            continue
        assert sorted(place for bucket in found for place in bucket) == list(range(len(people)))
        for bucket in found:
            assert is_matching_diverse([persons[place] for place in bucket], l)
    assert 0 < refused < 40


WARD = [("M", "kidney")] * 24 + [("M", "breast")] + [("F", "breast")] * 12 + [("F", "flu")] * 14


@pytest.mark.parametrize("rules", [("F kidney",), ("F kidney", "M breast"), ("F kidney", "M flu")])
def test_few_tuples_that_fit_nobody_do_not_make_one_bucket_of_all(rules: tuple[str, ...]) -> None:
    """The men with kidney trouble can swap with one man alone; the paper joins everybody to them."""
    printed = run(table(WARD), 2, never(*rules), grouping="printed")
    assert [len(bucket) for bucket in printed] == [51]
    persons = people_of(WARD, never(*rules))
    for seed in range(10):
        found = run(table(WARD), 2, never(*rules), seed)
        assert len(found) == 13
    for bucket in found:
        assert is_matching_diverse([persons[place] for place in bucket], 2)


def test_it_says_how_large_buckets_got_and_why() -> None:
    rules = never("F kidney", "M breast")
    outcome = anonymize(table(WARD), MatchingDiversity(2), rules=rules, watch=Watch())
    figures = outcome.figures
    largest = int(np.bincount(outcome.bucketing.bucket_by_tuple).max())
    assert (figures["buckets"], figures["largest bucket"]) == (13, largest)
    assert figures["mean bucket"] == round(51 / 13, 2) == 3.92
    # All but the twelve women with breast cancer and as many with flu.
    assert figures["left over"] == 51 - 24
    (told,) = outcome.notices
    assert f"the largest bucket has {largest} records, the mean is 3.92. Of 51 records 27 " in told
    assert "27 found no one other left with whom all could swap values" in told
    assert "or have a value that the rules rule out for them (1)" in told
    small = table([("F", "a"), ("F", "b"), ("F", "c")])
    assert anonymize(small, MatchingDiversity(3), rules=(), watch=Watch()).notices == ()


def test_a_bucket_joined_is_told_of() -> None:
    people = [("M", "kidney")] * 24 + [("M", "breast")] + [("F", "breast")] * 12 + [("F", "flu")] * 14
    outcome = anonymize(table(people), MatchingDiversity(2), rules=never("M breast"), watch=Watch())
    assert outcome.figures["buckets joined"] == 1
    assert "they were added to buckets, of which 1 had to be joined with others." in outcome.notices[0]


def test_people_with_each_others_values_are_placed_in_twos() -> None:
    # With the woman alone only the man can have c, and has nothing else left; with both all can swap.
    people, rules = [("F", "x"), ("M", "y")] * 6 + [("F", "c"), ("M", "a")], never("F c", "M a")
    outcome = anonymize(table(people), MatchingDiversity(2), rules=rules, watch=Watch())
    assert outcome.figures["buckets"] == 6
    assert (outcome.figures["placed in twos"], outcome.figures["buckets joined"]) == (2, 0)
    assert most_buckets(people_of(people[8:], rules), 2) == 2


def test_a_tuple_whose_own_value_is_ruled_out_is_placed_all_the_same() -> None:
    people = [("F", "a"), ("F", "b"), ("F", "c"), ("M", "a"), ("M", "b"), ("M", "c")]
    rules = never("M a")
    found = run(table(people), 2, rules)
    persons = people_of(people, rules)
    assert all(is_matching_diverse([persons[place] for place in bucket], 2) for bucket in found)


def test_too_few_values_are_refused_with_their_number() -> None:
    people = [("F", "a"), ("F", "b"), ("M", "b"), ("M", "c"), ("M", "b")]
    with pytest.raises(Infeasible, match=r"2 of 5 tuples have fewer than l=3.*some only 2.*l to 2"):
        run(table(people), 3, never("F c"))
    with pytest.raises(Infeasible, match=r"1 of 3 .* some only 1.*'of=F => not b' \(1 of them\)"):
        run(table([("F", "a"), ("M", "a"), ("M", "b")]), 2, never("F b"))
    with pytest.raises(Infeasible, match=r"Lower l to 2, or give more diverse data\."):
        run(table([("F", "a"), ("M", "a"), ("M", "b")]), 3, ())


def test_who_could_have_nothing_but_an_empty_cell_is_told_of_as_such() -> None:
    people = [("F", "a"), ("F", "b"), ("M", "(missing)")]
    with pytest.raises(Infeasible, match=r"1 of 3 .* some none, .*'of=M => not a' \(1 of them\)"):
        run(table(people), 2, never("M a", "M b"))
    with pytest.raises(Infeasible, match=r"2 of 2 tuples .* some none, .*more diverse data"):
        run(table([("F", "(missing)"), ("M", "(missing)")]), 2, ())


def test_rules_that_contradict_the_data_are_refused() -> None:
    with pytest.raises(Infeasible, match="rules contradict the data"):
        run(table([("F", "a"), ("M", "a"), ("M", "b")]), 2, never("F a", "M a"))


def test_rules_about_values_that_do_not_occur_change_nothing() -> None:
    people = [("F", "a"), ("F", "b"), ("M", "a"), ("M", "b")]
    assert run(table(people), 2, never("F z")) == run(table(people), 2, ())


def test_without_rules_each_bucket_has_l_different_values() -> None:
    people = [("F", illness) for illness in "aaaaabbbccd"]
    for bucket in run(table(people), 3, ()):
        assert len({people[place][1] for place in bucket}) >= 3


def test_frequent_values_are_allowed() -> None:
    # Two of three tuples have the same value: not 2-diverse by shares, but two values are possible.
    found = run(table([("F", "a"), ("F", "a"), ("F", "b")]), 2, ())
    assert found == [[0, 1, 2]]


def test_which_tuple_of_a_class_is_taken_is_up_to_chance() -> None:
    data = table([("F", "a")] * 3 + [("F", "b")] * 3)
    partner = Counter(
        next(place for bucket in run(data, 2, (), seed) if 0 in bucket for place in bucket if place)
        for seed in range(900)
    )
    # 300 times each, standard deviation 14.
    assert sorted(partner) == [3, 4, 5]
    assert all(abs(count - 300) < 70 for count in partner.values())


def test_the_order_of_the_input_decides_nothing() -> None:
    people, rules = [("F", "a"), ("M", "b")] * 20 + [("M", "c"), ("F", "d")] * 9, never("M a", "F b")
    data, turned = table(people), table(people[::-1])
    sizes = [sorted(map(len, run(each, 2, rules, 5))) for each in (data, turned)]
    assert sizes[0] == sizes[1]


def test_only_a_secret_source_may_be_published() -> None:
    data = table([("F", "a"), ("F", "b"), ("M", "c")])
    for random, seeded in ((None, False), (SystemRandom(), False), (Random(1), True)):
        outcome = anonymize(data, MatchingDiversity(2), rules=(), random=random, watch=Watch())
        assert outcome.seeded is seeded


def test_it_can_be_stopped_and_has_nothing_to_return_before_the_end() -> None:
    data = table([("F", "a"), ("F", "b"), ("M", "c")])
    stopped = Watch()
    stopped.cancel()
    with pytest.raises(Cancelled):
        anonymize(data, MatchingDiversity(2), rules=(), watch=stopped)
    with pytest.raises(TimeLimit):
        anonymize(data, MatchingDiversity(2), rules=(), watch=Watch(time_limit=-1.0))


def test_choices_may_be_drawn_in_many_strides(monkeypatch: pytest.MonkeyPatch) -> None:
    people = [("F" if n % 3 else "M", "abcde"[n * n % 5]) for n in range(60)]
    monkeypatch.setattr(injector_grouping, "STRIDE", 1)
    stages: list[float] = []
    outcome = anonymize(
        table(people),
        MatchingDiversity(3),
        rules=(),
        watch=Watch(lambda _, share: stages.append(share or 0.0)),
    )
    assert len(stages) > 10
    assert stages == sorted(stages)
    assert outcome.figures["buckets"] == outcome.bucketing.n_buckets


def test_an_empty_table_has_no_buckets() -> None:
    data = table([("F", "a"), ("F", "b")])
    nobody = Microdata(data.quasi, data.sensitive, data.values, data.value_by_tuple[:0])
    outcome = anonymize(nobody, MatchingDiversity(2), rules=(), watch=Watch())
    assert outcome.bucketing.n_buckets == 0
