"""A release read back from its folder and its private twin: what `anonymize` returned, once more.

The public folder holds what is published; the private one tells how it was made. Together they are a
release. What they say is compared wherever one part follows from another, so that a damaged, mixed or
forged folder is refused and not measured or explained. `account` reads what releases of all shapes
begin with, `sets`, `pairs` and `buckets` what is their own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..arguments import checked
from ..errors import UsageError
from ..io.folder.ownership import holds_pair
from ..progress import Watch
from .account import StrPath

if TYPE_CHECKING:
    from ..release.pair_release import PairRelease
    from ..release.release import Release


@checked()
def read_release(
    path: StrPath, original: Any = None, *, watch: Watch | None = None
) -> Release | PairRelease:
    """Return the release in a folder, with all that its private twin knows.

    Parameters
    ----------
    path
        The public folder; ``<path>.private`` must lie beside it.
    original
        The data the release was made from, read with the same options as then; in any order. Of two
        data sets the private twin holds them: leave it out.
    watch
        Progress listener and cancel switch.

    Raises
    ------
    FileSystemError
        If a folder or a file is not there or cannot be read.
    DataError
        If what is there is damaged, or the two folders do not belong together.
    UsageError
        If `original` is not what the release was made from.
    """
    if not holds_pair(path):
        from .sets import read_set_release

        return read_set_release(path, original, watch=watch)
    if original is not None:
        raise UsageError(
            "the private folder holds the originals of two data sets.", "Leave the original out."
        )
    from .pairs import read_pair_release

    return read_pair_release(path, watch=watch)
