"""A release of two data sets read back from its folder and its private twin.

The public part is read by the reader of the audit, which refuses whatever is not as it must be. The
private twin adds the original values of each row and the whole hierarchy; what both say is compared, so
that a damaged, mixed or forged folder is refused and not measured. The seal confirms the original
records.
"""

from __future__ import annotations

import hmac
import re
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from .editions import StrPath
from .errors import DataError, HierarchyError, UsageError
from .hierarchy.tree import Hierarchy
from .io.folder.ownership import AUDIT, HIERARCHY, RECODING
from .io.folder.twin import PrivateTwin, read_twin
from .model.guarantees import pair_guarantee_from_dict
from .model.layout import Layout
from .model.pattern_pair import PatternPair
from .model.transactions import Rows
from .progress import Watch
from .release.pair_release import PairRelease
from .release.recoding import PairRecoding
from .release.sealing import seal_of_pair
from .twin_account import notices_of, scalars_of, seal_of, seconds_of

if TYPE_CHECKING:
    from .audit import Published
    from .audit.pair_reader import ReadPair

_WORD = re.compile(r"(0|[1-9][0-9]{0,9})(?:>(0|[1-9][0-9]{0,9}))?")


def read_pair_release(path: StrPath, *, watch: Watch | None = None) -> PairRelease:
    """Return the two data sets in a folder, with all that their private twin knows.

    Parameters
    ----------
    path
        The public folder; ``<path>.private`` must lie beside it.
    watch
        Progress listener and cancel switch.

    Raises
    ------
    FileSystemError
        If a folder or a file is not there or cannot be read.
    DataError
        If what is there is damaged, or the two folders do not belong together.
    """
    from .audit import read_release
    from .audit.pair_reader import ReadPair

    watch = watch or Watch()
    watch.tick("reading the release", None)
    read = read_release(path)
    if not isinstance(read, ReadPair):
        raise DataError(
            "does not hold two data sets.",
            "Give a folder that `setveil anonymize --against` or `--class-column` made.",
            code="no-pair",
            file=str(path),
        )
    watch.tick("reading its private twin", None)
    return with_originals(read, read_twin(path))


def with_originals(read: ReadPair, twin: PrivateTwin) -> PairRelease:
    """Return the release that folder and twin describe, after comparing what they say."""
    _compare(read, twin)
    tree = _tree(twin)
    data = read.certificate["data"]
    told = twin.recoding.get("rows")
    if twin.recoding.get("recoding") != "pair" or not isinstance(told, list) or len(told) != 2:
        raise twin.refusal(RECODING, "does not hold the rows of two data sets")
    words = _Words(twin, tree)
    sides = [
        _side(twin, published, texts, words) for published, texts in zip(read.sides, told, strict=True)
    ]
    classes = data.get("classes")
    pair = PatternPair(
        tree,
        (sides[0][0], sides[1][0]),
        tuple(data.get("columns", ())),
        _names(twin),
        None if classes is None else (classes["column"], tuple(classes["values"])),
        Layout(data["format"], delimiter=data.get("delimiter", ",")),
        (),
    )
    seal = seal_of(twin)
    if seal is not None:
        again = seal_of_pair(pair, bytes.fromhex(seal.key))
        if not hmac.compare_digest(again.digest, seal.digest):
            raise twin.refusal(RECODING, "does not hold the records that the seal in audit.json is of")
    return PairRelease(
        pair=pair,
        recoding=PairRecoding((sides[0][1], sides[1][1])),
        guarantee=read.guarantee,
        method=str(read.certificate["method"]),
        options=scalars_of(twin, "options"),
        figures=scalars_of(twin, "figures"),
        seconds=seconds_of(twin),
        complete=twin.audit.get("complete") is not False,
        notices=notices_of(twin),
        seal=seal,
    )


def _compare(read: ReadPair, twin: PrivateTwin) -> None:
    """Refuse an account that contradicts the certificate."""
    plain = twin.audit.get("guarantee")
    try:
        guarantee = pair_guarantee_from_dict(plain if isinstance(plain, dict) else {})
    except UsageError as error:
        what = error.problems[0].what.rstrip(".")
        raise twin.refusal(AUDIT, f"names no guarantee: {what}") from None
    if guarantee != read.guarantee:
        raise twin.refusal(AUDIT, "names another guarantee than the certificate")
    if twin.audit.get("method") != read.certificate["method"]:
        raise twin.refusal(AUDIT, "names another method than the certificate")
    if twin.audit.get("records") != [part["records"] for part in read.certificate["data"]["parts"]]:
        raise twin.refusal(AUDIT, "tells another number of records than the release has")


