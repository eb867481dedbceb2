"""How Injector groups tuples: as many buckets as can be found, or as the paper prints it.

**Compact**, the default: as many buckets as can be found, of few tuples more than l.

1. The tuple that is incompatible with most others is taken, then of those compatible with the group
   again the one incompatible with most, until there are l (`kernels.buckets.forming`). So what is hard
   to place is placed while there is something to place it with.
2. Tuples put aside are placed by local repair, and buckets joined only as the last resort
   (`kernels.buckets.repairs`).
3. Large buckets are dealt anew into more where that can be done, until there are as many as there can
   be, or the work allowed is done.

Where fewer buckets were found than there might be, and the table is small, it is tried again, also from
the groups of the paper's Figure 2, and the most buckets are kept.

**As printed**: Figure 2, phases 2 and 3.

1. The tuple with most incompatible tuples starts a group. Compatible ones are added, each time the one
   that leaves the group with fewest incompatible tuples, until there are l. Where none is compatible
   with the group, the first tuple is put aside and the others go back (`form_groups`).
2. Each tuple put aside joins the group with fewest tuples incompatible with it, and that group is
   joined with the one that has most other values until the tuple has l valid values (`place_class`).

Of equally good tuples a random one is taken; equally good groups go by size, then by chance. Tuples put
aside are placed class by class. A tuple whose own value is ruled out takes no part in step 1 and is
placed last, and then the whole bucket is checked, for adding such a tuple can take values from others.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from random import Random
from typing import NamedTuple

import numpy as np

from ...hierarchy.tree import Counts, Ids
from ...kernels.base import plain
from ...kernels.buckets.forming import form_compact
from ...kernels.buckets.injector import (
    WORD,
    Classes,
    Groups,
    Tallies,
    add_to_group,
    add_tuples,
    count_incompatible,
    form_groups,
    start_groups,
)
from ...kernels.buckets.injector import place_class as place_in_group
from ...kernels.buckets.repairs import (
    LOOK,
    exchange_one,
    find_home,
    form_anew,
    gain_bucket,
    join_buckets,
    place_class,
    place_near,
    place_together,
    relieve_bucket,
    split_bucket,
)
from ...kernels.buckets.store import BUDGET, Desk, Pool, Store, add, count_buckets, fill_buckets
from ...progress import Watch
from ...release.possible import TupleClasses
from ..bucketing import draw_words, shuffle

STRIDE = 50_000_000
"""Steps between two looks at the clock: about a tenth of a second."""
AGAIN, SMALL = 8, 8_000
"""At most so many turns, that together have no more tuples than that unless there is only one."""
WORDS = 1 << 14
"""Random words for repair, which chooses among classes; which tuple is meant is dealt later."""
EVENING = 2_000_000
"""How many buckets are asked, all classes together, to take tuples from large ones."""
REPEATED = 300
"""How many buckets in turn may not be dealt into more before that is given up."""


class Grouped(NamedTuple):
    """Groups as the bucket and the class of each tuple, in any order, and figures of how they came."""

    bucket: Ids
    member: Ids
    figures: Mapping[str, int]

    @property
    def n_buckets(self) -> int:
        return int(self.bucket.max(initial=-1)) + 1


def as_arrays(classes: TupleClasses) -> Classes:
    """Return the classes as the kernels take them."""
    cannot = classes.impossible_by_set
    kinds, values = np.nonzero(cannot)
    ruled = np.flatnonzero(cannot.any(axis=0))
    column_of_value = np.full(cannot.shape[1], -1, dtype=np.int32)
    column_of_value[ruled] = np.arange(len(ruled), dtype=np.int32)
    return Classes(
        plain(classes.value_by_class, np.int32),
        plain(classes.set_by_class, np.int32),
        plain(cannot, np.bool_),
        plain(np.searchsorted(kinds, np.arange(len(cannot) + 1)), np.int64),
        plain(values, np.int32),
        column_of_value,
    )


def most_buckets(classes: TupleClasses, l: int) -> int:  # noqa: E741
    """Return a number of buckets that cannot be exceeded: each has `l` tuples and `l` values."""
    count = np.bincount(classes.value_by_class, weights=classes.count_by_class).astype(np.int64)
    low, high = 1, max(1, int(count.sum()) // l)
    while low < high:
        middle = (low + high + 1) // 2
        if int(np.minimum(count, middle).sum()) >= middle * l:
            low = middle
        else:
            high = middle - 1
    return low


def start_tallies(arrays: Classes, remaining: Counts) -> Tallies:
    """Return the tallies of so many tuples at hand of each class."""
    n_values, n_ruled = len(arrays.column_of_value), int(arrays.column_of_value.max(initial=-1)) + 1
    tallies = Tallies(
        remaining,
        np.zeros(n_values, dtype=np.int64),
        np.zeros(n_ruled, dtype=np.int64),
        np.zeros((n_values, n_ruled), dtype=np.int64),
    )
    for which, count in enumerate(remaining.tolist()):
        add_tuples(arrays, tallies, which, count)
    return tallies


def group_as_printed(
    classes: TupleClasses,
    l: int,  # noqa: E741
    random: Random,
    watch: Watch,
) -> Grouped:
    """Return the groups of Figure 2."""
    arrays = as_arrays(classes)
    grouped, rest, _ = group_tuples(classes, arrays, l, random, watch)
    rank = shuffle(random, max(1, len(grouped) // l))
    groups, joined = place_leftovers(arrays, grouped, rest, l, rank, watch)
    return Grouped(*spell_out(groups), {"left over": len(rest), "buckets joined": joined})


def group_tuples(
    classes: TupleClasses,
    arrays: Classes,
    l: int,  # noqa: E741
    random: Random,
    watch: Watch,
) -> tuple[Ids, Ids, Counts]:
    """Return the classes of the groups of `l` in turn, those put aside, and the NIT of each choice."""
    tallies = start_tallies(arrays, np.where(classes.is_denied, 0, classes.count_by_class))
    total = int(tallies.remaining.sum())
    grouped, rest = np.empty(total + l, dtype=np.int32), np.empty(total, dtype=np.int32)
    n_grouped, n_rest = 0, 0
    nits = []
    choices = min(max(l, STRIDE // (len(classes) + len(arrays.ruled))), total)
    words = np.empty(0, dtype=np.int64)
    while total - n_grouped - n_rest >= l:
        watch.check_deadline()
        watch.tick("injector: grouping tuples", 0.1 + 0.6 * (n_grouped + n_rest) / total)
        words = np.concatenate([words, draw_words(random, choices)])
        nit_by_choice = np.empty(len(words), dtype=np.int64)
        n_grouped, n_rest, used = form_groups(
            arrays, tallies, l, words, grouped, n_grouped, rest, n_rest, nit_by_choice
        )
        nits.append(nit_by_choice[:used])
        words = words[used:]
    denied = np.where(classes.is_denied, classes.count_by_class, 0)
    # Line 17, and the classes whose own value is ruled out, which come last.
    put_aside = np.sort(
        np.concatenate([rest[:n_rest], np.repeat(np.arange(len(classes)), tallies.remaining)])
    )
    last = np.repeat(np.arange(len(classes)), denied)
    every_nit = np.concatenate(nits) if nits else np.empty(0, dtype=np.int64)
    return grouped[:n_grouped], np.concatenate([put_aside, last]).astype(np.int32), every_nit


def place_leftovers(
    arrays: Classes,
    grouped: Ids,
    rest: Ids,
    l: int,  # noqa: E741
    rank: Counts,
    watch: Watch,
) -> tuple[Groups, int]:
    """Return the groups with the tuples put aside added, and how often two were joined."""
    n_groups = max(1, len(grouped) // l)
    groups = Groups(
        np.full(n_groups, -1, dtype=np.int64),
        np.full(len(grouped) + len(rest), -1, dtype=np.int64),
        np.zeros(len(grouped) + len(rest), dtype=np.int32),
        np.zeros(len(grouped) + len(rest), dtype=np.int64),
        np.zeros(1, dtype=np.int64),
        np.zeros(n_groups, dtype=np.int64),
        plain(rank, np.int64),
        np.ones(n_groups, dtype=np.bool_),
        np.zeros(n_groups, dtype=np.bool_),
        np.zeros((n_groups, -(-len(arrays.column_of_value) // WORD)), dtype=np.uint64),
    )
    start_groups(arrays, groups, grouped, l)
    which, first, count = np.unique(rest, return_index=True, return_counts=True)
    joined, done = 0, 0
    for place in np.argsort(first):
        watch.check_deadline()
        watch.tick("injector: placing tuples left over", 0.7 + 0.2 * done / len(rest))
        if len(grouped):
            joined += place_in_group(arrays, groups, int(which[place]), int(count[place]), l)
        else:
            add_to_group(arrays, groups, 0, int(which[place]), int(count[place]))
        done += int(count[place])
    return groups, joined


def spell_out(groups: Groups) -> tuple[Ids, Ids]:
    """Return the bucket and the class of each tuple in the groups that are there."""
    owner = np.full(int(groups.used[0]), -1, dtype=np.int64)
    slot = groups.first_slot.copy()
    while (slot >= 0).any():
        here = np.flatnonzero(slot >= 0)
        owner[slot[here]] = here
        slot[here] = groups.next_slot[slot[here]]
    slots = np.flatnonzero(owner >= 0)
    number = np.cumsum(groups.is_there) - 1
    count = groups.slot_count[slots]
    return (
        np.repeat(number[owner[slots]], count).astype(np.int32),
        np.repeat(groups.slot_class[slots], count),
    )


def group_compactly(
    classes: TupleClasses,
    l: int,  # noqa: E741
    random: Random,
    watch: Watch,
) -> Grouped:
    """Return the groups, with figures of what was left over and how it was placed."""
    arrays = as_arrays(classes)
    bound = most_buckets(classes, l)
    best: Grouped | None = None
    for turn in range(max(1, min(AGAIN, SMALL // len(classes.class_by_tuple)))):
        if turn % 2:
            grouped = group_tuples(classes, arrays, l, random, watch)[0]
        else:
            grouped = group_hardest_first(classes, arrays, l, random, watch)
        found = _Groups(classes, arrays, grouped, l, random, watch).placed(bound)
        if best is None or found.n_buckets > best.n_buckets:
            best = found
        if best.n_buckets == bound:
            break
    assert best is not None
    return best


def group_hardest_first(
    classes: TupleClasses,
    arrays: Classes,
    l: int,  # noqa: E741
    random: Random,
    watch: Watch,
) -> Ids:
    """Return the classes of the groups of `l` in turn."""
    remaining = np.where(classes.is_denied, 0, classes.count_by_class)
    hardness = count_hardness(arrays, remaining)
    total = int(remaining.sum())
    grouped = np.empty(total + l, dtype=np.int32)
    left = np.zeros(len(classes), dtype=np.int64)
    n_grouped = 0
    choices = min(max(l, STRIDE // max(1, len(classes))), max(l, total))
    words = np.empty(0, dtype=np.int64)
    while int(remaining.sum()) >= l:
        watch.check_deadline()
        watch.tick("injector: grouping tuples", 0.1 + 0.6 * n_grouped / total)
        words = np.concatenate([words, draw_words(random, choices)])
        n_grouped, used = form_compact(arrays, remaining, hardness, l, words, grouped, n_grouped, left)
        words = words[used:]
    return grouped[:n_grouped]


def count_hardness(arrays: Classes, remaining: Counts) -> Counts:
    """Return with how many of the tuples at hand each class is incompatible."""
    tallies = start_tallies(arrays, remaining.copy())
    found = [count_incompatible(arrays, tallies, which) for which in range(len(remaining))]
    return np.array(found, dtype=np.int64)


class _Groups:
    """Groups of l, and the repair of what is left over."""

    def __init__(
        self,
        classes: TupleClasses,
        arrays: Classes,
        grouped: Ids,
        l: int,  # noqa: E741
        random: Random,
        watch: Watch,
    ) -> None:
        self.classes, self.arrays, self.l, self.random, self.watch = classes, arrays, l, random, watch
        n_tuples, n_classes = len(classes.class_by_tuple), len(classes)
        n_sets, n_values = arrays.cannot.shape
        self.n_tuples = n_tuples
        started = len(grouped) // l
        capacity = max(1, started, n_tuples // l) + 1
        after = np.arange(1, n_tuples + 2, dtype=np.int64)
        self.store = Store(
            np.full(capacity, -1, dtype=np.int64),
            after,
            np.zeros(n_tuples + 1, dtype=np.int32),
            np.zeros(n_tuples + 1, dtype=np.int64),
            np.zeros(capacity, dtype=np.int64),
            np.array([0, max(1, started)], dtype=np.int64),
        )
        self.desk = Desk(
            np.full(n_sets, -1, dtype=np.int32),
            np.full(n_values, -1, dtype=np.int32),
            np.zeros(n_values, dtype=np.int64),
            np.zeros(n_values, dtype=np.int64),
            np.full(n_classes, -1, dtype=np.int64),
            np.zeros(n_classes, dtype=np.bool_),
            draw_words(random, WORDS),
            np.zeros(4, dtype=np.int64),
        )
        self.desk.at[BUDGET] = min(500_000, 2_000 * n_tuples) + 8 * n_tuples
        self.pool = Pool(
            np.zeros(n_classes, dtype=np.int32),
            np.zeros(1, dtype=np.int64),
            np.zeros(n_classes, dtype=np.bool_),
            np.zeros(n_classes, dtype=np.int64),
        )
        self.done: Counter[str] = Counter()
        # Chance numbers the buckets, so that it says in which order they are looked at.
        number = shuffle(random, max(1, started))
        fill_buckets(self.store, plain(grouped, np.int32), number, l)
        self.left: Counts = classes.count_by_class - np.bincount(grouped, minlength=n_classes)
        self.left_over = int(self.left.sum())

    def placed(self, bound: int) -> Grouped:
        """Return the groups with everybody placed."""
        self._place_left()
        self._divide(bound)
        self._even_out()
        buckets, members = self._spell_out()
        figures = {
            "left over": self.left_over,
            "placed by exchange": self.done["by exchange"],
            "placed in twos": self.done["in twos"],
            "placed by dealing anew": self.done["by dealing anew"],
            "buckets joined": self.done["joined"],
            "buckets split": self.done["split"],
        }
        return Grouped(buckets, members, figures)

    def _place_left(self) -> None:
        what = (self.arrays, self.desk, self.store, self.pool)
        if not self.store.size.any():
            for which in np.flatnonzero(self.left).tolist():
                add(self.store, 0, which, int(self.left[which]))
            return
        order = shuffle(self.random, len(self.classes))
        order = order[np.argsort(self.classes.is_denied[order], kind="stable")]
        order = order[self.left[order] > 0]
        for which in order.tolist():
            self._look_at_clock()
            count = int(self.left[which])
            self.left[which] = place_class(*what, which, count, self.l, 2 * self.l, LOOK)
        for which in order.tolist():
            while self.left[which]:
                self._look_at_clock()
                self.left[which] = place_near(*what, which, int(self.left[which]), self.l)
                if self.left[which]:
                    self._repair(which)

    def _repair(self, which: int) -> None:
        """Place one tuple of a class that no small bucket can take."""
        what = (self.arrays, self.desk, self.store, self.pool)
        other = place_together(*what, which, self.left, self.l)
        self.left[which] -= 1
        if other >= 0:
            self.left[other] -= 1
            self.done["in twos"] += 2
        elif exchange_one(*what, which, self.l):
            self.done["by exchange"] += 1
        elif form_anew(*what, which, self.l):
            self.done["by dealing anew"] += 1
        elif (home := find_home(*what, which, -1, LOOK, self.l)) >= 0:
            add(self.store, home, which, 1)
        else:
            self.done["joined"] += join_buckets(*what, which, self.l) - 1

    def _divide(self, bound: int) -> None:
        what = (self.arrays, self.desk, self.store, self.pool)
        for bucket in np.flatnonzero(self.store.size >= 2 * self.l).tolist():
            self._look_at_clock()
            self.done["split"] += split_bucket(*what, bucket, self.l) - 1
        there = count_buckets(self.store)
        large = np.flatnonzero(self.store.size > self.l)
        large = large[np.argsort(-self.store.size[large], kind="stable")]
        failed, turn = 0, 0
        while there < bound and len(large) and failed < REPEATED and self.desk.at[BUDGET] > 0:
            self._look_at_clock()
            if gain_bucket(*what, large, turn % len(large), self.l):
                self.done["split"] += 1
                there += 1
                failed = 0
            else:
                failed += 1
            turn += 1

    def _even_out(self) -> None:
        """Let tuples that large buckets can do without join the smallest that can take them."""
        what = (self.arrays, self.desk, self.store, self.pool)
        left = np.zeros(len(self.classes), dtype=np.int64)
        taken = []
        for bucket in np.flatnonzero(self.store.size >= 2 * self.l).tolist():
            self._look_at_clock()
            before = left.copy()
            relieve_bucket(*what, bucket, self.l, left)
            taken += [(bucket, w, int(left[w] - before[w])) for w in np.flatnonzero(left - before)]
        spared = np.flatnonzero(left).tolist()
        looks = max(LOOK, EVENING // max(1, len(spared)))
        for which in spared:
            self._look_at_clock()
            count = int(left[which])
            left[which] = place_class(*what, which, count, self.l, self.n_tuples, looks)
        for bucket, number, count in taken:
            back = min(int(left[number]), count)
            if back:
                add(self.store, bucket, int(number), back)
                left[number] -= back

    def _look_at_clock(self) -> None:
        self.watch.check_deadline()
        share = 1 - self.left.sum() / max(1, self.left_over)
        self.watch.tick("injector: placing tuples left over", 0.7 + 0.2 * share)

    def _spell_out(self) -> tuple[Ids, Ids]:
        store = self.store
        buckets, members, counts = [], [], []
        slot = store.first_slot.copy()
        while (slot >= 0).any():
            here = np.flatnonzero(slot >= 0)
            buckets.append(here)
            members.append(store.slot_class[slot[here]])
            counts.append(store.slot_count[slot[here]])
            slot[here] = store.next_slot[slot[here]]
        number = np.cumsum(store.size > 0) - 1
        count = np.concatenate(counts)
        return (
            np.repeat(number[np.concatenate(buckets)], count).astype(np.int32),
            np.repeat(np.concatenate(members), count),
        )
