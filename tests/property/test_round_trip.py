"""What is written in any format reads back as the same rows, whatever the labels hold."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from setveil.errors import DataError, Problem
from setveil.io.csv_text import parse_carefully, split_fields
from setveil.io.formats import cannot_hold, data_file_name, format_of
from setveil.io.formats.base import Reading
from setveil.io.formats.jsonl import read_plain
from setveil.io.frames import from_frame, to_arrow
from setveil.io.records import read_records
from setveil.io.source import Source
from setveil.io.spelling import cleaned
from setveil.io.transactions import read_transactions
from setveil.model.layout import Layout, LayoutColumn
from setveil.model.transactions import Transactions

HOSTILE = [
    'say "cheese"', "salt, pepper", "whole milk", " leading", "trailing ", "tab\there", "two\nlines",
    "dos\r\nlines", "old\rmac", '"', '""', ",", ";", "|", "=cmd()", "+1-2", "@sum", "-1", "-2", "#hash",
    "%percent", "NA", "null", "None", "nan", "0", "1", "true", "01", "1.0", "é", "e\u0301x", "\u2028",
    "\x0b", "\x0c", "\x1f", "\x85", "\u00a0nb", "日本", "😀",
    "\\", "\\n", "[", "{}", "a=b", "=", "\u200bz",
    "record", "item", "id", "-", "'", "x" * 300,
]  # fmt: skip

texts = st.one_of(
    st.sampled_from(HOSTILE),
    st.text(
        st.characters(exclude_categories=["Cs"], exclude_characters="\0\ufeff"), min_size=1, max_size=6
    ),
    st.text(alphabet='ab",;| \n\r\t=', min_size=1, max_size=5),
)
row_lists = st.lists(st.sets(texts, max_size=5), min_size=1, max_size=8)
LAYOUTS = [
    Layout(name, delimiter=mark, gzip=packed)
    for name, mark, packed in [
        ("baskets", ",", False), ("baskets", ";", True), ("baskets", "\t", False),
        ("long", ",", False), ("long", "|", True), ("onehot", ",", False), ("onehot", ";", True),
        ("fimi", " ", False), ("fimi", " ", True), ("jsonl", ",", False), ("jsonl", ",", True),
        ("parquet", ",", False),
    ]
]  # fmt: skip


def canonical(rows: list[set[str]]) -> list[tuple[str, ...]]:
    return sorted(tuple(sorted(row)) for row in rows)


def no_twins(rows: list[set[str]]) -> bool:
    """Tell whether no two labels look the same: such pairs are refused on reading, rightly."""
    labels = {label for row in rows for label in row}
    return len({cleaned(label) for label in labels}) == len(labels)


def written(transactions: Transactions, layout: Layout) -> bytes:
    file = io.BytesIO()
    format_of(layout).write(transactions, layout, file)
    return file.getvalue()


def reread(data: bytes, layout: Layout, folder: Path) -> Transactions:
    path = folder / data_file_name(layout)
    path.write_bytes(data)
    uses = layout.format in ("baskets", "long", "onehot")
    return read_transactions(path, layout=layout.format, delimiter=layout.delimiter if uses else None)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("round_trip")


@pytest.mark.parametrize("layout", LAYOUTS[:-1], ids=lambda x: f"{x.format}{x.delimiter}{x.gzip:d}")
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(rows=row_lists)
def test_text_formats_read_back(layout: Layout, rows: list[set[str]], folder: Path) -> None:
    check_round_trip(layout, rows, folder)


@settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
@given(rows=row_lists)
def test_parquet_reads_back(rows: list[set[str]], folder: Path) -> None:
    """Fewer examples, since each read starts a process."""
    check_round_trip(LAYOUTS[-1], rows, folder)


def check_round_trip(layout: Layout, rows: list[set[str]], folder: Path) -> None:
    assume(no_twins(rows))
    transactions = Transactions.from_rows(canonical(rows))
    if cannot_hold(transactions, layout) is not None:
        if layout.format == "fimi":
            rows = [{label for label in row if label.isalnum()} for row in rows]
        rows = [row for row in rows if row]
        assume(rows)
        transactions = Transactions.from_rows(canonical(rows))
    assert cannot_hold(transactions, layout) is None
    data = written(transactions, layout)
    back = reread(data, layout, folder)
    assert list(back.rows()) == canonical(rows)
    assert back.layout is not None
    assert replace(back.layout, delimiter=layout.delimiter) == layout
    assert written(Transactions.from_rows(sorted(back.rows())), layout) == data


@settings(max_examples=80, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    rows=st.lists(st.tuples(texts, st.sets(texts, max_size=4), st.sets(texts, max_size=2)), min_size=1),
    mark=st.sampled_from(",;\t"),
    separator=st.sampled_from([" ", "|", "; ", "::"]),
)
def test_tables_read_back(
    rows: list[tuple[str, set[str], set[str]]], mark: str, separator: str, folder: Path
) -> None:
    columns = (
        LayoutColumn("the sex", "kept"),
        LayoutColumn('drugs, "all"', "set", separator),
        LayoutColumn("more", "set", "/"),
    )
    names = [column.name for column in columns]
    sets = [
        {f"{names[0]}={kept}"}
        | {f"{names[1]}={x}" for x in first}
        | {f"{names[2]}={x}" for x in second}
        for kept, first, second in rows
    ]
    assume(
        all(
            no_twins([{x} if isinstance(x, str) else x for x in col]) for col in zip(*rows, strict=True)
        )
    )
    layout = Layout("table", delimiter=mark, columns=columns)
    transactions = replace(Transactions.from_rows(canonical(sets)), layout=layout)
    assume(cannot_hold(transactions, layout) is None)
    path = folder / data_file_name(layout)
    path.write_bytes(written(transactions, layout))
    # As it is: a blank behind a separator belongs to the item here, though people mostly mean none.
    back = read_records(
        path,
        set_columns={names[1]: separator, names[2]: "/"},
        keep=[names[0]],
        delimiter=mark,
        as_is=True,
    )
    assert back.columns == columns
    assert sorted(back.as_transactions().rows()) == canonical(sets)


@settings(max_examples=80, deadline=None)
@given(rows=row_lists)
def test_arrow_reads_back(rows: list[set[str]]) -> None:
    assume(no_twins(rows))
    transactions = Transactions.from_rows(canonical(rows))
    assert list(from_frame(to_arrow(transactions)).rows()) == canonical(rows)


def careful_rows(data: bytes, mark: str) -> tuple[list[tuple[int, list[str]]], tuple[Problem, ...]]:
    try:
        return parse_carefully(data, delimiter=mark, name="f"), ()
    except DataError as error:
        return [], error.problems


@settings(max_examples=400, deadline=None)
@given(text=st.text(alphabet='ab",\r\n é', max_size=24), mark=st.sampled_from(",b"))
def test_fast_and_careful_csv_agree(text: str, mark: str) -> None:
    """The array path and the walking parser accept the same texts and give the same rows and lines."""
    data = text.encode()
    careful, faults = careful_rows(data, mark)
    if faults:
        with pytest.raises(DataError) as fast:
            split_fields(data, delimiter=mark, name="f")
        assert fast.value.problems == faults
        return
    fields = split_fields(data, delimiter=mark, name="f")
    assert [(int(fields.line_of_row[row]), fields.row(row)) for row in range(fields.n_rows)] == careful


json_lines = st.lists(
    st.one_of(
        st.lists(texts, max_size=4).map(lambda row: json.dumps(row, ensure_ascii=False)),
        st.lists(st.sampled_from(["a", "b,c", "d e", "[", "é"]), max_size=3).map(
            lambda row: json.dumps(row, ensure_ascii=False, separators=(",", ":"))
        ),
        st.text(alphabet='[]",a \\', max_size=8),
    ),
    min_size=1,
    max_size=4,
)


@settings(max_examples=300, deadline=None)
@given(lines=json_lines, last=st.sampled_from(["", "\n"]))
def test_fast_json_takes_only_json(lines: list[str], last: str) -> None:
    """Whatever the array path accepts, the JSON parser reads the same way."""
    source = Source("f.jsonl", ("\n".join(lines) + last).encode())
    plain = read_plain(Reading(source.data, source))
    if plain is None:
        return
    exact = [json.loads(line) for line in ("\n".join(lines)).split("\n")[: plain.n_rows]]
    found: list[list[str]] = [[] for _ in range(plain.n_rows)]
    for row, code in zip(plain.row_of_entry.tolist(), plain.code_of_entry.tolist(), strict=True):
        found[row].append(plain.values[code])
    assert found == exact


@settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))
@given(text=st.text(alphabet="ab1 \t\n\v\f\x1f\x85\u00a0\u2028", min_size=1, max_size=30))
def test_fimi_agrees_with_a_plain_split(text: str, folder: Path) -> None:
    path = folder / "plain.dat"
    path.write_bytes(text.encode())
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    rows = [{token for token in split_ascii(line) if token} for line in lines]
    assume(any(rows) and no_twins(rows))
    back = read_transactions(path, layout="fimi", empty_rows="keep")
    assert list(back.rows()) == [tuple(sorted(row)) for row in rows]
    assert back.first_line_by_item is not None
    for label, line in zip(back.vocabulary.labels, back.first_line_by_item.tolist(), strict=True):
        assert label in rows[line - 1] and not any(label in row for row in rows[: line - 1])


def split_ascii(line: str) -> list[str]:
    for blank in "\t\v\f\r":
        line = line.replace(blank, " ")
    return line.split(" ")


def test_labelled_csv_goes_through_every_format(tmp_path: Path) -> None:
    """Quotes, commas and blanks in names survive from a CSV file through each format and back."""
    path = tmp_path / "baskets.csv"
    path.write_text('"salt, fine","6"" pipe",whole milk\nwhole milk," spaced "\n"a\nb",milk\n')
    baskets = read_transactions(path, layout="baskets", delimiter=",")
    rows = sorted(baskets.rows())
    assert ('6" pipe', "salt, fine", "whole milk") in rows
    canonical_baskets = Transactions.from_rows(rows)
    for layout in LAYOUTS:
        if layout.format == "fimi":
            assert "blanks" in str(cannot_hold(canonical_baskets, layout))
            continue
        back = reread(written(canonical_baskets, layout), layout, tmp_path)
        assert list(back.rows()) == rows
    assert pa.table(to_arrow(canonical_baskets)).column("items").to_pylist() == [list(r) for r in rows]
