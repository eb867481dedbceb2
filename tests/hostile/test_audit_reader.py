"""A release folder that was touched in any way is refused, and the message says where."""

from __future__ import annotations

import gzip
import json
import os
import socket
import stat
import zlib

import pytest

from setveil.audit import read_release
from setveil.audit.formats import unpack
from setveil.errors import DataError, FileSystemError, HierarchyError, ResourceLimit
from tests.unit.audit.folders import ROWS, packed, spelled, write_folder


def problem(folder, error=DataError):
    with pytest.raises(error) as caught:
        read_release(folder)
    (only,) = caught.value.problems
    assert only.what
    return only


@pytest.fixture
def folder(tmp_path):
    return write_folder(tmp_path / "release")


def test_the_untouched_folder_is_fine(folder):
    assert read_release(folder).published.records == len(ROWS)


def test_a_spare_file_is_refused(folder):
    (folder / ".hidden").write_text("x")
    assert problem(folder).code == "spare-file"


def test_a_spare_folder_is_refused(folder):
    (folder / "more").mkdir()
    assert problem(folder).code == "spare-file"


@pytest.mark.parametrize("name", ["data.csv", "hierarchy.csv"])
def test_a_missing_file_is_refused(folder, name):
    (folder / name).unlink()
    assert problem(folder).code == "missing-file"


def test_a_folder_without_certificate_is_no_release(folder):
    (folder / "certificate.json").unlink()
    assert problem(folder).code == "no-release"


def test_a_missing_folder_is_a_matter_of_the_file_system(tmp_path):
    problem(tmp_path / "nowhere", FileSystemError)


@pytest.mark.parametrize("name", ["data.csv", "hierarchy.csv"])
def test_a_changed_byte_is_refused(folder, name):
    content = bytearray((folder / name).read_bytes())
    content[0] ^= 1
    (folder / name).write_bytes(content)
    found = problem(folder)
    assert (found.code, found.file) == ("changed", name)


def test_a_file_that_grows_meanwhile_is_refused(folder, monkeypatch):
    real = os.fstat

    def told_before(number):
        told = list(real(number)[:10])
        told[stat.ST_SIZE] -= 1
        return os.stat_result(told)

    monkeypatch.setattr(os, "fstat", told_before)
    found = problem(folder)
    assert (found.code, found.file) == ("changed", "certificate.json")


@pytest.mark.parametrize("name", ["data.csv", "hierarchy.csv", "certificate.json"])
def test_a_symbolic_link_is_refused(folder, tmp_path, name):
    (folder / name).rename(tmp_path / "elsewhere")
    (folder / name).symlink_to(tmp_path / "elsewhere")
    assert problem(folder).code == "not-regular"


def test_pipes_and_sockets_are_refused(folder):
    (folder / "data.csv").unlink()
    os.mkfifo(folder / "data.csv")
    assert problem(folder).code == "not-regular"
    (folder / "data.csv").unlink()
    with socket.socket(socket.AF_UNIX) as server:
        here = os.getcwd()
        os.chdir(folder)
        try:
            server.bind("data.csv")
        finally:
            os.chdir(here)
        assert problem(folder).code == "not-regular"


BAD_BASKETS = [
    (b"b\na\n", "row-order", 2),
    (b"b,a\n", "label-order", 1),
    (b"a\na,a\n", "repeated-label", 2),
    (b"a\nb", "no-line-end", 2),
    (b"a\r\nb\r\n", "quoting", 1),
    (b'"a"\n', "quoting", 1),
    (b'a\n" b"\n"c\n', "unclosed-quote", 3),
    (b'a\n"b,\n', "unclosed-quote", 2),
    (b'a\n"b,"x\n', "after-quote", 2),
    (b'a"b\n', "quoting", 1),
    (b" a\n", "quoting", 1),
    (b"a\n\nb\n", "quoting", 2),
    (b'a\n""\n', "empty-label", 2),
    (b"a,,b\n", "empty-label", 1),
    (b"a,\n", "empty-label", 1),
    (b"\xef\xbb\xbfa\n", "byte-order-mark", 1),
    (b"a\nb\xff\n", "not-utf8", 2),
    (b"a\nb\xed\xa0\x80\n", "not-utf8", 2),
    (b"a\nb\0\n", "nul", 2),
    (b"", "no-records", None),
]


