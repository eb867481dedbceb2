"""A release read back from its folder and its private twin: what `anonymize` returned, once more.

The public folder holds the published records; the private one tells how they were made. Together they
are a `Release`. What they say is compared wherever one part follows from another, so that a damaged,
mixed or forged folder is refused and not measured or explained.

The original records are not in either folder. Who has them hands them over: they are taken if the
sealed hash confirms them. The seal is over the records as they were read, so they must be read with the
same options (columns, separators, what is missing). Their order does not matter, nor do columns that
were published as they are: a second hash, over the records in canonical order, confirms them too. The
records of a `Release` are counted in canonical order anyway.
"""

from __future__ import annotations

import hmac
import re
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .api import as_transactions
from .arguments import checked
from .editions import StrPath
from .errors import HierarchyError, UsageError
from .hierarchy.tree import DOMAINS, Hierarchy
from .io.folder.ownership import AUDIT, HIERARCHY, RECODING, holds_pair
from .io.folder.published import read_published
from .io.folder.twin import PrivateTwin, read_twin
from .model.costs import COST_NAMES, WEIGHTED
from .model.guarantees import LARGEST, Guarantee, guarantee_from_dict
from .model.transactions import Transactions, bind, canonical_order
from .progress import Watch
from .release.apply import BeforeAfter, published_rows
from .release.header import ObjectiveValue, Seal
from .release.pair_release import PairRelease
from .release.recoding import Recoding
from .release.release import Release
from .release.sealing import digest_as_read, digest_of_records
from .twin_account import notices_of

_RATIO = re.compile(r"([0-9]{1,4000})/([0-9]{1,4000})")
_HEX = re.compile(r"[0-9a-f]{64}")


@checked()
def read_release(
    path: StrPath, original: Any = None, *, watch: Watch | None = None
) -> Release | PairRelease:
    """Return the release in a folder, with all that its private twin knows.

    Parameters
    ----------
    path
        The public folder; ``<path>.private`` must lie beside it.
    original
        The data the release was made from, read with the same options as then; in any order. Of two
        data sets the private twin holds them: leave it out.
    watch
        Progress listener and cancel switch.

    Raises
    ------
    FileSystemError
        If a folder or a file is not there or cannot be read.
    DataError
        If what is there is damaged, or the two folders do not belong together.
    UsageError
        If `original` is not what the release was made from.
    """
    if not holds_pair(path):
        return read_set_release(path, original, watch=watch)
    if original is not None:
        raise UsageError(
            "the private folder holds the originals of two data sets.", "Leave the original out."
        )
    from .reopen_pair import read_pair_release

    return read_pair_release(path, watch=watch)


def read_set_release(path: StrPath, original: Any = None, *, watch: Watch | None = None) -> Release:
    """Return the release of one data set in a folder, with all that its private twin knows.

    Parameters
    ----------
    path
        The public folder; ``<path>.private`` must lie beside it.
    original
        The data the release was made from, read with the same options as then; in any order. They
        become the release's `rows` once the sealed hash has confirmed them.
    watch
        Progress listener and cancel switch.

    Raises
    ------
    FileSystemError
        If a folder or a file is not there or cannot be read.
    DataError
        If what is there is damaged, or the two folders do not belong together.
    UsageError
        If `original` is not what the release was made from.
    """
    watch = watch or Watch()
    watch.tick("reading the release", None)
    published, certificate = read_published(path)
    watch.tick("reading its private twin", None)
    twin = read_twin(path)
    release = _reopened(published, certificate, twin)
    if original is None:
        return release
    watch.tick("confirming the original", None)
    return with_original(release, as_transactions(original), twin)


def with_original(release: Release, original: Transactions, twin: PrivateTwin) -> Release:
    """Return the release with the records it was made from; `UsageError` where these are not they."""
    if release.seal is None:
        raise UsageError(
            "this release holds no seal of its input, so no file can be confirmed as the original.",
            "It was made from another release; use the original of that one.",
            code="no-seal",
        )
    key = bytes.fromhex(release.seal.key)
    told = _mapping(twin, AUDIT, twin.audit, "input").get("records_hmac_sha256")
    alike = hmac.compare_digest(digest_as_read(original, key), release.seal.digest)
    if not alike and isinstance(told, str) and told.isascii():
        alike = hmac.compare_digest(digest_of_records(original, key), told)
    if not alike:
        raise UsageError(
            "these are not the data the release was made from.",
            "Give the same file, and read it with the same options as then (columns, separators, "
            "counts, missing values).",
            code="other-data",
        )
    ordered = original.take(canonical_order(original))
    restricted, rows = bind(ordered, release.hierarchy)
    dropped = tuple(BeforeAfter(release.recoding, rows).left_empty.tolist())
    again = published_rows(release.recoding, rows)
    if release.dropped:
        again = again.take(np.flatnonzero(again.length_by_record))
    if (
        restricted.labels != release.hierarchy.labels
        or (release.dropped and len(release.dropped) != len(dropped))
        or not _same(again, release.published)
    ):
        raise twin.refusal(RECODING, "does not lead from the original to the published records")
    return replace(release, rows=rows, dropped=dropped if release.dropped else ())


