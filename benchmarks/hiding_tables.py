"""``python -m benchmarks.hiding_tables``: Tables 2 to 7 of Cheng's paper again, cell by cell.

Every cell of the grid theta_p x theta_q is a run of the paper's search on its data, audited. It is
appended to a file once it is finished; a run that is stopped leaves nothing of the cell it was at, and
the next run goes on from there. At the end the cells are written as tables beside the paper's.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

from .data import ROOT, DataAbsent
from .hiding_page import as_page, with_tables
from .hiding_paper import FLAT, THETAS
from .pattern_pairs import adult, digest, flat_adult, hidden, judged, mushroom

RESULTS = ROOT / "benchmarks" / "results"
CELLS, PAGE = "hiding-tables.jsonl", "hiding-tables.md"
EXPLAINED = ROOT / "docs" / "explain" / "hiding-tables.md"
"""The page that shows the tables; those between its marks are replaced with the kept results."""
LIMIT = 600.0
SETTINGS: Mapping[str, Any] = {
    "growth": 5,
    "min_support": Fraction(1, 10),
    "frequent_support": 0.4,
    "temperature": 10.0,
    "cooling": 0.4,
    "restarts": 5,
    "seed": 0,
}
DATA: Mapping[str, Callable[[], Any]] = {"Adult": adult, "Mushroom": mushroom, FLAT: flat_adult}
GRIDS = (
    *(("Adult", "greedy"), (FLAT, "greedy"), ("Mushroom", "greedy")),
    *(("Mushroom", "annealed"), ("Adult", "annealed")),
)
SOURCES = (
    *("methods/hide_patterns/*.py", "model/costs.py", "kernels/hiding.py"),
    "measure/pairs.py",
)
"""What decides a cell: where any of these files changes, cells made before are not of this code."""

Found = dict[str, Any]


class Cell(NamedTuple):
    """One run: the data, the search, and both weights as they are written."""

    data: str
    search: str
    theta_p: str
    theta_q: str


def grid(only: Sequence[str] = ()) -> list[Cell]:
    """Return the cells, those of the quick grids first."""
    return [
        Cell(data, search, theta_p, theta_q)
        for data, search in GRIDS
        if not only or data in only
        for theta_p in THETAS
        for theta_q in THETAS
    ]


def measured(pair: Any, cell: Cell, limit: float, settings: Mapping[str, Any] = SETTINGS) -> Found:
    """Run one cell; where the time did not suffice only that is told."""
    release = hidden(
        pair,
        time_limit=limit,
        search=cell.search,
        theta_p=float(cell.theta_p),
        theta_q=float(cell.theta_q),
        **settings,
    )
    if not release.complete:
        return {**cell._asdict(), "finished": False, "limit": limit}
    return {**cell._asdict(), "finished": True, "seconds": round(release.seconds, 3), **judged(release)}


class Kept:
    """The file of finished cells: one line of JSON each, in the order in which they came."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.found: dict[Cell, Found] = {}
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        whole, cut = text.rpartition("\n")[::2]
        if cut:
            # A line that was being written when the run was stopped.
            path.write_text(whole + "\n" if whole else "", encoding="utf-8")
        for line in whole.splitlines():
            plain = json.loads(line)
            self.found[Cell(*(plain[name] for name in Cell._fields))] = plain

    def has(self, cell: Cell, of: str, limit: float) -> bool:
        """Tell whether a cell need not be run: same data, same code, and not with less time."""
        plain = self.found.get(cell)
        if plain is None or plain["of"] != of:
            return False
        return bool(plain["finished"]) or limit <= plain["limit"]

    def add(self, cell: Cell, plain: Found) -> None:
        """Append a cell."""
        self.found[cell] = plain
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(plain) + "\n")

    def tidy(self) -> None:
        """Leave out what was made again since."""
        if self.found:
            beside = self.path.with_suffix(".new")
            beside.write_text(
                "".join(json.dumps(plain) + "\n" for plain in self.found.values()), encoding="utf-8"
            )
            beside.replace(self.path)


