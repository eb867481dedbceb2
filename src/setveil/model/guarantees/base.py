"""What every guarantee answers, so that nobody has to ask which one it is.

A guarantee is a frozen dataclass whose class says what its fields mean: which one is its strength,
which one the knowledge it allows for, which one names secrets. All that others ask follows from that.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields, replace
from fractions import Fraction
from typing import Any, ClassVar, Self

from ...errors import UsageError
from ..numbers import whole_number


class Promise:
    """The base of all guarantees: their wire form, and what the rest asks of them."""

    model: ClassVar[str]
    """Its name in certificates."""
    kind: ClassVar[str] = "sets"
    """What it is about: "sets" of items, a table in "buckets", or "pairs" of data sets."""
    strength: ClassVar[str] = "k"
    """The field that says how many records, or values, a person hides among."""
    knowledge: ClassVar[str | None] = None
    """The field that says how much an attacker knows at most."""
    secrets: ClassVar[str | None] = None
    """The field that names the labels to be kept secret, and what such a label is called."""

    takes_rules: ClassVar[bool] = False
    """Whether it reckons with rules that an attacker knows."""

    @property
    def signed(self) -> bool:
        """Tell whether an attacker may also know what is not in a record."""
        return False

    @property
    def key(self) -> str:
        """Return the name under which methods list it; negative knowledge is another matter to them."""
        return f"{self.model}-negative" if self.signed else self.model

    @property
    def least_support(self) -> int:
        """Return below which number records count as few."""
        return int(getattr(self, self.strength))

    @property
    def crowd(self) -> int:
        """Return how many records fit at least what somebody knows, if any do; 1 promises nothing."""
        return self.least_support

    @property
    def known_at_most(self) -> int | None:
        """Return how many items an attacker knows at most; None where that has no limit."""
        return None if self.knowledge is None else int(getattr(self, self.knowledge))

    @property
    def secret_labels(self) -> frozenset[str]:
        """Return the labels that nobody may be linked to; they are never generalized."""
        return frozenset() if self.secrets is None else frozenset(getattr(self, self.secrets))

    @property
    def share(self) -> Fraction:
        """Return in which share of the records that fit a secret may be, at most."""
        return Fraction(1)

    @property
    def monotone(self) -> bool:
        """Tell whether raising a label can only mend: what is kept stays so for coarser labels."""
        return False

    def with_limit(self, most: int) -> Self:
        """Return it with an attacker who knows at most `most` items, where that says the same.

        Records of `most` items have no larger set in them; of what is absent, larger sets do occur.
        """
        known = self.known_at_most
        if known is None or known <= most or self.signed:
            return self
        return self.with_knowledge(most)

    def with_strength(self, strength: int) -> Self:
        """Return it with another strength."""
        return self._changed(self.strength, strength)

    def with_knowledge(self, most: int) -> Self:
        """Return it with an attacker who knows at most `most` items, where it knows of attackers."""
        return self if self.knowledge is None else self._changed(self.knowledge, most)

    def with_secrets(self, labels: frozenset[str]) -> Self:
        """Return it with these secrets, where it knows of secrets at all."""
        return self if self.secrets is None else self._changed(self.secrets, labels)

    def _changed(self, name: str, value: object) -> Self:
        promise: Any = self
        changed: Self = replace(promise, **{name: value})
        return changed

    def as_dict(self) -> dict[str, object]:
        """Return the plain form kept in certificates: labels sorted, fractions as text."""
        promise: Any = self  # a dataclass, which fields() wants to see
        values = {field.name: getattr(self, field.name) for field in fields(promise)}
        return {
            "model": self.model,
            **{name: _plain(value) for name, value in values.items() if value is not False},
        }

    @classmethod
    def from_dict(cls, plain: Mapping[str, object]) -> Self:
        """Return the guarantee that `as_dict` described; anything but its form is refused."""
        described: Any = cls
        known = {field.name: field for field in fields(described)}
        unknown = sorted(set(plain) - set(known) - {"model"})
        if unknown:
            raise UsageError(
                f"unknown field {str(unknown[0])[:40]!r} in guarantee {cls.model!r}.",
                f"Its fields: {', '.join(known)}.",
            )
        given: dict[str, Any] = {}
        for name, field in known.items():
            if name not in plain and field.default is False:
                continue  # flags that are off are left out
            value = plain.get(name)
            given[name] = _labels(name, value) if name == cls.secrets else value
        return cls(**given)


def _plain(value: object) -> object:
    if isinstance(value, frozenset):
        return sorted(value)
    return str(value) if isinstance(value, Fraction) else value


def _labels(name: str, value: object) -> frozenset[str]:
    if not isinstance(value, list) or not all(isinstance(label, str) for label in value):
        raise UsageError(f"{name} must be a list of labels.")
    return frozenset(value)


def check_k(k: object) -> None:
    """Raise `UsageError` where `k` is not a number of records that one can hide among."""
    if k == 1 and not isinstance(k, bool):
        raise UsageError("k=1 gives no protection.", "Give k >= 2.")
    whole_number("k", k, least=2)


def check_flag(name: str, value: object) -> None:
    """Raise `UsageError` where a flag is neither true nor false."""
    if not isinstance(value, bool):
        raise UsageError(f"{name} must be true or false.", "Give True or False.")


def label_set(name: str, value: object) -> frozenset[str]:
    """Return labels as a frozen set; `UsageError` for a single text and for what is no text."""
    fit = isinstance(value, Iterable) and not isinstance(value, str | bytes)
    labels = list(value) if fit else [None]  # type: ignore[call-overload]
    if not all(isinstance(label, str) for label in labels):
        raise UsageError(
            f"{name} must be a set of labels (got {str(type(value).__name__)[:40]}).",
            f"Give for example {name}=frozenset({{'flu'}}).",
        )
    return frozenset(labels)
