"""What is not there, and why: verbs and options by the kinds of data that they do not take.

The command line, the functions of Python, the docs and the tests read it here. A field says itself
which kinds it fits (`setveil.run.fields`); here is what is said where it does not.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass

from .errors import UsageError


@dataclass(frozen=True)
class Refusal:
    """Why something does not take a kind of data, and what to do instead."""

    reason: str
    remedy: str
    code: str | None = None


NAMES: Mapping[str, str] = {"buckets": "a table in buckets", "pairs": "two data sets"}
"""The kinds beside sets, in words."""
CODES: Mapping[str, str] = {"buckets": "buckets", "pairs": "pair"}
"""The codes of the errors where a verb does not take a kind."""

OF_RELEASES: Mapping[str, Refusal] = {
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
"""What `apply`, `explain`, `measure` and `risk` of Python say to a release; `measure` takes pairs."""

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

OF_METHODS: Mapping[str, Refusal] = {
    "buckets": Refusal(
        "is for tables with a sensitive column.",
        "Name its columns: --quasi age,sex --sensitive disease.",
    ),
    "pairs": Refusal(
        "is for two data sets.",
        "Run it by itself: setveil anonymize before.csv --against after.csv --growth 5 -o release.",
    ),
}
"""What is said of a method of another kind where the data are sets."""

OF_FIELDS: Mapping[str, str] = {
    "buckets": "{} does not fit a table in buckets (--quasi).",
    "pairs": "{} does not fit two data sets.",
}
"""What is said of a flag that does not fit the data of a run; what to do, the field knows."""

BESIDE_SETS: Mapping[str, Refusal] = {
    "buckets": Refusal("{} goes with --quasi.", "Name the columns, or leave it out."),
    "pairs": Refusal(
        "{} is for two data sets.",
        "Give the second (--against FILE) or the column that splits one table "
        "(--class-column COLUMN), and --growth.",
        "option-does-not-fit",
    ),
}
"""What is said of a flag of another kind where the data are sets."""


def refuse_folder(verb: str, path: str | os.PathLike[str]) -> None:
    """Raise `UsageError` where a verb is handed the folder of a kind that it does not take."""
    from .io.folder.ownership import holds_pair

    refusal = OF_FOLDERS.get((verb, "pairs"))
    if refusal is not None and holds_pair(path):
        raise UsageError(
            f"{verb} does not take this release: {refusal.reason}.", refusal.remedy, code=CODES["pairs"]
        )


def refuse_release(release: object) -> None:
    """Raise `UsageError` where a function about sets is handed something else."""
    from .release.release import Release

    kind = getattr(getattr(release, "guarantee", None), "kind", "")
    if kind in OF_RELEASES:
        raise UsageError(OF_RELEASES[kind].reason, OF_RELEASES[kind].remedy, code=CODES[kind])
    if not isinstance(release, Release):
        raise UsageError(
            f"a release is needed (got {type(release).__name__[:40]}).",
            "Give what `anonymize` returned, or read one: setveil.read_release(path).",
        )
