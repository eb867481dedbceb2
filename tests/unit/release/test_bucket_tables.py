from __future__ import annotations

from collections import Counter
from random import Random

import numpy as np

from setveil.model.microdata import Microdata
from setveil.release.buckets import Bucketing, BucketTables, publish_buckets


def random_table(random: Random) -> tuple[list[dict[str, str]], list[int]]:
    """Return rows and the bucket of each; buckets may hold the same tuples as others."""
    n = random.randint(1, 14)
    rows = [
        {
            "sex": random.choice("FM"),
            "age": random.choice(["9", "10", "a;b"]),
            "ill": random.choice("xyz"),
        }
        for _ in range(n)
    ]
    wanted = random.randint(1, n)
    buckets = [*range(wanted), *(random.randrange(wanted) for _ in range(n - wanted))]
    random.shuffle(buckets)
    return rows, buckets


def published(rows: list[dict[str, str]], buckets: list[int]) -> BucketTables:
    columns = {name: [row[name] for row in rows] for name in ("sex", "age", "ill")}
    data = Microdata.from_columns(columns, "ill")
    return publish_buckets(data, Bucketing(np.array(buckets, dtype=np.int32)))


def test_tables_do_not_depend_on_order_or_numbers() -> None:
    for seed in range(300):
        random = Random(seed)
        rows, buckets = random_table(random)
        first = published(rows, buckets)
        order = random.sample(range(len(rows)), len(rows))
        name_of = random.sample(range(max(buckets) + 1), max(buckets) + 1)
        second = published([rows[i] for i in order], [name_of[buckets[i]] for i in order])
        assert list(first.quasi_rows()) == list(second.quasi_rows())
        assert list(first.sensitive_rows()) == list(second.sensitive_rows())
        assert list(first.joined_rows()) == list(second.joined_rows())


def test_tables_hold_what_the_buckets_hold() -> None:
    for seed in range(300):
        rows, buckets = random_table(Random(seed))
        tables = published(rows, buckets)
        inside: dict[str, tuple[Counter[tuple[str, str]], Counter[str]]] = {}
        for sex, age, bucket in tables.quasi_rows():
            inside.setdefault(bucket, (Counter(), Counter()))[0][sex, age] += 1
        for bucket, value, count in tables.sensitive_rows():
            inside[bucket][1][value] += int(count)
        wanted: dict[int, tuple[Counter[tuple[str, str]], Counter[str]]] = {}
        for row, number in zip(rows, buckets, strict=True):
            cells, values = wanted.setdefault(number, (Counter(), Counter()))
            cells[row["sex"], row["age"]] += 1
            values[row["ill"]] += 1
        as_sets = [(sorted(cells.items()), sorted(values.items())) for cells, values in inside.values()]
        assert sorted(as_sets) == sorted(
            (sorted(cells.items()), sorted(values.items())) for cells, values in wanted.values()
        )


def test_rows_are_sorted_and_joined_values_too() -> None:
    rows, buckets = random_table(Random(3))
    tables = published(rows, buckets)
    keyed = [(int(row[-1]), row[:-1]) for row in tables.quasi_rows()]
    assert keyed == sorted(keyed)
    assert [row[:-1] for row in tables.joined_rows()] == list(tables.quasi_rows())


def test_names_of_added_columns_are_free() -> None:
    columns = {"bucket": ["a", "b"], "count": ["c", "d"], "ill": ["x", "y"]}
    data = Microdata.from_columns(columns, "ill")
    tables = publish_buckets(data, Bucketing(np.zeros(2, dtype=np.int32)))
    assert tables.quasi_header == ("bucket", "count", "bucket_")
    assert tables.sensitive_header == ("bucket_", "ill", "count_")
