"""A run on its way: checked, then read, then estimated or carried out.

What all kinds share is in `Work`; what is one kind's own is in `sets`, `buckets` and `pairs`. A run
loads only its own. `Outcome` is what to tell of a release in its place: in words, and as plain values.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import UsageError
from ..progress import Listener, Watch
from .fields import BUCKETS, PAIRS, SETS

if TYPE_CHECKING:
    from ..publish import Publication
    from . import Output, Run

_WORK = {SETS: ("sets", "SetsWork"), BUCKETS: ("buckets", "BucketsWork"), PAIRS: ("pairs", "PairsWork")}


def work_of(run: Run) -> Work:
    """Return what there is to do for a run."""
    module, name = _WORK[run.kind]
    work: Work = getattr(importlib.import_module(f"{__package__}.{module}"), name)(run)
    return work


class Work:
    """What there is to do for a run.

    `notices` tell what is known so far of the data, `cleaned` what was found at the destination.
    `remarks` join them once the release is published. `kernels` name the compiled code that it may have
    to wait for.
    """

    kernels = ""
    no_output = "Give -o FOLDER, or --dry-run."

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
        self.check_asked()
        if run.output is None and not run.is_preview:
            raise UsageError("no output is named.", self.no_output)
        self.inputs = self.name_inputs()
        check_environment()
        self.check_format()
        self._check_places()

    def check_asked(self) -> None:
        """Raise for a promise, method or option that is wrong."""
        raise NotImplementedError

    def check_method(self) -> None:
        """Raise for what `check` leaves to `read`, which first tells how the data were read."""

    def name_inputs(self) -> list[str]:
        """Return the files that are read, standard input aside, which is named once at most."""
        raise NotImplementedError

    def check_format(self) -> None:
        """Raise for a format that does not fit."""
        raise NotImplementedError

    def read(self) -> None:
        """Open the files, and bind what they hold to what was asked; raise what is wrong with them."""
        raise NotImplementedError

    def estimate(self, watch: Watch) -> tuple[str, dict[str, Any]]:
        """Return what the run would work on, as text and as plain values."""
        raise NotImplementedError

    def compute(self, watch: Watch) -> Any:
        """Return the release."""
        raise NotImplementedError

    def watch(self, listener: Listener | None = None) -> Watch:
        """Return a watch with the time limit of the run."""
        return Watch(listener=listener, time_limit=self.run.time_limit)

    def execute(
        self, listener: Listener | None = None, placed: Callable[[Path], object] | None = None
    ) -> Outcome:
        """Compute the release, write it, audit it and put it into place."""
        release = self.compute(self.watch(listener))
        publication = publish_as(self.run, release, listener, placed)
        return Outcome(self.run.kind, release, publication, self.remarks)

    def _check_places(self) -> None:
        """Raise where nothing can be written."""
        from ..io.files import check_new_file
        from ..io.folder.staging import check_destination

        run = self.run
        if run.save_job is not None:
            if run.data == "-" or run.output is None:
                raise UsageError(
                    "a job names the file it reads and the folder it makes.",
                    "Give both, or leave --save-job out.",
                )
            check_new_file(run.save_job, force=run.force, inputs=self.inputs)
        if run.output is not None and run.rules_only:
            check_new_file(run.output, force=run.force, inputs=self.inputs)
        elif run.output is not None:
            self.cleaned = check_destination(run.output, force=run.force, inputs=self.inputs)


def named_listener(listener: Listener | None, name: str, share: float | None = None) -> Listener | None:
    """Return a listener that says before each stage what it is of.

    Parameters
    ----------
    listener
        Who listens, if anybody does.
    name
        What the work is of: a job, a method, a point of a sweep.
    share
        How much of the whole is done, where that is told instead of the share of this part.
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

    kind: str
    release: Any
    publication: Publication
    remarks: tuple[str, ...] = ()

    @cached_property
    def _account(self) -> Account:
        return _ACCOUNTS[self.kind](self.release, self.publication)

    @property
    def files(self) -> list[str]:
        """The names of the files of the release."""
        from ..io.folder.ownership import CERTIFICATE, HIERARCHY, REPORT

        return [*self._account.data_files, HIERARCHY, CERTIFICATE, REPORT]

    @property
    def notices(self) -> tuple[str, ...]:
        """All notices, with a loud one where nothing of use is published."""
        # Publishing tells it of pairs; buckets are never useless.
        useless = self.release.useless if self.kind == SETS else None
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


def _of_sets(release: Any, publication: Publication) -> Account:
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


def _of_buckets(release: Any, publication: Publication) -> Account:
    verdict = publication.verdict.as_dict()
    joined = publication.layout.format == "joined"
    return Account(
        {
            "records": release.records,
            "buckets": release.bucketing.n_buckets,
            "rules": len(release.rules),
            "left_out": len(release.left_out or ()),
        },
        {"verdict": verdict},
        f"; fewest possible values {verdict['fewest_possible']}",
        [
            *(["data.csv"] if joined else ["quasi.csv", "sensitive.csv"]),
            *(["rules.csv"] if release.guarantee.takes_rules else []),
        ],
    )


def _of_pairs(release: Any, publication: Publication) -> Account:
    from ..io.formats import pair_file_names

    verdict = publication.verdict.as_dict()
    rarer = None if publication.scores is None else publication.scores.rarer
    every = getattr(publication.verdict, "patterns_every_level", None)
    more = every and not release.guarantee.every_level
    return Account(
        {"records": list(release.records), "values": release.values, "raised": release.raised},
        {"complete": release.complete, "verdict": verdict},
        f"; read at every level they hold {every:,} patterns" if more else "",
        pair_file_names(publication.layout),
        [] if rarer is None else [("rarer", rarer.told)],
        {"half_support": None if rarer is None else rarer.as_dict()},
    )


_ACCOUNTS: Mapping[str, Callable[[Any, Publication], Account]] = {
    SETS: _of_sets,
    BUCKETS: _of_buckets,
    PAIRS: _of_pairs,
}
