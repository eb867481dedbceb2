"""``setveil anonymize --quasi``: a table with a sensitive column in, audited buckets out."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..errors import UsageError
from ..registry import TABLE_METHODS
from ..registry import method as method_record
from . import screen, standing
from .flags import Flag, check_stdin_once, method_options, seconds, whole
from .microdata import COLUMNS, READ, TREES, hierarchy_files, quasi_of, read_table

if TYPE_CHECKING:
    from ..model.guarantees import BucketGuarantee
    from ..publishing import Publication
    from ..release.bucket_release import BucketRelease

BUCKETS = (
    COLUMNS[0],
    next(flag for flag in TREES if flag.name == "intervals"),
    Flag(
        "rules",
        str | None,
        "known facts that join the mined rules: lines like the table's, see `setveil mine rules`",
        panel="Tables",
        metavar="FILE",
    ),
)
_FITTING = (
    frozenset({"quasi", "sensitive", "intervals", "rules", "missing_cells", "l", "model", "method"})
    | {"time_limit", "output", "format", "force", "csv_safe", "as_json", "verbose"}
    | {flag.name for flag in (*READ, *TREES)}
    | {option.name for record in TABLE_METHODS for option in record.options}
)


def anonymize_table(data: str, given: Mapping[str, Any], flags: Sequence[Flag]) -> None:
    """Put a table into buckets, publish it and show what was done.

    Parameters
    ----------
    data
        The file.
    given
        The flags of `anonymize` by name.
    flags
        All of them: those that were given and do not fit a table are refused.
    """
    for flag in flags:
        if flag.name not in _FITTING and given[flag.name] not in (flag.default, []):
            raise UsageError(
                f"{flag.spelled[0].partition('/')[0]} does not fit a table in buckets (--quasi).",
                "Leave it out.",
                code="option-does-not-fit",
            )
    given = {**given, "sensitive": _column(given["sensitive"])}
    quasi = quasi_of(given)
    guarantee = _guarantee(given)
    options = method_options(given)
    record = method_record(given["method"] or _METHOD[guarantee.model])
    record.check_guarantee(guarantee)
    record.checked_options(options)
    limit = None if given["time_limit"] is None else seconds("time_limit", given["time_limit"])
    if given["output"] is None:
        raise UsageError("no output is named.", "Give -o FOLDER.")
    from ..io.releases import check_destination
    from ..publishing import check_environment
    from ..table_publishing import check_bucket_format

    check_environment()
    check_bucket_format(given["format"])
    named = [data, *hierarchy_files(given).values(), *filter(None, [given["rules"]])]
    check_stdin_once(named)
    inputs = [name for name in named if name != "-"]
    screen.notices(check_destination(given["output"], force=given["force"], inputs=inputs))
    table = read_table(data, given)
    with screen.notices_before_error(table.notices, verbose=given["verbose"]):
        more: dict[str, Any] = {**options}
        notices: tuple[str, ...] = ()
        if given["rules"] is not None:
            from ..io.rules import read_rules, told_of_rules

            more["rules"] = read_rules(given["rules"], quasi=quasi, sensitive=given["sensitive"])
            notices = told_of_rules(more["rules"], table)
        with screen.progress() as listener:
            from ..progress import Watch
            from ..table_job import anonymize_table as run
            from ..table_publishing import publish_table

            watch = Watch(listener=listener, time_limit=limit)
            release = run(table, guarantee, method_key=record.key, watch=watch, **more)
            publication = publish_table(
                release,
                given["output"],
                force=given["force"],
                format=given["format"],
                csv_safe=given["csv_safe"],
                placed=standing.placed,
                watch=Watch(listener=listener),
            )
    screen.notices((*notices, *publication.notices), verbose=given["verbose"])
    screen.result(
        _summary(release, publication), _plain(release, publication), as_json=given["as_json"]
    )


_METHOD = {"l": "anatomy", "matching": "injector"}


def _column(names: list[str] | None) -> str | None:
    """Return the one sensitive column; several are refused with the way round."""
    if names is not None and len(names) > 1:
        raise UsageError(
            "several sensitive columns are named.",
            "Give one; join several into one column first, one value for each combination.",
            code="several-sensitive",
        )
    return names[0] if names else None


def _guarantee(given: Mapping[str, Any]) -> BucketGuarantee:
    from ..model.guarantees import LDiversity, MatchingDiversity

    model = given["model"]
    if model is None and given["method"] is not None:
        model = method_record(given["method"]).guarantees[0]
    kinds: dict[str, type[LDiversity] | type[MatchingDiversity]] = {
        "l": LDiversity,
        "matching": MatchingDiversity,
    }
    kind = kinds.get(model or "matching")
    if kind is None:
        raise UsageError(
            f"{str(model)[:40]!r} is no promise about a table in buckets (--quasi).",
            "Known: --guarantee l or matching; --method anatomy or injector.",
            code="guarantee-method",
        )
    if given["l"] is None:
        raise UsageError("--l is missing.", "Give for example --l 5.")
    return kind(whole("l", given["l"]))


def _files(release: BucketRelease, publication: Publication) -> list[str]:
    joined = publication.layout.format == "joined"
    rules = ["rules.csv"] if release.guarantee.model == "matching" else []
    tables = ["data.csv"] if joined else ["quasi.csv", "sensitive.csv"]
    return [*tables, *rules, "hierarchy.csv", "certificate.json", "report.html"]


def _summary(release: BucketRelease, publication: Publication) -> str:
    lines = [line for line in str(release).split("\n")[1:] if not line.startswith("  note ")]
    fewest = publication.verdict.as_dict()["fewest_possible"]
    audited = f"the written bytes keep the promise; fewest possible values {fewest}"
    lines.append(f"  {'audit'.ljust(8)} {audited}")
    named = ", ".join(_files(release, publication))
    lines.append(f"  {'release'.ljust(8)} {os.fspath(publication.path)} ({named})")
    lines.append(f"  {'private'.ljust(8)} {os.fspath(publication.private)} (personal data: keep it)")
    return "\n".join(["Published", *lines])


def _plain(release: BucketRelease, publication: Publication) -> dict[str, Any]:
    return {
        "method": release.method,
        "guarantee": release.guarantee.as_dict(),
        "records": release.records,
        "buckets": release.bucketing.n_buckets,
        "rules": len(release.rules),
        "seconds": release.seconds,
        "verdict": publication.verdict.as_dict(),
        "options": dict(release.options),
        "figures": dict(release.figures),
        "notices": list(publication.notices),
        "format": publication.layout.format,
        "output": os.fspath(publication.path),
        "files": _files(release, publication),
        "private": os.fspath(publication.private),
    }
