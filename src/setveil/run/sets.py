"""A run on one data set of sets.

`Prepared.bind` binds data and hierarchy to a job and refuses what cannot work; `Prepared.run` asks the
method, applies its recoding and returns a `Release`.
"""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ..distinct import count_distinct, distinct
from ..errors import DataError, Infeasible, ResourceLimit, UsageError
from ..hierarchy.tree import Hierarchy
from ..io.column_look import told_of_identifiers
from ..model.costs import COST_NAMES, Cost, make_cost
from ..model.fit import fit_hierarchy
from ..model.guarantees import Guarantee
from ..model.layout import Layout
from ..model.transactions import Rows, Transactions, bind, canonical_order
from ..progress import Watch
from ..release.header import ObjectiveValue
from ..release.release import Release, dropped_notice, seal
from . import work
from .reading import input_files, looks_learned
from .work import Account, Job

if TYPE_CHECKING:
    from ..engines.base import Engine
    from ..methods import Outcome
    from ..publish import Publication
    from ..release.recoding import BeforeAfter

WHOLE_DOMAIN = "the loss counts all items of the hierarchy, whether they occur in the data or not."

LOOKS_LEARNED = (
    "the hierarchy looks learned, and what is learned from the data tells something about them: "
    "--private-hierarchy publishes its labels and root, nothing between."
)

MOST_SETS = {2: 10**11, 3: 10**13}
"""Above this many sets of so many items inside records no method can look at them; refused at once.

Larger sets are looked at only where their parts are common, so their number says little.
"""


def _warn_of_names(transactions: Transactions) -> tuple[str, ...]:
    """Return a notice for each column of one value, protected or not, that can name people."""
    layout = transactions.layout
    if layout is None:
        return ()
    # The name of a column holds no '='.
    values = Counter(label.partition("=")[0] for label in transactions.vocabulary.labels)
    values_of_column = {
        column.name: values[column.name] for column in layout.columns if column.role == "kept"
    }
    for place, name in enumerate(layout.unprotected):
        values_of_column[name] = len({cells[place] for cells in transactions.unprotected or ()})
    remedy = "leave it out (--keep and --keep-unprotected name what is published)"
    return told_of_identifiers(values_of_column, len(transactions), remedy=remedy)


