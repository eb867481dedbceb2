"""What the benchmarks work on: real files where they are, or data made from a seed.

Real files are looked for in ``../shared/data`` beside the project, or in the folder that SETVEIL_DATA
names. A benchmark whose files are absent is skipped, with the reason.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[1]

FILES: Mapping[str, tuple[str, str | None]] = {
    "groceries": ("groceries.csv.gz", "groceries.hierarchy.csv"),
    "fruithut": ("fruithut.dat.gz", "fruithut.hierarchy.csv"),
    "fruithut, labels by level": ("fruithut.dat.gz", "fruithut.hierarchy.csv"),
    "informs2005": ("informs2005.dat.gz", "icd9_3digit.hierarchy.csv"),
    "BMS-WebView-1": ("BMS-WebView-1.dat.gz", "BMS-WebView-1.hierarchy.synthetic.csv"),
    "BMS-WebView-2": ("BMS-WebView-2.dat.gz", "BMS-WebView-2.hierarchy.synthetic.csv"),
    "retail": ("retail.dat.gz", None),
}
"""Data set -> its file and the file of its hierarchy."""
LABELS = {"informs2005": "informs2005.items.csv"}
"""Data set -> the file that maps its ids to the labels of the hierarchy."""
BY_LEVEL = ("fruithut, labels by level",)
"""Data sets whose hierarchy is read with the same label at two levels as two nodes."""

MADE = ("POS shape", "modulo", "small")


class DataAbsent(Exception):
    """A real file that is not here."""


def data_folder() -> Path:
    """Return the folder of real files, which need not exist."""
    return Path(os.environ.get("SETVEIL_DATA", ROOT.parent / "shared" / "data"))


def data_file(name: str) -> Path:
    """Return the path of a real file; `DataAbsent` where there is none."""
    path = data_folder() / name
    if not path.is_file():
        raise DataAbsent(
            f"{name} is not here; put it into ../shared/data or the folder SETVEIL_DATA names"
        )
    return path


@dataclass(frozen=True)
class Source:
    """Data by name and shape. `records` and `items` cut real data and size made ones.

    - a name of `FILES`: the file, its first `records` records;
    - "POS shape": generated, with a balanced tree of `fan_out`;
    - "modulo": BMS-WebView-2 cut to `items` items by modulo, as the 2008 paper does;
    - "small": generated groceries, in place of any real file where the input shall be tiny.
    """

    name: str
    records: int | None = None
    items: int | None = None
    fan_out: int = 5

    def as_dict(self) -> dict[str, Any]:
        """Return plain values, which ``Source(**plain)`` takes."""
        return asdict(self)

    def check(self) -> None:
        """Raise `DataAbsent` where a file of this source is not here."""
        name = "BMS-WebView-2" if self.name == "modulo" else self.name
        for file in (*FILES.get(name, ()), LABELS.get(name)):
            if file is not None:
                data_file(file)

    def load(self) -> tuple[Any, Any]:
        """Return transactions and hierarchy."""
        if self.name not in MADE and self.name not in FILES:
            raise ValueError(f"unknown data {self.name!r}")
        from benchmarks.pos_shape import POS_ITEMS, POS_RECORDS, pos_shape
        from setveil.io.demo import groceries

        if self.name == "small":
            return groceries(self.records or 300)
        if self.name == "POS shape":
            data = pos_shape(self.records or POS_RECORDS, self.items or POS_ITEMS)
            return data, trees().balanced(data.vocabulary.labels, self.fan_out)
        if self.name == "modulo":
            return _modulo(self.records or 10_000, self.items or 40, self.fan_out)
        return _from_files(self.name, self.records)

    def sample(self, k: int) -> Source:
        """Return a small source of the same kind to warm up on, large enough for k."""
        records = max(600, 3 * k)
        if self.name == "modulo":
            return Source("POS shape", records, 20, self.fan_out)
        return Source("small", records)


def _from_files(name: str, records: int | None) -> tuple[Any, Any]:
    import setveil as sv

    file, tree = FILES[name]
    labels = str(data_file(LABELS[name])) if name in LABELS else None
    data = sv.read_transactions(str(data_file(file)), labels=labels)
    if name in BY_LEVEL and tree is not None:
        hierarchy: Any = by_level(data_file(tree).read_text(encoding="utf-8"))
    else:
        hierarchy = None if tree is None else sv.read_hierarchy(str(data_file(tree)))
    if records is not None and records < len(data):
        data = data.take(np.arange(records, dtype=np.int64))
    return data, hierarchy


def by_level(text: str) -> Any:
    """Return the hierarchy of rows ``leaf;level 1;...;root`` in which each column has its own labels.

    setveil reads a label that repeats on one path as padding of a short branch. Here ``c;c`` are two
    nodes, ``c@1`` below ``c@2``, so that a label used at two levels can mean less at the lower one.
    """
    rows = [line.split(";") for line in text.splitlines() if line]
    return trees().from_paths(
        [row[0], *(f"{label}@{column}" for column, label in enumerate(row[1:], 1))] for row in rows
    )


def _modulo(records: int, items: int, fan_out: int) -> tuple[Any, Any]:
    """Return the first records of BMS-WebView-2 with each id taken modulo `items`."""
    import setveil as sv

    data, _ = _from_files("BMS-WebView-2", records)
    small = sv.Transactions.from_rows({str(int(label) % items) for label in row} for row in data.rows())
    return small, trees().balanced(small.vocabulary.labels, fan_out)


def trees() -> Any:
    """Return the module that builds trees, in older checkouts (``--against``) too."""
    try:
        return import_module("setveil.hierarchy.build")
    except ModuleNotFoundError:
        return import_module("setveil.model.build")
