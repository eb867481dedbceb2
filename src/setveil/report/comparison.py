"""What several methods cost on the same data, as table, sentences and picture.

A row without a result says why there is none. The recommendation is the method of the lowest loss whose
release says something and was confirmed by the audit; the reasons name what else a person may want:
the fastest one that is nearly as good, and the best one that leaves nothing out.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from html import escape

from ..model.costs import WEIGHTED, cost_title
from ..release.header import BY_SOLVER, ObjectiveValue
from .drawing import Figure

NEAR = Fraction(11, 10)
"""A loss up to this many times the lowest one is nearly as good."""
SOON = 0.1
"""A run of fewer seconds need not be faster."""
DONE, CUT, LATE, REFUSED, NONE = "done", "cut short", "time limit", "refused", "no solution"
"""How a method ended; `CUT` is by the time limit, with a valid result."""


def told_size(records: int, items: int, domain: str) -> str:
    """Return how large the data are, and which items their losses count if not those.

    >>> told_size(1000, 3, "hierarchy")
    '1,000 records, 3 items; the losses count all of the hierarchy'
    """
    counts = "; the losses count all of the hierarchy" if domain == "hierarchy" else ""
    return f"{records:,} records, {items:,} items{counts}"


def as_csv(rows: Sequence[Mapping[str, object]], heads: Sequence[str]) -> str:
    """Return mappings as CSV text under a header of all their names; `heads` where there is none."""
    text = io.StringIO()
    names = list(dict.fromkeys(name for row in rows for name in row))
    writer = csv.DictWriter(text, names or heads, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def as_html(heads: Sequence[str], rows: Sequence[Sequence[str]], caption: str = "") -> str:
    """Return a table for notebooks."""
    title = f"<caption>{escape(caption)}</caption>" if caption else ""
    head = "".join(f"<th>{escape(text)}</th>" for text in heads)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(text)}</td>" for text in row) + "</tr>" for row in rows
    )
    return f"<table>{title}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


@dataclass(frozen=True)
class Compared:
    """One method's row; what it has no number for is None.

    `loss` is the cost that was to be kept small, with the weights if there are any; `scores` are other
    measures by name. `left_out` is the share of the occurrences that are not published. `memory` is how
    many bytes the process held at most beyond what it held before. `holds` is what the audit says of
    the published records; `useless` tells why nobody can learn anything from them.
    """

    method: str
    status: str
    seconds: float
    why: str = ""
    loss: Fraction | None = None
    scores: Mapping[str, Fraction | float] = field(default_factory=dict)
    objective: ObjectiveValue | None = None
    left_out: Fraction | None = None
    labels: int | None = None
    memory: int | None = None
    holds: bool | None = None
    useless: str | None = None

    @property
    def proven(self) -> bool:
        """Whether no recoding of the method's kind loses less."""
        return self.objective is not None and self.objective.proven

    @property
    def cut(self) -> bool:
        """Whether the time limit cut the search: another run may differ."""
        return self.status == CUT

    @property
    def usable(self) -> bool:
        """Whether the method may be recommended."""
        return self.loss is not None and self.useless is None and self.holds is not False

    def optimum(self) -> str:
        """Return what is known of the best loss there is."""
        if self.objective is None or self.objective.gap is None:
            return ""
        told = "proven" if self.proven else f"gap {float(self.objective.gap):.4f}"
        return told if self.objective.certified else f"{told} (solver)"

    def remark(self) -> str:
        """Return what a reader of the row should know."""
        if self.loss is None:
            return f"{self.status}: {self.why}" if self.why else self.status
        said = [self.status] if self.status != DONE else []
        said += ["says nothing"] if self.useless else []
        said += ["BREAKS THE PROMISE"] if self.holds is False else []
        return "; ".join([*said, self.why] if self.why else said)

    def as_dict(self) -> dict[str, object]:
        """Return plain values."""
        return {
            "method": self.method,
            "status": self.status,
            "loss": None if self.loss is None else float(self.loss),
            **{name: float(value) for name, value in self.scores.items()},
            "bound": _plain(self.objective.bound if self.objective else None),
            "proven": self.proven,
            "certified": None if self.objective is None else self.objective.as_dict()["certified"],
            "left_out": _plain(self.left_out),
            "labels": self.labels,
            "seconds": round(self.seconds, 3),
            "memory_bytes": self.memory,
            "audit": self.holds,
            "useless": self.useless is not None,
            "why": self.why,
        }


