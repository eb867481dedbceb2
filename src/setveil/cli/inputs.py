"""What a run works on, from flags: hierarchy, weights, limits, and the job bound to its records.

`anonymize`, `compare`, `sweep` and the jobs of `run` take their input the same way, by the flags and
functions here. `Settings` are the flags that can be understood without opening a file, so that a slip
is told before a large file is read.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ..errors import FileSystemError, Problem, UsageError
from ..registry import method as method_record
from . import screen
from .flags import Flag, method_options, seconds, whole
from .reading import guarantee_of, hierarchy_files, read_hierarchies, refuse_stdin_twice

if TYPE_CHECKING:
    from fractions import Fraction

    from ..hierarchy.tree import Hierarchy
    from ..job import Prepared
    from ..model.transactions import Transactions

PICTURES = ("figure", "curves")
"""Flags that name a picture to write."""
_LEARNED = re.compile(r"group \d+\.\d+'*")

METHOD = Flag(
    "method", str | None, "see `setveil methods`; the best for the guarantee if not given", panel="Run"
)
COST = (
    Flag("cost", str, "what is kept small: ncp or lm", default="ncp", panel="Run"),
    Flag(
        "weights", str | None, "item,weight lines: how much items matter", panel="Run", metavar="FILE"
    ),
    Flag(
        "domain",
        str,
        "which items the loss counts: used (those that occur) or hierarchy (all of it)",
        default="used",
        panel="Run",
    ),
)
TIME_LIMIT = Flag(
    "time_limit", str | None, "stop after this many seconds", panel="Run", metavar="SECONDS"
)
THREADS = Flag(
    "threads", str | None, "how many threads count; all if not given", panel="Run", metavar="N"
)
HIERARCHY = (
    Flag(
        "hierarchy",
        list[str] | None,
        "what generalizes what; COLUMN=FILE for tables, may be repeated",
        panel="Hierarchy",
        metavar="[COLUMN=]FILE",
    ),
    Flag(
        "unknown", str, "items not in it: error or attach-to-root", default="error", panel="Hierarchy"
    ),
    Flag(
        "add_root", str | None, "put this label above several roots", panel="Hierarchy", metavar="LABEL"
    ),
    Flag("hierarchy_format", str | None, "paths, parents, json or amnesia", panel="Hierarchy"),
    Flag(
        "private_hierarchy",
        bool,
        "it was learned from these data: publish its labels and root, nothing between",
        panel="Hierarchy",
        default=False,
    ),
    Flag("hierarchy_delimiter", str | None, "what separates its cells", panel="Hierarchy"),
    Flag("hierarchy_encoding", str | None, "utf-8 if not given", panel="Hierarchy"),
    Flag(
        "hierarchy_header",
        bool | None,
        "whether its first line holds names",
        ("--hierarchy-header/--no-hierarchy-header",),
        panel="Hierarchy",
    ),
)


@dataclass(frozen=True)
class Settings:
    """Method, its options and the limits, checked as far as no file is needed for it."""

    method: str | None
    options: Mapping[str, object]
    time_limit: float | None
    threads: int | None


def settings_of(given: Mapping[str, Any]) -> Settings:
    """Return what the flags say; wrong parameters are told before a large file is read."""
    key: str | None = given["method"]
    if key is not None:
        method_record(key)
    guarantee_of(given, key)
    return Settings(
        key,
        method_options(given),
        None if given["time_limit"] is None else seconds("time_limit", given["time_limit"]),
        None if given["threads"] is None else whole("threads", given["threads"]),
    )


def input_files(data: str, given: Mapping[str, Any]) -> list[str]:
    """Return the files that the flags name, standard input aside; it may be named once."""
    hierarchies = hierarchy_files(given["hierarchy"] or [], given)
    refuse_stdin_twice(data, hierarchies, given)
    files = [data, *hierarchies, given["weights"], given["labels"]]
    return [name for name in files if name and name != "-"]


def check_inputs(paths: Sequence[str]) -> None:
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


def check_outputs(data: str, given: Mapping[str, Any], names: Sequence[str]) -> None:
    """Refuse files that cannot be written, named by these flags, before anything is read."""
    inputs = input_files(data, given)
    if given["as_csv"] and given["as_json"]:
        raise UsageError("--csv and --json do not go together.", "Keep one.")
    from ..io.files import check_new_file

    named = {name: given[name] for name in names if given[name] is not None}
    for name, path in named.items():
        if list(named.values()).count(path) > 1:
            raise UsageError(
                "two outputs have the same name.", "Choose another one.", code="same-output"
            )
        if name == "save_job" and data == "-":
            raise UsageError("a job names the file it reads, and - is none.", "Leave --save-job out.")
        check_new_file(path, force=given["force"], inputs=inputs)
        if name in PICTURES:
            check_picture(path)


def check_picture(path: str) -> None:
    """Refuse a name that promises another format than the one that pictures have."""
    if not path.lower().endswith(".svg"):
        raise UsageError(
            f"pictures are SVG (got {screen.printable(path)[-40:]!r}).",
            "Give a name that ends in .svg.",
            code="not-svg",
        )


def write_outputs(given: Mapping[str, Any], text_by_flag: Mapping[str, str]) -> None:
    """Write the files that these flags name; they are the holder's, so no one else may read them."""
    from ..io.files import write_text_file

    for name, text in text_by_flag.items():
        write_text_file(given[name], text, mode=0o600, force=given["force"])
        screen.written(given[name])


def weights_of(given: Mapping[str, Any]) -> Mapping[str, Fraction] | None:
    """Return the weights of the file named, if one is."""
    if not given["weights"]:
        return None
    from ..io.lists import read_weights

    return read_weights(given["weights"])


def bound(transactions: Transactions, given: Mapping[str, Any], settings: Settings) -> Prepared:
    """Return the job of the flags, bound to the records; nothing is computed yet."""
    from ..job import Job

    hierarchy = read_hierarchies(given["hierarchy"] or [], transactions, given)
    job = Job(
        guarantee=guarantee_of(given, settings.method, transactions),
        method=settings.method,
        cost=given["cost"],
        weights=weights_of(given),
        time_limit=settings.time_limit,
        threads=settings.threads,
        unknown=given["unknown"],
        options=settings.options,
        domain=given["domain"],
    )
    prepared = job.prepare(transactions, hierarchy)
    if hierarchy is None or given["private_hierarchy"] or not _looks_learned(hierarchy):
        return prepared
    notice = (
        "the hierarchy looks learned, and what is learned from the data tells something about them: "
        "--private-hierarchy publishes its labels and root, nothing between."
    )
    return replace(prepared, notices=(*prepared.notices, notice))


def _looks_learned(hierarchy: Hierarchy | Mapping[str, Hierarchy]) -> bool:
    """Tell whether categories are named as `setveil hierarchy learn` names them."""
    trees = hierarchy.values() if isinstance(hierarchy, Mapping) else (hierarchy,)
    return any(_LEARNED.fullmatch(label) for tree in trees for label in tree.labels[tree.n_leaves :])