@dataclass(frozen=True, eq=False)
class Prepared:
    """A job bound to its data. `effective` is the guarantee with m cut to the longest record."""

    job: Job
    effective: Guarantee
    hierarchy: Hierarchy
    rows: Rows
    cost: Cost
    transactions: Transactions
    notices: tuple[str, ...]
    started: float
    unprotected: tuple[tuple[str, ...], ...] | None = None
    inputs: ClassVar[tuple[str, ...]] = ()
    takes = Transactions
    about = "sets of items"
    read_first = "Read them first: setveil.read_transactions(path)."

    @classmethod
    def bind(
        cls,
        job: Job,
        transactions: Transactions,
        hierarchy: Hierarchy | Mapping[str, Hierarchy] | None,
        *,
        started: float,
    ) -> Prepared:
        """Bind records and hierarchy to a job that is checked."""
        asked: Any = job.guarantee
        weights = _exact_weights(job.weights)
        _check_size(transactions, asked)
        if isinstance(hierarchy, Mapping) and not hierarchy and not job.record.needs_hierarchy:
            hierarchy = None  # a table without a hierarchy for any of its columns
        if hierarchy is None:
            job.check_without_hierarchy()
        fitted, guarantee, notices = fit_hierarchy(transactions, hierarchy, asked, unknown=job.unknown)
        if hierarchy is None:
            notices += (
                "no hierarchy was given, so rare items can only be left out; with one more is kept: "
                "`setveil hierarchy build` or `setveil hierarchy learn`.",
            )
        if weights:
            _check_weights(weights, fitted)
        effective, more = _shorten(guarantee, transactions)
        if job.domain == "hierarchy":
            fitted = fitted.as_domain()
            notices += (WHOLE_DOMAIN,)
        # An order that does not depend on how they were given.
        ordered = transactions.take(canonical_order(transactions))
        restricted, rows = bind(ordered, fitted)
        cost = make_cost(job.cost, restricted, weights=weights)
        cost.check_size(np.bincount(rows.leaves, minlength=restricted.n_leaves))
        return cls(
            job=job,
            effective=effective,
            hierarchy=restricted,
            rows=rows,
            cost=cost,
            transactions=transactions,
            unprotected=ordered.unprotected,
            notices=(*transactions.notices, *_warn_of_names(transactions), *notices, *more),
            started=started,
        )

    def estimate(self) -> dict[str, int | str]:
        """Return what the run would work on, and a rough size of its memory in bytes."""
        lengths = np.diff(self.rows.indptr)
        m = self.effective.known_at_most or 1
        sets = sum(_choose(int(n), int(m)) * int(times) for n, times in _histogram(lengths))
        nodes, entries = len(self.hierarchy), len(self.rows.leaves)
        deep = max(self.hierarchy.height, 1)
        return {
            "method": self.job.record.key,
            "guarantee": str(self.job.guarantee),
            "records": len(self.rows),
            "items": self.hierarchy.n_leaves,
            "categories": nodes - self.hierarchy.n_leaves,
            "occurrences": entries,
            "longest_record": int(lengths.max(initial=0)),
            "itemsets_of_size_m": sets,
            "memory_bytes": 200 * 2**20 + 40 * entries + 8 * entries * deep + 200 * nodes,
        }

    def run(self, watch: Watch | None = None, *, layout: Layout | None = None) -> Release:
        """Ask the method, apply its recoding and return the release, not yet written or audited."""
        from ..engines.local import LocalEngine
        from ..measure.scores import mean_unit_cost
        from ..release.recoding import BeforeAfter, InMemory

        asked: Any = self.job.guarantee
        watch = watch or Watch(time_limit=self.job.time_limit)
        watch.tick("preparing", 0.0)
        engine = LocalEngine(self.hierarchy, self.rows, threads=self.job.threads)
        outcome = self.ask(engine, self.effective, watch)
        watch.tick("publishing", None)
        recoding = outcome.recoding
        published = engine.publish(recoding)
        pair = BeforeAfter(recoding, self.rows)
        if self.unprotected is not None:
            by_record = replace(pair.by_record, unprotected=self.unprotected)
            published = by_record.take(canonical_order(by_record))
        notices = self.notices
        chosen = str(outcome.figures.get("chosen", self.job.record.key))
        if chosen != self.job.record.key:
            notices += (f"{self.job.record.key} chose {chosen}: {outcome.figures['why']}.",)
        if "patience" in outcome.figures:
            notices += (
                f"stopped after {outcome.figures['patience']:g} s without a proof: it is valid, "
                "and another run may differ; --time-limit gives it more.",
            )
        elif not outcome.complete:
            notices += ("the time limit cut the run: the result is valid, and another run may differ.",)
        notices += outcome.notices
        nodes = pair.node_of_occurrence
        suppressed = self.rows.leaves[nodes < 0]
        dropped = pair.left_empty
        # Few records without any label would stand out; what suppression left so is not published.
        if not len(suppressed) or len(dropped) >= self.effective.least_support:
            dropped = dropped[:0]
        if len(dropped):
            published = published.take(np.flatnonzero(published.length_by_record))
            notices += (dropped_notice(len(dropped)),)
        return Release(
            part=InMemory(replace(published, layout=layout or self.transactions.layout, notices=())),
            # The guarantee asked for, its secret items cut to those that occur.
            guarantee=asked.with_secrets(self.effective.secret_labels),
            method=chosen,
            recoding=recoding,
            hierarchy=self.hierarchy,
            losses={name: mean_unit_cost(name, pair) for name in COST_NAMES},
            seconds=round(time.monotonic() - self.started, 6),
            items=self.hierarchy.n_leaves,
            occurrences=len(nodes),
            unchanged=int((nodes == self.rows.leaves).sum()),
            options=dict(self.job.options),
            objective=self._objective(outcome),
            layout=layout or self.transactions.layout,
            notices=notices,
            figures=dict(outcome.figures),
            complete=outcome.complete,
            seal=seal(self.transactions),
            suppressed_items=len(distinct(suppressed)),
            suppressed=len(suppressed),
            dropped=tuple(dropped.tolist()),
            rows=self.rows,
        )

    def ask(self, engine: Engine, guarantee: Guarantee, watch: Watch, **more: object) -> Outcome:
        """Ask the job's method for a recoding that meets `guarantee`."""
        own = {"threads": self.job.threads} if self.job.record.takes_threads else {}
        outcome: Outcome = self.job.record.load()(
            engine, guarantee, cost=self.cost, watch=watch, **own, **self.job.options, **more
        )
        return outcome

    def loss(self, pair: BeforeAfter) -> Fraction:
        """Return the cost that is kept small, with its weights, as a share of losing everything."""
        nodes = pair.node_of_occurrence
        unit = np.where(nodes >= 0, self.cost.unit_by_node[nodes], self.cost.scale)
        lost = int((unit * self.cost.importance_by_leaf[self.rows.leaves]).sum())
        return self.cost.share(lost, pair.count_by_leaf)

    def _objective(self, outcome: Outcome) -> ObjectiveValue | None:
        objective = outcome.objective
        if objective is None:
            return None
        counts = np.bincount(self.rows.leaves, minlength=self.hierarchy.n_leaves).astype(np.int64)
        return ObjectiveValue(
            name=objective.name,
            value=self.cost.share(objective.cost, counts),
            bound=None if objective.bound is None else self.cost.share(objective.bound, counts),
            proven=objective.proven,
            certified=objective.certified,
        )


