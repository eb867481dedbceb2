"""Flags made from fields: what a verb can be asked, and how it gets it.

A verb takes ``**given`` and is decorated with `with_flags`; typer then sees an option for each field.
What was typed in becomes the group by `Fields.take`.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import typer

from ..errors import FileSystemError, Problem, UsageError
from ..run.fields import ALL, Field, Fields, fields_of, switch
from . import screen

_KINDS: Mapping[str, Any] = {
    "str": str,
    "float": str,
    "int": str,
    "bool": bool,
    "bool | None": bool | None,
    "Texts": list[str] | None,
}


def as_json(what: str, panel: str = "Output") -> Any:
    """Return the field for results as JSON."""
    return switch(f"print {what} as JSON", "--json", panel=panel, fits=ALL, in_job=False)


def parameter_of(field: Field) -> inspect.Parameter:
    """Return the parameter that typer reads."""
    option = typer.Option(
        None if field.is_list else field.default,
        *field.spelled,
        help=field.help,
        rich_help_panel=field.panel,
        metavar=field.metavar,
    )
    kind = _KINDS.get(field.type, str | None)
    return inspect.Parameter(
        field.name, inspect.Parameter.KEYWORD_ONLY, default=option, annotation=kind
    )


def with_flags(group: type[Fields]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Give a verb, whose last parameter is ``**given``, the fields of a group as flags."""

    def decorate(verb: Callable[..., Any]) -> Callable[..., Any]:
        signature = inspect.signature(verb, eval_str=True)
        own = [one for one in signature.parameters.values() if one.kind is not one.VAR_KEYWORD]
        added = [parameter_of(field) for field in fields_of(group)]
        verb.__signature__ = signature.replace(parameters=[*own, *added])  # type: ignore[attr-defined]
        verb.__annotations__ = {one.name: one.annotation for one in [*own, *added]}
        return verb

    return decorate


def check_there(paths: Sequence[str]) -> None:
    """Refuse files and folders that are not there; all of them are told at once."""
    missing = [
        Problem(
            "missing", "there is no such folder or file.", "Check the name.", screen.printable(path)
        )
        for path in paths
        if not os.path.lexists(path)
    ]
    if missing:
        raise FileSystemError(missing)


def check_outputs(
    asked: Any, inputs: Sequence[str], *names: str, force_is_for: str | None = None
) -> None:
    """Refuse files that cannot be written, before anything is read; no input is replaced.

    `names` are those of the fields; `force_is_for` says that --force is for nothing else.
    """
    from ..io.folder.staging import check_new_file

    named = {name: getattr(asked, name) for name in names if getattr(asked, name) is not None}
    if force_is_for is not None and asked.force and not named:
        raise UsageError(f"--force is for {force_is_for}.", "Leave it out.")
    for name, path in named.items():
        if list(named.values()).count(path) > 1:
            raise UsageError(
                "two outputs have the same name.", "Choose another one.", code="same-output"
            )
        check_new_file(path, force=asked.force, inputs=inputs)
        if name in ("figure", "curves") and not path.lower().endswith(".svg"):
            raise UsageError(
                f"pictures are SVG (got {screen.printable(path)[-40:]!r}).",
                "Give a name that ends in .svg.",
                code="not-svg",
            )


def write_output(path: str | None, text: str, *, force: bool) -> None:
    """Write a file where one is named; it is the holder's, so no one else may read it."""
    if path is None:
        return
    from ..io.folder.staging import write_text_file

    write_text_file(path, text, mode=0o600, force=force)
    screen.written(path)
