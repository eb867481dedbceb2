"""``setveil compare``: several methods on the same data, and what each loses and takes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from ..errors import Infeasible, UsageError
from ..registry import method as method_record
from ..run import Cost, Promised, Run, Shown, Threads
from ..run.fields import Options, Text, declare, listed, switch
from ..run.reading import SetsInput, input_files
from . import screen
from .flags import as_json, check_outputs, with_flags, write_output

if TYPE_CHECKING:
    from ..report.comparison import Compared, Comparison

EXAMPLE = "Example: setveil compare baskets.csv --hierarchy products.csv -k 5 -m 2 --figure methods.svg"


class Asked(Promised, Cost, Threads, SetsInput, Options, Shown):
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


@with_flags(Asked)
def compare(
    data: str = typer.Argument(help="The file to look at; - is standard input.", metavar="DATA"),
    **given: Any,
) -> None:
    """Run several methods on the same data, audit each result, and recommend one.

    Nothing is published. Rows tell the loss, what is left out, seconds, and the memory needed beside
    the data.
    """
    asked = Asked.take(given)
    keys = listed(asked.methods)
    for key in keys:
        method_record(key)
    first = keys[0] if keys else None
    guarantee = asked.guarantee(first)
    check_views(asked, data)
    inputs = input_files(asked, data, asked.weights, lists=asked.item_lists())
    check_outputs(asked, inputs, "figure", "save_job")
    if asked.output is not None and asked.save_job is None:
        raise UsageError("-o goes with --save-job: nothing is published here.", "Leave it out.")
    transactions = asked.read_sets(data)
    with screen.notices_before_error(transactions.notices, verbose=asked.verbose):
        from ..compare import compare as compare_methods
        from ..progress import Watch

        more: dict[str, Any] = dict(asked.options)
        if asked.measures:
            more["measures"] = asked.measures if asked.measures == "all" else listed(asked.measures)
        with screen.progress() as listener:
            found = compare_methods(
                transactions,
                asked.with_column(guarantee, transactions),
                hierarchy=asked.read_trees(transactions),
                methods=keys or None,
                weights=asked.read_weights(),
                **asked.settings(),
                watch=Watch(listener=listener),
                **more,
            )
    screen.notices(found.notices, verbose=asked.verbose)
    _show(found, asked)
    write_output(asked.figure, "" if asked.figure is None else found.figure().svg, force=asked.force)
    if asked.save_job is not None:
        _save_job(found, data, asked, asked.save_job)


def _show(found: Comparison, asked: Asked) -> None:
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


def _save_job(found: Comparison, data: str, asked: Asked, path: str) -> None:
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
