"""Folders of tables in buckets, tampered with: the audit refuses or says no, and never falls over.

A forger who knows the format also mends the hashes in certificate and report; most forgeries here do.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from setveil.audit import audit_folder
from setveil.errors import DataError, SetveilError
from setveil.hierarchy.tree import Hierarchy
from setveil.model.guarantees import BucketGuarantee, LDiversity, MatchingDiversity
from setveil.model.microdata import Microdata
from setveil.model.rules import NegativeRule
from setveil.publish import publish
from setveil.release.buckets import Bucketing, BucketRelease

AGES = Hierarchy.from_paths([(str(age), f"{age // 10}0s", "any") for age in range(20, 60)])
COLUMNS = {
    "age": ["21", "22", "33", "34", "45", "46", "21", "52"],
    "sex": ["F", "F", "M", "M", "M", "F", "M", "F"],
    "ill": ["ovarian", "flu", "flu", "gout", "cold", "flu", "gout", "cold"],
}
RULES = (
    NegativeRule((("sex", "M"),), "ovarian"),
    NegativeRule((("age", "20s"), ("sex", "F")), "gout"),
)
BUCKETS = Bucketing(np.array([0, 0, 0, 1, 1, 1, 1, 0], dtype=np.int32))


def release_of(guarantee: BucketGuarantee) -> BucketRelease:
    data = Microdata.from_columns(COLUMNS, "ill", hierarchies={"age": AGES})
    rules = RULES if isinstance(guarantee, MatchingDiversity) else ()
    key = "injector" if rules else "anatomy"
    return BucketRelease(data, BUCKETS, guarantee=guarantee, method=key, rules=rules)


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Hold a good folder of each kind."""
    place = tmp_path_factory.mktemp("kept")
    publish(release_of(MatchingDiversity(2)), place / "matching")
    publish(release_of(MatchingDiversity(2)), place / "joined", format="joined")
    publish(release_of(LDiversity(2)), place / "l")
    return place


@pytest.fixture
def folder(kept: Path, tmp_path: Path) -> Path:
    shutil.copytree(kept / "matching", tmp_path / "out")
    return tmp_path / "out"


def sha256(content: bytes) -> bytes:
    return hashlib.sha256(content).hexdigest().encode()


def forge(folder: Path, name: str, change: Callable[[str], str]) -> None:
    """Change a file, and mend every hash that speaks of it."""
    file, report, certificate = (folder / part for part in (name, "report.html", "certificate.json"))
    before = file.read_bytes()
    after = change(before.decode()).encode()
    assert after != before, "the forgery changes nothing"
    file.write_bytes(after)
    if name == "certificate.json":
        return
    page = report.read_bytes()
    report.write_bytes(page.replace(sha256(before), sha256(after)))
    text = certificate.read_bytes().replace(sha256(before), sha256(after))
    certificate.write_bytes(text.replace(sha256(page), sha256(report.read_bytes())))


def swap(one: str, other: str) -> Callable[[str], str]:
    return lambda text: text.replace(one, "\1").replace(other, one).replace("\1", other)


def replaced(old: str, new: str) -> Callable[[str], str]:
    return lambda text: text.replace(old, new, 1)


def lines_swapped(one: int, other: int) -> Callable[[str], str]:
    def change(text: str) -> str:
        lines = text.splitlines(keepends=True)
        lines[one], lines[other] = lines[other], lines[one]
        return "".join(lines)

    return change


def without(line: int) -> Callable[[str], str]:
    return lambda text: "".join(
        kept for place, kept in enumerate(text.splitlines(keepends=True)) if place != line
    )


def test_the_good_folders_are_good(kept: Path) -> None:
    for name in ("matching", "joined", "l"):
        assert audit_folder(kept / name).holds
    assert (kept / "matching/quasi.csv").read_text() == (
        "age,sex,bucket\n21,F,1\n22,F,1\n33,M,1\n52,F,1\n21,M,2\n34,M,2\n45,M,2\n46,F,2\n"
    )
    assert (kept / "matching/sensitive.csv").read_text() == (
        "bucket,ill,count\n1,cold,1\n1,flu,2\n1,ovarian,1\n2,cold,1\n2,flu,1\n2,gout,2\n"
    )
    assert (kept / "matching/rules.csv").read_text() == "age,sex,ill\n,M,ovarian\n20s,F,gout\n"


