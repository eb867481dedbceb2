"""``setveil anonymize``, ``audit`` and ``demo`` from the outside."""

from __future__ import annotations

import csv
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import setveil as sv
from setveil.cli.first_steps import this_command
from setveil.registry import METHODS
from tests.integration.cli import PRODUCTS, Shell


def test_text_result(shell: Shell) -> None:
    ran = shell.anonymize()
    assert ran.code == 0
    assert "2^2-anonymity" in ran.out
    assert "proven" in ran.out
    assert "the written bytes keep the promise; smallest support 2" in ran.out
    assert "occurrences under their own label (" in ran.out
    assert " (0 nothing, 1 everything)\n" in ran.out
    assert "  release  out (data.csv, hierarchy.csv, certificate.json, report.html)\n" in ran.out
    assert ran.err.count("notice: read as the layout baskets") == 1
    assert shell.names() == ["baskets.csv", "out", "out.private", "products.csv"]


def test_json_result_has_what_is_promised(shell: Shell) -> None:
    plain = shell.anonymize("--json").json
    assert plain["method"] == "trim"
    assert plain["guarantee"] == {"model": "km", "k": 2, "m": 2}
    assert plain["records"] == 9
    assert set(plain["loss"]) == {"ncp", "lm"}
    assert set(plain["objective"]) == {"name", "value", "bound", "gap", "proven", "certified"}
    assert plain["objective"]["value"] == plain["loss"]["ncp"]
    assert plain["objective"]["gap"] == 0
    assert plain["verdict"] == {"holds": True, "mode": "exact", "smallest_support": 2}
    assert plain["seconds"] > 0
    assert plain["output"] == "out"
    assert sorted(plain["files"]) == sorted(path.name for path in Path("out").iterdir())


def test_labels_with_quotes_commas_and_blanks_survive(shell: Shell) -> None:
    for name in ("baskets", "long", "onehot", "jsonl", "parquet"):
        assert shell.anonymize("--format", name, "--force").code == 0
        [data] = Path("out").glob("data.*")
        options = {"id_column": "record", "item_column": "item"} if name == "long" else {}
        rows = sorted(sv.read_transactions(data, layout=name, **options).rows())
        assert ('a, "b"', "milk") in rows
        assert shell("audit", "out").code == 0


@pytest.mark.parametrize("key", [record.key for record in METHODS])
def test_every_method_runs(shell: Shell, key: str) -> None:
    size = () if key == "partition" else ("-m", "2")
    ran = shell(
        "anonymize", "baskets.csv", "--hierarchy", "products.csv", "-k", "2", *size, "-o", "out",
        "--method", key, "--json",
    )  # fmt: skip
    assert ran.code == 0, ran.err
    assert ran.json["method"] == ("trim" if key == "auto" else key)
    assert shell("audit", "out", "--json").json["holds"] is True


def test_options_of_methods_are_flags(shell: Shell) -> None:
    ran = shell.anonymize("--method", "lra", "--parts", "2", "--f", "1", "--inner", "optimal", "--json")
    assert ran.code == 0, ran.err
    assert ran.json["options"] == {"f": 1, "inner": "optimal", "parts": 2}
    refused = shell.anonymize("--method", "aa", "--parts", "2", "--force")
    assert refused.code == 2
    assert "has no option 'parts'" in refused.err


def test_dry_run_writes_nothing(shell: Shell) -> None:
    before = shell.names()
    ran = shell.anonymize("--dry-run", "--json")
    assert ran.code == 0
    assert ran.json["records"] == 9
    assert ran.json["memory_bytes"] > 0
    assert ran.json["would_take"] == "trim"
    text = shell.anonymize("--dry-run").out
    assert "nothing was computed or written" in text
    assert "auto, which takes trim here" in text
    assert re.search(r"memory +about 200 MiB\n", text)
    assert shell.names() == before
    usual = ("anonymize", "baskets.csv", "--hierarchy", "products.csv", "-k", "2", "-m", "2")
    assert "None" not in shell(*usual, "--dry-run", "--method", "aa").out


def test_an_error_comes_with_how_the_file_was_read(shell: Shell) -> None:
    Path("baskets.csv").write_text("ale,gin\nwine,milk\n")
    ran = shell.anonymize()
    assert ran.code == 3
    assert ran.err.count("notice: read as the layout baskets") == 1
    assert ran.err.index("notice: read as") < ran.err.index("error[unknown-item]")


def test_a_release_that_says_nothing_is_told(shell: Shell) -> None:
    words = ("anonymize", "baskets.csv", "--hierarchy", "products.csv", "-k", "8", "-m", "2")
    ran = shell(*words, "--method", "aa", "-o", "out", "--json", "--publish-useless")
    assert ran.code == 0, ran.err
    assert "notice: nothing but 'ALL' is published: " in ran.err
    assert "a smaller m or a smaller k" in ran.json["notices"][-1]
    assert "nothing but" not in shell.anonymize("--force").err
    words = ("anonymize", "baskets.csv", "-k", "9", "-m", "2", "-o", "gone")
    gone = shell(*words, "--publish-useless")
    assert gone.code == 0, gone.err
    assert "notice: nothing is published: every item was left out." in gone.err


