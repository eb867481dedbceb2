"""Published data of others, which say nothing of themselves: the promise comes with the question.

Files and frames are read by `io`, and what was read is handed to the audit, which counts. Records as
sets are judged by `setveil.api`; here are tables in buckets and two data sets, a file each.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

from ..errors import UsageError
from ..model.guarantees import AnyGuarantee

if TYPE_CHECKING:
    from ..run import Run


class Foreign:
    """Data that were read and are not judged yet; `notices` are what the reader had to say."""

    notices: Sequence[str] = ()

    @classmethod
    def read(cls, target: Any, **reading: Any) -> Self:
        """Return what is in files or frames; the keywords are those of `setveil.audit`."""
        raise NotImplementedError

    @classmethod
    def asked(cls, asked: Any, run: Run) -> tuple[Self, AnyGuarantee]:
        """Return the data and the promise that the flags of a command name."""
        raise NotImplementedError

    def judge(self, guarantee: Any, *, witnesses: int = 0, threads: int | None = None) -> Any:
        """Return the answer of the audit."""
        raise NotImplementedError


def of_kind(kind: str) -> type[Foreign]:
    """Return what reads and judges data of a kind."""
    found: type[Foreign] = importlib.import_module(f".{kind}", __package__).FOREIGN
    return found


def refuse_mode(mode: str, what: str) -> None:
    """Raise `UsageError` where another reading than the one is asked for."""
    if mode != "exact":
        raise UsageError(
            f"{what} only one reading, exact.", "Leave the mode out.", code="option-does-not-fit"
        )
