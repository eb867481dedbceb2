"""What every method must keep: found through the registry, with a floor on the number of checks.

A method that is not held to a property says why in its record (`MethodRecord.exempt`).
"""

from __future__ import annotations

import inspect
import json
import os
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import setveil as sv
from setveil.engines.local import LocalEngine
from setveil.errors import Cancelled, DataError, Infeasible
from setveil.model.costs import make_cost
from setveil.registry import ALL_METHODS
from tests.contract.cases import (
    ALL_CASES,
    CASES,
    PARENTS,
    Case,
    SetsCase,
    ancestors,
    digest,
    public_bytes,
    published,
)

ROOT = Path(__file__).resolve().parents[2]
Property = Callable[[Any, Path], None]


def oracle_and_audit_confirm_the_folder(case: Case, folder: Path) -> None:
    for seed in (1, 2, 3):
        rows = case.rows(seed)
        release = case.release(rows)
        place = folder / str(seed)
        publication = sv.publish(release, place, allow_useless=True)
        assert publication.verdict.holds
        assert case.is_kept(place, release.guarantee, rows)
        assert sv.audit(place).holds
        assert sv.audit(release).holds


def what_is_published_is_true(case: Case, folder: Path) -> None:
    for seed in (1, 2):
        rows = case.rows(seed)
        release = case.release(rows)
        sv.publish(release, folder / str(seed), allow_useless=True)
        assert case.is_true(folder / str(seed), release, rows)


def inputs_stay_as_they_were(case: Case, folder: Path) -> None:
    del folder
    data = case.data(case.rows())
    own = case.own()
    trees = [one for one in own.values() if isinstance(one, sv.Hierarchy)]
    before = case.as_arrays(data), [(tree.parent.copy().tolist(), tree.labels) for tree in trees]
    sv.anonymize(data, case.guarantee(), method=case.record.key, **own)
    assert before == (case.as_arrays(data), [(tree.parent.tolist(), tree.labels) for tree in trees])


def row_order_does_not_matter(case: Case, folder: Path) -> None:
    rows = case.rows()
    half = len(rows) // 2 if case.record.kind == "pairs" else len(rows)
    parts = [[list(row) for row in rows[:half]], [list(row) for row in rows[half:]]]
    draw = random.Random(5)
    for part in parts:
        draw.shuffle(part)
    sv.publish(case.release(rows), folder / "one", allow_useless=True)
    sv.publish(case.release([*parts[0], *parts[1]]), folder / "other", allow_useless=True)
    assert public_bytes(folder / "one") == public_bytes(folder / "other")


def anonymous_data_pass_unchanged(case: Case, folder: Path) -> None:
    if case.record.kind == "pairs":
        rows = [["a1", "b1"], ["a2"], ["c"]] * 8
        assert case.release(rows).raised == 0
        return
    first = case.release(case.rows())
    sv.publish(first, folder / "first", allow_useless=True)
    rows = [list(row) for row in published(folder / "first")]
    lines = (folder / "first" / "hierarchy.csv").read_text().splitlines()
    tree = sv.Hierarchy.from_paths([line.split(";") for line in lines])
    second = case.release(rows, hierarchy=tree)
    assert list(second.published.rows()) == list(first.published.rows())
    assert second.losses == {"ncp": 0, "lm": 0}


def no_records_are_refused(case: Case, folder: Path) -> None:
    del folder
    for rows in ([], [[], []]) if case.record.kind == "sets" else ([],):
        with pytest.raises(sv.SetveilError) as caught:
            case.release(rows)
        assert isinstance(caught.value, DataError) or caught.value.exit_code == 2


def what_cannot_be_kept_is_infeasible(case: Case, folder: Path) -> None:
    del folder
    impossible: dict[str, list[list[str]]] = {
        "lm": [["ale", "HIV"]],
        "l": [["30", "F", "flu"]] * 4,
        "matching": [["30", "M", "flu"]] * 4,
        "patterns": [["a1"]] * 4 + [[]] * 4,
    }
    with pytest.raises(Infeasible):
        case.release(impossible.get(case.model, [["ale", "red"]]))


def cancelling_works_at_any_tick(case: Case, folder: Path) -> None:
    del folder
    completed = False
    for patience in (1, 2, 3, 5, 8, 13, 21, 200_000):
        ticks = 0
        watch = sv.Watch()

        def listen(stage: str, share: float | None) -> None:
            nonlocal ticks
            ticks += 1
            assert stage
            assert share is None or 0 <= share <= 1
            if ticks >= patience:  # noqa: B023 - called before the loop goes on
                watch.cancel()  # noqa: B023

        watch.listener = listen
        try:
            case.release(case.rows(), watch=watch)
            completed = True
        except Cancelled:
            assert patience < 200_000
    assert completed
    stopped = sv.Watch()
    stopped.cancel()
    with pytest.raises(Cancelled):
        case.release(case.rows(), watch=stopped)