def test_the_loss_of_a_whole_hierarchy(shell: Shell) -> None:
    rest = "".join(f"cider {number};alcohol;ALL\n" for number in range(5))
    Path("products.csv").write_text(PRODUCTS + rest)
    words = ("baskets.csv", "--hierarchy", "products.csv", "-k", "2", "-m", "2", "--method", "optimal")
    used = shell("anonymize", *words, "-o", "used", "--json").json
    whole = ("--domain", "hierarchy")
    ran = shell("anonymize", *words, *whole, "-o", "whole", "--save-job", "job.toml", "--json")
    assert ran.code == 0, ran.err
    assert (used["domain"], ran.json["domain"]) == ("used", "hierarchy")
    assert "the loss counts all items of the hierarchy" in ran.err
    assert 'domain = "hierarchy"' in Path("job.toml").read_text()
    loss = ran.json["loss"]
    assert loss != used["loss"]
    again = shell("run", "job.toml", "--force", "--json")
    assert again.code == 0, again.err
    assert json.loads(Path("whole/certificate.json").read_text())["domain"] == "hierarchy"
    measured = shell("measure", "whole", "--original", "baskets.csv", "--json")
    assert measured.code == 0, measured.err
    assert measured.json["measures"]["ncp"]["value"] == loss["ncp"]
    swept = shell("sweep", *words, *whole, "--json").json
    assert (swept["domain"], swept["points"][0]["loss"]) == ("hierarchy", loss["ncp"])
    compared = shell("compare", *words[:-2], *whole, "--methods", "optimal", "--json").json
    assert (compared["domain"], compared["methods"][0]["loss"]) == ("hierarchy", loss["ncp"])
    assert shell("report", "whole", "--original", "baskets.csv").code == 0
    assert f"{loss['ncp']:.6f}" in Path("whole.private/report.html").read_text()
    Path("new.csv").write_text("ale,milk\nwine,milk\n")
    joined = shell("apply", "whole", "new.csv", "-o", "joined", "--json")
    assert joined.code == 0, joined.err
    assert json.loads(Path("joined/certificate.json").read_text())["domain"] == "hierarchy"
    public = b"".join(path.read_bytes() for path in Path("whole").iterdir())
    assert b"cider" not in public
    assert b"cider" not in b"".join(path.read_bytes() for path in Path("joined").iterdir())


def test_negative_knowledge(shell: Shell) -> None:
    plain = shell.anonymize("--negative", "--json").json
    assert plain["guarantee"]["negative"] is True
    assert plain["verdict"]["holds"] is True


def test_sensitive_items_by_list_and_file(shell: Shell) -> None:
    rows = ["milk,bun"] * 6 + ["milk,wine", "bun,ale"]
    Path("baskets.csv").write_text("\n".join(rows) + "\n")
    Path("secret.txt").write_text("wine\nale\n")
    words = ("anonymize", "baskets.csv", "--hierarchy", "products.csv", "--l", "3", "-m", "2", "--json")
    first = shell(*words, "--sensitive", "wine,ale", "-o", "one")
    second = shell(*words, "--sensitive", "@secret.txt", "-o", "two")
    assert first.code == second.code == 0, first.err + second.err
    assert first.json["guarantee"] == second.json["guarantee"]
    assert first.json["guarantee"]["sensitive"] == ["ale", "wine"]
    assert Path("one/certificate.json").read_bytes() == Path("two/certificate.json").read_bytes()


def test_table_with_kept_and_sensitive_columns(shell: Shell) -> None:
    lines = ["who,sex,drug,ill"] + [
        f"p{n},{'FM'[n % 2]},{'ale milk' if n % 3 else 'ale bun'},{'flu' if n == 5 else 'none'}"
        for n in range(12)
    ]
    Path("t.csv").write_text("\n".join(lines) + "\n")
    table = ("anonymize", "t.csv", "--set", "drug", "--keep", "sex", "--id", "who")
    ran = shell(*table, "--hierarchy", "drug=products.csv", "-k", "2", "-m", "2", "-o", "out")
    assert ran.code == 0, ran.err
    with open("out/data.csv", newline="") as file:
        rows = list(csv.reader(file))
    assert rows[0] == ["sex", "drug"]
    assert len(rows) == 13
    assert shell("audit", "out").code == 0
    illness = shell(
        *table, "--sensitive-column", "ill", "--hierarchy", "drug=products.csv", "--l", "2", "-m", "1",
        "-o", "ill", "--json",
    )  # fmt: skip
    assert illness.code == 4, illness.err
    missing = shell(*table, "-k", "2", "-m", "2", "-o", "other", "--method", "optimal")
    assert missing.code == 2
    assert "needs a hierarchy" in missing.err


