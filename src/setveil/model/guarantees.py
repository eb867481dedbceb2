"""What is promised, as values: independent of how it is reached and of how it is checked.

Each guarantee is frozen and validated on creation. `as_dict` and `guarantee_from_dict` turn it into
the plain form that certificates hold and back.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from ..errors import UsageError

LARGEST = 2**31 - 1


def whole_number(name: str, value: object, *, least: int) -> int:
    """Return `value` if it is an int (not a bool) in range, else raise `UsageError`."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise UsageError(
            f"{name} must be a whole number (got {str(value)[:40]!r}).", f"Give {name} >= {least}."
        )
    if value < least or value > LARGEST:
        raise UsageError(
            f"{name}={str(value)[:40]} is out of range.",
            f"Allowed: {least} <= {name} <= {LARGEST}.",
        )
    return value


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


@dataclass(frozen=True)
class KmAnonymity:
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

    def __post_init__(self) -> None:
        if self.k == 1 and not isinstance(self.k, bool):
            raise UsageError("k=1 gives no protection.", "Give k >= 2.")
        whole_number("k", self.k, least=2)
        whole_number("m", self.m, least=1)
        if not isinstance(self.negative, bool):
            raise UsageError("negative must be true or false.", "Give True or False.")

    def as_dict(self) -> dict[str, object]:
        """Return the plain form kept in certificates."""
        plain: dict[str, object] = {"model": self.model, "k": self.k, "m": self.m}
        if self.negative:
            plain["negative"] = True
        return plain

    def __str__(self) -> str:
        signed = " with negative knowledge" if self.negative else ""
        return f"{self.k}^{self.m}-anonymity{signed}"


@dataclass(frozen=True)
class KAnonymity:
    """Every published record, as a set, is the same as at least `k` - 1 others."""

    k: int
    model = "k"

    def __post_init__(self) -> None:
        if self.k == 1 and not isinstance(self.k, bool):
            raise UsageError("k=1 gives no protection.", "Give k >= 2.")
        whole_number("k", self.k, least=2)

    def as_dict(self) -> dict[str, object]:
        """Return the plain form kept in certificates."""
        return {"model": self.model, "k": self.k}

    def __str__(self) -> str:
        return f"{self.k}-anonymity of whole records"


@dataclass(frozen=True)
class LmDiversity:
    """Whoever knows at most `m` other items of a record links it to no sensitive item above 1/`l`.

    For every set c of 1..m items that are not sensitive and every sensitive item s:
    ``l * support(c + s) <= support(c)``. The most frequent sensitive *itemset* is always attained by a
    single item, so items are enough.
    """

    l: int  # noqa: E741 - the papers' name
    m: int
    sensitive: frozenset[str]
    model = "lm"

    def __post_init__(self) -> None:
        whole_number("l", self.l, least=2)
        whole_number("m", self.m, least=1)
        object.__setattr__(self, "sensitive", label_set("sensitive", self.sensitive))
        if not self.sensitive:
            raise UsageError("l^m-diversity needs sensitive items.", "Name at least one.")

    def as_dict(self) -> dict[str, object]:
        """Return the plain form kept in certificates."""
        return {
            "model": self.model,
            "l": self.l,
            "m": self.m,
            "sensitive": sorted(self.sensitive),
        }

    def __str__(self) -> str:
        return f"{self.l}^{self.m}-diversity of {len(self.sensitive)} sensitive items"