def no_record_id_leaves(case: Case, folder: Path) -> None:
    data = case.read_with_ids(case.rows(), folder)
    release = sv.anonymize(data, case.guarantee(), method=case.record.key, **case.own())
    sv.publish(release, folder / "release", allow_useless=True)
    whole = b"".join(public_bytes(folder / "release").values())
    assert b"person-" not in whole
    if case.record.kind == "sets" and release.published.length_by_record.all():
        # A long layout has no line for an empty record.
        assert [line for line in whole.splitlines() if line.startswith(b"%d," % release.records)]


def options_are_declared_and_taken(case: Case, folder: Path) -> None:
    del folder
    known = {option.name: option for option in case.record.options}
    parameters = inspect.signature(case.record.load()).parameters
    for name, option in known.items():
        assert option.help
        for value in option.allowed:
            assert option.checked(value) == value
        if name in parameters:
            assert parameters[name].kind is inspect.Parameter.KEYWORD_ONLY
            assert parameters[name].default == option.default
    usual = {
        name: option.default
        for name, option in known.items()
        if option.default is not None and option.goes_with is None and name not in case.options
    }
    case.release(case.rows(), **usual)
    with pytest.raises(sv.SetveilError) as caught:
        case.release(case.rows(), no_such_option=1)
    assert caught.value.exit_code == 2


def other_guarantees_are_refused(case: Case, folder: Path) -> None:
    del folder
    for other in ALL_CASES:
        if other.model not in case.record.guarantees:
            with pytest.raises(sv.SetveilError) as caught:
                case.release(case.rows(), guarantee=other.guarantee())
            assert caught.value.exit_code == 2


def too_few_records_are_infeasible(case: SetsCase, folder: Path) -> None:
    del folder
    if case.model == "lm":
        rows = [["ale", "HIV"], ["ale", "flu"], ["red", "HIV"]]
    else:
        rows = case.rows(records=6)
    guarantee = case.guarantee(k=7)
    with pytest.raises(Infeasible):
        case.release(rows, guarantee=guarantee)
    tree = sv.Hierarchy.from_parents(
        {label: None if label in ("HIV", "flu") else above for label, above in PARENTS.items()}
    )
    engine = LocalEngine.of(sv.Transactions.from_rows(rows), tree)
    with pytest.raises(Infeasible):
        case.record.load()(engine, guarantee, cost=make_cost("ncp", engine.hierarchy), watch=sv.Watch())


def m_above_the_longest_works(case: SetsCase, folder: Path) -> None:
    guarantee = case.guarantee(m=9)
    release = case.release(case.rows(), guarantee=guarantee)
    publication = sv.publish(release, folder / "release", allow_useless=True)
    assert publication.verdict.holds
    known = "p" if case.model == "coherence" else "m"
    assert getattr(publication.verdict.guarantee, known) == 9
    assert case.kept_by(published(folder / "release"), guarantee)


def losses_are_those_of_the_published_rows(case: SetsCase, folder: Path) -> None:
    del folder
    rows = case.rows()
    release = case.release(rows)
    data = sv.Transactions.from_rows(rows)
    assert dict(sv.measure(release, data, measures=("ncp", "lm"))) == release.losses
    assert all(0 <= loss <= 1 for loss in release.losses.values())
    assert release.objective is not None
    assert release.objective.value == release.losses["ncp"]
    assert release.objective.proven == (case.record.exact and release.complete)


def options_are_those_of_the_function(case: SetsCase, folder: Path) -> None:
    del folder
    parameters = inspect.signature(case.record.load()).parameters
    internal = {"engine", "guarantee", "cost", "watch", "threads", "listener", "pool", "seed"}
    assert set(parameters) - internal == {option.name for option in case.record.options}
    assert ("threads" in parameters) == case.record.takes_threads


def no_two_labels_cover_the_same_item(case: SetsCase, folder: Path) -> None:
    sv.publish(case.release(case.rows()), folder / "release", allow_useless=True)
    shown = {label for row in published(folder / "release") for label in row}
    assert not any(other in ancestors(label)[1:] for label in shown for other in shown)


def names_of_suppressed_items_stay_private(case: SetsCase, folder: Path) -> None:
    release = case.release(case.rows(records=12))
    sv.publish(release, folder / "release", allow_useless=True)
    recoding = json.loads((folder / "release.private" / "recoding.json").read_bytes())
    certificate = json.loads((folder / "release" / "certificate.json").read_bytes())
    left_out = set(recoding.get("suppressed", ()))
    lines = (folder / "release" / "hierarchy.csv").read_text().splitlines()
    assert not left_out & {cell for line in lines for cell in line.split(";")}
    assert not left_out & {label for row in published(folder / "release") for label in row}
    assert len(left_out) == release.suppressed_items
    assert ("suppressed" in certificate) == bool(left_out)
    if left_out:
        told = certificate["suppressed"]
        assert told["items"] == ("<3" if len(left_out) < 3 else len(left_out))
        assert told["records"] == ("<3" if release.dropped else 0)
        empty = sum(not row for row in published(folder / "release"))
        assert empty == 0 or empty >= 3


