"""A release of sets read back, and the original records confirmed.

The original records are not in either folder. Who has them hands them over: they are taken if the
sealed hash confirms them. The seal is over the records as they were read, so they must be read with the
same options (columns, separators, what is missing). Their order does not matter, nor do columns that
were published as they are: a second hash, over the records in canonical order, confirms them too. The
records of a `Release` are counted in canonical order anyway.
"""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..api import as_transactions
from ..errors import UsageError
from ..hierarchy.tree import DOMAINS, Hierarchy
from ..io.folder.ownership import AUDIT, RECODING
from ..io.folder.published import read_published
from ..io.folder.twin import Twin, read_twin
from ..model.costs import COST_NAMES, WEIGHTED
from ..model.numbers import LARGEST
from ..model.transactions import Transactions, bind, canonical_order
from ..progress import Watch
from ..release.header import ObjectiveValue
from ..release.recoding import BeforeAfter, Recoding
from ..release.release import Release, digest_of_records, seal
from .account import Account, StrPath, read_tree


def read_set_release(path: StrPath, original: Any = None, *, watch: Watch | None = None) -> Release:
    """Return the release of one data set in a folder, with all that its private twin knows.

    Parameters and errors are those of `setveil.read_release`; the original records become the release's
    `rows` once the sealed hash has confirmed them.
    """
    watch = watch or Watch()
    watch.tick("reading the release", None)
    published, certificate = read_published(path)
    watch.tick("reading its private twin", None)
    twin = read_twin(path)
    release = _reopened(published, Account(twin, certificate), twin)
    if original is None:
        return release
    watch.tick("confirming the original", None)
    return with_original(release, as_transactions(original), twin)


def with_original(release: Release, original: Transactions, twin: Twin) -> Release:
    """Return the release with the records it was made from; `UsageError` where these are not they."""
    if release.seal is None:
        raise UsageError(
            "this release holds no seal of its input, so no file can be confirmed as the original.",
            "It was made from another release; use the original of that one.",
            code="no-seal",
        )
    key = bytes.fromhex(release.seal.key)
    told = twin.audit["input"].get("records_hmac_sha256")
    alike = hmac.compare_digest(seal(original, key).digest, release.seal.digest)
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
    dropped = tuple(BeforeAfter(release.recoding, rows).left_empty.tolist()) if release.dropped else ()
    if (
        restricted.labels != release.hierarchy.labels
        or len(release.dropped) != len(dropped)
        or not release.is_made_of(rows)
    ):
        raise twin.refusal(RECODING, "does not lead from the original to the published records")
    return replace(release, rows=rows, dropped=dropped)


def _reopened(published: Transactions, account: Account, twin: Twin) -> Release:
    """Return the release that folder and twin describe, after comparing what they say."""
    published = published.take(canonical_order(published))
    hierarchy = _hierarchy(twin)
    header = account.header("sets")
    dropped = _dropped(account, twin, len(published))
    recoding = _recoding(twin, hierarchy, len(published) + len(dropped))
    complete = twin.audit.get("complete")
    if hierarchy.domain != account.certificate.get("domain", "used"):
        raise twin.refusal(AUDIT, "tells another domain than the certificate")
    account.compare(records=len(published), items=hierarchy.n_leaves)
    shown = {hierarchy.labels[node] for node in np.unique(recoding.nodes).tolist()}
    labels = set(published.vocabulary.labels)
    if labels - shown or (recoding.is_global and labels != shown):
        raise twin.refusal(RECODING, "publishes other labels than the release shows")
    suppressed_items = account.count("suppressed_items")
    if recoding.is_global and suppressed_items != int((recoding.node_of_leaf() < 0).sum()):
        raise twin.refusal(AUDIT, "tells another number of items left out than the recoding")
    if not isinstance(complete, bool):
        raise twin.refusal(AUDIT, "does not tell whether the run was complete")
    occurrences = account.count("occurrences")
    losses = _losses(account)
    return Release(
        **header,
        published=published,
        recoding=recoding,
        hierarchy=hierarchy,
        losses=losses,
        items=hierarchy.n_leaves,
        occurrences=occurrences,
        unchanged=account.count("unchanged"),
        objective=_objective(account, losses),
        layout=published.layout,
        complete=complete,
        suppressed_items=suppressed_items,
        suppressed=account.count("suppressed_occurrences"),
        dropped=dropped,
        count_by_leaf=_counts(twin, hierarchy, occurrences),
    )


