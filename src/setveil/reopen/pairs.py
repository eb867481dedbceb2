"""A release of two data sets read back.

The public part is read by the reader of the audit, which refuses whatever is not as it must be. The
private twin adds the original values of each row and the whole hierarchy. The seal confirms them.
"""

from __future__ import annotations

import hmac
import re
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..errors import DataError
from ..hierarchy.tree import Hierarchy
from ..io.folder.ownership import AUDIT, RECODING
from ..io.folder.twin import Twin, read_twin
from ..model.layout import Layout
from ..model.pattern_pair import PatternPair
from ..model.transactions import Rows
from ..progress import Watch
from ..release.pair_release import PairRelease, seal_of_pair
from ..release.recoding import PairRecoding
from .account import Account, StrPath, read_tree

if TYPE_CHECKING:
    from ..audit import Published, ReadPair

_WORD = re.compile(r"(0|[1-9][0-9]{0,9})(?:>(0|[1-9][0-9]{0,9}))?")


def read_pair_release(path: StrPath, *, watch: Watch | None = None) -> PairRelease:
    """Return the two data sets in a folder, with all that their private twin knows.

    Parameters and errors are those of `setveil.read_release`.
    """
    from ..audit import ReadPair, read_release

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


def with_originals(read: ReadPair, twin: Twin) -> PairRelease:
    """Return the release that folder and twin describe, after comparing what they say."""
    account, data = Account(twin, read.certificate), read.certificate["data"]
    header = account.header("pairs")
    account.compare(records=[part["records"] for part in data["parts"]])
    tree = read_tree(twin, twin.paths)
    told = twin.recoding.get("rows")
    if twin.recoding.get("recoding") != "pair" or not isinstance(told, list) or len(told) != 2:
        raise twin.refusal(RECODING, "does not hold the rows of two data sets")
    words = _Words(twin, tree)
    (first, one), (second, other) = (
        _side(twin, published, texts, words) for published, texts in zip(read.sides, told, strict=True)
    )
    classes = data.get("classes")
    pair = PatternPair(
        tree,
        (first, second),
        tuple(data.get("columns", ())),
        _names(twin),
        None if classes is None else (classes["column"], tuple(classes["values"])),
        Layout(data["format"], delimiter=data.get("delimiter", ",")),
        (),
    )
    seal = header["seal"]
    if seal is not None:
        again = seal_of_pair(pair, bytes.fromhex(seal.key))
        if not hmac.compare_digest(again.digest, seal.digest):
            raise twin.refusal(RECODING, "does not hold the records that the seal in audit.json is of")
    complete = twin.audit.get("complete") is not False
    return PairRelease(pair, PairRecoding((one, other)), complete, **header)


class _Words:
    """What the words of a row mean: an original value, and the node that it is published as."""

    def __init__(self, twin: Twin, tree: Hierarchy) -> None:
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
    twin: Twin, published: Published, texts: object, words: _Words
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


def _names(twin: Twin) -> tuple[str, str]:
    names = twin.audit.get("names")
    if (
        not isinstance(names, list)
        or len(names) != 2
        or not all(isinstance(name, str) for name in names)
    ):
        raise twin.refusal(AUDIT, "does not name the two data sets")
    return names[0], names[1]
