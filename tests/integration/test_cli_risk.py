"""``setveil risk``: of a release, of a file, before and after, and what it refuses."""

from __future__ import annotations

import json
import stat
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.integration.cli import Shell


def test_the_risk_of_a_release_is_told_from_its_public_folder(shell: Shell) -> None:
    shell.anonymize()
    there = shell("risk", "out", "--json")
    (shell.folder / "out.private").rename(shell.folder / "elsewhere")
    ran = shell("risk", "out", "--json")
    assert ran.code == 0
    assert ran.out == there.out
    assert ran.err == ""
    assert ran.json["target"] == "release"
    assert "personal_data" not in ran.json
    risk = ran.json["risk"]
    assert risk["k"] == 2
    for point in risk["points"][:2]:
        assert all(point[name]["share"] == 0 and point[name]["exact"] for name in ("worst", "average"))
    text = shell("risk", "out")
    assert text.out.startswith("Share of 9 records that fewer than 2 match")


def test_k_can_be_another_than_that_of_the_release(shell: Shell) -> None:
    shell.anonymize()
    assert shell("risk", "out", "-k", "9", "--json").json["risk"]["k"] == 9
    for k in ("0", "1", "x"):
        assert shell("risk", "out", "-k", k).code == 2


def test_before_and_after_beside_each_other_are_private(shell: Shell) -> None:
    shell.anonymize()
    ran = shell("risk", "out", "--original", "baskets.csv", "--most", "3", "--figure", "risk.svg")
    assert ran.code == 0
    assert ran.out.startswith("Personal data")
    assert "44.44 % -> 0 %" in ran.out
    picture = shell.folder / "risk.svg"
    assert stat.S_IMODE(picture.stat().st_mode) == 0o600
    ElementTree.fromstring(picture.read_text())
    assert "before, worst" in picture.read_text()
    plain = shell("risk", "out", "--original", "baskets.csv", "--json").json
    assert "personal_data" in plain
    assert plain["before"]["points"][1]["worst"]["share"] > 0
    assert plain["risk"]["points"][1]["worst"]["share"] == 0


def test_only_what_a_release_was_made_from_is_its_original(shell: Shell) -> None:
    """The order of the records does not matter; one record more, less or other does."""
    shell.anonymize()
    lines = (shell.folder / "baskets.csv").read_text().splitlines()
    for text, code in (
        (lines[::-1], 0),
        ([*lines, "milk"], 2),
        (lines[1:], 2),
        (["wine,milk", *lines[1:]], 2),
        (["gin", *lines[1:]], 2),
    ):
        (shell.folder / "other.csv").write_text("\n".join(text) + "\n")
        ran = shell("risk", "out", "--original", "other.csv")
        assert ran.code == code, ran.err
        assert ("error[other-data]: these are not the data" in ran.err) == (code == 2)
        assert "->" in ran.out or code
    (shell.folder / "out.private").rename(shell.folder / "elsewhere")
    ran = shell("risk", "out", "--original", "baskets.csv")
    assert (ran.code, "error[no-private-folder]" in ran.err) == (5, True)


def test_a_picture_replaces_nothing_unless_told(shell: Shell) -> None:
    shell.anonymize()
    assert shell("risk", "out", "--figure", "risk.svg").code == 0
    assert "after, worst" not in (shell.folder / "risk.svg").read_text()
    assert shell("risk", "out", "--figure", "risk.svg").code == 5
    assert shell("risk", "out", "--figure", "risk.svg", "--force").code == 0
    assert shell("risk", "out", "--force").code == 2
    ran = shell("risk", "baskets.csv", "-k", "2", "--figure", "baskets.csv", "--force")
    assert ran.code == 2
    assert "one of the inputs" in ran.err
    assert shell("risk", "out", "--figure", "nowhere/risk.svg").code == 5


def test_the_risk_of_any_file(shell: Shell) -> None:
    ran = shell("risk", "baskets.csv", "-k", "3", "--json", "--quick")
    assert ran.code == 0
    assert ran.json["target"] == "data"
    assert "personal_data" in ran.json
    assert "read as the layout baskets" in ran.err
    assert shell("risk", "baskets.csv").code == 2
    assert "-k is missing" in shell("risk", "baskets.csv").err