def _check_size(transactions: Transactions, guarantee: Guarantee) -> None:
    n = len(transactions)
    if n == 0:
        raise DataError(
            "the data contain no records.", "Check the file and its layout.", code="no-records"
        )
    if len(transactions.items) == 0:
        raise DataError("no record holds an item.", "Check the file and its layout.", code="no-items")
    if guarantee.crowd > n:
        raise Infeasible(
            f"k={guarantee.crowd} is impossible with {n} {'record' if n == 1 else 'records'}.",
            "Lower k, or publish more records together.",
            code="too-few-records",
        )
    _check_work(transactions, guarantee.known_at_most or 1)


def _check_work(transactions: Transactions, m: int) -> None:
    """Refuse records so long that their itemsets cannot be looked at."""
    lengths = transactions.length_by_record
    for size, most in MOST_SETS.items():
        sets = sum(_choose(n, size) * times for n, times in _histogram(lengths))
        if m >= size and sets > most:
            raise ResourceLimit(
                f"the records hold {sets:,} sets of {size} items, more than can be looked at "
                f"({most:,}); the longest record has {int(lengths.max()):,} items.",
                f"Lower m to {size - 1}, or split or leave out the longest records.",
                code="too-many-itemsets",
            )


def _exact_weights(weights: Mapping[str, Fraction | int | float] | None) -> dict[str, Fraction]:
    """Return the weights as fractions; 0.1 means a tenth, not the float next to it."""
    exact: dict[str, Fraction] = {}
    if weights is not None and not isinstance(weights, Mapping):
        raise UsageError("weights must be a dictionary.", "Give for example {'beer': 2}.")
    for label, weight in (weights or {}).items():
        try:
            exact[label] = Fraction(str(weight) if isinstance(weight, float) else weight)
        except (ValueError, TypeError) as error:
            raise UsageError(
                f"the weight of {str(label)[:40]!r} is not a number.", "Give for example 2 or '1/3'."
            ) from error
    return exact


def _check_weights(weights: Mapping[str, Fraction | int], hierarchy: Hierarchy) -> None:
    for label in sorted(weights):
        node = hierarchy.node_of_label.get(label)
        if node is None or node >= hierarchy.n_leaves:
            raise UsageError(
                f"a weight is given for {label[:40]!r}, which is no item of the hierarchy.",
                "Weights are for items.",
                code="unknown-weight",
            )


