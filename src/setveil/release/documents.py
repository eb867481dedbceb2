"""The documents of a release as plain values: certificate and hierarchy (public), audit and recoding.

The public ones are made from the published records, the guarantee and the method's name alone, with
losses rounded to two digits: two inputs that lead to the same release give the same public bytes. No
label that the release does not show, no exact loss, no path, no hash of the input.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from .._version import __version__
from ..errors import UsageError
from ..hierarchy.tree import Hierarchy
from ..model.guarantees import (
    Coherence,
    Guarantee,
    KAnonymity,
    KmAnonymity,
    LmDiversity,
    least_support,
)
from .header import Header
from .release import Release

if TYPE_CHECKING:
    pass

CERTIFICATE_VERSION = 2

PERSONAL = (
    "Personal data. This folder tells how the release was made from the original records; "
    "keep it as safe as those, and never publish it."
)


def _supported(most: int, kind: str, k: int) -> str:
    """Return the promise that every set of up to `most` labels of a kind is in 0 or k records.

    >>> _supported(1, "published", 5)
    'Every published label is in at least 5 records.'
    >>> _supported(3, "published", 5)
    'Every set of 1 to 3 published labels is in no record or in at least 5.'
    """
    if most == 1:
        return f"Every {kind} label is in at least {k} records."
    return f"Every set of 1 to {most} {kind} labels is in no record or in at least {k}."


def _finds(k: int) -> str:
    return f"always finds at least {k} records that fit, or none"


def _counted(number: int, noun: str) -> str:
    """Return a number with its noun.

    >>> _counted(1, "item"), _counted(2, "item")
    ('1 item', '2 items')
    """
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def promised(guarantee: Guarantee) -> list[str]:
    """Return what the guarantee promises, in plain words."""
    match guarantee:
        case KmAnonymity(k=k, m=m, negative=negative):
            if negative:
                return [
                    f"Every combination of 1 to {m} published labels, each known to be in a record or "
                    f"known not to be in it, fits no record or at least {k}.",
                    f"Whoever knows at most {_counted(m, 'thing')} about a person's record, items in "
                    f"it or items not in it, {_finds(k)}.",
                ]
            return [
                _supported(m, "published", k),
                f"Whoever knows at most {_counted(m, 'item')} of a person's record {_finds(k)}.",
            ]
        case KAnonymity(k=k):
            return [
                f"Every published record, as a set of labels, is equal to at least {k - 1} others.",
                f"Whoever knows all items of a person's record {_finds(k)}.",
            ]
        case LmDiversity(l=l, m=m):
            return [
                f"Among the records that hold any given set of 1 to {m} published labels that are not "
                f"sensitive, each sensitive label is in at most one of {l}.",
                f"Whoever knows at most {_counted(m, 'item')} not named as sensitive links a person to "
                f"a sensitive item with a share of at most 1/{l}.",
            ]
        case Coherence(h=h, k=k, p=p):
            return [
                _supported(p, "published public", k),
                f"Among the records with such a {'label' if p == 1 else 'set'}, each private label is "
                f"in at most {h} percent.",
                f"Whoever knows at most {_counted(p, 'public item')} of a person's record {_finds(k)}, "
                f"and links the person to a private item with a share of at most {h} percent.",
            ]


def not_promised(guarantee: Guarantee, unprotected: Sequence[str] = ()) -> list[str]:
    """Return what the guarantee leaves open, in plain words.

    Parameters
    ----------
    guarantee
        What is promised.
    unprotected
        The columns that are published as they are.
    """
    sentences: list[str] = []
    if unprotected:
        sentences.append(
            f"Nothing about these columns, which are published as they are: {', '.join(unprotected)}. "
            "Whoever knows values in them can single out records, whatever else is promised."
        )
    if isinstance(guarantee, KmAnonymity):
        sentences.append(
            f"Nothing against someone who knows more than {_counted(guarantee.m, 'item')} of a record: "
            "this is not k-anonymity of whole records, whatever m is."
        )
        if not guarantee.negative:
            sentences.append("Nothing against someone who knows which items are not in a record.")
    if isinstance(guarantee, Coherence):
        sentences.append(
            f"Nothing against someone who knows more than {_counted(guarantee.p, 'public item')}, a "
            "private item, or which items are not in a record."
        )
    if isinstance(guarantee, LmDiversity):
        sentences += [
            "Nothing against singling out: a record may be the only one that fits what is known.",
            f"Nothing against someone who knows more than {_counted(guarantee.m, 'item')}, a sensitive "
            "item, or which items are not in a record.",
        ]
    else:
        sentences.append(
            "Nothing against inference: what all fitting records share, or most of them, is learnt."
        )
    return [
        *sentences,
        "Nothing against linking several releases of the same or overlapping people.",
        "Nothing against reasoning about the method: which labels were generalized or left out follows "
        "from the originals, and may tell something of them.",
        "Nothing about membership: that a person is in the data may be learnt.",
    ]


def certificate(
    release: Header,
    own_part: Mapping[str, object],
    *,
    hierarchy_sha256: str,
    source_date_epoch: str | None = None,
) -> dict[str, object]:
    """Return the public certificate of a release whose audit has to say yes before it is published.

    It lacks the report, which is made from it and named in it by `with_report`.

    Parameters
    ----------
    release
        What is published.
    own_part
        What is told of a release of its kind: the data, and what is said of the promise.
    hierarchy_sha256
        The hash of ``hierarchy.csv``.
    source_date_epoch
        The date to tell, if any.
    """
    document: dict[str, object] = {
        "certificate": CERTIFICATE_VERSION,
        "tool": {"name": "setveil", "version": __version__},
        "guarantee": release.guarantee.as_dict(),
        "hierarchy": {"file": "hierarchy.csv", "sha256": hierarchy_sha256},
        "method": release.method,
        "loss": {name: float(round(loss, 2)) for name, loss in release.losses.items()},
        "verdict": {"verifier": "setveil.audit", "mode": "exact", "holds": True},
        "verify": "setveil audit <folder>",
        **own_part,
    }
    if source_date_epoch is not None:
        document["date"] = certificate_date(source_date_epoch)
    return document


def with_report(document: Mapping[str, object], *, file: str, sha256: str) -> dict[str, object]:
    """Return a certificate that names the report made from it."""
    return {**document, "report": {"file": file, "sha256": sha256}}


def banded(count: int, guarantee: Guarantee) -> int | str:
    """Return a count as it may be told: one above 0 and below k only as a band.

    >>> banded(0, KmAnonymity(5, 2)), banded(4, KmAnonymity(5, 2)), banded(5, KmAnonymity(5, 2))
    (0, '<5', 5)
    """
    least = least_support(guarantee)
    return f"<{least}" if 0 < count < least else count


def public_guarantee(release: Release) -> dict[str, object]:
    """Return the guarantee as certificates hold it: of sensitive labels those it shows."""
    plain, secrets = release.guarantee.as_dict(), release.guarantee.secrets
    if secrets is not None:
        plain[secrets] = sorted(release.guarantee.secret_labels & set(release.labels))
    return plain


def certificate_date(source_date_epoch: str) -> str:
    """Return the ISO date that SOURCE_DATE_EPOCH names; UsageError where it names none.

    >>> certificate_date("86400")
    '1970-01-02'
    """
    if not re.fullmatch("[0-9]{1,11}", source_date_epoch):
        raise UsageError(
            "SOURCE_DATE_EPOCH is not a number of seconds.", "Unset it or give digits only."
        )
    return datetime.fromtimestamp(int(source_date_epoch), UTC).date().isoformat()


def padded_paths(paths: list[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Return paths of one width: shorter ones repeat their root."""
    width = max((len(path) for path in paths), default=0)
    return [path + (path[-1],) * (width - len(path)) for path in paths]


