"""The private report of a release, made anew: of any kind, in a folder or not published at all.

What the page tells is its edition's (`Edition.fuller_page`); here it gets what all of them need, the
certificate and what the audit says, and its place.
"""

from __future__ import annotations

import hashlib
import os
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .api import audit
from .arguments import checked
from .errors import UsageError
from .io.folder.ownership import HIERARCHY, REPORT
from .io.folder.published import read_any_certificate
from .io.folder.staging import check_new_file, hierarchy_document, replace_private, write_text_file
from .progress import Watch
from .publish import Confirmed, Edition, StrPath, edition_of
from .release.header import Header
from .reopen import opened

if TYPE_CHECKING:
    from .release.buckets import BucketRelease
    from .release.pair_release import PairRelease
    from .release.release import Release
    from .report.frontier import Sweep


@checked("target")
def report(
    target: StrPath | Release | BucketRelease | PairRelease,
    original: Any = None,
    *,
    sweep: Sweep | None = None,
    output: StrPath | None = None,
    force: bool = False,
    watch: Watch | None = None,
) -> Path:
    """Write the private report of a release anew, fuller than the one made with it; return where.

    Measures of the loss come in, more of the risk is counted, and where a sweep is given what other
    strengths of the promise would cost. It is personal data.

    Parameters
    ----------
    target
        The release folder; its private twin must lie beside it. Or what `anonymize` returned.
    original
        Of sets the data the release was made from, as `setveil.anonymize` takes them, where the release
        does not hold them. The private twins of other kinds hold all that is needed.
    sweep
        What `setveil.sweep` returned for the same data.
    output
        The file to write; by default ``report.html`` in the private twin, which is replaced.
    force
        Replace a file of the name `output` that is there.
    watch
        Progress listener and cancel switch.

    >>> import setveil as sv
    >>> from setveil.io.demo import groceries
    >>> baskets, products = groceries()
    >>> release = sv.anonymize(baskets, sv.KmAnonymity(k=5, m=2), hierarchy=products)
    >>> publication = sv.publish(release, "reported", private_report=False)
    >>> sv.report("reported", baskets).name
    'report.html'
    """
    if output is not None:
        check_new_file(output, force=force)
    watch = watch or Watch()
    release, original = opened(target, original, watch=watch)
    path = None if isinstance(target, Header) else target
    return write_report(release, path, original, sweep=sweep, output=output, force=force, watch=watch)


def write_report(
    release: Header,
    path: StrPath | None,
    original: Any = None,
    *,
    sweep: Sweep | None,
    output: StrPath | None,
    force: bool,
    watch: Watch,
) -> Path:
    """Write the private report of a release that lies at `path`, or nowhere (None); return where."""
    edition = edition_of(release)
    watch.tick("auditing", None)
    if path is not None:
        certificate, verdict = read_any_certificate(path), audit(path)
    elif output is None:
        raise UsageError(
            "this release is in no folder, so its report has no place.", "Name a file: output=..."
        )
    else:
        certificate, verdict = _unpublished(edition), audit(release)
    confirmed = Confirmed(certificate, "", verdict, release.notices)
    page = edition.fuller_page(confirmed, original, sweep, watch)
    if output is None:
        assert path is not None  # else a file is named
        return replace_private(path, REPORT, page)
    write_text_file(output, page.decode(), mode=0o600, force=force)
    return Path(output)


def _unpublished(edition: Edition[Any]) -> dict[str, Any]:
    """Return the certificate that a release would get; its files are written into memory alone."""
    edition.prepare()
    hashes = {}
    for name, write in edition.data_files().items():
        write(content := BytesIO())
        hashes[name] = hashlib.sha256(content.getvalue()).hexdigest()
    others = {HIERARCHY: hierarchy_document(edition.paths), **edition.more_files()}
    for name, document in others.items():
        hashes[name] = hashlib.sha256(document).hexdigest()
    return edition.certificate(hashes, os.environ.get("SOURCE_DATE_EPOCH"))
