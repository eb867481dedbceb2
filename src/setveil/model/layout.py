"""How data lie in a file: the format and what is needed to write them back the same way."""

from __future__ import annotations

from dataclasses import dataclass

NO_VALUE = "(missing)"
"""Stands for a cell without a value. As a sensitive value it is published, and counts as none."""


@dataclass(frozen=True)
class LayoutColumn:
    """A column of a table: its name, its role, and the separator inside a set-valued cell."""

    name: str
    role: str
    separator: str | None = None


@dataclass(frozen=True)
class Layout:
    """A format of `io.formats`, its delimiter, whether it is gzip, and the columns of a table.

    The items of a table are labelled ``column=value``, those of set-valued columns too, so that labels
    of different columns never meet.

    >>> Layout("baskets").unprotected
    ()
    """

    format: str
    delimiter: str = ","
    gzip: bool = False
    columns: tuple[LayoutColumn, ...] = ()

    @property
    def item_columns(self) -> tuple[LayoutColumn, ...]:
        """The columns whose values are items; the promise covers these."""
        return tuple(column for column in self.columns if column.role != "unprotected")

    @property
    def unprotected(self) -> tuple[str, ...]:
        """The names of columns that are published as they are, covered by no promise."""
        return tuple(column.name for column in self.columns if column.role == "unprotected")