def weights_and_costs_are_accepted(case: SetsCase, folder: Path) -> None:
    del folder
    release = case.release(case.rows(), cost="lm", weights={"ale": 5, "oil": 0})
    assert case.kept_by(list(release.published.rows()), release.guarantee)


def weights_and_costs_are_refused(case: Case, folder: Path) -> None:
    del folder
    for asked in ({"cost": "lm"}, {"weights": {"ale": 5}}):
        with pytest.raises(sv.SetveilError) as caught:
            case.release(case.rows(), **asked)
        assert caught.value.problems[0].code == "option-does-not-fit"


def threads_do_not_matter(case: Case, folder: Path) -> None:
    for threads in (1, 2):
        release = case.release(case.rows(), threads=threads)
        sv.publish(release, folder / str(threads), allow_useless=True)
    assert public_bytes(folder / "1") == public_bytes(folder / "2")


PROPERTIES: tuple[Property, ...] = (
    oracle_and_audit_confirm_the_folder,
    what_is_published_is_true,
    inputs_stay_as_they_were,
    row_order_does_not_matter,
    anonymous_data_pass_unchanged,
    no_records_are_refused,
    what_cannot_be_kept_is_infeasible,
    cancelling_works_at_any_tick,
    no_record_id_leaves,
    options_are_declared_and_taken,
    other_guarantees_are_refused,
)
"""What methods of all kinds keep."""

PROPERTIES_OF_KIND: dict[str, tuple[Property, ...]] = {
    "sets": (
        too_few_records_are_infeasible,
        m_above_the_longest_works,
        losses_are_those_of_the_published_rows,
        options_are_those_of_the_function,
        no_two_labels_cover_the_same_item,
        names_of_suppressed_items_stay_private,
        weights_and_costs_are_accepted,
    ),
    "buckets": (weights_and_costs_are_refused,),
    "pairs": (weights_and_costs_are_refused, threads_do_not_matter),
}
CHECKS = [
    (keeps, case)
    for case in ALL_CASES
    for keeps in (*PROPERTIES, *PROPERTIES_OF_KIND[case.record.kind])
    if keeps.__name__ not in case.record.exempt
]
FLOOR = 280


@pytest.mark.parametrize(
    ("keeps", "case"), CHECKS, ids=[f"{keeps.__name__}-{case.name}" for keeps, case in CHECKS]
)
def test_method_keeps(keeps: Property, case: Case, tmp_path: Path) -> None:
    keeps(case, tmp_path)


def test_there_are_enough_checks() -> None:
    assert len(ALL_METHODS) >= 15
    assert len(CHECKS) >= FLOOR
    assert {model for record in ALL_METHODS for model in record.guarantees} == {
        case.model for case in ALL_CASES
    }
    assert {case.record.key for case in ALL_CASES} == {record.key for record in ALL_METHODS}


def test_exemptions_name_a_property_and_give_a_reason() -> None:
    for record in ALL_METHODS:
        names = {keeps.__name__ for keeps in (*PROPERTIES, *PROPERTIES_OF_KIND[record.kind])}
        assert set(record.exempt) <= names
        assert all(len(reason) > 20 for reason in record.exempt.values())
        assert len(record.exempt) <= 3


@pytest.mark.parametrize(("hash_seed", "threads", "shift"), [("0", 1, 0), ("77", 2, 11)])
def test_same_bytes_whatever_the_process(
    hash_seed: str, threads: int, shift: int, tmp_path: Path
) -> None:
    environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
    command = [sys.executable, "-m", "tests.contract.digests", str(threads), str(shift)]
    run = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
    found = json.loads(run.stdout)
    for case in CASES:
        sv.publish(case.release(case.rows()), tmp_path / case.name, allow_useless=True)
        assert found[case.name] == digest(public_bytes(tmp_path / case.name)), case.name


@pytest.mark.parametrize("seed", range(12))
def test_optimal_is_at_most_every_other_global_method(seed: int) -> None:
    for k, m in ((2, 1), (3, 2), (4, 3)):
        lost = {}
        for case in CASES:
            generalizes = case.record.recoding == "global" and not case.record.suppresses
            if case.model == "km" and generalizes:
                release = case.release(case.rows(seed), guarantee=sv.KmAnonymity(k, m))
                lost[case.record.key] = release.losses["ncp"]
        assert len(lost) >= 5
        assert all(lost["optimal"] <= other for other in lost.values()), lost
        assert lost["optimal"] == lost["oa"]
