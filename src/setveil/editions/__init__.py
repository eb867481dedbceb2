"""What publishing asks of a release of each kind: its files, its documents and its pages.

`setveil.publish` is one way for all: write, audit the written bytes, rename. What differs from kind to
kind is here, a file each, and `edition_of` is the one place that tells the kinds apart.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Protocol

from ..errors import HierarchyError
from ..model.layout import Layout
from ..progress import Watch
from ..release.release import Release

if TYPE_CHECKING:
    from ..release.bucket_release import BucketRelease
    from ..release.pair_release import PairRelease

    AnyRelease = Release | BucketRelease | PairRelease

StrPath = str | os.PathLike[str]
Writer = Callable[[BinaryIO], object]
STAGES = ("method", "writing", "auditing", "reporting")
"""Where the time of a run goes; the public page is made before the audit, which reads it too."""


@dataclass(frozen=True)
class Wish:
    """How the data shall be written: in which `format`, None for the one they came in, and where."""

    format: str | None
    csv_safe: bool
    path: Path


@dataclass(frozen=True)
class Confirmed:
    """What the audit has said yes to: the certificate and the hash of its file; all notices so far."""

    certificate: dict[str, Any]
    certificate_sha256: str
    verdict: Any
    notices: tuple[str, ...]


class Edition(Protocol):
    """A release on its way into a folder.

    `check` comes first and reads nothing of the records; `prepare` settles `layout` and `notices` and
    refuses what no file can hold. The other methods are called in the order in which they stand here.
    """

    layout: Layout
    notices: tuple[str, ...]
    scores: Any
    """What the release cost, where that is measured on publishing; None elsewhere."""

    def check(self) -> None:
        """Raise what is wrong whatever is in the release."""

    def prepare(self) -> None:
        """Choose the layout, and refuse labels that it cannot hold."""

    def data_files(self) -> Mapping[str, Writer]:
        """Return what writes each data file."""

    def paths(self) -> Sequence[tuple[str, ...]]:
        """Return the hierarchy that is published, as paths of one width."""

    def more_files(self) -> Mapping[str, bytes]:
        """Return other public files: what readers need beside data and hierarchy."""

    def certificate(
        self, file_hashes: Mapping[str, str], source_date_epoch: str | None
    ) -> dict[str, Any]:
        """Return the certificate, which does not name the report yet."""

    def public_page(self, told: Mapping[str, Any]) -> bytes:
        """Return the page made of the certificate and the published records alone."""

    def private_documents(self, confirmed: Confirmed, time: datetime) -> Mapping[str, bytes]:
        """Return the files of the private twin, but for its page."""

    def measure(self, watch: Watch) -> None:
        """Measure what the page or the caller wants to know, into `scores`."""

    def private_page(self, confirmed: Confirmed, watch: Watch) -> bytes:
        """Return the page for the holder of the data alone."""


def edition_of(release: AnyRelease, wish: Wish) -> Edition:
    """Return the edition of a release; a run of one kind need not load the others."""
    if isinstance(release, Release):
        from .sets import SetsEdition

        return SetsEdition(release, wish)
    from ..release.bucket_release import BucketRelease

    if isinstance(release, BucketRelease):
        from .buckets import BucketsEdition

        return BucketsEdition(release, wish)
    from .pairs import PairsEdition

    return PairsEdition(release, wish)


def seconds_of(release: AnyRelease, watch: Watch) -> dict[str, float]:
    """Return the seconds of each stage until now, in the order of `STAGES`."""
    seconds = {"method": release.seconds, **watch.stages.seconds}
    return {stage: seconds[stage] for stage in STAGES if stage in seconds}


def refuse_labels(paths: Sequence[tuple[str, ...]]) -> None:
    """Refuse categories that no file can hold; those of a hierarchy made in Python may be such."""
    from ..model.vocabulary import label_fault

    for label in sorted({label for path in paths for label in path}):
        fault = label_fault(label)
        if fault is not None:
            raise HierarchyError(
                f"a label of the hierarchy, {label[:40]!a}, is {fault[1]}", fault[2], code=fault[0]
            )


def told_of_formulas(paths: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """Tell that hierarchy.csv holds labels that a spreadsheet would run; the audit needs them as is."""
    from ..io.spelling import is_formula

    if not any(is_formula(label) for path in paths for label in path):
        return ()
    return ("hierarchy.csv holds labels that a spreadsheet would run as formulas: read it as text.",)