@pytest.mark.parametrize(("data", "code", "line"), BAD_BASKETS)
def test_bad_baskets_name_the_line(tmp_path, data, code, line):
    found = problem(write_folder(tmp_path / "r", data=data))
    assert (found.code, found.line, found.file) == (code, line, "data.csv")


BAD_OTHERS = [
    ("long", b"record,item\n1,a\n3,b\n", "record-number", 3),
    ("long", b"record,item\n01,a\n", "record-number", 2),
    ("long", b"record,item\n0,a\n", "record-number", 2),
    ("long", b"record,item\n1,a\n1,a\n", "repeated-label", 2),
    ("long", b"record,item\n1,b\n2,a\n", "row-order", 3),
    ("long", b"record,item,x\n1,a,y\n", "header", 1),
    ("long", b"record,item\n1,a,y\n", "ragged-row", 2),
    ("onehot", b"a,b\n1,0\n0,2\n", "ragged-row", 3),
    ("onehot", b"a,b\n1,0\n0,1,1\n", "ragged-row", 3),
    ("onehot", b"a,b\n1;1\n", "ragged-row", 2),
    ("onehot", b"b,a\n1,1\n", "label-order", 1),
    ("onehot", b"a,a\n1,1\n", "repeated-label", 1),
    ("onehot", b"a,b\n1,0\n1,0\n", "spare-column", 1),
    ("onehot", b"a,b\n0,1\n1,0\n", "row-order", 3),
    ("onehot", b'"a"\n1\n', "quoting", 1),
    ("onehot", b'"a,\nb"\n1\n2\n', "ragged-row", 4),
    ("onehot", b"a,b\n", "no-records", None),
    ("onehot", b"", "header", 1),
    ("onehot", b'"a\n', "header", 1),
    ("onehot", b"a\xff\n1\n", "not-utf8", 1),
    ("onehot", b"a,b\n1,1\n1,1", "ragged-row", 3),
    ("onehot", b"a,b\n1,1\n1,1\n\n", "ragged-row", 4),
    ("onehot", b"a,b\n1,1\r\n", "ragged-row", 2),
    ("fimi", b"a  b\n", "empty-label", 1),
    ("fimi", b"a b \n", "empty-label", 1),
    ("fimi", b"a\n\nb\n", "empty-label", 2),
    ("fimi", b"a\nb\tc\n", "white-space", 2),
    ("fimi", b"a\r\n", "white-space", 1),
    ("jsonl", b'["a", "b"]\n', "json-spelling", 1),
    ("jsonl", b'["a"]\n["\\u0062"]\n', "json-spelling", 2),
    ("jsonl", b'["a"]\n[1]\n', "json", 2),
    ("jsonl", b'["a"]\n{"a":1}\n', "json", 2),
    ("jsonl", b'["a"\n', "json", 1),
    ("jsonl", b'["\\ud800"]\n', "json-spelling", 1),
    ("jsonl", b"[" * 100_000 + b"\n", "json", 1),
    ("jsonl", b'["a","a"]\n', "repeated-label", 1),
    ("jsonl", b'[""]\n', "empty-label", 1),
    ("parquet", b"PAR1", "parquet", None),
    ("parquet", b"", "parquet", None),
]


@pytest.mark.parametrize(("form", "data", "code", "line"), BAD_OTHERS)
def test_bad_data_name_the_line(tmp_path, form, data, code, line):
    found = problem(write_folder(tmp_path / "r", form, data=data))
    assert (found.code, found.line) == (code, line)


def columns(certificate):
    certificate["data"]["columns"] = [
        {"name": "s", "kind": "kept"},
        {"name": "t", "kind": "set", "separator": "|"},
    ]


