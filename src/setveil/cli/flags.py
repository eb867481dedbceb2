"""Flags as data: the options that several verbs share, and those that methods declare.

A verb takes ``**given`` and is decorated with `taking`; typer then sees one parameter a flag. Flags of
methods come from the registry, so that a new method brings its own.
"""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import typer

from ..errors import UsageError
from ..model.numbers import LARGEST
from ..options import Option
from ..registry import ALL_METHODS

READING_PANEL, TABLE_PANEL, GUARANTEE_PANEL = "Reading", "Tables", "Guarantee"
METHOD_PANEL = "Options of methods"


@dataclass(frozen=True)
class Flag:
    """One option of the command line."""

    name: str
    kind: Any
    help: str
    names: tuple[str, ...] = ()
    default: Any = None
    panel: str = READING_PANEL
    metavar: str | None = None

    @property
    def spelled(self) -> tuple[str, ...]:
        """The option as it is typed."""
        return self.names or ("--" + self.name.replace("_", "-"),)

    def parameter(self) -> inspect.Parameter:
        """Return the parameter that typer reads."""
        option = typer.Option(
            self.default,
            *self.spelled,
            help=self.help,
            rich_help_panel=self.panel,
            metavar=self.metavar,
        )
        return inspect.Parameter(
            self.name, inspect.Parameter.KEYWORD_ONLY, default=option, annotation=self.kind
        )


Text = str | None
READING = (
    Flag("layout", Text, "baskets, long, onehot, fimi, jsonl or parquet; guessed if not given"),
    Flag("delimiter", Text, "what separates fields; guessed if not given"),
    Flag("encoding", Text, "utf-8 if not given"),
    Flag("header", bool | None, "whether the first line holds names", ("--header/--no-header",)),
    Flag("id_column", Text, "column that names the person", ("--id",)),
    Flag("item_column", Text, "column that holds the item", ("--item",)),
    Flag(
        "counts",
        bool,
        "count repeats in a record: milk twice is the item 'milk x2', below milk in the hierarchy",
        default=False,
    ),
    Flag("count_column", Text, "column of a long table that holds the count: 2 makes 'milk x2'"),
    Flag("labels", Text, "file of id,label lines that names the items", metavar="FILE"),
    Flag("empty_rows", Text, "error, keep or skip records without items"),
    Flag("id_policy", Text, "merge rows of one person, or error"),
    Flag("comment", Text, "lines that start so are comments"),
    Flag("integers", bool, "items must be whole numbers", default=False),
    Flag("missing", list[str] | None, "a value that means missing; may be repeated"),
    Flag("normalize", Text, "NFC, NFD, NFKC or NFKD"),
    Flag("strict", bool, "warnings about odd items are errors", default=False),
    Flag("max_bytes", Text, "refuse more bytes than this"),
)
NOTICES = (
    Flag("verbose", bool, "show all notices, minor ones too", ("-v", "--verbose"), default=False),
)
AS_IS = Flag(
    "as_is",
    bool,
    "go on where cells look like lists taken for single values, or where most sensitive values are one "
    "person's; blanks after a separator are kept",
    panel=TABLE_PANEL,
    default=False,
)
TABLE = (
    Flag(
        "set_columns",
        list[str] | None,
        "set-valued column; may be repeated",
        ("--set",),
        panel=TABLE_PANEL,
        metavar="COLUMN",
    ),
    Flag(
        "set_separator",
        list[str] | None,
        "what separates items in a set-valued cell (a space if not given); one for all or one a column",
        panel=TABLE_PANEL,
    ),
    Flag(
        "keep",
        list[str] | None,
        "columns to publish beside, by commas; they count as items; may be repeated",
        panel=TABLE_PANEL,
        metavar="COLUMNS",
    ),
    Flag(
        "keep_unprotected",
        list[str] | None,
        "columns to publish as they are, by commas; the promise does NOT cover them; may be repeated",
        panel=TABLE_PANEL,
        metavar="COLUMNS",
    ),
    Flag(
        "missing_cells",
        Text,
        "error, suppress or category for cells without a value; of two data sets also suppress-row "
        "(leave the row out) and complete-rows (rows complete in all columns)",
        panel=TABLE_PANEL,
    ),
    Flag("sensitive_column", Text, "column whose values are sensitive", panel=TABLE_PANEL),
    AS_IS,
)
GUARANTEE = tuple(
    Flag(name, kind, text, names, default, GUARANTEE_PANEL, metavar)
    for name, kind, text, names, default, metavar in (
        (
            "model",
            Text,
            "km, k, lm or coherence; l or matching for a table; patterns for two data sets; follows "
            "from method and options",
            ("--guarantee",),
            None,
            None,
        ),
        ("k", Text, "records that fit at least", ("-k", "--k"), None, "K"),
        ("m", Text, "items that an attacker knows at most", ("-m", "--m"), None, "M"),
        ("l", Text, "a sensitive item is in at most one of L fitting records", ("--l",), None, "L"),
        ("negative", bool, "the attacker may know absent items too", ("--negative",), False, None),
        (
            "sensitive",
            list[str] | None,
            "items by commas, or @FILE with one a line; may be repeated",
            ("--sensitive",),
            None,
            "ITEMS",
        ),
        ("h", Text, "percent of fitting records that may hold a private item", ("--h",), None, "H"),
        ("p", Text, "public items that an attacker knows at most", ("--p",), None, "P"),
        (
            "private",
            list[str] | None,
            "private items by commas, or @FILE; may be repeated",
            ("--private",),
            None,
            "ITEMS",
        ),
    )
)


