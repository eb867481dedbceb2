"""A release read back is the release that was published; damaged and foreign twins are refused."""

from __future__ import annotations

import json
import os
import random
import shutil
import stat
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import setveil as sv
from setveil.errors import DataError, FileSystemError, SetveilError, UsageError
from setveil.io.records import read_records
from setveil.model.transactions import as_labels
from setveil.release.release import digest_of_records, seal
from setveil.reopen import read_release
from tests.contract.cases import CASES, Case
from tests.oracle.worlds import random_world

ROWS = [
    *[["a", "b"]] * 3,
    ["c", "b"],
    *[["b"]] * 2,
    *[["d"]] * 2,
    *[["b", "d"]] * 2,
]
TREE: dict[str, str | None] = {"a": "AC", "c": "AC", "AC": "ALL", "b": "ALL", "d": "ALL", "ALL": None}
TWIN = ("audit.json", "recoding.json", "hierarchy.csv")


def made(folder: Path, **options: Any) -> sv.Release:
    release = sv.anonymize(
        sv.Transactions.from_rows(ROWS),
        sv.KmAnonymity(2, 2),
        hierarchy=sv.Hierarchy.from_parents(TREE),
        **options,
    )
    sv.publish(release, folder)
    return release


def assert_same(one: sv.Release, other: sv.Release, *, rows: bool) -> None:
    """Compare all that a release holds; arrays by content."""
    for field in fields(sv.Release):
        left, right = getattr(one, field.name), getattr(other, field.name)
        if field.name in ("rows", "count_by_leaf", "notices", "layout"):
            continue
        if field.name == "part":
            assert list(left.in_memory().rows()) == list(right.in_memory().rows())
        elif field.name == "hierarchy":
            assert left.labels == right.labels
            assert left.parent.tolist() == right.parent.tolist()
            assert (left.n_leaves, left.private) == (right.n_leaves, right.private)
            assert left.domain_count.tolist() == right.domain_count.tolist()
        elif field.name == "recoding":
            assert left.nodes.tolist() == right.nodes.tolist()
            assert left.bounds.tolist() == right.bounds.tolist()
            assert left.is_global == right.is_global
            if not left.is_global:
                assert left.group_of_record.tolist() == right.group_of_record.tolist()
        else:
            assert left == right, field.name
    if rows:
        assert one.rows is not None and other.rows is not None
        assert one.rows.indptr.tolist() == other.rows.indptr.tolist()
        assert one.rows.leaves.tolist() == other.rows.leaves.tolist()
    counts = one.occurrences_by_leaf, other.occurrences_by_leaf
    assert counts[0] is not None and counts[1] is not None
    assert counts[0].tolist() == counts[1].tolist()


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_what_is_read_is_what_was_published(case: Case, tmp_path: Path) -> None:
    rows = case.rows()
    release = case.release(rows)
    sv.publish(release, tmp_path / "out", allow_useless=True)
    assert_same(release, read_release(tmp_path / "out"), rows=False)
    again = read_release(tmp_path / "out", sv.Transactions.from_rows(rows))
    assert_same(release, again, rows=True)
    assert sv.measure(again)["ncp"] == release.losses["ncp"]
    assert sv.audit(again).holds


@pytest.mark.parametrize("seed", range(12))
def test_small_worlds_come_back(seed: int, tmp_path: Path) -> None:
    world = random_world(seed, most_rows=30, empty=seed % 2 == 0)
    if len(world.rows) < 3:
        return
    release = sv.anonymize(
        world.transactions, sv.KmAnonymity(2, 2), hierarchy=world.hierarchy, method="trim"
    )
    sv.publish(release, tmp_path / "out")
    shuffled = list(world.rows)
    random.Random(seed).shuffle(shuffled)
    again = read_release(tmp_path / "out", sv.Transactions.from_rows(shuffled))
    assert_same(release, again, rows=True)


