"""What is said of promises about two data sets."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

from ...model.guarantees import HiddenPatterns
from ...model.numbers import plural
from . import ALONE, MASKING, SEVERAL_RELEASES, Claims, Facts


def told_support(support: Fraction | int) -> str:
    """Return the least support in words, a share in percent where that is whole.

    >>> told_support(Fraction(1, 10)), told_support(Fraction(1, 3))
    ('at least 10 % of the records', 'at least 1/3 of the records')
    >>> told_support(Fraction(1)), told_support(50)
    ('all records', 'at least 50 records')
    """
    if isinstance(support, int):
        return f"at least {support} {plural(support, 'record')}"
    if support == 1:
        return "all records"
    percent = support * 100
    share = f"{percent} %" if percent.denominator == 1 else f"{support}"
    return f"at least {share} of the records"


def patterns(guarantee: HiddenPatterns, facts: Facts) -> Claims:
    """Return what is said of hidden emerging patterns."""
    growth, support = guarantee.growth, told_support(guarantee.min_support)
    level, read = "Values count as they stand in the files.", "values taken as they stand"
    if guarantee.every_level:
        level = "A value also counts for every category above it."
        read = "values read at every level"
    raised = (
        "Nothing against reading a value as every category above it: a pattern may show once values "
        "are raised to the same level."
    )
    classes = (
        "Nothing about the class: which of the two classes a record belongs to is told by its file."
    )
    return Claims(
        promised=[
            f"Whatever set of published values is in {support} of one data set, its share of the "
            f"records there is less than {growth} times its share of the records of the other. {level}",
            f"Whoever compares the two data sets, {read}, finds no emerging pattern of growth {growth} "
            f"or more that is in {support} of either.",
        ],
        not_promised=[
            "Nothing about single people: a record may be the only one that fits what is known, in "
            "either data set.",
            "Nothing about rare sets of values, below the minimum support, nor about smaller "
            "differences than the growth named.",
            *([] if guarantee.every_level else [raised]),
            *([classes] if facts.classes else []),
            "Nothing against someone who knows original records, or how values were spread in them.",
            SEVERAL_RELEASES,
            "Nothing about what raising values did to sets below the minimum support: it may have made "
            "them differ more.",
            "Nothing against reasoning about the method: which values were raised follows from the "
            "originals, and may tell something of them.",
            "Nothing about membership: that a person is in the data, and in which data set, may be "
            "learnt.",
        ],
        techniques=[
            "Local generalization (local recoding): a value is published as itself or as a category "
            "above it, not always the same in every record.",
            MASKING.format("the ids of records and columns"),
        ],
        privacy_model="None of the formal privacy measurement models: what is hidden are emerging "
        f"patterns of two data sets, of growth {growth} or more in {support}.",
        singling_out=([], [ALONE]),
        linkability=(
            [],
            [
                "A record of other data may fit a single one here.",
                "Several releases of the same or overlapping people can be linked.",
            ],
        ),
        inference=(
            [
                f"No set of published values in {support} is {growth} times as frequent in one data "
                "set as in the other, so none of them tells the two apart by that much."
            ],
            [
                "Rarer sets of values, and smaller differences, may tell the data sets apart.",
                "How values go together inside a data set is learnt, and applies to others too.",
            ],
        ),
    )


CLAIMS: Mapping[str, Callable[[Any, Facts], Claims]] = {"patterns": patterns}
