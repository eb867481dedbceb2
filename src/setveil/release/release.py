"""A release: published records, what they promise, how they were made, and what that cost.

Everything here belongs to the data holder. What may leave the house is decided by
`release.documents`, and written by `setveil.publish`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..hierarchy.tree import Hierarchy
from ..model.costs import WEIGHTED, cost_title
from ..model.guarantees import Guarantee, KmAnonymity
from ..model.layout import Layout
from ..model.transactions import Rows, Transactions
from .recoding import Recoding
from .usefulness import is_useless, telling_records

if TYPE_CHECKING:
    import pyarrow


UNKNOWN_OPTIMUM = "not known: this method gives no bound"
BY_SOLVER = "by the solver's word, which nothing recomputed"


@dataclass(frozen=True)
class ObjectiveValue:
    """What the method minimized, as shares of losing everything: the value reached and a bound.

    `name` is that of the cost, such as "ncp" or "weighted lm". The bound is `certified` where it was
    computed in integers; otherwise it is the word of a solver that computes in floats.
    """

    name: str
    value: Fraction
    bound: Fraction | None = None
    proven: bool = False
    certified: bool = True

    @property
    def title(self) -> str:
        """The name as people read it."""
        return cost_title(self.name)

    @property
    def gap(self) -> Fraction | None:
        """How far above the optimum the value can be at most; None where no bound is known."""
        return None if self.bound is None else max(self.value - self.bound, Fraction(0))

    def as_dict(self) -> dict[str, object]:
        """Return plain values for ``--json``."""
        return {
            "name": self.name,
            "value": float(self.value),
            "bound": None if self.bound is None else float(self.bound),
            "gap": None if self.gap is None else float(self.gap),
            "proven": self.proven,
            "certified": self.bound is not None and self.certified,
        }

    def told(self, digits: int = 4) -> str:
        """Return what is known of the best value there is, with numbers of so many digits.

        >>> ObjectiveValue("ncp", Fraction(1, 6), Fraction(1, 6), proven=True).told()
        'proven: no recoding of this kind has a lower NCP than 0.1667'
        >>> ObjectiveValue("weighted lm", Fraction(1, 2), Fraction(1, 4)).told()
        'at most 0.2500 away: weighted LM 0.5000 was reached, and none is below 0.2500'
        """
        if self.bound is None or self.gap is None:
            return UNKNOWN_OPTIMUM
        value = f"{float(self.value):.{digits}f}"
        if self.proven:
            said = "proven" if self.certified else f"proven {BY_SOLVER}"
            return f"{said}: no recoding of this kind has a lower {self.title} than {value}"
        least = Fraction(1, 10**digits)
        how_far = f"at most {float(self.gap):.{digits}f}"
        if self.gap < least:
            how_far = f"less than {float(least):.{digits}f}"
        vouched = "" if self.certified else f", {BY_SOLVER}"
        return (
            f"{how_far} away: {self.title} {value} was reached, and none is below "
            f"{float(self.bound):.{digits}f}{vouched}"
        )


@dataclass(frozen=True)
class Seal:
    """A keyed hash of the input: shows later that a file was the input, and tells others nothing."""

    key: str
    digest: str


@dataclass(frozen=True, eq=False)
class Release:
    """The result of `setveil.anonymize`; ``print`` it for what was kept, lost and proven.

    `items`, `occurrences` and `unchanged` count the original's items, their occurrences, and those
    occurrences that are published as they were. `suppressed_items` and `suppressed` count the items
    left out and their occurrences. `dropped` are the places, in canonical order of the original, of the
    records that are not published because nothing was left of them and they were fewer than k. `rows`
    are the original records, as leaves of `hierarchy`, in that order, where they are at hand;
    `count_by_leaf`, in how many of them each leaf is, is told where only that is known. The place of a
    dropped record is -1 where the original is not known.
    """

    published: Transactions
    guarantee: Guarantee
    method: str
    recoding: Recoding
    hierarchy: Hierarchy
    losses: Mapping[str, Fraction]
    seconds: float
    items: int
    occurrences: int
    unchanged: int
    options: Mapping[str, object] = field(default_factory=dict)
    objective: ObjectiveValue | None = None
    layout: Layout | None = None
    notices: tuple[str, ...] = ()
    figures: Mapping[str, int | float | str] = field(default_factory=dict)
    complete: bool = True
    seal: Seal | None = None
    suppressed_items: int = 0
    suppressed: int = 0
    dropped: tuple[int, ...] = ()
    rows: Rows | None = None
    count_by_leaf: NDArray[np.int64] | None = None

    @property
    def records(self) -> int:
        """How many records are published."""
        return len(self.published)

    @property
    def empty_records(self) -> int:
        """How many of the published records hold no label."""
        return int(np.count_nonzero(self.published.length_by_record == 0))

    @property
    def occurrences_by_leaf(self) -> NDArray[np.int64] | None:
        """In how many original records each leaf is: counted, or as told; None where not known."""
        if self.rows is None:
            return self.count_by_leaf
        return np.bincount(self.rows.leaves, minlength=self.hierarchy.n_leaves).astype(np.int64)

    @property
    def all_losses(self) -> dict[str, Fraction]:
        """The losses by name, with the weighted one where weights were given."""
        own = self.objective
        if own is None or not own.name.startswith(WEIGHTED):
            return dict(self.losses)
        return {**self.losses, own.name: own.value}

    def _lost(self) -> str:
        named = self.all_losses.items()
        return ", ".join(f"{cost_title(name)} {float(loss):.4f}" for name, loss in named)

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels that occur in the published records, sorted."""
        return self.published.vocabulary.labels

    @property
    def useless(self) -> str | None:
        """What to tell where most records say nothing, and what would help; else None.

        Records that were empty in the data do not count. Where the originals are not at hand it is not
        known which were, so that empty records do not count at all.
        """
        telling = telling_records(self.published, self.hierarchy)
        if self.rows is None:
            held = self.records - self.empty_records + len(self.dropped)
        else:
            held = int(np.count_nonzero(np.diff(self.rows.indptr)))
        if not is_useless(telling, held):
            return None
        labels = self.labels
        if not labels:
            what = "nothing is published: every item was left out."
        elif not telling:
            shown = ", ".join(repr(label[:40]) for label in labels[:3])
            shown += ", ..." if labels[3:] else ""
            what = f"nothing but {shown} is published: nobody can learn anything from it."
        else:
            what = (
                f"{held - telling:,} of {held:,} records would say nothing: nothing is left of them, "
                "or only the top of the hierarchy."
            )
        return f"{what} {self._what_would_help()}"

    def _what_would_help(self) -> str:
        """Return what would keep more, as far as it can be told from the release."""
        tree = self.hierarchy
        flat = tree.height < 2
        ways = [f"a hierarchy{'' if flat and self.suppressed else ' with more levels'}"]
        if flat:
            ways = [f"{ways[0]} (`setveil hierarchy build` or `setveil hierarchy learn`)"]
        asked = self.guarantee
        plain = isinstance(asked, KmAnonymity) and not asked.negative
        if plain and not self.suppressed and self.method != "trim":
            ways.insert(0, "--method trim, which may leave rare items out instead")
        if not self.complete:
            ways.insert(0, "more time")
        if getattr(asked, "m", 1) > 1:
            ways.append("a smaller m")
        ways.append("a smaller l" if asked.model == "lm" else "a smaller k")
        listed = f"{', '.join(ways[:-1])} or {ways[-1]}"
        return f"What may help: {listed}. `setveil compare` shows other methods."

    def to_arrow(self) -> pyarrow.Table:
        """Return the published records as an Arrow table, which pandas, polars and DuckDB take."""
        from ..io.frames import to_arrow

        return to_arrow(self.published)

    def __arrow_c_stream__(self, requested_schema: object = None) -> Any:
        """Hand the published records to any library that reads Arrow streams."""
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def _lines(self) -> list[tuple[str, str]]:
        share = self.unchanged / self.occurrences if self.occurrences else 1.0
        lines = [
            ("promise", str(self.guarantee)),
            ("method", self.method + (", cut short by the time limit" if not self.complete else "")),
            ("records", f"{self.records:,}"),
            ("labels", f"{len(self.labels):,} published for {self.items:,} in the data"),
            (
                "kept",
                f"{self.unchanged:,} of {self.occurrences:,} occurrences under their own label "
                f"({share:.1%})",
            ),
            (
                "lost",
                f"{self._lost()} (0 nothing, 1 everything)",
            ),
        ]
        if self.layout is not None and self.layout.unprotected:
            names = ", ".join(self.layout.unprotected)
            lines.append(("open", f"not covered by the promise, published as they are: {names}"))
        if self.suppressed_items:
            gone = f"; {dropped_words(len(self.dropped))}" if self.dropped else ""
            lines.append(
                (
                    "left out",
                    f"{_counted(self.suppressed_items, 'item')} with "
                    f"{_counted(self.suppressed, 'occurrence')}{gone}",
                )
            )
        if self.empty_records:
            lines.append(("empty", empty_words(self)))
        if self.objective is not None:
            lines.append(("optimum", self.objective.told()))
        lines.append(("time", f"{self.seconds:.2f} s"))
        useless = () if self.useless is None else (self.useless,)
        lines += [("note", notice) for notice in (*self.notices, *useless)]
        return lines

    def __repr__(self) -> str:
        records = _counted(self.records, "record")
        return f"Release({self.guarantee}, {self.method}, {records}, {self._lost()})"

    def __str__(self) -> str:
        return "\n".join(["Release", *(f"  {name.ljust(8)} {text}" for name, text in self._lines())])

    def _repr_html_(self) -> str:
        lines = "".join(
            f"<tr><th>{escape(name)}</th><td>{escape(text)}</td></tr>" for name, text in self._lines()
        )
        return f"<table><caption>Release</caption>{lines}</table>"


