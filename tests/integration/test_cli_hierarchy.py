"""``setveil hierarchy`` from end to end."""

from __future__ import annotations

import io
import json
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from setveil.cli import main
from setveil.io.hierarchies import read_hierarchy

TREE = "milk;dairy;ALL\nbrie;dairy;ALL\nrye bread;bread;ALL\npita, white;bread;ALL\n"
DATA = 'milk,brie\nrye bread,"pita, white"\nmilk,rye bread\n'


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    (tmp_path / "tree.csv").write_text(TREE)
    (tmp_path / "data.csv").write_text(DATA)
    return tmp_path


class Shell:
    """Runs the command in a folder, inside this process: starting Python anew takes long."""

    def __init__(self, capsys: pytest.CaptureFixture[str], patch: pytest.MonkeyPatch) -> None:
        self.capsys, self.patch = capsys, patch

    def __call__(
        self, folder: Path, *arguments: str, code: int = 0, text: str | None = None
    ) -> tuple[str, str]:
        self.patch.chdir(folder)
        if text is not None:
            self.patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
        returned = main.run(["hierarchy", *arguments])
        out, err = self.capsys.readouterr()
        assert returned == code, err + out
        assert "Traceback" not in err
        return out, err

    def json(self, folder: Path, *arguments: str, code: int = 0) -> dict[str, Any]:
        """Return what the command prints as JSON."""
        answer: dict[str, Any] = json.loads(self(folder, *arguments, "--json", code=code)[0])
        return answer


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Shell:
    return Shell(capsys, monkeypatch)


@pytest.mark.parametrize("verb", ["build", "learn", "check", "show", "convert"])
def test_help_has_an_example(verb: str, tmp_path: Path, run: Shell) -> None:
    out, _ = run(tmp_path, verb, "--help")
    assert f"setveil hierarchy {verb}" in " ".join(out.split("Example")[1].split())


def test_check_of_a_sound_tree(shop: Path, run: Shell) -> None:
    out, _ = run(shop, "check", "tree.csv", "--data", "data.csv")
    assert out == "tree.csv: nothing to complain about.\n"


def test_check_lists_everything_and_exits_3(shop: Path, run: Shell) -> None:
    (shop / "bad.csv").write_text(TREE + "milk;drinks;ALL\nmilk;dairy;ALL\nale;beer;OTHER\n")
    (shop / "data.csv").write_text(DATA + "tofu,milk\ndairy\n")
    answer = run.json(shop, "check", "bad.csv", "--data", "data.csv", code=3)
    assert not answer["ok"]
    found = {(f["severity"], f["code"], f.get("file"), f.get("line")) for f in answer["findings"]}
    assert {
        ("error", "two-parents", "bad.csv", 5),
        ("error", "several-roots", "bad.csv", 1),
        ("error", "several-roots", "bad.csv", 7),
        ("error", "unknown-item", "data.csv", 4),
        ("error", "item-is-category", "data.csv", 5),
        ("info", "duplicate-line", "bad.csv", 6),
    } <= found
    assert answer["errors"] == sum(f["severity"] == "error" for f in answer["findings"])
    out, _ = run(shop, "check", "bad.csv", "--data", "data.csv", code=3)
    assert "error[two-parents] bad.csv:5:" in out


def test_check_fix_writes_a_sound_tree(shop: Path, run: Shell) -> None:
    (shop / "bad.csv").write_text(TREE + "milk;dairy;ALL\nale;beer;OTHER\n")
    (shop / "data.csv").write_text(DATA + "tofu,milk\n")
    answer = run.json(
        shop, "check", "bad.csv", "--data", "data.csv", "--fix", "good.csv",
        "--add-root", "ANY", "--attach", "dairy",
    )  # fmt: skip
    assert answer["ok"]
    assert answer["output"] == "good.csv"
    tree = read_hierarchy(shop / "good.csv")
    assert tree.path("tofu") == ("tofu", "dairy", "ALL", "ANY")
    assert tree.path("ale") == ("ale", "beer", "OTHER", "ANY")
    run(shop, "check", "good.csv", "--data", "data.csv")