def percentage(value: object) -> Fraction:
    """Return `value` as an exact number of percent from 0 to 100, else raise `UsageError`.

    Plain digits, a decimal or a ratio as text. A float is refused: the nearest one to 14.1 is not 14.1.

    >>> percentage("12.5"), percentage(80), percentage("100/3")
    (Fraction(25, 2), Fraction(80, 1), Fraction(100, 3))
    """
    exact: Fraction | None = None
    if isinstance(value, Fraction) or (isinstance(value, int) and not isinstance(value, bool)):
        exact = Fraction(value)
    elif isinstance(value, str) and re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,6}|/[0-9]{1,7})?", value):
        exact = Fraction(value) if not re.search("/0+$", value) else None
    if exact is None:
        raise UsageError(
            f"h must be a number of percent in plain digits (got {str(value)[:40]!r}).",
            "Give for example 80, '12.5' or '100/3'.",
        )
    # Counts times this denominator must fit in 63 bits, so that they are compared as whole numbers.
    if not 0 <= exact <= 100 or exact.denominator > 10**6:
        raise UsageError(
            f"h={str(value)[:40]} is out of range.",
            "Allowed: 0 <= h <= 100, up to six decimals.",
        )
    return exact


@dataclass(frozen=True)
class Coherence:
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

    def __post_init__(self) -> None:
        object.__setattr__(self, "h", percentage(self.h))
        if self.k == 1 and not isinstance(self.k, bool):
            raise UsageError("k=1 gives no protection.", "Give k >= 2.")
        whole_number("k", self.k, least=2)
        whole_number("p", self.p, least=1)
        object.__setattr__(self, "private", label_set("private", self.private))

    def as_dict(self) -> dict[str, object]:
        """Return the plain form kept in certificates."""
        return {
            "model": self.model,
            "h": str(self.h),
            "k": self.k,
            "p": self.p,
            "private": sorted(self.private),
        }

    @property
    def share(self) -> Fraction:
        """The largest share that a private item may have, h percent as a number from 0 to 1."""
        return self.h / 100

    def __str__(self) -> str:
        secrets = f" of {len(self.private)} private items" if self.private else ""
        return f"({self.h} %, {self.k}, {self.p})-coherence{secrets}"


@dataclass(frozen=True)
class LDiversity:
    """Of a bucket's tuples at most one in `l` has any one sensitive value."""

    l: int  # noqa: E741 - the papers' name
    model = "l"

    def __post_init__(self) -> None:
        whole_number("l", self.l, least=2)

    def as_dict(self) -> dict[str, object]:
        """Return the plain form kept in certificates."""
        return {"model": self.model, "l": self.l}

    def __str__(self) -> str:
        return f"{self.l}-diversity of buckets"


@dataclass(frozen=True)
class MatchingDiversity:
    """Whoever knows the published rules finds at least `l` possible sensitive values for every tuple.

    A value is possible for a tuple if the rules allow it and the other tuples of the bucket can then
    share the other values among them.
    """

    l: int  # noqa: E741 - the papers' name
    model = "matching"

    def __post_init__(self) -> None:
        whole_number("l", self.l, least=2)

    def as_dict(self) -> dict[str, object]:
        """Return the plain form kept in certificates."""
        return {"model": self.model, "l": self.l}

    def __str__(self) -> str:
        return f"matching {self.l}-diversity"


_RATE = re.compile(r"[0-9]{1,9}(\.[0-9]{1,9})?|[0-9]{1,18}/[1-9][0-9]{0,9}")
"""A number of up to nine decimals, and the fraction that it makes."""


def exact_growth(value: object) -> Fraction:
    """Return a growth above 1 as a fraction; `UsageError` for anything else. A float counts as written.

    >>> exact_growth(5), exact_growth("3.75"), exact_growth("15/4")
    (Fraction(5, 1), Fraction(15, 4), Fraction(15, 4))
    """
    exact: Fraction | None = None
    if isinstance(value, Fraction) or (isinstance(value, int) and not isinstance(value, bool)):
        exact = Fraction(value)
    elif isinstance(value, str | float) and _RATE.fullmatch(str(value)):
        exact = Fraction(str(value))
    if exact is None or exact <= 1:
        raise UsageError(
            f"the growth must be a number above 1 (got {str(value)[:40]!r}).",
            "Give for example 5: five times as frequent, or 1.5.",
            code="not-a-growth",
        )
    return exact


