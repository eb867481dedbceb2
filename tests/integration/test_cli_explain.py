"""``setveil explain`` end to end: the answer, its marks, its refusals."""

from __future__ import annotations

import shutil

import pytest

from tests.integration.cli import Shell
from tests.integration.patients import bucketed


@pytest.fixture
def released(shell: Shell) -> Shell:
    assert shell.anonymize().code == 0
    return shell


def test_the_answer_names_the_sets_and_is_marked_personal(released: Shell) -> None:
    ran = released("explain", "out", "ale", "milk", "--original", "baskets.csv")
    assert ran.code == 0
    assert "'ale', in 2 records, is published as 'alcohol'." in ran.out
    assert "ale + bun: 1 record" in ran.out
    assert "'milk', in 7 records, is published as itself." in ran.out
    assert ran.out.strip().endswith("Keep it as safe as the original records.")
    assert "bun" not in ran.err


def test_json_holds_the_same(released: Shell) -> None:
    ran = released("explain", "out", "ale", "ale", "--original", "baskets.csv", "--json", "--top", "1")
    (answer,) = ran.json["explanations"]
    assert "Personal data" in ran.json["personal_data"]
    assert (answer["label"], answer["published_as"]) == ("ale", "alcohol")
    assert answer["largest_m"] == 1 and answer["largest_k"] is None
    (level,) = answer["levels"]
    assert len(level["against"]["shown"]) == 1 <= level["against"]["total"]


@pytest.mark.parametrize("method", ["lra", "partition", "mm", "aa"])
def test_every_kind_of_recoding_has_an_answer(shell: Shell, method: str) -> None:
    guarantee = ("-k", "2") if method == "partition" else ("-k", "2", "-m", "2")
    words = ("--hierarchy", "products.csv", *guarantee, "--method", method, "-o", "out")
    assert shell("anonymize", "baskets.csv", *words).code == 0
    ran = shell("explain", "out", "ale", "alcohol", "--original", "baskets.csv")
    assert ran.code == 0, ran.err
    assert ran.out.count("in 4 records") == 1 and ran.out.count("in 2 records, is") == 1


def test_a_value_of_a_table_needs_no_column_where_one_has_it(shell: Shell) -> None:
    (shell.folder / "table.csv").write_text("sex,drugs\nf,a b\nf,a b\nm,b\nm,b\nm,a\n")
    (shell.folder / "drugs.csv").write_text("a;ALL\nb;ALL\n")
    reading = ("--set", "drugs", "--keep", "sex")
    words = ("--hierarchy", "drugs=drugs.csv", "-k", "2", "-m", "2", "-o", "out", *reading)
    assert shell("anonymize", "table.csv", *words).code == 0
    ran = shell("explain", "out", "f", "drugs=a", "--original", "table.csv", *reading)
    assert ran.code == 0, ran.err
    assert "'sex=f', in 2 records" in ran.out and "'drugs=a'" in ran.out


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (("ale",), 2, "no-original"),
        (("ale", "--original", "products.csv"), 2, "other-data"),
        (("nothing", "--original", "baskets.csv"), 2, "unknown-label"),
        (("ale", "--original", "baskets.csv", "--top", "0"), 2, "top must be"),
        (("ale", "--original", "baskets.csv", "--top", "x"), 2, "not-a-number"),
        (("ale", "--original", "missing.csv"), 5, "missing.csv"),
    ],
)
def test_refusals(released: Shell, words: tuple[str, ...], code: int, told: str) -> None:
    ran = released("explain", "out", *words)
    assert (ran.code, ran.out) == (code, "")
    assert told in ran.err


def test_without_its_twin_a_release_cannot_be_explained(released: Shell) -> None:
    shutil.rmtree(released.folder / "out.private")
    ran = released("explain", "out", "ale", "--original", "baskets.csv")
    assert ran.code == 5 and "no-private-folder" in ran.err
    ran = released("explain", "nowhere", "ale", "--original", "baskets.csv")
    assert ran.code == 5


def test_a_row_of_a_table_in_buckets_is_explained_without_its_original(shell: Shell) -> None:
    assert bucketed(shell, "--l", "2").code == 0
    ran = shell("explain", "out", "sex=F,age=29", "1", "--json")
    assert ran.code == 0, ran.err
    ann, first = ran.json["explanations"]
    (row,) = ann["rows"]
    assert (row["shown"], row["value"]) == ({"zip": "47677", "age": "29", "sex": "F"}, "Ovarian Cancer")
    assert row["possible"] == sum(value["possible"] for value in row["values"]) >= 2
    assert first["rows"][0]["row"] == 1
    ran = shell("explain", "out", "sex=M", "--top", "1")
    assert ran.out.startswith("6 published rows have sex=M.") and "... and 5 more rows" in ran.out
    assert ran.out.strip().endswith("Keep it as safe as the original records.")
    assert "keep it as safe" in shell("report", "out").out
    shutil.rmtree(shell.folder / "out.private")
    for verb in (("explain", "out", "1"), ("report", "out")):
        assert shell(*verb).code == 5


def test_a_value_of_two_data_sets_is_explained_without_them(shell: Shell) -> None:
    (shell.folder / "a.csv").write_text("ale,bun\nale,milk\nale,tea\nbun,milk\n")
    (shell.folder / "b.csv").write_text("tea,bun\ntea,milk\nbun,milk\ntea\n")
    (shell.folder / "tree.csv").write_text(
        "ale;drink;all\ntea;drink;all\nbun;food;all\nmilk;food;all\n"
    )
    two = (
        "a.csv",
        "--against",
        "b.csv",
        "--layout",
        "baskets",
        "--growth",
        "2",
        "--min-support",
        "25%",
    )
    assert shell("anonymize", *two, "--hierarchy", "tree.csv", "-o", "out").code == 0
    ran = shell("explain", "out", "ale", "--top", "1", "--json")
    assert ran.code == 0, ran.err
    (answer,) = ran.json["explanations"]
    assert (answer["raised"], answer["sides"][0]["records"], answer["sides"][1]["records"]) == (3, 3, 0)
    assert len(answer["patterns"]["shown"]) == 1 < answer["patterns"]["total"]
    every = shell("explain", "out", "ale", "--top", "99", "--json").json["explanations"][0]["patterns"]
    assert ["ale"] in [one["pattern"] for one in every["shown"]]
    assert answer["conclusion"].startswith("forced")
    ran = shell("explain", "out", "bun")
    assert "nothing was changed" in ran.out and "Personal data" in ran.out
    for words, told in (
        (("gin",), "unknown-label"),
        (("ale", "--original", "a.csv"), "--original does not fit two data sets"),
        (("ale", "--layout", "baskets"), "--layout does not fit two data sets"),
    ):
        ran = shell("explain", "out", *words)
        assert (ran.code, ran.out) == (2, "")
        assert told in ran.err
    assert shell("report", "out", "-o", "page.html").code == 0
    assert "Patterns before" in (shell.folder / "page.html").read_text()
