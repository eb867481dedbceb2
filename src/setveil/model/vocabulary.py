"""Labels and the int32 ids that stand for them inside.

Ids are given in label order (by code point), so that they do not depend on the order of the rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property


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
