"""`auto` takes the method it says, and returns that method's result."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from setveil.api import anonymize
from setveil.engines.local import LocalEngine
from setveil.errors import UsageError
from setveil.hierarchy.tree import Hierarchy
from setveil.io.demo import toy
from setveil.methods import Outcome, apriori, auto, optimal, trim
from setveil.model.costs import make_cost
from setveil.model.guarantees import KAnonymity, KmAnonymity
from setveil.model.transactions import Transactions
from setveil.progress import Watch

PROMISE = KmAnonymity(2, 2)
METHODS = {"aa": apriori.anonymize, "optimal": optimal.anonymize, "trim": trim.anonymize}


def engine() -> LocalEngine:
    return LocalEngine.of(*toy())


@pytest.mark.parametrize(("suppression", "key"), [(True, "trim"), (False, "optimal")])
def test_choice(suppression: bool, key: str) -> None:
    choice = auto.choose(engine().hierarchy, suppression=suppression)
    assert choice.key == key
    assert choice.why


@pytest.mark.parametrize(("suppression", "key"), [(True, "trim"), (False, "optimal")])
def test_result_is_the_methods_own(suppression: bool, key: str) -> None:
    data = engine()
    cost = make_cost("lm", data.hierarchy)
    mine = auto.anonymize(data, PROMISE, cost=cost, watch=Watch(), suppression=suppression)
    own: Outcome = METHODS[key](data, PROMISE, cost=cost, watch=Watch())  # type: ignore[operator]
    assert mine.figures["chosen"] == key
    assert mine.objective == own.objective
    assert mine.recoding.cut().tolist() == own.recoding.cut().tolist()


@pytest.mark.parametrize(("suppression", "key"), [(True, "trim"), (False, "optimal")])
def test_costs_beyond_the_solvers_numbers_keep_a_proof(suppression: bool, key: str) -> None:
    data, tree = toy()
    weights = {"a1": Fraction(999_999_999_999, 10**6), "a2": Fraction(1, 10**6)}
    rows = [row for row in data.rows() for _ in range(3_000)]
    release = anonymize(
        Transactions.from_rows(rows),
        KmAnonymity(3_001, 2),
        hierarchy=tree,
        weights=weights,
        suppression=suppression,
    )
    assert release.method == key
    assert release.objective is not None
    assert release.objective.proven
    assert release.objective.certified


def test_patience_ends_with_a_valid_release_and_a_word(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(auto, "PATIENT_SECONDS", 1e-9)
    monkeypatch.setattr(
        trim.Search,
        "seed",
        lambda self: self.offer(self.model.chosen(np.array(self.model.hierarchy.roots))),
    )
    data, tree = toy()
    release = anonymize(data, PROMISE, hierarchy=tree)
    assert list(release.published.rows()) == [("ALL",)] * 4
    assert any("--time-limit gives it more" in notice for notice in release.notices)


def test_without_a_hierarchy_it_suppresses_and_says_so() -> None:
    rows = [["a", "b"], ["a", "b"], ["a", "c"]]
    release = anonymize(Transactions.from_rows(rows), PROMISE)
    assert release.method == "trim"
    assert list(release.published.rows()) == [("a",), ("a", "b"), ("a", "b")]
    assert any("no hierarchy" in notice for notice in release.notices)
    assert any("hierarchy build" in notice for notice in release.notices)


def test_other_guarantees_are_refused() -> None:
    data = engine()
    cost = make_cost("ncp", data.hierarchy)
    for guarantee in (KAnonymity(2), KmAnonymity(2, 2, negative=True)):
        with pytest.raises(UsageError):
            auto.anonymize(data, guarantee, cost=cost, watch=Watch())


def test_the_default_is_auto() -> None:
    tree = Hierarchy.from_parents({"a": "T", "b": "T", "T": None})
    release = anonymize(Transactions.from_rows([["a"], ["a"], ["b"]]), PROMISE, hierarchy=tree)
    assert any(notice.startswith("auto chose trim") for notice in release.notices)
