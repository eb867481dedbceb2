"""The threshold of a search: a share of the records or a count, and the least count that meets it."""

from __future__ import annotations

from fractions import Fraction

from ..errors import UsageError
from ..model.guarantees import exact_support


def least_count(support: Fraction | int, n_records: int) -> int:
    """Return the smallest number of records that is at least this share of them, or this count.

    >>> least_count(Fraction(1, 1000), 77512), least_count(Fraction(1, 2), 4), least_count(50, 4)
    (78, 2, 50)
    """
    if isinstance(support, int):
        if support < 1:
            raise UsageError(f"the least support must be 1 record or more (got {support}).")
        return support
    if not 0 < support <= 1:
        raise UsageError(f"a share of the records must be above 0 and at most 1 (got {support}).")
    return max(1, -(-support.numerator * n_records // support.denominator))


def half_support(support: Fraction | int) -> Fraction | int | None:
    """Return half a threshold, a count rounded up; None where nothing is below it.

    >>> half_support(Fraction(1, 10)), half_support(5), half_support(1)
    (Fraction(1, 20), 3, None)
    """
    if isinstance(support, int):
        return (support + 1) // 2 if support > 1 else None
    return support / 2


def read_support(text: str) -> Fraction | int:
    """Return the share or the count that a text names.

    >>> read_support("1%"), read_support("0.01"), read_support("1/3"), read_support("50")
    (Fraction(1, 100), Fraction(1, 100), Fraction(1, 3), 50)
    """
    return exact_support(text)
