"""What attackers get out of a table in buckets: by rules, or by learning (`definetti`).

The first is the background-knowledge attack of Li and Li (2008), section VI-A and Figure 4: a tuple is
vulnerable if fewer than l sensitive values are possible for it. It is judged from what is published
alone, and is what matching diversity promises against. The second is covered by no promise about
buckets, and how well it guesses can only be counted by whoever knows the true values.

Rules that are missing tell something, too: somebody breaks them. Rules that hold are published
completely from some chance on (`mining.gaps`). For each rule that is missing there, all buckets are
looked at in which somebody who meets its conditions can have its value. Are there two or more, no
bucket tells anything by itself. Is there one, then somebody in it has the value, and what is possible
for the people in it is counted again, exactly, under that condition alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from ..distinct import distinct, number_distinct
from ..mining.gaps import Gap, Meetings, find_gaps
from ..model.guarantees import BucketGuarantee
from ..model.layout import NO_VALUE
from ..model.microdata import Microdata
from ..model.numbers import whole_number
from ..model.rules import NOT_KNOWN, Completeness, NegativeRule
from ..release.buckets import Bucketing
from ..release.possible import SharedBucket, TupleClasses, classify, possible_counts, possible_values
from .definetti import DeFinettiAttack

Ids = NDArray[np.int32]
Flags = NDArray[np.bool_]


def possible_despite_gaps(
    data: Microdata,
    bucketing: Bucketing,
    rules: Sequence[NegativeRule],
    complete: Completeness,
) -> Ids:
    """Return how many values are possible for each tuple by the rules and by whichever gap tells most.

    The values of a bucket's tuples may be dealt out among them in any way. `rules` are published, and
    from `complete` on all that hold.
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

    From `complete` on the attacker knows all rules that hold, and so which ones do not. `l` values
    should be possible for everybody.

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


@dataclass(frozen=True)
class TableRisk:
    """The two attacks on a table in buckets; ``print`` it for a summary.

    Attributes
    ----------
    guarantee
        What the table promises.
    records, buckets
        How many there are.
    rules
        How many rules the first attacker knows.
    background
        What whoever knows the rules learns.
    learning
        How many values are guessed by learning; None where the true ones are not known. Private.
    """

    guarantee: BucketGuarantee
    records: int
    buckets: int
    rules: int
    background: BackgroundAttack
    learning: DeFinettiAttack | None = None

    def as_dict(self) -> dict[str, object]:
        """Return plain values."""
        return {
            "guarantee": self.guarantee.as_dict(),
            "records": self.records,
            "buckets": self.buckets,
            "rules": self.rules,
            "by_rules": self.background.as_dict(),
            "by_learning": None if self.learning is None else self.learning.as_dict(),
        }

    def __str__(self) -> str:
        found = self.background
        known = "no rules" if not self.rules else f"{self.rules:,} rule" + "s" * (self.rules > 1)
        lines = [
            f"Risk: {self.guarantee}, {self.records:,} records in {self.buckets:,} buckets",
            f"  whoever knows {known}:",
            f"    {_share(found.vulnerable, found.tuples)} have fewer than {found.l} possible values; "
            f"the fewest are {found.fewest}",
            f"    {_share(found.disclosed, found.tuples)} have one possible value: it is known",
        ]
        contradicted = sum(found.tuples_by_possible[:1])
        if contradicted:
            told = _share(contradicted, found.tuples)
            none = f"the rules contradict their buckets, or leave no value but {NO_VALUE}"
            lines.append(f"    {told} have none: {none}")
        if found.vulnerable_by_gaps is not None:
            lines += [
                "  whoever also concludes from rules that are missing that somebody breaks them:",
                f"    {_share(found.vulnerable_by_gaps, found.tuples)} have fewer than {found.l} "
                f"possible values; {found.disclosed_by_gaps:,} have one",
            ]
        elif self.guarantee.takes_rules:
            lines.append(
                "  not counted is what rules that are missing tell: from where on all that hold are "
                "there, this release does not say"
            )
        if self.learning is not None:
            lines += [
                "  whoever learns from all buckets (deFinetti):",
                f"    {float(self.learning.accuracy):.1%} of the values are guessed; naming the most "
                f"frequent value of each bucket guesses {float(self.learning.baseline):.1%}",
            ]
        return "\n".join(lines)


def _share(count: int, of: int) -> str:
    return f"{count:,} of {of:,} records ({count / max(1, of):.1%})"
