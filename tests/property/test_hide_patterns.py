"""Hiding patterns on random small pairs: what comes out is clean, and everything is counted right."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from itertools import product
from random import Random

import numpy as np
import pytest

from setveil.errors import Cancelled, Infeasible, TimeLimit
from setveil.hierarchy.tree import Hierarchy
from setveil.measure import pairs
from setveil.measure.pairs import frequent_distortion, measure_pair
from setveil.methods.hide_patterns import SEARCHES, anonymize, scoring
from setveil.methods.hide_patterns import work as pattern_work
from setveil.methods.hide_patterns.scoring import Scoring
from setveil.methods.hide_patterns.searches import TRIED, ByCare, ByGain, Guarded, Round, scored
from setveil.methods.hide_patterns.state import find_moves
from setveil.methods.hide_patterns.work import PatternWork
from setveil.model.guarantees import HiddenPatterns
from setveil.model.pattern_pair import PatternPair
from setveil.model.transactions import Transactions
from setveil.progress import Watch
from tests.oracle.pair_patterns import frequent, is_closed, is_pattern, raised

TREES = {
    "a": {"a1": "aX", "a2": "aX", "a3": "aY", "aX": "*", "aY": "*", "*": None},
    "b": {"b1": "*", "b2": "*", "b3": "*", "*": None},
    "c": {"c1": "cX", "c2": "cX", "cX": "*", "c3": "*", "*": None},
}
ITEMS = {
    "milk": "dairy", "curd": "dairy", "dairy": "food", "rye": "bread", "oat": "bread",
    "bread": "food", "salt": "food", "food": None,
}  # fmt: skip


def random_pair(random: Random) -> PatternPair:
    if random.random() < 0.5:
        columns = ("a", "b", "c")[: random.choice((2, 3))]
        gap = random.choice((0.0, 0.0, 0.3))
        sides = []
        for _ in range(2):
            weights = [random.random() + 0.05 for _ in range(3)]
            rows = [
                [
                    f"{name}={name}{random.choices((1, 2, 3), weights)[0]}"
                    for name in columns
                    if random.random() >= gap
                ]
                for _ in range(random.randint(2, 9))
            ]
            sides.append(Transactions.from_rows(rows))
        trees = {name: Hierarchy.from_parents(TREES[name]) for name in columns}
        return PatternPair.of_tables(*sides, columns, trees)
    leaves = ["milk", "curd", "rye", "oat", "salt"]
    sides = []
    for _ in range(2):
        chance = {leaf: random.random() ** 2 for leaf in leaves}
        rows = [
            [leaf for leaf in leaves if random.random() < chance[leaf]]
            for _ in range(random.randint(2, 9))
        ]
        sides.append(Transactions.from_rows(rows))
    flat = random.random() < 0.3
    return PatternPair.of_sets(*sides, None if flat else Hierarchy.from_parents(ITEMS))


def random_promise(random: Random) -> HiddenPatterns:
    growth = random.choice((Fraction(3, 2), Fraction(2), Fraction(7, 2), Fraction(5)))
    support = random.choice((Fraction(1, 10), Fraction(1, 3), 1, 2))
    return HiddenPatterns(growth, support, random.random() < 0.4)


def labelled(pair: PatternPair, nodes: tuple[np.ndarray, ...]) -> tuple[list[frozenset[str]], ...]:
    labels = pair.hierarchy.labels
    return tuple(
        [
            frozenset(labels[node] for node in chosen[rows.indptr[r] : rows.indptr[r + 1]])
            for r in range(len(rows))
        ]
        for rows, chosen in zip(pair.sides, nodes, strict=True)
    )


def as_read(
    pair: PatternPair, nodes: tuple[np.ndarray, ...], promise: HiddenPatterns
) -> tuple[list[frozenset[str]], ...]:
    data = labelled(pair, nodes)
    if not promise.every_level:
        return data
    paths = {label: pair.hierarchy.path(label) for label in pair.hierarchy.labels}
    return tuple(raised(rows, paths) for rows in data)


def patterns_of(pair: PatternPair, nodes: tuple[np.ndarray, ...], promise: HiddenPatterns) -> list:
    data = as_read(pair, nodes, promise)
    found = frequent(data, promise.min_support)
    return [left for left in found if is_pattern(data, left, promise.growth)]


@pytest.mark.parametrize("seed", range(60))
def test_closed_patterns_are_counted_or_at_least_some_of_them(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    random = Random(f"{seed} counted")
    pair, promise = random_pair(random), random_promise(random)
    leaves = tuple(rows.leaves for rows in pair.sides)
    data = as_read(pair, leaves, promise)
    expected = sum(is_closed(data, left) for left in patterns_of(pair, leaves, promise))
    count = partial(pattern_work.count_patterns, pair, promise, threads=1)
    assert count(watch=Watch()) == (expected, True)
    assert count(watch=Watch(time_limit=1e-9)) == (0, False)
    monkeypatch.setattr(pattern_work, "MOST_COUNTED", random.choice((2, 3, 5)))
    found, is_all = count(watch=Watch())
    assert found == expected if is_all else found <= expected
    stopped = Watch()
    stopped.cancel()
    with pytest.raises(Cancelled):
        count(watch=stopped)


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("seed", range(120))
def test_no_pattern_is_left(seed: int, search: str) -> None:
    random = Random(f"{seed} {search}")
    pair, promise = random_pair(random), random_promise(random)
    options = {
        "search": search,
        "frequent_support": random.choice((0.2, 0.4)),
        "theta_p": random.choice((0.0, 0.4, 1.0)),
        "theta_q": random.choice((0.0, 0.8, 1.0)),
        "restarts": 2,
        "multilevel": random.random() < 0.3,
    }
    top = tuple(pair.hierarchy.root[rows.leaves] for rows in pair.sides)
    try:
        outcome = anonymize(pair, promise, **options)
    except Infeasible:
        assert patterns_of(pair, top, promise)
        return
    nodes = outcome.recoding.node_by_entry
    assert outcome.complete
    assert patterns_of(pair, nodes, promise) == []
    tree = pair.hierarchy
    for rows, chosen in zip(pair.sides, nodes, strict=True):
        assert all(map(tree.covers, chosen.tolist(), rows.leaves.tolist()))
        for start, end in zip(rows.indptr[:-1].tolist(), rows.indptr[1:].tolist(), strict=True):
            inside = set(chosen[start:end].tolist())
            antichain = pair.is_table or promise.every_level
            assert not antichain or not any(
                tree.covers(u, v) for u, v in product(inside, inside) if u != v
            )
    before = tuple(rows.leaves for rows in pair.sides)
    if not patterns_of(pair, before, promise):
        assert all(np.array_equal(old, new) for old, new in zip(before, nodes, strict=True))
    told = frequent_distortion(
        pair,
        outcome.recoding,
        frequent_support=options["frequent_support"],
        multilevel=options["multilevel"],
    )
    assert (told.missing, str(told.distortion)) == (
        outcome.figures["itemsets lost"],
        outcome.figures["distortion"],
    )


@pytest.mark.parametrize("seed", range(60))
def test_closed_sets_are_enough(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """As in wide tables: patterns are looked for among closed sets, and counted between searches."""
    monkeypatch.setattr(pattern_work, "FEW_SETS", 1)
    random = Random(f"closed {seed}")
    pair, promise = random_pair(random), random_promise(random)
    try:
        outcome = anonymize(pair, promise, search=random.choice(SEARCHES))
    except Infeasible:
        assert patterns_of(
            pair, tuple(pair.hierarchy.root[rows.leaves] for rows in pair.sides), promise
        )
        return
    assert patterns_of(pair, outcome.recoding.node_by_entry, promise) == []


@pytest.mark.parametrize("seed", range(60))
def test_the_time_limit_leaves_no_pattern_either(seed: int) -> None:
    random = Random(f"limit {seed}")
    pair, promise = random_pair(random), random_promise(random)
    try:
        outcome = anonymize(pair, promise, watch=Watch(time_limit=0.0), search=random.choice(SEARCHES))
    except TimeLimit:
        top = tuple(pair.hierarchy.root[rows.leaves] for rows in pair.sides)
        assert patterns_of(pair, top, promise)
        return
    assert patterns_of(pair, outcome.recoding.node_by_entry, promise) == []


def growth_of(counts: list[int], records: list[int], least: list[int]) -> float:
    found = 0.0
    for up in (0, 1):
        if counts[up] >= least[up]:
            here, there = counts[up] / records[up], counts[1 - up] / records[1 - up]
            found = max(found, float("inf") if not there else here / there)
    return found


@pytest.mark.parametrize("seed", range(150))
def test_scores_are_those_of_moves_made(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every move is made, and everything counted anew in plain Python."""
    random = Random(f"scores {seed}")
    pair, promise = random_pair(random), random_promise(random)
    multilevel = random.random() < 0.4
    work = PatternWork(
        pair, promise, frequent_support=0.3, multilevel=multilevel, watch=Watch(), threads=1
    )
    for _ in range(random.randint(0, 2)):  # somewhere on the way
        patterns = work.miner.left(Watch())
        if not len(patterns):
            return
        place = random.randrange(len(patterns))
        side = int(patterns.side[place])
        moves = find_moves(work.state, patterns.pattern(place), side, every_level=work.every_level)
        if not len(moves):
            return
        make(work, moves, random.randrange(len(moves)))
    patterns = work.miner.left(Watch())
    if not len(patterns):
        return
    place = random.randrange(len(patterns))
    side = int(patterns.side[place])
    moves = find_moves(work.state, patterns.pattern(place), side, every_level=work.every_level)
    at_once = random.choice((1, 7, scoring.ENTRIES_AT_ONCE))
    monkeypatch.setattr(scoring, "ENTRIES_AT_ONCE", at_once)
    monkeypatch.setattr(scoring, "HEAVY", random.choice((0, scoring.HEAVY)))
    found = Scoring(
        work.state,
        patterns,
        work.frequent,
        work.miner.least,
        every_level=work.every_level,
        threads=random.choice((1, 3)),
        all_threads=2,
    ).score(moves)
    saved = work.state.saved
    for which in range(len(moves)):
        before = rows_of(work, work.every_level)
        targets = moves.targets_of(which).tolist()
        make(work, moves, which)
        after = rows_of(work, work.every_level)
        expected = changes(work, patterns, moves.pattern.tolist(), targets, before, after)
        assert found.jumping[which] == expected[0]
        assert found.finite[which] == pytest.approx(expected[1])
        if work.narrow and multilevel:  # estimated only
            work.state.go_back(saved)
            continue
        nearest = work.frequent.nearest(work.state)
        distances = [-1.0 if form is None else work.frequent.distance[form] for form in nearest]
        assert found.distance[which].tolist() == pytest.approx(distances)
        work.state.go_back(saved)


