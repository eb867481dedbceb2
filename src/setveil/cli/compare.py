"""``setveil compare`` and ``setveil sweep``: what methods, and strengths of a promise, cost.

Nothing is published. One of the rows, or one point of the grid, can become a job for ``setveil run``.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, ClassVar

import typer

from ..errors import Infeasible, UsageError
from ..registry import method as method_record
from ..run import Cost, Promised, Run, Shown, Threads
from ..run.fields import SETS, Options, Text, declare, listed, switch, whole
from ..run.reading import SetsInput, input_files
from . import screen
from .flags import as_json, check_outputs, with_flags, write_output

if TYPE_CHECKING:
    from ..report.comparison import Compared, Comparison
    from ..report.frontier import Sweep, SweepPoint

COMPARE_EXAMPLE = (
    "Example: setveil compare baskets.csv --hierarchy products.csv -k 5 -m 2 --figure methods.svg"
)
SWEEP_EXAMPLE = (
    "Example: setveil sweep baskets.csv --hierarchy products.csv -k 2,5,10,25 -m 1,2,3 --figure map.svg"
)
MOST_POINTS = 400


class Comparing(Promised, Cost, Threads, SetsInput, Options, Shown):
    """What `compare` can be asked."""

    PANEL = "Output"

    methods: Text = declare(
        "which, by commas; all that reach the guarantee if not given", metavar="KEYS", panel="Compare"
    )
    measures: Text = declare(
        "what to compute of each, by commas, or all; ncp,lm,discernibility if not given",
        metavar="NAMES",
        panel="Compare",
    )
    time_limit: float = declare(
        "how many seconds each method may take", default="60", metavar="SECONDS", panel="Compare"
    )
    figure: Text = declare("write a picture", metavar="FILE.svg")
    save_job: Text = declare(
        "write the recommended run as a job for `setveil run`", metavar="FILE.toml"
    )
    output: Text = declare(
        "with --save-job: the folder that the job shall make; release if not given",
        "-o",
        "--output",
        metavar="FOLDER",
    )
    force: bool = switch("replace files that are there")
    as_csv: bool = switch("print the rows as CSV", "--csv")
    as_json: bool = as_json("the result")


def check_views(asked: Any, data: str) -> None:
    """Refuse results in two forms, and jobs that name no file."""
    if asked.as_csv and asked.as_json:
        raise UsageError("--csv and --json do not go together.", "Keep one.")
    if asked.save_job is not None and data == "-":
        raise UsageError("a job names the file it reads, and - is none.", "Leave --save-job out.")


@with_flags(Comparing)
def compare(
    data: str = typer.Argument(help="The file to look at; - is standard input.", metavar="DATA"),
    **given: Any,
) -> None:
    """Run several methods on the same data, audit each result, and recommend one.

    Nothing is published. Rows tell the loss, what is left out, seconds, and the memory needed beside
    the data.
    """
    asked = Comparing.take(given)
    keys = listed(asked.methods)
    for key in keys:
        method_record(key)
    first = keys[0] if keys else None
    guarantee = asked.guarantee(first)
    screen.about(guarantee.kind)
    check_views(asked, data)
    inputs = input_files(asked, data, asked.weights, lists=asked.item_lists())
    check_outputs(asked, inputs, "figure", "save_job")
    if asked.output is not None and asked.save_job is None:
        raise UsageError("-o goes with --save-job: nothing is published here.", "Leave it out.")
    transactions = asked.read_sets(data)
    with screen.working(transactions.notices, verbose=asked.verbose) as watch:
        from ..compare import compare as compare_methods

        more: dict[str, Any] = dict(asked.options)
        if asked.measures:
            more["measures"] = asked.measures if asked.measures == "all" else listed(asked.measures)
        found = compare_methods(
            transactions,
            asked.with_column(guarantee, transactions),
            hierarchy=asked.read_trees(transactions),
            methods=keys or None,
            weights=asked.read_weights(),
            watch=watch,
            **asked.settings(),
            **more,
        )
    screen.notices(found.notices, verbose=asked.verbose)
    _show_comparison(found, asked)
    write_output(asked.figure, "" if asked.figure is None else found.figure().svg, force=asked.force)
    if asked.save_job is not None:
        _save_recommended(found, data, asked, asked.save_job)


def _show_comparison(found: Comparison, asked: Comparing) -> None:
    if asked.as_csv:
        screen.echo(found.to_csv().rstrip("\n"))
    elif asked.as_json:
        screen.print_json(
            {
                "guarantee": found.guarantee,
                "records": found.records,
                "items": found.items,
                "cost": found.cost,
                "domain": found.domain,
                "methods": found.as_dicts(),
                "recommended": found.recommended,
                "reasons": list(found.reasons),
            }
        )
    else:
        title = f"{found.guarantee} of {found.records:,} records with {found.items:,} items"
        screen.table(title, *found.table())
        screen.echo("\n" + "\n".join(found.reasons))


def _save_recommended(found: Comparison, data: str, asked: Comparing, path: str) -> None:
    """Write the recommended run; its time limit only where that cut it, for else it changes nothing."""
    if not found.usable:
        raise Infeasible("no method is recommended, so no job is written.", "Lower k or m.")
    from ..run.file import write_job

    row: Compared = found.usable[0]
    own = {option.name for option in method_record(row.method).options}
    run = Run.like(
        asked,
        data=data,
        method=row.method,
        options={name: value for name, value in asked.options.items() if name in own},
        time_limit=asked.time_limit if row.cut else None,
        output=asked.output or "release",
        force=False,  # it was about files of this comparison
    )
    write_job(path, run, about=found.reasons, force=asked.force)
    screen.written(path)


class Sweeping(Cost, Threads, SetsInput, Options, Shown):
    """What `sweep` can be asked."""

    PANEL = "Output"
    LEFT_OUT: ClassVar[frozenset[str]] = frozenset({"sensitive_column"})

    k: str = declare(
        "records that fit at least: several, by commas",
        "-k",
        "--k",
        default=...,
        metavar="K,K,...",
        panel="Sweep",
    )
    m: str = declare(
        "items known at most: several, by commas",
        "-m",
        "--m",
        default=...,
        metavar="M,M,...",
        panel="Sweep",
    )
    method: Text = declare(
        "optimal if not given, or trim without a hierarchy; see `setveil methods`", panel="Sweep"
    )
    time_limit: float = declare(
        "how many seconds each point may take", default="60", metavar="SECONDS", panel="Sweep"
    )
    choose: Text = declare(
        "the point to take: marked, and saved as a job", metavar="K,M", panel="Sweep"
    )
    figure: Text = declare("write a heat map of the grid", metavar="FILE.svg")
    curves: Text = declare("write curves over k", metavar="FILE.svg")
    output: Text = declare(
        "write the sweep as JSON, to read again", "-o", "--output", metavar="FILE.json"
    )
    save_job: Text = declare(
        "with --choose: write that run as a job for `setveil run`", metavar="FILE.toml"
    )
    force: bool = switch("replace files that are there")
    as_csv: bool = switch("print the points as CSV", "--csv")
    as_json: bool = as_json("the result")


@with_flags(Sweeping)
def sweep(
    data: str = typer.Argument(help="The file to look at; - is standard input.", metavar="DATA"),
    **given: Any,
) -> None:
    """Tell what k^m-anonymity costs for every k and m of a grid; publish nothing."""
    asked = Sweeping.take(given)
    screen.about(SETS)
    ks, ms = _numbers("k", asked.k), _numbers("m", asked.m)
    if len(ks) * len(ms) > MOST_POINTS:
        raise UsageError(f"a grid has at most {MOST_POINTS} points.", "Give fewer k or m.")
    key = asked.method or ("optimal" if asked.hierarchy else "trim")
    chosen = _chosen_point(asked, ks, ms)
    _check_grid(key, ks, ms, asked)
    check_views(asked, data)
    inputs = input_files(asked, data, asked.weights)
    check_outputs(asked, inputs, "figure", "curves", "output", "save_job")
    transactions = asked.read_sets(data)
    with screen.working(transactions.notices, verbose=asked.verbose) as watch:
        from ..sweep import sweep as sweep_grid

        found = sweep_grid(
            transactions,
            asked.read_trees(transactions),
            ks,
            ms,
            method=key,
            weights=asked.read_weights(),
            watch=watch,
            **asked.settings(),
            **asked.options,
        )
    screen.notices([*found.notices, *_remarks(found)], verbose=asked.verbose)
    _show_sweep(found, chosen, asked)
    write_output(
        asked.figure, "" if asked.figure is None else found.figure(chosen).svg, force=asked.force
    )
    write_output(asked.curves, "" if asked.curves is None else found.curves().svg, force=asked.force)
    write_output(asked.output, found.to_json(), force=asked.force)
    if chosen is not None and asked.save_job is not None:
        _save_point(found.point(*chosen), found, data, asked, asked.save_job)


def _numbers(name: str, text: str) -> list[int]:
    """Return the numbers of a list by commas, each once, in order."""
    return sorted({whole(name, part) for part in listed(text) or [""]})


def _check_grid(key: str, ks: list[int], ms: list[int], asked: Sweeping) -> None:
    """Tell slips before a large file is read."""
    from ..model.guarantees import KmAnonymity
    from ..run.work import Job

    for guarantee in (KmAnonymity(k, m) for k in ks for m in ms):
        method_record(key).check_guarantee(guarantee)
    job = Job.of(KmAnonymity(ks[0], ms[0]), key, {**asked.settings(), **asked.options})
    job.check(without_hierarchy=not asked.hierarchy and not asked.set_columns)


def _chosen_point(asked: Sweeping, ks: list[int], ms: list[int]) -> tuple[int, int] | None:
    text = asked.choose
    if text is None:
        if asked.save_job is not None:
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


def _show_sweep(found: Sweep, chosen: tuple[int, int] | None, asked: Sweeping) -> None:
    if asked.as_csv:
        screen.echo(found.to_csv().rstrip("\n"))
        return
    if asked.as_json:
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


def _save_point(point: SweepPoint, found: Sweep, data: str, asked: Sweeping, path: str) -> None:
    from ..run.file import write_job

    if point.loss is None:
        raise Infeasible("the chosen point has no result, so no job is written.", "Choose another.")
    if point.useless:
        raise Infeasible(
            "at the chosen point most records would say nothing, so no job is written.",
            "Choose another, or another --method.",
            code="useless",
        )
    run = Run.like(
        asked,
        data=data,
        force=False,
        k=point.k,
        m=point.m,
        method=found.method,
        output=f"release-k{point.k}-m{point.m}",
        time_limit=asked.time_limit if point.status != "done" else None,
    )
    about = (f"A point of a sweep. {_in_words(point, found)}",)
    write_job(path, run, about=about, force=asked.force)
    screen.written(path)
