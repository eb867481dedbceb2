"""Randomness that protects: words from the system's secret source, or from one that a test hands in.

Which tuples share a bucket must not be guessable, so nothing here has a seed unless somebody injects a
generator of their own; a method then marks its outcome as seeded, not for release.
"""

from __future__ import annotations

import secrets
from random import Random

import numpy as np
from numpy.typing import NDArray

Counts = NDArray[np.int64]

AT_ONCE = 1 << 20
"""Words drawn in one call; generators limit how many bits they give at a time."""


def secret_unless(random: Random | None) -> tuple[Random, bool]:
    """Return the generator to use, and whether somebody could run it again."""
    source = secrets.SystemRandom() if random is None else random
    return source, not isinstance(source, secrets.SystemRandom)


def draw_words(random: Random, count: int) -> Counts:
    """Return whole numbers from 0 to 2^63 - 1, independent and uniform."""
    parts = [
        np.frombuffer(random.randbytes(8 * min(AT_ONCE, count - low)), dtype="<u8")
        for low in range(0, count, AT_ONCE)
    ]
    words = np.concatenate(parts) if parts else np.empty(0, dtype="<u8")
    return (words >> np.uint64(1)).astype(np.int64)


def shuffle(random: Random, count: int) -> Counts:
    """Return 0 .. count - 1 in random order."""
    return np.argsort(draw_words(random, count), kind="stable").astype(np.int64)