def make(work: PatternWork, moves: object, which: int) -> None:
    from setveil.methods.hide_patterns.searches import as_move

    assert work.apply(as_move(work, moves, which)) > 0  # type: ignore[arg-type]


def rows_of(work: PatternWork, every_level: bool) -> list[list[frozenset[int]]]:
    """All records of both sides as sets of nodes, in the order of the originals."""
    tree = work.state.pair.hierarchy
    found = []
    for rows, nodes in zip(work.state.pair.sides, work.state.recoding().node_by_entry, strict=True):
        side = [
            frozenset(nodes[rows.indptr[r] : rows.indptr[r + 1]].tolist()) for r in range(len(rows))
        ]
        if every_level:
            side = [row.union(*(tree.ancestors(node) for node in row)) for row in side]
        found.append(side)
    return found


def changes(
    work: PatternWork,
    patterns: object,
    hidden: list[int],
    targets: list[int],
    before: list[list[frozenset[int]]],
    after: list[list[frozenset[int]]],
) -> tuple[int, float]:
    tree = work.state.pair.hierarchy
    records, least = work.state.records.tolist(), work.miner.least.tolist()
    fewer, fall = 0, 0.0
    moved = [
        [old != new for old, new in zip(olds, news, strict=True)]
        for olds, news in zip(before, after, strict=True)
    ]
    for place in range(len(patterns)):  # type: ignore[arg-type]
        pattern = frozenset(patterns.pattern(place).tolist())  # type: ignore[attr-defined]
        old = growth_of([sum(pattern <= row for row in rows) for rows in before], records, least)
        new = growth_of([sum(pattern <= row for row in rows) for rows in after], records, least)
        image = set()
        for node in pattern:
            above = [t for t in targets if t != node and tree.covers(t, node)]
            if work.narrow:
                stays = node in targets or node not in hidden
                above = [] if stays else [targets[hidden.index(node)]]
            image.add(min(above, key=lambda t: tree.depth[t]) if above else node)
        touched = any(
            pattern <= row and flag
            for rows, flags in zip(before, moved, strict=True)
            for row, flag in zip(rows, flags, strict=True)
        )
        if touched and image != pattern:
            counts = [sum(image <= row for row in rows) for rows in after]
            new = max(new, growth_of(counts, records, least))
        if old == float("inf"):
            fewer += new != float("inf")
        elif new == float("inf"):
            fewer -= 1
        else:
            fall += old - new
    return fewer, fall


