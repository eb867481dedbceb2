"""``setveil apply`` end to end: the union is written, or a no with exit code 1 and nothing written."""

from __future__ import annotations

import json
import random
import secrets
import shutil

import pytest

from tests.contract.cases import public_bytes
from tests.integration.cli import BASKETS, Shell


@pytest.fixture
def released(shell: Shell) -> Shell:
    assert shell.anonymize().code == 0
    return shell


def write(shell: Shell, text: str, name: str = "new.csv") -> str:
    (shell.folder / name).write_text(text)
    return name


def test_the_union_is_written_and_keeps_the_promise(released: Shell) -> None:
    ran = released("apply", "out", write(released, "ale,milk\nwine\n"), "-o", "both")
    assert ran.code == 0, ran.err
    assert "Published" in ran.out and "apply" in ran.out
    assert "do not publish both" in ran.err
    assert released("audit", "both").code == 0
    certificate = json.loads((released.folder / "both" / "certificate.json").read_text())
    assert (certificate["method"], certificate["data"]["records"]) == ("apply", 11)
    old = json.loads((released.folder / "out.private" / "recoding.json").read_text())
    new = json.loads((released.folder / "both.private" / "recoding.json").read_text())
    assert old["published"] == new["published"]


def test_the_earlier_release_can_be_replaced(released: Shell) -> None:
    new = write(released, "ale,milk\n")
    assert released("apply", "out", new, "-o", "out").code == 5
    assert released("apply", "out", new, "-o", "out", "--force").code == 0
    ran = released("apply", "out", new, "-o", "out", "--force", "--json")
    assert ran.code == 0 and ran.json["published"] and ran.json["new_records"] == 1
    assert ran.json["records"] == 11


def test_a_rare_combination_is_a_no(released: Shell) -> None:
    before = released.names()
    new = write(released, '"a, ""b""",bun\n')
    ran = released("apply", "out", new, "-o", "both")
    assert ran.code == 1
    assert "does not keep the promise: 1 combination of labels would break it" in ran.out
    assert "anew" in ran.out and "Nothing was written." in ran.out
    ran = released("apply", "out", new, "-o", "both", "--json")
    assert ran.code == 1 and ran.json["published"] is False and not ran.json["verdict"]["holds"]
    assert sorted([*before, "new.csv"]) == released.names()


def test_unseen_items(released: Shell) -> None:
    write(released, "milk\nrum,milk\n")
    ran = released("apply", "out", "new.csv", "-o", "both")
    assert ran.code == 3 and "error[unseen-item] new.csv:2: item 'rum'" in ran.err
    assert "Nothing was written." in ran.err and "both" not in released.names()
    assert released("apply", "out", "new.csv", "-o", "both", "--unseen", "suppress").code == 0
    assert released("apply", "out", "new.csv", "-o", "other", "--unseen", "no").code == 2
    write(released, "rum;alcohol;ALL\nale;alcohol;ALL\n", "more.csv")
    ran = released("apply", "out", "new.csv", "-o", "placed", "--hierarchy", "more.csv")
    assert ran.code == 0, ran.err
    assert "alcohol,milk" in (released.folder / "placed" / "data.csv").read_text()


def test_with_the_original_the_union_can_be_explained(released: Shell) -> None:
    new = write(released, "ale,milk\n")
    ran = released("apply", "out", new, "-o", "both", "--original", "baskets.csv")
    assert ran.code == 0, ran.err
    write(released, "ale,milk\n" + BASKETS, "all.csv")
    ran = released("explain", "both", "ale", "--original", "all.csv")
    assert ran.code == 0 and "'ale', in 3 records" in ran.out
    assert released("apply", "out", new, "-o", "x", "--original", "all.csv").code == 2


def test_order_of_the_rows_means_nothing(released: Shell) -> None:
    lines = ["ale,milk", "wine", "bun,milk", "milk", "bun"]
    write(released, "\n".join(lines) + "\n")
    random.Random(1).shuffle(lines)
    write(released, "\n".join(lines) + "\n", "shuffled.csv")
    for name in ("new", "shuffled"):
        assert released("apply", "out", f"{name}.csv", "-o", name).code == 0
    assert public_bytes(released.folder / "new") == public_bytes(released.folder / "shuffled")


