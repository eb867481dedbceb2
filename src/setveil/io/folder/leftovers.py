"""What a stopped run has left beside its destination: completed, put back or removed, or told of.

A run works in hidden folders beside its destination, each locked as long as the run lives. One that is
found unlocked is left over: it holds private records, of the release to come or of the one that was
replaced. `recover` deals with those of one destination, `sweep` with all in some folders. Only folders
that are ours are touched: of such a name, and with nothing but our files in them.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterable
from pathlib import Path

from ...errors import FileSystemError
from .disk import remove_folder, rename_new, replace_folder, shown, telling
from .ownership import AUDIT, CERTIFICATE, is_replaceable, is_working_folder

try:
    import fcntl
except ImportError:  # pragma: no cover - systems without flock
    fcntl = None  # type: ignore[assignment]

_CAN_LOCK: bool = fcntl is not None
HIDDEN, OLD = ".setveil-tmp-", ".setveil-old-"
"""What follows the name of a destination in that of a folder worked in, and of one set aside."""

_LEFT = re.compile(r"\.(?P<name>.+?)(\.private)?\.setveil-(tmp|old)-[0-9a-f]{16}", re.DOTALL)


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
