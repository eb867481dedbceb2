"""What several methods cost on the same data, as table, sentences and picture.

A row without a result says why there is none. The recommendation is the method of the lowest loss whose
release says something and was confirmed by the audit; the reasons name what else a person may want:
the fastest one that is nearly as good, and the best one that leaves nothing out.

The picture has bars of what each method loses, cut where items left out end and items published more
coarsely begin. In its lower part a point further down loses less and one further left is faster.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from html import escape
from typing import Any

from ..plain import html_table
from ..release.header import BY_SOLVER, ObjectiveValue
from .axes import SMALL, Scale, draw_levels, mark_of, spelled
from .drawing import (
    BLUE,
    INK,
    MARGIN,
    MUTED,
    ORANGE,
    RULE,
    SAND,
    SHADE,
    Drawing,
    Figure,
    Style,
    cut_to_width,
    text_width,
)
from .terms import CUT, DONE, Terms, as_csv, terms_of

NEAR = Fraction(11, 10)
"""A loss up to this many times the lowest one is nearly as good."""
SOON = 0.1
"""A run of fewer seconds need not be faster."""
WIDTH = 700.0
ROW = 26.0
PLOT_HEIGHT = 240.0
COARSER, LEFT_OUT = Style(BLUE, BLUE, INK, weight=0.8), Style(SAND, ORANGE, INK, weight=1.4)
EMPTY = Style(SHADE, MUTED, INK, dashed=True)
"""The bar of a release that says nothing."""
Box = tuple[float, float, float, float]


@dataclass(frozen=True)
class Compared:
    """One method's row; what it has no number for is None.

    `loss` is the cost that was to be kept small, with the weights if there are any; `scores` are other
    measures by name, counts as whole numbers. `left_out` is the share of the occurrences that are not
    published. `memory` is how many bytes the process held at most beyond what it held before. `holds`
    is what the audit says of the published records; `useless` tells why nobody can learn anything from
    them. `variant` are the options that tell the row from others of its method. `promise` is what the
    method promises where that is something else than was asked for.
    """

    method: str
    status: str
    seconds: float
    why: str = ""
    loss: Fraction | None = None
    scores: Mapping[str, Fraction | float | int] = field(default_factory=dict)
    objective: ObjectiveValue | None = None
    left_out: Fraction | None = None
    labels: int | None = None
    memory: int | None = None
    holds: bool | None = None
    useless: str | None = None
    variant: Mapping[str, object] = field(default_factory=dict)
    promise: str = ""

    @property
    def name(self) -> str:
        """The method, with what tells it from other rows of it."""
        return " ".join([self.method, *map(str, self.variant.values())])

    @property
    def lost(self) -> float:
        """The loss as a number to show; 0 where there is none."""
        return float(self.loss or 0)

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
        return (
            self.loss is not None
            and self.useless is None
            and self.holds is not False
            and not self.promise
        )

    def optimum(self) -> str:
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
        said += [f"promises {self.promise} instead"] if self.promise else []
        return "; ".join([*said, self.why] if self.why else said)

    def as_dict(self) -> dict[str, object]:
        return {
            "method": self.method,
            **({"variant": self.name.removeprefix(f"{self.method} ")} if self.variant else {}),
            "status": self.status,
            "loss": None if self.loss is None else float(self.loss),
            **{
                name: value if isinstance(value, int) else float(value)
                for name, value in self.scores.items()
            },
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
            **({"promise": self.promise} if self.promise else {}),
        }


@dataclass(frozen=True)
class Comparison:
    """The rows of several methods for one guarantee: the lowest loss first, no result last.

    `told` are the columns that only some kinds of data have.

    >>> import setveil as sv
    >>> from setveil.io.demo import groceries
    >>> baskets, products = groceries()
    >>> found = sv.compare(baskets, sv.KmAnonymity(5, 1), hierarchy=products, methods=["aa", "trim"])
    >>> found.recommended in ("aa", "trim"), len(found.rows)
    (True, 2)
    """

    guarantee: str
    cost: str
    records: int
    items: int
    rows: tuple[Compared, ...]
    weighted: bool = False
    notices: tuple[str, ...] = ()
    domain: str = "used"
    told: tuple[str, ...] = ("left out", "labels", "optimum")

    @property
    def terms(self) -> Terms:
        """How the loss is spoken of."""
        return terms_of(self.cost, weighted=self.weighted)

    @property
    def usable(self) -> tuple[Compared, ...]:
        return tuple(row for row in self.rows if row.usable)

    @property
    def recommended(self) -> str | None:
        return self.usable[0].name if self.usable else None

    @property
    def measures(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(name for row in self.rows for name in row.scores))

    @property
    def reasons(self) -> tuple[str, ...]:
        if not self.usable:
            return (
                "No method is recommended: none gave a release that says something.",
                *self._empty(),
            )
        best = self.usable[0]
        said = [f"{best.name} loses least: {self._lost(best)}{self._left_out(best)}."]
        said += _known(best)
        said += self._faster(best)
        whole = next((row for row in self.usable if not row.left_out), None)
        if best.left_out:
            said.append(
                f"No method here publishes every {self.terms.part} in some form."
                if whole is None
                else f"If no {self.terms.part} may be left out: {whole.name}, {self._lost(whole)}."
            )
        said += self._empty()
        wrong = [row.name for row in self.rows if row.holds is False]
        if wrong:
            said.append(f"The audit says no to {', '.join(wrong)}: a bug in setveil. Please report it.")
        return tuple(said)

    def as_dicts(self) -> list[dict[str, object]]:
        return [row.as_dict() for row in self.rows]

    def to_csv(self) -> str:
        return as_csv(self.as_dicts(), ["method"])

    def table(self) -> tuple[list[str], list[list[str]]]:
        heads = ["method", self.terms.title, *(_head(name) for name in self._others())]
        heads += [*self.told, "seconds", "memory", "audit", "remark"]
        return heads, [self._cells(row) for row in self.rows]

    def figure(self) -> Figure:
        return draw_comparison(self)

    @property
    def title(self) -> str:
        records = f"{self.records:,} records with {self.items:,} {self.terms.items}"
        return f"{self.guarantee} of {records}"

    def __str__(self) -> str:
        heads, rows = self.table()
        widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
        lines = [self.title, ""]
        for (method, *cells), remark in [(heads[:-1], ""), *((row[:-1], row[-1]) for row in rows)]:
            right = map(str.rjust, cells, widths[1:])
            lines.append("  ".join([method.ljust(widths[0]), *right, remark]).rstrip())
        return "\n".join([*lines, "", *self.reasons])

    def _repr_html_(self) -> str:
        heads, rows = self.table()
        return html_table(rows, heads) + "".join(f"<p>{escape(text)}</p>" for text in self.reasons)

    def _others(self) -> list[str]:
        return [name for name in self.measures if name != self.cost or self.weighted]

    def _lost(self, row: Compared) -> str:
        return f"{self.terms.title} {row.lost:.4f} ({100 * row.lost:.2f} %)"

    def _cells(self, row: Compared) -> list[str]:
        def score(name: str) -> str:
            value: Any = row.scores.get(name, 0)
            rounded = isinstance(value, int) or abs(value) >= 100
            told = f"{float(value):,.0f}" if rounded else f"{float(value):.4f}"
            return told if name in row.scores else ""

        told = {
            "left out": "" if row.left_out is None else _share(row.left_out),
            "labels": "" if row.labels is None else f"{row.labels:,}",
            "optimum": row.optimum(),
        }
        return [
            row.name,
            "" if row.loss is None else f"{float(row.loss):.4f}",
            *(score(name) for name in self._others()),
            *(told[name] for name in self.told),
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
                why = row.useless.partition(". ")[0].rstrip(".") + "."
                methods_by_why.setdefault(why, []).append(row.name)
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
            return [f"{fastest.name} loses as little and was faster: {times}{self._left_out(fastest)}."]
        return [
            f"{fastest.name} is the fastest within 10 % of that: {times}, "
            f"{self._lost(fastest)}{self._left_out(fastest)}."
        ]

    def _left_out(self, row: Compared) -> str:
        if row.left_out is None:
            return ""
        if not row.left_out:
            return f", and every {self.terms.part} is published in some form"
        return f", with {_share(row.left_out)} of the {self.terms.parts} left out"


def _head(name: str) -> str:
    return name.upper() if len(name) <= 3 else name.replace("_", " ")


def _share(value: Fraction) -> str:
    """Return a share in percent; what is not nothing is not told as nothing.

    >>> _share(Fraction(0)), _share(Fraction(1, 9999)), _share(Fraction(1, 8))
    ('0.0%', '<0.1%', '12.5%')
    """
    return "<0.1%" if 0 < value < Fraction(1, 1000) else f"{float(value):.1%}"


def _plain(value: Fraction | None) -> float | None:
    return None if value is None else float(value)


def _known(row: Compared) -> list[str]:
    if row.objective is None or row.objective.gap is None:
        return [f"How far that is from the least possible is not known: {row.method} gives no bound."]
    title, end = row.objective.title, "." if row.objective.certified else f", {BY_SOLVER}."
    if row.proven:
        return [f"It is proven that no recoding of its kind has a lower {title}{end}"]
    return [f"It is at most {float(row.objective.gap):.4f} above the least {title} of its kind{end}"]


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def draw_comparison(found: Comparison) -> Figure:
    """Return the picture of a comparison."""
    with_result = [row for row in found.rows if row.loss is not None]
    without = [row for row in found.rows if row.loss is None]
    title = f"Methods compared: {found.guarantee}"
    bars_end = 120 + ROW * len(found.rows)
    height = bars_end + 12 + (PLOT_HEIGHT + 92 if len(found.usable) > 1 else 0)
    sheet = Drawing(WIDTH, height, title=title, description=_in_words(found))
    sheet.heading(MARGIN, 32, cut_to_width(title, 14.5, WIDTH - 2 * MARGIN))
    size = found.terms.told_size(found.records, found.items, found.domain)
    size += "" if found.recommended is None else f"; recommended: ★ {found.recommended}"
    sheet.text(MARGIN, 52, size, size=12.5, colour=MUTED)
    lost = found.terms.title + (" lost" if found.terms.counts_left_out else "")
    sheet.text(MARGIN, 84, f"{lost}: {found.terms.ends}", size=12.5, bold=True)
    names = [text_width(row.name, 12.5) for row in found.rows]
    left = MARGIN + max([94.0, *(width + 12 for width in names)])
    _bars(sheet, with_result, found, left)
    for place, row in enumerate(without, len(with_result)):
        y = 112 + ROW * place
        sheet.text(left - 12, y + 14, row.name, size=12.5, colour=MUTED, anchor="end")
        said = cut_to_width(row.remark().partition(", ")[0], SMALL, WIDTH - left - 22)
        sheet.text(left + 2, y + 14, said, size=SMALL, colour=MUTED)
    if len(found.usable) > 1:
        _against_time(sheet, found.usable, lost, bars_end + 26, found.recommended)
    return Figure(title, sheet.svg())


def _bars(sheet: Drawing, rows: Sequence[Compared], found: Comparison, left: float) -> None:
    right = 408.0
    across = Scale.over([row.lost for row in rows], left, right)
    columns = ((416.0, "lost", "start"), (610.0, "seconds", "end"), (680.0, "memory", "end"))
    for x, text, anchor in columns:
        sheet.text(x, 105, text, size=SMALL, colour=MUTED, anchor=anchor)
    # With weights an occurrence left out costs what its item weighs: the bar cannot be cut there.
    counted = found.terms.counts_left_out and not found.weighted
    cut = counted and any(row.left_out for row in rows)
    if cut:
        for x, style, text in ((left, COARSER, "coarser"), (left + 84, LEFT_OUT, "left out")):
            sheet.box(x, 96, 16, 11, style, radius=2)
            sheet.text(x + 22, 105.5, text, size=SMALL, colour=MUTED)
    for place, row in enumerate(rows):
        y = 112 + ROW * place
        chosen = row.name == found.recommended
        sheet.text(left - 12, y + 14, row.name, size=12.5, anchor="end", bold=chosen)
        gone = float(row.left_out or 0) if cut else 0.0
        middle, end = across.place(max(row.lost - gone, 0.0)), across.place(row.lost)
        if middle > left:
            sheet.box(left, y, middle - left, 18, EMPTY if row.useless else COARSER, radius=2)
        if gone and end > middle:
            sheet.box(middle, y, end - middle, 18, LEFT_OUT, radius=2)
        sheet.text(416, y + 14, cut_to_width(_told(row, chosen), 12, 150), size=12, bold=chosen)
        sheet.text(610, y + 14, f"{row.seconds:.2f}", size=12, anchor="end", bold=chosen)
        memory = "" if row.memory is None else f"{row.memory / 2**20:,.0f} MiB"
        sheet.text(680, y + 14, memory, size=12, anchor="end", bold=chosen)
    sheet.line(left, 110, left, 112 + ROW * len(rows), colour=MUTED, weight=1.2)


def _told(row: Compared, chosen: bool) -> str:
    said = f"{row.lost:.2%}".replace("%", " %")
    if row.useless:
        return f"{said}: says nothing"
    if row.holds is False:
        return f"{said}: BROKEN"
    said += ", proven" if row.proven else ", cut short" if row.cut else ""
    return f"{said} ★" if chosen else said


def _against_time(
    sheet: Drawing, rows: Sequence[Compared], lost: str, top: float, recommended: str | None
) -> None:
    sheet.text(MARGIN, top, f"{lost} against time: low and left is good", size=12.5, bold=True)
    top += 18
    bottom = top + PLOT_HEIGHT
    up = Scale.over([row.lost for row in rows], bottom, top)
    named = up.named(percent=True)
    left = MARGIN + 8 + max(text_width(text, SMALL) for _, text in named)
    right = WIDTH - MARGIN - 40
    seconds = [max(row.seconds, 0.001) for row in rows]
    across = Scale.over(seconds, left + 10, right, logarithmic=True)
    draw_levels(sheet, named, left, WIDTH - MARGIN)
    for x, text in across.named():
        sheet.line(x, top, x, bottom + 4, colour=RULE, weight=0.8)
        sheet.text(x, bottom + 18, text, size=SMALL, colour=MUTED, anchor="middle")
    sheet.line(left, bottom, WIDTH - MARGIN, bottom, colour=MUTED, weight=1.2)
    under = "seconds (each step is ten times as long)"
    sheet.text((left + right) / 2, bottom + 38, under, size=12.5, colour=MUTED, anchor="middle")
    points = [(across.place(time), up.place(row.lost)) for time, row in zip(seconds, rows, strict=True)]
    taken = [(x - 7, y - 7, x + 7, y + 7) for x, y in points]
    for place, (row, (x, y)) in enumerate(zip(rows, points, strict=True)):
        mark_of(place).draw(sheet, x, y, size=5)
        chosen = row.name == recommended
        box, moved = _free(x, y, text_width(row.name, 12.5), taken, (top - 8, bottom + 2))
        taken.append(box)
        if moved:
            near = min(max(x, box[0]), box[2])
            sheet.line(x, y, near, box[1] if box[1] > y else box[3], colour=MUTED, weight=0.8)
        sheet.text(box[0], box[3] - 4, row.name, size=12.5, bold=chosen)


def _free(
    x: float, y: float, width: float, taken: Sequence[Box], between: tuple[float, float]
) -> tuple[Box, bool]:
    """Return where a label covers nothing else, and whether that is not right beside its point."""
    for step in range(8):
        away = 10 + 14 * step
        for left, middle in (
            (x + 10, y - 14 * step),
            (x - 10 - width, y - 14 * step),
            (x - width / 2, y - 6 - away),
            (x - width / 2, y + 6 + away),
            (x + 10, y + 14 * step),
            (x - 10 - width, y + 14 * step),
        ):
            box = (left, middle - 8, left + width, middle + 8)
            inside = box[0] > MARGIN + 40 and box[2] < WIDTH - 8
            inside = inside and between[0] <= box[1] and box[3] <= between[1]
            if inside and not any(_meet(box, other) for other in taken):
                return box, step > 0
    return (x + 10, y - 8, x + 10 + width, y + 8), False


def _meet(one: Box, other: Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def _in_words(found: Comparison) -> str:
    rows = "; ".join(
        f"{row.name}: {spelled(float(row.loss), percent=True)} lost in {row.seconds:.2f} seconds"
        if row.loss is not None
        else f"{row.name}: {row.status}"
        for row in found.rows
    )
    return f"{rows}. {' '.join(found.reasons)}"
