"""Items left out: empty records, banded counts, names that stay private, data without a hierarchy."""

from __future__ import annotations

import json
import secrets
from fractions import Fraction
from pathlib import Path

import pytest

import setveil as sv
from tests.contract.cases import public_bytes
from tests.integration.cli import Shell

K2 = ("-k", "2", "-m", "2", "-o", "out")


def write(rows: list[str], name: str = "data.jsonl") -> str:
    lines = [json.dumps(row.split()) for row in rows]
    Path(name).write_text("\n".join(lines) + "\n")
    return name


def shown(folder: str = "out") -> list[list[str]]:
    return [json.loads(line) for line in Path(folder, "data.jsonl").read_text().splitlines()]


def recoding() -> dict[str, object]:
    found: dict[str, object] = json.loads(Path("out.private", "recoding.json").read_bytes())
    return found


def certificate() -> dict[str, object]:
    found: dict[str, object] = json.loads(Path("out", "certificate.json").read_bytes())
    return found


def test_mm_needs_no_hierarchy(shell: Shell) -> None:
    data = write(["a b", "a b", "a c", "a"])
    ran = shell("anonymize", data, *K2, "--method", "mm", "--json")
    assert ran.code == 0, ran.err
    assert (ran.json["suppressed_items"], ran.json["suppressed_occurrences"]) == (1, 1)
    assert ran.json["dropped_records"] == 0
    assert shown() == [["a"], ["a"], ["a", "b"], ["a", "b"]]
    assert Path("out", "hierarchy.csv").read_text() == "a\nb\n"
    assert certificate()["suppressed"] == {"items": "<2", "records": 0}
    assert recoding()["suppressed"] == ["c"]
    assert shell("audit", "out").code == 0


def test_a_table_needs_none_either(shell: Shell) -> None:
    Path("table.csv").write_text("sex,items\nM,a b\nF,b a\nF,a b\nM,a b\nF,a c\n")
    ran = shell("anonymize", "table.csv", "--set", "items", "--keep", "sex", *K2, "--method", "mm")
    assert ran.code == 0, ran.err
    lines = Path("out", "data.csv").read_text().splitlines()
    assert lines == ["sex,items", "F,a", "F,a b", "F,a b", "M,a b", "M,a b"]
    assert shell("audit", "out").code == 0


def test_others_still_ask_for_one(shell: Shell) -> None:
    data = write(["a b", "a b"])
    for key in ("optimal", "hghs", "mhghs"):
        ran = shell("anonymize", data, *K2, "--method", key)
        assert ran.code == 2
        assert "needs a hierarchy" in ran.err


@pytest.mark.parametrize(("alone", "left", "dropped"), [(0, 0, 0), (1, 0, 1), (2, 2, 0), (3, 3, 0)])
def test_few_empty_records_are_not_published(shell: Shell, alone: int, left: int, dropped: int) -> None:
    # Each record alone has an item of its own, of which nothing is left.
    data = write(["a b", "a b", "a b rare", *(f"r{number}" for number in range(alone))])
    ran = shell("anonymize", data, *K2, "--method", "mm", "--json")
    assert ran.code == 0, ran.err
    assert ran.json["records"] == 3 + left
    assert sum(not row for row in shown()) == left
    assert ran.json["dropped_records"] == dropped == len(recoding()["dropped_records"])  # type: ignore[arg-type]
    told = certificate()["suppressed"]
    assert told == {"items": "<2" if alone == 0 else 1 + alone, "records": "<2" if dropped else 0}
    assert ran.json["empty_records"] == left
    told_why = "notice: 1 record is not published: all its items were left out, and so few empty"
    assert (told_why in ran.err) == bool(dropped)
    audit = json.loads(Path("out.private", "audit.json").read_bytes())
    assert audit["dropped_records"] == dropped
    assert audit["suppressed_occurrences"] == 1 + alone


def test_records_that_came_empty_stay_where_nothing_is_suppressed(shell: Shell) -> None:
    data = write(["a", "a", ""])
    ran = shell("anonymize", data, *K2, "--method", "mm", "--empty-rows", "keep", "--json")
    assert ran.code == 0, ran.err
    assert shown() == [[], ["a"], ["a"]]
    assert "suppressed" not in certificate()


def test_measure_takes_the_original_with_the_dropped_records() -> None:
    data = sv.Transactions.from_rows([["a"], ["a"], ["b"]])
    release = sv.anonymize(data, sv.KmAnonymity(2, 1), method="mm")
    assert len(release.dropped) == 1 and release.records == 2
    assert (
        dict(sv.measure(release, data, measures=("ncp", "lm")))
        == release.losses
        == {"ncp": Fraction(1, 3), "lm": Fraction(1, 3)}
    )
    assert "1 record was dropped, because all its items were left out" in str(release)