def test_no_label_that_is_left_out_is_told(released: Shell) -> None:
    """Neither the public bytes nor stderr hold an unseen label, nor one that is generalized away."""
    odd = [f"odd{secrets.token_hex(8)}" for _ in range(3)]
    place = f"under{secrets.token_hex(8)}"
    write(released, f"{odd[0]},milk\n{odd[1]}\n{place},milk\n")
    write(released, f"{place};alcohol;ALL\nale;alcohol;ALL\n", "more.csv")
    ran = released(
        "apply", "out", "new.csv", "-o", "both", "--unseen", "suppress", "--hierarchy", "more.csv"
    )
    assert ran.code == 0, ran.err
    public = b"".join(public_bytes(released.folder / "both").values())
    for secret in (*odd, place):
        assert secret.encode() not in public
        assert secret not in ran.err and secret not in ran.out
    assert b"new.csv" not in public
    private = (released.folder / "both.private" / "recoding.json").read_text()
    assert odd[0] in private and place in private


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        ((), 2, "no output"),
        (("-o", "both", "--format", "x"), 2, "unknown format"),
        (("-o", "both", "--format", "table"), 2, "format"),
        (("-o", "new.csv"), 2, "output-is-input"),
        (("-o", "both", "--hierarchy", "missing.csv"), 5, "missing.csv"),
    ],
)
def test_refusals(released: Shell, words: tuple[str, ...], code: int, told: str) -> None:
    write(released, "ale,milk\n")
    ran = released("apply", "out", "new.csv", *words)
    assert ran.code == code, ran.err
    assert told in ran.err and "Nothing was written." in ran.err


def test_local_recodings_and_lone_folders_are_refused(shell: Shell) -> None:
    assert shell.anonymize("--method", "lra").code == 0
    new = write(shell, "milk\n")
    ran = shell("apply", "out", new, "-o", "both")
    assert ran.code == 2 and "local-recoding" in ran.err
    shutil.rmtree(shell.folder / "out.private")
    ran = shell("apply", "out", new, "-o", "both")
    assert ran.code == 5 and "no-private-folder" in ran.err


def test_inputs_are_looked_for_before_the_output(released: Shell) -> None:
    ran = released("apply", "nosuch", "nodata.csv", "-o", "out")
    assert ran.code == 5
    assert "nosuch: there is no such" in ran.err and "nodata.csv: there is no such" in ran.err
    assert "exists" not in ran.err


BEFORE = "age,job\n20,cook\n20,clerk\n30,cook\n30,clerk\n20,cook\n30,guard\n"
AFTER = "job,age\nguard,20\ncook,20\ncook,30\nclerk,30\ncook,20\nguard,30\n"
TABLES = ("--against", "after.csv", "--table", "--growth", "2", "--min-support", "1/3", "-o", "out")


@pytest.fixture
def two_tables(shell: Shell) -> Shell:
    write(shell, BEFORE, "before.csv")
    write(shell, AFTER, "after.csv")
    assert shell("anonymize", "before.csv", *TABLES).code == 0
    return shell


def rows_of(shell: Shell, folder: str, number: int) -> list[str]:
    text = (shell.folder / folder / f"data-{number}.csv").read_text()
    return sorted(text.splitlines()[1:])


def test_new_rows_of_either_table_or_of_both(two_tables: Shell) -> None:
    shell = two_tables
    new = write(shell, "age,job,shoe\n20,cook,40\n30,clerk,41\n")
    told = [rows_of(shell, "out", number) for number in (1, 2)]
    first, second = sorted([*told[0], "20,cook", "30,*"]), sorted([*told[1], "20,cook", "30,clerk"])
    for words, name, expected in (
        ((new,), "one", [first, told[1]]),
        (("--against", new), "two", [told[0], second]),
        ((new, "--against", new), "both", [first, second]),
    ):
        ran = shell("apply", "out", *words, "-o", name)
        assert ran.code == 0, ran.err
        assert "do not publish both" in ran.err
        assert [rows_of(shell, name, number) for number in (1, 2)] == expected
        assert shell("audit", name).code == shell("measure", name).code == 0
    assert "the new ones alone" in ran.err


