"""Tables in buckets: what may not be in public bytes, and what these may depend on.

Chance is secret, so two runs differ. What can be tested is that all public bytes follow from the
published tables: not from the order of the input, nor from whose value is whose.
"""

from __future__ import annotations

import csv
import io
import os
import secrets
from collections import Counter
from dataclasses import replace
from pathlib import Path
from random import Random

import numpy as np
import pytest

from setveil.api import anonymize
from setveil.audit import audit_folder
from setveil.errors import Infeasible, UsageError
from setveil.model.guarantees import BucketGuarantee, LDiversity, MatchingDiversity
from setveil.model.microdata import Microdata
from setveil.model.rules import NegativeRule
from setveil.publish import publish
from setveil.release.buckets import Bucketing, BucketRelease
from tests.hostile.labels import XSS
from tests.hostile.test_hostile_labels import harmless, parsed
from tests.integration.cli import Shell
from tests.integration.conftest import shell as shell
from tests.oracle.buckets import Person, valid_values

Rows = list[tuple[str, ...]]
NAMES = ("age", "sex", "ill")
RULES = (NegativeRule((("sex", "M"),), "ovarian"), NegativeRule((("age", "[0, 15)"),), "gout"))


def random_rows(random: Random, least: int = 4, most: int = 14) -> Rows:
    rows = []
    for _ in range(random.randint(least, most)):
        sex = random.choice("FM")
        ill = random.choice(["flu", "gout", "cold", "flu", "ovarian" if sex == "F" else "prostate"])
        rows.append((str(random.randint(15, 60) if ill == "gout" else random.randint(1, 60)), sex, ill))
    return rows


def table_of(rows: Rows) -> Microdata:
    return Microdata.from_columns(dict(zip(NAMES, zip(*rows, strict=True), strict=True)), "ill")


def public(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def cells(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(path.read_bytes().decode(), newline="")))


def token(kind: str) -> str:
    return f"{kind}-{secrets.token_hex(6)}"


@pytest.mark.parametrize("method", ["anatomy", "injector"])
@pytest.mark.parametrize("form", ["buckets", "joined"])
def test_no_canary_is_published(
    shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, method: str, form: str
) -> None:
    user = token("user")
    for variable in ("USER", "LOGNAME", "USERNAME", "HOSTNAME"):
        monkeypatch.setenv(variable, user)
    folder = tmp_path / token("folder")
    folder.mkdir()
    data, tree = folder / f"{token('file')}.csv", folder / f"{token('tree')}.csv"
    persons = [token("person") for _ in range(12)]
    notes = [token("note") for _ in persons]
    column = token("column")
    lines = [f"who,{column},sex,ill"]
    lines += [
        f"{person},{note},{'FM'[n % 2]},{('flu', 'gout', 'cold')[n % 3]}"
        for n, (person, note) in enumerate(zip(persons, notes, strict=True))
    ]
    data.write_text("\n".join(lines) + "\n")
    unused = token("category")
    tree.write_text(f"F;person\nM;person\nX;{unused}\n")
    ran = shell(
        "anonymize", str(data), "--quasi", "sex", "--sensitive", "ill", "--l", "2", "--id", "who",
        "--hierarchy", f"sex={tree}", "--add-root", "any", "--method", method, "--format", form,
        "-o", "out",
    )  # fmt: skip
    assert ran.code == 0, ran.err
    hidden = [*persons, *notes, column, unused, user, folder.name, data.name, tree.name]
    hidden.append(str(tmp_path))
    if len(os.uname().nodename) > 4:  # a shorter name may be in a hash by chance
        hidden.append(os.uname().nodename)
    for name, content in public(tmp_path / "out").items():
        assert not [secret for secret in hidden if secret.encode() in content], name
    private = b"".join(public(tmp_path / "out.private").values())
    assert not [person for person in (*persons, *notes) if person.encode() in private]
    assert not [person for person in (*persons, *notes) if person in ran.out + ran.err]


