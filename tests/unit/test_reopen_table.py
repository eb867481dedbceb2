"""A table in buckets read back is the one published; damaged and foreign twins are refused."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest

import setveil as sv
from setveil.api import anonymize
from setveil.errors import DataError, FileSystemError
from setveil.hierarchy.tree import Hierarchy
from setveil.model.guarantees import BucketGuarantee, LDiversity, MatchingDiversity
from setveil.model.microdata import Microdata
from setveil.model.rules import NegativeRule
from setveil.publish import publish
from setveil.release.buckets import BucketRelease
from setveil.reopen.others import read_bucket_release, read_public_buckets
from setveil.risk.buckets import attack_by_rules

AGES = Hierarchy.from_paths([(str(age), f"{age // 10}0s", "any") for age in range(10, 90)])
RULES = (
    NegativeRule((("sex", "M"),), "ovarian"),
    NegativeRule((("age", "20s"), ("sex", "F")), "gout"),
    NegativeRule((("age", "[70, 80)"),), "ovarian"),
)


def table(seed: int, n: int = 40) -> Microdata:
    random = Random(seed)
    columns: dict[str, list[str]] = {"age": [], "sex": [], "ill": []}
    for _ in range(n):
        sex = random.choice("FM")
        columns["age"].append(str(random.randint(20, 79)))
        columns["sex"].append(sex)
        columns["ill"].append(
            random.choice(["flu", "gout", "cold", *(["ovarian"] if sex == "F" else [])])
        )
    return Microdata.from_columns(columns, "ill", hierarchies={"age": AGES})


def made(folder: Path, guarantee: BucketGuarantee, seed: int = 0, **more: Any) -> BucketRelease:
    known: dict[str, Any] = (
        {"rules": RULES, "min_fact_conf": 0.01} if isinstance(guarantee, MatchingDiversity) else {}
    )
    release = anonymize(table(seed), guarantee, **known)
    publish(release, folder, **more)
    return release


def rows(release: BucketRelease) -> list[tuple[tuple[str, ...], str]]:
    tables = release.tables
    values = [release.data.values[value] for value in tables.value_of_row.tolist()]
    return sorted(zip(tables.quasi_rows(), values, strict=True))


@pytest.mark.parametrize("form", ["buckets", "joined"])
@pytest.mark.parametrize("guarantee", [LDiversity(2), MatchingDiversity(2)], ids=str)
def test_what_was_published_is_read_back(tmp_path: Path, guarantee: BucketGuarantee, form: str) -> None:
    for seed in range(5):
        release = made(tmp_path / f"{seed}", guarantee, seed, format=form)
        again = read_bucket_release(tmp_path / f"{seed}")
        assert rows(again) == rows(release)
        assert list(again.tables.sensitive_rows()) == list(release.tables.sensitive_rows())
        assert (again.guarantee, again.method, again.seal) == (guarantee, release.method, release.seal)
        assert sorted(again.rules) == sorted(release.rules)
        assert dict(again.figures) == dict(release.figures)
        assert not again.seeded
        for mine, other in zip(again.data.quasi, release.data.quasi, strict=True):
            assert mine.hierarchy.labels == other.hierarchy.labels
            assert mine.hierarchy.parent.tolist() == other.hierarchy.parent.tolist()
        publish(again, tmp_path / f"{seed}-again", format=form)
        for file in (tmp_path / f"{seed}").iterdir():
            assert file.read_bytes() == (tmp_path / f"{seed}-again" / file.name).read_bytes()


@pytest.mark.parametrize("seed", range(5))
def test_the_attack_by_rules_needs_the_public_part_alone(tmp_path: Path, seed: int) -> None:
    release = made(tmp_path / "out", LDiversity(2), seed)
    shutil.rmtree(tmp_path / "out.private")
    public = read_public_buckets(tmp_path / "out")
    for rules in (RULES, RULES[:1], ()):
        assert attack_by_rules(public.data, public.bucketing, rules, 2) == attack_by_rules(
            release.data, release.bucketing, rules, 2
        )
    with pytest.raises(FileSystemError, match="private folder"):
        read_bucket_release(tmp_path / "out")


def edited(change: Callable[[dict[str, Any]], object]) -> Callable[[Path], None]:
    def edit(file: Path) -> None:
        document = json.loads(file.read_bytes())
        change(document)
        file.write_text(json.dumps(document))

    return edit


def put(**values: Any) -> Callable[[Path], None]:
    return edited(lambda document: document.update(values))


DAMAGE: list[tuple[str, Callable[[Path], None], str]] = [
    ("audit.json", lambda file: file.write_text("{"), "JSON"),
    ("audit.json", lambda file: file.write_text("[]"), "object"),
    ("audit.json", put(certificate_sha256="0" * 64), "another release"),
    ("audit.json", put(guarantee={"model": "matching", "l": 3}), "another guarantee"),
    ("audit.json", put(guarantee={"model": "km", "k": 3, "m": 2}), "no guarantee"),
    ("audit.json", put(guarantee=None), "no guarantee"),
    ("audit.json", put(method="anatomy"), "another method"),
    ("audit.json", put(records=41), "number of records"),
    ("audit.json", put(buckets=True), "number of buckets"),
    ("audit.json", put(seconds="long"), "how long"),
    ("audit.json", put(options=[1]), "options"),
    ("audit.json", put(figures={"a": [1]}), "figures"),
    ("audit.json", put(notices="no"), "notices"),
    ("audit.json", put(input={"key": "x", "hmac_sha256": "y"}), "seal"),
    ("audit.json", put(input="x"), "seal"),
    ("buckets.json", lambda file: file.write_text("nothing"), "JSON"),
    ("buckets.json", put(column="pain"), "another sensitive column"),
    ("buckets.json", put(value_of_row=None), "list of texts"),
    ("buckets.json", put(value_of_row=[1] * 40), "list of texts"),
    ("buckets.json", put(value_of_row=["flu"] * 40), "other values"),
    ("buckets.json", edited(lambda document: document["value_of_row"].pop()), "other values"),
    ("buckets.json", edited(lambda document: document["value_of_row"].append("flu")), "other values"),
]


@pytest.mark.parametrize(
    ("name", "damage", "told"), DAMAGE, ids=[f"{n}-{case[0]}" for n, case in enumerate(DAMAGE)]
)
def test_damage_is_refused(
    tmp_path: Path, name: str, damage: Callable[[Path], None], told: str
) -> None:
    made(tmp_path / "out", MatchingDiversity(2))
    damage(tmp_path / "out.private" / name)
    with pytest.raises(DataError, match=told) as caught:
        read_bucket_release(tmp_path / "out")
    assert caught.value.problems[0].file
    assert caught.value.problems[0].remedy


@pytest.mark.parametrize("name", ["audit.json", "buckets.json"])
def test_a_missing_file_is_named(tmp_path: Path, name: str) -> None:
    made(tmp_path / "out", MatchingDiversity(2))
    (tmp_path / "out.private" / name).unlink()
    with pytest.raises(FileSystemError) as caught:
        read_bucket_release(tmp_path / "out")
    assert str(caught.value.problems[0].file).endswith(name)


def test_twins_of_other_releases_are_refused(tmp_path: Path) -> None:
    made(tmp_path / "one", MatchingDiversity(2))
    made(tmp_path / "two", MatchingDiversity(2), seed=1)
    shutil.rmtree(tmp_path / "one.private")
    shutil.copytree(tmp_path / "two.private", tmp_path / "one.private")
    with pytest.raises(DataError, match="another release"):
        read_bucket_release(tmp_path / "one")


def test_a_damaged_public_folder_is_refused(tmp_path: Path) -> None:
    made(tmp_path / "out", MatchingDiversity(2))
    file = tmp_path / "out/sensitive.csv"
    file.write_text(file.read_text().replace("flu", "cough"))
    with pytest.raises(DataError):
        read_bucket_release(tmp_path / "out")


def test_a_release_of_sets_is_no_table(tmp_path: Path) -> None:
    tree = sv.Hierarchy.from_parents({"a": "A", "b": "A", "A": None})
    data = sv.Transactions.from_rows([["a"], ["b"], ["a", "b"]])
    sv.publish(sv.anonymize(data, sv.KmAnonymity(2, 1), hierarchy=tree), tmp_path / "out")
    with pytest.raises(DataError, match="not a table in buckets"):
        read_bucket_release(tmp_path / "out")
