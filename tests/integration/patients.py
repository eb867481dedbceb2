"""The nine patients of Li and Li, Table I, with names nobody may publish; and how to run them."""

from __future__ import annotations

from pathlib import Path

from .cli import Ran, Shell

ROWS = (
    ("Ann", "47677", "29", "F", "Ovarian Cancer"),
    ("Bea", "47602", "22", "F", "Ovarian Cancer"),
    ("Bob", "47678", "27", "M", "Prostate Cancer"),
    ("Carl", "47905", "43", "M", "Flu"),
    ("Dora", "47909", "52", "F", "Heart Disease"),
    ("Emil", "47906", "47", "M", "Heart Disease"),
    ("Finn", "47605", "30", "M", "Heart Disease"),
    ("Gus", "47673", "36", "M", "Flu"),
    ("Hal", "47607", "32", "M", "Flu"),
)
HEADER = ("name", "zip", "age", "sex", "disease")
COLUMNS = ("--quasi", "zip,age,sex", "--sensitive", "disease")


def write_patients(path: str | Path = "patients.csv") -> None:
    """Write the table as CSV."""
    lines = [",".join(row) for row in (HEADER, *ROWS)]
    Path(path).write_text("\n".join(lines) + "\n")


def bucketed(shell: Shell, *words: str, output: str = "out") -> Ran:
    """Put the patients into buckets."""
    if not Path("patients.csv").exists():
        write_patients()
    return shell("anonymize", "patients.csv", *COLUMNS, *words, "-o", output)
