"""Published records read back from a release folder, in every format, and what is refused."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

import setveil as sv
from setveil.errors import DataError, FileSystemError
from setveil.io.folder.published import read_published
from setveil.io.formats import FORMATS
from setveil.model.transactions import Transactions

ROWS = [["a", "b"], ["a", "b"], ["a", "b"], ["c", "b"], ["c", "b"], ["b"], ["b"]]
TREE = {"a": "AC", "c": "AC", "AC": "ALL", "b": "ALL", "ALL": None}


def published(folder: Path, form: str | None = None) -> sv.Release:
    release = sv.anonymize(
        Transactions.from_rows(ROWS), sv.KmAnonymity(2, 2), hierarchy=sv.Hierarchy.from_parents(TREE)
    )
    sv.publish(release, folder, format=form)
    return release


@pytest.mark.parametrize("form", sorted(set(FORMATS) - {"table"}))
def test_every_format_reads_back_as_the_same_records(form: str, tmp_path: Path) -> None:
    release = published(tmp_path / "out", form)
    records, certificate = read_published(tmp_path / "out")
    assert list(records.rows()) == list(release.published.rows())
    assert certificate["data"]["format"] == form
    assert records.notices == ()


def test_a_table_reads_back_with_its_columns(tmp_path: Path) -> None:
    table = tmp_path / "table.csv"
    table.write_text("sex,drugs,ward\n" + "f,a b,1\nf,a b,2\nm,b,3\nm,b,4\nm,b,5\n")
    from setveil.io.records import read_records

    data = read_records(
        table, set_columns={"drugs": " "}, keep=["sex"], keep_unprotected=["ward"], delimiter=","
    )
    trees = {
        "drugs": sv.Hierarchy.from_parents({"a": "ALL", "b": "ALL", "ALL": None}),
        "sex": sv.Hierarchy.from_parents({"f": "ANY", "m": "ANY", "ANY": None}),
    }
    release = sv.anonymize(data, sv.KmAnonymity(2, 2), hierarchy=trees)
    sv.publish(release, tmp_path / "out")
    records, _ = read_published(tmp_path / "out")
    assert sorted(records.rows()) == sorted(release.published.rows())
    assert records.layout is not None and records.layout.unprotected == ("ward",)


def test_what_is_no_release_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileSystemError, match="no such folder"):
        read_published(tmp_path / "nothing")
    with pytest.raises(DataError, match=r"holds no certificate\.json"):
        read_published(tmp_path)
    (tmp_path / "file").write_text("x")
    with pytest.raises(FileSystemError, match="is no folder"):
        read_published(tmp_path / "file")


@pytest.mark.parametrize(
    "change",
    [
        {"data": None},
        {"data": {"format": "xls"}},
        {"data": {"file": "../secret.csv"}},
        {"data": {"file": "/etc/passwd"}},
        {"data": {"sha256": None}},
        {"data": {"delimiter": None}},
        {"guarantee": {"model": "km", "k": 1, "m": 1}},
        {"guarantee": "km"},
    ],
)
def test_a_bad_certificate_is_refused(change: dict[str, object], tmp_path: Path) -> None:
    published(tmp_path / "out", "baskets")
    file = tmp_path / "out" / "certificate.json"
    certificate = json.loads(file.read_text())
    for key, value in change.items():
        certificate[key] = {**certificate[key], **value} if isinstance(value, dict) else value
    file.write_text(json.dumps(certificate))
    with pytest.raises(DataError) as caught:
        read_published(tmp_path / "out")
    assert caught.value.problems[0].code == "bad-certificate"


@pytest.mark.parametrize("content", ["", "[]", "{", "[" * 100_000])
def test_a_certificate_that_is_no_object_is_refused(content: str, tmp_path: Path) -> None:
    published(tmp_path / "out")
    (tmp_path / "out" / "certificate.json").write_text(content)
    with pytest.raises(DataError):
        read_published(tmp_path / "out")


def test_other_data_than_the_certificates_are_refused(tmp_path: Path) -> None:
    published(tmp_path / "out", "jsonl")
    data = tmp_path / "out" / "data.jsonl"
    data.write_text(data.read_text() + '["b"]\n')
    with pytest.raises(DataError, match="SHA-256 differs"):
        read_published(tmp_path / "out")
    data.unlink()
    with pytest.raises(FileSystemError, match="lacks its data file"):
        read_published(tmp_path / "out")
    os.mkfifo(data)
    with pytest.raises(FileSystemError, match="lacks its data file"):
        read_published(tmp_path / "out")


def test_a_table_in_buckets_is_told_apart(tmp_path: Path) -> None:
    published(tmp_path / "out")
    file = tmp_path / "out" / "certificate.json"
    certificate = json.loads(file.read_text())
    certificate["guarantee"] = {"model": "matching", "l": 3}
    file.write_text(json.dumps(certificate))
    with pytest.raises(DataError, match="table in buckets"):
        read_published(tmp_path / "out")
