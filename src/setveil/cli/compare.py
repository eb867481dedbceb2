"""``setveil compare`` and ``setveil sweep``: what methods, and strengths of a promise, cost.

Nothing is published. One of the rows, or one point of the grid, can become a job for ``setveil run``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import typer

from ..errors import Infeasible, UsageError
from ..registry import method as method_record
from ..run import Cost, Facts, Growth, Promised, Run, Shown, Threads, refuse_others
from ..run.fields import ALL, Field, Options, Text, Texts, declare, listed, switch, texts, whole
from ..run.reading import SecretTable, SetsInput, TwoSets
from . import screen
from .flags import as_json, check_outputs, with_flags, write_output

if TYPE_CHECKING:
    from ..report.comparison import Compared, Comparison
    from ..report.frontier import Strength, Sweep, SweepPoint
    from ..run.work import Work
    from ..trials import Axis, Grid

COMPARE_EXAMPLE = (
    "Example: setveil compare baskets.csv --hierarchy products.csv -k 5 -m 2 --figure methods.svg"
)
SWEEP_EXAMPLE = (
    "Example: setveil sweep baskets.csv --hierarchy products.csv -k 2,5,10,25 -m 1,2,3 --figure map.svg"
)
MOST_POINTS = 400


class Comparing(
    Promised, Cost, Threads, SetsInput, SecretTable, TwoSets, Facts, Growth, Options, Shown
):
    """What `compare` can be asked."""

    PANEL = "Output"
    FITS = ALL
    LEFT_OUT: ClassVar[frozenset[str]] = frozenset({"rules_only"})

    methods: Text = declare(
        "which, by commas; all that reach the guarantee if not given", metavar="KEYS", panel="Compare"
    )
    measures: Text = declare(
        "what to compute of each, by commas, or all; ncp,lm,discernibility if not given",
        metavar="NAMES",
        panel="Compare",
        fits="sets",
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
    work = _started(asked, data, method=keys[0] if keys else None)
    check_views(asked, data)
    check_outputs(asked, work.inputs, "figure", "save_job")
    if asked.output is not None and asked.save_job is None:
        raise UsageError("-o goes with --save-job: nothing is published here.", "Leave it out.")
    with screen.working(work.notices, verbose=asked.verbose) as watch:
        from ..compare import compare as compare_methods

        records, hierarchy, job = work.load()
        more: dict[str, Any] = dict(job.options)
        if asked.measures:
            more["measures"] = asked.measures if asked.measures == "all" else listed(asked.measures)
        found = compare_methods(
            records,
            job.guarantee,
            hierarchy=hierarchy,
            methods=keys or None,
            weights=job.weights,
            watch=watch,
            **asked.settings(),
            **more,
        )
    screen.notices(work.remarks, verbose=asked.verbose)
    screen.notices(found.notices, verbose=asked.verbose)
    _show_comparison(found, asked)
    write_output(asked.figure, "" if asked.figure is None else found.figure().svg, force=asked.force)
    if asked.save_job is not None:
        _save_recommended(found, data, asked, asked.save_job)


def _started(asked: Comparing | Sweeping, data: str, **changes: Any) -> Work:
    """Return the work of one run of those that are tried: it knows the files and how to read them."""
    run = Run.like(asked, **{"data": data, "output": None, "save_job": None, "force": False, **changes})
    screen.about(run.kind)
    refuse_others(asked, run.kind)
    work = run.work()
    work.take()
    work.inputs = work.name_inputs()
    return work


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
        screen.table(found.title, *found.table())
        screen.echo("\n" + "\n".join(found.reasons))


def _save_recommended(found: Comparison, data: str, asked: Comparing, path: str) -> None:
    """Write the recommended run; its time limit only where that cut it, for else it changes nothing."""
    if not found.usable:
        raise Infeasible("no method is recommended, so no job is written.", "Ask for less.")
    from ..run.file import write_job
    from ..trials import options_taken

    row: Compared = found.usable[0]
    options = options_taken(method_record(row.method), asked.options, row.variant)
    run = Run.like(
        asked,
        data=data,
        method=row.method,
        options={**options, **row.variant},
        time_limit=asked.time_limit if row.cut else None,
        output=asked.output or "release",
        force=False,  # it was about files of this comparison
    )
    write_job(path, run, about=found.reasons, force=asked.force)
    screen.written(path)


class Sweeping(Cost, Threads, SetsInput, SecretTable, TwoSets, Facts, Growth, Options, Shown):
    """What `sweep` can be asked."""

    PANEL = "Output"
    FITS = ALL
    LEFT_OUT: ClassVar[frozenset[str]] = frozenset({"sensitive_column", "rules_only"})

    k: Text = declare(
        "of sets: records that fit at least: several, by commas",
        "-k",
        "--k",
        metavar="K,K,...",
        panel="Sweep",
        fits="sets",
    )
    m: Text = declare(
        "of sets: items known at most: several, by commas",
        "-m",
        "--m",
        metavar="M,M,...",
        panel="Sweep",
        fits="sets",
    )
    l: Text = declare(  # noqa: E741
        "of a table in buckets: values possible at least: several, by commas",
        metavar="L,L,...",
        panel="Sweep",
        fits="buckets",
    )
    min_exp: Text = declare(
        "how surely a value was to be expected for a rule to count: several, by commas; 0.9 if "
        "not given",
        metavar="SHARE,...",
        panel="Sweep",
        fits="buckets",
    )
    growth: Text = declare(
        "of two data sets: how many times as frequent no set may be: several, by commas",
        metavar="RATE,...",
        panel="Sweep",
        fits="pairs",
    )
    min_support: Text = declare(
        "records that hold a pattern at least: several shares or counts, by commas; 10% if not given",
        metavar="SUPPORT,...",
        panel="Sweep",
        fits="pairs",
    )
    sensitive: Texts = texts(
        "of a table in buckets: the column to protect", metavar="COLUMN", fits="buckets"
    )
    method: Text = declare(
        "of sets optimal if not given, or trim without a hierarchy; see `setveil methods`",
        panel="Sweep",
    )
    time_limit: float = declare(
        "how many seconds each point may take", default="60", metavar="SECONDS", panel="Sweep"
    )
    choose: Text = declare(
        "the point to take, by its two strengths: marked, and saved as a job",
        metavar="K,M",
        panel="Sweep",
    )
    figure: Text = declare("write a heat map of the grid", metavar="FILE.svg")
    curves: Text = declare("write curves over the first strength", metavar="FILE.svg")
    output: Text = declare(
        "write the sweep as JSON, to read again", "-o", "--output", metavar="FILE.json"
    )
    save_job: Text = declare(
        "with --choose: write that run as a job for `setveil run`", metavar="FILE.toml"
    )
    force: bool = switch("replace files that are there")
    as_csv: bool = switch("print the points as CSV", "--csv")
    as_json: bool = as_json("the result")

    @classmethod
    def more_fields(cls) -> tuple[Field, ...]:
        """Return the options of methods, but for the one that is swept."""
        return tuple(field for field in super().more_fields() if field.name != "min_exp")


@with_flags(Sweeping)
def sweep(
    data: str = typer.Argument(help="The file to look at; - is standard input.", metavar="DATA"),
    **given: Any,
) -> None:
    """Tell what every strength of a promise costs, as a grid; publish nothing.

    Of sets these are k and m, of a table in buckets l and the expectation of rules, of two data sets
    growth and support.
    """
    from ..sweep import require

    asked = Sweeping.take(given)
    grid = _grid_of(asked)
    asked_for = {axis.key: getattr(asked, axis.key) for axis in grid.axes}
    refuse_others(asked, grid.promise.kind)
    require(grid, asked_for, {axis.key: axis.flag for axis in grid.axes})
    sides = [_strengths(axis, asked_for[axis.key]) for axis in grid.axes]
    points = [grid.pair((first, second)) for first in sides[0] for second in sides[1]]
    if len(points) > MOST_POINTS:
        names = " or ".join(grid.keys)
        raise UsageError(f"a grid has at most {MOST_POINTS} points.", f"Give fewer {names}.")
    key = asked.method or grid.methods[0 if asked.hierarchy else 1]
    method_record(key)
    chosen = _chosen_point(asked, grid, points)
    fields, options = _as_asked(grid, points[-1])
    more: dict[str, Any] = {"every_level": True} if asked.every_level else {}
    _check_grid(key, grid, points, asked, more)
    check_views(asked, data)
    options = {**asked.options, **options}
    work = _started(asked, data, method=key, options=options, **fields)
    check_outputs(asked, work.inputs, "figure", "curves", "output", "save_job")
    with screen.working(work.notices, verbose=asked.verbose) as watch:
        from ..sweep import sweep as sweep_grid

        records, hierarchy, job = work.load()
        kept: dict[str, Any] = {
            name: value for name, value in job.options.items() if name not in grid.keys
        }
        swept: dict[str, Any] = {
            f"{axis.key}s": side for axis, side in zip(grid.axes, sides, strict=True)
        }
        found = sweep_grid(
            records,
            hierarchy,
            **swept,
            method=key,
            weights=job.weights,
            watch=watch,
            **asked.settings(),
            **kept,
            **more,
        )
    screen.notices([*work.remarks, *found.notices, *_remarks(found)], verbose=asked.verbose)
    _show_sweep(found, chosen, asked)
    write_output(
        asked.figure, "" if asked.figure is None else found.figure(chosen).svg, force=asked.force
    )
    write_output(asked.curves, "" if asked.curves is None else found.curves().svg, force=asked.force)
    write_output(asked.output, found.to_json(), force=asked.force)
    if chosen is not None and asked.save_job is not None:
        _save_point(found.point(*chosen), found, grid, data, asked)


def _grid_of(asked: Sweeping) -> Grid:
    """Return the grid of the kind of data that is asked about."""
    from ..trials import GRIDS

    kind = Run.like(asked, k=None, m=None, l=None).kind
    screen.about(kind)
    return next(grid for grid in GRIDS if grid.promise.kind == kind)


def _strengths(axis: Axis, text: str | None) -> list[Strength]:
    """Return the strengths in a list by commas, each once, in order."""
    if text is None:
        from ..sweep import strengths

        return strengths(axis, None)
    return sorted({_strength(axis, part) for part in listed(text) or [""]})


def _strength(axis: Axis, text: str) -> Strength:
    return whole(axis.key, text) if axis.read is None else axis.read(text)


def _as_asked(grid: Grid, at: tuple[Strength, Strength]) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """Return the fields of a run, and the options of its method, that stand for a point."""
    fields: dict[str, Any] = {}
    options: dict[str, Any] = {}
    for axis, value in zip(grid.axes, at, strict=True):
        if axis.is_option:
            options[axis.key] = float(value)
        elif axis.read is None:
            fields[axis.key] = value
        else:
            fields[axis.key] = grid.typed(at)[axis.key]
    return fields, options


def _check_grid(
    key: str,
    grid: Grid,
    points: list[tuple[Strength, Strength]],
    asked: Sweeping,
    more: Mapping[str, Any],
) -> None:
    """Tell slips before a large file is read."""
    from ..sweep import job_of

    job = job_of(grid, points, key, {**asked.settings(), **asked.options, **more})
    for at in points:
        job.record.check_guarantee(grid.job(job, at).guarantee)
    job.check(without_hierarchy=not asked.hierarchy and not asked.set_columns)


def _chosen_point(
    asked: Sweeping, grid: Grid, points: list[tuple[Strength, Strength]]
) -> tuple[Strength, Strength] | None:
    text = asked.choose
    names = ",".join(key.upper() for key in grid.keys)
    if text is None:
        if asked.save_job is not None:
            example = ",".join(axis.example.partition(",")[0] for axis in grid.axes)
            raise UsageError(
                "which point shall the job take?", f"Give --choose {names}, such as {example}."
            )
        return None
    parts = listed(text)
    if len(parts) != len(grid.axes) or not all(parts):
        example = ",".join(axis.example.partition(",")[0] for axis in grid.axes)
        raise UsageError(
            f"--choose takes {names} (got {text[:40]!r}).", f"Give for example --choose {example}."
        )
    at = grid.pair([_strength(axis, part) for axis, part in zip(grid.axes, parts, strict=True)])
    if at not in points:
        flags = " and ".join(axis.flag for axis in grid.axes)
        raise UsageError(f"{grid.name(at)} is no point of this sweep.", f"Add it to {flags}.")
    return at


def _remarks(found: Sweep) -> list[str]:
    """Tell where a method that leaves nothing out publishes little but roots."""
    empty = sum(point.useless for point in found.points)
    if not empty or found.points[0].labels is None or method_record(found.method).suppresses:
        return []
    return [
        f"at {empty} of {len(found.points)} points most records stand at a root; --method trim may "
        "leave rare items out instead."
    ]


def _show_sweep(found: Sweep, chosen: tuple[Strength, Strength] | None, asked: Sweeping) -> None:
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
            first, second = found.axes
            told = found.point(*chosen).as_dict()
            plain["chosen"] = {first: told[first], second: told[second]}
        screen.print_json(plain)
        return
    title = f"{found.lost}: {found.terms.ends}"
    if not screen.on_terminal():
        screen.echo(title)
    screen.table(title, *found.table())
    for line in str(found).split("\n"):
        if line.startswith("*"):
            screen.echo(line)
    if chosen is not None:
        point = found.point(*chosen)
        screen.echo("\n" + _in_words(point, found))
        if point.labels is not None and not method_record(found.method).suppresses and point.loss:
            screen.echo("--method trim may lose less there: it may leave rare items out.")


def _in_words(point: SweepPoint, found: Sweep) -> str:
    from ..release.header import BY_SOLVER

    said = f"Chosen: {point.place}: "
    if point.loss is None:
        return said + f"{point.status}."
    loss, terms = float(point.loss), found.terms
    lost = " lost" if terms.counts_left_out else ""
    said += ", ".join([f"{terms.title} {loss:.4f} ({100 * loss:.2f} %){lost}", *point.counts()])
    said += "" if point.labels is None else f", {point.labels:,} labels published"
    left_out = f", {float(point.left_out):.1%} of the {terms.parts} left out"
    said += left_out if point.left_out else ""
    if not point.proven:
        return f"{said}."
    return f"{said}, proven." if point.certified else f"{said}, proven {BY_SOLVER}."


def _save_point(point: SweepPoint, found: Sweep, grid: Grid, data: str, asked: Sweeping) -> None:
    from ..run.file import write_job

    if point.loss is None:
        raise Infeasible("the chosen point has no result, so no job is written.", "Choose another.")
    if point.useless:
        raise Infeasible(
            "at the chosen point most records would say nothing, so no job is written.",
            "Choose another, or another --method.",
            code="useless",
        )
    fields, options = _as_asked(grid, point.at)
    place = "-".join(f"{key}{text.replace('/', 'of')}" for key, text in grid.typed(point.at).items())
    run = Run.like(
        asked,
        data=data,
        force=False,
        method=found.method,
        options={**asked.options, **options},
        output=f"release-{place}",
        time_limit=asked.time_limit if point.status != "done" else None,
        **fields,
    )
    about = (f"A point of a sweep. {_in_words(point, found)}",)
    assert asked.save_job is not None
    write_job(asked.save_job, run, about=about, force=asked.force)
    screen.written(asked.save_job)