def published_paths(tree: Hierarchy, labels: Iterable[str]) -> list[tuple[str, ...]]:
    """Return the path of each published label up to its root, sorted, padded to one width.

    Only labels at and above the cut. Of a hierarchy learned from the data only the roots are told.
    """
    paths = [tree.path(label) for label in sorted(labels)]
    if tree.private:
        paths = [path if len(path) < 3 else (path[0], path[-1]) for path in paths]
    return padded_paths(paths)


def private_paths(tree: Hierarchy) -> list[tuple[str, ...]]:
    """Return the path of each original item up to its root, sorted, padded to one width."""
    return padded_paths([tree.path(label) for label in sorted(tree.labels[: tree.n_leaves])])


def private_account(
    release: Header,
    *,
    certificate_sha256: str,
    verdict: Mapping[str, object],
    notices: tuple[str, ...],
    time: datetime,
) -> dict[str, object]:
    """Return the holder's own account of the run: exact figures, notices, a sealed input."""
    return {
        "personal_data": PERSONAL,
        "certificate_sha256": certificate_sha256,
        "tool": {"name": "setveil", "version": __version__},
        "time": time.astimezone(UTC).isoformat(timespec="seconds"),
        "guarantee": release.guarantee.as_dict(),
        "method": release.method,
        "options": dict(release.options),
        "seconds": release.seconds,
        "figures": dict(release.figures),
        "notices": list(notices),
        "verdict": dict(verdict),
        "input": release.sealed(),
        **release.account(),
    }


def private_originals(release: Header) -> dict[str, object]:
    """Return what leads from the published records back to the originals, or hides whose they are."""
    return {"personal_data": PERSONAL, **release.hidden()}
