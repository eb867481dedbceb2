"""``setveil audit`` of foreign files: the two readings of support, hierarchies, JSON."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.integration.cli import Shell

KM = ("-k", "2", "-m", "2")


@pytest.fixture
def local(shell: Shell) -> Shell:
    """A local recoding of someone else: one record shows ale, two its category."""
    Path("p.csv").write_text("alcohol,milk\nalcohol,milk\nale,milk\n")
    Path("t.csv").write_text("sex,drug\nF,alcohol milk\nF,alcohol milk\nF,ale milk\n")
    return shell


def test_cover_counts_what_labels_cover(local: Shell) -> None:
    assert local("audit", "p.csv", *KM).code == 1
    ran = local("audit", "p.csv", *KM, "--mode", "cover", "--hierarchy", "products.csv", "--json")
    assert ran.code == 0, ran.err
    assert ran.json["mode"] == "cover"
    assert ran.json["smallest_support"] == 2


def test_cover_sees_a_violation_and_shows_it(local: Shell) -> None:
    Path("p.csv").write_text("alcohol,milk\nale,bun\nale,milk\n")
    words = ("--mode", "cover", "--hierarchy", "products.csv", "--witnesses", "3", "--json")
    ran = local("audit", "p.csv", *KM, *words)
    assert ran.code == 1
    assert {"bun"} in [set(witness["present"]) for witness in ran.json["witnesses"]]


def test_cover_of_a_table(local: Shell) -> None:
    words = ("audit", "t.csv", "--set", "drug", "--keep", "sex", *KM)
    assert local(*words).code == 1
    cover = (*words, "--mode", "cover")
    assert local(*cover, "--hierarchy", "drug=products.csv").code == 0
    assert local(*cover, "--hierarchy", "products.csv").code == 0
    assert local(*cover, "--hierarchy", "drugs=products.csv").code == 2


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (("--mode", "cover"), "cover needs the hierarchy"),
        (("--hierarchy", "products.csv"), "--hierarchy is for --mode cover"),
        (("--mode", "guess"), "unknown mode"),
    ],
)
def test_options_that_would_change_nothing_are_refused(
    local: Shell, words: tuple[str, ...], text: str
) -> None:
    ran = local("audit", "p.csv", *KM, *words)
    assert ran.code == 2
    assert text in ran.err


def test_json_of_a_file_and_of_a_folder_say_the_same_things(local: Shell) -> None:
    assert local.anonymize().code == 0
    of_folder = local("audit", "out", "--json").json
    of_file = local("audit", "out/data.csv", *KM, "--json").json
    assert of_folder["holds"] is of_file["holds"] is True
    assert of_folder == of_file
    refused = local("audit", "p.csv", "--json")
    assert refused.code == refused.json["exit_code"] == 2