def _same(one: Transactions, other: Transactions) -> bool:
    return (
        one.vocabulary.labels == other.vocabulary.labels
        and np.array_equal(one.indptr, other.indptr)
        and np.array_equal(one.items, other.items)
    )


def _reopened(published: Transactions, certificate: Mapping[str, Any], twin: PrivateTwin) -> Release:
    """Return the release that folder and twin describe, after comparing what they say."""
    audit = twin.audit
    published = published.take(canonical_order(published))
    hierarchy = _hierarchy(twin)
    guarantee = _guarantee(twin, certificate)
    dropped = _dropped(twin, len(published))
    recoding = _recoding(twin, hierarchy, len(published) + len(dropped))
    method, complete = audit.get("method"), audit.get("complete")
    if hierarchy.domain != certificate.get("domain", "used"):
        raise twin.refusal(AUDIT, "tells another domain than the certificate")
    if not isinstance(method, str) or method != certificate.get("method"):
        raise twin.refusal(AUDIT, "names another method than the certificate")
    if _count(twin, "records") != len(published):
        raise twin.refusal(AUDIT, "tells another number of records than the release has")
    if _count(twin, "items") != hierarchy.n_leaves:
        raise twin.refusal(AUDIT, "tells another number of items than its hierarchy has")
    shown = {hierarchy.labels[node] for node in np.unique(recoding.nodes).tolist()}
    labels = set(published.vocabulary.labels)
    if labels - shown or (recoding.is_global and labels != shown):
        raise twin.refusal(RECODING, "publishes other labels than the release shows")
    suppressed_items, suppressed = (
        _count(twin, "suppressed_items"),
        _count(twin, "suppressed_occurrences"),
    )
    if recoding.is_global and suppressed_items != int((recoding.node_of_leaf() < 0).sum()):
        raise twin.refusal(AUDIT, "tells another number of items left out than the recoding")
    if not isinstance(complete, bool):
        raise twin.refusal(AUDIT, "does not tell whether the run was complete")
    seconds = audit.get("seconds")
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not seconds >= 0:
        raise twin.refusal(AUDIT, "does not tell how long the run took")
    occurrences = _count(twin, "occurrences")
    return Release(
        published=published,
        guarantee=guarantee,
        method=method,
        recoding=recoding,
        hierarchy=hierarchy,
        losses=_losses(twin),
        seconds=float(seconds),
        items=hierarchy.n_leaves,
        occurrences=occurrences,
        unchanged=_count(twin, "unchanged"),
        options=_scalars(twin, "options"),
        objective=_objective(twin),
        layout=published.layout,
        notices=notices_of(twin),
        figures=_scalars(twin, "figures"),
        complete=complete,
        seal=_seal(twin),
        suppressed_items=suppressed_items,
        suppressed=suppressed,
        dropped=dropped,
        count_by_leaf=_counts(twin, hierarchy, occurrences),
    )


