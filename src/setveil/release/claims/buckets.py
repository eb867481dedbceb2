"""What is said of promises about tables cut into buckets."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ...model.guarantees import LDiversity, MatchingDiversity
from ...model.layout import NO_VALUE
from . import MASKING, SEVERAL_RELEASES, Claims, Facts

LEFT_OUT = (
    "Nothing about people who are not in the table: records were left out if the rules left them too "
    "few possible values, and it is not told whether there were any. Whoever knows that somebody's "
    "record was left out may conclude from the rules which values it can have had."
)
"""The same words whether nobody or many were left out: a number would tell of them."""


def diversity(guarantee: LDiversity, facts: Facts) -> Claims:
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


def matching(guarantee: MatchingDiversity, facts: Facts) -> Claims:
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

    Parameters
    ----------
    facts
        What else the sentences depend on.
    promised
        What is promised.
    who_knows
        Who knows more than the promise reckons with.
    by_rules
        What the way in which buckets were made may tell, as the end of a sentence.
    privacy_model
        The formal model that it is a case of.
    hidden
        What was shown of a person's value.
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


CLAIMS: Mapping[str, Callable[[Any, Facts], Claims]] = {"l": diversity, "matching": matching}
