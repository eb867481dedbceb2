"""Why is this label published as it is, and what would it take to keep it?

`explain` looks at a release together with the original records: it publishes the label finer, all else
unchanged, and tells which combinations would then break the promise. Global recodings are explained in
`cuts`, local ones in `groups`; `account` holds the answer. The answer is personal data.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..arguments import checked
from ..errors import UsageError
from .account import PERSONAL, Explanation, GivingWay, Group, Level, Pattern, Patterns, Share

if TYPE_CHECKING:
    from ..progress import Watch
    from ..release.release import Release

__all__ = [
    "PERSONAL",
    "Explanation",
    "GivingWay",
    "Group",
    "Level",
    "Pattern",
    "Patterns",
    "Share",
    "explain",
    "explain_all",
]


@checked("release")
def explain(
    release: Release,
    label: str,
    *,
    original: Any = None,
    top: int = 5,
    watch: Watch | None = None,
) -> Explanation:
    """Return why a label is published as it is, and what it would take to publish it as itself.

    Parameters
    ----------
    release
        What `setveil.anonymize` or `setveil.read_release` returned.
    label
        An item or a category; ``column=value`` for a table, or the value alone where one column has it.
    original
        The data the release was made from, where the release does not hold them.
    top
        How many combinations to show of a kind, and how many groups of a local recoding.
    watch
        Progress listener and cancel switch.

    >>> import setveil as sv
    >>> baskets = sv.Transactions.from_rows([["ale", "milk"], ["wine", "milk"], ["milk"]])
    >>> drinks = sv.Hierarchy.from_parents({"ale": "alcohol", "wine": "alcohol", "alcohol": "drink",
    ...                                     "milk": "drink", "drink": None})
    >>> release = sv.anonymize(baskets, sv.KmAnonymity(k=2, m=2), hierarchy=drinks)
    >>> print(explain(release, "ale"))  # doctest: +NORMALIZE_WHITESPACE
    'ale', in 1 record, is published as 'alcohol'.
      as 'ale' (1 record): 1 combination would fit fewer than 2 records
        ale: 1 record
        'wine' would be published too, instead of 'alcohol': 1 combination would fit fewer than
        2 records
          wine: 1 record
      as itself, with 'wine' beside it and all else unchanged, the release would keep not even k=2 with
      m=2, not even m=1 with k=2.
      forced: it is in 1 record, too few by itself, whatever else gives way.
    """
    return explain_all(release, [label], original=original, top=top, watch=watch)[0]


def explain_all(
    release: Release,
    labels: Sequence[str],
    *,
    original: Any = None,
    top: int = 5,
    watch: Watch | None = None,
) -> tuple[Explanation, ...]:
    """Return an explanation of each label; the records are indexed once. Parameters as in `explain`."""
    from ..api import original_rows
    from ..engines.local import LocalEngine
    from ..progress import Watch
    from ..refusals import refuse_release
    from .cuts import explain_cut
    from .groups import explain_groups

    refuse_release(release)
    watch = watch or Watch()
    if isinstance(top, bool) or not isinstance(top, int) or top < 1:
        raise UsageError("top must be a whole number, 1 or more.", "Give for example 5.")
    nodes = [_node_of(release, label) for label in labels]
    rows = original_rows(release, original)
    if not release.recoding.is_global:
        return tuple(explain_groups(release, rows, node, top=top, watch=watch) for node in nodes)
    engine = LocalEngine(release.hierarchy, rows)
    return tuple(explain_cut(release, engine, node, top=top, watch=watch) for node in nodes)


def _node_of(release: Release, label: str) -> int:
    """Return the node of a label; of a table also where the column is left out and only one fits."""
    nodes = release.hierarchy.node_of_label
    if label in nodes:
        return nodes[label]
    columns = release.layout.item_columns if release.layout is not None else ()
    fitting = [f"{column.name}={label}" for column in columns if f"{column.name}={label}" in nodes]
    if len(fitting) == 1:
        return nodes[fitting[0]]
    if fitting:
        raise UsageError(
            f"{label[:40]!r} is a value of several columns.",
            "Give it as column=value.",
            code="which-column",
        )
    raise UsageError(
        f"{label[:40]!r} is neither an item of the original data nor a category above one.",
        "Spell it as in the data; values of a table are column=value.",
        code="unknown-label",
    )
