"""Small inputs for the frozen jobs, drawn from a seed or written out."""

from __future__ import annotations

import json
from collections.abc import Sequence
from random import Random

PATHS = (
    "ale;drinks;ALL;ALL\nwine;drinks;ALL;ALL\ncola;drinks;ALL;ALL\n"
    "milk;dairy;food;ALL\nbrie;dairy;food;ALL\nskyr;dairy;food;ALL\n"
    "bun;bakery;food;ALL\nrye;bakery;food;ALL\n"
    'soap;other;ALL;ALL\n"pens, ""red""";other;ALL;ALL\n'
)
ITEMS = ("milk", "bun", "ale", "cola", "rye", "brie", "wine", "soap", "skyr", 'pens, "red"')
"""The more frequent first."""


def drawn(random: Random, values: Sequence[str], lean: float = 1.7) -> str:
    """Return one of the values, the first ones more often; the same for every version of Python."""
    return values[int(len(values) * random.random() ** lean)]


def baskets(seed: int, n: int, items: Sequence[str] = ITEMS, most: int = 4) -> list[list[str]]:
    random = Random(seed)
    return [
        sorted({drawn(random, items) for _ in range(1 + int(most * random.random()))}) for _ in range(n)
    ]


def quoted(cell: str) -> str:
    return '"' + cell.replace('"', '""') + '"' if any(c in cell for c in ',"') else cell


def as_baskets(records: Sequence[Sequence[str]]) -> str:
    return "".join(",".join(map(quoted, record)) + "\n" for record in records)


def as_long(records: Sequence[Sequence[str]]) -> str:
    lines = [f"p{at:02},{quoted(item)}\n" for at, record in enumerate(records) for item in record]
    return "person,what\n" + "".join(lines)


def as_onehot(records: Sequence[Sequence[str]], items: Sequence[str] = ITEMS) -> str:
    rows = [",".join("01"[item in record] for item in items) for record in records]
    return "\n".join([",".join(map(quoted, items)), *rows, ""])


def as_fimi(records: Sequence[Sequence[str]], items: Sequence[str] = ITEMS) -> str:
    return "".join(" ".join(str(items.index(item)) for item in record) + "\n" for record in records)


def as_jsonl(records: Sequence[Sequence[str]]) -> str:
    return "".join(json.dumps(record) + "\n" for record in records)


def as_rows(records: Sequence[Sequence[str]]) -> str:
    """Return what the Parquet layout holds, a record a row, as JSON lines."""
    return "".join(json.dumps({"items": record}) + "\n" for record in records)


def people(seed: int, n: int) -> str:
    """Return a table of people with a set-valued column."""
    random = Random(seed)
    lines = ["sex,city,drugs,note"]
    for at in range(n):
        drugs = sorted({drawn(random, ("ale", "milk", "bun", "wine", "rye")) for _ in range(2)})
        city = "" if at % 9 == 4 else drawn(random, ("Ulm", "Hof", "Kiel"))
        lines.append(f"{drawn(random, 'FM', 1)},{city},{'|'.join(drugs)},{'ab'[at % 2]}")
    return "\n".join(lines) + "\n"


def patients(seed: int, n: int, *, gaps: bool = False) -> str:
    """Return a table of people with one secret each; no man has the second one."""
    random = Random(seed)
    lines = ["name,age,sex,zip,disease"]
    for at in range(n):
        sex = drawn(random, "FM", 1)
        ills = ("flu", "angina", "ulcer", "asthma", "gout")
        ill = drawn(random, ills if sex == "F" else ("flu", "ulcer", "asthma", "gout"), 1.2)
        place = "" if gaps and at % 11 == 5 else drawn(random, ("101", "102", "201", "202"), 1)
        lines.append(f"n{at:02},{20 + int(40 * random.random())},{sex},{place},{ill}")
    return "\n".join(lines) + "\n"


ZIPS = "101;10*;all\n102;10*;all\n201;20*;all\n202;20*;all\n"
EDUCATION = "BSc;degree;any\nMSc;degree;any\n9th;school;any\nHS;school;any\n"


def incomes(seed: int, n: int) -> str:
    """Return a table of two classes that differ in a column."""
    random = Random(seed)
    lines = ["education,sex,income"]
    for _ in range(n):
        income = drawn(random, ("low", "high"), 1)
        usual = ("BSc", "MSc") if income == "high" else ("9th", "HS")
        known = usual if random.random() < 0.8 else ("BSc", "MSc", "9th", "HS")
        lines.append(f"{drawn(random, known, 1)},{drawn(random, 'FM', 1)},{income}")
    return "\n".join(lines) + "\n"
