"""Injector: buckets that hold against whoever knows the rules (Li and Li, 2008).

Rules say what people cannot have: no man has ovarian cancer. A bucket protects a person only by values
that the person may have, and only if the others can then share the rest. The method therefore groups
tuples that can swap their values:

1. Tuples are counted by class: their value and the values ruled out for them (`classify`).
2. Classes are grouped: so that there are many buckets (`group_compactly`, the default), or as Figure 2
   of the paper prints it (`group_as_printed`).
3. Chance says which tuples of a class are meant (`_deal_tuples`).

The choice is among classes, so the cost grows with the number of tuples times that of classes, and no
tuple is taken in input order.

Differences from the paper
--------------------------
- Groups are formed of what is hardest to place, and what is left over is placed by local repair; the
  paper's way is an option.
- Rules may contradict the data (known facts, or rules of confidence below 1). A tuple whose own value
  is ruled out is placed last, and then the whole bucket is checked.
- One bucket of everything is checked first. If even that fails, no buckets exist; else joining ends.
- Definition 1 is checked on every bucket before they are returned.
- Tuples without a value are put into the buckets of the others at the end (`bucketing`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from random import Random

import numpy as np
from numpy.typing import NDArray

from ...errors import Infeasible, InternalError
from ...model.guarantees import MatchingDiversity
from ...model.microdata import Microdata
from ...model.rules import NOT_KNOWN, Completeness, NegativeRule, impossible_values
from ...progress import Watch
from ...release.buckets import Bucketing, in_canonical_order
from ...release.possible import TupleClasses, classify, possible_counts, possible_together
from .. import BucketOutcome
from ..bucketing import join_matching, place_everybody, secret_unless, shuffle
from .gap_guard import guard_gaps
from .grouping import Grouped, group_as_printed, group_compactly, most_buckets

GROUPINGS: Mapping[str, Callable[[TupleClasses, int, Random, Watch], Grouped]] = {
    "compact": group_compactly,
    "printed": group_as_printed,
}
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
    grouping: str = "compact",
) -> BucketOutcome:
    """Return buckets in which each tuple has at least l possible values to whoever knows the rules.

    Where rules are complete from some point on, that holds too against whoever concludes from those
    that are missing there that somebody breaks them (`gap_guard`).

    `rules` are what is known: mined rules, known facts, or both; `complete` says from where on those
    that hold are all among them. `grouping` is "compact", as many buckets as can be found, or
    "printed", the paper's Figure 2; `random` as in `bucketing`.
    """
    source, seeded = secret_unless(random)
    if not len(data):
        return BucketOutcome(Bucketing(np.empty(0, dtype=np.int32)), {}, seeded)
    outcome = form_buckets(data, guarantee, rules=rules, watch=watch, random=random, grouping=grouping)
    classes = classify(data, rules)
    bucketing, figures = outcome.bucketing, dict(outcome.figures)
    if any(complete.chance_by_length):
        bucket_by_tuple, joined = guard_gaps(
            data, classes, bucketing.bucket_by_tuple, complete, guarantee.l, source, watch
        )
        bucketing = in_canonical_order(data, Bucketing(bucket_by_tuple))
        figures["joined for missing rules"] = joined
    figures |= _sizes(bucketing)
    told = _told_of_size(classes, figures, guarantee.l)
    return BucketOutcome(bucketing, figures, seeded, told)


def form_buckets(
    data: Microdata,
    guarantee: MatchingDiversity,
    *,
    rules: Sequence[NegativeRule],
    watch: Watch,
    random: Random | None = None,
    grouping: str = "compact",
) -> BucketOutcome:
    """Return buckets in which the rules leave each tuple l possible values; see `anonymize`."""
    source, seeded = secret_unless(random)
    watch.tick("injector: sorting tuples by class", 0.0)
    check_feasible(data, rules, guarantee.l)
    classes = classify(data, rules)
    if not data.has_value.all():
        return place_everybody(
            data,
            lambda valued: form_buckets(
                valued, guarantee, rules=rules, watch=watch, random=random, grouping=grouping
            ),
            lambda bucket: join_matching(classes, bucket, guarantee.l, source),
        )
    grouped = GROUPINGS[grouping](classes, guarantee.l, source, watch)
    bucketing = _deal_tuples(classes, grouped, source)
    watch.tick("injector: checking every bucket", 0.95)
    if (possible_counts(classes, bucketing) < guarantee.l).any():
        raise InternalError("injector: a tuple was left with too few possible values.")
    figures = {
        "buckets": bucketing.n_buckets,
        "buckets at most": most_buckets(classes, guarantee.l),
        "classes": len(classes),
        **grouped.figures,
    }
    return BucketOutcome(in_canonical_order(data, bucketing), figures, seeded)


def _sizes(bucketing: Bucketing) -> dict[str, int | float]:
    """Return how many buckets there are and how large they got."""
    sizes = np.bincount(bucketing.bucket_by_tuple)
    return {
        "buckets": len(sizes),
        "largest bucket": int(sizes.max()),
        "mean bucket": round(len(bucketing) / len(sizes), 2),
    }


def _told_of_size(
    classes: TupleClasses,
    figures: Mapping[str, int | float | str],
    l: int,  # noqa: E741
) -> tuple[str, ...]:
    """Return why buckets are large, where one has twice the tuples that it needs."""
    if int(figures["largest bucket"]) < 2 * l:
        return ()
    others = "one other" if l == 2 else f"{l - 1} others"
    why = f"{figures['left over']:,} found no {others} left with whom all could swap values"
    denied = int(classes.count_by_class[classes.is_denied].sum())
    if denied:
        why += f", or have a value that the rules rule out for them ({denied:,})"
    done = "they were added to buckets"
    if joined := figures["buckets joined"]:
        done += f", of which {joined:,} had to be joined with others"
    if without := figures.get("without a value", 0):
        done += f"; {without:,} without a value were added last"
    if guarded := figures.get("joined for missing rules", 0):
        done += f"; {guarded:,} buckets were joined with others because of rules that are missing"
    return (
        f"the largest bucket has {figures['largest bucket']:,} records, the mean is "
        f"{figures['mean bucket']:g}. Of {int(classes.count_by_class.sum()):,} records {why}; {done}.",
    )


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


def _deal_tuples(classes: TupleClasses, grouped: Grouped, random: Random) -> Bucketing:
    """Return buckets made of random tuples of the classes of each group."""
    order = shuffle(random, len(classes.class_by_tuple))
    order = order[np.argsort(classes.class_by_tuple[order], kind="stable")]
    bucket_by_tuple = np.empty(len(order), dtype=np.int32)
    bucket_by_tuple[order] = grouped.bucket[np.argsort(grouped.member, kind="stable")]
    return Bucketing(bucket_by_tuple)
