"""The audit against brute force, on random small data."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from setveil.audit import audit_published, km
from setveil.audit.published import Published
from setveil.model.guarantees import KAnonymity, KmAnonymity, LmDiversity
from tests.oracle import promises as oracle

LABELS = "abcdef"
baskets = st.lists(st.lists(st.sampled_from(LABELS), unique=True, max_size=6), min_size=1, max_size=14)
repeated_baskets = st.tuples(baskets, st.integers(1, 3)).map(lambda pair: pair[0] * pair[1])
small_k = st.integers(2, 4)
small_m = st.integers(1, 5)


@given(repeated_baskets, small_k, small_m)
@settings(deadline=None)
def test_km_equals_brute_force(rows, k, m):
    verdict = audit_published(Published.from_rows(rows), KmAnonymity(k, m), witnesses=1000)
    assert verdict.holds == oracle.is_km_anonymous(rows, k, m)
    assert verdict.records == len(rows)
    assert verdict.smallest_support == oracle.smallest_support_up_to(rows, m)
    found = {witness.present: witness.support for witness in verdict.witnesses}
    for finding in verdict.by_size:
        rare = oracle.minimal_rare_sets(rows, k, finding.size)
        assert finding.achieved_k == oracle.smallest_support_up_to(rows, finding.size)
        assert finding.violations == len(rare)
        assert {present for present in found if len(present) == finding.size} == rare
        assert finding.exact
    assert all(oracle.support(rows, present) == count for present, count in found.items())
    assert sum(finding.violations for finding in verdict.by_size) == len(found)


@given(repeated_baskets, small_k, st.integers(1, 3))
@settings(deadline=None)
def test_the_two_oracles_agree(rows, k, m):
    assert oracle.is_km_anonymous_in_sql(rows, k, m) == oracle.is_km_anonymous(rows, k, m)


@given(repeated_baskets, small_k, st.integers(1, 4))
@settings(deadline=None)
def test_negative_knowledge_equals_brute_force(rows, k, m):
    guarantee = KmAnonymity(k, m, negative=True)
    verdict = audit_published(Published.from_rows(rows), guarantee, witnesses=10_000)
    assert verdict.holds == oracle.is_negative_km_anonymous(rows, k, m)
    assert verdict.smallest_support == oracle.smallest_signed_support_up_to(rows, m)
    found = {(witness.present, witness.absent): witness.support for witness in verdict.witnesses}
    for finding in verdict.by_size:
        rare = oracle.minimal_rare_signed_sets(rows, k, finding.size)
        assert finding.achieved_k == oracle.smallest_signed_support_up_to(rows, finding.size)
        assert finding.violations == len(rare)
        assert {signed for signed in found if len(signed[0] + signed[1]) == finding.size} == rare
    assert all(oracle.support(rows, *signed) == count for signed, count in found.items())


@given(
    repeated_baskets,
    st.integers(2, 4),
    st.integers(1, 4),
    st.sets(st.sampled_from(LABELS), min_size=1, max_size=3),
)
@settings(deadline=None)
def test_diversity_equals_brute_force(rows, ell, m, sensitive):
    guarantee = LmDiversity(ell, m, frozenset(sensitive))
    verdict = audit_published(Published.from_rows(rows), guarantee, witnesses=1000)
    assert verdict.holds == oracle.is_lm_diverse(rows, ell, m, sensitive)
    assert verdict.worst_ratio == oracle.worst_share(rows, m, sensitive)
    for finding in verdict.by_size:
        share = oracle.worst_share(rows, finding.size, sensitive)
        assert finding.achieved_k == (None if share is None else int(1 / share))
    for witness in verdict.witnesses:
        together = oracle.support(rows, [*witness.present, witness.sensitive])
        assert together == witness.support
        assert ell * together > oracle.support(rows, witness.present)


@given(repeated_baskets, small_k)
@settings(deadline=None)
def test_whole_records_equal_brute_force(rows, k):
    verdict = audit_published(Published.from_rows(rows), KAnonymity(k), witnesses=1000)
    assert verdict.holds == oracle.is_k_anonymous(rows, k)
    rare = {tuple(sorted(row)) for row in rows if sum(set(r) == set(row) for r in rows) < k}
    assert {witness.present for witness in verdict.witnesses} == rare
    assert verdict.violations == len(rare)


LEAVES = "uvwxyz"
TREE = {"a": "uv", "b": "w", "c": "uvw", "d": "xyz", "e": "x", "f": "z"}


@given(repeated_baskets, small_k, st.integers(1, 4), st.booleans())
@settings(deadline=None)
def test_cover_equals_brute_force_and_follows_from_exact(rows, k, m, with_tree):
    tree = TREE if with_tree else {}
    guarantee = KmAnonymity(k, m)
    published = Published.from_rows(rows)
    verdict = audit_published(published, guarantee, mode="cover", leaves_under=tree)
    assert verdict.mode == "cover"
    assert verdict.holds == oracle.is_covered(rows, k, m, tree)
    if audit_published(published, guarantee).holds:
        assert verdict.holds


@given(repeated_baskets, small_k, st.integers(1, 4))
@settings(deadline=None)
def test_threads_and_the_table_of_pairs_change_nothing(rows, k, m):
    published = Published.from_rows(rows)
    guarantee = KmAnonymity(k, m)
    expected = audit_published(published, guarantee, witnesses=50, threads=1)
    assert audit_published(published, guarantee, witnesses=50, threads=3) == expected
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(km, "LARGEST_TABLE", 0)
        without = audit_published(published, guarantee, witnesses=50)
    assert without.holds == expected.holds
    assert without.witnesses == expected.witnesses
    assert [(f.achieved_k, f.violations) for f in without.by_size] == [
        (f.achieved_k, f.violations) for f in expected.by_size
    ]


@given(repeated_baskets, small_k, st.integers(1, 3), st.randoms())
@settings(deadline=None)
def test_row_order_changes_nothing_and_doubling_doubles(rows, k, m, random):
    shuffled = [list(row) for row in rows]
    random.shuffle(shuffled)
    for negative in (False, True):
        guarantee = KmAnonymity(k, m, negative)
        verdict = audit_published(Published.from_rows(rows), guarantee)
        again = audit_published(Published.from_rows(shuffled), guarantee)
        assert (again.holds, again.smallest_support) == (verdict.holds, verdict.smallest_support)
        twice = audit_published(Published.from_rows(rows + rows), guarantee)
        if verdict.smallest_support is not None:
            assert twice.smallest_support == 2 * verdict.smallest_support
