"""The risk curve and its kernels against brute force, on random records."""

from __future__ import annotations

from fractions import Fraction
from random import Random

import numpy as np
import pytest

from setveil.kernels.attack.match_loops import SHARE
from setveil.kernels.attack.matches import (
    AT_RISK,
    SAFE,
    UNKNOWN,
    count_rare_subsets,
    draw_known,
    draw_signed,
    mark_rare_rows,
    search_rare,
    supports_of_rows,
    supports_signed,
)
from setveil.model.transactions import Transactions
from setveil.risk.crowd import SEED, Crowd
from setveil.risk.curve import draw_items, risk_curve
from tests.oracle import risk as oracle
from tests.oracle.worlds import random_world

PLENTY = 10**9
Record = frozenset[str]


def records_of(seed: int) -> list[Record]:
    """Random records, some equal, some empty."""
    random = Random(seed)
    world = random_world(seed, most_labels=8, most_rows=14, empty=True)
    rows = [frozenset(row) for row in world.rows]
    return rows + random.choices(rows, k=random.randint(0, 8))


def crowd_of(records: list[Record]) -> tuple[Crowd, list[Record]]:
    """The crowd of records, and its rows as sets of labels."""
    crowd = Crowd.of(Transactions.from_rows(records), threads=2)
    rows = [
        frozenset(crowd.labels[item] for item in crowd.items[start:end])
        for start, end in zip(crowd.indptr[:-1], crowd.indptr[1:], strict=True)
    ]
    return crowd, rows


@pytest.mark.parametrize("seed", range(150))
def test_counted_curves_are_those_of_brute_force(seed: int) -> None:
    records = records_of(seed)
    k = 2 + seed % 4
    curve = risk_curve(Transactions.from_rows(records), k, most=5)
    assert curve.exact
    for point in curve.points:
        assert point.worst.value == oracle.worst(records, k, point.known)
        assert point.average.value == oracle.average(records, k, point.known)
        assert point.worst_unique.value == oracle.worst(records, 2, point.known)
        assert point.average_unique.value == oracle.average(records, 2, point.known)


@pytest.mark.parametrize("seed", range(60))
def test_a_curve_does_not_depend_on_the_order_nor_on_spare_labels(seed: int) -> None:
    records = records_of(seed)
    shuffled = Random(seed).sample(records, len(records))
    more = Transactions.from_rows([*shuffled, ["zz", "0"]]).take(np.arange(len(records)))
    for budget in (PLENTY, 1):
        one = risk_curve(Transactions.from_rows(records), 3, budget=budget, threads=1)
        assert risk_curve(more, 3, budget=budget, threads=2).as_dict() == one.as_dict()


@pytest.mark.parametrize("seed", range(60))
def test_estimates_hold_the_truth_or_nearly(seed: int) -> None:
    """Some of a thousand intervals must miss the truth, so what is asked of each is wider."""
    records = records_of(seed)
    k = 2 + seed % 4
    estimated = risk_curve(Transactions.from_rows(records), k, most=4, budget=1)
    for point in estimated.points:
        for name, threshold, of in (
            ("worst", k, oracle.worst),
            ("average", k, oracle.average),
            ("worst_unique", 2, oracle.worst),
            ("average_unique", 2, oracle.average),
        ):
            share = getattr(point, name)
            truth = float(of(records, threshold, point.known))
            reach = 3 * (share.high - share.low) / 2
            assert share.low - reach <= truth <= share.high + reach, (point.known, name)


@pytest.mark.parametrize("seed", range(80))
def test_kernels_find_the_rare_subsets_of_each_row(seed: int) -> None:
    records = records_of(seed)
    k = 2 + seed % 4
    crowd, rows = crowd_of(records)
    is_open = np.ones(crowd.n_rows, np.bool_)
    everybody = np.arange(crowd.n_rows, dtype=np.int32)
    state, evidence = search_rare(everybody, crowd.data, crowd.lists, k, 5, PLENTY, 1, 2)
    counted = count_rare_subsets(crowd.data, k, range(1, 6), PLENTY)
    assert len(counted) == 5
    for size, found in enumerate(counted, 1):
        alone = count_rare_subsets(crowd.data, k, range(size, size + 1), PLENTY)
        assert [(rare.tolist(), steps) for rare, steps in alone] == [(found[0].tolist(), found[1])]
        is_open, steps = mark_rare_rows(crowd.data, k, size, is_open, PLENTY)
        assert steps is not None
        for number, row in enumerate(rows):
            rare = [part for part in oracle.subsets(row, size) if oracle.matching(records, part) < k]
            if size <= len(row):
                assert found[0][number] == len(rare)
                assert state[number, size - 1] == (AT_RISK if rare else SAFE)
            least = oracle.least_known(records, row, k)
            assert bool(is_open[number]) == (least is None or least > size)
    for number, row in enumerate(rows):
        least = oracle.least_known(records, row, k)
        known = crowd.labels_of(evidence[number])
        assert len(known) == (least if least is not None and least <= 5 else 0)
        if known:
            assert row.issuperset(known)
            assert oracle.matching(records, known) < k


