"""``setveil anonymize --quasi``: tables with a sensitive column, from file to audited buckets."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from pathlib import Path

import pytest

from .cli import Shell
from .patients import COLUMNS, ROWS, bucketed, write_patients


def rows_of(path: str | Path) -> list[list[str]]:
    return list(csv.reader(io.StringIO(Path(path).read_text())))


def values_by_bucket(folder: Path) -> dict[str, Counter[str]]:
    found: dict[str, Counter[str]] = {}
    for bucket, value, count in rows_of(folder / "sensitive.csv")[1:]:
        found.setdefault(bucket, Counter())[value] += int(count)
    return found


@pytest.mark.parametrize(("method", "rules"), [("anatomy", []), ("injector", ["rules.csv"])])
def test_two_tables(shell: Shell, tmp_path: Path, method: str, rules: list[str]) -> None:
    ran = bucketed(shell, "--method", method, "--l", "2")
    assert ran.code == 0, ran.err
    out = tmp_path / "out"
    names = ["certificate.json", "hierarchy.csv", "quasi.csv", "report.html", *rules, "sensitive.csv"]
    assert sorted(path.name for path in out.iterdir()) == names
    quasi = rows_of(out / "quasi.csv")
    assert quasi[0] == ["zip", "age", "sex", "bucket"]
    assert Counter(tuple(row[:3]) for row in quasi[1:]) == Counter(row[1:4] for row in ROWS)
    held = values_by_bucket(out)
    assert sum(held.values(), Counter()) == Counter(row[4] for row in ROWS)
    sizes = Counter(row[3] for row in quasi[1:])
    assert {bucket: values.total() for bucket, values in held.items()} == sizes
    if method == "anatomy":
        assert all(2 * max(values.values()) <= values.total() for values in held.values())
    assert "audit    the written bytes keep the promise" in ran.out
    assert "buckets.json" in {path.name for path in (tmp_path / "out.private").iterdir()}
    audited = shell("audit", "out")
    assert audited.code == 0
    assert audited.out.startswith("HOLDS")


@pytest.mark.parametrize("method", ["anatomy", "injector"])
def test_one_table(shell: Shell, tmp_path: Path, method: str) -> None:
    ran = bucketed(shell, "--method", method, "--l", "2", "--format", "joined", "--json")
    assert ran.code == 0, ran.err
    assert ran.json["format"] == "joined"
    assert ran.json["files"][0] == "data.csv"
    assert set(ran.json["files"]) == {path.name for path in (tmp_path / "out").iterdir()}
    header, *rows = rows_of(tmp_path / "out/data.csv")
    assert header == ["zip", "age", "sex", "bucket", "disease"]
    for bucket in {row[3] for row in rows}:
        inside = [row for row in rows if row[3] == bucket]
        assert inside == sorted(inside)
        values = [row[4] for row in inside]
        assert values == sorted(values)
    assert shell("audit", "out", "--json").json["holds"] is True


def test_json_says_what_the_files_say(shell: Shell, tmp_path: Path) -> None:
    ran = bucketed(shell, "--l", "2", "--min-exp", "0.75", "--control", "none", "--json")
    assert ran.code == 0, ran.err
    told = ran.json
    assert (told["method"], told["records"]) == ("injector", 9)
    assert told["guarantee"] == {"model": "matching", "l": 2}
    assert told["buckets"] == len(values_by_bucket(tmp_path / "out")) == told["verdict"]["buckets"]
    assert told["options"] == {"control": "none", "min_exp": 0.75}
    assert told["rules"] == len(rows_of(tmp_path / "out/rules.csv")) - 1 > 0
    account = json.loads((tmp_path / "out.private/audit.json").read_bytes())
    assert account["options"] == told["options"]
    assert account["figures"] == told["figures"]


def test_buckets_are_made_as_the_paper_prints_it_where_asked(shell: Shell, tmp_path: Path) -> None:
    """Nobody but one man can swap with the men; Figure 2 then puts all into one bucket."""
    people = ["M,kidney"] * 24 + ["M,breast"] + ["F,breast"] * 12 + ["F,flu"] * 14
    Path("ward.csv").write_text("\n".join(["sex,ill", *people]) + "\n")
    Path("facts.csv").write_text("sex,ill\nF,kidney\n")
    asked = ("anonymize", "ward.csv", "--quasi", "sex", "--sensitive", "ill", "--l", "2")
    asked += ("--rules", "facts.csv", "--json")
    ran = shell(*asked, "-o", "out")
    assert ran.code == 0, ran.err
    assert (ran.json["buckets"], ran.json["options"]) == (13, {})
    figures = ran.json["figures"]
    assert (figures["buckets"], figures["mean bucket"]) == (13, 3.92)
    assert any(
        f"the largest bucket has {figures['largest bucket']} records" in notice
        for notice in ran.json["notices"]
    )
    account = json.loads((tmp_path / "out.private/audit.json").read_bytes())
    assert any("found no one other left" in notice for notice in account["notices"])
    assert "found no" not in (tmp_path / "out/report.html").read_text()
    assert "found no" not in (tmp_path / "out/certificate.json").read_text()
    ran = shell(*asked[:-1], "--grouping", "printed", "-o", "out2")
    assert ran.code == 4
    assert "error[useless]" in ran.err and "What may help: --grouping compact, " in ran.err
    ran = shell(*asked, "--grouping", "printed", "--publish-useless", "-o", "out2")
    assert ran.code == 0, ran.err
    assert (ran.json["buckets"], ran.json["options"]) == (1, {"grouping": "printed"})
    assert shell(*asked, "--grouping", "neat", "-o", "out3").code == 2


def test_no_man_has_ovarian_cancer(shell: Shell, tmp_path: Path) -> None:
    """The rule of section IV has expectation 0.779 in Table I; Bob is then hidden from it."""
    assert bucketed(shell, "--l", "2", "--min-exp", "0.75", "--control", "none").code == 0
    assert ["", "", "M", "Ovarian Cancer"] in rows_of(tmp_path / "out/rules.csv")
    bucket = next(row[3] for row in rows_of(tmp_path / "out/quasi.csv") if row[0] == "47678")
    assert len(set(values_by_bucket(tmp_path / "out")[bucket]) - {"Ovarian Cancer"}) >= 2


def test_known_facts_join_the_rules(shell: Shell, tmp_path: Path) -> None:
    Path("facts.csv").write_text("sex;disease\nM;Ovarian Cancer\nF;Prostate Cancer\n")
    ran = bucketed(shell, "--l", "2", "--rules", "facts.csv", "--json")
    assert ran.code == 0, ran.err
    assert ran.json["figures"]["rules given"] == 2
    lines = rows_of(tmp_path / "out/rules.csv")
    assert lines[0] == ["zip", "age", "sex", "disease"]
    assert ["", "", "F", "Prostate Cancer"] in lines
    assert lines[1:] == sorted(lines[1:])
    assert "2 reckoned with" in bucketed(shell, "--l", "2", "--rules", "facts.csv", output="o2").out


def test_a_fact_that_does_nothing_is_told(shell: Shell) -> None:
    Path("facts.csv").write_text("sex,disease\nX,Flu\n")
    ran = bucketed(shell, "--l", "2", "--rules", "facts.csv")
    assert ran.code == 0
    assert "nobody meets its conditions" in ran.err


def test_facts_that_cannot_be_true_are_infeasible(shell: Shell, tmp_path: Path) -> None:
    Path("facts.csv").write_text("sex,disease\nM,Flu\nF,Flu\n")
    ran = bucketed(shell, "--l", "2", "--rules", "facts.csv", "--min-fact-conf", "0.5")
    assert ran.code == 4
    assert "rules-contradict" in ran.err
    assert not (tmp_path / "out").exists()


def test_intervals_and_hierarchies_reach_the_release(shell: Shell, tmp_path: Path) -> None:
    Path("sex.csv").write_text("F;person\nM;person\n")
    more = ("--intervals", "age=20,40,60", "--intervals", "age=20,60", "--hierarchy", "sex=sex.csv")
    Path("facts.csv").write_text(
        'age,sex,disease\n"[20, 60)",F,Flu\n"[40, 60)",person,Prostate Cancer\n'
    )
    ran = bucketed(shell, "--l", "2", "--rules", "facts.csv", *more)
    assert ran.code == 0, ran.err
    tree = (tmp_path / "out/hierarchy.csv").read_text()
    assert "age=22;age=[20, 40);age=[20, 60)" in tree
    assert "sex=F;sex=person" in tree
    assert rows_of(tmp_path / "out/rules.csv")[1:] == [
        ["", "[20, 60)", "F", "Flu"],
        ["", "[40, 60)", "person", "Prostate Cancer"],
    ]
    assert shell("audit", "out").code == 0


def test_standard_input(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    from types import SimpleNamespace

    write_patients("p.csv")
    content = Path("p.csv").read_bytes()
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(content), isatty=lambda: False))
    ran = shell("anonymize", "-", *COLUMNS, "--l", "2", "-o", "out")
    assert ran.code == 0, ran.err


def test_too_large_an_l_names_the_frequency(shell: Shell, tmp_path: Path) -> None:
    ran = bucketed(shell, "--method", "anatomy", "--l", "4")
    assert ran.code == 4
    assert "is in 3 of 9 tuples, more than one in 4" in ran.err
    assert "Lower l to 3" in ran.err
    assert not (tmp_path / "out").exists()
    assert not [name for name in shell.names() if "out" in name]


def test_injector_is_infeasible_only_if_one_bucket_fails(shell: Shell) -> None:
    ran = bucketed(shell, "--l", "4")
    assert ran.code == 0, ran.err
    ran = bucketed(shell, "--l", "5", output="out5")
    assert ran.code == 4
    assert "some only 4, even if all tuples share one bucket" in ran.err


WRONG = [
    (("--quasi", "zip,height", "--sensitive", "disease", "--l", "2"), 2, "no column 'height'"),
    (("--quasi", "zip", "--sensitive", "pain", "--l", "2"), 2, "no column 'pain'"),
    (("--quasi", "zip,disease", "--sensitive", "disease", "--l", "2"), 2, "two roles"),
    (("--quasi", "zip,zip", "--sensitive", "disease", "--l", "2"), 2, "named twice"),
    (("--quasi", "zip,,sex", "--sensitive", "disease", "--l", "2"), 2, "has no name"),
    (("--quasi", "zip", "--l", "2"), 2, "no sensitive column"),
    (("--quasi", "zip", "--sensitive", "disease"), 2, "--l is missing"),
    (("--quasi", "zip", "--sensitive", "disease", "--l", "1"), 2, "l"),
    (("--quasi", "zip", "--sensitive", "disease", "--l", "x"), 2, "l"),
    (
        ("--quasi", "zip", "--sensitive", "disease", "--sensitive", "age", "--l", "2"),
        2,
        "several sensitive columns",
    ),
    ((*COLUMNS, "--l", "2", "-k", "3"), 2, "-k does not fit"),
    ((*COLUMNS, "--l", "2", "--negative"), 2, "--negative does not fit"),
    ((*COLUMNS, "--l", "2", "--layout", "long"), 2, "--layout does not fit"),
    ((*COLUMNS, "--l", "2", "--method", "anatomy", "--rules-only"), 2, "reckons with no rules"),
    ((*COLUMNS, "--l", "2", "--membership", "minimum"), 2, "membership goes with --fuzzy."),
    ((*COLUMNS, "--l", "2", "--control", "some"), 2, "Allowed: all, longer, none."),
    ((*COLUMNS, "--l", "2", "--min-exp", "1e-1"), 2, "below 1"),
    (("--l", "2", "--rules-only"), 2, "--rules-only goes with --quasi"),
    ((*COLUMNS, "--l", "2", "--method", "aa"), 2, "no promise about a table"),
    ((*COLUMNS, "--l", "2", "--guarantee", "km"), 2, "no promise about a table"),
    ((*COLUMNS, "--l", "2", "--guarantee", "l", "--method", "injector"), 2, "injector"),
    ((*COLUMNS, "--l", "2", "--method", "anatomy", "--min-exp", "0.9"), 2, "no option 'min_exp'"),
    ((*COLUMNS, "--l", "2", "--min-exp", "1.5"), 2, "min"),
    ((*COLUMNS, "--l", "2", "--format", "jsonl"), 2, "cannot be published as 'jsonl'"),
    ((*COLUMNS, "--l", "2", "--intervals", "height=1,2"), 2, "does not name a quasi-identifying"),
    ((*COLUMNS, "--l", "2", "--intervals", "sex=1,2"), 3, "sex"),
    ((*COLUMNS, "--l", "2", "--hierarchy", "tree.csv"), 2, "does not name a quasi-identifying"),
    ((*COLUMNS, "--l", "2", "--rules", "none.csv"), 5, "none.csv"),
    ((*COLUMNS, "--l", "2", "--rules", "-", "--hierarchy", "sex=-"), 2, "more than once"),
    (("--l", "2", "--rules", "facts.csv"), 2, "--rules goes with --quasi"),
    (("--l", "2", "--intervals", "age=1,2"), 2, "--intervals goes with --quasi"),
]


@pytest.mark.parametrize(("words", "code", "told"), WRONG, ids=[str(n) for n in range(len(WRONG))])
def test_wrong_input_is_refused_and_nothing_written(
    shell: Shell, words: tuple[str, ...], code: int, told: str
) -> None:
    write_patients()
    before = shell.names()
    ran = shell("anonymize", "patients.csv", *words, "-o", "out")
    assert ran.code == code, ran.err
    assert told in ran.err
    assert "Traceback" not in ran.err
    assert shell.names() == before


def test_rules_for_anatomy_are_refused(shell: Shell) -> None:
    Path("facts.csv").write_text("sex,disease\nM,Ovarian Cancer\n")
    ran = bucketed(shell, "--method", "anatomy", "--l", "2", "--rules", "facts.csv")
    assert ran.code == 2
    assert "reckons with no rules" in ran.err


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("sex,disease\nM,\n", "without a sensitive value"),
        ("sex,disease\n,Flu\n", "without a condition"),
        ("sex,pain\nM,Flu\n", "not 'disease'"),
        ("height,disease\n9,Flu\n", "which is not quasi-identifying"),
        ("sex,disease\nM\n", "facts.csv"),
        ("", "no rules"),
    ],
)
def test_bad_facts_are_refused(shell: Shell, text: str, told: str) -> None:
    Path("facts.csv").write_text(text)
    ran = bucketed(shell, "--l", "2", "--rules", "facts.csv")
    assert ran.code in (2, 3), ran.err
    assert told in ran.err


def test_missing_cells(shell: Shell, tmp_path: Path) -> None:
    write_patients()
    text = Path("patients.csv").read_text() + "Ina,47677,,F,Flu\nJon,47677,30,M,\n"
    Path("patients.csv").write_text(text)
    ran = bucketed(shell, "--l", "2")
    assert ran.code == 3
    assert not (tmp_path / "out").exists()
    ran = bucketed(shell, "--l", "2", "--missing-cells", "suppress-row", "--json")
    assert ran.code == 0, ran.err
    assert ran.json["records"] == 9
    ran = bucketed(shell, "--l", "2", "--missing-cells", "category", "--json", output="out2")
    assert ran.code == 0, ran.err
    assert ran.json["records"] == 11
    assert "(missing)" in (tmp_path / "out2/sensitive.csv").read_text()
    assert "(missing) is no value" in (tmp_path / "out2/certificate.json").read_text()
    assert "it hides nobody" in ran.err
    assert bucketed(shell, "--l", "2", "--missing-cells", "guess", output="out3").code == 2


def test_a_person_with_two_rows_is_refused(shell: Shell) -> None:
    write_patients()
    Path("patients.csv").write_text(Path("patients.csv").read_text() + "Ann,47677,29,F,Flu\n")
    assert bucketed(shell, "--l", "2", "--id", "name").code == 3
    assert bucketed(shell, "--l", "2").code == 0


def test_a_release_is_replaced_by_force_alone(shell: Shell, tmp_path: Path) -> None:
    assert bucketed(shell, "--l", "2").code == 0
    before = {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()}
    ran = bucketed(shell, "--method", "anatomy", "--l", "3")
    assert ran.code == 5
    assert before == {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()}
    ran = bucketed(shell, "--method", "anatomy", "--l", "4", "--force")
    assert ran.code == 4  # and the old one still stands
    assert before == {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()}
    ran = bucketed(shell, "--method", "anatomy", "--l", "3", "--force", "--format", "joined")
    assert ran.code == 0, ran.err
    assert (tmp_path / "out/data.csv").exists()
    assert not (tmp_path / "out/rules.csv").exists()
    assert shell("audit", "out").code == 0
    # A release of records takes the place of buckets, and the other way round.
    assert shell.anonymize("--force").code == 0
    assert bucketed(shell, "--l", "2", "--force").code == 0
    assert shell.names() == ["baskets.csv", "out", "out.private", "patients.csv", "products.csv"]


@pytest.mark.parametrize("where", ["out", "out.private"])
def test_a_folder_with_something_else_in_it_is_not_replaced(
    shell: Shell, tmp_path: Path, where: str
) -> None:
    assert bucketed(shell, "--l", "2").code == 0
    (tmp_path / where / "notes.txt").write_text("mine")
    assert bucketed(shell, "--l", "2", "--force").code == 5
    assert (tmp_path / where / "notes.txt").read_text() == "mine"


def test_names_that_the_table_has_are_not_given_again(shell: Shell, tmp_path: Path) -> None:
    Path("t.csv").write_text("bucket,count\na,x\nb,y\na,y\nb,x\n")
    ran = shell(
        "anonymize", "t.csv", "--quasi", "bucket", "--sensitive", "count", "--l", "2", "-o", "o"
    )
    assert ran.code == 0, ran.err
    assert rows_of(tmp_path / "o/quasi.csv")[0] == ["bucket", "bucket_"]
    assert rows_of(tmp_path / "o/sensitive.csv")[0] == ["bucket_", "count", "count_"]
    assert shell("audit", "o").code == 0


def test_csv_safe_refuses_formulas(shell: Shell, tmp_path: Path) -> None:
    Path("t.csv").write_text("who,ill\na,=1+1\nb,y\na,y\nb,=1+1\n")
    words = ("anonymize", "t.csv", "--quasi", "who", "--sensitive", "ill", "--l", "2", "-o", "o")
    ran = shell(*words, "--csv-safe")
    assert ran.code == 3
    assert not (tmp_path / "o").exists()
    assert shell(*words).code == 0


def test_the_audit_of_buckets_alone_as_a_module(shell: Shell) -> None:
    import subprocess
    import sys

    assert bucketed(shell, "--l", "2").code == 0
    ran = subprocess.run(
        [sys.executable, "-m", "setveil.audit", "out"], capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    assert "HOLDS" in ran.stdout


def test_no_rules_are_told(shell: Shell) -> None:
    ran = bucketed(shell, "--l", "2", "--min-exp", "0.999")
    assert ran.code == 0
    assert "warning: no rule was found in the data. What people know" in ran.err
    assert "rules    none" in ran.out


def test_a_time_limit_ends_the_run(shell: Shell, tmp_path: Path) -> None:
    ran = bucketed(shell, "--l", "2", "--time-limit", "0.000001")
    assert ran.code == 6, ran.err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("stage", ["anatomy: dealing tuples out", "deFinetti attack"])
def test_an_interrupt_leaves_nothing(shell: Shell, monkeypatch: pytest.MonkeyPatch, stage: str) -> None:
    from setveil.progress import Watch

    tick = Watch.tick

    def interrupted(self: Watch, name: str, share: float | None = None) -> None:
        if name == stage:
            raise KeyboardInterrupt
        tick(self, name, share)

    write_patients()
    before = shell.names()
    monkeypatch.setattr(Watch, "tick", interrupted)
    ran = bucketed(shell, "--method", "anatomy", "--l", "2")
    assert ran.code == 130
    assert ran.err.endswith("Nothing was written.\n")
    assert shell.names() == before


@pytest.mark.parametrize("form", ["buckets", "joined"])
@pytest.mark.parametrize("method", ["anatomy", "injector"])
def test_folders_are_known_as_ours(shell: Shell, tmp_path: Path, method: str, form: str) -> None:
    from setveil.io.folder.ownership import is_private_twin, is_release

    assert bucketed(shell, "--method", method, "--l", "2", "--format", form).code == 0
    out, twin = tmp_path / "out", tmp_path / "out.private"
    assert is_release(out)
    assert is_private_twin(twin)
    assert not is_release(twin)
    assert not is_private_twin(out)
    (out / "hierarchy.csv").unlink()
    (twin / "buckets.json").unlink()
    assert not is_release(out)
    assert not is_private_twin(twin)


def test_reports_tell_of_buckets_rules_and_files(shell: Shell, tmp_path: Path) -> None:
    Path("fact.csv").write_text("sex,disease\nM,Ovarian Cancer\n")
    assert bucketed(shell, "--l", "2", "--rules", "fact.csv").code == 0
    public = (tmp_path / "out/report.html").read_text()
    for text in (
        "as it is published:",
        "These people",
        "sha256sum quasi.csv hierarchy.csv",
        "1 rule, in ",
    ):
        assert text in public
    for name in ("sensitive.csv", "rules.csv"):
        assert f"<code>{name}</code>" in public
    assert "deFinetti" in public
    assert "of the sensitive values are guessed" not in public
    private = (tmp_path / "out.private/report.html").read_text()
    assert "of the sensitive values are guessed" in private
    assert bucketed(shell, "--l", "2", "--min-exp", "0.999", output="none").code == 0
    assert "No rules: nothing was found" in (tmp_path / "none/report.html").read_text()
    assert bucketed(shell, "--method", "anatomy", "--l", "2", output="plain").code == 0
    assert "assumed to know" not in (tmp_path / "plain/report.html").read_text()
