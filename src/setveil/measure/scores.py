"""What a measure is, and a list of their values.

A `Measure` carries its name, what is better (goal) and its range. A `Score` is an exact value of one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from html import escape

from ..model.costs import make_cost
from ..model.transactions import Rows
from ..release.apply import published_nodes
from ..release.recoding import Recoding


@dataclass(frozen=True)
class Measure:
    """A number about a recoding of records: see the module's text."""

    name: str
    title: str
    goal: str
    range: tuple[int, int]
    compute: Callable[[Recoding, Rows], Fraction]

    def __call__(self, recoding: Recoding, rows: Rows) -> Score:
        """Return the score of publishing `rows` by `recoding`."""
        return Score(self, self.compute(recoding, rows))


@dataclass(frozen=True)
class Score:
    """The exact value of a measure."""

    measure: Measure
    value: Fraction

    def __str__(self) -> str:
        return f"{self.measure.name.upper()} {float(self.value):.6f}"


@dataclass(frozen=True)
class Scores(Mapping[str, Fraction]):
    """Scores by the name of their measure; prints as a small table."""

    scores: tuple[Score, ...]

    def __getitem__(self, name: str) -> Fraction:
        for score in self.scores:
            if score.measure.name == name:
                return score.value
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        return (score.measure.name for score in self.scores)

    def __len__(self) -> int:
        return len(self.scores)

    def __str__(self) -> str:
        wide = max((len(score.measure.title) for score in self.scores), default=0)
        return "\n".join(
            f"{score.measure.title.ljust(wide)}  {float(score.value):.6f}  "
            f"({score.measure.goal} is better, {score.measure.range[0]} to {score.measure.range[1]})"
            for score in self.scores
        )

    def _repr_html_(self) -> str:
        lines = "".join(
            f"<tr><td>{escape(score.measure.title)}</td><td>{float(score.value):.6f}</td></tr>"
            for score in self.scores
        )
        return f"<table><thead><tr><th>measure</th><th>value</th></tr></thead>{lines}</table>"


def mean_unit_cost(name: str, recoding: Recoding, rows: Rows) -> Fraction:
    """Return the cost `name` of the recoding as a mean over the original occurrences, exactly.

    A suppressed occurrence counts as wholly lost. Nothing lost where there is no occurrence.
    """
    if not len(rows.leaves):
        return Fraction(0)
    cost = make_cost(name, recoding.hierarchy)
    nodes = published_nodes(recoding, rows)
    kept = nodes[nodes >= 0]
    lost = int(cost.unit_by_node[kept].sum()) + cost.scale * (len(nodes) - len(kept))
    return Fraction(lost, cost.scale * len(nodes))
