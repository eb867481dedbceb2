"""Two data sets on the command line: hidden, audited, read back, and refused where they do not fit."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from random import Random

import pytest

from setveil.io.folder.ownership import is_private_twin, is_release
from setveil.measure import pairs

from .cli import Ran, Shell

EDUCATION = "".join(
    f"{value};{above};any\n"
    for value, above in {"BSc": "degree", "MSc": "degree", "9th": "school", "HS": "school"}.items()
)
PEOPLE = ("people.csv", "--class-column", "income", "--growth", "3")
FILES = ["certificate.json", "data-1.csv", "data-2.csv", "hierarchy.csv", "report.html"]


def write_people(*, missing: bool = False, n: int = 80) -> None:
    random = Random(1)
    lines = ["education,sex,income"]
    for _ in range(n):
        income = random.choice(["low", "high"])
        usual = ["BSc", "MSc"] if income == "high" else ["9th", "HS"]
        education = random.choice(usual if random.random() < 0.9 else ["BSc", "MSc", "9th", "HS"])
        sex = "" if missing and random.random() < 0.2 else random.choice("MF")
        lines.append(f"{education},{sex},{income}")
    Path("people.csv").write_text("\n".join(lines) + "\n")
    Path("education.csv").write_text(EDUCATION)


def write_baskets(n: int = 60) -> None:
    random = Random(2)
    for name, usual in (("before.csv", ["ale", "wine"]), ("after.csv", ["milk", "bun"])):
        rows = []
        for _ in range(n):
            other = random.choice(["ale", "wine", "milk", "bun"])
            rows.append(",".join(sorted({random.choice(usual), other})))
        Path(name).write_text("\n".join(rows) + "\n")
    # All four occur on both sides, so that the formats below can be told apart.
    Path("tree.csv").write_text("ale;alcohol;ALL\nwine;alcohol;ALL\nmilk;food;ALL\nbun;food;ALL\n")


def people(shell: Shell, *words: str) -> Ran:
    return shell("anonymize", *PEOPLE, "--hierarchy", "education=education.csv", "-o", "out", *words)


def baskets(shell: Shell, *words: str) -> Ran:
    return shell(
        *("anonymize", "before.csv", "--against", "after.csv", "--layout", "baskets"),
        *("--growth", "2", "-o", "out", *words),
    )


def cells(path: str) -> list[list[str]]:
    with open(path, newline="") as file:
        return list(csv.reader(file))


def test_a_table_split_by_a_class(shell: Shell) -> None:
    write_people()
    ran = people(
        shell, "--method", "hide-patterns", "--min-support", "0.1", "--frequent-support", "0.4"
    )
    assert ran.code == 0, ran.err
    assert "promise  no pattern of growth 3 or more" in ran.out
    assert "the written bytes keep the promise" in ran.out
    assert sorted(path.name for path in Path("out").iterdir()) == FILES
    certificate = json.loads(Path("out/certificate.json").read_text())
    assert certificate["recoding"] == "pair"
    assert certificate["data"]["classes"] == {"column": "income", "values": ["high", "low"]}
    assert certificate["data"]["columns"] == ["education", "sex"]
    first, second = cells("out/data-1.csv"), cells("out/data-2.csv")
    assert first[0] == second[0] == ["education", "sex"]
    assert len(first) + len(second) == 82
    assert first[1:] == sorted(first[1:])
    shown = {row[0] for row in first[1:] + second[1:]}
    assert shown <= {"BSc", "MSc", "9th", "HS", "degree", "school", "any"}
    assert shown & {"degree", "school", "any"}
    assert shell("audit", "out").code == 0


def test_what_is_printed_as_json(shell: Shell) -> None:
    write_people()
    ran = people(shell, "--json", "--every-level", "--search", "greedy", "--publish-useless")
    assert ran.code == 0, ran.err
    plain = ran.json
    assert plain["guarantee"] == {
        "model": "patterns",
        "growth": "3",
        "min_support": "1/10",
        "every_level": True,
    }
    assert sum(plain["records"]) == 80
    assert plain["values"] == 160
    assert 0 < plain["raised"] <= 160
    assert plain["verdict"]["holds"] is True
    assert plain["verdict"]["patterns"] == 0
    assert plain["options"] == {"search": "greedy"}
    assert sorted(plain["files"]) == FILES
    assert plain["format"] == "table"
    audited = shell("audit", "out", "--json").json
    assert audited["holds"] is True
    assert audited["records"] == plain["records"]


@pytest.mark.parametrize(
    ("form", "name"),
    [
        (None, "data-1.csv"),
        ("jsonl", "data-1.jsonl"),
        ("fimi", "data-1.dat"),
        ("long", "data-1.csv"),
        ("onehot", "data-1.csv"),
        ("parquet", "data-1.parquet"),
    ],
)
def test_two_files_of_sets_in_every_format(shell: Shell, form: str | None, name: str) -> None:
    write_baskets()
    asked = () if form is None else ("--format", form)
    ran = baskets(shell, "--hierarchy", "tree.csv", *asked)
    assert ran.code == 0, ran.err
    assert Path("out", name).exists()
    assert Path("out", name.replace("1", "2")).exists()
    assert shell("audit", "out").code == 0
    assert shell("measure", "out").code == 0
    assert is_release(Path("out").absolute())
    assert is_private_twin(Path("out.private").absolute())
    assert people_cannot(shell).code == 2
    assert baskets(shell, "--hierarchy", "tree.csv", *asked).code == 5
    assert baskets(shell, "--hierarchy", "tree.csv", *asked, "--force").code == 0


def people_cannot(shell: Shell) -> Ran:
    return baskets(shell, "--format", "table")


def test_sets_without_a_hierarchy_have_one_root(shell: Shell) -> None:
    write_baskets()
    ran = baskets(shell, "--publish-useless")
    assert ran.code == 0, ran.err
    assert "a hierarchy would keep more" in ran.err
    assert "*" in Path("out/data-1.csv").read_text()


def test_two_tables(shell: Shell) -> None:
    write_people()
    rows = Path("people.csv").read_text().splitlines()
    Path("one.csv").write_text("\n".join(rows[:40]) + "\n")
    Path("two.csv").write_text("\n".join([rows[0], *rows[40:]]) + "\n")
    words = ("--table", "--attributes", "education,sex", "--growth", "1.5", "--min-support", "5")
    ran = shell("anonymize", "one.csv", "--against", "two.csv", *words, "-o", "out")
    assert ran.code == 0, ran.err
    data = json.loads(Path("out/certificate.json").read_text())["data"]
    assert "classes" not in data
    assert data["columns"] == ["education", "sex"]
    assert [part["records"] for part in data["parts"]] == [39, 41]
    for name in ("certificate.json", "report.html"):
        assert "one.csv" not in Path("out", name).read_text()
    assert "one.csv" in Path("out.private/report.html").read_text()


def test_cells_without_a_value(shell: Shell) -> None:
    write_people(missing=True)
    ran = people(shell)
    assert ran.code == 3
    assert "people.csv:" in ran.err
    assert "--missing-cells" in ran.err
    ran = people(shell, "--missing-cells", "suppress")
    assert ran.code == 0, ran.err
    rows = cells("out/data-1.csv")[1:] + cells("out/data-2.csv")[1:]
    assert len(rows) == 80
    originals = [line.split(",") for line in Path("people.csv").read_text().splitlines()[1:]]
    assert sum(not row[1] for row in rows) == sum(not row[1] for row in originals)
    assert shell("audit", "out").code == 0
    ran = people(shell, "--missing-cells", "category", "--force")
    assert ran.code == 0, ran.err
    assert all(row[1] for row in cells("out/data-1.csv"))


def test_a_value_that_its_hierarchy_lacks_is_named_with_its_line(shell: Shell) -> None:
    write_people()
    lines = Path("people.csv").read_text().splitlines()
    lines.insert(5, "PhD,M,low")
    lines.append("PhD,F,high")
    Path("people.csv").write_text("\n".join(lines) + "\n")
    ran = people(shell)
    assert ran.code == 3
    assert "people.csv:6: the value 'PhD' of the column 'education' is not in its hierarchy." in ran.err
    assert not Path("out").exists()
    write_baskets()
    with Path("after.csv").open("a") as file:
        file.write("gin\n")
    ran = baskets(shell, "--hierarchy", "tree.csv")
    assert ran.code == 3
    assert "after.csv:61: the item 'gin' is not in the hierarchy." in ran.err


def test_a_category_among_the_values_is_refused(shell: Shell) -> None:
    write_baskets()
    with Path("before.csv").open("a") as file:
        file.write("alcohol\n")
    ran = baskets(shell, "--hierarchy", "tree.csv")
    assert ran.code == 3
    assert "before.csv:61: the item 'alcohol' is a category of the hierarchy." in ran.err


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("--growth", "1"), 2, "the growth must be a number above 1"),
        (("--growth", "0.5"), 2, "the growth must be a number above 1"),
        (("--growth", "x"), 2, "the growth must be a number above 1"),
        (("--growth", "5", "--min-support", "0"), 2, "the least support"),
        (("--growth", "5", "--min-support", "200%"), 2, "the least support"),
        (("--growth", "5", "--dry-run", "--classes", "low,none"), 2, "no row has the class"),
        (("--growth", "5", "--save-job", "people.csv"), 2, "one of the inputs"),
        (("--growth", "5", "-k", "5"), 2, "-k does not fit two data sets"),
        (("--growth", "5", "--cost", "lm"), 2, "--cost does not fit two data sets"),
        (("--growth", "5", "--private-hierarchy"), 2, "--private-hierarchy does not fit"),
        (("--growth", "5", "--unknown", "attach-to-root"), 2, "--unknown does not fit two data sets"),
        (("--growth", "5", "--method", "aa"), 2, "does not give no pattern of growth 5"),
        (("--growth", "5", "--guarantee", "km"), 2, "'km' is no promise about two data sets"),
        (("--growth", "5", "--format", "jsonl"), 2, "two tables cannot be published as 'jsonl'"),
        (("--growth", "5", "--search", "guess"), 2, "search='guess' is not known"),
        (("--growth", "5", "--hierarchy", "education.csv"), 2, "does not name a column"),
        (("--growth", "5", "--hierarchy", "age=education.csv"), 2, "there is no column 'age'"),
        (("--growth", "5", "--add-root", "x"), 2, "--add-root goes with --hierarchy"),
        (("--growth", "5", "--against", "other.csv"), 2, "there are too many data sets"),
        (("--method", "hide-patterns"), 2, "--growth is missing"),
        (("--growth", "5", "--classes", "low,none"), 2, "no row has the class"),
        (("--growth", "5", "--labels", "x.csv"), 2, "--labels does not fit a table"),
    ],
)
def test_slips_are_told_and_nothing_is_written(
    shell: Shell, words: tuple[str, ...], code: int, said: str
) -> None:
    write_people()
    before = shell.names()
    ran = shell("anonymize", "people.csv", "--class-column", "income", "-o", "out", *words)
    assert ran.code == code, ran.err
    assert said in ran.err
    assert shell.names() == before


def test_flags_of_two_data_sets_do_not_fit_one(shell: Shell) -> None:
    for words in (("--min-support", "5"), ("--every-level",), ("--table",), ("--attributes", "a")):
        ran = shell.anonymize(*words)
        assert ran.code == 2
        assert f"{words[0]} is for two data sets." in ran.err
    write_people()
    ran = shell("anonymize", "people.csv", "--growth", "5", "-o", "out")
    assert ran.code == 2
    assert "error[not-two-data-sets]" in ran.err
    ran = shell("anonymize", "people.csv", "--quasi", "sex", "--sensitive", "income", "--growth", "5")
    assert ran.code == 2
    assert "--growth does not fit a table in buckets" in ran.err


def test_no_output_and_standard_input_twice(shell: Shell) -> None:
    write_people()
    assert "no output is named" in shell("anonymize", *PEOPLE).err
    ran = shell("anonymize", "-", "--against", "-", "--growth", "5", "-o", "out")
    assert "error[stdin-twice]" in ran.err
    ran = shell("anonymize", "a.csv", "--against", "a.csv", "--growth", "5", "-o", "out")
    assert "both data sets are the same file" in ran.err
    ran = shell("anonymize", *PEOPLE, "--hierarchy", "sex=-", "--hierarchy", "education=-", "-o", "out")
    assert "error[stdin-twice]" in ran.err


def test_other_verbs_say_why_they_do_not_take_two(shell: Shell) -> None:
    write_people()
    assert people(shell).code == 0
    before = shell.names()
    ran = shell("risk", "out")
    assert ran.code == 2
    assert "error[pair]: risk does not take this release" in ran.err
    ran = shell("apply", "out", "people.csv", "-o", "new")
    assert ran.code == 2
    assert "error[local-recoding]" in ran.err
    assert shell.names() == before
    for verb in ("compare", "sweep"):
        ran = shell(verb, "people.csv", "-k", "2", "-m", "2", "--method", "hide-patterns")
        assert ran.code == 2
    ran = shell("compare", "baskets.csv", "-k", "2", "-m", "2", "--methods", "aa,hide-patterns")
    assert ran.code == 2
    Path("job.toml").write_text(
        '[job.a]\ndata = "baskets.csv"\noutput = "x"\nmethod = "hide-patterns"\nk = 2\nm = 2\n'
    )
    assert shell("run", "job.toml").code == 2


def test_measure_tells_what_it_cost(shell: Shell) -> None:
    write_people()
    made = people(shell, "--json").json
    ran = shell("measure", "out", "--json")
    assert ran.code == 0, ran.err
    plain = ran.json
    assert plain["raised"] == made["raised"]
    assert [column["name"] for column in plain["columns"]] == ["education", "sex"]
    assert sum(sum(column["values_by_steps"]) for column in plain["columns"]) == 160
    assert plain["patterns_before"]["number"] > 0
    assert 0 < plain["ncp"] <= 1
    text = shell("measure", "out", "--top", "2")
    assert text.code == 0
    assert "values raised" in text.out
    assert "frequent sets" in text.out
    assert "Personal data" in text.out
    assert shell("measure", "out", "--support", "20%", "--json").json["frequent"]["sets"] > 0
    refused = shell("measure", "out", "--original", "people.csv")
    assert refused.code == 2
    assert "--original does not fit two data sets" in refused.err


@pytest.mark.parametrize("stage", ["writing", "auditing", "counting raised values"])
def test_an_interrupt_leaves_nothing(shell: Shell, monkeypatch: pytest.MonkeyPatch, stage: str) -> None:
    from setveil.progress import Watch

    tick = Watch.tick

    def interrupted(self: Watch, name: str, share: float | None = None) -> None:
        if name == stage:
            raise KeyboardInterrupt
        tick(self, name, share)

    write_people()
    before = shell.names()
    monkeypatch.setattr(Watch, "tick", interrupted)
    ran = people(shell)
    assert ran.code == 130
    assert ran.err.endswith("Nothing was written.\n")
    assert shell.names() == before


def test_a_time_limit_ends_the_search_and_keeps_the_promise(shell: Shell) -> None:
    write_people()
    ran = people(shell, "--time-limit", "0.000001")
    assert ran.code == 0, ran.err
    assert "  method   hide-patterns, cut short by the time limit\n" in ran.out
    assert "the time limit ended the search" in ran.err
    assert shell("audit", "out").code == 0


def test_what_cannot_be_reached_is_told(shell: Shell) -> None:
    Path("one.jsonl").write_text('["a","b"]\n["a"]\n["a"]\n')
    Path("two.jsonl").write_text('["b"]\n[]\n[]\n')
    words = ("--growth", "2", "--empty-rows", "keep", "-o", "out")
    ran = shell("anonymize", "one.jsonl", "--against", "two.jsonl", *words)
    assert ran.code == 4
    assert not Path("out").exists()


def test_empty_records_are_kept_and_need_a_format_that_holds_them(shell: Shell) -> None:
    Path("one.csv").write_text("a\n\na\n")
    Path("two.csv").write_text("a\na\n\n")
    words = ("--layout", "baskets", "--empty-rows", "keep", "--growth", "2", "-o", "out")
    ran = shell("anonymize", "one.csv", "--against", "two.csv", *words)
    assert ran.code == 0, ran.err
    assert "published as JSON lines" in ran.err
    assert Path("out/data-1.jsonl").read_text() == '[]\n["a"]\n["a"]\n'
    assert shell("measure", "out").code == 0
    ran = shell("anonymize", "one.csv", "--against", "two.csv", *words, "--force", "--format", "fimi")
    assert ran.code == 3
    assert "error[format-cannot-hold]" in ran.err


def test_cells_that_a_spreadsheet_would_run(shell: Shell) -> None:
    Path("one.csv").write_text("=x\nb\n")
    Path("two.csv").write_text("=x\nb\n")
    words = ("--layout", "baskets", "--growth", "2", "--csv-safe", "-o", "out")
    assert shell("anonymize", "one.csv", "--against", "two.csv", *words).code == 0
    assert Path("out/data-1.jsonl").exists()
    Path("t1.csv").write_text("a,b\n=x,1\n")
    Path("t2.csv").write_text("a,b\n=x,1\n")
    words = ("--table", "--growth", "2", "--csv-safe", "-o", "tables")
    assert shell("anonymize", "t1.csv", "--against", "t2.csv", *words).code == 3
    assert not Path("tables").exists()


def test_a_single_column_with_empty_cells(shell: Shell) -> None:
    Path("t1.csv").write_text('a,class\nx,1\n"",1\ny,2\n"",2\nx,2\ny,1\n')
    words = ("--class-column", "class", "--missing-cells", "suppress", "--growth", "3", "-o", "out")
    ran = shell("anonymize", "t1.csv", *words)
    assert ran.code == 0, ran.err
    assert Path("out/data-1.csv").read_text().startswith('a\n""\n')
    assert shell("audit", "out").code == 0
    assert shell("measure", "out").code == 0


def test_a_release_is_replaced_by_force_alone_and_never_another_folder(shell: Shell) -> None:
    write_people()
    assert people(shell).code == 0
    assert people(shell).code == 5
    assert people(shell, "--force").code == 0
    assert is_release(Path("out").absolute())
    Path("out/more.txt").write_text("mine")
    assert not is_release(Path("out").absolute())
    assert people(shell, "--force").code == 5
    assert Path("out/more.txt").exists()


def test_a_changed_file_does_not_pass_the_audit(shell: Shell) -> None:
    write_people()
    assert people(shell).code == 0
    text = Path("out/data-1.csv").read_text()
    Path("out/data-1.csv").write_text(text + text.splitlines()[-1] + "\n")
    assert shell("audit", "out").code == 3


def test_the_audit_is_run_before_anything_is_put_into_place(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    from setveil.methods import PairOutcome, hide_patterns
    from setveil.release.recoding import PairRecoding

    def nothing(pair: object, *_: object, **__: object) -> PairOutcome:
        return PairOutcome(PairRecoding(tuple(side.leaves for side in pair.sides)))  # type: ignore[attr-defined]

    monkeypatch.setattr(hide_patterns, "anonymize", nothing)
    write_people()
    before = shell.names()
    ran = people(shell)
    assert ran.code == 70
    assert "audit-says-no" in ran.err
    assert shell.names() == before


def test_the_same_data_in_another_order_give_the_same_public_bytes(shell: Shell) -> None:
    write_people()
    assert people(shell).code == 0
    lines = Path("people.csv").read_text().splitlines()
    Path("people.csv").write_text("\n".join([lines[0], *reversed(lines[1:])]) + "\n")
    assert people(shell, "-o", "again").code == 0
    for name in FILES:
        assert Path("out", name).read_bytes() == Path("again", name).read_bytes(), name


def test_rarer_patterns_are_told_to_the_holder_alone(shell: Shell) -> None:
    write_people()
    words = ("--min-support", "40%", "--force")
    plain = people(shell, *words, "--no-guard", "--json").json
    told = plain["half_support"]
    assert told["min_support"] == "1/5"
    assert told["kind"] == "all"
    assert told["before"]["patterns"] > 0
    assert set(told["after"]) == {"patterns", "jumping", "largest_growth"}
    assert shell("measure", "out", "--json").json["half_support"] == told
    text = shell("measure", "out").out
    assert f"rarer patterns before\t{told['before']['patterns']}\t" in text
    assert f"of them jumping, after\t{told['after']['jumping']}\t" in text
    screen = people(shell, *words).out
    assert "rarer    from half the minimum support on" in screen
    assert "Patterns from half the minimum support on" in Path("out.private/report.html").read_text()
    for name in FILES:
        public = Path("out", name).read_text()
        assert "half the minimum support" not in public
        assert "rarer patterns" not in public


def test_nothing_is_rarer_than_one_record(shell: Shell) -> None:
    write_people(n=20)
    ran = people(shell, "--min-support", "1", "--json")
    assert ran.code == 0, ran.err
    assert ran.json["half_support"] is None
    assert "rarer" not in shell("measure", "out").out
    assert 'id="rarer"' not in Path("out.private/report.html").read_text()


def test_too_many_rarer_sets_are_left_out_and_it_is_said(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pairs, "FEW_RARER_SETS", 1)
    write_people()
    ran = people(shell)
    assert "rarer    not counted: too many sets have half the minimum support" in ran.out
    assert shell("measure", "out", "--json").json["half_support"]["after"] is None
    assert "rarer patterns after\tnot counted\ttoo many sets" in shell("measure", "out").out
    assert "Not counted: too many sets" in Path("out.private/report.html").read_text()