def test_the_most_exposed_records_are_marked_as_private(shell: Shell) -> None:
    ran = shell("risk", "baskets.csv", "-k", "2", "--top", "3")
    assert "PERSONAL DATA, not to be published" in ran.out
    assert "record 1: {ale, milk} in 1" in ran.out
    plain = shell("risk", "baskets.csv", "-k", "2", "--top", "3", "--json").json
    assert [each["records"] for each in plain["exposed"]["records"]] == [[4], [1], [5]]
    assert "PERSONAL" not in shell("risk", "baskets.csv", "-k", "2").out
    assert shell("risk", "baskets.csv", "-k", "2", "--top", "0").code == 2


def test_a_population_changes_the_journalist(shell: Shell) -> None:
    (shell.folder / "all.csv").write_text((shell.folder / "baskets.csv").read_text() * 4)
    plain = shell("risk", "baskets.csv", "-k", "2", "--population", "all.csv", "--json").json
    risks = {(each["attacker"], each["known"]): each for each in plain["risk"]["attackers"]["risks"]}
    prosecutor, journalist = risks["prosecutor", None], risks["journalist", None]
    assert journalist["mean"]["share"] == pytest.approx(prosecutor["mean"]["share"] / 4, abs=1e-6)
    assert plain["risk"]["attackers"]["population"] == 36


def test_sensitive_items_count_as_not_known(shell: Shell) -> None:
    rows = ["milk,flu"] * 3 + ["milk,bun"] * 9 + ["bun,ale"] * 3
    (shell.folder / "sick.csv").write_text("\n".join(rows) + "\n")
    (shell.folder / "tree.csv").write_text("milk;food;ALL\nbun;food;ALL\nale;food;ALL\nflu;ill;ALL\n")
    usual = ("--hierarchy", "tree.csv", "--layout", "baskets", "--delimiter", ",", "-o", "out")
    made = shell("anonymize", "sick.csv", "--l", "2", "-m", "1", "--sensitive", "flu", *usual)
    assert made.code == 0, made.err
    plain = shell("risk", "out", "-k", "4", "--json").json
    # Three records hold flu; were it known, they would be at risk at k=4 with one item.
    at_risk = plain["risk"]["points"][0]["worst"]["share"]
    labels = json.loads((shell.folder / "out" / "certificate.json").read_text())["guarantee"]
    assert labels["sensitive"] == ["flu"]
    assert at_risk == pytest.approx(3 / 15, abs=1e-6)


def test_what_is_refused(shell: Shell, tmp_path: Path) -> None:
    shell.anonymize()
    for words, code, told in (
        (("nothing",), 5, "no such folder or file"),
        ((".",), 3, "no release"),
        (("out", "--delimiter", ";"), 2, "says itself how it is read"),
        (("baskets.csv", "-k", "2", "--original", "baskets.csv"), 2, "--original is for a release"),
        (("out", "--original", "-", "--population", "-"), 2, "more than once"),
        (("out", "--most", "0"), 2, "most"),
        (("out", "--most", "1001"), 2, "most"),
        (("out", "--original", "nothing.csv"), 5, "nothing.csv"),
    ):
        ran = shell("risk", *words)
        assert ran.code == code, words
        assert told in ran.err
        assert ran.out == ""


def test_pictures_are_svg_and_are_told(shell: Shell) -> None:
    ran = shell("risk", "baskets.csv", "-k", "2", "--figure", "out.png")
    assert ran.code == 2 and "ends in .svg" in ran.err
    ran = shell("risk", "baskets.csv", "-k", "2", "--figure", "out.svg")
    assert ran.code == 0 and "written: out.svg" in ran.err


def test_attackers_are_explained_and_named_where_there_are_two(shell: Shell) -> None:
    ran = shell("risk", "baskets.csv", "-k", "2")
    for who in ("prosecutor: knows that", "journalist: does not", "marketer: tries everybody"):
        assert who in ran.out
    assert "attacker" not in ran.out
    ran = shell("risk", "baskets.csv", "-k", "2", "--population", "baskets.csv")
    assert "attacker" in ran.out and "journalist: does not" in ran.out
