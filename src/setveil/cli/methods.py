"""``setveil methods``: what there is, from the registry."""

from __future__ import annotations

from typing import Any

import typer

from ..registry import ALL_METHODS, MethodRecord, method
from . import screen

EXAMPLE = "Example: setveil methods optimal"


def methods(
    key: str | None = typer.Argument(
        None, help="Show one method with its options.", metavar="[METHOD]"
    ),
    as_json: bool = typer.Option(False, "--json", help="Print as JSON."),
) -> None:
    """List the methods, or show one with its options."""
    if key is not None:
        record = method(key)
        screen.result(_page(record), _plain(record), as_json=as_json)
    elif as_json:
        screen.print_json({"methods": [_plain(record) for record in ALL_METHODS]})
    else:
        screen.table(
            "Methods",
            ("method", "title", "guarantees", "recoding", "optimal"),
            [
                (
                    record.key,
                    record.title,
                    ", ".join(record.guarantees),
                    record.recoding,
                    "proven" if record.exact else "no",
                )
                for record in ALL_METHODS
            ],
        )


def _plain(record: MethodRecord) -> dict[str, Any]:
    return {
        "method": record.key,
        "title": record.title,
        "paper": record.paper,
        "guarantees": list(record.guarantees),
        "recoding": record.recoding,
        "exact": record.exact,
        "needs_rows": record.needs_rows,
        "idempotent": record.idempotent,
        "suppresses": record.suppresses,
        "needs_hierarchy": record.needs_hierarchy,
        "options": [
            {
                "name": option.name,
                "flag": option.flag,
                "type": option.type.__name__,
                "default": option.default,
                "help": option.help,
                "allowed": list(option.allowed),
            }
            for option in record.options
        ],
    }


def _page(record: MethodRecord) -> str:
    lines = [
        f"{record.key}: {record.title}",
        f"  paper       {record.paper}",
        f"  guarantees  {', '.join(record.guarantees)}",
        f"  recoding    {record.recoding}",
        f"  optimal     {'proven' if record.exact else 'no'}",
        f"  leaves out  {'items, where that costs less' if record.suppresses else 'nothing'}",
        f"  hierarchy   {'needed' if record.needs_hierarchy else 'not needed'}",
    ]
    lines += [
        f"  {option.flag.ljust(18)} {option.help}"
        + ("" if option.default is None else f" (default: {option.default})")
        for option in record.options
    ]
    return "\n".join(lines)
