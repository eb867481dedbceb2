"""Negative rules from a table: who fits certain conditions does not have a certain sensitive value.

Li & Li, Injector: Mining Background Knowledge for Data Anonymization (ICDE 2008), section IV. A rule
X => not Y is told where the tuples that meet X are so many that Y should have been among them
(expectation, `rule_findings`) and Y hardly is (confidence). X takes one node of some attributes'
hierarchies each, at any level (`rule_conditions`); numbers may belong to their categories in part
(`fuzzy_belonging`). Equal tuples are merged, and a kernel counts depth first through the attributes,
going on only where some rule can still reach its expectation: the paper's Sup_Y, least over all Y.

Differences from the paper:

- The paper leaves the length of X open; what it reports on Adult are rules of one condition. So
  `max_antecedent` is 1 by default.
- The paper takes every rule that reaches its expectation. Here rules also pass a control of false
  discoveries (`rule_findings`), unless `control` says otherwise.
- A node that everybody meets is no condition.
- Rules that follow from a more general one are told too, and marked: all and the unmarked ones rule out
  the same values for everybody.
- The confidence may be below 1, as the paper's outlook asks. Such rules bind as if they were certain.
- Fuzzy rules bind those who belong to each condition by at least one half, and say so as an interval.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..distinct import first_places, number_distinct
from ..errors import ResourceLimit, UsageError
from ..kernels.rules import MINIMUM, PRODUCT, Coded, Found, find_rules, joined, mark_covered
from ..model.microdata import Microdata
from ..model.numbers import exact_share, whole_number
from ..model.rules import Completeness, NegativeRule
from ..progress import Watch
from .rule_conditions import HUNDREDTHS, MEMBERSHIPS, Conditions, conditions_of
from .rule_findings import (
    CONTROLS,
    RuleFinding,
    RuleSet,
    believed,
    expectation,
    least_counts,
    log_p_value,
)

MOST_RULES = 2_000_000
MOST_CELLS = 2**27
"""How many counts, conditions times values, each thread may hold."""
KEYWORDS = {"min_exp": "min_expectation", "min_conf": "min_confidence"} | {
    name: name for name in ("max_antecedent", "fuzzy", "membership", "control")
}
"""The keyword of each option of `setveil.registry.MINING_OPTIONS`."""


def mine_negative_rules(
    data: Microdata,
    *,
    min_expectation: Fraction | float | str = "0.9",
    min_confidence: Fraction | float | str = 1,
    max_antecedent: int = 1,
    fuzzy: bool = False,
    membership: str = "product",
    control: str = "all",
    threads: int | None = None,
    watch: Watch | None = None,
) -> RuleSet:
    """Return all rules that reach the expectation and the confidence.

    Parameters
    ----------
    data
        The tuples.
    min_expectation
        How probable it must be that the value occurs among those who meet the conditions.
    min_confidence
        The share of them that must not have the value.
    max_antecedent
        How many conditions a rule may have.
    fuzzy
        Whether the categories of numeric attributes are fuzzy sets.
    membership
        How the memberships of several conditions are joined: ``product`` or ``minimum``.
    control
        Which rules must pass the control of false discoveries: ``all``, those ``longer`` than one
        condition, or ``none``. Its rate is what the expectation leaves to 1.
    threads
        How many threads count; all by default.
    watch
        Progress and cancelling.

    >>> sexes, illnesses = ["F", "F", "M", "M", "M", "M"], ["a", "a", "b", "b", "c", "c"]
    >>> table = Microdata.from_columns({"sex": sexes, "ill": illnesses}, "ill")
    >>> print(mine_negative_rules(table, min_expectation=0.75, control="none"))
    1 negative rule, from 6 tuples and 3 tests.
      sex=M => not a  (expectation 0.802, 4 tuples)
    """
    expects = exact_share("min_expectation", min_expectation, below_one=True)
    confidence = exact_share("min_confidence", min_confidence)
    whole_number("max_antecedent", max_antecedent, least=1)
    for name, choice, known in (
        ("membership", membership, MEMBERSHIPS),
        ("control", control, CONTROLS),
    ):
        if choice not in known:
            raise UsageError(f"unknown {name} {str(choice)[:40]!r}.", f"Known: {', '.join(known)}.")
    if not len(data):
        raise UsageError("the table has no tuples.", "Give some.", code="no-records")
    longest = min(max_antecedent, len(data.quasi))
    scale = scale_of(data, longest, fuzzy=fuzzy, membership=membership)
    _check_size(len(data), scale.units[-1], confidence)
    counts = data.count_by_value.tolist()
    least = np.stack([least_counts(counts, len(data), expects, unit) for unit in scale.units])
    conditions = conditions_of(
        data, [int(least[step].min()) for step in scale.steps], fuzzy=scale.is_fuzzy, full=scale.full
    )
    _check_room(len(conditions), len(counts))
    coded = Coded(
        *_merged(data),
        conditions.leaf_start,
        conditions.entry_start,
        conditions.condition_of_entry,
        conditions.membership_of_entry,
        np.array(scale.steps, dtype=np.int64),
        len(conditions),
    )
    search = partial(
        find_rules,
        coded,
        least,
        longest=longest,
        doubt=confidence.denominator - confidence.numerator,
        whole=confidence.denominator,
        full=scale.full,
        combine=PRODUCT if membership == "product" else MINIMUM,
        most=MOST_RULES,
        threads=threads or os.cpu_count() or 1,
    )
    watch = watch or Watch()
    found = _search(search, len(data.quasi), watch)
    watch.tick("telling rules that follow from others")
    options = {
        "min_expectation": expects,
        "min_confidence": confidence,
        "max_antecedent": max_antecedent,
        "fuzzy": fuzzy,
        "membership": membership,
        "control": control,
    }
    units = scale.units_of(conditions.attribute, found.conditions)
    return _told(data, conditions, found, units, rate=1 - expects, control=control, options=options)


def mine_by_options(
    data: Microdata,
    options: Mapping[str, Any],
    *,
    threads: int | None = None,
    watch: Watch | None = None,
) -> RuleSet:
    """Return what `mine_negative_rules` finds, with its options as the registry names them.

    Options that are not about mining are passed over.
    """
    chosen = {keyword: options[name] for name, keyword in KEYWORDS.items() if name in options}
    return mine_negative_rules(data, **chosen, threads=threads, watch=watch)


@dataclass(frozen=True)
class Scale:
    """In which parts of a tuple support is counted.

    `units` tells how many parts make a whole, by the number of fuzzy conditions whose memberships are
    multiplied; `steps` which attributes bring such conditions.
    """

    is_fuzzy: list[bool]
    steps: list[int]
    units: list[int]
    full: int

    def units_of(self, attribute: NDArray[np.int32], lines: NDArray[np.int32]) -> list[int]:
        """Return the unit of each rule's counts."""
        step_of_condition = np.append(np.array(self.steps)[attribute], 0)
        return [self.units[step] for step in step_of_condition[lines].sum(axis=1).tolist()]


