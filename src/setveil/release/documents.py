"""The public documents of a release as plain values: the certificate and the hierarchy.

They are made from the published records, the guarantee and the method's name alone, with
losses rounded to two digits: two inputs that lead to the same release give the same public bytes. No
label that the release does not show, no exact loss, no path, no hash of the input.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime

from .._version import __version__
from ..errors import UsageError
from ..hierarchy.tree import Hierarchy
from .header import Header
from .release import Release

CERTIFICATE_VERSION = 2

PERSONAL = (
    "Personal data. This folder tells how the release was made from the original records; "
    "keep it as safe as those, and never publish it."
)


def certificate(
    release: Header,
    own_part: Mapping[str, object],
    *,
    hierarchy_sha256: str,
    source_date_epoch: str | None = None,
) -> dict[str, object]:
    """Return the public certificate of a release whose audit has to say yes before it is published.

    `own_part` is what is told of a release of its kind alone: the data, and what is said of the
    promise. The report is lacking, which is made from it; `publish` names it in it.
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


def banded(count: int, least: int) -> int | str:
    """Return a count as it may be told: one above 0 and below `least` only as a band.

    >>> banded(0, 5), banded(4, 5), banded(5, 5)
    (0, '<5', 5)
    """
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
