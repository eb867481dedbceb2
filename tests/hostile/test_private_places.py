"""What is private is never written into a release folder, by whatever verb."""

from __future__ import annotations

from pathlib import Path

import pytest

import setveil as sv
from setveil.io.demo import toy
from tests.integration.cli import Shell
from tests.integration.conftest import shell as shell

DATA = ("baskets.csv", "--hierarchy", "products.csv")


@pytest.mark.parametrize(
    "words",
    [
        ("risk", "out", "--original", "baskets.csv", "--figure", "out/risk.svg"),
        ("mine", "itemsets", "baskets.csv", "--min-support", "2", "-o", "out/sets.csv"),
        ("measure", "out", "--original", "baskets.csv", "--random-queries", "5", "--save-queries",
         "out/q.csv"),
        ("sweep", *DATA, "-k", "2", "-m", "1", "-o", "out/sweep.json"),
        ("sweep", *DATA, "-k", "2", "-m", "1", "--figure", "./out/../out/sweep.svg"),
        ("compare", *DATA, "-k", "2", "-m", "1", "--methods", "aa", "--figure", "out/c.svg"),
        ("compare", *DATA, "-k", "2", "-m", "1", "--methods", "aa", "--save-job", "out/j.toml"),
        ("report", "out", "--original", "baskets.csv", "-o", "out/private.html"),
        ("anonymize", *DATA, "-k", "2", "-m", "1", "-o", "out/inner"),
    ],
)  # fmt: skip
def test_no_verb_writes_into_a_release(shell: Shell, words: tuple[str, ...]) -> None:
    assert shell.anonymize().code == 0
    before = sorted(path.name for path in Path("out").iterdir())
    ran = shell(*words)
    assert ran.code == 2, ran.err
    assert "private-in-release" in ran.err
    assert sorted(path.name for path in Path("out").iterdir()) == before
    assert shell("audit", "out").code == 0


def test_figures_of_the_api_neither(tmp_path: Path) -> None:
    data, tree = toy()
    sv.publish(sv.anonymize(data, sv.KmAnonymity(2, 2), hierarchy=tree), tmp_path / "out")
    figure = sv.sweep(data, tree, [2], [1]).figure()
    with pytest.raises(sv.SetveilError, match="private-in-release"):
        figure.save(tmp_path / "out" / "sweep.svg")
    figure.save(tmp_path / "sweep.svg")
    assert (tmp_path / "sweep.svg").stat().st_mode & 0o777 == 0o600


def test_nothing_comes_into_a_private_twin(shell: Shell) -> None:
    assert shell.anonymize().code == 0
    before = {path.name: path.read_bytes() for path in Path("out.private").iterdir()}
    for words in (
        ("report", "out", "--original", "baskets.csv", "-o", "out.private/audit.json", "--force"),
        ("mine", "itemsets", "baskets.csv", "--min-support", "2", "-o", "out.private/sets.csv"),
        ("anonymize", *DATA, "-k", "2", "-m", "1", "-o", "out.private/inner"),
    ):
        ran = shell(*words)
        assert ran.code == 2, ran.err
        assert "inside-private" in ran.err
    assert {path.name: path.read_bytes() for path in Path("out.private").iterdir()} == before
