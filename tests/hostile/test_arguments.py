"""Wrong arguments in Python: whatever is given, the answer is a result or an error of our own.

Every public function and every promise, each argument in turn, all that can be wrong with it.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import setveil as sv
from setveil.errors import DataError, InternalError, SetveilError, UsageError
from setveil.run.work import Job

WRONG: tuple[Any, ...] = (
    None, True, -1, 0, 3, 10**30, 1.5, float("nan"), float("inf"), "", "x", "\ud800", "a\0b", b"x",
    [], [None], ["x", "x"], [[]], {}, {"x": 1}, {None: None}, set(), object(), Fraction(1, 3),
)  # fmt: skip

PATIENTS = "age,sex,disease\n20,F,flu\n30,M,cold\n20,F,cold\n30,M,flu\n20,M,gout\n30,F,gout\n"
TREE = {"ale": "alcohol", "wine": "alcohol", "alcohol": "ALL", "milk": "ALL", "ALL": None}
KM = sv.KmAnonymity(2, 2)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("arguments")
    (folder / "a.csv").write_text("ale,milk\nwine,milk\nmilk\nale\nwine\n")
    (folder / "h.csv").write_text("ale;alcohol;ALL\nwine;alcohol;ALL\nmilk;ALL;ALL\n")
    (folder / "p.csv").write_text(PATIENTS)
    sv.publish(anonymized(), folder / "out")
    return folder


def baskets() -> sv.Transactions:
    return sv.Transactions.from_rows([["ale", "milk"], ["wine", "milk"], ["milk"], ["ale"], ["wine"]])


def tree() -> sv.Hierarchy:
    return sv.Hierarchy.from_parents(TREE)


def anonymized() -> sv.Release:
    return sv.anonymize(baskets(), KM, hierarchy=tree())


def good(place: Path) -> dict[str, dict[str, Any]]:
    """Return arguments with which each function works."""
    release = anonymized()
    return {
        "anonymize": {"data": baskets(), "guarantee": KM, "hierarchy": tree()},
        "apply": {"release": release, "data": baskets(), "hierarchy": tree()},
        "audit": {"target": release},
        "compare": {"data": baskets(), "guarantee": KM, "hierarchy": tree(), "methods": ["aa", "vpa"]},
        "explain": {"release": release, "label": "milk", "original": baskets()},
        "from_frame": {"frame": release.to_arrow()},
        "measure": {"release": release, "original": baskets()},
        "publish": {"release": release, "path": place / "new", "force": True},
        "read_hierarchy": {"path": place / "h.csv"},
        "read_microdata": {"path": place / "p.csv", "quasi": ["age", "sex"], "sensitive": "disease"},
        "read_pattern_pair": {"first": place / "p.csv", "class_column": "sex"},
        "read_records": {"path": place / "p.csv", "set_columns": {"disease": " "}, "keep": ["sex"]},
        "read_release": {"path": place / "out", "original": baskets()},
        "read_transactions": {"path": place / "a.csv", "layout": "baskets"},
        "report": {"target": place / "out", "original": baskets(), "force": True},
        "risk": {"target": release},
        "sweep": {"data": baskets(), "hierarchy": tree(), "ks": 2, "ms": 1},
        "to_arrow": {"transactions": baskets()},
        "Coherence": {"h": 50, "k": 2, "p": 1, "private": ["ale"]},
        "HiddenPatterns": {"growth": 3, "min_support": 0.5},
        "KAnonymity": {"k": 2},
        "KmAnonymity": {"k": 2, "m": 2},
        "LDiversity": {"l": 2},
        "LmDiversity": {"l": 2, "m": 1, "sensitive": ["ale"]},
        "MatchingDiversity": {"l": 2},
        "Transactions.from_rows": {"rows": [["ale"]]},
        "Hierarchy.from_parents": {"parent_of_label": TREE},
        "Hierarchy.from_paths": {"paths": [["ale", "ALL"], ["milk", "ALL"]]},
    }


VALUES = ("Assessment", "BucketFinding", "BucketRelease", "BucketScores", "Comparison",
          "Explanation", "Extension", "Hierarchy", "Job", "Layout", "Microdata", "NegativeRule",
          "PairExtension", "PairFinding", "PairRelease", "PairScores", "PatternPair",
          "Publication", "QueryFile", "Records", "Release", "Scores", "SetveilError", "Sweep",
          "TableRisk", "Transactions", "Verdict", "Watch", "__version__")  # fmt: skip
"""Public names without a row of their own: what others return, or what is run by others."""


def function(name: str) -> Callable[..., Any]:
    owner, _, method = name.partition(".")
    found = getattr(sv, owner)
    if inspect.ismodule(found):
        found = getattr(importlib.import_module(sv._VERB_MODULES[owner]), owner)
    return getattr(found, method) if method else found


NAMES = (
    "anonymize", "apply", "audit", "compare", "explain", "from_frame", "measure", "publish",
    "read_hierarchy", "read_microdata", "read_pattern_pair", "read_records", "read_release",
    "read_transactions", "report", "risk", "sweep", "to_arrow", "Coherence", "HiddenPatterns",
    "KAnonymity", "KmAnonymity", "LDiversity", "LmDiversity", "MatchingDiversity",
    "Transactions.from_rows", "Hierarchy.from_parents", "Hierarchy.from_paths",
)  # fmt: skip


def raised(call: Callable[..., Any], arguments: dict[str, Any]) -> Exception | None:
    try:
        call(**arguments)
    except Exception as error:
        return error
    return None


@pytest.mark.parametrize("name", NAMES)
def test_whatever_is_given_is_answered(name: str, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(place)
    call, arguments = function(name), good(place)[name]
    call(**arguments)
    refused = 0
    for parameter in inspect.signature(call).parameters.values():
        if parameter.kind is parameter.VAR_KEYWORD:
            continue
        for value in WRONG:
            error = raised(call, {**arguments, parameter.name: value})
            told = f"{name}({parameter.name}={value!r}): {error!r}"
            refused += error is not None
            assert error is None or isinstance(error, SetveilError), told
            assert not isinstance(error, InternalError), told
            assert error is None or all(problem.remedy for problem in error.problems), told
    assert refused >= 10


def test_every_public_name_has_a_row(place: Path) -> None:
    assert sorted(good(place)) == sorted(NAMES)
    assert {name.partition(".")[0] for name in NAMES} | set(VALUES) == set(sv.__all__)


LOOK_ALIKE = [["caf\u00e9"], ["cafe\u0301"]]

TOLD: list[tuple[str, Callable[[], object], type[SetveilError], str]] = [
    ("negative", lambda: sv.KmAnonymity(2, 2, negative="x"), UsageError, "Give True or False"),  # type: ignore[arg-type]
    ("sensitive", lambda: sv.LmDiversity(2, 1, "beer"), UsageError, "a set of labels (got str)"),  # type: ignore[arg-type]
    ("sensitive-none", lambda: sv.LmDiversity(2, 1, [None]), UsageError, "a set of labels"),  # type: ignore[arg-type, list-item]
    ("private", lambda: sv.Coherence(50, 2, 1, "beer"), UsageError, "a set of labels"),  # type: ignore[arg-type]
    ("rows", lambda: sv.Transactions.from_rows("bc"), UsageError, "Give for example [["),
    ("row", lambda: sv.Transactions.from_rows(["bc"]), UsageError, "row 1 must be a list of labels"),
    ("label", lambda: sv.Transactions.from_rows([["a"], [None]]), UsageError, "row 2 must be"),  # type: ignore[list-item]
    ("number", lambda: sv.Transactions.from_rows([[7]]), UsageError, "a label of type int"),  # type: ignore[list-item]
    ("empty", lambda: sv.Transactions.from_rows([["a", ""]]), DataError, "error[empty-item]"),
    ("surrogate", lambda: sv.Transactions.from_rows([["\ud800"]]), DataError, "error[lone-surrogate]"),
    ("twins", lambda: sv.Transactions.from_rows(LOOK_ALIKE), DataError, "error[two-spellings]"),
    ("columns", lambda: sv.read_records("a", set_columns=["age"]), UsageError, "a dictionary from"),  # type: ignore[arg-type]
    ("force", lambda: sv.publish(anonymized(), "out", force="no"), UsageError, "True or False"),  # type: ignore[arg-type]
    ("letters", lambda: sv.read_records("a", set_columns={"b": " "}, keep="sex"), UsageError,
     "Give keep=['sex']"),
    ("tree", lambda: sv.Hierarchy.from_parents({"a": None, None: "a"}), UsageError,
     "from text to text or None (got dict of NoneType, str)"),  # type: ignore[dict-item]
    ("job", lambda: Job(KM, weights=5).prepare(baskets(), tree()), UsageError, "weights"),  # type: ignore[arg-type]
]  # fmt: skip


@pytest.mark.parametrize(("call", "error", "text"), [row[1:] for row in TOLD], ids=[r[0] for r in TOLD])
def test_what_is_told(call: Callable[[], object], error: type[SetveilError], text: str) -> None:
    with pytest.raises(error) as caught:
        call()
    assert text in caught.value.text()
    assert all(problem.remedy for problem in caught.value.problems)


def test_records_cannot_be_written_to() -> None:
    plain = np.array([0, 1, 2], dtype=np.int64)
    made = sv.Transactions(baskets().vocabulary, plain, np.array([0, 1], dtype=np.int32))
    for array in (made.indptr, made.items, baskets().indptr, baskets().take(np.array([0])).items):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    plain[0] = 0  # the caller's own array stays as it was
