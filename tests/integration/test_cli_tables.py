"""Tables and counts from the command line: what fits, what falls back, what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.integration.cli import Shell

TABLE = ("--set", "drug", "--set-separator", "|", "--keep", "sex")
KM = ("-k", "2", "-m", "2", "-o", "out", "--method", "optimal")


@pytest.fixture
def drugs(shell: Shell) -> Shell:
    Path("t.csv").write_text("sex,drug\nF,ale|milk\nF,ale|milk\nM,wine|milk\nM,bun\nM,bun\nM,milk\n")
    Path("tree.csv").write_text("ale;x|y;ALL\nwine;x|y;ALL\nmilk;food;ALL\nbun;food;ALL\n")
    return shell


def anonymized(shell: Shell, *words: str) -> str:
    ran = shell("anonymize", "t.csv", *TABLE, "--hierarchy", "drug=tree.csv", *KM, *words)
    assert ran.code == 0, ran.err
    assert shell("audit", "out").code == 0
    return ran.err


def test_a_label_with_the_separator_makes_json_lines(drugs: Shell) -> None:
    told = anonymized(drugs)
    assert "published as JSON lines, with labels column=value" in told
    assert "holds the separator '|'" in told
    rows = [json.loads(line) for line in Path("out/data.jsonl").read_text().splitlines()]
    assert len(rows) == 6
    assert ["drug=milk", "drug=x|y", "sex=*"] in rows
    certificate = json.loads(Path("out/certificate.json").read_text())
    assert certificate["data"]["format"] == "jsonl"
    assert drugs("audit", "out", "--mode", "cover").code == 0


def test_the_table_format_is_refused_where_it_is_asked_for(drugs: Shell) -> None:
    before = drugs.names()
    words = ("anonymize", "t.csv", *TABLE, "--hierarchy", "drug=tree.csv", *KM, "--format", "table")
    ran = drugs(*words)
    assert ran.code == 3
    assert "error[format-cannot-hold]" in ran.err
    assert drugs.names() == before


def test_missing_cells(drugs: Shell) -> None:
    Path("t.csv").write_text("sex,drug\nF,ale|milk\nF,ale|milk\n,milk\n,milk\n")
    Path("tree.csv").write_text("ale;drink;ALL\nmilk;food;ALL\n")
    words = ("anonymize", "t.csv", *TABLE, "--hierarchy", "drug=tree.csv", *KM)
    refused = drugs(*words)
    assert refused.code == 3
    assert "t.csv:4" in refused.err
    assert "--missing-cells suppress or category" in refused.err
    assert drugs(*words, "--missing-cells", "guess").code == 2
    anonymized(drugs, "--missing-cells", "category")
    assert "(missing),milk" in Path("out/data.csv").read_text()
    anonymized(drugs, "--missing-cells", "suppress", "--force")
    assert Path("out/data.csv").read_text().startswith("sex,drug\n,milk\n,milk\n")


def test_the_mark_of_missing_cells_is_reserved(drugs: Shell) -> None:
    Path("t.csv").write_text("sex,drug\n(missing),milk\n,milk\n")
    words = ("anonymize", "t.csv", *TABLE, "--hierarchy", "drug=tree.csv", *KM)
    ran = drugs(*words, "--missing-cells", "category")
    assert ran.code == 3
    assert "error[reserved-label]" in ran.err


def test_the_star_is_reserved_in_a_column_without_hierarchy(drugs: Shell) -> None:
    Path("t.csv").write_text("sex,drug\n*,milk\nF,milk\n")
    ran = drugs("anonymize", "t.csv", *TABLE, "--hierarchy", "drug=tree.csv", *KM)
    assert ran.code == 3
    assert "error[reserved-label]" in ran.err


@pytest.mark.parametrize(
    "words",
    [
        ("--header",),
        ("--item", "x"),
        ("--counts",),
        ("--count-column", "n"),
        ("--comment", "#"),
        ("--integers",),
    ],
)
@pytest.mark.parametrize("verb", ["anonymize", "audit", "hierarchy"])
def test_options_that_do_not_fit_a_table(drugs: Shell, verb: str, words: tuple[str, ...]) -> None:
    start = {
        "anonymize": ("anonymize", "t.csv", "--hierarchy", "drug=tree.csv", *KM),
        "audit": ("audit", "t.csv", "-k", "2", "-m", "2"),
        "hierarchy": ("hierarchy", "check", "tree.csv", "--data", "t.csv", "--column", "drug"),
    }[verb]
    ran = drugs(*start, *TABLE, *words)
    assert ran.code == 2
    assert f"error[option-does-not-fit]: {words[0]} does not fit a table." in ran.err


def test_repeats_count_under_plain_products(shell: Shell) -> None:
    Path("c.csv").write_text("milk,milk,ale\nmilk,milk,ale\nmilk,bun\nmilk,bun\nwine,wine\nale,ale\n")
    words = ("anonymize", "c.csv", "--counts", "--layout", "baskets", "--hierarchy", "products.csv")
    ran = shell(*words, *KM)
    assert ran.code == 0, ran.err
    rows = Path("out/data.csv").read_text().splitlines()
    assert rows.count("alcohol,milk x2") == 2
    assert rows.count("bun x1,milk x1") == 2
    assert "milk x2;milk;food;ALL" in Path("out/hierarchy.csv").read_text()
    assert shell("audit", "out").code == 0


def test_a_count_of_a_category_is_no_item(shell: Shell) -> None:
    Path("c.csv").write_text("milk,milk\nfood,food\n")
    words = ("anonymize", "c.csv", "--counts", "--layout", "baskets", "--hierarchy", "products.csv")
    ran = shell(*words, *KM)
    assert ran.code == 3
    assert "error[unknown-item] c.csv:2: item 'food x2'" in ran.err


def test_a_count_column_adds_up_in_a_record(shell: Shell) -> None:
    lines = [f"{n},milk,1\n{n},milk,2\n{n},bun,{1 + n % 2}\n" for n in range(8)]
    Path("c.csv").write_text("who,what,n\n" + "".join(lines))
    ran = shell(
        "anonymize", "c.csv", "--layout", "long", "--id", "who", "--item", "what",
        "--count-column", "n", "--hierarchy", "products.csv", *KM,
    )  # fmt: skip
    assert ran.code == 0, ran.err
    text = Path("out/data.csv").read_text()
    assert text.startswith("record,item\n1,bun x1\n1,milk x3\n")
    assert text.count("milk x3") == 8
    assert shell("audit", "out").code == 0


SAFE = "ale;alcohol;ALL\nwine;alcohol;ALL\nmilk;food;ALL\nbun;food;ALL\n"


def test_a_hierarchy_without_a_column_is_that_of_the_only_set(drugs: Shell) -> None:
    Path("tree.csv").write_text(SAFE)
    words = ("anonymize", "t.csv", *TABLE, *KM)
    assert drugs(*words, "--hierarchy", "drug=tree.csv").code == 0
    named = Path("out/data.csv").read_bytes()
    assert drugs(*words, "--hierarchy", "tree.csv", "--force").code == 0
    assert Path("out/data.csv").read_bytes() == named
    twice = drugs(*words, "--hierarchy", "tree.csv", "--hierarchy", "drug=tree.csv", "--force")
    assert twice.code == 2
    long = "x" * 60 + "=tree.csv"
    strange = drugs(*words, "--hierarchy", long, "--force")
    assert strange.code == 2
    assert long in strange.err.replace("\n", "").replace(" ", "")


def test_a_hierarchy_without_a_column_is_refused_for_two_sets(drugs: Shell) -> None:
    Path("t.csv").write_text("a,b\nale,bun\nale,bun\n")
    ran = drugs("anonymize", "t.csv", "--set", "a", "--set", "b", "--hierarchy", "tree.csv", *KM)
    assert ran.code == 2
    assert "COLUMN=FILE" in ran.err


@pytest.mark.parametrize("words", [("--keep", "sex, age"), ("--keep", "sex", "--keep", "age")])
def test_keep_by_commas_and_blanks_or_repeated(shell: Shell, words: tuple[str, ...]) -> None:
    Path("t.csv").write_text("sex,age,town,drug\n" + "F,30,X,ale\n" * 3)
    Path("tree.csv").write_text(SAFE)
    start = ("anonymize", "t.csv", "--set", "drug", "--hierarchy", "tree.csv", *KM)
    assert shell(*start, *words).code == 0
    assert Path("out/data.csv").read_text().startswith("sex,age,drug\nF,30,ale\n")
    more = ("--keep-unprotected", "town , age", "--keep", "sex", "--force")
    assert shell(*start, *more).code == 0
    assert Path("out/data.csv").read_text().startswith("sex,age,town,drug\n")


def test_sensitive_items_by_commas_and_blanks_or_repeated(shell: Shell) -> None:
    Path("b.csv").write_text("ale,milk\nwine,milk\nmilk\nmilk\nmilk,bun\nmilk,bun\n")
    start = ("anonymize", "b.csv", "--hierarchy", "products.csv", "--l", "2", "-m", "1", "-o", "out")
    assert shell(*start, "--sensitive", "ale, wine").code == 0
    certificate = Path("out/certificate.json").read_bytes()
    again = shell(*start, "--sensitive", "ale", "--sensitive", "wine", "--force")
    assert again.code == 0
    assert Path("out/certificate.json").read_bytes() == certificate


def test_a_sensitive_column_is_not_said_to_generalize(shell: Shell) -> None:
    Path("t.csv").write_text("sex,ill,drug\n" + "F,a,ale\nF,b,ale\nF,c,ale\nF,d,ale\n" * 2)
    Path("tree.csv").write_text(SAFE)
    words = ("--set", "drug", "--keep", "sex", "--sensitive-column", "ill", "--l", "2", "-m", "1")
    ran = shell("anonymize", "t.csv", *words, "--hierarchy", "tree.csv", "-o", "out", "-v")
    assert ran.code == 0, ran.err
    assert "column 'sex' has no hierarchy" in ran.err
    assert "column 'ill' has no hierarchy" not in ran.err


def test_a_separator_that_parts_nothing_is_refused(drugs: Shell) -> None:
    Path("tree.csv").write_text("ale|milk;ALL\nwine|milk;ALL\nbun;ALL\nmilk;ALL\n")
    words = ("anonymize", "t.csv", "--set", "drug", "--hierarchy", "tree.csv", *KM, "--force", "-v")
    for more in ((), ("--set-separator", ";")):
        ran = drugs(*words, *more)
        assert ran.code == 3
        assert "error[looks-like-lists] t.csv: 3 of 6 cells of column 'drug' hold '|'" in ran.err
        assert "--set drug --set-separator '|'" in ran.err
        assert "taken as it is: 3 of 6 cells" in drugs(*words, *more, "--as-is").err
    Path("t.csv").write_text("sex,drug\nF,bun milk\nF,ale|milk\n")
    assert "looks-like-lists" not in drugs(*words).err


def test_a_log_without_ids_is_not_published(shell: Shell) -> None:
    Path("log.csv").write_text("".join(f"c{n // 2},d{n % 9},milk{n % 4}\n" for n in range(30)))
    ran = shell("anonymize", "log.csv", "-k", "2", "-m", "1", "-o", "out")
    assert ran.code == 3
    assert "error[looks-like-a-table]" in ran.err
    assert not Path("out").exists()