@pytest.mark.parametrize("kind", ["matching", "joined", "l"])
def test_every_byte_counts(kept: Path, tmp_path: Path, kind: str) -> None:
    for file in sorted((kept / kind).iterdir()):
        for number, place in enumerate({0, 1, len(file.read_bytes()) // 2, len(file.read_bytes()) - 1}):
            out = tmp_path / f"{file.name}-{number}"
            shutil.copytree(kept / kind, out)
            content = bytearray(file.read_bytes())
            content[place] ^= 1
            (out / file.name).write_bytes(bytes(content))
            with pytest.raises(DataError):
                audit_folder(out)


FORGERIES: list[tuple[str, Callable[[str], str], str]] = [
    # a row moved to another bucket
    ("quasi.csv", replaced("52,F,1", "52,F,2"), "rows in one table"),
    (
        "quasi.csv",
        lambda text: text.replace("52,F,1\n", "").replace("46,F,2", "46,F,2\n52,F,2"),
        "rows",
    ),
    # rows in another order
    ("quasi.csv", lines_swapped(1, 2), "canonical order"),
    # buckets swapped: by number, and by place
    ("quasi.csv", lambda t: "\n".join(swap("1", "2")(line) for line in t.split("\n")), "."),
    ("quasi.csv", replaced("52,F,1", "52,F,01"), "numbered"),
    ("quasi.csv", replaced("52,F,1", "52,F,3"), "numbered"),
    ("quasi.csv", replaced("52,F,1", "52,F,"), "empty"),
    ("quasi.csv", replaced("52,F,1", "52,F,1,x"), "cells"),
    ("quasi.csv", replaced("52,F,1", '"52",F,1'), "quoted"),
    ("quasi.csv", replaced("52,F,1", "52,F,1\r"), "quotes"),
    ("quasi.csv", replaced("52,F,1", " 52,F,1"), "quotes"),
    ("quasi.csv", replaced("52,F,1", "53,F,1"), "no row"),
    ("quasi.csv", lambda text: text.replace(",", ";"), "header"),
    ("quasi.csv", lambda text: "\ufeff" + text, "byte order mark"),
    ("quasi.csv", lambda text: text.removesuffix("\n"), "line end"),
    ("quasi.csv", lambda text: text + "\n", "."),
    ("quasi.csv", lambda text: text.split("\n")[0] + "\n", "no records"),
    ("quasi.csv", lambda text: "", "header"),
    ("quasi.csv", replaced("age,sex,bucket", "sex,age,bucket"), "header"),
    # a row more, a row less
    ("quasi.csv", replaced("52,F,1\n", "."), "rows in one table"),
    ("quasi.csv", replaced("52,F,1\n", "52,F,1\n52,F,1\n"), "rows in one table"),
    # counts
    ("sensitive.csv", replaced("1,cold,1", "1,cold,2"), "rows in one table"),
    ("sensitive.csv", replaced("1,cold,1", "1,cold,0"), "plain number"),
    ("sensitive.csv", replaced("1,cold,1", "1,cold,-1"), "plain number"),
    ("sensitive.csv", replaced("1,cold,1", "1,cold,01"), "plain number"),
    ("sensitive.csv", replaced("1,cold,1", "1,cold,\N{ARABIC-INDIC DIGIT ONE}"), "plain number"),
    ("sensitive.csv", replaced("1,cold,1", "1,cold,1e0"), "plain number"),
    ("sensitive.csv", replaced("1,cold,1", f"1,cold,{'9' * 15}"), "rows in one table"),
    ("sensitive.csv", replaced("1,cold,1", f"1,cold,{'9' * 400}"), "plain number"),
    ("sensitive.csv", replaced("1,flu,2", "1,flu,1\n1,flu,1"), "canonical order"),
    ("sensitive.csv", lines_swapped(1, 2), "canonical order"),
    ("sensitive.csv", lines_swapped(3, 4), "numbered"),
    ("sensitive.csv", without(4), "rows in one table"),
    ("sensitive.csv", lambda text: text + "3,flu,1\n", "bucket 3, which has no rows"),
    ("sensitive.csv", replaced("1,cold", '1,"cold"'), "quoted"),
    ("sensitive.csv", lambda text: text.replace(",", "\t"), "header"),
    # rules
    ("rules.csv", lines_swapped(1, 2), "not sorted"),
    ("rules.csv", lambda text: text + "20s,F,gout\n", "not sorted"),
    ("rules.csv", lambda text: text + "30s,,\n", "without a condition or a value"),
    ("rules.csv", lambda text: text + "~,,~,~\n", "cells"),
    ("rules.csv", replaced(",M,ovarian", ",,ovarian"), "without a condition"),
    ("rules.csv", replaced("20s", '"20s"'), "quoted"),
    ("rules.csv", lambda text: text.replace(",", ";"), "header"),
    ("rules.csv", replaced("age,sex,ill", "age,sex,pain"), "header"),
    ("rules.csv", lambda text: "", "header"),
    # hierarchies
    ("hierarchy.csv", replaced("age=21;age=20s", "age=21;sex=20s"), "leaves its column"),
    ("hierarchy.csv", replaced("age=21;age=20s", "age=21;age=22"), "."),
    ("hierarchy.csv", replaced("sex=M;sex=*", "sex=M;sex=F"), "."),
    ("hierarchy.csv", without(0), "has no row"),
    ("hierarchy.csv", replaced("age=22;", "age=22;age=22;"), "cells"),
    ("hierarchy.csv", lambda text: text + "sex=X;sex=*;sex=*\n", "is not published"),
    ("hierarchy.csv", lines_swapped(0, 1), "not sorted"),
    # the report
    ("report.html", replaced("</main>", "<script>alert(1)</script></main>"), "."),
    ("report.html", replaced("</main>", '<p onclick="x">a</p></main>'), "."),
    ("report.html", replaced("</main>", "<p><bdi>Bob</bdi></p></main>"), "does not publish"),
    ("report.html", replaced("</main>", '<img src="https://a.b/c"></main>'), "."),
    ("report.html", replaced("deFinetti", "de Finetti"), "missing"),
]


@pytest.mark.parametrize(
    ("name", "change", "told"), FORGERIES, ids=[f"{n}-{case[0]}" for n, case in enumerate(FORGERIES)]
)
def test_forgeries_are_refused(
    folder: Path, name: str, change: Callable[[str], str], told: str
) -> None:
    forge(folder, name, change)
    with pytest.raises(DataError, match=told):
        audit_folder(folder)


def test_a_rule_more_can_break_the_promise(folder: Path) -> None:
    """Rules decide: one that leaves a row with too few values makes the answer no."""
    more = "age,sex,ill\n,F,cold\n,F,flu\n,M,ovarian\n20s,F,gout\n"
    forge(folder, "rules.csv", lambda text: more)
    finding = audit_folder(folder)
    assert not finding.holds
    assert finding.as_dict()["violations"]


def test_a_rule_less_is_another_promise(folder: Path) -> None:
    """Whoever removes a rule and mends every hash has made another certificate; it is judged anew.

    Against edits by somebody who can write the whole folder only a signature on the certificate helps.
    """
    forge(folder, "rules.csv", without(1))
    assert audit_folder(folder).holds
    forge(folder, "rules.csv", lambda text: text.split("\n")[0] + "\n")
    assert audit_folder(folder).holds


def test_rows_that_no_longer_keep_the_promise(kept: Path, tmp_path: Path) -> None:
    shutil.copytree(kept / "l", tmp_path / "out")
    folder = tmp_path / "out"
    forge(folder, "sensitive.csv", replaced("1,cold,1\n1,flu,2\n1,ovarian,1", "1,flu,3\n1,ovarian,1"))
    assert not audit_folder(folder).holds
    shutil.copytree(kept / "matching", tmp_path / "other")
    fewer = replaced("1,cold,1\n1,flu,2\n1,ovarian,1", "1,flu,3\n1,ovarian,1")
    forge(tmp_path / "other", "sensitive.csv", fewer)
    assert not audit_folder(tmp_path / "other").holds


JOINED = [
    (replaced("33,M,1", "33,M,2"), "numbered|order"),
    (lambda text: text.replace("cold\n", "\2").replace("flu\n", "cold\n").replace("\2", "flu\n"), "."),
    (lines_swapped(1, 2), "sorted|order"),
    (replaced("bucket,ill", "ill,bucket"), "header"),
    (lambda text: text.replace(",", ";"), "header"),
]


@pytest.mark.parametrize(("change", "told"), JOINED, ids=range(len(JOINED)))
def test_forgeries_of_one_table_are_refused(
    kept: Path, tmp_path: Path, change: Callable[[str], str], told: str
) -> None:
    shutil.copytree(kept / "joined", tmp_path / "out")
    forge(tmp_path / "out", "data.csv", change)
    with pytest.raises(DataError, match=told):
        audit_folder(tmp_path / "out")


@pytest.mark.parametrize(
    ("keys", "value"),
    [
        (("guarantee",), {"model": "l", "l": 2}),
        (("guarantee",), {"model": "matching", "l": 1}),
        (("guarantee",), {"model": "matching", "l": 2, "x": 1}),
        (("guarantee",), {"model": "matching"}),
        (("guarantee",), None),
        (("data", "columns"), ["sex", "age"]),
        (("data", "columns"), "age"),
        (("data", "columns"), []),
        (("data", "columns"), ["age", "age"]),
        (("data", "bucket"), "group"),
        (("data", "bucket"), "age"),
        (("data", "records"), 9),
        (("data", "records"), 8.0),
        (("data", "records"), True),
        (("data", "file"), "../quasi.csv"),
        (("data", "format"), "joined"),
        (("data", "format"), "jsonl"),
        (("data", "delimiter"), ";"),
        (("data", "sensitive", "file"), "quasi.csv"),
        (("data", "sensitive", "column"), "pain"),
        (("data", "sensitive", "count"), "n"),
        (("data", "sensitive"), None),
        (("rules",), None),
        (("rules", "file"), "facts.csv"),
        (("rules", "sha256"), "x"),
        (("rules", "complete"), ["0.05"]),  # the promise does not speak of it
        (("rules", "complete"), [0.05]),
        (("rules", "complete"), ["1.5"]),
        (("rules", "complete"), ["0.050"]),
        (("rules", "complete"), [None, None, None]),
        (("rules", "complete"), "0.05"),
        (("recoding",), "global"),
        (("recoding",), "bucket"),
        (("loss",), {"ncp": 0}),
        (("note",), "to whom it may concern"),
        (("method",), ["injector"]),
        (("verdict", "holds"), False),
    ],
)
def test_certificates_that_say_something_else_are_refused(
    folder: Path, keys: tuple[str, ...], value: object
) -> None:
    file = folder / "certificate.json"
    document = json.loads(file.read_bytes())
    inner = document
    for key in keys[:-1]:
        inner = inner[key]
    inner[keys[-1]] = value
    file.write_bytes(
        json.dumps(document, ensure_ascii=False, indent=2, sort_keys=True).encode() + b"\n"
    )
    with pytest.raises(SetveilError) as caught:
        audit_folder(folder)
    assert caught.value.exit_code == 3


def test_a_stronger_promise_is_not_believed(folder: Path) -> None:
    forge(folder, "certificate.json", replaced('"l": 2', '"l": 5'))
    with pytest.raises(DataError, match="not the guarantee's"):
        audit_folder(folder)


def test_a_rule_that_rules_nothing_out_is_refused(folder: Path) -> None:
    forge(folder, "rules.csv", lambda text: text + "zzz,zebra,zebra\n")
    with pytest.raises(DataError, match="rules nothing out"):
        audit_folder(folder)


@pytest.mark.parametrize(
    "name", ["quasi.csv", "sensitive.csv", "rules.csv", "hierarchy.csv", "report.html"]
)
def test_files_that_lack_or_are_links_are_refused(folder: Path, tmp_path: Path, name: str) -> None:
    (folder / name).rename(tmp_path / name)
    with pytest.raises(SetveilError):
        audit_folder(folder)
    (folder / name).symlink_to(tmp_path / name)
    with pytest.raises(SetveilError):
        audit_folder(folder)


@pytest.mark.parametrize("name", ["data.csv", "notes.txt", ".hidden", "buckets.json"])
def test_spare_files_are_refused(folder: Path, name: str) -> None:
    (folder / name).write_text("x\n")
    with pytest.raises(DataError, match="no part of a release"):
        audit_folder(folder)


def test_a_huge_count_costs_no_memory(folder: Path) -> None:
    """Many counts as large as the table: refused by their sum, before anything is spelled out."""
    lines = [f"1,v{number:05},8" for number in range(50_000)]
    forge(folder, "sensitive.csv", lambda text: "\n".join(["bucket,ill,count", *lines, "2,a,4", ""]))
    with pytest.raises(DataError, match="rows in one table"):
        audit_folder(folder)
