"""What a method for tables returns: the buckets, figures of the run, and if it may be published."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ..release.buckets import Bucketing


@dataclass(frozen=True, eq=False)
class BucketOutcome:
    """The buckets of a table. `figures` are facts about the run, for the private report."""

    bucketing: Bucketing
    figures: Mapping[str, int | float | str] = field(default_factory=dict)
    seeded: bool = False
    """Whether the randomness came from outside and may be known to somebody: not for release."""
    notices: tuple[str, ...] = ()
    """What the holder should be told of the run."""
