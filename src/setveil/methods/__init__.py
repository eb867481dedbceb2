"""How a guarantee is reached: one file, one method, and its docstring names the paper.

Every method returns an outcome: a recoding or buckets, how good it is known to be, figures of the run.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ..release.recoding import PairRecoding, Recoding

if TYPE_CHECKING:
    from ..release.buckets import Bucketing


Figures = Mapping[str, int | float | str]
"""Facts about a run, for the private report."""


@dataclass(frozen=True)
class Objective:
    """The integer cost reached, and a lower bound on it (None where none is known).

    Both are in the units of the `Cost` given to the method: see ``Cost.share``. The bound is
    `certified` where it was computed in integers; otherwise it is a solver's word.
    """

    name: str
    cost: int
    bound: int | None = None
    certified: bool = True

    @property
    def proven(self) -> bool:
        """Whether no recoding of this kind costs less."""
        return self.bound is not None and self.bound >= self.cost


@dataclass(frozen=True, eq=False)
class Outcome:
    """A recoding of sets; `notices` say what the user should know of how it came about."""

    recoding: Recoding
    objective: Objective | None = None
    figures: Figures = field(default_factory=dict)
    complete: bool = True
    """False where a time limit cut the run: the result is valid and not reproducible."""
    notices: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class BucketOutcome:
    """The buckets of a table; the rest as for `Outcome`."""

    bucketing: Bucketing
    figures: Figures = field(default_factory=dict)
    seeded: bool = False
    """Whether the randomness came from outside and may be known to somebody: not for release."""
    notices: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class PairOutcome:
    """The recoding of two data sets, which keeps the promise even where the method could not finish."""

    recoding: PairRecoding
    figures: Figures = field(default_factory=dict)
    complete: bool = True
