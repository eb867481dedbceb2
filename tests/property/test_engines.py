"""The local engine gives the answers that brute force gives, to every question."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from setveil.engines.base import Violations, padded
from setveil.engines.local import LocalEngine
from setveil.errors import UsageError
from setveil.hierarchy.tree import Hierarchy
from setveil.model.guarantees import Guarantee, KAnonymity, KmAnonymity, LmDiversity
from setveil.model.transactions import bind
from setveil.release.recoding import Recoding
from setveil.search.clauses import lift, lift_by_batches
from tests.oracle.loopback import LoopbackEngine
from tests.oracle.worlds import all_cuts, random_world


def engines(seed: int) -> tuple[LocalEngine, LoopbackEngine, Random]:
    world = random_world(seed, roots=1 + (seed % 3 == 0), empty=seed % 2 == 0, most_rows=14)
    hierarchy, rows = bind(world.transactions, world.hierarchy)
    return LocalEngine(hierarchy, rows), LoopbackEngine(hierarchy, rows), Random(seed)


def a_recoding(hierarchy: Hierarchy, random: Random) -> Recoding:
    cut = random.choice(list(all_cuts(hierarchy)))
    nodes = sorted({hierarchy.node_of_label[label] for label in cut.values()})
    if random.random() < 0.3 and len(nodes) > 1:
        nodes.remove(random.choice(nodes))
    return Recoding.from_cut(hierarchy, nodes)


def as_set(found: Violations) -> set[tuple[frozenset[int], frozenset[int], int]]:
    absent = found.absent if found.absent is not None else padded([[] for _ in range(len(found))])
    return {
        (frozenset(present) - {-1}, frozenset(missing) - {-1}, support)
        for present, missing, support in zip(
            found.sets.tolist(), absent.tolist(), found.support.tolist(), strict=True
        )
    }


def guarantees(hierarchy: Hierarchy, random: Random) -> list[Guarantee]:
    secrets = random.sample(hierarchy.labels[: hierarchy.n_leaves], 1)
    return [
        KmAnonymity(random.randint(2, 4), random.randint(1, 4)),
        KmAnonymity(random.randint(2, 3), random.randint(1, 3), negative=True),
        LmDiversity(random.randint(2, 3), random.randint(1, 3), frozenset(secrets)),
    ]


@pytest.mark.parametrize("block", range(6))
def test_violations(block: int) -> None:
    for seed in range(block * 50, block * 50 + 50):
        local, loopback, random = engines(seed)
        for guarantee in guarantees(local.hierarchy, random):
            recoding = a_recoding(local.hierarchy, random)
            mine = local.violations(recoding, guarantee)
            truth = loopback.violations(recoding, guarantee)
            assert mine.complete
            assert as_set(mine) == as_set(truth)
            few = local.violations(recoding, guarantee, limit=2)
            assert as_set(few) <= as_set(truth)
            assert len(few) == min(2, len(truth))


def test_supports_and_lifting() -> None:
    for seed in range(150):
        local, loopback, random = engines(seed)
        recoding = a_recoding(local.hierarchy, random)
        found = local.violations(recoding, KmAnonymity(3, 3))
        if not len(found):
            continue
        np.testing.assert_array_equal(local.supports(found.sets), loopback.supports(found.sets))
        raised, support = lift(local, found.sets, 3)
        slow, slow_support = lift_by_batches(loopback, found.sets, 3)
        np.testing.assert_array_equal(loopback.supports(raised), support)
        np.testing.assert_array_equal(loopback.supports(slow), slow_support)
        assert (support < 3).all() and (slow_support < 3).all()
        for line in (*raised.tolist(), *slow.tolist()):
            nodes = [node for node in line if node >= 0]
            for place, node in enumerate(nodes):
                above = int(local.hierarchy.parent[node])
                if above >= 0:
                    trial = [*nodes[:place], above, *nodes[place + 1 :]]
                    assert loopback.supports(padded([trial]))[0] >= 3


def test_publish_and_counts() -> None:
    for seed in range(60):
        local, loopback, random = engines(seed)
        recoding = a_recoding(local.hierarchy, random)
        assert list(local.publish(recoding).rows()) == list(loopback.publish(recoding).rows())
        np.testing.assert_array_equal(local.item_counts(), loopback.item_counts())
        assert local.n_records == loopback.n_records


def test_whole_records_are_not_asked_here() -> None:
    local, loopback, _ = engines(1)
    for engine in (local, loopback):
        with pytest.raises(UsageError):
            engine.violations(Recoding.identity(local.hierarchy), KAnonymity(2))
    with pytest.raises(UsageError):
        loopback.rows()
