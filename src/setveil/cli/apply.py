"""``setveil apply``: new records published under the labels of a release, together with its own.

It reads the private twin: what it tells is for the holder of the data.
"""

from __future__ import annotations

from typing import Any, ClassVar

import typer

from ..errors import UsageError
from ..refusals import refuse_folder
from ..run import Output, Shown
from ..run.fields import ALL, PAIRS, SETS, Text, declare
from ..run.reading import SetsInput
from . import screen
from .flags import check_there, with_flags

EXAMPLE = (
    "Examples: setveil apply release new.csv -o release --force    "
    "setveil apply release new.csv -o both --unseen suppress    "
    "setveil apply release new.csv -o both --hierarchy products.csv    "
    "setveil apply release new-before.csv --against new-after.csv -o both"
)


class Applying(SetsInput, Output, Shown):
    """What `apply` can be asked."""

    PANEL = "Apply"
    FITS = ALL

    LEFT_OUT: ClassVar[frozenset[str]] = frozenset({"unknown", "private_hierarchy", "save_job"})

    unseen: str = declare(
        "items that the release did not hold: error, or suppress to leave them out", default="error"
    )
    original: Text = declare(
        "the data the release was made from, in the layout of the new ones: kept with the union's "
        "private account, so that it can be measured and explained later",
        metavar="DATA",
        fits=SETS,
    )
    against: Text = declare(
        "of two data sets: the new records of the second; NEW_DATA may then be left out",
        metavar="FILE",
        fits=PAIRS,
    )
    class_column: Text = declare(
        "of two data sets that a column split: NEW_DATA is a table of both, split by this column too, "
        "which is taken where --against is not given",
        metavar="COLUMN",
        fits=PAIRS,
    )


@with_flags(Applying)
def apply(
    release: str = typer.Argument(
        help="A release folder; its private twin must lie beside it.", metavar="RELEASE"
    ),
    new_data: str | None = typer.Argument(
        None, help="The new records; - is standard input.", metavar="NEW_DATA"
    ),
    **given: Any,
) -> None:
    """Publish new records under the labels of a release, together with the records of that release.

    Every item is published as before, so both sets of records can be used as one. The union is audited
    as any release. Where a new combination breaks the promise nothing is written and the exit code is
    1: anonymize everything anew. An item below a published label, in the hierarchy given, goes under
    it.

    A release of two data sets takes new records of either or of both, where every value of a data set
    has one published form. A table in buckets takes none.

    Do not publish the old release beside the new one: their difference is the new records alone.
    """
    asked = Applying.take(given)
    screen.about_folder(release)
    refuse_folder("apply", release)
    if asked.output is None:
        raise UsageError("no output is named.", "Give -o FOLDER; -o RELEASE --force replaces it.")
    from ..extend import UNSEEN, Union, adding_to

    if asked.unseen not in UNSEEN:
        raise UsageError(
            f"--unseen {asked.unseen[:40]!r} is not known.", f"Allowed: {', '.join(UNSEEN)}."
        )
    from ..editions.sets import check_format
    from ..io.folder.staging import check_destination
    from ..publish import check_environment
    from ..run.work import Outcome, publish_as

    adding = adding_to(release, new_data, asked)
    check_environment()
    check_format(asked.format)
    check_there([release, *adding.inputs])
    screen.notices(check_destination(asked.output, force=asked.force, inputs=adding.inputs))
    notices = adding.read()
    with screen.working(notices, verbose=asked.verbose) as watch:
        union: Union = adding.join(watch)
        if union.release is not None:
            publication = publish_as(asked, union.release, watch.listener, screen.note_placed)
    if union.release is None:
        screen.notices(notices, verbose=asked.verbose)
        screen.result(
            f"{union}\nNothing was written.",
            {"published": False, **union.as_dict()},
            as_json=asked.as_json,
        )
        raise typer.Exit(1)
    outcome = Outcome(union.release, publication)
    screen.notices(outcome.notices, verbose=asked.verbose)
    plain = {"published": True, **union.as_dict(), **outcome.as_dict()}
    screen.result(str(outcome), plain, as_json=asked.as_json)
