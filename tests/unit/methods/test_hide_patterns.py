"""hide-patterns: options, refusals, what it does when it is stopped, and that grouped pays."""

from __future__ import annotations

from fractions import Fraction
from random import Random

import numpy as np
import pytest

import setveil as sv
from setveil.errors import Cancelled, Infeasible, ResourceLimit, TimeLimit, UsageError
from setveil.hierarchy.tree import Hierarchy
from setveil.measure.pairs import frequent_distortion, measure_pair
from setveil.methods.hide_patterns import SEARCHES, anonymize
from setveil.methods.hide_patterns import searches as pattern_searches
from setveil.methods.hide_patterns import work as pattern_work
from setveil.methods.hide_patterns.scoring import Scores
from setveil.methods.hide_patterns.state import find_moves
from setveil.methods.hide_patterns.work import PatternWork
from setveil.model.guarantees import HiddenPatterns
from setveil.model.pattern_pair import PatternPair
from setveil.model.transactions import Transactions
from setveil.progress import Watch
from tests.oracle.pair_patterns import frequent, is_pattern

DRINKS = Hierarchy.from_parents(
    {"ale": "beer", "stout": "beer", "tea": "hot", "mate": "hot", "beer": "drink", "hot": "drink",
     "drink": None}
)  # fmt: skip


def shop(records: int = 40, seed: int = 1) -> PatternPair:
    random = Random(seed)
    sides = []
    for often in ({"ale": 0.8, "stout": 0.3, "tea": 0.1, "mate": 0.4},
                  {"ale": 0.1, "stout": 0.4, "tea": 0.7, "mate": 0.3}):  # fmt: skip
        rows = [[item for item, p in often.items() if random.random() < p] for _ in range(records)]
        sides.append(Transactions.from_rows(rows))
    return PatternPair.of_sets(sides[0], sides[1], DRINKS)


def is_clean(pair: PatternPair, promise: HiddenPatterns, nodes: tuple[np.ndarray, ...]) -> bool:
    work = PatternWork(pair, promise, frequent_support=1.0, multilevel=False, watch=Watch(), threads=1)
    for side, rows, chosen in zip(work.state.sides, pair.sides, nodes, strict=True):
        spread = np.empty_like(side.node_by_entry)
        for record, row in enumerate(side.row_of_record.tolist()):
            here = slice(rows.indptr[record], rows.indptr[record + 1])
            spread[side.indptr[row] : side.indptr[row + 1]] = chosen[here]
        side.go_back((spread, None))
    return not len(work.miner.left(Watch()))