def test_a_learned_hierarchy_stays_private_and_dropped_records_stay_dropped(tmp_path: Path) -> None:
    rows = [["a"]] * 6 + [["b"]] * 6 + [["c"]]
    tree = sv.Hierarchy.from_parents({"a": None, "b": None, "c": None}, private=True)
    release = sv.anonymize(
        sv.Transactions.from_rows(rows), sv.Coherence(100, 3, 1), hierarchy=None, method="mm"
    )
    assert len(release.dropped) == 1
    sv.publish(release, tmp_path / "out")
    assert_same(release, read_release(tmp_path / "out", sv.Transactions.from_rows(rows)), rows=True)
    learned = sv.Hierarchy.from_parents(
        tree.parents_by_label() | {"a": "T", "b": "T", "c": "T", "T": None}, private=True
    )
    release = sv.anonymize(sv.Transactions.from_rows(rows), sv.KmAnonymity(3, 1), hierarchy=learned)
    sv.publish(release, tmp_path / "learned")
    assert read_release(tmp_path / "learned").hierarchy.private


def test_a_table_comes_back_with_its_unprotected_cells(tmp_path: Path) -> None:
    table = tmp_path / "table.csv"
    table.write_text("sex,drugs,ward\nf,a b,1\nf,a b,2\nm,b,3\nm,b,4\nm,b,5\nf,a b,0\n")
    reading: dict[str, Any] = {"set_columns": {"drugs": " "}, "keep": ["sex"], "delimiter": ","}
    data = read_records(table, keep_unprotected=["ward"], **reading)
    trees = {"drugs": sv.Hierarchy.from_parents({"a": "ALL", "b": "ALL", "ALL": None})}
    release = sv.anonymize(data, sv.KmAnonymity(2, 2), hierarchy=trees)
    sv.publish(release, tmp_path / "out")
    again = read_release(tmp_path / "out", data)
    assert_same(release, again, rows=True)
    assert again.published.unprotected == release.published.unprotected
    assert again.layout == release.layout
    # The promise does not cover the column, and the recoding does not know it.
    assert read_release(tmp_path / "out", read_records(table, **reading)).rows is not None


def test_other_data_are_not_the_original(tmp_path: Path) -> None:
    made(tmp_path / "out", method="optimal")
    other = [row[:] for row in ROWS]
    other[0] = ["c", "b"]  # published alike
    for rows in (other, ROWS[1:], [*ROWS, ["b"]], [["x", *row] for row in ROWS]):
        with pytest.raises(UsageError, match="not the data the release was made from"):
            read_release(tmp_path / "out", sv.Transactions.from_rows(rows))
    assert read_release(tmp_path / "out", sv.Transactions.from_rows(ROWS[::-1])).rows is not None


def test_the_two_seals_agree_with_the_job() -> None:
    data = sv.Transactions.from_rows(ROWS)
    kept = seal(data)
    assert seal(data, bytes.fromhex(kept.key)) == kept
    release = sv.anonymize(data, sv.KmAnonymity(2, 2), hierarchy=sv.Hierarchy.from_parents(TREE))
    assert release.rows is not None
    expected = seal(as_labels(release.rows, release.hierarchy), b"key").digest
    wide = sv.Transactions(
        sv.Transactions.from_rows([*ROWS, ["0", "z"]]).vocabulary,
        data.indptr[:],
        (data.items + 1).astype(np.int32),
    )
    assert digest_of_records(data, b"key") == digest_of_records(wide, b"key") == expected
    assert digest_of_records(data, b"other") != expected


def test_without_a_twin_it_says_what_it_is_for(tmp_path: Path) -> None:
    made(tmp_path / "out")
    shutil.rmtree(tmp_path / "out.private")
    with pytest.raises(FileSystemError, match=r"out\.private.*how the release was made"):
        read_release(tmp_path / "out")


def test_a_twin_of_another_release_is_refused(tmp_path: Path) -> None:
    made(tmp_path / "out")
    made(tmp_path / "other", method="aa")
    shutil.rmtree(tmp_path / "out.private")
    shutil.copytree(tmp_path / "other.private", tmp_path / "out.private")
    with pytest.raises(DataError, match="belongs to another release"):
        read_release(tmp_path / "out")


def test_a_private_file_that_grows_meanwhile_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made(tmp_path / "out")
    real = os.fstat

    def told_before(number: int) -> os.stat_result:
        told = list(real(number)[:10])
        told[stat.ST_SIZE] -= 1
        return os.stat_result(told)

    patched = SimpleNamespace(path=os.path, fstat=told_before)
    monkeypatch.setattr("setveil.io.folder.published.os", patched)
    with pytest.raises(DataError, match="grew while it was read"):
        read_release(tmp_path / "out")


