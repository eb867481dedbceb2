"""``setveil apply``: the recoding of a release applied to new records, and their union published."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import typer

from ..errors import UsageError
from ..run import Output, Shown
from ..run.fields import Text, declare
from ..run.reading import SetsInput, input_files
from . import screen
from .flags import check_there, with_flags

if TYPE_CHECKING:
    from ..extend import Extension
    from ..model.transactions import Transactions
    from ..release.release import Release

EXAMPLE = (
    "Examples: setveil apply release new.csv -o release --force    "
    "setveil apply release new.csv -o both --unseen suppress    "
    "setveil apply release new.csv -o both --hierarchy products.csv"
)


class Asked(SetsInput, Output, Shown):
    """What `apply` can be asked."""

    PANEL = "Apply"

    LEFT_OUT: ClassVar[frozenset[str]] = frozenset({"unknown", "private_hierarchy", "save_job"})

    unseen: str = declare(
        "items that the release did not hold: error, or suppress to leave them out", default="error"
    )
    original: Text = declare(
        "the data the release was made from, in the layout of the new ones: kept with the union's "
        "private account, so that it can be measured and explained later",
        metavar="DATA",
    )


@with_flags(Asked)
def apply(
    release: str = typer.Argument(
        help="A release folder; its private twin must lie beside it.", metavar="RELEASE"
    ),
    new_data: str = typer.Argument(help="The new records; - is standard input.", metavar="NEW_DATA"),
    **given: Any,
) -> None:
    """Publish new records under the labels of a release, together with the records of that release.

    Every item is published as before, so both sets of records can be used as one. The union is audited
    as any release. Where a new combination is too rare nothing is written and the exit code is 1:
    anonymize everything anew. An item below a published label, in the hierarchy given, goes under it.

    Do not publish the old release beside the new one: their difference is the new records alone.
    """
    asked = Asked.take(given)
    from ..refusals import refuse_folder

    refuse_folder("apply", release)
    if asked.output is None:
        raise UsageError("no output is named.", "Give -o FOLDER; -o RELEASE --force replaces it.")
    from ..extend import UNSEEN

    if asked.unseen not in UNSEEN:
        raise UsageError(
            f"--unseen {asked.unseen[:40]!r} is not known.", f"Allowed: {', '.join(UNSEEN)}."
        )
    inputs = input_files(asked, new_data, asked.original)
    from ..editions.sets import check_format
    from ..io.folder.staging import check_destination
    from ..publish import check_environment
    from ..run.work import Outcome, publish_as

    check_environment()
    check_format(asked.format)
    check_there([release, *inputs])
    screen.notices(check_destination(asked.output, force=asked.force, inputs=inputs))
    new = asked.read_sets(new_data)
    with screen.notices_before_error(new.notices, verbose=asked.verbose), screen.progress() as listener:
        from ..progress import Watch

        opened, extension = _join(release, new, asked, Watch(listener=listener))
        if extension.release is not None:
            check_format(asked.format, opened.layout)
            publication = publish_as(asked, extension.release, listener, screen.note_placed)
    if extension.release is None:
        screen.notices(new.notices, verbose=asked.verbose)
        screen.result(
            f"{extension}\nNothing was written.",
            {"published": False, **extension.as_dict()},
            as_json=asked.as_json,
        )
        raise typer.Exit(1)
    outcome = Outcome(extension.release, publication)
    screen.notices(outcome.notices, verbose=asked.verbose)
    plain = {"published": True, **extension.as_dict(), **outcome.as_dict()}
    screen.result(str(outcome), plain, as_json=asked.as_json)


def _join(release: str, new: Transactions, asked: Asked, watch: Any) -> tuple[Release, Extension]:
    """Open the release and join the new records to it."""
    from ..extend import apply as join
    from ..reopen import read_set_release

    original = None if asked.original is None else asked.read_sets(asked.original)
    opened = read_set_release(release, original, watch=watch)
    hierarchy = asked.read_trees(new) if asked.hierarchy else None
    return opened, join(opened, new, hierarchy=hierarchy, unseen=asked.unseen, watch=watch)
