"""Where a label is first seen in a data file."""

from __future__ import annotations

from pathlib import Path

import pytest

from setveil.io.first_lines import first_lines
from setveil.model.layout import Layout


@pytest.mark.parametrize(
    ("layout", "text", "expected"),
    [
        (Layout("baskets"), 'a,b\n"two\nlines",a\n"x, y",b\n', {"b": 1, "x, y": 4, "two\nlines": 2}),
        (Layout("baskets", ";"), "a;b\r\nc;b\r\n", {"b": 1}),
        (Layout("long"), "id,item\n1,a\n1,b\n2,b\n", {"b": 3}),
        (Layout("fimi"), "a  c\r\nb\tc\r\nb\r\n", {"b": 2}),
        (Layout("jsonl"), '["a"]\n\n{"id": "1", "items": ["b"]}\n', {"b": 3}),
        (Layout("onehot"), "a,b\n0,1\n", {}),
        (None, "a,b\n", {}),
    ],
)
def test_first_lines(
    layout: Layout | None, text: str, expected: dict[str, int], tmp_path: Path
) -> None:
    path = tmp_path / "data"
    path.write_bytes(text.encode())
    wanted = {"b", "x, y", "two\nlines", "absent"}
    assert first_lines(path, layout, wanted) == expected
