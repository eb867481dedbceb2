"""Fields: what can be asked of a run, each declared once, as an attribute of a frozen dataclass.

A field knows its name, type and meaning, how it is spelled on the command line, whether it names files,
and which kinds of data it fits: sets, tables in buckets, pairs of data sets. From the fields of a group
(`Fields`) come the flags of a verb, the keys of a job file, and what a value that was typed in becomes.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from types import MappingProxyType
from typing import Any, ClassVar, Self, dataclass_transform

from ..errors import UsageError
from ..model.numbers import LARGEST, exact_number, exact_share
from ..refusals import refusal
from ..registry import ALL_METHODS, Option, OptionValue

SETS, BUCKETS, PAIRS = "sets", "buckets", "pairs"
KINDS = (SETS, BUCKETS, PAIRS)
ALL = " ".join(KINDS)
TABLE_PANEL, GUARANTEE_PANEL = "Tables", "Guarantee"
METHOD_PANEL = "Options of methods"
NUMBERS_OF_BYTES = frozenset({"max_bytes", "memory"})
_NUMBERS_AS_TEXT = frozenset({"h", "growth", "min_support"})
LARGEST_BYTES = 2**62
MOST_THREADS = 4096
LEAVE_OUT = "Leave it out."

Text = str | None
Texts = tuple[str, ...]


@dataclass(frozen=True)
class Field:
    """One thing that can be asked for.

    `type` is the annotation of the attribute. `names` is how it is spelled on the command line where
    that is not ``--name``. `path` is "" where the value names no file, "file" where it does, "column"
    for ``[COLUMN=]FILE`` and "list" where ``@FILE`` stands for the lines of a file. `fits` are the
    kinds of data that it is for, `models` the guarantees, where it is a parameter of some. `remedies`
    tell for other kinds what to do, where that is not to leave it out. `in_job` tells whether a job
    file may hold it.
    """

    name: str
    type: str
    help: str
    names: tuple[str, ...] = ()
    default: Any = None
    panel: str = ""
    metavar: str | None = None
    path: str = ""
    fits: tuple[str, ...] = KINDS
    models: tuple[str, ...] = ()
    remedies: Mapping[str, str] | None = None
    in_job: bool = True
    option: Option | None = None

    @property
    def spelled(self) -> tuple[str, ...]:
        """The field as it is typed, short names first."""
        return self.names or ("--" + self.name.replace("_", "-"),)

    @property
    def flag(self) -> str:
        """The field as messages name it."""
        return self.spelled[0].partition("/")[0]

    @property
    def key(self) -> str:
        """The field's key in a job file: its long name, --set is set."""
        long = next(name for name in self.spelled if name.startswith("--"))
        return long.partition("/")[0].removeprefix("--").replace("-", "_")

    @property
    def is_switch(self) -> bool:
        return self.type in ("bool", "bool | None")

    @property
    def is_list(self) -> bool:
        return self.type == "Texts"

    @property
    def is_number(self) -> bool:
        counted = self.option is not None and self.option.type in (int, float)
        return counted or self.type.startswith(("int", "float")) or self.name in _NUMBERS_AS_TEXT

    def read(self, given: Any) -> Any:
        """Return the value that was typed in, in the type of the field."""
        if self.is_list:
            return tuple(given or ())
        if not isinstance(given, str):
            return given
        if self.option is not None:
            return read_option(self.option, given)
        if self.type.startswith("int"):
            return whole(self.name, given)
        return seconds(self.name, given) if self.type.startswith("float") else given


def declare(help: str, *names: str, fits: str = "", models: str = "", **about: Any) -> Any:
    """Return an attribute of a group of fields; the words are those of `Field`."""
    return Field("", "", help, names, fits=tuple(fits.split()), models=tuple(models.split()), **about)


def texts(help: str, *names: str, **about: Any) -> Any:
    """Return an attribute that may be given several times."""
    return declare(help, *names, default=(), **about)


