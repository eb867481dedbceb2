"""Which folders are ours, and what a stopped run has left of them: nothing else is ever touched.

A folder is ours if it holds exactly the files of a release, or of a private twin, all of them regular,
and the document among them reads as ours. One file more, and it holds what somebody else put there.

A run works in hidden folders beside its destination, each locked as long as the run lives. One that is
found unlocked is left over: it holds private records, of the release to come or of the one that was
replaced. `recover` deals with those of one destination, `sweep` with all in some folders: they are
completed, put back or removed, or told of.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import stat
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...errors import FileSystemError, UsageError
from .disk import remove_folder, rename_new, replace_folder, shown, telling

try:
    import fcntl
except ImportError:  # pragma: no cover - systems without flock
    fcntl = None  # type: ignore[assignment]

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

_CAN_LOCK: bool = fcntl is not None
HIDDEN, OLD = ".setveil-tmp-", ".setveil-old-"
"""What follows the name of a destination in that of a folder worked in, and of one set aside."""
_LEFT = re.compile(r"\.(?P<name>.+?)(\.private)?\.setveil-(tmp|old)-[0-9a-f]{16}", re.DOTALL)


@dataclass(frozen=True)
class Shape:
    """A release that is no records as sets: how it is told, and which files hold its data.

    `recoding` is what its certificate calls it, `kind` that of its guarantees; `refusal` is what to say
    where records are wanted.
    """

    recoding: str
    kind: str
    files: Callable[[dict[str, Any]], set[str]]
    refusal: tuple[str, str, str]


def _files_of_buckets(document: dict[str, Any]) -> set[str]:
    joined = document["data"].get("format") != "buckets"
    files = {"data.csv"} if joined else {"quasi.csv", "sensitive.csv"}
    return files | ({RULES} if "rules" in document else set())


def _files_of_pair(document: dict[str, Any]) -> set[str]:
    given = document["data"].get("parts")
    parts = [part for part in given if isinstance(part, dict)] if isinstance(given, list) else []
    names = [part.get("file") for part in parts]
    files = {name for name in names if isinstance(name, str) and _PAIR_FILE.fullmatch(name)}
    return files if len(files) == 2 else set()


TABLE_IN_BUCKETS = Shape(
    "buckets",
    "buckets",
    _files_of_buckets,
    ("holds a table in buckets, not records as sets.", "a release of records", "buckets"),
)
PAIR = Shape(
    "pair",
    "pairs",
    _files_of_pair,
    ("holds two data sets, not one.", "a release of one data set", "pair"),
)


SHAPES = (TABLE_IN_BUCKETS, PAIR)


def is_release(folder: Path) -> bool:
    """Tell whether a folder is a release and nothing else; an OSError goes through."""
    names = _regular_names(folder)
    if names is None or CERTIFICATE not in names:
        return False
    document = _object(folder / CERTIFICATE)
    tool, data = document.get("tool"), document.get("data")
    if not isinstance(tool, dict) or not isinstance(data, dict) or tool.get("name") != "setveil":
        return False
    known, shape = {CERTIFICATE, HIERARCHY, REPORT}, _shape_in(document)
    if shape is not None:
        files = shape.files(document)
        return bool(files) and names == known | files
    if "report" not in document:  # the first version of the certificate knew no report
        known = {CERTIFICATE, HIERARCHY}
    file = data.get("file")
    if type(document.get("certificate")) is not int or not isinstance(file, str):
        return False
    return _DATA_FILE.fullmatch(file) is not None and names == known | {file}


def _shape_in(document: dict[str, Any]) -> Shape | None:
    return next((shape for shape in SHAPES if shape.recoding == document.get("recoding")), None)


def _shape_of(folder: str | os.PathLike[str]) -> Shape | None:
    try:
        return _shape_in(_object(Path(folder) / CERTIFICATE))
    except (OSError, ValueError):  # no folder, or no name of one
        return None


def kind_of_folder(path: str | os.PathLike[str]) -> str | None:
    """Return the kind that a release folder says of itself that it is; None for anything else."""
    shape = _shape_of(path)
    if shape is None:
        return "sets" if (Path(path) / CERTIFICATE).is_file() else None
    return shape.kind


def holds_buckets(path: str | os.PathLike[str]) -> bool:
    """Tell whether a folder says of itself that it is a table in buckets; False for anything else."""
    return _shape_of(path) is TABLE_IN_BUCKETS


def holds_pair(path: str | os.PathLike[str]) -> bool:
    """Tell whether a folder says of itself that it holds two data sets; False for anything else."""
    return _shape_of(path) is PAIR


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


def private_twin(path: Path) -> Path:
    """Return where the private documents of the release at `path` lie."""
    return path.with_name(path.name + ".private")


def sweep(folders: Iterable[Path]) -> list[str]:
    """Deal with all that stopped runs have left in some folders; return notices, never raise.

    Where folders cannot be locked it does nothing: a run that lives could not be told from a dead one.
    """
    notices: list[str] = []
    for folder in dict.fromkeys(folders if _CAN_LOCK else ()):
        try:
            names = os.listdir(folder)
        except (OSError, ValueError):
            continue
        matches = (_LEFT.fullmatch(name) for name in sorted(names))
        for name in dict.fromkeys(match["name"] for match in matches if match):
            try:
                notices += recover(folder / name)
            except FileSystemError as error:
                notices.append(f"a stopped run left hidden folders beside {name}: {error.problems[0]}")
    return list(dict.fromkeys(notices))


def recover(target: Path) -> list[str]:
    """Finish or remove what a killed run left beside `target`; return a notice for each."""
    twin = private_twin(target)
    notices: list[str] = []
    for place in (target, twin):
        for old in _siblings(place, OLD):
            if not _is_left(old, notices):
                continue
            # Set aside and not replaced yet: what was to come still has its working name.
            coming = old.with_name(old.name.replace(OLD, HIDDEN))
            if os.path.lexists(place) or not coming.exists():
                notices += _told_removal(old, target)
            else:
                rename_new(old, place)
                notices.append(f"put back {shown(place.name)}, which a stopped run had set aside.")
    for stale in _siblings(twin, HIDDEN):
        if not _is_left(stale, notices):
            continue
        if target.is_dir() and _belongs(stale, target) and not _belongs(twin, target):
            notices += _completed(stale, twin)
        else:
            notices += _told_removal(stale, target)
    for stale in _siblings(target, HIDDEN):
        if _is_left(stale, notices):
            notices += _told_removal(stale, target)
    return list(dict.fromkeys(notices))


def removed(folders: Iterable[Path]) -> list[str]:
    """Remove folders; return a sentence about each that is still there, and why."""
    left: list[str] = []
    for folder in folders:
        reason = remove_folder(folder)
        if reason is not None:
            left.append(
                f"{shown(folder)} could not be removed ({reason}). It can hold private records: remove "
                "it yourself."
            )
    return left


def locked(folder: Path) -> int | None:
    """Lock a folder and return the open number; None where another run holds it or it is gone."""
    try:
        number = os.open(folder, os.O_RDONLY)
    except OSError:
        return None
    try:
        if fcntl is not None:
            fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if folder.exists() and os.path.samestat(os.fstat(number), folder.stat()):
            return number
    except OSError:
        pass
    os.close(number)
    return None


def _completed(stale: Path, twin: Path) -> list[str]:
    """Put the private folder of the release that is in place where it belongs."""
    done = [f"completed {shown(twin.name)} of a run that was stopped."]
    if not os.path.lexists(twin):
        rename_new(stale, twin)
        return done
    with telling(twin, "read"):
        if not is_replaceable(twin, private=True):
            return []  # not ours; whoever asks for this destination is told so
    # In one step, so that a twin half removed is never found in its place.
    aside = stale.with_name(stale.name.replace(HIDDEN, OLD))
    exchanged = replace_folder(stale, twin, aside)
    return done + removed([stale if exchanged else aside])


def _told_removal(stale: Path, target: Path) -> list[str]:
    return removed([stale]) or [
        f"removed what a stopped run had left beside {shown(target.name)}."
    ]  # fmt: skip


def _siblings(place: Path, mark: str) -> list[Path]:
    name = re.compile(re.escape(f".{place.name}{mark}") + "[0-9a-f]{16}")
    with telling(place.parent, "read"):
        names = sorted(os.listdir(place.parent))
    return [place.with_name(found) for found in names if name.fullmatch(found)]


def _is_left(folder: Path, notices: list[str]) -> bool:
    """Tell whether a hidden folder is ours and no run works in it; note where it holds other files."""
    number = locked(folder)
    if number is None:
        return False
    os.close(number)
    with telling(folder, "read"):
        ours = is_working_folder(folder)
    if not ours:
        notices.append(
            f"{shown(folder)} has the name of what a stopped run leaves, but holds other files or "
            "belongs to somebody else. It can hold private records: look, and remove it yourself."
        )
    return ours


def _belongs(private: Path, public: Path) -> bool:
    """Tell whether a private folder was made for the release at `public`."""
    try:
        audit = json.loads((private / AUDIT).read_bytes())
        digest = hashlib.sha256((public / CERTIFICATE).read_bytes()).hexdigest()
    except (OSError, ValueError):
        return False
    return isinstance(audit, dict) and audit.get("certificate_sha256") == digest
