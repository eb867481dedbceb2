"""What every method must keep: found through the registry, with a floor on the number of checks."""

from __future__ import annotations

import inspect
import json
import os
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import setveil as sv
from setveil.engines.local import LocalEngine
from setveil.errors import Cancelled, DataError, Infeasible
from setveil.model.costs import make_cost
from setveil.registry import METHODS
from tests.contract.cases import CASES, PARENTS, Case, digest, public_bytes

ROOT = Path(__file__).resolve().parents[2]
Property = Callable[[Case, Path], None]


def published(folder: Path) -> list[tuple[str, ...]]:
    """Return the rows as they lie in the folder, read by the audit's own reader."""
    from setveil.audit import read_release

    read = read_release(folder).published
    return [
        tuple(read.labels[code] for code in read.items[start:end])
        for start, end in zip(read.indptr[:-1], read.indptr[1:], strict=True)
    ]


def ancestors(label: str) -> list[str]:
    """Return the label and those above it, nearest first."""
    found = [label]
    while (above := PARENTS.get(found[-1])) is not None:
        found.append(above)
    return found


def oracle_and_audit_confirm_the_folder(case: Case, folder: Path) -> None:
    for seed in (1, 2, 3):
        release = case.release(case.rows(seed))
        place = folder / str(seed)
        publication = sv.publish(release, place, allow_useless=True)
        assert publication.verdict.holds
        assert case.kept_by(published(place), release.guarantee)
        assert sv.audit(place).holds
        assert sv.audit(release).holds
        assert len(published(place)) == 40 - len(release.dropped)
        assert len(release.dropped) < 3
        assert case.record.suppresses or not release.suppressed_items


def inputs_stay_as_they_were(case: Case, folder: Path) -> None:
    del folder
    data, tree = sv.Transactions.from_rows(case.rows()), case.hierarchy()
    before = (data.items.copy(), data.indptr.copy(), tree.parent.copy(), tree.labels)
    sv.anonymize(data, case.guarantee(), hierarchy=tree, method=case.record.key)
    assert np.array_equal(before[0], data.items)
    assert np.array_equal(before[1], data.indptr)
    assert np.array_equal(before[2], tree.parent)
    assert before[3] == tree.labels


def row_order_does_not_matter(case: Case, folder: Path) -> None:
    rows = case.rows()
    shuffled = [list(reversed(row)) for row in rows]
    random.Random(5).shuffle(shuffled)
    sv.publish(case.release(rows), folder / "one", allow_useless=True)
    sv.publish(case.release(shuffled), folder / "other", allow_useless=True)
    assert public_bytes(folder / "one") == public_bytes(folder / "other")


def every_label_covers_its_original(case: Case, folder: Path) -> None:
    rows = case.rows()
    sv.publish(case.release(rows), folder / "release", allow_useless=True)
    recoding = json.loads((folder / "release.private" / "recoding.json").read_bytes())
    expected: Counter[tuple[str, ...]] = Counter()
    for number, row in enumerate(sorted(tuple(sorted(row)) for row in rows)):
        if recoding["recoding"] == "global":
            left_out = set(recoding["suppressed"])
            assert case.record.suppresses or not left_out
            labels = {item: recoding["published"][item] for item in row if item not in left_out}
            if number in recoding["dropped_records"]:
                assert not labels
                continue
        else:
            cut = set(recoding["published_by_group"][recoding["group_of_record"][number]])
            labels = {item: next(label for label in ancestors(item) if label in cut) for item in row}
        assert all(label in ancestors(item) for item, label in labels.items())
        expected[tuple(sorted(set(labels.values())))] += 1
    assert expected == Counter(published(folder / "release"))
    if case.model in ("lm", "coherence"):
        shown = {label for row in published(folder / "release") for label in row}
        assert {"HIV", "flu"} <= shown


def anonymous_data_pass_unchanged(case: Case, folder: Path) -> None:
    if not case.record.idempotent:
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
    for rows in ([], [[], []]):
        with pytest.raises(DataError):
            case.release(rows)


def one_record_is_infeasible(case: Case, folder: Path) -> None:
    del folder
    with pytest.raises(Infeasible):
        case.release([["ale", "HIV"] if case.model == "lm" else ["ale", "red"]])


def too_few_records_are_infeasible(case: Case, folder: Path) -> None:
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


