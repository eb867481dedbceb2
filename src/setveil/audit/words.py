"""The certificate's sentences, as far as the audit judges them: their numbers.

What a sentence says cannot be proven, but the numbers in it can be compared: whoever lowers k in the
guarantee and leaves the words as they were promises more than was counted. So every number in the
promise, in the name of the privacy model and in the evidence must be one of the guarantee's.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from .certificate import need

_NUMBER = re.compile(r"[0-9]+")
_NAMES = frozenset({"k", "m", "l", "h", "p"})
_FIGURE = re.compile(r"[0-9]+(?:,[0-9]{3})*(?:[./][0-9]+)?(?: ?%)?")
"""A number as it is read: with its thousands, its fraction and its percent sign."""


def check_words(certificate: Mapping[str, Any]) -> None:
    """Raise `DataError` unless the sentences are there and name no number but the guarantee's.

    Parameters
    ----------
    certificate
        The certificate, its guarantee checked.
    """
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
    """Of two data sets a number is a whole figure: growth, minimum support, or a number of records.

    A share may be told in percent where that is whole. The promise names growth and support alone.
    """
    guarantee = certificate["guarantee"]
    growth, support = guarantee["growth"], str(guarantee["min_support"])
    spellings = {support, f"{int(support):,}" if support.isdigit() else support}
    if isinstance(guarantee["min_support"], str):
        percent = Fraction(support) * 100
        spellings |= {f"{percent} %", f"{percent}%"} if percent.denominator == 1 else set()
    promised = certificate["promised"]
    need(promised and certificate["not_promised"], "promised and not_promised must not be empty")
    told = set(_FIGURE.findall(" ".join(promised)))
    need(told <= {growth, *spellings}, "promised names a number that is not the guarantee's")
    # A support of 1, one record or all of them, is told in words as well as in digits.
    named = growth in told and (support == "1" or bool(told & spellings))
    need(named, "promised does not name the guarantee's numbers")
    counts = {part["records"] for part in certificate["data"]["parts"]}
    known = {growth, *spellings, *map(str, counts), *(f"{count:,}" for count in counts)}
    need(
        set(_FIGURE.findall(_shown(certificate))) <= known,
        "the terms or the evidence name a number that is not the guarantee's",
    )


def _shown(certificate: Mapping[str, Any]) -> str:
    """Return the name of the privacy model and all that is said to be shown."""
    sentences: list[str] = []
    if "terms" in certificate:
        sentences.append(certificate["terms"]["privacy_model"])
    for found in certificate.get("evidence", {}).values():
        sentences += found["shown"]
    return " ".join(sentences)
