"""Tables with set-valued columns, from files and frames."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from setveil.errors import DataError, UsageError
from setveil.io.formats import FORMATS, cannot_hold, format_of
from setveil.io.records import read_records
from setveil.model.layout import Layout, LayoutColumn
from setveil.model.transactions import Records, Transactions
from tests.shared_data import shared_data

TEXT = "who,sex,drugs,signs,zip\nx,F,a b,s1,9\ny,M,,s1|s2,8\nx,F,c,,9\n"


def read(tmp_path: Path, text: str = TEXT, **options: object) -> Records:
    path = tmp_path / "a.csv"
    path.write_text(text)
    chosen = {"set_columns": {"drugs": " ", "signs": "|"}, "keep": ["sex"], **options}
    return read_records(path, **chosen)  # type: ignore[arg-type]


def test_columns_become_items(tmp_path: Path) -> None:
    records = read(tmp_path)
    assert list(records.as_transactions().rows()) == [
        ("drugs=a", "drugs=b", "sex=F", "signs=s1"),
        ("sex=M", "signs=s1", "signs=s2"),
        ("drugs=c", "sex=F"),
    ]
    assert records.columns == (
        LayoutColumn("sex", "kept"),
        LayoutColumn("drugs", "set", " "),
        LayoutColumn("signs", "set", "|"),
    )
    assert list(records.column("signs").rows()) == [("s1",), ("s1", "s2"), ()]
    assert any("'who', 'zip'" in notice for notice in records.notices)


def test_rows_of_one_person_are_merged(tmp_path: Path) -> None:
    records = read(tmp_path, id_column="who", sensitive="signs")
    assert next(records.as_transactions().rows()) == (
        "drugs=a", "drugs=b", "drugs=c", "sex=F", "signs=s1",
    )  # fmt: skip
    assert len(records) == 2
    assert any("merged to 2 records" in notice for notice in records.notices)
    assert records.columns[2] == LayoutColumn("signs", "sensitive", "|")
    assert records.labels_of("sex") == ("sex=F", "sex=M")
    assert not any("who" in label for label in records.items.vocabulary)


def test_conflicting_kept_values_are_told_and_do_not_fit_a_table(tmp_path: Path) -> None:
    records = read(tmp_path, TEXT.replace("x,F,c", "x,M,c"), id_column="who")
    assert any("several values in 'sex'" in notice for notice in records.notices)
    items = records.as_transactions()
    assert items.layout is not None and "one value" in str(cannot_hold(items, items.layout))


def test_missing_cells(tmp_path: Path) -> None:
    text = "sex,drugs\nF,a\n?,b\nM,?\n"
    options = {"set_columns": {"drugs": " "}, "missing": ["?"]}
    kept = read(tmp_path, text, missing_cells="category", **options)
    assert list(kept.items.rows()) == [
        ("drugs=a", "sex=F"), ("drugs=b", "sex=(missing)"), ("drugs=(missing)", "sex=M"),
    ]  # fmt: skip
    gone = read(tmp_path, text, missing_cells="suppress", **options)
    assert list(gone.items.rows()) == [("drugs=a", "sex=F"), ("drugs=b",), ("sex=M",)]


def test_blanks_at_the_ends_of_cells_are_told(tmp_path: Path) -> None:
    records = read(tmp_path, "sex,drugs\n F,a\nM,b\n", set_columns={"drugs": " "})
    assert any("'sex= F'" in notice for notice in records.notices)


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"set_columns": {}}, "no-set-column"),
        ({"keep": ["drugs"]}, "two-roles"),
        ({"id_column": "sex"}, "two-roles"),
        ({"set_columns": {"drugs": ""}}, "bad-separator"),
        ({"keep": ["a=b"]}, "bad-column-name"),
        ({"missing_cells": "guess"}, "unknown-choice"),
        ({"id_policy": "guess"}, "unknown-choice"),
    ],
)
def test_wrong_options(tmp_path: Path, options: dict[str, object], code: str) -> None:
    with pytest.raises(UsageError) as caught:
        read(tmp_path, **options)
    assert caught.value.problems[0].code == code


def test_a_lone_set_column_keeps_its_empty_cells(tmp_path: Path) -> None:
    records = read(tmp_path, 'drugs\na b\n""\n', set_columns={"drugs": " "}, keep=[], delimiter=",")
    items = records.as_transactions()
    assert list(items.rows()) == [("drugs=a", "drugs=b"), ()]
    file = io.BytesIO()
    assert items.layout is not None
    format_of(items.layout).write(items, items.layout, file)
    assert file.getvalue() == b'drugs\n""\na b\n'


def test_tables_in_parquet(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"year": [1990, 1991], "drugs": [["a", "b"], []], "t": ["x y", "z"]}), path)
    records = read_records(path, set_columns={"drugs": None, "t": " "}, keep=["year"])
    assert list(records.items.rows()) == [
        ("drugs=a", "drugs=b", "t=x", "t=y", "year=1990"), ("t=z", "year=1991"),
    ]  # fmt: skip


def test_rows_of_a_table_are_sorted_by_cells() -> None:
    columns = (LayoutColumn("z", "kept"), LayoutColumn("a", "set", " "))
    rows = [["z=2", "a=x"], ["z=1", "a=y", "a=x"], ["z=1", "a=x"]]
    items = Transactions.from_rows(rows)
    file = io.BytesIO()
    FORMATS["table"].write(replace(items), Layout("table", ";", columns=columns), file)
    assert file.getvalue() == b"z;a\n1;x\n1;x y\n2;x\n"


def test_real_table_of_persons() -> None:
    records = read_records(
        shared_data("informs2005_rt.csv.gz"),
        set_columns={"icd9_conditions": " "},
        keep=["SEX"],
        id_column="row",
    )
    items = records.as_transactions()
    assert len(items) == 26_735
    assert len(records.labels_of("icd9_conditions")) == 599
    assert items.layout is not None and cannot_hold(items, items.layout) is None


def test_labels_and_missing_items_in_both_kinds_of_sets(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"x": [["1", "NA"], ["2"]], "y": ["2 NA 1", "1"]}), path)
    names = {"1": "milk", "2": "beer"}
    records = read_records(path, set_columns={"x": None, "y": " "}, labels=names, missing=["NA"])
    assert list(records.items.rows()) == [("x=milk", "y=beer", "y=milk"), ("x=beer", "y=milk")]
    with pytest.raises(DataError) as caught:
        read_records(path, set_columns={"x": None, "y": " "}, labels={"1": "milk"}, missing=["NA"])
    assert {(problem.code, problem.line) for problem in caught.value.problems} == {
        ("unknown-id", 1),
        ("unknown-id", 2),
    }
