"""A release read back from its folder and its private twin: what `anonymize` returned, once more.

The public folder holds what is published; the private one tells how it was made. Together they are a
release. What they say is compared wherever one part follows from another, so that a damaged, mixed or
forged folder is refused and not measured or explained. Here is what releases of all shapes begin with,
and those of sets; `others` has pairs and buckets.

The original records of sets are not in either folder. Who has them hands them over: they are taken if
the sealed hash confirms them. The seal is over the records as they were read, so they must be read with
the same options (columns, separators, what is missing). Their order does not matter, nor do columns
that were published as they are: a second hash, over the records in canonical order, confirms them too.
The records of a `Release` are counted in canonical order anyway.
"""

from __future__ import annotations

import hmac
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeGuard

import numpy as np
from numpy.typing import NDArray

from ..api import as_transactions
from ..arguments import checked
from ..errors import HierarchyError, UsageError
from ..hierarchy.tree import DOMAINS, Hierarchy
from ..io.folder.ownership import AUDIT, HIERARCHY, RECODING
from ..io.folder.published import Twin, read_published, read_twin
from ..model.costs import COST_NAMES, WEIGHTED
from ..model.guarantees import AnyGuarantee, guarantee_from_dict
from ..model.numbers import LARGEST
from ..model.transactions import Transactions, bind, canonical_order
from ..progress import Watch
from ..refusals import refuse_release
from ..release.header import Header, ObjectiveValue, Seal
from ..release.recoding import BeforeAfter, InMemory, Recoding
from ..release.release import Release, digest_of_records, seal

if TYPE_CHECKING:
    from ..release.buckets import BucketRelease
    from ..release.pair_release import PairRelease


StrPath = str | os.PathLike[str]
_RATIO = re.compile(r"([0-9]{1,4000})/([0-9]{1,4000})")
_HEX = re.compile(r"[0-9a-f]{64}")


def are_texts(found: object) -> TypeGuard[list[str]]:
    """Tell whether a value of JSON is a list of texts."""
    return isinstance(found, list) and all(isinstance(one, str) for one in found)


def is_flag(found: object) -> bool:
    """Tell whether a value of JSON is true or false."""
    return isinstance(found, bool)


@dataclass(frozen=True)
class Account:
    """A private twin and the certificate beside it: what they tell is returned, or refused."""

    twin: Twin
    certificate: Mapping[str, Any]

    def header(self, kind: str) -> dict[str, Any]:
        return {
            "guarantee": self._guarantee(kind),
            "method": self.told(
                "method",
                lambda told: isinstance(told, str) and told == self.certificate.get("method"),
                "names another method than the certificate",
            ),
            "options": self._scalars("options"),
            "figures": self._scalars("figures"),
            "seconds": float(
                self.told(
                    "seconds",
                    lambda told: type(told) in (int, float) and told >= 0,
                    "does not tell how long the run took",
                )
            ),
            "notices": tuple(self.told("notices", are_texts, "does not hold its notices as it must")),
            "seal": self._seal(),
        }

    def compare(self, **found: object) -> None:
        """Refuse an account that tells another number than what the release has of something."""
        for name, value in found.items():
            told = self.twin.audit.get(name)
            if type(told) is not type(value) or told != value:
                raise self.twin.refusal(AUDIT, f"tells another number of {name} than the release has")

    def told(self, name: str, fits: Callable[[Any], bool], what: str) -> Any:
        """Return what the account tells under a name; refused where it does not fit."""
        found = self.twin.audit.get(name)
        if not fits(found):
            raise self.twin.refusal(AUDIT, what)
        return found

    def mapping(self, name: str, *, inside: Mapping[str, Any] | None = None) -> Mapping[str, Any]:
        """Return an object of the account, or of an object `inside` it."""
        found = (self.twin.audit if inside is None else inside).get(name)
        if not isinstance(found, dict):
            raise self.twin.refusal(AUDIT, f"does not hold {name!r} as it must be")
        return found

    def count(self, name: str) -> int:
        fault = f"does not hold {name!r} as a number"
        found: int = self.told(name, lambda told: type(told) is int and 0 <= told < 2**62, fault)
        return found

    def ratio(self, text: object, name: str) -> Fraction:
        found = _RATIO.fullmatch(text) if isinstance(text, str) else None
        if found is None or not int(found[2]) or int(found[1]) > int(found[2]):
            raise self.twin.refusal(AUDIT, f"does not hold {name!r} as an exact share")
        return Fraction(int(found[1]), int(found[2]))

    def _scalars(self, name: str) -> dict[str, Any]:
        found = self.told(
            name,
            lambda told: (
                isinstance(told, dict)
                and all(
                    value is None or isinstance(value, int | float | str) for value in told.values()
                )
            ),
            f"does not hold {name!r} as plain values",
        )
        return dict(found)

    def _guarantee(self, kind: str) -> AnyGuarantee:
        plain = self.twin.audit.get("guarantee")
        try:
            guarantee = guarantee_from_dict(plain if isinstance(plain, dict) else {}, None)
            if guarantee.kind != kind:
                raise UsageError(f"{guarantee} is not about {kind}.")
        except UsageError as error:
            what = error.problems[0].what.rstrip(".")
            raise self.twin.refusal(AUDIT, f"names no guarantee: {what}") from None
        # Of sensitive labels the certificate names those alone that the release shows.
        public: Mapping[str, Any] = self.certificate["guarantee"]
        for name, value in guarantee.as_dict().items():
            told = public.get(name)
            fits = set(told or ()) <= set(value) if isinstance(value, list) else told == value
            if not fits:
                raise self.twin.refusal(AUDIT, "names another guarantee than the certificate")
        return guarantee

    def _seal(self) -> Seal | None:
        plain = self.twin.audit.get("input")
        if plain is None:
            return None
        texts = [plain.get(name) for name in ("key", "hmac_sha256")] if isinstance(plain, dict) else []
        if not texts or not all(isinstance(text, str) and _HEX.fullmatch(text) for text in texts):
            raise self.twin.refusal(AUDIT, "holds a broken seal of its input")
        return Seal(str(texts[0]), str(texts[1]))