_COUNT = re.compile(r"[1-9][0-9]{0,11}")
_FRACTION = re.compile(r"[0-9]{1,9}/[1-9][0-9]{0,9}")
_SHARE = re.compile(
    r"(?P<number>([0-9]{1,3}(\.[0-9]{1,9})?|\.[0-9]{1,9})(e-[0-9]{1,2})?)(?P<percent> ?%)?"
)


def exact_support(value: object) -> Fraction | int:
    """Return a share (a Fraction) or a count (an int); `UsageError` for anything else.

    A whole number is a count. A float counts as it is written, so that 1.0 is the share of all records.

    >>> exact_support("10%"), exact_support(0.1), exact_support("1/3"), exact_support(50)
    (Fraction(1, 10), Fraction(1, 10), Fraction(1, 3), 50)
    """
    exact: Fraction | int = 0
    if isinstance(value, Fraction) or (isinstance(value, int) and not isinstance(value, bool)):
        exact = value
    elif isinstance(value, str | float):
        exact = _support_of(str(value))
    if exact <= 0 or (isinstance(exact, Fraction) and exact > 1):
        raise UsageError(
            f"the least support must be a share of the records or a count (got {str(value)[:40]!r}).",
            "Give for example 1%, 0.01, 1/3 or 50.",
            code="not-a-number",
        )
    return exact


def _support_of(text: str) -> Fraction | int:
    """Return what a text names, 0 if that is nothing."""
    if _COUNT.fullmatch(text):
        return int(text)
    if _FRACTION.fullmatch(text):
        return Fraction(text)
    found = _SHARE.fullmatch(text)
    return Fraction(found["number"]) / (100 if found["percent"] else 1) if found else 0


@dataclass(frozen=True)
class HiddenPatterns:
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

    def __post_init__(self) -> None:
        object.__setattr__(self, "growth", exact_growth(self.growth))
        object.__setattr__(self, "min_support", exact_support(self.min_support))
        if isinstance(self.min_support, Fraction):
            if self.min_support.denominator > 10**9:
                raise UsageError(
                    f"min_support={str(self.min_support)[:40]} is finer than a billionth.",
                    "Give a share with fewer digits, or a whole number of records.",
                )
        else:
            whole_number("min_support", self.min_support, least=1)
        if not isinstance(self.every_level, bool):
            raise UsageError("every_level must be true or false.", "Give True or False.")

    def as_dict(self) -> dict[str, object]:
        """Return the plain form kept in certificates: a share as text, a count as a number."""
        share = isinstance(self.min_support, Fraction)
        plain: dict[str, object] = {
            "model": self.model,
            "growth": str(self.growth),
            "min_support": str(self.min_support) if share else self.min_support,
        }
        if self.every_level:
            plain["every_level"] = True
        return plain

    def __str__(self) -> str:
        counted = " at every level" if self.every_level else ""
        return f"no pattern of growth {self.growth} or more{counted}"


Guarantee = KmAnonymity | KAnonymity | LmDiversity | Coherence
BucketGuarantee = LDiversity | MatchingDiversity
"""Promises about tables cut into buckets; the others are about records as sets."""


def least_support(guarantee: Guarantee) -> int:
    """Return below which number records count as few: k, or l where the promise has no k."""
    return guarantee.l if isinstance(guarantee, LmDiversity) else guarantee.k


FIELDS: Mapping[str, frozenset[str]] = {
    "km": frozenset({"k", "m", "negative"}),
    "k": frozenset({"k"}),
    "lm": frozenset({"l", "m", "sensitive"}),
    "coherence": frozenset({"h", "k", "p", "private"}),
}


