"""Job files: runs written down as TOML, to be run again by ``setveil run``.

A file holds one job, its keys at the top, or several as ``[[job]]`` tables, with what they share in
``[defaults]``. A key is the long name of a flag of ``setveil anonymize``, a value what the flag takes;
relative paths start at the file. `read_jobs` tells all faults of a file at once, `write_job` writes one
job.
"""

from __future__ import annotations

import contextlib
import os
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Any

from ..errors import FileSystemError, Problem, UsageError
from . import Run, job_fields
from .fields import Field, joined

LARGEST_BYTES = 2**20
LONGEST_LINE = 10_000
"""Longer lines are no keys and values that anybody wrote, and take long to parse."""
NAME = re.compile(r"[^\W_][\w.+-]{0,79}")
_PLAIN_NUMBER = re.compile(r"(0|[1-9][0-9]{0,17})(\.[0-9]{1,12})?")

Value = str | bool | tuple[str, ...]
"""What a flag takes: a text, a switch, or several texts."""


@dataclass(frozen=True)
class FileJob:
    """A job of a file: its name, and the flags it gives; paths are those of the working folder."""

    name: str
    file: Path
    values: Mapping[str, Value]

    @property
    def shown(self) -> str:
        return f"{self.file.name}:{self.name}"

    def run(self, **more: Any) -> Run:
        """Return the run that the job is; `more` are fields that no job holds."""
        given = {
            field.name: self.values[field.key] for field in keys_of_jobs() if field.key in self.values
        }
        return Run.take(given | more, data=str(given.get("data", "")))


@cache
def keys_of_jobs() -> tuple[Field, ...]:
    """Return what a job may hold."""
    return (Field("data", "Text", "the file to anonymize", path="file"), *job_fields())


def read_jobs(path: str | os.PathLike[str]) -> list[FileJob]:
    """Return the jobs of a TOML file; `UsageError` with every fault of it if there are any."""
    file = Path(path)
    faults: list[Problem] = []
    known = {field.key: field for field in keys_of_jobs()}
    jobs: list[FileJob] = []
    document = _document(file)
    defaults, tables = _parts(document, known, file, faults)
    shared = _values(defaults, known, file, "[defaults]", faults)
    for number, table in enumerate(tables, 1):
        name = _name(table.pop("name", None), file, number, len(tables), faults)
        where = f"job {name!r}"
        own = _values(table, known, file, where, faults)
        if name in {job.name for job in jobs}:
            faults.append(_fault(file, f"two jobs are named {name!r}.", "Give each its own name."))
        with _gathered(file, where, faults):
            values = _moved({**shared, **own}, known, lambda path: os.path.normpath(file.parent / path))
            jobs.append(FileJob(name, file, values))
    if faults:
        raise UsageError(faults)
    return jobs


def job_text(
    values: Mapping[str, Value],
    *,
    folder: str | os.PathLike[str] = ".",
    about: Sequence[str] = (),
) -> str:
    r"""Return a job as TOML, its flags in the order given, with lines of comment above.

    Relative paths are written as seen from `folder`, where the file will lie.

    >>> print(job_text({"data": "baskets.csv", "k": "5"}), end="")
    data = "baskets.csv"
    k = 5
    """

    def relative(path: str) -> str:
        return path if Path(path).is_absolute() else os.path.relpath(path, folder)

    known = {field.key: field for field in keys_of_jobs()}
    lines = [f"# {_comment(line)}".rstrip() for line in about]
    for name, value in _moved(values, known, relative).items():
        lines.append(f"{name} = {_written(known[name], value)}")
    return "\n".join(lines) + "\n"


def write_job(path: str, run: Run, *, about: Sequence[str], force: bool = False) -> None:
    """Write a run as a job; what `anonymize` does with its flags, `run` does with the file."""
    from ..io.folder.staging import write_text_file

    write_text_file(path, text_of_run(path, run, about=about), force=force)


def text_of_run(path: str, run: Run, *, about: Sequence[str] = ()) -> str:
    """Return the text of a job file; `UsageError` where the run cannot be one."""
    values: dict[str, Value] = {"data": run.data}
    given = {field.key for field in run.given_fields()}
    for field in job_fields():
        if field.key in given:
            values[field.key] = _as_typed(run.value(field))
    lines = (*about, f"Run it: setveil run {Path(path).name}")
    return job_text(values, folder=Path(path).parent, about=lines)


