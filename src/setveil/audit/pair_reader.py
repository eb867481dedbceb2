"""Reads the folder of two data sets as a stranger would: known files only, not a byte unexplained.

Both files are of one format. Rows stand in canonical order, tables by their cells, so that no order
carries a message. The hierarchy has a path for every published label, and nothing besides.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..model.guarantees import HiddenPatterns, pair_guarantee_from_dict
from .certificate import (
    DELIMITED,
    NAMES_OF_FORMAT,
    named_guarantee,
    need,
    need_delimiter,
    need_hash,
    need_keys,
    need_names,
)
from .formats import read_data
from .hierarchy import NAME as HIERARCHY
from .hierarchy import PublishedHierarchy, check_against, read_hierarchy
from .published import Published, shortened
from .spelling import decode, label_fault, parse_csv, refuse


@dataclass(frozen=True, eq=False)
class ReadPair:
    """A folder whose every byte has been checked; only the counting is left."""

    sides: tuple[Published, Published]
    guarantee: HiddenPatterns
    hierarchy: PublishedHierarchy
    labels: frozenset[str]
    """Everything that the report may name: labels, values, categories, columns, classes."""
    certificate: Mapping[str, Any]


def is_of_pair(certificate: Mapping[str, Any]) -> bool:
    """Tell whether a certificate is that of two data sets."""
    return certificate.get("recoding") == "pair"


def check_pair_certificate(certificate: Mapping[str, Any]) -> HiddenPatterns:
    """Return the guarantee of a certificate whose common parts were checked; raise `DataError`."""
    guarantee = named_guarantee(certificate["guarantee"], pair_guarantee_from_dict)
    data = certificate["data"]
    form = data.get("format")
    need(isinstance(form, str) and form in NAMES_OF_FORMAT, "data.format is unknown")
    table = form == "table"
    keys = {"format", "parts"} | ({"delimiter"} if form in DELIMITED else set())
    keys |= {"columns"} if table else set()
    need_keys(data, frozenset(keys), "data", frozenset({"classes"} if table else ()))
    if form in DELIMITED:
        need_delimiter(data["delimiter"])
    if table:
        need(data["delimiter"] == ",", "data.delimiter must be a comma")
        need_names(data["columns"], "data.columns")
    if "classes" in data:
        _check_classes(data["classes"], data["columns"])
    _check_parts(data["parts"], NAMES_OF_FORMAT[form])
    need(certificate["verdict"]["mode"] == "exact", "verdict.mode must be exact")
    need(certificate["loss"] == {}, "loss must be empty: it depends on the originals")
    for key in ("rules", "suppressed"):
        need(key not in certificate, f"{key} has no place in a release of two data sets")
    return guarantee


def _check_parts(parts: Any, usual: str) -> None:
    need(isinstance(parts, list) and len(parts) == 2, "data.parts must be two")
    for number, part in enumerate(parts, 1):
        need_keys(part, frozenset({"file", "sha256", "records"}), f"data.parts {number}")
        need_hash(part["sha256"])
        count = part["records"]
        need(isinstance(count, int) and not isinstance(count, bool), "data.parts: records is no number")
    plain = tuple(usual.replace(".", f"-{number}.", 1) for number in (1, 2))
    packed = tuple(f"{name}.gz" for name in plain if not name.endswith(".parquet"))
    need(
        tuple(part["file"] for part in parts) in (plain, packed),
        f"data.parts must be {plain[0]} and {plain[1]}, packed or not, but alike",
    )


def _check_classes(classes: Any, columns: Sequence[str]) -> None:
    """The column that split a table in two is none of the published ones."""
    need_keys(classes, frozenset({"column", "values"}), "data.classes")
    need_names(classes["values"], "data.classes.values")
    need(len(classes["values"]) == 2, "data.classes.values must be two")
    need_names([classes["column"]], "data.classes.column")
    need(classes["column"] not in columns, "data.classes.column is published")
    named = (classes["column"], *classes["values"])
    need(not any(map(label_fault, named)), "data.classes names what no file can hold")


def pair_files(certificate: Mapping[str, Any]) -> dict[str, str]:
    """Return the files that the certificate names beside its report, with their hashes."""
    parts = [*certificate["data"]["parts"], certificate["hierarchy"]]
    return {part["file"]: part["sha256"] for part in parts}


def read_pair(
    certificate: Mapping[str, Any], guarantee: HiddenPatterns, content_of: Callable[[str], bytes]
) -> ReadPair:
    """Return the rows of both data sets and the hierarchy; `DataError` where a file is not in order.

    Parameters
    ----------
    certificate
        The certificate, checked.
    guarantee
        What it promises.
    content_of
        Gives the bytes of a file, unpacked; its hash has been checked.
    """
    data = certificate["data"]
    columns: Sequence[str] = data.get("columns", ())
    column_of_label: dict[str, str] = {}
    sides = []
    for part in data["parts"]:
        content, file = content_of(part["file"]), part["file"]
        read = (
            _read_table(content, columns, file, column_of_label)
            if columns
            else read_data(content, data, file)
        )
        need(read.records == part["records"], f"data.parts: the number of records of {file} is wrong")
        sides.append(read)
    hierarchy = read_hierarchy(content_of(HIERARCHY))
    published = tuple(sorted({*sides[0].labels, *sides[1].labels}))
    check_against(hierarchy, published, local=True, forest=bool(columns))
    _check_roots(hierarchy, column_of_label)
    labels = set(hierarchy.labels) | set(columns)
    for label, column in column_of_label.items():
        labels |= {step.removeprefix(f"{column}=") for step in hierarchy.path_of_label[label]}
    if "classes" in data:
        labels |= {data["classes"]["column"], *data["classes"]["values"]}
    return ReadPair((sides[0], sides[1]), guarantee, hierarchy, frozenset(labels), certificate)


def _read_table(
    content: bytes, columns: Sequence[str], file: str, column_of_label: dict[str, str]
) -> Published:
    """Return the rows of a table, a cell as ``column=value``, and note the column of each label."""
    cells, numbers = parse_csv(decode(content, file), ",", file)
    if not cells or cells[0] != list(columns):
        raise refuse("the header does not name the columns.", file, 1, code="header")
    if len(cells) == 1:
        raise refuse("the file holds no records.", file, code="no-records")
    rows: list[list[str]] = []
    previous: list[str] = []
    for row, number in zip(cells[1:], numbers[1:], strict=True):
        if len(row) != len(columns):
            what = f"{len(row)} cells where {len(columns)} belong."
            raise refuse(what, file, number, code="ragged-row")
        if row < previous:
            raise refuse("the rows are not in canonical order.", file, number, code="row-order")
        previous = row
        labels = []
        for column, cell in zip(columns, row, strict=True):
            # An empty cell is a value that the record does not have.
            if cell:
                label = f"{column}={cell}"
                if column_of_label.setdefault(label, column) != column:
                    what = f"{shortened(label)} comes from two columns."
                    raise refuse(what, file, number, code="repeated-label")
                labels.append(label)
        rows.append(labels)
    return Published.from_rows(rows)


def _check_roots(hierarchy: PublishedHierarchy, column_of_label: Mapping[str, str]) -> None:
    """Refuse more than one root: of a column, or of all labels where there are no columns."""
    root_of_column: dict[str, str] = {}
    for label, path in hierarchy.path_of_label.items():
        column = column_of_label.get(label, "")
        if not all(step.startswith(f"{column}=" if column else "") for step in path):
            what = f"the path of {shortened(label)} leaves its column."
            raise refuse(what, HIERARCHY, code="published-hierarchy")
        if root_of_column.setdefault(column, path[-1]) != path[-1]:
            where = f"of the column {shortened(column)}" if column else "of the hierarchy"
            raise refuse(f"there are several roots {where}.", HIERARCHY, code="published-hierarchy")
