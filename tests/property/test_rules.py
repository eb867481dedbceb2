"""Mined rules against brute force over all conjunctions, on small random tables."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from random import Random

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from setveil.hierarchy.tree import Hierarchy
from setveil.kernels import rules as kernel
from setveil.mining.negative_rules import mine_negative_rules
from setveil.mining.rule_findings import RuleSet, least_counts, log_p_value
from setveil.model.microdata import Microdata
from setveil.model.rules import impossible_values
from tests.oracle import rules as oracle

LARGEST = 60
CASES = settings(deadline=None, max_examples=120)
EXPECTATIONS = st.sampled_from([Fraction(n, 20) for n in (4, 8, 10, 13, 15, 18)])


@dataclass(frozen=True)
class World:
    """A small table: trees, rows, sensitive values."""

    trees: dict[str, dict[str, str | None]]
    rows: list[dict[str, str]]
    values: list[str]

    def microdata(self) -> Microdata:
        columns = {name: [row[name] for row in self.rows] for name in self.trees}
        hierarchies = {name: Hierarchy.from_parents(tree) for name, tree in self.trees.items()}
        return Microdata.from_columns({**columns, "s": self.values}, "s", hierarchies=hierarchies)


def some_tree(chance: Random, leaves: list[str], *, runs: bool) -> dict[str, str | None]:
    """Two levels of categories; each is a run of the leaves if so asked."""
    tree: dict[str, str | None] = {"ALL": None}
    here = leaves
    for level in ("p", "q"):
        groups = [chance.randrange(3 if level == "p" else 2) for _ in here]
        if runs:
            groups.sort()
        for label, group in zip(here, groups, strict=True):
            tree[label] = f"{level}{group}"
        here = sorted({f"{level}{group}" for group in groups})
    for label in here:
        tree[label] = "ALL"
    return tree


def some_world(seed: int, numeric: bool) -> World:
    """Few people have anything but x, and at some leaves of a never: so there are rules."""
    chance = Random(seed)
    names = ["a", "b", "c"][: chance.randint(1, 3)]
    leaves = {name: [f"{name}{n}" for n in range(4)] for name in names}
    if numeric:
        leaves["a"] = [str(n) for n in sorted(chance.sample(range(1, 30), chance.randint(3, 8)))]
    runs = numeric and chance.random() < 0.8
    made = {name: some_tree(chance, leaves[name], runs=runs) for name in names}
    never = {(leaf, value) for leaf in leaves["a"] for value in "yz" if chance.random() < 0.6}
    rows, values = [], []
    for _ in range(chance.choice((3, 15, LARGEST))):
        row = {name: chance.choice(leaves[name]) for name in names}
        value = chance.choice("xxxyyz")
        rows.append(row)
        values.append("x" if (row["a"], value) in never else value)
    return World(made, rows, values)


def worlds(*, numeric: bool = False) -> st.SearchStrategy[World]:
    return st.builds(some_world, st.integers(0, 10**9), st.just(numeric))


def bound_leaves(world: World, fuzzy: tuple[str, ...]) -> dict[str, dict[str, set[str]]]:
    belongs = oracle.memberships(world.trees, world.rows, fuzzy)
    return {
        name: {
            label: {leaf for leaf, share in members.items() if share >= Fraction(1, 2)}
            for label, members in labels.items()
        }
        for name, labels in belongs.items()
    }


def as_bound(
    world: World, found: RuleSet
) -> list[tuple[tuple[tuple[str, frozenset[str]], ...], str, Fraction, Fraction, bool]]:
    """The findings by whom they bind, as the model reads their conditions."""
    from setveil.model.rules import leaves_meeting

    data = world.microdata()
    attributes = {attribute.name: attribute for attribute in data.quasi}
    told = []
    for finding in found.findings:
        conditions = []
        for name, label in finding.rule.conditions:
            tree = attributes[name].hierarchy
            met = np.flatnonzero(leaves_meeting(attributes[name], label)).tolist()
            conditions.append((name, frozenset(tree.labels[leaf] for leaf in met)))
        counts = Fraction(finding.count), Fraction(finding.count_with_value)
        told.append((tuple(conditions), finding.rule.value, *counts, finding.redundant))
    return told


def expected(
    world: World, counted: oracle.Counted, fuzzy: tuple[str, ...]
) -> list[tuple[tuple[tuple[str, frozenset[str]], ...], str, Fraction, Fraction, bool]]:
    bound = bound_leaves(world, fuzzy)
    every = set(counted)
    return [
        (
            tuple((name, frozenset(bound[name][label])) for name, label in rule[0]),
            rule[1],
            *counts,
            oracle.implied(rule, every, world.trees, bound),
        )
        for rule, counts in counted.items()
    ]


def in_order(lines: list) -> list:
    return sorted(lines, key=lambda line: (line[1:], [(n, sorted(leaves)) for n, leaves in line[0]]))


@CASES
@given(worlds(), EXPECTATIONS, st.sampled_from([Fraction(1), Fraction(4, 5)]), st.integers(1, 3))
def test_every_rule_is_found_and_no_other(
    world: World, expects: Fraction, confidence: Fraction, longest: int
) -> None:
    found = mine_negative_rules(
        world.microdata(),
        min_expectation=expects,
        min_confidence=confidence,
        max_antecedent=longest,
        control="none",
        threads=1 + len(world.rows) % 2,
    )
    counted, tests = oracle.all_rules(
        world.trees,
        world.rows,
        world.values,
        min_expectation=expects,
        min_confidence=confidence,
        longest=min(longest, len(world.trees)),
    )
    assert in_order(as_bound(world, found)) == in_order(expected(world, counted, ()))
    assert {(f.rule.conditions, f.rule.value) for f in found.findings} == set(counted)
    assert list(found.tests) == tests


@CASES
@given(worlds(numeric=True), EXPECTATIONS, st.booleans(), st.integers(1, 2))
def test_fuzzy_rules(world: World, expects: Fraction, minimum: bool, longest: int) -> None:
    found = mine_negative_rules(
        world.microdata(),
        min_expectation=expects,
        max_antecedent=longest,
        fuzzy=True,
        membership="minimum" if minimum else "product",
        control="none",
    )
    counted, tests = oracle.all_rules(
        world.trees,
        world.rows,
        world.values,
        min_expectation=expects,
        longest=min(longest, len(world.trees)),
        fuzzy=("a",),
        minimum=minimum,
    )
    assert in_order(as_bound(world, found)) == in_order(expected(world, counted, ("a",)))
    assert list(found.tests) == tests


@CASES
@given(
    worlds(numeric=True),
    EXPECTATIONS,
    st.sampled_from([1, "0.8"]),
    st.booleans(),
    st.sampled_from(["longer", "all", "none"]),
)
def test_redundant_rules_add_nothing(
    world: World, expects: Fraction, confidence: object, fuzzy: bool, control: str
) -> None:
    data = world.microdata()
    found = mine_negative_rules(
        data,
        min_expectation=expects,
        min_confidence=confidence,
        max_antecedent=2,
        fuzzy=fuzzy,
        control=control,
    )
    every = tuple(finding.rule for finding in found.findings)
    assert (impossible_values(data, every) == impossible_values(data, found.rules)).all()
    if confidence == 1:
        ruled_out = impossible_values(data, every)
        assert not ruled_out[np.arange(len(data)), data.value_by_tuple].any()


@CASES
@given(
    worlds(),
    st.sampled_from([Fraction(1, 20), Fraction(1, 4), Fraction(3, 4)]),
    st.sampled_from([1, "0.7"]),
    st.sampled_from(["longer", "all"]),
)
def test_the_control_of_false_discoveries(
    world: World, expects: Fraction, confidence: object, control: str
) -> None:
    data = world.microdata()
    options = {"min_expectation": expects, "min_confidence": confidence, "max_antecedent": 3}
    every = mine_negative_rules(data, control="none", **options)
    kept = mine_negative_rules(data, control=control, **options)
    bound = bound_leaves(world, ())
    p = {
        (f.rule.conditions, f.rule.value): oracle.tail(
            Fraction(world.values.count(f.rule.value), len(world.values)),
            Fraction(f.count),
            Fraction(f.count_with_value),
        )
        for f in every.findings
    }
    judged = {rule for rule in p if control == "all" or len(rule[0]) > 1}
    leading = {
        rule
        for rule in judged
        if not any(
            oracle.implied(rule, {other}, world.trees, bound)
            for other in p
            if other not in judged or p[other] <= p[rule] * (1 + 1e-12)
        )
    }
    passed = set(p) - judged
    for size in range(1, 4):
        family = sorted((p[rule], rule) for rule in leading if len(rule[0]) == size)
        last = 0
        for r, (value, _) in enumerate(family, start=1):
            if value <= float(1 - expects) * r / every.tests[size - 1] * (1 + 1e-12):
                last = r
        passed |= {rule for _, rule in family[:last]}
    passed |= {rule for rule in p if oracle.implied(rule, passed, world.trees, bound)}
    assert {(f.rule.conditions, f.rule.value) for f in kept.findings} == passed
    assert kept.left_out == len(every) - len(kept)
    assert kept.tests == every.tests


@CASES
@given(worlds(), st.permutations(range(LARGEST)), EXPECTATIONS)
def test_the_order_of_rows_and_threads_do_not_matter(
    world: World, order: list[int], expects: Fraction
) -> None:
    places = [place for place in order if place < len(world.rows)]
    other = World(world.trees, [world.rows[p] for p in places], [world.values[p] for p in places])
    one, two = (
        mine_negative_rules(each.microdata(), min_expectation=expects, max_antecedent=3, threads=n)
        for each, n in ((world, 1), (other, 3))
    )
    assert one == two


@CASES
@given(
    st.integers(1, 60),
    st.integers(1, 60),
    st.fractions(min_value="1/100", max_value="99/100", max_denominator=100),
    st.sampled_from([1, 1, 7, 100]),
)
def test_least_counts(n: int, count: int, expects: Fraction, unit: int) -> None:
    count = min(n, count)
    least = int(least_counts([count], n, expects, unit)[0])
    absent = Fraction(n - count, n)
    assert absent**least <= (1 - expects) ** unit
    assert least == 1 or absent ** (least - 1) > (1 - expects) ** unit


@CASES
@given(st.integers(1, 40), st.integers(0, 40), st.integers(1, 20))
def test_the_lower_tail(n: int, seen: int, of_twenty: int) -> None:
    share = Fraction(of_twenty, 20)
    seen = min(n, seen)
    found = np.exp(log_p_value(float(share), Fraction(n), Fraction(seen)))
    exact = oracle.tail(share, Fraction(n), Fraction(seen))
    assert abs(found - exact) < 1e-9 or (found == 1 and seen >= n * share) or share == 1


@CASES
@given(worlds())
def test_the_kernel_in_plain_python(world: World) -> None:
    """The compiled search and its source say the same."""
    data = world.microdata()
    compiled = mine_negative_rules(data, min_expectation="0.5", max_antecedent=3, threads=1)
    fast = kernel.explore
    kernel.explore = fast.py_func
    try:
        plain = mine_negative_rules(data, min_expectation="0.5", max_antecedent=3, threads=1)
    finally:
        kernel.explore = fast
    assert plain == compiled