def test_check_fix_writes_nothing_where_a_fault_is_ambiguous(shop: Path, run: Shell) -> None:
    (shop / "bad.csv").write_text(TREE + "milk;bread;ALL\n")
    before = sorted(path.name for path in shop.iterdir())
    out, err = run(shop, "check", "bad.csv", "--fix", "good.csv", code=3)
    assert "two-parents" in out
    assert "was not written" in err
    assert sorted(path.name for path in shop.iterdir()) == before


def test_check_fix_refuses_to_overwrite_and_to_hit_its_input(shop: Path, run: Shell) -> None:
    run(shop, "check", "tree.csv", "--fix", "data.csv", code=5)
    assert (shop / "data.csv").read_text() == DATA
    run(shop, "check", "tree.csv", "--fix", "./tree.csv", "--force", code=2)
    assert (shop / "tree.csv").read_text() == TREE


@pytest.mark.parametrize(
    "arguments",
    [
        ["check", "tree.csv", "--add-root", "X"],
        ["check", "tree.csv", "--layout", "fimi"],
        ["check", "tree.csv", "--column", "c", "--data", "data.csv"],
        ["build", "data.csv", "--fan-out", "3", "--flat"],
        ["build", "data.csv", "--fan-out", "1"],
        ["build", "data.csv", "--fan-out", "x"],
        ["build", "data.csv", "--prefixes", "1,b"],
        ["convert", "tree.csv"],
        ["convert", "tree.csv", "--to", "xml"],
        ["show", "tree.csv", "--under", "nothing"],
        ["check", "tree.csv", "--no-such-flag"],
    ],
)
def test_wrong_use_exits_2(arguments: list[str], shop: Path, run: Shell) -> None:
    _, err = run(shop, *arguments, code=2)
    assert "error[" in err


def test_missing_files_exit_5(shop: Path, run: Shell) -> None:
    run(shop, "check", "gone.csv", code=5)
    run(shop, "build", ".", code=5)


def test_errors_as_json(shop: Path, run: Shell) -> None:
    (shop / "bad.csv").write_text("a;A;*\nb;A\nc;A;*\nd;A;*\n")
    answer = run.json(shop, "convert", "bad.csv", "--to", "json", code=3)
    assert answer["problems"][0]["code"] == "ragged-row"
    assert answer["problems"][0]["line"] == 2


def test_build_balanced_to_stdout_and_to_a_file(shop: Path, run: Shell) -> None:
    out, _ = run(shop, "build", "data.csv", "--fan-out", "2")
    assert out.splitlines()[0] == "brie;[brie..milk];ALL"
    answer = run.json(shop, "build", "data.csv", "--fan-out", "2", "-o", "built.csv")
    assert (shop / "built.csv").read_text() == out
    assert answer["leaves"] == 4
    assert not answer["private"]
    run(shop, "build", "data.csv", "-o", "built.csv", code=5)
    run(shop, "build", "data.csv", "-o", "built.csv", "--force")
    run(shop, "check", "built.csv", "--data", "data.csv")


def test_build_from_prefixes_and_intervals(tmp_path: Path, run: Shell) -> None:
    (tmp_path / "codes.dat").write_text("E10.1 E10.9\nE66 I10\n")
    out, _ = run(tmp_path, "build", "codes.dat", "--prefixes", "1,3", "--layout", "fimi")
    assert "E10.1;E10*;E*;ALL\n" in out
    (tmp_path / "ages.dat").write_text("5 12\n31 12\n")
    out, _ = run(
        tmp_path, "build", "ages.dat", "--intervals", "0,10,20,40", "--intervals", "0,20,40",
        "--layout", "fimi",
    )  # fmt: skip
    assert "12;[10, 20);[0, 20);ALL\n" in out
    _, err = run(tmp_path, "build", "ages.dat", "--intervals", "0,10,20", "--layout", "fimi", code=3)
    assert "'31' lies in no interval" in err


def test_build_for_a_column_of_a_table(tmp_path: Path, run: Shell) -> None:
    (tmp_path / "t.csv").write_text("sex,conds\nF,a b\nM,b c\nF,c d\n")
    run(tmp_path, "build", "t.csv", "--set", "conds", "--fan-out", "2", "-o", "c.csv")
    assert set(read_hierarchy(tmp_path / "c.csv").labels) >= {"a", "b", "c", "d"}
    run(tmp_path, "check", "c.csv", "--data", "t.csv", "--set", "conds")
    out, _ = run(tmp_path, "build", "t.csv", "--set", "conds", "--keep", "sex", "--column", "sex")
    assert out == "F;ALL\nM;ALL\n"