def half_of(support: Fraction | int) -> Fraction | int | None:
    if isinstance(support, int):
        return None if support == 1 else -(-support // 2)
    return support / 2


def counted(
    pair: PatternPair, nodes: tuple[np.ndarray, ...], promise: HiddenPatterns
) -> tuple[int, int, Fraction | None]:
    """Patterns, jumping ones and the largest finite growth, by trying every set."""
    data = labelled(pair, nodes)
    found = patterns_of(pair, nodes, promise)
    growths = [
        Fraction(left.count * len(data[2 - left.side]), left.elsewhere * len(data[left.side - 1]))
        for left in found
        if left.elsewhere
    ]
    return len(found), len(found) - len(growths), max(growths, default=None)


@pytest.mark.parametrize("seed", range(120))
def test_rarer_patterns_are_counted_before_and_after(seed: int) -> None:
    random = Random(f"rarer {seed}")
    pair, promise = random_pair(random), random_promise(random)
    try:
        outcome = anonymize(pair, promise, search=random.choice(SEARCHES))
    except Infeasible:
        return
    scores = measure_pair(pair, outcome.recoding, promise, frequent_support=0.4)
    half = half_of(promise.min_support)
    if half is None:
        assert scores.rarer is None
        return
    assert scores.rarer is not None
    assert (scores.rarer.support, scores.rarer.kind) == (half, "all")
    rarer = HiddenPatterns(promise.growth, half, promise.every_level)
    before = tuple(rows.leaves for rows in pair.sides)
    for nodes, found in (
        (before, scores.rarer.before),
        (outcome.recoding.node_by_entry, scores.rarer.after),
    ):
        assert found is not None
        assert (found.patterns, found.jumping, found.largest) == counted(pair, nodes, rarer)


def jumping_below(work: PatternWork, promise: HiddenPatterns) -> int:
    """How many sets of one side alone have half the minimum support, and not all of it.

    At every level those aside that hold a value and what is above it, which say nothing more.
    """
    half = half_of(promise.min_support)
    if half is None:
        return 0
    pair, nodes = work.state.pair, work.state.recoding().node_by_entry
    found = patterns_of(pair, nodes, HiddenPatterns(promise.growth, half, promise.every_level))
    least = work.miner.least.tolist()
    above = {label: set(pair.hierarchy.path(label)[1:]) for label in pair.hierarchy.labels}
    return sum(
        not left.elsewhere
        and left.count < least[left.side - 1]
        and not (promise.every_level and any(above[one] & set(left.labels) for one in left.labels))
        for left in found
    )


@pytest.mark.parametrize("seed", range(100))
def test_the_guard_takes_the_step_that_leaves_fewest_jumping_sets(seed: int) -> None:
    """Of the best steps; every one is made, and all sets are counted anew in plain Python."""
    random = Random(f"guard {seed}")
    pair, promise = random_pair(random), random_promise(random)
    options = {"frequent_support": 0.3, "multilevel": False, "watch": Watch(), "threads": 1}
    work = PatternWork(pair, promise, guard=True, **options)  # type: ignore[arg-type]
    ranking = random.choice((ByGain(0.4, 0.8), ByCare(0.2)))
    patterns = work.begin()
    for _ in range(4):
        if not len(patterns):
            return
        side = int(patterns.side[0])
        moves = find_moves(work.state, patterns.pattern(0), side, every_level=work.every_level)
        if not len(moves):
            return
        given = Round(patterns, moves, scored(work, moves, patterns))
        best = ranking.several(work, given, TRIED).tolist()
        assert best[0] == ranking(work, given)
        saved = work.state.saved
        left = []
        for which in best:
            make(work, moves, which)
            left.append(jumping_below(work, promise))
            assert work.jumping_below() == left[-1]
            work.state.go_back(saved)
        assert Guarded(ranking)(work, given) == best[left.index(min(left))]
        assert work.state.saved[0][0] is saved[0][0]
        make(work, moves, random.choice(best))
        patterns = work.after_a_move(patterns)


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("seed", range(40))
def test_no_pattern_is_left_by_a_guarded_search(seed: int, search: str) -> None:
    random = Random(f"guarded {seed} {search}")
    pair, promise = random_pair(random), random_promise(random)
    watch = Watch(time_limit=random.choice((None, None, 0.0)))
    try:
        outcome = anonymize(pair, promise, search=search, guard=True, restarts=2, watch=watch)
    except (Infeasible, TimeLimit):
        top = tuple(pair.hierarchy.root[rows.leaves] for rows in pair.sides)
        assert patterns_of(pair, top, promise)
        return
    assert patterns_of(pair, outcome.recoding.node_by_entry, promise) == []


def test_of_too_many_rarer_patterns_closed_ones_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pairs, "FEW_RARER_SETS", 20)
    columns = "abcdef"
    sides = [
        Transactions.from_rows([[f"{name}={name}{value}" for name in columns] for value in values])
        for values in ((1, 1, 1, 2), (2, 2, 2, 2))
    ]
    pair = PatternPair.of_tables(sides[0], sides[1], tuple(columns), {})
    promise = HiddenPatterns(2, Fraction(3, 4))
    outcome = anonymize(pair, promise, guard=False)
    rarer = measure_pair(pair, outcome.recoding, promise, frequent_support=0.9).rarer
    assert rarer is not None
    assert rarer.kind == "closed"
    # All six columns of the three: they stand for the 63 sets of them.
    assert (rarer.before.patterns, rarer.before.jumping) == (2, 1)  # type: ignore[union-attr]
