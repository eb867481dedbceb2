"""Everything that can go wrong, each with its exit code.

::

    SetveilError
    ├── UsageError            2   wrong parameters or options
    ├── DataError             3   bad data
    │   └── HierarchyError    3   bad hierarchy
    ├── Infeasible            4   no solution exists for these parameters, or none of use
    ├── FileSystemError       5   permission, exists, missing, full
    ├── ResourceLimit         6   memory, size or work beyond the limit
    │   └── TimeLimit         6   the time limit passed and there is nothing valid to return
    ├── InternalError        70   a bug in setveil, or its own audit said no
    └── Cancelled           130   the user asked to stop

An error carries one or more `Problem` values, so that all faults of a file are told at once. Messages
never hold a private record: at most a shortened label, a file name and a line.
"""

from __future__ import annotations

import errno
import mmap
import re
from collections.abc import Sequence
from dataclasses import dataclass

SHOWN = 20
"""How many problems of a kind are printed before "and N more"."""


@dataclass(frozen=True)
class Problem:
    """One fault: what is wrong, where, and what to do about it."""

    code: str
    what: str
    remedy: str = ""
    file: str | None = None
    line: int | None = None
    column: int | None = None

    def __str__(self) -> str:
        where = ""
        if self.file is not None:
            where = f" {self.file}"
            if self.line is not None:
                where += f":{self.line}"
                if self.column is not None:
                    where += f":{self.column}"
        elif self.line is not None:
            where = f" line {self.line}"
        remedy = f" {self.remedy}" if self.remedy else ""
        return f"error[{self.code}]{where}: {self.what}{remedy}"

    def as_dict(self) -> dict[str, object]:
        """Return the problem as plain values for ``--json``."""
        return {name: value for name, value in vars(self).items() if value not in (None, "")}


class Remark(str):
    """A notice, that is a sentence for the user, that is shown with ``-v`` only.

    >>> [Remark("a blank was cut")] == ["a blank was cut"]
    True
    """

    __slots__ = ()


class SetveilError(Exception):
    """Base of all errors raised on purpose; `problems` says what is wrong, `exit_code` how to leave.

    >>> import setveil as sv
    >>> try:
    ...     sv.KmAnonymity(k=1, m=2)
    ... except sv.SetveilError as error:
    ...     print(error.exit_code, error.problems[0].remedy)
    2 Give k >= 2.
    """

    exit_code = 70
    default_code = "internal"

    def __init__(
        self,
        what: str | Sequence[Problem],
        remedy: str = "",
        *,
        code: str | None = None,
        file: str | None = None,
        line: int | None = None,
        column: int | None = None,
    ) -> None:
        if isinstance(what, str):
            problem = Problem(code or self.default_code, what, remedy, file, line, column)
            self.problems: tuple[Problem, ...] = (problem,)
        else:
            self.problems = tuple(what)
        super().__init__(self.text())

    def text(self) -> str:
        """Return the message, at most `SHOWN` problems of a kind."""
        lines: list[str] = []
        by_code: dict[str, int] = {}
        for problem in self.problems:
            by_code[problem.code] = by_code.get(problem.code, 0) + 1
            if by_code[problem.code] <= SHOWN:
                lines.append(str(problem))
        lines += [
            f"… and {count - SHOWN} more of error[{code}]"
            for code, count in by_code.items()
            if count > SHOWN
        ]
        return "\n".join(lines)


class UsageError(SetveilError):
    """Wrong parameters or options."""

    exit_code = 2
    default_code = "usage"


class DataError(SetveilError):
    """Bad data: bytes, structure or content of a file or frame."""

    exit_code = 3
    default_code = "data"


class HierarchyError(DataError):
    """Bad hierarchy: cycle, two parents, several roots, missing items."""

    default_code = "hierarchy"


class Infeasible(SetveilError):
    """No solution exists for these parameters, or none that is of use."""

    exit_code = 4
    default_code = "infeasible"


class FileSystemError(SetveilError):
    """A file cannot be read or written: missing, exists, permission, full."""

    exit_code = 5
    default_code = "file"


class ResourceLimit(SetveilError):
    """Memory, size or work beyond the limit; refused before or during the run."""

    exit_code = 6
    default_code = "limit"


NEEDED_TO_START = 448 << 20
"""Bytes of room for the smallest run, whose libraries and compiled code need about 410 MiB."""

_NO_MEMORY = re.compile(
    "cannot allocate memory|failed to map segment|can't start new thread|out of memory"
    "|cannot allocate|memoryerror",
    re.IGNORECASE,
)


def is_out_of_memory(error: BaseException) -> bool:
    """Tell whether memory ran out behind an error: a library that cannot be loaded says it in words.

    >>> is_out_of_memory(ImportError("libarrow.so: failed to map segment from shared object"))
    True
    """
    behind: BaseException | None = error
    for _ in range(20):
        if behind is None:
            break
        said = isinstance(behind, ImportError | OSError | RuntimeError | SystemError)
        if isinstance(behind, MemoryError) or (said and _NO_MEMORY.search(str(behind))):
            return True
        if isinstance(behind, OSError) and behind.errno == errno.ENOMEM:
            return True
        behind = behind.__cause__ or behind.__context__
    return False


def out_of_memory() -> ResourceLimit:
    """Return the error of a run that found no memory."""
    return ResourceLimit(
        "out of memory.",
        "Give it more. `--dry-run` shows an estimate; a lower m or another method needs less.",
        code="memory",
    )


def refuse_too_little_memory() -> None:
    """Raise MemoryError where not even the smallest run has room, which is asked for and not used.

    Libraries that find no memory while they are loaded, compile or solve end the process themselves:
    one with 1, the exit code of a promise that is not kept, others by an abort.
    """
    try:
        mmap.mmap(-1, NEEDED_TO_START).close()
    except OSError as error:
        raise MemoryError from error


class TimeLimit(ResourceLimit):
    """The time limit passed and there is nothing valid to return."""

    default_code = "time-limit"


class InternalError(SetveilError):
    """A bug in setveil, or its own audit refused what it was about to publish."""

    exit_code = 70
    default_code = "internal"


class Cancelled(SetveilError):
    """The user asked to stop; nothing was written."""

    exit_code = 130
    default_code = "cancelled"
