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


_TEXT = re.compile(
    r"(?P<decimal>([0-9]{1,9}(\.[0-9]{1,9})?|\.[0-9]{1,9})(?P<tiny>e-[0-9]{1,2})?)(?P<percent> ?%)?"
    r"|(?P<ratio>[0-9]{1,18}/[1-9][0-9]{0,9})"
)
_COUNT = re.compile(r"[1-9][0-9]{0,11}")


def exact_number(value: object, *, percent: bool = False, tiny: bool = False) -> Fraction | None:
    """Return a number exactly as it was written; None for anything that is none.

    One grammar for all numbers that are not whole: plain digits, a decimal, a ratio. A float counts as
    it is written. No sign, and nothing else that a spreadsheet would take for a number. With `percent`
    a share is asked for, so that ``33%`` is one; with `tiny`, ``1e-5`` is taken too.

    >>> exact_number("1/3"), exact_number(".5"), exact_number("33 %", percent=True), exact_number(0.1)
    (Fraction(1, 3), Fraction(1, 2), Fraction(33, 100), Fraction(1, 10))
    """
    if isinstance(value, bool) or not isinstance(value, int | float | str | Fraction):
        return None
    if isinstance(value, int | Fraction):
        return Fraction(value)
    found = _TEXT.fullmatch(str(value))
    if found is None or (found["percent"] and not percent):
        return None
    if found["tiny"] and not (tiny or isinstance(value, float)):
        return None
    return Fraction(found["ratio"] or found["decimal"]) / (100 if found["percent"] else 1)


def percentage(value: object) -> Fraction:
    """Return `value` as an exact number of percent from 0 to 100, else raise `UsageError`.

    A float is refused: the nearest one to 14.1 is not 14.1.

    >>> percentage("12.5"), percentage(80), percentage("100/3")
    (Fraction(25, 2), Fraction(80, 1), Fraction(100, 3))
    """
    exact = None if isinstance(value, float) else exact_number(value)
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


def exact_growth(value: object) -> Fraction:
    """Return a growth above 1 as a fraction; `UsageError` for anything else.

    >>> exact_growth(5), exact_growth("3.75"), exact_growth("15/4")
    (Fraction(5, 1), Fraction(15, 4), Fraction(15, 4))
    """
    exact = exact_number(value)
    if exact is None or exact <= 1:
        raise UsageError(
            f"the growth must be a number above 1 (got {str(value)[:40]!r}).",
            "Give for example 5: five times as frequent, or 1.5.",
            code="not-a-growth",
        )
    return exact


def exact_support(value: object) -> Fraction | int:
    """Return a share (a Fraction) or a count (an int); `UsageError` for anything else.

    A whole number is a count; a float is a share, so that 1.0 is that of all records.

    >>> exact_support("10%"), exact_support(0.1), exact_support("1/3"), exact_support(50)
    (Fraction(1, 10), Fraction(1, 10), Fraction(1, 3), 50)
    """
    if isinstance(value, str) and _COUNT.fullmatch(value):
        value = int(value)
    exact = exact_number(value, percent=True, tiny=True)
    if exact is not None and isinstance(value, int) and exact > 0:
        return value
    if exact is None or not 0 < exact <= 1:
        raise UsageError(
            f"the least support must be a share of the records or a count (got {str(value)[:40]!r}).",
            "Give for example 1%, 0.01, 1/3 or 50.",
            code="not-a-number",
        )
    return exact


def exact_share(name: str, value: object, *, below_one: bool = False) -> Fraction:
    """Return a number above 0 and up to 1 as a fraction; `UsageError` for anything else.

    >>> exact_share("min_expectation", 0.9), exact_share("min_confidence", "75%")
    (Fraction(9, 10), Fraction(3, 4))
    """
    exact = exact_number(value, percent=True)
    inside = exact is not None and 0 < exact <= 1 and not (below_one and exact == 1)
    if exact is None or not inside or exact.denominator > 10**6:
        top = "below 1" if below_one else "up to 1"
        raise UsageError(
            f"{name}={str(value)[:40]} is not a number above 0 and {top}.",
            "Give for example 0.9; up to six decimals.",
            code="not-a-share",
        )
    return exact


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
