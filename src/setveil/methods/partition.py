"""Partition: transactional k-anonymity by top-down local generalization (He and Naughton, 2009).

Every published record, as a set, is the same as at least k - 1 others. All records that hold the same
roots start as one part that publishes those roots. A part is split on the node whose specialization
saves most loss: its records are grouped by the set of children that each then holds. Groups under k
make up a leftover part, which stays at the node and takes records from groups above k until it has k
itself; where that fails the split is not made and the next best node is tried. A part is final when no
node is left to try (`split_parts`).

Set semantics: a label counts once in a record however many of its items it stands for, and so a
published record does not tell how many items it had.

Differences from the paper
--------------------------
- The gain of a node is the loss that its split really saves, the leftover taken off, in the units of
  the chosen cost.
- A forest is allowed: records with different sets of roots can never become the same, and each such
  group needs k records, else the task is infeasible. The same holds for empty records.
- A leftover part takes the records that lose least by staying, of equals from the smallest group.
"""

from __future__ import annotations

import numpy as np

from ..distinct import distinct
from ..engines.base import Engine
from ..errors import Infeasible, InternalError
from ..hierarchy.tree import Counts, Hierarchy, Ids
from ..kernels.partition import Cells, Tree, Worth, next_nodes, split_parts
from ..kernels.rows import merge_rows, recode_rows
from ..model.costs import Cost
from ..model.guarantees import KAnonymity
from ..model.transactions import Rows
from ..progress import Watch
from ..registry import method
from ..release.recoding import Recoding
from . import Objective, Outcome

STRIDE = 20_000_000
"""Occurrences visited between two looks at the clock: about a tenth of a second."""


def anonymize(engine: Engine, guarantee: KAnonymity, *, cost: Cost, watch: Watch) -> Outcome:
    """Return a local recoding in which every published record occurs at least k times.

    The cost decides which node is split first.
    """
    method("partition").check_guarantee(guarantee)
    watch.tick("partition: sorting records", 0.0)
    hierarchy, rows = engine.hierarchy, engine.rows()
    if len(rows) == 0:
        nobody = np.empty(0, dtype=np.int32)
        return Outcome(Recoding.by_group(hierarchy, [], nobody), Objective(cost.name, 0))
    order, bounds = _parts_by_roots(hierarchy, rows, guarantee.k)
    now = hierarchy.root[rows.leaves].astype(np.int32)
    order, bounds = _split(hierarchy, rows, guarantee.k, cost, watch, now, order, bounds)
    recoding = _as_recoding(hierarchy, rows, now, order, bounds)
    paid = int((cost.importance_by_leaf[rows.leaves] * cost.unit_by_node[now]).sum())
    figures = {"parts": len(bounds), "largest part": int((bounds[:, 1] - bounds[:, 0]).max())}
    return Outcome(recoding, Objective(cost.name, paid), figures)


def _parts_by_roots(hierarchy: Hierarchy, rows: Rows, k: int) -> tuple[Counts, Counts]:
    """Return the records sorted by roots and then content, and the bounds of equal sets of roots.

    The order of equal records means nothing, so nothing that follows depends on the input's order.
    """
    ones = np.ones(len(rows), dtype=np.int64)
    rank = merge_rows(rows.indptr, rows.leaves, ones)[3]
    of_roots = recode_rows(rows.indptr, rows.leaves, hierarchy.root[: hierarchy.n_leaves])
    _, _, size, part_of_record = merge_rows(*of_roots, ones)
    short = np.flatnonzero(size < k)
    if len(short):
        _refuse(rows, part_of_record, size, int(short[0]), len(hierarchy.roots), k)
    order = np.lexsort((rank, part_of_record)).astype(np.int64)
    high = np.cumsum(size)
    return order, np.column_stack([high - size, high])


