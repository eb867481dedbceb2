"""``setveil apply``: the recoding of a release applied to new records, and their union published."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import typer

from ..errors import UsageError
from . import screen, standing
from .anonymize import OUTPUT, as_plain, summary, told
from .flags import NOTICES, READING, TABLE, Flag, taking
from .inputs import HIERARCHY, check_inputs
from .measure_pair import refuse_pair
from .reading import hierarchy_files, read_data, read_hierarchies, refuse_stdin_twice

if TYPE_CHECKING:
    from ..extend import Extension
    from ..model.transactions import Transactions
    from ..release.release import Release

EXAMPLE = (
    "Examples: setveil apply release new.csv -o release --force    "
    "setveil apply release new.csv -o both --unseen suppress    "
    "setveil apply release new.csv -o both --hierarchy products.csv"
)

OWN = (
    Flag(
        "unseen",
        str,
        "items that the release did not hold: error, or suppress to leave them out",
        default="error",
        panel="Apply",
    ),
    Flag(
        "original",
        str | None,
        "the data the release was made from, in the layout of the new ones: kept with the union's "
        "private account, so that it can be measured and explained later",
        panel="Apply",
        metavar="DATA",
    ),
)
TREES = tuple(flag for flag in HIERARCHY if flag.name not in ("unknown", "private_hierarchy"))
WRITTEN = tuple(flag for flag in OUTPUT if flag.name != "save_job")


@taking(OWN, TREES, WRITTEN, READING, NOTICES, TABLE)
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
    refuse_pair(release, "apply")
    if given["output"] is None:
        raise UsageError("no output is named.", "Give -o FOLDER; -o RELEASE --force replaces it.")
    from ..extend import UNSEEN

    if given["unseen"] not in UNSEEN:
        raise UsageError(
            f"--unseen {given['unseen'][:40]!r} is not known.", f"Allowed: {', '.join(UNSEEN)}."
        )
    trees = hierarchy_files(given["hierarchy"] or [], given)
    refuse_stdin_twice(new_data, [*trees, *([given["original"]] if given["original"] else [])], given)
    from ..editions.sets import check_format
    from ..io.folder.staging import check_destination
    from ..publish import check_environment, publish

    check_environment()
    check_format(given["format"])
    named = [new_data, *trees, given["original"], given["labels"]]
    inputs = [name for name in named if name and name != "-"]
    check_inputs([release, *inputs])
    screen.notices(check_destination(given["output"], force=given["force"], inputs=inputs))
    new = read_data(new_data, given)
    with (
        screen.notices_before_error(new.notices, verbose=given["verbose"]),
        screen.progress() as listener,
    ):
        from ..progress import Watch

        opened, extension = _joined(release, new, given, Watch(listener=listener))
        if extension.release is None:
            publication = None
        else:
            check_format(given["format"], opened.layout)
            publication = publish(
                extension.release,
                given["output"],
                force=given["force"],
                format=given["format"],
                csv_safe=given["csv_safe"],
                allow_useless=given["publish_useless"],
                private_report=not given["no_report"],
                placed=standing.placed,
                watch=Watch(listener=listener),
            )
    if extension.release is None or publication is None:
        screen.notices(new.notices, verbose=given["verbose"])
        screen.result(
            f"{extension}\nNothing was written.",
            {"published": False, **extension.as_dict()},
            as_json=given["as_json"],
        )
        raise typer.Exit(1)
    screen.notices(told(extension.release, publication), verbose=given["verbose"])
    screen.result(
        summary(extension.release, publication),
        {"published": True, **extension.as_dict(), **as_plain(extension.release, publication)},
        as_json=given["as_json"],
    )


def _joined(
    release: str, new: Transactions, given: Mapping[str, Any], watch: Any
) -> tuple[Release, Extension]:
    """Open the release and join the new records to it."""
    from ..extend import apply as join
    from ..reopen.sets import read_set_release

    original = None if given["original"] is None else read_data(given["original"], given)
    opened = read_set_release(release, original, watch=watch)
    trees = given["hierarchy"] or []
    hierarchy = read_hierarchies(trees, new, given) if trees else None
    return opened, join(opened, new, hierarchy=hierarchy, unseen=given["unseen"], watch=watch)
