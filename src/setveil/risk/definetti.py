"""The deFinetti attack on buckets (Kifer, 2009): what the buckets together teach about each of them.

Within one bucket nobody can tell whose value is whose. Over many buckets it shows that some quasi-
identifying values come with some sensitive ones, and that tells tuples of a bucket apart. The attack
starts from equal chances, learns from the current guess how likely each quasi-identifying value is
given a sensitive one (naive Bayes), shares out the values of each bucket among its tuples by those
chances, and goes on until no tuple's guess changes.

No promise about buckets covers this attack. Where quasi-identifying and sensitive values have nothing
to do with each other it does no better than naming a bucket's most frequent value.

Differences from the paper
--------------------------
Guesses are shares that add up to the bucket's counts, instead of one drawn assignment, so that the
attack needs no chance and ends at the same place every time.

How long it takes
-----------------
Guesses do not go round in circles: from some round on, the shares move by a nearly constant factor less
in each. The less the buckets tell, the nearer that factor is to 1. On Adult it is 0.74 at l = 3, which
takes 19 rounds, and 0.96 at l = 6, which takes 92 to 170 by the buckets; at l = 7 up to 348 were seen.
So many rounds are given where the table is small enough, and `settled` says whether they sufficed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from ..distinct import count_distinct
from ..errors import ResourceLimit
from ..kernels.attack.definetti import guess_again, learn_weights
from ..kernels.base import plain
from ..model.microdata import Microdata
from ..progress import Watch
from ..release.buckets import Bucketing

FEWEST_ROUNDS, MOST_ROUNDS = 100, 1000
"""Between these lie the rounds after which the attack is stopped where guesses still change."""
MOST_GUESSES = 30_000_000
"""Beyond the fewest, rounds are given while tuples times rounds stay below this."""
SAMPLED_CELLS = 100_000
"""The most quasi-identifying cells of a sample: 20,000 tuples of five columns."""
SWEEPS = 10
"""How often the lines and columns of a bucket's guesses are scaled in a round."""
LARGEST = 200_000_000
"""The most pairs of a quasi-identifying and a sensitive value that are learned about."""


@dataclass(frozen=True)
class DeFinettiAttack:
    """How well the attack guesses.

    Attributes
    ----------
    tuples, right
        How many tuples there are, and of how many the value was guessed.
    by_share
        How many would be guessed by naming the most frequent value of each bucket.
    rounds, settled
        How many rounds were needed, and whether guesses stopped changing.
    """

    tuples: int
    right: int
    by_share: int
    rounds: int
    settled: bool

    @property
    def accuracy(self) -> Fraction:
        """The share of tuples whose value was guessed."""
        return Fraction(self.right, max(1, self.tuples))

    @property
    def baseline(self) -> Fraction:
        """The mean largest share of a value in its bucket."""
        return Fraction(self.by_share, max(1, self.tuples))

    def as_dict(self) -> dict[str, object]:
        """Return plain values."""
        return {
            "tuples": self.tuples,
            "accuracy": float(self.accuracy),
            "baseline": float(self.baseline),
            "rounds": self.rounds,
            "settled": self.settled,
        }


