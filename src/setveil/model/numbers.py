"""Numbers as people give them: counts, shares, percentages and growth, each kept exact."""

from __future__ import annotations

import re
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


def plural(number: int, noun: str, several: str | None = None) -> str:
    """Return the noun as it goes with a number.

    >>> plural(1, "item"), plural(2, "item"), plural(0, "class", "classes")
    ('item', 'items', 'classes')
    """
    return noun if number == 1 else several or f"{noun}s"


def counted(number: int, noun: str, several: str | None = None) -> str:
    """Return a number with its noun.

    >>> counted(1, "record"), counted(2000, "record")
    ('1 record', '2,000 records')
    """
    return f"{number:,} {plural(number, noun, several)}"
