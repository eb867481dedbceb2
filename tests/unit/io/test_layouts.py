"""Each layout, sniffed and named, with its options."""

from __future__ import annotations

from pathlib import Path

import pytest

from setveil.errors import DataError, UsageError
from setveil.io.lists import read_labels
from setveil.io.transactions import read_transactions
from setveil.model.layout import Layout
from setveil.model.transactions import Transactions
from tests.shared_data import shared_data


def read(tmp_path: Path, name: str, text: str, **options: object) -> Transactions:
    path = tmp_path / name
    path.write_bytes(text.encode())
    return read_transactions(path, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "text", "layout"),
    [
        ("a.csv", "milk,beer\nwine\n", Layout("baskets", ",")),
        ("a.csv", "milk;beer, dark\nwine;milk\n", Layout("baskets", ";")),
        ("a.csv", '"a;b";c\n"a,b,c";d\n', Layout("baskets", ";")),
        ("a.tsv", "milk\tbeer\n", Layout("baskets", "\t")),
        ("a.csv", "whole milk\nred wine\n", Layout("baskets", ",")),
        ("a.csv", "id,item\n1,milk\n1,beer\n", Layout("long", ",")),
        ("a.csv", "Customer ID;Product\n1;milk\n1;beer\n", Layout("long", ";")),
        ("a.csv", "bread,item\nmilk,beer\n", Layout("baskets", ",")),
        ("a.csv", "milk,beer\n1,0\n0,1\n", Layout("onehot", ",")),
        ("a.csv", "milk|beer\ntrue|false\n", Layout("onehot", "|")),
        ("a.csv", "1,0\n0,1\n", Layout("baskets", ",")),
        ("a.dat", "1 2\n3\n", Layout("fimi", " ")),
        ("a.txt", "1 2\n3\n", Layout("fimi", " ")),
        ("a.txt", "milk,beer\n", Layout("baskets", ",")),
        ("a.txt", '["milk"]\n', Layout("jsonl")),
        ("a.jsonl", '{"items":["milk"]}\n', Layout("jsonl")),
    ],
)
def test_the_guess_and_its_notice(tmp_path: Path, name: str, text: str, layout: Layout) -> None:
    found = read(tmp_path, name, text)
    assert found.layout == layout
    assert f"the layout {layout.format}" in found.notices[0]
    assert "--layout" in found.notices[0]


def test_a_named_layout_gives_no_notice(tmp_path: Path) -> None:
    assert read(tmp_path, "a.csv", "1,0\n", layout="baskets", delimiter=",").notices == ()
    assert "';'" in read(tmp_path, "a.csv", "a;b\n", layout="baskets").notices[0]


def test_long_rows_of_one_id_are_one_record(tmp_path: Path) -> None:
    text = "who,what,when\nx,milk,1\ny,beer,1\nx,wine,2\n"
    found = read(tmp_path, "a.csv", text, id_column="who", item_column="what")
    assert list(found.rows()) == [("milk", "wine"), ("beer",)]
    assert any("'when'" in notice for notice in found.notices)


def test_long_without_header_and_with_too_many_columns(tmp_path: Path) -> None:
    found = read(tmp_path, "a.csv", "x,milk\nx,beer\n", layout="long", header=False)
    assert list(found.rows()) == [("beer", "milk")]
    with pytest.raises(UsageError, match="columns-unnamed"):
        read(tmp_path, "a.csv", "a,b,c\n1,2,3\n", layout="long")


def test_counts_become_items(tmp_path: Path) -> None:
    text = "id,item,n\n1,milk,2\n1,milk,1\n1,beer,1\n2,milk,3\n"
    named = {"id_column": "id", "item_column": "item"}
    found = read(tmp_path, "a.csv", text, count_column="n", **named)
    assert list(found.rows()) == [("beer x1", "milk x3"), ("milk x3",)]
    repeated = read(tmp_path, "a.csv", text, counts=True, **named)
    assert list(repeated.rows()) == [("beer x1", "milk x2"), ("milk x1",)]
    assert found.first_line_of("milk x3") == 2


def test_a_header_of_baskets_is_left_out(tmp_path: Path) -> None:
    found = read(tmp_path, "a.csv", "first,second\nmilk,beer\n", layout="baskets", header=True)
    assert list(found.rows()) == [("beer", "milk")]


