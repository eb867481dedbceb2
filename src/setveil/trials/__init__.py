"""Tries: jobs carried out on data that are bound once, for `setveil.compare` and `setveil.sweep`.

A `Try` is a method with the options that tell it from others. `Trials` carries tries out on the data of
one kind, shares what they have in common, and tells what each lost; its parts for sets, buckets and
pairs are files of their own. A `Grid` is the promises that a sweep of one kind goes through.
"""

from __future__ import annotations

import contextlib
import importlib
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from typing import Any, ClassVar

from ..api import audit
from ..errors import Infeasible, ResourceLimit, SetveilError, TimeLimit, UsageError
from ..model.guarantees import HiddenPatterns, KmAnonymity, MatchingDiversity
from ..model.numbers import exact_growth, exact_share, exact_support
from ..progress import Watch
from ..registry import ALL_METHODS, MethodRecord, default_method
from ..registry import method as method_record
from ..report.frontier import Strength, SweepPoint
from ..report.terms import CUT, DONE, LATE, NONE, REFUSED, exactly
from ..run.work import Job

FAILURES = (Infeasible, ResourceLimit, MemoryError)
"""What ends one try, and not the others."""


def trials_of(prepared: Any) -> Trials:
    """Return the trials of a job that is bound to data."""
    kind = prepared.job.guarantee.kind
    trials: Trials = importlib.import_module(f".{kind}", __package__).Trials(prepared)
    return trials


def ended(error: Exception) -> tuple[str, str]:
    """Return how a try without a result ended, and why in a few words."""
    if isinstance(error, MemoryError):
        return REFUSED, "out of memory"
    assert isinstance(error, SetveilError)
    if isinstance(error, TimeLimit):
        return LATE, ""
    return NONE if isinstance(error, Infeasible) else REFUSED, error.problems[0].what.rstrip(".")


@dataclass(frozen=True)
class Try:
    """A job and the options that tell it from others of its method.

    `promise` is what it promises where that is something else than was asked for.
    """

    job: Job
    variant: Mapping[str, object]
    promise: str = ""

    @property
    def name(self) -> str:
        return " ".join([self.job.record.key, *map(str, self.variant.values())])


def tries_of(job: Job, methods: Sequence[str] | None, inputs: Sequence[str] = ()) -> list[Try]:
    """Return what is to be tried, checked; an option goes to the tries that take it.

    By default these are all methods for the promise, `auto` aside, which takes one of them, and for
    tables in buckets those for other promises too. `inputs` are no options of methods.
    """
    guarantee = job.guarantee
    given = {name: value for name, value in job.options.items() if name not in inputs}
    if isinstance(methods, str):
        raise UsageError("methods is a text, not several.", f"Give methods=[{methods[:40]!r}].")
    if methods is not None:
        records = [method_record(key) for key in dict.fromkeys(methods)]
    else:
        kept = [one for one in ALL_METHODS if guarantee.kind == one.kind and one.key != "auto"]
        records = [one for one in kept if promise_by(one, guarantee).key in one.guarantees]
    if not records:
        raise UsageError("no method is named.", "Give methods, such as optimal and trim.")
    if not any(guarantee.key in record.guarantees for record in records):
        records[0].check_guarantee(guarantee)
    tries, taken = [], set()
    for record in records:
        for variant in _variants(record, given):
            options = options_taken(record, given, variant)
            taken |= set(options)
            promise = promise_by(record, guarantee)
            own = replace(job, guarantee=promise, method=record.key, options={**options, **variant})
            other = str(promise) if promise != guarantee else ""
            tries.append(Try(own, variant, other))
    _refuse_left_over(given, taken, records)
    return [replace(one, job=replace(one.job, options=one.job.check())) for one in tries]


def promise_by(record: MethodRecord, guarantee: Any) -> Any:
    """Return what a method promises where this is asked for: of buckets another promise, as strong."""
    if guarantee.key in record.guarantees:
        return guarantee
    for other in guarantee.others():
        if other.key in record.guarantees:
            return other
    return guarantee