def test_a_table_that_a_column_splits(shell: Shell) -> None:
    rows = [f"{pay},{line}" for pay in ("high", "low") for line in ("cook,20", "guard,30", "cook,30")]
    write(shell, "\n".join(["pay,job,age", *rows, ""]), "all.csv")
    words = ("--class-column", "pay", "--classes", "low,high", "--growth", "3", "-o", "out")
    ran = shell("anonymize", "all.csv", *words)
    assert ran.code == 0, ran.err
    write(shell, "pay,job,age\nlow,cook,20\nlow,guard,30\n")
    for more in ((), ("--class-column", "pay")):
        ran = shell("apply", "out", "new.csv", *more, "-o", "both", "--force", "--json")
        assert ran.code == 0, ran.err
        assert ran.json["new_records"] == [2, 0] and ran.json["records"] == [5, 3]
    ran = shell("apply", "out", "new.csv", "--class-column", "job", "-o", "x")
    assert ran.code == 2 and "was split by the column 'pay', not by 'job'" in ran.err
    write(shell, "job,age\ncook,20\n", "low.csv")
    ran = shell("apply", "out", "low.csv", "-o", "x")
    assert ran.code == 2 and "pay" in ran.err
    assert shell("apply", "out", "--against", "low.csv", "-o", "x").code == 0


def test_new_sets_of_either_data_set(shell: Shell) -> None:
    write(shell, "ale,bun\nale\nmilk\nbun,milk\n", "a.csv")
    write(shell, "ale,bun\nale,milk\nmilk\nbun\n", "b.csv")
    words = ("--against", "b.csv", "--hierarchy", "products.csv", "--growth", "4", "--min-support", "2")
    assert shell("anonymize", "a.csv", *words, "-o", "out").code == 0
    write(shell, "ale,rum\nbun\n")
    ran = shell("apply", "out", "new.csv", "--layout", "baskets", "-o", "x")
    assert ran.code == 3 and "new.csv:1: item 'rum' is not among those that the first" in ran.err
    ran = shell("apply", "out", "new.csv", "--layout", "baskets", "-o", "x", "--unseen", "suppress")
    assert ran.code == 0, ran.err
    assert "left out: 1." in ran.err and "rum" not in ran.err
    write(shell, "ale,milk\n" * 40)
    ran = shell("apply", "out", "new.csv", "--layout", "baskets", "-o", "no", "--json")
    assert ran.code == 1 and ran.json["published"] is False
    assert "no" not in shell.names()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ((), "the new records are not named"),
        (("before.csv", "--original", "before.csv"), "--original does not fit two data sets"),
        (("before.csv", "--hierarchy", "products.csv"), "--hierarchy does not fit two data sets"),
        (("before.csv", "--set", "job"), "--set does not fit two data sets"),
        (("before.csv", "--against", "after.csv", "--class-column", "age"), "too many data sets"),
        (("before.csv", "--class-column", "age"), "not made of one table that a column splits"),
        (("before.csv", "--layout", "baskets"), "--layout does not fit a table"),
        (("-", "--against", "-"), "standard input (-) is named more than once"),
    ],
)
def test_what_does_not_fit_two_data_sets(two_tables: Shell, words: tuple[str, ...], told: str) -> None:
    ran = two_tables("apply", "out", *words, "-o", "both")
    assert ran.code == 2, ran.err
    assert told in ran.err and "Nothing was written." in ran.err


def test_what_is_for_two_data_sets_alone(released: Shell) -> None:
    ran = released("apply", "out", "baskets.csv", "--against", "baskets.csv", "-o", "both")
    assert ran.code == 2 and "--against is for a release of two data sets" in ran.err
    assert released("apply", "out", "-o", "both").code == 2


def test_a_table_in_buckets_takes_no_new_people(shell: Shell) -> None:
    lines = [f"{age},{'flu' if age % 2 else 'cold'}" for age in range(8)]
    write(shell, "\n".join(["age,ill", *lines, ""]), "table.csv")
    words = ("--quasi", "age", "--sensitive", "ill", "--l", "2", "--guarantee", "l", "-o", "out")
    assert shell("anonymize", "table.csv", *words).code == 0
    ran = shell("apply", "out", "table.csv", "-o", "both")
    assert ran.code == 2 and "new people would need buckets of their own" in ran.err
