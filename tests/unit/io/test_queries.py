"""Files of COUNT queries: read, written, and refused with their line."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from setveil.errors import DataError, FileSystemError
from setveil.io.lists import read_queries, write_queries


def saved(folder: Path, text: str) -> Path:
    path = folder / "q.csv"
    path.write_bytes(text.encode())
    return path


def test_lines_are_queries(tmp_path: Path) -> None:
    found = read_queries(saved(tmp_path, 'a,b\r\n\n"x, ""y""",a\na,a\n'))
    assert found.queries == (("a", "b"), ('x, "y"', "a"), ("a",))
    assert found.line_of_query == (1, 3, 4)
    assert len(found) == 3


def test_written_queries_are_read_again(tmp_path: Path) -> None:
    queries = (("a", "b"), (" blank ", 'q"uote'), ("comma, and\nline",), ("ä",))
    write_queries(queries, tmp_path / "q.csv")
    assert read_queries(tmp_path / "q.csv").queries == queries
    assert stat.S_IMODE((tmp_path / "q.csv").stat().st_mode) == 0o600


def test_nothing_is_replaced_by_accident(tmp_path: Path) -> None:
    path = saved(tmp_path, "mine\n")
    with pytest.raises(FileSystemError, match="exists"):
        write_queries([("a",)], path)
    assert path.read_text() == "mine\n"
    write_queries([("a",)], path, force=True)
    assert path.read_text() == "a\n"
    assert [entry.name for entry in tmp_path.iterdir()] == ["q.csv"]


@pytest.mark.parametrize(
    ("text", "line", "code"),
    [
        ("a\nb,,c\n", 2, "empty-label"),
        ("a\n\nb,\n", 3, "empty-label"),
        ('a\n"b\n', 2, "unclosed-quote"),
        ("", None, "no-queries"),
        ("\n\n", None, "no-queries"),
    ],
)
def test_faults_name_file_and_line(tmp_path: Path, text: str, line: int | None, code: str) -> None:
    with pytest.raises(DataError) as caught:
        read_queries(saved(tmp_path, text))
    problem = caught.value.problems[0]
    assert (problem.line, problem.code) == (line, code)
    assert problem.file is not None and problem.file.endswith("q.csv")
