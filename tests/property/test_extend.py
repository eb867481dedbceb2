"""Unions of a release and new records, against what one recoding of all records by hand gives."""

from __future__ import annotations

import pytest

import setveil as sv
from setveil.errors import Infeasible
from setveil.extend import apply
from tests.oracle import promises
from tests.oracle.worlds import random_world
from tests.unit.test_extend import by_hand, loss, mapping

METHODS = ("trim", "mm", "aa", "mhghs")


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("start", range(0, 40, 10))
def test_random_unions(method: str, start: int) -> None:
    unions = 0
    for seed in range(start, start + 10):
        old = random_world(seed, most_rows=20, empty=seed % 3 == 0)
        new = random_world(seed + 5000, most_labels=9, most_rows=6, empty=seed % 2 == 0)
        k, m = 2 + seed % 3, 1 + seed % 3
        if len(old.rows) < k:
            continue
        try:
            release = sv.anonymize(
                old.transactions, sv.KmAnonymity(k, m), hierarchy=old.hierarchy, method=method
            )
        except Infeasible:
            continue
        union = apply(release, new.transactions, unseen="suppress")
        expected, dropped = by_hand(old.rows + new.rows, mapping(release), k)
        assert union.holds == promises.is_km_anonymous(expected, k, m)
        unions += 1
        if union.release is not None:
            assert list(union.release.published.rows()) == expected
            assert len(union.release.dropped) == dropped
            assert union.release.losses["ncp"] == loss(union.release, old.rows + new.rows)
    assert unions > 3
