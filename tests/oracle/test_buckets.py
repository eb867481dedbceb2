from __future__ import annotations

from itertools import repeat
from random import Random

from . import buckets
from .buckets import Person


def person(value: int, *cannot: int) -> Person:
    return Person(value, frozenset(cannot))


def random_group(random: Random, most: int) -> list[Person]:
    values = random.randint(1, 5)
    return [
        Person(random.randrange(values), frozenset(v for v in range(values) if random.random() < 0.35))
        for _ in range(random.randint(1, most))
    ]


def test_figure_1_finds_what_trying_all_permutations_finds():
    random = Random(3)
    for _ in range(150):
        group = random_group(random, 6)
        for place in range(len(group)):
            assert buckets.valid_values(group, place) == buckets.valid_values_by_permutation(
                group, place
            )


def test_largest_matching_of_small_graphs():
    assert buckets.largest_matching([frozenset(), frozenset()], [1, 2]) == 2
    assert buckets.largest_matching([frozenset({1}), frozenset({1})], [1, 2]) == 1
    assert buckets.largest_matching([frozenset({1}), frozenset({2})], [1, 2]) == 2


def test_the_formula_of_nit_counts_what_definition_2_says():
    random = Random(4)
    for _ in range(300):
        table = random_group(random, 12)
        table = [Person(p.value, p.cannot - {p.value}) for p in table]
        group = random.sample(table, random.randint(1, len(table)))
        assert buckets.nit(group, table) == buckets.nit_by_formula(group, table)


def test_bucketize_groups_people_who_can_swap():
    table = [person(0, 1), person(0, 1), person(1, 0), person(1, 0), person(2), person(2)]
    groups, _ = buckets.bucketize(table, 2, repeat(0), range)
    assert all(buckets.is_matching_diverse(group, 2) for group in groups)
    assert sum(len(group) for group in groups) == 6


def test_bucketize_may_end_with_one_group():
    table = [person(0), person(0), person(1)]
    groups, _ = buckets.bucketize(table, 2, repeat(0), range)
    assert [sorted(p.value for p in group) for group in groups] == [[0, 0, 1]]


def test_most_buckets_of_tables_small_enough_to_see():
    assert buckets.most_buckets([person(0), person(1), person(0), person(1)], 2) == 2
    assert buckets.most_buckets([person(0), person(0), person(0), person(1)], 2) == 1
    assert buckets.most_buckets([person(0), person(0)], 2) == 0
    # The last one may have nothing but his own value.
    assert buckets.most_buckets([person(0), person(1), person(2, 0, 1)], 2) == 0
    # Each of the first two can swap with one of the others only.
    assert buckets.most_buckets([person(0, 2), person(1, 3), person(3), person(2)], 2) == 2


def test_most_buckets_are_no_fewer_than_figure_2_makes():
    random, more = Random(9), 0
    for _ in range(60):
        table = random_group(random, 8)
        table = [Person(p.value, p.cannot - {p.value}) for p in table]
        groups, _ = buckets.bucketize(table, 2, repeat(0), range)
        valid = all(buckets.is_matching_diverse(group, 2) for group in groups)
        most = buckets.most_buckets(table, 2)
        assert (most > 0) == buckets.is_matching_diverse(table, 2)
        assert not valid or most >= len(groups)
        more += valid and most > len(groups)
    assert more