def test_counts_become_items(shell: Shell) -> None:
    Path("counted.csv").write_text(
        "who,what,n\n" + "".join(f"{n},milk,{1 + n % 2}\n" for n in range(8))
    )
    ran = shell(
        "anonymize", "counted.csv", "--layout", "long", "--id", "who", "--item", "what",
        "--count-column", "n", "--hierarchy", "products.csv", "-k", "2", "-m", "1", "-o", "out",
    )  # fmt: skip
    assert ran.code == 0, ran.err
    assert "milk x2" in Path("out/data.csv").read_text()


def test_weights_from_a_file(shell: Shell) -> None:
    Path("w.csv").write_text("item,weight\nale,50\nwine,2.5\n")
    assert shell.anonymize("--weights", "w.csv").code == 0
    Path("w.csv").write_text("item,weight\nale,-1\n")
    ran = shell.anonymize("--weights", "w.csv", "--force")
    assert ran.code == 3
    assert "w.csv:2" in ran.err


def test_audit_says_no_with_exit_code_one(shell: Shell) -> None:
    ran = shell("audit", "baskets.csv", "-k", "2", "-m", "2", "--witnesses", "1", "--json")
    assert ran.code == 1
    assert ran.json["holds"] is False
    assert len(ran.json["witnesses"]) == 1
    assert shell("audit", "baskets.csv", "-k", "2", "-m", "2").code == 1


def test_audit_of_a_folder_that_was_changed(shell: Shell) -> None:
    assert shell.anonymize().code == 0
    Path("out/data.csv").write_text(Path("out/data.csv").read_text() + "milk\n")
    assert shell("audit", "out").code == 3
    Path("out/note.txt").write_text("hello")
    assert shell("audit", "out").code == 3


def test_learned_hierarchies_can_be_kept_private(shell: Shell) -> None:
    Path("products.csv").write_text(
        'ale;x1;y1;ALL\nwine;x1;y1;ALL\nmilk;x2;y1;ALL\nbun;x2;y1;ALL\n"a, ""b""";x2;y1;ALL\n'
    )
    assert shell.anonymize("--private-hierarchy").code == 0
    assert "y1" not in Path("out/hierarchy.csv").read_text()
    assert shell("audit", "out").code == 0
    assert shell.anonymize("--force").code == 0
    assert "y1" in Path("out/hierarchy.csv").read_text()


def test_a_hierarchy_that_looks_learned_is_told(shell: Shell) -> None:
    learned = shell("hierarchy", "learn", "baskets.csv", "--fan-out", "2", "-o", "learned.csv")
    assert "keep it private; give it to anonymize with --private-hierarchy" in learned.err
    words = ("anonymize", "baskets.csv", "--hierarchy", "learned.csv", "-k", "2", "-m", "2")
    assert "notice: the hierarchy looks learned" in shell(*words, "-o", "open").err
    assert "looks learned" not in shell(*words, "--private-hierarchy", "-o", "closed").err
    assert "looks learned" not in shell.anonymize().err


def test_audit_of_nothing(shell: Shell) -> None:
    assert shell("audit", "none").code == 5
    assert shell("audit", "baskets.csv").code == 2


def test_audit_with_another_promise(shell: Shell) -> None:
    assert shell.anonymize().code == 0
    assert shell("audit", "out", "-k", "9", "-m", "2").code == 1
    assert shell("audit", "out", "--mode", "cover").code == 0


def test_demo_shows_the_whole_way(shell: Shell) -> None:
    ran = shell("demo", "--output", "demo")
    assert ran.code == 0, ran.err
    for word in ("kept", "lost", "promise", "before", "HOLDS: 5^2-anonymity", "setveil audit demo"):
        assert word in ran.out
    assert shell("audit", "demo").code == 0
    assert ran.out.splitlines()[-2] == "Open demo/report.html in a browser to read about the release."
    command = ran.out.splitlines()[-1].removeprefix("Check it yourself: ")
    assert subprocess.run(command, shell=True, capture_output=True, check=False).returncode == 0
    assert shell("demo", "--output", "demo").code == 5
    assert shell("demo", "--output", "demo", "--force", "--json").json["verdict"]["holds"] is True


def test_the_command_of_the_demo_works_without_a_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    script = Path(sys.executable).parent / "setveil"
    monkeypatch.setattr(sys, "argv", [str(script), "demo"])
    monkeypatch.chdir(script.parents[2])
    assert this_command() == script.relative_to(script.parents[2]).as_posix()
    monkeypatch.chdir(script.parent)
    assert this_command() == "./setveil"
    monkeypatch.setattr(sys, "argv", [str(Path(sv.__file__).with_name("__main__.py")), "demo"])
    assert this_command() == f"./{Path(sys.executable).name} -m setveil"


def test_data_from_standard_input(shell: Shell) -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "setveil", "anonymize", "-", "--layout", "baskets", "--hierarchy",
         "products.csv", "-k", "2", "-m", "2", "-o", "out", "--json"],
        input=Path("baskets.csv").read_bytes(), capture_output=True, cwd=shell.folder, check=False,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    assert json.loads(ran.stdout)["records"] == 9