def _losses(account: Account) -> dict[str, Fraction]:
    plain = account.mapping("loss")
    if not set(plain) <= set(COST_NAMES):
        raise account.twin.refusal(AUDIT, "tells a loss that is not known")
    return {
        name: account.ratio(account.mapping(name, inside=plain).get("exact"), name)
        for name in COST_NAMES
        if name in plain
    }


def _objective(account: Account, losses: Mapping[str, Fraction]) -> ObjectiveValue | None:
    if account.twin.audit.get("objective") is None:
        return None
    plain = account.mapping("objective")
    exact = account.mapping("exact", inside=plain)
    name, proven, bound = plain.get("name"), plain.get("proven"), exact.get("bound")
    if not isinstance(name, str) or not isinstance(proven, bool):
        raise account.twin.refusal(AUDIT, "does not tell what was minimized")
    value = account.ratio(exact.get("value"), "objective")
    # Older folders name the weighted loss like the plain one.
    return ObjectiveValue(
        f"{WEIGHTED}{name}" if losses.get(name, value) != value else name,
        value,
        None if bound is None else account.ratio(bound, "bound"),
        proven,
        bound is None or plain.get("certified") is True,
    )


def _mapping(twin: Twin, name: str) -> Mapping[str, Any]:
    found = twin.recoding.get(name)
    if not isinstance(found, dict):
        raise twin.refusal(RECODING, f"does not hold {name!r} as it must be")
    return found


def _labels(twin: Twin, found: object, what: str) -> list[str]:
    if not isinstance(found, list) or not all(isinstance(label, str) for label in found):
        raise twin.refusal(RECODING, f"does not hold {what} as it must be")
    return found


def _hierarchy(twin: Twin) -> Hierarchy:
    private = twin.audit.get("learned_hierarchy")
    if not isinstance(private, bool):
        raise twin.refusal(AUDIT, "does not tell whether the hierarchy was learned")
    domain = twin.audit.get("domain", "used")  # twins of earlier versions do not tell it
    if domain not in DOMAINS:
        raise twin.refusal(AUDIT, "does not tell which items the loss counts")
    hierarchy = read_tree(twin, twin.paths, private=private)
    return hierarchy if domain == "used" else _of_larger(twin, hierarchy)


def _of_larger(twin: Twin, hierarchy: Hierarchy) -> Hierarchy:
    """Return the hierarchy as a part of a larger one, of which the twin tells the sizes."""
    plain = _mapping(twin, "items_of_hierarchy")
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


def _dropped(account: Account, twin: Twin, published: int) -> tuple[int, ...]:
    found = twin.recoding.get("dropped_records")
    if not isinstance(found, list) or not all(type(place) is int for place in found):
        raise twin.refusal(RECODING, "does not hold the places of dropped records")
    known = [place for place in found if place >= 0]
    if (
        min(found, default=0) < -1
        or (known and len(known) != len(found))
        or known != sorted(set(known))
        or (known and known[-1] >= published + len(found))
        or account.count("dropped_records") != len(found)
    ):
        raise twin.refusal(RECODING, "holds places of dropped records that cannot be")
    return tuple(found)


def _counts(twin: Twin, hierarchy: Hierarchy, occurrences: int) -> NDArray[np.int64] | None:
    if twin.recoding.get("occurrences") is None:
        return None
    plain = _mapping(twin, "occurrences")
    leaves = hierarchy.labels[: hierarchy.n_leaves]
    counts = [plain.get(label) for label in leaves]
    if (
        len(plain) != len(leaves)
        or not all(type(count) is int and count >= 1 for count in counts)
        or sum(count for count in counts if count) != occurrences
    ):
        raise twin.refusal(RECODING, "does not count each item as it must")
    return np.array(counts, dtype=np.int64)


def _recoding(twin: Twin, hierarchy: Hierarchy, records: int) -> Recoding:
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


def _global(twin: Twin, hierarchy: Hierarchy) -> Recoding:
    published = _mapping(twin, "published")
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
