"""One run as data: what is read and how, the promise, the method, the limits, and where it all goes.

A `Run` is checked once, reads once, and hands on to `setveil.publish`::

    run = Run.take({"k": "5", "m": "2", "hierarchy": ["b.csv"], "output": "out"}, data="a.csv")
    work = run.check()
    work.read()
    outcome = work.execute()

The flags of ``setveil anonymize`` and the keys of a job file are made from its fields.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from ..errors import UsageError
from ..model.guarantees import GUARANTEES, Guarantee
from ..refusals import refuse
from ..registry import ALL_METHODS, method
from .fields import (
    ALL,
    BUCKETS,
    GUARANTEE_PANEL,
    PAIRS,
    SETS,
    Field,
    Fields,
    Options,
    Text,
    Texts,
    declare,
    fields_of,
    joined,
    refuse_unfit,
    switch,
    texts,
)
from .reading import Files, Intervals, Quasi, SecretTable, SetsInput, Tables, Trees, TwoSets

if TYPE_CHECKING:
    from fractions import Fraction

    from ..model.transactions import Transactions
    from .work import Work

MODELS = ("km", "k", "lm", "coherence")
"""The guarantees about sets."""
NUMBERS = ("k", "m", "l", "p")


class Promised(Fields):
    """The guarantee and its parameters."""

    PANEL = GUARANTEE_PANEL
    FITS = "sets"

    model: Text = declare(
        "km, k, lm or coherence; l or matching for a table; patterns for two data sets; follows from "
        "method and options",
        "--guarantee",
        fits=ALL,
    )
    k: int | None = declare(
        "records that fit at least", "-k", "--k", metavar="K", models="km k coherence"
    )
    m: int | None = declare(
        "items that an attacker knows at most", "-m", "--m", metavar="M", models="km lm"
    )
    l: int | None = declare(  # noqa: E741
        "a sensitive item is in at most one of L fitting records",
        metavar="L",
        fits="sets buckets",
        models="lm",
    )
    negative: bool = switch("the attacker may know absent items too", models="km")
    sensitive: Texts = texts(
        "items by commas, or @FILE with one a line; may be repeated",
        metavar="ITEMS",
        path="list",
        fits="sets buckets",
        models="lm",
    )
    h: Text = declare(
        "percent of fitting records that may hold a private item", metavar="H", models="coherence"
    )
    p: int | None = declare(
        "public items that an attacker knows at most", metavar="P", models="coherence"
    )
    private: Texts = texts(
        "private items by commas, or @FILE; may be repeated",
        metavar="ITEMS",
        path="list",
        models="coherence",
    )

    def item_lists(self) -> tuple[str, ...]:
        """Return the lists of items that may be files."""
        return (*self.sensitive, *self.private)

    def guarantee(self, method_key: str | None = None) -> Guarantee:
        """Return the guarantee about sets; parameters that it does not have are refused.

        A sensitive column stands for its values, which `with_column` fills in.
        """
        model = self._model(method_key)
        for field in sorted(self.given_fields(), key=lambda field: field.name):
            if field.models and model not in field.models:
                raise UsageError(
                    f"{field.flag} does not fit the guarantee {model!r}.",
                    "Leave it out, or name another --guarantee.",
                    code="option-does-not-fit",
                )
        promise: Any = GUARANTEES[model]
        found = {one.name: self._parameter(one.name) for one in dataclasses.fields(promise)}
        if found.get("h", "") is None and not found["private"]:
            found["h"] = "100"
        guarantee: Guarantee = promise(**found)
        return guarantee

    def _parameter(self, name: str) -> Any:
        """Return what a guarantee takes as its parameter of this name."""
        if name == "sensitive":
            start = [f"{self._sensitive_column}="] if self._sensitive_column else []
            labels = frozenset([*_items(self.sensitive), *start])
            _check_sensitive(labels)
            return labels
        given = getattr(self, name)
        if name == "private":
            return frozenset(_items(given))
        return self._number(name) if name in NUMBERS else given

    def with_column(self, guarantee: Guarantee, data: Transactions) -> Guarantee:
        """Return the guarantee about the values of the sensitive column, once the data are read."""
        if not self._sensitive_column:
            return guarantee
        start = f"{self._sensitive_column}="
        found = {label for label in data.vocabulary if label.startswith(start)}
        labels = guarantee.secret_labels - {start} | found
        _check_sensitive(labels)
        return guarantee.with_secrets(labels)

    def _model(self, method_key: str | None) -> str:
        """Return the guarantee's name: given, or what the parameters and the method ask for."""
        if self.model is not None:
            if self.model not in MODELS:
                raise UsageError(
                    f"unknown guarantee {self.model[:40]!r}.", f"Known: {', '.join(MODELS)}."
                )
            return self.model
        if self.l is not None or self.sensitive or self._sensitive_column:
            return "lm"
        if self.h or self.p is not None or self.private:
            return "coherence"
        if method_key is None:
            return "km"
        record = method(method_key)
        refuse("method", record.kind, method_key)
        return record.guarantees[0]

    @property
    def _sensitive_column(self) -> str | None:
        """The column whose values are all sensitive; only tables have columns."""
        column: str | None = getattr(self, "sensitive_column", None)
        return column

    def _number(self, name: str) -> int:
        value: int | None = getattr(self, name)
        if value is None:
            flag = f"--{name}" if name in ("l", "p") else f"-{name}"
            remedy = f"Give for example {flag} {2 if name in ('m', 'p') else 5}."
            if name == "m" and self.l is not None:
                remedy += " Or, for a table with a secret column, --quasi COLUMNS."
            raise UsageError(f"{flag} is missing.", remedy)
        return value


