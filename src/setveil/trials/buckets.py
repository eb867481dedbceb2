"""Tries on a table in buckets: how wrong counting queries become, and what rules give away.

The loss is the mean relative error of the counting queries of `measure.buckets`, the same for all
tries. Rules are mined once for each choice of how. A row is given away where whoever knows the rules
finds fewer than l values possible for it; of a method that does not reckon with rules this shows what
promising it would have been worth.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from .. import trials
from ..errors import Infeasible
from ..measure.buckets import Queries, measure_queries, same_queries
from ..model.guarantees import MatchingDiversity
from ..model.microdata import Microdata
from ..progress import Watch
from ..registry import default_method
from ..report.terms import QUERY_ERROR
from ..risk.buckets import attack_by_rules
from ..run.buckets import Reckoning
from ..run.work import Job

LEAVES_OUT = "suppress_infeasible"


class Trials(trials.Trials):
    """A table, and what is known about it."""

    def __init__(self, prepared: Any) -> None:
        super().__init__(prepared)
        self._starts: dict[object, Reckoning] = {}
        self._queries: dict[int, tuple[Microdata, Queries]] = {}
        self._mining: Mapping[str, object] = {}

    @property
    def cost(self) -> str:
        return QUERY_ERROR

    @property
    def size(self) -> tuple[int, int]:
        return len(self.prepared.data), len(self.prepared.data.values)

    @property
    def notices(self) -> tuple[str, ...]:
        """What there is to know of the data, and of the rules that were mined."""
        of_rules = [notice for start in self._starts.values() for notice in start.notices()]
        return (*self.prepared.notices, *dict.fromkeys(of_rules))

    def toy(self) -> tuple[Any, Any]:
        women, men = ["flu", "gout", "ulcer", "ovarian"] * 9, ["flu", "gout", "ulcer", "prostate"] * 9
        columns = {"sex": ["F"] * len(women) + ["M"] * len(men), "ill": women + men}
        return Microdata.from_columns(columns, "ill"), None

    def expect(self, jobs: Sequence[Job], measures: str | Sequence[str] | None) -> None:
        """Remember how rules are mined, for methods that do not mine."""
        super().expect(jobs, measures)
        self._mining = next(map(_mining, filter(_takes_rules, jobs)), {})

    def ready(self, job: Job, watch: Watch) -> None:
        """Mine the rules, where nobody has."""
        self._known(job, watch)
        self._questions(self._start(job, watch).data)

    def run(self, job: Job, watch: Watch) -> Any:
        start = self._start(job, watch)
        return replace(self.prepared, job=job, started=time.monotonic()).run(watch, start=start)

    def row(self, job: Job, release: Any, verdict: Any, watch: Watch) -> dict[str, Any]:
        del verdict
        data, bucketing = release.data, release.bucketing
        errors = measure_queries(data, bucketing, self._questions(data), watch=watch)
        if errors.mean is None:
            raise Infeasible("no counting query could be drawn that some row fits.")
        known = self._known(job, watch)
        given_away = attack_by_rules(data, bucketing, known, release.guarantee.least_support)
        return {
            "loss": Fraction(errors.mean),
            "scores": {
                "buckets": bucketing.n_buckets,
                "largest_bucket": int(np.bincount(bucketing.bucket_by_tuple).max()),
                "rows_given_away": given_away.vulnerable,
            },
            "left_out": None
            if release.left_out is None
            else Fraction(len(release.left_out), len(self.prepared.data)),
            "useless": release.useless,
        }

    def _start(self, job: Job, watch: Watch) -> Reckoning:
        """Return the tuples and rules to start from; rules that were mined before are taken."""
        if not _takes_rules(job):
            return Reckoning(self.prepared.data, ())
        mining = _mining(job)
        strength = job.guarantee.least_support if mining.get(LEAVES_OUT) else None
        key = (*sorted(mining.items()), strength)
        if key not in self._starts:
            self._starts[key] = replace(self.prepared, job=job).reckon(watch)
        return self._starts[key]

    def _known(self, job: Job, watch: Watch) -> Any:
        """Return the rules that an attacker knows: those of the job, or mined as the others are."""
        if _takes_rules(job):
            return self._start(job, watch).rules
        promise = MatchingDiversity(job.guarantee.least_support)
        options = {name: value for name, value in self._mining.items() if name != LEAVES_OUT}
        other = Job(promise, default_method(promise).key, options=options)
        return self._start(other, watch).rules

    def _questions(self, data: Microdata) -> Queries:
        if id(data) not in self._queries:
            self._queries[id(data)] = data, same_queries(data)
        return self._queries[id(data)][1]


def _takes_rules(job: Job) -> bool:
    guarantee: Any = job.guarantee
    return bool(guarantee.takes_rules)


def _mining(job: Job) -> Mapping[str, object]:
    """Return the options of a job that say what is mined, not what is made of it."""
    variants = {option.name for option in job.record.options if option.is_variant}
    return {name: value for name, value in job.options.items() if name not in variants}
