"""A recoding applied to new records: the union is what one run would publish, and is audited."""

from __future__ import annotations

import random
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import setveil as sv
from setveil.audit import audit_folder
from setveil.errors import HierarchyError, UsageError
from setveil.extend import apply
from setveil.io.records import read_records
from setveil.reopen import read_release
from tests.contract.cases import CASES, Case, public_bytes

GLOBAL = [case for case in CASES if case.record.recoding == "global"]
TREE: dict[str, str | None] = {
    **dict.fromkeys(("ale", "lager"), "beer"),
    **dict.fromkeys(("beer", "wine"), "alcohol"),
    **dict.fromkeys(("milk", "kefir"), "dairy"),
    **dict.fromkeys(("alcohol", "dairy"), "ALL"),
    "ALL": None,
}
OLD = [["ale", "milk"], ["lager", "milk"], *[["milk"]] * 2, *[["wine"]] * 3, *[["kefir"]] * 3]


def tree(**more: str) -> sv.Hierarchy:
    return sv.Hierarchy.from_parents({**TREE, **more})


def first(rows: list[list[str]] = OLD, **options: Any) -> sv.Release:
    options = {"hierarchy": tree(), "method": "optimal", **options}
    known = {label for row in rows for label in row}
    options["hierarchy"] = options["hierarchy"].restricted_to(known)
    return sv.anonymize(sv.Transactions.from_rows(rows), sv.KmAnonymity(2, 2), **options)


def data(rows: list[list[str]]) -> sv.Transactions:
    return sv.Transactions.from_rows(rows)


def mapping(release: sv.Release) -> dict[str, str | None]:
    labels = release.hierarchy.labels
    nodes = release.recoding.node_of_leaf().tolist()
    return {labels[leaf]: None if node < 0 else labels[node] for leaf, node in enumerate(nodes)}


def by_hand(
    rows: list[list[str]], published: dict[str, str | None], k: int
) -> tuple[list[tuple[str, ...]], int]:
    """The union's records, and how many are dropped: published as before, unknown items left out."""
    told = sorted(
        tuple(sorted({new for item in row if (new := published.get(item)) is not None})) for row in rows
    )
    empty = sum(not row for row in told)
    suppressed = any(published.get(item) is None for row in rows for item in row)
    if suppressed and empty < k:
        return told[empty:], empty
    return told, 0


def loss(release: sv.Release, rows: list[list[str]]) -> Fraction:
    total, tree_, published = Fraction(0), release.hierarchy, mapping(release)
    leaves = {label: tree_.path(label) for label in tree_.labels[: tree_.n_leaves]}
    for row in rows:
        for item in set(row):
            new = published[item]
            under = sum(new in path for path in leaves.values())
            whole = sum(path[-1] == leaves[item][-1] for path in leaves.values())
            total += 1 if new is None else 0 if under == 1 else Fraction(under, whole)
    return total / sum(len(set(row)) for row in rows)


@pytest.mark.parametrize("case", GLOBAL, ids=lambda case: case.name)
@pytest.mark.parametrize("seed", [1, 2])
def test_the_union_is_what_one_run_over_both_would_publish(
    case: Case, seed: int, tmp_path: Path
) -> None:
    old, more = case.rows(seed), case.rows(seed + 10, records=15)
    release = case.release(old)
    known = mapping(release)
    new = [row for row in more if known.keys() >= set(row)]
    assert len(new) > 3
    sv.publish(release, tmp_path / "old", allow_useless=True)
    union = apply(release, data(new))
    expected, dropped = by_hand(old + new, known, 3)
    assert union.holds == case.kept_by(expected, release.guarantee)
    without = apply(read_release(tmp_path / "old"), data(new[::-1]))
    assert without.holds == union.holds
    if union.release is None:
        assert without.release is None
        return
    assert without.release is not None
    assert list(union.release.published.rows()) == expected
    assert mapping(union.release) == known
    assert len(union.release.dropped) == len(without.release.dropped) == dropped
    assert union.release.losses["ncp"] == loss(union.release, old + new)
    for name in ("losses", "occurrences", "unchanged", "suppressed", "suppressed_items", "items"):
        assert getattr(union.release, name) == getattr(without.release, name)
    sv.publish(union.release, tmp_path / "with", allow_useless=True)
    sv.publish(without.release, tmp_path / "without", allow_useless=True)
    assert public_bytes(tmp_path / "with") == public_bytes(tmp_path / "without")
    assert audit_folder(tmp_path / "with").holds
    again = read_release(tmp_path / "with", data(new + old))
    assert again.method == "apply"
    assert sv.measure(again)["ncp"] == again.losses["ncp"]
    with pytest.raises(UsageError, match="no seal"):
        read_release(tmp_path / "without", data(old + new))


