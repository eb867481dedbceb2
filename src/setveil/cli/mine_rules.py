"""``setveil mine rules``: who does not have which sensitive value. Private."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import typer

from ..errors import UsageError
from ..registry import MINING_OPTIONS
from . import screen
from .flags import NOTICES, Flag, check_stdin_once, option_flag, taking, whole
from .inputs import THREADS
from .microdata import (
    CELLS,
    COLUMNS,
    READ,
    TREES,
    hierarchy_files,
    mining_options,
    quasi_of,
    read_table,
)

if TYPE_CHECKING:
    from ..mining.rule_findings import RuleFinding, RuleSet
    from ..model.microdata import Microdata
    from ..model.rules import NegativeRule

EXAMPLE = (
    "Examples: setveil mine rules patients.csv --quasi sex,age --sensitive disease "
    "--intervals age=0,20,65,120    "
    "setveil mine rules adult.csv --quasi workclass,education --sensitive occupation "
    "--hierarchy education=education.csv --min-exp 0.95 -o rules.csv"
)
PRIVATE = (
    "Personal data: these rules are drawn from the original records. Keep them as safe as those; only "
    "a release may publish them."
)
TOP = 50
MANY_NUMBERS = 10
"""A column of more different numbers than this is better cut into intervals."""

_LONG = {"min_exp": "--min-expectation", "min_conf": "--min-confidence"}
OWN = tuple(
    replace(flag, names=(*flag.spelled, _LONG[flag.name])) if flag.name in _LONG else flag
    for flag in (
        option_flag(
            option,
            "" if option.type is bool else f"({option.default} if not given)",
            panel="Mining",
        )
        for option in MINING_OPTIONS
    )
)
OUTPUT = (
    Flag("every", bool, "rules that follow from others too", ("--all",), default=False, panel="Output"),
    Flag(
        "top",
        str | None,
        f"the first N rules only; {TOP} on the screen if not given, all in a file and as JSON",
        panel="Output",
        metavar="N",
    ),
    Flag(
        "output",
        str | None,
        "write the rules as CSV: a column for each condition, the sensitive value last",
        ("-o", "--output"),
        panel="Output",
        metavar="FILE.csv",
    ),
    Flag("force", bool, "with -o: replace an existing file", default=False, panel="Output"),
    Flag("as_json", bool, "print the rules as JSON", ("--json",), default=False, panel="Output"),
)


@taking(COLUMNS, OWN, TREES, OUTPUT, READ, CELLS, (replace(THREADS, panel="Mining"),), NOTICES)
def rules(
    data: str = typer.Argument(help="A table; - is standard input.", metavar="DATA"), **given: Any
) -> None:
    """Find negative rules: who fits certain conditions does not have a certain sensitive value.

    A rule is told where so many people meet its conditions that the value should be among them, and is
    not. Such rules are what an attacker may know already. Conditions are values of the columns named by
    --quasi and categories of their hierarchies.

    The result is private: it is drawn from the original records.
    """
    numbers = {
        name: None if given[name] is None else whole(name, given[name]) for name in ("threads", "top")
    }
    options = _check(data, given)
    table = read_table(data, given)
    from ..mining.negative_rules import mine_by_options
    from ..progress import Watch

    with (
        screen.notices_before_error(table.notices, verbose=given["verbose"]),
        screen.progress() as listener,
    ):
        found = mine_by_options(
            table, options, threads=numbers["threads"], watch=Watch(listener=listener)
        )
    told = [*table.notices, *told_of_numbers(table, given), *found.warnings()]
    screen.notices(told, verbose=given["verbose"])
    deliver_rules(found, given, every=given["every"], top=numbers["top"])


def deliver_rules(
    found: RuleSet,
    given: Mapping[str, Any],
    *,
    facts: Sequence[NegativeRule] = (),
    every: bool = False,
    top: int | None = None,
) -> None:
    """Write rules to the file that is named, if one is, and show them.

    Parameters
    ----------
    found
        What was mined.
    given
        The flags ``output``, ``force`` and ``as_json``.
    facts
        Known facts that join them.
    every
        Also rules that follow from others.
    top
        How many rules to write and show; all are written, and some shown, by default.
    """
    chosen = [finding for finding in found.findings if every or not finding.redundant][:top]
    if given["output"] is not None:
        from ..io.rules import write_rules

        write_rules(
            [*(finding.rule for finding in chosen), *facts],
            given["output"],
            attributes=found.attributes,
            sensitive=found.sensitive,
            force=given["force"],
        )
    if given["as_json"]:
        plain = {**found.as_dict(), "rules": [finding.as_dict() for finding in chosen]}
        counts: dict[str, Any] = {
            "found": len(found),
            "needed": len(found.rules),
            "output": given["output"],
        }
        if facts:
            counts["facts"] = [{"conditions": dict(f.conditions), "not": f.value} for f in facts]
        screen.print_json({"personal_data": PRIVATE, **counts, **plain})
        return
    show_rules(found, chosen if top is not None else chosen[:TOP], len(chosen), every=every)
    for fact in facts:
        screen.echo(f"known fact: {fact}")
    if given["output"] is not None:
        screen.echo(f"Written to {given['output']}.")
    screen.echo(PRIVATE)


def _check(data: str, given: Mapping[str, Any]) -> dict[str, object]:
    """Return how to mine; refuse what does not go together, before anything is read."""
    quasi_of(given)
    files = list(hierarchy_files(given).values())
    options = mining_options(given)
    if given["force"] and given["output"] is None:
        raise UsageError("--force is for -o FILE.", "Leave it out.")
    check_stdin_once([data, *files])
    if given["output"] is not None:
        from ..io.files import check_new_file

        inputs = [name for name in (data, *files) if name != "-"]
        check_new_file(given["output"], force=given["force"], inputs=inputs)
    return options


def told_of_numbers(table: Microdata, given: Mapping[str, Any]) -> list[str]:
    """Return advice about columns of numbers."""
    told = [
        f"column {attribute.name[:40]!r} holds {attribute.hierarchy.n_leaves:,} different numbers and "
        f"has no hierarchy; rules about intervals need --intervals {attribute.name[:40]}=EDGES."
        for attribute in table.quasi
        if attribute.is_numeric
        and attribute.hierarchy.height == 1
        and attribute.hierarchy.n_leaves > MANY_NUMBERS
    ]
    if given["fuzzy"] and not any(attribute.is_numeric for attribute in table.quasi):
        told.append("--fuzzy changes nothing: no column holds numbers alone.")
    return told


def show_rules(
    found: RuleSet, shown: Sequence[RuleFinding], n_chosen: int, *, every: bool = False
) -> None:
    """Print what was found, and the rules to be shown of so many chosen."""
    title = found.summary()
    if len(shown) < n_chosen:
        title += f" The first {len(shown):,}:"
    screen.echo(title)
    certain = all(finding.count_with_value == 0 for finding in shown)
    columns = ["rule", "expectation", "people", "has it", "follows"]
    rows = [
        [
            str(finding.rule),
            f"{finding.expectation:.3f}",
            _number(finding.count),
            _number(finding.count_with_value),
            "yes" if finding.redundant else "no",
        ]
        for finding in shown
    ]
    wanted = [0, 1, 2] + ([] if certain else [3]) + ([4] if every else [])
    if rows:
        screen.table(
            "", [columns[place] for place in wanted], [[row[place] for place in wanted] for row in rows]
        )


def _number(count: Any) -> str:
    return f"{count:,}" if isinstance(count, int) else f"{float(count):,.2f}"
