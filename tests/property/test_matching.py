"""Valid values by components against Figure 1 of the paper, tuple by tuple, on random buckets."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from setveil.kernels.buckets import assignments
from setveil.release.buckets import Bucketing
from setveil.release.possible import TupleClasses, number_lines, possible_counts, valid_pairs
from tests.oracle import buckets
from tests.oracle.buckets import Person


def random_people(random: Random, most: int = 9) -> list[Person]:
    """Return a bucket; in some, rules deny people their own values."""
    values = random.randint(1, 6)
    share, denied = random.random() ** 2, random.random() < 0.4
    kinds = [
        frozenset(v for v in range(values) if random.random() < share)
        for _ in range(random.randint(1, 4))
    ]
    people = []
    for _ in range(random.randint(1, most)):
        value, cannot = random.randrange(values), random.choice(kinds)
        people.append(Person(value, cannot if denied else cannot - {value}))
    return people


def classes_of(people: list[Person]) -> TupleClasses:
    n_values = 1 + max(v for person in people for v in (person.value, *person.cannot))
    flags = np.zeros((len(people), n_values), dtype=bool)
    for place, person in enumerate(people):
        flags[place, list(person.cannot)] = True
    set_by_tuple, first = number_lines(flags)
    kind_by_tuple = [(p.value, int(s)) for p, s in zip(people, set_by_tuple, strict=True)]
    kinds = sorted(set(kind_by_tuple))
    number = {kind: place for place, kind in enumerate(kinds)}
    return TupleClasses(
        np.array([number[kind] for kind in kind_by_tuple], np.int32),
        np.array([value for value, _ in kinds], np.int32),
        np.array([number for _, number in kinds], np.int32),
        flags[first],
    )


def counted(people: list[Person]) -> list[int]:
    return [len(buckets.valid_values(people, place)) for place in range(len(people))]


@pytest.mark.parametrize("block", range(20))
def test_components_find_the_valid_values_of_figure_1(block: int) -> None:
    for seed in range(100 * block, 100 * block + 100):
        people = random_people(Random(seed))
        one = Bucketing(np.zeros(len(people), np.int32))
        assert possible_counts(classes_of(people), one).tolist() == counted(people)


def test_many_buckets_at_once() -> None:
    random = Random(1)
    for _ in range(60):
        parts = [random_people(random, 6) for _ in range(random.randint(1, 5))]
        labelled = [(person, part) for part, people in enumerate(parts) for person in people]
        random.shuffle(labelled)
        bucketing = Bucketing(np.array([part for _, part in labelled], np.int32))
        found = possible_counts(classes_of([person for person, _ in labelled]), bucketing)
        for part, people in enumerate(parts):
            own = [person for person, other in labelled if other == part]
            assert len(own) == len(people)
            assert found[bucketing.bucket_by_tuple == part].tolist() == counted(own)


def test_a_line_of_values_that_must_shift_along() -> None:
    # Each can take the own value or the next; the last may take any: one cycle through all.
    n = 200
    held = np.eye(n, dtype=np.int64)
    allowed = np.eye(n, dtype=bool) | np.eye(n, k=1, dtype=bool)
    assert valid_pairs(held, allowed).sum() == n
    allowed[n - 1, 0] = True
    assert valid_pairs(held, allowed).sum() == 2 * n


def test_multiplicities_are_moved_as_a_whole() -> None:
    held = np.array([[10**12, 0], [0, 10**12]])
    assert valid_pairs(held, np.array([[False, True], [True, False]])).tolist() == [
        [False, True],
        [True, False],
    ]
    assert valid_pairs(held, np.array([[False, True], [False, True]])) is None
    one_more = held + np.array([[1, 0], [0, 0]])
    assert valid_pairs(one_more, np.array([[True, True], [True, False]])).tolist() == [
        [True, True],
        [True, False],
    ]


def test_plain_python_twin_of_the_kernel_agrees() -> None:
    random = np.random.default_rng(5)
    for _ in range(40):
        held = random.integers(0, 3, (3, 4)).astype(np.int64)
        allowed = random.random((3, 4)) < 0.7
        fast = assignments.find_valid(held, allowed)
        slow = assignments.find_valid.py_func(held, allowed)
        assert fast[0] == slow[0]
        assert (fast[1] == slow[1]).all()


def test_lines_are_numbered_by_content_beyond_one_word() -> None:
    random = np.random.default_rng(6)
    flags = random.random((80, 150)) < 0.5
    flags = flags[random.integers(0, 25, 200)]
    number, first = number_lines(flags)
    assert (flags[first][number] == flags).all()
    assert len(first) == len(np.unique(flags, axis=0))
    assert number_lines(flags[:0])[0].size == 0
