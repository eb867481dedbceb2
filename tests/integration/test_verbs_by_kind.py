"""Every verb takes every kind of release, by command and in Python, or the one table says why not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import typer.main

import setveil as sv
from setveil.cli.main import app
from setveil.refusals import KINDS as OTHERS
from setveil.refusals import VERBS, refusal

from .cli import Shell

KINDS = ("sets", *(kind.key for kind in OTHERS))
PATIENTS = "age,sex,disease\n" + "20,F,flu\n30,M,cold\n20,F,cold\n30,M,flu\n20,M,gout\n30,F,gout\n" * 3
FILES = {
    "patients.csv": PATIENTS,
    "before.csv": "ale,milk\nmilk\nale,milk\nmilk\nale\n",
    "after.csv": "ale\nale,milk\nale\nmilk\nale,milk\n",
    "newer.csv": "ale\nmilk\n",
    "drinks.csv": "ale;drink\nmilk;drink\n",
}
TABLE = "patients.csv --quasi age,sex --sensitive disease"
TWO = "before.csv --against after.csv --layout baskets --hierarchy drinks.csv"
RUN = {
    "sets": "baskets.csv --hierarchy products.csv -k 2 -m 2",
    "buckets": f"{TABLE} --l 2 --method anatomy",
    "pairs": f"{TWO} --growth 3",
}
COMMANDS: dict[str, dict[str, str]] = {
    "anonymize": {kind: f"{words} -o again --publish-useless" for kind, words in RUN.items()},
    "anonymize --dry-run": {kind: f"{words} --dry-run" for kind, words in RUN.items()},
    "audit": dict.fromkeys(KINDS, "release"),
    "audit of foreign files": {
        "sets": "release/data.csv -k 2 -m 2",
        "buckets": "release/quasi.csv --sensitive-table release/sensitive.csv --quasi age,sex "
        "--sensitive disease --l 2 --guarantee l",
        "pairs": "release/data-1.csv release/data-2.csv --layout baskets --growth 3",
    },
    "measure": {"sets": "release --original baskets.csv", "buckets": "release", "pairs": "release"},
    "risk": dict.fromkeys(KINDS, "release"),
    "explain": {
        "sets": "release ale --original baskets.csv",
        "buckets": "release age=20,sex=F",
        "pairs": "release ale",
    },
    "report": {
        "sets": "release --original baskets.csv -o page.html",
        **dict.fromkeys(("buckets", "pairs"), "release -o page.html"),
    },
    "compare": RUN | {"buckets": f"{TABLE} --l 2", "sets": f"{RUN['sets']} --methods aa,optimal"},
    "sweep": {
        "sets": "baskets.csv --hierarchy products.csv -k 2,3 -m 1,2",
        "buckets": f"{TABLE} --l 2,3 --min-exp 0.8,0.9",
        "pairs": f"{TWO} --growth 3,9 --min-support 20%,40%",
    },
    "run": dict.fromkeys(KINDS, "job.toml --force"),
    "apply": {
        "sets": "release newer.csv -o both",
        "buckets": "release patients.csv -o both",
        "pairs": "release newer.csv --against newer.csv -o both --publish-useless",
    },
}
"""A line for every verb and kind; `release` is one of that kind, `job.toml` the job that made it."""


def _new(kind: str) -> Any:
    new = sv.Transactions.from_rows([["ale"], ["milk"]])
    if kind != "pairs":
        return new
    return sv.PatternPair.of_sets(new, new, sv.read_hierarchy("drinks.csv"))


CALLS: dict[str, Callable[[Any, str, Any], object]] = {
    "audit": lambda given, _kind, _data: sv.audit(given).holds,
    "measure": lambda given, kind, data: sv.measure(given, *([data] if kind == "sets" else [])),
    "risk": lambda given, _kind, _data: sv.risk(given),
    "explain": lambda given, kind, data: (
        sv.explain(given, {"age": "20", "sex": "F"})
        if kind == "buckets"
        else sv.explain(given, "ale", **({"original": data} if kind == "sets" else {}))
    ),
    "report": lambda given, kind, data: sv.report(
        given, data if kind == "sets" else None, output="page.html", force=True
    ),
    "apply": lambda given, kind, _data: sv.apply(given, _new(kind)),
}
FRAMES = ("to_arrow", "to_pandas", "to_polars", "_repr_html_")


@pytest.fixture
def ready(shell: Shell, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Shell:
    """Return a folder with data of all kinds, and a release of the kind asked for."""
    for name, text in FILES.items():
        (shell.folder / name).write_text(text)
    monkeypatch.chdir(shell.folder)
    made = f"anonymize {RUN[request.param]} -o release --publish-useless --save-job job.toml"
    assert shell(*made.split()).code == 0
    return shell


PAIRS_OF = [(kind, kind) for kind in KINDS]


@pytest.mark.parametrize(("ready", "kind"), PAIRS_OF, indirect=["ready"])
@pytest.mark.parametrize("verb", COMMANDS)
def test_commands_take_every_kind_or_say_why_not(verb: str, ready: Shell, kind: str) -> None:
    name = verb.split(maxsplit=1)[0]
    ran = ready(name, *COMMANDS[verb][kind].split())
    refused = refusal(name, kind)
    if refused is None:
        assert ran.code == 0, ran
        return
    assert ran.code == 2
    assert refused.reason in ran.err
    assert refused.remedy in ran.err


@pytest.mark.parametrize(("ready", "kind"), PAIRS_OF, indirect=["ready"])
@pytest.mark.parametrize("verb", CALLS)
def test_functions_take_every_kind_or_say_why_not(verb: str, ready: Shell, kind: str) -> None:
    del ready
    data = sv.read_transactions("baskets.csv") if kind == "sets" else None
    opened = sv.read_release("release", *([data] if kind == "sets" else []))
    for given in (opened, *([] if verb in ("explain", "apply") else [Path("release")])):
        refused = refusal(verb, kind)
        if refused is None:
            assert CALLS[verb](given, kind, data)
            continue
        with pytest.raises(sv.SetveilError) as caught:
            CALLS[verb](given, kind, data)
        assert caught.value.exit_code == 2
        assert refused.reason in caught.value.text()


@pytest.mark.parametrize(("ready", "kind"), PAIRS_OF, indirect=["ready"])
def test_releases_of_every_kind_are_frames_and_show_in_notebooks(ready: Shell, kind: str) -> None:
    del ready
    data = sv.read_transactions("baskets.csv") if kind == "sets" else None
    opened = sv.read_release("release", *([data] if kind == "sets" else []))
    for name in FRAMES:
        assert len(getattr(opened, name)())


@pytest.mark.parametrize(("ready", "kind"), PAIRS_OF, indirect=["ready"])
def test_the_original_is_confirmed_by_its_seal(ready: Shell, kind: str) -> None:
    """The right data are taken in any order, and others of the same shape are refused."""
    del ready
    tree = sv.read_hierarchy("drinks.csv")
    rows = {"sets": "baskets.csv", "buckets": "patients.csv", "pairs": "before.csv"}[kind]
    head, *lines = Path(rows).read_text().splitlines(keepends=True)
    top = [head] if kind == "buckets" else []
    body = lines if kind == "buckets" else [head, *lines]

    def read(lines: list[str]) -> Any:
        Path("shuffled.csv").write_text("".join([*top, *lines]))
        if kind == "sets":
            return sv.read_transactions("shuffled.csv", layout="baskets")
        if kind == "buckets":
            return sv.read_microdata("shuffled.csv", quasi=["age", "sex"], sensitive="disease")
        return sv.read_pattern_pair("shuffled.csv", "after.csv", layout="baskets", hierarchy=tree)

    opened = sv.read_release("release", read(body[::-1]))
    assert opened.guarantee.kind == kind
    wrong = [read(lines) for lines in (body[1:], [*body, body[0]])]
    for other in (*wrong, *([] if kind == "sets" else ["shuffled.csv", 3])):
        with pytest.raises(sv.SetveilError) as caught:
            sv.read_release("release", other)
        assert "not the data the release was made from" in caught.value.text()
        assert caught.value.exit_code == 2


def test_every_verb_on_data_or_releases_is_in_the_table() -> None:
    command: Any = typer.main.get_command(app)
    about_none = {"demo", "doctor", "methods", "hierarchy", "mine"}
    assert {verb.split()[0] for verb in COMMANDS} == set(command.commands) - about_none
    assert set(VERBS) <= set(COMMANDS)
    for lines in COMMANDS.values():
        assert set(lines) == set(KINDS)


@pytest.mark.parametrize("ready", ["buckets"], indirect=True)
def test_a_folder_in_buckets_has_no_witnesses_to_show(ready: Shell) -> None:
    ran = ready("audit", "release", "--witnesses", "2")
    assert ran.code == 2
    assert "shows no witnesses" in ran.err