def attack_by_learning(
    data: Microdata, bucketing: Bucketing, *, rounds: int | None = None, watch: Watch | None = None
) -> DeFinettiAttack:
    """Return how many sensitive values are guessed from the quasi-identifying part and the buckets.

    The true values are looked at only to count the right guesses.

    There are as many rounds as the size of the table allows, if no number is given.
    """
    watch = watch or Watch()
    if rounds is None:
        rounds = rounds_for(len(data))
    offsets = np.cumsum([0, *(attribute.hierarchy.n_leaves for attribute in data.quasi)])
    if int(offsets[-1]) * len(data.values) > LARGEST:
        raise ResourceLimit(
            f"the attack would learn about {int(offsets[-1]):,} x {len(data.values):,} pairs of "
            "values.",
            f"At most {LARGEST:,} are allowed; leave out columns with very many values.",
        )
    order = np.argsort(bucketing.bucket_by_tuple, kind="stable")
    bucket = bucketing.bucket_by_tuple[order].astype(np.int64)
    every = np.arange(bucketing.n_buckets + 1)
    start = plain(np.searchsorted(bucket, every), np.int64)
    features = plain(data.leaves[order] + offsets[:-1], np.int32)
    truth = data.value_by_tuple[order]
    held, counts = count_distinct(bucket * len(data.values) + truth)
    bucket_of_held, values = np.divmod(held, len(data.values))
    value_start = plain(np.searchsorted(bucket_of_held, every), np.int64)
    sizes, widths = np.diff(start), np.diff(value_start)
    weight_start = plain(np.concatenate(([0], np.cumsum(sizes * widths))), np.int64)
    shares = counts / sizes[bucket_of_held]
    weights = np.concatenate(
        [np.empty(0)]
        + [
            np.tile(shares[low:high], size)
            for low, high, size in zip(value_start[:-1], value_start[1:], sizes, strict=True)
        ]
    )
    where = (start, features, value_start, plain(values, np.int32))
    guess = np.full(len(data), -1, dtype=np.int32)
    done, settled = 0, not len(data)
    while done < rounds and not settled:
        watch.tick("deFinetti attack", done / rounds)
        log_chance = _learn(where, weight_start, weights, offsets, data.count_by_value)
        counted = plain(counts, np.int64)
        changed = guess_again(*where, counted, weight_start, weights, log_chance, guess, SWEEPS)
        done += 1
        settled = changed == 0
    largest = np.zeros(bucketing.n_buckets, dtype=np.int64)
    np.maximum.at(largest, bucket_of_held, counts)
    return DeFinettiAttack(
        len(data), int((guess == truth).sum()), int(largest.sum()), done, bool(settled)
    )


def rounds_for(tuples: int) -> int:
    """Return after how many rounds the attack on so many tuples is stopped.

    >>> rounds_for(1_000), rounds_for(100_000), rounds_for(10_000_000)
    (1000, 300, 100)
    """
    return min(MOST_ROUNDS, max(FEWEST_ROUNDS, MOST_GUESSES // max(1, tuples)))


def attack_sample(
    data: Microdata, bucketing: Bucketing, *, watch: Watch | None = None
) -> DeFinettiAttack:
    """Return what `attack_by_learning` finds in some whole buckets of a large table, in all of a small.

    How many buckets are looked at follows from the numbers of tuples, columns and buckets alone, and
    which ones from their numbers, which mean nothing.
    """
    most = SAMPLED_CELLS // max(1, len(data.quasi))
    if len(data) <= most:
        return attack_by_learning(data, bucketing, watch=watch)
    n_chosen = max(1, bucketing.n_buckets * most // len(data))
    chosen = np.arange(n_chosen) * bucketing.n_buckets // n_chosen
    number = np.full(bucketing.n_buckets, -1, dtype=np.int32)
    number[chosen] = np.arange(n_chosen)
    bucket_by_tuple = number[bucketing.bucket_by_tuple]
    kept = np.flatnonzero(bucket_by_tuple >= 0)
    part = replace(
        data,
        quasi=tuple(replace(each, leaf_by_tuple=each.leaf_by_tuple[kept]) for each in data.quasi),
        value_by_tuple=data.value_by_tuple[kept],
    )
    # No more rounds than the whole table would get: a sample is there to be quicker.
    rounds = rounds_for(len(data))
    return attack_by_learning(part, Bucketing(bucket_by_tuple[kept]), rounds=rounds, watch=watch)


def _learn(
    where: tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int64], NDArray[np.int32]],
    weight_start: NDArray[np.int64],
    weights: NDArray[np.float64],
    offsets: NDArray[np.int64],
    count_by_value: NDArray[np.int64],
) -> NDArray[np.float64]:
    """Return the logarithm of the chance of each feature given each value, one added to each count."""
    seen = np.empty((int(offsets[-1]), len(count_by_value)))
    learn_weights(*where, weight_start, weights, seen)
    domain = np.repeat(np.diff(offsets), np.diff(offsets))
    chances: NDArray[np.float64] = np.log((seen + 1.0) / (count_by_value + domain[:, None]))
    return chances
