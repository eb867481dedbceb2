"""From flags to values: data, hierarchies, guarantee and weights, read and checked."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..errors import UsageError
from ..model.guarantees import (
    Coherence,
    Guarantee,
    KAnonymity,
    KmAnonymity,
    LmDiversity,
    percentage,
)
from ..registry import method
from .flags import GUARANTEE, READING, TABLE, check_stdin_once, picked, whole

if TYPE_CHECKING:
    from ..hierarchy.tree import Hierarchy
    from ..model.transactions import Transactions

MODELS = ("km", "k", "lm", "coherence")
_FITTING = {
    "km": {"k", "m", "negative"},
    "k": {"k"},
    "lm": {"l", "m", "sensitive", "sensitive_column"},
    "coherence": {"h", "k", "p", "private"},
}


def read_data(path: str, given: Mapping[str, Any], *, repeats: str = "once") -> Transactions:
    """Return the records of a file, read as the flags say; `repeats` tells what repeated items are."""
    reading = picked(given, READING)
    if "max_bytes" in reading:
        reading["max_bytes"] = whole("max_bytes", reading["max_bytes"])
    table = picked(given, TABLE)
    if not table:
        from ..io.transactions import read_transactions

        return read_transactions(path, repeats=repeats, **reading)
    if "set_columns" not in table:
        raise UsageError(
            "--keep, --keep-unprotected, --set-separator, --missing-cells, --sensitive-column and "
            "--as-is are for tables.",
            "Name the set-valued column: --set COLUMN.",
        )
    if reading.pop("layout", "table") != "table":
        raise UsageError("--set reads a table, so --layout does not fit.", "Leave --layout out.")
    from ..io.records import read_records

    for name in sorted(set(reading) - set(inspect.signature(read_records).parameters)):
        flag = next(flag for flag in READING if flag.name == name)
        raise UsageError(
            f"{flag.spelled[0].partition('/')[0]} does not fit a table.",
            "Leave it out.",
            code="option-does-not-fit",
        )
    columns: list[str] = table["set_columns"]
    separators: list[str] = table.get("set_separator") or [" "]
    if len(separators) == 1:
        separators = separators * len(columns)
    if len(separators) != len(columns):
        raise UsageError(
            f"{len(columns)} set-valued columns and {len(separators)} separators do not fit.",
            "Give one --set-separator for all, or one a column.",
        )
    records = read_records(
        path,
        set_columns=dict(zip(columns, separators, strict=True)),
        keep=_names(table.get("keep")),
        sensitive=table.get("sensitive_column"),
        repeats=repeats,
        as_is=given["as_is"],
        **reading,
        keep_unprotected=_names(table.get("keep_unprotected")),
        **({"missing_cells": table["missing_cells"]} if "missing_cells" in table else {}),
    )
    return records.as_transactions()


def _names(texts: list[str] | None) -> tuple[str, ...]:
    """Return the names in lists by commas; blanks around them are for the eye."""
    return tuple(name.strip() for text in texts or () for name in text.split(","))


def model_of(given: Mapping[str, Any], method_key: str | None) -> str:
    """Return the guarantee's model: named, or what the options and the method ask for."""
    chosen: str | None = given["model"]
    if chosen is not None:
        if chosen not in MODELS:
            raise UsageError(f"unknown guarantee {chosen[:40]!r}.", f"Known: {', '.join(MODELS)}.")
        return chosen
    if any(given.get(name) for name in ("l", "sensitive", "sensitive_column")):
        return "lm"
    if any(given.get(name) for name in ("h", "p", "private")):
        return "coherence"
    model = method(method_key).guarantees[0] if method_key is not None else "km"
    if model == "patterns":
        raise UsageError(
            f"the method {method_key!r} is for two data sets.",
            "Run it by itself: setveil anonymize before.csv --against after.csv --growth 5 -o release.",
            code="guarantee-method",
        )
    if model not in MODELS:
        raise UsageError(
            f"the method {method_key!r} is for tables with a sensitive column.",
            "Name its columns: --quasi age,sex --sensitive disease.",
            code="guarantee-method",
        )
    return model