def _shorten(guarantee: Guarantee, transactions: Transactions) -> tuple[Guarantee, tuple[str, ...]]:
    """Return the guarantee with m no longer than a record: larger itemsets do not occur."""
    longest = int(transactions.length_by_record.max(initial=1))
    shorter = guarantee.with_limit(longest)
    if shorter == guarantee:
        return guarantee, ()
    name = guarantee.knowledge
    notice = (
        f"{name}={guarantee.known_at_most} is above the longest record, which has {longest} items: "
        f"treated as {name}={longest}; this is still not k-anonymity of whole records."
    )
    return shorter, (notice,)


def _choose(n: int, size: int) -> int:
    return math.comb(n, size) if n >= size else 0


def _histogram(lengths: np.ndarray[Any, Any]) -> list[tuple[int, int]]:
    values, times = count_distinct(lengths)
    return list(zip(values.tolist(), times.tolist(), strict=True))


class Work(work.Work):
    """What there is to do for a run on sets."""

    checks_late = True
    prepared: Prepared

    def read_guarantee(self) -> Guarantee:
        return self.run.guarantee(self.run.method)

    def check_job(self) -> None:
        self.job.check(without_hierarchy=not self.run.hierarchy and not self.run.set_columns)

    def name_inputs(self) -> list[str]:
        run = self.run
        return input_files(run, run.data, run.weights, lists=run.item_lists())

    def check_format(self) -> None:
        from ..editions.sets import check_format

        check_format(self.run.format)

    def load(self) -> tuple[Any, Any, Job]:
        from ..editions.sets import check_format

        run = self.run
        data = run.read_sets(run.data)
        self.notices[:] = data.notices
        check_format(run.format, data.layout)
        self._started = time.monotonic()
        hierarchy = run.read_trees(data)
        asked: Any = self.job.guarantee
        guarantee = run.with_column(asked, data)
        return data, hierarchy, replace(self.job, guarantee=guarantee, weights=run.read_weights())

    def read(self) -> None:
        run = self.run
        data, hierarchy, job = self.load()
        self.check_job()
        prepared: Prepared = job.prepare(data, hierarchy)
        if hierarchy is not None and not run.private_hierarchy and looks_learned(hierarchy):
            prepared = replace(prepared, notices=(*prepared.notices, LOOKS_LEARNED))
        self.prepared = replace(prepared, started=self._started)
        self.notices[:] = prepared.notices

    def estimate(self, watch: Watch) -> tuple[str, dict[str, Any]]:
        del watch
        prepared = self.prepared
        told = {**prepared.estimate(), "options": dict(prepared.job.options)}
        plain: dict[str, Any] = {"dry_run": True, **told, "output": self.run.output}
        words = {"memory_bytes": f"about {plain['memory_bytes'] / 2**20:,.0f} MiB", "would_take": None}
        if plain["method"] == "auto":
            from ..methods.auto import choose

            suppression = bool(prepared.job.options.get("suppression", True))
            plain["would_take"] = choose(prepared.hierarchy, suppression=suppression).key
            words["method"] = f"auto, which takes {plain['would_take']} here"
        return work.told_of_estimate("Dry run: nothing was computed or written.", plain, **words), plain


def account(release: Any, publication: Publication) -> Account:
    """Return what is told of a release."""
    from ..io.formats import data_file_name

    verdict = publication.verdict.as_dict()
    smallest = verdict["smallest_support"]
    return Account(
        {
            "records": release.records,
            "suppressed_items": release.suppressed_items,
            "suppressed_occurrences": release.suppressed,
            "dropped_records": len(release.dropped),
            "empty_records": release.empty_records,
            "loss": {name: float(loss) for name, loss in release.losses.items()},
            "domain": release.hierarchy.domain,
            "objective": None if release.objective is None else release.objective.as_dict(),
        },
        {
            "complete": release.complete,
            "verdict": {name: verdict[name] for name in ("holds", "mode", "smallest_support")},
        },
        "" if smallest is None else f"; smallest support {smallest:,}",
        [data_file_name(publication.layout)],
    )
