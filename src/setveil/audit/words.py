"""The certificate's sentences, as far as the audit judges them: their numbers.

What a sentence says cannot be proven, but the numbers in it can be compared: whoever lowers k in the
guarantee and leaves the words as they were promises more than was counted. So every number in the
promise, in the name of the privacy model and in the evidence must be one of the guarantee's.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from .certificate import need

_NUMBER = re.compile(r"[0-9]+")
_NAMES = frozenset({"k", "m", "l", "h", "p"})


def check_words(certificate: Mapping[str, Any]) -> None:
    """Raise `DataError` unless the sentences are there and name no number but the guarantee's.

    Parameters
    ----------
    certificate
        The certificate, its guarantee checked.
    """
    guarantee = certificate["guarantee"]
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
    sentences: list[str] = []
    if "terms" in certificate:
        sentences.append(certificate["terms"]["privacy_model"])
    for found in certificate.get("evidence", {}).values():
        sentences += found["shown"]
    need(
        set(_NUMBER.findall(" ".join(sentences))) <= known,
        "the terms or the evidence name a number that is not the guarantee's",
    )
