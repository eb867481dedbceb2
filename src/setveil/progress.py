"""How long work is watched: progress for the user, a deadline, and cancelling.

A `Watch` is handed down to everything that can run long. Work calls `tick` between steps; it raises
`Cancelled` when asked to stop and tells the listener how far it is. Methods that hold a valid result
ask `expired` and return it; others call `check_deadline`, which raises `TimeLimit`.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from .errors import Cancelled, TimeLimit

Listener = Callable[[str, float | None], None]
"""Called with the name of the stage and the share done (None where unknown). No item values."""


@dataclass
class Watch:
    """Progress listener, deadline and cancel flag of one run.

    `asked_limit` is the user's time limit where this watch has only a share of it.
    """

    listener: Listener | None = None
    time_limit: float | None = None
    started: float = field(default_factory=time.monotonic)
    stop: threading.Event = field(default_factory=threading.Event)
    asked_limit: float | None = None

    def of_part(self, rounds: int = 1) -> Watch:
        """Return a watch for work in threads: the same flag, a share of the time left, no listener."""
        if self.time_limit is None:
            return Watch(stop=self.stop)
        asked = self.time_limit if self.asked_limit is None else self.asked_limit
        return Watch(time_limit=self.remaining / rounds, stop=self.stop, asked_limit=asked)

    def tick(self, stage: str, share: float | None = None) -> None:
        """Tell the listener where the work is; raise `Cancelled` if asked to stop."""
        if self.stop.is_set():
            raise Cancelled("stopped on request.")
        if self.listener is not None:
            self.listener(stage, share)

    def within(self, time_limit: float) -> Watch:
        """Return a watch with the same listener and switch, and no more than this many seconds."""
        return Watch(self.listener, min(time_limit, self.remaining), stop=self.stop)

    def cancel(self) -> None:
        """Ask the work to stop at its next tick; callable from any thread."""
        self.stop.set()

    @property
    def seconds(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self.started

    @property
    def remaining(self) -> float:
        """Seconds left before the time limit; infinite without one."""
        return float("inf") if self.time_limit is None else self.time_limit - self.seconds

    @property
    def expired(self) -> bool:
        """Whether the time limit has passed."""
        return self.remaining <= 0

    def asking(self, stage: str) -> Callable[[], None]:
        """Return a question for long work with nothing valid to return: it ticks, or it raises."""

        def ask() -> None:
            self.tick(stage)
            self.check_deadline()

        return ask

    def check_deadline(self) -> None:
        """Raise `TimeLimit` if the time limit has passed; for work with nothing valid to return."""
        if self.expired:
            asked = self.time_limit if self.asked_limit is None else self.asked_limit
            raise TimeLimit(
                f"the time limit of {asked:g} s passed before a valid result was found.",
                "Raise --time-limit, lower m, or choose a faster method.",
            )
