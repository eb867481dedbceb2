"""Two data sets and tables in buckets read back.

The public part is read by the reader of the audit, which refuses whatever is not as it must be: it is
what anybody learns from the folder. The private twin adds what its holder knows: of two data sets the
original values of each row and the whole hierarchy, which the seal confirms; of a table in buckets the
value of each row.
"""

from __future__ import annotations

import hmac
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..errors import DataError, UsageError
from ..hierarchy.tree import Hierarchy
from ..io.folder.ownership import AUDIT, BUCKETS, RECODING
from ..io.folder.published import Twin, read_twin
from ..model.guarantees import BucketGuarantee
from ..model.layout import Layout
from ..model.microdata import Microdata
from ..model.pattern_pair import PatternPair
from ..model.rules import Completeness, NegativeRule
from ..model.transactions import Rows
from ..progress import Watch
from ..release.buckets import Bucketing, BucketRelease
from ..release.pair_release import RECODED, PairRelease, seal_of_pair
from ..release.recoding import PairRecoding
from . import Account, StrPath, are_texts, read_tree

if TYPE_CHECKING:
    from ..audit import Published, ReadPair
    from ..audit.bucket_tables import ReadBuckets

_WORD = re.compile(r"(0|[1-9][0-9]{0,9})(?:>(0|[1-9][0-9]{0,9}))?")


def _read_public(path: StrPath, kind: str, what: str, remedy: str, *, code: str) -> Any:
    """Return what the audit read of a folder, who checks every byte; `DataError` for another kind."""
    from ..audit import read_release

    read = read_release(path)
    if read.guarantee.kind != kind:
        raise DataError(what, remedy, code=code, file=str(path))
    return read


def read_pair_release(path: StrPath, *, watch: Watch | None = None) -> PairRelease:
    """Return the two data sets in a folder, with all that their private twin knows."""
    watch = watch or Watch()
    watch.tick("reading the release", None)
    read = _read_public(
        path,
        "pairs",
        "does not hold two data sets.",
        "Give a folder that `setveil anonymize --against` or `--class-column` made.",
        code="no-pair",
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
    if twin.recoding.get("recoding") != RECODED or not isinstance(told, list) or len(told) != 2:
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
    if not are_texts(names) or len(names) != 2:
        raise twin.refusal(AUDIT, "does not name the two data sets")
    return names[0], names[1]


@dataclass(frozen=True, eq=False)
class PublicBuckets:
    """What anybody knows of a table in buckets.

    `data` has the rows in published order, and each bucket's values in sorted order beside them: whose
    value is whose is not known. What depends on the buckets alone can be computed from it all the same.
    """

    data: Microdata
    bucketing: Bucketing
    guarantee: BucketGuarantee
    certificate: Mapping[str, Any]
    rules: tuple[NegativeRule, ...]
    complete: Completeness


def read_public_buckets(path: StrPath) -> PublicBuckets:
    """Return what the public folder of a table in buckets tells anybody."""
    read: ReadBuckets = _read_public(
        path,
        "buckets",
        "holds records as sets, not a table in buckets.",
        "Give the folder of a table, as `setveil anonymize --quasi` made it.",
        code="no-buckets",
    )
    tables = read.tables
    values = [value for _, value, count in tables.sensitive for _ in range(count)]
    return PublicBuckets(
        _table(read, values),
        Bucketing(tables.bucket_by_row.astype(np.int32)),
        read.guarantee,
        read.certificate,
        tuple(NegativeRule(conditions, value) for conditions, value in read.rules),
        Completeness.of_told(read.complete),
    )


def _table(read: ReadBuckets, values: list[str]) -> Microdata:
    """Return the published rows with these values, under the published hierarchies."""
    columns = {
        column.name: (column.labels, column.code_by_row.astype(np.int32))
        for column in read.tables.columns
    }
    number: dict[str, int] = {}
    codes = [number.setdefault(value, len(number)) for value in values]
    sensitive = read.certificate["data"]["sensitive"]["column"]
    trees = {name: Hierarchy.from_paths(paths.values()) for name, paths in read.paths.items()}
    return Microdata.from_codes(
        {**columns, sensitive: (tuple(number), np.array(codes, dtype=np.int32))},
        sensitive,
        quasi=tuple(columns),
        hierarchies=trees,
    )


def read_bucket_release(path: StrPath, *, watch: Watch | None = None) -> BucketRelease:
    """Return the table in buckets in a folder, with all that its private twin knows."""
    watch = watch or Watch()
    watch.tick("reading the release", None)
    public = read_public_buckets(path)
    watch.tick("reading its private twin", None)
    return with_values(public, read_twin(path))


def with_values(public: PublicBuckets, twin: Twin) -> BucketRelease:
    """Return the release that folder and twin describe, after comparing what they say."""
    data = public.data
    bucket = public.bucketing.bucket_by_tuple.tolist()
    told = twin.buckets.get("value_of_row")
    if not are_texts(told):
        raise twin.refusal(BUCKETS, "does not hold the value of each row as a list of texts")
    held = Counter(
        zip(bucket, (data.values[value] for value in data.value_by_tuple.tolist()), strict=True)
    )
    if len(told) != len(bucket) or Counter(zip(bucket, told, strict=True)) != held:
        raise twin.refusal(BUCKETS, "gives other values to the buckets than the release shows")
    if twin.buckets.get("column") != data.sensitive:
        raise twin.refusal(BUCKETS, "names another sensitive column than the certificate")
    account = Account(twin, public.certificate)
    account.compare(records=len(data), buckets=public.bucketing.n_buckets)
    number = {value: place for place, value in enumerate(data.values)}
    return BucketRelease(
        data=Microdata(
            data.quasi, data.sensitive, data.values, np.array([number[v] for v in told], dtype=np.int32)
        ),
        bucketing=public.bucketing,
        rules=public.rules,
        complete=public.complete,
        left_out=_left_out_of(twin, width=len(data.quasi) + 1),
        **account.header("buckets"),
    )


def confirm_table(release: BucketRelease, data: Microdata) -> None:
    """Raise `UsageError` unless these are the rows that a release was made from, in any order."""
    rows = data.rows() if hasattr(data, "quasi") else ()
    if Counter(rows) != Counter((*release.data.rows(), *(release.left_out or ()))):
        raise _other_data()


def confirm_pair(release: PairRelease, data: PatternPair) -> None:
    """Raise `UsageError` unless these are the records that a release was made from, in any order."""
    if not hasattr(data, "originals") or seal_of_pair(data, b"") != seal_of_pair(release.pair, b""):
        raise _other_data()


def _other_data() -> UsageError:
    return UsageError(
        "these are not the data the release was made from.",
        "Give the same file, read with the same options.",
        code="other-data",
    )


def _left_out_of(twin: Twin, *, width: int) -> tuple[tuple[str, ...], ...] | None:
    """Return the rows that are not published, if any may have been left out."""
    told = twin.buckets.get("left_out")
    if told is None:
        return None
    if not isinstance(told, list) or not all(are_texts(row) and len(row) == width for row in told):
        raise twin.refusal(BUCKETS, "does not hold the rows that were left out as lists of texts")
    return tuple(tuple(row) for row in told)