def dropped_words(count: int) -> str:
    """Return that records were dropped, and why.

    >>> dropped_words(1)
    '1 record was dropped, because all its items were left out'
    """
    were, its = ("was", "its") if count == 1 else ("were", "their")
    return f"{_counted(count, 'record')} {were} dropped, because all {its} items were left out"


def dropped_notice(count: int) -> str:
    """Return the notice of a run that dropped records.

    >>> dropped_notice(2).partition(":")[0]
    '2 records are not published'
    """
    are, its = ("is", "its") if count == 1 else ("are", "their")
    return (
        f"{_counted(count, 'record')} {are} not published: all {its} items were left out, and so few "
        "empty records would stand out."
    )


def empty_words(release: Release) -> str:
    """Return how many records are published empty, and why, for the holder; nothing where none is."""
    count = release.empty_records
    if not count:
        return ""
    are, they, their = ("is", "it", "its") if count == 1 else ("are", "they", "their")
    told = f"{_counted(count, 'record')} {are} published empty"
    if not release.suppressed_items:
        return f"{told}, as in the data"
    gone = f"all {their} items were left out"
    if release.rows is None or not np.diff(release.rows.indptr).all():
        gone += f", or {they} held none"
    return f"{told}: {gone}"


def _counted(number: int, word: str) -> str:
    return f"{number:,} {word}" if number == 1 else f"{number:,} {word}s"
