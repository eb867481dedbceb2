"""Every method with every guarantee it names, and the small worlds they are tried on.

A `Case` is one method of the registry with one guarantee. What differs between sets of items, tables in
buckets and pairs of data sets is here: how data are drawn and read, and what the oracle, which knows
nothing of the package, says of the files in a folder.
"""

from __future__ import annotations

import csv
import hashlib
import json
import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar

import setveil as sv
from setveil.model.guarantees import Guarantee
from setveil.model.microdata import Microdata
from setveil.model.pattern_pair import PatternPair
from setveil.model.rules import NegativeRule
from setveil.registry import ALL_METHODS, MethodRecord
from tests.oracle import buckets, pair_patterns, promises

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
Row = list[str]


def ancestors(label: str) -> list[str]:
    """Return the label and those above it, nearest first."""
    found = [label]
    while (above := PARENTS.get(found[-1])) is not None:
        found.append(above)
    return found


def published(folder: Path) -> list[tuple[str, ...]]:
    """Return the rows as they lie in the folder, read by the audit's own reader."""
    from setveil.audit import read_release

    return list(_labels_by_row(read_release(folder).published))


def _labels_by_row(read: Any) -> Iterator[tuple[str, ...]]:
    for start, end in zip(read.indptr[:-1], read.indptr[1:], strict=True):
        yield tuple(read.labels[code] for code in read.items[start:end])


@dataclass(frozen=True)
class Case:
    """A method and a guarantee that its record names; `options` are those it is tried with."""

    record: MethodRecord
    model: str
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return "-".join([self.record.key, self.model, *map(str, self.options.values())])

    def guarantee(self, *, k: int = 3, m: int = 2) -> Any:
        """Return the guarantee, for methods of other kinds as strong as `k` says."""
        raise NotImplementedError

    def rows(self, seed: int = 1, records: int = 40) -> list[Row]:
        """Return seeded records."""
        raise NotImplementedError

    def data(self, rows: Sequence[Row]) -> Any:
        """Return records as the method takes them."""
        raise NotImplementedError

    def own(self) -> dict[str, Any]:
        """Return what every run of the method is given, guarantee and watch aside."""
        return dict(self.options)

    def release(self, rows: Sequence[Row], **options: Any) -> Any:
        guarantee = options.pop("guarantee", None) or self.guarantee()
        asked = {**self.own(), **options}
        return sv.anonymize(self.data(rows), guarantee, method=self.record.key, **asked)

    def read_with_ids(self, rows: Sequence[Row], folder: Path) -> Any:
        """Return records read from a file that names the person of each."""
        raise NotImplementedError

    def is_kept(self, folder: Path, guarantee: Any, rows: Sequence[Row]) -> bool:
        """Ask the oracle of the files in a folder that was made of these records."""
        raise NotImplementedError

    def is_true(self, folder: Path, release: Any, rows: Sequence[Row]) -> bool:
        """Tell whether all records are there, and each as something that covers it."""
        raise NotImplementedError

    def as_arrays(self, data: Any) -> list[Any]:
        """Return what of the data nobody may change."""
        raise NotImplementedError


class SetsCase(Case):
    """Records as sets of items."""

    def guarantee(self, *, k: int = 3, m: int = 2) -> Guarantee:
        return {
            "km": sv.KmAnonymity(k, m),
            "km-negative": sv.KmAnonymity(k, m, negative=True),
            "k": sv.KAnonymity(k),
            "lm": sv.LmDiversity(k, m, frozenset(SENSITIVE)),
            "coherence": sv.Coherence(60, k, m, frozenset(SENSITIVE)),  # type: ignore[arg-type]
        }[self.model]

    def rows(self, seed: int = 1, records: int = 40) -> list[Row]:
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

    def data(self, rows: Sequence[Row]) -> sv.Transactions:
        return sv.Transactions.from_rows(rows)

    def own(self) -> dict[str, Any]:
        return {"hierarchy": self.hierarchy(), **self.options}

    def read_with_ids(self, rows: Sequence[Row], folder: Path) -> sv.Transactions:
        lines = [f"{person(n)},{item}" for n, row in enumerate(rows) for item in row]
        file = written(folder / "long.csv", ["who,what", *lines])
        return sv.read_transactions(file, layout="long", id_column="who", item_column="what")

    def is_kept(self, folder: Path, guarantee: Any, rows: Sequence[Row]) -> bool:
        return self.kept_by(published(folder), guarantee)

    def kept_by(self, rows: list[tuple[str, ...]], guarantee: Guarantee) -> bool:
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

    def is_true(self, folder: Path, release: sv.Release, rows: Sequence[Row]) -> bool:
        recoding = json.loads((folder.parent / f"{folder.name}.private/recoding.json").read_bytes())
        expected: Counter[tuple[str, ...]] = Counter()
        for number, row in enumerate(sorted(tuple(sorted(row)) for row in rows)):
            if recoding["recoding"] == "global":
                left_out = set(recoding["suppressed"])
                assert self.record.suppresses or not left_out
                labels = {item: recoding["published"][item] for item in row if item not in left_out}
                if number in recoding["dropped_records"]:
                    assert not labels
                    continue
            else:
                cut = set(recoding["published_by_group"][recoding["group_of_record"][number]])
                labels = {
                    item: next(label for label in ancestors(item) if label in cut) for item in row
                }
            assert all(label in ancestors(item) for item, label in labels.items())
            expected[tuple(sorted(set(labels.values())))] += 1
        if self.model in ("lm", "coherence"):
            shown = {label for row in published(folder) for label in row}
            assert set(SENSITIVE) <= shown
        assert len(published(folder)) == len(rows) - len(release.dropped)
        assert len(release.dropped) < release.guarantee.least_support
        assert self.record.suppresses or not release.suppressed_items
        return expected == Counter(published(folder))

    def as_arrays(self, data: sv.Transactions) -> list[Any]:
        return [data.items.tolist(), data.indptr.tolist(), data.vocabulary.labels]


