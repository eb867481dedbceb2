"""The proven optima of real data, to six digits. Skipped where the data are not there."""

from __future__ import annotations

from functools import cache

import pytest

from setveil.engines.local import LocalEngine
from setveil.io.hierarchies import read_hierarchy
from setveil.io.transactions import read_transactions
from setveil.methods import Outcome, optimal, trim
from setveil.model.costs import make_cost
from setveil.model.guarantees import KmAnonymity
from setveil.progress import Watch
from tests.shared_data import shared_data

K = 5
GENERALIZED = {
    ("BMS-WebView-1", 1): "0.000413",
    ("BMS-WebView-1", 2): "0.074714",
    ("BMS-WebView-1", 3): "0.152247",
    ("BMS-WebView-2", 1): "0.000058",
    ("BMS-WebView-2", 2): "0.017689",
    ("BMS-WebView-2", 3): "0.034427",
    ("fruithut", 2): "0.163863",
    ("fruithut", 3): "1.000000",
}
SUPPRESSED = {
    ("BMS-WebView-1", 2): "0.020330",
    ("BMS-WebView-1", 3): "0.051181",
    ("BMS-WebView-2", 2): "0.014808",
    ("fruithut", 2): "0.047105",
    ("fruithut", 3): "0.090656",
}


@cache
def engine(name: str) -> LocalEngine:
    kind = "hierarchy.synthetic" if name.startswith("BMS") else "hierarchy"
    data = read_transactions(shared_data(f"{name}.dat.gz"))
    return LocalEngine.of(data, read_hierarchy(shared_data(f"{name}.{kind}.csv")))


def loss(outcome: Outcome, data: LocalEngine, cost_name: str) -> str:
    assert outcome.objective is not None
    assert outcome.objective.proven
    share = make_cost(cost_name, data.hierarchy).share(outcome.objective.cost, data.item_counts())
    return f"{float(share):.6f}"


@pytest.mark.parametrize(("name", "m"), GENERALIZED)
def test_generalization_alone_by_ncp(name: str, m: int) -> None:
    data = engine(name)
    cost = make_cost("ncp", data.hierarchy)
    outcome = optimal.anonymize(data, KmAnonymity(K, m), cost=cost, watch=Watch())
    assert loss(outcome, data, "ncp") == GENERALIZED[name, m]


@pytest.mark.parametrize(("name", "m"), SUPPRESSED)
def test_with_suppression_by_lm(name: str, m: int) -> None:
    data = engine(name)
    cost = make_cost("lm", data.hierarchy)
    outcome = trim.anonymize(data, KmAnonymity(K, m), cost=cost, watch=Watch())
    assert loss(outcome, data, "lm") == SUPPRESSED[name, m]
