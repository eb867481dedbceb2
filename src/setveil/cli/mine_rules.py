"""``setveil mine rules``: who does not have which sensitive value. Private."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar

import typer

from ..registry import MINING_OPTIONS
from ..run import Shown
from ..run.fields import (
    BUCKETS,
    TABLE_PANEL,
    Field,
    Fields,
    Options,
    Text,
    Texts,
    declare,
    fields_of,
    option_field,
    refuse_stdin_twice,
    switch,
    texts,
)
from ..run.reading import Cells, Files, Intervals, Quasi, SecretTable, Trees
from . import screen
from .flags import as_json, check_outputs, with_flags

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
_NOT_OF_BUCKETS = frozenset(field.name for field in fields_of(Files) if BUCKETS not in field.fits)


class Written(Fields):
    """What is shown and written."""

    PANEL = "Output"

    every: bool = switch("rules that follow from others too", "--all")
    top: int | None = declare(
        f"the first N rules only; {TOP} on the screen if not given, all in a file and as JSON",
        metavar="N",
    )
    output: Text = declare(
        "write the rules as CSV: a column for each condition, the sensitive value last",
        "-o",
        "--output",
        metavar="FILE.csv",
    )
    force: bool = switch("with -o: replace an existing file")
    as_json: bool = as_json("the rules")


class Asked(SecretTable, Written, Options, Shown):
    """What `mine rules` can be asked."""

    LEFT_OUT: ClassVar[frozenset[str]] = _NOT_OF_BUCKETS | {"unknown", "private_hierarchy"}
    ORDER: ClassVar[tuple[type[Fields], ...]] = (Quasi, Trees, Intervals, Written, Files, Cells, Shown)

    sensitive: Text = declare(
        "the column that nobody shall learn; one value a person", panel=TABLE_PANEL, metavar="COLUMN"
    )
    hierarchy: Texts = texts(
        "the hierarchy of a quasi-identifying column; may be repeated",
        panel="Hierarchy",
        metavar="COLUMN=FILE",
    )
    missing_cells: Text = declare(
        "error, suppress-row or category for cells without a value", panel=TABLE_PANEL
    )
    threads: int | None = declare(
        "how many threads count; all if not given", panel="Mining", metavar="N"
    )

    @classmethod
    def more_fields(cls) -> tuple[Field, ...]:
        return _mining_fields()

    @property
    def secret(self) -> str | None:
        return self.sensitive


@cache
def _mining_fields() -> tuple[Field, ...]:
    found = []
    for option in MINING_OPTIONS:
        field = option_field(option, panel="Mining")
        if option.type is not bool:
            field = replace(field, help=f"{field.help} ({option.default} if not given)")
        if option.name in _LONG:
            field = replace(field, names=(*field.spelled, _LONG[option.name]))
        found.append(field)
    return tuple(found)


@with_flags(Asked)
def rules(
    data: str = typer.Argument(help="A table; - is standard input.", metavar="DATA"), **given: Any
) -> None:
    """Find negative rules: who fits certain conditions does not have a certain sensitive value.

    A rule is told where so many people meet its conditions that the value should be among them, and is
    not. Such rules are what an attacker may know already. Conditions are values of the columns named by
    --quasi and categories of their hierarchies.

    The result is private: it is drawn from the original records.
    """
    asked = Asked.take(given)
    options = _check(data, asked)
    table = asked.read_table(data)
    from ..mining.negative_rules import mine_by_options

    with screen.working(table.notices, verbose=asked.verbose) as watch:
        found = mine_by_options(table, options, threads=asked.threads, watch=watch)
    notices = [*table.notices, *_advise(table, fuzzy=bool(options.get("fuzzy"))), *found.warnings()]
    screen.notices(notices, verbose=asked.verbose)
    deliver_rules(
        found, asked.output, force=asked.force, as_json=asked.as_json, every=asked.every, top=asked.top
    )


def deliver_rules(
    found: RuleSet,
    output: str | None,
    *,
    force: bool = False,
    as_json: bool = False,
    facts: Sequence[NegativeRule] = (),
    every: bool = False,
    top: int | None = None,
) -> None:
    """Write rules to the file that is named, if one is, and show them; known facts join them.

    Rules that follow from others are left out unless `every` is asked for. All that are left are
    written, and some shown, where `top` does not say how many.
    """
    chosen = [finding for finding in found.findings if every or not finding.redundant][:top]
    if output is not None:
        from ..io.rules import write_rules

        write_rules(
            [*(finding.rule for finding in chosen), *facts],
            output,
            attributes=found.attributes,
            sensitive=found.sensitive,
            force=force,
        )
    if as_json:
        plain = {**found.as_dict(), "rules": [finding.as_dict() for finding in chosen]}
        counts: dict[str, Any] = {"found": len(found), "needed": len(found.rules), "output": output}
        if facts:
            counts["facts"] = [{"conditions": dict(f.conditions), "not": f.value} for f in facts]
        screen.print_json({"personal_data": PRIVATE, **counts, **plain})
        return
    _show_rules(found, chosen if top is not None else chosen[:TOP], len(chosen), every=every)
    for fact in facts:
        screen.echo(f"known fact: {fact}")
    if output is not None:
        screen.echo(f"Written to {output}.")
    screen.echo(PRIVATE)


def _check(data: str, asked: Asked) -> Mapping[str, object]:
    """Return how to mine; refuse what does not go together, before anything is read."""
    from ..run.buckets import check_mining

    files = [data, *asked.column_trees().values()]
    options = check_mining(asked.options)
    refuse_stdin_twice(files)
    inputs = [name for name in files if name != "-"]
    check_outputs(asked, inputs, "output", force_is_for="-o FILE")
    return options


def _advise(table: Microdata, *, fuzzy: bool) -> list[str]:
    """Return advice about columns of numbers."""
    advice = [
        f"column {attribute.name[:40]!r} holds {attribute.hierarchy.n_leaves:,} different numbers and "
        f"has no hierarchy; rules about intervals need --intervals {attribute.name[:40]}=EDGES."
        for attribute in table.quasi
        if attribute.is_numeric
        and attribute.hierarchy.height == 1
        and attribute.hierarchy.n_leaves > MANY_NUMBERS
    ]
    if fuzzy and not any(attribute.is_numeric for attribute in table.quasi):
        advice.append("--fuzzy changes nothing: no column holds numbers alone.")
    return advice


def _show_rules(
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
