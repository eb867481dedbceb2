"""ML2, dML2 and the survival of itemsets against brute force, on small random data."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from setveil.measure.mining import SHARES, itemset_measures, mining_losses, ml2_measures, survival
from setveil.release.recoding import BeforeAfter, Recoding
from tests.oracle import mining_loss as oracle
from tests.property.test_measures import random_case

SEEDS = range(160)
ASKED = (Fraction(1, 20), Fraction(1, 4), Fraction(2, 5), Fraction(3, 4))


@pytest.mark.parametrize("seed", SEEDS)
def test_ml2_and_dml2(seed: int) -> None:
    pair, case, _ = random_case(seed)
    expected = [oracle.ml2(case, share) for share in ASKED]
    found = mining_losses(pair, ASKED)
    assert [(loss.ml2, loss.dml2, loss.dml2_lost) for loss in found] == expected
    for loss in found:
        assert loss.dml2 == loss.ml2 * loss.dml2_lost
        assert loss.dml2_lost == 0 or loss.dml2_lost >= 1
        assert all(
            after <= before
            for after, before in zip(loss.found_by_level, loss.frequent_by_level, strict=True)
        )
    measures = {measure.name: measure.compute(pair) for measure in ml2_measures(ASKED)}
    assert [measures[f"ml2_{percent}%"] for percent in (5, 25, 40, 75)] == [e[0] for e in expected]
    assert measures["ml2"] == oracle.mean([e[0] for e in expected])
    assert measures["dml2"] == oracle.mean([e[1] for e in expected])
    assert measures["dml2_lost"] == oracle.mean([e[2] for e in expected if e[2]])


@pytest.mark.parametrize("seed", range(0, 160, 8))
def test_nothing_changed_nothing_lost(seed: int) -> None:
    pair, _, _ = random_case(seed)
    same = BeforeAfter(Recoding.identity(pair.hierarchy), pair.rows)
    for loss in mining_losses(same, SHARES):
        assert (loss.ml2, loss.dml2, loss.dml2_lost) == (0, 0, 0)
    nothing = BeforeAfter(Recoding.from_cut(pair.hierarchy, []), pair.rows)
    height = pair.hierarchy.height
    for loss in mining_losses(nothing, SHARES):
        assert loss.ml2 == 1
        assert loss.found_by_level == (0,) * (height + 1)
        assert loss.levels_up == sum(
            (height + 1 - level) * count for level, count in enumerate(loss.frequent_by_level)
        )


@pytest.mark.parametrize("seed", SEEDS)
def test_survival(seed: int) -> None:
    pair, case, _ = random_case(seed)
    for share in ASKED:
        expected = oracle.survival(case, share)
        found = {measure.name: measure.compute(pair) for measure in itemset_measures(share)}
        estimate = found.pop("item_support_error")
        assert math.isclose(estimate, expected.pop("item_support_error"), abs_tol=1e-9)
        assert found == expected


@pytest.mark.parametrize("seed", SEEDS)
def test_a_global_recoding_counts_its_labels_truly(seed: int) -> None:
    pair, _, _ = random_case(seed)
    found = survival(pair, Fraction(1, 4))
    if pair.recoding.is_global:
        assert found.label_support_error == 0
        assert found.label_recall == 1
    same = survival(BeforeAfter(Recoding.identity(pair.hierarchy), pair.rows), Fraction(1, 4))
    assert (same.itemset_recall, same.itemset_precision, same.label_recall) == (1, 1, 1)
    assert (same.label_support_error, same.item_support_error) == (0, 0)
    assert same.of_items == found.of_items
