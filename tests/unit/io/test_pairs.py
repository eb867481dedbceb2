"""Two data sets from tables: split by a class, or one table each; cells without a value."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from setveil.errors import DataError, UsageError
from setveil.io.pairs import PatternData, read_attribute_tables, read_classes

PEOPLE = "sex,job,note,pay\nF,cook,x,low\nM,cook,,high\nF,?,x,low\nM,clerk,x,high\nM,,x,none\n"


@pytest.fixture
def people(tmp_path: Path) -> Path:
    path = tmp_path / "people.csv"
    path.write_text(PEOPLE)
    return path


def read(path: Path, **options: Any) -> PatternData:
    usual = {"class_column": "pay", "classes": ("low", "high"), "missing": "?"}
    return read_classes(path, **usual | options)


def rows(data: PatternData) -> tuple[list[tuple[str, ...]], list[tuple[str, ...]]]:
    return list(data.first.rows()), list(data.second.rows())


def test_a_table_is_split_by_its_class(people: Path) -> None:
    data = read(people, attributes=["sex"])
    assert rows(data) == ([("sex=F",)] * 2, [("sex=M",)] * 2)
    assert data.names == ("pay=low", "pay=high")
    assert repr(data) == "PatternData('pay=low' with 2 records, 'pay=high' with 2)"
    assert data.first.vocabulary == data.second.vocabulary
    assert any("1 rows are of neither class" in notice for notice in data.notices)
    assert any("not asked for were left out: 'job', 'note'." in notice for notice in data.notices)
    assert rows(read(people, attributes=["sex"], classes=("high", "low")))[0] == [("sex=M",)] * 2


def test_two_classes_need_not_be_named(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("x;y\n1;b\n2;a\n")
    data = read_classes(tmp_path / "a.csv", class_column="y")
    assert data.names == ("y=a", "y=b")
    assert rows(data) == ([("x=2",)], [("x=1",)])


@pytest.mark.parametrize(
    ("choice", "low", "high"),
    [
        ("suppress", [("job=cook", "sex=F"), ("sex=F",)], 2),
        ("suppress-row", [("job=cook", "sex=F")], 2),
        ("complete-rows", [("job=cook", "sex=F")], 1),
        ("category", [("job=cook", "sex=F"), ("job=(missing)", "sex=F")], 2),
    ],
)
def test_cells_without_a_value(people: Path, choice: str, low: list[Any], high: int) -> None:
    data = read(people, attributes=["sex", "job"], missing_cells=choice)
    first, second = rows(data)
    assert first == low
    assert len(second) == high


def test_cells_without_a_value_are_refused_with_their_lines(people: Path) -> None:
    with pytest.raises(DataError, match="no value in column 'job'") as caught:
        read(people, attributes=["job"])
    # Line 6 is of neither class, so that it may lack what it likes.
    assert [problem.line for problem in caught.value.problems] == [4]
    with pytest.raises(DataError, match="no value in column 'job'") as caught:
        read(people, class_column="job", classes=("cook", "clerk"))
    assert [problem.line for problem in caught.value.problems] == [4, 6]
    data = read(people, class_column="job", classes=("cook", "clerk"), missing_cells="suppress")
    assert (len(data.first), len(data.second)) == (2, 1)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"class_column": "wage"}, "no column 'wage'"),
        ({"attributes": ["wage"]}, "no column 'wage'"),
        ({"attributes": ["sex", "sex"]}, "named twice"),
        ({"attributes": ["sex", "pay"]}, "both the class and an attribute"),
        ({"classes": None}, "has 3 values; it takes two.*'high', 'low', 'none'"),
        ({"classes": ("low",)}, r"two different classes are needed \(got 1\)"),
        ({"classes": ("low", "low")}, "two different classes"),
        ({"classes": ("low", "top")}, "no row has the class 'top'"),
        ({"missing_cells": "drop"}, "unknown missing cells"),
        ({"normalize": "NFX"}, "Known: NFC"),
    ],
)
def test_refusals(people: Path, options: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        read(people, **options)


def test_data_that_leave_nothing(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("x,y\n,a\n,b\n")
    with pytest.raises(DataError, match="every row has a cell without a value"):
        read_classes(path, class_column="y", missing_cells="suppress-row")
    path.write_text("x,y\n1,a\n,b\n")
    with pytest.raises(DataError, match="no complete row has the class 'b'"):
        read_classes(path, class_column="y", missing_cells="suppress-row")
    path.write_text("y\na\nb\n")
    with pytest.raises(UsageError, match="no attributes"):
        read_classes(path, class_column="y")
    path.write_text("a=b,y\n1,a\n2,b\n")
    with pytest.raises(UsageError, match="which ends column names"):
        read_classes(path, class_column="y")
    path.write_text("x,y\n(missing),a\n,b\n")
    with pytest.raises(DataError, match="stands for no value"):
        read_classes(path, class_column="y", missing_cells="category")


def test_two_tables(people: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.csv"
    other.write_text("job,sex\nclerk,M\ncook,F\n")
    data = read_attribute_tables(
        people, other, attributes=["job", "sex"], missing="?", missing_cells="suppress-row"
    )
    assert (len(data.first), len(data.second)) == (3, 2)
    assert list(data.second.rows()) == [("job=clerk", "sex=M"), ("job=cook", "sex=F")]
    assert data.names == (str(people), str(other))
    with pytest.raises(UsageError, match="only one has 'note', 'pay'"):
        read_attribute_tables(people, other)
    same = read_attribute_tables(other, other)
    assert rows(same)[0] == rows(same)[1]


def test_parquet_and_frames(tmp_path: Path) -> None:
    table = pa.table(
        {
            "sex": ["F", "M", None, "F"],
            "year": [1, 2, 2, 1],
            "cost": [0.5, None, 1.0, 2.0],
            "lists": [["a"], [], None, ["b"]],
            "pay": ["low", "high", "low", "low"],
        }
    )
    pq.write_table(table, tmp_path / "people.parquet")
    usual: dict[str, Any] = {"class_column": "pay", "attributes": ["sex", "year"]}
    for read_it in (
        lambda **given: read_classes(tmp_path / "people.parquet", **given),
        lambda **given: read_classes(table, **given),
    ):
        data = read_it(**usual, missing_cells="suppress-row")
        assert rows(data) == ([("sex=M", "year=2")], [("sex=F", "year=1")] * 2)
        # The only row of the class lacks its cost, a column that does not count.
        with pytest.raises(DataError, match="no complete row has the class 'high'"):
            read_it(**usual, missing_cells="complete-rows")
    with pytest.raises(DataError, match="holds lists; here a cell is one value"):
        read_classes(table.drop(["cost"]), class_column="pay", missing_cells="suppress")
    with pytest.raises(DataError, match="no records"):
        read_classes(table.slice(0, 0), **usual)
