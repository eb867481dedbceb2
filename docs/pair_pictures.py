"""The picture of hiding patterns, on two columns of the nine people of Cheng's Table 1.

Patterns, growth and published values come from running the method; only arrangement and words are made
here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

from docs.method_pictures import chips
from setveil.api import anonymize
from setveil.hierarchy.tree import Hierarchy
from setveil.mining.emerging import EmergingPatterns, emerging_patterns
from setveil.model.guarantees import HiddenPatterns
from setveil.model.pattern_pair import PatternPair
from setveil.model.transactions import Transactions
from setveil.report.drawing import ABOVE, CHOSEN, MUTED, PLAIN, RARE, Drawing, Style

MARRIED = (("BA", "executive"), ("MSE", "manager"), ("MSE", "manager"), ("MSE", "manager"))
NEVER = (
    ("BA", "manager"),
    ("MSE", "manager"),
    ("HS", "repair"),
    ("BA", "manager"),
    ("BA", "manager"),
)
NAMES = ("married", "never married")
TREES = {
    "edu": Hierarchy.from_parents(
        {"BA": "degree", "MSE": "degree", "HS": "any", "degree": "any", "any": None}
    ),
    "job": Hierarchy.from_parents(
        {"executive": "office", "manager": "office", "repair": "any", "office": "any", "any": None}
    ),
}
GOAL = HiddenPatterns(Fraction(3), Fraction(1, 2))
Table = Sequence[tuple[str, str]]


def _sets(table: Table) -> Transactions:
    return Transactions.from_rows([[f"edu={edu}", f"job={job}"] for edu, job in table])


def _cells(side: Transactions) -> list[tuple[str, str]]:
    return [(edu.partition("=")[2], job.partition("=")[2]) for edu, job in side.rows()]


def _draw(
    sheet: Drawing,
    x: float,
    y: float,
    title: str,
    table: Table,
    style: Callable[[str, tuple[str, str]], Style],
) -> None:
    """Draw a table: its name, and a line of cells for each person."""
    sheet.box(x, y, 196, 40 + 28 * len(table), ABOVE)
    sheet.text(x + 12, y + 21, title, size=12.5, bold=True)
    for row, (edu, job) in enumerate(table):
        foot = y + 48 + 28 * row
        chips(sheet, x + 12, foot, [edu], style=style(edu, (edu, job)))
        chips(sheet, x + 82, foot, [job], style=style(job, (edu, job)))


def _patterns(before: EmergingPatterns) -> list[str]:
    lines = []
    for pattern in before:
        items = ", ".join(item.partition("=")[2] for item in pattern.items)
        grown = "only there" if pattern.is_jumping else f"{pattern.told_growth} times as frequent"
        shares = f"{float(pattern.share):.0%} against {float(pattern.share_elsewhere):.0%}"
        lines.append(f"{{{items}}} in {pattern.more_frequent_in}: {shares}, {grown}")
    return lines


def pair_picture() -> str:
    """Two tables that patterns tell apart, and the same after some values were raised."""
    pair = PatternPair.of_tables(_sets(MARRIED), _sets(NEVER), ("edu", "job"), TREES, names=NAMES)
    release = anonymize(pair, GOAL)
    before = emerging_patterns(
        _sets(MARRIED), _sets(NEVER), growth=GOAL.growth, min_support=GOAL.min_support, names=NAMES
    )

    def of_pattern(name: str) -> Callable[[str, tuple[str, str]], Style]:
        """Mark the values of patterns that are more frequent in the data set of this name."""
        told = {
            frozenset(item.partition("=")[2] for item in pattern.items)
            for pattern in before
            if pattern.more_frequent_in == name
        }

        def style(cell: str, row: tuple[str, str]) -> Style:
            return RARE if any(cell in items and items <= set(row) for items in told) else PLAIN

        return style

    def as_published(cell: str, _row: tuple[str, str]) -> Style:
        return CHOSEN if cell in ("degree", "office", "any") else PLAIN

    sheet = Drawing(
        900,
        372,
        title="hide-patterns: raise values until neither data set has anything far more often",
        description="Two small tables whose patterns tell them apart, and the same tables with degrees "
        "in the place of BA and MSE, after which no pattern is left.",
    )
    sheet.heading(24, 34, "What tells the data sets apart, growth 3", number="1.")
    _draw(sheet, 24, 54, NAMES[0], MARRIED, of_pattern(NAMES[0]))
    _draw(sheet, 232, 54, NAMES[1], NEVER, of_pattern(NAMES[1]))
    sheet.lines(24, 262, _patterns(before), size=12)
    sheet.lines(
        24,
        334,
        [
            "Sets count that half of the people of a data set have.",
            "Marked: values of a pattern, where it is more frequent.",
        ],
        colour=MUTED,
        size=12,
    )
    sheet.heading(472, 34, "Published: some values one step up", number="2.")
    first, second = (_cells(side) for side in release.published.sides)
    _draw(sheet, 472, 54, NAMES[0], first, as_published)
    _draw(sheet, 680, 54, NAMES[1], second, as_published)
    shares = [sum(row == ("degree", "manager") for row in side) / len(side) for side in (first, second)]
    sheet.lines(
        472,
        262,
        [
            f"{{degree, manager}}: {shares[0]:.0%} against {shares[1]:.0%}, "
            f"{shares[0] / shares[1]:.2f} times as frequent.",
            "No set that half of a data set has grows 3 times or more.",
            "Who is no part of it keeps the value: one MSE stays among",
            "the never married, since local recoding raises cells, not",
            "whole columns.",
        ],
        size=12,
    )
    return sheet.svg()


PICTURES: dict[str, Callable[[], str]] = {"hide-patterns": pair_picture}
