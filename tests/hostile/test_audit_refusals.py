"""Releases and files that the audit must refuse although every single count in them is right."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import setveil as sv
from setveil.audit import audit_folder, read_release
from setveil.audit.check import read_data
from setveil.errors import DataError, HierarchyError, ResourceLimit, SetveilError, UsageError
from tests.integration.cli import Shell
from tests.integration.conftest import shell as shell
from tests.unit.audit.folders import data_bytes, write_folder

LM = {"model": "lm", "l": 2, "m": 2, "sensitive": ["cancer"]}
COHERENCE = {"model": "coherence", "h": "50", "k": 2, "p": 1, "private": ["cancer"]}
ROWS = [["cancer", "x"], ["disease", "x"]]


def local(certificate: dict[str, Any]) -> None:
    certificate["recoding"] = "local"


@pytest.mark.parametrize("guarantee", [LM, COHERENCE], ids=["lm", "coherence"])
@pytest.mark.parametrize(
    ("hierarchy", "text"),
    [
        (b"cancer;disease\ndisease;disease\nx;x\n", "is below 'disease'"),
        (b"cancer;any\ndisease;any\nx;any\n", "is below 'any'"),
        (b"cancer;cancer\ndisease;cancer\nx;x\n", "is above 'disease'"),
    ],
    ids=["below", "below-a-root", "above"],
)
def test_a_sensitive_label_is_a_tree_of_its_own(
    tmp_path: Path, guarantee: dict[str, object], hierarchy: bytes, text: str
) -> None:
    folder = write_folder(
        tmp_path / "r", "jsonl", rows=ROWS, hierarchy=hierarchy, guarantee=guarantee, change=local
    )
    with pytest.raises(HierarchyError, match=text):
        read_release(folder)


@pytest.mark.parametrize("guarantee", [LM, COHERENCE], ids=["lm", "coherence"])
def test_a_sensitive_label_that_stands_alone_is_read(
    tmp_path: Path, guarantee: dict[str, object]
) -> None:
    hierarchy = b"cancer;cancer\ndisease;any\nx;any\n"
    folder = write_folder(tmp_path / "r", "jsonl", rows=ROWS, hierarchy=hierarchy, guarantee=guarantee)
    assert read_release(folder).published.records == 2


def test_another_promise_asked_of_a_folder_is_held_to_the_same(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "r")
    with pytest.raises(HierarchyError, match="'a' is below 'A'"):
        audit_folder(folder, sv.LmDiversity(2, 1, frozenset("a")))


@pytest.mark.parametrize(
    ("file", "content", "line"),
    [
        ("bag.csv", "a,b\na,a\na,b\n", 2),
        ("bag.dat", "1 2\n1 2\n1 1\n", 3),
        ("bag.jsonl", '["a","a"]\n["a"]\n', 1),
    ],
)
def test_a_file_with_a_bag_is_refused(shell: Shell, file: str, content: str, line: int) -> None:
    Path(file).write_text(content)
    ran = shell("audit", file, "-k", "2", "-m", "2", "--json")
    assert ran.code == 3, ran.out
    assert f"error[repeated-label] {file}:{line}: " in ran.err
    assert ran.json["problems"][0]["remedy"].startswith("Published rows are sets")
    with pytest.raises(DataError, match="repeats the label"):
        sv.audit(file, sv.KmAnonymity(2, 2))


def test_a_table_and_a_frame_with_a_bag_are_refused(shell: Shell) -> None:
    Path("bag.csv").write_text("sex,had\nF,flu pox\nF,flu flu\n")
    ran = shell("audit", "bag.csv", "--set", "had", "--keep", "sex", "-k", "2", "-m", "2")
    assert ran.code == 3
    assert "bag.csv:3" in ran.err
    frame = pa.table({"items": [["a", "a"], ["a"]]})
    with pytest.raises(DataError, match="repeats the label 'a'"):
        sv.audit(frame, sv.KmAnonymity(2, 1))


def test_a_bag_is_a_notice_where_it_is_anonymized(shell: Shell) -> None:
    Path("baskets.csv").write_text("ale,ale\nale\nmilk\nmilk\n")
    ran = shell.anonymize()
    assert ran.code == 0, ran.err
    assert "kept once" in ran.err


@pytest.mark.parametrize(
    "delimiter", ["\0", "\x01", "\x1f", "\x7f", "é", "0", "1", '"', "\n", "ab", ""]
)
def test_a_delimiter_is_a_plain_character(tmp_path: Path, delimiter: str) -> None:
    def change(certificate: dict[str, Any]) -> None:
        certificate["data"]["delimiter"] = delimiter

    folder = write_folder(tmp_path / "r", change=change)
    with pytest.raises(DataError, match=r"data\.delimiter|NUL"):
        read_release(folder)


@pytest.mark.parametrize("form", ["baskets", "long", "onehot", "fimi", "jsonl", "parquet"])
def test_a_byte_order_mark_in_a_label_is_refused(form: str) -> None:
    content = data_bytes(form, [["a"], ["a", "b\ufeff"]])
    with pytest.raises(DataError, match="byte order mark") as caught:
        read_data(content, {"format": form, "delimiter": ","}, "data")
    assert caught.value.problems[0].line is not None


def test_a_byte_order_mark_in_the_hierarchy_is_refused(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "r", hierarchy="a;x\ufeff\nb;x\ufeff\nc d;x\ufeff\n".encode())
    with pytest.raises(DataError, match="byte order mark"):
        read_release(folder)


@pytest.mark.parametrize(
    ("rows", "code", "line"),
    [
        ([["a"], ["a", "a"]], "repeated-label", 2),
        ([["a"], ["b", "a"]], "label-order", 2),
        ([["a"], ["b"], ["a"]], "row-order", 3),
        ([["a", "b"], ["a"]], "row-order", 2),
        ([["a"], []], "row-order", 2),
        ([["a"], ["a", ""]], "empty-label", 2),
        ([[], ["a"], ["a", "b\0"]], "parquet", 3),
        ([], "no-records", None),
    ],
)
def test_rows_of_a_parquet_file_are_checked_one_by_one(
    rows: list[list[str]], code: str, line: int | None
) -> None:
    with pytest.raises(DataError) as caught:
        read_data(data_bytes("parquet", rows), {"format": "parquet"}, "data.parquet")
    assert (caught.value.problems[0].code, caught.value.problems[0].line) == (code, line)


def test_rows_of_a_parquet_file_are_read_over_row_groups() -> None:
    rows = [[], *([["a"]] * 3), ["a", "b"], ["b"], ["ö"], ["ö", "𝄞"]]
    sink = io.BytesIO()
    pq.write_table(pa.table({"items": pa.array(rows, pa.list_(pa.string()))}), sink, row_group_size=3)
    published = read_data(sink.getvalue(), {"format": "parquet"}, "data.parquet")
    assert published.labels == ("a", "b", "ö", "𝄞")
    assert published.records == len(rows)
    assert [published.merged.weight_by_row.tolist(), published.longest] == [[1, 3, 1, 1, 1, 1], 2]


@pytest.fixture(scope="module")
def bomb() -> bytes:
    """Thirty million empty rows in some ten thousand bytes."""
    offsets = pa.array(np.zeros(30_000_001, np.int32))
    rows = pa.ListArray.from_arrays(offsets, pa.array([], pa.string()))
    sink = io.BytesIO()
    pq.write_table(pa.table({"items": rows}), sink)
    assert len(sink.getvalue()) < 100_000
    return sink.getvalue()


def test_a_parquet_bomb_is_refused_by_its_footer(bomb: bytes, tmp_path: Path) -> None:
    import tracemalloc

    path = tmp_path / "bomb.parquet"
    path.write_bytes(bomb)
    tracemalloc.start()
    try:
        for read in (
            lambda: read_data(bomb, {"format": "parquet"}, "data.parquet"),
            lambda: sv.read_transactions(path),
            lambda: sv.audit(path, sv.KmAnonymity(2, 1)),
        ):
            with pytest.raises(ResourceLimit) as caught:
                read()
            assert caught.value.exit_code == 6
            assert caught.value.problems[0].remedy
            assert caught.value.problems[0].file
        assert tracemalloc.get_traced_memory()[1] < 50_000_000
    finally:
        tracemalloc.stop()


def test_many_equal_rows_are_no_bomb() -> None:
    n = 2_000_000
    offsets = pa.array(np.arange(n + 1, dtype=np.int32))
    values = pa.DictionaryArray.from_arrays(pa.array(np.zeros(n, np.int32)), ["ALL"])
    rows = pa.ListArray.from_arrays(offsets, values.cast(pa.string()))
    sink = io.BytesIO()
    pq.write_table(pa.table({"items": rows}), sink)
    published = read_data(sink.getvalue(), {"format": "parquet"}, "data.parquet")
    assert published.records == n
    assert published.merged.weight_by_row.tolist() == [n]


@pytest.mark.parametrize("mark", ["\ufeff", "\0", "\ud800"])
def test_labels_that_no_file_can_hold_are_no_bug(tmp_path: Path, mark: str) -> None:
    root = f"ALL{mark}"
    release = sv.anonymize(
        sv.Transactions.from_rows([["a"], ["b"], ["a"]]),
        sv.KmAnonymity(2, 1),
        hierarchy=sv.Hierarchy.from_parents({"a": root, "b": root, root: None}),
    )
    with pytest.raises(DataError) as caught:
        sv.publish(release, tmp_path / "out")
    assert caught.value.exit_code == 3
    assert list(tmp_path.iterdir()) == []
    frame = pa.table({"had": [["a"]]})
    with pytest.raises(UsageError, match="column name"):
        sv.from_frame(frame, set_columns={"had": None}, keep_unprotected=[f"note{mark}"])


def test_our_own_sensitive_releases_pass(tmp_path: Path) -> None:
    tree = sv.Hierarchy.from_parents(
        {"a": "A", "b": "A", "c": "B", "s": "B", "A": "ALL", "B": "ALL", "ALL": None}
    )
    rows = [["a", "s"], ["a", "b"], ["b", "c"], ["a", "c"], ["b"], ["c"], ["a"], ["b", "c"]]
    release = sv.anonymize(
        sv.Transactions.from_rows(rows), sv.LmDiversity(2, 2, frozenset("s")), hierarchy=tree
    )
    try:
        sv.publish(release, tmp_path / "out")
    except SetveilError as error:  # pragma: no cover - would be a bug
        raise AssertionError(error.text()) from error
    assert sv.audit(tmp_path / "out").holds