@pytest.mark.parametrize(
    "options",
    [
        {"theta_p": 1.5},
        {"theta_q": -0.1},
        {"theta_p": float("nan")},
        {"temperature": 0.0},
        {"cooling": 1.5},
        {"frequent_support": 0.0},
        {"frequent_support": 1.5},
        {"frequent_support": float("nan")},
        {"frequent_support": float("inf")},
        {"search": "best"},
    ],
)
def test_options_out_of_range_are_refused(options: dict[str, object]) -> None:
    with pytest.raises(UsageError):
        anonymize(shop(), HiddenPatterns(3), **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("growth", [1, 0, -2, "1", "0.5", "five", float("nan"), float("inf"), True])
def test_a_growth_of_one_or_less_is_refused(growth: object) -> None:
    with pytest.raises(UsageError):
        HiddenPatterns(growth)  # type: ignore[arg-type]


@pytest.mark.parametrize("search", SEARCHES)
def test_infeasible_where_even_the_top_is_a_pattern(search: str) -> None:
    """Nine of ten records of one data set have a value, one of ten of the other."""
    full, empty = [["ale"]] * 9 + [[]], [["tea"]] + [[]] * 9
    pair = PatternPair.of_sets(Transactions.from_rows(full), Transactions.from_rows(empty), DRINKS)
    with pytest.raises(Infeasible) as raised:
        anonymize(pair, HiddenPatterns(5), search=search)
    assert raised.value.exit_code == 4
    assert "ale" not in str(raised.value)
    anonymize(pair, HiddenPatterns(10), search=search)  # the shares differ by 9 only


@pytest.mark.parametrize("search", SEARCHES)
def test_the_same_run_twice_and_with_more_threads(search: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pattern_work, "SMALL", 0)  # else so few rows are left to one thread
    pair = shop()
    runs = [
        anonymize(pair, HiddenPatterns(3), search=search, seed=7, threads=threads)
        for threads in (1, 1, 2)
    ]
    for other in runs[1:]:
        assert other.figures == runs[0].figures
        for one, two in zip(runs[0].recoding.node_by_entry, other.recoding.node_by_entry, strict=True):
            assert np.array_equal(one, two)


@pytest.mark.parametrize("seed", range(8))
def test_grouped_loses_no_more_than_greedy(seed: int) -> None:
    pair, promise = shop(60, seed), HiddenPatterns(2, Fraction(1, 20))
    found = {}
    for search in ("greedy", "grouped"):
        outcome = anonymize(pair, promise, search=search, frequent_support=0.2)
        told = frequent_distortion(pair, outcome.recoding, frequent_support=0.2)
        assert is_clean(pair, promise, outcome.recoding.node_by_entry)
        found[search] = (told.missing, told.distortion)
    assert found["grouped"] <= found["greedy"]


def test_nothing_to_hide_changes_nothing() -> None:
    rows = Transactions.from_rows([["ale", "tea"], ["stout"], ["mate"]])
    pair = PatternPair.of_sets(rows, rows, DRINKS)
    outcome = anonymize(pair, HiddenPatterns(2))
    assert outcome.figures["patterns before"] == 0
    for side, nodes in zip(pair.sides, outcome.recoding.node_by_entry, strict=True):
        assert np.array_equal(side.leaves, nodes)


def test_progress_tells_the_patterns_left_and_can_be_cancelled() -> None:
    told: list[str] = []
    anonymize(shop(), HiddenPatterns(3), watch=Watch(lambda stage, share: told.append(stage)))
    assert any("patterns" in stage and "left" in stage for stage in told)
    watch = Watch()
    watch.cancel()
    with pytest.raises(Cancelled):
        anonymize(shop(), HiddenPatterns(3), watch=watch)


@pytest.mark.parametrize("search", SEARCHES)
def test_a_time_limit_gives_a_clean_result_and_says_so(search: str) -> None:
    pair, promise = shop(), HiddenPatterns(3)
    outcome = anonymize(pair, promise, search=search, watch=Watch(time_limit=0.0))
    assert not outcome.complete
    assert is_clean(pair, promise, outcome.recoding.node_by_entry)


def test_every_level_is_stricter() -> None:
    """Ale and stout are each too rare to be a pattern; beer, read from both, is not."""
    sides = [
        Transactions.from_rows([["ale"]] * ale + [["stout"]] * stout + [["tea"]] * tea)
        for ale, stout, tea in ((5, 5, 10), (1, 1, 18))
    ]
    pair = PatternPair.of_sets(sides[0], sides[1], DRINKS)
    promise, strict = (HiddenPatterns(3, Fraction(1, 3), levels) for levels in (False, True))
    nodes = anonymize(pair, promise).recoding.node_by_entry
    assert all(
        np.array_equal(*both) for both in zip(nodes, (s.leaves for s in pair.sides), strict=True)
    )
    assert not is_clean(pair, strict, nodes)
    for search in SEARCHES:
        outcome = anonymize(pair, strict, search=search)
        assert outcome.figures["patterns before"] == 1
        assert is_clean(pair, strict, outcome.recoding.node_by_entry)


def test_multilevel_frequent_itemsets_are_kept_instead() -> None:
    pair, promise = shop(), HiddenPatterns(2)
    outcome = anonymize(pair, promise, multilevel=True, frequent_support=0.5)
    told = frequent_distortion(pair, outcome.recoding, frequent_support=0.5, multilevel=True)
    assert told.missing == outcome.figures["itemsets lost"]
    assert any(label in {"beer", "hot", "drink"} for one in told.kept for label in one.items)


def wide(columns: int, records: int = 20, seed: int = 3) -> PatternPair:
    """Tables whose columns tell them apart, each a little: sets of values abound."""
    random = Random(seed)
    sides = [
        Transactions.from_rows(
            [
                [f"c{place:02}={value if random.random() < 0.95 else 'z'}" for place in range(columns)]
                for _ in range(records)
            ]
        )
        for value in "xy"
    ]
    return PatternPair.of_tables(sides[0], sides[1], [f"c{place:02}" for place in range(columns)], {})


@pytest.mark.parametrize("search", SEARCHES)
def test_wide_tables_are_hidden_by_their_closed_sets(search: str) -> None:
    """Thirty columns have a thousand million sets; the closed ones are few."""
    pair, promise = wide(30, 6), HiddenPatterns(2)
    # Half of the values are those of either side: none is in nine of ten records.
    outcome = anonymize(pair, promise, search=search, frequent_support=0.9)
    assert outcome.complete
    assert "closed" in str(outcome.figures["patterns looked at"])
    assert is_clean(pair, promise, outcome.recoding.node_by_entry)


def test_a_wide_table_at_the_time_limit() -> None:
    pair, promise = wide(24), HiddenPatterns(2)
    outcome = anonymize(pair, promise, watch=Watch(time_limit=0.0), frequent_support=0.9)
    assert not outcome.complete
    assert is_clean(pair, promise, outcome.recoding.node_by_entry)


def test_columns_that_tell_nothing_stay_at_the_time_limit() -> None:
    """Only the tree that makes the pattern goes to the top, however many values go with it."""
    same = [f"c{place}=x" for place in range(20)]
    sides = [
        Transactions.from_rows([[*same, "d=a"]] * many + [[*same, "d=b"]] * (20 - many))
        for many in (18, 2)
    ]
    columns = [label.partition("=")[0] for label in (*same, "d=")]
    pair = PatternPair.of_tables(sides[0], sides[1], columns, {})
    outcome = anonymize(pair, HiddenPatterns(3), watch=Watch(time_limit=0.0))
    raised = sum(
        int((nodes != side.leaves).sum())
        for nodes, side in zip(outcome.recoding.node_by_entry, pair.sides, strict=True)
    )
    assert raised == 40
    assert outcome.figures["itemsets lost"] == 0


def test_a_time_limit_is_no_proof_that_there_is_no_way() -> None:
    """Everything at the top is a pattern here; the search finds a way all the same, given time."""
    tree = Hierarchy.from_parents(
        {"x": "G", "y": "G", "a": "H", "b": "H", "c": "H", "G": "R", "H": "R", "R": None}
    )
    first = Transactions.from_rows([["a"], ["b"], ["c"], ["x"], ["x"]])
    second = Transactions.from_rows([["x"], ["y"], [], [], []])
    pair, promise = PatternPair.of_sets(first, second, tree), HiddenPatterns(2, Fraction(2, 5))
    for limit in (None, 0.0):
        outcome = anonymize(pair, promise, watch=Watch(time_limit=limit))
        assert is_clean(pair, promise, outcome.recoding.node_by_entry)
    empty = Transactions.from_rows([[]] * 5)
    with pytest.raises(TimeLimit):
        anonymize(PatternPair.of_sets(first, empty, tree), promise, watch=Watch(time_limit=0.0))


def test_a_limit_while_values_are_given_back_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def late(*_: object) -> bool:
        raise TimeLimit("late")

    pair, promise = shop(), HiddenPatterns(3)
    monkeypatch.setattr(pattern_searches, "_given", late)
    outcome = anonymize(pair, promise)
    assert not outcome.complete
    assert outcome.figures["rounds"]
    assert is_clean(pair, promise, outcome.recoding.node_by_entry)


def test_too_many_frequent_sets_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pattern_work, "MOST_ITEMSETS", 0)
    with pytest.raises(ResourceLimit, match="--frequent-support"):
        anonymize(shop(), HiddenPatterns(2))


