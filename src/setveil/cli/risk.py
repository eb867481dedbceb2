"""``setveil risk``: what can somebody do with these records, before and after?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from ..errors import FileSystemError, UsageError
from ..progress import Watch
from ..refusals import NAMES, refuse_folder
from ..run import Shown
from ..run.fields import BUCKETS, SETS, Text, declare, refuse_stdin_twice, refuse_unfit, switch
from ..run.reading import Cells, Files, Reading, Tables
from . import screen
from .flags import as_json, check_outputs, check_there, with_flags, write_output

if TYPE_CHECKING:
    from ..model.guarantees import Guarantee
    from ..model.rules import NegativeRule
    from ..model.transactions import Transactions
    from ..release.buckets import BucketRelease
    from ..risk.assessment import Assessment

EXAMPLE = (
    "Examples: setveil risk release    "
    "setveil risk release --original baskets.csv --figure risk.svg    "
    "setveil risk baskets.csv -k 5"
)
PRIVATE = (
    "Personal data: this tells about the original records, or names records. Keep it as safe as those."
)

GUESSED = "Personal data: the guesses are counted with the true values. Keep it as safe as those."
TOLD_BY_FOLDER = "Leave it out; the folder and its private twin tell all that is needed."
NO_TWIN = (
    "no private folder lies beside the release, so it is not counted how many values are guessed by "
    "learning from all buckets (deFinetti)."
)


class Asked(Reading, Shown):
    """What `risk` can be asked."""

    PANEL = "Risk"
    FITS = SETS

    original: Text = declare(
        "the data a release was made from, which its private twin confirms: shows the risk before "
        "beside it (private)",
        metavar="DATA",
        fits="sets buckets",
    )
    k: int | None = declare(
        "a record is at risk where fewer than K match; a release's own if not given",
        "-k",
        "--k",
        metavar="K",
    )
    most: int | None = declare(
        "the most items known; 6 if not given, or as many as the longest record has", metavar="M"
    )
    population: Text = declare(
        "data of the population that the records were taken from, in the labels of TARGET",
        metavar="FILE",
    )
    top: int | None = declare(
        "show the N records that the fewest items single out (private)", metavar="N"
    )
    quick: bool = switch("estimate more and count less")
    threads: int | None = declare("how many threads count; all if not given", metavar="N")
    figure: Text = declare("write a picture of the curves", panel="Output", metavar="FILE.svg")
    force: bool = switch("with --figure: replace the file", panel="Output")
    as_json: bool = as_json("the figures")
    rules: Text = declare(
        "for a table in buckets: what an attacker knows beside its rules.csv, see `setveil mine rules`",
        metavar="FILE",
        fits=BUCKETS,
    )


@with_flags(Asked)
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
    asked = Asked.take(given)
    from ..io.folder.ownership import holds_buckets

    screen.about_folder(target)
    if holds_buckets(target):
        _risk_of_buckets(target, asked)
        return
    refuse_folder("risk", target)
    if asked.rules is not None:
        raise UsageError(
            "--rules is for a table in buckets.", "Leave it out.", code="option-does-not-fit"
        )
    _check(target, asked)
    screen.about(SETS)
    data, guarantee = _target(target, asked)
    k = asked.k if asked.k is not None else _k_of(guarantee)
    from ..risk.assessment import RiskComparison, assess_risk
    from ..risk.curve import quick_budget
    from ..risk.exposed import most_exposed

    before, population = (
        None if path is None else asked.read_sets(path) for path in (asked.original, asked.population)
    )
    if population is not None:
        population = _restricted(population, guarantee)
    data = _restricted(data, guarantee)
    for read in (data, before, population):
        screen.notices(() if read is None else read.notices, verbose=asked.verbose)
    with screen.progress() as listener:
        watch = Watch(listener=listener)
        if before is not None:
            from ..reopen import read_set_release

            read_set_release(target, before, watch=watch)  # which refuses other data
            before = _restricted(before, guarantee)
        how: dict[str, Any] = {"most": asked.most, "threads": asked.threads, "watch": watch}
        if asked.quick:
            how["budget"] = quick_budget(len(data))
        after = assess_risk(data, k, population=population, **how)
        compared = None
        if before is not None:
            compared = RiskComparison(assess_risk(before, k, **how), after)
        exposed = None
        if asked.top is not None:
            exposed = most_exposed(data, k, top=asked.top, **how)
    if asked.figure is not None:
        _draw(after, compared.before if compared is not None else None, asked)
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
    screen.result("\n\n".join(parts), plain, as_json=asked.as_json)


def _check(target: str, asked: Asked) -> None:
    """Refuse what cannot work before anything is read."""
    named = [name for name in (target, asked.original, asked.population) if name is not None]
    refuse_stdin_twice([*named, asked.labels])
    is_folder = Path(target).is_dir()
    if is_folder and len(named) == 1 and (asked.given(Files) or asked.given(Tables)):
        raise UsageError("a release folder says itself how it is read.", "Leave those options out.")
    check_there([] if is_folder or target == "-" else [target])
    if asked.original is not None and not is_folder:
        raise UsageError(
            "--original is for a release folder.",
            "Ask for the risk of each file by itself.",
            code="option-does-not-fit",
        )
    if asked.force and asked.figure is None:
        raise UsageError("--force goes with --figure.", "Leave it out.", code="option-does-not-fit")
    check_outputs(asked, [name for name in named if name != "-"], "figure")


def _target(target: str, asked: Asked) -> tuple[Transactions, Guarantee | None]:
    """Return the records to look at, and what a release promises."""
    if not Path(target).is_dir():
        if asked.k is None:
            _k_of(None)
        return asked.read_sets(target), None
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
    from ..report.risk_picture import known_labels

    return known_labels(data, guarantee)


def _draw(after: Assessment, before: Assessment | None, asked: Asked) -> None:
    from ..report.risk_picture import risk_figure

    figure = risk_figure(before=None if before is None else before.curve, after=after.curve)
    write_output(asked.figure, figure.svg, force=asked.force)


def refuse_unread(path: str, asked: Any) -> None:
    """Raise `UsageError` for a field that is of no use for a folder that is no release of sets.

    How a file is read is of none where the kind takes no original.
    """
    from ..io.folder.ownership import kind_of_folder

    kind = kind_of_folder(path) or SETS
    files = () if kind in type(asked).original.fits else (Files, Tables)
    unread = [name for group in files for name in asked.given(group)]
    what = f"{{}} does not fit {NAMES[kind]}."
    refuse_unfit(asked, kind, TOLD_BY_FOLDER, what=what, but=unread)


def _risk_of_buckets(target: str, asked: Asked) -> None:
    """Show what two attackers get out of a table in buckets."""
    refuse_unread(target, asked)
    from ..io.folder.ownership import private_twin
    from ..reopen.others import read_bucket_release, read_public_buckets
    from ..risk.buckets import assess_table

    notices: list[str] = []
    with screen.progress() as listener:
        watch = Watch(listener=listener)
        watch.tick("reading the release", None)
        public = read_public_buckets(target)
        rules: tuple[NegativeRule, ...] = ()
        if asked.rules is not None:
            from ..io.rules import read_rules, told_of_rules

            quasi = [attribute.name for attribute in public.data.quasi]
            rules = read_rules(asked.rules, quasi=quasi, sensitive=public.data.sensitive)
            notices += told_of_rules(rules, public.data)
        if private_twin(Path(target).absolute()).exists():
            release = read_bucket_release(target, watch=watch)
            notices += confirm_original(release, asked.original, asked)
            found = assess_table(release, rules, learn=True, watch=watch)
        elif asked.original is not None:
            raise FileSystemError(
                "no private folder lies beside the release, and only it tells whose value is whose.",
                "Put it back, or leave --original out.",
                code="no-private-twin",
            )
        else:
            notices.append(NO_TWIN)
            found = assess_table(public, rules, learn=False, watch=watch)
    screen.notices([*notices, *found.notices], verbose=asked.verbose)
    private = {} if found.learning is None else {"personal_data": GUESSED}
    plain = {"target": "table in buckets", **private, "risk": found.as_dict()}
    screen.result("\n\n".join([str(found), *private.values()]), plain, as_json=asked.as_json)


def confirm_original(release: BucketRelease, original: str | None, asked: Reading) -> tuple[str, ...]:
    """Raise `UsageError` unless the file holds the rows of a release; return the reader's notices.

    The private twin tells whose value is whose, so the original adds nothing to it; naming it makes
    sure that the figures are about these data. The order of the rows does not matter.
    """
    if original is None:
        return ()
    from ..io.microdata import read_microdata
    from ..reopen.others import confirm_table

    data = release.data
    found = read_microdata(
        original,
        quasi=tuple(attribute.name for attribute in data.quasi),
        sensitive=data.sensitive,
        **asked.given(Files),
        **asked.given(Cells),
    )
    confirm_table(release, found)
    return found.notices
