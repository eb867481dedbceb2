"""Files of others, judged by promises that are given, against brute force: buckets and pairs."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from random import Random

import pytest

import setveil as sv
from setveil.cli.main import run
from setveil.errors import UsageError
from tests.oracle.buckets import Person, is_share_diverse, real_values
from tests.oracle.pair_patterns import frequent, is_pattern, raised

EMPTY = "(missing)"
Row = tuple[str, str, str, str]
"""Age, place, bucket, value."""
RULES = [("", "A", "r"), ("30", "", "s"), ("", "b", "t"), ("[20, 35)", "a1", "s")]
"""Conditions on age and place, and the value that they rule out."""
PLACES = sv.Hierarchy.from_paths([("a1", "A", "X"), ("a2", "A", "X"), ("b", "X", "X")])


def write(path: Path, header: Sequence[str], rows: Sequence[Sequence[str]]) -> Path:
    with path.open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([header, *rows])
    return path


def random_rows(random: Random) -> list[Row]:
    return [
        (
            random.choice(["20", "30", "40"]),
            random.choice(["a1", "a2", "b"]),
            random.choice(["x", "y", "7"][: random.randint(1, 3)]),
            random.choice(["r", "s", "t", "u", EMPTY][: random.randint(2, 5)]),
        )
        for _ in range(random.randint(2, 9))
    ]


def ruled_out(row: Row, rules: Sequence[tuple[str, str, str]]) -> frozenset[str]:
    """The values that the rules rule out for a row, rule by rule."""
    found = set()
    for age, place, value in rules:
        fits_age = age in ("", row[0]) or (age.startswith("[") and 20 <= int(row[0]) < 35)
        if fits_age and (not place or place in PLACES.path(row[1])):
            found.add(value)
    return frozenset(found)


def is_matching_diverse(rows: list[Row], rules: Sequence[tuple[str, str, str]], least: int) -> bool:
    values = sorted({row[3] for row in rows})
    number = {value: place for place, value in enumerate(values)}
    for bucket in {row[2] for row in rows}:
        group = [
            Person(number[row[3]], frozenset(number[v] for v in ruled_out(row, rules) if v in number))
            for row in rows
            if row[2] == bucket
        ]
        if any(len(real_values(group, place, values)) < least for place in range(len(group))):
            return False
    return True


@pytest.mark.parametrize("block", range(4))
def test_tables_in_buckets_are_judged_as_by_hand(block: int, tmp_path: Path) -> None:
    answers: Counter[tuple[str, bool]] = Counter()
    for seed in range(40 * block, 40 * block + 40):
        random = Random(seed)
        rows = random_rows(random)
        counted = Counter((row[2], row[3]) for row in rows)
        # A joined table has each bucket's rows in order, and beside them its values in theirs.
        shuffled = random.sample(rows, len(rows))
        joined = [
            (*row[:3], value)
            for bucket in sorted({row[2] for row in rows})
            for row, value in zip(
                sorted(row for row in rows if row[2] == bucket),
                sorted(row[3] for row in rows if row[2] == bucket),
                strict=True,
            )
        ]
        first = write(tmp_path / "q.csv", ["age", "place", "group"], [row[:3] for row in shuffled])
        header = ["group", "ill", "n"]
        second = write(tmp_path / "s.csv", header, [(*key, n) for key, n in counted.items()])
        one = write(tmp_path / "j.csv", ["age", "place", "group", "ill"], joined)
        lines = [(row[2], row[3]) for row in rows]
        listed = write(tmp_path / "l.csv", ["group", "ill"], random.sample(lines, len(lines)))
        rules = random.sample(RULES, random.randint(0, len(RULES)))
        ruled = write(tmp_path / "r.csv", ["age", "place", "ill"], rules)
        columns = {"quasi": ["age", "place"], "sensitive": "ill", "bucket": "group"}
        for least in (2, 3):
            shares = all(
                is_share_diverse([row[3] for row in rows if row[2] == bucket], least)
                for bucket in {row[2] for row in rows}
            )
            found = [
                sv.audit(one, sv.LDiversity(least), **columns),
                sv.audit(first, sv.LDiversity(least), **columns, sensitive_table=listed),
                sv.audit(
                    first,
                    sv.LDiversity(least),
                    **columns,
                    sensitive_table=second,
                    bucket_count="n",
                ),
            ]
            assert {finding.holds for finding in found} == {shares}
            assert found[0] == found[1] == found[2]
            assert found[0].records == len(rows)
            finding = sv.audit(
                one,
                sv.MatchingDiversity(least),
                **columns,
                rules=ruled,
                hierarchy={"place": PLACES},
            )
            assert finding.holds == is_matching_diverse(rows, rules, least)
            answers["l", shares] += 1
            answers["matching", finding.holds] += 1
    assert all(answers[kind, holds] for kind in ("l", "matching") for holds in (True, False))


TREE = {
    "a": ("a", "A", "T"),
    "b": ("b", "A", "T"),
    "c": ("c", "C", "T"),
    "A": ("A", "T"),
    "C": ("C", "T"),
}
HIERARCHY = sv.Hierarchy.from_paths([("a", "A", "T"), ("b", "A", "T"), ("c", "C", "T")])


@pytest.mark.parametrize("seed", range(60))
def test_two_data_sets_are_judged_as_by_hand(seed: int, tmp_path: Path) -> None:
    random = Random(seed)
    sides = []
    for number in (1, 2):
        rows = [random.sample(sorted(TREE), random.randint(1, 3)) for _ in range(random.randint(2, 9))]
        (tmp_path / f"{number}.csv").write_text("".join(",".join(row) + "\n" for row in rows))
        sides.append([frozenset(row) for row in rows])
    data = (sides[0], sides[1])
    growth = random.choice([Fraction(3, 2), Fraction(2), Fraction(4)])
    support = random.choice([Fraction(1, 3), Fraction(2, 3), 2])
    files = {"against": tmp_path / "2.csv", "layout": "baskets"}
    for every_level in (False, True):
        guarantee = sv.HiddenPatterns(growth, support, every_level)
        seen = (raised(data[0], TREE), raised(data[1], TREE)) if every_level else data
        left = [one for one in frequent(seen, support) if is_pattern(seen, one, growth)]
        finding = sv.audit(tmp_path / "1.csv", guarantee, hierarchy=HIERARCHY, **files)
        assert finding.holds == (not left)
        assert finding.records == (len(sides[0]), len(sides[1]))
        if not every_level:
            alone = sv.audit(tmp_path / "1.csv", guarantee, **files)
            assert (alone.holds, alone.patterns) == (finding.holds, finding.patterns)


@pytest.mark.parametrize("seed", range(40))
def test_two_tables_are_judged_as_by_hand(seed: int, tmp_path: Path) -> None:
    random = Random(seed)
    sides: list[list[frozenset[str]]] = []
    whole: list[tuple[str, ...]] = []
    for name in ("new", "old"):
        rows = [
            (random.choice("xy*"), random.choice(["a1", "A", "b"])) for _ in range(random.randint(2, 9))
        ]
        write(tmp_path / f"{name}.csv", ["p", "q"], rows)
        whole += [(name, *row) for row in rows]
        sides.append([frozenset({f"p={one}", f"q={two}"}) for one, two in rows])
    write(tmp_path / "all.csv", ["which", "p", "q"], random.sample(whole, len(whole)))
    paths = {f"p={value}": (f"p={value}", "p=*") for value in "xy"} | {"p=*": ("p=*",)}
    for value in ("a1", "A", "b"):
        paths[f"q={value}"] = tuple(f"q={step}" for step in PLACES.path(value))
    data = (sides[0], sides[1])
    growth = random.choice([Fraction(3, 2), Fraction(3)])
    for every_level in (False, True):
        guarantee = sv.HiddenPatterns(growth, "1/4", every_level)
        seen = (raised(data[0], paths), raised(data[1], paths)) if every_level else data
        left = [one for one in frequent(seen, Fraction(1, 4)) if is_pattern(seen, one, growth)]
        trees = {"q": PLACES}
        one = sv.audit(
            tmp_path / "new.csv", guarantee, against=tmp_path / "old.csv", table=True, hierarchy=trees
        )
        other = sv.audit(tmp_path / "all.csv", guarantee, class_column="which", hierarchy=trees)
        assert one == other
        assert one.holds == (not left)


def test_what_is_given_and_would_do_nothing_is_refused(tmp_path: Path) -> None:
    """A second file, a column in two roles, two spellings of a value, an original that is none."""
    joined = tmp_path / "joined.csv"
    joined.write_text("age,bucket,ill\n20,1,cold\n30,1,flu\n")
    (tmp_path / "other.csv").write_text("bucket,ill,count\n1,cold,1\n1,flu,1\n")
    words = ["--quasi", "age", "--sensitive", "ill", "--l", "2"]
    assert run(["audit", str(joined), *words]) == 0
    assert run(["audit", str(joined), str(tmp_path / "other.csv"), *words]) == 2
    two = [str(joined), "--sensitive-table", str(tmp_path / "other.csv"), *words]
    assert run(["audit", *two]) == 0
    assert run(["audit", *two, "--bucket-count", "ill"]) == 2
    for other in (" flu", "flu ", "flu\u200b"):
        joined.write_text(f"age,bucket,ill\n20,1,{min(other, 'flu')}\n20,1,{max(other, 'flu')}\n")
        assert run(["audit", str(joined), *words]) == 3
    joined.write_text("age,bucket,ill\n20,1,cold\n30,1,flu\n")
    for rules in (["x"], 3, b"x"):
        with pytest.raises(UsageError, match="neither a file nor negative rules"):
            sv.audit(str(joined), sv.MatchingDiversity(2), quasi=["age"], sensitive="ill", rules=rules)