@pytest.mark.parametrize("seed", range(4))
def test_patterns_of_closed_sets_are_patterns_and_as_small_as_can_be(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    pair, promise = shop(40, seed), HiddenPatterns(2, Fraction(1, 20))
    options = {"frequent_support": 0.4, "multilevel": False, "watch": Watch(), "threads": 1}
    every = PatternWork(pair, promise, **options).miner.left(Watch())  # type: ignore[arg-type]
    known = {(frozenset(every.pattern(p).tolist()), int(every.side[p])) for p in range(len(every))}
    monkeypatch.setattr(pattern_work, "FEW_SETS", 1)
    work = PatternWork(pair, promise, **options)  # type: ignore[arg-type]
    some = work.miner.left(Watch())
    found = {(frozenset(some.pattern(p).tolist()), int(some.side[p])) for p in range(len(some))}
    assert work.miner.only_closed
    assert found <= known
    assert bool(found) == bool(known)
    for items, side in found:
        assert not any((items - {item}, side) in known for item in items if len(items) > 1)


def test_moves_are_judged_by_the_watched_patterns_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """The reduction is a share of the growth of those patterns that were looked at."""
    monkeypatch.setattr(pattern_searches, "MOST_WATCHED", 2)
    seen: list[int] = []

    def choose(work: PatternWork, given: pattern_searches.Round) -> int:
        seen.append(len(given.patterns))
        return pattern_searches.ByGain(0.4, 0.8)(work, given)

    work = PatternWork(
        shop(), HiddenPatterns(2), frequent_support=0.4, multilevel=False, watch=Watch(), threads=1
    )
    assert len(work.begin()) > 2
    pattern_searches.hide_one_by_one(work, choose)
    assert max(seen) == 2
    assert not len(work.miner.left(Watch()))


def test_jumping_patterns_come_first_unless_growth_has_no_weight() -> None:
    """One move ends a jumping pattern and loses every itemset; the others do neither."""
    work = PatternWork(
        shop(), HiddenPatterns(2), frequent_support=0.2, multilevel=False, watch=Watch(), threads=1
    )
    patterns = work.begin()
    options = (
        find_moves(work.state, patterns.pattern(p), int(patterns.side[p]), every_level=False)
        for p in range(len(patterns))
    )
    moves = next(moves for moves in options if len(moves) > 1)
    last = len(moves) - 1
    jumping = np.zeros(len(moves), dtype=np.int64)
    distance = np.zeros((len(moves), len(work.frequent)))
    jumping[last], distance[last] = 1, -1.0
    given = pattern_searches.Round(patterns, moves, Scores(jumping, np.zeros(len(moves)), distance))
    assert pattern_searches.ByGain(0.4, 0.8)(work, given) == last
    assert pattern_searches.ByGain(0.0, 0.8)(work, given) != last
    assert pattern_searches.ByCare(0.2)(work, given) != last
    hot = pattern_searches.ByChance(0.4, 0.8, 1e6, 1.0, Random(1))
    assert {hot(work, given) for _ in range(30)} == {last}
    hot = pattern_searches.ByChance(0.0, 0.8, 1e6, 1.0, Random(1))
    assert len({hot(work, given) for _ in range(60)}) > 1


def test_annealing_cools_and_the_best_run_is_kept() -> None:
    pair, promise = shop(60, 2), HiddenPatterns(2, Fraction(1, 20))
    options = {"search": "annealed", "frequent_support": 0.2}

    def loss(restarts: int) -> tuple[int, Fraction]:
        outcome = anonymize(pair, promise, restarts=restarts, **options)  # type: ignore[arg-type]
        return int(outcome.figures["itemsets lost"]), Fraction(outcome.figures["distortion"])

    losses = [loss(restarts) for restarts in (1, 2, 4, 8)]
    assert losses == sorted(losses, reverse=True)
    chance = pattern_searches.ByChance(0.4, 0.8, 10.0, 0.4, Random(1))
    work = PatternWork(pair, promise, frequent_support=0.2, multilevel=False, watch=Watch(), threads=1)
    rounds = pattern_searches.hide_one_by_one(work, chance)
    assert rounds >= 1
    assert chance.temperature == pytest.approx(10 * 0.4 ** min(rounds, 8))


def tilted(seed: int) -> PatternPair:
    """Three columns that tell the sides apart, so that hiding one set moves others."""
    random = Random(seed)
    trees = {
        name: Hierarchy.from_parents(
            {f"{name}{n}": "up" for n in (1, 2)} | {f"{name}3": "*", "up": "*", "*": None}
        )
        for name in "abc"
    }
    sides = [
        Transactions.from_rows(
            [
                [f"{name}={name}{random.choices((1, 2, 3), weights)[0]}" for name in "abc"]
                for _ in range(60)
            ]
        )
        for weights in ((6, 2, 2), (1, 3, 6))
    ]
    return PatternPair.of_tables(sides[0], sides[1], "abc", trees)


def test_rarer_sets_are_guarded_in_grouped_alone_where_nothing_is_said() -> None:
    """The paper's searches are as the paper prints them."""
    pair, promise = tilted(5), HiddenPatterns(3, Fraction(1, 5))

    def found(search: str, **options: bool) -> list[list[int]]:
        nodes = anonymize(pair, promise, search=search, **options).recoding.node_by_entry
        return [side.tolist() for side in nodes]

    for search in SEARCHES:
        plain, guarded = found(search, guard=False), found(search, guard=True)
        assert plain != guarded, search
        assert found(search) == (guarded if search == "grouped" else plain)


def jumping_after(pair: PatternPair, promise: HiddenPatterns, **options: object) -> int:
    outcome = anonymize(pair, promise, **options)  # type: ignore[arg-type]
    rarer = measure_pair(pair, outcome.recoding, promise, frequent_support=0.4).rarer
    assert rarer is not None
    assert rarer.after is not None
    return rarer.after.jumping


@pytest.mark.parametrize("search", ["greedy", "grouped"])
def test_a_guarded_search_leaves_fewer_jumping_sets(search: str) -> None:
    promise = HiddenPatterns(3, Fraction(1, 5))
    pairs = [tilted(seed) for seed in range(12)]
    left = {
        guard: sum(jumping_after(pair, promise, search=search, guard=guard) for pair in pairs)
        for guard in (False, True)
    }
    assert left[True] < left[False] / 2, left


def test_too_many_rarer_sets_are_not_guarded_and_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pattern_work, "MOST_GUARDED", 1)
    pair, promise = tilted(5), HiddenPatterns(3, Fraction(1, 5))
    outcome = anonymize(pair, promise, guard=True)
    assert outcome.figures["rarer sets"] == "too many to be looked after"
    assert any("too many to be looked after" in line for line in sv.anonymize(pair, promise).notices)
    plain = anonymize(pair, promise, guard=False)
    assert "rarer sets" not in plain.figures
    for one, other in zip(outcome.recoding.node_by_entry, plain.recoding.node_by_entry, strict=True):
        assert np.array_equal(one, other)