@pytest.mark.parametrize("seed", range(40))
def test_a_search_that_gives_up_says_so_and_says_nothing_wrong(seed: int) -> None:
    records = records_of(seed)
    crowd, rows = crowd_of(records)
    everybody = np.arange(crowd.n_rows, dtype=np.int32)
    sure, _ = search_rare(everybody, crowd.data, crowd.lists, 3, 4, PLENTY)
    is_open_after, _ = mark_rare_rows(crowd.data, 3, 2, sure[:, 0] == SAFE, PLENTY)
    rare_by_size = count_rare_subsets(crowd.data, 3, range(1, 5), PLENTY)
    assert len(rare_by_size) == 4
    for steps in (0, 3, 10, 30):
        state, _ = search_rare(everybody, crowd.data, crowd.lists, 3, 4, steps)
        assert np.all((state == sure) | (state == UNKNOWN))
        is_open, done = mark_rare_rows(crowd.data, 3, 2, sure[:, 0] == SAFE, steps)
        if done is not None:
            assert is_open.tolist() == is_open_after.tolist()
        wrong = [row for row, still in zip(rows, is_open, strict=True) if not still]
        assert all((oracle.least_known(records, row, 3) or 9) <= 2 for row in wrong)
        # One size after the other, each given a share of what is left, until one takes more.
        left, expected = 4 * SHARE * steps, []
        for size in range(1, 5):
            alone = count_rare_subsets(crowd.data, 3, range(size, size + 1), left)
            if not alone:
                break
            left -= alone[0][1]
            expected.append((alone[0][0].tolist(), alone[0][1]))
        counted = count_rare_subsets(crowd.data, 3, range(1, 5), 4 * SHARE * steps)
        assert [(rare.tolist(), taken) for rare, taken in counted] == expected
        assert all(
            rare.tolist() == sure_rare.tolist()
            for (rare, _), (sure_rare, _) in zip(counted, rare_by_size, strict=False)
        )


@pytest.mark.parametrize("seed", range(60))
def test_what_is_drawn_is_of_the_record_and_counted_right(seed: int) -> None:
    records = records_of(seed)
    crowd, rows = crowd_of(records)
    drawn = crowd.drawn(50)
    known = draw_known(drawn, crowd.data, 4, SEED)
    supports = draw_items(crowd, 4, 50).support_by_draw
    for draw, row in enumerate(drawn.tolist()):
        for size in range(1, 5):
            part = [crowd.labels[item] for item in known[draw, :size].tolist() if item >= 0]
            assert len(set(part)) == len(part) == min(size, len(rows[row]))
            assert rows[row].issuperset(part)
            assert supports[size - 1][draw] == oracle.matching(records, part)
    whole = supports_of_rows(drawn, crowd.data, crowd.lists)
    assert whole.tolist() == [oracle.matching(records, rows[row]) for row in drawn.tolist()]
    things = draw_signed(drawn, crowd.data, 4, SEED)
    counted = supports_signed(things, crowd.data, crowd.lists)
    for draw, row in enumerate(drawn.tolist()):
        present = {crowd.labels[thing] for thing in things[draw].tolist() if thing >= 0}
        absent = {crowd.labels[-2 - thing] for thing in things[draw].tolist() if thing < -1}
        assert len(present) + len(absent) == min(4, len(crowd.labels))
        assert rows[row] >= present
        assert not rows[row] & absent
        assert counted[draw] == oracle.matching(records, present, absent)


def test_draws_are_fair() -> None:
    """Each record, and each item of a record, comes up as often as the others, within the chance."""
    records = [frozenset("abcdef")] * 3 + [frozenset("ab")]
    crowd, rows = crowd_of(records)
    drawn = crowd.drawn(40_000)
    long = rows.index(frozenset("abcdef"))
    assert abs((drawn == long).mean() - 0.75) < 0.01
    known = draw_known(drawn[drawn == long], crowd.data, 6, SEED)
    for place in range(6):
        shares = np.bincount(known[:, place], minlength=6) / len(known)
        assert np.all(np.abs(shares - 1 / 6) < 0.01)


def test_signed_draws_are_half_present_and_half_absent() -> None:
    records = [frozenset("abc")] * 5 + [frozenset("def")] * 4 + [frozenset("g")]
    crowd, rows = crowd_of(records)
    drawn = np.full(20_000, rows.index(frozenset("abc")), np.int32)
    things = draw_signed(drawn, crowd.data, 2, SEED)
    assert abs((things >= 0).mean() - 0.5) < 0.01
    first = things[things[:, 0] < -1, 0]
    named = np.array([crowd.labels[-2 - thing] for thing in first.tolist()])
    # d, e and f are in four records each, g in one: a chance of 4, 4, 4 and 1 in 13
    assert abs((named == "d").mean() - 4 / 13) < 0.02
    assert abs((named == "g").mean() - 1 / 13) < 0.02


@pytest.mark.parametrize("seed", range(60))
def test_who_knows_more_singles_out_no_fewer(seed: int) -> None:
    records = records_of(seed)
    curve = risk_curve(Transactions.from_rows(records), 3, most=8)
    for name in ("worst", "average", "worst_unique", "average_unique"):
        shares = [getattr(point, name).value for point in curve.points]
        assert shares == sorted(shares)
    for point in curve.points:
        assert point.average.value <= point.worst.value
        assert point.worst_unique.value <= point.worst.value
        assert point.average_unique.value <= point.average.value
        assert isinstance(point.average.value, Fraction)
