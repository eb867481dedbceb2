"""Durable steps on the disk: files that are there or not, folders swapped in one step.

Every failure becomes a `FileSystemError` that names the path and what to do. Renames never replace
anything by accident: they go through renameat2 where the system has it.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import BinaryIO

from ...errors import FileSystemError

NO_REPLACE, EXCHANGE = 1, 2
_HERE = -100  # AT_FDCWD

_REMEDIES = {
    errno.ENOSPC: ("disk-full", "Free some space or choose another place."),
    errno.EDQUOT: ("disk-full", "Free some space or choose another place."),
    errno.EFBIG: ("disk-full", "Raise the limit on file sizes."),
    errno.EACCES: ("permission", "Choose a place you may write to."),
    errno.EPERM: ("permission", "Choose a place you may write to."),
    errno.EROFS: ("permission", "The file system is read-only: choose another place."),
    errno.ENOENT: ("missing", "Create the folder first."),
    errno.ENOTDIR: ("missing", "A part of the path is not a folder."),
    errno.EEXIST: ("exists", "Choose another name, or give --force to replace a release."),
    errno.ENOTEMPTY: ("exists", "Choose another name, or give --force to replace a release."),
    errno.ENAMETOOLONG: ("name", "Choose a shorter name."),
}

_READING = {
    errno.EACCES: ("permission", "Check that you may read it."),
    errno.EPERM: ("permission", "Check that you may read it."),
    errno.ENOENT: ("missing", "Check the name."),
    errno.EISDIR: ("file", "Give a file, not a folder."),
}


def shown(path: Path | str) -> str:
    """Return a path as text that can always be printed: undecodable bytes are escaped."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


@contextlib.contextmanager
def telling(path: Path, doing: str) -> Iterator[None]:
    """Turn an OSError of the block into a `FileSystemError` about `path`."""
    try:
        yield
    except OSError as error:
        known = _REMEDIES | _READING if doing == "read" else _REMEDIES
        code, remedy = known.get(error.errno or 0, ("file", ""))
        reason = error.strerror or type(error).__name__
        raise FileSystemError(
            f"cannot {doing}: {reason}.", remedy, code=code, file=shown(path)
        ) from error


@contextlib.contextmanager
def created(path: Path, *, mode: int, told: Path | None = None) -> Iterator[BinaryIO]:
    """Create `path` for the block to write into, then bring it to the disk; it must not exist yet.

    `told` is the path that an error names, where the user knows the file by another one.
    """
    with telling(told or path, "write"):
        number = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(number, "wb") as file:
            yield file
            file.flush()
            os.fchmod(number, mode)
            os.fsync(number)


def sync_folder(path: Path, *, told: Path | None = None) -> None:
    """Bring a folder's list of names to the disk; an error names `told`, or the folder itself."""
    with telling(told or path, "write"):
        number = os.open(path, os.O_RDONLY)
        try:
            os.fsync(number)
        finally:
            os.close(number)


def rename_new(source: Path, target: Path) -> None:
    """Rename `source` to `target`, which must not exist."""
    with telling(target, "create"):
        try:
            _renameat2(source, target, NO_REPLACE)
        except _NotHere:
            if os.path.lexists(target):
                raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST)) from None
            source.rename(target)


def rename_exchanged(one: Path, other: Path) -> None:
    """Exchange two names in one step; `_NotHere` where the system cannot."""
    with telling(other, "replace"):
        _renameat2(one, other, EXCHANGE)


def replace_folder(source: Path, target: Path, aside: Path) -> bool:
    """Put `source` in the place of `target`; tell whether they were exchanged.

    If so what was there is now at `source`. Where the system cannot exchange two names, `target` is
    missing for a moment and what was there ends at `aside`: see `ownership.recover`.
    """
    try:
        rename_exchanged(source, target)
    except _NotHere:
        with telling(target, "replace"):
            target.rename(aside)
            try:
                source.rename(target)
            except OSError:
                aside.rename(target)
                raise
        return False
    return True


def remove_folder(path: Path) -> str | None:
    """Remove a folder and all in it; return None when it is gone, else what hinders it.

    All that can be removed is, whatever comes first.
    """
    shutil.rmtree(path, ignore_errors=True)
    try:
        shutil.rmtree(path)
    except OSError as error:
        if os.path.lexists(path):
            return error.strerror or type(error).__name__
    return None


class _NotHere(Exception):
    """This system or file system has no renameat2."""


@cache
def _library() -> ctypes.CDLL | None:
    if not sys.platform.startswith("linux"):
        return None
    library = ctypes.CDLL(None, use_errno=True)
    return library if hasattr(library, "renameat2") else None


def _renameat2(source: Path, target: Path, flags: int) -> None:
    library = _library()
    if library is None:
        raise _NotHere
    if library.renameat2(_HERE, os.fsencode(source), _HERE, os.fsencode(target), flags) == 0:
        return
    number = ctypes.get_errno()
    if number in (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP):
        raise _NotHere
    raise OSError(number, os.strerror(number))


def can_exchange() -> bool:
    """Tell whether two folders can be exchanged in one step in the temporary folder."""
    with tempfile.TemporaryDirectory() as place:
        one, other = Path(place) / "one", Path(place) / "other"
        one.mkdir()
        other.mkdir()
        try:
            rename_exchanged(one, other)
        except _NotHere:
            return False
        return True
