"""A job, and a run on its way: checked, then read, then estimated or carried out.

A `Job` is what `setveil.anonymize` of Python and a `Run` with files have in common: a promise, a method
and its settings. `Job.prepare` binds it to data, whose `run` returns the release. A `Work` comes to its
job from a `Run`, opens the files and publishes. What is one kind's own is in `sets`, `buckets` and
`pairs`, of which a run loads one. `Outcome` is what to tell of a release in its place.
"""

from __future__ import annotations

import importlib
import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import UsageError
from ..hierarchy.tree import DOMAINS, Hierarchy
from ..model.costs import COST_NAMES
from ..model.fit import UNKNOWN_POLICIES
from ..model.guarantees import AnyGuarantee
from ..progress import Listener, Watch
from ..registry import MethodRecord, OptionValue, default_method, method
from .fields import SETS, check_threads

if TYPE_CHECKING:
    from ..publish import Publication
    from . import Output, Run

NOT_WRITTEN = "Dry run: nothing was written."


def of_kind(kind: str) -> Any:
    """Return the module of a kind: its `Prepared`, its `Work` and its `account`."""
    return importlib.import_module(f".{kind}", __package__)


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What calls that run methods can be asked besides; each of them shows these as keywords."""

    cost: str = "ncp"
    weights: Mapping[str, Fraction | int | float] | None = None
    domain: str = "used"
    unknown: str = "error"
    time_limit: float | None = None
    threads: int | None = None


@dataclass(frozen=True)
class Job(Settings):
    """What shall be done; data and hierarchy are handed to `prepare`.

    >>> import setveil as sv
    >>> from setveil.io.demo import groceries
    >>> baskets, products = groceries()
    >>> job = sv.Job(sv.KmAnonymity(k=5, m=2), method="aa")
    >>> job.prepare(baskets, products).run().method
    'aa'
    """

    guarantee: AnyGuarantee
    method: str | None = None
    options: Mapping[str, object] = field(default_factory=dict, kw_only=True)

    @classmethod
    def of(cls, guarantee: AnyGuarantee, method: str | None, asked: Mapping[str, Any]) -> Job:
        """Return the job of a call; keywords that are no settings are options of the method."""
        settings = {one.name for one in fields(Settings)}
        own = {name: value for name, value in asked.items() if name in settings}
        options = {name: value for name, value in asked.items() if name not in settings}
        return cls(guarantee, method, options=options, **own)

    @property
    def record(self) -> MethodRecord:
        """The record of the method, the guarantee's default where none is named."""
        return default_method(self.guarantee) if self.method is None else method(self.method)

    def check(self, *, without_hierarchy: bool = False) -> dict[str, OptionValue]:
        """Raise `UsageError` for what is wrong whatever the data are; return the options, checked."""
        record = self.record
        if not isinstance(self.cost, str):
            raise UsageError("cost must be a name.", f"Known: {', '.join(COST_NAMES)}.")
        if self.cost not in COST_NAMES:
            raise UsageError(f"unknown cost {self.cost[:40]!r}.", f"Known: {', '.join(COST_NAMES)}.")
        for name, given, known in (
            ("unknown", self.unknown, UNKNOWN_POLICIES),
            ("domain", self.domain, DOMAINS),
        ):
            if given not in known:
                raise UsageError(
                    f"{name}={str(given)[:40]!r} is not known.", f"Allowed: {', '.join(known)}."
                )
        record.check_guarantee(self.guarantee)
        options = record.checked_options(self.options)
        record.check_named_methods(self.guarantee, options)
        limit = self.time_limit
        if limit is not None and not (
            isinstance(limit, int | float) and not isinstance(limit, bool) and limit > 0
        ):
            raise UsageError("time_limit must be a number of seconds above 0.", "Give for example 60.")
        check_threads(self.threads)
        if without_hierarchy:
            self.check_without_hierarchy()
        return options

    def check_without_hierarchy(self) -> None:
        """Raise `UsageError` where the job cannot do without a hierarchy."""
        record = self.record
        if record.needs_hierarchy:
            raise UsageError(
                f"the method {record.key!r} generalizes, so it needs a hierarchy.",
                "Give one (--hierarchy FILE), or make one: `setveil hierarchy build` or "
                "`setveil hierarchy learn`.",
                code="hierarchy-needed",
            )
        if self.domain == "hierarchy":
            raise UsageError(
                "without a hierarchy there are no other items that the loss could count.",
                "Give one (--hierarchy FILE), or leave --domain out.",
                code="hierarchy-needed",
            )

    def prepare(self, data: Any, hierarchy: Hierarchy | Mapping[str, Hierarchy] | None = None) -> Any:
        """Check everything and bind the data; raise before anything is computed.

        What comes back has `run(watch)`, which returns the release. Known facts about a table
        (`rules`) and its source of chance (`random`) stand among the options.
        """
        prepared = of_kind(self.guarantee.kind).Prepared
        if not isinstance(data, prepared.takes):
            raise UsageError(f"{self.guarantee} is about {prepared.about}.", prepared.read_first)
        started = time.monotonic()
        inputs = {name: self.options[name] for name in prepared.inputs if name in self.options}
        options = {name: value for name, value in self.options.items() if name not in inputs}
        job = replace(self, options=options)
        job = replace(job, method=job.record.key, options=job.check())
        return prepared.bind(job, data, hierarchy, started=started, **inputs)


