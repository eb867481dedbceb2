"""The background-knowledge attack on buckets: what is left possible to whoever knows the rules.

Li and Li (2008), section VI-A and Figure 4: a tuple is vulnerable if fewer than l sensitive values are
possible for it. A value is possible if it is valid by Definition 1: the tuple can take it, and the
others of its bucket can then share the other values.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from ..distinct import distinct, number_distinct
from ..model.guarantees import whole_number
from ..model.microdata import Microdata
from ..model.rules import NOT_KNOWN, Completeness, NegativeRule
from ..release.bucketing import Bucketing
from ..search.classes import TupleClasses, classify
from ..search.matching import possible_counts
from .gaps import possible_despite_gaps


@dataclass(frozen=True)
class BackgroundAttack:
    """What the rules tell about the tuples of buckets.

    Attributes
    ----------
    l
        The number of possible values asked for.
    tuples_by_possible
        How many tuples have 0, 1, 2, ... possible values. None at all means that the rules contradict
        the bucket, or leave no value but the one that stands for none.
    by_elimination
        How many tuples have fewer than l values in their bucket that no rule rules out: what is seen
        without thinking of the others in the bucket.
    tuples_by_possible_with_gaps
        The same as `tuples_by_possible` for whoever also concludes from a rule that is missing that
        somebody breaks it, whichever tells most; None where it is not known which are missing.
    """

    l: int  # noqa: E741 - the papers' name
    tuples_by_possible: tuple[int, ...]
    by_elimination: int
    tuples_by_possible_with_gaps: tuple[int, ...] | None = None

    @property
    def tuples(self) -> int:
        """How many tuples there are."""
        return sum(self.tuples_by_possible)

    @property
    def vulnerable(self) -> int:
        """How many tuples have fewer than l possible values."""
        return sum(self.tuples_by_possible[: self.l])

    @property
    def disclosed(self) -> int:
        """How many tuples have just one possible value."""
        return sum(self.tuples_by_possible[1:2])

    @property
    def vulnerable_by_gaps(self) -> int | None:
        """How many tuples have fewer than l possible values by missing rules; None if unknown."""
        counts = self.tuples_by_possible_with_gaps
        return None if counts is None else sum(counts[: self.l])

    @property
    def disclosed_by_gaps(self) -> int | None:
        """How many tuples have just one possible value by rules that are missing; None if unknown."""
        counts = self.tuples_by_possible_with_gaps
        return None if counts is None else sum(counts[1:2])

    @property
    def fewest(self) -> int | None:
        """The fewest possible values of a tuple; None without tuples."""
        return next((number for number, count in enumerate(self.tuples_by_possible) if count), None)

    @property
    def share(self) -> Fraction:
        """The share of vulnerable tuples."""
        return Fraction(self.vulnerable, max(1, self.tuples))

    def as_dict(self) -> dict[str, object]:
        """Return plain values."""
        return {
            "l": self.l,
            "tuples": self.tuples,
            "vulnerable": self.vulnerable,
            "disclosed": self.disclosed,
            "fewest_possible": self.fewest,
            "by_elimination": self.by_elimination,
            "tuples_by_possible": list(self.tuples_by_possible),
            "vulnerable_by_missing_rules": self.vulnerable_by_gaps,
            "disclosed_by_missing_rules": self.disclosed_by_gaps,
        }


def attack_by_rules(
    data: Microdata,
    bucketing: Bucketing,
    rules: Sequence[NegativeRule],
    l: int,  # noqa: E741
    *,
    complete: Completeness = NOT_KNOWN,
) -> BackgroundAttack:
    """Return what whoever knows `rules` learns from buckets, however these were made.

    Parameters
    ----------
    data, bucketing
        The tuples, and which of them share a bucket.
    rules
        What the attacker knows.
    l
        How many values should be possible for everybody.
    complete
        From where on the attacker knows all rules that hold, and so which ones do not.

    >>> data = Microdata.from_columns(
    ...     {"sex": ["F", "F", "M"], "ill": ["ovarian", "ovarian", "prostate"]}, "ill"
    ... )
    >>> one = Bucketing(np.zeros(3, dtype=np.int32))
    >>> attack_by_rules(data, one, [NegativeRule((("sex", "M"),), "ovarian")], 2).disclosed
    3
    """
    whole_number("l", l, least=2)
    classes = classify(data, rules)
    possible = possible_counts(classes, bucketing)
    takeable = takeable_counts(classes, bucketing)
    with_gaps = None
    if any(chance is not None for chance in complete.chance_by_length):
        with_gaps = _histogram(possible_despite_gaps(data, bucketing, rules, complete))
    return BackgroundAttack(l, _histogram(possible), int((takeable < l).sum()), with_gaps)


def _histogram(possible: NDArray[np.int32]) -> tuple[int, ...]:
    return tuple(np.bincount(possible, minlength=1).tolist()) if len(possible) else ()


def takeable_counts(classes: TupleClasses, bucketing: Bucketing) -> NDArray[np.int64]:
    """Return how many different values of its bucket no rule rules out for each tuple."""
    n_values = classes.impossible_by_set.shape[1]
    value_by_tuple = classes.value_by_class[classes.class_by_tuple]
    bucket = bucketing.bucket_by_tuple.astype(np.int64)
    held = distinct(bucket * n_values + value_by_tuple)
    bucket_of_held, value_of_held = np.divmod(held, n_values)
    start = np.searchsorted(bucket_of_held, np.arange(bucketing.n_buckets + 1))
    set_by_tuple = classes.set_by_class[classes.class_by_tuple]
    n_sets = len(classes.impossible_by_set)
    pairs, pair_by_tuple = number_distinct(bucket * n_sets + set_by_tuple)
    bucket_of_pair, set_of_pair = np.divmod(pairs, n_sets)
    width = np.diff(start)[bucket_of_pair]
    first = np.cumsum(width) - width
    place = np.arange(width.sum()) + np.repeat(start[bucket_of_pair] - first, width)
    can = ~classes.impossible_by_set[np.repeat(set_of_pair, width), value_of_held[place]]
    can &= value_of_held[place] != classes.no_value
    if not len(pairs):
        return np.empty(0, dtype=np.int64)
    found: NDArray[np.int64] = np.add.reduceat(can.astype(np.int64), first)
    return found[pair_by_tuple]
