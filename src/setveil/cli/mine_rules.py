"""``setveil mine rules``: who does not have which sensitive value. Private."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import typer

from ..errors import UsageError
from . import screen
from .flags import NOTICES, Flag, check_stdin_once, taking, whole
from .inputs import THREADS
from .microdata import CELLS, COLUMNS, READ, TREES, hierarchy_files, quasi_of, read_table

if TYPE_CHECKING:
    from ..mining.rule_findings import RuleFinding, RuleSet
    from ..model.microdata import Microdata

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

OWN = tuple(
    Flag(name, kind, text, names, default, "Mining", metavar)
    for name, kind, text, names, default, metavar in (
        (
            "min_expectation",
            str,
            "how probable the value must be among as many people as meet the conditions",
            ("--min-exp", "--min-expectation"),
            "0.9",
            "SHARE",
        ),
        (
            "min_confidence",
            str,
            "the share of them that must not have it",
            ("--min-conf", "--min-confidence"),
            "1",
            "SHARE",
        ),
        ("max_antecedent", str, "conditions of a rule at most", (), "1", "N"),
        ("fuzzy", bool, "numbers close to a category belong to it in part", (), False, None),
        (
            "membership",
            str,
            "with --fuzzy: product or minimum of several conditions",
            (),
            "product",
            None,
        ),
        (
            "control",
            str,
            "rules that must pass a control of false discoveries: those longer than one condition, all "
            "or none",
            (),
            "longer",
            None,
        ),
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
        name: None if given[name] is None else whole(name, given[name])
        for name in ("max_antecedent", "threads", "top")
    }
    _check(data, given)
    table = read_table(data, given)
    from ..mining.negative_rules import mine_negative_rules
    from ..progress import Watch

    with (
        screen.notices_before_error(table.notices, verbose=given["verbose"]),
        screen.progress() as listener,
    ):
        found = mine_negative_rules(
            table,
            min_expectation=given["min_expectation"],
            min_confidence=given["min_confidence"],
            max_antecedent=numbers["max_antecedent"] or 0,
            fuzzy=given["fuzzy"],
            membership=given["membership"],
            control=given["control"],
            threads=numbers["threads"],
            watch=Watch(listener=listener),
        )
    screen.notices([*table.notices, *_told(table, given)], verbose=given["verbose"])
    chosen = [finding for finding in found.findings if given["every"] or not finding.redundant]
    chosen = chosen[: numbers["top"]]
    if given["output"] is not None:
        from ..io.rules import write_rules

        write_rules(
            [finding.rule for finding in chosen],
            given["output"],
            attributes=found.attributes,
            sensitive=found.sensitive,
            force=given["force"],
        )
    if given["as_json"]:
        plain = {**found.as_dict(), "rules": [finding.as_dict() for finding in chosen]}
        counts = {"found": len(found), "needed": len(found.rules), "output": given["output"]}
        screen.print_json({"personal_data": PRIVATE, **counts, **plain})
        return
    _show(found, chosen if numbers["top"] is not None else chosen[:TOP], len(chosen), given)


def _check(data: str, given: Mapping[str, Any]) -> None:
    """Refuse what does not go together, before anything is read."""
    from ..io.draft import check_choice
    from ..mining.rule_discoveries import CONTROLS
    from ..mining.rule_membership import MEMBERSHIPS
    from ..mining.rule_thresholds import exact_share
    from ..model.guarantees import whole_number

    quasi_of(given)
    files = list(hierarchy_files(given).values())
    exact_share("min-exp", given["min_expectation"], below_one=True)
    exact_share("min-conf", given["min_confidence"])
    whole_number("max-antecedent", whole("max-antecedent", given["max_antecedent"]), least=1)
    check_choice("membership", given["membership"], MEMBERSHIPS)
    check_choice("control", given["control"], CONTROLS)
    if given["force"] and given["output"] is None:
        raise UsageError("--force is for -o FILE.", "Leave it out.")
    check_stdin_once([data, *files])
    if given["output"] is not None:
        from ..io.files import check_new_file

        inputs = [name for name in (data, *files) if name != "-"]
        check_new_file(given["output"], force=given["force"], inputs=inputs)


def _told(table: Microdata, given: Mapping[str, Any]) -> list[str]:
    """Return advice about columns of numbers."""
    told = [
        f"column {attribute.name[:40]!r} holds {attribute.hierarchy.n_leaves:,} different numbers and "
        f"has no hierarchy; rules about intervals need --intervals {attribute.name[:40]}=EDGES."
        for attribute in table.quasi
        if attribute.is_numeric
        and attribute.hierarchy.height == 1
        and attribute.hierarchy.n_leaves > MANY_NUMBERS
    ]
    if given["fuzzy"] and not any(a.is_numeric and a.hierarchy.height > 1 for a in table.quasi):
        told.append("--fuzzy changes nothing: no column has categories of numbers.")
    return told


def _show(
    found: RuleSet, shown: Sequence[RuleFinding], n_chosen: int, given: Mapping[str, Any]
) -> None:
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
    wanted = [0, 1, 2] + ([] if certain else [3]) + ([4] if given["every"] else [])
    if rows:
        screen.table(
            "", [columns[place] for place in wanted], [[row[place] for place in wanted] for row in rows]
        )
    if given["output"] is not None:
        screen.echo(f"Written to {given['output']}.")
    screen.echo(PRIVATE)


def _number(count: Any) -> str:
    return f"{count:,}" if isinstance(count, int) else f"{float(count):,.2f}"
