"""Emerging patterns against brute force, on small random data."""

from __future__ import annotations

from fractions import Fraction
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from setveil.mining.emerging import EmergingPatterns, emerging_patterns
from setveil.model.transactions import Transactions
from tests.oracle import patterns as oracle

ROWS = st.lists(st.frozensets(st.sampled_from("abcdef"), max_size=6), min_size=1, max_size=12)
RATES = st.fractions(1, 6, max_denominator=12).filter(lambda rate: rate > 1)
SHARES = st.fractions(Fraction(1, 20), 1, max_denominator=20)
NAMES = ("first", "second")


def told(found: EmergingPatterns) -> list[oracle.Told]:
    return [(p.items, NAMES.index(p.more_frequent_in), p.growth, p.share) for p in found]


@settings(deadline=None, max_examples=200)
@given(ROWS, ROWS, RATES, SHARES, st.booleans(), st.none() | st.integers(1, 4), st.integers(1, 3))
def test_all_patterns_in_order(
    before: list[frozenset[str]],
    after: list[frozenset[str]],
    growth: Fraction,
    support: Fraction,
    minimal: bool,
    most_items: int | None,
    threads: int,
) -> None:
    expected = oracle.emerging((before, after), growth, support, minimal=minimal, most_items=most_items)
    data = Transactions.from_rows(before), Transactions.from_rows(after)
    found = emerging_patterns(
        *data,
        growth=growth,
        min_support=support,
        minimal=minimal,
        most_items=most_items,
        threads=threads,
    )
    assert told(found) == expected
    one_way = emerging_patterns(
        *data,
        growth=growth,
        min_support=support,
        both_ways=False,
        minimal=minimal,
        most_items=most_items,
    )
    assert told(one_way) == [line for line in expected if line[1] == 1]


@settings(deadline=None, max_examples=60)
@given(ROWS, ROWS, RATES, st.randoms(use_true_random=False))
def test_the_order_of_records_and_data_sets_means_nothing(
    before: list[frozenset[str]], after: list[frozenset[str]], growth: Fraction, random: Random
) -> None:
    mixed = [list(before), list(after)]
    for rows in mixed:
        random.shuffle(rows)
    first, second = (Transactions.from_rows(rows) for rows in (before, after))
    other, another = (Transactions.from_rows(rows) for rows in mixed)
    found = emerging_patterns(first, second, growth=growth, min_support=Fraction(1, 5))
    again = emerging_patterns(other, another, growth=growth, min_support=Fraction(1, 5))
    assert found.as_dicts() == again.as_dicts()
    swapped = emerging_patterns(second, first, growth=growth, min_support=Fraction(1, 5))
    assert {(p.items, p.growth, p.share) for p in swapped} == {
        (p.items, p.growth, p.share) for p in found
    }
    assert len(swapped.more_frequent_in("first")) == len(found.more_frequent_in("second"))