@pytest.mark.parametrize(
    ("data", "code", "line"),
    [
        (b"s,u\n", "header", 1),
        (b"s,t\n1,a,x\n", "ragged-row", 2),
        (b"s,t\n1,b|a\n", "label-order", 2),
        (b"s,t\n1,a|a\n", "repeated-label", 2),
        (b"s,t\n1,a|\n", "empty-label", 2),
        (b"s,t\n2,a\n1,a\n", "row-order", 3),
        (b"s,t\n1,b\n1,a|b\n", "row-order", 3),
        (b"s,t\n", "no-records", None),
    ],
)
def test_bad_tables_name_the_line(tmp_path, data, code, line):
    found = problem(write_folder(tmp_path / "r", "table", data=data, change=columns))
    assert (found.code, found.line) == (code, line)


def test_a_label_from_two_columns_is_refused(tmp_path):
    def colliding(certificate):
        certificate["data"]["columns"] = [
            {"name": "s", "kind": "kept"},
            {"name": "s=t", "kind": "kept"},
        ]

    data = b"s,s=t\nt=x,y\nz,x\n"
    found = problem(write_folder(tmp_path / "r", "table", data=data, change=colliding))
    assert found.code == "repeated-label"


def gzip_with(content, *, flags=0, extra=b"", time=0, tail=b""):
    deflater = zlib.compressobj(9, zlib.DEFLATED, -15)
    body = deflater.compress(content) + deflater.flush()
    head = b"\x1f\x8b\x08" + bytes([flags]) + time.to_bytes(4, "little") + b"\x02\xff" + extra
    sizes = zlib.crc32(content).to_bytes(4, "little") + len(content).to_bytes(4, "little")
    return head + body + sizes + tail


def test_plain_gzip_is_unpacked():
    assert unpack(gzip_with(b"abc"), "f") == b"abc"
    assert unpack(packed(b"abc"), "f") == b"abc"


@pytest.mark.parametrize(
    "content",
    [
        packed(b"a\n") + packed(b""),
        packed(b"a\n") + packed(b"b\n"),
        packed(b"a\n") + b"\0",
        packed(b"a\n")[:-1],
        packed(b"a\n")[:-8] + b"\0" * 8,
        gzip_with(b"a\n", flags=8, extra=b"name\0"),
        gzip_with(b"a\n", flags=16, extra=b"comment\0"),
        gzip_with(b"a\n", flags=4, extra=b"\2\0xx"),
        gzip_with(b"a\n", time=1),
        gzip_with(b"a\n", tail=b"x"),
        b"a\n",
        b"",
        b"\x1f\x8b",
        b"\x1f\x8b\x08\0\0\0\0\0\2",
    ],
)
def test_other_gzip_is_refused(content):
    with pytest.raises(DataError):
        unpack(content, "f")


def test_a_gzip_bomb_stops_at_the_limit():
    with pytest.raises(ResourceLimit):
        unpack(gzip.compress(b"\0" * 10_000_000, mtime=0), "f", largest=1_000_000)


def setting(*path, value):
    def change(certificate):
        place = certificate
        for key in path[:-1]:
            place = place[key]
        place[path[-1]] = value

    return change


def dropping(*path):
    def change(certificate):
        place = certificate
        for key in path[:-1]:
            place = place[key]
        del place[path[-1]]

    return change


