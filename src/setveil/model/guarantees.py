"""What is promised, as values: independent of how it is reached and of how it is checked.

A guarantee is a frozen dataclass, validated on creation, whose class says what its fields mean: which
one is its strength, which one the knowledge it allows for, which one names secrets. All that others
ask follows from that, so that nobody has to ask which one it is. To add one: its class and its line in
`GUARANTEES`, what is said of it (`release/claims`, or `other_claims`) and how it is checked (`audit/`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from fractions import Fraction
from functools import partial
from typing import Any, ClassVar, Literal, Self, overload

from ..errors import UsageError
from .numbers import exact_growth, exact_support, percentage, whole_number


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

    def __post_init__(self) -> None:
        promise: Any = self  # a dataclass, which fields() wants to see
        for one in fields(promise):
            object.__setattr__(self, one.name, CHECKS[one.name](one.name, getattr(self, one.name)))

    @property
    def signed(self) -> bool:
        """Tell whether an attacker may also know what is not in a record."""
        return False

    @property
    def key(self) -> str:
        """Return the name under which methods list it; negative knowledge is another matter to them."""
        return f"{self.model}-negative" if self.signed else self.model

    @property
    def called(self) -> str:
        """Return what it is called, whatever labels it keeps secret."""
        return str(self)

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
    def point(self) -> tuple[int, int] | None:
        """Return its k and m, by which a sweep knows it; None where a sweep has no such promise."""
        return None

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

    def others(self) -> tuple[Promise, ...]:
        """Return the other promises about the same data that are as strong, in their own way."""
        return ()

    def with_limit(self, most: int) -> Self:
        """Return it with an attacker who knows at most `most` items, where that says the same.

        Records of `most` items have no larger set in them; of what is absent, larger sets do occur.
        """
        known = self.known_at_most
        if known is None or known <= most or self.signed:
            return self
        return self.with_knowledge(most)

    def with_strength(self, strength: int) -> Self:
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
        values = {one.name: getattr(self, one.name) for one in fields(promise)}
        return {
            "model": self.model,
            **{name: _plain(value) for name, value in values.items() if value is not False},
        }

    @classmethod
    def from_dict(cls, plain: Mapping[str, object]) -> Self:
        """Return the guarantee that `as_dict` described; anything but its form is refused."""
        described: Any = cls
        known = {one.name: one for one in fields(described)}
        unknown = sorted(set(plain) - set(known) - {"model"})
        if unknown:
            raise UsageError(
                f"unknown field {str(unknown[0])[:40]!r} in guarantee {cls.model!r}.",
                f"Its fields: {', '.join(known)}.",
            )
        given: dict[str, Any] = {}
        for name, one in known.items():
            if name not in plain and one.default is False:
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


def hiding_place(name: str, value: Any) -> int:
    """Return a number of records that one can hide among; `UsageError` for what is none."""
    if value == 1 and not isinstance(value, bool):
        raise UsageError(f"{name}=1 gives no protection.", f"Give {name} >= 2.")
    return whole_number(name, value, least=2)


def flag(name: str, value: Any) -> bool:
    """Return what is true or false; `UsageError` for anything else."""
    if not isinstance(value, bool):
        raise UsageError(f"{name} must be true or false.", "Give True or False.")
    return value


def support(name: str, value: Any) -> Fraction | int:
    """Return a share or a count of records, exact; `UsageError` where it is too fine or too large."""
    exact = exact_support(value)
    if isinstance(exact, int):
        return whole_number(name, exact, least=1)
    if exact.denominator > 10**9:
        raise UsageError(
            f"{name}={str(exact)[:40]} is finer than a billionth.",
            "Give a share with fewer digits, or a whole number of records.",
        )
    return exact


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


CHECKS: Mapping[str, Callable[[str, Any], object]] = {
    "k": hiding_place,
    "l": partial(whole_number, least=2),
    "m": partial(whole_number, least=1),
    "p": partial(whole_number, least=1),
    "h": lambda _name, value: percentage(value),
    "negative": flag,
    "every_level": flag,
    "sensitive": label_set,
    "private": label_set,
    "growth": lambda _name, value: exact_growth(value),
    "min_support": support,
}
"""What a field may hold, by its name, which means the same in every promise."""


@dataclass(frozen=True)
class KmAnonymity(Promise):
    """Every set of at most `m` published items is in 0 or at least `k` records.

    With `negative`, the same holds for every combination of at most `m` items known to be present or
    known to be absent.

    >>> KmAnonymity(k=5, m=2)
    KmAnonymity(k=5, m=2, negative=False)
    """

    k: int
    m: int
    negative: bool = False
    model = "km"
    knowledge = "m"

    @property
    def signed(self) -> bool:
        return self.negative

    @property
    def monotone(self) -> bool:
        """Tell whether raising a label can only mend; where it is absent, more records may differ."""
        return not self.negative

    @property
    def point(self) -> tuple[int, int]:
        return self.k, self.m

    def __str__(self) -> str:
        signed = " with negative knowledge" if self.negative else ""
        return f"{self.k}^{self.m}-anonymity{signed}"


@dataclass(frozen=True)
class KAnonymity(Promise):
    """Every published record, as a set, is the same as at least `k` - 1 others.

    >>> print(KAnonymity(k=5))
    5-anonymity of whole records
    """

    k: int
    model = "k"

    def __str__(self) -> str:
        return f"{self.k}-anonymity of whole records"


@dataclass(frozen=True)
class LmDiversity(Promise):
    """Whoever knows at most `m` other items of a record links it to no sensitive item above 1/`l`.

    For every set c of 1..m items that are not sensitive and every sensitive item s:
    ``l * support(c + s) <= support(c)``. The most frequent sensitive *itemset* is always attained by a
    single item, so items are enough.

    >>> LmDiversity(l=3, m=2, sensitive={"wine"}).secret_labels
    frozenset({'wine'})
    """

    l: int  # noqa: E741 - the papers' name
    m: int
    sensitive: frozenset[str]
    model = "lm"
    strength, knowledge, secrets = "l", "m", "sensitive"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.sensitive:
            raise UsageError("l^m-diversity needs sensitive items.", "Name at least one.")

    @property
    def crowd(self) -> int:
        """Return 1: a record may be the only one that fits what is known."""
        return 1

    @property
    def share(self) -> Fraction:
        """Return 1/`l`, the largest share that a sensitive item may have."""
        return Fraction(1, self.l)

    @property
    def called(self) -> str:
        return f"{self.l}^{self.m}-diversity"

    def __str__(self) -> str:
        return f"{self.called} of {len(self.sensitive)} sensitive items"


@dataclass(frozen=True)
class Coherence(Promise):
    """(h, k, p)-coherence: public items known to somebody give neither a person nor a secret away.

    Every set of 1..`p` public items that occurs is in at least `k` records, and no private item is in
    more than `h` percent of those. Items that are not `private` are public. k^m-anonymity is the case
    h = 100, p = m without private items.

    >>> Coherence(h=80, k=5, p=2, private=frozenset({"flu"}))
    Coherence(h=Fraction(80, 1), k=5, p=2, private=frozenset({'flu'}))
    """

    h: Fraction
    k: int
    p: int
    private: frozenset[str] = field(default_factory=frozenset)
    model = "coherence"
    knowledge, secrets = "p", "private"

    @property
    def share(self) -> Fraction:
        """The largest share that a private item may have, h percent as a number from 0 to 1."""
        return self.h / 100

    @property
    def called(self) -> str:
        return f"({self.h} %, {self.k}, {self.p})-coherence"

    def __str__(self) -> str:
        secrets = f" of {len(self.private)} private items" if self.private else ""
        return f"{self.called}{secrets}"


@dataclass(frozen=True)
class LDiversity(Promise):
    """Of a bucket's tuples at most one in `l` has any one sensitive value.

    >>> print(LDiversity(l=3))
    3-diversity of buckets
    """

    l: int  # noqa: E741 - the papers' name
    model = "l"
    kind, strength = "buckets", "l"

    def __str__(self) -> str:
        return f"{self.l}-diversity of buckets"

    def others(self) -> tuple[Promise, ...]:
        return (MatchingDiversity(self.l),)


@dataclass(frozen=True)
class MatchingDiversity(Promise):
    """Whoever knows the published rules finds at least `l` possible sensitive values for every tuple.

    A value is possible for a tuple if the rules allow it and the other tuples of the bucket can then
    share the other values among them.

    >>> print(MatchingDiversity(l=3))
    matching 3-diversity
    """

    l: int  # noqa: E741 - the papers' name
    model = "matching"
    takes_rules = True
    kind, strength = "buckets", "l"

    def __str__(self) -> str:
        return f"matching {self.l}-diversity"

    def others(self) -> tuple[Promise, ...]:
        return (LDiversity(self.l),)


@dataclass(frozen=True)
class HiddenPatterns(Promise):
    """No set of published values is `growth` times as frequent in one of two data sets as in the other.

    Frequencies are shares of the records. Sets count that are in `min_support` of the records where
    they are more frequent: a share, or with a whole number a count of records. Both numbers may be
    given as the command line takes them, and are kept exact: "50%", 0.5 and "1/2" are one share. Values
    count as they stand. With `every_level` a published value also counts for every value above it.

    >>> HiddenPatterns(5)
    HiddenPatterns(growth=Fraction(5, 1), min_support=Fraction(1, 10), every_level=False)
    >>> HiddenPatterns(3, "50%") == HiddenPatterns(3, 0.5) == HiddenPatterns(3, Fraction(1, 2))
    True
    """

    growth: Fraction
    min_support: Fraction | int = Fraction(1, 10)
    every_level: bool = False
    model = "patterns"
    kind, strength = "pairs", "growth"

    @property
    def least_support(self) -> int:
        """Raise: nothing is promised about single people, so no number of records is few."""
        raise TypeError("a promise about patterns of two data sets knows no number of people")

    @classmethod
    def from_dict(cls, plain: Mapping[str, object]) -> Self:
        """Return the promise that `as_dict` described: a share as text, a count as a number."""
        growth, support = plain.get("growth"), plain.get("min_support")
        if isinstance(support, str):
            if not re.fullmatch(r"[0-9]{1,9}(/[1-9][0-9]{0,9})?", support):
                raise UsageError("min_support must be a share such as 1/10, or a whole number.")
            support = Fraction(support)
        elif isinstance(support, bool) or not isinstance(support, int):
            raise UsageError("min_support must be a share such as 1/10, or a whole number.")
        if not isinstance(growth, str):
            raise UsageError("growth must be a text such as '5' or '15/4'.")
        return super().from_dict({**plain, "min_support": support})

    def __str__(self) -> str:
        counted = " at every level" if self.every_level else ""
        return f"no pattern of growth {self.growth} or more{counted}"


Guarantee = KmAnonymity | KAnonymity | LmDiversity | Coherence
"""Promises about records as sets."""
BucketGuarantee = LDiversity | MatchingDiversity
"""Promises about tables cut into buckets."""
AnyGuarantee = Guarantee | BucketGuarantee | HiddenPatterns

GUARANTEES: Mapping[str, type[AnyGuarantee]] = {
    one.model: one
    for one in (
        *(KmAnonymity, KAnonymity, LmDiversity, Coherence),
        *(LDiversity, MatchingDiversity),
        HiddenPatterns,
    )
}
"""Every guarantee by its name in certificates."""


@overload
def guarantee_from_dict(plain: Mapping[str, object], kind: Literal["sets"] = "sets") -> Guarantee: ...
@overload
def guarantee_from_dict(plain: Mapping[str, object], kind: Literal["buckets"]) -> BucketGuarantee: ...
@overload
def guarantee_from_dict(plain: Mapping[str, object], kind: Literal["pairs"]) -> HiddenPatterns: ...
@overload
def guarantee_from_dict(plain: Mapping[str, object], kind: None) -> AnyGuarantee: ...


def guarantee_from_dict(plain: Mapping[str, object], kind: str | None = "sets") -> AnyGuarantee:
    """Return the guarantee that `as_dict` described, of a kind or of any (None).

    >>> guarantee_from_dict({"model": "km", "k": 5, "m": 2})
    KmAnonymity(k=5, m=2, negative=False)
    >>> guarantee_from_dict({"model": "matching", "l": 3}, "buckets")
    MatchingDiversity(l=3)
    """
    known = [name for name, one in GUARANTEES.items() if kind in (None, one.kind)]
    model = plain.get("model")
    if model not in known:
        raise UsageError(f"unknown guarantee {str(model)[:40]!r}.", f"Known: {', '.join(known)}.")
    return GUARANTEES[str(model)].from_dict(plain)