def _variants(record: MethodRecord, given: Mapping[str, object]) -> list[dict[str, object]]:
    options = [option for option in record.options if option.is_variant]
    ways = [(given[one.name],) if one.name in given else one.allowed for one in options]
    names = [option.name for option in options]
    return [dict(zip(names, chosen, strict=True)) for chosen in product(*ways)]


def options_taken(
    record: MethodRecord, given: Mapping[str, object], variant: Mapping[str, object]
) -> dict[str, object]:
    """Return the options given that a method takes in this variant."""
    found = {}
    for option in record.options:
        other, value = option.goes_with or ("", None)
        if option.name in given and variant.get(other, value) == value:
            found[option.name] = given[option.name]
    return found


def _refuse_left_over(
    given: Mapping[str, object], taken: set[str], records: Sequence[MethodRecord]
) -> None:
    for name in sorted(given.keys() - taken):
        for record in records:
            own = {option.name for option in record.options}
            if name in own or len(records) == 1:  # which refuses it
                record.checked_options(
                    {other: given[other] for other in given if other in {*own, name}}
                )
        known = {option.name for record in records for option in record.options}
        raise UsageError(
            f"none of the methods has an option {name[:40]!r}.",
            f"Their options: {', '.join(sorted(known)) or 'none'}.",
            code="unknown-option",
        )


class Trials:
    """Data bound once, and what is tried on them; the base of those of each kind."""

    told: ClassVar[tuple[str, ...]] = ()
    """The columns of a comparison that only this kind has."""

    def __init__(self, prepared: Any) -> None:
        self.prepared = prepared

    @property
    def cost(self) -> str:
        """The loss by which tries are compared."""
        raise NotImplementedError

    @property
    def size(self) -> tuple[int, int]:
        """How many records there are, and how many items or values."""
        raise NotImplementedError

    @property
    def notices(self) -> tuple[str, ...]:
        found: tuple[str, ...] = self.prepared.notices
        return found

    def expect(self, jobs: Sequence[Job], measures: str | Sequence[str] | None) -> None:
        """Say what will be tried, and what is to be computed of each result beside the loss."""
        del jobs
        if measures is not None:
            raise UsageError(
                "measures are named for sets alone.",
                "Leave them out: what is told of other data is always the same.",
                code="option-does-not-fit",
            )

    def toy(self) -> tuple[Any, Any]:
        """Return small data, and their hierarchy, on which any method can be tried."""
        raise NotImplementedError

    def warm_up(self, one: Try) -> None:
        """Carry a try out on toy data, so that the loading of compiled code is not counted."""
        data, tree = self.toy()
        weak = one.job.guarantee.with_strength(2).with_limit(2)
        if weak.secret_labels:
            weak = weak.with_secrets(frozenset(data.vocabulary.labels[:1]))
        with contextlib.suppress(SetveilError):
            job = Job(weak, one.job.record.key, options=one.variant, time_limit=5.0)
            audit(job.prepare(data, tree).run())

    def ready(self, job: Job, watch: Watch) -> None:
        """Compute what tries share, whose time is nobody's."""

    def run(self, job: Job, watch: Watch) -> Any:
        """Return the release of a job."""
        return replace(self.prepared, job=job, started=time.monotonic()).run(watch)

    def row(self, job: Job, release: Any, verdict: Any, watch: Watch) -> dict[str, Any]:
        """Return fields of the row of a release; `verdict` is None where it was not audited."""
        raise NotImplementedError

    def remarks(self, release: Any) -> tuple[str, ...]:
        """Return what the user should know of a release, by the way."""
        del release
        return ()

    def point(self, grid: Grid, at: Sequence[Strength], watch: Watch) -> tuple[SweepPoint, Any]:
        """Return a point of a sweep, and what the user should know of it."""
        started = time.monotonic()
        job = grid.job(self.prepared.job, at)
        try:
            self.ready(job, watch)
            release = self.run(job, watch)
            row = self.row(job, release, None, watch)
        except FAILURES as error:
            return grid.without_result(at, error, time.monotonic() - started), ()
        figures = {name: value for name, value in row["scores"].items() if isinstance(value, int)}
        point = SweepPoint(
            *grid.pair(at),
            row["loss"],
            None,
            False,
            None,
            time.monotonic() - started,
            row.get("left_out") or Fraction(0),
            CUT if row.get("cut") else DONE,
            row["useless"] is not None,
            figures=figures,
            axes=grid.keys,
        )
        return point, self.remarks(release)


