"""New records under the values of a release of two data sets.

A release of two data sets may publish a value in one record as it is and in another as something more
general. Where it does, nothing tells how a new record's would be published. Where every value of a data
set has one published form, new records of that data set get those forms.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..api import audit
from ..distinct import sort_within
from ..errors import UsageError
from ..hierarchy.tree import Hierarchy
from ..io.pairs import PatternData, read_attribute_tables, read_cells, read_classes, read_sets
from ..io.transactions import read_transactions
from ..model.numbers import counted
from ..model.pattern_pair import PatternPair
from ..model.transactions import Rows, Transactions
from ..progress import Watch
from ..release.header import APPLIED
from ..release.pair_release import PairRelease, seal_of_pair
from ..release.recoding import BeforeAfter, PairRecoding
from ..reopen.others import read_pair_release
from ..run.fields import LEAVE_OUT, PAIRS, fields_of, refuse_stdin_twice, refuse_unfit
from ..run.reading import Files, Trees, refuse_unknown
from . import Adding, PairExtension, refuse_labels

Ids = NDArray[np.int32]
SIDES = ("first", "second")


class AddingPairs(Adding):
    """New records of either data set in files: read as the release was."""

    def __init__(self, asked: Any, release: str, new_data: str | None) -> None:
        super().__init__(asked, release, new_data)
        trees = {field.name for field in fields_of(Trees)}
        refuse_unfit(asked, PAIRS, LEAVE_OUT, but=trees)
        if new_data is None and asked.against is None:
            raise UsageError(
                "the new records are not named.",
                "Give a file of those of the first data set, and --against FILE for the second.",
            )
        if asked.class_column is not None and asked.against is not None:
            raise UsageError(
                "there are too many data sets.",
                "Give either --against FILE, or --class-column COLUMN for one table.",
                code="not-two-data-sets",
            )
        named = [new_data, asked.against, asked.labels]
        refuse_stdin_twice(named)
        self.inputs = [name for name in named if name and name != "-"]

    def read(self) -> Sequence[str]:
        self.opened = read_pair_release(self.path)
        _refuse_forms(self.opened)
        self.new = self._read_new(self.opened.pair)
        return self.new.notices

    def join(self, watch: Watch) -> PairExtension:
        watch.tick("applying the recoding", None)
        unseen = self.asked.unseen
        return extended(self.opened, self.new, hierarchy=None, unseen=unseen, watch=watch)

    def _read_new(self, pair: PatternPair) -> PatternData:
        asked, first, second = self.asked, self.new_data, self.asked.against
        reading = asked.given(Files)
        if pair.is_table:
            refuse_unknown(reading, read_cells)
            reading |= {"attributes": pair.columns, "as_is": asked.as_is}
            if asked.missing_cells is not None:
                reading["missing_cells"] = asked.missing_cells
        elif asked.missing_cells is not None or asked.as_is:
            raise UsageError(
                "--missing-cells and --as-is are for tables, and this release is of sets.", LEAVE_OUT
            )
        _check_class(pair, asked.class_column)
        if pair.classes is not None and second is None:
            column, classes = pair.classes
            return read_classes(
                first, class_column=column, classes=classes, some_may_lack=True, **reading
            )
        if first is None or second is None:
            one = _one_side(second if first is None else first, table=pair.is_table, **reading)
            return replace(one, first=one.second, second=one.first) if first is None else one
        read = read_attribute_tables if pair.is_table else read_sets
        return read(first, second, **reading)


def _check_class(pair: PatternPair, column: str | None) -> None:
    """Refuse another column than the one that split the original table."""
    own = None if pair.classes is None else pair.classes[0]
    if column in (None, own):
        return
    if own is None:
        what = "this release was not made of one table that a column splits."
        remedy = "Give the new records of the second data set in a file of their own: --against FILE."
    else:
        what = f"this release was split by the column {own[:40]!r}, not by {str(column)[:40]!r}."
        remedy = "Leave --class-column out, or rename the column of the new table."
    raise UsageError(what, remedy, code="other-columns")


def _one_side(path: str, *, table: bool, **reading: Any) -> PatternData:
    """Return the new records of one data set, and beside them none of the other."""
    nothing = Transactions.from_rows([])
    if not table:
        data = read_transactions(path, **reading)
        return PatternData(data, nothing, (path, ""), data.notices)
    cells = read_cells(path, None, file=path, **reading).complete()
    data = cells.as_sets()
    return PatternData(data, nothing, (path, ""), data.notices, cells.names, made=cells.made())


class Fresh(NamedTuple):
    """New records of one data set: what is kept of them, how it is published, and what is left out."""

    rows: Rows
    nodes: Ids
    left_out: frozenset[str]


def extended(
    release: PairRelease,
    data: PatternPair | PatternData,
    *,
    hierarchy: Hierarchy | Mapping[str, Hierarchy] | None,
    unseen: str,
    watch: Watch,
) -> PairExtension:
    """Return the union of a release and new records, as `setveil.apply` does."""
    started = time.monotonic()
    if hierarchy is not None:
        raise UsageError(
            "a release of two data sets has its whole hierarchy with it.", "Leave the hierarchy out."
        )
    forms = _refuse_forms(release)
    sides = _sides_of(release.pair, data)
    first, second = (
        _fresh(release, place, new, form_by_leaf)
        for place, (new, form_by_leaf) in enumerate(zip(sides, forms, strict=True))
    )
    if unseen == "error":
        for place, (new, fresh) in enumerate(zip(sides, (first, second), strict=True)):
            what = f"is not among those that the {SIDES[place]} data set was made from."
            remedy = "Leave such items out (--unseen suppress), or anonymize everything anew."
            refuse_labels(new, fresh.left_out, "unseen-item", what, remedy)
    records = (len(sides[0]), len(sides[1]))
    left_out = len(first.left_out) + len(second.left_out)
    alone = _release_of(release, (first.rows, second.rows), (first.nodes, second.nodes))
    union = _release_of(
        release,
        (_joined(release.pair.sides[0], first.rows), _joined(release.pair.sides[1], second.rows)),
        (
            np.concatenate([release.recoding.node_by_entry[0], first.nodes]),
            np.concatenate([release.recoding.node_by_entry[1], second.nodes]),
        ),
    )
    watch.tick("auditing the union", None)
    verdict: Any = audit(union)
    holds_alone = audit(alone).holds if all(records) else None
    union = replace(
        union,
        method=APPLIED,
        figures={
            "recoding of": release.made_by,
            "new records": sum(records),
            "unseen items": left_out,
        },
        notices=(*data.notices, *_notices(left_out, alone=holds_alone)),
        seal=seal_of_pair(union.pair),
        seconds=round(time.monotonic() - started, 6),
    )
    return PairExtension(union if verdict.holds else None, verdict, records, left_out, holds_alone)


def published_forms(release: PairRelease) -> tuple[Ids, Ids]:
    """Return what each value of either data set is published as: -1 if never seen, -2 if several.

    Values are leaves of the hierarchy, published forms its nodes.
    """
    first, second = (_forms_in(part) for part in release.parts)
    return first, second


def _forms_in(part: BeforeAfter) -> Ids:
    leaves, nodes = part.rows.leaves, part.node_of_occurrence
    form_by_leaf = np.full(part.hierarchy.n_leaves, -1, dtype=np.int32)
    form_by_leaf[leaves] = nodes
    form_by_leaf[leaves[form_by_leaf[leaves] != nodes]] = -2
    return form_by_leaf


def _refuse_forms(release: PairRelease) -> tuple[Ids, Ids]:
    """Return the published forms; `UsageError` where a value has several, told in numbers alone."""
    forms = published_forms(release)
    for which, part, form_by_leaf in zip(SIDES, release.parts, forms, strict=True):
        several = np.flatnonzero(form_by_leaf == -2)
        if not len(several):
            continue
        count_by_leaf = np.bincount(part.rows.leaves, minlength=part.hierarchy.n_leaves)
        most = several[int(np.argmax(count_by_leaf[several]))]
        _, counts = np.unique(part.node_of_occurrence[part.rows.leaves == most], return_counts=True)
        told = [f"{count:,}" for count in sorted(counts.tolist(), reverse=True)]
        seen = int((form_by_leaf != -1).sum())
        raise UsageError(
            f"in the {which} data set {len(several):,} of {counted(seen, 'value')} have more than one "
            f"published form: one has {len(told)}, in {', '.join(told[:-1])} and {told[-1]} records. "
            "How a new record's would be published is not told.",
            "Anonymize the old and the new records together anew.",
            code="local-recoding",
        )
    return forms


def _sides_of(pair: PatternPair, data: Any) -> tuple[Transactions, Transactions]:
    """Return the new records of either data set as labels; refuse what cannot be joined."""
    labelled: tuple[Transactions, Transactions] | None = getattr(data, "labelled", None)
    if labelled is None:
        raise UsageError(
            "new records of two data sets are needed.",
            "Read them first: setveil.read_pattern_pair(first, second).",
            code="not-two-data-sets",
        )
    if set(data.columns) != set(pair.columns):
        if not pair.columns:
            remedy = "Read them as sets of items, not as tables."
        else:
            remedy = f"Read them as tables with the columns {', '.join(pair.columns)}."
        what = "the new data have other columns than the release, or read them in another way."
        raise UsageError(what, remedy, code="other-columns")
    if data.classes is not None and data.classes != pair.classes:
        raise UsageError(
            "the new data are split by another column or other classes than the release, or in the "
            "other order.",
            "Read them with the class_column and the classes of the release."
            if pair.classes
            else "Read the new records of each data set by themselves.",
            code="other-columns",
        )
    return labelled


def _fresh(release: PairRelease, place: int, new: Transactions, form_by_leaf: Ids) -> Fresh:
    """Return the new records of a data set in its published forms."""
    tree, labels = release.hierarchy, new.vocabulary.labels
    used = np.unique(new.items).tolist()
    node_by_item = np.full(max(len(labels), 1), -1, dtype=np.int64)
    for item in used:
        node_by_item[item] = tree.node_of_label.get(labels[item], -1)
    categories = [labels[item] for item in used if node_by_item[item] >= tree.n_leaves]
    what = f"is a category of the {SIDES[place]} data set, not an item."
    refuse_labels(new, categories, "item-is-category", what, "Use the items themselves.")
    unknown = [i for i in used if node_by_item[i] < 0 or form_by_leaf[node_by_item[i]] < 0]
    left_out = frozenset(labels[item] for item in unknown)
    node_by_item[unknown] = -1
    leaves = node_by_item[new.items]
    kept_before = np.concatenate(([0], np.cumsum(leaves >= 0)))
    indptr = kept_before[new.indptr].astype(np.int64)
    kept = sort_within(indptr, leaves[leaves >= 0], tree.n_leaves)
    return Fresh(Rows(indptr, kept), form_by_leaf[kept], left_out)


def _joined(one: Rows, other: Rows) -> Rows:
    """Return the records of both, the one's first."""
    indptr = np.concatenate([one.indptr, one.indptr[-1] + other.indptr[1:]])
    return Rows(indptr, np.concatenate([one.leaves, other.leaves]))


def _release_of(release: PairRelease, sides: tuple[Rows, Rows], nodes: tuple[Ids, Ids]) -> PairRelease:
    """Return the release with other records."""
    pair = replace(release.pair, sides=sides, notices=())
    return replace(release, pair=pair, recoding=PairRecoding(nodes), seal=None)


def _notices(left_out: int, *, alone: bool | None) -> Sequence[str]:
    """Return what the holder should know; no value is named."""
    told = []
    if left_out:
        told.append(f"items that the recoding does not know are left out: {left_out:,}.")
    keep = "do" if alone else "do not"
    own = "" if alone is None else f", and the new ones alone {keep} keep the promise"
    told.append(
        f"whoever has both releases can tell which records are new{own}: replace the earlier release, "
        "do not publish both."
    )
    return told


ADDING = AddingPairs
