"""How long work is watched: progress for the user, a deadline, and cancelling.

A `Watch` is handed down to everything that can run long. Work calls `tick` between steps; it raises
`Cancelled` when asked to stop and tells the listener how far it is. Methods that hold a valid result
ask `expired` and return it; others call `check_deadline`, which raises `TimeLimit`. Publishing tells it
which stage begins, so that at the end everybody sees where the time went.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from .errors import Cancelled, TimeLimit

Listener = Callable[[str, float | None], None]
"""Called with the name of the stage and the share done (None where unknown). No item values."""


class Stages:
    """A clock of stages: what passes belongs to the stage that was begun last.

    >>> clock = Stages()
    >>> clock.begin("writing")
    >>> clock.begin("auditing")
    >>> list(clock.seconds)
    ['writing', 'auditing']
    """

    def __init__(self) -> None:
        self._seconds: dict[str, float] = {}
        self._stage: str | None = None
        self._since = 0.0

    def begin(self, stage: str) -> None:
        """Begin a stage, or go on with it; the one before ends."""
        self._seconds = dict(self.seconds)
        self._stage, self._since = stage, time.monotonic()
        self._seconds.setdefault(stage, 0.0)

    @property
    def seconds(self) -> Mapping[str, float]:
        """The seconds of each stage until now, in the order in which they began."""
        if self._stage is None:
            return self._seconds
        now = self._seconds[self._stage] + time.monotonic() - self._since
        return self._seconds | {self._stage: round(now, 6)}


def where_time_went(seconds: Mapping[str, float]) -> str:
    """Return the seconds of some stages in words.

    >>> where_time_went({"method": 2.0, "writing": 0.25})
    '2.25 s: method 2.00 s, writing 0.25 s'
    >>> where_time_went({"method": 2.0})
    '2.00 s'
    """
    told = f"{sum(seconds.values()):.2f} s"
    if len(seconds) == 1:
        return told
    return f"{told}: {', '.join(f'{stage} {spent:.2f} s' for stage, spent in seconds.items())}"


@dataclass
class Watch:
    """Progress listener, deadline, cancel flag and clock of one run.

    `asked_limit` is the user's time limit where this watch has only a share of it.

    >>> told = []
    >>> watch = Watch(listener=lambda stage, share: told.append(stage), time_limit=60)
    >>> watch.tick("counting")
    >>> told, watch.remaining <= 60
    (['counting'], True)
    """

    listener: Listener | None = None
    time_limit: float | None = None
    started: float = field(default_factory=time.monotonic)
    stop: threading.Event = field(default_factory=threading.Event)
    asked_limit: float | None = None
    stages: Stages = field(default_factory=Stages)

    def begin(self, stage: str) -> None:
        """Begin a stage: the clock goes on for it, and the listener is told."""
        self.stages.begin(stage)
        self.tick(stage)

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
