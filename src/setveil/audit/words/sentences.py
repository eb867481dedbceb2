"""The certificate's sentences, as far as the audit judges them: their numbers, of pairs their words.

What a sentence says cannot be proven, but the numbers in it can be compared: whoever lowers k in the
guarantee and leaves the words as they were promises more than was counted. So every number in the
promise, in the name of the privacy model and in the evidence must be one of the guarantee's.

Of two data sets numbers are not enough: growth and support could change places, and whether values
count at every level is told by words alone. So the audit writes the sentences itself, from the
guarantee, by templates of its own: what is promised, named and shown must be these word by word, and
what is not promised must begin with them. The other sentences name no number and no level.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from ..certificate import need

_NUMBER = re.compile(r"[0-9]+")
_NAMES = frozenset({"k", "m", "l", "h", "p"})
_CLAIM = re.compile("[0-9]|every level|every category", re.IGNORECASE)
"""What a sentence about two data sets holds only where it is one of the templates."""


def check_words(certificate: Mapping[str, Any]) -> None:
    """Raise `DataError` unless the sentences are there and name no number but the guarantee's."""
    guarantee = certificate["guarantee"]
    if guarantee["model"] == "patterns":
        _check_pair_words(certificate)
        return
    own = {name: _NUMBER.findall(str(guarantee[name])) for name in _NAMES & set(guarantee)}
    known = {"1", *(number for numbers in own.values() for number in numbers)}
    if "k" in guarantee:
        known.add(str(guarantee["k"] - 1))
    promised = certificate["promised"]
    need(promised and certificate["not_promised"], "promised and not_promised must not be empty")
    told = set(_NUMBER.findall(" ".join(promised)))
    need(told <= known, "promised names a number that is not the guarantee's")
    # A parameter of 1 is told in words ("one thing") as well as in digits.
    needed = {number for numbers in own.values() for number in numbers if number != "1"}
    need(needed <= told, "promised does not name the guarantee's numbers")
    need(
        set(_NUMBER.findall(_shown(certificate))) <= known,
        "the terms or the evidence name a number that is not the guarantee's",
    )


def _check_pair_words(certificate: Mapping[str, Any]) -> None:
    """The sentences about two data sets are those of the templates; the rest claims nothing."""
    guarantee, terms, evidence = (certificate[key] for key in ("guarantee", "terms", "evidence"))
    need(
        certificate["promised"] == pair_promise(guarantee),
        "promised does not say what the guarantee says, word by word",
    )
    limits = _pair_limits(guarantee, classes="classes" in certificate["data"])
    need(
        certificate["not_promised"][: len(limits)] == limits,
        "not_promised does not begin with what the guarantee leaves open, word by word",
    )
    growth, support = guarantee["growth"], _told_support(guarantee["min_support"])
    need(
        terms["privacy_model"]
        == "None of the formal privacy measurement models: what is hidden are emerging patterns of two "
        f"data sets, of growth {growth} or more in {support}.",
        "terms.privacy_model does not say what the guarantee says, word by word",
    )
    shown = f"No set of published values in {support} is {growth} times as frequent in one data set as "
    shown += "in the other, so none of them tells the two apart by that much."
    need(
        {name: found["shown"] for name, found in evidence.items()}
        == {"singling_out": [], "linkability": [], "inference": [shown]},
        "evidence shows something else than the guarantee, word by word",
    )
    others = [*certificate["not_promised"][len(limits) :], *terms["techniques"], terms["truthfulness"]]
    others += [sentence for found in evidence.values() for sentence in found["not_shown"]]
    need(
        not any(map(_CLAIM.search, others)),
        "a sentence beside the promise names a number or a level",
    )


def pair_name(guarantee: Mapping[str, Any]) -> str:
    """Return what the promise about two data sets is called in the headings of the report."""
    level = " at every level" if guarantee.get("every_level") else ""
    return f"no pattern of growth {guarantee['growth']} or more{level}"


def pair_promise(guarantee: Mapping[str, Any]) -> list[str]:
    """Return the sentences that promise this guarantee of two data sets, and no others do."""
    growth, support = guarantee["growth"], _told_support(guarantee["min_support"])
    counted, read = "Values count as they stand in the files.", "taken as they stand"
    if guarantee.get("every_level"):
        counted, read = "A value also counts for every category above it.", "read at every level"
    return [
        f"Whatever set of published values is in {support} of one data set, its share of the records "
        f"there is less than {growth} times its share of the records of the other. {counted}",
        f"Whoever compares the two data sets, values {read}, finds no emerging pattern of growth "
        f"{growth} or more that is in {support} of either.",
    ]


def _pair_limits(guarantee: Mapping[str, Any], *, classes: bool) -> list[str]:
    """Return what has to be said first of what is not promised."""
    limits = [
        "Nothing about single people: a record may be the only one that fits what is known, in either "
        "data set.",
        "Nothing about rare sets of values, below the minimum support, nor about smaller differences "
        "than the growth named.",
    ]
    if not guarantee.get("every_level"):
        limits.append(
            "Nothing against reading a value as every category above it: a pattern may show once "
            "values are raised to the same level."
        )
    if classes:
        limits.append(
            "Nothing about the class: which of the two classes a record belongs to is told by its file."
        )
    return limits


def _told_support(support: str | int) -> str:
    """Return the minimum support in words: a number is a count, a text a share."""
    if isinstance(support, int):
        return "at least 1 record" if support == 1 else f"at least {support} records"
    if support == "1":
        return "all records"
    percent = Fraction(support) * 100
    share = f"{percent} %" if percent.denominator == 1 else support
    return f"at least {share} of the records"


def _shown(certificate: Mapping[str, Any]) -> str:
    """Return the name of the privacy model and all that is said to be shown."""
    sentences: list[str] = []
    if "terms" in certificate:
        sentences.append(certificate["terms"]["privacy_model"])
    for found in certificate.get("evidence", {}).values():
        sentences += found["shown"]
    return " ".join(sentences)
