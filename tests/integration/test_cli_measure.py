"""``setveil measure``: figures of a release folder, its private twin and the original."""

from __future__ import annotations

import re
import stat
from pathlib import Path

import pytest

from setveil.cli.measure import measure
from setveil.measure.catalogue import CHEAP, NAMES
from tests.integration.cli import Shell

ORIGINAL = ("--original", "baskets.csv")


@pytest.fixture
def released(shell: Shell) -> Shell:
    assert shell.anonymize("--method", "optimal").code == 0
    return shell


def test_text_says_what_was_lost_and_that_it_is_private(released: Shell) -> None:
    ran = released("measure", "out", *ORIGINAL)
    assert ran.code == 0, ran.err
    assert "NCP, normalized certainty penalty" in ran.out
    assert "lower is better" in ran.out
    assert "Personal data" in ran.out
    assert "COUNT" not in ran.out


def test_json_holds_the_same(released: Shell) -> None:
    made = released.anonymize("--method", "optimal", "--force", "--json").json
    found = released("measure", "out", *ORIGINAL, "--json").json
    assert tuple(found["measures"]) == CHEAP
    assert found["measures"]["ncp"]["value"] == made["loss"]["ncp"]
    assert "Personal data" in found["personal_data"]
    chosen = released("measure", "out", *ORIGINAL, "--measures", "lm, ncp", "--json").json
    assert list(chosen["measures"]) == ["lm", "ncp"]
    everything = released("measure", "out", *ORIGINAL, "--measures", "all", "--json").json
    assert tuple(everything["measures"]) == NAMES


def test_branches(released: Shell) -> None:
    found = released("measure", "out", *ORIGINAL, "--by-branch", "--json").json
    total = found["measures"]["ncp"]["value"]
    assert total > 0
    for part in ("branches", "items"):
        assert sum(row["ncp"]["loss"] for row in found[part]) == pytest.approx(total)
    one = released("measure", "out", *ORIGINAL, "--by-branch", "--top", "1", "--json").json
    assert one["branches"] == found["branches"][:1]
    text = released("measure", "out", *ORIGINAL, "--by-branch").out
    assert "category\toccurrences\tas they were\tleft out\town NCP\tpart of the loss" in text
    assert found["items"][0]["label"] in text


def test_nothing_lost_has_no_branches(shell: Shell) -> None:
    Path("same.csv").write_text("ale,milk\nale,milk\n")
    ran = shell(
        "anonymize", "same.csv", "--hierarchy", "products.csv", "-k", "2", "-m", "2", "-o", "same"
    )
    assert ran.code == 0, ran.err
    ran = shell("measure", "same", "--original", "same.csv", "--by-branch")
    assert "none, nothing was lost" in ran.out


def test_random_queries_are_saved_edited_and_asked_again(released: Shell) -> None:
    words = ("measure", "out", *ORIGINAL)
    first = released(*words, "--random-queries", "50", "--save-queries", "q.csv", "--json")
    assert first.code == 0, first.err
    assert stat.S_IMODE(Path("q.csv").stat().st_mode) == 0o600
    assert Path("q.csv").read_text().count("\n") == first.json["queries"]["count"] == 50
    again = released(*words, "--queries", "q.csv", "--json").json
    assert again["measures"] == first.json["measures"]
    assert again["queries"]["histogram"] == first.json["queries"]["histogram"]
    Path("q.csv").write_text('ale,bun\nfood\n"a, ""b"""\n')
    edited = released(*words, "--queries", "q.csv", "--top", "5", "--json").json
    assert edited["queries"]["count"] == 3
    assert all(query["error"] > 0 for query in edited["queries"].get("worst", []))
    assert "Relative error of COUNT queries" in released(*words, "--queries", "q.csv").out


def test_queries_can_be_bounded_and_drawn_from_items(released: Shell) -> None:
    words = ("measure", "out", *ORIGINAL, "--measures", "are", "--json")
    more = ("--random-queries", "80", "--query-size", "2", "--drawn-from", "items", "--sanity", "100%")
    found = released(*words, *more).json["queries"]
    assert found["sanity_bound"] == 9
    assert "drawn from items" in found["about"]
    assert released(*words).json["queries"]["count"] == 1000


