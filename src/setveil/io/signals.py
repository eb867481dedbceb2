"""Signals that ask the process to end, put off while something must not be left half done.

A mask of the thread would not do: the system hands a signal to any thread that takes it, and Python
then raises in the main one. So the handlers are exchanged for one that only remembers.
"""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType

ENDING = tuple(
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
)


@contextlib.contextmanager
def signals_deferred() -> Iterator[None]:
    """Run the block to its end; a signal that came meanwhile is delivered after it.

    Only the main thread may change handlers, and only there a signal raises. A signal that is ignored
    stays so, and a handler that is not Python's is left alone.
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
