"""The kernels that form buckets against Figure 2 and Anatomy on single tuples, small random tables."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from setveil.kernels.buckets import injector as injector_kernels
from setveil.kernels.buckets.forming import deal_values
from setveil.methods.bucketing import draw_words, shuffle
from setveil.methods.injector import grouping as injector_grouping
from setveil.methods.injector.grouping import as_arrays, group_tuples, place_leftovers, spell_out
from setveil.progress import Watch
from tests.oracle import buckets
from tests.oracle.buckets import Person

from .test_matching import classes_of


class AsDrawn(Random):
    """Chance that was drawn before."""

    def __init__(self, words: np.ndarray) -> None:
        super().__init__()
        self.bytes = (words.astype(np.uint64) << np.uint64(1)).astype("<u8").tobytes()

    def randbytes(self, n: int) -> bytes:
        given, self.bytes = self.bytes[:n], self.bytes[n:]
        return given


@pytest.mark.parametrize("seed", range(100))
def test_values_are_dealt_as_the_oracle_deals_them(seed: int) -> None:
    random = Random(seed)
    counts = [random.randint(0, 9) for _ in range(random.randint(1, 7))]
    counts[0] += not any(counts)
    words = [random.randrange(10**6) for _ in range(sum(counts))]
    l = random.randint(2, 4)  # noqa: E741
    values, dealt = deal_values(np.array(counts), l, np.array(words))
    *groups, left = buckets.deal(counts, l, words)
    assert values[: dealt * l].reshape(-1, l).tolist() == groups
    assert sorted(values[dealt * l :].tolist()) == left


def random_table(random: Random) -> list[Person]:
    """Return people in the order of their classes; no rule denies anybody their own value."""
    values = random.randint(2, 7)
    kinds = [
        frozenset(v for v in range(values) if random.random() < random.choice([0.1, 0.3, 0.5]))
        for _ in range(random.randint(1, 4))
    ]
    skew = random.choice([1, 1, 2, 4])
    people = []
    for _ in range(random.randint(2, 34)):
        value = int(random.random() ** skew * values)
        people.append(Person(value, random.choice(kinds) - {value}))
    return people


@pytest.mark.parametrize("block", range(15))
def test_figure_2_on_classes_does_what_it_does_on_tuples(block: int) -> None:
    joins = 0
    for seed in range(40 * block, 40 * block + 40):
        random = Random(seed)
        people = random_table(random)
        l = random.randint(2, 4)  # noqa: E741
        classes = classes_of(people)
        table = [
            person
            for _, person in sorted(
                zip(classes.class_by_tuple, people, strict=True), key=lambda x: x[0]
            )
        ]
        words = draw_words(Random(seed), len(people) * l)
        rank_of = {}

        def ranks(count: int, seed: int = seed, rank_of: dict[int, list[int]] = rank_of) -> list[int]:
            return rank_of.setdefault(count, shuffle(Random(seed), count).tolist())

        chance = AsDrawn(words)
        expected, nits = buckets.bucketize(table, l, iter(words.tolist()), ranks)
        arrays = as_arrays(classes)
        grouped, rest, found_nits = group_tuples(classes, arrays, l, chance, Watch())
        assert found_nits.tolist() == nits
        rank = np.array(ranks(max(1, len(grouped) // l)))
        groups, joined = place_leftovers(arrays, grouped, rest, l, rank, Watch())
        joins += joined
        bucket, member = spell_out(groups)
        made = [sorted(member[bucket == b].tolist()) for b in range(int(bucket.max()) + 1)]
        number = {person: int(c) for c, person in zip(classes.class_by_tuple, people, strict=True)}
        assert sorted(made) == sorted(sorted(number[p] for p in group) for group in expected)
    assert joins


def test_leaving_out_classes_without_tuples_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = injector_kernels.form_groups
    for seed in range(30):
        classes = classes_of(random_table(Random(seed)))
        arrays, words = as_arrays(classes), draw_words(Random(seed), 400)
        before = group_tuples(classes, arrays, 2, AsDrawn(words), Watch())
        with monkeypatch.context() as patch:
            patch.setattr(injector_kernels, "ATTEMPTS", 1)
            patch.setattr(injector_grouping, "form_groups", compiled.py_func)
            after = group_tuples(classes, arrays, 2, AsDrawn(words), Watch())
        for one, other in zip(before, after, strict=True):
            assert one.tolist() == other.tolist()