def _tree(twin: PrivateTwin) -> Hierarchy:
    try:
        tree = Hierarchy.from_paths(twin.paths)
    except HierarchyError as error:
        what = error.problems[0].what.rstrip(".")
        raise twin.refusal(HIERARCHY, f"is no hierarchy: {what}") from None
    if sorted(path[0] for path in twin.paths) != sorted(tree.labels[: tree.n_leaves]):
        raise twin.refusal(HIERARCHY, "does not hold one line a value")
    return tree


class _Words:
    """What the words of a row mean: an original value, and the node that it is published as."""

    def __init__(self, twin: PrivateTwin, tree: Hierarchy) -> None:
        self.twin, self.tree = twin, tree
        values, labels = twin.recoding.get("values"), twin.recoding.get("labels")
        if not isinstance(values, list) or values != sorted(tree.labels[: tree.n_leaves]):
            raise twin.refusal(RECODING, "holds other values than the hierarchy")
        if not isinstance(labels, list) or not all(
            isinstance(label, str) and label in tree.node_of_label for label in labels
        ):
            raise twin.refusal(RECODING, "does not hold its labels as labels of the hierarchy")
        self.leaves = [tree.node_of_label[value] for value in values]
        self.nodes = [tree.node_of_label[label] for label in labels]
        self.known: dict[str, tuple[int, int]] = {}

    def entry(self, word: str) -> tuple[int, int]:
        """Return leaf and node of a word; `DataError` where it can mean none."""
        found = self.known.get(word)
        if found is None:
            parts = _WORD.fullmatch(word)
            value = -1 if parts is None else int(parts[1])
            above = None if parts is None or parts[2] is None else int(parts[2])
            if not 0 <= value < len(self.leaves) or (above is not None and above >= len(self.nodes)):
                raise self.twin.refusal(RECODING, "holds a row that is none")
            leaf = self.leaves[value]
            node = leaf if above is None else self.nodes[above]
            if not self.tree.covers(node, leaf) or (above is not None and node == leaf):
                raise self.twin.refusal(RECODING, "publishes a value as what is not above it")
            found = self.known[word] = leaf, node
        return found


def _side(
    twin: PrivateTwin, published: Published, texts: object, words: _Words
) -> tuple[Rows, NDArray[np.int32]]:
    """Return the original rows of one side, and the published node of each of their values."""
    if not isinstance(texts, list) or len(texts) != published.records:
        raise twin.refusal(RECODING, "does not hold a row for each published one")
    indptr = np.zeros(len(texts) + 1, dtype=np.int64)
    entries: list[tuple[int, int]] = []
    labels = [words.tree.node_of_label.get(label, -1) for label in published.labels]
    bounds, codes = published.indptr.tolist(), published.items.tolist()
    for place, text in enumerate(texts):
        if not isinstance(text, str):
            raise twin.refusal(RECODING, "holds a row that is none")
        row = sorted(words.entry(word) for word in text.split(" ")) if text else []
        if len({leaf for leaf, _ in row}) != len(row):
            raise twin.refusal(RECODING, "holds a value twice in a row")
        shown = {labels[code] for code in codes[bounds[place] : bounds[place + 1]]}
        if {node for _, node in row} != shown:
            raise twin.refusal(RECODING, "does not lead from the originals to the published rows")
        entries += row
        indptr[place + 1] = len(entries)
    both = np.array(entries, dtype=np.int32).reshape(-1, 2)
    return Rows(indptr, both[:, 0].copy()), both[:, 1].copy()


def _names(twin: PrivateTwin) -> tuple[str, str]:
    names = twin.audit.get("names")
    if (
        not isinstance(names, list)
        or len(names) != 2
        or not all(isinstance(name, str) for name in names)
    ):
        raise twin.refusal(AUDIT, "does not name the two data sets")
    return names[0], names[1]
