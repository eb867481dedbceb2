"""How files and frames are read: each option declared once, with the default of those that give none.

A reader takes a group of these as ``**reading: Unpack[Group]``, and `arguments.checked` puts every one
of them into its signature.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, TypedDict

from ..errors import UsageError
from .source import MAX_BYTES, shorten

ID_POLICIES = ("merge", "error")


class OfFiles(TypedDict, total=False):
    """How bytes become cells."""

    delimiter: Annotated[str | None, None]
    encoding: Annotated[str, "utf-8"]
    max_bytes: Annotated[int, MAX_BYTES]


class OfLabels(TypedDict, total=False):
    """What texts count as."""

    missing: Annotated[Iterable[str], ()]
    normalize: Annotated[str | None, None]
    strict: Annotated[bool, False]


class OfSets(OfLabels, total=False):
    """Whose the items are, and what they are called."""

    id_column: Annotated[str | None, None]
    id_policy: Annotated[str, "merge"]
    labels: Annotated[str | os.PathLike[str] | Mapping[str, str] | None, None]
    repeats: Annotated[str, "once"]


class OfItems(OfSets, total=False):
    """Where items stand, and how often they count."""

    item_column: Annotated[str | None, None]
    count_column: Annotated[str | None, None]
    counts: Annotated[bool, False]
    integers: Annotated[bool, False]


class OfAnyFile(OfFiles, OfItems, total=False):
    """How a file of any layout is read."""

    layout: Annotated[str | None, None]
    header: Annotated[bool | None, None]
    comment: Annotated[str | None, None]


class OfCells(TypedDict, total=False):
    """What the columns of a table with sets in its cells are for."""

    keep: Annotated[Sequence[str], ()]
    sensitive: Annotated[str | None, None]
    missing_cells: Annotated[str, "error"]
    keep_unprotected: Annotated[Sequence[str], ()]
    as_is: Annotated[bool, False]


class OfTables(OfSets, OfCells, total=False):
    """How a table with sets in its cells is read, once it is open."""


def check_choice(name: str, value: str | None, choices: Sequence[str | None]) -> None:
    """Raise `UsageError` unless the value is one of the choices."""
    if value not in choices:
        known = ", ".join(choice for choice in choices if choice is not None)
        what, remedy = f"unknown {name.replace('_', ' ')} {shorten(str(value))}.", f"Known: {known}."
        raise UsageError(what, remedy, code="unknown-choice")


def refuse_unused_policy(id_policy: str, id_column: str | None) -> None:
    """Raise `UsageError` where repeated ids shall be an error and no column holds ids."""
    if id_policy == "error" and id_column is None:
        what = "id-policy error has no use without a column of ids."
        remedy = "Name the column (--id), or leave the policy out."
        raise UsageError(what, remedy, code="unused-option")


def texts_of(given: Iterable[str]) -> frozenset[str]:
    """Return several texts; one text alone stands for a list of it."""
    return frozenset([given] if isinstance(given, str) else given)