def read_tree(twin: Twin, paths: list[tuple[str, ...]], *, private: bool = False) -> Hierarchy:
    """Return the hierarchy of a private twin, one path a leaf."""
    try:
        tree = Hierarchy.from_paths(paths, private=private)
    except HierarchyError as error:
        what = error.problems[0].what.rstrip(".")
        raise twin.refusal(HIERARCHY, f"is no hierarchy: {what}") from None
    if sorted(path[0] for path in paths) != sorted(tree.labels[: tree.n_leaves]):
        raise twin.refusal(HIERARCHY, "does not hold one line an item")
    return tree


@checked()
def read_release(
    path: StrPath, original: Any = None, *, watch: Watch | None = None
) -> Release | BucketRelease | PairRelease:
    """Return the release in a folder, with all that its private twin knows.

    Parameters
    ----------
    path
        The public folder; ``<path>.private`` must lie beside it.
    original
        The data the release was made from, read with the same options as then; in any order. Of a table
        in buckets the private twin tells whose value is whose, and it is only made sure that these are
        the data. Of two data sets it holds them: leave it out.
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

    >>> import setveil as sv
    >>> from setveil.io.demo import groceries
    >>> baskets, products = groceries()
    >>> release = sv.anonymize(baskets, sv.KmAnonymity(k=5, m=2), hierarchy=products)
    >>> publication = sv.publish(release, "kept")
    >>> sv.read_release("kept", baskets).records == release.records
    True
    """
    from ..publish import editions_in

    release: Release | BucketRelease | PairRelease = editions_in(path).reopened(
        path, original, watch or Watch()
    )
    return release


def opened(target: Any, original: Any = None, *, watch: Watch) -> tuple[Any, Any]:
    """Return a release, read from its folder where that is given, and the original left to confirm."""
    if isinstance(target, Header):
        return target, original
    if not isinstance(target, str | os.PathLike):
        refuse_release(target)
    return read_release(target, original, watch=watch), None


def read_set_release(path: StrPath, original: Any = None, *, watch: Watch | None = None) -> Release:
    """Return the release of one data set in a folder; the original, once confirmed, is its `rows`."""
    watch = watch or Watch()
    watch.tick("reading the release", None)
    published, certificate = read_published(path)
    watch.tick("reading its private twin", None)
    twin = read_twin(path)
    release = _reopened(published, Account(twin, certificate))
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


def _reopened(published: Transactions, account: Account) -> Release:
    """Return the release that folder and twin describe, after comparing what they say."""
    published, twin = published.take(canonical_order(published)), account.twin
    hierarchy = _hierarchy(account)
    header = account.header("sets")
    dropped = _dropped(account, len(published))
    recoding = _recoding(twin, hierarchy, len(published) + len(dropped))
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
    complete = account.told("complete", is_flag, "does not tell whether the run was complete")
    occurrences = account.count("occurrences")
    losses = _losses(account)
    return Release(
        **header,
        part=InMemory(published),
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
    if not are_texts(found):
        raise twin.refusal(RECODING, f"does not hold {what} as it must be")
    return found


def _hierarchy(account: Account) -> Hierarchy:
    twin, fault = account.twin, "does not tell whether the hierarchy was learned"
    private: bool = account.told("learned_hierarchy", is_flag, fault)
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


def _dropped(account: Account, published: int) -> tuple[int, ...]:
    twin = account.twin
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