def _as_typed(value: Any) -> Value:
    """Return a value as it is typed on the command line."""
    if isinstance(value, bool | str | tuple):
        return value
    plain = format(Decimal(str(value)), "f")
    return plain.removesuffix(".0")


def _document(file: Path) -> dict[str, Any]:
    from ..io.folder.disk import shown, telling

    if file.exists() and not file.is_file():
        raise FileSystemError(
            "it is not a regular file.", "Give a TOML file.", code="not-regular", file=shown(file)
        )
    with telling(file, "read"), file.open("rb") as opened:
        content = opened.read(LARGEST_BYTES + 1)
    if len(content) > LARGEST_BYTES:
        raise UsageError(
            f"a job file has at most {LARGEST_BYTES:,} bytes.", "Split it.", file=shown(file)
        )
    if any(len(line) > LONGEST_LINE for line in content.split(b"\n")):
        raise UsageError(
            f"a line of a job file has at most {LONGEST_LINE:,} bytes.", "Split it.", file=shown(file)
        )
    try:
        # A number keeps its spelling: the flags decide what a number is.
        return tomllib.loads(content.decode("utf-8-sig"), parse_float=str)
    except (ValueError, RecursionError) as error:
        fault = str(error).split("\n", maxsplit=1)[0][:200]
        if isinstance(error, UnicodeDecodeError):
            fault = "it is not UTF-8"
        elif isinstance(error, RecursionError):
            fault = "it is nested too deeply"
        elif "set_int_max_str_digits" in fault:
            fault = "a number has too many digits"
        place = re.search(r" \(at line (\d+), column (\d+)\)", fault)
        raise UsageError(
            f"it is not valid TOML: {fault[: place.start()] if place else fault}.",
            'A job holds lines such as k = 5 and data = "baskets.csv".',
            code="toml",
            file=shown(file),
            line=int(place[1]) if place else None,
            column=int(place[2]) if place else None,
        ) from error


def _parts(
    document: dict[str, Any], known: Mapping[str, Field], file: Path, faults: list[Problem]
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return the defaults and the tables of the jobs."""
    defaults, several = document.pop("defaults", {}), document.pop("job", None)
    if not isinstance(defaults, dict):
        faults.append(_fault(file, "defaults is not a table.", "Write [defaults] above its lines."))
        defaults = {}
    if "name" in defaults:
        faults.append(_fault(file, "[defaults] cannot hold a name.", "Give each job its own."))
        del defaults["name"]
    if several is None:
        if not document:
            faults.append(_fault(file, "it holds no job.", "Write data, k, m and output."))
            return defaults, []
        return defaults, [document]
    tables = [several] if isinstance(several, dict) else several
    if not isinstance(tables, list) or not tables or not all(isinstance(one, dict) for one in tables):
        faults.append(_fault(file, "job is not a table.", "Write [[job]] above the lines of each."))
        tables = []
    for name in document:
        remedy = "Move it below [defaults] or a [[job]]." if _plain(name) in known else ""
        remedy = remedy or "Known there: defaults, job."
        faults.append(_fault(file, f"{name[:40]!r} stands outside of the jobs.", remedy))
    return defaults, tables


def _name(given: object, file: Path, number: int, count: int, faults: list[Problem]) -> str:
    usual = file.stem if count == 1 else f"{file.stem}-{number}"
    if given is None:
        return usual
    if not isinstance(given, str) or not NAME.fullmatch(given):
        faults.append(
            _fault(
                file,
                f"{str(given)[:40]!a} is no name for a job.",
                "Use letters, digits and . _ + -, a letter or digit first.",
            )
        )
        return usual
    return given


def _values(
    table: Mapping[str, Any], known: Mapping[str, Field], file: Path, where: str, faults: list[Problem]
) -> dict[str, Value]:
    """Return a table's values by key, in the way of the command line, paths as seen from here."""
    found: dict[str, Value] = {}
    for given, value in table.items():
        name = _plain(given)
        key = known.get(name)
        if key is None:
            near = get_close_matches(name, known, n=1, cutoff=0.5)
            hint = f"Did you mean {near[0]}? " if near else ""
            remedy = f"{hint}Keys are the names of the flags of `setveil anonymize`."
            faults.append(_fault(file, f"{where}: unknown key {given[:40]!r}.", remedy))
            continue
        if name in found:
            faults.append(_fault(file, f"{where}: {name} is given twice.", "Keep one."))
        with _gathered(file, where, faults):
            found[name] = _as_flag(key, value)
    return found


@contextlib.contextmanager
def _gathered(file: Path, where: str, faults: list[Problem]) -> Iterator[None]:
    """Add what is wrong to the faults, told of the place."""
    try:
        yield
    except UsageError as error:
        faults += [_fault(file, f"{where}: {one.what}", one.remedy) for one in error.problems]


def _plain(name: str) -> str:
    """Return a key with underscores: time-limit is time_limit."""
    return name.replace("-", "_")


def _as_flag(key: Field, value: object) -> Value:
    """Return a TOML value as the command line would hand it over."""
    if key.is_switch:
        if isinstance(value, bool):
            return value
        raise UsageError(f"{key.key} must be true or false.", f"Write {key.key} = true.")
    if key.is_list:
        values = value if isinstance(value, list) else [value]
        return tuple(_text(key, one) for one in values)
    return _text(key, value)


def _text(key: Field, value: object) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int):
        what = "a text, or several in [ ]" if key.is_list else "a text or a number"
        raise UsageError(f"{key.key} must be {what}.")
    return str(value)


