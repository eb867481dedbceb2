"""Injector's grouping by default: as many buckets as can be found, of few tuples more than l.

1. The tuple that is incompatible with most others is taken, then of those compatible with the group
   again the one incompatible with most, until there are l (`kernels.buckets.forming`). So what is hard
   to place is placed while there is something to place it with.
2. Tuples put aside are placed by local repair, and buckets joined only as the last resort
   (`kernels.buckets.repairs`).
3. Large buckets are dealt anew into more where that can be done, until there are as many as there can
   be, or the work allowed is done.

Where fewer buckets were found than there might be, and the table is small, it is tried again, also from
the groups of the paper's Figure 2, and the most buckets are kept.
"""

from __future__ import annotations

from collections import Counter
from random import Random

import numpy as np

from ...hierarchy.tree import Counts, Ids
from ...kernels.base import plain
from ...kernels.buckets.dealing import (
    form_anew,
    gain_bucket,
    join_buckets,
    relieve_bucket,
    split_bucket,
)
from ...kernels.buckets.forming import form_compact
from ...kernels.buckets.injector import Classes, count_incompatible
from ...kernels.buckets.repairs import (
    LOOK,
    exchange_one,
    find_home,
    place_class,
    place_near,
    place_together,
)
from ...kernels.buckets.store import BUDGET, Desk, Pool, Store, add, count_buckets, fill_buckets
from ...progress import Watch
from ...release.possible import TupleClasses
from ..bucketing import draw_words, shuffle
from .printed import STRIDE, Grouped, as_arrays, group_tuples, most_buckets, start_tallies

AGAIN, SMALL = 8, 8_000
"""At most so many turns, that together have no more tuples than that unless there is only one."""
WORDS = 1 << 14
"""Random words for repair, which chooses among classes; which tuple is meant is dealt later."""
EVENING = 2_000_000
"""How many buckets are asked, all classes together, to take tuples from large ones."""
REPEATED = 300
"""How many buckets in turn may not be dealt into more before that is given up."""


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
            grouped = form_groups(classes, arrays, l, random, watch)
        found = _Groups(classes, arrays, grouped, l, random, watch).placed(bound)
        if best is None or found.n_buckets > best.n_buckets:
            best = found
        if best.n_buckets == bound:
            break
    assert best is not None
    return best


def form_groups(
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
