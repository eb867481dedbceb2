"""What a release shows and what it does not, in the words of others: ISO/IEC 20889 and three questions.

ISO/IEC 20889:2018 names techniques of de-identification and formal privacy models; `terms` says which
of them were used. *Singling out*, *linkability* and *inference* are the three questions that data
protection authorities ask of published data; `evidence` says for each what was verified here and
what nobody has shown. Both are made of what the certificate tells anyway, so they tell nothing more.
None of it says that data are anonymous in the sense of a law.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..model.guarantees import Coherence, Guarantee, KAnonymity, KmAnonymity, LmDiversity

STANDARD = "ISO/IEC 20889:2018"
SUPPRESSES_ONLY = frozenset({"mm"})
"""Methods that publish an item as itself or not at all."""
CRITERIA = ("singling_out", "linkability", "inference")


def terms(
    guarantee: Guarantee, *, method: str, local: bool, values_left_out: bool, records_left_out: bool
) -> dict[str, object]:
    """Return the techniques and the privacy model in the terms of ISO/IEC 20889.

    Parameters
    ----------
    guarantee
        What is promised.
    method
        The method's key.
    local
        Whether an item may be published under different labels in different records.
    values_left_out, records_left_out
        Whether items and records are missing from the release.
    """
    techniques: list[str] = []
    if method not in SUPPRESSES_ONLY:
        techniques.append(
            "Local generalization (local recoding): an item is published as itself or as a category "
            "above it, not always the same in every record."
            if local
            else "Generalization (global recoding): an item is published as itself or as a category "
            "above it, the same in every record."
        )
    if values_left_out:
        techniques.append(
            "Suppression at the level of cells: some items are left out of every record that held them."
        )
    if records_left_out:
        techniques.append(
            "Suppression at the level of records: some records are not published, because all their "
            "items were left out."
        )
    techniques.append(
        "Suppression at the level of attributes (masking): the ids of records and columns that were "
        "not declared are not published."
    )
    return {
        "standard": STANDARD,
        "techniques": techniques,
        "privacy_model": _privacy_model(guarantee),
        "truthfulness": "Data truthfulness at the record level is kept: what a published record says "
        "is true of its original, in fewer words. That a label is missing says nothing."
        if values_left_out
        else "Data truthfulness at the record level is kept: what a published record says is true of "
        "its original, in fewer words.",
    }


def _privacy_model(guarantee: Guarantee) -> str:
    match guarantee:
        case KmAnonymity(k=k, m=m, negative=negative):
            signed = ", present or absent," if negative else ""
            return (
                f"K-anonymity model, as k^m-anonymity for set-valued data: k = {k} for every "
                f"combination of up to m = {m} items{signed} taken as quasi-identifier."
            )
        case KAnonymity(k=k):
            return f"K-anonymity model: k = {k}, with the whole record taken as quasi-identifier."
        case LmDiversity(l=l, m=m):
            return (
                f"L-diversity, a refinement of the K-anonymity model, as l^m-diversity for set-valued "
                f"data: l = {l} for every combination of up to m = {m} items that are not sensitive."
            )
        case Coherence(h=h, k=k, p=p):
            return (
                f"K-anonymity model with a limit on attribute disclosure, as (h, k, p)-coherence for "
                f"set-valued data: k = {k} and h = {h} percent for every combination of up to p = {p} "
                "public items."
            )


def evidence(
    guarantee: Guarantee, *, unprotected: Sequence[str] = (), private: bool = False
) -> dict[str, dict[str, list[str]]]:
    """Return, for each of `CRITERIA`, what is shown and what is not.

    Parameters
    ----------
    guarantee
        What is promised.
    unprotected
        The columns that are published as they are.
    private
        For coherence, whether the release names private items.

    >>> list(evidence(KAnonymity(k=3))["singling_out"])
    ['shown', 'not_shown']
    """
    found = {
        "singling_out": _singling_out(guarantee),
        "linkability": _linkability(guarantee),
        "inference": _inference(guarantee, private=private),
    }
    if unprotected:
        columns = "the columns that are published as they are"
        open_by_criterion = {
            "singling_out": f"Whoever knows values in {columns} may find a single record.",
            "linkability": f"Other data with the values in {columns} can be linked record by record.",
            "inference": f"What {columns} say about a record is told as it is.",
        }
        for criterion, sentence in open_by_criterion.items():
            found[criterion][1].insert(0, sentence)
    return {
        criterion: {"shown": shown, "not_shown": not_shown}
        for criterion, (shown, not_shown) in found.items()
    }


def _known(guarantee: KmAnonymity | Coherence) -> tuple[int, str]:
    """Return how much an attacker is assumed to know: how many items, and in words."""
    if isinstance(guarantee, Coherence):
        return guarantee.p, _up_to(guarantee.p, "public item")
    signed = ", present or absent," if guarantee.negative else ""
    return guarantee.m, _up_to(guarantee.m, "item") + signed


def _up_to(most: int, noun: str) -> str:
    """Return a number of things at most.

    >>> _up_to(1, "item"), _up_to(2, "item")
    ('1 item', 'up to 2 items')
    """
    return f"1 {noun}" if most == 1 else f"up to {most} {noun}s"


def _singling_out(guarantee: Guarantee) -> tuple[list[str], list[str]]:
    match guarantee:
        case KAnonymity(k=k):
            return (
                [f"Every published record is the same as at least {k - 1} others, so none is alone."],
                ["That a person is in the data at all may be learnt."],
            )
        case LmDiversity():
            return ([], ["A record may be the only one that fits what somebody knows."])
        case KmAnonymity() | Coherence():
            most, known = _known(guarantee)
            shown = [
                f"Whoever looks for a record by {known} finds none or at least {guarantee.k}. All "
                "combinations that occur were counted."
            ]
            left = [f"Whoever knows more than {most} may find a single record."]
            if isinstance(guarantee, Coherence):
                left.append("Whoever knows a private item of a record may find a single record.")
            if isinstance(guarantee, Coherence) or not guarantee.negative:
                left.append("Whoever knows what is not in a record may find a single record.")
            return shown, left


def _linkability(guarantee: Guarantee) -> tuple[list[str], list[str]]:
    several = (
        "Several releases of the same or overlapping people can be linked: two crowds may have one "
        "record in common."
    )
    match guarantee:
        case KAnonymity(k=k):
            return (
                [f"By its labels, a record of another data set fits none here or at least {k}."],
                [several],
            )
        case LmDiversity():
            return ([], ["A record of another data set may fit a single one here.", several])
        case KmAnonymity() | Coherence():
            most, known = _known(guarantee)
            return (
                [
                    f"A record of another data set that tells {known} of a person fits none "
                    f"here or at least {guarantee.k}."
                ],
                [f"One that tells more than {most} may fit a single record here.", several],
            )


def _inference(guarantee: Guarantee, *, private: bool) -> tuple[list[str], list[str]]:
    common = "What all fitting records have in common, or most of them, is learnt about a person."
    general = "How items go together in general is learnt, and applies to people outside the data too."
    match guarantee:
        case LmDiversity(l=l, m=m):
            return (
                [
                    f"Among the records that fit {_up_to(m, 'item')} not named as sensitive, each "
                    f"sensitive item is in at most one of {l}."
                ],
                [f"Of items that are not named as sensitive: {common[0].lower()}{common[1:]}", general],
            )
        case Coherence(h=h, p=p) if private:
            return (
                [
                    f"Among the records that fit {_up_to(p, 'public item')}, each private item is in "
                    f"at most {h} percent."
                ],
                [f"Of public items: {common[0].lower()}{common[1:]}", general],
            )
        case _:
            return ([], [common, general])
