"""Injector: buckets that hold against whoever knows the rules (Li and Li, 2008).

Rules say what people cannot have: no man has ovarian cancer. A bucket protects a person only by values
that the person may have, and only if the others can then share the rest. The method therefore groups
tuples that can swap their values (Figure 2 of the paper):

1. Tuples are counted by class: their value and the values ruled out for them (`classify`).
2. The tuple with most incompatible tuples starts a group. Compatible ones are added, each time the one
   that leaves the group with fewest incompatible tuples, until there are l. Where none is compatible
   with the group, the first tuple is put aside and the others go back (`form_groups`).
3. Each tuple put aside joins the group with fewest tuples incompatible with it, and that group is
   joined with the one that has most other values until the tuple has l valid values (`place_class`).

The choice is among classes, and only at the end chance says which tuple of a class is meant. So the
cost grows with the number of tuples times that of classes, and no tuple is taken in input order.

Differences from the paper
--------------------------
- Of equally good tuples a random one is taken. Equally good groups go by size, then by chance.
- Tuples put aside are placed class by class.
- Rules may contradict the data (known facts, or rules of confidence below 1). A tuple whose own value
  is ruled out takes no part in step 2, is placed last, and then the whole bucket is checked, for
  adding such a tuple can take values from others.
- One bucket of everything is checked first. If even that fails, no buckets exist; else joining ends.
- Definition 1 is checked on every bucket before they are returned.
- Tuples without a value are put into the buckets of the others at the end (`without_value`).
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import numpy as np
from numpy.typing import NDArray

from ..errors import Infeasible, InternalError
from ..kernels._calls import plain
from ..kernels.injector import Classes, Tallies, add_tuples, form_groups
from ..kernels.leftovers import WORD, Groups, add_to_group, place_class, start_groups
from ..model.guarantees import MatchingDiversity
from ..model.microdata import Microdata
from ..model.rules import NOT_KNOWN, Completeness, NegativeRule, impossible_values
from ..progress import Watch
from ..release.bucket_order import in_canonical_order
from ..release.bucketing import Bucketing
from ..search.chance import draw_words, secret_unless, shuffle
from ..search.classes import TupleClasses, classify
from ..search.matching import possible_counts, possible_together
from .bucket_outcome import BucketOutcome
from .gap_guard import guard_gaps
from .without_value import join_matching, place_everybody

Counts = NDArray[np.int64]
Ids = NDArray[np.int32]

STRIDE = 50_000_000
"""Steps between two looks at the clock: about a tenth of a second."""
TOLD = 3
"""How many rules are named where people have too few possible values."""


def anonymize(
    data: Microdata,
    guarantee: MatchingDiversity,
    *,
    rules: Sequence[NegativeRule],
    complete: Completeness = NOT_KNOWN,
    watch: Watch,
    random: Random | None = None,
) -> BucketOutcome:
    """Return buckets in which each tuple has at least l possible values to whoever knows the rules.

    Where rules are complete from some point on, that holds too against whoever concludes from those
    that are missing there that somebody breaks them (`gap_guard`).

    Parameters
    ----------
    data
        The table.
    guarantee
        The l to reach.
    rules
        What is known: mined rules, known facts, or both.
    complete
        From where on the rules that hold are all among them.
    watch
        Progress, deadline and cancelling.
    random
        Where chance comes from: the system's secret source by default. Any other marks the outcome as
        seeded.
    """
    source, _ = secret_unless(random)
    outcome = form_buckets(data, guarantee, rules=rules, watch=watch, random=random)
    if not any(complete.chance_by_length):
        return outcome
    bucket_by_tuple, joined = guard_gaps(
        data,
        classify(data, rules),
        outcome.bucketing.bucket_by_tuple,
        complete,
        guarantee.l,
        source,
        watch,
    )
    sizes = np.bincount(bucket_by_tuple)
    figures = {
        **outcome.figures,
        "buckets": len(sizes),
        "largest bucket": int(sizes.max(initial=0)),
        "joined for missing rules": joined,
    }
    bucketing = in_canonical_order(data, Bucketing(bucket_by_tuple))
    return BucketOutcome(bucketing, figures, outcome.seeded)


def form_buckets(
    data: Microdata,
    guarantee: MatchingDiversity,
    *,
    rules: Sequence[NegativeRule],
    watch: Watch,
    random: Random | None = None,
) -> BucketOutcome:
    """Return buckets in which the rules leave each tuple l possible values; see `anonymize`."""
    source, seeded = secret_unless(random)
    if not len(data):
        return BucketOutcome(Bucketing(np.empty(0, dtype=np.int32)), {}, seeded)
    watch.tick("injector: sorting tuples by class", 0.0)
    check_feasible(data, rules, guarantee.l)
    classes = classify(data, rules)
    if not data.has_value.all():
        return place_everybody(
            data,
            lambda valued: form_buckets(valued, guarantee, rules=rules, watch=watch, random=random),
            lambda bucket: join_matching(classes, bucket, guarantee.l, source),
        )
    arrays = as_arrays(classes)
    grouped, rest, _ = group_tuples(classes, arrays, guarantee.l, source, watch)
    rank = shuffle(source, max(1, len(grouped) // guarantee.l))
    groups, joined = place_leftovers(arrays, grouped, rest, guarantee.l, rank, watch)
    bucketing = _deal_tuples(classes, groups, source)
    watch.tick("injector: checking every bucket", 0.95)
    if (possible_counts(classes, bucketing) < guarantee.l).any():
        raise InternalError("injector: a tuple was left with too few possible values.")
    figures = {
        "buckets": bucketing.n_buckets,
        "largest bucket": int(groups.size.max()),
        "classes": len(classes),
        "left over": len(rest),
        "buckets joined": joined,
    }
    return BucketOutcome(in_canonical_order(data, bucketing), figures, seeded)


def check_feasible(data: Microdata, rules: Sequence[NegativeRule], l: int) -> None:  # noqa: E741
    """Raise `Infeasible` unless one bucket of everything would do: then no other buckets do either."""
    possible = possible_together(data, rules)
    worst = int(possible.min())
    if worst >= l:
        return
    if possible.max() == 0 and data.has_value.any():
        raise Infeasible(
            "the rules contradict the data: there is no way to give every tuple a value that the rules "
            "allow it.",
            "Take out the rules that are not true of these data.",
            code="rules-contradict",
        )
    few = possible < l
    remedies = [f"lower l to {worst}"] if worst > 1 else []
    to_blame, told = _told_of_rules(data, rules, few)
    if to_blame:
        remedies.append(f"do without {to_blame} (a higher --min-exp, fewer --rules)")
    if not few.all():
        remedies.append("leave these rows out (--suppress-infeasible)")
    if not to_blame:
        remedies.append("give more diverse data")
    raise Infeasible(
        f"{few.sum():,} of {len(possible):,} tuples have fewer than l={l} possible sensitive values, "
        f"some {f'only {worst}' if worst else 'none'}, even if all tuples share one bucket.{told}",
        _sentence(remedies),
        code="too-few-possible",
    )


def _told_of_rules(
    data: Microdata, rules: Sequence[NegativeRule], few: NDArray[np.bool_]
) -> tuple[str, str]:
    """Return which rules leave the tuples `few` too few values: in few words, and by name."""
    people = data.subset(few)
    held = {data.values[value]: count for value, count in enumerate(people.count_by_value.tolist())}
    bound = [(int(impossible_values(people, (rule,)).any(axis=1).sum()), rule) for rule in rules]
    how = "They are bound by"
    if not any(count for count, _ in bound):
        # Nobody else can have their values, so that they must have them.
        bound = [(held.get(rule.value, 0), rule) for rule in rules]
        how = "Others are kept from their values by"
    found = sorted((each for each in bound if each[0]), key=lambda each: (-each[0], each[1]))
    if not found:
        return "", ""
    names = "the rule" if len(found) == 1 else "the rules"
    shown = "; ".join(f"{str(rule)[:120]!r} ({count:,} of them)" for count, rule in found[:TOLD])
    more = f"; and {len(found) - TOLD:,} more" if len(found) > TOLD else ""
    return ("that rule" if len(found) == 1 else "some of them"), f" {how} {names} {shown}{more}."


def _sentence(remedies: Sequence[str]) -> str:
    joined = ", or ".join(remedies)
    return f"{joined[:1].upper()}{joined[1:]}."


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


def group_tuples(
    classes: TupleClasses,
    arrays: Classes,
    l: int,  # noqa: E741
    random: Random,
    watch: Watch,
) -> tuple[Ids, Ids, Counts]:
    """Return the classes of the groups of `l` in turn, those put aside, and the NIT of each choice."""
    n_ruled = int(arrays.column_of_value.max(initial=-1)) + 1
    n_values = len(arrays.column_of_value)
    tallies = Tallies(
        np.where(classes.is_denied, 0, classes.count_by_class),
        np.zeros(n_values, dtype=np.int64),
        np.zeros(n_ruled, dtype=np.int64),
        np.zeros((n_values, n_ruled), dtype=np.int64),
    )
    for which, count in enumerate(tallies.remaining.tolist()):
        add_tuples(arrays, tallies, which, count)
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
            joined += place_class(arrays, groups, int(which[place]), int(count[place]), l)
        else:
            add_to_group(arrays, groups, 0, int(which[place]), int(count[place]))
        done += int(count[place])
    return groups, joined


def _deal_tuples(classes: TupleClasses, groups: Groups, random: Random) -> Bucketing:
    """Return buckets made of random tuples of the classes of each group."""
    bucket_by_place, class_by_place = spell_out(groups)
    order = shuffle(random, len(classes.class_by_tuple))
    order = order[np.argsort(classes.class_by_tuple[order], kind="stable")]
    bucket_by_tuple = np.empty(len(order), dtype=np.int32)
    bucket_by_tuple[order] = bucket_by_place[np.argsort(class_by_place, kind="stable")]
    return Bucketing(bucket_by_tuple)


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