@pytest.mark.parametrize(
    "words",
    [
        ("--l", "4"),
        ("--l", "2", "--missing", "flu"),
        ("--l", "2", "--intervals", "sex=1,2"),
        ("--l", "2", "--strict", "-o", "none/out"),
    ],
)
def test_failures_name_nobody(shell: Shell, words: tuple[str, ...]) -> None:
    persons = [token("person") for _ in range(9)]
    text = "who,sex,ill\n" + "".join(
        f"{p},F,{('flu', 'gout', 'cold')[n % 3]}\n" for n, p in enumerate(persons)
    )
    Path("t.csv").write_text(text)
    ran = shell(
        "anonymize", "t.csv", "--quasi", "sex", "--sensitive", "ill", "--id", "who", "-o", "out", *words
    )
    assert ran.code in (2, 3, 4, 5), ran.err
    assert not [person for person in persons if person in ran.out + ran.err]


@pytest.mark.parametrize("guarantee", [LDiversity(2), MatchingDiversity(2)], ids=str)
def test_public_bytes_follow_from_the_tables_alone(tmp_path: Path, guarantee: BucketGuarantee) -> None:
    """Neither the order of the input nor whose value is whose is in any public file.

    Rules, and from where on they are complete, are published with the tables.
    """
    rules = RULES if isinstance(guarantee, MatchingDiversity) else ()
    for seed in range(8):
        random = Random(seed)
        rows = random_rows(random, 8, 20)
        try:
            release = anonymize(table_of(rows), guarantee, rules=rules)
        except Infeasible:
            continue
        place = tmp_path / str(seed)
        place.mkdir()
        release = replace(release, left_out=())
        publish(release, place / "one")
        bucket = release.bucketing.bucket_by_tuple.tolist()
        order = random.sample(range(len(rows)), len(rows))
        # Values change hands inside each bucket.
        swapped = list(rows)
        for number in set(bucket):
            inside = [n for n in range(len(rows)) if bucket[n] == number]
            hands = random.sample(inside, len(inside))
            for here, there in zip(inside, hands, strict=True):
                swapped[here] = (*rows[here][:2], rows[there][2])
        # Buckets get other numbers.
        number_of = dict(enumerate(random.sample(range(max(bucket) + 1), max(bucket) + 1)))
        for name, other in (("two", rows), ("three", swapped)):
            again = BucketRelease(
                table_of([other[n] for n in order]),
                Bucketing(np.array([number_of[bucket[n]] for n in order], dtype=np.int32)),
                tuple(reversed(release.rules)),
                guarantee=guarantee,
                method=release.method,
                complete=release.complete,
                seconds=9.0,
                options={"min_exp": 0.5},
                figures={"left over": 7},
                notices=("a notice",),
                left_out=(("1", "F", "another"),) if name == "two" else (),
            )
            publish(again, place / name)
            assert public(place / name) == public(place / "one")
    assert len(list(tmp_path.iterdir())) > 2


def whom_no_buckets_hide(rows: Rows, l: int) -> Rows:  # noqa: E741
    """Leave out, round by round, whoever has too few values if all who are left share one bucket."""
    kept = list(rows)
    while True:
        values = sorted({row[-1] for row in kept})
        asked = [dict(zip(("age", "sex"), row, strict=False)) for row in kept]
        group = [
            Person(values.index(row[-1]), person.cannot)
            for row, person in zip(kept, people(asked, STRICT, values), strict=True)
        ]
        few = [len(valid_values(group, place)) < l for place in range(len(group))]
        if all(few):
            return []
        if not any(few):
            return kept
        kept = [row for row, too_few in zip(kept, few, strict=True) if not too_few]


STRICT = [
    {"age": age, "sex": sex, "ill": ill}
    for age, sex, ill in [
        ("[0, 15)", "", "gout"), ("[0, 15)", "", "cold"), ("", "M", "ovarian"), ("", "F", "prostate"),
        ("[0, 15)", "M", "prostate"),
    ]
]  # fmt: skip


