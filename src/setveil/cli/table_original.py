"""The original of a table in buckets: read again, and compared with what the release was made from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..errors import UsageError
from .flags import picked, whole
from .microdata import READ

if TYPE_CHECKING:
    from ..release.bucket_release import BucketRelease

FITTING = frozenset({"original", "missing_cells"} | {flag.name for flag in READ})
"""The flags by which the original is read."""


def confirm_original(release: BucketRelease, given: Mapping[str, Any]) -> tuple[str, ...]:
    """Raise `UsageError` unless --original holds the rows of a release; return the reader's notices.

    The private twin tells whose value is whose, so the original adds nothing to it; naming it makes
    sure that the figures are about these data. The order of the rows does not matter.

    Parameters
    ----------
    release
        The release with the values of its rows, and the rows that were left out.
    given
        The flags, --original and those of reading among them.
    """
    from ..io.microdata import read_microdata

    data = release.data
    reading = picked(given, READ)
    if "max_bytes" in reading:
        reading["max_bytes"] = whole("max_bytes", reading["max_bytes"])
    if given.get("missing_cells") is not None:
        reading["missing_cells"] = given["missing_cells"]
    original = read_microdata(
        given["original"],
        quasi=tuple(attribute.name for attribute in data.quasi),
        sensitive=data.sensitive,
        **reading,
    )
    if Counter(original.rows()) != Counter((*data.rows(), *(release.left_out or ()))):
        raise UsageError(
            "these are not the data the release was made from.",
            "Give the same file, read with the same options.",
            code="other-data",
        )
    return original.notices
