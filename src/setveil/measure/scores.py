"""What a measure is, and a list of their values.

A `Measure` carries its name, what is better (goal) and its range, so that any report can render it. A
`Score` is a value of one: a fraction where it is counted, a float where it is estimated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from html import escape

from .before_after import BeforeAfter

Value = Fraction | float


@dataclass(frozen=True)
class Measure:
    """A number about records and what is published of them.

    `goal` is "lower" or "higher"; an end of `range` that is None is open. `about` says in a sentence
    what the number means.
    """

    name: str
    title: str
    goal: str
    range: tuple[int, int | None]
    compute: Callable[[BeforeAfter], Value]
    about: str = ""

    def __call__(self, pair: BeforeAfter) -> Score:
        """Return the score of publishing the records so."""
        return Score(self, self.compute(pair))


@dataclass(frozen=True)
class Score:
    """A value of a measure."""

    measure: Measure
    value: Value

    def __str__(self) -> str:
        return f"{self.measure.name.upper()} {float(self.value):.6f}"


@dataclass(frozen=True)
class Scores(Mapping[str, Value]):
    """Scores by the name of their measure; prints as a small table."""

    scores: tuple[Score, ...]

    def __getitem__(self, name: str) -> Value:
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