def scale_of(data: Microdata, longest: int, *, fuzzy: bool, membership: str) -> Scale:
    """Return the scale of conjunctions of up to `longest` conditions."""
    is_fuzzy = [fuzzy and attribute.is_numeric for attribute in data.quasi]
    if membership == "minimum":
        full = HUNDREDTHS if any(is_fuzzy) else 1
        return Scale(is_fuzzy, [0] * len(is_fuzzy), [full], full)
    most = min(longest, sum(is_fuzzy))
    return Scale(is_fuzzy, [int(f) for f in is_fuzzy], [HUNDREDTHS**n for n in range(most + 1)], 1)


def _check_size(n: int, unit: int, confidence: Fraction) -> None:
    if n * unit * confidence.denominator >= 2**62:
        raise ResourceLimit(
            "so many fuzzy conditions, tuples and decimals cannot be counted exactly.",
            "Allow fewer conditions (--max-antecedent), join memberships by their minimum, or round "
            "the confidence.",
            code="too-long-counts",
        )


def _check_room(n_conditions: int, n_values: int) -> None:
    if n_conditions * n_values > MOST_CELLS:
        raise ResourceLimit(
            f"{n_conditions:,} conditions and {n_values:,} sensitive values are too many.",
            "Give hierarchies with fewer categories, fewer columns, or a sensitive column with fewer "
            "values.",
            code="too-many-rules",
        )


def _merged(data: Microdata) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int64]]:
    """Return the different tuples, their values, and how many of each there are."""
    columns = [attribute.leaf_by_tuple for attribute in data.quasi] + [data.value_by_tuple]
    sizes = [attribute.hierarchy.n_leaves for attribute in data.quasi] + [len(data.values)]
    key = np.zeros(len(data), dtype=np.int64)
    span = 1
    for column, size in zip(columns, sizes, strict=True):
        if span * size >= 2**62:
            key = number_distinct(key)[1]
            span = len(data)
        key = key * size + column
        span *= size
    keys, number = number_distinct(key)
    first = first_places(number, len(keys))
    return data.leaves[first], data.value_by_tuple[first], np.bincount(number)


def _search(search: Callable[..., Found], n_attributes: int, watch: Watch) -> Found:
    """Return the rules that begin with each attribute in turn."""
    pieces: list[Found] = []
    for first in range(n_attributes):
        watch.tick("counting conditions", first / n_attributes)
        watch.check_deadline()
        pieces.append(search(first=first))
        if sum(len(piece.values) for piece in pieces) > MOST_RULES:
            raise ResourceLimit(
                f"there are more than {MOST_RULES:,} rules.",
                "Raise the expectation or the confidence, or allow fewer conditions "
                "(--max-antecedent).",
                code="too-many-rules",
            )
    return joined(pieces)


