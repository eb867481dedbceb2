"""Is a folder one that setveil made? Nothing else is ever replaced.

A folder is ours if it holds exactly the files of a release, or of a private twin, all of them regular,
and the document among them reads as ours. One file more, and it holds what somebody else put there.
"""

from __future__ import annotations

import json
import os
import re
import stat
from pathlib import Path
from typing import Any

from ...errors import UsageError

CERTIFICATE, HIERARCHY, REPORT, AUDIT, RECODING = (
    "certificate.json",
    "hierarchy.csv",
    "report.html",
    "audit.json",
    "recoding.json",
)
RULES, BUCKETS = "rules.csv", "buckets.json"
_DOCUMENTS = (CERTIFICATE, HIERARCHY, AUDIT, RECODING, BUCKETS)
_OURS = frozenset((*_DOCUMENTS, REPORT, RULES, "quasi.csv", "sensitive.csv"))
_MOST_FILES = 6
_DATA_FILE = re.compile(r"data\.(csv|dat|jsonl|parquet)(\.gz)?")
_PAIR_FILE = re.compile(r"data-[12]\.(csv|dat|jsonl|parquet)(\.gz)?")
_LARGEST_DOCUMENT = 64 << 20


def is_release(folder: Path) -> bool:
    """Tell whether a folder is a release and nothing else; an OSError goes through."""
    names = _regular_names(folder)
    if names is None or CERTIFICATE not in names:
        return False
    document = _object(folder / CERTIFICATE)
    tool, data = document.get("tool"), document.get("data")
    if not isinstance(tool, dict) or not isinstance(data, dict) or tool.get("name") != "setveil":
        return False
    known, told = {CERTIFICATE, HIERARCHY, REPORT}, document.get("recoding")
    if told == "buckets":
        parts = {"quasi.csv", "sensitive.csv"} if data.get("format") == "buckets" else {"data.csv"}
        return names == known | parts | ({RULES} if "rules" in document else set())
    if told == "pair":
        given = data.get("parts")
        dicts = [part for part in given if isinstance(part, dict)] if isinstance(given, list) else []
        files = [part.get("file") for part in dicts]
        parts = {file for file in files if isinstance(file, str) and _PAIR_FILE.fullmatch(file)}
        return len(parts) == 2 and names == known | parts
    if "report" not in document:  # the first version of the certificate knew no report
        known = {CERTIFICATE, HIERARCHY}
    file = data.get("file")
    if type(document.get("certificate")) is not int or not isinstance(file, str):
        return False
    return _DATA_FILE.fullmatch(file) is not None and names == known | {file}


def told_recoding(folder: str | os.PathLike[str]) -> str | None:
    """Return the kind of recoding that the certificate in a folder tells; None where there is none."""
    try:
        told = _object(Path(folder) / CERTIFICATE).get("recoding")
    except (OSError, ValueError):  # no folder, or no name of one
        return None
    return told if isinstance(told, str) else None


def holds_buckets(path: str | os.PathLike[str]) -> bool:
    """Tell whether a folder says of itself that it is a table in buckets; False for anything else."""
    return told_recoding(path) == "buckets"


def holds_pair(path: str | os.PathLike[str]) -> bool:
    """Tell whether a folder says of itself that it holds two data sets; False for anything else."""
    return told_recoding(path) == "pair"


def is_private_twin(folder: Path) -> bool:
    """Tell whether a folder holds the private documents of a release and nothing else."""
    # The page may have been left out. Those of the first version had no page and two files.
    of_sets, of_buckets, first = {AUDIT, HIERARCHY, RECODING}, {AUDIT, BUCKETS}, {AUDIT, RECODING}
    names = _regular_names(folder)
    if names is None or (names - {REPORT} not in (of_sets, of_buckets) and names != first):
        return False
    return isinstance(_object(folder / AUDIT).get("certificate_sha256"), str)


def refuse_inside(place: Path) -> None:
    """Raise `UsageError` where a file or folder would come into a release folder or a private twin.

    The one is for others and holds what was audited and nothing else; the other belongs to its release.
    A folder counts as such by its main documents, whatever else lies in it.
    """
    folder = place.resolve().parent
    names = {name for name in _DOCUMENTS if (folder / name).is_file()}
    if {CERTIFICATE, HIERARCHY} <= names:
        what = "a release folder is for others and holds what was audited, nothing else."
        code = "private-in-release"
    elif AUDIT in names and names & {RECODING, BUCKETS}:
        what = "the private folder of a release holds what belongs to that release, nothing else."
        code = "inside-private"
    else:
        return
    raise UsageError(what, "Choose another place.", code=code)


def is_empty(folder: Path) -> bool:
    """Tell whether a folder holds nothing, so that nothing is lost with it."""
    return _regular_names(folder) == set()


def is_replaceable(folder: Path, *, private: bool) -> bool:
    """Tell whether a folder may be removed for another: one that we made, or an empty one."""
    return (is_private_twin(folder) if private else is_release(folder)) or is_empty(folder)


def is_working_folder(folder: Path) -> bool:
    """Tell whether a hidden folder holds nothing but files of ours, as many as were written yet.

    It is read half written or half removed, so no document in it need be whole. Its name, with a token
    of 64 bits, and its owner say that we made it.
    """
    names = _regular_names(folder)
    if names is None or (hasattr(os, "geteuid") and folder.lstat().st_uid != os.geteuid()):
        return False
    return all(
        name in _OURS or _DATA_FILE.fullmatch(name) or _PAIR_FILE.fullmatch(name) for name in names
    )


def _regular_names(folder: Path) -> set[str] | None:
    """Return the names in a folder; None where it is no folder or holds anything but plain files."""
    if not stat.S_ISDIR(folder.lstat().st_mode):
        return None
    names = set(os.listdir(folder))
    if len(names) > _MOST_FILES:
        return None
    plain = all(stat.S_ISREG((folder / name).lstat().st_mode) for name in names)
    return names if plain else None


def _object(path: Path) -> dict[str, Any]:
    """Return the JSON object in a file, an empty one where there is none."""
    with open(path, "rb") as file:
        content = file.read(_LARGEST_DOCUMENT + 1)
    try:
        document = json.loads(content) if len(content) <= _LARGEST_DOCUMENT else None
    except (ValueError, RecursionError):
        return {}
    return document if isinstance(document, dict) else {}
