"""Tables with a sensitive column, from flags: which columns count, their hierarchies, the tuples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..errors import UsageError
from ..model.guarantees import MatchingDiversity, whole_number
from ..registry import MINING_OPTIONS, default_method
from .flags import AS_IS, READING, TABLE_PANEL, Flag, method_options, picked, whole
from .inputs import HIERARCHY

if TYPE_CHECKING:
    from ..hierarchy.tree import Hierarchy
    from ..model.microdata import Microdata

COLUMNS = (
    Flag(
        "quasi",
        list[str] | None,
        "columns by which people may be recognised, by commas; may be repeated",
        panel=TABLE_PANEL,
        metavar="COLUMNS",
    ),
    Flag(
        "sensitive",
        str | None,
        "the column that nobody shall learn; one value a person",
        panel=TABLE_PANEL,
        metavar="COLUMN",
    ),
)
CELLS = (
    Flag(
        "missing_cells",
        str | None,
        "error, suppress-row or category for cells without a value",
        panel=TABLE_PANEL,
    ),
)
_READ = ("delimiter", "encoding", "id_column", "missing", "normalize", "strict", "max_bytes")
READ = (*(flag for flag in READING if flag.name in _READ), AS_IS)
TREES = (
    Flag(
        "hierarchy",
        list[str] | None,
        "the hierarchy of a quasi-identifying column; may be repeated",
        panel="Hierarchy",
        metavar="COLUMN=FILE",
    ),
    Flag(
        "intervals",
        list[str] | None,
        "intervals for a column of numbers, such as age=0,20,40; repeat it for coarser ones",
        panel="Hierarchy",
        metavar="COLUMN=EDGES",
    ),
    *(
        flag
        for flag in HIERARCHY
        if flag.name not in ("hierarchy", "unknown", "private_hierarchy", "learn_hierarchy")
    ),
)
_OF_FILES = {
    "add_root": "add_root",
    "hierarchy_format": "format",
    "hierarchy_delimiter": "delimiter",
    "hierarchy_encoding": "encoding",
    "hierarchy_header": "has_header",
}


def quasi_of(given: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the quasi-identifying columns; `UsageError` where none or no sensitive one is named."""
    names = [name.strip() for text in given["quasi"] or () for name in text.split(",")]
    if not names or not all(names):
        raise UsageError(
            "no quasi-identifying column is named." if not names else "a column has no name.",
            "Name the columns by which people may be recognised: --quasi age,sex.",
        )
    if not given["sensitive"]:
        raise UsageError(
            "no sensitive column is named.", "Name the one to protect: --sensitive disease."
        )
    return tuple(names)


def hierarchy_files(given: Mapping[str, Any]) -> dict[str, str]:
    """Return the file of each column that has a hierarchy."""
    files: dict[str, str] = {}
    for column, path in _pairs("--hierarchy", given["hierarchy"] or (), quasi_of(given), "FILE"):
        if column in files:
            raise UsageError(f"two hierarchies are given for the column {column[:40]!r}.", "Give one.")
        files[column] = path
    if not files:
        for flag in TREES:
            if flag.name in _OF_FILES and given[flag.name] != flag.default:
                raise UsageError(
                    f"{flag.spelled[0].partition('/')[0]} goes with --hierarchy.", "Give one."
                )
    return files


def read_table(path: str, given: Mapping[str, Any]) -> Microdata:
    """Return the tuples of a file, read as the flags say."""
    from ..io.microdata import read_microdata

    quasi = quasi_of(given)
    intervals: dict[str, list[list[str]]] = {}
    for column, edges in _pairs("--intervals", given["intervals"] or (), quasi, "EDGES"):
        intervals.setdefault(column, []).append(edges.split(","))
    reading = picked(given, READ)
    if "max_bytes" in reading:
        reading["max_bytes"] = whole("max_bytes", reading["max_bytes"])
    if given["missing_cells"] is not None:
        reading["missing_cells"] = given["missing_cells"]
    return read_microdata(
        path,
        quasi=quasi,
        sensitive=given["sensitive"],
        hierarchies=_hierarchies(given),
        intervals=intervals,
        **reading,
    )


def mining_options(given: Mapping[str, Any]) -> dict[str, object]:
    """Return how rules are to be mined, as far as that was said; checked before anything is read."""
    from ..mining.rule_evidence import exact_share

    for option in MINING_OPTIONS:
        text = given[option.name]
        if text is not None and option.type is float:
            exact_share(option.flag[2:], text, below_one=option.name == "min_exp")
        elif text is not None and option.type is int:
            whole_number(option.flag[2:], whole(option.flag[2:], text), least=1)
    chosen = method_options(given, MINING_OPTIONS)
    return {**default_method(MatchingDiversity(2)).checked_options(chosen)}


def _hierarchies(given: Mapping[str, Any]) -> dict[str, Hierarchy]:
    from ..io.hierarchies import read_hierarchy

    reading = {name: given[flag] for flag, name in _OF_FILES.items() if given.get(flag) is not None}
    return {column: read_hierarchy(path, **reading) for column, path in hierarchy_files(given).items()}


def _pairs(flag: str, texts: Sequence[str], quasi: Sequence[str], what: str) -> list[tuple[str, str]]:
    """Return column and text of each ``COLUMN=TEXT``; a column's name may itself hold ``=``."""
    found = []
    for text in texts:
        fitting = [name for name in quasi if text.startswith(f"{name}=") and len(text) > len(name) + 1]
        if not fitting:
            raise UsageError(
                f"{flag} {text[:60]!r} does not name a quasi-identifying column.",
                f"Give COLUMN={what}, with a column of: {', '.join(name[:40] for name in quasi)}.",
            )
        column = max(fitting, key=len)
        found.append((column, text[len(column) + 1 :]))
    return found
