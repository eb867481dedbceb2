"""What buckets tell about counts, rules and queries, against plain enumeration."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations, permutations, product
from random import Random

import numpy as np
import pytest

from setveil.errors import Cancelled, UsageError
from setveil.hierarchy.tree import Hierarchy
from setveil.measure.buckets import (
    CountQuery,
    Interest,
    Reconstruction,
    draw_queries,
    frequent_conditions,
    measure_queries,
    measure_rules,
)
from setveil.model.microdata import Microdata
from setveil.progress import Watch
from setveil.release.buckets import Bucketing

TREE = Hierarchy.from_paths([("x", "low", "*"), ("y", "low", "*"), ("z", "high", "*")])


def random_case(random: Random, n: int) -> tuple[Microdata, Bucketing]:
    data = Microdata.from_columns(
        {
            "u": [random.choice("xyz") for _ in range(n)],
            "v": [random.choice("pq") for _ in range(n)],
            "w": [random.choice("kl") for _ in range(n)],
            "ill": [random.choice("abc") for _ in range(n)],
        },
        "ill",
        hierarchies={"u": TREE},
    )
    raw = [random.randrange(3) for _ in range(n)]
    buckets = [sorted(set(raw)).index(own) for own in raw]
    return data, Bucketing(np.array(buckets, np.int32))


def shuffles(data: Microdata, bucketing: Bucketing) -> Iterator[list[int]]:
    """Yield all ways to hand the values of each bucket out to its tuples."""
    members = [np.flatnonzero(bucketing.bucket_by_tuple == b) for b in range(bucketing.n_buckets)]
    ways = [list(permutations(data.value_by_tuple[places].tolist())) for places in members]
    for chosen in product(*ways):
        given = [0] * len(data)
        for places, values in zip(members, chosen, strict=True):
            for place, value in zip(places.tolist(), values, strict=True):
                given[place] = value
        yield given


def test_counts_are_the_mean_over_all_ways_to_hand_the_values_out() -> None:
    for seed in range(25):
        random = Random(seed)
        data, bucketing = random_case(random, random.randint(1, 7))
        meets = np.array([random.random() < 0.5 for _ in range(len(data))])
        worlds = list(shuffles(data, bucketing))
        told = Reconstruction.of(data, bucketing)
        for value in range(len(data.values)):
            total = sum(
                given[place] == value for given in worlds for place in np.flatnonzero(meets).tolist()
            )
            assert told.counts(meets)[value] == Fraction(total, len(worlds))
        assert told.count(meets, range(len(data.values))) == int(meets.sum())


def naive_rules(
    data: Microdata, count: dict[tuple[tuple[tuple[str, str], ...], int], Fraction], interest: Interest
) -> set[tuple[tuple[tuple[str, str], ...], int]]:
    """Return the interesting rules from joint counts."""
    n = len(data)
    found = set()
    for (conditions, value), both in count.items():
        given = sum(count[conditions, other] for other in range(len(data.values)))
        held = int(data.count_by_value[value])
        p_x, p_not_y, p_against = given / n, Fraction(n - held, n), (given - both) / n
        convinced = p_against == 0 or p_x * p_not_y / p_against >= interest.min_conviction
        if both / n >= interest.min_support and convinced:
            found.add((conditions, value))
    return found


def cells(data: Microdata, place: int) -> dict[str, str]:
    return {a.name: a.hierarchy.labels[a.leaf_by_tuple[place]] for a in data.quasi}


def meeting(data: Microdata, conditions: tuple[tuple[str, str], ...]) -> list[int]:
    """Return the places of the tuples that meet conditions."""
    under = {"low": "xy", "high": "z"}
    return [
        place
        for place in range(len(data))
        if all(cells(data, place)[name] in (label, *under.get(label, "")) for name, label in conditions)
    ]


def test_rules_by_enumeration() -> None:
    interest = Interest.of("0.1", "1.1")
    seen = 0
    for seed in range(40):
        random = Random(seed)
        data, bucketing = random_case(random, random.randint(4, 14))
        labels = {"u": ["x", "y", "z", "low"], "v": ["p", "q"], "w": ["k", "l"]}
        conditions = [
            tuple(zip(names, chosen, strict=True))
            for size in (1, 2)
            for names in combinations("uvw", size)
            for chosen in product(*(labels[name] for name in names))
        ]
        conditions = [each for each in conditions if meeting(data, each)]
        before, after = {}, {}
        bucket = bucketing.bucket_by_tuple.tolist()
        for each in conditions:
            places = meeting(data, each)
            for value in range(len(data.values)):
                before[each, value] = Fraction(sum(data.value_by_tuple[p] == value for p in places))
                after[each, value] = sum(
                    (
                        Fraction(
                            sum(
                                data.value_by_tuple[q] == value and bucket[q] == bucket[p]
                                for q in range(len(data))
                            ),
                            bucket.count(bucket[p]),
                        )
                        for p in places
                    ),
                    Fraction(0),
                )
        original, found = naive_rules(data, before, interest), naive_rules(data, after, interest)
        errors = measure_rules(data, bucketing, min_support="0.1", min_conviction="1.1")
        # Categories with the same values are one condition: `low` where only x or only y occurs.
        if not {"x", "y"} <= {cells(data, place)["u"] for place in range(len(data))}:
            continue
        seen += 1
        assert (errors.original, errors.found) == (len(original), len(found))
        if not original:
            assert errors.false_positive is errors.confidence is None
            continue
        assert errors.false_positive == Fraction(len(found - original), len(original))
        assert errors.false_negative == Fraction(len(original - found), len(original))
        gaps = [abs(after[rule] - before[rule]) / before[rule] for rule in original]
        assert errors.confidence == pytest.approx(float(sum(gaps) / len(gaps)))
    assert seen > 10


def test_conditions_are_values_and_categories_below_the_root() -> None:
    data, _ = random_case(Random(3), 30)
    names = {
        tuple(f"{data.quasi[a].name}={data.quasi[a].hierarchy.labels[node]}" for a, node in conditions)
        for conditions, meets in frequent_conditions(data, Fraction(1), 3)
        if meets.any()
    }
    # `high` has the same values as z, which is lower.
    assert {name for (name, *more) in names if not more} == {
        *("u=x", "u=y", "u=z", "u=low", "v=p", "v=q", "w=k", "w=l"),
    }
    assert ("u=low", "v=p", "w=k") in names
    assert len(names) <= 8 + (4 * 2 + 4 * 2 + 2 * 2) + 4 * 2 * 2


def test_a_rule_without_exception_is_convincing() -> None:
    assert Interest.of("0.5", 100).of_rule(both=2, given=2, value=2, n=4)
    # 3/4 * 1/2 / (1/4) = 3/2, exactly at the threshold.
    assert Interest.of("0.5", "1.5").of_rule(both=2, given=3, value=2, n=4)
    assert not Interest.of("0.5", "1.51").of_rule(both=2, given=3, value=2, n=4)
    assert not Interest.of("0.51", "1.5").of_rule(both=2, given=3, value=2, n=4)


@pytest.mark.parametrize(
    ("support", "conviction"), [("0", 1), ("2", 1), ("0.1", 0), (0.1, 1), ("x", 1)]
)
def test_thresholds_are_checked(support: object, conviction: object) -> None:
    data, bucketing = random_case(Random(1), 5)
    with pytest.raises(UsageError):
        measure_rules(data, bucketing, min_support=support, min_conviction=conviction)  # type: ignore[arg-type]


def test_queries_are_answered_by_shares() -> None:
    random = Random(5)
    data, bucketing = random_case(random, 12)
    queries = draw_queries(data, columns=2, selectivity="0.7", random=random, count=30)
    assert len(queries) == 30 <= queries.drawn
    errors = []
    for query in queries.queries:
        places = [
            place
            for place in range(len(data))
            if all(data.quasi[a].leaf_by_tuple[place] in leaves for a, leaves in query.leaves)
        ]
        assert np.flatnonzero(query.meets(data)).tolist() == places
        assert query.true == sum(data.value_by_tuple[place] in query.values for place in places) > 0
        answer = Fraction(0)
        for place in places:
            own = np.flatnonzero(bucketing.bucket_by_tuple == bucketing.bucket_by_tuple[place])
            fits = sum(int(data.value_by_tuple[other]) in query.values for other in own)
            answer += Fraction(fits, len(own))
        errors.append(float(abs(answer - query.true) / query.true))
    found = measure_queries(data, bucketing, queries)
    assert found.mean == pytest.approx(sum(errors) / 30)
    assert (found.queries, found.drawn) == (30, queries.drawn)


def test_queries_that_nobody_fits_are_drawn_again() -> None:
    data = Microdata.from_columns({"u": list("xy"), "ill": list("ab")}, "ill")
    queries = draw_queries(data, columns=1, selectivity="0.5", random=Random(1), count=200)
    assert {query.true for query in queries.queries} == {1}
    # Half of the pairs of one value each occur.
    assert 300 < queries.drawn < 500
    assert queries.queries[0] == CountQuery(queries.queries[0].leaves, queries.queries[0].values, 1)


def test_sizes_of_the_sets_are_drawn_evenly() -> None:
    data = Microdata.from_columns({"u": list("abcdefghij"), "ill": list("klmnopqrst")}, "ill")
    queries = draw_queries(data, columns=1, selectivity="0.35", random=Random(1), count=300)
    sizes = [len(leaves) for query in queries.queries for _, leaves in query.leaves]
    assert set(sizes) == {1, 2, 3}


def test_what_queries_refuse() -> None:
    data, _ = random_case(Random(1), 5)
    for columns, selectivity in ((4, "0.5"), (0, "0.5"), (1, "0"), (1, "1.1"), (1, 0.5)):
        with pytest.raises(UsageError):
            draw_queries(data, columns=columns, selectivity=selectivity, random=Random(1))  # type: ignore[arg-type]


def test_long_work_can_be_stopped() -> None:
    data, bucketing = random_case(Random(1), 8)
    watch = Watch()
    watch.cancel()
    with pytest.raises(Cancelled):
        measure_rules(data, bucketing, min_support="0.1", min_conviction=1, watch=watch)
    queries = draw_queries(data, columns=1, selectivity=1, random=Random(1), count=3)
    with pytest.raises(Cancelled):
        measure_queries(data, bucketing, queries, watch=watch)
