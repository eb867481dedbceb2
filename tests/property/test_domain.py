"""Losses over all items of the hierarchy: by hand, against brute force, and through every document.

The oracle is handed the whole hierarchy and knows nothing of restricting it: it enumerates the cuts of
the whole and counts the leaves of the whole.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

import pytest

import setveil as sv
from setveil.compare import compare
from setveil.errors import DataError, Infeasible, UsageError
from setveil.extend import apply
from setveil.measure.branches import branch_losses
from setveil.registry import METHODS
from setveil.release.recoding import BeforeAfter
from setveil.reopen import read_release
from setveil.sweep import Sweep, sweep
from tests.contract.cases import public_bytes
from tests.oracle.losses import Case, estimated_count, occurrence_losses
from tests.oracle.worlds import all_antichains, all_cuts, generalize, is_km, random_hierarchy

Rows = list[list[str]]
LOSSES = ("ncp", "lm")


def tree(*unused: str) -> sv.Hierarchy:
    return sv.Hierarchy.from_parents(
        {
            **dict.fromkeys(("a1", "a2", *unused), "A"),
            **dict.fromkeys(("b1", "b2"), "B"),
            **dict.fromkeys("AB", "T"),
            "T": None,
        }
    )


HAND: Rows = [["a1", "b1"], ["a1", "b2"], ["a2", "b1"], ["a2", "b2"], ["b1"]]
"""Every pair is alone, so A or B must be published; the items of A occur 4 times, those of B 5."""
UNUSED = tuple(f"nobody-has-{number}" for number in range(4))


def hand(**options: Any) -> sv.Release:
    options = {"hierarchy": tree(*UNUSED), "method": "optimal", "domain": "hierarchy", **options}
    return sv.anonymize(sv.Transactions.from_rows(HAND), sv.KmAnonymity(2, 2), **options)


@pytest.mark.parametrize("method", ["optimal", "oa", "aa", "vpa", "lra"])
def test_by_hand_the_domain_decides_which_category_is_cheaper(method: str) -> None:
    more = {"parts": 1} if method in ("lra", "vpa") else {}
    used = hand(method=method, domain="used", **more)
    # Of 4 items A holds 2 and B holds 2, so the items that occur less often are lifted.
    assert used.labels == ("A", "b1", "b2")
    assert used.losses == {"ncp": Fraction(4 * 2, 4 * 9), "lm": Fraction(4 * 1, 3 * 9)}
    # Of 8 items A holds 6 and B holds 2.
    whole = hand(method=method, **more)
    assert whole.labels == ("B", "a1", "a2")
    assert whole.losses == {"ncp": Fraction(5 * 2, 8 * 9), "lm": Fraction(5 * 1, 7 * 9)}
    assert whole.objective is not None
    assert whole.objective.value == whole.losses["ncp"]
    assert any("all items of the hierarchy" in notice for notice in whole.notices)


def test_with_every_item_in_use_both_domains_are_one() -> None:
    used, whole = (hand(hierarchy=tree(), domain=domain) for domain in ("used", "hierarchy"))
    assert used.losses == whole.losses
    assert list(used.published.rows()) == list(whole.published.rows())


def world(seed: int) -> tuple[Rows, sv.Hierarchy]:
    """Return records, and a tree over their items and others."""
    random = Random(seed)
    used = "abcdef"[: random.randint(2, 5)]
    rows = [
        [item for item in used if random.random() < 0.45] or [random.choice(used)]
        for _ in range(random.randint(3, 9))
    ]
    unused = [f"u{number}" for number in range(random.randint(1, 4))]
    return rows, random_hierarchy(random, [*used, *unused])


def as_published(release: sv.Release) -> list[dict[str, str]]:
    """Return what each item is published as, record by record in canonical order."""
    labels, recoding = release.hierarchy.labels, release.recoding
    groups = recoding.group_of_record
    cuts = [recoding.node_of_leaf(group).tolist() for group in range(recoding.n_groups)]
    return [
        {labels[leaf]: labels[node] for leaf, node in enumerate(cuts[group]) if node >= 0}
        for group in ([0] * release.records if groups is None else groups.tolist())
    ]


def lost(case: Case, name: str) -> Fraction:
    losses = [loss for _, loss in occurrence_losses(case, name)]
    return sum(losses, Fraction(0)) / len(losses)


def least(rows: Rows, whole: sv.Hierarchy, name: str, cuts: Iterable[dict[str, str]]) -> Fraction:
    originals = [frozenset(row) for row in rows]
    return min(
        lost(Case(whole, originals, [cut] * len(rows)), name)
        for cut in cuts
        if is_km(generalize(rows, cut), 2, 2)
    )


@pytest.mark.parametrize("cost", LOSSES)
@pytest.mark.parametrize("seed", range(40))
def test_proven_methods_are_optimal_for_this_domain(seed: int, cost: str) -> None:
    rows, whole = world(seed)
    asked: Any = {"hierarchy": whole, "cost": cost, "domain": "hierarchy"}
    best = least(rows, whole, cost, all_cuts(whole))
    for method in ("optimal", "oa"):
        release = sv.anonymize(
            sv.Transactions.from_rows(rows), sv.KmAnonymity(2, 2), method=method, **asked
        )
        assert release.losses[cost] == best
        assert release.objective is not None and release.objective.proven
        assert release.objective.value == release.objective.bound == best
    trimmed = sv.anonymize(
        sv.Transactions.from_rows(rows), sv.KmAnonymity(2, 2), method="trim", **asked
    )
    best = least(rows, whole, cost, all_antichains(whole))
    assert trimmed.objective is not None and trimmed.objective.proven
    assert trimmed.objective.value == trimmed.losses[cost] == best


@pytest.mark.parametrize("record", METHODS, ids=lambda record: record.key)
@pytest.mark.parametrize("seed", range(10))
def test_every_method_is_measured_over_the_whole_hierarchy(seed: int, record: Any) -> None:
    rows, whole = world(seed + 100)
    guarantee = sv.KAnonymity(2) if record.key == "partition" else sv.KmAnonymity(2, 2)
    release = sv.anonymize(
        sv.Transactions.from_rows(rows),
        guarantee,
        hierarchy=whole,
        method=record.key,
        domain="hierarchy",
    )
    assert sv.audit(release).holds
    if release.dropped:
        return
    originals = [frozenset(row) for row in sorted(tuple(sorted(row)) for row in rows)]
    case = Case(whole, originals, as_published(release))
    expected = {name: lost(case, name) for name in LOSSES}
    assert release.losses == expected
    if release.objective is not None and record.key != "mm":
        assert release.objective.value == expected["ncp"]
    assert release.rows is not None
    pair = BeforeAfter(release.recoding, release.rows)
    branches = branch_losses(pair)
    assert {name: branches.total(name) for name in LOSSES} == expected
    scores = sv.measure(release, measures=LOSSES)
    assert {name: scores[name] for name in LOSSES} == expected
    queries = [[label] for label in release.hierarchy.labels]
    asked = sv.measure(release, measures=["are"], queries=queries).queries
    assert asked is not None
    for query, estimate in zip(queries, asked.estimate_by_query.tolist(), strict=True):
        assert estimate == pytest.approx(float(estimated_count(case, query)))


def test_it_goes_to_the_folder_and_back(tmp_path: Path) -> None:
    release = hand()
    sv.publish(release, tmp_path / "out")
    assert json.loads((tmp_path / "out/certificate.json").read_bytes())["domain"] == "hierarchy"
    assert sv.audit(tmp_path / "out").holds
    page = (tmp_path / "out/report.html").read_text()
    assert "All items are all of the hierarchy" in page
    for name in UNUSED:
        assert not any(name.encode() in content for content in public_bytes(tmp_path / "out").values())
    again = read_release(tmp_path / "out", sv.Transactions.from_rows(HAND))
    assert isinstance(again, sv.Release)
    assert again.hierarchy.domain == "hierarchy"
    assert again.hierarchy.domain_count.tolist() == release.hierarchy.domain_count.tolist()
    scores = sv.measure(again, sv.Transactions.from_rows(HAND))
    assert {name: scores[name] for name in LOSSES} == release.losses == again.losses
    assert sv.explain(again, "b1").ncp == release.losses["ncp"]
    other = sv.anonymize(
        sv.Transactions.from_rows(HAND), sv.KmAnonymity(2, 2), hierarchy=tree(*UNUSED), method="optimal"
    )
    sv.publish(other, tmp_path / "used")
    assert "domain" not in json.loads((tmp_path / "used/certificate.json").read_bytes())
    assert "All items are all of" not in (tmp_path / "used/report.html").read_text()


def test_twins_that_do_not_tell_the_domain_count_the_items_in_use(tmp_path: Path) -> None:
    made = hand(domain="used")
    sv.publish(made, tmp_path / "out")
    account = tmp_path / "out.private/audit.json"
    plain = json.loads(account.read_bytes())
    assert plain.pop("domain") == "used"
    account.write_text(json.dumps(plain))
    again = read_release(tmp_path / "out", sv.Transactions.from_rows(HAND))
    assert isinstance(again, sv.Release)
    assert again.hierarchy.domain == "used"
    assert again.losses == made.losses


@pytest.mark.parametrize(
    ("sizes", "domain"),
    [
        (None, "hierarchy"),
        ({"A": 6, "B": 2}, "hierarchy"),
        ({"A": 6, "B": 2, "T": 7}, "hierarchy"),
        ({"A": 1, "B": 2, "T": 8}, "hierarchy"),
        ({"A": True, "B": 2, "T": 8}, "hierarchy"),
        ({"A": 6, "B": 2, "T": 2**31}, "hierarchy"),
        ({"A": 6, "B": 2, "T": 8}, "used"),
        ({"A": 6, "B": 2, "T": 8}, "whole"),
        ({"A": 6, "B": 2, "T": 8}, None),
    ],
)
def test_twins_that_cannot_be_are_refused(tmp_path: Path, sizes: object, domain: object) -> None:
    sv.publish(hand(), tmp_path / "out")
    for file, key, value in (("recoding", "items_of_hierarchy", sizes), ("audit", "domain", domain)):
        path = tmp_path / f"out.private/{file}.json"
        plain = json.loads(path.read_bytes())
        plain[key] = value
        path.write_text(json.dumps(plain))
    with pytest.raises(DataError):
        read_release(tmp_path / "out")


@pytest.mark.parametrize("domain", ["used", True, None, ""])
def test_certificates_that_tell_another_domain_are_refused(tmp_path: Path, domain: object) -> None:
    sv.publish(hand(), tmp_path / "out")
    path = tmp_path / "out/certificate.json"
    plain = json.loads(path.read_bytes()) | {"domain": domain}
    path.write_text(json.dumps(plain, sort_keys=True, indent=2, ensure_ascii=False) + "\n")
    with pytest.raises(DataError, match="domain must be hierarchy"):
        sv.audit(tmp_path / "out")


def test_new_records_join_under_the_same_domain() -> None:
    new = sv.Transactions.from_rows([["a1"], ["b2"], ["a1", "b1"]])
    joined = apply(hand(), new).release
    assert joined is not None
    both = [*HAND, ["a1"], ["b2"], ["a1", "b1"]]
    cut = {"a1": "a1", "a2": "a2", "b1": "B", "b2": "B"}
    case = Case(tree(*UNUSED), [frozenset(row) for row in both], [cut] * len(both))
    assert joined.losses == {name: lost(case, name) for name in LOSSES}
    # An item that was not in use before is one of the domain already; an item that is new to it is not.
    for more, size in (((), 8), (("b3",), 9)):
        larger = sv.Hierarchy.from_parents(
            {**tree(*UNUSED).parents_by_label(), **dict.fromkeys(more, "B")}
        )
        item = more[0] if more else "b2"
        grown = apply(hand(), sv.Transactions.from_rows([[item]]), hierarchy=larger).release
        assert grown is not None
        assert grown.hierarchy.domain_count[-1] == size
        assert any("all items of the hierarchy" in notice for notice in grown.notices)


@pytest.mark.parametrize("method", ["optimal", "trim", "aa"])
def test_which_items_are_in_use_shows_in_no_public_byte(tmp_path: Path, method: str) -> None:
    """Below a published category other items, and another number of them, lead to the same bytes."""
    whole = sv.Hierarchy.from_parents(
        {**dict.fromkeys("abcdef", "A"), **dict.fromkeys(("A", "milk", "bun", "rye"), "T"), "T": None}
    )
    milk = [["milk"]] * 40
    worlds = ([["a"], ["b"], ["c"]], [["d"], ["e"], ["e"]], [["f"], ["f"], ["a"]])
    seen = []
    for number, rows in enumerate(worlds):
        release = sv.anonymize(
            sv.Transactions.from_rows([*rows, *milk]),
            sv.KmAnonymity(3, 2),
            hierarchy=whole,
            method=method,
            domain="hierarchy",
        )
        assert release.losses["ncp"] == Fraction(3 * 6, 9 * 43)
        sv.publish(release, tmp_path / str(number))
        seen.append(public_bytes(tmp_path / str(number)))
    assert seen[0] == seen[1] == seen[2]
    for name in ("bun", "rye"):
        assert not any(name.encode() in content for content in seen[0].values())


def test_sweeps_and_comparisons_count_alike() -> None:
    data, whole = sv.Transactions.from_rows(HAND), tree(*UNUSED)
    swept = sweep(data, whole, 2, 2, domain="hierarchy")
    assert swept.points[0].loss == swept.points[0].bound == hand().losses["ncp"]
    assert Sweep.from_json(swept.to_json()).domain == swept.domain == "hierarchy"
    old = json.loads(swept.to_json())
    del old["domain"]
    assert Sweep.from_json(json.dumps(old)).domain == "used"
    found = compare(
        data, sv.KmAnonymity(2, 2), hierarchy=whole, methods=["optimal", "aa"], domain="hierarchy"
    )
    assert found.domain == "hierarchy"
    assert {row.loss for row in found.rows} == {row.scores["ncp"] for row in found.rows}
    assert found.rows[0].loss == hand().losses["ncp"]
    for picture in (swept.figure(), swept.curves(), found.figure()):
        assert "the losses count all of the hierarchy" in picture.svg


def test_tables_have_a_domain_for_each_column(tmp_path: Path) -> None:
    from setveil.io.records import read_records

    path = tmp_path / "t.csv"
    path.write_text("drugs,sex\n" + "x y,F\n" * 3 + "x,M\n" * 3 + "y,M\nx,F\n")
    records = read_records(path, set_columns={"drugs": " "}, keep=["sex"])
    drugs = sv.Hierarchy.from_parents(
        {**dict.fromkeys("xy", "E"), **dict.fromkeys("zw", "G"), **dict.fromkeys("EG", "D"), "D": None}
    )
    used, whole = (
        sv.anonymize(
            records,
            sv.KmAnonymity(3, 2),
            hierarchy={"drugs": drugs},
            method="optimal",
            domain=domain,
        )
        for domain in ("used", "hierarchy")
    )
    # Of 11 drugs and 8 sexes; E is all of the drugs in use, and half of the column's hierarchy.
    assert (set(used.labels), used.losses["ncp"]) == ({"drugs=x", "drugs=y", "sex=*"}, Fraction(8, 19))
    assert set(whole.labels) == {"drugs=E", "sex=F", "sex=M"}
    assert whole.losses["ncp"] == Fraction(11 * 2, 4 * 19)
    sizes = dict(zip(whole.hierarchy.labels, whole.hierarchy.domain_count.tolist(), strict=True))
    assert (sizes["drugs=D"], sizes["drugs=E"], sizes["sex=*"]) == (4, 2, 2)


def test_what_makes_no_sense_is_refused() -> None:
    data = sv.Transactions.from_rows(HAND)
    with pytest.raises(UsageError, match="Allowed: used, hierarchy"):
        hand(domain="all")
    with pytest.raises(UsageError, match="without a hierarchy there are no other items"):
        sv.anonymize(data, sv.KmAnonymity(2, 2), domain="hierarchy")
    with pytest.raises(UsageError, match="domain"):
        sv.anonymize(data, sv.LDiversity(2), domain="hierarchy")
    with pytest.raises(UsageError, match="domain"):
        sv.anonymize(data, sv.HiddenPatterns(5, Fraction(1, 10)), domain="hierarchy")
    with pytest.raises(Infeasible):
        sv.anonymize(data, sv.KmAnonymity(9, 1), hierarchy=tree(*UNUSED), domain="hierarchy")
