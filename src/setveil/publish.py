"""Publishing: write a release, audit the written bytes, and rename it into place.

This joins what must not know each other: `io.folder` writes files to a hidden folder, `audit` reads
them there as they lie on the disk, and only what it confirms is renamed into place. There is one way
for all releases; what differs from kind to kind is an `Edition`, one file a kind in `editions/`.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Generic, TypeVar

from .arguments import checked
from .errors import DataError, HierarchyError, Infeasible, InternalError, UsageError
from .io.folder.ownership import AUDIT, CERTIFICATE, HIERARCHY, REPORT, kind_of_folder
from .model.guarantees import Promise
from .model.layout import Layout
from .plain import Summary
from .progress import Watch, where_time_went
from .release.header import Header
from .release.release import Release

if TYPE_CHECKING:
    from .audit.verdict import BucketFinding, PairFinding, Verdict
    from .measure.pairs import PairScores
    from .release.buckets import BucketRelease
    from .release.pair_release import PairRelease
    from .report.frontier import Sweep

StrPath = str | os.PathLike[str]
Writer = Callable[[BinaryIO], object]
STAGES = ("method", "writing", "auditing", "reporting")
"""Where the time of a run goes; the public page is made before the audit, which reads it too."""
Published = TypeVar("Published", bound=Header)


@dataclass(frozen=True)
class Wish:
    """How the data shall be written: in which `format`, None for the one they came in, and where."""

    format: str | None = None
    csv_safe: bool = False
    path: Path | None = None


@dataclass(frozen=True)
class Confirmed:
    """What the audit has said yes to: the certificate and the hash of its file; all notices so far."""

    certificate: dict[str, Any]
    certificate_sha256: str
    verdict: Any
    notices: tuple[str, ...]


class Edition(Generic[Published]):
    """What is done with a release of one kind: it is judged, measured, and brought into a folder.

    On that way `check` comes first and reads nothing of the records; `prepare` settles `layout` and
    `notices` and refuses what no file can hold. The other methods follow in the order in which they
    stand here. Published records are a handle (`release.recoding.Part`): it is asked for its labels
    and counts, and to write itself.
    """

    holds_originals = True
    """Whether release and twin hold all that is known of the originals."""
    called: str
    """What such a release is, with the verb that goes with it."""
    originals: str
    """The private file that leads from what is published back to the originals."""
    layout: Layout
    notices: tuple[str, ...] = ()
    scores: Any = None
    """What the release cost, where that is measured on publishing; None elsewhere."""

    def __init__(self, release: Published, wish: Wish) -> None:
        self.release, self.wish = release, wish

    def audit(self, *, witnesses: int, threads: int | None, **asked: Any) -> Any:
        """Return the audit's answer about the release, which need not be written yet.

        What else may be asked, as in `setveil.audit`, is for sets alone.
        """
        if asked != {"guarantee": None, "mode": "exact", "hierarchy": None}:
            raise UsageError(
                f"{self.called} judged by the promise of the release.", "Leave the other options out."
            )
        return self.audit_unwritten(witnesses=witnesses, threads=threads)

    def audit_unwritten(self, *, witnesses: int = 0, threads: int | None = None) -> Any:
        """Return that answer where nothing but the release tells what is promised."""
        raise NotImplementedError

    @classmethod
    def reopened(cls, path: StrPath, original: Any, watch: Watch) -> Published:
        """Return the release in a folder with all that its private twin knows, the original confirmed.

        Where the originals are not in the twin, they are those given; None leaves the release without.
        """
        raise NotImplementedError

    @classmethod
    def risk_in(cls, path: StrPath, asked: dict[str, Any]) -> Any:
        """Return what an attacker learns from a published folder, asked as in `setveil.risk`."""
        raise NotImplementedError

    def risk(self, asked: dict[str, Any]) -> Any:
        """Return what an attacker learns from the release, asked as in `setveil.risk`."""
        raise NotImplementedError

    def figures(self, asked: dict[str, Any]) -> Any:
        """Return what the release lost, asked as in `setveil.measure`."""
        raise NotImplementedError

    def explain(self, questions: Sequence[Any], *, original: Any, top: int, watch: Watch) -> Any:
        """Return an answer to each question, asked as in `setveil.explain`."""
        raise NotImplementedError

    def check(self) -> None:
        """Raise what is wrong whatever is in the release."""

    def prepare(self) -> None:
        """Choose the layout, and refuse labels that it cannot hold."""
        raise NotImplementedError

    def data_files(self) -> Mapping[str, Writer]:
        """Return what writes each data file."""
        raise NotImplementedError

    @cached_property
    def paths(self) -> Sequence[tuple[str, ...]]:
        """The hierarchy that is published, as paths of one width."""
        raise NotImplementedError

    def more_files(self) -> Mapping[str, bytes]:
        """Return other public files: what readers need beside data and hierarchy."""
        return {}

    def certificate(
        self, file_hashes: Mapping[str, str], source_date_epoch: str | None
    ) -> dict[str, Any]:
        """Return the certificate, which does not name the report yet."""
        from .release.documents import certificate

        return certificate(
            self.release,
            self.own_part(file_hashes),
            hierarchy_sha256=file_hashes[HIERARCHY],
            source_date_epoch=source_date_epoch,
        )

    def own_part(self, file_hashes: Mapping[str, str]) -> dict[str, object]:
        """Return what the certificate tells of this kind alone: the data, and what is said of them."""
        raise NotImplementedError

    def public_page(self, told: Mapping[str, Any]) -> bytes:
        """Return the page made of the certificate and the published records alone."""
        raise NotImplementedError

    def private_documents(self, confirmed: Confirmed, time: datetime) -> Mapping[str, bytes]:
        """Return the files of the private twin, but for its page.

        They are the holder's own account of the run, with exact figures and a sealed input, and what
        leads from the published records back to the originals, or hides whose they are.
        """
        from ._version import __version__
        from .io.folder.staging import json_document
        from .release.documents import PERSONAL

        release = self.release
        account = {
            "personal_data": PERSONAL,
            "certificate_sha256": confirmed.certificate_sha256,
            "tool": {"name": "setveil", "version": __version__},
            "time": time.astimezone(UTC).isoformat(timespec="seconds"),
            "guarantee": release.guarantee.as_dict(),
            "method": release.method,
            "options": dict(release.options),
            "seconds": release.seconds,
            "figures": dict(release.figures),
            "notices": list(confirmed.notices),
            "verdict": dict(confirmed.verdict.as_dict()),
            "input": release.sealed(),
            **release.account(),
        }
        originals = {"personal_data": PERSONAL, **release.hidden()}
        return {AUDIT: json_document(account), self.originals: json_document(originals)}

    def measure(self, watch: Watch) -> None:
        """Measure what the page or the caller wants to know, into `scores`."""

    def private_page(self, confirmed: Confirmed, watch: Watch) -> bytes:
        """Return the page for the holder of the data alone."""
        raise NotImplementedError

    def fuller_page(
        self, confirmed: Confirmed, original: Any, sweep: Sweep | None, watch: Watch
    ) -> bytes:
        """Return that page with all that can be told, however long it takes."""
        raise NotImplementedError


def edition_of(release: Header, wish: Wish = Wish()) -> Edition[Any]:
    """Return the edition of a release; a run of one kind need not load the others."""
    return _editions_of(release.guarantee.kind)(release, wish)


def editions_in(path: StrPath) -> type[Edition[Any]]:
    """Return the class of the editions of such releases as a folder says that it holds."""
    return _editions_of(kind_of_folder(path) or "sets")


def _editions_of(kind: str) -> type[Edition[Any]]:
    module = importlib.import_module(f".editions.{kind}", __package__)
    editions: type[Edition[Any]] = module.EDITION
    return editions


def seconds_of(release: Header, watch: Watch) -> dict[str, float]:
    """Return the seconds of each stage until now, in the order of `STAGES`."""
    seconds = {"method": release.seconds, **watch.stages.seconds}
    return {stage: seconds[stage] for stage in STAGES if stage in seconds}


def refuse_format(what: str, format: str | None, known: Sequence[str]) -> None:
    """Raise `UsageError` where a format is asked for that such data cannot have."""
    if format is not None and format not in known:
        raise UsageError(
            f"{what} cannot be published as {format[:40]!r}.",
            f"Known: {', '.join(known)}.",
            code="format",
        )


def refuse_labels(paths: Sequence[tuple[str, ...]]) -> None:
    """Refuse categories that no file can hold; those of a hierarchy made in Python may be such."""
    from .model.transactions import label_fault

    for label in sorted({label for path in paths for label in path}):
        fault = label_fault(label)
        if fault is not None:
            raise HierarchyError(
                f"a label of the hierarchy, {label[:40]!a}, is {fault[1]}", fault[2], code=fault[0]
            )


@dataclass(frozen=True)
class Publication(Summary):
    """A release in its place: where, what the audit of its bytes said, notices, and the time it took.

    `seconds` are those of each stage: the method, writing, auditing and reporting.

    >>> import setveil as sv
    >>> from setveil.io.demo import groceries
    >>> baskets, products = groceries()
    >>> release = sv.anonymize(baskets, sv.KmAnonymity(k=5, m=2), hierarchy=products)
    >>> publication = sv.publish(release, "release")
    >>> publication.path.name, publication.private.name, publication.verdict.holds
    ('release', 'release.private', True)
    """

    path: Path
    private: Path
    verdict: Verdict | BucketFinding | PairFinding
    layout: Layout
    notices: tuple[str, ...] = ()
    seconds: Mapping[str, float] = field(default_factory=dict)
    scores: PairScores | None = None
    """Of two data sets what hiding their patterns cost; for the holder of the data alone."""

    @property
    def time(self) -> str:
        """Where the time went, in words."""
        return where_time_went(self.seconds)

    @property
    def head(self) -> str:
        return "Published"

    def lines(self) -> list[tuple[str, str]]:
        lines = [
            ("release", os.fspath(self.path)),
            ("private", f"{os.fspath(self.private)} (personal data: keep it)"),
            ("time", self.time),
        ]
        return lines + [("note", notice) for notice in self.notices]

    def __str__(self) -> str:
        return f"{self.path} (private documents: {self.private})\n{self.verdict}"

    def _repr_html_(self) -> str:
        return super()._repr_html_() + self.verdict._repr_html_()


@checked()
def publish(
    release: Release | BucketRelease | PairRelease,
    path: StrPath,
    *,
    force: bool = False,
    format: str | None = None,
    csv_safe: bool = False,
    allow_useless: bool = False,
    private_report: bool = True,
    placed: Callable[[Path], object] | None = None,
    watch: Watch | None = None,
) -> Publication:
    """Write a release, audit the written bytes, and put it into place in one step.

    Parameters
    ----------
    release
        What `anonymize` returned.
    path
        The folder to make; beside it comes ``<path>.private`` for the holder's eyes alone.
    force
        Replace a release that is there.
    format
        One of the formats of `model.layout`; by default the one the data came in. For a table in
        buckets: "buckets" (two tables) or "joined" (one).
    csv_safe
        Write no CSV data file with labels that a spreadsheet would run as formulas: JSON lines
        instead, or an error where the format is given.
    allow_useless
        Publish a release too of which most records say nothing; else it is refused.
    private_report
        Whether the private folder gets its page, which can take long for a large table; the public one
        is part of the release. `setveil.report` makes that of a release of sets later.
    placed
        Called with the folder as soon as it is there to stay: an interrupt after that comes too late.
    watch
        Progress listener, cancel switch and clock.

    >>> import setveil as sv
    >>> from setveil.io.demo import groceries
    >>> baskets, products = groceries()
    >>> release = sv.anonymize(baskets, sv.KmAnonymity(k=5, m=2), hierarchy=products)
    >>> publication = sv.publish(release, "published")
    >>> bool(publication.verdict)
    True
    """
    from .audit import audit_folder
    from .io.folder.staging import Staging, check_destination, hierarchy_document, json_document

    watch = watch or Watch()
    check_environment()
    edition = edition_of(release, Wish(format, csv_safe, Path(path)))
    edition.check()
    refuse_useless(release, allowed=allow_useless)
    edition.prepare()
    notices = (*release.notices, *edition.notices, *check_destination(path, force=force))
    with Staging(path, force=force) as staging:
        watch.begin("writing")
        hashes = {name: staging.write(name, write) for name, write in edition.data_files().items()}
        others = {HIERARCHY: hierarchy_document(edition.paths), **edition.more_files()}
        for name, content in others.items():
            hashes[name] = staging.write(name, partial(_put, content))
        told = edition.certificate(hashes, os.environ.get("SOURCE_DATE_EPOCH"))
        watch.begin("reporting")
        report_sha256 = staging.write(REPORT, partial(_put, edition.public_page(told)))
        public = json_document({**told, "report": {"file": REPORT, "sha256": report_sha256}})
        certificate_sha256 = staging.write(CERTIFICATE, partial(_put, public))
        watch.begin("auditing")
        verdict = ask_audit(lambda: audit_folder(staging.public), release.guarantee)
        confirmed = Confirmed(told, certificate_sha256, verdict, notices)
        watch.begin("writing")
        for name, content in edition.private_documents(confirmed, datetime.now(UTC)).items():
            staging.write_private(name, content)
        watch.begin("reporting")
        edition.measure(watch)
        if private_report:
            staging.write_private(REPORT, edition.private_page(confirmed, watch))
        watch.begin("writing")
        late = staging.commit(placed)
    return Publication(
        staging.target,
        staging.twin,
        verdict,
        edition.layout,
        (*notices, *late),
        seconds_of(release, watch),
        edition.scores,
    )


def _put(content: bytes, file: BinaryIO) -> None:
    file.write(content)


def confirm(release: Header) -> Any:
    """Return the audit's yes to a release in memory; raise where it would not be published."""
    edition = edition_of(release)
    edition.check()
    asked: dict[str, Any] = {"guarantee": None, "mode": "exact", "hierarchy": None}
    return ask_audit(lambda: edition.audit(witnesses=0, threads=None, **asked), release.guarantee)


