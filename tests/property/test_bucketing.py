"""The kernels that form buckets against Figure 2 and Anatomy, tuple by tuple, on small random tables."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from setveil.kernels.bucketing import deal_values
from tests.oracle import buckets


@pytest.mark.parametrize("seed", range(100))
def test_values_are_dealt_as_the_oracle_deals_them(seed: int) -> None:
    random = Random(seed)
    counts = [random.randint(0, 9) for _ in range(random.randint(1, 7))]
    counts[0] += not any(counts)
    words = [random.randrange(10**6) for _ in range(sum(counts))]
    l = random.randint(2, 4)  # noqa: E741
    values, dealt = deal_values(np.array(counts), l, np.array(words))
    *groups, left = buckets.deal(counts, l, words)
    assert values[: dealt * l].reshape(-1, l).tolist() == groups
    assert sorted(values[dealt * l :].tolist()) == left
