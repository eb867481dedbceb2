"""rules.csv there and back, written by hand, and with faults."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from setveil.audit.bucket_tables import read_rules as read_published
from setveil.errors import DataError, FileSystemError, UsageError
from setveil.io.rules import read_rules, rule_lines, told_of_rules, write_rules
from setveil.model.microdata import Microdata
from setveil.model.rules import NegativeRule

HOSTILE = [
    'a"b',
    "a,b",
    "a;b",
    " a ",
    "a\nb",
    "a\r\nb",
    "=1+1",
    "\u2028",
    "é",
    "*",
    "[0, 5)",
    "\t",
    "''",
]
LABELS = st.sampled_from(HOSTILE) | st.text(
    st.characters(exclude_characters="\0\ufeff", exclude_categories=["Cs"]), min_size=1, max_size=6
)
NAMES = ("a", "b,c", 'd"')


def rules() -> st.SearchStrategy[NegativeRule]:
    cells = st.lists(st.none() | LABELS, min_size=3, max_size=3).filter(any)
    return st.builds(
        lambda cells, value: NegativeRule(
            tuple((name, cell) for name, cell in zip(NAMES, cells, strict=True) if cell), value
        ),
        cells,
        LABELS,
    )


@settings(deadline=None)
@given(st.lists(rules(), max_size=5))
def test_there_and_back(
    tmp_path_factory: pytest.TempPathFactory, given_rules: list[NegativeRule]
) -> None:
    path = tmp_path_factory.mktemp("rules") / "rules.csv"
    write_rules(given_rules, path, attributes=NAMES, sensitive="s")
    back = read_rules(path, quasi=NAMES, sensitive="s")
    assert set(back) == set(given_rules)
    assert len(back) == len(set(given_rules))
    judged = read_published(path.read_bytes().decode(), NAMES, "s")
    assert {NegativeRule(*rule) for rule in judged} == set(given_rules)
    again = "".join(rule_lines(reversed(back), attributes=NAMES, sensitive="s"))
    assert again.encode() == path.read_bytes()


def test_the_bytes(tmp_path: Path) -> None:
    found = [
        NegativeRule((("sex", "M"),), "ovarian cancer"),
        NegativeRule((("sex", "F"), ("age", "[0, 10)")), "x"),
        NegativeRule((("age", "7"),), 'say "ah"'),
        NegativeRule((("sex", "M"),), "ovarian cancer"),
    ]
    path = tmp_path / "rules.csv"
    write_rules(found, path, attributes=("sex", "age"), sensitive="disease")
    assert path.read_bytes() == (
        b'sex,age,disease\n,7,"say ""ah"""\nF,"[0, 10)",x\nM,,ovarian cancer\n'
    )
    assert path.stat().st_mode & 0o777 == 0o600
    with pytest.raises(FileSystemError):
        write_rules([], path, attributes=("sex", "age"), sensitive="disease")
    write_rules([], path, attributes=("sex", "age"), sensitive="disease", force=True)
    assert path.read_bytes() == b"sex,age,disease\n"
    assert read_rules(path) == ()


def test_written_by_hand(tmp_path: Path) -> None:
    path = tmp_path / "known.csv"
    path.write_bytes(
        b"\xef\xbb\xbfage;sex;disease\r\n;M;ovarian cancer\r\n10-19;M;gout\r\n;M;ovarian cancer"
    )
    assert read_rules(path) == (
        NegativeRule((("sex", "M"),), "ovarian cancer"),
        NegativeRule((("age", "10-19"), ("sex", "M")), "gout"),
    )


@pytest.mark.parametrize(
    ("text", "code", "line"),
    [
        ("", "no-records", None),
        ("disease\nflu\n", "rules-header", 1),
        ("sex,sex,disease\nM,,flu\n", "duplicate-column", 1),
        ("sex,,disease\nM,,flu\n", "empty-column-name", 1),
        ("sex,age,disease\nM,flu\n", "ragged-row", 2),
        ("sex,age,disease\nM,,flu\n\nF,,flu\n", "blank-line", 3),
        ("sex,age,disease\nM,,flu\n,,flu\n", "rule-without-condition", 3),
        ("sex,age,disease\nM,,\n", "rule-without-value", 2),
        ('sex,age,disease\nM,"a,flu\n', "unclosed-quote", 2),
        ("sex,height,disease\nM,,flu\n", "rules-header", 1),
        ("sex,disease,age\nM,flu,\n", "rules-header", 1),
        ("sex,age,disease\nM,\0,flu\n", "nul-byte", 2),
    ],
)
def test_faults_are_told_with_their_line(
    tmp_path: Path, text: str, code: str, line: int | None
) -> None:
    path = tmp_path / "rules.csv"
    path.write_text(text)
    with pytest.raises((DataError, UsageError)) as caught:
        read_rules(path, quasi=("sex", "age"), sensitive="disease")
    problem = caught.value.problems[0]
    assert (problem.code, problem.line) == (code, line)
    assert problem.file == str(path)
    assert problem.remedy


@pytest.mark.parametrize(
    "rule",
    [
        NegativeRule((), "x"),
        NegativeRule((("a", "1"), ("a", "2")), "x"),
        NegativeRule((("z", "1"),), "x"),
        NegativeRule((("a", ""),), "x"),
        NegativeRule((("a", "1"),), ""),
        NegativeRule((("a", "\0"),), "x"),
        NegativeRule((("a", "\ud800"),), "x"),
    ],
)
def test_what_a_file_cannot_hold_is_not_written(rule: NegativeRule) -> None:
    with pytest.raises(UsageError):
        list(rule_lines([rule], attributes=("a",), sensitive="s"))


def test_rules_that_do_nothing_are_told() -> None:
    data = Microdata.from_columns({"sex": ["F", "M"], "ill": ["flu", "gout"]}, "ill")
    useful = NegativeRule((("sex", "F"),), "gout")
    misspelt = NegativeRule((("sex", "male"),), "gout")
    unknown = NegativeRule((("sex", "M"),), "pox")
    told = told_of_rules((useful, misspelt, unknown), data)
    assert len(told) == 2
    assert "nobody meets" in told[0]
    assert "nobody has that value" in told[1]
    many = tuple(NegativeRule((("sex", str(n)),), "gout") for n in range(9))
    assert told_of_rules(many, data)[-1] == "4 more rules do nothing."
