"""The documents of a table in buckets as plain values: certificate, hierarchy, private account.

The public ones are made from the published tables, the rules, the guarantee and the method's name
alone.
"""

from __future__ import annotations

from ..model.guarantees import BucketGuarantee, LDiversity
from ..model.layout import NO_VALUE
from .bucket_release import BucketRelease
from .evidence import STANDARD

SEVERAL = (
    "Several releases of the same or overlapping people can be linked: two buckets may have one value "
    "in common."
)


def promised(guarantee: BucketGuarantee, *, complete: bool = False) -> list[str]:
    """Return what the guarantee promises, in plain words.

    Parameters
    ----------
    guarantee
        What was asked for.
    complete
        Whether it is told from where on no rule is missing that holds.
    """
    if isinstance(guarantee, LDiversity):
        return [
            f"In every bucket each sensitive value belongs to at most one record of {guarantee.l}.",
            f"{NO_VALUE} is no value: of the records that have one, too, each value belongs to at most "
            f"one of {guarantee.l}.",
            "Whoever knows everything about a person but the sensitive value finds the bucket, and "
            f"links the person to a value with a share of at most 1/{guarantee.l}, under the "
            "random-worlds assumption: every way to share a bucket's values out is taken as equally "
            "likely.",
        ]
    despite = [
        "Of the rules that are as unlikely to hold by chance as the certificate says (rules.complete), "
        "rules.csv has all that do hold. So whoever misses one knows that somebody breaks it. "
        f"Whichever one that is, at least {guarantee.l} sensitive values are possible for every record "
        "even then.",
    ]
    return [
        "For every record at least "
        f"{guarantee.l} sensitive values are possible, for whoever also knows the rules in rules.csv. "
        "A value is possible if the rules allow it and the other records of the bucket can share the "
        "other values among them.",
        f"{NO_VALUE} is no value, and is not among the {guarantee.l}.",
        f"Whoever knows everything about a person but the sensitive value cannot narrow it down to "
        f"fewer than {guarantee.l} values by these rules. How likely each is, is not promised: under "
        "the random-worlds assumption every way to share the values out is equally likely.",
        *(despite if complete else []),
    ]


def not_promised(guarantee: BucketGuarantee, *, complete: bool = False) -> list[str]:
    """Return what the guarantee leaves open, in plain words."""
    first = (
        "Nothing against someone who knows which values a person cannot have."
        if isinstance(guarantee, LDiversity)
        else "Nothing against knowledge that is not in rules.csv, and no probability of 1/l."
    )
    return [
        first,
        "Nothing against being found: all columns but the sensitive one are published as they are, so "
        "whoever knows them finds a person's row, and learns that the person is in the data.",
        "Nothing against learning from all buckets together which values go with which people, and "
        "guessing by that (the deFinetti attack).",
        "Nothing against linking several releases of the same or overlapping people.",
        "Nothing against reasoning about the method: records were put together because they could be"
        + (
            "."
            if isinstance(guarantee, LDiversity)
            else ", and several rules that are missing, or weaker ones, may tell more than one of them."
            if complete
            else ", and a rule that one would expect and that is missing tells that somebody breaks it."
        ),
    ]


def of_those_left_out(release: BucketRelease) -> list[str]:
    """Return the same words whether nobody or many were left out: a number would tell of them."""
    if release.left_out is None:
        return []
    return [
        "Nothing about people who are not in the table: records were left out if the rules left them "
        "too few possible values, and it is not told whether there were any. Whoever knows that "
        "somebody's record was left out may conclude from the rules which values it can have had."
    ]


def terms(guarantee: BucketGuarantee, *, left_out: bool = False) -> dict[str, object]:
    """Return the techniques and the privacy model in the terms of ISO/IEC 20889."""
    model = (
        f"L-diversity: l = {guarantee.l} for each bucket, every value at most 1/l of it."
        if isinstance(guarantee, LDiversity)
        else f"L-diversity, as matching l-diversity: l = {guarantee.l} possible values for each "
        "record, given the published rules."
    )
    return {
        "standard": STANDARD,
        "techniques": [
            "Permutation: inside a bucket it is not told which record has which sensitive value.",
            "Suppression at the level of attributes (masking): columns that were not declared are not "
            "published.",
            *(
                ["Suppression at the level of records: those with too few possible values, if any."]
                if left_out
                else []
            ),
        ],
        "privacy_model": model,
        "truthfulness": "Data truthfulness at the record level is not kept across the two parts: each "
        "part is true by itself, and which record has which value is told for whole buckets only.",
    }


def evidence(guarantee: BucketGuarantee) -> dict[str, dict[str, list[str]]]:
    """Return, for singling out, linkability and inference, what is shown and what is not."""
    shown = (
        f"Inside its bucket a sensitive value belongs to at most one record of {guarantee.l}."
        if isinstance(guarantee, LDiversity)
        else f"By the published rules no record has fewer than {guarantee.l} possible values."
    )
    return {
        "singling_out": {
            "shown": [],
            "not_shown": [
                "Columns that are not sensitive are published as they are: a row can be found."
            ],
        },
        "linkability": {
            "shown": [],
            "not_shown": [
                "Other data with the same columns can be joined row by row, up to the sensitive value.",
                SEVERAL,
            ],
        },
        "inference": {
            "shown": [shown],
            "not_shown": [
                "Some values may be far more likely than others for a person (the deFinetti attack).",
                "How values go with people in general is learnt, and applies to others too.",
            ],
        },
    }
