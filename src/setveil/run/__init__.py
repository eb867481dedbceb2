"""One run as data: what is read and how, the promise, the method, the limits, and where it all goes.

A `Run` is checked once, reads once, and hands on to `setveil.publish`::

    run = Run.take({"k": "5", "m": "2", "hierarchy": ["b.csv"], "output": "out"}, data="a.csv")
    work = run.check()
    work.read()
    outcome = work.execute()

The flags of ``setveil anonymize`` and the keys of a job file are made from its fields.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar

from ..errors import UsageError
from ..refusals import refuse
from ..registry import ALL_METHODS
from .fields import (
    BUCKETS,
    GUARANTEE_PANEL,
    PAIRS,
    SETS,
    Field,
    Fields,
    Options,
    Text,
    declare,
    fields_of,
    refuse_unfit,
    switch,
)
from .promise import Promised
from .reading import Files, Intervals, Quasi, SecretTable, SetsInput, Tables, Trees, TwoSets

if TYPE_CHECKING:
    from fractions import Fraction

    from .work import Work

__all__ = ["Run", "anonymize_kind", "job_fields"]


class Method(Fields):
    """How it is done."""

    PANEL = "Run"

    method: Text = declare("see `setveil methods`; the best for the guarantee if not given")


class Cost(Fields):
    """What is kept small."""

    PANEL = "Run"
    FITS = SETS

    cost: str = declare("what is kept small: ncp or lm", default="ncp")
    weights: Text = declare("item,weight lines: how much items matter", metavar="FILE", path="file")
    domain: str = declare(
        "which items the loss counts: used (those that occur) or hierarchy (all of it)", default="used"
    )

    def read_weights(self) -> Mapping[str, Fraction] | None:
        """Return the weights of the file named, if one is."""
        if not self.weights:
            return None
        from ..io.lists import read_weights

        return read_weights(self.weights)


class Threads(Fields):
    """How much of the machine."""

    PANEL = "Run"

    threads: int | None = declare(
        "how many threads count; all if not given", metavar="N", fits="sets pairs"
    )


class Limits(Threads):
    """How long, and how much of the machine."""

    PANEL = "Run"

    time_limit: float | None = declare("stop after this many seconds", metavar="SECONDS")


class Preview(Fields):
    """Whether to work at all."""

    PANEL = "Run"

    dry_run: bool = switch(
        "show an estimate and what would be done; write nothing",
        fits="sets buckets",
        remedies={PAIRS: "Leave it out; -o writes nothing before the audit has said yes."},
        in_job=False,
    )


class Output(Fields):
    """Where the release goes, and how it is written."""

    PANEL = "Output"

    output: Text = declare("the folder to make", "-o", "--output", metavar="FOLDER", path="file")
    format: Text = declare(
        "baskets, long, onehot, fimi, jsonl or parquet; for a table: table or jsonl; for buckets: "
        "buckets (two tables) or joined (one)"
    )
    csv_safe: bool = switch(
        "no CSV with labels that a spreadsheet would run as formulas; JSON lines instead"
    )
    no_report: bool = switch(
        "leave the page of the private folder out, which can take long for a large table"
    )
    force: bool = switch("replace a release that is there")
    publish_useless: bool = switch("publish a release too of which most records say nothing")
    save_job: Text = declare(
        "write these flags as a job that `setveil run` repeats",
        metavar="FILE.toml",
        fits=SETS,
        remedies={PAIRS: "Leave it out: a job file tells of one data set."},
        in_job=False,
    )
    as_json: bool = switch("print the result as JSON", "--json", in_job=False)


class Shown(Fields):
    """How much is told."""

    verbose: bool = switch("show all notices, minor ones too", "-v", "--verbose", in_job=False)


class Facts(Fields):
    """What is known of a table in buckets."""

    PANEL = "Tables"
    FITS = BUCKETS

    rules: Text = declare(
        "known facts that join the mined rules: lines like the table's, see `setveil mine rules`",
        metavar="FILE",
    )
    rules_only: bool = switch(
        "mine the rules and show them; with -o FILE.csv write them there; no buckets are made"
    )


class Growth(Fields):
    """What is promised of two data sets."""

    PANEL = GUARANTEE_PANEL
    FITS = PAIRS

    growth: Text = declare(
        "of two data sets: no pattern is this many times as frequent in one as in the other, above 1",
        metavar="RATE",
    )
    min_support: Text = declare(
        "records that hold a pattern at least, where it is more frequent: a share such as 1/3 or 10%, "
        "which is taken if not given, or a count",
        metavar="SUPPORT",
    )
    every_level: bool = switch(
        "a published value counts for every category above it too: a stronger promise"
    )


class Run(
    Promised,
    Method,
    Cost,
    Limits,
    Preview,
    Output,
    SetsInput,
    SecretTable,
    TwoSets,
    Facts,
    Growth,
    Shown,
    Options,
):
    """All that can be asked of one run."""

    ORDER: ClassVar[tuple[type[Fields], ...]] = (
        *(Promised, Trees, Method, Cost, Limits, Preview, Output, Files, Shown, Tables),
        *(Quasi, Intervals, Facts, Growth, TwoSets),
    )

    data: str = ""

    @classmethod
    def like(cls, asked: Fields, **changes: Any) -> Run:
        """Return the run that other fields describe, with these changes."""
        names = {field.name for field in (*fields_of(cls),)} | {"options"}
        shared = {name: getattr(asked, name) for name in names if hasattr(asked, name)}
        return cls(**shared | changes)

    @property
    def kind(self) -> str:
        """What the run is about: sets, a table in buckets, or a pair of data sets."""
        if self.quasi:
            return BUCKETS
        named = any(
            record.kind == PAIRS and (record.key == self.method or self.model in record.guarantees)
            for record in ALL_METHODS
        )
        two = (self.against, self.class_column, self.growth)
        return PAIRS if named or any(value is not None for value in two) else SETS

    @property
    def secret(self) -> str | None:
        """The one sensitive column of a table; several are refused with the way round."""
        if len(self.sensitive) > 1:
            raise UsageError(
                "several sensitive columns are named.",
                "Give one; join several into one column first, one value for each combination.",
                code="several-sensitive",
            )
        return self.sensitive[0] if self.sensitive else None

    @property
    def is_preview(self) -> bool:
        """Whether nothing is published."""
        return self.dry_run or self.rules_only

    def check(self) -> Work:
        """Raise for all that is wrong whatever the data are; return the work to do. Reads nothing."""
        kind = self.kind
        for field in self.given_fields() if kind == SETS else ():
            if SETS not in field.fits:
                refuse("beside sets", field.fits[0], field.flag)
        if kind != SETS:
            refuse_unfit(self, kind)
        from .work import work_of

        work = work_of(self)
        work.check()
        return work


def anonymize_kind(kind: str) -> Callable[..., Any]:
    """Return the function that anonymizes data of another kind than sets; only its module is loaded."""
    module, name = {BUCKETS: ("buckets", "anonymize_table"), PAIRS: ("pairs", "hide_patterns")}[kind]
    function: Callable[..., Any] = getattr(import_module(f"{__name__}.{module}"), name)
    return function


def job_fields() -> tuple[Field, ...]:
    """Return the fields that a job file may hold, in the order in which a job is written."""
    groups = (Trees, Promised, Method, Cost, Limits, Options, Output, Files, Tables)
    return tuple(field for group in groups for field in fields_of(group) if field.in_job)
