"""What every test may count on, however the run was started."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterator

import pytest

from tests.warm import Warm

# A run in the background or under nohup inherits ignored signals and would hand them on to the
# programs that tests start and then signal. A program rightly leaves ignored signals ignored.
for _name, _handler in (
    ("SIGHUP", signal.SIG_DFL),
    ("SIGTERM", signal.SIG_DFL),
    ("SIGINT", signal.default_int_handler),
):
    _number = getattr(signal, _name, None)
    if _number is not None and signal.getsignal(_number) is signal.SIG_IGN:
        with contextlib.suppress(ValueError):  # not the main thread
            signal.signal(_number, _handler)

IN_MEMORY = "/dev/shm"
ROOM = 2 << 30


def pytest_configure() -> None:
    """Let tests write to memory, where there is room in it, and keep the bytecode of the sources.

    Tens of thousands of releases are written, made safe on the disk and removed again: half of the time
    of all tests, and several times as much where others use the disk. Set TMPDIR to choose a place.
    Without bytecode each program that a test starts would compile the sources again.
    """
    sys.dont_write_bytecode = False
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    if "TMPDIR" in os.environ or not os.access(IN_MEMORY, os.W_OK | os.X_OK):
        return
    if shutil.disk_usage(IN_MEMORY).free > ROOM:
        os.environ["TMPDIR"] = IN_MEMORY
        tempfile.tempdir = None


@pytest.fixture(scope="session")
def warm() -> Iterator[Warm]:
    """Yield what runs programs in processes where the package is loaded already."""
    started = Warm()
    yield started
    started.close()
