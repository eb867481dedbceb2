"""A recoding of two data sets: the node under which each value of each record is published."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class PairRecoding:
    """For either side the published node of each entry, in the order of its rows' leaves.

    A published row is the set of the nodes of its entries. In tables no node of a row is above another
    one; in sets one may be, where a value was raised and others below the same category were not.
    """

    node_by_entry: tuple[NDArray[np.int32], NDArray[np.int32]]