@dataclass(frozen=True)
class Comparison:
    """The rows of several methods for one guarantee: the lowest loss first, no result last."""

    guarantee: str
    cost: str
    records: int
    items: int
    rows: tuple[Compared, ...]
    weighted: bool = False
    notices: tuple[str, ...] = ()
    domain: str = "used"

    @property
    def usable(self) -> tuple[Compared, ...]:
        """The rows that may be recommended, the lowest loss first."""
        return tuple(row for row in self.rows if row.usable)

    @property
    def recommended(self) -> str | None:
        """The method of the lowest loss whose release can be used."""
        return self.usable[0].method if self.usable else None

    @property
    def measures(self) -> tuple[str, ...]:
        """The names of the measures in the rows."""
        return tuple(dict.fromkeys(name for row in self.rows for name in row.scores))

    @property
    def reasons(self) -> tuple[str, ...]:
        """The recommendation in sentences."""
        if not self.usable:
            return (
                "No method is recommended: none gave a release that says something.",
                *self._empty(),
            )
        best = self.usable[0]
        said = [f"{best.method} loses least: {self._lost(best)}{_left_out(best)}."]
        said += _known(best)
        said += self._faster(best)
        whole = next((row for row in self.usable if not row.left_out), None)
        if best.left_out:
            said.append(
                "No method here publishes every item in some form."
                if whole is None
                else f"If no item may be left out: {whole.method}, {self._lost(whole)}."
            )
        said += self._empty()
        wrong = [row.method for row in self.rows if row.holds is False]
        if wrong:
            said.append(f"The audit says no to {', '.join(wrong)}: a bug in setveil. Please report it.")
        return tuple(said)

    def as_dicts(self) -> list[dict[str, object]]:
        """Return one plain mapping a method."""
        return [row.as_dict() for row in self.rows]

    def to_csv(self) -> str:
        """Return the rows as CSV text with a header."""
        return as_csv(self.as_dicts(), ["method"])

    def table(self) -> tuple[list[str], list[list[str]]]:
        """Return the heads of the columns and the rows, as text."""
        heads = ["method", self._cost_name(), *(_head(name) for name in self._others())]
        heads += ["left out", "labels", "optimum", "seconds", "memory", "audit", "remark"]
        return heads, [self._cells(row) for row in self.rows]

    def figure(self) -> Figure:
        """Return a picture: what each method loses, and how long it takes."""
        from .compare_picture import draw_comparison

        return draw_comparison(self)

    def __str__(self) -> str:
        heads, rows = self.table()
        keep = [place for place, head in enumerate(heads) if head != "remark"]
        widths = [max(len(row[place]) for row in [heads, *rows]) for place in keep]
        lines = [f"{self.guarantee} of {self.records:,} records with {self.items:,} items", ""]
        for row in [heads, *rows]:
            cells = [
                row[place].ljust(width) if place == 0 else row[place].rjust(width)
                for place, width in zip(keep, widths, strict=True)
            ]
            lines.append("  ".join([*cells, row[-1] if row is not heads else ""]).rstrip())
        return "\n".join([*lines, "", *self.reasons])

    def _repr_html_(self) -> str:
        return as_html(*self.table()) + "".join(f"<p>{escape(text)}</p>" for text in self.reasons)

    def _others(self) -> list[str]:
        """Return the measures that are not the cost itself."""
        return [name for name in self.measures if name != self.cost or self.weighted]

    def _cost_name(self) -> str:
        return cost_title(f"{WEIGHTED * self.weighted}{self.cost}")

    def _lost(self, row: Compared) -> str:
        loss = float(row.loss or 0)
        return f"{self._cost_name()} {loss:.4f} ({100 * loss:.2f} %)"

    def _cells(self, row: Compared) -> list[str]:
        def score(name: str) -> str:
            return _number(float(row.scores[name])) if name in row.scores else ""

        return [
            row.method,
            "" if row.loss is None else f"{float(row.loss):.4f}",
            *(score(name) for name in self._others()),
            "" if row.left_out is None else _share(row.left_out),
            "" if row.labels is None else f"{row.labels:,}",
            row.optimum(),
            f"{row.seconds:.2f}",
            "" if row.memory is None else f"{row.memory / 2**20:,.0f} MiB",
            {True: "kept", False: "BROKEN", None: ""}[row.holds],
            row.remark(),
        ]

    def _empty(self) -> list[str]:
        """Say which methods gave releases that tell nothing, and how that shows."""
        methods_by_why: dict[str, list[str]] = {}
        for row in self.rows:
            if row.useless is not None:
                methods_by_why.setdefault(_first_sentence(row.useless), []).append(row.method)
        return [
            f"{_listed(names)} {'is' if len(names) == 1 else 'are'} not recommended: {why}"
            for why, names in methods_by_why.items()
        ]

    def _faster(self, best: Compared) -> list[str]:
        """Say which method is the fastest of those nearly as good, where it is not the best itself."""
        near = [row for row in self.usable if (row.loss or 0) <= NEAR * (best.loss or 0)]
        fastest = min(near, key=lambda row: row.seconds)
        if best.seconds < SOON or fastest.seconds * 2 > best.seconds:
            return []  # that difference is noise, or hardly worth a thought
        times = f"{fastest.seconds:.2f} s instead of {best.seconds:.2f} s"
        if fastest.loss == best.loss:
            return [f"{fastest.method} loses as little and was faster: {times}{_left_out(fastest)}."]
        return [
            f"{fastest.method} is the fastest within 10 % of that: {times}, "
            f"{self._lost(fastest)}{_left_out(fastest)}."
        ]


def _head(name: str) -> str:
    return name.upper() if len(name) <= 3 else name.replace("_", " ")


def _number(value: float) -> str:
    return f"{value:.4f}" if abs(value) < 100 else f"{value:,.0f}"


def _share(value: Fraction) -> str:
    """Return a share in percent; what is not nothing is not told as nothing.

    >>> _share(Fraction(0)), _share(Fraction(1, 9999)), _share(Fraction(1, 8))
    ('0.0%', '<0.1%', '12.5%')
    """
    return "<0.1%" if 0 < value < Fraction(1, 1000) else f"{float(value):.1%}"


def _plain(value: Fraction | None) -> float | None:
    return None if value is None else float(value)


def _left_out(row: Compared) -> str:
    if not row.left_out:
        return ", and every item is published in some form"
    return f", with {_share(row.left_out)} of the occurrences left out"


def _known(row: Compared) -> list[str]:
    if row.objective is None or row.objective.gap is None:
        return [f"How far that is from the least possible is not known: {row.method} gives no bound."]
    title, end = row.objective.title, "." if row.objective.certified else f", {BY_SOLVER}."
    if row.proven:
        return [f"It is proven that no recoding of its kind has a lower {title}{end}"]
    return [f"It is at most {float(row.objective.gap):.4f} above the least {title} of its kind{end}"]


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _first_sentence(text: str | None) -> str:
    return (text or "").partition(". ")[0].rstrip(".") + "."
