"""Few values are read and written without Arrow, many by it: the same comes out."""

from __future__ import annotations

from io import BytesIO

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from setveil.io import csv_text
from setveil.io.formats import base, format_of
from setveil.model.layout import Layout
from setveil.model.transactions import Transactions

LABELS = st.sampled_from(["a", "b c", 'say "x"', "é", "\U0001f35e", "a,b", " lead"])


def written(data: Transactions, layout: Layout) -> bytes:
    file = BytesIO()
    format_of(layout).write(data, layout, file)
    return file.getvalue()


@given(st.lists(st.lists(LABELS, min_size=1, max_size=4, unique=True), min_size=1, max_size=9))
def test_files_have_the_same_bytes(rows: list[list[str]]) -> None:
    data = Transactions.from_rows(rows)
    for form in ("baskets", "jsonl", "fimi"):
        for packed in (False, True):
            layout = Layout(form, gzip=packed)
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(base, "ROWS_PER_BLOCK", 4)
                few = written(data, layout)
                patch.setattr(base, "FEW", 0)
                assert few == written(data, layout)


@given(st.lists(st.sampled_from(["", "a", "é", "bread", "\U0001f35e"]), max_size=20))
def test_pieces_get_the_same_numbers(pieces: list[str]) -> None:
    encoded = [piece.encode() for piece in pieces]
    text = np.frombuffer(b"".join(encoded), dtype=np.uint8)
    lengths = np.array([len(piece) for piece in encoded], dtype=np.int64)
    few = csv_text.number_pieces(text, lengths)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(csv_text, "FEW", -1)
        many = csv_text.number_pieces(text, lengths)
    assert few.values == many.values
    assert few.code_of_piece.tolist() == many.code_of_piece.tolist()
    assert few.code_of_piece.dtype == many.code_of_piece.dtype
