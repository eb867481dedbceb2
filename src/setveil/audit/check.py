"""The audit's two questions: do these rows keep this promise, and does this folder keep its own?"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping

from ..errors import UsageError
from ..model.guarantees import Coherence, Guarantee, KAnonymity, KmAnonymity
from .counting import WORK_LIMIT, Effort
from .diversity import audit_coherence, audit_lm
from .hierarchy import check_apart
from .km import audit_k, audit_km, widen
from .negative import audit_negative
from .published import Published
from .reader import ReadPair, ReadRelease, named_labels, read_release
from .verdict import BucketFinding, PairFinding, Verdict

MODES = ("exact", "cover")


def audit_published(
    published: Published,
    guarantee: Guarantee,
    *,
    mode: str = "exact",
    leaves_under: Mapping[str, Collection[str]] | None = None,
    witnesses: int = 0,
    threads: int | None = None,
    work_limit: int = WORK_LIMIT,
) -> Verdict:
    """Return whether published rows keep a promise.

    Parameters
    ----------
    published
        The rows.
    guarantee
        The promise.
    mode
        "exact" counts published labels; "cover" counts leaves, a label covering all leaves under
        it. Cover is for k^m-anonymity without negative knowledge.
    leaves_under
        For cover, the leaves under each label; a label not named is a leaf itself.
    witnesses
        How many violations to return. They may point at single persons.
    threads
        How many threads to use; all available ones if None.
    work_limit
        How many steps to take before giving up with `ResourceLimit`.

    Examples
    --------
    >>> rows = Published.from_rows([["a"], ["b", "c"], ["b", "c"]])
    >>> audit_published(rows, KmAnonymity(k=2, m=2)).holds
    False
    """
    if mode not in MODES:
        raise UsageError(f"unknown mode {mode[:40]!r}.", "Known: exact, cover.")
    if isinstance(witnesses, bool) or not isinstance(witnesses, int) or witnesses < 0:
        raise UsageError("witnesses must be a whole number, 0 or more.", "Give for example 5.")
    plain_km = isinstance(guarantee, KmAnonymity) and not guarantee.negative
    if mode == "cover" and not plain_km:
        raise UsageError(
            "cover is a reading of k^m-anonymity without negative knowledge.", "Use mode exact."
        )
    effort = Effort(witnesses, threads, work_limit)
    if isinstance(guarantee, KAnonymity):
        return audit_k(published, guarantee, effort)
    if isinstance(guarantee, Coherence):
        return audit_coherence(published, guarantee, effort)
    if not isinstance(guarantee, KmAnonymity):
        return audit_lm(published, guarantee, effort)
    if guarantee.negative:
        return audit_negative(published, guarantee, effort)
    counted = widen(published, leaves_under or {}) if mode == "cover" else published
    return audit_km(counted, guarantee, effort, mode=mode)


def audit_folder(
    path: str | os.PathLike[str],
    guarantee: Guarantee | None = None,
    *,
    mode: str = "exact",
    witnesses: int = 0,
    threads: int | None = None,
    work_limit: int = WORK_LIMIT,
) -> Verdict | BucketFinding | PairFinding:
    """Read a release folder, check everything in it, and count.

    Parameters
    ----------
    path
        The folder.
    guarantee
        Another promise than the one that the folder makes.
    mode, witnesses, threads, work_limit
        As in `audit_published`. For cover the leaves are those the published hierarchy tells.
    """
    if mode not in MODES:
        raise UsageError(f"unknown mode {mode[:40]!r}.", "Known: exact, cover.")
    release = read_release(path)
    if isinstance(release, ReadRelease):
        if guarantee is not None:
            check_apart(release.hierarchy, named_labels(guarantee))
        verdict = audit_published(
            release.published,
            release.guarantee if guarantee is None else guarantee,
            mode=mode,
            leaves_under=release.hierarchy.leaves_under() if mode == "cover" else None,
            witnesses=witnesses,
            threads=threads,
            work_limit=work_limit,
        )
        return verdict.leaving_out(release.uncovered)
    own = guarantee is None and mode == "exact"
    if isinstance(release, ReadPair):
        if not own:
            raise UsageError(
                "two data sets are judged by their own promise, and have no other reading.",
                "Leave the guarantee and the mode out.",
            )
        from .patterns import audit_pair

        return audit_pair(
            *release.sides,
            release.guarantee,
            paths=release.hierarchy.path_of_label,
            witnesses=witnesses,
            threads=threads,
            work_limit=work_limit,
        )
    if not own:
        raise UsageError(
            "a table in buckets is judged by its own promise, and has no other reading.",
            "Leave the guarantee and the mode out.",
        )
    from .buckets import audit_buckets

    return audit_buckets(
        release.tables,
        release.guarantee,
        rules=release.rules,
        paths=release.paths,
        complete=release.complete,
    )
