"""The seam between methods and data: the questions a method may ask.

Everything is asked in nodes of `hierarchy` (restricted to the leaves that occur), so the same method
runs on arrays in memory, on a cluster, or on the tests' brute force. What needs rows (count-tree,
Gray order, Partition) asks `rows`, and the registry says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from ..errors import ResourceLimit
from ..hierarchy.tree import Counts, Hierarchy, Ids
from ..kernels.itemsets.projected import MOST, TooLarge
from ..model.guarantees import Guarantee
from ..model.transactions import Rows, Transactions
from ..release.recoding import Recoding

NodeSets = NDArray[np.int32]
"""Sets of nodes, one a line, padded with -1."""
Ask = Callable[[], None]
"""Called now and then while an answer is worked out; what it raises ends the work."""


def padded(sets: Sequence[Sequence[int]], width: int | None = None) -> NodeSets:
    """Return sets of nodes as lines of one width, padded with -1."""
    columns = max((len(nodes) for nodes in sets), default=1) if width is None else width
    lines = np.full((len(sets), max(columns, 1)), -1, dtype=np.int32)
    for line, nodes in zip(lines, sets, strict=True):
        line[: len(nodes)] = nodes
    return lines


@contextmanager
def within_32_bits() -> Iterator[None]:
    """Refuse plainly what is too large for a search for itemsets."""
    try:
        yield
    except TooLarge as error:
        raise ResourceLimit(
            f"itemsets are searched in fewer than {MOST:,} records, and fewer items in them; these are "
            "more.",
            "Take a sample of the records, or work on parts of them, each by itself.",
            code="too-many-records",
        ) from error


@dataclass(frozen=True, eq=False)
class Violations:
    """Published patterns that break a guarantee, and in how many records each is.

    `sets` holds the nodes known to be present, `absent` those known to be absent (no column unless
    negative knowledge was asked for); both padded with -1. `complete` tells whether these are all
    minimal ones or the limit cut the list.
    """

    sets: NodeSets
    support: Counts
    complete: bool
    absent: NodeSets | None = None

    def __len__(self) -> int:
        return len(self.sets)


class Engine(Protocol):
    """Answers about one data set bound to one hierarchy."""

    @property
    def hierarchy(self) -> Hierarchy:
        """The hierarchy, restricted to the leaves that occur."""
        ...

    @property
    def n_records(self) -> int:
        """How many records (persons) there are, empty ones included."""
        ...

    def item_counts(self) -> Counts:
        """Return in how many records each leaf is."""
        ...

    def violations(
        self,
        recoding: Recoding,
        guarantee: Guarantee,
        *,
        limit: int | None = None,
        ask: Ask | None = None,
    ) -> Violations:
        """Return the minimal patterns that a global recoding would publish against `guarantee`."""
        ...

    def supports(self, sets: NodeSets, *, enough: int | None = None) -> Counts:
        """Return in how many records each set of nodes is, at any level of the hierarchy.

        A record holds a node if it holds a leaf under it. Counting may stop at `enough`.
        """
        ...

    def publish(self, recoding: Recoding) -> Transactions:
        """Return the published records in canonical order."""
        ...

    def rows(self) -> Rows:
        """Return the records themselves, as leaves; `UsageError` where an engine holds none."""
        ...


@runtime_checkable
class NearData(Protocol):
    """What an engine may answer by itself, near its data; else `search` asks for supports."""

    def lift(self, sets: NodeSets, k: int) -> tuple[NodeSets, Counts]:
        """Return what ``search.clauses.lift`` returns."""
        ...

    def witnesses(self, sets: NodeSets, per_set: int) -> tuple[NodeSets, Counts]:
        """Return what ``search.clauses.find_witnesses`` returns."""
        ...

    def threats(self, nodes: Ids, k: int, m: int, limit: int, ask: Ask | None = None) -> NodeSets:
        """Return the minimal rare sets of these nodes; of `limit` or more, some."""
        ...
