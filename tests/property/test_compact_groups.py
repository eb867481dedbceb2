"""The compact grouping of Injector: valid, with as many buckets as brute force finds."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from random import Random

import numpy as np
import pytest

from setveil.kernels.buckets.store import (
    BUDGET,
    Desk,
    Pool,
    Store,
    add,
    can_take,
    empty_pool,
    is_valid,
    pour_bucket,
)
from setveil.methods.injector.grouping import (
    Grouped,
    as_arrays,
    count_hardness,
    group_as_printed,
    group_compactly,
    group_hardest_first,
    most_buckets,
)
from setveil.progress import Watch
from setveil.release.buckets import Bucketing
from setveil.release.possible import TupleClasses, possible_counts
from tests.oracle import buckets
from tests.oracle.buckets import Person

from .test_bucketing import random_table
from .test_matching import classes_of, random_people


def random_world(random: Random, most: int) -> tuple[list[Person], int]:
    """Return people, of whom some may have a value that is ruled out for them, and l."""
    values = random.randint(2, 6)
    share, skew = random.choice([0.15, 0.3, 0.5]), random.choice([1, 1.5, 2.5])
    kinds = [
        frozenset(v for v in range(values) if random.random() < share)
        for _ in range(random.randint(1, 3))
    ]
    denied = random.random() < 0.4
    people = []
    for _ in range(random.randint(4, most)):
        value, cannot = int(random.random() ** skew * values), random.choice(kinds)
        people.append(Person(value, cannot if denied else cannot - {value}))
    return people, random.randint(2, 3)


def people_by_class(classes: TupleClasses) -> list[Person]:
    return [
        Person(int(value), frozenset(np.flatnonzero(classes.impossible_by_set[number]).tolist()))
        for value, number in zip(classes.value_by_class, classes.set_by_class, strict=True)
    ]


def members(classes: TupleClasses, grouped: Grouped) -> list[list[Person]]:
    """Return the groups as people, all of whom must be there once."""
    assert sorted(grouped.member.tolist()) == sorted(classes.class_by_tuple.tolist())
    people = people_by_class(classes)
    return [
        [people[which] for which in grouped.member[grouped.bucket == bucket]]
        for bucket in range(grouped.n_buckets)
    ]


@pytest.mark.parametrize("block", range(10))
def test_small_tables_get_as_many_buckets_as_there_can_be(block: int) -> None:
    some = 0
    for seed in range(30 * block, 30 * block + 30):
        people, l = random_world(Random(seed), 10)  # noqa: E741
        if not buckets.is_matching_diverse(people, l):
            continue
        classes = classes_of(people)
        grouped = group_compactly(classes, l, Random(seed), Watch())
        assert all(buckets.is_matching_diverse(group, l) for group in members(classes, grouped))
        best = buckets.most_buckets(people, l)
        assert grouped.n_buckets == best <= most_buckets(classes, l)
        some += best > 1
    assert some


def test_larger_tables_get_no_fewer_buckets_than_figure_2_makes() -> None:
    done: Counter[str] = Counter()
    more = worlds = 0
    for seed in range(400):
        people, l = random_world(Random(10_000 + seed), 60)  # noqa: E741
        classes = classes_of(people)
        one = Bucketing(np.zeros(len(people), np.int32))
        if possible_counts(classes, one).min() < l:
            continue
        grouped = group_compactly(classes, l, Random(seed), Watch())
        assert sorted(grouped.member.tolist()) == sorted(classes.class_by_tuple.tolist())
        placed = replace(classes, class_by_tuple=grouped.member)
        assert possible_counts(placed, Bucketing(grouped.bucket)).min() >= l
        printed = group_as_printed(classes, l, Random(seed), Watch()).n_buckets
        assert most_buckets(classes, l) >= grouped.n_buckets >= printed
        more += grouped.n_buckets > printed
        worlds += 1
        done.update(grouped.figures)
    assert more > worlds / 4
    # Each way of placing what is left over was taken.
    assert all(done.values()), done


@pytest.mark.parametrize("seed", range(60))
def test_groups_are_of_the_hardest_and_who_is_put_aside_fits_nowhere(seed: int) -> None:
    random = Random(seed)
    people, l = random_table(random), random.randint(2, 4)  # noqa: E741
    classes = classes_of(people)
    arrays, by_class = as_arrays(classes), people_by_class(classes)
    left = [by_class[which] for which in classes.class_by_tuple]
    hardness = count_hardness(arrays, classes.count_by_class)
    assert hardness.tolist() == [buckets.incompatible_with(left, person) for person in by_class]
    grouped = group_hardest_first(classes, arrays, l, random, Watch())
    for low in range(0, len(grouped), l):
        group = [by_class[which] for which in grouped[low : low + l]]
        for size, person in enumerate(group):
            assert buckets.incompatible_with(group[:size], person) == 0
            left.remove(person)
    # No l of those put aside can swap with each other: then one group more would be there.
    alone = [Person(p.value, p.cannot) for p in set(left)]

    def grows(group: list[Person], others: list[Person]) -> bool:
        if len(group) == l:
            return True
        return any(
            buckets.incompatible_with(group, person) == 0 and grows([*group, person], others[n + 1 :])
            for n, person in enumerate(others)
        )

    assert not grows([], alone)


def test_the_first_of_a_group_is_the_hardest_of_all() -> None:
    for seed in range(40):
        people = random_table(Random(seed))
        classes = classes_of(people)
        by_class = people_by_class(classes)
        grouped = group_hardest_first(classes, as_arrays(classes), 2, Random(seed), Watch())
        if len(grouped):
            hardness = [buckets.incompatible_with(people, person) for person in by_class]
            able = [
                which
                for which, person in enumerate(by_class)
                if any(not buckets.are_incompatible(person, other) for other in people)
            ]
            assert hardness[grouped[0]] == max(hardness[which] for which in able)


def test_who_can_join_a_bucket_is_who_leaves_it_valid() -> None:
    seen = set()
    for seed in range(400):
        random = Random(seed)
        people, l = random_people(random, 8), random.randint(1, 3)  # noqa: E741
        classes = classes_of(people)
        arrays, by_class = as_arrays(classes), people_by_class(classes)
        n_sets, n_values = arrays.cannot.shape
        store = Store(
            np.full(1, -1),
            np.arange(1, len(people) + 2),
            np.zeros(len(people) + 1, np.int32),
            np.zeros(len(people) + 1, np.int64),
            np.zeros(1, np.int64),
            np.array([0, 1]),
        )
        desk = Desk(
            np.full(n_sets, -1, np.int32),
            np.full(n_values, -1, np.int32),
            np.zeros(n_values, np.int64),
            np.zeros(n_values, np.int64),
            np.full(len(classes), -1),
            np.zeros(len(classes), np.bool_),
            np.zeros(1, np.int64),
            np.zeros(4, np.int64),
        )
        desk.at[BUDGET] = 1000
        pool = Pool(
            np.zeros(len(classes), np.int32),
            np.zeros(1, np.int64),
            np.zeros(len(classes), np.bool_),
            np.zeros(len(classes), np.int64),
        )
        *inside, newcomer = classes.class_by_tuple.tolist()
        for which in inside:
            add(store, 0, which, 1)
        pour_bucket(store, 0, pool)
        group = [by_class[which] for which in inside]
        valid = bool(group) and buckets.is_matching_diverse(group, l)
        assert is_valid(arrays, desk, pool, l) == valid
        empty_pool(pool)
        if valid:
            after = buckets.is_matching_diverse([*group, by_class[newcomer]], l)
            assert can_take(arrays, desk, store, pool, 0, newcomer, l) == after
            seen.add(after)
        for which in inside:
            add(store, 0, which, -1)
        assert (store.size[0], store.first_slot[0]) == (0, -1)
    assert seen == {True, False}
