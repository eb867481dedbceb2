"""Tables with a sensitive column: Adult as in Table III of the Injector paper, or a small made one."""

from __future__ import annotations

import csv
import gzip
from random import Random
from typing import Any

import numpy as np

from .data import data_file

QUASI = ("age", "workclass", "education", "marital-status", "race", "sex")
SENSITIVE = "occupation"
SEED = 20_080_407


def adult() -> Any:
    """Return the 30,162 complete rows with ARX's hierarchies; `DataAbsent` where files lack."""
    import setveil as sv
    from setveil.model.microdata import Microdata

    with gzip.open(data_file("adult_arx.csv.gz"), "rt", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    trees = {name: sv.read_hierarchy(str(data_file(f"adult_hierarchy_{name}.csv"))) for name in QUASI}
    columns = {name: [row[name] for row in rows] for name in (*QUASI, SENSITIVE)}
    return Microdata.from_columns(columns, SENSITIVE, hierarchies=trees)


def tiny(rows: int = 400) -> Any:
    """Return a made table in which some groups of people never have some values."""
    from setveil.model.microdata import Microdata

    random = Random(SEED)
    jobs = [f"job {number}" for number in range(9)]
    columns: dict[str, list[str]] = {"sex": [], "town": [], SENSITIVE: []}
    for _ in range(rows):
        sex, town = random.choice("FM"), random.choice("pqrs")
        able = jobs[1:] if sex == "F" else jobs[:-1]
        columns["sex"].append(sex)
        columns["town"].append(town)
        columns[SENSITIVE].append(random.choice(able[2:] if town == "p" else able))
    return Microdata.from_columns(columns, SENSITIVE)


def resampled(data: Any, rows: int) -> Any:
    """Return a table of `rows` tuples drawn from one with replacement, from a fixed seed."""
    from setveil.model.microdata import Microdata, QuasiAttribute

    chosen = np.random.default_rng(SEED).integers(0, len(data), rows)
    quasi = tuple(
        QuasiAttribute(each.name, each.hierarchy, each.leaf_by_tuple[chosen]) for each in data.quasi
    )
    return Microdata(quasi, data.sensitive, data.values, data.value_by_tuple[chosen])
