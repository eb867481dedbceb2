"""Which sensitive values are possible for the tuples of a bucket (Li and Li, Definition 1).

A value is valid for a tuple if the tuple can take it and the others of the bucket can then share the
other values among them. The paper looks for a matching once for every pair (Figure 1). Here one
assignment and its strongly connected components answer for all pairs, and on classes of
interchangeable tuples, so that a bucket's cost does not grow with its size (`kernels.assignments`).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..distinct import number_distinct
from ..kernels._calls import plain
from ..kernels.assignments import count_valid, find_valid
from ..model.microdata import Microdata
from ..model.rules import NegativeRule
from ..release.bucketing import Bucketing
from .classes import TupleClasses, classify

Counts = NDArray[np.int64]
Ids = NDArray[np.int32]
Flags = NDArray[np.bool_]


def valid_pairs(held: NDArray[np.int64], allowed: Flags) -> Flags | None:
    """Return which pairs of set (line) and value (column) of one bucket occur in some assignment.

    Parameters
    ----------
    held
        How many tuples with the impossible values of a line have the value of a column.
    allowed
        Whether such tuples may have it.

    Returns
    -------
    Flags or None
        None where no assignment exists at all.

    >>> women_and_men = np.array([[1, 0, 0], [0, 1, 1]])  # ovarian cancer, flu, heart disease
    >>> valid_pairs(women_and_men, np.array([[True, True, True], [False, True, True]]))
    array([[ True, False, False],
           [False,  True,  True]])
    """
    exists, valid = find_valid(plain(held, np.int64), plain(allowed, np.bool_))
    return valid if exists else None


def possible_counts(classes: TupleClasses, bucketing: Bucketing) -> Ids:
    """Return how many values are possible for each tuple; 0 where its bucket has no assignment.

    What stands for no value counts as none.

    Parameters
    ----------
    classes
        The tuples and what the rules rule out.
    bucketing
        Which of them share a bucket.
    """
    if not len(bucketing):
        return np.empty(0, dtype=np.int32)
    joined = bucketing.bucket_by_tuple.astype(np.int64) * len(classes) + classes.class_by_tuple
    found, place_by_tuple = number_distinct(joined)
    counts = np.bincount(place_by_tuple)
    bucket, member = found // len(classes), found % len(classes)
    start = np.searchsorted(bucket, np.arange(bucketing.n_buckets + 1))
    possible: Ids = count_valid(
        plain(start, np.int64),
        plain(classes.set_by_class[member], np.int32),
        plain(classes.value_by_class[member], np.int32),
        plain(counts, np.int64),
        plain(classes.impossible_by_set, np.bool_),
        classes.no_value,
    )
    return possible[place_by_tuple]


def possible_together(data: Microdata, rules: Sequence[NegativeRule]) -> Ids:
    """Return how many values are possible for each tuple where all share one bucket.

    Tuples without a value are left aside for the others, whom they hide from nobody.
    """
    counts = _together(classify(data, rules))
    if not data.has_value.all():
        alone = _together(classify(data.subset(data.has_value), rules))
        counts[data.has_value] = np.minimum(counts[data.has_value], alone)
    return counts


def _together(classes: TupleClasses) -> Ids:
    n_tuples = len(classes.class_by_tuple)
    return possible_counts(classes, Bucketing(np.zeros(n_tuples, dtype=np.int32)))
