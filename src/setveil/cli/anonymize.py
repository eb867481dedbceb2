"""``setveil anonymize``: data in, a release folder out, audited on the bytes written."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from ..run import Run
from . import screen
from .flags import with_flags

if TYPE_CHECKING:
    from ..run.work import Work

EXAMPLE = (
    "Examples: setveil anonymize baskets.csv --hierarchy products.csv -k 5 -m 2 -o release    "
    "setveil anonymize patients.csv --quasi zip,age,sex --sensitive disease --l 3 -o release    "
    "setveil anonymize before.csv --against after.csv --hierarchy products.csv --growth 5 -o release"
)


@with_flags(Run)
def anonymize(
    data: str = typer.Argument(help="The file to anonymize; - is standard input.", metavar="DATA"),
    **given: Any,
) -> None:
    """Make a release of data that keeps a promise, and prove it on the bytes written.

    Records are sets of items. A table with one sensitive column is put into buckets instead, where
    --quasi names the other columns. Of two data sets, given by --against or by --class-column, it is
    hidden what one holds far more often than the other (--growth).
    """
    run = Run.take(given, data=data)
    work = run.check()
    screen.notices(work.cleaned)
    with screen.notices_before_error(work.notices, verbose=run.verbose):
        work.read()
        with screen.progress(work.kernels) as listener:
            if run.is_preview:
                text, plain = work.estimate(work.watch(listener))
            else:
                outcome = work.execute(listener, screen.note_placed)
    _save_job(run)
    if run.is_preview:
        screen.notices(work.notices, verbose=run.verbose)
        _show_preview(work, text, plain)
        return
    screen.notices(outcome.notices, verbose=run.verbose)
    screen.result(str(outcome), outcome.as_dict(), as_json=run.as_json)


def _save_job(run: Run) -> None:
    if run.save_job is None:
        return
    from ..run.file import write_job

    write_job(run.save_job, run, about=("A job of setveil.",), force=run.force)
    screen.notices([f"the job is written to {run.save_job}."])


def _show_preview(work: Work, text: str, plain: dict[str, Any]) -> None:
    """Show an estimate, and the rules that a run on a table would reckon with."""
    run, start = work.run, getattr(work, "start", None)
    if start is None or start.mined is None:
        screen.result(text, plain, as_json=run.as_json)
        return
    from .mine_rules import PRIVATE, deliver_rules

    if run.rules_only:
        deliver_rules(start.mined, run.output, force=run.force, as_json=run.as_json, facts=start.facts)
    elif run.as_json:
        screen.print_json(plain | {"personal_data": PRIVATE, "mined": start.mined.as_dict()})
    else:
        screen.echo(text)
        deliver_rules(start.mined, None, facts=start.facts)
