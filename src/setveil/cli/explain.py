"""``setveil explain``: why is this label published so? Told from the original records. Private."""

from __future__ import annotations

from typing import Any

import typer

from ..errors import UsageError
from . import screen
from .flags import NOTICES, READING, TABLE, Flag, taking, whole
from .measure_pair import refuse_pair
from .reading import read_data, refuse_stdin_twice

EXAMPLE = (
    "Examples: setveil explain release ale --original baskets.csv    "
    "setveil explain release ale wine beer --original baskets.csv --top 10"
)
TOP = 5

OWN = (
    Flag(
        "original",
        str | None,
        "the data the release was made from, read with the same options as then; - is standard input",
        panel="Explain",
        metavar="DATA",
    ),
    Flag(
        "top",
        str | None,
        f"how many combinations to show of a kind, and groups of a local recoding; {TOP} if not given",
        panel="Explain",
        metavar="N",
    ),
    Flag("as_json", bool, "print the answer as JSON", ("--json",), panel="Explain", default=False),
)


@taking(OWN, READING, NOTICES, TABLE)
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
    top = TOP if given["top"] is None else whole("top", given["top"])
    if not top:
        raise UsageError("top must be 1 or more.", f"Give for example {TOP}.")
    refuse_pair(release, "explain")
    if given["original"] is None:
        raise UsageError(
            "the original records are needed.", "Give them: --original DATA.", code="no-original"
        )
    refuse_stdin_twice(given["original"], [], given)
    transactions = read_data(given["original"], given)
    with screen.notices_before_error(transactions.notices, verbose=given["verbose"]):
        from ..explain import PERSONAL, explain_all
        from ..progress import Watch
        from ..reopen.sets import read_set_release

        with screen.progress() as listener:
            watch = Watch(listener=listener)
            opened = read_set_release(release, transactions, watch=watch)
            found = explain_all(opened, list(dict.fromkeys(label)), top=top, watch=watch)
    screen.notices(transactions.notices, verbose=given["verbose"])
    screen.result(
        "\n\n".join([*map(str, found), PERSONAL]),
        {"personal_data": PERSONAL, "explanations": [answer.as_dict() for answer in found]},
        as_json=given["as_json"],
    )
