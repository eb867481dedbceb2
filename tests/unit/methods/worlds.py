"""Small random data on random forests, for methods and their search."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st

from setveil.engines.local import LocalEngine
from setveil.hierarchy.tree import Hierarchy
from setveil.model.transactions import Rows, Transactions, bind
from tests.oracle.loopback import LoopbackEngine

LEAF_LABELS = ["d", "k", "b", "t", "m", "f", "x", "q"]
INNER_LABELS = ["c", "z", "a", "l", "e", "s", "g", "u", "h", "w", "i", "y"]


@dataclass(frozen=True)
class World:
    """A hierarchy restricted to the leaves that occur, and the records on it."""

    hierarchy: Hierarchy
    rows: Rows
    sets: tuple[frozenset[int], ...]

    def local(self) -> LocalEngine:
        return LocalEngine(self.hierarchy, self.rows, threads=1)

    def loopback(self) -> LoopbackEngine:
        return LoopbackEngine(self.hierarchy, self.rows)

    def __repr__(self) -> str:
        rows = [sorted(self.hierarchy.labels[leaf] for leaf in row) for row in self.sets]
        return f"World({self.hierarchy.parents_by_label()}, {rows})"


def world_of(parent_of_label: dict[str, str | None], rows: list[list[str]]) -> World:
    hierarchy, bound = bind(Transactions.from_rows(rows), Hierarchy.from_parents(parent_of_label))
    return World(
        hierarchy,
        bound,
        tuple(
            frozenset(bound.leaves[bound.indptr[r] : bound.indptr[r + 1]].tolist())
            for r in range(len(bound))
        ),
    )


@st.composite
def worlds(draw: st.DrawFn, *, one_tree: bool | None = None, most_rows: int = 12) -> World:
    """Trees and forests of all shapes: unary chains, unequal depths, roots that are leaves."""
    leaves = LEAF_LABELS[: draw(st.integers(2, len(LEAF_LABELS)))]
    parent_of_label: dict[str, str | None] = {}
    tops = list(leaves)
    names = iter(draw(st.permutations(INNER_LABELS)))
    for _ in range(draw(st.integers(0, 8))):
        tops = draw(st.permutations(tops))
        taken = draw(st.integers(1, min(3, len(tops))))
        name = next(names)
        parent_of_label |= dict.fromkeys(tops[:taken], name)
        tops = [*tops[taken:], name]
    if one_tree if one_tree is not None else draw(st.booleans()):
        parent_of_label |= dict.fromkeys(tops, "root")
        tops = ["root"]
    parent_of_label |= dict.fromkeys(tops)
    rows = draw(
        st.lists(
            st.lists(st.sampled_from(leaves), min_size=0, max_size=6), min_size=1, max_size=most_rows
        ).filter(any)
    )
    return world_of(parent_of_label, rows)


TOY_PARENTS: dict[str, str | None] = {
    "a1": "A",
    "a2": "A",
    "b1": "B",
    "b2": "B",
    "A": "ALL",
    "B": "ALL",
    "ALL": None,
}
TOY_ROWS = [["a1", "b1", "b2"], ["a2", "b1"], ["a2", "b1", "b2"], ["a1", "a2", "b2"]]


def toy() -> World:
    """Figures 1 and 2a of the 2008 paper."""
    return world_of(TOY_PARENTS, TOY_ROWS)