def switch(help: str, *names: str, **about: Any) -> Any:
    """Return an attribute that is off where it is not given."""
    return declare(help, *names, default=False, **about)


@dataclass_transform(
    frozen_default=True, kw_only_default=True, field_specifiers=(declare, texts, switch)
)
class Fields:
    """A group of fields. Its values are frozen; a subclass may leave out what it inherits.

    It is like a dataclass, but for the code that those generate: all groups are made at each start.
    """

    PANEL: ClassVar[str] = "Reading"
    FITS: ClassVar[str] = ALL
    """What holds for the fields of a group that do not say otherwise."""
    LEFT_OUT: ClassVar[frozenset[str]] = frozenset()
    ORDER: ClassVar[tuple[type[Fields], ...]] = ()
    """The groups in the order of their flags, where that is not the order of inheritance."""

    def __init_subclass__(cls) -> None:
        for name, annotation in vars(cls).get("__annotations__", {}).items():
            field = vars(cls).get(name)
            if isinstance(field, Field):
                panel, fits = field.panel or cls.PANEL, field.fits or tuple(cls.FITS.split())
                own = replace(field, name=name, type=annotation, panel=panel, fits=fits)
                setattr(cls, name, own)

    def __init__(self, **values: Any) -> None:
        usual = {}
        annotated = [vars(one).get("__annotations__", {}) for one in type(self).__mro__]
        for name in {name for names in annotated for name in names}:
            value = getattr(type(self), name, None)
            if not name.isupper():
                usual[name] = value.read(value.default) if isinstance(value, Field) else value
        for name, value in (usual | values).items():
            if not hasattr(type(self), name):
                raise TypeError(f"{type(self).__name__} has no field {name!r}")
            object.__setattr__(self, name, value)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{name} is frozen")

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={value!r}" for name, value in self.given().items())
        return f"{type(self).__name__}({shown})"

    @classmethod
    def more_fields(cls) -> tuple[Field, ...]:
        """Return the fields that are no attributes; `Options` has some."""
        return ()

    @classmethod
    def take(cls, given: Mapping[str, Any], **values: Any) -> Self:
        """Return the group with what was typed in, the others at their defaults."""
        for field in fields_of(cls):
            values[field.name] = field.read(given.get(field.name, field.default))
        more = {field.name: values.pop(field.name) for field in cls.more_fields()}
        if more:
            values["options"] = {name: value for name, value in more.items() if value is not None}
        return cls(**values)

    def value(self, field: Field) -> Any:
        """Return the value of a field; None for an option that was not given."""
        return getattr(self, field.name) if field.option is None else self.options.get(field.name)  # type: ignore[attr-defined]

    def given(self, group: type[Fields] | None = None) -> dict[str, Any]:
        """Return the fields that were given, by name: all, or those of a group."""
        return {field.name: self.value(field) for field in self.given_fields(group)}

    def given_fields(self, group: type[Fields] | None = None) -> Iterator[Field]:
        own = {field.name for field in fields_of(type(self))}
        for field in fields_of(group or type(self)):
            if field.name in own and self.value(field) != field.read(field.default):
                yield field


class Options(Fields):
    """The options of all methods; each method checks its own."""

    options: Mapping[str, OptionValue] = MappingProxyType({})

    @classmethod
    def more_fields(cls) -> tuple[Field, ...]:
        """Return a field for every option that some method declares."""
        return _option_fields()


def fields_of(group: type[Fields]) -> tuple[Field, ...]:
    """Return the fields of a group: its own, then those that it inherits, base by base."""
    found = [
        getattr(group, name, None)
        for name in dict.fromkeys(_names(group))
        if name not in group.LEFT_OUT
    ]
    return (*(field for field in found if isinstance(field, Field)), *group.more_fields())


def _names(group: type) -> Iterator[str]:
    yield from vars(group).get("__annotations__", {})
    for base in vars(group).get("ORDER") or group.__bases__:
        yield from _names(base)


