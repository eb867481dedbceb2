"""Values as plain data, as ``--json`` prints them, and as the tables that notebooks show."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import fields
from fractions import Fraction
from html import escape
from typing import Any


class Plain:
    """A dataclass whose plain form is its fields; fractions become floats, tuples lists."""

    def as_dict(self) -> dict[str, Any]:
        """Return plain values for ``--json``."""
        described: Any = self
        return {field.name: plain(getattr(self, field.name)) for field in fields(described)}


class Summary:
    """What notebooks show as a table: a head, and lines of a name and a text."""

    @property
    def head(self) -> str:
        """What stands above the lines."""
        return type(self).__name__

    def lines(self) -> list[tuple[str, str]]:
        """Return the summary as names and texts."""
        raise NotImplementedError

    def _repr_html_(self) -> str:
        return html_table(self.lines(), caption=self.head)


def plain(value: Any) -> Any:
    """Return a value as JSON can hold it.

    >>> plain((Fraction(1, 2), None, "a"))
    [0.5, None, 'a']
    """
    if hasattr(value, "as_dict"):
        return value.as_dict()
    if isinstance(value, Fraction):
        return float(value)
    return [plain(part) for part in value] if isinstance(value, tuple) else value


def html_table(rows: Iterable[Sequence[str]], heads: Sequence[str] = (), *, caption: str = "") -> str:
    """Return rows of text as an HTML table for notebooks, in the colours of the page around it.

    >>> html_table([["<b>"]], ["who"])
    '<table><thead><tr><th>who</th></tr></thead><tbody><tr><td>&lt;b&gt;</td></tr></tbody></table>'
    """

    def line(cells: Sequence[str], kind: str) -> str:
        return f"<tr>{''.join(f'<{kind}>{escape(cell)}</{kind}>' for cell in cells)}</tr>"

    title = f"<caption>{escape(caption)}</caption>" if caption else ""
    head = f"<thead>{line(heads, 'th')}</thead>" if heads else ""
    return f"<table>{title}{head}<tbody>{''.join(line(row, 'td') for row in rows)}</tbody></table>"