@pytest.mark.parametrize(
    "change",
    [
        setting("message", value="x"),
        setting("tool", "host", value="x"),
        setting("data", "path", value="x"),
        setting("hierarchy", "x", value="x"),
        setting("verdict", "x", value="x"),
        setting("guarantee", "x", value="x"),
        setting("guarantee", "k", value=1),
        setting("guarantee", "k", value=True),
        setting("guarantee", "negative", value=False),
        setting("guarantee", value=[]),
        setting("guarantee", value={"model": "lm", "l": 2, "m": 1, "sensitive": ["zz"]}),
        setting("guarantee", value={"model": "lm", "l": 2, "m": 1, "sensitive": ["b", "a"]}),
        setting("certificate", value=1),
        setting("certificate", value=3),
        setting("certificate", value=True),
        setting("certificate", value=2.0),
        setting("report", value="report.html"),
        setting("report", "file", value="other.html"),
        setting("report", "sha256", value="0"),
        setting("report", "x", value="x"),
        setting("terms", "standard", value="a message"),
        setting("terms", "techniques", value="x"),
        setting("terms", "privacy_model", value=""),
        setting("terms", "x", value="x"),
        setting("evidence", "x", value={"shown": [], "not_shown": []}),
        setting("evidence", "inference", value=["x"]),
        setting("evidence", "inference", "shown", value="x"),
        setting("evidence", "inference", "x", value=[]),
        dropping("report"),
        dropping("terms", "truthfulness"),
        dropping("evidence", "linkability"),
        setting("tool", "name", value="other"),
        setting("tool", "version", value="0.1 hello"),
        setting("tool", value="setveil"),
        setting("promised", value="x"),
        setting("promised", value=[1]),
        setting("method", value="A message"),
        setting("recoding", value="other"),
        setting("loss", "ncp", value=0.031),
        setting("loss", "ncp", value=True),
        setting("loss", "other", value=0.5),
        setting("verdict", "holds", value=False),
        setting("verdict", "holds", value=1),
        setting("verdict", "mode", value="x"),
        setting("verdict", "verifier", value="x"),
        setting("verify", value="rm"),
        setting("date", value="2024-02-30"),
        setting("date", value="20240229"),
        setting("date", value=5),
        setting("data", "records", value=8),
        setting("data", "records", value="<2"),
        setting("data", "records", value=7.0),
        setting("data", "delimiter", value=",,"),
        setting("data", "delimiter", value='"'),
        setting("data", "format", value="csv"),
        setting("data", "format", value=["baskets"]),
        setting("data", "columns", value=[]),
        setting("data", "sha256", value="0"),
        setting("hierarchy", "file", value="../hierarchy.csv"),
        dropping("data", "delimiter"),
        dropping("verdict"),
        dropping("guarantee", "m"),
    ],
)
def test_a_changed_certificate_is_refused(folder, change):
    write_folder(folder, change=lambda certificate: None)
    certificate = json.loads((folder / "certificate.json").read_text())
    change(certificate)
    (folder / "certificate.json").write_bytes(spelled(certificate))
    assert problem(folder).file == "certificate.json"


def test_a_path_as_data_file_is_refused(folder):
    certificate = json.loads((folder / "certificate.json").read_text())
    certificate["data"]["file"] = "../release/data.csv"
    (folder / "certificate.json").write_bytes(spelled(certificate))
    assert problem(folder).code == "certificate-content"


@pytest.mark.parametrize(
    "respell",
    [
        lambda text: text + "\n",
        lambda text: text[:-1],
        lambda text: text.replace("  ", "    ", 1),
        lambda text: text.replace("0.03", "0.030", 1),
        lambda text: text.replace("setveil", "\\u0073etveil", 1),
        lambda text: text.replace('"certificate": 2,', '"certificate": 2,\n  "certificate": 2,'),
        lambda text: text.replace("0.03", "NaN", 1),
        lambda text: "\ufeff" + text,
        lambda text: json.dumps(json.loads(text)) + "\n",
        lambda text: "[]\n",
        lambda text: "",
        lambda text: "[" * 100_000 + "\n",
    ],
)
def test_another_spelling_of_the_certificate_is_refused(folder, respell):
    text = (folder / "certificate.json").read_text()
    (folder / "certificate.json").write_text(respell(text), encoding="utf-8")
    assert problem(folder).file == "certificate.json"


