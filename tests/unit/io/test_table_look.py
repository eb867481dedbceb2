"""A table or a log is not taken for baskets by a guess."""

from __future__ import annotations

from pathlib import Path

import pytest

from setveil.errors import DataError
from setveil.io.transactions import read_transactions
from setveil.model.transactions import Transactions
from tests.shared_data import shared_data

LOG = [f"c{n // 2},2024-01-{1 + n % 28:02},p{n % 7}" for n in range(30)]
PAIRS = [f"i{n % 7},i{n % 7 + 1 + n % 3}" for n in range(30)]


def read(tmp_path: Path, lines: list[str], **options: object) -> Transactions:
    path = tmp_path / "a.csv"
    path.write_text("".join(line + "\n" for line in lines))
    return read_transactions(path, **options)  # type: ignore[arg-type]


def refusal(tmp_path: Path, lines: list[str], **options: object) -> str:
    with pytest.raises(DataError) as caught:
        read(tmp_path, lines, **options)
    problem = caught.value.problems[0]
    assert problem.code == "looks-like-a-table"
    assert "--layout baskets" in (problem.remedy or "")
    assert "--quasi COLUMNS --sensitive COLUMN" in (problem.remedy or "")
    return problem.what


def test_columns_that_share_no_value_are_a_table(tmp_path: Path) -> None:
    what = refusal(tmp_path, LOG)
    assert what.startswith(
        "every line has 3 fields and no value occurs in two columns: this looks like"
    )
    assert refusal(tmp_path, LOG, delimiter=",") == what


@pytest.mark.parametrize("header", [None, True])
def test_a_header_is_told_of_where_it_is_not_known(tmp_path: Path, header: bool | None) -> None:
    what = refusal(tmp_path, ["customer,date,product", *LOG], header=header)
    assert ("the first line looks like names of columns" in what) is (header is None)


def test_rows_that_repeat_a_value_are_a_table(tmp_path: Path) -> None:
    grades = [f"{n % 5},{n % 3},{n % 2}" for n in range(60)]
    what = refusal(tmp_path, grades)
    assert "of 60 lines hold a value twice" in what
    assert len(read(tmp_path, grades, counts=True)) == 60


def test_an_empty_cell_is_no_common_value(tmp_path: Path) -> None:
    refusal(tmp_path, [*LOG, ",2024-02-01,", "c9,,p1"])


@pytest.mark.parametrize(
    ("lines", "options"),
    [
        (LOG[:19], {}),
        (LOG, {"layout": "baskets"}),
        ([*LOG, "c1,p1"], {}),
        (PAIRS, {}),
        ([f"i{n}" for n in range(30)], {}),
    ],
)
def test_baskets_are_still_read(tmp_path: Path, lines: list[str], options: dict[str, str]) -> None:
    found = read(tmp_path, lines, **options)
    assert len(found) == len(lines)
    assert found.layout is not None
    assert found.layout.format == "baskets"


def test_lines_of_blanks_are_not_affected(tmp_path: Path) -> None:
    path = tmp_path / "a.dat"
    path.write_text("".join(f"{n} {1000 + n}\n" for n in range(30)))
    assert len(read_transactions(path)) == 30


def test_real_baskets_are_read() -> None:
    assert len(read_transactions(shared_data("groceries.csv.gz"))) > 9000


def test_a_line_of_names_alone_is_enough(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text("customer,quantity\n" + "".join(f"{n},{n % 7 + 1}\n" for n in range(1, 41)))
    with pytest.raises(DataError, match="first line looks like names of columns"):
        read_transactions(path)
