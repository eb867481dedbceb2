"""What is not there is refused with the reason of the one table, by Python as by the command line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import setveil as sv
from setveil.cli.main import run
from setveil.errors import UsageError
from setveil.model.pattern_pair import PatternPair
from setveil.refusals import KINDS as OTHERS
from setveil.refusals import NAMES, REFUSALS, VERBS, Refusal, refusal
from setveil.registry import ALL_METHODS
from setveil.run import Run
from setveil.run.fields import KINDS, fields_of


def release_of(kind: str, folder: Path) -> Any:
    if kind == "pairs":
        tree = sv.Hierarchy.from_parents({"ale": "drink", "tea": "drink", "drink": None})
        sides = [sv.Transactions.from_rows([[item], [item], ["tea"]]) for item in ("ale", "tea")]
        return sv.anonymize(PatternPair.of_sets(*sides, tree), sv.HiddenPatterns(2))
    table = folder / "table.csv"
    lines = [f"{age},{'flu' if age % 2 else 'cold'}" for age in range(8)]
    table.write_text("\n".join(["age,ill", *lines, ""]))
    data = sv.read_microdata(table, quasi=["age"], sensitive="ill")
    return sv.anonymize(data, sv.LDiversity(2))


FUNCTIONS: dict[str, Callable[[Any], object]] = {
    "apply": lambda release: sv.apply(release, sv.Transactions.from_rows([["a"]])),
    "risk": sv.risk,
}


CODES = {kind.key: kind.code for kind in OTHERS}


def table_of(what: str) -> dict[str, Refusal]:
    return {one.kind: one for one in REFUSALS if one.what == what}


@pytest.mark.parametrize(
    ("verb", "kind"), [(one.what, one.kind) for one in REFUSALS if one.what in VERBS]
)
def test_functions_say_what_the_table_says(verb: str, kind: str, tmp_path: Path) -> None:
    release, said = release_of(kind, tmp_path), refusal(verb, kind)
    assert said is not None
    sv.publish(release, tmp_path / "out", allow_useless=True)
    for target in (release, *([tmp_path / "out"] if verb == "risk" else ())):
        with pytest.raises(UsageError) as raised:
            FUNCTIONS[verb](target)
        (problem,) = raised.value.problems
        assert (problem.what, problem.remedy, problem.code) == (
            said.reason,
            said.remedy,
            CODES[kind],
        )


def test_new_records_of_two_data_sets_are_two(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="new records of two data sets"):
        sv.apply(release_of("pairs", tmp_path), sv.Transactions.from_rows([["a"]]))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("verb", "kind"), [(one.what, one.kind) for one in REFUSALS if one.what in VERBS]
)
def test_commands_say_what_the_table_says(
    verb: str, kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    recoding = {"buckets": "buckets", "pairs": "pair"}[kind]
    (tmp_path / "certificate.json").write_text(json.dumps({"recoding": recoding}))
    words = {"apply": ["new.csv", "-o", "out"], "explain": ["ale"]}.get(verb, [])
    assert run([verb, str(tmp_path), *words]) == 2
    said = refusal(verb, kind)
    assert said is not None
    assert f"{said.reason} {said.remedy}" in capsys.readouterr().err


def test_every_kind_beside_sets_has_its_words() -> None:
    others = set(KINDS) - {"sets"}
    for words in (NAMES, CODES, *map(table_of, ("method", "field", "beside sets"))):
        assert set(words) == others
    assert {record.kind for record in ALL_METHODS} == set(KINDS)


def test_every_field_fits_some_kind_and_says_so_where_it_does_not(
    capsys: pytest.CaptureFixture[str],
) -> None:
    for field in fields_of(Run):
        assert field.fits
        assert set(field.fits) <= set(KINDS)
        if "buckets" in field.fits or field.is_list or field.option is not None:
            continue
        words = [field.flag] if field.type.startswith("bool") else [field.flag, "1"]
        assert run(["anonymize", "data.csv", "--quasi", "age", *words]) == 2
        assert table_of("field")["buckets"].reason.format(field.flag) in capsys.readouterr().err
