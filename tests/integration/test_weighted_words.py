"""With weights it is another loss that is minimized and proven; whoever speaks of it says so."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import setveil as sv
from setveil.methods import trim
from tests.integration.cli import Shell

PROVEN = "proven: no recoding of this kind has a lower weighted LM than 0.9843"
RUN = ("--hierarchy", "tree.csv", "-k", "2", "-m", "2", "--cost", "lm", "--weights", "w.csv")


@pytest.fixture
def weighted(shell: Shell) -> Shell:
    """Seven records of a and b, and one with z too, which matters a thousand times as much."""
    Path("data.csv").write_text("a,b\n" * 7 + "a,b,z\n")
    Path("tree.csv").write_text("a;T\nb;T\nz;T\n")
    Path("w.csv").write_text("z,1000\n")
    return shell


def made(shell: Shell, *more: str) -> str:
    ran = shell("anonymize", "data.csv", *RUN, "--method", "trim", "-o", "out", *more)
    assert ran.code == 0, ran.err
    return ran.out


def test_the_screen_names_the_weighted_loss_beside_the_plain_ones(weighted: Shell) -> None:
    said = made(weighted)
    assert PROVEN in said
    assert "lower LM" not in said
    assert "NCP 0.0588, LM 0.0588, weighted LM 0.9843 (0 nothing, 1 everything)" in said


def test_json_names_it_and_shows_both(weighted: Shell) -> None:
    plain = json.loads(made(weighted, "--json"))
    assert plain["objective"]["name"] == "weighted lm"
    assert plain["objective"]["value"] == pytest.approx(1000 / 1016)
    assert plain["objective"]["certified"] is True
    assert plain["loss"]["lm"] == pytest.approx(1 / 17)


def test_the_private_report_has_both(weighted: Shell) -> None:
    made(weighted)
    page = Path("out.private/report.html").read_text()
    assert "proven: no recoding of this kind has a lower weighted LM than 0.984252" in page
    assert "a lower LM" not in page
    assert "exactly 125/127" in page
    assert "exactly 1/17" in page


def test_what_is_public_tells_the_plain_loss_alone(weighted: Shell) -> None:
    made(weighted)
    certificate = json.loads(Path("out/certificate.json").read_text())
    assert certificate["loss"] == {"ncp": 0.06, "lm": 0.06}
    assert "weight" not in Path("out/certificate.json").read_text()
    assert weighted("audit", "out").code == 0


def test_a_release_read_back_says_the_same(weighted: Shell) -> None:
    made(weighted)
    release = sv.read_release("out")
    assert PROVEN in str(release)
    assert repr(release).endswith("LM 0.0588, weighted LM 0.9843)")
    # Private accounts written earlier named the weighted loss like the plain one.
    path = Path("out.private/audit.json")
    account = json.loads(path.read_text())
    account["objective"] |= {"name": "lm"}
    path.write_text(json.dumps(account))
    assert PROVEN in str(sv.read_release("out"))


def test_compare_sweep_and_explain_say_it(weighted: Shell) -> None:
    compared = weighted("compare", "data.csv", *RUN, "--methods", "trim,optimal").out
    assert "It is proven that no recoding of its kind has a lower weighted LM." in compared
    grid = ("--hierarchy", "tree.csv", "--k", "2", "--m", "2", "--cost", "lm", "--weights", "w.csv")
    swept = weighted("sweep", "data.csv", *grid, "--choose", "2,2").out
    assert "weighted LM lost by optimal" in swept
    assert ": weighted LM 1.0000 (100.00 %) lost" in swept
    assert "proven." in swept


def test_an_open_gap_names_it(weighted: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trim.Search, "relax", lambda self: None)
    monkeypatch.setattr(trim.Search, "step", lambda self, *, rough: self.watch.cancel() or rough)
    monkeypatch.setattr(trim.Search, "is_done", lambda self: True)
    said = made(weighted)
    assert "at most 0.9843 away: weighted LM 0.9843 was reached, and none is below 0.0000" in said


def test_explain_names_what_was_minimized() -> None:
    above = {"ale": "alc", "wine": "alc", "milk": "food", "bun": "food"}
    tree = sv.Hierarchy.from_parents({**above, "alc": "ALL", "food": "ALL", "ALL": None})
    rows = ["bun", "ale,bun,wine", "ale,milk,wine", "bun", "milk,wine", "ale", "ale,bun"]
    data = sv.Transactions.from_rows([row.split(",") for row in rows])
    release = sv.anonymize(
        data, sv.KmAnonymity(2, 2), hierarchy=tree, weights={"bun": 50}, method="optimal"
    )
    said = sv.explain(release, "wine").conclusion
    assert said.endswith("That loses less NCP, but optimal minimized weighted NCP.")
