"""``setveil mine itemsets``: sets on the screen, as JSON and as CSV; and what it refuses."""

from __future__ import annotations

import csv
import io
import stat

import pytest

from tests.integration.cli import Shell


def test_the_most_frequent_first(shell: Shell) -> None:
    ran = shell("mine", "itemsets", "baskets.csv", "--min-support", "2")
    assert ran.code == 0
    lines = ran.out.splitlines()
    assert lines[0] == "7 frequent itemsets, in at least 2 of 9 records"
    assert lines[1:4] == ["support\tshare\titemset", "7\t77.78%\tmilk", "4\t44.44%\tbun"]
    assert '2\t22.22%\ta, "b", milk' in lines
    assert lines[-1].startswith("Personal data")


@pytest.mark.parametrize("support", ["3", "1/3", "33.4%", "0.334", "4"])
def test_shares_and_counts(shell: Shell, support: str) -> None:
    ran = shell("mine", "itemsets", "baskets.csv", "--min-support", support, "--json")
    assert ran.json["least_support"] == (3 if support in ("3", "1/3") else 4)


@pytest.mark.parametrize("support", ["", "0", "4/3", "1/0", "101%", "-1", "many", "1/3%", "1e3"])
def test_what_is_neither_a_share_nor_a_count(shell: Shell, support: str) -> None:
    ran = shell("mine", "itemsets", "baskets.csv", "--min-support", support)
    assert ran.code == 2
    assert "a share of the records or a count" in ran.err
    assert "Give for example 1%, 0.01, 1/3 or 50." in ran.err


def test_kinds_and_sizes(shell: Shell) -> None:
    def sets(*more: str) -> list[list[str]]:
        ran = shell("mine", "itemsets", "baskets.csv", "--min-support", "2", "--json", *more)
        assert ran.code == 0
        return [entry["itemset"] for entry in ran.json["itemsets"]]

    assert len(sets()) == 7
    assert sets("--kind", "maximal") == [["ale"], ["wine"], ['a, "b"', "milk"], ["bun", "milk"]]
    assert ['a, "b"'] not in sets("--kind", "closed")
    assert all(len(found) == 1 for found in sets("--most-items", "1"))
    assert sets("--top", "1") == [["milk"]]
    assert sets("--threads", "1") == sets()


def test_across_levels(shell: Shell) -> None:
    ran = shell(
        "mine", "itemsets", "baskets.csv", "--min-support", "4", "--hierarchy", "products.csv", "--json"
    )
    found = {tuple(entry["itemset"]): entry["support"] for entry in ran.json["itemsets"]}
    assert found == {
        ("milk",): 7,
        ("bun",): 4,
        ("food",): 9,
        ("ALL",): 9,
        ("alcohol",): 4,
        ("alcohol", "food"): 4,
    }
    assert ran.json["personal_data"].startswith("Personal data")


def test_a_file_that_only_its_owner_may_read(shell: Shell) -> None:
    words = ("mine", "itemsets", "baskets.csv", "--min-support", "2", "-o", "sets.csv")
    assert shell(*words).code == 0
    path = shell.folder / "sets.csv"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    [head, *rows] = csv.reader(io.StringIO(path.read_text()))
    assert head == ["support", "share", "items", "itemset"]
    found = {tuple(next(csv.reader([row[3]]))): int(row[0]) for row in rows}
    assert found['a, "b"', "milk"] == 2
    assert len(found) == 7
    assert rows[0] == ["7", "0.777777778", "1", "milk"]
    again = shell(*words)
    assert (again.code, "exists already" in again.err) == (5, True)
    assert shell(*words, "--force", "--top", "2").code == 0
    assert len(path.read_text().splitlines()) == 3


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        ((), 2, "--min-support"),
        (("--min-support", "0"), 2, "a share of the records or a count"),
        (("--min-support", "1", "--kind", "some"), 2, "Known: all, closed, maximal"),
        (("--min-support", "1", "--most-items", "0"), 2, "1 item or more"),
        (("--min-support", "1", "--most-items", "x"), 2, "whole number"),
        (("--min-support", "1", "--force"), 2, "--force is for -o"),
        (("--min-support", "1", "--add-root", "R"), 2, "--hierarchy FILE"),
        (("--min-support", "1", "--hierarchy", "none.csv"), 5, "none.csv"),
        (("--min-support", "1", "-o", "baskets.csv", "--force"), 2, "one of the inputs"),
    ],
)
def test_refusals(shell: Shell, words: tuple[str, ...], code: int, said: str) -> None:
    ran = shell("mine", "itemsets", "baskets.csv", *words)
    assert ran.code == code
    assert said in ran.err
    assert "Traceback" not in ran.err


def test_items_that_the_hierarchy_lacks(shell: Shell) -> None:
    (shell.folder / "few.csv").write_text("ale;alcohol;ALL\nwine;alcohol;ALL\n")
    words = ("mine", "itemsets", "baskets.csv", "--min-support", "4", "--hierarchy", "few.csv")
    refused = shell(*words)
    assert refused.code == 3
    assert "is not in the hierarchy" in refused.err
    ran = shell(*words, "--unknown", "attach-to-root", "--json")
    assert ran.code == 0
    assert "put under its root" in ran.err
    assert {"itemset": ["ALL"], "support": 9, "share": 1.0} in ran.json["itemsets"]


def test_a_table(shell: Shell) -> None:
    (shell.folder / "people.csv").write_text("sex,drugs\nF,a b\nM,a\nF,a b\n")
    ran = shell(
        *("mine", "itemsets", "people.csv", "--set", "drugs", "--keep", "sex"),
        *("--min-support", "50%", "--json"),
    )
    assert ran.code == 0
    sets = {tuple(entry["itemset"]): entry["support"] for entry in ran.json["itemsets"]}
    assert sets["drugs=a", "drugs=b", "sex=F"] == 2
    assert sets["drugs=a",] == 3


def test_help_says_that_it_is_private(shell: Shell) -> None:
    ran = shell("mine", "itemsets", "--help")
    assert ran.code == 0
    assert "private" in ran.out
    assert "setveil mine itemsets" in ran.out.replace("\n", " ")
    assert "Example" in ran.out
    assert "itemsets" in shell("mine", "--help").out