def guarantee_from_dict(plain: Mapping[str, object]) -> Guarantee:
    """Return the guarantee that `as_dict` described; unknown keys are refused.

    >>> guarantee_from_dict({"model": "km", "k": 5, "m": 2})
    KmAnonymity(k=5, m=2, negative=False)
    """
    model = plain.get("model")
    if not isinstance(model, str) or model not in FIELDS:
        raise UsageError(f"unknown guarantee {str(model)[:40]!r}.", f"Known: {', '.join(FIELDS)}.")
    fields = {name: value for name, value in plain.items() if name != "model"}
    unknown = sorted(set(fields) - FIELDS[model])
    if unknown:
        raise UsageError(f"unknown field {str(unknown[0])[:40]!r} in guarantee {model!r}.")
    k = whole_number("k", fields.get("k"), least=2) if model != "lm" else 0
    if model == "k":
        return KAnonymity(k)
    if model == "coherence":
        p = whole_number("p", fields.get("p"), least=1)
        return Coherence(percentage(fields.get("h")), k, p, _labels(fields, "private"))
    m = whole_number("m", fields.get("m"), least=1)
    if model == "km":
        negative = fields.get("negative", False)
        if not isinstance(negative, bool):
            raise UsageError("negative must be true or false.")
        return KmAnonymity(k, m, negative)
    return LmDiversity(whole_number("l", fields.get("l"), least=2), m, _labels(fields, "sensitive"))


def bucket_guarantee_from_dict(plain: Mapping[str, object]) -> BucketGuarantee:
    """Return the promise about buckets that `as_dict` described; unknown keys are refused.

    >>> bucket_guarantee_from_dict({"model": "matching", "l": 3})
    MatchingDiversity(l=3)
    """
    kinds: Mapping[object, type[LDiversity] | type[MatchingDiversity]] = {
        "l": LDiversity,
        "matching": MatchingDiversity,
    }
    model = plain.get("model")
    if not isinstance(model, str) or model not in kinds:
        raise UsageError(f"unknown guarantee {str(model)[:40]!r}.", "Known: l, matching.")
    unknown = sorted(set(plain) - {"model", "l"})
    if unknown:
        raise UsageError(f"unknown field {str(unknown[0])[:40]!r} in guarantee {model!r}.")
    return kinds[model](whole_number("l", plain.get("l"), least=2))


def pair_guarantee_from_dict(plain: Mapping[str, object]) -> HiddenPatterns:
    """Return the promise about two data sets that `as_dict` described; unknown keys are refused.

    >>> pair_guarantee_from_dict({"model": "patterns", "growth": "5", "min_support": "1/10"})
    HiddenPatterns(growth=Fraction(5, 1), min_support=Fraction(1, 10), every_level=False)
    """
    if plain.get("model") != HiddenPatterns.model:
        raise UsageError(f"unknown guarantee {str(plain.get('model'))[:40]!r}.", "Known: patterns.")
    unknown = sorted(set(plain) - {"model", "growth", "min_support", "every_level"})
    if unknown:
        raise UsageError(f"unknown field {str(unknown[0])[:40]!r} in guarantee 'patterns'.")
    support = plain.get("min_support")
    if isinstance(support, str):
        if not re.fullmatch(r"[0-9]{1,9}(/[1-9][0-9]{0,9})?", support):
            raise UsageError("min_support must be a share such as 1/10, or a whole number.")
        support = Fraction(support)
    elif isinstance(support, bool) or not isinstance(support, int):
        raise UsageError("min_support must be a share such as 1/10, or a whole number.")
    every_level = plain.get("every_level", False)
    if not isinstance(every_level, bool):
        raise UsageError("every_level must be true or false.")
    growth = plain.get("growth")
    if not isinstance(growth, str):
        raise UsageError("growth must be a text such as '5' or '15/4'.")
    return HiddenPatterns(exact_growth(growth), support, every_level)


def _labels(fields: Mapping[str, object], name: str) -> frozenset[str]:
    labels = fields.get(name)
    if not isinstance(labels, list) or not all(isinstance(label, str) for label in labels):
        raise UsageError(f"{name} must be a list of labels.")
    return frozenset(labels)