def test_left_out_are_those_whom_no_buckets_hide_and_nothing_of_them_is_published(
    tmp_path: Path,
) -> None:
    facts = [NegativeRule(tuple((n, r[n]) for n in ("age", "sex") if r[n]), r["ill"]) for r in STRICT]
    seen: Counter[bool] = Counter()
    for seed in range(60):
        random = Random(seed)
        rows = [
            (age, sex, f"{token('zip')}-", ill)
            for age, sex, ill in random_rows(random, 6, 16)
            if int(age) >= 15 or ill not in ("cold", "prostate")
        ]
        columns = dict(zip(("age", "sex", "zip", "ill"), zip(*rows, strict=True), strict=True))
        data, l = Microdata.from_columns(columns, "ill"), random.choice([2, 2, 3])  # noqa: E741
        kept = whom_no_buckets_hide(rows, l)
        options = {"rules": facts, "min_exp": 0.999999, "suppress_infeasible": True}
        if not kept:
            with pytest.raises(Infeasible):
                anonymize(data, MatchingDiversity(l), **options)
            continue
        release = anonymize(data, MatchingDiversity(l), **options)
        gone = sorted(set(rows) - set(kept))
        assert release.left_out == tuple(gone)
        assert sorted(release.data.rows()) == sorted(kept)
        out = tmp_path / str(seed)
        publish(release, out, allow_useless=True)
        assert audit_folder(out).holds
        of_those_kept = {cell for row in kept for cell in row}
        for name, content in public(out).items():
            # Ages are short numbers, which pages hold for other reasons.
            assert not [row[2] for row in gone if row[2].encode() in content], name
        shown = {cell for row in (out / "hierarchy.csv").read_text().split() for cell in row.split(";")}
        assert not [row[0] for row in gone if row[0] not in of_those_kept and f"age={row[0]}" in shown]
        published = [row["ill"] for row in cells(out / "sensitive.csv")]
        assert set(published) == {row[3] for row in kept}
        seen[bool(gone)] += 1
        # Whoever was left out changes no public word: only buckets are up to chance.
        alone = dict(zip(("age", "sex", "zip", "ill"), zip(*kept, strict=True), strict=True))
        other = anonymize(Microdata.from_columns(alone, "ill"), MatchingDiversity(l), **options)
        assert other.left_out == ()
        alike = replace(other, bucketing=same_buckets(release, other))
        publish(alike, tmp_path / f"{seed}b", allow_useless=True)
        assert public(tmp_path / f"{seed}b") == public(out)
    assert min(seen.values()) > 5
    assert len(seen) == 2


def same_buckets(release: BucketRelease, other: BucketRelease) -> Bucketing:
    """Return the buckets of a release for the same rows in another order."""
    number = dict(zip(release.data.rows(), release.bucketing.bucket_by_tuple.tolist(), strict=True))
    return Bucketing(np.array([number[row] for row in other.data.rows()], dtype=np.int32))


def test_the_same_seed_and_any_order_give_the_same_kind_of_buckets() -> None:
    """With a given source of chance the order of the input changes who is where, not what is there."""
    rows = random_rows(Random(3), 30, 30)
    for guarantee, rules in ((LDiversity(2), ()), (MatchingDiversity(2), RULES)):
        shapes = set()
        for seed in range(3):
            mixed = Random(seed).sample(rows, len(rows))
            release = anonymize(table_of(mixed), guarantee, rules=rules, random=Random(7))
            held = Counter(
                zip(
                    release.bucketing.bucket_by_tuple.tolist(), release.data.value_by_tuple, strict=True
                )
            )
            by_bucket: dict[int, list[tuple[int, int]]] = {}
            for (bucket, value), count in sorted(held.items()):
                by_bucket.setdefault(bucket, []).append((int(value), count))
            shapes.add(tuple(sorted(map(tuple, by_bucket.values()))))
            assert release.seeded
        assert len(shapes) == 1


def test_seeded_runs_are_not_published(tmp_path: Path) -> None:
    release = anonymize(table_of(random_rows(Random(1), 14, 14)), LDiversity(2), random=Random(0))
    with pytest.raises(UsageError, match="not for release"):
        publish(release, tmp_path / "out")
    assert not list(tmp_path.iterdir())