class Work:
    """What there is to do for a run.

    `notices` tell what is known so far of the data, `cleaned` what was found at the destination.
    `remarks` join them once the release is published.
    """

    checks_late = False
    """Whether the job is checked by `read`, which first tells how the data were read."""
    prepared: Any

    def __init__(self, run: Run) -> None:
        self.run = run
        self.notices: list[str] = []
        self.cleaned: list[str] = []
        self.remarks: tuple[str, ...] = ()
        self.inputs: list[str] = []

    def check(self) -> None:
        """Raise for what is wrong whatever the data are."""
        from ..publish import check_environment

        run = self.run
        self.take()
        if not self.checks_late:
            self.check_job()
        if run.output is None and not run.is_preview:
            raise UsageError("no output is named.", "Give -o FOLDER, or --dry-run.")
        self.inputs = self.name_inputs()
        check_environment()
        self.check_format()
        self._check_places()

    def take(self) -> None:
        """Make the job of the run; raise where there is no such promise or method."""
        run = self.run
        if run.method is not None:
            method(run.method)
        self.job = Job.of(self.read_guarantee(), run.method, {**run.settings(), **run.options})

    def read_guarantee(self) -> AnyGuarantee:
        raise NotImplementedError

    def check_job(self) -> None:
        """Raise for a method, an option or a setting that is wrong."""
        self.job.check()

    def name_inputs(self) -> list[str]:
        """Return the files that are read, standard input aside, which is named once at most."""
        raise NotImplementedError

    def check_format(self) -> None:
        raise NotImplementedError

    def load(self) -> tuple[Any, Any, Job]:
        """Open the files; return the data, their hierarchy if it is not in them, and the whole job."""
        raise NotImplementedError

    def read(self) -> None:
        """Open the files, and bind what they hold to the job as `prepared`; raise what is wrong."""
        raise NotImplementedError

    def estimate(self, watch: Watch) -> tuple[str, dict[str, Any]]:
        """Return what the run would work on, as text and as plain values."""
        raise NotImplementedError

    def watch(self, listener: Listener | None = None) -> Watch:
        """Return a watch with the time limit of the run."""
        return Watch(listener=listener, time_limit=self.run.time_limit)

    def execute(
        self, listener: Listener | None = None, placed: Callable[[Path], object] | None = None
    ) -> Outcome:
        """Compute the release, write it, audit it and put it into place."""
        release = self.prepared.run(self.watch(listener))
        publication = publish_as(self.run, release, listener, placed)
        return Outcome(release, publication, self.remarks)

    def _check_places(self) -> None:
        """Raise where nothing can be written."""
        from ..io.folder.staging import check_destination, check_new_file

        run = self.run
        if run.save_job is not None:
            if run.data == "-" or run.output is None:
                raise UsageError(
                    "a job names the file it reads and the folder it makes.",
                    "Give both, or leave --save-job out.",
                )
            if run.rules_only:
                raise UsageError(
                    "--rules-only makes no release, and a job does.",
                    "Leave one of --rules-only and --save-job out.",
                    code="option-does-not-fit",
                )
            check_new_file(run.save_job, force=run.force, inputs=self.inputs)
        if run.output is not None and run.rules_only:
            check_new_file(run.output, force=run.force, inputs=self.inputs)
        elif run.output is not None:
            self.cleaned = check_destination(run.output, force=run.force, inputs=self.inputs)