def _told(
    data: Microdata,
    conditions: Conditions,
    found: Found,
    units: list[int],
    *,
    rate: Fraction,
    control: str,
    options: dict[str, object],
) -> RuleSet:
    """Return the rules to believe, in order, those marked that follow from others."""
    counts = [Fraction(c, unit) for c, unit in zip(found.counts.tolist(), units, strict=True)]
    with_value = [Fraction(c, unit) for c, unit in zip(found.counts_with.tolist(), units, strict=True)]
    exact = options["min_confidence"] == 1
    kept, complete = believed_rules(
        data, conditions, found, counts, with_value, rate=rate, control=control, exact=exact
    )
    lines, values = found.conditions[kept], found.values[kept]
    redundant = covered_rules(conditions, lines, values)
    findings = []
    for place, number in enumerate(kept.tolist()):
        rule = NegativeRule(
            tuple(
                (data.quasi[conditions.attribute[c]].name, conditions.label[c])
                for c in lines[place].tolist()
                if c >= 0
            ),
            data.values[values[place]],
        )
        count = counts[number]
        findings.append(
            RuleFinding(
                rule,
                _whole(count),
                _whole(with_value[number]),
                expectation(int(data.count_by_value[values[place]]), len(data), count),
                bool(redundant[place]),
            )
        )
    order = {attribute.name: place for place, attribute in enumerate(data.quasi)}
    findings.sort(
        key=lambda finding: (
            len(finding.rule.conditions),
            [order[name] for name, _ in finding.rule.conditions],
            [label for _, label in finding.rule.conditions],
            finding.rule.value,
            finding.redundant,
        )
    )
    return RuleSet(
        tuple(findings),
        tuple(order),
        data.sensitive,
        len(data),
        tuple(found.tests[1:].tolist()),
        len(found.values) - len(kept),
        options,
        Completeness(complete, bool(options["fuzzy"]), str(options["membership"])),
    )


def _whole(count: Fraction) -> int | Fraction:
    return count.numerator if count.denominator == 1 else count


def believed_rules(
    data: Microdata,
    conditions: Conditions,
    found: Found,
    counts: Sequence[Fraction],
    with_value: Sequence[Fraction],
    *,
    rate: Fraction,
    control: str,
    exact: bool,
) -> tuple[NDArray[np.int64], tuple[Fraction | None, ...]]:
    """Return which rules pass the control or follow from those that do, and from where on all are told.

    The second part is that of `model.rules.Completeness`. Where rules may have exceptions (not
    `exact`), their chance does not follow from their conditions alone.
    """
    length = (found.conditions >= 0).sum(axis=1)
    free = {"none": len(data.quasi), "longer": 1, "all": 0}[control]
    judged = length > free
    longest = found.conditions.shape[1]
    complete: list[Fraction | None] = [rate if size <= free else None for size in range(1, longest + 1)]
    if not judged.any():
        for size in range(free + 1, longest + 1):
            complete[size - 1] = _bound(rate, 1, int(found.tests[size]), exact)
        return np.arange(len(found.values)), tuple(complete)
    shares = (data.count_by_value / len(data)).tolist()
    log_p = np.array(
        [
            log_p_value(shares[value], counts[rule], with_value[rule])
            for rule, value in enumerate(found.values.tolist())
        ]
    )
    # What a stronger rule implies stands or falls with it; rules that need not pass are strongest.
    strength = np.where(judged, log_p, -np.inf)
    leading = ~covered_rules(conditions, found.conditions, found.values, rank=strength)
    passed = ~judged
    for size in range(free + 1, longest + 1):
        family = judged & leading & (length == size)
        tests = int(found.tests[size])
        believable = family & (log_p <= believed(log_p[family], tests, rate))
        passed |= believable
        n_believed = int(believable.sum())
        # One more rule that holds would be told up to here, unless it took the place of some others.
        bound = _bound(rate, n_believed + 1, tests, exact)
        if bound is not None and (family & ~believable & (log_p <= math.log(bound))).any():
            bound = _bound(rate, n_believed, tests, exact)
        complete[size - 1] = bound
    follows = covered_rules(
        conditions, found.conditions, found.values, rank=np.where(passed, 0, 1), by=passed
    )
    return np.flatnonzero(passed | follows), tuple(complete)


def _bound(rate: Fraction, rank: int, tests: int, exact: bool) -> Fraction | None:
    return min(rate, rate * rank / tests) if rank and tests and exact else None


def covered_rules(
    conditions: Conditions,
    lines: NDArray[np.int32],
    values: NDArray[np.int32],
    *,
    rank: NDArray[np.float64] | NDArray[np.int64] | None = None,
    by: NDArray[np.bool_] | None = None,
) -> NDArray[np.bool_]:
    """Tell which rules follow from a more general one (of those in `by`) that has no higher rank."""
    present = lines >= 0
    depth = np.where(present, np.append(conditions.depth, 0)[lines], 0).sum(axis=1)
    order = np.lexsort(
        (depth, present.sum(axis=1), np.zeros(len(lines)) if rank is None else rank, values)
    )
    return mark_covered(
        lines,
        values,
        np.ones(len(lines), dtype=np.bool_) if by is None else by,
        order.astype(np.int64),
        conditions.coverer_start,
        conditions.coverers,
    )
