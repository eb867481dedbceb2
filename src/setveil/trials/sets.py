"""Tries on sets of items: the loss that was to be kept small, other measures, and what is left out.

A sweep asks methods, on records that are indexed once, for recodings alone. With `optimal`, rare sets
found for one point serve every other point they are valid for (``methods.optimal.ClausePool``), so a
grid costs little more than its dearest points.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from .. import trials
from ..distinct import distinct
from ..engines.local import LocalEngine
from ..io.demo import toy
from ..measure.catalogue import chosen, score
from ..methods.proof import FAILED, ROUNDED
from ..progress import Watch
from ..release.header import is_useless, records_with, tops
from ..release.recoding import BeforeAfter
from ..report.frontier import Strength, SweepPoint
from ..report.terms import CUT, DONE
from ..run.work import Job

MEASURES = ("ncp", "lm", "discernibility")
"""What is computed of each result where nothing else is said."""


class Trials(trials.Trials):
    """Records and their hierarchy."""

    told = ("left out", "labels", "optimum")
    measures: Sequence[str] = ()

    @property
    def cost(self) -> str:
        cost: str = self.prepared.job.cost
        return cost

    @property
    def size(self) -> tuple[int, int]:
        return len(self.prepared.rows), self.prepared.hierarchy.n_leaves

    def expect(self, jobs: Sequence[Job], measures: str | Sequence[str] | None) -> None:
        del jobs
        asked = MEASURES if measures is None else measures
        self.measures = [measure.name for measure in chosen(asked)]

    def toy(self) -> tuple[Any, Any]:
        return toy()

    def row(self, job: Job, release: Any, verdict: Any, watch: Watch) -> dict[str, Any]:
        del verdict
        pair = BeforeAfter(release.recoding, self.prepared.rows)
        return {
            "why": "" if release.method == job.record.key else f"took {release.method}",
            "loss": self.prepared.loss(pair),
            "scores": dict(score(pair, self.measures, watch=watch)),
            "objective": release.objective,
            "left_out": Fraction(release.suppressed, max(release.occurrences, 1)),
            "labels": len(release.labels),
            "useless": release.useless,
            "cut": not release.complete,
        }

    def remarks(self, release: Any) -> tuple[str, ...]:
        """Return what became of the proof, where that is to be told."""
        return tuple(notice for notice in (FAILED, ROUNDED) if notice in release.notices)

    @cached_property
    def _engine(self) -> LocalEngine:
        prepared = self.prepared
        return LocalEngine(prepared.hierarchy, prepared.rows, threads=prepared.job.threads)

    @cached_property
    def _shared(self) -> Mapping[str, Any]:
        from ..methods.optimal import ClausePool

        job = self.prepared.job
        # With a time limit a first cut is wanted, for there must be something valid to return.
        own = {"pool": ClausePool(), "seed": job.time_limit is not None}
        return own if job.record.key == "optimal" else {}

    def point(
        self, grid: trials.Grid, at: Sequence[Strength], watch: Watch
    ) -> tuple[SweepPoint, tuple[str, ...]]:
        started = time.monotonic()
        prepared, engine = self.prepared, self._engine
        longest = int(np.diff(engine.rows().indptr).max(initial=1))
        guarantee: Any = grid.job(prepared.job, at).guarantee
        try:
            outcome = prepared.ask(engine, guarantee.with_limit(longest), watch, **self._shared)
        except trials.FAILURES as error:
            return grid.without_result(at, error, time.monotonic() - started), ()
        objective = outcome.objective
        bound = None
        if objective is not None and objective.bound is not None:
            bound = prepared.cost.share(objective.bound, engine.item_counts())
        seconds = time.monotonic() - started
        pair = BeforeAfter(outcome.recoding, engine.rows())
        rows, nodes = engine.rows(), pair.node_of_occurrence
        published = distinct(nodes[nodes >= 0])
        telling = records_with(rows.indptr, (nodes >= 0) & ~tops(prepared.hierarchy)[nodes])
        point = SweepPoint(
            *grid.pair(at),
            prepared.loss(pair),
            bound,
            objective is not None and objective.proven,
            len(published),
            seconds,
            Fraction(int((nodes < 0).sum()), max(len(nodes), 1)),
            DONE if outcome.complete else CUT,
            is_useless(telling, int(np.count_nonzero(np.diff(rows.indptr)))),
            objective is None or objective.certified,
        )
        return point, outcome.notices