def told_of_estimate(head: str, plain: Mapping[str, Any], **words: object) -> str:
    """Return an estimate as text. `words` stand for plain values that are shown otherwise, or not."""

    def shown(value: object) -> str:
        if isinstance(value, Mapping):
            return ", ".join(f"{name} {one}" for name, one in value.items())
        if isinstance(value, list):
            return " and ".join(map(shown, value))
        return f"{value:,}" if isinstance(value, int) else str(value or "")

    texts = {name: shown(value) for name, value in {**plain, "dry_run": "", **words}.items()}
    lines = [
        f"  {name.removesuffix('_bytes').replace('_', ' ').ljust(20)} {text}"
        for name, text in texts.items()
        if text
    ]
    return "\n".join([head, *lines])


def named_listener(listener: Listener | None, name: str, share: float | None = None) -> Listener | None:
    """Return a listener that says before each stage what it is of: a job, a method, a point.

    `share` is how much of the whole is done, where that is told instead of the share of this part.
    """
    if listener is None:
        return None
    hear = listener

    def listen(stage: str, inner: float | None) -> None:
        hear(f"{name}: {stage.removeprefix(f'{name}: ')}", inner if share is None else share)

    return listen


def publish_as(
    asked: Output,
    release: Any,
    listener: Listener | None = None,
    placed: Callable[[Path], object] | None = None,
) -> Publication:
    """Publish a release as these fields ask for it."""
    from ..publish import publish

    assert asked.output is not None
    return publish(
        release,
        asked.output,
        force=asked.force,
        format=asked.format,
        csv_safe=asked.csv_safe,
        allow_useless=asked.publish_useless,
        private_report=not asked.no_report,
        placed=placed,
        watch=Watch(listener=listener),
    )


@dataclass(frozen=True)
class Account:
    """What one kind tells of a release.

    `counts` and `verdict` are plain values, `later` those that come after the figures. `audited` and
    `lines` go into the summary; `data_files` are the names of the data files.
    """

    counts: Mapping[str, Any]
    verdict: Mapping[str, Any]
    audited: str
    data_files: Sequence[str]
    lines: Sequence[tuple[str, str]] = ()
    later: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Outcome:
    """A release that is published, and what the user should know besides."""

    release: Any
    publication: Publication
    remarks: tuple[str, ...] = ()

    @cached_property
    def _account(self) -> Account:
        found: Account = of_kind(self.release.guarantee.kind).account(self.release, self.publication)
        return found

    @property
    def files(self) -> list[str]:
        from ..io.folder.ownership import CERTIFICATE, HIERARCHY, REPORT

        return [*self._account.data_files, HIERARCHY, CERTIFICATE, REPORT]

    @property
    def notices(self) -> tuple[str, ...]:
        """All notices, with a loud one where nothing of use is published."""
        # Publishing tells it of pairs; buckets are never useless.
        useless = self.release.useless if self.release.guarantee.kind == SETS else None
        return (*self.remarks, *self.publication.notices, *(() if useless is None else (useless,)))

    def __str__(self) -> str:
        """What was kept, lost and guaranteed, and where it lies."""
        release, publication = self.release, self.publication
        lines = [
            (name, publication.time if name == "time" else text)
            for name, text in release.lines()
            if name != "note"
        ]
        lines += [
            ("audit", f"the written bytes keep the promise{self._account.audited}"),
            *self._account.lines,
            ("release", f"{os.fspath(publication.path)} ({', '.join(self.files)})"),
            ("private", f"{os.fspath(publication.private)} (personal data: keep it)"),
        ]
        return "\n".join(["Published", *(f"  {name.ljust(8)} {text}" for name, text in lines)])

    def as_dict(self) -> dict[str, Any]:
        """Return the outcome as plain values, for its holder; figures are exact here."""
        release, publication = self.release, self.publication
        return {
            "method": release.method,
            "guarantee": release.guarantee.as_dict(),
            **self._account.counts,
            "seconds": release.seconds,
            "seconds_by_stage": dict(publication.seconds),
            **self._account.verdict,
            "options": dict(release.options),
            "figures": dict(release.figures),
            **self._account.later,
            "notices": list(self.notices[len(self.remarks) :]),
            "format": publication.layout.format,
            "output": os.fspath(publication.path),
            "files": self.files,
            "private": os.fspath(publication.private),
        }
