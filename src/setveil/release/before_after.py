"""The original records beside what is published of them: what every measure looks at.

Both sides lie in one order, that of the original rows, so a measure can compare record by record.
Nothing of that order is ever published.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..hierarchy.tree import Hierarchy
from ..kernels.rows import merge_rows, recode_rows
from ..model.transactions import Rows
from .apply import published_nodes
from .recoding import Recoding

Ids = NDArray[np.int32]
Merged = tuple[NDArray[np.int64], Ids, NDArray[np.int64]]
"""Different rows in compressed form, and how many records each stands for."""


@dataclass(frozen=True, eq=False)
class BeforeAfter:
    """Records as leaves of a hierarchy, and the recoding that publishes them."""

    recoding: Recoding
    rows: Rows

    @property
    def hierarchy(self) -> Hierarchy:
        """The hierarchy, restricted to the leaves that occur."""
        return self.recoding.hierarchy

    @cached_property
    def node_of_occurrence(self) -> Ids:
        """The node each occurrence is published as, -1 where suppressed, in the rows' order."""
        return published_nodes(self.recoding, self.rows)

    @cached_property
    def published(self) -> Rows:
        """The published nodes of each record, ascending, each once; a record may be left empty."""
        places = np.arange(len(self.rows.leaves), dtype=np.int32)
        return Rows(*recode_rows(self.rows.indptr, places, self.node_of_occurrence))

    @cached_property
    def merged_before(self) -> Merged:
        """The different original records, as leaves, with how many there are of each."""
        return _merged(self.rows)

    @cached_property
    def merged_after(self) -> Merged:
        """The different published records, as nodes, with how many there are of each."""
        return _merged(self.published)

    @cached_property
    def found(self) -> dict[Hashable, Any]:
        """What measures have computed and others need again, by what it is."""
        return {}

    @cached_property
    def count_by_leaf(self) -> NDArray[np.int64]:
        """In how many original records each leaf is."""
        return np.bincount(self.rows.leaves, minlength=self.hierarchy.n_leaves).astype(np.int64)


def _merged(rows: Rows) -> Merged:
    once = np.ones(len(rows), dtype=np.int64)
    return merge_rows(rows.indptr, rows.leaves, once)[:3]
