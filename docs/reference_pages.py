"""The reference, page by page, from the registry, the command line and the docstrings."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Iterable, Iterator
from typing import Any

import typer.main

import setveil
from setveil import errors
from setveil.cli.main import app
from setveil.refusals import NAMES, REFUSALS, VERBS
from setveil.registry import ALL_METHODS, MethodRecord
from setveil.run.fields import SETS

MADE = "<!-- Made by `make docs`; do not edit. -->\n"


def cell(text: object) -> str:
    """Return text fit for a cell of a table."""
    return " ".join(str(text).split()).replace("|", "\\|")


def table(head: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    """Return a Markdown table."""
    titles = list(head)
    lines = [f"| {' | '.join(titles)} |", f"|{' --- |' * len(titles)}"]
    lines += [f"| {' | '.join(cell(value) for value in row)} |" for row in rows]
    return "\n".join(lines) + "\n"


def methods_page() -> str:
    """Return the table of methods and their options."""
    head = ("method", "title", "guarantees", "recoding", "loss", "asks for")
    rows = [
        (
            f"[{record.key}](../methods/{record.key}.md)",
            record.title,
            ", ".join(f"`{model}`" for model in record.guarantees),
            record.recoding,
            "proven least" if record.exact else "heuristic",
            "records" if record.needs_rows else "counts only",
        )
        for record in ALL_METHODS
    ]
    defaults = [
        (f"`{model}`", f"`{record.key}`") for record in ALL_METHODS for model in record.default_for
    ]
    options = "\n".join(_options(record) for record in ALL_METHODS)
    return (
        f"{MADE}\n# Methods\n\n{table(head, rows)}\n"
        "`km` is k^m-anonymity, `km-negative` the same with negative knowledge, `k` is k-anonymity of "
        "whole\nrecords, `lm` is l^m-diversity; `l` and `matching` are for tables in buckets, "
        "`patterns` is for two\ndata sets. Without `--method` these are taken:\n\n"
        f"{table(('guarantee', 'method'), defaults)}\n{options}"
    )


def _options(record: MethodRecord) -> str:
    text = f"## {record.key}\n\n{record.title}. Source: {record.paper}.\n\n"
    if not record.options:
        return text + "It has no options of its own.\n"
    rows = [
        (
            f"`{option.name}`",
            f"`{option.flag}`",
            "none" if option.default is None else f"`{option.default}`",
            option.help + (f"; one of {', '.join(option.allowed)}" if option.allowed else ""),
        )
        for option in record.options
    ]
    return text + table(("in Python", "on the command line", "default", "meaning"), rows)


JSON = """`--json` prints one object to stdout, whatever the verb and however it ends. It begins with
`verb` and `kind`; then comes what the verb has to tell, or what is wrong. A result has no `error`."""


def _envelope() -> Iterator[tuple[str, str, str]]:
    """Yield what every JSON object of the command line begins with."""
    kinds = ", ".join(f'"{kind}"' for kind in (SETS, *NAMES))
    yield "`verb`", "first", 'the command, such as "audit" or "mine rules"; null where there is no such'
    yield "`kind`", "second", f"the kind of release or data: {kinds}; null where none is told"
    yield "`error`", "errors, third", "the exception, as in [exit codes](exit-codes.md)"
    yield "`exit_code`", "errors, fourth", "the code that the command ends with"
    known = "`remedy`, `file`, `line`, `column` where they are known"
    yield "`problems`", "errors, last", f"all that is wrong, each with `code` and `what`, and {known}"


def commands_page() -> str:
    """Return every command with its arguments and options."""
    root: Any = typer.main.get_command(app)
    parts = [f"{MADE}\n# Commands\n\n{root.help}\n"]
    parts.append(
        "Results go to stdout, progress and notices to stderr. The ways a command can end are listed "
        "in [exit\ncodes](exit-codes.md).\n"
    )
    parts.append(f"## JSON\n\n{JSON}\n{table(('key', 'where', 'value'), _envelope())}")
    parts += [_command(name, command) for name, command in _commands("setveil", root)]
    rows = [
        (f"`setveil {one.what}`", NAMES[one.kind], f"{one.reason} {one.remedy}")
        for one in REFUSALS
        if one.what in VERBS
    ]
    parts.append("## What is not there\n")
    parts.append(table(("command", "does not take", "because"), rows))
    return "\n".join(parts)


def _commands(name: str, command: Any) -> Iterator[tuple[str, Any]]:
    below = getattr(command, "commands", None)
    if below is None:
        yield name, command
        return
    for key, child in below.items():
        yield from _commands(f"{name} {key}", child)


def _command(name: str, command: Any) -> str:
    arguments = [param for param in command.params if param.param_type_name == "argument"]
    options = [param for param in command.params if param.param_type_name == "option"]
    words = " ".join(param.metavar or param.name.upper() for param in arguments)
    text = f"## {name}\n\n{inspect.cleandoc(command.help)}\n\n```text\n{name} {words}".rstrip()
    text += " [OPTIONS]\n```\n\n"
    if command.epilog:
        examples = command.epilog.split(":", 1)[1]
        lines = [line.strip() for line in examples.split("    ") if line.strip()]
        text += "```text\n" + "\n".join(lines) + "\n```\n\n"
    rows = [(f"`{param.metavar or param.name.upper()}`", _sentence(param.help)) for param in arguments]
    rows += [(_spelled(param), _sentence(param.help) + _default(param)) for param in options]
    return text + table(("option", "meaning"), rows)


def _spelled(param: Any) -> str:
    return ", ".join(f"`{name}`" for name in (*param.opts, *param.secondary_opts))


def _sentence(text: str | None) -> str:
    return (text or "").strip().rstrip(".")


def _default(param: Any) -> str:
    shown = isinstance(param.default, str | int) and not isinstance(param.default, bool)
    return f" (default `{param.default}`)" if shown else ""


FIRST = (
    *("anonymize", "publish", "audit", "measure", "risk", "compare", "sweep", "explain", "apply"),
    *("read_release", "report"),
)
"""What the reference of Python begins with; the other functions follow by name."""
BUILDERS = ("balanced", "from_paths", "from_prefixes", "from_intervals", "flat", "learned")


def functions() -> dict[str, Any]:
    """Return the public functions by the name they are shown with."""
    names = sorted(setveil.__all__, key=lambda name: (name not in FIRST, name))
    found = {f"setveil.{name}": public(name) for name in (*FIRST, *names)}
    found = {name: one for name, one in found.items() if inspect.isfunction(one)}
    home = importlib.import_module("setveil.hierarchy.build")
    found |= {f"setveil.hierarchy.build.{name}": getattr(home, name) for name in BUILDERS}
    home = importlib.import_module("setveil.report.tree_picture")
    return found | {"setveil.report.tree_picture.draw_tree": home.draw_tree}


def classes() -> dict[str, Any]:
    """Return the public classes by their name."""
    found = {f"setveil.{name}": public(name) for name in setveil.__all__}
    return {name: one for name, one in found.items() if inspect.isclass(one)}


def public(name: str) -> Any:
    """Return what a public name stands for: of a module that can be called the function."""
    found = getattr(setveil, name)
    return found.__wrapped__ if inspect.ismodule(found) else found


def python_page() -> str:
    """Return the public functions and classes with their docstrings."""
    parts = [f"{MADE}\n# Python\n\nFunctions for the verbs, frozen dataclasses for the nouns.\n"]
    parts.append("## Functions\n")
    for name, function in functions().items():
        short = name.rpartition(".")[2]
        parts.append(f"### {name}\n\n```text\n{_signature(short, function)}\n```\n")
        parts.append(f"```text\n{inspect.cleandoc(function.__doc__)}\n```\n")
    parts.append("## Classes\n")
    for name, kind in classes().items():
        parts.append(f"### {name}\n\n```text\n{inspect.cleandoc(kind.__doc__)}\n```\n")
        members = list(_members(kind))
        if members:
            parts.append(table(("member", "meaning"), members))
    return "\n".join(parts)


def _signature(name: str, function: Any) -> str:
    """Return names and defaults, one a line where they are many; types are in the code."""
    words: list[str] = []
    starred = False
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind is parameter.KEYWORD_ONLY and not starred:
            words.append("*")
            starred = True
        word = f"**{parameter.name}" if parameter.kind is parameter.VAR_KEYWORD else parameter.name
        if parameter.default is not parameter.empty:
            word += f"={parameter.default!r}"
        words.append(word)
    line = f"{name}({', '.join(words)})"
    if len(line) <= 90:
        return line
    return f"{name}(\n    " + ",\n    ".join(words) + ",\n)"


def _members(kind: Any) -> Iterator[tuple[str, str]]:
    ours = [base for base in kind.__mro__ if base.__module__.startswith("setveil.")]
    found = {name: member for base in reversed(ours) for name, member in vars(base).items()}
    own = [*vars(kind), *(name for name in found if name not in vars(kind))]
    for name, member in ((name, found[name]) for name in own):
        if name.startswith("_"):
            continue
        plain = getattr(member, "__func__", getattr(member, "fget", getattr(member, "func", member)))
        text = getattr(plain, "__doc__", None)
        if text is None or not callable(plain):
            continue
        called = (
            not isinstance(member, property)
            and hasattr(member, "__get__")
            and not hasattr(member, "func")
        )
        yield f"`{name}{'()' if called else ''}`", inspect.cleandoc(text).split("\n\n")[0]


def exit_codes_page() -> str:
    """Return the exit codes, from the exceptions that carry them."""
    rows: list[tuple[object, str, str]] = [
        (0, "", "done; for `audit`: the promise holds"),
        (1, "", "`audit` only: the promise does not hold"),
    ]
    rows += [
        (kind.exit_code, f"`{kind.__name__}`", inspect.cleandoc(kind.__doc__ or ""))
        for kind in _error_kinds(errors.SetveilError)
    ]
    rows += [
        (129, "", "the terminal has gone"),
        (130, "", "interrupted (Ctrl-C)"),
        (141, "", "whoever read the output has gone"),
        (143, "", "terminated by the system"),
    ]
    ranked = sorted(rows, key=lambda row: int(str(row[0])))
    return (
        f"{MADE}\n# Exit codes\n\n{table(('code', 'exception', 'meaning'), ranked)}\n"
        "A message reads `error[code] file:line: what is wrong. What to do.` All faults of a file are "
        "told at once,\nthe first twenty of a kind. The last line says what is on the disk: "
        "`Nothing was written.`, or that\nthe release is in place and only the result could not be "
        "printed. With `--json` the same\nstands on stdout as an [object](commands.md#json) with "
        "`error`, `exit_code` and `problems`.\n"
    )


def _error_kinds(kind: type[Any]) -> Iterator[type[Any]]:
    for below in kind.__subclasses__():
        if below.__module__ == errors.__name__:
            yield below
            yield from _error_kinds(below)


PAGES = {
    "methods": methods_page,
    "commands": commands_page,
    "python": python_page,
    "exit-codes": exit_codes_page,
}
