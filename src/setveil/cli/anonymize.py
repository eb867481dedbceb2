"""``setveil anonymize``: data in, a release folder out, audited on the bytes written."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import typer

from ..errors import UsageError
from ..registry import method as method_record
from . import screen, standing
from .flags import (
    GUARANTEE,
    NOTICES,
    READING,
    TABLE,
    Flag,
    method_flags,
    method_options,
    seconds,
    taking,
    whole,
)
from .reading import (
    guarantee_of,
    hierarchy_files,
    read_data,
    read_hierarchies,
    refuse_stdin_twice,
)

if TYPE_CHECKING:
    from ..job import Prepared
    from ..model.hierarchy import Hierarchy
    from ..model.transactions import Transactions
    from ..publishing import Publication
    from ..release.release import Release

EXAMPLE = "Example: setveil anonymize baskets.csv --hierarchy products.csv -k 5 -m 2 -o release"
_LEARNED = re.compile(r"group \d+\.\d+'*")

RUN = (
    Flag(
        "method",
        str | None,
        "see `setveil methods`; the best for the guarantee if not given",
        panel="Run",
    ),
    Flag("cost", str, "what is kept small: ncp or lm", default="ncp", panel="Run"),
    Flag(
        "weights", str | None, "item,weight lines: how much items matter", panel="Run", metavar="FILE"
    ),
    Flag("time_limit", str | None, "stop after this many seconds", panel="Run", metavar="SECONDS"),
    Flag("threads", str | None, "how many threads count; all if not given", panel="Run", metavar="N"),
    Flag(
        "dry_run",
        bool,
        "show an estimate and what would be done; write nothing",
        panel="Run",
        default=False,
    ),
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
OUTPUT = (
    Flag(
        "output", str | None, "the folder to make", ("-o", "--output"), panel="Output", metavar="FOLDER"
    ),
    Flag(
        "format",
        str | None,
        "baskets, long, onehot, fimi, jsonl or parquet; for a table: table or jsonl",
        panel="Output",
    ),
    Flag(
        "csv_safe",
        bool,
        "no CSV with labels that a spreadsheet would run as formulas; JSON lines instead",
        panel="Output",
        default=False,
    ),
    Flag("force", bool, "replace a release that is there", panel="Output", default=False),
    Flag("as_json", bool, "print the result as JSON", ("--json",), panel="Output", default=False),
)


@taking(GUARANTEE, HIERARCHY, RUN, OUTPUT, READING, NOTICES, TABLE, method_flags())
def anonymize(
    data: str = typer.Argument(help="The file to anonymize; - is standard input.", metavar="DATA"),
    **given: Any,
) -> None:
    """Make a release of set-valued data that keeps a promise, and prove it on the bytes written."""
    hierarchy_paths: list[str] = given["hierarchy"] or []
    key: str | None = given["method"]
    if key is not None:
        method_record(key)
    guarantee_of(given, key)  # wrong parameters are told before a large file is read
    options = method_options(given)
    limit = None if given["time_limit"] is None else seconds("time_limit", given["time_limit"])
    threads = None if given["threads"] is None else whole("threads", given["threads"])
    if given["output"] is None and not given["dry_run"]:
        raise UsageError("no output is named.", "Give -o FOLDER, or --dry-run.")
    refuse_stdin_twice(data, hierarchy_files(hierarchy_paths, given), given)
    from ..publishing import check_environment, check_format, publish

    check_environment()
    check_format(given["format"])
    prepared = _prepared(data, hierarchy_paths, given, key, options, limit, threads)
    if given["dry_run"]:
        _tell_estimate(prepared, given)
        return
    verbose: bool = given["verbose"]
    with screen.notices_before_error(prepared.notices, verbose=verbose), screen.progress() as listener:
        from ..progress import Watch

        release = prepared.run(Watch(listener=listener, time_limit=limit))
        if listener is not None:
            listener("writing and auditing", None)
        publication = publish(
            release,
            given["output"],
            force=given["force"],
            format=given["format"],
            csv_safe=given["csv_safe"],
            placed=standing.placed,
        )
    screen.notices(told(release, publication), verbose=verbose)
    screen.result(
        summary(release, publication), as_plain(release, publication), as_json=given["as_json"]
    )


def _prepared(
    data: str,
    hierarchy_paths: list[str],
    given: Mapping[str, Any],
    key: str | None,
    options: Mapping[str, object],
    limit: float | None,
    threads: int | None,
) -> Prepared:
    """Check the destination, read everything, and bind it; nothing is computed yet."""
    from ..io.releases import check_destination

    files = [data, *hierarchy_files(hierarchy_paths, given), given["weights"], given["labels"]]
    inputs = [name for name in files if name and name != "-"]
    if given["output"] is not None:
        screen.notices(check_destination(given["output"], force=given["force"], inputs=inputs))
    transactions = read_data(data, given)
    with screen.notices_before_error(transactions.notices, verbose=given["verbose"]):
        return _bound(transactions, hierarchy_paths, given, key, options, limit, threads)


def _bound(
    transactions: Transactions,
    hierarchy_paths: list[str],
    given: Mapping[str, Any],
    key: str | None,
    options: Mapping[str, object],
    limit: float | None,
    threads: int | None,
) -> Prepared:
    from ..job import Job
    from ..publishing import check_format

    check_format(given["format"], transactions.layout)
    hierarchy = read_hierarchies(hierarchy_paths, transactions, given)
    weights = None
    if given["weights"]:
        from ..io.weights import read_weights

        weights = read_weights(given["weights"])
    job = Job(
        guarantee=guarantee_of(given, key, transactions),
        method=key,
        cost=given["cost"],
        weights=weights,
        time_limit=limit,
        threads=threads,
        unknown=given["unknown"],
        options=options,
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


def _tell_estimate(prepared: Prepared, given: Mapping[str, Any]) -> None:
    screen.notices(prepared.notices, verbose=given["verbose"])
    plain: dict[str, Any] = {"dry_run": True, **prepared.estimate(), "output": given["output"]}
    if plain["method"] == "auto":
        from ..methods.auto import choose

        suppression = bool(prepared.job.options.get("suppression", True))
        plain["would_take"] = choose(prepared.hierarchy, suppression=suppression).key
    lines = ["Dry run: nothing was computed or written."]
    lines += [f"  {name.ljust(20)} {text}" for name, text in _figures(plain)]
    screen.result("\n".join(lines), plain, as_json=given["as_json"])


def _figures(plain: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield what a dry run tells, name by name, in words."""
    for name, value in plain.items():
        if name in ("dry_run", "would_take") or value is None:
            continue
        if name == "memory_bytes":
            yield "memory", f"about {value / 2**20:,.0f} MiB"
        elif name == "method" and "would_take" in plain:
            yield name, f"{value}, which takes {plain['would_take']} here"
        else:
            yield name.replace("_", " "), f"{value:,}" if isinstance(value, int) else str(value)