@cache
def _option_fields() -> tuple[Field, ...]:
    found: dict[str, Field] = {}
    keys: dict[str, list[str]] = {}
    for record in ALL_METHODS:
        for option in record.options:
            keys.setdefault(option.name, []).append(record.key)
            before = found.get(option.name)
            fits = (() if before is None else before.fits) + (record.kind,)
            found[option.name] = replace(option_field(option), fits=tuple(dict.fromkeys(fits)))
    return tuple(
        replace(field, help=f"{field.help} ({', '.join(keys[name])})")
        for name, field in sorted(found.items())
    )


def option_field(option: Option, *, panel: str = METHOD_PANEL) -> Field:
    """Return the field of an option that a method declares."""
    is_switch, is_number = option.type is bool, option.type in (int, float)
    return Field(
        option.name,
        "bool | None" if is_switch else "Text",
        f"{option.help}; one of {', '.join(option.allowed)}" if option.allowed else option.help,
        (f"{option.flag}/--no-{option.flag[2:]}",) if is_switch else (),
        panel=panel,
        metavar="N" if is_number else None,
        option=option,
    )


def refuse_unfit(
    asked: Fields, kind: str, remedy: str = "", *, what: str = "", but: Collection[str] = ()
) -> None:
    """Raise `UsageError` for a field that was given and does not fit the kind of data.

    `but` are names of fields that do not fit here, whatever they say of themselves. What is said and
    what to do stand in the table of refusals and in the field, unless they are given.
    """
    said = refusal("field", kind)
    assert said is not None
    for field in asked.given_fields():
        if kind not in field.fits or field.name in but:
            raise UsageError(
                (what or said.reason).format(field.flag),
                remedy or (field.remedies or {}).get(kind, LEAVE_OUT),
                code="option-does-not-fit",
            )


def check_threads(threads: int | None) -> None:
    """Raise `UsageError` for a number of threads that cannot be; 0 is not "all"."""
    if threads is not None and (
        isinstance(threads, bool) or not isinstance(threads, int) or not 1 <= threads <= MOST_THREADS
    ):
        raise UsageError(
            f"threads must be a whole number from 1 to {MOST_THREADS} (got {str(threads)[:40]!r}).",
            "Give for example 2, or leave it out.",
        )


def refuse_stdin_twice(named: Sequence[str | None]) -> None:
    """Refuse standard input, ``-``, for more than one of the files."""
    if named.count("-") > 1:
        raise UsageError(
            "standard input (-) is named more than once.",
            "Give files for the others.",
            code="stdin-twice",
        )


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

    Where a share is asked for, it may be written as any share, if some digits say the same.
    """
    is_share = bool(option.share) or option.name.endswith("support")
    value = float(text) if _NUMBER.fullmatch(text) else math.nan
    share = exact_number(text, percent=True) if is_share and math.isnan(value) else None
    if share is not None and Fraction(str(float(share))) == share:
        value = float(share)
    if not math.isfinite(value):
        usual = "0.5" if option.default is None else f"{option.default:g}"
        raise UsageError(
            f"{option.name} must be a number (got {text[:40]!r}).",
            f"Give for example {usual}{' or 40%' if is_share else ''}.",
            code="not-a-number",
        )
    return value


def read_option(option: Option, text: str) -> OptionValue:
    """Return what was typed in for an option, in its own type; the method checks it."""
    if option.share:
        exact_share(option.flag[2:], text, below_one=option.share == "below 1")
    if option.type is int:
        return whole(option.name, text)
    return number(option, text) if option.type is float else text


def listed(text: str | None) -> list[str]:
    """Return the parts of a list by commas; blanks around them are for the eye.

    >>> listed("aa, vpa"), listed(None)
    (['aa', 'vpa'], [])
    """
    return [part.strip() for part in text.split(",")] if text else []


def joined(lists: Sequence[str]) -> tuple[str, ...]:
    """Return the names in several lists by commas.

    >>> joined(["age, sex", "zip"])
    ('age', 'sex', 'zip')
    """
    return tuple(name.strip() for text in lists for name in text.split(","))
