"""``setveil compare``: several methods on the same data, and what each loses and takes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import typer

from ..errors import Infeasible, UsageError
from ..registry import method as method_record
from . import screen
from .flags import (
    GUARANTEE,
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
from .reading import guarantee_of, read_data, read_hierarchies

if TYPE_CHECKING:
    from ..report.comparison import Compared, Comparison

EXAMPLE = "Example: setveil compare baskets.csv --hierarchy products.csv -k 5 -m 2 --figure methods.svg"

OWN = (
    Flag(
        "methods",
        str | None,
        "which, by commas; all that reach the guarantee if not given",
        panel="Compare",
        metavar="KEYS",
    ),
    Flag(
        "measures",
        str | None,
        "what to compute of each, by commas, or all; ncp,lm,discernibility if not given",
        panel="Compare",
        metavar="NAMES",
    ),
    Flag(
        "time_limit",
        str,
        "how many seconds each method may take",
        default="60",
        panel="Compare",
        metavar="SECONDS",
    ),
    THREADS,
)
OUTPUT = (
    Flag("figure", str | None, "write a picture", panel="Output", metavar="FILE.svg"),
    Flag(
        "save_job",
        str | None,
        "write the recommended run as a job for `setveil run`",
        panel="Output",
        metavar="FILE.toml",
    ),
    Flag(
        "output",
        str | None,
        "with --save-job: the folder that the job shall make; release if not given",
        ("-o", "--output"),
        panel="Output",
        metavar="FOLDER",
    ),
    Flag("force", bool, "replace files that are there", panel="Output", default=False),
    Flag("as_csv", bool, "print the rows as CSV", ("--csv",), panel="Output", default=False),
    Flag("as_json", bool, "print the result as JSON", ("--json",), panel="Output", default=False),
)


@taking(GUARANTEE, HIERARCHY, OWN, COST, OUTPUT, READING, NOTICES, TABLE, method_flags())
def compare(
    data: str = typer.Argument(help="The file to look at; - is standard input.", metavar="DATA"),
    **given: Any,
) -> None:
    """Run several methods on the same data, audit each result, and recommend one.

    Nothing is published. Rows tell the loss, what is left out, seconds, and the memory needed beside
    the data.
    """
    keys = listed(given["methods"])
    for key in keys:
        method_record(key)
    first = keys[0] if keys else None
    guarantee_of(given, first)
    limit = seconds("time_limit", given["time_limit"])
    threads = None if given["threads"] is None else whole("threads", given["threads"])
    options = method_options(given)
    check_outputs(data, given, ("figure", "save_job"))
    if given["output"] is not None and given["save_job"] is None:
        raise UsageError("-o goes with --save-job: nothing is published here.", "Leave it out.")
    transactions = read_data(data, given)
    with screen.notices_before_error(transactions.notices, verbose=given["verbose"]):
        from ..compare import compare as compare_methods
        from ..progress import Watch

        more: dict[str, Any] = dict(options)
        if given["measures"]:
            more["measures"] = (
                given["measures"] if given["measures"] == "all" else listed(given["measures"])
            )
        with screen.progress() as listener:
            found = compare_methods(
                transactions,
                guarantee_of(given, first, transactions),
                hierarchy=read_hierarchies(given["hierarchy"] or [], transactions, given),
                methods=keys or None,
                cost=given["cost"],
                weights=weights_of(given),
                time_limit=limit,
                threads=threads,
                unknown=given["unknown"],
                domain=given["domain"],
                watch=Watch(listener=listener),
                **more,
            )
    screen.notices(found.notices, verbose=given["verbose"])
    _show(found, given)
    figures = {} if given["figure"] is None else {"figure": found.figure().svg}
    write_outputs(given, figures)
    if given["save_job"] is not None:
        _save_job(found, data, given, options)


def _show(found: Comparison, given: Mapping[str, Any]) -> None:
    if given["as_csv"]:
        screen.echo(found.to_csv().rstrip("\n"))
    elif given["as_json"]:
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


def _save_job(
    found: Comparison, data: str, given: Mapping[str, Any], options: Mapping[str, object]
) -> None:
    """Write the recommended run; its time limit only where that cut it, for else it changes nothing."""
    if not found.usable:
        raise Infeasible("no method is recommended, so no job is written.", "Lower k or m.")
    from .job_keys import write_job

    row: Compared = found.usable[0]
    own = {option.name for option in method_record(row.method).options}
    values = {name: value for name, value in given.items() if name not in set(options) - own}
    values |= {"method": row.method, "time_limit": given["time_limit"] if row.cut else None}
    values["output"] = given["output"] or "release"
    values["force"] = False  # it was about files of this comparison
    write_job(given["save_job"], data, values, about=found.reasons, force=given["force"])
    screen.written(given["save_job"])
