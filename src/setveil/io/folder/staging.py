"""Write a release folder and its private twin so that the old or the new is there, never a part.

The way of a release: `check_destination` refuses what cannot work before anything is computed;
`Staging` makes two hidden folders beside the destination, open to the owner alone; files are written
and brought to the disk; the caller audits the staged folder; `Staging.commit` renames the public
folder into place in one step, then the private one, with signals put off until both are there.

Each hidden folder is locked as long as its run lives, a release that is replaced as well. What a killed
run leaves behind is found unlocked, and dealt with, by the next one: see `ownership`. Single files are
written in the same way: the old one or the new one, never half of one, and none by accident.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import secrets
import signal
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import FrameType, TracebackType
from typing import BinaryIO

from ...errors import FileSystemError, UsageError
from ..csv_text import quoted
from .disk import created, rename_exchanged, rename_new, replace_folder, shown, sync_folder, telling
from .ownership import (
    HIDDEN,
    OLD,
    is_replaceable,
    locked,
    private_twin,
    recover,
    refuse_inside,
    removed,
)

ENDING = tuple(
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
)


StrPath = str | os.PathLike[str]


def check_destination(
    path: str | os.PathLike[str], *, force: bool = False, inputs: Iterable[str | os.PathLike[str]] = ()
) -> list[str]:
    """Refuse a destination that cannot take a release; return notices about what was cleaned up.

    With `force` a release that is there may be replaced. The destination must neither be nor hold one
    of the `inputs`."""
    target = _named(path)
    with telling(target, "use"):
        _refuse_inputs(target, inputs)
        for place in (target, private_twin(target)):
            if place.is_symlink():
                what = "the output is a symbolic link, which is not followed."
                remedy = "Name the folder itself."
                raise FileSystemError(what, remedy, code="symlink", file=shown(place))
        if not target.parent.is_dir():
            what, remedy = "the folder that shall hold the output does not exist.", "Create it first."
            raise FileSystemError(what, remedy, code="missing", file=shown(target.parent))
        refuse_inside(target)
        notices = recover(target)
        for place in (target, private_twin(target)):
            _refuse_existing(place, force, private=place != target)
        # The private twin's working folder has the longest name of all.
        probe = target.with_name(f".{private_twin(target).name}{HIDDEN}{secrets.token_hex(8)}")
        with telling(target.parent, "write here"):
            probe.mkdir(0o700)
        return notices + removed([probe])


def _named(path: str | os.PathLike[str]) -> Path:
    text = os.fspath(path)
    if not text or "\0" in text or Path(text).name in ("", ".."):
        raise UsageError("the output needs a folder name of its own.", "Give for example -o release.")
    return Path(text)


def _refuse_inputs(target: Path, inputs: Iterable[str | os.PathLike[str]]) -> None:
    for given in inputs:
        file = Path(given)
        for place in (target, private_twin(target)):
            same = file.exists() and place.exists() and file.samefile(place)
            if same or place.resolve() in file.resolve().parents:
                what, remedy = "the output would replace an input.", "Choose another output folder."
                raise UsageError(what, remedy, code="output-is-input", file=shown(file))


def _refuse_existing(place: Path, force: bool, *, private: bool) -> None:
    if not os.path.lexists(place):
        return
    if not force:
        what, remedy = "the output exists.", "Choose another name, or give --force to replace it."
        raise FileSystemError(what, remedy, code="exists", file=shown(place))
    with telling(place, "read"):
        replaceable = is_replaceable(place, private=private)
    if not replaceable:
        raise FileSystemError(
            "the output exists and is not a release, or holds other files too, so --force does not "
            "replace it.",
            "Choose another name, or remove it yourself.",
            code="not-a-release",
            file=shown(place),
        )


def replace_private(path: str | os.PathLike[str], name: str, content: bytes) -> Path:
    """Put a new file in the place of one of a release's private twin, in one step; return where it is.

    It is written in a hidden folder beside the twin, which `recover` removes after a crash: nothing
    but whole files ever lies in the twin."""
    twin = private_twin(_named(path))
    beside = twin.with_name(f".{twin.name}{HIDDEN}{secrets.token_hex(8)}")
    with telling(twin, "write"):
        beside.mkdir(0o700)
    number = locked(beside)
    try:
        with created(beside / name, mode=0o600, told=twin / name) as file:
            file.write(content)
        with telling(twin / name, "replace"):
            (beside / name).replace(twin / name)
        sync_folder(twin)
    finally:
        with signals_deferred():
            left = removed([beside])
            if number is not None:
                os.close(number)
    if left:
        raise FileSystemError(f"the report is written, but {left[0]}", file=shown(twin / name))
    return twin / name


class Staging:
    """Two hidden folders, `public` and `private`, that become a release in one step.

    Used as a context: whatever happens before `commit`, the destination stays as it was and the
    hidden folders are removed.
    """

    def __init__(self, path: str | os.PathLike[str], *, force: bool = False) -> None:
        self.target = _named(path)
        self.twin = private_twin(self.target)
        self._force = force
        self._open: list[int] = []
        self._kept: tuple[Path, ...] = ()
        token = secrets.token_hex(8)
        self._token = token
        self.public = self.target.with_name(f".{self.target.name}{HIDDEN}{token}")
        self.private = self.twin.with_name(f".{self.twin.name}{HIDDEN}{token}")

    def __enter__(self) -> Staging:
        try:
            for folder in (self.public, self.private):
                with telling(folder.parent, "write here"):
                    folder.mkdir(0o700)
                number = locked(folder)
                if number is None:
                    raise FileSystemError("another run took the working folder.", file=shown(folder))
                self._open.append(number)
        except BaseException:
            self._clean()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            left = self._clean()
        except BaseException:  # a signal came before they were put off
            self._clean()
            raise
        if error is not None:
            for sentence in left:
                error.add_note(sentence)

    def _clean(self) -> list[str]:
        """Remove the hidden folders, whatever signals come; return a sentence about each that stays."""
        with signals_deferred():
            left = removed(folder for folder in (self.public, self.private) if folder not in self._kept)
            while self._open:
                os.close(self._open.pop())
        return left

    def write(self, name: str, fill: Callable[[BinaryIO], object]) -> str:
        """Write one public file and return its SHA-256 as it lies on the disk."""
        path, told = self.public / name, self.target / name
        with created(path, mode=0o600, told=told) as file:
            fill(file)
        with telling(told, "read back"), open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()

    def write_private(self, name: str, content: bytes) -> None:
        """Write one private file, readable by the owner alone."""
        path, told = self.private / name, self.twin / name
        with created(path, mode=0o600, told=told) as file:
            file.write(content)

    def commit(self, placed: Callable[[Path], object] | None = None) -> list[str]:
        """Put both folders into place, the public one and then its private twin; return notices.

        Where the second step fails the first is undone. Signals wait until both steps are done and
        what was replaced is removed, so that an interrupted run has published all or nothing. `placed`
        is called with the destination once the public folder is there to stay."""
        readable = _allowed_by_umask()
        with telling(self.target, "write"):
            for name in sorted(os.listdir(self.public)):
                (self.public / name).chmod(0o666 & readable)
        sync_folder(self.public, told=self.target)
        sync_folder(self.private, told=self.twin)
        with telling(self.target, "write"):
            self.public.chmod(0o777 & readable)
        with signals_deferred():
            self._place_both(placed or (lambda _path: None))
            # What was replaced lies aside, or under the hidden names where it was exchanged.
            self._kept = (self.public, self.private)
            late = removed((*map(self._aside, (self.target, self.twin)), *self._kept))
            try:
                sync_folder(self.target.parent)
            except FileSystemError:
                late.append(
                    "the release is in place, but the system did not confirm that it is on the disk."
                )
        return late

    def _place_both(self, placed: Callable[[Path], object]) -> None:
        # The private folder must outlive this run if the public one stays: `recover` joins them.
        self._kept = (self.private,)
        try:
            undo = self._place(self.public, self.target)
        except BaseException:
            if self._is_in_place():
                placed(self.target)
            else:
                self._kept = ()
            raise
        try:
            self._place(self.private, self.twin)
        except BaseException:
            try:
                undo()
            except BaseException:
                placed(self.target)
                raise
            self._kept = ()
            raise
        self._kept = ()
        placed(self.target)

    def _is_in_place(self) -> bool:
        """Tell whether the folder that this run made lies at the destination."""
        try:
            return os.path.samestat(os.fstat(self._open[0]), self.target.lstat())
        except OSError:
            return False

    def _aside(self, target: Path) -> Path:
        return target.with_name(f".{target.name}{OLD}{self._token}")

    def _place(self, source: Path, target: Path) -> Callable[[], None]:
        """Move `source` to `target` and return what undoes it."""
        aside = self._aside(target)
        if not (self._force and os.path.lexists(target)):
            rename_new(source, target)
            return lambda: rename_new(target, source)
        # It may be another folder than at the start.
        _refuse_existing(target, force=True, private=target == self.twin)
        # Under its hidden name it must not be taken for what a dead run has left.
        number = locked(target)
        if number is not None:
            self._open.append(number)
        if replace_folder(source, target, aside):
            return lambda: rename_exchanged(source, target)

        def put_back() -> None:
            rename_new(target, source)
            rename_new(aside, target)

        return put_back


@contextlib.contextmanager
def signals_deferred() -> Iterator[None]:
    """Run the block to its end; a signal that came meanwhile is delivered after it.

    A mask of the thread would not do: the system hands a signal to any thread that takes it, and Python
    then raises in the main one. So the handlers are exchanged for one that only remembers. Only the
    main thread may change handlers, and only there a signal raises. A signal that is ignored stays so,
    and a handler that is not Python's is left alone.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []

    def remember(number: int, frame: FrameType | None) -> None:
        del frame
        came.append(number)

    before = {
        number: handler
        for number in ENDING
        if (handler := signal.getsignal(number)) not in (None, signal.SIG_IGN)
    }
    exchanged: list[int] = []
    try:
        for number in before:
            # Noted first: a signal that still raises here must find its handler put back.
            exchanged.append(number)
            signal.signal(number, remember)
        yield
    finally:
        for number in exchanged:
            signal.signal(number, before[number])
        for number in dict.fromkeys(came):
            signal.raise_signal(number)


def _allowed_by_umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return ~mask


def json_document(document: Mapping[str, object]) -> bytes:
    """Return a document in the one form certificates have: sorted keys, two spaces, a last newline."""
    text = json.dumps(document, ensure_ascii=False, indent=2, sort_keys=True, allow_nan=False)
    return (text + "\n").encode()


def hierarchy_document(paths: Sequence[Sequence[str]]) -> bytes:
    """Return paths of labels as the lines of ``hierarchy.csv``."""
    lines = (";".join(quoted(label, ";") for label in path) + "\n" for path in paths)
    return "".join(lines).encode()


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
        with created(beside, mode=mode, told=place) as file:
            file.write(content)
        if force:
            with telling(place, "replace"):
                beside.replace(place)
        else:
            rename_new(beside, place)
    finally:
        beside.unlink(missing_ok=True)
