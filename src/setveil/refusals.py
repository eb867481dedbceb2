"""What is not there, and why: verbs by the kinds of release that they do not take.

The command line, the functions of Python, the tests and the docs read it here.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass

from .errors import UsageError


@dataclass(frozen=True)
class Refusal:
    """Why a verb does not take a kind of release, and what to do instead."""

    reason: str
    remedy: str


_NOT_SETS: Mapping[str, Refusal] = {
    "buckets": Refusal(
        "this is about releases of sets, and here is a table in buckets.",
        "Publish it: its private report tells what attacks find, and `setveil risk` and "
        "`setveil measure` take its folder.",
    ),
    "pairs": Refusal(
        "this is about one data set of sets, and here are two that hide their differences.",
        "Ask for `setveil.measure`, or publish them: their private report tells what was hidden.",
    ),
}
CODES: Mapping[str, str] = {"buckets": "buckets", "pairs": "pair"}
"""The codes of the errors."""

IN_PYTHON: Mapping[tuple[str, str], Refusal] = {
    (verb, kind): refusal
    for verb in ("apply", "explain", "measure", "risk")
    for kind, refusal in _NOT_SETS.items()
    if (verb, kind) != ("measure", "pairs")
}
"""Functions of Python and releases that they do not take."""

OF_FOLDERS: Mapping[tuple[str, str], Refusal] = {
    ("risk", "pairs"): Refusal(
        "nothing is promised about single people in two data sets that hide their differences",
        "`setveil measure` tells what was hidden, `setveil audit` whether it is.",
    ),
    ("explain", "pairs"): Refusal(
        "values of two data sets are raised to hide patterns, not to let records fit one another",
        "The private folder's report.html lists the patterns and what was raised.",
    ),
    ("report", "pairs"): Refusal(
        "the private report of two data sets was made whole when they were published",
        "It is report.html in the private folder.",
    ),
    ("apply", "pairs"): Refusal(
        "new records would change what is frequent in two data sets, and so what must be hidden",
        "Anonymize all records anew.",
    ),
}
"""Verbs of the command line and folders that they do not take; the reader refuses tables in buckets."""


def refuse_folder(verb: str, path: str | os.PathLike[str]) -> None:
    """Raise `UsageError` where a verb is handed the folder of a kind that it does not take."""
    from .io.folder.ownership import holds_pair

    refusal = OF_FOLDERS.get((verb, "pairs"))
    if refusal is not None and holds_pair(path):
        raise UsageError(
            f"{verb} does not take this release: {refusal.reason}.", refusal.remedy, code=CODES["pairs"]
        )


def refuse_release(verb: str, release: object) -> None:
    """Raise `UsageError` where a function is handed a release of a kind that it does not take."""
    kind = getattr(getattr(release, "guarantee", None), "kind", None)
    refusal = IN_PYTHON.get((verb, str(kind)))
    if refusal is not None:
        raise UsageError(refusal.reason, refusal.remedy, code=CODES[str(kind)])
    from .release.release import Release

    if not isinstance(release, Release):
        raise UsageError(
            f"a release is needed (got {type(release).__name__[:40]}).",
            "Give what `anonymize` returned, or read one: setveil.read_release(path).",
        )