def fill(
    kept: Kept,
    cells: Sequence[Cell],
    data: Mapping[str, Callable[[], Any]],
    limit: float,
    run: Callable[[Any, Cell, float], Found] = measured,
) -> Iterator[tuple[Cell, Found]]:
    """Yield each cell that was not there yet, once it is kept."""
    pairs: dict[str, tuple[Any, str]] = {}
    warm: set[str] = set()
    for cell in cells:
        if cell.data not in pairs:
            pair = data[cell.data]()
            pairs[cell.data] = pair, made_of(digest(pair))
        pair, of = pairs[cell.data]
        if kept.has(cell, of, limit):
            continue
        if cell.data not in warm:
            # The first run loads or compiles kernels; it is not counted.
            run(pair, cell._replace(search="greedy", theta_p="0.4", theta_q="0.8"), limit)
            warm.add(cell.data)
        plain = {**run(pair, cell, limit), "of": of}
        kept.add(cell, plain)
        yield cell, plain


def made_of(data: str) -> str:
    """Return what tells results apart: data with their hierarchies, the code, the fixed settings."""
    code = hashlib.sha256()
    for pattern in SOURCES:
        for file in sorted((ROOT / "src" / "setveil").glob(pattern)):
            code.update(file.read_bytes())
    settings = " ".join(f"{name}={value}" for name, value in SETTINGS.items())
    return f"data={data} code={code.hexdigest()[:16]} {settings}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what is missing, then write the tables; 130 where it was interrupted."""
    asked = _parser().parse_args(arguments)
    if asked.again:
        (asked.output / CELLS).unlink(missing_ok=True)
    kept, stopped = Kept(asked.output / CELLS), False
    cells = grid(asked.data)
    try:
        for cell, plain in fill(kept, cells, DATA, asked.limit) if not asked.page else ():
            print(_told(cell, plain), flush=True)
    except DataAbsent as reason:
        print(f"skipped: {reason}")
        return 0
    except KeyboardInterrupt:
        stopped = True
        print("stopped; the cells above are kept, and the same command goes on.", file=sys.stderr)
    (asked.output / PAGE).parent.mkdir(parents=True, exist_ok=True)
    kept.tidy()
    found = list(kept.found.values())
    (asked.output / PAGE).write_text(as_page(found), encoding="utf-8")
    if asked.output == RESULTS and EXPLAINED.exists():
        EXPLAINED.write_text(with_tables(EXPLAINED.read_text(encoding="utf-8"), found), "utf-8")
    print(f"{len(kept.found)} of {len(grid())} cells are in {CELLS}, the tables in {PAGE}.")
    return 130 if stopped else 0


def _told(cell: Cell, plain: Found) -> str:
    if plain["finished"]:
        said = (
            f"{plain['distortion']} / {plain['missing']} in {plain['seconds']:.1f} s, "
            f"{plain['patterns_left']} patterns left"
        )
    else:
        said = f"not finished in {plain['limit']:g} s"
    return f"{cell.data}, {cell.search}, theta_p {cell.theta_p}, theta_q {cell.theta_q}: {said}"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.hiding_tables",
        description="Make Tables 2 to 7 of the paper on hiding emerging patterns again. Finished cells "
        "are kept: a run that was stopped goes on where it was.",
    )
    parser.add_argument(
        "--limit",
        type=float,
        default=LIMIT,
        metavar="SECONDS",
        help=f"how long one cell may take; {LIMIT:g} by default",
    )
    parser.add_argument(
        "--data",
        action="append",
        default=[],
        choices=list(DATA),
        help="the cells of this data set only",
    )
    parser.add_argument("--output", type=Path, default=RESULTS, help="folder for cells and tables")
    parser.add_argument("--page", action="store_true", help="run nothing, write the tables again")
    parser.add_argument("--again", action="store_true", help="forget the cells that are kept")
    return parser


if __name__ == "__main__":
    raise SystemExit(main())
