"""What is said of promises about tables cut into buckets, and about two data sets."""

from __future__ import annotations

from fractions import Fraction

from ..model.guarantees import HiddenPatterns, LDiversity, MatchingDiversity
from ..model.layout import NO_VALUE
from ..model.numbers import plural
from .claims import ALONE, MASKING, SEVERAL_RELEASES, Claims, Facts

LEFT_OUT = (
    "Nothing about people who are not in the table: records were left out if the rules left them too "
    "few possible values, and it is not told whether there were any. Whoever knows that somebody's "
    "record was left out may conclude from the rules which values it can have had."
)
"""The same words whether nobody or many were left out: a number would tell of them."""


def of_l(guarantee: LDiversity, facts: Facts) -> Claims:
    """Return what is said of l-diversity of buckets."""
    values = guarantee.l
    return said(
        facts,
        promised=[
            f"In every bucket each sensitive value belongs to at most one record of {values}.",
            f"{NO_VALUE} is no value: of the records that have one, too, each value belongs to at most "
            f"one of {values}.",
            "Whoever knows everything about a person but the sensitive value finds the bucket, and "
            f"links the person to a value with a share of at most 1/{values}, under the random-worlds "
            "assumption: every way to share a bucket's values out is taken as equally likely.",
        ],
        who_knows="Nothing against someone who knows which values a person cannot have.",
        by_rules=".",
        privacy_model=f"L-diversity: l = {values} for each bucket, every value at most 1/l of it.",
        hidden=f"Inside its bucket a sensitive value belongs to at most one record of {values}.",
    )


def of_matching(guarantee: MatchingDiversity, facts: Facts) -> Claims:
    """Return what is said of matching diversity."""
    values = guarantee.l
    promised = [
        f"For every record at least {values} sensitive values are possible, for whoever also knows the "
        "rules in rules.csv. A value is possible if the rules allow it and the other records of the "
        "bucket can share the other values among them.",
        f"{NO_VALUE} is no value, and is not among the {values}.",
        "Whoever knows everything about a person but the sensitive value cannot narrow it down to "
        f"fewer than {values} values by these rules. How likely each is, is not promised: under the "
        "random-worlds assumption every way to share the values out is equally likely.",
    ]
    by_rules = ", and a rule that one would expect and that is missing tells that somebody breaks it."
    if facts.complete:
        promised.append(
            "Of the rules that are as unlikely to hold by chance as the certificate says "
            "(rules.complete), rules.csv has all that do hold. So whoever misses one knows that "
            f"somebody breaks it. Whichever one that is, at least {values} sensitive values are "
            "possible for every record even then."
        )
        by_rules = (
            ", and several rules that are missing, or weaker ones, may tell more than one of them."
        )
    return said(
        facts,
        promised,
        who_knows="Nothing against knowledge that is not in rules.csv, and no probability of 1/l.",
        by_rules=by_rules,
        privacy_model=f"L-diversity, as matching l-diversity: l = {values} possible values for each "
        "record, given the published rules.",
        hidden=f"By the published rules no record has fewer than {values} possible values.",
    )


def said(
    facts: Facts, promised: list[str], *, who_knows: str, by_rules: str, privacy_model: str, hidden: str
) -> Claims:
    """Return the claims of a promise about buckets, with what is the same for all of them.

    `who_knows` more than the promise reckons with; `by_rules` ends the sentence on what the way in
    which buckets were made may tell; `hidden` is what was shown of a person's value.
    """
    left_out = "Suppression at the level of records: those with too few possible values, if any."
    return Claims(
        promised=promised,
        not_promised=[
            who_knows,
            "Nothing against being found: all columns but the sensitive one are published as they are, "
            "so whoever knows them finds a person's row, and learns that the person is in the data.",
            "Nothing against learning from all buckets together which values go with which people, and "
            "guessing by that (the deFinetti attack).",
            SEVERAL_RELEASES,
            "Nothing against reasoning about the method: records were put together because they could "
            f"be{by_rules}",
            *([LEFT_OUT] if facts.records_left_out else []),
        ],
        techniques=[
            "Permutation: inside a bucket it is not told which record has which sensitive value.",
            MASKING.format("columns"),
            *([left_out] if facts.records_left_out else []),
        ],
        privacy_model=privacy_model,
        singling_out=(
            [],
            ["Columns that are not sensitive are published as they are: a row can be found."],
        ),
        linkability=(
            [],
            [
                "Other data with the same columns can be joined row by row, up to the sensitive value.",
                "Several releases of the same or overlapping people can be linked: two buckets may "
                "have one value in common.",
            ],
        ),
        inference=(
            [hidden],
            [
                "Some values may be far more likely than others for a person (the deFinetti attack).",
                "How values go with people in general is learnt, and applies to others too.",
            ],
        ),
        truthfulness="Data truthfulness at the record level is not kept across the two parts: each "
        "part is true by itself, and which record has which value is told for whole buckets only.",
    )


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


def of_patterns(guarantee: HiddenPatterns, facts: Facts) -> Claims:
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