@pytest.mark.parametrize("seed", range(6))
def test_one_after_the_other_is_both_at_once(seed: int, tmp_path: Path) -> None:
    draw = random.Random(seed)
    release = first()
    new = [draw.sample(["ale", "lager", "milk", "wine"], draw.randint(1, 2)) for _ in range(6)]
    both = apply(release, data(new)).release
    if both is None:
        return
    one = apply(release, data(new[:3])).release
    if one is None:
        return
    sv.publish(release, tmp_path / "release")
    sv.publish(one, tmp_path / "one")
    two = apply(read_release(tmp_path / "one"), data(new[3:])).release
    assert two is not None
    assert two.figures["recoding of"] == "optimal"
    draw.shuffle(new)
    at_once = apply(read_release(tmp_path / "release"), data(new)).release
    assert at_once is not None
    for name, part in (("both", both), ("two", two), ("at_once", at_once)):
        sv.publish(part, tmp_path / name)
    assert (
        public_bytes(tmp_path / "both")
        == public_bytes(tmp_path / "two")
        == public_bytes(tmp_path / "at_once")
    )


def test_a_new_combination_that_is_too_rare_is_a_no() -> None:
    union = apply(first(), data([["wine", "milk"]]))
    assert not union.holds and union.release is None
    assert union.verdict.violations == 1
    assert "1 combination of" in str(union) and "anew" in str(union)
    assert union.as_dict()["holds"] is False


def test_it_is_told_whether_the_new_records_stand_alone() -> None:
    alone = apply(first(), data([["wine"]] * 2))
    assert alone.alone and alone.release is not None
    assert any("alone do keep" in notice for notice in alone.release.notices)
    few = apply(first(), data([["wine"]]))
    assert not few.alone and few.release is not None
    assert any("alone do not keep" in notice for notice in few.release.notices)


def test_unseen_items_are_an_error_unless_left_out() -> None:
    new = data([["stout", "milk"], ["rum"]])
    with pytest.raises(HierarchyError, match="'rum' is not among") as caught:
        apply(first(), new)
    assert {problem.code for problem in caught.value.problems} == {"unseen-item"}
    union = apply(first(), new, unseen="suppress")
    assert union.unseen == 2 and union.release is not None
    assert (union.release.suppressed_items, union.release.suppressed) == (2, 2)
    assert union.release.losses["ncp"] == loss(union.release, [*OLD, ["stout", "milk"], ["rum"]])
    assert len(union.release.dropped) == 1
    assert all("rum" not in notice and "stout" not in notice for notice in union.release.notices)
    with pytest.raises(UsageError, match="unseen"):
        apply(first(), new, unseen="maybe")
    with pytest.raises(HierarchyError, match="a category of the release"):
        apply(first(), data([["alcohol"]]))


def test_first_lines_are_told_and_no_more_than_twenty(tmp_path: Path) -> None:
    file = tmp_path / "new.csv"
    file.write_text("milk,ale\n" + "".join(f"milk,odd{number}\n" for number in range(30)))
    with pytest.raises(HierarchyError) as caught:
        apply(first(), sv.read_transactions(file, layout="baskets"))
    text = caught.value.text()
    assert f"{file}:2: item 'odd0'" in text and "… and 10 more" in text


def test_a_hierarchy_puts_new_items_under_published_labels() -> None:
    release = first()
    assert mapping(release)["ale"] == "beer"
    full = tree(stout="beer", porter="dark", dark="beer", rum="spirits", spirits="alcohol")
    union = apply(release, data([["stout"], ["porter", "milk"]]), hierarchy=full)
    assert union.release is not None and union.placed == 2
    assert mapping(union.release)["stout"] == mapping(union.release)["porter"] == "beer"
    new = [["stout"], ["porter", "milk"]]
    assert union.release.losses["ncp"] == loss(union.release, OLD + new)
    # It lies under no published label: wine is published as itself.
    with pytest.raises(HierarchyError, match="'rum' is not among"):
        apply(release, data([["rum"]]), hierarchy=full)
    left = apply(release, data([["rum"]]), hierarchy=full, unseen="suppress")
    assert left.release is not None
    assert left.release.hierarchy.path("rum") == ("rum", "spirits", "alcohol", "ALL")
    assert left.release.losses["ncp"] == loss(left.release, [*OLD, ["rum"]])