def test_itemsets_are_frequent_at_the_support_asked_for(released: Shell) -> None:
    words = ("measure", "out", *ORIGINAL, "--measures", "ml2,itemset_recall", "--json")
    usual, high = (released(*words, *more).json["measures"] for more in ((), ("--support", "50%")))
    assert "1%, 2%, 3%" in usual["ml2"]["title"]
    assert "50%" in high["ml2"]["title"]
    assert "50%" in high["itemset_recall"]["title"]


def test_a_wrong_label_is_told_with_its_line(released: Shell) -> None:
    Path("q.csv").write_text("ale\nale,tea\n")
    ran = released("measure", "out", *ORIGINAL, "--queries", "q.csv")
    assert ran.code == 3
    assert "q.csv:2" in ran.err
    assert "'tea'" in ran.err


def test_a_file_is_not_replaced_by_accident(released: Shell) -> None:
    Path("q.csv").write_text("mine\n")
    words = ("measure", "out", *ORIGINAL, "--random-queries", "5", "--save-queries", "q.csv")
    assert released(*words).code == 5
    assert Path("q.csv").read_text() == "mine\n"
    assert released(*words, "--force").code == 0
    same = (*words[:-1], "baskets.csv", "--force")
    assert released(*same).code == 2


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ((), "the original records are needed"),
        ((*ORIGINAL, "--measures", "loss"), "unknown measure"),
        ((*ORIGINAL, "--queries", "q.csv", "--random-queries", "5"), "do not go together"),
        ((*ORIGINAL, "--query-size", "2"), "--query-size is for random queries"),
        ((*ORIGINAL, "--drawn-from", "items"), "--drawn-from is for random queries"),
        ((*ORIGINAL, "--random-queries", "5", "--drawn-from", "hats"), "cannot be drawn from"),
        ((*ORIGINAL, "--random-queries", "0"), "random queries must be"),
        ((*ORIGINAL, "--random-queries", "many"), "random_queries must be"),
        ((*ORIGINAL, "--sanity", "1"), "--sanity is for queries"),
        ((*ORIGINAL, "--random-queries", "5", "--sanity", "0"), "sanity must be"),
        ((*ORIGINAL, "--support", "1%"), "for measures that mine"),
        ((*ORIGINAL, "--measures", "ml2", "--support", "5"), "support must be a share"),
        ((*ORIGINAL, "--save-queries", "new.csv"), "--save-queries is for queries"),
        ((*ORIGINAL, "--top", "3"), "--top is for"),
        ((*ORIGINAL, "--by-branch", "--top", "0"), "top must be"),
        ((*ORIGINAL, "--force"), "--force is for"),
        (("--original", "-", "--queries", "-"), "named more than once"),
        (("--original", "other.csv"), "not the data the release was made from"),
    ],
)
def test_what_does_not_fit_is_refused(released: Shell, words: tuple[str, ...], text: str) -> None:
    Path("other.csv").write_text("ale,milk\nwine,milk\n")
    ran = released("measure", "out", *words, "--json")
    assert ran.code == ran.json["exit_code"] == 2
    assert text in ran.err


def test_a_release_without_its_twin_cannot_be_measured(released: Shell) -> None:
    Path("out.private").rename("elsewhere")
    ran = released("measure", "out", *ORIGINAL)
    assert ran.code == 5
    assert "out.private" in ran.err


def test_a_table_with_a_local_recoding(shell: Shell) -> None:
    lines = [f"{sex},{drug} milk" for sex in "FM" for drug in ("ale", "wine", "bun")]
    Path("t.csv").write_text("\n".join(["sex,drug", *lines, *lines]) + "\n")
    table = ("--set", "drug", "--keep", "sex")
    words = ("--hierarchy", "drug=products.csv", "--method", "partition", "-k", "4", "-o", "t")
    ran = shell("anonymize", "t.csv", *table, *words)
    assert ran.code == 0, ran.err
    Path("q.csv").write_text("sex=F,drug=ale\ndrug=food\n")
    more = ("--original", "t.csv", *table, "--queries", "q.csv", "--by-branch", "--json")
    ran = shell("measure", "t", *more)
    assert ran.code == 0, ran.err
    assert ran.json["queries"]["count"] == 2
    assert {row["label"] for row in ran.json["branches"]} <= {"drug=ALL", "sex=*"}


def test_help_names_every_measure() -> None:
    assert measure.__doc__ is not None
    words = set(re.split(r"[^a-z0-9_]+", measure.__doc__))
    assert set(NAMES) <= words