class BucketsCase(Case):
    """A table with one secret column: age, sex, illness."""

    FACTS = (NegativeRule((("sex", "M"),), "ovarian"),)

    def guarantee(self, *, k: int = 3, m: int = 2) -> Any:
        return {"l": sv.LDiversity(k), "matching": sv.MatchingDiversity(k)}[self.model]

    def rows(self, seed: int = 1, records: int = 40) -> list[Row]:
        draw = random.Random(seed)
        rows = []
        for number in range(records):
            sex = draw.choice("FM")
            ills = ["flu", "cold", "gout", "cough", "ovarian"]
            ill = ills[number % (5 if sex == "F" else 4)]
            rows.append([draw.choice(["30", "40", "50"]), sex, ill])
        return rows

    def data(self, rows: Sequence[Row]) -> Microdata:
        names = ("age", "sex", "ill")
        columns = {name: [row[place] for row in rows] for place, name in enumerate(names)}
        return Microdata.from_columns(columns, "ill")

    def own(self) -> dict[str, Any]:
        return {**({"rules": self.FACTS} if self.model == "matching" else {}), **self.options}

    def read_with_ids(self, rows: Sequence[Row], folder: Path) -> Microdata:
        lines = [",".join([person(n), *row]) for n, row in enumerate(rows)]
        file = written(folder / "table.csv", ["who,age,sex,ill", *lines])
        return sv.read_microdata(file, quasi=["age", "sex"], sensitive="ill", id_column="who")

    def is_kept(self, folder: Path, guarantee: Any, rows: Sequence[Row]) -> bool:
        for people, values in self._buckets(folder):
            if self.model == "l":
                if not buckets.is_share_diverse(values, guarantee.l):
                    return False
                continue
            number = {value: place for place, value in enumerate(sorted(set(values)))}
            group = [
                buckets.Person(
                    number[value],
                    frozenset(number[v] for v in self._ruled_out(folder, row) if v in number),
                )
                for row, value in zip(people, values, strict=True)
            ]
            if not buckets.is_matching_diverse(group, guarantee.l):
                return False
        return True

    def is_true(self, folder: Path, release: Any, rows: Sequence[Row]) -> bool:
        """All columns but the secret one are unchanged, and each bucket has its people's values."""
        expected = Counter(
            tuple(sorted(((row[0], row[1]), row[2]) for row in [rows[place] for place in group]))
            for group in _groups(release.bucketing.bucket_by_tuple.tolist())
        )
        found: Counter[Any] = Counter()
        for people, values in self._buckets(folder):
            found[tuple(sorted(people)), tuple(sorted(values))] += 1
        told = Counter()
        for entries, times in expected.items():
            told[tuple(row for row, _ in entries), tuple(sorted(value for _, value in entries))] += (
                times
            )
        return told == found

    def as_arrays(self, data: Microdata) -> list[Any]:
        own = [data.value_by_tuple.tolist(), data.values]
        return own + [
            [one.name, one.leaf_by_tuple.tolist(), one.hierarchy.labels] for one in data.quasi
        ]

    @staticmethod
    def _buckets(folder: Path) -> list[tuple[list[tuple[str, str]], list[str]]]:
        """Return the people of each bucket, and its values in no order that says whose they are."""
        with (folder / "quasi.csv").open() as quasi, (folder / "sensitive.csv").open() as sensitive:
            people, values = list(csv.DictReader(quasi)), list(csv.DictReader(sensitive))
        found = []
        for bucket in sorted({row["bucket"] for row in people}):
            rows = [(row["age"], row["sex"]) for row in people if row["bucket"] == bucket]
            held = [
                value["ill"]
                for value in values
                if value["bucket"] == bucket
                for _ in range(int(value["count"]))
            ]
            found.append((rows, held))
        return found

    @staticmethod
    def _ruled_out(folder: Path, row: tuple[str, str]) -> set[str]:
        with (folder / "rules.csv").open() as file:
            rules = list(csv.DictReader(file))
        return {
            rule["ill"] for rule in rules if rule["age"] in ("", row[0]) and rule["sex"] in ("", row[1])
        }


