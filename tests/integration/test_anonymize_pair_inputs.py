"""What is handed in for two data sets: numbers, names, spellings, marks, and what is told of tables."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import setveil as sv
from setveil.errors import DataError, UsageError
from setveil.registry import ALL_METHODS
from setveil.run.fields import number

from .cli import Ran, Shell
from .test_anonymize_pair import baskets, cells, people, write_baskets, write_people

NFC, NFD = "caf\u00e9", "cafe\u0301"


def mined(shell: Shell, *words: str) -> Ran:
    return shell("mine", "patterns", "people.csv", "--class-column", "income", "--growth", "3", *words)


@pytest.mark.parametrize("named", [("",), ("sex,",), ("sex", ""), (",",), ("sex,,education",)])
def test_an_empty_name_is_not_all_columns(shell: Shell, named: tuple[str, ...]) -> None:
    write_people()
    words = [word for name in named for word in ("--attributes", name)]
    for ran in (people(shell, *words), mined(shell, *words)):
        assert ran.code == 2
        assert "error[empty-column-name]" in ran.err
    assert not Path("out").exists()


def test_an_empty_class_column_is_a_slip(shell: Shell) -> None:
    write_people()
    ran = shell("anonymize", "people.csv", "--class-column", "", "--growth", "3", "-o", "out")
    assert ran.code == 2
    assert "no column ''" in ran.err


@pytest.mark.parametrize("support", ["", "4/3", "0/5", "1e3", "half"])
def test_a_support_that_is_none(shell: Shell, support: str) -> None:
    write_people()
    for ran in (people(shell, "--min-support", support), mined(shell, "--min-support", support)):
        assert ran.code == 2
        assert "a share of the records or a count" in ran.err
        assert "Give for example 1%, 0.01, 1/3 or 50." in ran.err


def test_a_support_may_be_a_fraction(shell: Shell) -> None:
    write_people()
    ran = people(shell, "--min-support", "1/3", "--json")
    assert ran.code == 0, ran.err
    assert ran.json["guarantee"]["min_support"] == "1/3"
    assert shell("audit", "out").code == 0
    assert mined(shell, "--min-support", "1/3").code == 0


@pytest.mark.parametrize("given", [0.5, "50%", "50 %", "1/2", "0.5", ".5", Fraction(1, 2)])
def test_a_share_in_python_is_what_the_command_line_reads(given: Any) -> None:
    promise = sv.HiddenPatterns(3, given)  # type: ignore[arg-type]
    assert promise.min_support == Fraction(1, 2)
    assert isinstance(promise.min_support, Fraction)


def test_whole_numbers_are_counts_and_floats_are_shares() -> None:
    assert sv.HiddenPatterns(3, 50).min_support == 50  # type: ignore[arg-type]
    assert sv.HiddenPatterns(3, "50").min_support == 50  # type: ignore[arg-type]
    assert isinstance(sv.HiddenPatterns(3, 1.0).min_support, Fraction)  # type: ignore[arg-type]
    assert sv.HiddenPatterns(3, 1e-05).min_support == Fraction(1, 100_000)  # type: ignore[arg-type]
    for nonsense in (0, -1, True, None, "", "many", 50.0, float("nan"), Fraction(3, 2)):
        with pytest.raises(UsageError, match="a share of the records or a count") as caught:
            sv.HiddenPatterns(3, nonsense)  # type: ignore[arg-type]
        assert "1%, 0.01, 1/3 or 50" in caught.value.text()
    with pytest.raises(UsageError, match="finer than a billionth"):
        sv.HiddenPatterns(3, Fraction(1, 10**10))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("words", "options"),
    [
        (("--theta-p", "0"), {"theta_p": 0.0}),
        (("--theta-q", "0"), {"theta_q": 0.0}),
        (("--theta-p", ".5"), {"theta_p": 0.5}),
        (("--theta-p", "1e-3"), {"theta_p": 0.001}),
        (("--search", "annealed", "--cooling", ".25"), {"search": "annealed", "cooling": 0.25}),
        (("--frequent-support", "40%"), {"frequent_support": 0.4}),
        (("--frequent-support", "12.3 %"), {"frequent_support": 0.123}),
    ],
)
def test_numbers_of_methods_are_plain_numbers(
    shell: Shell, words: tuple[str, ...], options: dict[str, object]
) -> None:
    write_people()
    ran = people(shell, "--json", "--publish-useless", *words)
    assert ran.code == 0, ran.err
    assert ran.json["options"] == options


def test_zero_is_a_number_for_every_option_of_methods() -> None:
    for record in ALL_METHODS:
        for option in record.options:
            if option.type is float:
                assert number(option, "0") == 0.0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--theta-p", ""), "theta_p must be a number (got ''). Give for example 0.4."),
        (("--theta-p", "nan"), "theta_p must be a number (got 'nan')."),
        (("--theta-p", "1e999"), "theta_p must be a number"),
        (("--theta-p", "\uff11"), "theta_p must be a number"),
        (("--theta-p", "40%"), "theta_p must be a number"),
        (("--theta-p", "2"), "theta_p=2.0 is out of range."),
        (("--search", "annealed", "--temperature", "x"), "Give for example 10."),
        (("--frequent-support", "%"), "Give for example 0.4 or 40%."),
        (("--frequent-support", "140%"), "frequent_support=1.4 is no share"),
        (("--threads", "0"), "threads must be a whole number from 1 to 4096"),
        (("--threads", "5000"), "threads must be a whole number from 1 to 4096"),
    ],
)
def test_numbers_that_cannot_be(shell: Shell, words: tuple[str, ...], said: str) -> None:
    write_people()
    ran = people(shell, *words)
    assert ran.code == 2
    assert said in ran.err
    assert not Path("out").exists()


def test_no_threads_are_not_all_of_them(shell: Shell) -> None:
    write_people()
    assert mined(shell, "--threads", "0").code == 2
    pair = sv.read_pattern_pair("people.csv", class_column="income")
    with pytest.raises(UsageError, match="threads must be"):
        sv.anonymize(pair, sv.HiddenPatterns(3), threads=0)  # type: ignore[arg-type]


@pytest.mark.parametrize(("one", "other"), [(NFC, NFD), ("tea", "tea "), ("tea", "\u200btea")])
def test_two_spellings_over_both_files_are_refused(shell: Shell, one: str, other: str) -> None:
    Path("a.csv").write_text(f"{one},milk\nmilk\n")
    Path("b.csv").write_text(f"milk\n{other},milk\n")
    sets = ("b.csv", "--layout", "baskets")
    Path("ta.csv").write_text(f"x,y\n{one},1\nz,2\n")
    Path("tb.csv").write_text(f"y,x\n1,z\n2,{other}\n")
    for first, rest in (("a.csv", sets), ("ta.csv", ("tb.csv", "--table"))):
        words = (first, "--against", *rest, "--growth", "3")
        for ran in (shell("anonymize", *words, "-o", "out"), shell("mine", "patterns", *words)):
            assert ran.code == 3, ran.err
            line = 2 if first == "a.csv" else 3
            assert f"error[two-spellings] {rest[0]}:{line}: " in ran.err
            assert f"(the first in {first}, line {line - 1})." in ran.err
    with pytest.raises(DataError, match="two spellings"):
        sv.read_pattern_pair("a.csv", "b.csv", layout="baskets")
    with pytest.raises(DataError, match="two spellings"):
        sv.read_pattern_pair("ta.csv", "tb.csv", table=True)
    # The same in one file, for comparison.
    Path("one.csv").write_text(f"x,side\n{one},a\nz,a\nz,b\n{other},b\n")
    words = ("one.csv", "--class-column", "side", "--growth", "3", "-o", "out")
    assert shell("anonymize", *words).code == 3


def test_a_normal_form_mends_what_it_can(shell: Shell) -> None:
    Path("a.csv").write_text(f"{NFC},milk\nmilk\n")
    Path("b.csv").write_text(f"milk\n{NFD},milk\n")
    words = ("a.csv", "--against", "b.csv", "--layout", "baskets", "--growth", "3")
    assert "Use --normalize NFC." in shell("anonymize", *words, "-o", "out").err
    ran = shell("anonymize", *words, "--normalize", "NFC", "-o", "out")
    assert ran.code == 0, ran.err
    assert Path("out/data-1.csv").read_text() == Path("out/data-2.csv").read_text()


def test_labels_that_differ_in_case_between_the_files_are_told(shell: Shell) -> None:
    Path("a.csv").write_text("Milk,tea\ntea\n")
    Path("b.csv").write_text("milk,tea\ntea\n")
    ran = shell(
        "mine", "patterns", "a.csv", "--against", "b.csv", "--layout", "baskets", "--growth", "3"
    )
    assert ran.code == 0, ran.err
    assert "differ only in case are kept apart: 'Milk' and 'milk'." in ran.err


def test_the_name_of_the_root_is_reserved(shell: Shell) -> None:
    write_people()
    with Path("people.csv").open("a") as file:
        file.write("BSc,*,low\n")
    ran = people(shell)
    assert ran.code == 3
    assert "error[reserved-label] people.csv:82: '*' is a value of the column 'sex'" in ran.err
    assert "--hierarchy sex=FILE" in ran.err
    Path("sex.csv").write_text("M;any\nF;any\n*;any\n")
    assert people(shell, "--hierarchy", "sex=sex.csv").code == 0
    write_baskets()
    with Path("after.csv").open("a") as file:
        file.write("*\n")
    ran = baskets(shell, "--force")
    assert ran.code == 3
    assert "error[reserved-label] after.csv:61: '*' is an item" in ran.err


def test_cells_without_a_value_are_below_the_root_of_their_hierarchy(shell: Shell) -> None:
    write_people(missing=True)
    Path("sex.csv").write_text("M;any\nF;any\n")
    words = ("--hierarchy", "sex=sex.csv", "--missing-cells", "category")
    ran = people(shell, *words)
    assert ran.code == 0, ran.err
    assert "sex=(missing);sex=any;" in Path("out.private/hierarchy.csv").read_text()
    shown = {row[1] for name in ("out/data-1.csv", "out/data-2.csv") for row in cells(name)[1:]}
    assert shown <= {"M", "F", "(missing)", "any"}
    assert shell("audit", "out").code == 0
    assert shell("measure", "out").code == 0
    # One that was written so is a value like any other, and has to be in the hierarchy.
    text = Path("people.csv").read_text().replace(",,", ",(missing),")
    Path("people.csv").write_text(text)
    ran = people(shell, *words, "--force")
    assert ran.code == 3
    assert "the value '(missing)' of the column 'sex' is not in its hierarchy" in ran.err


def test_the_callers_hierarchy_stays_as_it_is(shell: Shell) -> None:
    write_people(missing=True)
    tree = sv.Hierarchy.from_parents({"M": "any", "F": "any", "any": None})
    pair = sv.read_pattern_pair(
        "people.csv", class_column="income", hierarchy={"sex": tree}, missing_cells="category"
    )
    assert "sex=(missing)" in pair.hierarchy.node_of_label
    assert "(missing)" not in tree.node_of_label


def test_the_mark_of_one_table_must_not_be_a_value_of_the_other(shell: Shell) -> None:
    Path("a.csv").write_text("x,y\n,1\nz,2\n")
    Path("b.csv").write_text("x,y\nz,1\n(missing),2\n")
    words = ("--table", "--missing-cells", "category", "--growth", "3", "-o", "out")
    ran = shell("anonymize", "a.csv", "--against", "b.csv", *words)
    assert ran.code == 3
    assert "error[reserved-label] b.csv:3: column 'x' holds '(missing)'" in ran.err


@pytest.mark.parametrize("mark", ["?", "NA", "n/a", "-", "None"])
def test_what_looks_like_no_value_gets_that_remedy(shell: Shell, mark: str) -> None:
    write_people()
    with Path("people.csv").open("a") as file:
        file.write(f"{mark},M,low\n")
    ran = people(shell)
    assert ran.code == 3
    assert f"--missing '{mark}' and --missing-cells suppress, suppress-row or category." in ran.err
    assert people(shell, "--missing", mark, "--missing-cells", "category").code == 0
    write_baskets()
    with Path("after.csv").open("a") as file:
        file.write(f"{mark},ale\n")
    assert f"--missing '{mark}'." in baskets(shell, "--hierarchy", "tree.csv", "--force").err


def test_what_passes_is_told_where_tables_are_published(shell: Shell) -> None:
    write_people()
    lines = Path("people.csv").read_text().splitlines()
    numbered = [f"{line},{f'p{place}' if place else 'name'}" for place, line in enumerate(lines)]
    Path("people.csv").write_text("\n".join(numbered) + "\n")
    ran = people(shell, "--missing-cells", "suppress")
    assert ran.code == 0, ran.err
    assert "notice: all 3 columns are published; name those that shall be: --attributes." in ran.err
    assert "a value of its own in column 'name', which can identify people" in ran.err
    assert ran.err.count("value of its own") == 1
    assert "p7" not in ran.err
    ran = people(shell, "--attributes", "education,sex", "--force")
    assert "columns are published" not in ran.err
    assert "value of its own" not in ran.err
    assert "columns are published" not in mined(shell).err
    assert "value of its own" not in mined(shell).err


def test_few_records_and_sets_are_told_nothing_of_columns(shell: Shell) -> None:
    Path("few.csv").write_text("x,side\n" + "".join(f"{n},{'ab'[n % 2]}\n" for n in range(20)))
    words = ("--class-column", "side", "--growth", "3", "--publish-useless", "-o", "few")
    ran = shell("anonymize", "few.csv", *words)
    assert ran.code == 0, ran.err
    assert "value of its own" not in ran.err
    write_baskets()
    assert "columns are published" not in baskets(shell).err


def test_the_help_names_what_two_data_sets_take(shell: Shell) -> None:
    told = " ".join(shell("anonymize", "--help").out.split())
    assert "suppress-row" in told
    assert "complete-rows" in told
    assert "patterns for two data sets" in told
    assert "one of grouped, greedy, annealed" in told


FRAME = pa.table(
    {"job": ["cook", "clerk", None, "cook"], "age": [1, 2, 2, 1], "pay": ["low", "high", "low", "low"]}
)


def test_frames_are_read_as_files_are() -> None:
    import pandas as pd
    import polars as pl

    for frame in (FRAME, pl.from_arrow(FRAME), pd.DataFrame(FRAME.to_pydict())):
        pair = sv.read_pattern_pair(frame, class_column="pay", missing_cells="suppress")
        assert pair.records == (1, 3)
        assert pair.columns == ("job", "age")
        both = sv.read_pattern_pair(frame, frame, attributes=["age"])
        assert both.names == ("first frame", "second frame")
        assert both.records == (4, 4)
        assert sv.read_pattern_pair(frame, frame, table=True, missing_cells="category").is_table
    sets = pa.table({"items": [["ale", "tea"], ["tea"]]})
    pair = sv.read_pattern_pair(sets, sets)
    assert pair.records == (2, 2)
    assert not pair.is_table
    release = sv.anonymize(pair, sv.HiddenPatterns(3))  # type: ignore[arg-type]
    assert sv.audit(release).holds


def test_frames_that_do_not_fit(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("job\ncook\n")
    for first, second in ((FRAME, path), (path, FRAME)):
        with pytest.raises(UsageError, match="one data set is a file, the other is not"):
            sv.read_pattern_pair(first, second, table=True)
    with pytest.raises(UsageError, match="a list is not a frame"):
        sv.read_pattern_pair([["ale"]], [["tea"]])
    with pytest.raises(UsageError, match="delimiter is for files"):
        sv.read_pattern_pair(FRAME, class_column="pay", delimiter=",")
    with pytest.raises(DataError, match="no value in column 'job'") as caught:
        sv.read_pattern_pair(FRAME, FRAME, table=True)
    problem = caught.value.problems[0]
    assert (problem.file, problem.line) == ("first frame", 3)
    with pytest.raises(DataError, match="two spellings"):
        sv.read_pattern_pair(pa.table({"items": [[NFC]]}), pa.table({"items": [[NFD]]}), normalize=None)


def test_one_column_in_python_may_be_a_text(shell: Shell) -> None:
    write_people()
    pair = sv.read_pattern_pair("people.csv", class_column="income", attributes="sex")
    assert pair.columns == ("sex",)
    with pytest.raises(UsageError, match="no column ''"):
        sv.read_pattern_pair("people.csv", class_column="income", attributes="")
