"""When a release is of no use, for sets, buckets and pairs; `publish` refuses such a one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import setveil as sv
from setveil.errors import Infeasible
from setveil.hierarchy.tree import Hierarchy
from setveil.model.microdata import Microdata
from setveil.model.pattern_pair import PatternPair
from setveil.release.buckets import Bucketing, BucketRelease
from setveil.release.pair_release import PairRelease
from setveil.release.recoding import PairRecoding

TREE = Hierarchy.from_parents(
    {**dict.fromkeys("ab", "ab"), **dict.fromkeys("cd", "cd"), "ab": "ALL", "cd": "ALL", "ALL": None}
)
FLAT = Hierarchy.from_parents({**dict.fromkeys("abcdef", "ALL"), "ALL": None})
Lost = sv.Release | BucketRelease | PairRelease


def of_sets(rows: list[list[str]], k: int, **options: object) -> sv.Release:
    return sv.anonymize(sv.Transactions.from_rows(rows), sv.KmAnonymity(k, 2), **options)


def at_the_root() -> sv.Release:
    return of_sets([[item] for item in "abcdef"], 4, hierarchy=FLAT, method="optimal")


def without_a_label() -> sv.Release:
    return of_sets([[item] for item in "abcdef"], 4, method="mm")


def mostly_empty(others: int = 4) -> sv.Release:
    rows = [["a"]] * 3 + [[item] for item in "bcdefg"[:others]]
    return of_sets(rows, 3, method="trim")


def pair(raised: int, records: int = 4) -> PairRelease:
    rows = [["a"]] * records
    data = PatternPair.of_sets(
        sv.Transactions.from_rows(rows), sv.Transactions.from_rows([["b"]]), TREE
    )
    node = data.hierarchy.node_of_label
    nodes = np.full(records, node["a"], dtype=np.int32)
    nodes[:raised] = node["ALL"]
    recoding = PairRecoding((nodes, np.array([node["ALL"]], dtype=np.int32)))
    return PairRelease(data, recoding, guarantee=sv.HiddenPatterns(100, "99%"), method="hide-patterns")


def buckets(sizes: list[int], l: int) -> BucketRelease:  # noqa: E741 - the papers' name
    number = np.repeat(np.arange(len(sizes)), sizes).astype(np.int32)
    values = [f"v{place % l}" for size in sizes for place in range(size)]
    data = Microdata.from_columns({"age": ["30"] * len(values), "ill": values}, "ill")
    return BucketRelease(data, Bucketing(number), guarantee=sv.LDiversity(l), method="anatomy")


USELESS: list[tuple[Callable[[], Lost], str]] = [
    (at_the_root, "nothing but 'ALL' is published"),
    (without_a_label, "nothing is published: every item was left out"),
    (mostly_empty, "4 of 7 records would say nothing"),
    (lambda: pair(4), "nothing but topmost categories is left"),
    (lambda: pair(2), "3 of 5 records would say nothing but topmost categories"),
    (lambda: buckets([12], 3), "all 12 records share one bucket"),
]
OF_USE: list[Callable[[], Lost]] = [
    lambda: mostly_empty(3),
    lambda: of_sets([["a"], ["b"], ["c"], ["d"]], 2, hierarchy=TREE, method="optimal"),
    lambda: pair(1),
    lambda: buckets([9], 3),
    lambda: buckets([9, 3], 3),
]


@pytest.mark.parametrize(("make", "said"), USELESS)
def test_a_release_of_no_use_is_returned_but_not_published(
    make: Callable[[], Lost], said: str, tmp_path: Path
) -> None:
    release = make()
    assert said in str(release.useless)
    with pytest.raises(Infeasible) as caught:
        sv.publish(release, tmp_path / "out")
    (problem,) = caught.value.problems
    assert caught.value.exit_code == 4
    assert problem.code == "useless"
    assert said in problem.what
    assert "--publish-useless (allow_useless=True in Python)" in problem.remedy
    assert list(tmp_path.iterdir()) == []
    assert sv.publish(release, tmp_path / "out", allow_useless=True).verdict.holds


@pytest.mark.parametrize("make", OF_USE)
def test_a_release_that_tells_something_is_published(make: Callable[[], Lost], tmp_path: Path) -> None:
    release = make()
    assert release.useless is None
    assert sv.publish(release, tmp_path / "out").verdict.holds


def test_a_release_that_replaces_another_leaves_it_there_when_refused(tmp_path: Path) -> None:
    sv.publish(mostly_empty(3), tmp_path / "out")
    before = {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()}
    with pytest.raises(Infeasible):
        sv.publish(at_the_root(), tmp_path / "out", force=True)
    assert {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()} == before


def test_records_that_were_empty_before_do_not_count(tmp_path: Path) -> None:
    rows: list[list[str]] = [["a"]] * 3 + [[]] * 9
    assert of_sets(rows, 3, method="trim").useless is None
    sv.publish(of_sets([*rows, ["b"]], 3, method="trim"), tmp_path / "out")
    assert sv.read_release(tmp_path / "out").useless is None


def test_what_would_help_fits_the_release() -> None:
    rooted, gone = str(at_the_root().useless), str(without_a_label().useless)
    assert "--method trim, which may leave rare items out instead" in rooted
    assert "a hierarchy with more levels" in rooted
    assert "--method trim" not in gone
    assert "a hierarchy (`setveil hierarchy build` or `setveil hierarchy learn`)" in gone
    for told in (rooted, gone):
        assert "a smaller m or a smaller k" in told
