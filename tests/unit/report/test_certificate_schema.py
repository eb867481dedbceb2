"""The schema of the certificate: every real certificate fits, and a stray key does not."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import setveil as sv
from setveil.io.formats import FORMATS
from setveil.model.microdata import Microdata
from tests.contract.cases import CASES, Case
from tests.integration.cli import Shell
from tests.integration.conftest import shell as shell


@pytest.fixture(scope="module")
def schema() -> jsonschema.Draft202012Validator:
    text = files("setveil.report").joinpath("certificate.schema.json").read_text(encoding="utf-8")
    document = json.loads(text)
    jsonschema.Draft202012Validator.check_schema(document)
    return jsonschema.Draft202012Validator(document)


def certificate(folder: Path) -> dict[str, Any]:
    return json.loads((folder / "certificate.json").read_bytes())  # type: ignore[no-any-return]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_every_method(case: Case, tmp_path: Path, schema: jsonschema.Draft202012Validator) -> None:
    sv.publish(case.release(case.rows()), tmp_path / "out", allow_useless=True)
    schema.validate(certificate(tmp_path / "out"))


@pytest.mark.parametrize("form", [form for form in FORMATS if form != "table"])
def test_every_format(form: str, tmp_path: Path, schema: jsonschema.Draft202012Validator) -> None:
    rows = [["1", "2"], ["1", "2"], ["3"], ["3", "1"], ["3", "1"]]
    tree = sv.Hierarchy.from_parents({"1": "9", "2": "9", "3": "9", "9": None})
    release = sv.anonymize(sv.Transactions.from_rows(rows), sv.KmAnonymity(2, 2), hierarchy=tree)
    sv.publish(release, tmp_path / "out", format=form)
    schema.validate(certificate(tmp_path / "out"))


def test_tables_suppression_and_dates(
    shell: Shell, monkeypatch: pytest.MonkeyPatch, schema: jsonschema.Draft202012Validator
) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "86400")
    lines = ["name,sex,drugs", *(f"n{n},{'FM'[n % 2]},milk bun" for n in range(12)), "x,F,wine"]
    Path("t.csv").write_text("\n".join(lines) + "\n")
    ran = shell(
        "anonymize", "t.csv", "--set", "drugs", "--keep", "sex", "--keep-unprotected", "name",
        "--hierarchy", "drugs=products.csv", "-k", "3", "-m", "2", "-o", "out",
    )  # fmt: skip
    assert ran.code == 0, ran.err
    found = certificate(Path("out"))
    schema.validate(found)
    assert found["date"] == "1970-01-02"
    assert found["suppressed"]
    assert [column["kind"] for column in found["data"]["columns"]] == ["unprotected", "kept", "set"]


def test_the_domain_of_the_loss(tmp_path: Path, schema: jsonschema.Draft202012Validator) -> None:
    tree = sv.Hierarchy.from_parents({"1": "9", "2": "9", "3": "9", "9": None})
    release = sv.anonymize(
        sv.Transactions.from_rows([["1"], ["2"]]),
        sv.KmAnonymity(2, 2),
        hierarchy=tree,
        domain="hierarchy",
    )
    sv.publish(release, tmp_path / "out", allow_useless=True)
    found = certificate(tmp_path / "out")
    schema.validate(found)
    assert not schema.is_valid(found | {"domain": "used"})
    assert not schema.is_valid(found | {"recoding": "pair"})


@pytest.mark.parametrize("form", ["buckets", "joined"])
@pytest.mark.parametrize("guarantee", [sv.LDiversity(2), sv.MatchingDiversity(2)])
def test_tables_in_buckets(
    form: str,
    guarantee: sv.LDiversity | sv.MatchingDiversity,
    tmp_path: Path,
    schema: jsonschema.Draft202012Validator,
) -> None:
    columns = {"sex": ["F", "M"] * 6, "ill": ["flu", "flu", "gout", "gout", "cold", "cold"] * 2}
    release = sv.anonymize(Microdata.from_columns(columns, "ill"), guarantee)
    sv.publish(release, tmp_path / "out", format=form)
    found = certificate(tmp_path / "out")
    schema.validate(found)
    for stray in (found, found["data"], found["data"]["sensitive"]):
        stray["stray"] = 1
        assert not schema.is_valid(found)
        del stray["stray"]


def places(plain: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the way to every object of a document."""
    if isinstance(plain, dict):
        yield path
        for key, value in plain.items():
            yield from places(value, (*path, key))
    if isinstance(plain, list):
        for place, value in enumerate(plain):
            yield from places(value, (*path, place))


def at(plain: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        plain = plain[key]
    return plain


@pytest.mark.parametrize("case", CASES[::4], ids=lambda case: case.name)
def test_a_stray_or_missing_key_fails(
    case: Case, tmp_path: Path, schema: jsonschema.Draft202012Validator
) -> None:
    sv.publish(case.release(case.rows()), tmp_path / "out", allow_useless=True)
    whole = certificate(tmp_path / "out")
    optional = {"suppressed", "ncp", "lm", "negative"}
    for path in places(whole):
        stray = copy.deepcopy(whole)
        at(stray, path)["stray"] = "x"
        assert not schema.is_valid(stray), path
        for key in set(at(whole, path)) - optional:
            lacking = copy.deepcopy(whole)
            del at(lacking, path)[key]
            assert not schema.is_valid(lacking), (*path, key)
