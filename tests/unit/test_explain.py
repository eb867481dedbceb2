"""Explanations by brute force: every reported combination breaks the promise, every bound is tight."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import pairwise

import pytest

import setveil as sv
from setveil.errors import Infeasible, UsageError
from setveil.explain import Explanation, Pattern, Patterns, explain, explain_all
from setveil.hierarchy.tree import Hierarchy
from setveil.model.guarantees import Guarantee
from tests.contract.cases import CASES, Case
from tests.oracle import promises
from tests.oracle.worlds import random_world

Rows = list[tuple[str, ...]]
Published = dict[str, str | None]
ALL = 10**6


def mapping(release: sv.Release) -> Published:
    labels = release.hierarchy.labels
    nodes = release.recoding.node_of_leaf().tolist()
    return {labels[leaf]: None if node < 0 else labels[node] for leaf, node in enumerate(nodes)}


def recoded(rows: list[list[str]], published: Published) -> Rows:
    return [
        tuple(sorted({new for item in row if (new := published[item]) is not None})) for row in rows
    ]


def leaves(tree: Hierarchy, label: str) -> list[str]:
    return [leaf for leaf in tree.labels[: tree.n_leaves] if label in tree.path(leaf)]


def finer(tree: Hierarchy, published: Published, label: str, step: str) -> Published:
    """What the items are published as if `label`'s way down or up reaches `step`, by hand."""
    changed = dict(published)
    way = tree.path(step)
    over = next((upper for upper in way if upper in published.values()), None)
    if over is None:
        return changed | dict.fromkeys(leaves(tree, step), step)
    for leaf in leaves(tree, over):
        if step in tree.path(leaf):
            changed[leaf] = step
        else:
            below = tree.path(leaf)[: tree.path(leaf).index(over)]
            changed[leaf] = next(node for node in reversed(below) if node not in way)
    return changed


def parted(tree: Hierarchy, published: Published, label: str) -> Published:
    changed = dict(published)
    for leaf in leaves(tree, label):
        path = tree.path(leaf)
        changed[leaf] = path[path.index(label) - 1]
    return changed


def as_set(patterns: Patterns) -> set[Pattern]:
    assert len(patterns.shown) == patterns.total
    return set(patterns.shown)


def rare(rows: Rows, k: int, m: int) -> set[Pattern]:
    return {
        Pattern(found, promises.support(rows, found))
        for size in range(1, m + 1)
        for found in promises.minimal_rare_sets(rows, k, size)
    }


def after_giving_way(
    tree: Hierarchy, published: Published, given: list[tuple[str, str | None]]
) -> Published:
    changed = dict(published)
    for label, instead in given:
        if instead is None:
            changed = {leaf: None if new == label else new for leaf, new in changed.items()}
        else:
            changed |= dict.fromkeys(leaves(tree, instead), instead)
    return changed


def loss(tree: Hierarchy, rows: list[list[str]], published: Published) -> Fraction:
    total = Fraction(0)
    for row in rows:
        for item in set(row):
            new = published[item]
            if new is None:
                total += 1
            elif len(leaves(tree, new)) > 1:
                total += Fraction(len(leaves(tree, new)), len(leaves(tree, tree.path(item)[-1])))
    return total / sum(len(set(row)) for row in rows)


def changed_to(tree: Hierarchy, now: Published, answer: Explanation, place: int) -> Published:
    level = answer.levels[place]
    if level.parts:
        assert set(level.parts) == {
            tree.labels[n] for n in tree.children[tree.node_of_label[level.label]]
        }
        return parted(tree, now, level.label)
    return finer(tree, now, answer.label, level.label)


@pytest.mark.parametrize("method", ["trim", "aa", "mm", "mhghs", "optimal"])
@pytest.mark.parametrize("seed", range(15))
def test_small_worlds(seed: int, method: str) -> None:
    world = random_world(seed * 7 + 1, most_labels=6, most_rows=14)
    k, m = 2 + seed % 3, 1 + seed % 3
    if len(world.rows) < k:
        return
    try:
        release = sv.anonymize(
            world.transactions, sv.KmAnonymity(k, m), hierarchy=world.hierarchy, method=method
        )
    except Infeasible:
        return
    tree, now = release.hierarchy, mapping(release)
    for answer in explain_all(release, tree.labels, top=ALL):
        check(answer, tree, now, world.rows, k, m)


