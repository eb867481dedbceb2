"""Releases as frames: what is published and nothing else, of every kind, and audited first."""

from __future__ import annotations

import importlib
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import setveil as sv
from setveil.errors import InternalError, SetveilError, UsageError
from setveil.model.microdata import Microdata
from setveil.model.pattern_pair import PatternPair
from setveil.publish import edition_of
from setveil.release.buckets import Bucketing

from ..pair_cases import random_release

TREE = sv.Hierarchy.from_parents(
    {"ale": "alcohol", "wine": "alcohol", "alcohol": "ALL", "milk": "ALL", "ALL": None}
)
VALUES = ["flu", "cold", "gout", "angina"] * 6
VALUES = ["flu", "cold", "gout", "angina"] * 6
ROWS = [["ale", "milk"], ["wine", "milk"], ["milk"], ["ale"], ["wine"], ["milk"]]


def of_sets() -> Any:
    return sv.anonymize(sv.Transactions.from_rows(ROWS), sv.KmAnonymity(2, 2), hierarchy=TREE)


def of_buckets(seed: int = 0) -> Any:
    rng = np.random.default_rng(seed)
    columns = {
        "sex": rng.choice(["F", "M"], 24).tolist(),
        "bucket": rng.choice(["20", "30", "40"], 24).tolist(),
        "ill": VALUES,
    }
    return sv.anonymize(Microdata.from_columns(columns, "ill"), sv.LDiversity(2))


def of_pairs() -> Any:
    first, second = sv.Transactions.from_rows(ROWS), sv.Transactions.from_rows([["milk"], ["ale"]] * 3)
    return sv.anonymize(PatternPair.of_sets(first, second, TREE), sv.HiddenPatterns(3))


def test_sets_are_their_records() -> None:
    release = of_sets()
    assert [tuple(row) for row in release.to_arrow()["items"].to_pylist()] == list(
        release.published.rows()
    )


@pytest.mark.parametrize("seed", range(5))
def test_every_row_of_a_bucket_has_all_its_values(seed: int) -> None:
    release = of_buckets(seed)
    held: dict[str, list[dict[str, object]]] = {}
    for bucket, value, count in release.tables.sensitive_rows():
        held.setdefault(bucket, []).append({"value": value, "count": int(count)})
    table = release.to_arrow()
    assert table.column_names == ["sex", "bucket", "bucket_", "ill"]
    rows = [(row["sex"], row["bucket"], str(row["bucket_"]), row["ill"]) for row in table.to_pylist()]
    assert rows == [(*row, held[row[-1]]) for row in release.tables.quasi_rows()]


def test_the_values_of_buckets_are_two_lines_away() -> None:
    release = of_buckets()
    flat = release.to_polars().explode("ill").unnest("ill")
    assert set(flat.columns) == {"sex", "bucket", "bucket_", "value", "count"}
    frame = release.to_pandas().explode("ill")
    frame["value"], frame["count"] = frame["ill"].str["value"], frame["ill"].str["count"]
    each = frame.drop_duplicates(["bucket_", "value"])
    assert each.groupby("value")["count"].sum().to_dict() == Counter(VALUES)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("kind", ["sets", "table"])
def test_two_data_sets_are_one_table(kind: str, seed: int) -> None:
    release = random_release(kind, seed)
    table = release.frame()
    columns = release.pair.columns
    name = table.column_names[0]
    assert table.column_names[1:] == (list(columns) or ["items"])
    assert name == (release.pair.classes[0] if release.pair.classes else "data_set")
    names = release.pair.classes[1] if release.pair.classes else ("first", "second")
    expected: list[tuple[str, list[str]]] = []
    for told, side in zip(names, release.published.sides, strict=True):
        expected += [(told, sorted(row)) for row in side.rows()]
    found = [
        (row[name], sorted(row["items"]))
        if kind == "sets"
        else (row[name], sorted(f"{at}={row[at]}" for at in columns if row[at] is not None))
        for row in table.to_pylist()
    ]
    assert found == expected


@pytest.mark.parametrize("make", [of_sets, of_buckets, of_pairs])
def test_every_kind_goes_into_every_library(make: Any) -> None:
    release = make()
    table = release.to_arrow()
    assert pa.table(release).equals(table)
    assert release.to_polars().equals(pl.from_arrow(table))
    assert pl.from_dicts(release.to_pandas().to_dict("records")).to_dicts() == table.to_pylist()
    assert isinstance(release.to_pandas(), pd.DataFrame)
    records = release.records
    assert len(table) == (records if isinstance(records, int) else sum(records))


@pytest.mark.parametrize("make", [of_sets, of_buckets, of_pairs])
def test_the_audit_is_asked_once(make: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    release, asked = make(), []
    kind = type(edition_of(release))
    told = kind.audit

    def audit(self: Any, **options: Any) -> Any:
        asked.append(self)
        return told(self, **options)

    monkeypatch.setattr(kind, "audit", audit)
    release.to_arrow()
    release.to_pandas()
    release.to_polars()
    assert len(asked) == 1 and release.verdict.holds


def test_what_breaks_its_promise_does_not_leave() -> None:
    buckets = of_buckets()
    alone = Bucketing(np.arange(len(buckets.data), dtype=np.int32))
    for broken in (
        replace(of_sets(), guarantee=sv.KmAnonymity(6, 2)),
        replace(buckets, bucketing=alone),
        replace(of_pairs(), guarantee=sv.HiddenPatterns("1.0001", min_support="0.01")),
    ):
        for leave in (broken.to_arrow, broken.to_pandas, broken.to_polars, broken.__arrow_c_stream__):
            with pytest.raises(InternalError, match="does not keep"):
                leave()
    with pytest.raises(UsageError, match="not for release"):
        replace(buckets, seeded=True).to_arrow()


@pytest.mark.parametrize("name", ["pandas", "polars"])
def test_a_library_that_is_missing(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    release, load = of_sets(), importlib.import_module

    def missing(asked: str, package: str | None = None) -> Any:
        if asked == name:
            raise ModuleNotFoundError(asked)
        return load(asked, package)

    monkeypatch.setattr(importlib, "import_module", missing)
    with pytest.raises(SetveilError, match=f"pip install {name}"):
        getattr(release, f"to_{name}")()
    assert len(release.to_arrow()) == 6


@pytest.mark.parametrize("make", [of_sets, of_buckets, of_pairs])
def test_a_release_that_is_read_back_has_the_same_frame(make: Any, tmp_path: Path) -> None:
    release = make()
    sv.publish(release, tmp_path / "out", allow_useless=True)
    again = sv.read_release(tmp_path / "out")
    assert type(again) is type(release)
    assert again.to_arrow().equals(release.to_arrow())


@pytest.mark.parametrize("make", [of_buckets, of_pairs])
def test_the_twin_holds_the_originals_of_these(make: Any, tmp_path: Path) -> None:
    sv.publish(make(), tmp_path / "out", allow_useless=True)
    with pytest.raises(UsageError, match=r"Leave the original out|not the data the release"):
        sv.read_release(tmp_path / "out", sv.Transactions.from_rows(ROWS))
