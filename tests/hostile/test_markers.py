"""Items that mean something elsewhere: unknown ones, root labels, formulas, byte order marks."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import setveil as sv
from setveil.errors import DataError
from tests.integration.cli import Shell
from tests.integration.conftest import shell as shell

KM = ("-k", "2", "-m", "1", "-o", "out")
BASKETS = ("--layout", "baskets", "--delimiter", ",")


@pytest.mark.parametrize(
    ("layout", "text", "expected"),
    [
        ("baskets", 'a,b\n"two\nlines",a\n"x, y",b\n', {"b": 1, "x, y": 4, "two\nlines": 2}),
        ("long", "id,item\n1,a\n1,b\n2,b\n", {"b": 3}),
        ("fimi", "a  c\r\nb\tc\r\nb\r\n", {"b": 2}),
        ("jsonl", '["a"]\n{"id": "1", "items": ["b"]}\n', {"b": 2}),
        ("onehot", "a,b\n1,0\n0,1\n", {"b": 3}),
    ],
)
def test_every_layout_remembers_first_lines(
    tmp_path: Path, layout: str, text: str, expected: dict[str, int]
) -> None:
    path = tmp_path / "data"
    path.write_bytes(text.encode())
    found = sv.read_transactions(path, layout=layout)
    assert {label: found.first_line_of(label) for label in expected} == expected
    assert found.first_line_of("absent") is None


def test_52_the_first_twenty_unknown_items_have_lines(shell: Shell) -> None:
    Path("d.csv").write_text("ale,milk\n" * 3 + "".join(f"new{n:02d},milk\n" for n in range(30)))
    before = shell.names()
    ran = shell("anonymize", "d.csv", *BASKETS, "--hierarchy", "products.csv", *KM, "--json")
    assert ran.code == 3
    lines = [line for line in ran.err.splitlines() if line.startswith("error[")]
    assert len(lines) == 20
    assert lines[0].startswith("error[unknown-item] d.csv:4: item 'new00' is not in the hierarchy.")
    assert lines[-1].startswith("error[unknown-item] d.csv:23: item 'new19'")
    assert all("Add it" in line and "--unknown attach-to-root" in line for line in lines)
    assert "and 10 more of error[unknown-item]" in ran.err
    assert [p["line"] for p in ran.json["problems"]] == list(range(4, 34))
    assert shell.names() == before
    attached = shell(
        "anonymize", "d.csv", *BASKETS, "--hierarchy", "products.csv", *KM,
        "--unknown", "attach-to-root",
    )  # fmt: skip
    assert attached.code == 0, attached.err
    assert "30 items unknown to the hierarchy were put under its root" in attached.err


def test_52_the_doctor_names_the_same_lines(shell: Shell) -> None:
    Path("d.csv").write_text("ale,milk\nrum,milk\nrum,rum,food\n")
    words = ("hierarchy", "check", "products.csv", "--data", "d.csv", *BASKETS)
    for more in ((), ("--counts",)):
        ran = shell(*words, *more)
        assert ran.code == 3
        assert "error[unknown-item] d.csv:2: item 'rum'" in ran.out
        assert "error[item-is-category] d.csv:3: item 'food'" in ran.out


@pytest.mark.parametrize("root", ["ALL", "*", "food"])
def test_34_an_item_named_like_a_category_or_the_root(shell: Shell, root: str) -> None:
    tree = f"ale;alcohol;{root}\nmilk;drink;{root}\n"
    Path("tree.csv").write_text(tree)
    Path("d.csv").write_text(f"ale,milk\nale,milk\nmilk,{root}\n")
    before = shell.names()
    for unknown in ("error", "attach-to-root"):
        ran = shell(
            "anonymize", "d.csv", *BASKETS, "--hierarchy", "tree.csv", *KM, "--unknown", unknown
        )
        assert ran.code == 3
        assert f"error[item-is-category] d.csv:3: item '{root}'" in ran.err
    assert shell.names() == before


def test_34_a_star_is_an_item_like_any_other_where_it_marks_nothing(shell: Shell) -> None:
    Path("tree.csv").write_text("*;any;ALL\nmilk;any;ALL\n")
    Path("d.csv").write_text("*,milk\n*,milk\n")
    assert shell("anonymize", "d.csv", *BASKETS, "--hierarchy", "tree.csv", *KM).code == 0
    assert Path("out/data.csv").read_text() == "*,milk\n*,milk\n"


@pytest.mark.parametrize("verb", ["build", "learn"])
def test_34_a_root_named_like_an_item_is_not_built(shell: Shell, verb: str) -> None:
    ran = shell("hierarchy", verb, "baskets.csv", "--layout", "baskets", "--root", "milk")
    assert ran.code == 3
    assert "error[root-name-taken]" in ran.err


class TestFormulas:
    """Row 33: labels that a spreadsheet would run."""

    WORDS = ("anonymize", "d.csv", *BASKETS, "--hierarchy", "tree.csv", *KM)

    @pytest.fixture
    def formulas(self, shell: Shell) -> Shell:
        Path("d.csv").write_text("=cmd(),milk\n=cmd(),milk\n")
        Path("tree.csv").write_text("=cmd();ALL\nmilk;ALL\n")
        return shell

    def test_a_warning_by_default(self, formulas: Shell) -> None:
        ran = formulas(*self.WORDS)
        assert ran.code == 0
        assert "a spreadsheet would run as a formula" in ran.err
        assert Path("out/data.csv").exists()

    def test_safe_is_json_lines_that_can_be_verified(self, formulas: Shell) -> None:
        ran = formulas(*self.WORDS, "--csv-safe", "--json")
        assert ran.code == 0
        assert ran.json["format"] == "jsonl"
        told = " ".join(ran.json["notices"])
        assert "published as JSON lines" in told
        assert "hierarchy.csv holds labels" in told
        rows = [json.loads(line) for line in Path("out/data.jsonl").read_text().splitlines()]
        assert rows == [["=cmd()", "milk"]] * 2
        assert formulas("audit", "out").code == 0

    def test_safe_and_a_format_that_is_not(self, formulas: Shell) -> None:
        before = formulas.names()
        ran = formulas(*self.WORDS, "--csv-safe", "--format", "long")
        assert ran.code == 3
        assert "not safe to open" in ran.err
        assert "as a formula. Choose" in ran.err
        assert formulas.names() == before

    def test_safe_changes_nothing_where_nothing_is_odd(self, shell: Shell) -> None:
        assert shell.anonymize("--csv-safe").code == 0
        assert Path("out/data.csv").exists()

    def test_cells_and_names_of_a_table(self, shell: Shell) -> None:
        Path("t.csv").write_text("@sex,drug\nF,milk\nF,milk\n")
        Path("tree.csv").write_text("milk;ALL\n")
        words = ("anonymize", "t.csv", "--set", "drug", "--hierarchy", "drug=tree.csv", *KM)
        assert "JSON lines" in shell(*words, "--keep", "@sex", "--csv-safe").err
        Path("t.csv").write_text("sex,drug\n-F,milk\n-F,milk\n")
        assert "JSON lines" in shell(*words, "--keep", "sex", "--csv-safe", "--force").err
        assert shell("audit", "out").code == 0


def test_1_the_byte_order_mark_is_told_on_request(shell: Shell) -> None:
    Path("baskets.csv").write_bytes(b"\xef\xbb\xbf" + Path("baskets.csv").read_bytes())
    quiet = shell.anonymize()
    assert quiet.code == 0
    assert "byte order mark" not in quiet.err
    for flag in ("-v", "--verbose"):
        assert "notice: the byte order mark" in shell.anonymize("--force", flag).err
    assert "byte order mark" in " ".join(shell.anonymize("--force", "--json").json["notices"])
    words = ("audit", "baskets.csv", "-k", "2", "-m", "2")
    assert "byte order mark" not in shell(*words).err
    assert "byte order mark" in shell(*words, "-v").err
    check = ("hierarchy", "check", "products.csv", "--data", "baskets.csv")
    assert "byte order mark" not in shell(*check).err
    assert "byte order mark" in shell(*check, "-v").err


def test_labels_that_no_format_can_hold_are_never_written(tmp_path: Path) -> None:
    data = sv.Transactions.from_rows([["a\0b"], ["a\0b"]])
    tree = sv.Hierarchy.from_parents({"a\0b": "ALL", "ALL": None})
    release = sv.anonymize(data, sv.KmAnonymity(2, 1), hierarchy=tree)
    with pytest.raises(DataError, match="no format can hold"):
        sv.publish(release, tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


def test_68_a_large_m_is_promised_and_treated_as_the_longest(shell: Shell) -> None:
    ran = shell("anonymize", "baskets.csv", "--hierarchy", "products.csv", "-k", "2", "-m", "9",
                "-o", "out")  # fmt: skip
    assert ran.code == 0
    assert "m=9 is above the longest record, which has 2 items: treated as m=2" in ran.err
    certificate = json.loads(Path("out/certificate.json").read_text())
    assert certificate["guarantee"] == {"model": "km", "k": 2, "m": 9}
    assert "treated as m=2" in " ".join(
        json.loads(Path("out.private/audit.json").read_text())["notices"]
    )
