"""Labels and the int32 ids that stand for them inside.

Ids are given in label order (by code point), so that they do not depend on the order of the rows.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from ..errors import Problem

_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True)
class Vocabulary:
    """The distinct labels in code point order; the position of a label is its id.

    >>> words = Vocabulary.of(["milk", "beer", "milk"])
    >>> words.labels, words.id_of("milk")
    (('beer', 'milk'), 1)
    """

    labels: tuple[str, ...]

    @classmethod
    def of(cls, labels: Iterable[str]) -> Vocabulary:
        """Return the vocabulary of these labels; repeats count once."""
        return cls(tuple(sorted(set(labels))))

    @cached_property
    def ids(self) -> dict[str, int]:
        """The id of each label."""
        return {label: number for number, label in enumerate(self.labels)}

    def id_of(self, label: str) -> int:
        """Return the id of `label`; KeyError if it is not here."""
        return self.ids[label]

    def __contains__(self, label: object) -> bool:
        return label in self.ids

    def __len__(self) -> int:
        return len(self.labels)

    def __iter__(self) -> Iterator[str]:
        return iter(self.labels)


def label_fault(label: str) -> tuple[str, str, str] | None:
    """Return (code, what, remedy) if no format could hold this label, else None."""
    if not label:
        return "empty-item", "an empty item.", "Remove it, or give it a name."
    if "\0" in label:
        return "nul-byte", "an item with a zero character.", "Remove it."
    if "\ufeff" in label:
        return "bom-inside", "a byte order mark (U+FEFF) in an item.", "Remove it."
    if not label.isascii() and _SURROGATE.search(label):
        return "lone-surrogate", "an item with half a surrogate pair.", "Write the whole character."
    return None


def cleaned(label: str) -> str:
    """Return what a reader sees: no invisible characters, no blanks at the ends, one kind of blank."""
    if label.isascii():
        return label.strip()
    seen = "".join(mark for mark in label if unicodedata.category(mark) != "Cf")
    return unicodedata.normalize("NFC", seen).replace("\u00a0", " ").strip()


def label_faults(labels: Iterable[str]) -> list[Problem]:
    """Return what is wrong with labels made in Python that no reader would have handed over.

    A label without text, one that is not whole, and two that look the same. What a format cannot hold
    is told where it is written.

    >>> [problem.code for problem in label_faults(["milk", "caf\u00e9", "cafe\u0301", ""])]
    ['empty-item', 'two-spellings']
    """
    problems: list[Problem] = []
    first_of_cleaned: dict[str, str] = {}
    for label in sorted(labels):
        fault = label_fault(label)
        if fault is not None and fault[0] in ("empty-item", "lone-surrogate"):
            problems.append(Problem(*fault))
        elif (twin := first_of_cleaned.setdefault(cleaned(label), label)) != label:
            problems.append(
                Problem(
                    "two-spellings",
                    f"{twin[:40]!a} and {label[:40]!a} are two spellings of the same text.",
                    "Make them one label, or two that can be told apart.",
                )
            )
    return problems