def _moved(
    values: Mapping[str, Value], known: Mapping[str, Field], change: Callable[[str], str]
) -> dict[str, Value]:
    """Return the values with their paths changed."""
    found: dict[str, Value] = {}
    for name, value in values.items():
        if isinstance(value, bool):
            found[name] = value
            continue
        texts = value if isinstance(value, tuple) else (value,)
        parts = [_before_path(known[name], text, values) for text in texts]
        moved = tuple(
            text if before is None else before + _path_changed(name, text[len(before) :], change)
            for text, before in zip(texts, parts, strict=True)
        )
        found[name] = moved if isinstance(value, tuple) else moved[0]
    return found


def _before_path(key: Field, text: str, values: Mapping[str, Value]) -> str | None:
    """Return what stands before the path in a text; None where there is no path.

    A hierarchy is COLUMN=FILE of tables alone, and a list of items @FILE of sets alone.
    """
    if key.path == "column" and any(values.get(name) for name in _OF_TABLES):
        quasi = values.get("quasi")
        columns = joined(quasi) if isinstance(quasi, tuple) else ()
        named = [f"{name}=" for name in columns if text.startswith(f"{name}=")]
        return max(named, key=len, default=text[: text.find("=") + 1])
    if key.path == "list":
        return "@" if text.startswith("@") and not values.get("quasi") else None
    return "" if key.path else None


_OF_TABLES = ("set", "quasi", "table", "attributes", "class_column")


def _path_changed(key: str, path: str, change: Callable[[str], str]) -> str:
    if path == "-":
        raise UsageError(f"{key} is standard input, which a job cannot name.", "Name a file.")
    if not path or "\0" in path:
        raise UsageError(f"{key} must name a file.")
    return change(path)


def _written(key: Field, value: Value) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple):
        return _quoted(value[0]) if len(value) == 1 else f"[{', '.join(map(_quoted, value))}]"
    return value if key.is_number and _PLAIN_NUMBER.fullmatch(value) else _quoted(value)


def _quoted(text: str) -> str:
    r"""Return a TOML string; what TOML cannot hold is refused.

    >>> print(_quoted('a "b" \n'))
    "a \"b\" \n"
    """
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise UsageError(
            "a job file holds Unicode only, and a name given here is not.", "Rename the file."
        ) from error
    return '"' + "".join(_escapes(text)) + '"'


def _escapes(text: str) -> Iterator[str]:
    short = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}
    for sign in text:
        if sign in short:
            yield short[sign]
        elif sign.isprintable():
            yield sign
        else:  # also what would turn other text about
            yield f"\\u{ord(sign):04x}" if ord(sign) < 0x10000 else f"\\U{ord(sign):08x}"


def _comment(line: str) -> str:
    return "".join(sign if sign.isprintable() else "�" for sign in line)


def _fault(file: Path, what: str, remedy: str = "") -> Problem:
    from ..io.folder.disk import shown

    return Problem("job-file", what, remedy, shown(file))
