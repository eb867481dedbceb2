"""Coherence: its values, its audit against the oracle, exact arithmetic, its certificates."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import setveil as sv
from setveil.audit import Published, audit_folder, audit_published
from setveil.errors import DataError, ResourceLimit, UsageError
from setveil.model.guarantees import Coherence, KmAnonymity, guarantee_from_dict
from setveil.model.numbers import percentage
from tests.oracle.promises import is_coherent, occurring_sets, support

LABELS = "abcdef"
rows_of_labels = st.lists(st.sets(st.sampled_from(LABELS), max_size=5), max_size=16)
shares = st.sampled_from([0, 14, "12.5", "100/3", 50, 80, 100])


def published(rows) -> Published:
    return Published.from_rows([sorted(row) for row in rows])


@settings(max_examples=300, deadline=None)
@given(
    rows=rows_of_labels,
    h=shares,
    k=st.integers(2, 4),
    p=st.integers(1, 4),
    private=st.frozensets(st.sampled_from(LABELS), max_size=2),
)
def test_audit_agrees_with_the_oracle(rows, h, k, p, private):
    guarantee = Coherence(h, k, p, private)
    verdict = audit_published(published(rows), guarantee, witnesses=200, threads=1)
    assert verdict.holds == is_coherent(rows, guarantee.h, k, p, private)
    assert verdict.holds == (verdict.violations == 0)
    for witness in verdict.witnesses:
        known = support(rows, witness.present)
        assert not set(witness.present) & private
        if witness.sensitive is None:
            assert witness.support == known < k
        else:
            assert witness.sensitive in private
            assert witness.support == support(rows, [*witness.present, witness.sensitive])
            assert 100 * witness.support > guarantee.h * known
    public = [
        count
        for size in range(1, p + 1)
        for chosen, count in occurring_sets(rows, size).items()
        if not set(chosen) & private
    ]
    assert verdict.smallest_support == min(public, default=None)


@settings(max_examples=100, deadline=None)
@given(rows=rows_of_labels, k=st.integers(2, 4), m=st.integers(1, 4))
def test_km_is_its_case_without_private_labels(rows, k, m):
    one = audit_published(published(rows), KmAnonymity(k, m), threads=1)
    other = audit_published(published(rows), Coherence(100, k, m), threads=1)
    assert (one.holds, one.by_size, one.smallest_support) == (
        other.holds,
        other.by_size,
        other.smallest_support,
    )


def test_seven_of_fifty_is_fourteen_percent():
    rows = [{"a", "s"}] * 7 + [{"a"}] * 43
    assert 7 / 50 * 100 > 14, "which is why floats are not asked"
    for h, holds in ((14, True), ("13.999999", False), ("14.000001", True)):
        verdict = audit_published(published(rows), Coherence(h, 5, 2, frozenset("s")))
        assert verdict.holds is holds
        assert verdict.worst_ratio == Fraction(7, 50)


def test_third_parts_are_exact():
    rows = [{"a", "s"}] + [{"a"}] * 2
    assert audit_published(published(rows), Coherence("100/3", 2, 1, frozenset("s"))).holds
    assert not audit_published(published(rows), Coherence("33.333333", 2, 1, frozenset("s"))).holds


def test_a_larger_set_can_break_what_smaller_ones_keep():
    rows = [set("abs")] * 2 + [set("a")] * 4 + [set("b")] * 4
    guarantee = Coherence(50, 2, 2, frozenset("s"))
    verdict = audit_published(published(rows), guarantee, witnesses=5)
    assert [(w.present, w.sensitive) for w in verdict.witnesses] == [(("a", "b"), "s")]
    assert audit_published(published(rows), Coherence(50, 2, 1, frozenset("s"))).holds


def test_rare_private_labels_alone_break_nothing():
    rows = [{"a"}] * 4 + [{"a", "s"}]
    assert audit_published(published(rows), Coherence(20, 3, 2, frozenset("s"))).holds
    assert audit_published(published([{"s"}]), Coherence(0, 3, 2, frozenset("s"))).holds


def test_too_much_work_is_said_unless_the_answer_is_known():
    rows = [set("abcdes")] * 6
    with pytest.raises(ResourceLimit):
        audit_published(published(rows), Coherence(100, 2, 3, frozenset("s")), work_limit=1)


@pytest.mark.parametrize("h", [-1, 101, "1e2", "-5", " 5", "5%", 14.5, True, None, "1/0", "1/1000001"])
def test_wrong_percentages_are_refused(h):
    with pytest.raises(UsageError):
        Coherence(h, 5, 2)


def test_values_and_their_plain_form():
    guarantee = Coherence("14.50", 5, 2, frozenset({"flu", "HIV"}))
    assert guarantee.h == Fraction(29, 2)
    assert guarantee.share == Fraction(29, 200)
    plain = guarantee.as_dict()
    assert plain == {"model": "coherence", "h": "29/2", "k": 5, "p": 2, "private": ["HIV", "flu"]}
    assert guarantee_from_dict(plain) == guarantee
    assert Coherence(14, 5, 2).as_dict()["h"] == "14"
    assert percentage("007") == 7
    for wrong in ({"h": 14.0}, {"k": 1}, {"p": 0}, {"private": "flu"}, {"m": 2}):
        with pytest.raises(UsageError):
            guarantee_from_dict({**plain, **wrong})


@pytest.fixture
def folder(tmp_path):
    rows = [["a", "b", "s"], *[["a", "b"]] * 4, ["a", "rare"], ["c"]]
    release = sv.anonymize(sv.Transactions.from_rows(rows), Coherence(25, 3, 2, frozenset("s")))
    assert release.method == "mm"
    sv.publish(release, tmp_path / "release")
    return tmp_path / "release"


def test_a_published_folder_says_what_it_promises(folder):
    certificate = json.loads((folder / "certificate.json").read_bytes())
    assert certificate["guarantee"] == {
        "model": "coherence",
        "h": "25",
        "k": 3,
        "p": 2,
        "private": ["s"],
    }
    assert certificate["suppressed"] == {"items": "<3", "records": "<3"}
    assert certificate["data"]["records"] == 6
    assert audit_folder(folder).holds
    private = json.loads((folder.parent / "release.private" / "recoding.json").read_bytes())
    assert private["suppressed"] == ["c", "rare"]
    assert private["dropped_records"] == [6]


@pytest.mark.parametrize(
    "wrong",
    [
        {"suppressed": {"items": 2, "records": 0}},
        {"suppressed": {"items": "<4", "records": 0}},
        {"suppressed": {"items": "<3", "records": 1}},
        {"suppressed": {"items": "<3", "records": 3}},
        {"suppressed": {"items": "<3", "records": False}},
        {"suppressed": {"items": "<3"}},
        {"suppressed": {"items": "<3", "records": 0, "names": ["c"]}},
        {"suppressed": "few"},
        {"guarantee": {"model": "coherence", "h": "25", "k": 3, "p": 2, "private": ["s", "zzz"]}},
        {"guarantee": {"model": "coherence", "h": "50/2", "k": 3, "p": 2, "private": ["s"]}},
    ],
)
def test_other_certificates_are_refused(folder, wrong):
    path = folder / "certificate.json"
    plain = json.loads(path.read_bytes()) | wrong
    path.write_text(json.dumps(plain, sort_keys=True, indent=2, ensure_ascii=False) + "\n")
    with pytest.raises(DataError):
        audit_folder(folder)