@pytest.mark.parametrize(
    ("hierarchy", "line"),
    [
        (b"a;All\nb;All\n", None),
        (b"a;All\nb;All\nc d;All\ne;All\n", None),
        (b"b;All\na;All\nc d;All\n", 2),
        (b"a;All\na;All\nb;All\nc d;All\n", 2),
        (b"a;A;All\nb;All\nc d;All;All\n", 2),
        (b"a;A;All\nb;A;Other\nc d;All;All\n", 2),
        (b"a;A;All\nb;All;A\nc d;All;All\n", 2),
        (b"a;A;a\nb;All;All\nc d;All;All\n", 1),
        (b"a;a;All\nb;All;All\nc d;All;All\n", 1),
        (b"a;All;All\nb;All;All\nc d;All;All\n", 1),
        (b"a;\nb;All\nc d;All\n", 1),
        (b"a;b;All\nb;All;All\nc d;All;All\n", None),
        (b'"a";All\nb;All\nc d;All\n', 1),
        (b"a;A\nb;B\nc d;C\n", None),
        (b"", None),
    ],
)
def test_a_wrong_hierarchy_is_refused(tmp_path, hierarchy, line):
    found = problem(write_folder(tmp_path / "r", hierarchy=hierarchy))
    assert (found.file, found.line) == ("hierarchy.csv", line)


def test_a_wrong_hierarchy_is_a_hierarchy_error(tmp_path):
    problem(write_folder(tmp_path / "r", hierarchy=b"a;All\n"), HierarchyError)


def test_messages_hold_no_long_label(tmp_path):
    secret = "s" * 500
    found = problem(write_folder(tmp_path / "r", data=f"a\n{secret},{secret}\n".encode()))
    assert len(found.what) < 120


def open_columns(certificate):
    certificate["data"]["columns"] = [
        {"name": "z", "kind": "unprotected"},
        {"name": "t", "kind": "set", "separator": "|"},
    ]


OPEN_PATHS = b"t=a;t=ALL\nt=b;t=ALL\n"


def test_unprotected_columns_are_no_labels(tmp_path):
    data = b"z,t\n,a|b\n1,a\n1,a|b\n"
    folder = write_folder(
        tmp_path / "r", "table", data=data, rows=[["a"]] * 3, hierarchy=OPEN_PATHS, change=open_columns
    )
    found = read_release(folder)
    assert found.published.labels == ("t=a", "t=b")
    assert found.published.records == 3
    assert found.uncovered == ("z",)


@pytest.mark.parametrize(
    ("data", "code", "line"),
    [
        (b"z,t\n2,a\n1,a\n", "row-order", 3),
        (b"z,t\n1,a|b\n1,a\n", "row-order", 3),
        (b"z,t\n1\n", "ragged-row", 2),
        (b'z,t\n"1",a\n', "quoting", 2),
    ],
)
def test_unprotected_columns_carry_no_message(tmp_path, data, code, line):
    found = problem(write_folder(tmp_path / "r", "table", data=data, change=open_columns))
    assert (found.code, found.line) == (code, line)


@pytest.mark.parametrize(
    "columns",
    [
        [{"name": "z", "kind": "unprotected"}],
        [{"name": "z", "kind": "unprotected", "separator": "|"}, {"name": "t", "kind": "kept"}],
        [{"name": "z", "kind": "raw"}, {"name": "t", "kind": "kept"}],
    ],
)
def test_odd_unprotected_columns_are_refused(tmp_path, columns):
    def change(certificate):
        certificate["data"]["columns"] = columns

    found = problem(write_folder(tmp_path / "r", "table", data=b"z,t\n1,a\n", change=change))
    assert found.code in ("certificate-content", "certificate-key")


@pytest.mark.parametrize(
    ("paths", "fits"),
    [
        (b"s=1;s=*\nt=a;t=ALL\n", True),
        (b"s=1;ALL\nt=a;t=ALL\n", False),
        (b"s=1;t=*\nt=a;t=ALL\n", False),
        (b"s=1;s=*\nt=a;s=ALL\n", False),
        (b"s;*\nt=a;t=ALL\n", False),
    ],
)
def test_json_lines_of_a_table_have_one_tree_a_column(tmp_path, paths, fits):
    label = "s" if paths.startswith(b"s;") else "s=1"
    data = f'["{label}","t=a"]\n'.encode() * 2
    folder = write_folder(tmp_path / "r", "jsonl", data=data, rows=[["a"], ["b"]], hierarchy=paths)
    if fits:
        assert read_release(folder).published.records == 2
    else:
        assert problem(folder, HierarchyError).code == "published-hierarchy"
