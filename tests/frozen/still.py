"""A world that stands still: chance, keys, clock and version are the same in every run.

`hold` works at the standard library, before setveil is loaded, so that no module of setveil is named
here but the one that holds the version. It cannot be undone: it is for a process of its own.
"""

from __future__ import annotations

import builtins
import datetime
import hashlib
import os
import pathlib
import random
import sys
import time
import types
from collections import Counter
from collections.abc import Callable
from typing import Any, Self

NOW = 1_767_323_045
"""2026-01-02 03:04:05 in UTC, the only moment there is."""
VERSION = "0.0.0"
VERSION_MODULE = "setveil._version"
KEY_SIZE = 32
TOLD_BY_THE_SYSTEM = "/proc/"


class Chance:
    """Bytes in place of the system's secret ones.

    A key, of 32 bytes, is always the same. Other bytes are those of a stream for their number, begun
    anew by `begin`: so it does not matter whether a key, the name of a hidden folder or the order of
    records is drawn first.
    """

    def __init__(self) -> None:
        self._drawn: Counter[int] = Counter()

    def begin(self) -> None:
        self._drawn.clear()

    def __call__(self, size: int) -> bytes:
        if size == KEY_SIZE:
            return bytes(range(KEY_SIZE))
        self._drawn[size] += 1
        return hashlib.shake_256(f"{size} {self._drawn[size]}".encode()).digest(size)


CHANCE = Chance()


class StillDate(datetime.date):
    """A date that knows only one day."""

    @classmethod
    def today(cls) -> Self:
        return cls.fromtimestamp(NOW)


class StillDatetime(datetime.datetime):
    """A point in time that knows only one now."""

    @classmethod
    def now(cls, tz: datetime.tzinfo | None = None) -> Self:
        return cls.fromtimestamp(NOW, tz)

    @classmethod
    def utcnow(cls) -> Self:
        return cls.fromtimestamp(NOW, datetime.UTC).replace(tzinfo=None)

    @classmethod
    def today(cls) -> Self:
        return cls.now()


def hold() -> None:
    """Let chance, clock and version stand still from now on; setveil must not be loaded yet."""
    assert not [name for name in sys.modules if name.partition(".")[0] == "setveil"]
    _hold_environment()
    _hold_clock()
    _hold_chance()
    _hold_version()
    _hold_memory()


def _hold_environment() -> None:
    for name in [*os.environ]:
        if name.startswith("SETVEIL_") or name in ("SOURCE_DATE_EPOCH", "FORCE_COLOR"):
            del os.environ[name]
    os.environ |= {"COLUMNS": "80", "NO_COLOR": "1", "TERM": "dumb", "TZ": "UTC"}
    time.tzset()
    os.umask(0o022)


def _hold_clock() -> None:
    module: Any = time
    for name in ("time", "monotonic", "perf_counter", "process_time", "thread_time"):
        setattr(module, name, lambda: float(NOW))
        setattr(module, f"{name}_ns", lambda: NOW * 10**9)
    # Libraries break where `datetime` holds other classes than its own; setveil alone gets them.
    dates: Any = types.ModuleType("datetime")
    vars(dates).update(vars(datetime) | {"date": StillDate, "datetime": StillDatetime})
    load = builtins.__import__

    def load_still(name: str, names: Any = None, *more: Any, **words: Any) -> Any:
        asks = (names or {}).get("__name__") or ""
        if name == "datetime" and asks.partition(".")[0] == "setveil":
            return dates
        return load(name, names, *more, **words)

    loader: Any = builtins
    loader.__import__ = load_still


def _hold_chance() -> None:
    # `secrets` and `random.SystemRandom` draw from here, by whatever name they were imported.
    source: Any = random
    assert source._urandom is os.urandom
    source._urandom = os.urandom = CHANCE


def _hold_version() -> None:
    module: Any = types.ModuleType(VERSION_MODULE)
    module.__version__ = VERSION
    sys.modules[VERSION_MODULE] = module


def _hold_memory() -> None:
    """Let this be a system that does not tell how much memory a piece of work took."""
    write: Callable[..., int] = pathlib.Path.write_text

    def write_text(self: pathlib.Path, *words: Any, **more: Any) -> int:
        if str(self).startswith(TOLD_BY_THE_SYSTEM):
            raise PermissionError(f"{self} is not there")
        return write(self, *words, **more)

    place: Any = pathlib.Path
    place.write_text = write_text
