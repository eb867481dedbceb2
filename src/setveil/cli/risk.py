"""``setveil risk``: what can somebody do with these records, before and after?"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from ..errors import FileSystemError, UsageError
from . import screen
from .flags import NOTICES, READING, TABLE, Flag, check_stdin_once, picked, taking, whole
from .inputs import check_picture
from .measure_pair import refuse_pair
from .reading import read_data
from .risk_table import RULES, risk_of_table

if TYPE_CHECKING:
    from ..model.guarantees import Guarantee
    from ..model.transactions import Transactions
    from ..risk.assessment import Assessment

EXAMPLE = (
    "Examples: setveil risk release    "
    "setveil risk release --original baskets.csv --figure risk.svg    "
    "setveil risk baskets.csv -k 5"
)
PRIVATE = (
    "Personal data: this tells about the original records, or names records. Keep it as safe as those."
)

OWN = (
    Flag(
        "original",
        str | None,
        "the data a release was made from: shows the risk before beside it (private)",
        panel="Risk",
        metavar="DATA",
    ),
    Flag(
        "k",
        str | None,
        "a record is at risk where fewer than K match; a release's own if not given",
        ("-k", "--k"),
        panel="Risk",
        metavar="K",
    ),
    Flag(
        "most",
        str | None,
        "the most items known; 6 if not given, or as many as the longest record has",
        panel="Risk",
        metavar="M",
    ),
    Flag(
        "population",
        str | None,
        "data of the population that the records were taken from, in the labels of TARGET",
        panel="Risk",
        metavar="FILE",
    ),
    Flag(
        "top",
        str | None,
        "show the N records that the fewest items single out (private)",
        panel="Risk",
        metavar="N",
    ),
    Flag("quick", bool, "estimate more and count less", panel="Risk", default=False),
    Flag("threads", str | None, "how many threads count; all if not given", panel="Risk", metavar="N"),
    Flag("figure", str | None, "write a picture of the curves", panel="Output", metavar="FILE.svg"),
    Flag("force", bool, "with --figure: replace the file", panel="Output", default=False),
    Flag("as_json", bool, "print the figures as JSON", ("--json",), panel="Output", default=False),
)


FLAGS = (OWN, RULES, READING, NOTICES, TABLE)


@taking(*FLAGS)
def risk(
    target: str = typer.Argument(help="A release folder or any data file.", metavar="TARGET"),
    **given: Any,
) -> None:
    """Tell how many records somebody can single out who knows 1, 2, 3, ... items of a record.

    Of a release only the published folder is read. Numbers are counted where that is affordable, else
    estimated from drawn records and shown with a 95 % interval.

    Of a table in buckets (anonymize --quasi): how many records have too few possible values for whoever
    knows the rules, and how many values are guessed by learning from all buckets.
    """
    from ..io.folder.ownership import holds_buckets

    if holds_buckets(target):
        risk_of_table(target, given, [flag for group in FLAGS for flag in group])
        return
    refuse_pair(target, "risk")
    if given["rules"] is not None:
        raise UsageError(
            "--rules is for a table in buckets.", "Leave it out.", code="option-does-not-fit"
        )
    _check(target, given)
    numbers = {
        name: whole(name, given[name])
        for name in ("k", "most", "top", "threads")
        if given[name] is not None
    }
    data, guarantee = _target(target, given)
    k = numbers["k"] if "k" in numbers else _k_of(guarantee)
    from ..progress import Watch
    from ..risk.assessment import RiskComparison, assess_risk
    from ..risk.curve import quick_budget
    from ..risk.exposed import most_exposed

    before, population = (
        _restricted(read_data(given[name], given), guarantee) if given[name] is not None else None
        for name in ("original", "population")
    )
    data = _restricted(data, guarantee)
    for read in (data, before, population):
        screen.notices(() if read is None else read.notices, verbose=given["verbose"])
    with screen.progress() as listener:
        watch = Watch(listener=listener)
        asked: dict[str, Any] = {
            "most": numbers.get("most"),
            "threads": numbers.get("threads"),
            "watch": watch,
        }
        if given["quick"]:
            asked["budget"] = quick_budget(len(data))
        after = assess_risk(data, k, population=population, **asked)
        compared = None
        if before is not None:
            compared = RiskComparison(assess_risk(before, k, **asked), after)
        exposed = None
        if "top" in numbers:
            exposed = most_exposed(data, k, top=numbers["top"], **asked)
    if given["figure"] is not None:
        _draw(after, compared.before if compared is not None else None, given)
    plain: dict[str, Any] = {"target": "data" if guarantee is None else "release"}
    if compared is not None or exposed is not None or guarantee is None:
        plain["personal_data"] = PRIVATE
    plain["risk"] = after.as_dict()
    parts = [str(after)]
    if compared is not None:
        plain["before"] = compared.before.as_dict()
        parts = [PRIVATE, str(compared), after.details("After: if")]
    if exposed is not None:
        plain["exposed"] = exposed.as_dict()
        parts.append(str(exposed))
    screen.result("\n\n".join(parts), plain, as_json=given["as_json"])


def _check(target: str, given: dict[str, Any]) -> None:
    """Refuse what cannot work before anything is read."""
    named = [name for name in (target, given["original"], given["population"]) if name is not None]
    check_stdin_once([*named, given["labels"]])
    is_folder = Path(target).is_dir()
    if is_folder and len(named) == 1 and (picked(given, READING) or picked(given, TABLE)):
        raise UsageError("a release folder says itself how it is read.", "Leave those options out.")
    if not is_folder and target != "-" and not os.path.lexists(target):
        raise FileSystemError(
            "there is no such folder or file.",
            "Check the name.",
            code="missing",
            file=screen.printable(target),
        )
    if given["original"] is not None and not is_folder:
        raise UsageError(
            "--original is for a release folder.",
            "Ask for the risk of each file by itself.",
            code="option-does-not-fit",
        )
    if given["figure"] is not None:
        from ..io.files import check_new_file

        inputs = [name for name in named if name != "-"]
        check_new_file(given["figure"], force=given["force"], inputs=inputs)
        check_picture(given["figure"])
    elif given["force"]:
        raise UsageError("--force goes with --figure.", "Leave it out.", code="option-does-not-fit")


def _target(target: str, given: dict[str, Any]) -> tuple[Transactions, Guarantee | None]:
    """Return the records to look at, and what a release promises."""
    if not Path(target).is_dir():
        if given["k"] is None:
            _k_of(None)
        return read_data(target, given), None
    from ..io.folder.published import read_published
    from ..model.guarantees import guarantee_from_dict

    published, certificate = read_published(target)
    return published, guarantee_from_dict(certificate["guarantee"])


def _k_of(guarantee: Guarantee | None) -> int:

    if guarantee is None:
        raise UsageError("-k is missing.", "Give for example -k 5.")
    return guarantee.least_support


def _restricted(data: Transactions, guarantee: Guarantee | None) -> Transactions:
    """Return the records without labels that the promise assumes nobody knows."""
    if guarantee is None:
        return data
    from ..report.risk_part import known_labels

    return known_labels(data, guarantee)


def _draw(after: Assessment, before: Assessment | None, given: dict[str, Any]) -> None:
    from ..io.files import write_text_file
    from ..report.risk_picture import risk_figure

    figure = risk_figure(before=None if before is None else before.curve, after=after.curve)
    write_text_file(given["figure"], figure.svg, mode=0o600, force=given["force"])
    screen.written(given["figure"])
