"""``setveil anonymize --quasi``: a table with a sensitive column in, audited buckets out."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..errors import UsageError
from ..registry import TABLE_METHODS, MethodRecord
from ..registry import method as method_record
from . import screen, standing
from .flags import Flag, check_stdin_once, method_options, seconds, whole
from .microdata import COLUMNS, READ, TREES, hierarchy_files, mining_options, quasi_of, read_table
from .mine_rules import PRIVATE, deliver_rules

if TYPE_CHECKING:
    from ..model.guarantees import BucketGuarantee
    from ..model.rules import NegativeRule
    from ..publish import Publication
    from ..release.bucket_release import BucketRelease
    from ..table_job import Reckoning

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
    Flag(
        "rules_only",
        bool,
        "mine the rules and show them; with -o FILE.csv write them there; no buckets are made",
        panel="Tables",
        default=False,
    ),
)
_FITTING = (
    frozenset({"quasi", "sensitive", "intervals", "rules", "missing_cells", "l", "model", "method"})
    | {"dry_run", "rules_only", "time_limit", "output", "format", "force", "publish_useless"}
    | {"csv_safe", "no_report", "as_json", "verbose"}
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
    options: dict[str, Any] = method_options(given)
    record = method_record(given["method"] or _METHOD[guarantee.model])
    record.check_guarantee(guarantee)
    checked = record.checked_options(options)
    if guarantee.model == "matching":
        mining_options(given)
    elif given["rules_only"]:
        raise UsageError(
            f"--rules-only does not fit: {guarantee} reckons with no rules.",
            "Leave it out, or ask for matching diversity (--method injector).",
            code="option-does-not-fit",
        )
    limit = None if given["time_limit"] is None else seconds("time_limit", given["time_limit"])
    preview = given["dry_run"] or given["rules_only"]
    if given["output"] is None and not preview:
        raise UsageError("no output is named.", "Give -o FOLDER, or --dry-run.")
    from ..editions.buckets import check_bucket_format
    from ..publish import check_environment

    check_environment()
    check_bucket_format(given["format"])
    named = [data, *hierarchy_files(given).values(), *filter(None, [given["rules"]])]
    check_stdin_once(named)
    inputs = [name for name in named if name != "-"]
    _check_output(given, inputs)
    table = read_table(data, given)
    with screen.notices_before_error(table.notices, verbose=given["verbose"]):
        facts: tuple[NegativeRule, ...] = ()
        notices: tuple[str, ...] = ()
        if given["rules"] is not None:
            from ..io.rules import read_rules, told_of_rules

            facts = read_rules(given["rules"], quasi=quasi, sensitive=given["sensitive"])
            notices = told_of_rules(facts, table)
        with screen.progress() as listener:
            from ..progress import Watch
            from ..publish import publish
            from ..table_job import anonymize_table as run
            from ..table_job import reckon

            watch = Watch(listener=listener, time_limit=limit)
            if preview:
                start = reckon(table, guarantee, rules=facts, options=checked, watch=watch)
        if preview:
            screen.notices((*table.notices, *notices, *start.notices()), verbose=given["verbose"])
            if given["rules_only"] and start.mined is not None:
                deliver_rules(start.mined, given, facts=start.facts)
            else:
                _show_preview(start, guarantee, record, checked, given)
            return
        with screen.progress() as listener:
            watch = Watch(listener=listener, time_limit=limit)
            release = run(table, guarantee, method_key=record.key, rules=facts, watch=watch, **options)
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
    screen.notices((*notices, *publication.notices), verbose=given["verbose"])
    screen.result(
        _summary(release, publication), _plain(release, publication), as_json=given["as_json"]
    )


def _check_output(given: Mapping[str, Any], inputs: Sequence[str]) -> None:
    """Refuse a destination that cannot be written, where something is to be written."""
    if given["output"] is None:
        return
    if given["rules_only"]:
        from ..io.files import check_new_file

        check_new_file(given["output"], force=given["force"], inputs=list(inputs))
        return
    from ..io.folder.staging import check_destination

    screen.notices(check_destination(given["output"], force=given["force"], inputs=list(inputs)))


def _show_preview(
    start: Reckoning,
    guarantee: BucketGuarantee,
    record: MethodRecord,
    options: Mapping[str, object],
    given: Mapping[str, Any],
) -> None:
    """Show what a run would do; `Infeasible` where it would end so."""
    from ..table_job import check_possible

    check_possible(start, guarantee)
    n_records = len(start.data)
    plain: dict[str, Any] = {
        "dry_run": True,
        "method": record.key,
        "guarantee": guarantee.as_dict(),
        "options": dict(options),
        "records": n_records,
        "left_out": len(start.left_out or ()),
        "buckets_at_most": n_records // guarantee.l,
        "rules": len(start.rules),
        "output": given["output"],
    }
    if given["as_json"]:
        if start.mined is not None:
            plain |= {"personal_data": PRIVATE, "mined": start.mined.as_dict()}
        screen.print_json(plain)
        return
    screen.echo("Dry run: nothing was written.")
    for name in ("method", "records", "left_out", "buckets_at_most", "rules"):
        shown = f"{plain[name]:,}" if isinstance(plain[name], int) else plain[name]
        screen.echo(f"  {name.replace('_', ' ').ljust(16)} {shown}")
    if start.mined is not None:
        deliver_rules(start.mined, {**given, "output": None}, facts=start.facts)


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
    if given["l"] is None and given["rules_only"] and not given["suppress_infeasible"]:
        return kind(2)  # the rules are the same for every l
    if given["l"] is None:
        raise UsageError("--l is missing.", "Give for example --l 5.")
    return kind(whole("l", given["l"]))


def _files(release: BucketRelease, publication: Publication) -> list[str]:
    joined = publication.layout.format == "joined"
    rules = ["rules.csv"] if release.guarantee.model == "matching" else []
    tables = ["data.csv"] if joined else ["quasi.csv", "sensitive.csv"]
    return [*tables, *rules, "hierarchy.csv", "certificate.json", "report.html"]


def _summary(release: BucketRelease, publication: Publication) -> str:
    lines = screen.lines_of(release, publication.time)
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
        "left_out": len(release.left_out or ()),
        "seconds": release.seconds,
        "seconds_by_stage": dict(publication.seconds),
        "verdict": publication.verdict.as_dict(),
        "options": dict(release.options),
        "figures": dict(release.figures),
        "notices": list(publication.notices),
        "format": publication.layout.format,
        "output": os.fspath(publication.path),
        "files": _files(release, publication),
        "private": os.fspath(publication.private),
    }
