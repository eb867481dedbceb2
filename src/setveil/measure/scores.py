"""What a measure is, and a list of their values.

A `Measure` carries its name, what is better (goal) and its range, so that any report can render it. A
`Score` is a value of one: a fraction where it is counted, a float where it is estimated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from html import escape
from typing import TYPE_CHECKING, Any

from ..release.recoding import BeforeAfter

if TYPE_CHECKING:
    from .queries import QueryErrors

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

    @property
    def told_range(self) -> str:
        """The range in words."""
        low, high = self.range
        return f"{low} or more" if high is None else f"{low} to {high}"


@dataclass(frozen=True)
class Score:
    """A value of a measure."""

    measure: Measure
    value: Value

    def __str__(self) -> str:
        return f"{self.measure.name.upper()} {self.told}"

    @property
    def told(self) -> str:
        """The value as text: a count in full, anything else with six digits."""
        if isinstance(self.value, Fraction) and self.value.denominator == 1 and self._is_open:
            return f"{self.value.numerator:,}"
        return f"{float(self.value):.6f}"

    @property
    def _is_open(self) -> bool:
        return self.measure.range[1] is None

    def as_dict(self) -> dict[str, Any]:
        """Return plain values for ``--json``; `exact` only where the value was counted."""
        measure = self.measure
        plain: dict[str, Any] = {
            "title": measure.title,
            "value": float(self.value),
            "goal": measure.goal,
            "range": list(measure.range),
            "about": measure.about,
        }
        if isinstance(self.value, Fraction):
            plain["exact"] = f"{self.value.numerator}/{self.value.denominator}"
        return plain


@dataclass(frozen=True)
class Scores(Mapping[str, Value]):
    """Scores by the name of their measure; prints as a small table.

    `queries` holds the errors of single queries where a workload was measured.
    """

    scores: tuple[Score, ...]
    queries: QueryErrors | None = None

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
        right = max((len(score.told) for score in self.scores), default=0)
        lines = []
        for score in self.scores:
            measure = score.measure
            lines.append(
                f"{measure.title.ljust(wide)}  {score.told.rjust(right)}  "
                f"({measure.goal} is better, {measure.told_range})"
            )
            if measure.about:
                lines.append(f"  {measure.about}")
        if self.queries is not None:
            lines += ["", str(self.queries)]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        head = "".join(
            f"<th>{name}</th>" for name in ("measure", "value", "better", "range", "what it means")
        )
        lines = "".join(
            "<tr>"
            + "".join(
                f"<td>{escape(text)}</td>"
                for text in (
                    score.measure.title,
                    score.told,
                    score.measure.goal,
                    score.measure.told_range,
                    score.measure.about,
                )
            )
            + "</tr>"
            for score in self.scores
        )
        found = f"<table><thead><tr>{head}</tr></thead>{lines}</table>"
        if self.queries is not None:
            told = "".join(
                f"<tr><th>{escape(name)}</th><td>{escape(text)}</td></tr>"
                for name, text in self.queries.lines()
            )
            found += f"<table><caption>Relative error of COUNT queries</caption>{told}</table>"
        return found

    def as_dict(self) -> dict[str, Any]:
        """Return plain values for ``--json``: measures by name, and the workload if there was one."""
        plain: dict[str, Any] = {
            "measures": {score.measure.name: score.as_dict() for score in self.scores}
        }
        if self.queries is not None:
            plain["queries"] = self.queries.as_dict()
        return plain