def told(release: Release, publication: Publication) -> tuple[str, ...]:
    """Return the notices of a run, with a loud one where nothing of use is published."""
    useless = release.useless
    return (*publication.notices, *(() if useless is None else (useless,)))


def files(publication: Publication) -> list[str]:
    """Return the names of the files of a release."""
    from ..io.ownership import CERTIFICATE, HIERARCHY
    from ..io.write import data_file_name

    return [data_file_name(publication.layout), HIERARCHY, CERTIFICATE]


def summary(release: Release, publication: Publication) -> str:
    """Return what was kept, lost and guaranteed, and where it lies."""
    lines = [line for line in str(release).split("\n")[1:] if not line.startswith("  note ")]
    smallest = publication.verdict.smallest_support
    audited = "the written bytes keep the promise"
    if smallest is not None:
        audited += f"; smallest support {smallest:,}"
    lines.append(f"  {'audit'.ljust(8)} {audited}")
    lines.append(
        f"  {'release'.ljust(8)} {os.fspath(publication.path)} ({', '.join(files(publication))})"
    )
    lines.append(f"  {'private'.ljust(8)} {os.fspath(publication.private)} (personal data: keep it)")
    return "\n".join(["Published", *lines])


def as_plain(release: Release, publication: Publication) -> dict[str, Any]:
    """Return the result for --json; stdout is the holder's, so figures are exact here."""
    verdict = publication.verdict
    return {
        "method": release.method,
        "guarantee": release.guarantee.as_dict(),
        "records": release.records,
        "suppressed_items": release.suppressed_items,
        "suppressed_occurrences": release.suppressed,
        "dropped_records": len(release.dropped),
        "loss": {name: float(loss) for name, loss in release.losses.items()},
        "objective": None if release.objective is None else release.objective.as_dict(),
        "seconds": release.seconds,
        "complete": release.complete,
        "verdict": {
            "holds": verdict.holds,
            "mode": verdict.mode,
            "smallest_support": verdict.smallest_support,
        },
        "options": dict(release.options),
        "figures": dict(release.figures),
        "notices": list(told(release, publication)),
        "format": publication.layout.format,
        "output": os.fspath(publication.path),
        "files": files(publication),
        "private": os.fspath(publication.private),
    }