def test_learn_is_private(shop: Path, run: Shell) -> None:
    _, err = run(shop, "learn", "data.csv", "-o", "learned.csv", "--fan-out", "2")
    assert "private" in err
    assert stat.S_IMODE((shop / "learned.csv").stat().st_mode) == 0o600
    assert run.json(shop, "learn", "data.csv")["private"]
    run(shop, "check", "learned.csv", "--data", "data.csv")


@pytest.mark.parametrize("form", ["paths", "parents", "json"])
def test_convert_there_and_back(form: str, shop: Path, run: Shell) -> None:
    run(shop, "convert", "tree.csv", "--to", form, "-o", "other")
    back, _ = run(shop, "convert", "other", "--to", "paths")
    assert sorted(back.splitlines()) == sorted(TREE.splitlines())


def test_convert_to_amnesia_refuses_blanks(shop: Path, run: Shell) -> None:
    _, err = run(shop, "convert", "tree.csv", "--to", "amnesia", "-o", "a.txt", code=3)
    assert "not-for-amnesia" in err
    assert not (shop / "a.txt").exists()


def test_convert_reads_stdin_and_joins_roots(tmp_path: Path, run: Shell) -> None:
    out, _ = run(tmp_path, "convert", "-", "--to", "paths", "--add-root", "T", text="a,A\nb,B\n")
    assert out == "a;A;T\nb;B;T\n"


def test_show_draws_small_trees_whole(shop: Path, run: Shell) -> None:
    out, _ = run(shop, "show", "tree.csv")
    assert out.splitlines()[:3] == ["ALL  (4 leaves)", "├─ bread  (2 leaves)", "│  ├─ pita, white"]
    assert "labels by level: 1 > 2 > 4" in out
    out, _ = run(shop, "show", "tree.csv", "--under", "dairy")
    assert out.splitlines()[:3] == ["dairy  (2 leaves)", "├─ brie", "└─ milk"]
    answer = run.json(shop, "show", "tree.csv", "--depth", "1")
    assert [node["label"] for node in answer["nodes"]] == ["ALL", "bread", "dairy"]
    assert answer["levels"] == [1, 2, 4]


def test_show_of_ten_thousand_leaves_fits_a_page_or_two(tmp_path: Path, run: Shell) -> None:
    rows = [f"i{n};c{n // 10};d{n // 100};e{n // 1000};*" for n in range(10_000)]
    (tmp_path / "big.csv").write_text("\n".join(rows))
    out, _ = run(tmp_path, "show", "big.csv")
    assert 8 <= len(out.splitlines()) <= 90
    assert "(10,000 leaves)" in out
    (tmp_path / "flat.csv").write_text("\n".join(f"i{n},*" for n in range(10_000)))
    out, _ = run(tmp_path, "show", "flat.csv")
    assert len(out.splitlines()) < 20
    assert "more (" in out


def test_labels_cannot_steer_the_terminal(tmp_path: Path, run: Shell) -> None:
    (tmp_path / "esc.csv").write_text("\x1b[31mred;A;*\nb;A;*\n")
    out, _ = run(tmp_path, "show", "esc.csv")
    assert "\x1b" not in out


def test_as_a_program(shop: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "setveil", "hierarchy", "convert", "-", "--to", "parents"],
        cwd=shop, capture_output=True, input=TREE.encode(), timeout=120,
    )  # fmt: skip
    assert done.returncode == 0
    assert done.stderr == b""
    assert b'"pita, white",bread\n' in done.stdout
    done = subprocess.run(
        [sys.executable, "-m", "setveil", "hierarchy", "check", "-"],
        cwd=shop, capture_output=True, input=b"a,b\nb,a\n", timeout=120,
    )  # fmt: skip
    assert done.returncode == 3
    assert b"a cycle: 'a' -> 'b' -> 'a'." in done.stdout
