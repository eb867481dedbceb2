"""What every test may count on, however the run was started."""

from __future__ import annotations

import contextlib
import signal
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


@pytest.fixture(scope="session")
def warm() -> Iterator[Warm]:
    """Yield what runs programs in processes where the package is loaded already."""
    started = Warm()
    yield started
    started.close()
