"""What a measure is, a list of values, and the measures that only count.

A `Measure` carries its name, what is better (goal) and its range, so that any report can render it. A
`Score` is a value of one: a fraction where it is counted, a float where it is estimated.

All measures here are exact. NCP, the normalized certainty penalty (Terrovitis et al.): an occurrence
published as a node over n of the |I| leaves of its tree loses n / |I|, nothing where n is 1. LM, the
loss metric (Liu and Wang's use of Iyengar's): it loses (n - 1) / (|I| - 1). Either is the mean over all
original occurrences, a suppressed one counting as wholly lost; |I| counts the leaves that occur, or all
of the hierarchy where the release was made so (`Hierarchy.domain`).

What was left out and what was kept as it was:

- suppressed: occurrences (an item in a record) that are not published under any label;
- suppressed items: items of which at least one occurrence is so; a global recoding leaves out all
  occurrences of an item or none;
- emptied records: records that held items and of which nothing is published, dropped or left empty;
- unchanged: occurrences published under their own label.

A record that came empty lost nothing and is not counted. A category above a single item loses nothing
by NCP and LM, but it is another label: what is published so is not unchanged.

Discernibility: Bayardo and Agrawal ("Data privacy through optimal k-anonymization", ICDE 2005) charge
every record with the size of its group of equal records, and a suppressed record with the size of the
whole data set. Here a record is the set of its published labels:

- a record of which something is published counts as many as there are records with the same labels;
- a record that held items and of which nothing is published counts as all n records, whether it is
  published as an empty record or dropped;
- a record that came empty counts as many as there are records of which nothing is published.

The sum lies between n, where all records differ, and n * n, where nothing tells any two apart. Data are
seldom all different to begin with: of records that are published unchanged the sum is that of the
original, which is the least that any recoding can reach.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ..distinct import distinct
from ..kernels.rows import merge_rows
from ..model.costs import make_cost
from ..model.fit import labels_in
from ..model.transactions import Rows, Transactions, bind, canonical_order
from ..plain import html_table
from ..release.recoding import BeforeAfter
from ..release.release import Release

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
    compute: Callable[[BeforeAfter], Value]
    about: str = ""
    goal: str = "lower"
    range: tuple[int, int | None] = (0, 1)

    def __call__(self, pair: BeforeAfter) -> Score:
        return Score(self, self.compute(pair))

    @property
    def told_range(self) -> str:
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
        is_open = self.measure.range[1] is None
        if isinstance(self.value, Fraction) and self.value.denominator == 1 and is_open:
            return f"{self.value.numerator:,}"
        return f"{float(self.value):.6f}"

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
    """Scores by the name of their measure, and errors of single queries where some were asked.

    >>> import setveil as sv
    >>> from setveil.io.demo import groceries
    >>> baskets, products = groceries()
    >>> release = sv.anonymize(baskets, sv.KmAnonymity(k=5, m=2), hierarchy=products)
    >>> scores = sv.measure(release)
    >>> scores["suppressed"] <= 1, "ncp" in scores
    (True, True)
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
        found = html_table(
            [
                (
                    one.measure.title,
                    one.told,
                    one.measure.goal,
                    one.measure.told_range,
                    one.measure.about,
                )
                for one in self.scores
            ],
            ("measure", "value", "better", "range", "what it means"),
        )
        if self.queries is not None:
            found += html_table(self.queries.lines(), caption="Relative error of COUNT queries")
        return found

    def as_dict(self) -> dict[str, Any]:
        """Return plain values for ``--json``: measures by name, and the workload if there was one."""
        plain: dict[str, Any] = {
            "measures": {score.measure.name: score.as_dict() for score in self.scores}
        }
        if self.queries is not None:
            plain["queries"] = self.queries.as_dict()
        return plain


class Figures:
    """What a release cost as lines of name, value and meaning; it prints as such."""

    def lines(self) -> list[tuple[str, str, str]]:
        raise NotImplementedError

    def __str__(self) -> str:
        names, values, meanings = zip(*self.lines(), strict=True)
        wide, right = max(map(len, names)), max(map(len, values))
        return "\n".join(
            f"{name.ljust(wide)}  {value.rjust(right)}  {meaning}"
            for name, value, meaning in zip(names, values, meanings, strict=True)
        )

    def _repr_html_(self) -> str:
        return html_table(self.lines(), ("measure", "value", "what it means"))


