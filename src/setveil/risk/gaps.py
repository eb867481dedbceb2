"""What rules that are missing tell of buckets: somebody breaks them, and perhaps few can.

Rules that hold are published completely from some chance on (`mining.gaps`). For each rule that is
missing there, all buckets are looked at in which somebody who meets its conditions can have its value.
Are there two or more, no bucket tells anything by itself. Is there one, then somebody in it has the
value, and what is possible for the people in it is counted again, exactly, under that condition alone.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..mining.gaps import Gap, Meetings, find_gaps
from ..model.microdata import Microdata
from ..model.rules import Completeness, NegativeRule
from ..release.bucketing import Bucketing
from ..search.classes import classify
from ..search.matching import SharedBucket, possible_values

Ids = NDArray[np.int32]
Flags = NDArray[np.bool_]


def possible_despite_gaps(
    data: Microdata,
    bucketing: Bucketing,
    rules: Sequence[NegativeRule],
    complete: Completeness,
) -> Ids:
    """Return how many values are possible for each tuple by the rules and by whichever gap tells most.

    Parameters
    ----------
    data, bucketing
        The tuples and who shares a bucket; the values of a bucket's tuples may be dealt out among
        them in any way.
    rules
        What is published.
    complete
        From where on rules are published completely.
    """
    classes = classify(data, rules)
    tuples, values = possible_values(classes, bucketing)
    possible = np.bincount(tuples[values != classes.no_value], minlength=len(data)).astype(np.int32)
    meetings = Meetings(tuples, values, bucketing.bucket_by_tuple[tuples])
    order = np.argsort(bucketing.bucket_by_tuple, kind="stable").astype(np.int32)
    start = np.searchsorted(bucketing.bucket_by_tuple[order], np.arange(bucketing.n_buckets + 1))
    for gap in find_gaps(data, meetings, complete, most=1):
        (bucket,) = gap.buckets
        shared = SharedBucket.of(classes, order[start[bucket] : start[bucket + 1]])
        valid = _valid_where_somebody_has(shared, gap, gap.tuples_meeting(data)[shared.members])
        counts = valid[:, shared.values != classes.no_value].sum(axis=1)
        possible[shared.members] = np.minimum(possible[shared.members], counts)
    return possible


def _valid_where_somebody_has(shared: SharedBucket, gap: Gap, meets: Flags) -> Flags:
    """Return which members can have which values if one who meets a gap's conditions breaks it."""
    column = shared.column_of(gap.value)
    found = np.zeros((len(meets), len(shared.values)), dtype=np.bool_)
    for line in np.unique(shared.line[meets]).tolist():
        people = np.flatnonzero(meets & (shared.line == line))
        # People of a line are alike: what is possible if one breaks it is so for each other one.
        for person in people[:2].tolist():
            valid = shared.valid_where({person: column})
            if valid is not None:
                found |= valid
                found[people, column] = True
    return found
