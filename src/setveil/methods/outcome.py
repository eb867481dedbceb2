"""What a method returns: a recoding or buckets, how good it is known to be, and figures of the run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ..release.recoding import PairRecoding, Recoding

if TYPE_CHECKING:
    from ..release.buckets import Bucketing


@dataclass(frozen=True)
class Objective:
    """The integer cost reached, a lower bound on it (None where none is known), and if proven.

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
    """The result of a method. `figures` are facts about the run, for the private report.

    `notices` say what the user should know of how it came about.
    """

    recoding: Recoding
    objective: Objective | None = None
    figures: Mapping[str, int | float | str] = field(default_factory=dict)
    complete: bool = True
    """False where a time limit cut the run: the result is valid and not reproducible."""
    notices: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class BucketOutcome:
    """The buckets of a table; the rest as for `Outcome`."""

    bucketing: Bucketing
    figures: Mapping[str, int | float | str] = field(default_factory=dict)
    seeded: bool = False
    """Whether the randomness came from outside and may be known to somebody: not for release."""
    notices: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class PairOutcome:
    """The recoding of two data sets, which keeps the promise even where the method could not finish."""

    recoding: PairRecoding
    figures: Mapping[str, int | float | str] = field(default_factory=dict)
    complete: bool = True
