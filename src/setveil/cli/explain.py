"""``setveil explain``: why is this label published so? Told from the original records. Private."""

from __future__ import annotations

from typing import Any

import typer

from ..errors import UsageError
from ..refusals import refuse_folder
from ..run import Shown
from ..run.fields import Text, declare
from ..run.reading import Reading, input_files
from . import screen
from .flags import as_json, with_flags

EXAMPLE = (
    "Examples: setveil explain release ale --original baskets.csv    "
    "setveil explain release ale wine beer --original baskets.csv --top 10"
)
TOP = 5
ORIGINAL = "the data the release was made from, read with the same options as then; - is standard input"


def check_top(top: int | None, usual: int) -> int:
    """Return how many to show; 0 is refused."""
    if top == 0:
        raise UsageError("top must be 1 or more.", f"Give for example {usual}.")
    return usual if top is None else top


def check_original(original: str | None) -> str:
    """Return the file of the original; `UsageError` where none is named."""
    if original is None:
        raise UsageError(
            "the original records are needed.", "Give them: --original DATA.", code="no-original"
        )
    return original


class Asked(Reading, Shown):
    """What `explain` can be asked."""

    PANEL = "Explain"

    original: Text = declare(ORIGINAL, metavar="DATA")
    top: int | None = declare(
        f"how many combinations to show of a kind, and groups of a local recoding; {TOP} if not given",
        metavar="N",
    )
    as_json: bool = as_json("the answer", "Explain")


@with_flags(Asked)
def explain(
    release: str = typer.Argument(
        help="A release folder; its private twin must lie beside it.", metavar="RELEASE"
    ),
    label: list[str] = typer.Argument(
        help="Items or categories; column=value for a table.", metavar="LABEL"
    ),
    **given: Any,
) -> None:
    """Tell why items are published as they are, and what it would take to keep them.

    The label is published finer, all else unchanged, and the combinations are shown that would then
    break the promise; then how far the promise had to be weakened, and which others had to give way.
    The answer is personal data: rare combinations point at persons.
    """
    asked = Asked.take(given)
    top = check_top(asked.top, TOP)
    refuse_folder("explain", release)
    original = check_original(asked.original)
    input_files(asked, original)
    transactions = asked.read_sets(original)
    with screen.notices_before_error(transactions.notices, verbose=asked.verbose):
        from ..explain import PERSONAL, explain_all
        from ..progress import Watch
        from ..reopen import read_set_release

        with screen.progress() as listener:
            watch = Watch(listener=listener)
            opened = read_set_release(release, transactions, watch=watch)
            found = explain_all(opened, list(dict.fromkeys(label)), top=top, watch=watch)
    screen.notices(transactions.notices, verbose=asked.verbose)
    screen.result(
        "\n\n".join([*map(str, found), PERSONAL]),
        {"personal_data": PERSONAL, "explanations": [answer.as_dict() for answer in found]},
        as_json=asked.as_json,
    )
