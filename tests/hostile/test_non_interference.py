"""Inputs that differ and lead to the same release give the same public bytes, report and all.

Same release means: the same published records and hierarchy, the same parameters, losses that round to
the same two digits, and the same bands. Whatever else is different about the inputs must not show.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

import pytest

import setveil as sv
from setveil.model.guarantees import Guarantee
from setveil.release.documents import banded, published_paths
from tests.contract.cases import CASES, public_bytes

Rows = Sequence[Sequence[str]]
TREE = sv.Hierarchy.from_parents(
    {
        **dict.fromkeys(("a", "b", "c", "d"), "A"),
        **dict.fromkeys(("x", "y"), "X"),
        **dict.fromkeys(("A", "X", "milk", "bun", "HIV"), "ALL"),
        "ALL": None,
    }
)
MILK: Rows = [["milk"]] * 8


def seen(release: sv.Release) -> object:
    """Return all that a public document may depend on."""
    return (
        list(release.published.rows()),
        published_paths(release.hierarchy, release.labels),
        release.method,
        {name: round(loss, 2) for name, loss in release.losses.items()},
        banded(release.suppressed_items, release.guarantee.least_support),
        banded(len(release.dropped), release.guarantee.least_support),
    )


@pytest.mark.parametrize(
    ("guarantee", "method", "one", "other"),
    [
        # Which of the items below a category there were, and how often each.
        (sv.KmAnonymity(3, 2), "optimal", [["a"], ["b"], ["c"], *MILK], [["b"], ["c"], ["d"], *MILK]),
        (
            sv.KmAnonymity(3, 2),
            "aa",
            [["a", "milk"], ["a", "milk"], ["b", "milk"], *MILK],
            [["a", "milk"], ["b", "milk"], ["b", "milk"], *MILK],
        ),
        (
            sv.KmAnonymity(3, 2, negative=True),
            "optimal",
            [["a"], ["a"], ["b"], *MILK],
            [["a"], ["b"], ["b"], *MILK],
        ),
        # Two items of a category in one record, or one.
        (
            sv.KmAnonymity(3, 1),
            "optimal",
            [["a", "b"], ["a"], ["b"], *[["milk", "bun"]] * 90],
            [["a", "b"], ["a", "b"], ["a"], *[["milk", "bun"]] * 90],
        ),
        # Which items were left out.
        (sv.KmAnonymity(3, 2), "trim", [["x", "milk"], *MILK], [["y", "milk"], *MILK]),
        (sv.KmAnonymity(3, 2), "mm", [["a", "milk"], *MILK], [["d", "milk"], *MILK]),
        (sv.KmAnonymity(3, 2), "mm", [["a", "milk"], ["x"], *MILK], [["d", "milk"], ["y"], *MILK]),
        (
            sv.KAnonymity(3),
            "partition",
            [["a"], ["a"], ["b"], ["milk"], ["milk"], ["milk"]],
            [["a"], ["b"], ["b"], ["milk"], ["milk"], ["milk"]],
        ),
        (
            sv.LmDiversity(2, 1, frozenset({"HIV"})),
            "optimal",
            [["a", "HIV"], ["b"], ["b"], ["b"], *MILK],
            [["b", "HIV"], ["a"], ["a"], ["a"], *MILK],
        ),
        (
            sv.Coherence(Fraction(60), 3, 2, frozenset({"HIV"})),
            "mm",
            [["a", "milk"], ["milk", "HIV"], *MILK],
            [["b", "milk"], ["milk", "HIV"], *MILK],
        ),
    ],
)
def test_what_the_release_does_not_show_is_in_no_public_byte(
    tmp_path: Path, guarantee: Guarantee, method: str, one: Rows, other: Rows
) -> None:
    releases = [
        sv.anonymize(sv.Transactions.from_rows(rows), guarantee, hierarchy=TREE, method=method)
        for rows in (one, other)
    ]
    assert seen(releases[0]) == seen(releases[1])
    for name, release in zip(("one", "other"), releases, strict=True):
        sv.publish(release, tmp_path / name)
    assert public_bytes(tmp_path / "one") == public_bytes(tmp_path / "other")
    private = [(tmp_path / f"{name}.private/recoding.json").read_bytes() for name in ("one", "other")]
    assert private[0] != private[1]


def relabelled(release: sv.Release, rows: Rows, seed: int) -> list[list[str]]:
    """Return the rows with the items below each published category exchanged at random."""
    draw = random.Random(seed)
    tree = release.hierarchy
    new_of_old: dict[str, str] = {}
    for node in set(release.recoding.nodes.tolist()):
        below = list(tree.labels[tree.first_leaf[node] : tree.end_leaf[node]])
        new_of_old.update(zip(below, draw.sample(below, len(below)), strict=True))
    return [sorted({new_of_old.get(item, item) for item in row}) for row in rows]


@pytest.mark.parametrize("model", ["km", "km-negative", "lm", "coherence"])
def test_items_exchanged_below_published_labels_leave_no_trace(tmp_path: Path, model: str) -> None:
    """Of the exchanges that lead to the same release, every one leads to the same bytes."""
    compared = 0
    for case in [case for case in CASES if case.model == model]:
        for seed in range(6):
            rows = case.rows(seed=seed)
            release = case.release(rows)
            again = case.release(relabelled(release, rows, seed))
            if seen(release) != seen(again):
                continue
            compared += 1
            for name, each in (("one", release), ("other", again)):
                sv.publish(each, tmp_path / name, force=True, allow_useless=True)
            assert public_bytes(tmp_path / "one") == public_bytes(tmp_path / "other")
    assert compared >= 4
