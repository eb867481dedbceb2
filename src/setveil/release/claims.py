"""What is said of a guarantee in public documents: promised, not promised, terms and evidence.

ISO/IEC 20889:2018 names techniques of de-identification and formal privacy models; `Claims.terms` says
which of them were used. *Singling out*, *linkability* and *inference* are the three questions that data
protection authorities ask of published data; `Claims.evidence` says for each what was verified here
and what nobody has shown. All of it is made of what the certificate tells anyway, so it tells nothing
more. None of it says that data are anonymous in the sense of a law.

Each guarantee has a function, `of_` and its name in certificates: those of sets here, the others in
`other_claims`. The audit expects what is said in words of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module

from ..model.guarantees import Coherence, Guarantee, KAnonymity, KmAnonymity, LmDiversity, Promise
from ..model.numbers import plural

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

SUPPRESSES_ONLY = frozenset({"mm"})
"""Methods that publish an item as itself or not at all."""
SEVERAL = (
    "Several releases of the same or overlapping people can be linked: two crowds may have one record "
    "in common."
)
INFERENCE = "Nothing against inference: what all fitting records share, or most of them, is learnt."
COMMON = "hat all fitting records have in common, or most of them, is learnt about a person."
IN_GENERAL = "How items go together in general is learnt, and applies to people outside the data too."
ABSENT = "Whoever knows what is not in a record may find a single record."

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


def up_to(most: int, noun: str) -> str:
    """Return a number of things at most.

    >>> up_to(1, "item"), up_to(2, "item")
    ('1 item', 'up to 2 items')
    """
    return f"1 {noun}" if most == 1 else f"up to {most} {noun}s"


def at_most(most: int, noun: str) -> str:
    """Return the same for a sentence about whoever knows at most so many, or more."""
    return f"{most} {plural(most, noun)}"


def supported(most: int, kind: str, k: int) -> str:
    """Return the promise that every set of up to `most` labels of a kind is in 0 or k records.

    >>> supported(1, "published", 5)
    'Every published label is in at least 5 records.'
    >>> supported(3, "published", 5)
    'Every set of 1 to 3 published labels is in no record or in at least 5.'
    """
    if most == 1:
        return f"Every {kind} label is in at least {k} records."
    return f"Every set of 1 to {most} {kind} labels is in no record or in at least {k}."


def finds(k: int) -> str:
    """Return what somebody finds who looks for a person."""
    return f"always finds at least {k} records that fit, or none"


def of_km(guarantee: KmAnonymity, facts: Facts) -> Claims:
    """Return what is said of k^m-anonymity, with negative knowledge or without."""
    k, m, signed = guarantee.k, guarantee.m, guarantee.signed
    either = ", present or absent," if signed else ""
    promised = [
        supported(m, "published", k),
        f"Whoever knows at most {at_most(m, 'item')} of a person's record {finds(k)}.",
    ]
    if signed:
        promised = [
            f"Every combination of 1 to {m} published labels, each known to be in a record or known "
            f"not to be in it, fits no record or at least {k}.",
            f"Whoever knows at most {at_most(m, 'thing')} about a person's record, items in it or "
            f"items not in it, {finds(k)}.",
        ]
    open_ends = [
        f"Nothing against someone who knows more than {at_most(m, 'item')} of a record: this is not "
        "k-anonymity of whole records, whatever m is.",
        *([] if signed else ["Nothing against someone who knows which items are not in a record."]),
        INFERENCE,
    ]
    model = (
        f"K-anonymity model, as k^m-anonymity for set-valued data: k = {k} for every combination of up "
        f"to m = {m} items{either} taken as quasi-identifier."
    )
    alone, linked = in_a_crowd(guarantee, m, up_to(m, "item") + either, [] if signed else [ABSENT])
    broken = f"would fit fewer than {k} records"
    return said(facts, promised, open_ends, model, broken, alone, linked)


def of_k(guarantee: KAnonymity, facts: Facts) -> Claims:
    """Return what is said of k-anonymity of whole records."""
    least = guarantee.k
    return said(
        facts,
        promised=[
            f"Every published record, as a set of labels, is equal to at least {least - 1} others.",
            f"Whoever knows all items of a person's record {finds(least)}.",
        ],
        open_ends=[INFERENCE],
        privacy_model=f"K-anonymity model: k = {least}, with the whole record taken as "
        "quasi-identifier.",
        broken=f"would have fewer than {least} records",
        singling_out=(
            [f"Every published record is the same as at least {least - 1} others, so none is alone."],
            ["That a person is in the data at all may be learnt."],
        ),
        linkability=(
            [f"By its labels, a record of another data set fits none here or at least {least}."],
            [SEVERAL],
        ),
    )


def of_lm(guarantee: LmDiversity, facts: Facts) -> Claims:
    """Return what is said of l^m-diversity."""
    share, m = guarantee.l, guarantee.m
    return said(
        facts,
        promised=[
            f"Among the records that hold any given set of 1 to {m} published labels that are not "
            f"sensitive, each sensitive label is in at most one of {share}.",
            f"Whoever knows at most {at_most(m, 'item')} not named as sensitive links a person to a "
            f"sensitive item with a share of at most 1/{share}.",
        ],
        open_ends=[
            "Nothing against singling out: a record may be the only one that fits what is known.",
            f"Nothing against someone who knows more than {at_most(m, 'item')}, a sensitive item, or "
            "which items are not in a record.",
        ],
        privacy_model="L-diversity, a refinement of the K-anonymity model, as l^m-diversity for "
        f"set-valued data: l = {share} for every combination of up to m = {m} items that are not "
        "sensitive.",
        broken=f"would point at a sensitive item in more than one of {share} records",
        singling_out=([], [ALONE]),
        linkability=([], ["A record of another data set may fit a single one here.", SEVERAL]),
        inference=(
            [
                f"Among the records that fit {up_to(m, 'item')} not named as sensitive, each sensitive "
                f"item is in at most one of {share}."
            ],
            [f"Of items that are not named as sensitive: w{COMMON}", IN_GENERAL],
        ),
    )


def of_coherence(guarantee: Coherence, facts: Facts) -> Claims:
    """Return what is said of (h, k, p)-coherence."""
    h, least, p = guarantee.h, guarantee.k, guarantee.p
    private = "Whoever knows a private item of a record may find a single record."
    alone, linked = in_a_crowd(guarantee, p, up_to(p, "public item"), [private, ABSENT])
    linking = (
        [
            f"Among the records that fit {up_to(p, 'public item')}, each private item is in at most "
            f"{h} percent."
        ],
        [f"Of public items: w{COMMON}", IN_GENERAL],
    )
    return said(
        facts,
        promised=[
            supported(p, "published public", least),
            f"Among the records with such a {'label' if p == 1 else 'set'}, each private label is in "
            f"at most {h} percent.",
            f"Whoever knows at most {at_most(p, 'public item')} of a person's record {finds(least)}, "
            f"and links the person to a private item with a share of at most {h} percent.",
        ],
        open_ends=[
            f"Nothing against someone who knows more than {at_most(p, 'public item')}, a private item, "
            "or which items are not in a record.",
            INFERENCE,
        ],
        privacy_model="K-anonymity model with a limit on attribute disclosure, as (h, k, p)-coherence "
        f"for set-valued data: k = {least} and h = {h} percent for every combination of up to p = {p} "
        "public items.",
        broken=f"would fit fewer than {least} records, or point at a private item in over {h} percent",
        singling_out=alone,
        linkability=linked,
        inference=linking if facts.secrets_shown else None,
    )


def in_a_crowd(guarantee: Guarantee, most: int, known: str, beyond: list[str]) -> tuple[Found, Found]:
    """Return what is shown of singling out and of linking where a crowd fits all that is known.

    An attacker is assumed to know at `most` so many items, in words `known`; those `beyond` know
    something else.
    """
    crowd = guarantee.crowd
    looked_for = (
        f"Whoever looks for a record by {known} finds none or at least {crowd}. All combinations that "
        "occur were counted."
    )
    linked = f"A record of another data set that tells {known} of a person fits none here or at least "
    return (
        ([looked_for], [f"Whoever knows more than {most} may find a single record.", *beyond]),
        (
            [f"{linked}{crowd}."],
            [f"One that tells more than {most} may fit a single record here.", SEVERAL],
        ),
    )


def said(
    facts: Facts,
    promised: list[str],
    open_ends: list[str],
    privacy_model: str,
    broken: str,
    singling_out: Found,
    linkability: Found,
    inference: Found | None = None,
) -> Claims:
    """Return the claims of a promise about sets, with what is the same for all of them.

    `open_ends` are what this guarantee leaves open and others may not; of inference nothing is shown
    unless told.
    """
    found = (singling_out, linkability, inference or ([], [f"W{COMMON}", IN_GENERAL]))
    open_columns: list[str] = []
    if facts.unprotected:
        columns = "the columns that are published as they are"
        for (_, not_shown), sentence in zip(
            found,
            (
                f"Whoever knows values in {columns} may find a single record.",
                f"Other data with the values in {columns} can be linked record by record.",
                f"What {columns} say about a record is told as it is.",
            ),
            strict=True,
        ):
            not_shown.insert(0, sentence)
        open_columns = [
            "Nothing about these columns, which are published as they are: "
            f"{', '.join(facts.unprotected)}. Whoever knows values in them can single out records, "
            "whatever else is promised."
        ]
    not_promised = [
        *open_columns,
        *open_ends,
        SEVERAL_RELEASES,
        "Nothing against reasoning about the method: which labels were generalized or left out follows "
        "from the originals, and may tell something of them.",
        "Nothing about membership: that a person is in the data may be learnt.",
    ]
    missing = " That a label is missing says nothing." if facts.values_left_out else ""
    return Claims(
        promised,
        not_promised,
        techniques_of(facts),
        privacy_model,
        *found,
        TRUE_IN_FEWER_WORDS + missing,
        broken,
    )


def techniques_of(facts: Facts) -> list[str]:
    """Return the techniques of de-identification that were used."""
    local = (
        "Local generalization (local recoding): an item is published as itself or as a category above "
        "it, not always the same in every record."
    )
    everywhere = (
        "Generalization (global recoding): an item is published as itself or as a category above it, "
        "the same in every record."
    )
    cells = "Suppression at the level of cells: some items are left out of every record that held them."
    records = (
        "Suppression at the level of records: some records are not published, because all their items "
        "were left out."
    )
    return [
        *([] if facts.method in SUPPRESSES_ONLY else [local if facts.local else everywhere]),
        *([cells] if facts.values_left_out else []),
        *([records] if facts.records_left_out else []),
        MASKING.format("the ids of records and columns"),
    ]


def claims_of(guarantee: Promise, facts: Facts | None = None) -> Claims:
    """Return what is to be said of a guarantee.

    >>> from setveil.model.guarantees import KAnonymity
    >>> claims_of(KAnonymity(k=3)).promised[1]
    "Whoever knows all items of a person's record always finds at least 3 records that fit, or none."
    """
    name = f"of_{guarantee.model}"
    say = globals().get(name) or getattr(import_module(".other_claims", __package__), name)
    claims: Claims = say(guarantee, facts or Facts())
    return claims
