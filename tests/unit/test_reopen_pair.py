"""Two data sets read back are the ones published; damaged and foreign twins are refused."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import setveil as sv
from setveil.errors import DataError, FileSystemError, UsageError
from setveil.publish import edition_of, publish
from setveil.release.pair_release import PairRelease
from setveil.reopen.others import read_pair_release

from .pair_cases import random_release

KINDS = ["sets", "table"]


def published(folder: Path, kind: str = "table", seed: int = 0) -> PairRelease:
    release = random_release(kind, seed)
    publish(release, folder / "out", allow_useless=True)
    return release


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(3))
def test_what_is_read_back_is_what_was_published(tmp_path: Path, kind: str, seed: int) -> None:
    release = published(tmp_path, kind, seed)
    again = read_pair_release(tmp_path / "out")
    assert again.guarantee == release.guarantee
    assert again.pair.columns == release.pair.columns
    assert again.pair.names == release.pair.names
    assert again.pair.classes == release.pair.classes
    assert again.pair.hierarchy.labels == release.pair.hierarchy.labels
    assert (again.values, again.raised) == (release.values, release.raised)
    assert again.seal == release.seal
    for one, other in zip(again.published.sides, release.published.sides, strict=True):
        assert list(one.rows()) == list(other.rows())
    # Rows come in published order, each with its own originals.
    for side, order, old in zip(
        again.pair.sides, release.published.record_by_row, release.pair.sides, strict=True
    ):
        taken = old.take(order)
        assert np.array_equal(side.indptr, taken.indptr)
        assert np.array_equal(side.leaves, taken.leaves)


@pytest.mark.parametrize("kind", KINDS)
def test_the_public_verbs_take_it(tmp_path: Path, kind: str) -> None:
    release = published(tmp_path, kind)
    opened = sv.read_release(tmp_path / "out")
    assert isinstance(opened, PairRelease)
    assert sv.audit(opened).holds
    assert sv.audit(tmp_path / "out").holds
    assert edition_of(release).audit_unwritten().holds
    scores = sv.measure(opened)
    assert scores.raised == release.raised
    assert scores.before is not None
    assert len(scores.before) == 0  # both sides are the same
    with pytest.raises(UsageError):
        sv.risk(opened)
    label = next(label for label in opened.hierarchy.labels if sv.explain(opened, label).raised)
    assert "nothing forces it any more" in sv.explain(opened, label).conclusion
    with pytest.raises(UsageError):
        sv.apply(opened, sv.Transactions.from_rows([["ham"]]))  # type: ignore[arg-type]
    with pytest.raises(UsageError):
        sv.audit(opened, sv.KmAnonymity(2, 2))  # type: ignore[call-overload]
    with pytest.raises(UsageError):
        sv.read_release(tmp_path / "out", sv.Transactions.from_rows([["ham"]]))
    with pytest.raises(UsageError):
        sv.risk(tmp_path / "out")


def changed(file: Path, change: Callable[[dict[str, Any]], object]) -> None:
    document = json.loads(file.read_text())
    change(document)
    file.write_text(json.dumps(document))


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("audit.json", lambda d: d["guarantee"].update(growth="3")),
        ("audit.json", lambda d: d["guarantee"].update(model="km")),
        ("audit.json", lambda d: d.update(method="other")),
        ("audit.json", lambda d: d.update(records=[1, 2])),
        ("audit.json", lambda d: d.update(names=["one"])),
        ("audit.json", lambda d: d.update(seconds=-1)),
        ("audit.json", lambda d: d.update(options=[])),
        ("audit.json", lambda d: d.update(notices="no")),
        ("audit.json", lambda d: d["input"].update(key="no")),
        ("audit.json", lambda d: d["input"].update(hmac_sha256="0" * 64)),
        ("audit.json", lambda d: d.update(certificate_sha256="0" * 64)),
        ("recoding.json", lambda d: d.update(recoding="global")),
        ("recoding.json", lambda d: d["values"].pop()),
        ("recoding.json", lambda d: d["rows"].pop()),
        ("recoding.json", lambda d: d["rows"][0].pop()),
        ("recoding.json", lambda d: d["rows"][0].__setitem__(0, "1 1")),
        ("recoding.json", lambda d: d["rows"][0].__setitem__(0, "99999")),
        ("recoding.json", lambda d: d["rows"][0].__setitem__(0, "1>99999")),
        ("recoding.json", lambda d: d["rows"][0].__setitem__(0, "1>x")),
        ("recoding.json", lambda d: d["rows"][0].__setitem__(0, 7)),
        ("recoding.json", lambda d: d["labels"].reverse()),
        ("recoding.json", lambda d: d["labels"].append("nothing")),
        ("recoding.json", lambda d: d["rows"][0].__setitem__(-1, "")),
        ("recoding.json", lambda d: d["rows"][0].reverse()),
    ],
)
def test_a_changed_twin_is_refused(
    tmp_path: Path, name: str, change: Callable[[dict[str, Any]], object]
) -> None:
    published(tmp_path, "table", 4)
    changed(tmp_path / "out.private" / name, change)
    with pytest.raises(DataError) as caught:
        read_pair_release(tmp_path / "out")
    assert "out.private" in str(caught.value)


def test_a_changed_hierarchy_of_the_twin_is_refused(tmp_path: Path) -> None:
    published(tmp_path)
    file = tmp_path / "out.private" / "hierarchy.csv"
    text = file.read_text()
    file.write_text(text + text.split("\n")[0] + "\n")
    with pytest.raises(DataError):
        read_pair_release(tmp_path / "out")


def test_without_a_twin_or_with_another_folder_nothing_is_read(tmp_path: Path) -> None:
    published(tmp_path)
    shutil.rmtree(tmp_path / "out.private")
    with pytest.raises(FileSystemError):
        read_pair_release(tmp_path / "out")
    baskets = sv.Transactions.from_rows([["a"]] * 4)
    sv.publish(sv.anonymize(baskets, sv.KmAnonymity(2, 1), method="mm"), tmp_path / "sets")
    with pytest.raises(DataError) as caught:
        read_pair_release(tmp_path / "sets")
    assert caught.value.problems[0].code == "no-pair"