def test_the_folder_may_be_named_in_many_ways(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made(tmp_path / "out", method="optimal")
    monkeypatch.chdir(tmp_path / "out")
    for name in (".", "../out", f"{tmp_path}/out/"):
        assert read_release(name).records == len(ROWS)


Change = Callable[[dict[str, Any]], object]
WRONG: list[tuple[str, str, Change]] = [
    ("audit.json", "guarantee", lambda d: d["guarantee"].update(k=3)),
    ("audit.json", "guarantee", lambda d: d["guarantee"].update(model="x")),
    ("audit.json", "guarantee", lambda d: d.pop("guarantee")),
    ("audit.json", "method", lambda d: d.update(method="aa")),
    ("audit.json", "method", lambda d: d.update(method=3)),
    ("audit.json", "records", lambda d: d.update(records=8)),
    ("audit.json", "records", lambda d: d.update(records=True)),
    ("audit.json", "items", lambda d: d.update(items=3)),
    ("audit.json", "unchanged", lambda d: d.update(unchanged=-1)),
    ("audit.json", "loss", lambda d: d.update(loss=[])),
    ("audit.json", "loss", lambda d: d["loss"].update(x={"exact": "1/2"})),
    ("audit.json", "ncp", lambda d: d["loss"]["ncp"].update(exact="1/0")),
    ("audit.json", "ncp", lambda d: d["loss"]["ncp"].update(exact="3/2")),
    ("audit.json", "ncp", lambda d: d["loss"]["ncp"].update(exact="9" * 5000 + "/1")),
    ("audit.json", "ncp", lambda d: d["loss"].update(ncp=0.5)),
    ("audit.json", "exact", lambda d: d["objective"].pop("exact")),
    ("audit.json", "bound", lambda d: d["objective"]["exact"].update(bound=1)),
    ("audit.json", "minimized", lambda d: d["objective"].update(proven="yes")),
    ("audit.json", "seal", lambda d: d["input"].update(key="00")),
    ("audit.json", "input", lambda d: d.update(input=7)),
    ("audit.json", "learned", lambda d: d.pop("learned_hierarchy")),
    ("audit.json", "complete", lambda d: d.update(complete=None)),
    ("audit.json", "how long", lambda d: d.update(seconds="1")),
    ("audit.json", "options", lambda d: d.update(options={"x": []})),
    ("audit.json", "notices", lambda d: d.update(notices=[1])),
    ("audit.json", "left out", lambda d: d.update(suppressed_items=3)),
    ("recoding.json", "neither", lambda d: d.update(recoding="x")),
    ("recoding.json", "groups", lambda d: d.update(recoding="local")),
    ("recoding.json", "published", lambda d: d.update(published=[])),
    ("recoding.json", "lacks", lambda d: d["published"].update(a="nowhere")),
    ("recoding.json", "lacks", lambda d: d["published"].update(nowhere="a")),
    ("recoding.json", "lacks", lambda d: d["published"].update(a=" ")),
    ("recoding.json", "published labels", lambda d: d["published"].update(a=3)),
    ("recoding.json", "above", lambda d: d["published"].update(a="ALL")),
    ("recoding.json", "once", lambda d: d["published"].pop("a")),
    ("recoding.json", "once", lambda d: d["published"].update(a="b")),
    ("recoding.json", "once", lambda d: d["suppressed"].append("a")),
    ("recoding.json", "left out", lambda d: d.update(suppressed=3)),
    ("recoding.json", "dropped", lambda d: d.update(dropped_records=[0])),
    ("recoding.json", "dropped", lambda d: d.update(dropped_records=["0"])),
    ("recoding.json", "count", lambda d: d["occurrences"].pop("a")),
    ("recoding.json", "count", lambda d: d["occurrences"].update(a=1.5)),
    ("recoding.json", "count", lambda d: d["occurrences"].update(a=d["occurrences"]["a"] + 1)),
]


@pytest.mark.parametrize(("name", "told", "change"), WRONG)
def test_a_document_that_cannot_be_is_refused(
    name: str, told: str, change: Change, tmp_path: Path
) -> None:
    made(tmp_path / "out", method="optimal")
    file = tmp_path / "out.private" / name
    document = json.loads(file.read_text())
    change(document)
    file.write_text(json.dumps(document))
    with pytest.raises(DataError, match=told) as caught:
        read_release(tmp_path / "out")
    (problem,) = caught.value.problems
    assert problem.file is not None and problem.file.endswith(name)
    assert problem.remedy


def test_local_groups_that_cannot_be_are_refused(tmp_path: Path) -> None:
    made(tmp_path / "out", method="lra")
    file = tmp_path / "out.private" / "recoding.json"
    plain = json.loads(file.read_text())
    for change in (
        {"group_of_record": plain["group_of_record"][1:]},
        {"group_of_record": [99] * len(plain["group_of_record"])},
        {"published_by_group": [["nowhere"]] * len(plain["published_by_group"])},
        {"published_by_group": [["a", "ALL"]] * len(plain["published_by_group"])},
        {"published_by_group": [[]] * len(plain["published_by_group"])},
    ):
        file.write_text(json.dumps(plain | change))
        with pytest.raises(DataError):
            read_release(tmp_path / "out")


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("", "path of labels"),
        ("a;AC;ALL\nb;ALL\n", "path of labels"),
        ("a;;ALL\n", "path of labels"),
        ('"a;AC;ALL\n', "CSV"),
        ("a;AC;ALL\na;AC;ALL\n", "one line an item"),
        ("a;AC;ALL\nb;ALL;AC\n", "no hierarchy"),
        ("a;AC;ALL\nAC;ALL;ALL\n", "one line an item"),
        ("a;ALL;ALL\nb;ALL;ALL\n", "number of items|lacks"),
    ],
)
def test_a_hierarchy_that_cannot_be_is_refused(content: str, told: str, tmp_path: Path) -> None:
    made(tmp_path / "out")
    (tmp_path / "out.private" / "hierarchy.csv").write_text(content)
    with pytest.raises(DataError, match=told):
        read_release(tmp_path / "out")


