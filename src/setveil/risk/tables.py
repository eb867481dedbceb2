"""Rows of cells as text and as HTML; the first row is the head."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape


def as_text(rows: Sequence[Sequence[str]], notes: Sequence[str] = ()) -> str:
    """Return rows as lines: the first column to the left, the others to the right.

    >>> print(as_text([("who", "risk"), ("marketer", "5 %")], ["counted."]))
      who       risk
      marketer   5 %
      counted.
    """
    wide = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = [
        "  " + "  ".join([row[0].ljust(wide[0]), *map(str.rjust, row[1:], wide[1:])]) for row in rows
    ]
    return "\n".join([*lines, *(f"  {note}" for note in notes)])


def as_html(rows: Sequence[Sequence[str]], notes: Sequence[str] = ()) -> str:
    """Return rows as an HTML table.

    >>> as_html([("who",), ("<b>",)])
    '<table><thead><tr><th>who</th></tr></thead><tbody><tr><td>&lt;b&gt;</td></tr></tbody></table>'
    """
    head, *body = rows
    named = "".join(f"<th>{escape(cell)}</th>" for cell in head)
    lines = "".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in body
    )
    noted = "".join(f"<p>{escape(note)}</p>" for note in notes)
    return f"<table><thead><tr>{named}</tr></thead><tbody>{lines}</tbody></table>{noted}"
