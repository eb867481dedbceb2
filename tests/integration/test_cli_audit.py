"""``setveil audit`` of foreign files: the two readings of support, hierarchies, JSON."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.integration.cli import Shell

KM = ("-k", "2", "-m", "2")


@pytest.fixture
def local(shell: Shell) -> Shell:
    """A local recoding of someone else: one record shows ale, two its category."""
    Path("p.csv").write_text("alcohol,milk\nalcohol,milk\nale,milk\n")
    Path("t.csv").write_text("sex,drug\nF,alcohol milk\nF,alcohol milk\nF,ale milk\n")
    return shell


def test_cover_counts_what_labels_cover(local: Shell) -> None:
    assert local("audit", "p.csv", *KM).code == 1
    ran = local("audit", "p.csv", *KM, "--mode", "cover", "--hierarchy", "products.csv", "--json")
    assert ran.code == 0, ran.err
    assert ran.json["mode"] == "cover"
    assert ran.json["smallest_support"] == 2


def test_cover_sees_a_violation_and_shows_it(local: Shell) -> None:
    Path("p.csv").write_text("alcohol,milk\nale,bun\nale,milk\n")
    words = ("--mode", "cover", "--hierarchy", "products.csv", "--witnesses", "3", "--json")
    ran = local("audit", "p.csv", *KM, *words)
    assert ran.code == 1
    assert {"bun"} in [set(witness["present"]) for witness in ran.json["witnesses"]]


def test_cover_of_a_table(local: Shell) -> None:
    words = ("audit", "t.csv", "--set", "drug", "--keep", "sex", *KM)
    assert local(*words).code == 1
    cover = (*words, "--mode", "cover")
    assert local(*cover, "--hierarchy", "drug=products.csv").code == 0
    assert local(*cover, "--hierarchy", "products.csv").code == 0
    assert local(*cover, "--hierarchy", "drugs=products.csv").code == 2


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (("--mode", "cover"), "cover needs the hierarchy"),
        (("--hierarchy", "products.csv"), "--hierarchy is for --mode cover"),
        (("--mode", "guess"), "unknown mode"),
    ],
)
def test_options_that_would_change_nothing_are_refused(
    local: Shell, words: tuple[str, ...], text: str
) -> None:
    ran = local("audit", "p.csv", *KM, *words)
    assert ran.code == 2
    assert text in ran.err


def test_json_of_a_file_and_of_a_folder_say_the_same_things(local: Shell) -> None:
    assert local.anonymize().code == 0
    of_folder = local("audit", "out", "--json").json
    of_file = local("audit", "out/data.csv", *KM, "--json").json
    assert of_folder["holds"] is of_file["holds"] is True
    assert of_folder == of_file
    refused = local("audit", "p.csv", "--json")
    assert refused.code == refused.json["exit_code"] == 2


TABLE = "age,sex,ill\n20,F,flu\n21,M,gout\n30,F,flu\n31,M,cold\n40,F,gout\n41,M,cold\n"
SECRET = ("--quasi", "age,sex", "--sensitive", "ill", "--l", "2")


@pytest.mark.parametrize("form", ["buckets", "joined"])
@pytest.mark.parametrize("promise", ["l", "matching"])
def test_buckets_by_flags_are_judged_as_in_their_folder(shell: Shell, form: str, promise: str) -> None:
    Path("t.csv").write_text(TABLE)
    words = (*SECRET, "--guarantee", promise, "--format", form, "-o", "out")
    assert shell("anonymize", "t.csv", *words).code == 0
    files = ("out/data.csv",)
    if form == "buckets":
        files = ("out/quasi.csv", "--sensitive-table", "out/sensitive.csv")
    rules = ("--rules", "out/rules.csv") if promise == "matching" else ()
    of_folder = shell("audit", "out", "--json")
    of_files = shell("audit", *files, *SECRET, *rules, "--json")
    assert of_folder.code == of_files.code == 0, of_files.err
    differing = {"fewest_by_missing_rules"}  # which the certificate alone tells of
    for name in of_folder.json.keys() - differing:
        assert of_files.json[name] == of_folder.json[name], name
    if promise == "l":
        assert of_files.json == of_folder.json
        assert shell("audit", "out").out == shell("audit", *files, *SECRET).out
    ran = shell("audit", *files, *SECRET[:-1], "4", *rules, "--json")
    assert ran.code == 1 and not ran.json["holds"]
    assert (ran.json["verb"], ran.json["kind"]) == ("audit", "buckets")


@pytest.mark.parametrize("form", ["sets", "tables", "classes"])
def test_two_data_sets_by_flags_are_judged_as_in_their_folder(shell: Shell, form: str) -> None:
    Path("a.csv").write_text("ale,bun\nale,bun\nale,milk\nbun,milk\nwine\n")
    Path("b.csv").write_text("ale,bun\nwine,bun\nwine,milk\nbun,milk\nwine\n")
    Path("c.csv").write_text(
        "job,pay\ncook,low\ncook,low\nguard,low\ncook,high\nguard,high\nguard,high\n"
    )
    Path("d.csv").write_text("job\ncook\ncook\nguard\n")
    Path("e.csv").write_text("job\ncook\nguard\nguard\n")
    given = {
        "sets": ("a.csv", "--against", "b.csv", "--hierarchy", "products.csv", "--layout", "baskets"),
        "tables": ("d.csv", "--against", "e.csv", "--table"),
        "classes": ("c.csv", "--class-column", "pay"),
    }[form]
    promise = ("--growth", "1.8", "--min-support", "40%")
    ran = shell("anonymize", *given, *promise, "-o", "out", "--publish-useless")
    assert ran.code == 0, ran.err
    files = ("out/data-1.csv", "out/data-2.csv", *given[3:])
    if form == "classes":
        files = (*files, "--table")
    of_folder = shell("audit", "out", "--json")
    of_files = shell("audit", *files, *promise, "--json")
    assert of_folder.code == of_files.code == 0, of_files.err
    assert of_files.json == of_folder.json
    assert shell("audit", "out").out == shell("audit", *files, *promise).out
    ran = shell("audit", *given, *promise, "--witnesses", "2", "--json")
    assert ran.code == 1 and ran.json["witnesses"]
    assert (ran.json["verb"], ran.json["kind"]) == ("audit", "pairs")


def test_a_joined_table_may_not_have_its_own_values_beside_its_rows(shell: Shell) -> None:
    Path("j.csv").write_text("age,bucket,ill\n20,1,flu\n30,1,cold\n40,2,flu\n40,2,cold\n")
    words = ("--quasi", "age", "--sensitive", "ill", "--l", "2")
    ran = shell("audit", "j.csv", *words)
    assert ran.code == 3 and "error[values-not-sorted] j.csv: in 1 of 2 buckets" in ran.err
    assert "40" not in ran.err and "flu" not in ran.err
    assert shell("audit", "j.csv", *words, "--as-is").code == 0
    # Whole rows that stand in the order of their values tell as much.
    Path("j.csv").write_text("age,bucket,ill\n30,1,cold\n20,1,flu\n40,2,cold\n40,2,flu\n")
    assert shell("audit", "j.csv", *words).code == 3
    Path("j.csv").write_text("age,bucket,ill\n20,1,cold\n30,1,flu\n40,2,flu\n40,2,cold\n")
    assert shell("audit", "j.csv", *words).code == 0


@pytest.mark.parametrize(
    ("second", "told"),
    [
        ("bucket,ill\n1,flu\n1,cold\n2,flu\n", "the bucket '2' has 2 rows, and 1 sensitive values"),
        ("bucket,ill,count\n1,flu,2\n2,cold,x\n", "s.csv:3: a count that is no whole number"),
        ("bucket,ill\n1,flu\n1,cold\n2,flu\n3,flu\n", "s.csv:5: the bucket '3' has no rows"),
        ("bucket,ill\n1,flu\n1,\n2,flu\n2,flu\n", "s.csv:3: no value in column 'ill'"),
    ],
)
def test_tables_that_do_not_belong_together(shell: Shell, second: str, told: str) -> None:
    Path("q.csv").write_text("age,bucket\n20,1\n30,1\n40,2\n50,2\n")
    Path("s.csv").write_text(second)
    words = ("--quasi", "age", "--sensitive", "ill", "--l", "2", "--sensitive-table", "s.csv")
    ran = shell("audit", "q.csv", *words)
    assert ran.code == 3, ran.err
    assert told in ran.err


def test_cells_without_a_value_can_be_none(shell: Shell) -> None:
    Path("j.csv").write_text("age,bucket,ill\n20,1,\n,1,cold\n20,1,flu\n")
    words = (
        "--quasi",
        "age",
        "--sensitive",
        "ill",
        "--l",
        "2",
        "--missing-cells",
        "category",
        "--as-is",
    )
    ran = shell("audit", "j.csv", *words, "--json")
    assert ran.code == 0, ran.err
    assert ran.json["fewest_possible"] == 2
    # An odd spelling is named.
    Path("j.csv").write_text("age,bucket,ill\n20,1,-\n30,1,cold\n20,1,flu\n")
    ran = shell("audit", "j.csv", *words, "--missing", "-", "--json")
    assert ran.code == 0 and ran.json["fewest_possible"] == 2


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("j.csv", *SECRET, "-k", "2"), "-k does not fit a table in buckets"),
        (("j.csv", *SECRET, "--witnesses", "2"), "--witnesses does not fit a table in buckets"),
        (("j.csv", *SECRET, "--mode", "cover"), "--mode does not fit a table in buckets"),
        (("j.csv", *SECRET, "--guarantee", "km"), "no promise about a table in buckets"),
        (
            ("j.csv", *SECRET, "--guarantee", "matching"),
            "Give the rules (--rules FILE)",
        ),
        (("j.csv", *SECRET, "--guarantee", "l", "--rules", "r.csv"), "reckons with no rules"),
        (("j.csv", *SECRET, "--hierarchy", "age=products.csv"), "there are no rules"),
        (("j.csv", *SECRET, "--bucket", "group"), "no column 'group'"),
        (("j.csv", *SECRET, "--bucket", "age"), "given two roles"),
        (("j.csv", *SECRET, "--bucket-count", "n"), "nothing is counted in it"),
        (("j.csv", "--quasi", "age", "--l", "2"), "no sensitive column is named"),
        (("j.csv", "--quasi", "age", "--sensitive", "ill"), "--l is missing"),
        (("j.csv", "--bucket", "b", "-k", "2", "-m", "2"), "--bucket goes with --quasi"),
        (("p.csv", "j.csv", "-k", "2", "-m", "2"), "-k does not fit two data sets"),
        (("p.csv", "j.csv"), "--growth is missing"),
        (("p.csv", "--growth", "5"), "two data sets are needed"),
        (("p.csv", "j.csv", "--against", "t.csv", "--growth", "5"), "too many data sets"),
        (("p.csv", "j.csv", "--growth", "5", "--mode", "cover"), "--mode does not fit two data sets"),
        (("p.csv", "p.csv", "--growth", "5"), "both data sets are the same file"),
        (("p.csv", "b.csv", "--growth", "5", "--every-level"), "no hierarchy tells them"),
        (("p.csv", "--min-support", "5", "-k", "2", "-m", "2"), "--min-support is for two data sets"),
    ],
)
def test_flags_of_one_kind_do_not_fit_another(local: Shell, words: tuple[str, ...], told: str) -> None:
    Path("j.csv").write_text("age,sex,bucket,ill\n20,F,1,cold\n30,M,1,flu\n")
    Path("b.csv").write_text("alcohol,milk\nmilk\nale\n")
    Path("r.csv").write_text("age,sex,ill\n20,,flu\n")
    ran = local("audit", *words)
    assert ran.code == 2, ran.err
    assert told in ran.err


def test_a_folder_says_itself_what_it_is(local: Shell) -> None:
    assert local.anonymize().code == 0
    for words in (("p.csv",), ("--growth", "5"), ("--quasi", "age"), ("--bucket", "b")):
        ran = local("audit", "out", *words)
        assert ran.code == 2 and "says itself how it is read" in ran.err


def test_values_that_the_hierarchy_lacks_are_refused(shell: Shell) -> None:
    Path("a.csv").write_text("ale,bun\nrum,bun\nmilk\n")
    Path("b.csv").write_text("ale,bun\nmilk,bun\nmilk\n")
    words = ("a.csv", "b.csv", "--growth", "5", "--layout", "baskets", "--hierarchy", "products.csv")
    ran = shell("audit", *words)
    assert ran.code == 3 and "the value 'rum' is not in its hierarchy" in ran.err
