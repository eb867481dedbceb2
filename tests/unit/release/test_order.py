from __future__ import annotations

from random import Random

import numpy as np
import pytest

from setveil.model.transactions import Transactions, canonical_order


@pytest.mark.parametrize("labels", [1, 3, 40, 3000, 70_000])
def test_records_are_ordered_as_tuples_of_their_labels(labels: int) -> None:
    random = Random(labels)
    names = [f"{number:06}" for number in range(labels)]
    common = names[: min(labels, 12)]
    rows = [
        random.sample(common, random.randint(0, len(common)))
        + ([random.choice(names)] if random.random() < 0.3 else [])
        for _ in range(400)
    ]
    data = Transactions.from_rows([*[sorted(set(row)) for row in rows], names[: min(labels, 500)]])
    order = canonical_order(data)
    assert sorted(order.tolist()) == list(range(len(data)))
    told = list(data.take(order).rows())
    assert told == sorted(told)
    assert canonical_order(data.take(order)).tolist() == list(range(len(data)))


def test_no_records_have_an_order_too() -> None:
    assert canonical_order(Transactions.from_rows([])).tolist() == []
    assert canonical_order(Transactions.from_rows([[], []])).tolist() == [0, 1]


def test_equal_records_go_by_their_open_cells() -> None:
    from dataclasses import replace

    data = replace(
        Transactions.from_rows([["a"], ["a"], ["a", "b"], []]),
        unprotected=(("z",), ("y",), ("x",), ("w",)),
    )
    assert np.array_equal(canonical_order(data), [3, 1, 0, 2])
