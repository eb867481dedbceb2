"""What every private twin tells of its run: what was promised and how, how long it took, the seal."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ..errors import HierarchyError, UsageError
from ..hierarchy.tree import Hierarchy
from ..io.folder.ownership import AUDIT, HIERARCHY
from ..io.folder.twin import Twin
from ..model.guarantees import AnyGuarantee, guarantee_from_dict
from ..release.header import Seal

StrPath = str | os.PathLike[str]
_RATIO = re.compile(r"([0-9]{1,4000})/([0-9]{1,4000})")
_HEX = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True)
class Account:
    """A private twin and the certificate beside it: what they tell is returned, or refused."""

    twin: Twin
    certificate: Mapping[str, Any]

    def header(self, kind: str) -> dict[str, Any]:
        """Return the fields of a `setveil.release.header.Header` of this kind."""
        return {
            "guarantee": self._guarantee(kind),
            "method": self._method(),
            "options": self._scalars("options"),
            "figures": self._scalars("figures"),
            "seconds": self._seconds(),
            "notices": self._notices(),
            "seal": self._seal(),
        }

    def compare(self, **found: object) -> None:
        """Refuse an account that tells another number than what the release has of something."""
        for name, value in found.items():
            told = self.twin.audit.get(name)
            if type(told) is not type(value) or told != value:
                raise self.twin.refusal(AUDIT, f"tells another number of {name} than the release has")

    def mapping(self, name: str, *, inside: Mapping[str, Any] | None = None) -> Mapping[str, Any]:
        """Return an object of the account, or of an object `inside` it."""
        found = (self.twin.audit if inside is None else inside).get(name)
        if not isinstance(found, dict):
            raise self.twin.refusal(AUDIT, f"does not hold {name!r} as it must be")
        return found

    def count(self, name: str) -> int:
        """Return a number of things."""
        found = self.twin.audit.get(name)
        if isinstance(found, bool) or not isinstance(found, int) or not 0 <= found < 2**62:
            raise self.twin.refusal(AUDIT, f"does not hold {name!r} as a number")
        return found

    def ratio(self, text: object, name: str) -> Fraction:
        """Return an exact share from 0 to 1."""
        found = _RATIO.fullmatch(text) if isinstance(text, str) else None
        if found is None or not int(found[2]) or int(found[1]) > int(found[2]):
            raise self.twin.refusal(AUDIT, f"does not hold {name!r} as an exact share")
        return Fraction(int(found[1]), int(found[2]))

    def _scalars(self, name: str) -> dict[str, Any]:
        found = self.twin.audit.get(name)
        if not isinstance(found, dict) or not all(
            value is None or isinstance(value, int | float | str) for value in found.values()
        ):
            raise self.twin.refusal(AUDIT, f"does not hold {name!r} as plain values")
        return found

    def _guarantee(self, kind: str) -> AnyGuarantee:
        plain = self.twin.audit.get("guarantee")
        try:
            guarantee = guarantee_from_dict(plain if isinstance(plain, dict) else {}, None)
            if guarantee.kind != kind:
                raise UsageError(f"{guarantee} is not about {kind}.")
        except UsageError as error:
            what = error.problems[0].what.rstrip(".")
            raise self.twin.refusal(AUDIT, f"names no guarantee: {what}") from None
        # Of sensitive labels the certificate names those alone that the release shows.
        public: Mapping[str, Any] = self.certificate["guarantee"]
        for name, value in guarantee.as_dict().items():
            told = public.get(name)
            fits = set(told or ()) <= set(value) if isinstance(value, list) else told == value
            if not fits:
                raise self.twin.refusal(AUDIT, "names another guarantee than the certificate")
        return guarantee

    def _method(self) -> str:
        method = self.twin.audit.get("method")
        if not isinstance(method, str) or method != self.certificate.get("method"):
            raise self.twin.refusal(AUDIT, "names another method than the certificate")
        return method

    def _seconds(self) -> float:
        seconds = self.twin.audit.get("seconds")
        if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not seconds >= 0:
            raise self.twin.refusal(AUDIT, "does not tell how long the run took")
        return float(seconds)

    def _notices(self) -> tuple[str, ...]:
        found = self.twin.audit.get("notices")
        if not isinstance(found, list) or not all(isinstance(notice, str) for notice in found):
            raise self.twin.refusal(AUDIT, "does not hold its notices as it must")
        return tuple(found)

    def _seal(self) -> Seal | None:
        plain = self.twin.audit.get("input")
        if plain is None:
            return None
        texts = [plain.get(name) for name in ("key", "hmac_sha256")] if isinstance(plain, dict) else []
        if not texts or not all(isinstance(text, str) and _HEX.fullmatch(text) for text in texts):
            raise self.twin.refusal(AUDIT, "holds a broken seal of its input")
        return Seal(str(texts[0]), str(texts[1]))


def read_tree(twin: Twin, paths: list[tuple[str, ...]], *, private: bool = False) -> Hierarchy:
    """Return the hierarchy of a private twin, one path a leaf."""
    try:
        tree = Hierarchy.from_paths(paths, private=private)
    except HierarchyError as error:
        what = error.problems[0].what.rstrip(".")
        raise twin.refusal(HIERARCHY, f"is no hierarchy: {what}") from None
    if sorted(path[0] for path in paths) != sorted(tree.labels[: tree.n_leaves]):
        raise twin.refusal(HIERARCHY, "does not hold one line an item")
    return tree
