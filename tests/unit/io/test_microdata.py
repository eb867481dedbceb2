"""Tables with a sensitive column: read from files and frames, and refused where they are not clear."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from setveil.errors import DataError, HierarchyError, SetveilError, UsageError
from setveil.hierarchy.tree import Hierarchy
from setveil.io.microdata import microdata_from_frame, read_microdata
from setveil.model.microdata import Microdata

TEXT = "id,age,sex,town,ill\n1,23,F,Rome,flu\n2,31,M,Oslo,gout\n3,31,F,Rome,flu\n"
TOWNS = Hierarchy.from_paths(
    [("Rome", "south", "ALL"), ("Bari", "south", "ALL"), ("Oslo", "north", "ALL")]
)
USUAL: dict[str, Any] = {"quasi": ("age", "sex"), "sensitive": "ill"}


@pytest.fixture
def table(tmp_path: Path) -> Any:
    def write(text: str = TEXT, name: str = "people.csv") -> Path:
        path = tmp_path / name
        path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
        return path

    return write


def rows(data: Microdata) -> list[tuple[str, ...]]:
    cells = [
        [attribute.hierarchy.labels[leaf] for leaf in attribute.leaf_by_tuple]
        for attribute in data.quasi
    ]
    return list(zip(*cells, [data.values[value] for value in data.value_by_tuple], strict=True))


def problems(error: pytest.ExceptionInfo[SetveilError]) -> list[tuple[str, int | None]]:
    assert all(problem.remedy for problem in error.value.problems)
    return [(problem.code, problem.line) for problem in error.value.problems]


EXPECTED = [("23", "F", "flu"), ("31", "M", "gout"), ("31", "F", "flu")]


@pytest.mark.parametrize("name", ["people.csv", "people.csv.gz"])
def test_from_csv(table: Any, name: str) -> None:
    data = read_microdata(table(name=name), **USUAL)
    assert rows(data) == EXPECTED
    assert data.values == ("flu", "gout")
    assert [attribute.is_numeric for attribute in data.quasi] == [True, False]
    assert any("'id', 'town'" in notice for notice in data.notices)
    assert any("delimiter ','" in notice for notice in data.notices)


def test_the_order_of_columns_is_the_callers(table: Any) -> None:
    data = read_microdata(table(), quasi=["sex", "age"], sensitive="ill", delimiter=",")
    assert [attribute.name for attribute in data.quasi] == ["sex", "age"]
    assert not any("delimiter" in notice for notice in data.notices)
    assert rows(read_microdata(table(), quasi="sex", sensitive="ill"))[1] == ("M", "gout")


def test_from_parquet_and_frames(tmp_path: Path) -> None:
    frame = {
        "age": [23, 31, 31],
        "sex": ["F", "M", "F"],
        "ill": ["flu", "gout", "flu"],
        "x": [1.5, 2, 3],
    }
    path = tmp_path / "people.parquet"
    pq.write_table(pa.table(frame), path)
    assert rows(read_microdata(path, **USUAL)) == EXPECTED
    for made in (pd.DataFrame(frame), pl.DataFrame(frame), pa.table(frame)):
        assert rows(microdata_from_frame(made, **USUAL)) == EXPECTED


def test_hierarchies_are_restricted_to_what_occurs(table: Any) -> None:
    data = read_microdata(table(), quasi=["town"], sensitive="ill", hierarchies={"town": TOWNS})
    assert data.quasi[0].hierarchy.labels == ("Oslo", "Rome", "north", "south", "ALL")
    flat = read_microdata(table(), quasi=["town"], sensitive="ill").quasi[0].hierarchy
    assert flat.labels == ("Oslo", "Rome", "*")


def test_intervals(table: Any) -> None:
    intervals = {"age": [[0, 10, 20, 30, 40], [0, 20, 40]]}
    data = read_microdata(table(), **USUAL, intervals=intervals)
    assert data.quasi[0].hierarchy.path("31") == ("31", "[30, 40)", "[20, 40)", "ALL")
    with pytest.raises(HierarchyError) as error:
        read_microdata(table(), **USUAL, intervals={"age": [[0, 30]]})
    assert problems(error)[0][0] == "interval-gap"
    with pytest.raises(HierarchyError) as error:
        read_microdata(table(), **USUAL, intervals={"sex": [[0, 30]]})
    assert problems(error)[0][0] == "not-a-number"
    with pytest.raises(UsageError, match="hierarchy and intervals"):
        read_microdata(table(), **USUAL, intervals={"age": [[0]]}, hierarchies={"age": TOWNS})


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"quasi": ["age", "height"]}, "no-such-column"),
        ({"sensitive": "disease"}, "no-such-column"),
        ({"quasi": ["age", "ill"]}, "two-roles"),
        ({"quasi": ["age", "age"]}, "two-roles"),
        ({"quasi": []}, "usage"),
        ({"id_column": "age"}, "two-roles"),
        ({"id_column": "person"}, "no-such-column"),
        ({"hierarchies": {"town": TOWNS}}, "usage"),
        ({"intervals": {"town": [[1, 2]]}}, "usage"),
        ({"sensitive": "ill,town"}, "several-sensitive"),
        ({"sensitive": ["ill", "town"]}, "several-sensitive"),
        ({"missing_cells": "guess"}, "unknown-choice"),
        ({"normalize": "NFX"}, "unknown-choice"),
        ({"delimiter": "ab"}, "bad-delimiter"),
    ],
)
def test_wrong_options(table: Any, options: dict[str, Any], code: str) -> None:
    with pytest.raises(UsageError) as error:
        read_microdata(table(), **{**USUAL, **options})
    assert [found for found, _ in problems(error)] == [code]


def test_an_unknown_column_lists_those_there(table: Any) -> None:
    with pytest.raises(
        UsageError, match=r"no column 'job'\. There are: 'id', 'age', 'sex', 'town', 'ill'"
    ):
        read_microdata(table(), quasi=["age"], sensitive="job")


def test_a_cell_without_a_value_is_an_error_until_it_is_chosen(table: Any) -> None:
    path = table("age,sex,ill\n23,,flu\n?,M,gout\n31,F,\n")
    with pytest.raises(DataError) as error:
        read_microdata(path, **USUAL, missing="?")
    assert problems(error) == [("missing-cell", 2), ("missing-cell", 3), ("missing-cell", 4)]
    assert "suppress-row" in str(error.value)
    with pytest.raises(DataError) as error:
        read_microdata(path, **USUAL)
    assert problems(error) == [("missing-cell", 2), ("missing-cell", 4)]


def test_rows_with_a_missing_cell_left_out(table: Any) -> None:
    path = table("age,sex,ill\n23,,flu\n?,M,gout\n31,F,flu\n31,F,\n40,F,gout\n")
    data = read_microdata(path, **USUAL, missing=["?"], missing_cells="suppress-row")
    assert rows(data) == [("31", "F", "flu"), ("40", "F", "gout")]
    assert "3 of 5 rows" in " ".join(data.notices)
    assert data.quasi[0].is_numeric
    gone = table("age,sex,ill\n23,,flu\n")
    with pytest.raises(DataError) as error:
        read_microdata(gone, **USUAL, missing_cells="suppress-row")
    assert problems(error) == [("no-records", None)]


def test_missing_as_a_value_of_its_own(table: Any) -> None:
    path = table("town,age,ill\nRome,3,flu\n,?,gout\nOslo,5,\n")
    data = read_microdata(
        path,
        quasi=["town", "age"],
        sensitive="ill",
        hierarchies={"town": TOWNS},
        intervals={"age": [[0, 4, 8]]},
        missing="?",
        missing_cells="category",
    )
    assert rows(data)[1:] == [("(missing)", "(missing)", "gout"), ("Oslo", "5", "(missing)")]
    assert data.quasi[0].hierarchy.path("(missing)") == ("(missing)", "ALL")
    assert "which is no value: it hides nobody" in " ".join(data.notices)
    written = read_microdata(
        table("town,ill\nRome,flu\nRome,(missing)\n"), quasi=["town"], sensitive="ill"
    )
    assert "1 cells of column 'ill' have no value" in " ".join(written.notices)
    taken = table("town,ill\n(missing),flu\n,gout\n")
    with pytest.raises(DataError) as error:
        read_microdata(taken, quasi=["town"], sensitive="ill", missing_cells="category")
    assert problems(error) == [("reserved-label", None)]


def test_nulls_of_frames() -> None:
    frame = pa.table({"age": ["1", None, "2"], "sex": pa.nulls(3), "ill": ["a", "b", "a"]})
    with pytest.raises(DataError) as error:
        microdata_from_frame(frame, quasi=["age"], sensitive="ill")
    assert problems(error) == [("missing-cell", 2)]
    kept = microdata_from_frame(frame, quasi=["age"], sensitive="ill", missing_cells="suppress-row")
    assert rows(kept) == [("1", "a"), ("2", "a")]
    data = microdata_from_frame(frame, **USUAL, missing_cells="category")
    assert rows(data)[1] == ("(missing)", "(missing)", "b")


def test_an_id_has_one_row(table: Any) -> None:
    assert rows(read_microdata(table(), **USUAL, id_column="id")) == EXPECTED
    path = table("id,age,sex,ill\na,1,F,x\nb,1,F,x\na,2,F,y\n,2,F,y\n")
    with pytest.raises(DataError) as error:
        read_microdata(path, **USUAL, id_column="id")
    assert problems(error) == [("no-id", 5)]
    path = table("id,age,sex,ill\na,1,F,x\nb,1,F,x\na,2,F,y\n")
    with pytest.raises(DataError, match="cannot be merged into one person") as error:
        read_microdata(path, **USUAL, id_column="id")
    assert problems(error) == [("repeated-id", 4)]


def test_lists_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "sets.parquet"
    pq.write_table(pa.table({"age": ["1"], "ill": [["flu", "gout"]]}), path)
    with pytest.raises(DataError, match="l\\^m-diversity") as error:
        read_microdata(path, quasi=["age"], sensitive="ill")
    assert problems(error) == [("set-valued", None)]


def test_values_that_look_like_lists_are_told(table: Any) -> None:
    path = table("age,ill\n1,a|b\n1,a\n2,b\n3,c\n")
    assert "--set" in " ".join(read_microdata(path, quasi=["age"], sensitive="ill").notices)


def test_values_that_a_hierarchy_does_not_know(table: Any) -> None:
    path = table("town,ill\nRome,flu\nParis,gout\nsouth,flu\nParis,flu\n")
    with pytest.raises(HierarchyError) as error:
        read_microdata(path, quasi=["town"], sensitive="ill", hierarchies={"town": TOWNS})
    assert problems(error) == [("unknown-item", 3), ("item-is-category", 4)]


def test_two_spellings_of_a_value(table: Any) -> None:
    path = table("town,ill\ncafe\u0301,flu\ncaf\u00e9,gout\n")
    with pytest.raises(DataError) as error:
        read_microdata(path, quasi=["town"], sensitive="ill")
    assert problems(error) == [("two-spellings", 3)]
    data = read_microdata(path, quasi=["town"], sensitive="ill", normalize="NFC")
    assert [row[0] for row in rows(data)] == ["caf\u00e9"] * 2
    odd = table("town,ill\nRome ,flu\nOslo,gout\n")
    assert any("column 'town'" in n for n in read_microdata(odd, quasi="town", sensitive="ill").notices)
    with pytest.raises(DataError) as error:
        read_microdata(odd, quasi=["town"], sensitive="ill", strict=True)
    assert problems(error) == [("odd-label", 2)]


@pytest.mark.parametrize(
    ("text", "code", "line"),
    [
        ("", "no-records", None),
        ("age,sex,ill\n", "no-records", None),
        ("age,sex,ill\n1,F\n", "ragged-row", 2),
        ("age,sex,ill\n1,F,x\n\n", "blank-line", 3),
        ('age,sex,ill\n1,F,"x\n', "unclosed-quote", 2),
    ],
)
def test_broken_files(table: Any, text: str, code: str, line: int | None) -> None:
    with pytest.raises(DataError) as error:
        read_microdata(table(text), **USUAL)
    assert problems(error) == [(code, line)]


def test_no_cell_is_in_a_message(table: Any) -> None:
    path = table("id,age,sex,ill\ncanary1,canary2,F,canary3\ncanary1,,M,\n")
    with pytest.raises(DataError) as error:
        read_microdata(path, **USUAL, id_column="id")
    assert "canary" not in str(error.value)