@pytest.mark.parametrize("name", TWIN)
def test_any_damage_is_an_error_of_ours_and_no_traceback(name: str, tmp_path: Path) -> None:
    """Whatever is cut off, flipped or put in, the outcome is a release or an error that says so."""
    made(tmp_path / "out")
    file = tmp_path / "out.private" / name
    content = file.read_bytes()
    draw = random.Random(name)
    refused, codes = 0, set()
    for _ in range(150):
        place = draw.randrange(len(content))
        kind = draw.randrange(3)
        broken = bytearray(content)
        if kind == 0:
            broken = broken[:place]
        elif kind == 1:
            broken[place] = draw.randrange(256)
        else:
            broken[place:place] = draw.choice([b"[" * 5000, b"\0", b"9" * 5000, b"null", b'"'])
        file.write_bytes(bytes(broken))
        try:
            read_release(tmp_path / "out")
        except SetveilError as error:
            codes.add(error.exit_code)
            refused += 1
    assert codes <= {3, 5}
    assert refused > 50


@pytest.mark.parametrize("name", TWIN)
def test_a_missing_private_file_is_named(name: str, tmp_path: Path) -> None:
    made(tmp_path / "out")
    (tmp_path / "out.private" / name).unlink()
    with pytest.raises(FileSystemError, match=name):
        read_release(tmp_path / "out")
    (tmp_path / "out.private" / name).mkdir()
    with pytest.raises(FileSystemError, match="regular"):
        read_release(tmp_path / "out")


def test_a_recoding_that_does_not_lead_to_the_release_is_seen_with_the_original(tmp_path: Path) -> None:
    made(tmp_path / "out", method="lra", parts=1)
    file = tmp_path / "out.private" / "recoding.json"
    plain = json.loads(file.read_text())
    cut = plain["published_by_group"][0]
    if len(cut) > 1:
        file.write_text(
            json.dumps(plain | {"published_by_group": [cut[1:], *plain["published_by_group"][1:]]})
        )
        with pytest.raises(DataError):
            read_release(tmp_path / "out", sv.Transactions.from_rows(ROWS))
