"""A release of two data sets: what is published of either, what it promises, and how it was made.

Everything here belongs to the data holder; `release.pair_documents` decides what may leave the house.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from html import escape

import numpy as np

from ..model.guarantees import HiddenPatterns
from ..model.pattern_pair import PatternPair
from .pair_tables import PairTables, publish_pair
from .recoding import PairRecoding
from .release import Seal
from .usefulness import is_useless, telling_records


@dataclass(frozen=True, eq=False)
class PairRelease:
    """The result of hiding the patterns of two data sets; ``print`` it for a summary.

    `complete` is False where a time limit ended the search early: the promise is kept all the same, at
    a larger loss.
    """

    pair: PatternPair
    recoding: PairRecoding
    guarantee: HiddenPatterns
    method: str
    options: Mapping[str, int | float | str | bool] = field(default_factory=dict)
    figures: Mapping[str, int | float | str] = field(default_factory=dict)
    seconds: float = 0.0
    complete: bool = True
    notices: tuple[str, ...] = ()
    seal: Seal | None = None

    @property
    def records(self) -> tuple[int, int]:
        """How many records either side has; all of them are published."""
        return self.pair.records

    @property
    def values(self) -> int:
        """How many values the records of both sides hold: cells, or items of sets."""
        return sum(len(side.leaves) for side in self.pair.sides)

    @property
    def raised(self) -> int:
        """How many of them are published as something more general."""
        return sum(
            int((nodes != side.leaves).sum())
            for nodes, side in zip(self.recoding.node_by_entry, self.pair.sides, strict=True)
        )

    @cached_property
    def published(self) -> PairTables:
        """The published rows of both sides, in canonical order."""
        return publish_pair(self.pair, self.recoding)

    @property
    def useless(self) -> str | None:
        """Why nothing of use is published, if that is so."""
        tree = self.pair.hierarchy
        telling = sum(telling_records(side, tree) for side in self.published.sides)
        held = sum(int(np.count_nonzero(np.diff(side.indptr))) for side in self.pair.sides)
        if not is_useless(telling, held):
            return None
        more = "a finer hierarchy, a larger growth or a larger minimum support"
        if not self.complete:
            more = "more time"
        if not telling:
            return f"nothing but topmost categories is left to publish: {more} would keep more."
        return (
            f"{held - telling:,} of {held:,} records would say nothing but topmost categories: {more} "
            "would keep more."
        )

    def _lines(self) -> list[tuple[str, str]]:
        first, second = self.records
        what = "cells" if self.pair.is_table else "items"
        share = f" ({self.raised / self.values:.1%})" if self.values else ""
        chosen = ", ".join(f"{name} {value}" for name, value in self.options.items())
        cut = "" if self.complete else ", cut short by the time limit"
        lines = [
            ("promise", str(self.guarantee)),
            ("method", self.method + (f" ({chosen})" if chosen else "") + cut),
            ("records", f"{first:,} and {second:,}"),
            ("raised", f"{self.raised:,} of {self.values:,} {what}{share}"),
            ("time", f"{self.seconds:.2f} s"),
        ]
        return lines + [("note", notice) for notice in self.notices]

    def __repr__(self) -> str:
        first, second = self.records
        return f"PairRelease({self.guarantee}, {self.method}, {first:,} and {second:,} records)"

    def __str__(self) -> str:
        return "\n".join(["Release", *(f"  {name.ljust(8)} {text}" for name, text in self._lines())])

    def _repr_html_(self) -> str:
        lines = "".join(
            f"<tr><th>{escape(name)}</th><td>{escape(text)}</td></tr>" for name, text in self._lines()
        )
        return f"<table><caption>Release</caption>{lines}</table>"