def people(rows: list[dict[str, str]], rules: list[dict[str, str]], values: list[str]) -> list[Person]:
    """Read rules as a person would: an equal cell, or a number in a half-open interval."""

    def meets(row: dict[str, str], rule: dict[str, str]) -> bool:
        for name in ("age", "sex"):
            label = rule[name]
            if label.startswith("["):
                low, high = (int(end) for end in label.strip("[)").split(","))
                if not low <= int(row[name]) < high:
                    return False
            elif label and label not in (row[name], "*"):
                return False
        return True

    number = {value: place for place, value in enumerate(values)}
    return [
        Person(
            -1,
            frozenset(number[r["ill"]] for r in rules if r["ill"] in number and meets(row, r)),
        )
        for row in rows
    ]


@pytest.mark.parametrize("block", range(4))
def test_written_files_keep_the_promise_by_the_naive_oracle(tmp_path: Path, block: int) -> None:
    seen: Counter[str] = Counter()
    for seed in range(50 * block, 50 * block + 50):
        random = Random(seed)
        rows = random_rows(random)
        l = random.choice([2, 2, 3])  # noqa: E741
        guarantee = LDiversity(l) if seed % 2 else MatchingDiversity(l)
        rules = () if seed % 2 else RULES
        options = {} if seed % 2 else {"min_exp": 0.6}
        try:
            release = anonymize(table_of(rows), guarantee, rules=rules, **options)
        except Infeasible:
            seen["infeasible"] += 1
            continue
        out = tmp_path / str(seed)
        publish(release, out, allow_useless=True)
        assert audit_folder(out).holds
        quasi = cells(out / "quasi.csv")
        counts = cells(out / "sensitive.csv")
        assert Counter((row["age"], row["sex"]) for row in quasi) == Counter(row[:2] for row in rows)
        values = sorted({row["ill"] for row in counts})
        given = [] if seed % 2 else cells(out / "rules.csv")
        for bucket in {row["bucket"] for row in quasi}:
            inside = [row for row in quasi if row["bucket"] == bucket]
            held = [
                value
                for row in counts
                if row["bucket"] == bucket
                for value in [row["ill"]] * int(row["count"])
            ]
            assert len(held) == len(inside)
            if seed % 2:
                assert max(Counter(held).values()) * l <= len(held)
                continue
            # Whose value is whose is not told: any order gives the same possible values.
            group = [
                Person(values.index(value), person.cannot)
                for value, person in zip(held, people(inside, given, values), strict=True)
            ]
            assert all(len(valid_values(group, place)) >= l for place in range(len(group)))
        seen[guarantee.model] += 1
    assert seen["l"] > 5
    assert seen["matching"] > 5


@pytest.mark.parametrize("form", ["buckets", "joined"])
def test_labels_that_look_like_code_are_inert(tmp_path: Path, form: str) -> None:
    n = len(XSS)
    columns = {
        "<b>who</b>": [XSS[k % n] for k in range(3 * n)],
        "sex": ["FM"[k % 2] for k in range(3 * n)],
        "<i>ill</i>": [XSS[(k // 2) % n] for k in range(3 * n)],
    }
    data = Microdata.from_columns(columns, "<i>ill</i>")
    others = (*XSS[5:], *XSS[:5])
    rules = [
        NegativeRule((("<b>who</b>", label),), other) for label, other in zip(XSS, others, strict=True)
    ]
    release = anonymize(data, MatchingDiversity(2), rules=rules, min_fact_conf=0.3)
    publish(release, tmp_path / "out", format=form)
    assert audit_folder(tmp_path / "out").holds
    assert set(rules) <= set(release.rules)
    for page in (tmp_path / "out/report.html", tmp_path / "out.private/report.html"):
        harmless(parsed(page))
    rows = cells(tmp_path / f"out/{'data' if form == 'joined' else 'quasi'}.csv")
    assert {row["<b>who</b>"] for row in rows} == set(XSS)
