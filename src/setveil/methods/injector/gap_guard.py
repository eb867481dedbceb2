"""Buckets that hold against whoever also draws conclusions from rules that are missing.

A gap is a rule that would have been told if it held (`mining.gaps`). Somebody breaks it, and everybody
knows. A bucket is *free* if every gap is broken outside of it: then all that is possible in the bucket
by the rules is possible still, whatever else is known of gaps. For each bucket that is not free:

1. Other buckets may stand in (`gaps_left`): values could be shared out in them so that they break the
   gap too. None may be one whose own part in other gaps is needed.
2. The gap is broken by somebody in the bucket, whoever that is (`holds_inside`): worlds are drawn in
   which one person or another has the value, and what is possible in them is possible.
3. Else the bucket is joined with one that holds people who could break the gap, and all is looked at
   again. A union of two buckets takes nothing from anybody.

Every value that counts as possible here is so in a world in which all gaps are broken and the rules
hold; so joint knowledge of all gaps is covered, and not of each alone.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from random import Random

import numpy as np

from ...errors import Infeasible
from ...hierarchy.tree import Ids
from ...kernels.base import Flags
from ...mining.gaps import Gap, Meetings, find_gaps
from ...model.microdata import Microdata
from ...model.rules import Completeness
from ...progress import Watch
from ...release.possible import SharedBucket, TupleClasses
from ..bucketing import shuffle

THIN = 8
"""Gaps that more buckets break than this are broken whichever of them stand in."""
ROUNDS = 20
"""How many worlds are drawn for each value that shall be possible."""
TRIED = 40
"""How many buckets are looked at for one that stands in."""


def guard_gaps(
    data: Microdata,
    classes: TupleClasses,
    bucket_by_tuple: Ids,
    complete: Completeness,
    l: int,  # noqa: E741
    random: Random,
    watch: Watch,
) -> tuple[Ids, int]:
    """Return buckets in which gaps leave everybody l possible values, and how many were joined for it.

    The rules do so in the buckets given. `complete` says from where on rules are told completely.
    """
    joined = 0
    while True:
        watch.check_deadline()
        watch.tick("injector: rules that are missing", 0.95)
        world = _World(data, classes, bucket_by_tuple, complete, l, random)
        into = np.arange(world.n_buckets, dtype=np.int32)
        for bucket in world.bound_buckets:
            if into[bucket] != bucket or (into == bucket).sum() > 1:
                continue  # It has just been joined, and is looked at in the next round.
            left = world.gaps_left(bucket)
            if left and not world.holds_inside(bucket, left):
                for other in world.partners(bucket, left, into):
                    into[into == into[other]] = bucket
                    joined += 1
        numbers = np.unique(into)
        if len(numbers) == world.n_buckets:
            return bucket_by_tuple, joined
        bucket_by_tuple = np.searchsorted(numbers, into[bucket_by_tuple]).astype(np.int32)


class _World:
    """A bucketing, and its gaps that few buckets break."""

    def __init__(
        self,
        data: Microdata,
        classes: TupleClasses,
        bucket_by_tuple: Ids,
        complete: Completeness,
        l: int,  # noqa: E741
        random: Random,
    ) -> None:
        self.data, self.classes, self.l, self.random = data, classes, l, random
        self.bucket_by_tuple = bucket_by_tuple
        self.n_buckets = int(bucket_by_tuple.max(initial=-1)) + 1
        order = np.argsort(bucket_by_tuple, kind="stable").astype(np.int32)
        self._order = order
        self._start = np.searchsorted(bucket_by_tuple[order], np.arange(self.n_buckets + 1))
        held = Meetings(order, data.value_by_tuple[order], bucket_by_tuple[order])
        self._gaps_of_bucket: dict[int, list[Gap]] = defaultdict(list)
        self.set_by_tuple = classes.set_by_class[classes.class_by_tuple]
        self._met: dict[tuple[tuple[str, str], ...], Flags] = {}
        for gap in find_gaps(data, held, complete, most=THIN):
            for bucket in gap.buckets:
                self._gaps_of_bucket[bucket].append(gap)

    @property
    def bound_buckets(self) -> list[int]:
        """The buckets that alone break some gap."""
        return sorted(
            bucket
            for bucket, gaps in self._gaps_of_bucket.items()
            if any(len(gap.buckets) == 1 for gap in gaps)
        )

    def members(self, bucket: int) -> Ids:
        return self._order[self._start[bucket] : self._start[bucket + 1]]

    def meets(self, gap: Gap) -> Flags:
        """Return which tuples meet the conditions of a gap and may have its value."""
        if gap.conditions not in self._met:
            self._met[gap.conditions] = gap.tuples_meeting(self.data)
        ruled_out = self.classes.impossible_by_set[:, gap.value]
        meets: Flags = self._met[gap.conditions] & ~ruled_out[self.set_by_tuple]
        return meets

    def gaps_left(self, bucket: int) -> list[Gap]:
        """Return the gaps that this bucket alone breaks, and for which no other bucket can stand in."""
        left: list[Gap] = []
        away = {bucket}
        done: list[tuple[int, int]] = []
        for gap in self._gaps_of_bucket[bucket]:
            if len(gap.buckets) > 1:
                continue
            meets = self.meets(gap)
            if any(value == gap.value and meets[person] for person, value in done):
                continue
            found = self._stand_in(gap, meets, bucket, away) if len(away) < THIN else None
            if found is None:
                left.append(gap)
            else:
                done.append((found, gap.value))
                away.add(int(self.bucket_by_tuple[found]))
        return left

    def _stand_in(self, gap: Gap, meets: Flags, bucket: int, away: set[int]) -> int | None:
        """Return somebody in a bucket not `away` who could break the gap, at no other gap's cost."""
        holds = np.zeros(self.n_buckets, dtype=np.bool_)
        holds[self.bucket_by_tuple[self.data.value_by_tuple == gap.value]] = True
        people = np.flatnonzero(meets & holds[self.bucket_by_tuple])
        for person in people[shuffle(self.random, len(people))[:TRIED]].tolist():
            other = int(self.bucket_by_tuple[person])
            if other in away:
                continue
            without = away | {other}
            if any(
                without.issuperset(needed.buckets) and needed.buckets != (bucket,)
                for needed in self._gaps_of_bucket[other]
            ):
                continue
            shared = SharedBucket.of(self.classes, self.members(other))
            place = int(np.flatnonzero(shared.members == person)[0])
            if shared.valid_where({place: shared.column_of(gap.value)}) is not None:
                return int(person)
        return None

    def holds_inside(self, bucket: int, gaps: Sequence[Gap]) -> bool:
        """Tell whether all in a bucket have l possible values while some in it break these gaps."""
        shared = SharedBucket.of(self.classes, self.members(bucket))
        breakers = [np.flatnonzero(self.meets(gap)[shared.members]).tolist() for gap in gaps]
        columns = [shared.column_of(gap.value) for gap in gaps]
        # Counted value by value: whoever stood in for one has not had the other by that.
        times = {column: [0] * len(shared.members) for column in columns}
        possible = np.zeros((len(shared.members), len(shared.values)), dtype=np.bool_)
        # Each in turn is the one who breaks a gap; whoever breaks one may have to break others too.
        for _ in range(ROUNDS * self.l + 2 * max(map(len, breakers))):
            has: dict[int, int] = {}
            for number in shuffle(self.random, len(gaps)).tolist():
                column, people = columns[number], breakers[number]
                if any(has.get(person) == column for person in people):
                    continue
                free = [person for person in people if person not in has]
                if not free:
                    break
                least = min(times[column][person] for person in free)
                fresh = [person for person in free if times[column][person] == least]
                person = fresh[self.random.randrange(len(fresh))]
                times[column][person] += 1
                has[person] = column
            else:
                valid = shared.valid_where(has)
                if valid is not None:
                    possible |= valid
                    if possible[:, shared.values != self.classes.no_value].sum(axis=1).min() >= self.l:
                        return True
        return False

    def partners(self, bucket: int, gaps: Sequence[Gap], into: Ids) -> list[int]:
        """Return buckets to join with: a small one in which others could break one of the gaps."""
        sizes = np.diff(self._start)
        here = into == bucket
        for gap in gaps:
            meets = self.meets(gap)
            others = np.unique(self.bucket_by_tuple[meets])
            others = others[~here[others]]
            if len(others):
                smallest = others[sizes[others] == sizes[others].min()]
                return [int(smallest[self.random.randrange(len(smallest))])]
            if meets.sum() < 2:
                raise self._refusal(gap)
        # All who could break them are here: others may still be able to change places with these.
        others = np.flatnonzero(~here).astype(np.int32)
        if not len(others):
            raise self._refusal(gaps[0])
        wanted = max(1, len(self.members(bucket)) // self.l)
        return [int(other) for other in others[shuffle(self.random, len(others))[:wanted]]]

    def _refusal(self, gap: Gap) -> Infeasible:
        met = " and ".join(f"{name}={label}" for name, label in gap.conditions)
        return Infeasible(
            f"no rule says that {met} excludes {self.data.values[gap.value]!r}, though such a rule "
            "would be told if it held. So somebody there has that value, and too few can.",
            "Mine only rules of a larger expectation (--min-exp), do without some of them, or lower l.",
            code="missing-rule-tells",
        )