def test_more_is_raised_than_need_be() -> None:
    """The guide's table: two cells raised would do, one would not; the searches raise more."""
    rows = [
        [["BA", "executive"], ["MSE", "manager"], ["MSE", "manager"], ["MSE", "manager"]],
        [["BA", "manager"], ["MSE", "manager"], ["HS", "repair"], ["BA", "manager"], ["BA", "manager"]],
    ]
    above = {"BA": ("degree", "any"), "MSE": ("degree", "any"), "HS": ("any",)}

    def hides(*raised: tuple[int, int, int, str]) -> bool:
        data = [[list(row) for row in side] for side in rows]
        for side, record, column, label in raised:
            data[side][record][column] = label
        published = ([frozenset(row) for row in data[0]], [frozenset(row) for row in data[1]])
        found = frequent(published, Fraction(1, 2))
        return not any(is_pattern(published, left, Fraction(3)) for left in found)

    assert not any(
        hides((side, record, column, label))
        for side in (0, 1)
        for record, row in enumerate(rows[side])
        for column, value in enumerate(row)
        for label in above.get(value, ("*",))
    )
    assert hides((0, 1, 0, "degree"), (1, 0, 0, "degree"))
    tree = {"BA": "degree", "MSE": "degree", "HS": "any", "degree": "any", "any": None}
    sides = [
        Transactions.from_rows([[f"education={one}", f"job={two}"] for one, two in side])
        for side in rows
    ]
    trees = {"education": Hierarchy.from_parents(tree)}
    pair = PatternPair.of_tables(sides[0], sides[1], ("education", "job"), trees)
    for search in SEARCHES:
        outcome = anonymize(pair, HiddenPatterns(3, Fraction(1, 2)), search=search)
        raised = sum(
            int((nodes != side.leaves).sum())
            for nodes, side in zip(outcome.recoding.node_by_entry, pair.sides, strict=True)
        )
        assert raised > 2, search