def m_above_the_longest_works(case: Case, folder: Path) -> None:
    if case.model == "k":
        return
    guarantee = case.guarantee(m=9)
    release = case.release(case.rows(), guarantee=guarantee)
    publication = sv.publish(release, folder / "release", allow_useless=True)
    assert publication.verdict.holds
    known = "p" if case.model == "coherence" else "m"
    assert getattr(publication.verdict.guarantee, known) == 9
    assert case.kept_by(published(folder / "release"), guarantee)


def no_record_id_leaves(case: Case, folder: Path) -> None:
    rows = case.rows()
    lines = [f"person-{41 * n + 7:05d}X,{item}" for n, row in enumerate(rows) for item in row]
    (folder / "long.csv").write_text("who,what\n" + "\n".join(lines) + "\n")
    data = sv.read_transactions(folder / "long.csv", layout="long", id_column="who", item_column="what")
    release = sv.anonymize(data, case.guarantee(), hierarchy=case.hierarchy(), method=case.record.key)
    sv.publish(release, folder / "release", allow_useless=True)
    whole = b"".join(public_bytes(folder / "release").values())
    assert b"person-" not in whole
    if release.published.length_by_record.all():  # a long layout has no line for an empty record
        assert [line for line in whole.splitlines() if line.startswith(b"%d," % release.records)]


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


def losses_are_those_of_the_published_rows(case: Case, folder: Path) -> None:
    del folder
    rows = case.rows()
    release = case.release(rows)
    data = sv.Transactions.from_rows(rows)
    assert dict(sv.measure(release, data, measures=("ncp", "lm"))) == release.losses
    assert all(0 <= loss <= 1 for loss in release.losses.values())
    assert release.objective is not None
    assert release.objective.value == release.losses["ncp"]
    assert release.objective.proven == (case.record.exact and release.complete)


def options_are_those_of_the_function(case: Case, folder: Path) -> None:
    del folder
    known = {option.name: option for option in case.record.options}
    parameters = inspect.signature(case.record.load()).parameters
    internal = {"engine", "guarantee", "cost", "watch", "threads", "listener", "pool", "seed"}
    own = {name: parameter for name, parameter in parameters.items() if name not in internal}
    assert set(own) == set(known)
    assert ("threads" in parameters) == case.record.takes_threads
    for name, parameter in own.items():
        assert parameter.kind is parameter.KEYWORD_ONLY
        assert parameter.default == known[name].default
    for option in known.values():
        for value in option.allowed:
            assert option.checked(value) == value
        assert option.help


def other_guarantees_are_refused(case: Case, folder: Path) -> None:
    del folder
    for other in CASES:
        if other.model not in case.record.guarantees:
            with pytest.raises(sv.SetveilError) as caught:
                case.release(case.rows(), guarantee=other.guarantee())
            assert caught.value.exit_code == 2


def no_two_labels_cover_the_same_item(case: Case, folder: Path) -> None:
    if case.record.recoding == "local":
        return
    sv.publish(case.release(case.rows()), folder / "release", allow_useless=True)
    shown = {label for row in published(folder / "release") for label in row}
    assert not any(other in ancestors(label)[1:] for label in shown for other in shown)


def names_of_suppressed_items_stay_private(case: Case, folder: Path) -> None:
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


def weights_and_costs_are_accepted(case: Case, folder: Path) -> None:
    del folder
    release = case.release(case.rows(), cost="lm", weights={"ale": 5, "oil": 0})
    assert case.kept_by(list(release.published.rows()), release.guarantee)


PROPERTIES: tuple[Property, ...] = (
    oracle_and_audit_confirm_the_folder,
    inputs_stay_as_they_were,
    row_order_does_not_matter,
    every_label_covers_its_original,
    anonymous_data_pass_unchanged,
    no_records_are_refused,
    one_record_is_infeasible,
    too_few_records_are_infeasible,
    m_above_the_longest_works,
    no_record_id_leaves,
    cancelling_works_at_any_tick,
    losses_are_those_of_the_published_rows,
    options_are_those_of_the_function,
    other_guarantees_are_refused,
    weights_and_costs_are_accepted,
    no_two_labels_cover_the_same_item,
    names_of_suppressed_items_stay_private,
)
FLOOR = 150


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
@pytest.mark.parametrize("keeps", PROPERTIES, ids=lambda keeps: keeps.__name__)
def test_method_keeps(keeps: Property, case: Case, tmp_path: Path) -> None:
    keeps(case, tmp_path)


def test_there_are_enough_checks() -> None:
    assert len(METHODS) >= 7
    assert len(CASES) * len(PROPERTIES) >= FLOOR
    assert {model for case in CASES for model in [case.model]} == {
        "km",
        "km-negative",
        "k",
        "lm",
        "coherence",
    }


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