def test_a_hierarchy_that_disagrees_is_refused() -> None:
    with pytest.raises(HierarchyError, match="another place"):
        apply(first(), data([["milk"]]), hierarchy=tree(milk="alcohol"))
    with pytest.raises(HierarchyError, match="below 'milk'"):
        apply(first(), data([["milk x2"]]), hierarchy=tree(**{"milk x2": "milk"}))
    with pytest.raises(UsageError, match="path"):
        apply(first(), data([["milk"]]), hierarchy="tree.csv")  # type: ignore[arg-type]


def test_local_recodings_and_unknown_secrets_are_refused() -> None:
    for method, guarantee in (("lra", sv.KmAnonymity(2, 2)), ("partition", sv.KAnonymity(2))):
        release = sv.anonymize(data(OLD), guarantee, hierarchy=tree(), method=method)
        with pytest.raises(UsageError, match="local"):
            apply(release, data([["milk"]]))
    guarantee = sv.LmDiversity(2, 1, frozenset({"flu"}))
    release = sv.anonymize(data([*OLD, ["flu", "wine"]]), guarantee, hierarchy=tree(flu="ALL"))
    with pytest.raises(UsageError, match="sensitive"):
        apply(release, data([["milk"]]), hierarchy=tree(flu="ALL"))
    assert apply(release, data([["milk"]])).holds


def test_records_that_were_dropped_come_back_once_they_are_enough() -> None:
    rows = [["a"]] * 4 + [["b"]]
    release = sv.anonymize(data(rows), sv.KmAnonymity(3, 1))
    assert len(release.dropped) == 1 and release.records == 4
    few = apply(release, data([["b"]])).release
    assert few is not None and len(few.dropped) == 2 and few.records == 4
    enough = apply(release, data([["b"], ["b"], ["a"]])).release
    assert enough is not None and enough.dropped == () and enough.records == 8
    assert list(enough.published.rows())[:3] == [()] * 3


TABLE = "sex,drugs,ward\nf,a b,1\nf,a b,2\nm,b,3\nm,b,4\nm,b,5\n"
READING: dict[str, Any] = {"set_columns": {"drugs": " "}, "keep": ["sex"], "delimiter": ","}


def read_table(folder: Path, text: str, **options: Any) -> Any:
    file = folder / "table.csv"
    file.write_text(text)
    return read_records(file, **{**READING, "keep_unprotected": ["ward"], **options})


def table_release(folder: Path, text: str = TABLE, k: int = 2) -> sv.Release:
    trees = {"drugs": sv.Hierarchy.from_parents({"a": "ALL", "b": "ALL", "ALL": None})}
    return sv.anonymize(
        read_table(folder, text), sv.KmAnonymity(k, 2), hierarchy=trees, method="optimal"
    )


def test_a_table_keeps_its_columns_in_any_order(tmp_path: Path) -> None:
    release = table_release(tmp_path)
    sv.publish(release, tmp_path / "old")
    new = read_table(tmp_path, "ward,drugs,sex\n9,b,m\n8,a b,f\n")
    union = apply(read_release(tmp_path / "old"), new).release
    assert union is not None
    sv.publish(union, tmp_path / "both")
    lines = (tmp_path / "both" / "data.csv").read_text().splitlines()
    assert lines[0] == "sex,drugs,ward" and "m,b,9" in lines and "f,a b,8" in lines
    assert len(lines) == 8
    assert audit_folder(tmp_path / "both").holds
    for options in ({"keep_unprotected": []}, {"keep": [], "keep_unprotected": ["ward", "sex"]}):
        with pytest.raises(UsageError, match="other columns"):
            apply(release, read_table(tmp_path, TABLE, **options))
    with pytest.raises(UsageError, match="other columns"):
        apply(release, data([["drugs=b"]]))


def test_values_of_a_column_without_a_hierarchy_go_under_its_root(tmp_path: Path) -> None:
    release = table_release(tmp_path, "sex,drugs,ward\nf,b,1\nm,b,2\nm,b,2\n")
    assert mapping(release)["sex=f"] == "sex=*"
    union = apply(release, read_table(tmp_path, "sex,drugs,ward\nx,b,1\n"))
    assert union.release is not None and union.placed == 1
    assert mapping(union.release)["sex=x"] == "sex=*"


def test_columns_to_publish_as_they_are_need_a_release_with_some(tmp_path: Path) -> None:
    release = first()
    with pytest.raises(UsageError, match="as they are"):
        apply(release, read_table(tmp_path, TABLE))


def test_without_counts_nothing_is_guessed() -> None:
    from dataclasses import replace

    with pytest.raises(UsageError, match="how often"):
        apply(replace(first(), rows=None), data([["milk"]]))
