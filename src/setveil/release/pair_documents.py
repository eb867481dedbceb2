"""The documents of two data sets as plain values: certificate, hierarchy, private account.

The public ones are made from the published rows, the guarantee, the names of columns and classes and
the method's name alone.
"""

from __future__ import annotations

from fractions import Fraction

from ..model.guarantees import HiddenPatterns
from .evidence import STANDARD


def told_support(support: Fraction | int) -> str:
    """Return the least support in words, a share in percent where that is whole.

    >>> told_support(Fraction(1, 10)), told_support(Fraction(1, 3))
    ('at least 10 % of the records', 'at least 1/3 of the records')
    >>> told_support(Fraction(1)), told_support(50)
    ('all records', 'at least 50 records')
    """
    if isinstance(support, int):
        return f"at least {support} record{'' if support == 1 else 's'}"
    if support == 1:
        return "all records"
    percent = support * 100
    share = f"{percent} %" if percent.denominator == 1 else f"{support}"
    return f"at least {share} of the records"


def promised(guarantee: HiddenPatterns) -> list[str]:
    """Return what the guarantee promises, in plain words."""
    support = told_support(guarantee.min_support)
    level, read = (
        ("A value also counts for every category above it.", "values read at every level")
        if guarantee.every_level
        else ("Values count as they stand in the files.", "values taken as they stand")
    )
    return [
        f"Whatever set of published values is in {support} of one data set, its share of the records "
        f"there is less than {guarantee.growth} times its share of the records of the other. {level}",
        f"Whoever compares the two data sets, {read}, finds no emerging pattern of growth "
        f"{guarantee.growth} or more that is in {support} of either.",
    ]


def not_promised(guarantee: HiddenPatterns, *, classes: bool = False) -> list[str]:
    """Return what the guarantee leaves open, in plain words.

    Parameters
    ----------
    guarantee
        What is promised.
    classes
        Whether a column of classes told the data sets apart.
    """
    sentences = [
        "Nothing about single people: a record may be the only one that fits what is known, in either "
        "data set.",
        "Nothing about rare sets of values, below the minimum support, nor about smaller differences "
        "than the growth named.",
    ]
    if not guarantee.every_level:
        sentences.append(
            "Nothing against reading a value as every category above it: a pattern may show once "
            "values are raised to the same level."
        )
    if classes:
        sentences.append(
            "Nothing about the class: which of the two classes a record belongs to is told by its file."
        )
    return [
        *sentences,
        "Nothing against someone who knows original records, or how values were spread in them.",
        "Nothing against linking several releases of the same or overlapping people.",
        "Nothing about what raising values did to sets below the minimum support: it may have made "
        "them differ more.",
        "Nothing against reasoning about the method: which values were raised follows from the "
        "originals, and may tell something of them.",
        "Nothing about membership: that a person is in the data, and in which data set, may be learnt.",
    ]


def terms(guarantee: HiddenPatterns) -> dict[str, object]:
    """Return the techniques in the terms of ISO/IEC 20889; it knows no model for this promise."""
    return {
        "standard": STANDARD,
        "techniques": [
            "Local generalization (local recoding): a value is published as itself or as a category "
            "above it, not always the same in every record.",
            "Suppression at the level of attributes (masking): the ids of records and columns that "
            "were not declared are not published.",
        ],
        "privacy_model": "None of the formal privacy measurement models: what is hidden are emerging "
        f"patterns of two data sets, of growth {guarantee.growth} or more in "
        f"{told_support(guarantee.min_support)}.",
        "truthfulness": "Data truthfulness at the record level is kept: what a published record says "
        "is true of its original, in fewer words.",
    }


def evidence(guarantee: HiddenPatterns) -> dict[str, dict[str, list[str]]]:
    """Return, for singling out, linkability and inference, what is shown and what is not."""
    return {
        "singling_out": {
            "shown": [],
            "not_shown": ["A record may be the only one that fits what somebody knows."],
        },
        "linkability": {
            "shown": [],
            "not_shown": [
                "A record of other data may fit a single one here.",
                "Several releases of the same or overlapping people can be linked.",
            ],
        },
        "inference": {
            "shown": [
                f"No set of published values in {told_support(guarantee.min_support)} is "
                f"{guarantee.growth} times as frequent in one data set as in the other, so none of "
                "them tells the two apart by that much."
            ],
            "not_shown": [
                "Rarer sets of values, and smaller differences, may tell the data sets apart.",
                "How values go together inside a data set is learnt, and applies to others too.",
            ],
        },
    }