class PairsCase(Case):
    """Two data sets of sets whose differences are hidden."""

    PARENTS: ClassVar[dict[str, str | None]] = {
        **{"a1": "a", "a2": "a", "b1": "b", "b2": "b"},
        **dict.fromkeys("abc", "all"),
        "all": None,
    }

    def guarantee(self, *, k: int = 3, m: int = 2) -> Any:
        return sv.HiddenPatterns(k, Fraction(1, 4))

    def rows(self, seed: int = 1, records: int = 40) -> list[Row]:
        """Return seeded records; the first half is the first data set."""
        draw = random.Random(seed)
        labels = [label for label in self.PARENTS if label not in set(self.PARENTS.values())]
        return [
            sorted(draw.sample(labels[2 * (2 * number >= records) :], draw.randint(1, 3)))
            for number in range(records)
        ]

    def data(self, rows: Sequence[Row]) -> PatternPair:
        half = len(rows) // 2
        first, second = (sv.Transactions.from_rows(part) for part in (rows[:half], rows[half:]))
        return PatternPair.of_sets(first, second, sv.Hierarchy.from_parents(self.PARENTS))

    def own(self) -> dict[str, Any]:
        return {**self.options, **({"restarts": 2} if "annealed" in self.options.values() else {})}

    def read_with_ids(self, rows: Sequence[Row], folder: Path) -> Any:
        half = len(rows) // 2
        files = []
        for name, start, end in (("first", 0, half), ("second", half, len(rows))):
            lines = [f"{person(n)},{item}" for n in range(start, end) for item in rows[n]]
            files.append(written(folder / f"{name}.csv", ["who,what", *lines]))
        tree = sv.Hierarchy.from_parents(self.PARENTS)
        return sv.read_pattern_pair(
            *files, hierarchy=tree, layout="long", id_column="who", item_column="what"
        )

    def is_kept(self, folder: Path, guarantee: Any, rows: Sequence[Row]) -> bool:
        sides = self._sides(folder)
        found = pair_patterns.frequent(sides, guarantee.min_support)
        return not any(pair_patterns.is_pattern(sides, left, guarantee.growth) for left in found)

    def is_true(self, folder: Path, release: Any, rows: Sequence[Row]) -> bool:
        tree, half = release.hierarchy, len(rows) // 2
        labels = tree.labels
        for part, originals, shown in zip(
            release.parts, (rows[:half], rows[half:]), self._sides(folder), strict=True
        ):
            nodes, leaves = part.node_of_occurrence.tolist(), part.rows.leaves.tolist()
            assert all(tree.covers(node, leaf) for node, leaf in zip(nodes, leaves, strict=True))
            bounds = part.rows.indptr.tolist()
            before = [frozenset(labels[leaf] for leaf in leaves[a:b]) for a, b in pairwise(bounds)]
            after = [frozenset(labels[node] for node in nodes[a:b]) for a, b in pairwise(bounds)]
            if Counter(before) != Counter(map(frozenset, originals)):
                return False
            if Counter(after) != Counter(shown):
                return False
        return True

    def as_arrays(self, data: PatternPair) -> list[Any]:
        return [[side.leaves.tolist(), side.indptr.tolist()] for side in data.sides] + [
            data.hierarchy.labels
        ]

    @staticmethod
    def _sides(folder: Path) -> tuple[list[frozenset[str]], list[frozenset[str]]]:
        from setveil.audit import read_release

        first, second = read_release(folder).sides
        return (
            [frozenset(row) for row in _labels_by_row(first)],
            [frozenset(row) for row in _labels_by_row(second)],
        )


def _groups(bucket_by_tuple: Sequence[int]) -> list[list[int]]:
    groups: dict[int, list[int]] = {}
    for place, bucket in enumerate(bucket_by_tuple):
        groups.setdefault(bucket, []).append(place)
    return list(groups.values())


def person(number: int) -> str:
    """Return a name that no other text looks like."""
    return f"person-{41 * number + 7:05d}X"


def written(path: Path, lines: Sequence[str]) -> Path:
    path.write_text("\n".join([*lines, ""]))
    return path


KINDS: Mapping[str, type[Case]] = {"sets": SetsCase, "buckets": BucketsCase, "pairs": PairsCase}


def variants(record: MethodRecord) -> list[dict[str, Any]]:
    """Return the options a method is tried with: each search and each grouping that it has."""
    ways = [option for option in record.options if option.name in ("search", "grouping")]
    return [{ways[0].name: value} for value in ways[0].allowed] if ways else [{}]


ALL_CASES = [
    KINDS[record.kind](record, model, options)
    for record in ALL_METHODS
    for model in record.guarantees
    for options in variants(record)
]
CASES = [case for case in ALL_CASES if isinstance(case, SetsCase)]


def public_bytes(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def digest(contents: Mapping[str, bytes]) -> str:
    whole = hashlib.sha256()
    for name, content in sorted(contents.items()):
        whole.update(name.encode() + b"\0" + content + b"\0")
    return whole.hexdigest()
