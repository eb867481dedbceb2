"""Local recoding by chunks: every small world, every tree, every cut of every chunk, by brute force.

A chunk that keeps a promise by itself is published by one cut of the hierarchy; the union of such
chunks is what `lra` publishes. The promise is read as the audit reads it, on published labels as they
are, and as people know things, by items: a record fits where its labels can stand for such items.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations, combinations_with_replacement

import numpy as np
import pytest

from setveil.audit import Published, audit_published
from setveil.engines.local import LocalEngine
from setveil.errors import Infeasible
from setveil.hierarchy.tree import Hierarchy
from setveil.methods import local, optimal
from setveil.model.costs import make_cost
from setveil.model.guarantees import Guarantee, KmAnonymity, LmDiversity
from setveil.model.transactions import Transactions
from setveil.progress import Watch
from tests.oracle.promises import is_lm_diverse, is_negative_km_anonymous
from tests.oracle.worlds import Row, all_cuts, all_databases, all_trees, generalize

Bag = tuple[Row, ...]
Kept = Callable[[list[Row]], bool]
SECRET = "s"


def shapes(labels: str) -> list[Hierarchy]:
    """Return one tree of each shape: rows are over all labels alike, so that names do not matter."""
    found: dict[tuple[int, ...], Hierarchy] = {}
    for tree in all_trees(labels):
        shape = (*sorted(tree.depth[: tree.n_leaves]), *sorted(map(len, tree.children)))
        found.setdefault(tuple(map(int, shape)), tree)
    return list(found.values())


def with_secret(tree: Hierarchy) -> Hierarchy:
    return Hierarchy.from_parents({**tree.parents_by_label(), SECRET: None})


def chunks(tree: Hierarchy, labels: str, most_rows: int, kept: Kept) -> dict[int, list[Bag]]:
    """Return, by size, what chunks can publish that keep the promise by themselves."""
    cuts = list(all_cuts(tree))
    found: dict[int, list[Bag]] = {}
    for size in range(1, most_rows + 1):
        bags: set[Bag] = set()
        for rows in all_databases(labels, size):
            bags |= {tuple(sorted(generalize(rows, cut), key=sorted)) for cut in cuts}
        found[size] = [bag for bag in bags if kept(list(bag))]
    return found


def unions(found: dict[int, list[Bag]], most_rows: int) -> Iterator[list[Row]]:
    """Yield every union of two or more such chunks with at most so many rows."""
    every = sorted(((size, bag) for size in found for bag in found[size]), key=lambda one: one[0])
    least = every[0][0]
    for parts in range(2, most_rows // least + 1):
        fitting = [one for one in every if one[0] + (parts - 1) * least <= most_rows]
        for chosen in combinations_with_replacement(fitting, parts):
            if sum(size for size, _ in chosen) <= most_rows:
                yield [row for _, bag in chosen for row in bag]


def fits(row: Row, present: tuple[str, ...], absent: tuple[str, ...], under: dict[str, Row]) -> bool:
    """Tell whether the labels of a row can stand for items with these present and those absent."""
    known = set(absent)
    return all(any(item in under[label] for label in row) for item in present) and all(
        under[label] - known for label in row
    )


def holds_for_items(rows: list[Row], tree: Hierarchy, k: int, m: int) -> bool:
    """Tell whether whoever knows at most m items of a record, or not of it, finds none or k."""
    leaves = tree.labels[: tree.n_leaves]
    under = {
        label: frozenset(leaves[tree.first_leaf[node] : tree.end_leaf[node]])
        for node, label in enumerate(tree.labels)
    }
    for size in range(1, m + 1):
        for known in combinations(leaves, size):
            for signs in range(2**size):
                present = tuple(item for i, item in enumerate(known) if signs >> i & 1)
                absent = tuple(item for i, item in enumerate(known) if not signs >> i & 1)
                if 0 < sum(fits(row, present, absent, under) for row in rows) < k:
                    return False
    return True


@pytest.mark.parametrize(
    ("labels", "k", "m", "rows_each", "rows_in_all"),
    [("abcd", 2, 1, 2, 4), ("abcd", 2, 2, 2, 4), ("abc", 2, 1, 4, 6), ("abc", 2, 3, 4, 6)],
)
def test_negative_knowledge_is_kept_by_every_union(
    labels: str, k: int, m: int, rows_each: int, rows_in_all: int
) -> None:
    compared = 0
    for tree in shapes(labels):
        # A chunk of fewer than k records could show nothing, and is never made.
        found = chunks(
            tree,
            labels,
            rows_each,
            lambda rows: len(rows) >= k and is_negative_km_anonymous(rows, k, m),
        )
        for rows in unions({size: bags for size, bags in found.items() if bags}, rows_in_all):
            compared += 1
            assert is_negative_km_anonymous(rows, k, m)
            assert holds_for_items(rows, tree, k, m)
    assert compared > 100


@pytest.mark.parametrize(("labels", "m"), [("ab", 1), ("ab", 2), ("abc", 1), ("abc", 2)])
def test_diversity_is_kept_by_every_union(labels: str, m: int) -> None:
    compared = 0
    for tree in shapes(labels):
        found = chunks(
            with_secret(tree), labels + SECRET, 3, lambda rows: is_lm_diverse(rows, 2, m, {SECRET})
        )
        for rows in unions(found, 4):
            compared += 1
            assert is_lm_diverse(rows, 2, m, {SECRET})
    assert compared > 100


NEGATIVE, DIVERSE = KmAnonymity(2, 2, negative=True), LmDiversity(2, 2, frozenset(SECRET))


@pytest.mark.parametrize(
    ("guarantee", "inner", "border"),
    [
        (NEGATIVE, "aa", 1),
        (NEGATIVE, "aa", 2),
        (NEGATIVE, "optimal", 2),
        (DIVERSE, "optimal", 1),
        (DIVERSE, "optimal", 2),
        (DIVERSE, "optimal", 3),
    ],
)
def test_all_that_lra_makes_of_four_records(
    monkeypatch: pytest.MonkeyPatch, guarantee: Guarantee, inner: str, border: int
) -> None:
    """Every database, tree and place of the border; what fails could not be done without chunks."""
    bounds = np.array([0, border, 4])
    monkeypatch.setattr(local, "chunk_bounds", lambda *_: bounds)
    secret = isinstance(guarantee, LmDiversity)
    labels = "ab" + SECRET if secret else "abc"
    in_two = 0
    for tree in shapes("ab" if secret else "abc"):
        for rows in all_databases(labels, 4):
            if not any(rows) or (secret and not any(SECRET in row for row in rows)):
                continue
            whole = with_secret(tree) if secret else tree
            engine = LocalEngine.of(Transactions.from_rows(rows), whole, threads=1)
            asked = {"cost": make_cost("ncp", engine.hierarchy), "watch": Watch()}
            try:
                outcome = local.anonymize(engine, guarantee, inner=inner, threads=1, **asked)
            except Infeasible:
                with pytest.raises(Infeasible):
                    optimal.anonymize(engine, guarantee, **asked)
                continue
            shown = list(engine.publish(outcome.recoding).rows())
            in_two += outcome.recoding.n_groups == 2
            if isinstance(guarantee, LmDiversity):
                assert is_lm_diverse(shown, 2, 2, {SECRET})
            else:
                assert is_negative_km_anonymous(shown, 2, 2)
            assert audit_published(Published.from_rows(shown), guarantee, threads=1).holds
    assert in_two > 20 or (border != 2 and not secret)