def check(
    answer: Explanation, tree: Hierarchy, now: Published, rows: list[list[str]], k: int, m: int
) -> None:
    below = set(leaves(tree, answer.label))
    assert answer.records == sum(not below.isdisjoint(row) for row in rows)
    ways = Counter(now[item] for row in rows for item in set(row) & below)
    assert {share.published_as: share.occurrences for share in answer.shares} == dict(ways)
    upper = next((step for step in tree.path(answer.label) if step in now.values()), None)
    assert answer.published_as == upper
    assert answer.ncp == loss(tree, rows, now)
    for place, level in enumerate(answer.levels):
        then = recoded(rows, changed_to(tree, now, answer, place))
        own = set(level.parts) or {level.label}
        expected = rare(then, k, m)
        assert as_set(level.against) == {found for found in expected if own & set(found.labels)}
        assert as_set(level.beside) == {found for found in expected if not own & set(found.labels)}
    if not answer.levels:
        assert answer.kept or any(now[leaf] for leaf in below)
        return
    last = changed_to(tree, now, answer, len(answer.levels) - 1)
    then = recoded(rows, last)
    broken = not promises.is_km_anonymous(then, k, m)
    assert ("not forced" in answer.conclusion) == (not broken)
    if not broken:
        return
    kept = [number for number in range(2, k) if promises.is_km_anonymous(then, number, m)]
    assert answer.largest_k == max(kept, default=None)
    kept = [number for number in range(1, m) if promises.is_km_anonymous(then, k, number)]
    assert answer.largest_m == max(kept, default=None)
    own = set(answer.levels[-1].parts) or {answer.label}
    alone = any(set(found.labels) <= own for found in rare(then, k, m))
    assert (answer.giving_way is None) == alone
    if answer.giving_way is None:
        assert "forced:" in answer.conclusion
        return
    given = [(other.label, other.instead) for other in answer.giving_way]
    assert not own & {label for label, _ in given}
    settled = after_giving_way(tree, last, given)
    assert all(settled[leaf] == last[leaf] for step in own for leaf in leaves(tree, step))
    assert promises.is_km_anonymous(recoded(rows, settled), k, m)
    assert answer.ncp_then == loss(tree, rows, settled)
    for one in given:
        fewer = after_giving_way(tree, last, [other for other in given if other != one])
        assert not promises.is_km_anonymous(recoded(rows, fewer), k, m)


def kept_by(rows: Rows, guarantee: Guarantee) -> bool:
    if isinstance(guarantee, sv.LmDiversity):
        return promises.is_lm_diverse(rows, guarantee.l, guarantee.m, guarantee.sensitive)
    if isinstance(guarantee, sv.Coherence):
        return promises.is_coherent(rows, guarantee.h, guarantee.k, guarantee.p, guarantee.private)
    assert isinstance(guarantee, sv.KmAnonymity)
    return promises.is_negative_km_anonymous(rows, guarantee.k, guarantee.m)


def breaks(rows: Rows, pattern: Pattern, guarantee: Guarantee) -> bool:
    """Whether a pattern is counted right and is against the guarantee."""
    support = promises.support(rows, pattern.labels, pattern.absent)
    if support != pattern.support or not support:
        return False
    if pattern.secret is None:
        return not isinstance(guarantee, sv.LmDiversity) and support < guarantee.k
    together = promises.support(rows, [*pattern.labels, pattern.secret])
    assert together == pattern.with_secret
    if isinstance(guarantee, sv.LmDiversity):
        return guarantee.l * together > support
    assert isinstance(guarantee, sv.Coherence)
    return together > guarantee.share * support