def _check_sensitive(labels: frozenset[str]) -> None:
    if not labels:
        raise UsageError(
            "l^m-diversity needs sensitive items.", "Give --sensitive a,b or --sensitive-column NAME."
        )


def _items(lists: tuple[str, ...]) -> list[str]:
    from ..io.lists import read_lines

    labels: list[str] = []
    for text in lists:
        labels += read_lines(text[1:]) if text.startswith("@") else filter(None, joined([text]))
    return labels


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

    def settings(self) -> dict[str, Any]:
        """Return what a job takes of these fields and of those of the limits."""
        names = ("cost", "domain", "unknown", "threads", "time_limit")
        return {name: getattr(self, name) for name in names}

    def read_weights(self) -> Mapping[str, Fraction] | None:
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
        "show an estimate and what would be done; write nothing", fits=ALL, in_job=False
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
        path="file",
    )
    rules_only: bool = switch(
        "mine the rules and show them; with -o FILE.csv write them there; no buckets are made",
        in_job=False,
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
        names = {field.name for field in fields_of(cls) if field.option is None} | {"options"}
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
        return self.dry_run or self.rules_only

    def work(self) -> Work:
        """Return the work to do, not yet checked; what does not fit the kind of data is refused."""
        from .work import of_kind

        refuse_others(self, self.kind)
        work: Work = of_kind(self.kind).Work(self)
        return work

    def check(self) -> Work:
        """Raise for all that is wrong whatever the data are; return the work to do. Reads nothing."""
        work = self.work()
        work.check()
        return work


def refuse_others(asked: Fields, kind: str) -> None:
    """Raise `UsageError` for a field that was given and is for another kind of data."""
    for field in asked.given_fields() if kind == SETS else ():
        if SETS not in field.fits:
            refuse("beside sets", field.fits[0], field.flag)
    if kind != SETS:
        refuse_unfit(asked, kind)


def job_fields() -> tuple[Field, ...]:
    """Return the fields that a job file may hold, in the order in which a job is written."""
    data = (TwoSets, Quasi, Trees, Intervals, Facts)
    groups = (*data, Promised, Growth, Method, Cost, Limits, Options, Output, Files, Tables)
    found: dict[str, Field] = {}
    for field in (field for group in groups for field in fields_of(group) if field.in_job):
        found.pop(field.name, None)  # how files are read comes last, also those of two data sets
        found[field.name] = field
    return tuple(found.values())
