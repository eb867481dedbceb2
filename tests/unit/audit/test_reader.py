"""Hand-written release folders are read as they were written, in every format."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from setveil.audit import audit_folder, read_release
from setveil.audit.check import read_data
from setveil.errors import DataError
from setveil.model.guarantees import KAnonymity, KmAnonymity, LmDiversity
from tests.unit.audit.folders import ROWS, data_bytes, write_folder


def rows_of(published):
    return [
        [published.labels[code] for code in published.items[begin:end]]
        for begin, end in zip(published.indptr, published.indptr[1:], strict=False)
    ]


@pytest.mark.parametrize("gz", [False, True])
@pytest.mark.parametrize("form", ["baskets", "long", "onehot", "jsonl", "parquet"])
def test_every_format_is_read(tmp_path, form, gz):
    release = read_release(write_folder(tmp_path / "r", form, gz=gz))
    assert rows_of(release.published) == ROWS
    assert release.guarantee == KmAnonymity(2, 2)
    assert release.hierarchy.path_of_label["a"] == ("a", "A", "All")
    assert release.hierarchy.path_of_label["c d"] == ("c d", "All")
    assert release.certificate["method"] == "optimal"
    assert audit_folder(tmp_path / "r").holds


def test_fimi_is_read(tmp_path):
    rows = [["1", "2"], ["1", "2"], ["3"], ["3"]]
    hierarchy = b"1;*\n2;*\n3;*\n"
    verdict = audit_folder(write_folder(tmp_path / "r", "fimi", rows=rows, hierarchy=hierarchy))
    assert verdict.holds and verdict.records == 4 and verdict.smallest_support == 2


@pytest.mark.parametrize("form", ["onehot", "jsonl", "parquet"])
def test_empty_rows_are_records(tmp_path, form):
    rows = [[], [], *ROWS]
    negative = {"model": "km", "k": 2, "m": 2, "negative": True}
    folder = write_folder(tmp_path / "r", form, rows=rows, guarantee=negative)
    verdict = audit_folder(folder)
    assert verdict.records == 9 and verdict.holds


def table_columns(certificate):
    certificate["data"]["columns"] = [
        {"name": "sex", "kind": "kept"},
        {"name": "had", "kind": "set", "separator": " "},
    ]


def test_a_table_has_labels_with_column_names(tmp_path):
    data = b'sex,had\nF,\nF,\n"F,x",flu\n"F,x",flu pox\n'
    hierarchy = b"had=flu;had=*\nhad=pox;had=*\nsex=F;sex=*\nsex=F,x;sex=*\n"
    folder = write_folder(
        tmp_path / "r",
        "table",
        data=data,
        rows=[[]] * 4,
        hierarchy=hierarchy,
        change=table_columns,
    )
    release = read_release(folder)
    assert [set(row) for row in rows_of(release.published)] == [
        {"sex=F"},
        {"sex=F"},
        {"sex=F,x", "had=flu"},
        {"sex=F,x", "had=flu", "had=pox"},
    ]
    assert not audit_folder(folder).holds


def test_quoted_labels_are_read(tmp_path):
    data = '" a",b\n"a\nb"\n"q""q","x,y"\nö\n'.encode()
    hierarchy = '" a";*\n"a\nb";*\nb;*\n"q""q";*\n"x,y";*\nö;*\n'.encode()
    # In the hierarchy the delimiter is a semicolon, so x,y needs no quotes there.
    hierarchy = hierarchy.replace(b'"x,y"', b"x,y")
    rows = [[" a", "b"], ["a\nb"], ['q"q', "x,y"], ["ö"]]
    folder = write_folder(tmp_path / "r", data=data, rows=rows, hierarchy=hierarchy)
    assert rows_of(read_release(folder).published) == rows


labels = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\0\ufeff"), min_size=1, max_size=4
)
hostile_rows = st.lists(st.sets(labels, min_size=1, max_size=4).map(sorted), min_size=1).map(sorted)


@given(hostile_rows, st.sampled_from(",;\t| ~é"))
def test_hostile_labels_come_back_from_quotes(rows, delimiter):
    def field(label):
        special = set(label) & {delimiter, '"', "\r", "\n"}
        if special or label[0] in " \t" or label[-1] in " \t":
            return '"' + label.replace('"', '""') + '"'
        return label

    text = "".join(delimiter.join(map(field, row)) + "\n" for row in rows)
    about = {"format": "baskets", "delimiter": delimiter}
    assert rows_of(read_data(text.encode(), about, "data.csv")) == rows


@given(hostile_rows)
def test_hostile_labels_come_back_from_json(rows):
    assert rows_of(read_data(data_bytes("jsonl", rows), {"format": "jsonl"}, "data")) == rows


@given(hostile_rows)
@settings(max_examples=8, deadline=None)  # each example starts a process
def test_hostile_labels_come_back_from_parquet(rows):
    assert rows_of(read_data(data_bytes("parquet", rows), {"format": "parquet"}, "data")) == rows


@pytest.mark.parametrize(
    ("plain", "guarantee", "holds"),
    [
        ({"model": "k", "k": 2}, KAnonymity(2), True),
        ({"model": "k", "k": 3}, KAnonymity(3), False),
        (
            {"model": "lm", "l": 2, "m": 1, "sensitive": ["a"]},
            LmDiversity(2, 1, frozenset("a")),
            False,
        ),
    ],
)
def test_the_guarantee_comes_from_the_certificate(tmp_path, plain, guarantee, holds):
    hierarchy = b"a\nb\nc d\n"  # a sensitive label is a tree of its own
    folder = write_folder(tmp_path / "r", guarantee=plain, hierarchy=hierarchy)
    verdict = audit_folder(folder)
    assert verdict.guarantee == guarantee and verdict.holds is holds


def test_few_records_are_banded(tmp_path):
    guarantee = {"model": "km", "k": 50, "m": 2}
    with pytest.raises(DataError, match="records"):
        read_release(write_folder(tmp_path / "r", guarantee=guarantee))

    def band(certificate):
        certificate["data"]["records"] = "<50"

    assert not audit_folder(write_folder(tmp_path / "r", guarantee=guarantee, change=band)).holds


def test_local_recoding_may_publish_a_label_and_its_ancestor(tmp_path):
    rows = [["A"], ["a"], ["a"]]
    hierarchy = b"A;A\na;A\n"

    def local(certificate):
        certificate["recoding"] = "local"

    folder = tmp_path / "r"
    with pytest.raises(DataError, match="above another"):
        read_release(write_folder(folder, rows=rows, hierarchy=hierarchy))
    write_folder(folder, rows=rows, hierarchy=hierarchy, change=local)
    release = read_release(folder)
    assert release.hierarchy.leaves_under() == {"A": ("A", "a"), "a": ("a",)}
    assert not audit_folder(folder).holds
    # Leaves under A other than a are covered by one row alone.
    assert not audit_folder(folder, mode="cover").holds
    rows.insert(0, ["A"])
    write_folder(folder, rows=rows, hierarchy=hierarchy, change=local)
    assert audit_folder(folder, mode="cover").smallest_support == 2


def test_several_roots_need_a_reason(tmp_path):
    hierarchy = b"a;A\nb;B\nc d;C\n"
    folder = tmp_path / "r"
    with pytest.raises(DataError, match="3 roots"):
        read_release(write_folder(folder, hierarchy=hierarchy))
    lm = {"model": "lm", "l": 2, "m": 1, "sensitive": ["a"]}
    apart = b"a;a\nb;B\nc d;C\n"
    assert read_release(write_folder(folder, hierarchy=apart, guarantee=lm))
    assert read_release(write_folder(folder, hierarchy=b"a\nb\nc d\n"))


def test_a_date_is_allowed(tmp_path):
    def dated(certificate):
        certificate["date"] = "2024-02-29"

    assert audit_folder(write_folder(tmp_path / "r", change=dated)).holds
    assert json.loads((tmp_path / "r" / "certificate.json").read_text())["date"]