@pytest.mark.parametrize(
    "case",
    [
        case
        for case in CASES
        if case.model in ("km-negative", "lm", "coherence") and case.record.recoding == "global"
    ],
    ids=lambda case: case.name,
)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_other_guarantees(case: Case, seed: int) -> None:
    rows = case.rows(seed)
    release = case.release(rows)
    tree, now, guarantee = release.hierarchy, mapping(release), release.guarantee
    reported = 0
    for answer in explain_all(release, tree.labels, top=ALL):
        for place, level in enumerate(answer.levels):
            then = recoded(rows, changed_to(tree, now, answer, place))
            found = [*level.against.shown, *level.beside.shown]
            reported += len(found)
            assert all(breaks(then, pattern, guarantee) for pattern in found)
            assert bool(found) == (not kept_by(then, guarantee))
        if answer.giving_way is not None:
            last = changed_to(tree, now, answer, len(answer.levels) - 1)
            given = [(other.label, other.instead) for other in answer.giving_way]
            assert kept_by(recoded(rows, after_giving_way(tree, last, given)), guarantee)
    assert reported


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(
    "case", [case for case in CASES if case.record.key == "lra"], ids=lambda case: case.name
)
def test_local_recoding_counts_within_the_group(case: Case, seed: int) -> None:
    rows = case.rows(seed)
    release = case.release(rows)
    tree, recoding = release.hierarchy, release.recoding
    assert release.rows is not None and recoding.group_of_record is not None
    bounds = release.rows.indptr.tolist()
    originals = [
        [tree.labels[leaf] for leaf in release.rows.leaves[start:end].tolist()]
        for start, end in pairwise(bounds)
    ]
    members = {
        group: [
            row for row, own in zip(originals, recoding.group_of_record, strict=True) if own == group
        ]
        for group in range(recoding.n_groups)
    }
    for answer in explain_all(release, tree.labels[: tree.n_leaves], top=ALL):
        assert answer.groups_total == len(answer.groups)
        assert sum(share.occurrences for share in answer.shares) == answer.records
        held = [sum(answer.label in row for row in rows) for rows in members.values()]
        assert sum(held) == answer.records
        for group in answer.groups:
            fitting = [
                number
                for number, rows in members.items()
                if len(rows) == group.size and sum(answer.label in row for row in rows) == group.records
            ]
            assert any(in_group(tree, release, members[g], g, answer, group.levels) for g in fitting)


def in_group(
    tree: Hierarchy,
    release: sv.Release,
    rows: list[list[str]],
    group: int,
    answer: Explanation,
    levels: tuple[object, ...],
) -> bool:
    nodes = release.recoding.node_of_leaf(group).tolist()
    now = {
        tree.labels[leaf]: None if node < 0 else tree.labels[node] for leaf, node in enumerate(nodes)
    }
    guarantee = release.guarantee
    for level in levels:
        then = recoded(rows, finer(tree, now, answer.label, level.label))  # type: ignore[attr-defined]
        found = as_set(level.against) | as_set(level.beside)  # type: ignore[attr-defined]
        if isinstance(guarantee, sv.KmAnonymity) and not guarantee.negative:
            if found != rare(then, guarantee.k, guarantee.m):
                return False
            continue
        right = all(breaks(then, pattern, guarantee) for pattern in found)
        if not right or bool(found) == kept_by(then, guarantee):
            return False
    return True


@pytest.mark.parametrize("seed", range(4))
def test_partition_tells_which_classes_would_be_too_small(seed: int) -> None:
    case = next(case for case in CASES if case.record.key == "partition")
    release = case.release(case.rows(seed))
    tree = release.hierarchy
    told = 0
    for answer in explain_all(release, tree.labels[: tree.n_leaves], top=ALL):
        for group in answer.groups:
            assert group.size >= release.guarantee.k  # type: ignore[union-attr]
            for level in group.levels:
                small = [*level.against.shown, *level.beside.shown]
                told += len(small)
                assert all(0 < pattern.support < 3 for pattern in small)
            # The method splits as far as it can, so the first step down must leave something too small.
            assert not group.levels[0].free
    assert told


