"""What is said of a guarantee in public documents: promised, not promised, terms and evidence.

ISO/IEC 20889:2018 names techniques of de-identification and formal privacy models; `Claims.terms` says
which of them were used. *Singling out*, *linkability* and *inference* are the three questions that data
protection authorities ask of published data; `Claims.evidence` says for each what was verified here
and what nobody has shown. All of it is made of what the certificate tells anyway, so it tells nothing
more. None of it says that data are anonymous in the sense of a law.

Each guarantee has a function here, in the module of its kind: `sets`, `buckets` or `pairs`. The audit
expects what is said in words of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from ...model.guarantees import Promise

STANDARD = "ISO/IEC 20889:2018"
MASKING = (
    "Suppression at the level of attributes (masking): {} that were not declared are not published."
)
TRUE_IN_FEWER_WORDS = (
    "Data truthfulness at the record level is kept: what a published record says is true of its "
    "original, in fewer words."
)
ALONE = "A record may be the only one that fits what somebody knows."
SEVERAL_RELEASES = "Nothing against linking several releases of the same or overlapping people."

Found = tuple[list[str], list[str]]
"""What is shown, and what is not."""


@dataclass(frozen=True)
class Facts:
    """What sentences depend on beside the guarantee; all of it is told in the certificate."""

    method: str = ""
    local: bool = False
    """Whether an item may be published under different labels in different records."""
    values_left_out: bool = False
    records_left_out: bool = False
    """Whether records are missing; of buckets, whether some may be."""
    unprotected: tuple[str, ...] = ()
    """Columns that are published as they are."""
    secrets_shown: bool = False
    """Whether the release holds labels that are to be kept secret."""
    complete: bool = False
    """Of rules, whether it is told from where on none is missing that holds."""
    classes: bool = False
    """Of two data sets, whether a column of classes told them apart."""


@dataclass(frozen=True)
class Claims:
    """What is said of one guarantee, in plain sentences."""

    promised: list[str]
    not_promised: list[str]
    techniques: list[str]
    privacy_model: str
    singling_out: Found
    linkability: Found
    inference: Found
    truthfulness: str = TRUE_IN_FEWER_WORDS
    broken: str = ""
    """Of sets, what is wrong with a combination that breaks the promise."""

    def as_dict(self) -> dict[str, object]:
        """Return what a certificate says."""
        return {
            "promised": self.promised,
            "not_promised": self.not_promised,
            "terms": self.terms,
            "evidence": self.evidence,
        }

    @property
    def terms(self) -> dict[str, object]:
        """The techniques and the privacy model in the terms of ISO/IEC 20889."""
        return {
            "standard": STANDARD,
            "techniques": self.techniques,
            "privacy_model": self.privacy_model,
            "truthfulness": self.truthfulness,
        }

    @property
    def evidence(self) -> dict[str, dict[str, list[str]]]:
        """For singling out, linkability and inference what is shown and what is not."""
        return {
            criterion: {"shown": shown, "not_shown": not_shown}
            for criterion, (shown, not_shown) in (
                ("singling_out", self.singling_out),
                ("linkability", self.linkability),
                ("inference", self.inference),
            )
        }


def claims_of(guarantee: Promise, facts: Facts | None = None) -> Claims:
    """Return what is to be said of a guarantee.

    >>> from setveil.model.guarantees import KAnonymity
    >>> claims_of(KAnonymity(k=3)).promised[1]
    "Whoever knows all items of a person's record always finds at least 3 records that fit, or none."
    """
    say: Callable[[Any, Facts], Claims] = import_module(f".{guarantee.kind}", __package__).CLAIMS[
        guarantee.model
    ]
    return say(guarantee, facts or Facts())
