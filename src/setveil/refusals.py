"""What is not there, and why: verbs and options by the kinds of data that they do not take.

The command line, the functions of Python, the docs and the tests read it here. A field says itself
which kinds it fits (`setveil.run.fields`); here is what is said where it does not.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

from .errors import UsageError


@dataclass(frozen=True)
class Kind:
    """A kind of data beside sets: its name in words, and the code of errors that refuse it."""

    key: str
    name: str
    code: str


@dataclass(frozen=True)
class Refusal:
    """Why something does not take a kind of data, and what to do instead.

    `what` is a verb, or one of these: "method" for a method of another kind where the data are sets;
    "field" for a flag that does not fit the data of a run (of the remedy the field itself knows);
    "beside sets" for a flag of another kind where the data are sets.
    """

    what: str
    kind: str
    reason: str
    remedy: str = ""
    code: str | None = None

    def error(self, named: str = "") -> UsageError:
        """Return the error, told of the flag or method of this name."""
        return UsageError(self.reason.format(named), self.remedy, code=self.code)


BUCKETS = Kind("buckets", "a table in buckets", "buckets")
PAIRS = Kind("pairs", "two data sets", "pair")
KINDS = (BUCKETS, PAIRS)
NAMES = {kind.key: kind.name for kind in KINDS}
"""The kinds beside sets, in words."""
VERBS = ("risk", "apply")
"""Verbs of the command line that do not take each folder; of others the reader refuses some."""

REFUSALS = (
    Refusal(
        "risk",
        PAIRS.key,
        "nothing is promised about single people in two data sets that hide their differences.",
        "`setveil measure` tells what was hidden, `setveil audit` whether it is.",
        PAIRS.code,
    ),
    Refusal(
        "apply",
        BUCKETS.key,
        "new people would need buckets of their own, and whoever has both releases could tell who is "
        "new and which values are theirs.",
        "Put the old and the new rows together into buckets anew, and replace the earlier release.",
        BUCKETS.code,
    ),
    Refusal(
        "method",
        BUCKETS.key,
        "the method {!r} is for tables with a sensitive column.",
        "Name its columns: --quasi age,sex --sensitive disease.",
        "guarantee-method",
    ),
    Refusal(
        "method",
        PAIRS.key,
        "the method {!r} is for two data sets.",
        "Run it by itself: setveil anonymize before.csv --against after.csv --growth 5 -o release.",
        "guarantee-method",
    ),
    Refusal("field", BUCKETS.key, "{} does not fit a table in buckets (--quasi)."),
    Refusal("field", PAIRS.key, "{} does not fit two data sets."),
    Refusal("beside sets", BUCKETS.key, "{} goes with --quasi.", "Name the columns, or leave it out."),
    Refusal(
        "beside sets",
        PAIRS.key,
        "{} is for two data sets.",
        "Give the second (--against FILE) or the column that splits one table "
        "(--class-column COLUMN), and --growth.",
        "option-does-not-fit",
    ),
)


def refusal(what: str, kind: str) -> Refusal | None:
    """Return why something does not take a kind; None where it does."""
    return next((one for one in REFUSALS if (one.what, one.kind) == (what, kind)), None)


def refuse(what: str, kind: str, named: str = "") -> None:
    """Raise `UsageError` where something does not take a kind."""
    found = refusal(what, kind)
    if found is not None:
        raise found.error(named)


def refuse_asked(asked: Mapping[str, Any], kind: str, *fitting: str) -> None:
    """Raise `UsageError` for an option of a function that is of no use for a kind of data."""
    for name, value in asked.items():
        if value is not None and name not in fitting:
            raise UsageError(
                f"{name} does not fit {NAMES.get(kind, 'records as sets')}.",
                "Leave it out.",
                code="option-does-not-fit",
            )


def refuse_folder(verb: str, path: str | os.PathLike[str]) -> None:
    """Raise `UsageError` where a verb is handed the folder of a kind that it does not take."""
    from .io.folder.ownership import kind_of_folder

    found = refusal(verb, kind_of_folder(path) or "")
    if found is not None:
        what = f"{verb} does not take this release: {found.reason}"
        raise UsageError(what, found.remedy, code=found.code)


def refuse_release(given: object) -> NoReturn:
    """Raise `UsageError` for what a function is handed in place of a release."""
    raise UsageError(
        f"a release is needed (got {type(given).__name__[:40]}).",
        "Give what `anonymize` returned, or read one: setveil.read_release(path).",
    )