def mean_unit_cost(name: str, pair: BeforeAfter) -> Fraction:
    """Return the cost `name` as a mean over the original occurrences, exactly; 0 for none."""
    nodes = pair.node_of_occurrence
    if not len(nodes):
        return Fraction(0)
    cost = make_cost(name, pair.hierarchy)
    kept = nodes[nodes >= 0]
    lost = int(cost.unit_by_node[kept].sum()) + cost.scale * (len(nodes) - len(kept))
    return Fraction(lost, cost.scale * len(nodes))


def discernibility_sum(pair: BeforeAfter) -> int:
    """Return the sum over all records of the number of records they look the same as."""
    published, n_records = pair.published, len(pair.rows)
    weights = np.ones(n_records, dtype=np.int64)
    _, _, size_by_group, group_of_record = merge_rows(published.indptr, published.leaves, weights)
    alike_by_record = size_by_group[group_of_record]
    emptied = (np.diff(published.indptr) == 0) & (np.diff(pair.rows.indptr) > 0)
    alike_by_record[emptied] = n_records
    return int(alike_by_record.sum())


def _share(part: int, whole: int, *, of_nothing: int = 0) -> Fraction:
    return Fraction(part, whole) if whole else Fraction(of_nothing)


def _suppressed(pair: BeforeAfter) -> Fraction:
    nodes = pair.node_of_occurrence
    return _share(int((nodes < 0).sum()), len(nodes))


def _suppressed_items(pair: BeforeAfter) -> Fraction:
    gone = distinct(pair.rows.leaves[pair.node_of_occurrence < 0])
    return _share(len(gone), int((pair.count_by_leaf > 0).sum()))


def _emptied_records(pair: BeforeAfter) -> Fraction:
    held = np.diff(pair.rows.indptr) > 0
    left = np.diff(pair.published.indptr) > 0
    return _share(int((held & ~left).sum()), int(held.sum()))


def _unchanged(pair: BeforeAfter) -> Fraction:
    nodes = pair.node_of_occurrence
    return _share(int((nodes == pair.rows.leaves).sum()), len(nodes), of_nothing=1)


def _discernibility(pair: BeforeAfter) -> Fraction:
    return _share(discernibility_sum(pair), len(pair.rows) ** 2)


MEASURES = (
    Measure(
        "ncp",
        "NCP, normalized certainty penalty",
        partial(mean_unit_cost, "ncp"),
        "how much of the tree an item became indistinguishable from, on average",
    ),
    Measure(
        "lm",
        "LM, loss metric",
        partial(mean_unit_cost, "lm"),
        "which share of the other items the published label of an item also covers, on average",
    ),
    Measure(
        "unchanged",
        "Occurrences under their own label",
        _unchanged,
        "the share of all items in all records that is published as it was",
        goal="higher",
    ),
    Measure(
        "suppressed",
        "Occurrences left out",
        _suppressed,
        "the share of all items in all records that is not published at all",
    ),
    Measure(
        "suppressed_items",
        "Items left out",
        _suppressed_items,
        "the share of the different items that is left out of some record or of all",
    ),
    Measure(
        "emptied_records",
        "Records with nothing left",
        _emptied_records,
        "the share of the records of which nothing is published",
    ),
    Measure(
        "discernibility",
        "Discernibility, share of all records",
        _discernibility,
        "the share of all records that a record looks the same as, on average, itself included",
    ),
    Measure(
        "discernibility_sum",
        "Discernibility, sum (Bayardo and Agrawal)",
        lambda pair: Fraction(discernibility_sum(pair)),
        "over all records, the number of records that each looks the same as, added up",
        range=(0, None),
    ),
)


def rows_of_original(release: Release, original: Transactions) -> Rows | None:
    """Return the records as leaves in canonical order, or None where they are not the original.

    Records that lead to the published ones by the recoding, and agree with all that the release knows
    of its original, are taken for it: figures about other data would mislead. A release that holds the
    original compares the two outright.
    """
    hierarchy = release.hierarchy
    if labels_in(original) != sorted(hierarchy.labels[: hierarchy.n_leaves]):
        return None
    if len(original) != release.records + len(release.dropped):
        return None
    _, rows = bind(original.take(canonical_order(original)), hierarchy)
    known = release.rows
    if known is not None:
        same = np.array_equal(known.indptr, rows.indptr) and np.array_equal(known.leaves, rows.leaves)
        return rows if same else None
    counts = release.occurrences_by_leaf
    if counts is not None and not np.array_equal(counts, np.bincount(rows.leaves)):
        return None
    pair = BeforeAfter(release.recoding, rows)
    lost = {name: mean_unit_cost(name, pair) for name in release.losses}
    if len(rows.leaves) != release.occurrences or lost != dict(release.losses):
        return None
    return rows if release.is_made_of(rows) else None
