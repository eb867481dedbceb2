"""Small pairs of data sets, and random recodings of them that keep any promise: both sides alike."""

from __future__ import annotations

from itertools import pairwise
from random import Random

import numpy as np

from setveil.hierarchy.tree import Hierarchy
from setveil.model.guarantees import HiddenPatterns
from setveil.model.pattern_pair import PatternPair
from setveil.model.transactions import Rows, Transactions
from setveil.release.pair_release import PairRelease, seal_of_pair
from setveil.release.recoding import PairRecoding

FOOD = Hierarchy.from_parents(
    {"ale": "drink", "tea": "drink", "bun": "bread", "rye": "bread", "ham": "all"}
    | {"drink": "all", "bread": "all", "all": None}
)
DEGREES = Hierarchy.from_parents(
    {"BSc": "degree", "MSc": "degree", "degree": "any", "none": "any", "any": None}
)
COLUMNS = ("sex", "education", "job")
CLASSES = ("income", ("low", "high"))


def random_sets(seed: int, n: int = 12) -> PatternPair:
    random = Random(seed)
    leaves = list(FOOD.labels[: FOOD.n_leaves])
    rows = [random.sample(leaves, random.randint(0, 4)) for _ in range(n)]
    data = Transactions.from_rows(rows)
    return PatternPair.of_sets(data, data, FOOD, names=("old", "new"))


def random_table(seed: int, n: int = 12, *, classes: bool = True) -> PatternPair:
    random = Random(seed)
    values = {"sex": "FM", "education": ["BSc", "MSc", "none"], "job": ["a,b", "ü", "nurse"]}
    rows = [
        [f"{name}={random.choice(list(values[name]))}" for name in COLUMNS if random.random() < 0.8]
        for _ in range(n)
    ]
    data = Transactions.from_rows(rows)
    return PatternPair.of_tables(
        data,
        data,
        COLUMNS,
        {"education": DEGREES},
        names=("old", "new"),
        classes=CLASSES if classes else None,
    )


def random_recoding(pair: PatternPair, seed: int) -> PairRecoding:
    """Return a local recoding that is the same for both sides, which must be the same."""
    random, tree = Random(seed), pair.hierarchy
    rows: Rows = pair.sides[0]
    nodes: list[int] = []
    bounds = rows.indptr.tolist()
    for start, end in pairwise(bounds):
        row = [random.choice([leaf, *tree.ancestors(leaf)]) for leaf in rows.leaves[start:end].tolist()]
        if seed % 2 and not pair.is_table:  # sets may hold a node below another
            nodes += row
            continue
        # No node of the row is below another: it goes up to it.
        nodes += [
            min((n for n in row if tree.covers(n, node)), key=lambda n: tree.depth[n]) for node in row
        ]
    array = np.array(nodes, dtype=np.int32)
    return PairRecoding((array, array.copy()))


def random_release(kind: str, seed: int) -> PairRelease:
    pair = random_sets(seed) if kind == "sets" else random_table(seed)
    return PairRelease(
        pair=pair,
        recoding=random_recoding(pair, seed),
        guarantee=HiddenPatterns(2),
        method="hide-patterns",
        options={"frequent_support": 0.4},
        seal=seal_of_pair(pair),
    )