def ask_audit(ask: Callable[[], Any], guarantee: Promise) -> Any:
    """Return the audit's yes; anything else about our own folder is a bug of ours."""
    try:
        verdict = ask()
    except DataError as error:
        raise InternalError(
            f"a bug in setveil: its audit cannot accept what it wrote ({error.problems[0].what})",
            "Nothing is published. Please report it.",
            code="audit-refused",
        ) from error
    # Secrets that were left out of the release are not named in it.
    shown = verdict.guarantee.secret_labels
    same = verdict.guarantee == guarantee.with_secrets(shown) and shown <= guarantee.secret_labels
    if not verdict.holds or not same:
        raise InternalError(
            f"a bug in setveil: its audit says that the result does not keep {guarantee}.",
            "Nothing is published. Please report it.",
            code="audit-says-no",
        )
    return verdict


def check_environment() -> None:
    """Raise `UsageError` where SOURCE_DATE_EPOCH is set to what is no date."""
    from .release.documents import certificate_date

    epoch = os.environ.get("SOURCE_DATE_EPOCH")
    if epoch is not None:
        certificate_date(epoch)


def refuse_useless(release: Header, *, allowed: bool) -> None:
    """Raise `Infeasible` where most records of a release say nothing, unless that is allowed."""
    useless = None if allowed else release.useless
    if useless is not None:
        raise Infeasible(
            useless,
            "To publish it all the same: --publish-useless (allow_useless=True in Python).",
            code="useless",
        )
