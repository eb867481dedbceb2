"""Every method with every guarantee it names, and the small worlds they are tried on."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import setveil as sv
from setveil.model.guarantees import Guarantee
from setveil.registry import METHODS, MethodRecord
from tests.oracle import promises

PARENTS: dict[str, str | None] = {
    **dict.fromkeys(("ale", "lager", "stout"), "beer"),
    **dict.fromkeys(("red", "white"), "wine"),
    **dict.fromkeys(("beer", "wine"), "alcohol"),
    **dict.fromkeys(("milk", "kefir"), "dairy"),
    **dict.fromkeys(("bun", "rye", "toast"), "bread"),
    "oil": "pantry",
    **dict.fromkeys(("alcohol", "dairy", "bread", "pantry", "HIV", "flu"), "ALL"),
    "ALL": None,
}
ITEMS = ("ale", "lager", "stout", "red", "white", "milk", "kefir", "bun", "rye", "toast", "oil")
SENSITIVE = ("HIV", "flu")


@dataclass(frozen=True)
class Case:
    """A method and a guarantee that its record names."""

    record: MethodRecord
    model: str

    @property
    def name(self) -> str:
        return f"{self.record.key}-{self.model}"

    def guarantee(self, *, k: int = 3, m: int = 2) -> Guarantee:
        return {
            "km": sv.KmAnonymity(k, m),
            "km-negative": sv.KmAnonymity(k, m, negative=True),
            "k": sv.KAnonymity(k),
            "lm": sv.LmDiversity(k, m, frozenset(SENSITIVE)),
            "coherence": sv.Coherence(60, k, m, frozenset(SENSITIVE)),  # type: ignore[arg-type]
        }[self.model]

    def rows(self, seed: int = 1, records: int = 40) -> list[list[str]]:
        """Return seeded records: few items often, others seldom, sensitive ones now and then."""
        draw = random.Random(seed)
        rows = []
        for number in range(records):
            row = {draw.choice(ITEMS[:7]), draw.choice(ITEMS)} | set(
                draw.sample(ITEMS, draw.randint(0, 2))
            )
            if self.model in ("lm", "coherence") and number % 9 == 0:
                row.add(SENSITIVE[number % 2])
            rows.append(sorted(row))
        return rows

    def hierarchy(self) -> sv.Hierarchy:
        return sv.Hierarchy.from_parents(PARENTS)

    def release(self, rows: list[list[str]], **options: object) -> sv.Release:
        guarantee = options.pop("guarantee", None) or self.guarantee()
        hierarchy = options.pop("hierarchy", None) or self.hierarchy()
        return sv.anonymize(
            sv.Transactions.from_rows(rows),
            guarantee,  # type: ignore[arg-type]
            hierarchy=hierarchy,  # type: ignore[arg-type]
            method=self.record.key,
            **options,  # type: ignore[arg-type]
        )

    def kept_by(self, rows: list[tuple[str, ...]], guarantee: Guarantee) -> bool:
        """Ask the oracle, which knows nothing of the package."""
        if isinstance(guarantee, sv.KAnonymity):
            return promises.is_k_anonymous(rows, guarantee.k)
        if isinstance(guarantee, sv.LmDiversity):
            return promises.is_lm_diverse(rows, guarantee.l, guarantee.m, guarantee.sensitive)
        if isinstance(guarantee, sv.Coherence):
            return promises.is_coherent(rows, guarantee.h, guarantee.k, guarantee.p, guarantee.private)
        if guarantee.negative:
            return promises.is_negative_km_anonymous(rows, guarantee.k, guarantee.m)
        return promises.is_km_anonymous(rows, guarantee.k, guarantee.m) and (
            promises.is_km_anonymous_in_sql(rows, guarantee.k, guarantee.m)
        )


CASES = [Case(record, model) for record in METHODS for model in record.guarantees]


def public_bytes(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def digest(contents: Mapping[str, bytes]) -> str:
    whole = hashlib.sha256()
    for name, content in sorted(contents.items()):
        whole.update(name.encode() + b"\0" + content + b"\0")
    return whole.hexdigest()