def _mapping(twin: PrivateTwin, file: str, plain: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = plain.get(name)
    if not isinstance(found, dict):
        raise twin.refusal(file, f"does not hold {name!r} as it must be")
    return found


def _labels(twin: PrivateTwin, found: object, what: str) -> list[str]:
    if not isinstance(found, list) or not all(isinstance(label, str) for label in found):
        raise twin.refusal(RECODING, f"does not hold {what} as it must be")
    return found


def _count(twin: PrivateTwin, name: str) -> int:
    found = twin.audit.get(name)
    if isinstance(found, bool) or not isinstance(found, int) or not 0 <= found < 2**62:
        raise twin.refusal(AUDIT, f"does not hold {name!r} as a number")
    return found


def _scalars(twin: PrivateTwin, name: str) -> dict[str, Any]:
    found = _mapping(twin, AUDIT, twin.audit, name)
    if not all(
        value is None or isinstance(value, int | float | str | bool) for value in found.values()
    ):
        raise twin.refusal(AUDIT, f"holds {name!r} that are no plain values")
    return dict(found)


def _ratio(twin: PrivateTwin, text: object, name: str) -> Fraction:
    found = _RATIO.fullmatch(text) if isinstance(text, str) else None
    if found is None or not int(found[2]) or int(found[1]) > int(found[2]):
        raise twin.refusal(AUDIT, f"does not hold {name!r} as an exact share")
    return Fraction(int(found[1]), int(found[2]))


def _losses(twin: PrivateTwin) -> dict[str, Fraction]:
    plain = _mapping(twin, AUDIT, twin.audit, "loss")
    if not set(plain) <= set(COST_NAMES):
        raise twin.refusal(AUDIT, "tells a loss that is not known")
    return {
        name: _ratio(twin, _mapping(twin, AUDIT, plain, name).get("exact"), name)
        for name in COST_NAMES
        if name in plain
    }


def _objective(twin: PrivateTwin) -> ObjectiveValue | None:
    if twin.audit.get("objective") is None:
        return None
    plain = _mapping(twin, AUDIT, twin.audit, "objective")
    exact = _mapping(twin, AUDIT, plain, "exact")
    name, proven, bound = plain.get("name"), plain.get("proven"), exact.get("bound")
    if not isinstance(name, str) or not isinstance(proven, bool):
        raise twin.refusal(AUDIT, "does not tell what was minimized")
    value = _ratio(twin, exact.get("value"), "objective")
    certified = bound is None or plain.get("certified") is True
    return ObjectiveValue(
        _weighted_name(twin, name, value),
        value,
        None if bound is None else _ratio(twin, bound, "bound"),
        proven,
        certified,
    )


def _weighted_name(twin: PrivateTwin, name: str, value: Fraction) -> str:
    """Return what was minimized; older folders name the weighted loss like the plain one."""
    return f"{WEIGHTED}{name}" if _losses(twin).get(name, value) != value else name


def _seal(twin: PrivateTwin) -> Seal | None:
    if twin.audit.get("input") is None:
        return None
    plain = _mapping(twin, AUDIT, twin.audit, "input")
    key, digest = plain.get("key"), plain.get("hmac_sha256")
    if not all(isinstance(text, str) and _HEX.fullmatch(text) for text in (key, digest)):
        raise twin.refusal(AUDIT, "holds a broken seal")
    return Seal(str(key), str(digest))


def _guarantee(twin: PrivateTwin, certificate: Mapping[str, Any]) -> Guarantee:
    plain = _mapping(twin, AUDIT, twin.audit, "guarantee")
    try:
        guarantee = guarantee_from_dict(plain)
    except UsageError as error:
        what = error.problems[0].what.rstrip(".")
        raise twin.refusal(AUDIT, f"names no guarantee: {what}") from None
    # Of sensitive labels the certificate names those alone that the release shows.
    public: Mapping[str, Any] = certificate["guarantee"]
    for name, value in guarantee.as_dict().items():
        told = public.get(name)
        fits = set(told or ()) <= set(value) if isinstance(value, list) else told == value
        if not fits:
            raise twin.refusal(AUDIT, "names another guarantee than the certificate")
    return guarantee


def _hierarchy(twin: PrivateTwin) -> Hierarchy:
    private = twin.audit.get("learned_hierarchy")
    if not isinstance(private, bool):
        raise twin.refusal(AUDIT, "does not tell whether the hierarchy was learned")
    domain = twin.audit.get("domain", "used")  # twins of earlier versions do not tell it
    if domain not in DOMAINS:
        raise twin.refusal(AUDIT, "does not tell which items the loss counts")
    try:
        hierarchy = Hierarchy.from_paths(twin.paths, private=private)
    except HierarchyError as error:
        what = error.problems[0].what.rstrip(".")
        raise twin.refusal(HIERARCHY, f"is no hierarchy: {what}") from None
    leaves = {path[0] for path in twin.paths}
    if len(leaves) != len(twin.paths) or leaves != set(hierarchy.labels[: hierarchy.n_leaves]):
        raise twin.refusal(HIERARCHY, "does not hold one line an item")
    return hierarchy if domain == "used" else _of_larger(twin, hierarchy)


def _of_larger(twin: PrivateTwin, hierarchy: Hierarchy) -> Hierarchy:
    """Return the hierarchy as a part of a larger one, of which the twin tells the sizes."""
    plain = _mapping(twin, RECODING, twin.recoding, "items_of_hierarchy")
    labels, n_leaves = hierarchy.labels, hierarchy.n_leaves
    sizes = [1] * n_leaves + [plain.get(label) for label in labels[n_leaves:]]
    if len(plain) != len(labels) - n_leaves or not all(
        type(size) is int and 1 <= size <= LARGEST for size in sizes
    ):
        raise twin.refusal(RECODING, "does not hold the sizes of the hierarchy as it must")
    below = np.zeros(len(labels), dtype=np.int64)
    size_by_node = np.array(sizes, dtype=np.int64)
    inside = hierarchy.parent >= 0
    np.add.at(below, hierarchy.parent[inside], size_by_node[inside])
    if (below > size_by_node).any():
        raise twin.refusal(RECODING, "holds a category that is smaller than what is below it")
    return replace(hierarchy, size_by_node=size_by_node)


def _dropped(twin: PrivateTwin, published: int) -> tuple[int, ...]:
    found = twin.recoding.get("dropped_records")
    if not isinstance(found, list) or not all(type(place) is int for place in found):
        raise twin.refusal(RECODING, "does not hold the places of dropped records")
    known = [place for place in found if place >= 0]
    if (
        min(found, default=0) < -1
        or (known and len(known) != len(found))
        or known != sorted(set(known))
        or (known and known[-1] >= published + len(found))
        or _count(twin, "dropped_records") != len(found)
    ):
        raise twin.refusal(RECODING, "holds places of dropped records that cannot be")
    return tuple(found)


def _counts(twin: PrivateTwin, hierarchy: Hierarchy, occurrences: int) -> NDArray[np.int64] | None:
    if twin.recoding.get("occurrences") is None:
        return None
    plain = _mapping(twin, RECODING, twin.recoding, "occurrences")
    leaves = hierarchy.labels[: hierarchy.n_leaves]
    counts = [plain.get(label) for label in leaves]
    if (
        len(plain) != len(leaves)
        or not all(type(count) is int and count >= 1 for count in counts)
        or sum(count for count in counts if count) != occurrences
    ):
        raise twin.refusal(RECODING, "does not count each item as it must")
    return np.array(counts, dtype=np.int64)


def _recoding(twin: PrivateTwin, hierarchy: Hierarchy, records: int) -> Recoding:
    """Return the recoding; every label must be of the hierarchy, and none above another."""
    plain, kind = twin.recoding, twin.recoding.get("recoding")
    try:
        if kind == "global":
            return _global(twin, hierarchy)
        if kind == "local":
            cuts = plain.get("published_by_group")
            groups = plain.get("group_of_record")
            if not isinstance(cuts, list) or not isinstance(groups, list):
                raise twin.refusal(RECODING, "does not hold groups of records")
            if len(groups) != records or not all(
                type(group) is int and 0 <= group < len(cuts) for group in groups
            ):
                raise twin.refusal(RECODING, "does not put each record into a group")
            nodes = [
                [
                    hierarchy.node_of_label[label]
                    for label in _labels(twin, cut, "the labels of a group")
                ]
                for cut in cuts
            ]
            return Recoding.by_group(hierarchy, nodes, np.array(groups, dtype=np.int32))
    except KeyError:
        raise twin.refusal(RECODING, "names a label that its hierarchy lacks") from None
    except ValueError:
        raise twin.refusal(RECODING, "publishes a label and another one above it") from None
    raise twin.refusal(RECODING, "is neither global nor local")


def _global(twin: PrivateTwin, hierarchy: Hierarchy) -> Recoding:
    published = _mapping(twin, RECODING, twin.recoding, "published")
    gone = _labels(twin, twin.recoding.get("suppressed"), "the items left out")
    if not all(isinstance(label, str) for label in published.values()):
        raise twin.refusal(RECODING, "does not hold the published labels as it must")
    node_of_leaf = np.full(hierarchy.n_leaves, -2, dtype=np.int32)
    for label in gone:
        leaf = hierarchy.node_of_label[label]
        if leaf < hierarchy.n_leaves:
            node_of_leaf[leaf] = -1
    for label, above in published.items():
        leaf = hierarchy.node_of_label[label]
        if leaf < hierarchy.n_leaves:
            node_of_leaf[leaf] = hierarchy.node_of_label[above]
    recoding = Recoding.from_node_of_leaf(hierarchy, node_of_leaf)
    whole = len(gone) + len(published) == hierarchy.n_leaves
    if not whole or not np.array_equal(recoding.node_of_leaf(), node_of_leaf):
        raise twin.refusal(RECODING, "does not tell of each item, once, what it is published as")
    return recoding
