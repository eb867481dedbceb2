"""What attackers get out of a table in buckets: by rules, or by learning.

The first is the background-knowledge attack of Li and Li (2008), section VI-A and Figure 4: a tuple is
vulnerable if fewer than l sensitive values are possible for it. It is judged from what is published
alone, and is what matching diversity promises against.

Rules that are missing tell something, too: somebody breaks them. Rules that hold are published
completely from some chance on (`mining.gaps`). For each rule that is missing there, all buckets are
looked at in which somebody who meets its conditions can have its value. Are there two or more, no
bucket tells anything by itself. Is there one, then somebody in it has the value, and what is possible
for the people in it is counted again, exactly, under that condition alone.

The second is the deFinetti attack (Kifer, 2009): what the buckets together teach about each of them.
Within one bucket nobody can tell whose value is whose. Over many buckets it shows that some quasi-
identifying values come with some sensitive ones, and that tells tuples of a bucket apart. The attack
starts from equal chances, learns from the current guess how likely each quasi-identifying value is
given a sensitive one (naive Bayes), shares out the values of each bucket among its tuples by those
chances, and goes on until no tuple's guess changes. No promise about buckets covers it, and how well it
guesses can only be counted by whoever knows the true values. Where quasi-identifying and sensitive
values have nothing to do with each other it does no better than naming a bucket's most frequent value.

Differences from the paper on deFinetti
---------------------------------------
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

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ..distinct import count_distinct, distinct, number_distinct
from ..errors import ResourceLimit, TimeLimit
from ..kernels.attack.definetti import guess_again, learn_weights
from ..kernels.base import plain
from ..mining.gaps import Gap, Meetings, find_gaps
from ..model.guarantees import BucketGuarantee
from ..model.layout import NO_VALUE
from ..model.microdata import Microdata
from ..model.numbers import whole_number
from ..model.rules import NOT_KNOWN, Completeness, NegativeRule
from ..plain import Summary
from ..progress import Watch
from ..release.buckets import Bucketing
from ..release.possible import SharedBucket, TupleClasses, classify, possible_counts, possible_values

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

    `l` possible values are asked for. A tuple with fewer is vulnerable, one with a single one
    disclosed. None at all means that the rules contradict the bucket, or leave no value but the one
    that stands for none. `by_elimination` is how many have fewer than l values in their bucket that no
    rule rules out: what is seen without thinking of the others in it. The last counts are for whoever
    also concludes from a rule that is missing that somebody breaks it, whichever tells most; None where
    it is not known which are missing.
    """

    l: int  # noqa: E741 - the papers' name
    tuples_by_possible: tuple[int, ...]
    by_elimination: int
    tuples_by_possible_with_gaps: tuple[int, ...] | None = None

    @property
    def tuples(self) -> int:
        return sum(self.tuples_by_possible)

    @property
    def vulnerable(self) -> int:
        return sum(self.tuples_by_possible[: self.l])

    @property
    def disclosed(self) -> int:
        return sum(self.tuples_by_possible[1:2])

    @property
    def vulnerable_by_gaps(self) -> int | None:
        counts = self.tuples_by_possible_with_gaps
        return None if counts is None else sum(counts[: self.l])

    @property
    def disclosed_by_gaps(self) -> int | None:
        counts = self.tuples_by_possible_with_gaps
        return None if counts is None else sum(counts[1:2])

    @property
    def fewest(self) -> int | None:
        return next((number for number, count in enumerate(self.tuples_by_possible) if count), None)

    @property
    def share(self) -> Fraction:
        return Fraction(self.vulnerable, max(1, self.tuples))

    def as_dict(self) -> dict[str, object]:
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
class DeFinettiAttack:
    """How well the attack guesses.

    Of the values of `tuples`, so many were guessed `right`; `by_share` would be by naming the most
    frequent value of each bucket. It is `settled` if the guesses stopped changing.
    """

    tuples: int
    right: int
    by_share: int
    rounds: int
    settled: bool

    @property
    def accuracy(self) -> Fraction:
        return Fraction(self.right, max(1, self.tuples))

    @property
    def baseline(self) -> Fraction:
        """The mean largest share of a value in its bucket."""
        return Fraction(self.by_share, max(1, self.tuples))

    def as_dict(self) -> dict[str, object]:
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
    """Return how many values are guessed; the true ones serve only to count right guesses."""
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


class InBuckets(Protocol):
    """A table in buckets, with or without knowing whose value is whose."""

    @property
    def data(self) -> Microdata: ...
    @property
    def bucketing(self) -> Bucketing: ...
    @property
    def guarantee(self) -> BucketGuarantee: ...
    @property
    def rules(self) -> tuple[NegativeRule, ...]: ...
    @property
    def complete(self) -> Completeness: ...


def assess_table(
    table: InBuckets,
    more_rules: Iterable[NegativeRule] | None = None,
    *,
    learn: bool,
    watch: Watch | None = None,
) -> TableRisk:
    """Return what both attacks get out of a table in buckets.

    The first attacker knows its rules and `more_rules`. `learn` counts what the second one guesses,
    where the values are known; of a table too large for that it is told why not.
    """
    watch = watch or Watch()
    watch.tick("attack by rules", None)
    rules = tuple(dict.fromkeys((*table.rules, *(more_rules or ()))))
    background = attack_by_rules(
        table.data, table.bucketing, rules, table.guarantee.l, complete=table.complete
    )
    learning, notices = None, tuple[str, ...]()
    if learn:
        try:
            learning = attack_by_learning(table.data, table.bucketing, watch=watch)
        except TimeLimit:
            raise
        except ResourceLimit as error:  # the other attack is told all the same
            notices = tuple(f"{one.what} {one.remedy}" for one in error.problems)
    sizes = (len(table.data), table.bucketing.n_buckets, len(rules))
    return TableRisk(table.guarantee, *sizes, background, learning, notices)


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


@dataclass(frozen=True)
class TableRisk(Summary):
    """The two attacks on a table in buckets; ``print`` it for a summary.

    The first attacker knows so many `rules`. `learning` is private: how many values are guessed; None
    where the true ones are not known, or there are too many to learn about, as `notices` tell.

    >>> import setveil as sv
    >>> people = {"sex": ["F", "M", "F", "M"], "ill": ["flu", "cold", "cold", "flu"]}
    >>> table = sv.Microdata.from_columns(people, sensitive="ill")
    >>> release = sv.anonymize(table, sv.LDiversity(l=2))
    >>> found = attack_by_rules(table, release.bucketing, (), 2)
    >>> risk = TableRisk(release.guarantee, release.records, 2, 0, found)
    >>> print(str(risk).splitlines()[0])
    Risk: 2-diversity of buckets, 4 records in 2 buckets
    """

    guarantee: BucketGuarantee
    records: int
    buckets: int
    rules: int
    background: BackgroundAttack
    learning: DeFinettiAttack | None = None
    notices: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, object]:
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

    @property
    def head(self) -> str:
        return str(self).partition("\n")[0]

    def lines(self) -> list[tuple[str, str]]:
        """Return each attacker, and each thing that one finds."""
        told, who = [], ""
        for line in str(self).split("\n")[1:]:
            if line.startswith("    "):
                told.append((who, line.strip()))
                who = ""
            else:
                who = line.strip()
                told += [] if who.endswith(":") else [("", who)]
        return told


def _share(count: int, of: int) -> str:
    return f"{count:,} of {of:,} records ({count / max(1, of):.1%})"
