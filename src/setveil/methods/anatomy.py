"""Anatomy: buckets of l different sensitive values (Xiao and Tao, 2006), and the baseline of Injector.

Tuples are sorted into heaps by sensitive value. While at least l heaps have tuples, one tuple is taken
at random from each of the l largest, and these form a bucket (`deal_values`). At most l - 1 tuples are
left, each of another value; each goes to a random bucket that lacks its value (`_place_leftovers`).
So every bucket has only different values, and none has a share above 1/l.

This works if and only if no value is in more than n/l of the n tuples.

The paper does not say which of equally large heaps is taken; here chance does. It knows no empty cells
either. Here tuples without a value are put into the buckets of the others at the end, at most one to
l - 1 tuples that have one (`bucketing.share_out`).
"""

from __future__ import annotations

from random import Random

import numpy as np

from ..errors import Infeasible, InternalError
from ..hierarchy.tree import Counts, Ids
from ..kernels.base import plain
from ..kernels.buckets.forming import deal_values
from ..model.guarantees import LDiversity
from ..model.microdata import Microdata
from ..progress import Watch
from ..release.buckets import Bucketing, in_canonical_order
from . import BucketOutcome
from .bucketing import draw_words, place_everybody, secret_unless, share_out, shuffle


def anonymize(
    data: Microdata, guarantee: LDiversity, *, watch: Watch, random: Random | None = None
) -> BucketOutcome:
    """Return buckets in which no sensitive value has a share above 1/l; `random` as in `bucketing`."""
    check_eligible(data, guarantee.l)
    source, seeded = secret_unless(random)
    if not len(data):
        return BucketOutcome(Bucketing(np.empty(0, dtype=np.int32)), {}, seeded)
    if not data.has_value.all():
        return place_everybody(
            data,
            lambda valued: anonymize(valued, guarantee, watch=watch, random=random),
            lambda bucket: share_out(bucket, guarantee.l, source),
        )
    watch.tick("anatomy: dealing values out", 0.0)
    watch.check_deadline()
    words = draw_words(source, len(data))
    values, n_buckets = deal_values(plain(data.count_by_value, np.int64), guarantee.l, words)
    bucket_by_place = np.arange(len(data), dtype=np.int64) // guarantee.l
    leftover = len(data) - n_buckets * guarantee.l
    _place_leftovers(values, bucket_by_place, n_buckets, leftover, source)
    watch.tick("anatomy: dealing tuples out", 0.5)
    order = shuffle(source, len(data))
    order = order[np.argsort(data.value_by_tuple[order], kind="stable")]
    bucket_by_tuple = np.empty(len(data), dtype=np.int32)
    bucket_by_tuple[order] = bucket_by_place[np.argsort(values, kind="stable")]
    bucketing = in_canonical_order(data, Bucketing(bucket_by_tuple))
    figures = {
        "buckets": n_buckets,
        "largest bucket": int(np.bincount(bucket_by_place).max()),
        "left over": leftover,
    }
    return BucketOutcome(bucketing, figures, seeded)


def check_eligible(data: Microdata, l: int) -> None:  # noqa: E741
    """Raise `Infeasible` where a value is in more than one of `l` tuples: no bucketing is l-diverse.

    Of the tuples that have a value, that is; those without one may not be more than one of l either.
    """
    valued = int(data.has_value.sum())
    if (len(data) - valued) * l > len(data):
        raise Infeasible(
            f"column {data.sensitive[:40]!r} has no value in {len(data) - valued:,} of {len(data):,} "
            f"tuples, more than one in {l}; no buckets are {l}-diverse.",
            "Leave such rows out (--missing-cells suppress-row), or lower l.",
            code="not-eligible",
        )
    most = int(data.count_by_value[np.arange(len(data.values)) != data.no_value].max(initial=0))
    if most * l > valued:
        raise Infeasible(
            f"the most frequent value of column {data.sensitive[:40]!r} is in {most:,} of "
            f"{valued:,} tuples{'' if valued == len(data) else ' that have one'}, more than one in "
            f"{l}; no buckets are {l}-diverse.",
            f"Lower l to {valued // most} or less."
            if valued >= 2 * most
            else "Give data in which no value is in more than half of the tuples.",
            code="not-eligible",
        )


def _place_leftovers(
    values: Ids, bucket_by_place: Counts, n_buckets: int, leftover: int, random: Random
) -> None:
    """Put each value that was left over into a random bucket that lacks it."""
    for place in range(len(values) - leftover, len(values)):
        lacks = np.ones(n_buckets, dtype=np.bool_)
        lacks[bucket_by_place[:place][values[:place] == values[place]]] = False
        free = np.flatnonzero(lacks)
        if not len(free):
            raise InternalError("anatomy: no bucket lacks a value that was left over.")
        bucket_by_place[place] = free[random.randrange(len(free))]
