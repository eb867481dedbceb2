"""Steps of the deFinetti attack: learn from a guess who has what, and guess again within each bucket.

Tuples lie bucket by bucket. For each tuple a weight is kept for every value of its bucket, in one flat
array: those of bucket b start at ``weight_start[b]``, a line of ``value_start[b + 1] - value_start[b]``
for each of its tuples. The weights of a tuple sum up to 1.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..base import Counts, Ids, jit

Weights = npt.NDArray[np.float64]


@jit
def learn_weights(
    start: Counts,
    features: Ids,
    value_start: Counts,
    values: Ids,
    weight_start: Counts,
    weights: Weights,
    seen: Weights,
) -> None:
    """Fill `seen`: the weight of each feature (lines) with each value (columns).

    The tuples of bucket b are ``start[b] : start[b + 1]``, its different values likewise;
    ``features[i]`` are those of tuple i, each attribute's values numbered after those of the attributes
    before it.
    """
    seen[:] = 0.0
    for bucket in range(start.size - 1):
        low, high = value_start[bucket], value_start[bucket + 1]
        place = weight_start[bucket]
        for row in range(start[bucket], start[bucket + 1]):
            for number in range(low, high):
                for attribute in range(features.shape[1]):
                    seen[features[row, attribute], values[number]] += weights[place]
                place += 1


@jit
def guess_again(
    start: Counts,
    features: Ids,
    value_start: Counts,
    values: Ids,
    counts: Counts,
    weight_start: Counts,
    weights: Weights,
    log_chance: Weights,
    guess: Ids,
    sweeps: int,
) -> int:
    """Weigh the values of each tuple by its features, and balance each bucket; return how many changed.

    ``counts`` says how often a value is in its bucket. Lines are scaled to 1 and columns to the counts,
    in turn, so that the bucket's values are shared out among its tuples. `guess` becomes the value of
    the largest weight of each tuple, the first of equals.
    """
    changed = 0
    for bucket in range(start.size - 1):
        low, high = value_start[bucket], value_start[bucket + 1]
        n_values, n_rows = high - low, start[bucket + 1] - start[bucket]
        first = weight_start[bucket]
        table = weights[first : first + n_rows * n_values].reshape((n_rows, n_values))
        for row in range(n_rows):
            for number in range(n_values):
                log_weight = 0.0
                for attribute in range(features.shape[1]):
                    feature = features[start[bucket] + row, attribute]
                    log_weight += log_chance[feature, values[low + number]]
                table[row, number] = log_weight
            table[row] -= table[row].max()
            for number in range(n_values):
                table[row, number] = max(np.exp(table[row, number]), 1e-200)
        for _ in range(sweeps):
            for number in range(n_values):
                table[:, number] *= counts[low + number] / table[:, number].sum()
            for row in range(n_rows):
                table[row] /= table[row].sum()
        for row in range(n_rows):
            value = values[low + np.argmax(table[row])]
            if guess[start[bucket] + row] != value:
                guess[start[bucket] + row] = value
                changed += 1
    return changed
