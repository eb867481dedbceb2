"""What every private twin tells of its run, read back: how long, which options, notices, the seal."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Protocol

from .errors import DataError
from .io.folder.ownership import AUDIT
from .release.header import Seal

_HEX = re.compile(r"[0-9a-f]{64}")


class Twin(Protocol):
    """A private folder: its account, and how to refuse one of its files."""

    @property
    def audit(self) -> Mapping[str, Any]:
        """What ``audit.json`` holds."""
        ...

    def refusal(self, name: str, what: str) -> DataError:
        """Return the error for a file that is not as it must be."""
        ...


def seconds_of(twin: Twin) -> float:
    """Return how long the run took."""
    seconds = twin.audit.get("seconds")
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not seconds >= 0:
        raise twin.refusal(AUDIT, "does not tell how long the run took")
    return float(seconds)


def scalars_of(twin: Twin, name: str) -> dict[str, Any]:
    """Return a mapping of names to plain values."""
    found = twin.audit.get(name)
    if not isinstance(found, dict) or not all(
        isinstance(value, int | float | str) for value in found.values()
    ):
        raise twin.refusal(AUDIT, f"does not hold {name!r} as plain values")
    return found


def notices_of(twin: Twin) -> tuple[str, ...]:
    """Return what was told when the release was made."""
    found = twin.audit.get("notices")
    if not isinstance(found, list) or not all(isinstance(notice, str) for notice in found):
        raise twin.refusal(AUDIT, "does not hold its notices as it must")
    return tuple(found)


def seal_of(twin: Twin) -> Seal | None:
    """Return the keyed hash of the input, if there is one."""
    plain = twin.audit.get("input")
    if plain is None:
        return None
    texts = [plain.get(name) for name in ("key", "hmac_sha256")] if isinstance(plain, dict) else [None]
    if not all(isinstance(text, str) and _HEX.fullmatch(text) for text in texts):
        raise twin.refusal(AUDIT, "holds a broken seal")
    return Seal(str(texts[0]), str(texts[1]))
