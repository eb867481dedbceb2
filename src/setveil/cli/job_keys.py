"""The keys of a job file: the flags of `anonymize` by their long names, and the way there and back."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..registry import ALL_METHODS
from . import anonymize as verb
from .flags import GUARANTEE, READING, TABLE, Flag, method_flags
from .inputs import HIERARCHY

if TYPE_CHECKING:
    from ..job_file import FileJob, Key, Value

NOT_OF_A_JOB = frozenset({"dry_run", "as_json", "save_job", "verbose"})
"""Flags of `anonymize` that say how a run is shown, not what it is."""
_NUMBERS = frozenset({"k", "m", "l", "h", "p", "time_limit", "threads", "max_bytes"})
_PATHS = {"hierarchy": "column", "sensitive": "list", "private": "list"} | dict.fromkeys(
    ("data", "weights", "labels", "output"), "file"
)


def job_flags() -> tuple[Flag, ...]:
    """Return the flags that a job can give, in the order a job is written."""
    groups = (HIERARCHY, GUARANTEE, verb.RUN, method_flags(), verb.OUTPUT, READING, TABLE)
    return tuple(flag for group in groups for flag in group if flag.name not in NOT_OF_A_JOB)


def key_name(flag: Flag) -> str:
    """Return the key of a flag: its long name, --set is set."""
    long = next(name for name in flag.spelled if name.startswith("--"))
    return long.partition("/")[0].removeprefix("--").replace("-", "_")


def job_keys() -> list[Key]:
    """Return what a job may hold."""
    from ..job_file import Key

    kinds: Mapping[Any, str] = {bool: "switch", bool | None: "switch", list[str] | None: "texts"}
    counted = {
        option.name for record in ALL_METHODS for option in record.options if option.type is not str
    }
    return [
        Key("data", path="file"),
        *(
            Key(
                key_name(flag),
                kinds.get(flag.kind, "text"),
                flag.name in _NUMBERS | counted,
                _PATHS.get(flag.name, ""),
            )
            for flag in job_flags()
        ),
    ]


def flags_of(job: FileJob) -> dict[str, Any]:
    """Return the flags of `anonymize` as a job gives them, the others at their defaults."""
    given: dict[str, Any] = {"dry_run": False, "as_json": False, "save_job": None, "verbose": False}
    for flag in job_flags():
        value = job.values.get(key_name(flag), flag.default)
        given[flag.name] = list(value) if isinstance(value, tuple) else value
    return given


def write_job(
    path: str,
    data: str,
    given: Mapping[str, Any],
    *,
    about: Sequence[str],
    force: bool = False,
) -> None:
    """Write the flags given as a job; what `anonymize` does with them, `run` does with the file."""
    from ..io.files import write_text_file
    from ..job_file import job_text

    values: dict[str, Value] = {"data": data}
    for flag in job_flags():
        value = given.get(flag.name, flag.default)
        if value not in (flag.default, []):
            values[key_name(flag)] = tuple(value) if isinstance(value, list) else value
    folder = Path(path).parent
    run = f"Run it: setveil run {Path(path).name}"
    text = job_text(values, job_keys(), folder=os.fspath(folder), about=(*about, run))
    write_text_file(path, text, force=force)
