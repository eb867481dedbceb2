"""Every method for two data sets, from the registry: covers the originals and keeps the promise."""

from __future__ import annotations

import itertools
from fractions import Fraction
from random import Random

import numpy as np
import pytest

import setveil as sv
from setveil.errors import Infeasible
from setveil.hierarchy.tree import Hierarchy
from setveil.model.pattern_pair import PatternPair
from setveil.model.transactions import Transactions
from setveil.registry import PAIR_METHODS
from setveil.release.pair_release import PairRelease

TREE = Hierarchy.from_parents(
    {"a1": "a", "a2": "a", "b1": "b", "b2": "b", "c": "all", "a": "all", "b": "all", "all": None}
)
EDUCATION = Hierarchy.from_parents(
    {"BA": "degree", "MSE": "degree", "HS": "any", "degree": "any", "any": None}
)
SEARCHES = [
    (record.key, search)
    for record in PAIR_METHODS
    for search in next(option.allowed for option in record.options if option.name == "search")
]
PROMISES = [
    sv.HiddenPatterns(2),
    sv.HiddenPatterns(Fraction(3, 2), Fraction(1, 4)),
    sv.HiddenPatterns(2, 3),
    sv.HiddenPatterns(3, every_level=True),
]
CASES = [
    (key, search, kind, promise)
    for (key, search), kind, promise in itertools.product(SEARCHES, ("sets", "table"), PROMISES)
]


def pair_of(kind: str, seed: int) -> PatternPair:
    random = Random(seed)
    if kind == "sets":
        leaves = list(TREE.labels[: TREE.n_leaves])
        sides = [
            Transactions.from_rows(
                [random.sample(leaves[place:], random.randint(1, 3)) for _ in range(12)]
            )
            for place in (0, 2)
        ]
        return PatternPair.of_sets(sides[0], sides[1], TREE)
    usual = (["BA", "MSE", "MSE"], ["BA", "HS", "HS"])
    sides = [
        Transactions.from_rows(
            [[f"edu={random.choice(values)}", f"sex={random.choice('FM')}"] for _ in range(12)]
        )
        for values in usual
    ]
    return PatternPair.of_tables(sides[0], sides[1], ("edu", "sex"), {"edu": EDUCATION})


def options(search: str) -> dict[str, str | int]:
    return {"search": search, **({"restarts": 2} if search == "annealed" else {})}


def hidden(pair: PatternPair, key: str, search: str, promise: sv.HiddenPatterns) -> PairRelease:
    return sv.anonymize(pair, promise, method=key, **options(search))


@pytest.mark.parametrize(("key", "search", "kind", "promise"), CASES, ids=str)
def test_covers_the_originals_and_keeps_the_promise(
    key: str, search: str, kind: str, promise: sv.HiddenPatterns
) -> None:
    pair = pair_of(kind, 1)
    release = hidden(pair, key, search, promise)
    tree = pair.hierarchy
    for side, nodes in zip(pair.sides, release.recoding.node_by_entry, strict=True):
        assert nodes.dtype == np.int32
        assert len(nodes) == len(side.leaves)
        pairs = zip(nodes.tolist(), side.leaves.tolist(), strict=True)
        assert all(tree.covers(node, leaf) for node, leaf in pairs)
        if kind == "sets" and not promise.every_level:
            continue  # here a row may hold a value and a category above it
        for start, end in itertools.pairwise(side.indptr.tolist()):
            row = set(nodes[start:end].tolist())
            assert not any(one != other and tree.covers(one, other) for one in row for other in row)
    assert sv.audit(release).holds


@pytest.mark.parametrize(("key", "search"), SEARCHES)
def test_runs_alike_whatever_the_order_and_the_threads(key: str, search: str) -> None:
    pair = pair_of("table", 2)
    order = np.random.default_rng(0).permutation(12)
    shuffled = PatternPair(
        pair.hierarchy, (pair.sides[0].take(order), pair.sides[1].take(order[::-1])), pair.columns
    )
    releases = [
        hidden(pair, key, search, PROMISES[0]),
        hidden(shuffled, key, search, PROMISES[0]),
        sv.anonymize(pair, PROMISES[0], method=key, threads=1, **options(search)),
    ]
    rows = [[list(side.rows()) for side in release.published.sides] for release in releases]
    assert rows[0] == rows[1] == rows[2]


@pytest.mark.parametrize(("key", "search"), SEARCHES)
def test_what_keeps_the_promise_already_stays_as_it_is(key: str, search: str) -> None:
    data = Transactions.from_rows([["a1", "b1"], ["a2"], ["c"]] * 4)
    release = hidden(PatternPair.of_sets(data, data, TREE), key, search, PROMISES[0])
    assert release.raised == 0


@pytest.mark.parametrize(("key", "search"), SEARCHES)
def test_what_cannot_be_hidden_is_told(key: str, search: str) -> None:
    full, empty = Transactions.from_rows([["a1"]] * 4), Transactions.from_rows([[]] * 4)
    with pytest.raises(Infeasible):
        hidden(PatternPair.of_sets(full, empty, TREE), key, search, PROMISES[0])


def test_there_are_enough_cases() -> None:
    assert len(CASES) >= 24
