"""What notebooks show of everything a user can hold: a head and tables, escaped, without colours."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

import setveil as sv
from setveil.audit.verdict import Answer
from setveil.model.microdata import Microdata
from setveil.model.pattern_pair import PatternPair
from setveil.risk.buckets import TableRisk, attack_by_rules

EVIL = "<b>&\"'"
TREE = sv.Hierarchy.from_parents({EVIL: "<i>", "wine": "<i>", "<i>": "ALL", "milk": "ALL", "ALL": None})
ROWS = [[EVIL, "milk"], ["wine", "milk"], ["milk"], [EVIL], ["wine"], ["milk"]]


@pytest.fixture(scope="module")
def nouns(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("<notebook>")
    baskets = sv.Transactions.from_rows(ROWS)
    promise = sv.KmAnonymity(2, 2)
    release = sv.anonymize(baskets, promise, hierarchy=TREE)
    columns = {"sex": list("FMFM") * 3, "<age>": list("2233") * 3, EVIL: ["flu", "cold", EVIL] * 4}
    table = Microdata.from_columns(columns, EVIL)
    buckets = sv.anonymize(table, sv.LDiversity(2))
    pair = PatternPair.of_sets(baskets, sv.Transactions.from_rows([["milk"], [EVIL]] * 3), TREE)
    hidden = sv.anonymize(pair, sv.HiddenPatterns(3))
    rules = attack_by_rules(table, buckets.bucketing, (), 2)
    csv = folder / "people.csv"
    csv.write_text('sex,"<drugs>"\nF,a b\nM,b\n')
    return {
        "release": release,
        "buckets": buckets,
        "pairs": hidden,
        "publication": sv.publish(release, folder / "out"),
        "verdict": sv.audit(release),
        "verdict of buckets": sv.audit(buckets),
        "verdict of pairs": sv.audit(hidden),
        "comparison": sv.compare(baskets, promise, hierarchy=TREE, methods=["aa", "optimal"]),
        "sweep": sv.sweep(baskets, TREE, ks=[2, 3], ms=1),
        "scores": sv.measure(release),
        "scores of pairs": sv.measure(hidden),
        "risk": sv.risk(release),
        "risk of buckets": TableRisk(buckets.guarantee, 12, 6, 0, rules),
        "explanation": sv.explain(release, EVIL, original=baskets),
        "extension": sv.apply(release, baskets),
        "transactions": baskets,
        "no transactions": sv.Transactions.from_rows([]),
        "records": sv.read_records(csv, set_columns={"<drugs>": " "}, keep=["sex"]),
        "hierarchy": TREE,
        "microdata": table,
        "pair": pair,
    }


def test_everything_shows_as_a_head_and_tables(nouns: dict[str, Any]) -> None:
    for name, noun in nouns.items():
        html = noun._repr_html_()
        page = ElementTree.fromstring(f"<div>{html}</div>")
        heads = [one for kind in ("caption", "p", "thead") for one in page.iter(kind)]
        assert heads, name
        assert page.find(".//td") is not None or page.find(".//pre") is not None, name
        for colour in ("color", "background", "<style", "<b>", "<i>"):
            assert colour not in html, f"{name} sets {colour}: a dark page could not show it"


def test_what_is_shown_is_what_is_printed(nouns: dict[str, Any]) -> None:
    for noun in nouns.values():
        if not hasattr(noun, "lines") or isinstance(noun, Answer):
            continue
        cells = ["".join(cell.itertext()) for cell in _page(noun).iter("td")]
        told = [text for row in noun.lines() for text in row]
        assert cells[: len(told)] == told


def test_a_hostile_label_is_text(nouns: dict[str, Any]) -> None:
    for name in ("explanation", "microdata"):
        assert EVIL in "".join(_page(nouns[name]).itertext()), name


def test_what_the_lines_tell(nouns: dict[str, Any]) -> None:
    assert nouns["transactions"].lines() == [
        ("records", "6"),
        ("items", "3 different, 8 occurrences"),
        ("a record", "1.33 in the mean, 2 items at most"),
    ]
    assert nouns["no transactions"].lines()[-1] == ("a record", "0 items at most")
    assert nouns["records"].lines()[:3] == [("records", "2"), ("sex", "kept"), ("<drugs>", "set")]
    assert dict(nouns["hierarchy"].lines())["at the top"] == "ALL"
    assert dict(nouns["microdata"].lines())[EVIL] == "sensitive: 3 values"
    assert dict(nouns["pair"].lines()) == {"first": "6 records", "second": "6 records", "values": "3"}
    assert nouns["extension"].head == "The union with 6 new records keeps the promise"
    assert Path(dict(nouns["publication"].lines())["release"]).name == "out"


def _page(noun: Any) -> ElementTree.Element:
    return ElementTree.fromstring(f"<div>{noun._repr_html_()}</div>")
