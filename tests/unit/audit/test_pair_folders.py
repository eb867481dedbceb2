"""Folders of two data sets: good ones are read, and whatever was tampered with is refused.

A forger who knows the format also mends the hashes in certificate and report; forgeries here do.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from setveil.audit import PairFinding, audit_folder
from setveil.audit.__main__ import main
from setveil.errors import DataError, FileSystemError, ResourceLimit, SetveilError, UsageError
from setveil.model.guarantees import KAnonymity
from tests.integration.cli import Shell
from tests.integration.conftest import shell as shell
from tests.unit.audit.folders import DELIMITED, sha256, spelled
from tests.unit.audit.pair_folders import edit, forge, page_for, write_pair, write_sets, write_tables

FORMS = ("baskets", "long", "onehot", "fimi", "jsonl", "parquet")
Change = Callable[[bytes], bytes]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_tables(tmp_path / "out")


def replaced(old: str, new: str) -> Change:
    return lambda content: content.replace(old.encode(), new.encode(), 1)


def code_of(folder: Path) -> str:
    with pytest.raises(DataError) as caught:
        audit_folder(folder)
    return caught.value.problems[0].code


def test_tables_and_sets_are_read(tmp_path: Path) -> None:
    finding = audit_folder(write_tables(tmp_path / "tables"))
    assert isinstance(finding, PairFinding)
    assert finding.holds
    assert finding.records == (4, 4)
    for form in FORMS:
        assert audit_folder(write_sets(tmp_path / form, form)).holds
        if form != "parquet":
            assert audit_folder(write_sets(tmp_path / f"{form}-packed", form, gz=True)).holds


def test_the_promise_is_the_folders_own(tmp_path: Path) -> None:
    low = {"model": "patterns", "growth": "2", "min_support": 2}
    finding = audit_folder(write_tables(tmp_path / "low", guarantee=low), witnesses=9)
    assert not finding.holds
    assert isinstance(finding, PairFinding)
    # {degree=*, job=clerk}: two of four against one of four.
    assert [one.labels for one in finding.witnesses] == [("degree=*", "job=clerk")]
    every = {"model": "patterns", "growth": "5", "min_support": "1/2", "every_level": True}
    assert audit_folder(write_tables(tmp_path / "every", guarantee=every)).holds
    # (A, T) is in two of the first three baskets, and (C, T) in one; the others hold all three.
    sets = audit_folder(write_sets(tmp_path / "sets", guarantee=every), witnesses=9)
    assert isinstance(sets, PairFinding)
    assert [one.labels for one in sets.witnesses] == [("A", "C", "T")]


def test_no_other_promise_is_judged(folder: Path) -> None:
    with pytest.raises(UsageError, match="judged by their own promise"):
        audit_folder(folder, KAnonymity(2))
    with pytest.raises(UsageError, match="judged by their own promise"):
        audit_folder(folder, mode="cover")
    with pytest.raises(ResourceLimit):
        audit_folder(folder, work_limit=3)


def test_both_commands_judge_a_pair(
    shell: Shell, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good = write_tables(tmp_path / "good")
    low = {"model": "patterns", "growth": "2", "min_support": "1/2"}
    bad = write_tables(tmp_path / "bad", guarantee=low)
    for place, code in ((good, 0), (bad, 1)):
        ran = shell("audit", str(place), "--witnesses", "1")
        assert ran.code == code
        assert ran.out.startswith("HOLDS: no pattern" if code == 0 else "DOES NOT HOLD: no pattern")
        assert ("witness: {degree=*, job=clerk} in 2" in ran.out) == bool(code)
        told = json.loads(shell("audit", str(place), "--json").out)
        assert (told.pop("verb"), told.pop("kind")) == ("audit", "pairs")
        assert told["holds"] is (code == 0)
        assert told["records"] == [4, 4]
        assert main([str(place), "--json"]) == code
        assert json.loads(capsys.readouterr().out) == told
    for more in (("-k", "2", "-m", "2"), ("--mode", "cover")):
        ran = shell("audit", str(good), *more)
        assert ran.code == 2
        assert "their own promise" in ran.err


@pytest.mark.parametrize("make", [write_tables, write_sets])
def test_every_byte_counts(make: Callable[[Path], Path], tmp_path: Path) -> None:
    good = make(tmp_path / "good")
    for file in sorted(good.iterdir()):
        content = file.read_bytes()
        for place in {0, 1, len(content) // 2, len(content) - 1}:
            changed = bytearray(content)
            changed[place] ^= 1
            file.write_bytes(bytes(changed))
            with pytest.raises(DataError):
                audit_folder(good)
        file.write_bytes(content)
    assert audit_folder(good).holds


FORGERIES: list[tuple[str, Change, str]] = [
    ("data-1.csv", replaced("*,clerk\n*,clerk\nBA,clerk", "*,clerk\nBA,clerk\n*,clerk"), "row-order"),
    ("data-2.csv", replaced("BA,\nBA,clerk", "BA,clerk\nBA,"), "row-order"),
    ("data-1.csv", replaced("BA,guard\n", ""), "certificate-content"),
    ("data-1.csv", replaced("BA,guard\n", "BA,guard\nBA,guard\n"), "certificate-content"),
    ("data-1.csv", replaced("BA,guard", "BA"), "ragged-row"),
    ("data-1.csv", replaced("BA,guard", '"BA",guard'), "quoting"),
    ("data-1.csv", replaced("BA,guard", "BA,guard "), "quoting"),
    ("data-1.csv", replaced("BA,guard", "MA,guard"), "published-hierarchy"),
    ("data-1.csv", replaced("degree,job", "job,degree"), "header"),
    ("data-1.csv", lambda content: content.replace(b",", b";"), "header"),
    ("data-1.csv", lambda content: content[:11], "no-records"),
    ("data-1.csv", lambda content: b"", "header"),
    ("data-1.csv", lambda content: content[:-1], "no-line-end"),
    ("data-1.csv", lambda content: b"\xef\xbb\xbf" + content, "byte-order-mark"),
    ("data-1.csv", lambda content: content + b"\n", "quoting"),
    ("hierarchy.csv", lambda content: content + b"job=nurse;job=*\n", "published-hierarchy"),
    ("hierarchy.csv", replaced("job=guard;job=*\n", ""), "published-hierarchy"),
    ("hierarchy.csv", replaced("job=guard;job=*", "job=guard;job=all"), "published-hierarchy"),
    ("hierarchy.csv", replaced("job=guard;job=*", "job=guard;degree=*"), "published-hierarchy"),
    ("hierarchy.csv", lambda content: b"".join(content.splitlines(True)[::-1]), "published-hierarchy"),
    ("hierarchy.csv", lambda content: content.replace(b"=*\n", b"=*;=*\n"), "published-hierarchy"),
]


@pytest.mark.parametrize(
    ("name", "change", "code"), FORGERIES, ids=[f"{n}-{case[0]}" for n, case in enumerate(FORGERIES)]
)
def test_forged_tables_are_refused(folder: Path, name: str, change: Change, code: str) -> None:
    forge(folder, name, change)
    assert code_of(folder) == code


SET_FORGERIES: list[tuple[str, Change, str]] = [
    ("data-1.csv", replaced("a,b", "b,a"), "label-order"),
    ("data-1.csv", replaced("a,b", "a,a"), "repeated-label"),
    ("data-1.csv", replaced("a,b\nc", "c\na,b"), "row-order"),
    ("data-1.csv", replaced("c\n", ""), "certificate-content"),
    ("hierarchy.csv", replaced("c;C;T", "c;C;S"), "published-hierarchy"),
    ("hierarchy.csv", replaced("C;T;T", "C;S;S"), "published-hierarchy"),
    ("hierarchy.csv", lambda content: b"C\na\nb\nc\n", "published-hierarchy"),
    ("hierarchy.csv", replaced("c;C;T\n", ""), "published-hierarchy"),
    ("hierarchy.csv", lambda content: content + b"d;C;T\n", "published-hierarchy"),
]


@pytest.mark.parametrize(("name", "change", "code"), SET_FORGERIES, ids=range(len(SET_FORGERIES)))
def test_forged_sets_are_refused(tmp_path: Path, name: str, change: Change, code: str) -> None:
    folder = write_sets(tmp_path / "out")
    forge(folder, name, change)
    assert code_of(folder) == code


def test_a_row_that_is_moved_is_seen(folder: Path) -> None:
    """Moved to the other data set with all hashes mended, it changes the counts that are told."""
    forge(folder, "data-1.csv", replaced("BA,guard\n", ""))
    forge(folder, "data-2.csv", replaced("BA,guard\n", "BA,guard\nBA,guard\n"))
    assert code_of(folder) == "certificate-content"

    def mend(plain: dict[str, Any]) -> None:
        for part, count in zip(plain["data"]["parts"], (3, 5), strict=True):
            part["records"] = count

    # Whoever mends those too has made another release, which is judged anew.
    edit(folder, mend)
    finding = audit_folder(folder)
    assert isinstance(finding, PairFinding)
    assert finding.records == (3, 5)


def test_parts_that_are_swapped_are_refused(folder: Path) -> None:
    first, second = (folder / "data-1.csv", folder / "data-2.csv")
    content = first.read_bytes()
    first.write_bytes(second.read_bytes())
    second.write_bytes(content)
    assert code_of(folder) == "changed"
    edit(folder, lambda plain: plain["data"]["parts"].reverse())
    assert code_of(folder) == "certificate-content"


def test_labels_of_two_columns_are_refused(tmp_path: Path) -> None:
    data = {"format": "table", "delimiter": ",", "columns": ["a", "a=b"]}
    tree = b"a=b=c\n"
    parts = (b"a,a=b\nb=c,\n", b"a,a=b\n,c\n")
    folder = write_pair(tmp_path / "out", parts, tree, data, records=(1, 1))
    assert code_of(folder) == "repeated-label"


def at(*keys: str | int) -> Callable[[dict[str, Any]], Any]:
    def found(plain: Any) -> Any:
        for key in keys:
            plain = plain[key]
        return plain

    return found


PART = ("data", "parts", 0)
EDITS: list[tuple[tuple[str | int, ...], object]] = [
    (("guarantee",), {"model": "patterns", "growth": "1", "min_support": "1/2"}),
    (("guarantee",), {"model": "patterns", "growth": 5, "min_support": "1/2"}),
    (("guarantee",), {"model": "patterns", "growth": "10/2", "min_support": "1/2"}),
    (("guarantee",), {"model": "patterns", "growth": "5.0", "min_support": "1/2"}),
    (("guarantee",), {"model": "patterns", "growth": "5", "min_support": 0.5}),
    (("guarantee",), {"model": "patterns", "growth": "5", "min_support": "0"}),
    (("guarantee",), {"model": "patterns", "growth": "5", "min_support": "2/4"}),
    (("guarantee",), {"model": "patterns", "growth": "5"}),
    (("guarantee",), {"model": "k", "k": 2}),
    (("guarantee",), None),
    (("guarantee", "every_level"), False),
    (("guarantee", "note"), "x"),
    (("data", "parts"), []),
    (("data", "parts"), None),
    (("data", "parts", 0), None),
    ((*PART, "file"), "data.csv"),
    ((*PART, "file"), "data-2.csv"),
    ((*PART, "file"), "../data-1.csv"),
    ((*PART, "file"), "data-1.csv.gz"),
    ((*PART, "file"), ["data-1.csv"]),
    ((*PART, "sha256"), "0" * 64),
    ((*PART, "sha256"), "x"),
    ((*PART, "records"), 5),
    ((*PART, "records"), "<5"),
    ((*PART, "records"), 4.0),
    ((*PART, "records"), True),
    ((*PART, "note"), "x"),
    (("data", "note"), "x"),
    (("data", "file"), "data-1.csv"),
    (("data", "format"), "baskets"),
    (("data", "format"), "buckets"),
    (("data", "format"), ["table"]),
    (("data", "delimiter"), ";"),
    (("data", "columns"), []),
    (("data", "columns"), ["job", "degree"]),
    (("data", "columns"), ["degree", "degree"]),
    (("data", "columns"), "degree"),
    (("data", "columns"), [{"name": "degree", "kind": "kept"}]),
    (("data", "classes"), None),
    (("data", "classes", "column"), "job"),
    (("data", "classes", "column"), ""),
    (("data", "classes", "column"), "a\0b"),
    (("data", "classes", "column"), ["pay"]),
    (("data", "classes", "values"), ["x"]),
    (("data", "classes", "values"), ["x", "x"]),
    (("data", "classes", "values"), ["x", "y", "z"]),
    (("data", "classes", "values"), "xy"),
    (("data", "classes", "note"), "x"),
    (("loss",), {"ncp": 0.5}),
    (("suppressed",), {"items": "<5", "records": 0}),
    (("rules",), {"file": "rules.csv", "sha256": "0" * 64}),
    (("recoding",), "local"),
    (("recoding",), "buckets"),
    (("recoding",), "pairs"),
    (("method",), "Hide Patterns"),
    (("note",), "to whom it may concern"),
    (("certificate",), 1),
    (("certificate",), 3),
    (("verdict", "mode"), "cover"),
    (("verdict", "holds"), False),
    (("hierarchy", "sha256"), "0" * 64),
]


@pytest.mark.parametrize(("keys", "value"), EDITS, ids=[f"{n}-{e[0][-1]}" for n, e in enumerate(EDITS)])
def test_certificates_that_say_something_else_are_refused(
    folder: Path, keys: tuple[str | int, ...], value: object
) -> None:
    def change(plain: dict[str, Any]) -> None:
        at(*keys[:-1])(plain)[keys[-1]] = value

    edit(folder, change)
    with pytest.raises(SetveilError) as caught:
        audit_folder(folder)
    assert caught.value.exit_code == 3


@pytest.mark.parametrize("recoding", ["pair", "buckets"])
def test_the_first_certificates_know_no_pairs(folder: Path, recoding: str) -> None:
    plain = json.loads((folder / "certificate.json").read_bytes())
    plain |= {"certificate": 1, "recoding": recoding}
    for key in ("report", "terms", "evidence"):
        del plain[key]
    (folder / "certificate.json").write_bytes(spelled(plain))
    assert code_of(folder) == "certificate-content"


def test_sets_have_no_columns_and_no_classes(tmp_path: Path) -> None:
    for number, more in enumerate(
        ({"columns": ["a"]}, {"classes": {"column": "a", "values": ["x", "y"]}})
    ):
        folder = write_sets(tmp_path / str(number))
        edit(folder, lambda plain, more=more: plain["data"].update(more))  # type: ignore[misc]
        assert code_of(folder) == "certificate-key"
    folder = write_sets(tmp_path / "packed", "parquet", gz=True)
    assert code_of(folder) == "certificate-content"


@pytest.mark.parametrize("name", ["data.csv", "notes.txt", ".hidden", "data-3.csv", "rules.csv"])
def test_spare_files_are_refused(folder: Path, name: str) -> None:
    (folder / name).write_text("x\n")
    assert code_of(folder) == "spare-file"


@pytest.mark.parametrize("name", ["data-1.csv", "data-2.csv", "hierarchy.csv", "report.html"])
def test_files_that_lack_or_are_links_are_refused(folder: Path, tmp_path: Path, name: str) -> None:
    (folder / name).rename(tmp_path / name)
    with pytest.raises((DataError, FileSystemError)):
        audit_folder(folder)
    (folder / name).symlink_to(tmp_path / name)
    with pytest.raises((DataError, FileSystemError)):
        audit_folder(folder)


NAMED = ("degree", "degree=*", "degree=BA", "BA", "*", "job", "guard", "pay", "&lt;=50K")


@pytest.mark.parametrize("label", NAMED)
def test_the_report_may_name_what_is_published(tmp_path: Path, label: str) -> None:
    assert audit_folder(write_tables(tmp_path / "out", more=f"<p><bdi>{label}</bdi></p>\n")).holds


def test_the_report_names_nothing_else_and_both_hashes(folder: Path, tmp_path: Path) -> None:
    other = write_tables(tmp_path / "other", more="<p><bdi>MA</bdi></p>\n")
    assert code_of(other) == "report-label"
    plain = json.loads((folder / "certificate.json").read_bytes())
    for number in (0, 1):
        digest = plain["data"]["parts"][number]["sha256"]
        page = page_for(plain).replace(digest.encode(), b"0" * 64)
        (folder / "report.html").write_bytes(page)
        changed = {**plain, "report": {"file": "report.html", "sha256": sha256(page)}}
        (folder / "certificate.json").write_bytes(spelled(changed))
        assert code_of(folder) == "report-content"


def schema() -> jsonschema.Draft202012Validator:
    text = files("setveil.report").joinpath("certificate.schema.json").read_text(encoding="utf-8")
    return jsonschema.Draft202012Validator(json.loads(text))


def test_the_schema_fits(tmp_path: Path) -> None:
    places = [write_tables(tmp_path / "table")]
    places += [write_sets(tmp_path / form, form) for form in FORMS]
    places.append(write_sets(tmp_path / "packed", gz=True))
    every = {"model": "patterns", "growth": "7/2", "min_support": 2, "every_level": True}
    places.append(write_sets(tmp_path / "every", guarantee=every))
    for place in places:
        plain = json.loads((place / "certificate.json").read_bytes())
        schema().validate(plain)
        form = plain["data"]["format"]
        assert ("delimiter" in plain["data"]) == (form in DELIMITED)
        stray = [plain, plain["data"], *plain["data"]["parts"], plain["guarantee"]]
        stray += [plain["data"]["classes"]] if form == "table" else []
        for inner in stray:
            inner["stray"] = 1
            assert not schema().is_valid(plain)
            del inner["stray"]


SAYING_SO = [
    edited
    for edited in EDITS
    # What a schema cannot see: hashes, counts, the plain form of a fraction, one name in two places.
    if edited[1] not in ("0" * 64, 5, 4.0, ["job", "degree"], "job", "a\0b", "data-1.csv.gz", "baskets")
    and not (isinstance(edited[1], dict) and edited[1].get("model") == "patterns")
]


@pytest.mark.parametrize(("keys", "value"), SAYING_SO, ids=range(len(SAYING_SO)))
def test_the_schema_refuses_too(folder: Path, keys: tuple[str | int, ...], value: object) -> None:
    plain = json.loads((folder / "certificate.json").read_bytes())
    at(*keys[:-1])(plain)[keys[-1]] = value
    assert not schema().is_valid(plain)
