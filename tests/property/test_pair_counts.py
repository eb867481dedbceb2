"""All pairs counted once tell what brute force counts, and find what the finder of rare sets finds."""

from __future__ import annotations

from itertools import combinations_with_replacement
from random import Random

import numpy as np
import pytest

from setveil.engines.local import LocalEngine
from setveil.kernels.itemsets import rare, together
from setveil.kernels.itemsets.together import NOT_COUNTED, count_pairs, pair_count
from setveil.model.guarantees import KmAnonymity
from setveil.release.recoding import Recoding
from tests.oracle import itemsets
from tests.oracle.worlds import World, all_cuts, random_world


def engines(world: World, monkeypatch: pytest.MonkeyPatch) -> tuple[LocalEngine, LocalEngine]:
    """Return two engines on one world: one that counts pairs, and one that has no room for it."""
    counting = LocalEngine.of(world.transactions, world.hierarchy, threads=1)
    assert len(counting.pairs)
    searching = LocalEngine.of(world.transactions, world.hierarchy, threads=1)
    with monkeypatch.context() as patched:
        patched.setattr("setveil.engines.local.count_pairs", lambda *_: NOT_COUNTED)
        assert not len(searching.pairs)
    return counting, searching


@pytest.mark.parametrize("block", range(20))
def test_matrix_answers_equal_the_finders(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """2,000 cases in all: every count by brute force, and every answer about cuts with and without."""
    for case in range(100):
        seed = 100 * block + case
        random = Random(seed)
        world = random_world(seed, most_labels=8, most_rows=20, empty=bool(case % 3))
        counting, searching = engines(world, monkeypatch)
        tree, rows = counting.hierarchy, counting.rows()
        expanded = [
            frozenset(itemsets.with_ancestors(rows.leaves[a:b].tolist(), tree.parent.tolist()))
            for a, b in zip(rows.indptr, rows.indptr[1:], strict=False)
        ]
        for one, other in combinations_with_replacement(range(len(tree)), 2):
            counted = sum(one in row and other in row for row in expanded)
            assert pair_count(counting.pairs, one, other) == counted
        cuts = list(all_cuts(tree))
        cut = random.choice(cuts)
        published = {tree.node_of_label[label] for label in cut.values()}
        recoding = Recoding.from_cut(tree, sorted(published))
        k, m = random.randint(2, 5), random.randint(1, 3)
        for limit in (None, 1, random.randint(2, 6)):
            found, wanted = (
                engine.violations(recoding, KmAnonymity(k, m), limit=limit)
                for engine in (counting, searching)
            )
            assert as_sets(found) == as_sets(wanted)
            assert found.complete == wanted.complete
        sets = np.array(
            [[a, b if a != b else -1] for a, b in combinations_with_replacement(range(len(tree)), 2)],
            dtype=np.int32,
        )
        assert np.array_equal(counting.supports(sets), searching.supports(sets))
        asked = random.sample(range(len(tree)), random.randint(1, len(tree)))
        nodes = np.array(sorted(asked), dtype=np.int32)
        assert lines(counting.threats(nodes, k, m, 0)) == lines(searching.threats(nodes, k, m, 0))
        rare_sets = searching.violations(recoding, KmAnonymity(k, m)).sets
        lifted, wanted_lifted = counting.lift(rare_sets, k), searching.lift(rare_sets, k)
        assert np.array_equal(lifted[0], wanted_lifted[0])
        assert np.array_equal(lifted[1], wanted_lifted[1])


def as_sets(found: object) -> list[tuple[list[int], int]]:
    sets, support = found.sets.tolist(), found.support.tolist()  # type: ignore[attr-defined]
    return [
        ([node for node in line if node >= 0], count) for line, count in zip(sets, support, strict=True)
    ]


def lines(sets: np.ndarray) -> list[list[int]]:
    return [[node for node in line if node >= 0] for line in sets.tolist()]


def test_threads_and_weights_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(together, "_LEAST_ROWS_PER_THREAD", 2)
    for seed in range(40):
        world = random_world(seed, most_rows=30)
        engine = LocalEngine.of(world.transactions, world.hierarchy)
        merged = engine._merged
        rows = (merged.indptr, merged.nodes, merged.weight_by_row)
        once = count_pairs(*rows, engine.hierarchy.parent, 1)
        assert np.array_equal(once, count_pairs(*rows, engine.hierarchy.parent, 3))
        heavy = count_pairs(*rows[:2], 7 * merged.weight_by_row, engine.hierarchy.parent, 2)
        assert np.array_equal(7 * once, heavy)


def test_a_budget_is_kept() -> None:
    world = random_world(3)
    engine = LocalEngine.of(world.transactions, world.hierarchy)
    merged, parent = engine._merged, engine.hierarchy.parent
    rows = (merged.indptr, merged.nodes, merged.weight_by_row)
    needed = 4 * len(parent) * (len(parent) + 1) // 2
    assert len(count_pairs(*rows, parent, 1, needed))
    assert not len(count_pairs(*rows, parent, 1, needed - 1))
    assert not len(count_pairs(*rows[:2], merged.weight_by_row * 2**31, parent, 1))
    assert rare.find_rare_pairs(NOT_COUNTED, np.empty(0, np.int32), 2, 2)[0].shape == (0, 2)