def guarantee_of(
    given: Mapping[str, Any], method_key: str | None = None, data: Transactions | None = None
) -> Guarantee:
    """Return the guarantee that the flags describe; options that do not fit it are refused.

    Without `data` a sensitive column stands for its values, which are filled in later.
    """
    model = model_of(given, method_key)
    told = picked(given, GUARANTEE)
    told.pop("model", None)
    if given.get("sensitive_column"):
        told["sensitive_column"] = given["sensitive_column"]
    for name in sorted(set(told) - _FITTING[model]):
        flag = f"-{name}" if name in ("k", "m") else "--" + name.replace("_", "-")
        raise UsageError(
            f"{flag} does not fit the guarantee {model!r}.",
            "Leave it out, or name another --guarantee.",
            code="option-does-not-fit",
        )
    if model == "km":
        return KmAnonymity(_number(told, "k"), _number(told, "m"), bool(told.get("negative")))
    if model == "k":
        return KAnonymity(_number(told, "k"))
    if model == "coherence":
        private = frozenset(_listed(told["private"])) if told.get("private") else frozenset()
        h = percentage(told.get("h", "100" if not private else None))
        return Coherence(h, _number(told, "k"), _number(told, "p"), private)
    return LmDiversity(_number(told, "l"), _number(told, "m"), _sensitive(told, data))


def _number(told: Mapping[str, Any], name: str) -> int:
    if name not in told:
        flag = f"--{name}" if name in ("l", "p") else f"-{name}"
        example = 2 if name in ("m", "p") else 5
        remedy = f"Give for example {flag} {example}."
        if name == "m" and "l" in told:
            remedy += " Or, for a table with a secret column, --quasi COLUMNS."
        raise UsageError(f"{flag} is missing.", remedy)
    return whole(name, told[name])


def _sensitive(told: Mapping[str, Any], data: Transactions | None) -> frozenset[str]:
    labels: set[str] = set()
    listed = told.get("sensitive")
    if listed:
        labels |= set(_listed(listed))
    column = told.get("sensitive_column")
    if column:
        start = f"{column}="
        found = {label for label in data.vocabulary if label.startswith(start)} if data else {start}
        labels |= found
    if not labels:
        raise UsageError(
            "l^m-diversity needs sensitive items.", "Give --sensitive a,b or --sensitive-column NAME."
        )
    return frozenset(labels)


def _listed(texts: list[str]) -> list[str]:
    from ..io.lists import read_lines

    labels: list[str] = []
    for text in texts:
        labels += read_lines(text[1:]) if text.startswith("@") else filter(None, _names([text]))
    return labels


def read_hierarchies(
    paths: list[str], data: Transactions, given: Mapping[str, Any]
) -> Hierarchy | Mapping[str, Hierarchy] | None:
    """Return the hierarchy named, or for a table one a column.

    A file without a column's name is that of the only set-valued column.
    """
    from ..io.hierarchies import read_hierarchy

    reading: dict[str, Any] = {
        name: given[flag]
        for name, flag in (
            ("add_root", "add_root"),
            ("format", "hierarchy_format"),
            ("delimiter", "hierarchy_delimiter"),
            ("encoding", "hierarchy_encoding"),
            ("has_header", "hierarchy_header"),
        )
        if given.get(flag) is not None
    }
    private = bool(given.get("private_hierarchy"))
    columns = data.layout.item_columns if data.layout is not None else ()
    if columns:
        trees = {}
        names = {column.name for column in columns}
        sets = [column.name for column in columns if column.role == "set"]
        for text in paths:
            column, sign, path = text.partition("=")
            if not sign and len(sets) == 1:
                column, path = sets[0], text
            elif not sign or column not in names:
                raise UsageError(
                    f"--hierarchy {text!r} does not name a column of the table.",
                    f"Give COLUMN=FILE, with a column of: {', '.join(sorted(names))}.",
                )
            if column in trees:
                raise UsageError(f"two hierarchies are given for the column {column[:40]!r}.")
            trees[column] = replace(read_hierarchy(path, **reading), private=private)
        return trees
    if len(paths) > 1:
        raise UsageError("several hierarchies are for tables.", "Give one.")
    if not paths:
        return None
    found = replace(read_hierarchy(paths[0], **reading), private=private)
    if given["counts"] or given["count_column"]:
        from ..hierarchy.build import with_counts

        return with_counts(found, data.vocabulary.labels)
    return found


def hierarchy_files(paths: list[str], given: Mapping[str, Any]) -> list[str]:
    """Return the files among --hierarchy values, for the check that the output is none of them."""
    return [text.partition("=")[2] if given["set_columns"] and "=" in text else text for text in paths]


def refuse_stdin_twice(data: str, hierarchies: list[str], given: Mapping[str, Any]) -> None:
    """Raise `UsageError` where standard input is named more than once: it can be read only once."""
    lists = [
        text[1:]
        for name in ("sensitive", "private")
        for text in given.get(name) or ()
        if text.startswith("@")
    ]
    named = [data, *hierarchies, *lists, given.get("weights"), given.get("labels")]
    check_stdin_once(named)
