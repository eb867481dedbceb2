"""What Cheng's Tables 2 to 7 print: the grid of theta_p and theta_q on Adult and Mushroom.

M. W.-K. Cheng, *Hiding emerging pattern with local recoding generalization*, section 8. A cell is the
distortion of the frequent itemsets and how many of them are missing, or minutes. All as printed: one
cell of Table 4 has a number too many.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

THETAS = ("0", "0.2", "0.4", "0.6", "0.8", "1")
FLAT = "Adult, flat"
"""Adult with nothing between a value and `*`: what the hierarchies are worth."""
LARGEST = {"Adult": "623.1", "Mushroom": "116"}
"""The distortion where every value of every frequent itemset goes to the root."""


@dataclass(frozen=True)
class PaperTable:
    """One grid: its cells by (theta_p, theta_q)."""

    number: int
    data: str
    search: str
    minutes: bool
    cells: Mapping[tuple[str, str], str]

    @property
    def title(self) -> str:
        """What it shows."""
        shown = "time" if self.minutes else "distortion / missing itemsets"
        return f"Table {self.number}: {self.search} on {self.data}, {shown}"


def _table(number: int, data: str, search: str, text: str, *, minutes: bool = False) -> PaperTable:
    lines = [line.split() for line in text.strip().splitlines()]
    cells = {
        (theta_p, theta_q): cell
        for theta_p, line in zip(THETAS, lines, strict=True)
        for theta_q, cell in zip(THETAS, line, strict=True)
    }
    return PaperTable(number, data, search, minutes, cells)


TABLES = (
    _table(
        2,
        "Adult",
        "greedy",
        """
        0/0    50/1   50/1   50/1   50/1   NA
        46.7/1 73.3/1 21.5/1 21.5/1 21.5/1 7.5/3
        46.7/1 73.3/1 21.5/1 21.5/1 21.5/1 7.5/3
        46.7/1 73.3/1 42.5/1 42.5/1 21.5/1 7.5/3
        46.7/1 73.3/1 21.5/1 42.5/1 42.5/1 7.5/4
        7.5/4  7.5/4  7.5/4  7.5/4  7.5/4  7.5/4
        """,
    ),
    _table(
        3,
        "Adult",
        "greedy",
        """
        54  311 305 214 319 DNF
        107 128 120 102 116 123
        135 109 120 111 117 108
        121 137 139 128 122 109
        101 122 103 130 139 131
        66  62  66  59  66  59
        """,
        minutes=True,
    ),
    _table(
        4,
        "Adult",
        "annealed",
        """
        23.3/2   61.6/1 61.6/1 35/1   50/1   42.5/1
        61.6/1/1 23.3/0 21.5/1 35/4   61.6/1 0/3
        21.5/1   26.6/1 0/3    23.3/1 28.5/1 61.6/2
        61.6/1   21.5/1 0/0    0/3    77/1   0/3
        61.6/1   33.3/1 23.3/1 50/1   0/1    61.6/3
        0/0      0/0    50/1   50/1   50/2   50/3
        """,
    ),
    _table(
        5,
        "Adult",
        "annealed",
        """
        713 472  366  629  738 417
        953 644  935  DNF  523 1074
        652 557  820  1012 871 893
        611 DNF  881  849  638 954
        408 677  1214 664  894 703
        576 1084 781  940  DNF DNF
        """,
        minutes=True,
    ),
    _table(
        6,
        "Mushroom",
        "greedy",
        """
        92.7/0 92.7/0 92.7/0 92.7/0 92.7/0 92.7/0
        92.7/0 74.7/0 74.7/0 74.7/0 74.7/0 74.7/0
        92.7/0 74.7/0 74.7/0 74.7/0 74.7/0 74.7/0
        92.7/0 74.7/0 74.7/0 74.7/0 74.7/0 55.3/1
        92.7/0 74.7/0 92.7/0 53.3/1 0/1    55.3/1
        92.7/0 92.7/0 92.7/0 NA     NA     74/0
        """,
    ),
    _table(
        7,
        "Mushroom",
        "annealed",
        """
        55.3/0 55.3/0 55.3/0 55.3/0 55.3/0 55.3/0
        55.3/0 55.3/0 55.3/0 36.7/0 55.3/0 92.7/0
        55.3/1 55.3/0 55.3/0 55.3/0 92.7/0 92.7/0
        55.3/0 55.3/0 55.3/0 55.3/0 55.3/0 92.7/0
        55.3/0 18/0   18/0   36.7/0 55.3/0 55.3/0
        55.3/0 55.3/0 92.7/0 55.3/0 74/0   55.3/0
        """,
    ),
)

FLAT_TABLE = replace(TABLES[0], data=FLAT)
"""Our Adult without categories beside the paper's Table 2, which has some."""