@pytest.mark.parametrize("key", ["hghs", "mhghs", "mm"])
def test_names_of_suppressed_items_and_categories_leave_no_trace(shell: Shell, key: str) -> None:
    tokens = [f"secret{secrets.token_hex(6)}" for _ in range(3)]
    rows = ["milk bun"] * 4 + [f"milk {tokens[0]}", f"bun {tokens[1]}"]
    tree = f"{tokens[0]};{tokens[2]};ALL\n{tokens[1]};{tokens[2]};ALL\nmilk;food;ALL\nbun;food;ALL\n"
    Path("tree.csv").write_text(tree)
    data = write(rows)
    ran = shell("anonymize", data, "-k", "3", "-m", "2", "-o", "out", "--hierarchy", "tree.csv",
                "--method", key)  # fmt: skip
    assert ran.code == 0, ran.err
    whole = b"".join(public_bytes(Path("out")).values()) + (ran.out + ran.err).encode()
    for token in tokens:
        assert token.encode() not in whole
    assert recoding()["suppressed"] == sorted(tokens[:2])


@pytest.mark.parametrize("key", ["hghs", "mhghs", "mm"])
def test_inputs_with_the_same_release_have_the_same_public_bytes(shell: Shell, key: str) -> None:
    tree = "".join(f"{item};{above};ALL\n" for item, above in
                   [("a", "A"), ("b", "A"), ("x", "B"), ("y", "B"), ("z", "B")])  # fmt: skip
    Path("tree.csv").write_text(tree)
    written = []
    for number, rare in enumerate((["a x", "b y"], ["b x", "a z"])):
        data = write(["a b"] * 12 + rare, f"data{number}.jsonl")
        words = ("-k", "3", "-m", "2", "-o", f"out{number}", "--hierarchy", "tree.csv")
        assert shell("anonymize", data, *words, "--method", key).code == 0
        written.append(public_bytes(Path(f"out{number}")))
    assert written[0] == written[1]


def test_coherence_from_the_command_line(shell: Shell) -> None:
    data = write(["a b flu", "a b", "a b", "a", "c flu", "c flu"])
    Path("private.txt").write_text("flu\n")
    for listed in ("flu", "@private.txt"):
        words = ("--h", "50", "--k", "2", "--p", "2", "--private", listed, "-o", "out", "--force")
        ran = shell("anonymize", data, "--guarantee", "coherence", *words, "--json")
        assert ran.code == 0, ran.err
        assert ran.json["method"] == "mm"
        plain = {"model": "coherence", "h": "50", "k": 2, "p": 2, "private": ["flu"]}
        assert ran.json["guarantee"] == plain == certificate()["guarantee"]
        assert [row for row in shown() if "flu" in row] == [["a", "b", "flu"], ["flu"], ["flu"]]
        assert shell("audit", "out").code == 0
    words = ("--guarantee", "coherence", "--k", "2", "--p", "2", "--private", "flu")
    assert shell("audit", data, *words, "--h", "50").code == 1
    assert shell("audit", data, *words, "--h", "100").code == 0
    assert shell("audit", "out", *words, "--h", "33.3").code == 1


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--k", "2", "--p", "2", "--private", "flu"), "h must be"),
        (("--h", "80%", "--k", "2", "--p", "2", "--private", "flu"), "h must be"),
        (("--h", "101", "--k", "2", "--p", "2", "--private", "flu"), "out of range"),
        (("--h", "50", "--k", "2", "--private", "flu"), "--p is missing"),
        (("--h", "50", "--p", "2", "--private", "flu"), "-k is missing"),
        (("--h", "50", "--k", "2", "--p", "2", "-m", "2"), "-m does not fit"),
        (("--h", "50", "--k", "2", "--p", "2", "--private", "pox"), "neither in the data"),
        (("--guarantee", "km", "-k", "2", "-m", "2", "--h", "50"), "--h does not fit"),
        (("--h", "50", "--k", "2", "--p", "2", "--method", "aa"), "Methods that do: mm"),
    ],
)
def test_wrong_coherence_is_told(shell: Shell, words: tuple[str, ...], told: str) -> None:
    data = write(["a flu", "a", "a"])
    ran = shell("anonymize", data, *words, "-o", "out")
    assert ran.code == 2
    assert told in ran.err
    assert not Path("out").exists()
