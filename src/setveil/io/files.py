"""Single files that we write: the old one or the new one, never half of one, and none by accident."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from ..errors import FileSystemError, UsageError
from .folder.disk import rename_new, shown, telling, write_file
from .folder.ownership import refuse_inside

StrPath = str | os.PathLike[str]


def check_new_file(path: StrPath, *, force: bool = False, inputs: Iterable[StrPath] = ()) -> None:
    """Raise where a file cannot be written, before anything is computed.

    With `force` a plain file that is there may be replaced, but none of the `inputs` ever is."""
    place = Path(path)
    if not os.fspath(path) or "\0" in os.fspath(path):
        raise UsageError("a file to write needs a name.", "Give for example out.svg.")
    with telling(place, "use"):
        for given in inputs:
            if place.exists() and Path(given).exists() and place.samefile(given):
                raise UsageError(
                    "the output is one of the inputs.", "Choose another name.", code="output-is-input"
                )
        if os.path.lexists(place) and (not force or place.is_symlink() or not place.is_file()):
            raise FileSystemError(
                "it exists already." if not force else "it is not a plain file.",
                "Choose another name." if force else "Choose another name, or --force to replace it.",
                code="exists",
                file=shown(place),
            )
        refuse_inside(place)
        if not place.parent.is_dir():
            what, remedy = "the folder that shall hold it does not exist.", "Create it first."
            raise FileSystemError(what, remedy, code="missing", file=shown(place))


def write_text_file(path: StrPath, text: str, *, mode: int = 0o644, force: bool = False) -> None:
    """Write a text as UTF-8 beside the destination, then rename it.

    `mode` says who may read it: 0o600 for what is the holder's alone. With `force` a plain file that is
    there is replaced."""
    check_new_file(path, force=force)
    place = Path(path)
    content = text.encode("utf-8")
    beside = place.with_name(f".{place.name}.{os.getpid()}.partial")
    try:
        write_file(beside, lambda file: file.write(content), mode=mode, told=place)
        if force:
            with telling(place, "replace"):
                beside.replace(place)
        else:
            rename_new(beside, place)
    finally:
        beside.unlink(missing_ok=True)
