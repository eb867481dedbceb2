"""What ``--json`` prints: one object, which begins with the verb and the kind, whatever the verb."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import typer.main

from setveil import errors
from setveil.cli.main import app

from .cli import Shell

PATIENTS = "age,sex,disease\n" + "20,F,flu\n30,M,cold\n20,F,cold\n30,M,flu\n20,M,gout\n30,F,gout\n" * 3
BEFORE, AFTER = "ale,milk\nmilk\nale,milk\nmilk\n", "ale\nale,milk\nale\nmilk\n"
TOLD = "--quasi age,sex --sensitive disease"
TWO = "--against after.csv --hierarchy products.csv --growth 3 --layout baskets"
TREE = "--hierarchy products.csv"
READ = "--original baskets.csv"

ANSWERED: tuple[tuple[str, str | None], ...] = (
    (f"anonymize baskets.csv {TREE} -k 2 -m 2 -o sets --save-job job.toml", "sets"),
    (f"anonymize baskets.csv {TREE} -k 2 -m 2 --dry-run", "sets"),
    (f"anonymize patients.csv {TOLD} --l 2 -o buckets", "buckets"),
    (f"anonymize patients.csv {TOLD} --l 2 --dry-run", "buckets"),
    (f"anonymize before.csv {TWO} -o pairs --publish-useless", "pairs"),
    *((f"audit {kind}", kind) for kind in ("sets", "buckets", "pairs")),
    ("audit sets/data.csv -k 2 -m 2", "sets"),
    ("audit before.csv --against after.csv --layout baskets --growth 90", "pairs"),
    (f"measure sets {READ}", "sets"),
    ("measure buckets", "buckets"),
    ("measure pairs", "pairs"),
    ("risk sets", "sets"),
    ("risk baskets.csv -k 2", "sets"),
    ("risk buckets", "buckets"),
    (f"explain sets ale {READ}", "sets"),
    (f"report sets {READ} -o page.html", "sets"),
    (f"compare baskets.csv {TREE} -k 2 -m 2 --methods aa,trim", "sets"),
    (f"sweep baskets.csv {TREE} -k 2 -m 1,2", "sets"),
    ("run job.toml --force", None),
    ("apply sets baskets.csv -o both", "sets"),
    (f"anonymize before.csv {TWO} --dry-run", "pairs"),
    ("hierarchy build baskets.csv --fan-out 2", None),
    ("hierarchy learn baskets.csv --fan-out 2", None),
    ("hierarchy check products.csv --data baskets.csv", None),
    ("hierarchy show products.csv", None),
    ("hierarchy convert products.csv --to json", None),
    ("mine itemsets baskets.csv --min-support 2", None),
    ("mine patterns before.csv --against after.csv --growth 2 --layout baskets", None),
    (f"mine rules patients.csv {TOLD}", None),
    ("methods", None),
    ("methods optimal", None),
    ("demo -o demo", "sets"),
    ("doctor", None),
)


def verbs(command: object, name: str = "") -> Iterator[str]:
    """Yield the commands that print JSON."""
    below = getattr(command, "commands", None)
    if below is not None:
        for key, child in below.items():
            yield from verbs(child, f"{name} {key}".strip())
    elif any("--json" in param.opts for param in command.params):  # type: ignore[attr-defined]
        yield name


def verb_of(line: str) -> str:
    words = line.split()
    return " ".join(words[:2] if words[0] in ("hierarchy", "mine") else words[:1])


ALL = sorted(verbs(typer.main.get_command(app)))


def test_every_answer_begins_with_verb_and_kind(shell: Shell) -> None:
    for name, text in (("patients", PATIENTS), ("before", BEFORE), ("after", AFTER)):
        (shell.folder / f"{name}.csv").write_text(text)
    for line, kind in ANSWERED:
        ran = shell(*line.split(), "--json")
        assert ran.code == 0 and "error" not in ran.json, (line, ran)
        assert list(ran.json)[:2] == ["verb", "kind"], line
        assert (ran.json["verb"], ran.json["kind"]) == (verb_of(line), kind), line
    assert {verb_of(line) for line, _ in ANSWERED} == set(ALL)
    assert shell("run", "job.toml", "--force", "--json").json["jobs"][0]["kind"] == "sets"


@pytest.mark.parametrize("verb", ALL)
def test_every_error_is_one_object(verb: str, shell: Shell) -> None:
    ran = shell(*verb.split(), "--json", "--no-such-flag")
    assert list(ran.json) == ["verb", "kind", "error", "exit_code", "problems"]
    assert (ran.json["verb"], ran.json["error"]) == (verb, "UsageError")
    assert ran.code == ran.json["exit_code"] == 2
    assert {"code", "what"} <= set(ran.json["problems"][0])


def test_an_error_tells_the_kind_once_it_is_known(shell: Shell) -> None:
    (shell.folder / "patients.csv").write_text(PATIENTS)
    of_table = shell("anonymize", "patients.csv", *TOLD.split(), "--l", "9", "-o", "out", "--json")
    assert of_table.code == of_table.json["exit_code"] == 4
    assert (of_table.json["verb"], of_table.json["kind"]) == ("anonymize", "buckets")
    assert shell.anonymize("--json").code == 0
    refused = shell("explain", "out", "--json", "no-such-label", *READ.split()).json
    assert refused["kind"] == "sets" and issubclass(getattr(errors, refused["error"]), Exception)
    assert shell("nonsense", "--json").json["verb"] is None
    assert shell("hierarchy", "nonsense", "--json").json["verb"] == "hierarchy"
    assert shell("--json", "methods").json["verb"] == "methods"