def method_flags() -> tuple[Flag, ...]:
    """Return a flag for every option that some method declares."""
    methods_by_option: dict[str, list[str]] = {}
    option_by_name = {}
    for record in ALL_METHODS:
        for option in record.options:
            methods_by_option.setdefault(option.name, []).append(record.key)
            option_by_name[option.name] = option
    return tuple(
        option_flag(option, f"({', '.join(methods_by_option[name])})")
        for name, option in sorted(option_by_name.items())
    )


def option_flag(option: Option, remark: str, *, panel: str = METHOD_PANEL) -> Flag:
    """Return the flag of an option that a method declares; its help ends with the remark."""
    kinds: Mapping[type, Any] = {int: Text, float: Text, str: Text, bool: bool | None}
    return Flag(
        option.name,
        kinds[option.type],
        f"{_told_option(option)} {remark}".rstrip(),
        (f"{option.flag}/--no-{option.flag[2:]}",) if option.type is bool else (),
        panel=panel,
        metavar="N" if option.type in (int, float) else None,
    )


def _told_option(option: Option) -> str:
    """Return what an option means, with its choices where it has some."""
    return f"{option.help}; one of {', '.join(option.allowed)}" if option.allowed else option.help


def taking(*groups: tuple[Flag, ...]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Add these flags to a verb whose last parameter is ``**given``."""

    def decorate(verb: Callable[..., Any]) -> Callable[..., Any]:
        signature = inspect.signature(verb, eval_str=True)
        own = [p for p in signature.parameters.values() if p.kind is not p.VAR_KEYWORD]
        added = [flag.parameter() for group in groups for flag in group]
        verb.__signature__ = signature.replace(parameters=[*own, *added])  # type: ignore[attr-defined]
        verb.__annotations__ = {p.name: p.annotation for p in [*own, *added]}
        return verb

    return decorate


def picked(given: Mapping[str, Any], group: tuple[Flag, ...]) -> dict[str, Any]:
    """Return the flags of a group that were given, by name."""
    chosen = {flag.name: given[flag.name] for flag in group}
    defaults = {flag.name: flag.default for flag in group}
    return {name: value for name, value in chosen.items() if value != defaults[name] and value != []}


NUMBERS_OF_BYTES = frozenset({"max_bytes", "memory"})
LARGEST_BYTES = 2**62


def whole(name: str, text: str) -> int:
    """Return a whole number written in plain digits; other spellings are refused, not guessed.

    >>> whole("k", "12"), whole("memory", "8000000000")
    (12, 8000000000)
    """
    largest = LARGEST_BYTES if name in NUMBERS_OF_BYTES else LARGEST
    if not re.fullmatch("0|[1-9][0-9]{0,18}", text) or int(text) > largest:
        raise UsageError(
            f"{name} must be a whole number up to {largest} in plain digits, without leading zeros "
            f"(got {text[:40]!r}).",
            f"Give for example {name}=5.",
            code="not-a-number",
        )
    return int(text)


def seconds(name: str, text: str) -> float:
    """Return a number of seconds above 0."""
    if not re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,6})?", text) or float(text) <= 0:
        raise UsageError(
            f"{name} must be a number above 0 (got {text[:40]!r}).",
            "Give for example 60.",
            code="not-a-number",
        )
    return float(text)


_NUMBER = re.compile(r"[+-]?([0-9]{1,18}(\.[0-9]{1,18})?|\.[0-9]{1,18})([eE][+-]?[0-9]{1,3})?")


def number(option: Option, text: str) -> float:
    """Return the number that an option is given as; in which range it must be, the method knows.

    Of a support, a share of the records, percent are taken too, as --min-support takes them.
    """
    is_share = option.name.endswith("support")
    plain = text[:-1].removesuffix(" ") if is_share and text.endswith("%") else text
    value = float(plain) if _NUMBER.fullmatch(plain) else math.nan
    if not math.isfinite(value):
        usual = "0.5" if option.default is None else f"{option.default:g}"
        raise UsageError(
            f"{option.name} must be a number (got {text[:40]!r}).",
            f"Give for example {usual}{' or 40%' if is_share else ''}.",
            code="not-a-number",
        )
    # Divided exactly: 12.3% is 0.123, as if it had been written so.
    return value if plain == text else float(Fraction(plain) / 100)


def listed(text: str | None) -> list[str]:
    """Return the parts of a list by commas; blanks around them are for the eye.

    >>> listed("aa, vpa"), listed(None)
    (['aa', 'vpa'], [])
    """
    return [part.strip() for part in text.split(",")] if text else []


def method_options(
    given: Mapping[str, Any], options: Sequence[Option] | None = None
) -> dict[str, object]:
    """Return the options of methods that were given, in their own types; the method checks them.

    Parameters
    ----------
    given
        The flags by name.
    options
        Those to look for; those of all methods by default.
    """
    if options is None:
        options = [option for record in ALL_METHODS for option in record.options]
    chosen: dict[str, object] = {}
    for name, option in {option.name: option for option in options}.items():
        value = given[name]
        if value is None:
            continue
        if option.type is int:
            chosen[name] = whole(name, value)
        elif option.type is float:
            chosen[name] = number(option, value)
        else:
            chosen[name] = value
    return chosen


def check_stdin_once(named: Sequence[str | None]) -> None:
    """Refuse standard input, ``-``, for more than one of the files."""
    if named.count("-") > 1:
        raise UsageError(
            "standard input (-) is named more than once.",
            "Give files for the others.",
            code="stdin-twice",
        )