def _refuse(rows: Rows, part_of_record: Counts, size: Counts, part: int, n_trees: int, k: int) -> None:
    """Raise `Infeasible`: no generalization makes the records of a short part like others."""
    member = int(np.flatnonzero(part_of_record == part)[0])
    if rows.indptr[member] == rows.indptr[member + 1]:
        raise Infeasible(
            f"{int(size[part])} records are empty, fewer than k={k}, and nothing can make another "
            "record like them.",
            "Drop the empty records, or lower k.",
            code="too-few-empty",
        )
    if n_trees == 1:
        raise Infeasible(
            f"only {int(size[part])} records are not empty, fewer than k={k}.",
            "Lower k, or add records.",
            code="too-few-records",
        )
    raise Infeasible(
        f"{int((size < k).sum())} groups of records hold items of the same trees and have fewer than "
        f"k={k} members; records with items of different trees can never be published alike.",
        "Join the trees under one root, drop those records, or lower k.",
        code="too-few-alike",
    )


def _split(
    hierarchy: Hierarchy,
    rows: Rows,
    k: int,
    cost: Cost,
    watch: Watch,
    now: Ids,
    order: Counts,
    bounds: Counts,
) -> tuple[Counts, Counts]:
    """Split the parts as far as they go; `now` becomes the node of each occurrence."""
    children = [sorted(below, key=hierarchy.first_leaf.__getitem__) for below in hierarchy.children]
    child_start = np.zeros(len(hierarchy) + 1, dtype=np.int64)
    np.cumsum([len(below) for below in children], out=child_start[1:])
    child = np.array([node for below in children for node in below], dtype=np.int32)
    tree = Tree(child_start, child, hierarchy.first_leaf)
    deeper = next_nodes(now, rows.leaves, tree)
    only_child = (np.diff(child_start)[now] == 1) & (deeper >= 0)
    now[only_child] = deeper[only_child]
    cells = Cells(rows.indptr, rows.leaves, now, next_nodes(now, rows.leaves, tree))
    worth = Worth(cost.importance_by_leaf, cost.unit_by_node, hierarchy.label_rank)
    most_parts = len(rows) // k + len(bounds) + 1
    stack = np.empty((most_parts, 2), dtype=np.int64)
    done = np.empty((most_parts, 2), dtype=np.int64)
    # The part with the lowest place comes off the stack first.
    stack[: len(bounds)] = bounds[::-1]
    height, n_done = len(bounds), 0
    while height:
        watch.check_deadline()
        finished = int((done[:n_done, 1] - done[:n_done, 0]).sum())
        watch.tick("partition: splitting parts", finished / len(rows))
        height, n_done = split_parts(cells, order, stack, height, done, n_done, k, worth, tree, STRIDE)
    parts = done[:n_done]
    return order, parts[np.argsort(parts[:, 0])]


def _as_recoding(hierarchy: Hierarchy, rows: Rows, now: Ids, order: Counts, bounds: Counts) -> Recoding:
    """Return each part's one published set as the antichain of its group."""
    part_of_record = np.empty(len(rows), dtype=np.int32)
    part_of_record[order] = np.repeat(
        np.arange(len(bounds), dtype=np.int32), bounds[:, 1] - bounds[:, 0]
    )
    lengths = np.diff(rows.indptr)
    part = np.repeat(part_of_record.astype(np.int64), lengths)
    held = distinct(part * len(hierarchy) + now)
    part_of_node, node = held // len(hierarchy), (held % len(hierarchy)).astype(np.int32)
    by_place = np.lexsort((hierarchy.first_leaf[node], part_of_node))
    node = node[by_place]
    start = np.zeros(len(bounds) + 1, dtype=np.int64)
    np.cumsum(np.bincount(part_of_node, minlength=len(bounds)), out=start[1:])
    # Each record must hold every node of its part: then all of them publish one set.
    record = np.repeat(np.arange(len(rows), dtype=np.int64), lengths)
    first = np.ones(len(now), dtype=bool)
    first[1:] = (now[1:] != now[:-1]) | (record[1:] != record[:-1])
    if (np.bincount(record[first], minlength=len(rows)) != np.diff(start)[part_of_record]).any():
        raise InternalError("partition: two records of a part would be published differently.")
    return Recoding(hierarchy, node, start, part_of_record)