def test_lines_of_items_count_quoted_line_ends(tmp_path: Path) -> None:
    found = read(tmp_path, "a.csv", '"a\nb",c\nd\n"e\n\nf",g\nh\n', layout="baskets", delimiter=",")
    lines = {label: found.first_line_of(label) for label in found.vocabulary}
    assert lines == {"a\nb": 1, "c": 1, "d": 3, "e\n\nf": 4, "g": 4, "h": 7}


def test_json_objects_ids_and_other_keys(tmp_path: Path) -> None:
    text = '{"who":"x","items":["a"],"age":3}\n{"who":"x","items":["b"]}\n{"who":"y","items":[]}\n'
    found = read(tmp_path, "a.jsonl", text, id_column="who")
    assert list(found.rows()) == [("a", "b"), ()]
    assert any("'age'" in notice for notice in found.notices)
    assert any("merged" in notice for notice in found.notices)


def test_onehot_spellings_and_the_plain_path_agree(tmp_path: Path) -> None:
    plain = read(tmp_path, "a.csv", "milk,beer\n1,0\n0,0\n1,1\n", layout="onehot")
    worded = read(tmp_path, "a.csv", "milk,beer\ntrue,false\n0,0\n1,TRUE", layout="onehot")
    quoted = read(tmp_path, "a.csv", '"milk","beer"\r\n1,0\r\n0,"0"\r\n1,1\r\n', layout="onehot")
    assert list(plain.rows()) == list(worded.rows()) == list(quoted.rows())
    assert list(plain.rows()) == [("milk",), (), ("beer", "milk")]
    assert plain.first_line_of("beer") == worded.first_line_of("beer") == 4


def test_labels_from_a_file(tmp_path: Path) -> None:
    items = tmp_path / "items.csv"
    items.write_text("id;label;group\n1;milk;dairy\n2;beer;drinks\n3;milk;dairy\n")
    found = read(tmp_path, "a.dat", "1 2\n3\n", labels=items)
    assert list(found.rows()) == [("beer", "milk"), ("milk",)]
    assert any("merged" in notice for notice in found.notices)
    assert read_labels({"1": "x"}) == {"1": "x"}


@pytest.mark.parametrize(
    ("text", "code", "line"),
    [
        ("1,milk\n2\n", "ragged-row", 2),
        ("1,milk\n2,\n", "empty-label", 2),
        ("1,milk\n2,beer\n1,wine\n", "two-labels", 3),
        ("id,label\n", "no-records", None),
    ],
)
def test_bad_files_of_labels(tmp_path: Path, text: str, code: str, line: int | None) -> None:
    items = tmp_path / "items.csv"
    items.write_text(text)
    with pytest.raises(DataError) as caught:
        read_labels(items)
    assert (caught.value.problems[0].code, caught.value.problems[0].line) == (code, line)


def test_real_data_by_ids_and_by_labels_are_the_same() -> None:
    by_label = read_transactions(shared_data("groceries.csv.gz"))
    by_id = read_transactions(
        shared_data("groceries.dat.gz"), labels=shared_data("groceries.items.csv")
    )
    assert list(by_id.rows()) == list(by_label.rows())
    assert by_id.layout == Layout("fimi", " ", gzip=True)
    assert len(by_label) == 9835 and len(by_label.vocabulary) == 169


def test_retail_has_its_known_shape() -> None:
    retail = read_transactions(shared_data("retail.dat.gz"))
    assert (len(retail), len(retail.vocabulary), len(retail.items)) == (88_162, 16_470, 908_576)


def test_a_named_layout_has_only_its_delimiter_guessed(tmp_path: Path) -> None:
    found = read(tmp_path, "a.dat", "milk;beer\nwine\n", layout="baskets")
    assert found.layout == Layout("baskets", ";")
    assert list(found.rows()) == [("beer", "milk"), ("wine",)]


def test_a_delimiter_that_parts_nothing_is_told(tmp_path: Path) -> None:
    found = read(tmp_path, "a.csv", "milk;beer\nwine\nmilk;wine\n", layout="baskets", delimiter=",")
    assert any("--delimiter ';'" in notice for notice in found.notices)


def test_missing_and_ids_in_other_layouts(tmp_path: Path) -> None:
    found = read(tmp_path, "a.csv", "id,item\n1,NA\n1,7\n2,NA\n", missing="NA", labels={"7": "milk"})
    assert list(found.rows()) == [("milk",), ()]
