"""``setveil sweep``: what each strength of the promise costs; a point of the grid becomes a job."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import typer

from ..errors import Infeasible, UsageError
from ..registry import method as method_record
from . import screen
from .flags import (
    NOTICES,
    READING,
    TABLE,
    Flag,
    listed,
    method_flags,
    method_options,
    seconds,
    taking,
    whole,
)
from .inputs import COST, HIERARCHY, THREADS, check_outputs, weights_of, write_outputs
from .reading import read_data, read_hierarchies

if TYPE_CHECKING:
    from ..report.frontier import Sweep, SweepPoint

EXAMPLE = (
    "Example: setveil sweep baskets.csv --hierarchy products.csv -k 2,5,10,25 -m 1,2,3 --figure map.svg"
)
MOST_POINTS = 400

OWN = (
    Flag(
        "k",
        str,
        "records that fit at least: several, by commas",
        ("-k", "--k"),
        ...,
        "Sweep",
        "K,K,...",
    ),
    Flag("m", str, "items known at most: several, by commas", ("-m", "--m"), ..., "Sweep", "M,M,..."),
    Flag(
        "method",
        str | None,
        "optimal if not given, or trim without a hierarchy; see `setveil methods`",
        panel="Sweep",
    ),
    Flag(
        "time_limit",
        str,
        "how many seconds each point may take",
        default="60",
        panel="Sweep",
        metavar="SECONDS",
    ),
    THREADS,
    Flag(
        "choose",
        str | None,
        "the point to take: marked, and saved as a job",
        panel="Sweep",
        metavar="K,M",
    ),
)
OUTPUT = (
    Flag("figure", str | None, "write a heat map of the grid", panel="Output", metavar="FILE.svg"),
    Flag("curves", str | None, "write curves over k", panel="Output", metavar="FILE.svg"),
    Flag(
        "output",
        str | None,
        "write the sweep as JSON, to read again",
        ("-o", "--output"),
        panel="Output",
        metavar="FILE.json",
    ),
    Flag(
        "save_job",
        str | None,
        "with --choose: write that run as a job for `setveil run`",
        panel="Output",
        metavar="FILE.toml",
    ),
    Flag("force", bool, "replace files that are there", panel="Output", default=False),
    Flag("as_csv", bool, "print the points as CSV", ("--csv",), panel="Output", default=False),
    Flag("as_json", bool, "print the result as JSON", ("--json",), panel="Output", default=False),
)
_TABLE = tuple(flag for flag in TABLE if flag.name != "sensitive_column")


@taking(OWN, HIERARCHY, COST, OUTPUT, READING, NOTICES, _TABLE, method_flags())
def sweep(
    data: str = typer.Argument(help="The file to look at; - is standard input.", metavar="DATA"),
    **given: Any,
) -> None:
    """Tell what k^m-anonymity costs for every k and m of a grid; publish nothing."""
    given |= {"sensitive_column": None}
    ks, ms = _numbers("k", given["k"]), _numbers("m", given["m"])
    if len(ks) * len(ms) > MOST_POINTS:
        raise UsageError(f"a grid has at most {MOST_POINTS} points.", "Give fewer k or m.")
    key = given["method"] or ("optimal" if given["hierarchy"] else "trim")
    chosen = _chosen(given, ks, ms)
    options, limit = method_options(given), seconds("time_limit", given["time_limit"])
    threads = None if given["threads"] is None else whole("threads", given["threads"])
    _check(key, ks, ms, given, options)
    check_outputs(data, given, ("figure", "curves", "output", "save_job"))
    transactions = read_data(data, given)
    with screen.notices_before_error(transactions.notices, verbose=given["verbose"]):
        from ..progress import Watch
        from ..sweep import sweep as sweep_grid

        with screen.progress() as listener:
            found = sweep_grid(
                transactions,
                read_hierarchies(given["hierarchy"] or [], transactions, given),
                ks,
                ms,
                method=key,
                cost=given["cost"],
                weights=weights_of(given),
                time_limit=limit,
                threads=threads,
                unknown=given["unknown"],
                domain=given["domain"],
                watch=Watch(listener=listener),
                **options,
            )
    screen.notices([*found.notices, *_remarks(found)], verbose=given["verbose"])
    _show(found, chosen, given)
    texts = {
        "figure": found.figure(chosen).svg,
        "curves": found.curves().svg,
        "output": found.to_json(),
    }
    write_outputs(given, {name: text for name, text in texts.items() if given[name] is not None})
    if chosen is not None and given["save_job"] is not None:
        _save_job(found.point(*chosen), found, data, given)


def _numbers(name: str, text: str) -> list[int]:
    """Return the numbers of a list by commas, each once, in order."""
    return sorted({whole(name, part) for part in listed(text) or [""]})


def _check(
    key: str, ks: list[int], ms: list[int], given: Mapping[str, Any], options: Mapping[str, object]
) -> None:
    """Tell slips before a large file is read."""
    from ..job import Job
    from ..model.guarantees import KmAnonymity

    for guarantee in (KmAnonymity(k, m) for k in ks for m in ms):
        method_record(key).check_guarantee(guarantee)
    bare = not given["hierarchy"] and not given["set_columns"]
    job = Job(
        KmAnonymity(ks[0], ms[0]),
        key,
        given["cost"],
        unknown=given["unknown"],
        options=options,
        domain=given["domain"],
    )
    job.check(without_hierarchy=bare)


def _chosen(given: Mapping[str, Any], ks: list[int], ms: list[int]) -> tuple[int, int] | None:
    text: str | None = given["choose"]
    if text is None:
        if given["save_job"] is not None:
            raise UsageError("which point shall the job take?", "Give --choose K,M, such as 5,2.")
        return None
    if not re.fullmatch(r" *\d+ *, *\d+ *", text):
        raise UsageError(f"--choose takes K,M (got {text[:40]!r}).", "Give for example --choose 5,2.")
    k, m = (whole(name, part) for name, part in zip(("k", "m"), listed(text), strict=True))
    if k not in ks or m not in ms:
        raise UsageError(f"k={k}, m={m} is no point of this sweep.", "Add it to -k and -m.")
    return k, m


def _remarks(found: Sweep) -> list[str]:
    """Tell where a method that leaves nothing out publishes little but roots."""
    empty = sum(point.useless for point in found.points)
    if not empty or method_record(found.method).suppresses:
        return []
    return [
        f"at {empty} of {len(found.points)} points most records stand at a root; --method trim may "
        "leave rare items out instead."
    ]


def _show(found: Sweep, chosen: tuple[int, int] | None, given: Mapping[str, Any]) -> None:
    if given["as_csv"]:
        screen.echo(found.to_csv().rstrip("\n"))
        return
    if given["as_json"]:
        plain: dict[str, Any] = {
            "method": found.method,
            "cost": found.cost,
            "domain": found.domain,
            "records": found.records,
            "items": found.items,
            "points": found.as_dicts(),
        }
        if chosen is not None:
            plain["chosen"] = {"k": chosen[0], "m": chosen[1]}
        screen.print_json(plain)
        return
    title = f"{found.lost}: 0 % is nothing, 100 % everything"
    if not screen.on_terminal():
        screen.echo(title)
    screen.table(title, *found.table())
    for line in str(found).split("\n"):
        if line.startswith("*"):
            screen.echo(line)
    if chosen is not None:
        point = found.point(*chosen)
        screen.echo("\n" + _in_words(point, found))
        if not method_record(found.method).suppresses and point.loss:
            screen.echo("--method trim may lose less there: it may leave rare items out.")


def _in_words(point: SweepPoint, found: Sweep) -> str:
    from ..release.header import BY_SOLVER

    said = f"Chosen: k={point.k}, m={point.m}: "
    if point.loss is None:
        return said + f"{point.status}."
    loss = float(point.loss)
    said += f"{found.cost_title} {loss:.4f} ({100 * loss:.2f} %) lost"
    said += f", {point.labels:,} labels published"
    said += f", {float(point.left_out):.1%} of the occurrences left out" if point.left_out else ""
    if not point.proven:
        return f"{said}."
    return f"{said}, proven." if point.certified else f"{said}, proven {BY_SOLVER}."


def _save_job(point: SweepPoint, found: Sweep, data: str, given: Mapping[str, Any]) -> None:
    from .job_keys import write_job

    if point.loss is None:
        raise Infeasible("the chosen point has no result, so no job is written.", "Choose another.")
    if point.useless:
        raise Infeasible(
            "at the chosen point most records would say nothing, so no job is written.",
            "Choose another, or another --method.",
            code="useless",
        )
    values = dict(given) | {
        "force": False,
        "k": str(point.k),
        "m": str(point.m),
        "method": found.method,
        "output": f"release-k{point.k}-m{point.m}",
        "time_limit": given["time_limit"] if point.status != "done" else None,
    }
    about = (f"A point of a sweep. {_in_words(point, found)}",)
    write_job(given["save_job"], data, values, about=about, force=given["force"])
    screen.written(given["save_job"])
