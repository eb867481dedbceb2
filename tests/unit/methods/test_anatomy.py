"""Anatomy: every bucket has different values; who shares it is up to chance; numbers tell nothing."""

from __future__ import annotations

from collections import Counter
from random import Random, SystemRandom

import numpy as np
import pytest

from setveil.errors import Cancelled, Infeasible
from setveil.methods.anatomy import anonymize
from setveil.model.guarantees import LDiversity
from setveil.model.microdata import Microdata
from setveil.progress import Watch
from tests.oracle.buckets import is_share_diverse


def table(values: list[str]) -> Microdata:
    return Microdata.from_columns({"who": [f"p{n}" for n in range(len(values))], "ill": values}, "ill")


def buckets(data: Microdata, l: int, random: Random | None = None) -> list[list[int]]:  # noqa: E741
    outcome = anonymize(data, LDiversity(l), random=random, watch=Watch())
    bucket = outcome.bucketing.bucket_by_tuple
    return [np.flatnonzero(bucket == number).tolist() for number in range(outcome.bucketing.n_buckets)]


def random_eligible(random: Random) -> tuple[list[str], int]:
    while True:
        values = [chr(97 + int(random.random() ** 2 * 9)) for _ in range(random.randint(2, 60))]
        l = random.randint(2, 5)  # noqa: E741
        if max(Counter(values).values()) * l <= len(values):
            return values, l


@pytest.mark.parametrize("seed", range(150))
def test_buckets_have_different_values_and_there_are_as_many_as_can_be(seed: int) -> None:
    random = Random(seed)
    values, l = random_eligible(random)  # noqa: E741
    found = buckets(table(values), l, random)
    assert len(found) == len(values) // l
    assert sorted(place for bucket in found for place in bucket) == list(range(len(values)))
    for bucket in found:
        held = [values[place] for place in bucket]
        assert len(set(held)) == len(held) >= l


def test_a_value_in_exactly_one_of_l_tuples_is_eligible() -> None:
    assert len(buckets(table(["a", "a", "b", "c"]), 2)) == 2
    with pytest.raises(Infeasible, match=r"in 3 of 5 tuples, more than one in 2.*half of the tuples"):
        buckets(table(["a", "a", "a", "b", "c"]), 2)
    with pytest.raises(Infeasible, match="Lower l to 2 or less"):
        buckets(table(["a", "a", "b", "c"]), 3)


def test_which_tuple_of_a_value_is_taken_is_up_to_chance() -> None:
    data = table(["a"] * 3 + ["b"] * 3 + ["c"] * 3)
    partners: Counter[int] = Counter()
    for seed in range(1800):
        bucket = next(bucket for bucket in buckets(data, 3, Random(seed)) if 0 in bucket)
        partners.update(place for place in bucket if place)
    # 0 shares its bucket with each of the others of two values with probability 1/3: 600 times,
    # standard deviation 20.
    assert sorted(partners) == [3, 4, 5, 6, 7, 8]
    assert all(abs(count - 600) < 100 for count in partners.values())


def test_equally_large_heaps_are_taken_by_chance() -> None:
    data = table(list("abcd"))
    pairs = Counter(
        frozenset(
            data.values[data.value_by_tuple[place]] for place in buckets(data, 2, Random(seed))[0]
        )
        for seed in range(600)
    )
    together_with_a = Counter(
        next(iter((pair if "a" in pair else frozenset("abcd") - pair) - {"a"}))
        for pair in pairs.elements()
    )
    assert set(together_with_a) == {"b", "c", "d"}
    assert all(abs(count - 200) < 60 for count in together_with_a.values())


def test_leftover_goes_to_a_bucket_without_its_value() -> None:
    data = table(["a", "a", "b", "b", "c"])
    seen = set()
    for seed in range(60):
        found = buckets(data, 2, Random(seed))
        assert sorted(map(len, found)) == [2, 3]
        seen.add(
            tuple(sorted(data.values[data.value_by_tuple[p]] for b in found for p in b if len(b) == 3))
        )
    assert seen == {("a", "b", "c")}


def test_tuples_without_a_value_are_spread_and_hide_nobody() -> None:
    values = list("abc") * 10 + ["(missing)"] * 10
    found = buckets(table(values), 3, Random(1))
    assert len(found) == 10
    assert all(sorted(values[place] for place in bucket) == ["(missing)", *"abc"] for bucket in found)
    # Beside two others an empty cell leaves no more than these two.
    with pytest.raises(Infeasible, match=r"in 2 of 4 tuples that have one, more than one in 3"):
        buckets(table([*"aabb", "(missing)"]), 3)
    with pytest.raises(Infeasible, match=r"no value in 3 of 6 tuples, more than one in 3"):
        buckets(table([*"abc", *["(missing)"] * 3]), 3)


@pytest.mark.parametrize(("l", "groups"), [(2, 7), (3, 8), (4, 6), (5, 9)])
def test_buckets_are_joined_where_they_have_no_room_for_tuples_without_a_value(
    l: int,  # noqa: E741
    groups: int,
) -> None:
    """As many as there can be: one to l - 1 tuples that have a value."""
    letters = "abcdefgh"[:l] * groups
    values = [*letters, *["(missing)"] * (len(letters) // (l - 1))]
    found = buckets(table(values), l, Random(l))
    for bucket in found:
        assert is_share_diverse([values[place] for place in bucket], l)
    one_less = buckets(table(values[: len(letters) + groups]), l, Random(l))
    assert len(one_less) == groups


def test_numbers_of_buckets_follow_their_content() -> None:
    random = Random(9)
    values, l = ["a", "b", "c", "d"] * 8, 4  # noqa: E741
    firsts = [min(f"p{place}" for place in bucket) for bucket in buckets(table(values), l, random)]
    assert firsts == sorted(firsts)


def test_only_a_secret_source_may_be_published() -> None:
    data = table(["a", "b", "c", "d"])
    for random, seeded in ((None, False), (SystemRandom(), False), (Random(1), True)):
        assert anonymize(data, LDiversity(2), random=random, watch=Watch()).seeded is seeded
    same = [buckets(data, 2, Random(7)) for _ in range(2)]
    assert same[0] == same[1]


def test_it_can_be_stopped() -> None:
    watch = Watch()
    watch.cancel()
    with pytest.raises(Cancelled):
        anonymize(table(["a", "b"]), LDiversity(2), watch=watch)


def test_an_empty_table_has_no_buckets() -> None:
    data = table(["a", "b"])
    nobody = Microdata(data.quasi, data.sensitive, data.values, data.value_by_tuple[:0])
    assert anonymize(nobody, LDiversity(2), watch=Watch()).bucketing.n_buckets == 0