def test_an_item_that_is_kept_and_a_category_in_pieces() -> None:
    rows = [["a", "b"]] * 3 + [["c"]] * 3 + [["a", "d"]]
    tree = sv.Hierarchy.from_parents(
        {"a": "AB", "b": "AB", "c": "CD", "d": "CD", "AB": "ALL", "CD": "ALL", "ALL": None}
    )
    release = sv.anonymize(
        sv.Transactions.from_rows(rows), sv.KmAnonymity(2, 2), hierarchy=tree, method="trim"
    )
    kept = explain(release, "a")
    assert kept.kept and str(kept).startswith("'a', in 4 records, is published as itself.")
    gone = explain(release, "d")
    assert gone.published_as is None
    assert "forced: it is in 1 record, too few by itself" in str(gone)
    mixed = explain(release, "CD")
    assert {share.published_as for share in mixed.shares} == {"c", None}
    assert "ask about them one by one" in str(mixed)
    for answer in (kept, gone, mixed):
        assert "Personal data" in answer._repr_html_()
        assert "Personal" in str(answer.as_dict()["personal_data"])


def test_what_was_a_choice_is_said_to_be_one() -> None:
    rows = [["x", "y"]] + [["x"]] * 5 + [["y"]] * 4
    release = sv.anonymize(sv.Transactions.from_rows(rows), sv.KmAnonymity(2, 2), method="trim")
    answer = explain(release, "y")
    assert answer.published_as is None
    assert [other.as_dict() for other in answer.giving_way or ()] == [{"label": "x", "instead": None}]
    assert "a choice: it could be published as itself with 'x' left out" in answer.conclusion
    assert "trim kept that and lost less" in answer.conclusion
    assert (answer.largest_k, answer.largest_m) == (None, 1)


def test_what_cannot_be_explained_is_refused() -> None:
    rows = [["a"], ["a"], ["b"], ["b"]]
    release = sv.anonymize(sv.Transactions.from_rows(rows), sv.KmAnonymity(2, 1))
    with pytest.raises(UsageError, match="neither an item"):
        explain(release, "z")
    with pytest.raises(UsageError, match="top"):
        explain(release, "a", top=0)
    from dataclasses import replace

    without = replace(release, rows=None)
    with pytest.raises(UsageError, match="original"):
        explain(without, "a")
    assert explain(without, "a", original=sv.Transactions.from_rows(rows)).kept


def test_labels_are_escaped_in_html() -> None:
    release = sv.anonymize(
        sv.Transactions.from_rows([["<b>x</b>"], ["<b>x</b>"], ["y"]]), sv.KmAnonymity(2, 1)
    )
    assert "<b>" not in explain(release, "<b>x</b>")._repr_html_()


def test_siblings_that_break_the_promise_are_named() -> None:
    rows = [["rolls", "milk"]] * 3 + [["cake", "milk"], ["tart", "milk"], ["milk"]]
    tree = Hierarchy.from_paths(
        [*((item, "bakery", "ALL") for item in ("rolls", "cake", "tart")), ("milk", "dairy", "ALL")]
    )
    release = sv.anonymize(
        sv.Transactions.from_rows(rows), sv.KmAnonymity(k=2, m=2), hierarchy=tree, method="optimal"
    )
    answer = explain(release, "rolls")
    (level,) = answer.levels
    assert (level.siblings, level.instead_of) == (("cake", "tart"), "bakery")
    told = str(answer)
    assert "no combination with it breaks the promise, but" in told
    assert "'cake', 'tart' would be published too, instead of 'bakery'" in told
    assert "as itself, with 'cake', 'tart' beside it" in told


def test_levels_are_told_from_the_item_upwards() -> None:
    rows = [["a"], ["b"], ["c"], ["d"]]
    tree = Hierarchy.from_paths(
        [("a", "ab", "ALL"), ("b", "ab", "ALL"), ("c", "cd", "ALL"), ("d", "cd", "ALL")]
    )
    release = sv.anonymize(
        sv.Transactions.from_rows(rows), sv.KmAnonymity(k=3, m=1), hierarchy=tree, method="optimal"
    )
    told = str(explain(release, "a"))
    assert told.index("as 'a' ") < told.index("as 'ab' ")