@dataclass(frozen=True)
class Axis:
    """One side of a grid: a parameter of the promise, or an option of the method.

    `read` makes a strength of what was given; whole numbers are read by the caller. `usual` is taken
    where nothing is given. Data are bound with the `weakest` strength, so that a point that asks for
    too much becomes a row, not an error.
    """

    key: str
    flag: str
    example: str
    read: Callable[[object], Strength] | None = None
    usual: Strength | None = None
    weakest: int | None = None
    is_option: bool = False


@dataclass(frozen=True)
class Grid:
    """What a sweep of one kind goes through: two axes, and the promise of each point.

    `promise` is the class of the promises. `methods` are those taken where none is named: with a
    hierarchy, and without.
    """

    axes: tuple[Axis, Axis]
    promise: Any
    methods: tuple[str, str]

    @property
    def keys(self) -> tuple[str, str]:
        first, second = self.axes
        return first.key, second.key

    @staticmethod
    def pair(at: Sequence[Strength]) -> tuple[Strength, Strength]:
        first, second = at
        return first, second

    def name(self, at: Sequence[Strength]) -> str:
        """Return the name of a point, such as "k=5, m=2"."""
        return ", ".join(f"{key}={exactly(value)}" for key, value in zip(self.keys, at, strict=True))

    def typed(self, at: Sequence[Strength]) -> dict[str, str]:
        """Return the strengths of a point as they are typed."""
        return {key: exactly(value) for key, value in zip(self.keys, at, strict=True)}

    def job(self, job: Job, at: Sequence[Strength]) -> Job:
        """Return the job of a point."""
        of_promise = {
            axis.key: value for axis, value in zip(self.axes, at, strict=True) if not axis.is_option
        }
        of_method = {
            axis.key: float(value) for axis, value in zip(self.axes, at, strict=True) if axis.is_option
        }
        asked: Any = job.guarantee
        return replace(
            job, guarantee=replace(asked, **of_promise), options={**job.options, **of_method}
        )

    def weakest(self, at: Sequence[Strength]) -> tuple[Strength, Strength]:
        """Return the strengths with which data are bound, so that no point is refused for all."""
        return self.pair(
            [
                value if axis.weakest is None else axis.weakest
                for axis, value in zip(self.axes, at, strict=True)
            ]
        )

    def without_result(self, at: Sequence[Strength], error: Exception, seconds: float) -> SweepPoint:
        """Return the point that says why there is nothing."""
        status, _ = ended(error)
        labels = 0 if self.keys == KM_GRID.keys else None
        first, second = at
        return SweepPoint(
            first,
            second,
            None,
            None,
            status == NONE,
            labels,
            seconds,
            status=status,
            axes=self.keys,
        )


KM_GRID = Grid(
    (Axis("k", "-k", "2,5", weakest=2), Axis("m", "-m", "1,2")), KmAnonymity, ("optimal", "trim")
)
_BY_RULES = default_method(MatchingDiversity(2)).key
_BY_GROWTH = default_method(HiddenPatterns(2)).key  # type: ignore[arg-type]
GRIDS = (
    KM_GRID,
    Grid(
        (
            Axis("l", "--l", "2,3,5"),
            Axis(
                "min_exp",
                "--min-exp",
                "0.8,0.9",
                lambda given: exact_share("min_exp", given, below_one=True),
                usual=Fraction(9, 10),
                is_option=True,
            ),
        ),
        MatchingDiversity,
        (_BY_RULES, _BY_RULES),
    ),
    Grid(
        (
            Axis("growth", "--growth", "2,5", exact_growth),
            Axis("min_support", "--min-support", "5%,10%", exact_support, usual=Fraction(1, 10)),
        ),
        HiddenPatterns,
        (_BY_GROWTH, _BY_GROWTH),
    ),
)
"""The grids of all kinds."""
