"""``setveil anonymize --against`` or ``--class-column``: two data sets in, no patterns out."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..errors import UsageError
from ..registry import PAIR_METHODS
from ..registry import method as method_record
from . import screen, standing
from .flags import GUARANTEE_PANEL, READING, Flag, check_stdin_once, method_options, seconds, whole
from .inputs import HIERARCHY
from .pattern_inputs import (
    DATA_SETS,
    check_data_sets,
    is_table,
    read_data_sets,
    told_of_columns,
    told_of_sharing,
)

if TYPE_CHECKING:
    from ..hierarchy.tree import Hierarchy
    from ..model.guarantees import HiddenPatterns
    from ..publish import Publication
    from ..release.pair_release import PairRelease

PROMISE = (
    Flag(
        "growth",
        str | None,
        "of two data sets: no pattern is this many times as frequent in one as in the other, above 1",
        panel=GUARANTEE_PANEL,
        metavar="RATE",
    ),
    Flag(
        "min_support",
        str | None,
        "records that hold a pattern at least, where it is more frequent: a share such as 1/3 or 10%, "
        "which is taken if not given, or a count",
        panel=GUARANTEE_PANEL,
        metavar="SUPPORT",
    ),
    Flag(
        "every_level",
        bool,
        "a published value counts for every category above it too: a stronger promise",
        panel=GUARANTEE_PANEL,
        default=False,
    ),
)
PAIR = (*PROMISE, *(flag for flag in DATA_SETS if flag.name not in ("missing_cells", "as_is")))
"""The flags that only two data sets take."""
_OF_TREES = {
    "add_root": "add_root",
    "hierarchy_format": "format",
    "hierarchy_delimiter": "delimiter",
    "hierarchy_encoding": "encoding",
    "hierarchy_header": "has_header",
}
_FITTING = (
    frozenset(
        {"missing_cells", "as_is", "hierarchy", "model", "method", "time_limit", "threads", "output"}
    )
    | {"format", "force", "publish_useless", "csv_safe", "no_report", "as_json", "verbose"}
    | _OF_TREES.keys()
    | {flag.name for flag in (*PAIR, *READING)}
    | {option.name for record in PAIR_METHODS for option in record.options}
)
_WHY = {
    "save_job": "Leave it out: a job file tells of one data set.",
    "dry_run": "Leave it out; -o writes nothing before the audit has said yes.",
    "private_hierarchy": "Give a hierarchy that was made without the data: it is published.",
}


def is_about_two(given: Mapping[str, Any]) -> bool:
    """Tell whether the flags ask for two data sets."""
    named = given["method"] in {record.key for record in PAIR_METHODS} or given["model"] == "patterns"
    return named or any(given[name] is not None for name in ("against", "class_column", "growth"))


def refuse_alone(given: Mapping[str, Any]) -> None:
    """Raise `UsageError` for a flag of two data sets where there is one."""
    for flag in PAIR:
        if given[flag.name] not in (flag.default, []):
            raise UsageError(
                f"{flag.spelled[0]} is for two data sets.",
                "Give the second (--against FILE) or the column that splits one table "
                "(--class-column COLUMN), and --growth.",
                code="option-does-not-fit",
            )


def anonymize_pair(data: str, given: Mapping[str, Any], flags: Sequence[Flag]) -> None:
    """Hide the patterns of two data sets, publish them and show what was done.

    Parameters
    ----------
    data
        The first file, or the table that holds both data sets.
    given
        The flags of `anonymize` by name.
    flags
        All of them: those that were given and do not fit two data sets are refused.
    """
    for flag in flags:
        if flag.name not in _FITTING and given[flag.name] not in (flag.default, []):
            raise UsageError(
                f"{flag.spelled[0].partition('/')[0]} does not fit two data sets.",
                _WHY.get(flag.name, "Leave it out."),
                code="option-does-not-fit",
            )
    guarantee = _guarantee(given)
    options = method_options(given)
    record = method_record(given["method"] or PAIR_METHODS[0].key)
    record.check_guarantee(guarantee)
    record.checked_options(options)
    limit = None if given["time_limit"] is None else seconds("time_limit", given["time_limit"])
    threads = None if given["threads"] is None else whole("threads", given["threads"])
    if given["output"] is None:
        raise UsageError("no output is named.", "Give -o FOLDER.")
    from ..editions.pairs import check_pair_format
    from ..io.folder.staging import check_destination
    from ..pair_job import check_threads
    from ..publish import check_environment

    check_threads(threads)
    check_environment()
    check_pair_format(given["format"], table=is_table(given))
    trees = _hierarchy_files(given)
    named = [*check_data_sets(data, given), *trees.values()]
    check_stdin_once(named)
    inputs = [name for name in named if name != "-"]
    screen.notices(check_destination(given["output"], force=given["force"], inputs=inputs))
    read = read_data_sets(data, given)
    with screen.notices_before_error(read.notices, verbose=given["verbose"]):
        from ..io.pairs import bind_pair

        _check_columns(trees, read.columns)
        pair = bind_pair(read, _hierarchies(trees, read.columns, given))
        with screen.progress("move_scores") as listener:
            from ..pair_job import hide_patterns
            from ..progress import Watch
            from ..publish import publish

            release = hide_patterns(
                pair,
                guarantee,
                method_key=record.key,
                watch=Watch(listener=listener, time_limit=limit),
                threads=threads,
                **options,
            )
            publication = publish(
                release,
                given["output"],
                force=given["force"],
                format=given["format"],
                csv_safe=given["csv_safe"],
                allow_useless=given["publish_useless"],
                private_report=not given["no_report"],
                placed=standing.placed,
                watch=Watch(listener=listener),
            )
    told = [*told_of_columns(read, given), *told_of_sharing(read), *publication.notices]
    screen.notices(told, verbose=given["verbose"])
    screen.result(
        _summary(release, publication), _plain(release, publication), as_json=given["as_json"]
    )


def _guarantee(given: Mapping[str, Any]) -> HiddenPatterns:
    from ..model.guarantees import HiddenPatterns, exact_growth

    if given["model"] not in (None, "patterns"):
        raise UsageError(
            f"{given['model'][:40]!r} is no promise about two data sets.",
            "Leave --guarantee out, or give patterns.",
            code="guarantee-method",
        )
    if given["growth"] is None:
        raise UsageError("--growth is missing.", "Give for example --growth 5: five times as frequent.")
    growth = exact_growth(given["growth"])
    support = {} if given["min_support"] is None else {"min_support": given["min_support"]}
    return HiddenPatterns(growth, every_level=given["every_level"], **support)


def _hierarchy_files(given: Mapping[str, Any]) -> dict[str, str]:
    """Return the file of each column that has a hierarchy; of sets that of the column ''."""
    texts: list[str] = given["hierarchy"] or []
    files: dict[str, str] = {}
    for text in texts:
        column, sign, path = text.partition("=") if is_table(given) else ("", "=", text)
        if not sign or not path:
            raise UsageError(
                f"--hierarchy {text[:60]!r} does not name a column.",
                "Give COLUMN=FILE.",
                code="hierarchy",
            )
        if column in files:
            what = f"for the column {column[:40]!r}" if column else "for one data set of items"
            raise UsageError(f"two hierarchies are given {what}.", "Give one.", code="hierarchy")
        files[column] = path
    if not files:
        for flag in HIERARCHY:
            if flag.name in _OF_TREES and given[flag.name] != flag.default:
                raise UsageError(
                    f"{flag.spelled[0].partition('/')[0]} goes with --hierarchy.", "Give one."
                )
    return files


def _check_columns(files: Mapping[str, str], columns: Sequence[str]) -> None:
    """Refuse a hierarchy for a column that the tables do not have."""
    for name in files if columns else ():
        if name not in columns:
            raise UsageError(
                f"there is no column {name[:40]!r} for a hierarchy.",
                f"Columns: {', '.join(other[:40] for other in columns)}.",
                code="unknown-column",
            )


def _hierarchies(
    files: Mapping[str, str], columns: Sequence[str], given: Mapping[str, Any]
) -> Hierarchy | Mapping[str, Hierarchy] | None:
    from ..io.hierarchies import read_hierarchy

    reading = {name: given[flag] for flag, name in _OF_TREES.items() if given.get(flag) is not None}
    trees = {column: read_hierarchy(path, **reading) for column, path in files.items()}
    return trees if columns else trees.get("")


def _files(publication: Publication) -> list[str]:
    from ..io.formats import pair_file_names

    names = pair_file_names(publication.layout)
    return [*names, "hierarchy.csv", "certificate.json", "report.html"]


def _summary(release: PairRelease, publication: Publication) -> str:
    lines = screen.lines_of(release, publication.time)
    verdict: Any = publication.verdict
    audited = "the written bytes keep the promise"
    if verdict.patterns_every_level and not release.guarantee.every_level:
        audited += f"; read at every level they hold {verdict.patterns_every_level:,} patterns"
    lines.append(f"  {'audit'.ljust(8)} {audited}")
    if publication.scores is not None and (rarer := publication.scores.rarer) is not None:
        lines.append(f"  {'rarer'.ljust(8)} {rarer.told}")
    named = ", ".join(_files(publication))
    lines.append(f"  {'release'.ljust(8)} {os.fspath(publication.path)} ({named})")
    lines.append(f"  {'private'.ljust(8)} {os.fspath(publication.private)} (personal data: keep it)")
    return "\n".join(["Published", *lines])


def _plain(release: PairRelease, publication: Publication) -> dict[str, Any]:
    rarer = None if publication.scores is None else publication.scores.rarer
    return {
        "method": release.method,
        "guarantee": release.guarantee.as_dict(),
        "records": list(release.records),
        "values": release.values,
        "raised": release.raised,
        "seconds": release.seconds,
        "seconds_by_stage": dict(publication.seconds),
        "complete": release.complete,
        "verdict": publication.verdict.as_dict(),
        "options": dict(release.options),
        "figures": dict(release.figures),
        "half_support": None if rarer is None else rarer.as_dict(),
        "notices": list(publication.notices),
        "format": publication.layout.format,
        "output": os.fspath(publication.path),
        "files": _files(publication),
        "private": os.fspath(publication.private),
    }
