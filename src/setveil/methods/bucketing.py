"""What methods that make buckets share: chance that protects, and places for tuples without a value.

Which tuples share a bucket must not be guessable, so no chance here has a seed unless somebody injects
a generator of their own; a method then marks its outcome as seeded, not for release.

`(missing)` is published like a value and is none: it hides nobody. So buckets are made of the tuples
that have a value, and keep their promise by themselves. The others then join them, spread evenly and by
chance. Buckets are joined only where there is no room.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from random import Random

import numpy as np

from ..errors import Infeasible
from ..hierarchy.tree import Counts, Ids
from ..model.microdata import Microdata
from ..release.buckets import Bucketing, in_canonical_order
from ..release.possible import TupleClasses, possible_counts
from . import BucketOutcome

AT_ONCE = 1 << 20
"""Words drawn in one call; generators limit how many bits they give at a time."""


def secret_unless(random: Random | None) -> tuple[Random, bool]:
    """Return the generator to use, and whether somebody could run it again."""
    source = secrets.SystemRandom() if random is None else random
    return source, not isinstance(source, secrets.SystemRandom)


def draw_words(random: Random, count: int) -> Counts:
    """Return whole numbers from 0 to 2^63 - 1, independent and uniform."""
    parts = [
        np.frombuffer(random.randbytes(8 * min(AT_ONCE, count - low)), dtype="<u8")
        for low in range(0, count, AT_ONCE)
    ]
    words = np.concatenate(parts) if parts else np.empty(0, dtype="<u8")
    return (words >> np.uint64(1)).astype(np.int64)


def shuffle(random: Random, count: int) -> Counts:
    """Return 0 .. count - 1 in random order."""
    return np.argsort(draw_words(random, count), kind="stable").astype(np.int64)


def place_everybody(
    data: Microdata, form: Callable[[Microdata], BucketOutcome], add: Callable[[Ids], Ids]
) -> BucketOutcome:
    """Return buckets of all tuples.

    `form` makes buckets of those that have a value; `add` returns the bucket of each tuple, given it of
    these and -1 for the others.
    """
    outcome = form(data.subset(data.has_value))
    bucket = np.full(len(data), -1, dtype=np.int32)
    bucket[data.has_value] = outcome.bucketing.bucket_by_tuple
    bucketing = in_canonical_order(data, Bucketing(add(bucket)))
    figures = {
        **outcome.figures,
        "buckets": bucketing.n_buckets,
        "largest bucket": int(np.bincount(bucketing.bucket_by_tuple).max()),
        "without a value": int((~data.has_value).sum()),
    }
    return BucketOutcome(bucketing, figures, outcome.seeded)


def share_out(bucket_by_tuple: Ids, l: int, random: Random) -> Ids:  # noqa: E741
    """Put the tuples without a bucket into buckets, at most one to l - 1 tuples that had one before.

    There must be that many. Buckets have l tuples or a few more, so l - 1 of them together can take
    more than each by itself; they are joined where it takes that.
    """
    outside = bucket_by_tuple < 0
    sizes = np.bincount(bucket_by_tuple[~outside])
    wanted = int(outside.sum())
    order = shuffle(random, len(sizes))
    for together in range(1, len(sizes) + 1):
        n_left = len(sizes) // together
        number = np.minimum(order // together, n_left - 1)
        room = np.bincount(number, weights=sizes).astype(np.int64) // (l - 1)
        if room.sum() >= wanted:
            break
    # Every bucket takes one before any takes a second; which ones take the last is up to chance.
    seat = np.repeat(np.arange(len(room)), room)
    turn = np.arange(len(seat)) - np.repeat(np.cumsum(room) - room, room)
    seat = seat[np.lexsort((shuffle(random, len(seat)), turn))]
    placed = np.empty_like(bucket_by_tuple)
    placed[~outside] = number[bucket_by_tuple[~outside]]
    placed[outside] = seat[:wanted][shuffle(random, wanted)]
    return placed


def join_matching(
    classes: TupleClasses,
    bucket_by_tuple: Ids,
    l: int,  # noqa: E741
    random: Random,
) -> Ids:
    """Put the tuples without a bucket into buckets with l values that no rule rules out for them."""
    placed = bucket_by_tuple.copy()
    inside = placed >= 0
    n_buckets = int(placed.max()) + 1
    n_values = classes.impossible_by_set.shape[1]
    value_by_tuple = classes.value_by_class[classes.class_by_tuple]
    set_by_tuple = classes.set_by_class[classes.class_by_tuple]
    bucket, value = np.divmod(
        np.unique(placed[inside].astype(np.int64) * n_values + value_by_tuple[inside]), n_values
    )
    for kind in np.unique(set_by_tuple[~inside]).tolist():
        may_have = ~classes.impossible_by_set[kind, value]
        values_by_bucket = np.bincount(bucket[may_have], minlength=n_buckets)
        good = np.flatnonzero(values_by_bucket >= min(l, int(values_by_bucket.max())))
        newcomers = np.flatnonzero(~inside & (set_by_tuple == kind))
        newcomers = newcomers[shuffle(random, len(newcomers))]
        good = good[shuffle(random, len(good))]
        placed[newcomers] = good[np.arange(len(newcomers)) % len(good)]
    return _joined_where_needed(classes, placed, l, random)


def _joined_where_needed(
    classes: TupleClasses,
    bucket_by_tuple: Ids,
    l: int,  # noqa: E741
    random: Random,
) -> Ids:
    """Join buckets in which somebody has fewer than l possible values with others, until nobody has."""
    while True:
        bucketing = Bucketing(bucket_by_tuple)
        few = possible_counts(classes, bucketing) < l
        if not few.any():
            return bucket_by_tuple
        n_buckets = bucketing.n_buckets
        if n_buckets == 1:
            raise Infeasible(
                "the rules leave no way to place everybody who has no value.",
                "Leave such rows out (--missing-cells suppress-row), or lower l.",
                code="too-few-possible",
            )
        into = np.arange(n_buckets, dtype=np.int32)
        for here in np.unique(bucket_by_tuple[few]).tolist():
            other = (here + 1 + random.randrange(n_buckets - 1)) % n_buckets
            into[into == into[here]] = into[other]
        bucket_by_tuple = np.unique(into[bucket_by_tuple], return_inverse=True)[1].astype(np.int32)
