"""Bad hierarchies as a table: rows 52-65 of the catalogue, and the rows on bytes that touch them.

Each case asserts exit code, error code, file name, line and that there is a remedy; nothing is written.
"""

from __future__ import annotations

import gzip
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from setveil.errors import HierarchyError, ResourceLimit, SetveilError
from setveil.hierarchy import doctor
from setveil.hierarchy.build import from_intervals
from setveil.hierarchy.doctor import diagnose
from setveil.hierarchy.tree import Hierarchy
from setveil.io.hierarchies import parse_edges, read_edges, read_hierarchy
from setveil.model.transactions import Transactions, bind


@dataclass(frozen=True)
class Bad:
    """A file that must be refused: what is expected as (code, line)."""

    row: int
    name: str
    data: bytes
    expected: tuple[tuple[str, int | None], ...]
    exit_code: int = 3
    options: dict[str, object] = field(default_factory=dict)
    file: str = "h.csv"

    def __str__(self) -> str:
        return f"{self.row}-{self.name}"


NESTED = b'{"a": ' * 200_000 + b"null" + b"}" * 200_000

BAD = [
    Bad(3, "utf-16", "a;A;*\nb;A;*\n".encode("utf-16"), (("wide-encoding", 1),)),
    Bad(2, "bom inside", "a;A;*\n\ufeffb;A;*\n".encode(), (("bom-inside", 2),)),
    Bad(4, "latin-1", b"a;A;*\nb;A;*\n\xe9;A;*\n", (("bad-encoding", 3),)),
    Bad(5, "nul", b"a;A;*\nb\0;A;*\n", (("nul-byte", 2),)),
    Bad(6, "lone cr", b"a;A;*\rb;A;*\r", (("lone-cr", 1),)),
    Bad(6, "lone cr beside a quote", b'a;"A"\r;*\nb;A;*\n', (("lone-cr", 1),)),
    Bad(6, "lone cr in quotes and behind", b'a;A;*\nb;"A\rB"\r;*\n', (("lone-cr", 2),)),
    Bad(15, "unclosed quote", b'a;A;*\n"b;A;*\nc;A;*\n', (("unclosed-quote", 2),)),
    Bad(16, "text after quote", b'a;A;*\n"b"x;A;*\n', (("text-after-quote", 2),)),
    Bad(17, "long field", b"a;A;*\n" + b"b" * 200_000 + b";A;*\n", (("long-field", 2),), 6),
    Bad(19, "wrong delimiter", b"a;A;*\nb;A;*\n", (("one-column", 1),), options={"delimiter": "|"}),
    Bad(36, "json equal keys", b'{"T": {"a": {},\n"b": {},\n"a": {}}}', (("duplicate-key", 3),)),
    Bad(37, "json NaN", b'{"T": ["a",\nNaN]}', (("not-a-label", 2),)),
    Bad(37, "json Infinity", b'{"T": ["a",\n-Infinity]}', (("not-a-label", 2),)),
    Bad(38, "json 200,000 deep", NESTED, (("too-deep", 1),)),
    Bad(39, "json number", b'{"T": ["a", 1]}', (("not-a-label", 1),)),
    Bad(39, "json true", b'{"T": ["a", true]}', (("not-a-label", 1),)),
    Bad(41, "json cut off", b'{"T": ["a",\n"b"', (("bad-json", 2),)),
    Bad(41, "json cut off in a string", b'{"T": ["a",\n"b', (("bad-json", 2),)),
    Bad(41, "json with more behind", b'{"T": ["a"]}\n{}', (("bad-json", 2),)),
    Bad(41, "json lines", b'["a","b"]\n["c"]\n', (("bad-json", 2),)),
    Bad(41, "json comma", b'{"T": ["a",]}', (("bad-json", 1),)),
    Bad(8, "json surrogate", b'{"T": ["a", "\\ud800"]}', (("surrogate", 1),)),
    Bad(5, "json zero", b'{"T": ["a",\n"b\\u0000"]}', (("odd-character", 2),)),
    Bad(2, "json byte order mark", b'{"T\\ufeff": ["a"]}', (("odd-character", 1),)),
    Bad(39, "json string as child", b'{"T": {"A": "a"}}', (("bad-node", 1),)),
    Bad(39, "json foreign key", b'{"label": "T", "size": [], "children": []}', (("unknown-key", 1),)),
    Bad(42, "gzip cut off", gzip.compress(b"a;A;*\n" * 99)[:-9], (("gzip-truncated", None),),
        file="h.csv.gz"),
    Bad(53, "cycle", b"a,b\nb,c\nc,a\nx,c\n", (("no-root", None), ("cycle", 3))),
    Bad(53, "self-loop", b"a,T\nb,b\nT,\n", (("cycle", 2),)),
    Bad(53, "cycle beside a tree", b"a,T\nb,c\nc,b\n", (("cycle", 3),)),
    Bad(53, "cycle along a path", b"a;b;a;*\nc;C;C;*\n",
        (("two-parents", 1), ("leaf-and-category", 1), ("cycle", 1))),
    Bad(54, "two parents", b"a,A\nb,A\na,B\nA,T\nB,T\n", (("two-parents", 3),)),
    Bad(54, "two parents in paths", b"a;A;*\nb;B;*\nb;A;*\n", (("two-parents", 3),)),
    Bad(54, "category with two parents", b"a;A;X;*\nb;A;Y;*\n", (("two-parents", 2),)),
    Bad(54, "two parents in json", b'{"T": {"A": ["a"],\n"B": ["a"]}}', (("two-parents", 2),)),
    Bad(54, "two parents in amnesia",
        b"distinct\nname x\ntype string\nheight 3\n\nA has a b\nB has a\n\nT has A B\n",
        (("two-parents", 7),)),
    Bad(55, "several roots", b"a,A\nb,B\nc,C\n",
        (("several-roots", 1), ("several-roots", 2), ("several-roots", 3))),
    Bad(55, "several roots in json", b'[{"A": ["a"]},\n{"B": ["b"]}]',
        (("several-roots", 1), ("several-roots", 2))),
    Bad(56, "empty", b"", (("empty-hierarchy", None),)),
    Bad(56, "blank lines", b"\n\r\n", (("empty-hierarchy", None),)),
    Bad(56, "header only", b"child,parent\n", (("empty-hierarchy", None),)),
    Bad(56, "empty json", b"{}", (("empty-hierarchy", None),), file="h.json"),
    Bad(56, "no json at all", b"", (("empty-hierarchy", None),), file="h.json"),
    Bad(56, "only a root", b"*\n", (("only-root", 1),)),
    Bad(56, "only a root with a parent column", b"*,\n", (("only-root", 1),)),
    Bad(56, "only a root in json", b'{"label": "T"}', (("only-root", 1),)),
    Bad(60, "leaf and category", b"stout;Beer;D;*\nBeer;D;D;*\n", (("leaf-and-category", 2),)),
    Bad(63, "ragged", b"a;A;*\nb;B;*\nc;*\nd;D;E;*\n", (("ragged-row", 3), ("ragged-row", 4))),
    Bad(63, "another top", b"a;A;*\nb;B;*\nc;C;#\n", (("several-roots", 1), ("several-roots", 3))),
    Bad(63, "empty cell", b"a;A;*\nb;;*\n", (("empty-label", 2),)),
    Bad(63, "ragged pairs", b"a,T\nb,T\nc,x,T\n", (("ragged-row", 3),)),
    Bad(63, "empty child", b"a,T\n,T\nb,T\n", (("empty-label", 2),)),
    Bad(63, "blank in an amnesia label",
        b"distinct\nname x\ntype string\nheight 2\n\nmy root has a b\n", (("bad-has-line", 6),)),
    Bad(65, "overlap", b'5;"[0, 10)";*\n7;"[5, 20)";*\n', (("interval-overlap", 2),)),
    Bad(65, "gap", b'5;"[0, 10)";*\n25;"[20, 30)";*\n', (("interval-gap", 2),)),
    Bad(65, "ambiguous", b"5;[0,10[;*\n6;[0,10[;*\n", (("ambiguous-interval", 1),)),
]  # fmt: skip


@pytest.mark.parametrize("case", BAD, ids=str)
def test_refused_with_line_and_remedy(case: Bad, tmp_path: Path) -> None:
    path = tmp_path / case.file
    path.write_bytes(case.data)
    with pytest.raises(SetveilError) as caught:
        read_hierarchy(path, **case.options)  # type: ignore[arg-type]
    problems = caught.value.problems
    assert sorted((p.code, p.line or 0) for p in problems) == sorted(
        (code, line or 0) for code, line in case.expected
    )
    assert caught.value.exit_code == case.exit_code
    assert all(problem.file == str(path) for problem in problems)
    assert all(problem.remedy for problem in problems)
    assert [entry.name for entry in tmp_path.iterdir()] == [case.file]


def test_row_52_all_missing_items_with_lines() -> None:
    source = parse_edges("a;A;*\nb;A;*\n")
    items: dict[str, int | None] = {"a": 1, **{f"x{number:02d}": number for number in range(2, 42)}}
    missing = [f.problem for f in diagnose(source, items, data_file="d.csv") if f.severity == "error"]
    assert [(problem.code, problem.file, problem.line) for problem in missing] == [
        ("unknown-item", "d.csv", line) for line in range(2, 42)
    ]
    text = HierarchyError(missing).text()
    assert text.count("\n") == 20
    assert "and 20 more" in text


def test_row_52_and_59_also_when_data_are_bound() -> None:
    tree = Hierarchy.from_parents({"a": "A", "b": "A", "A": None})
    for items, code in ((["a", "x"], "unknown-item"), (["a", "A"], "item-is-category")):
        with pytest.raises(HierarchyError) as caught:
            bind(Transactions.from_rows([items]), tree)
        assert [problem.code for problem in caught.value.problems] == [code]


def test_row_53_prints_the_cycle(tmp_path: Path) -> None:
    path = tmp_path / "h.csv"
    path.write_text("a,b\nb,c\nc,a\n")
    with pytest.raises(HierarchyError, match="'a' -> 'b' -> 'c' -> 'a'"):
        read_hierarchy(path)


def test_row_54_prints_both_lines(tmp_path: Path) -> None:
    path = tmp_path / "h.csv"
    path.write_text("a;A;*\nb;B;*\na;B;*\n")
    with pytest.raises(HierarchyError, match=r"'A' \(line 1\) and 'B' \(line 3\)"):
        read_hierarchy(path)


def test_row_55_says_add_root(tmp_path: Path) -> None:
    path = tmp_path / "h.csv"
    path.write_text("a,A\nb,B\n")
    with pytest.raises(HierarchyError, match="--add-root"):
        read_hierarchy(path)


def test_row_57_unbalanced_depth_is_fine() -> None:
    source = parse_edges("a;A;B;*\nb;B;B;*\nc;c;c;*\nd;*;*;*\n")
    assert [f for f in diagnose(source) if f.severity == "error"] == []


def test_row_58_identical_lines_count_once_with_a_notice() -> None:
    for text in ("a;A;*\nb;A;*\na;A;*\n", "a,A\nb,A\na,A\n"):
        findings = diagnose(parse_edges(text))
        repeats = [f for f in findings if f.problem.code == "duplicate-line"]
        assert [(f.severity, f.problem.line) for f in repeats] == [("info", 3)]
        assert not [f for f in findings if f.severity == "error"]


def test_row_59_offers_an_unspecified_leaf() -> None:
    findings = diagnose(parse_edges("a;A;*\nb;A;*\n"), {"A": 4}, data_file="d.csv")
    assert (findings[0].problem.code, findings[0].problem.line) == ("item-is-category", 4)
    assert "'A (unspecified)'" in findings[0].problem.remedy


def test_row_60_repeats_along_a_path_are_padding() -> None:
    source = parse_edges("Beer;Beer;Drinks;*\ntea;Drinks;Drinks;*\n")
    assert [f for f in diagnose(source) if f.severity == "error"] == []
    assert source.parent_of["Beer"] == "Drinks"


def test_row_61_unary_chains_warn() -> None:
    findings = diagnose(parse_edges("a;A;B;*\nc;C;C;*\nd;C;C;*\n"))
    assert [(f.severity, f.problem.code) for f in findings] == [("warning", "one-leaf-category")] * 2


def test_row_62_depth_and_limit(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = tmp_path / "h.csv"
    steps = [f"n{level}" for level in range(10_000)]
    path.write_text(";".join(["a", *steps]) + "\n" + ";".join(["b", *steps]) + "\n")
    assert read_hierarchy(path).height == 10_000
    monkeypatch.setattr(doctor, "MAX_NODES", 5_000)
    with pytest.raises(ResourceLimit) as caught:
        read_edges(path)
    assert caught.value.exit_code == 6
    assert caught.value.problems[0].code == "too-many-nodes"


def test_row_64_leaves_not_in_the_data_are_fine_and_not_published() -> None:
    tree = Hierarchy.from_parents({"a": "A", "b": "A", "secret": "A", "A": None})
    restricted, _ = bind(Transactions.from_rows([["a"], ["b"]]), tree)
    assert "secret" not in restricted.labels
    findings = diagnose(tree, ["a", "b"])
    assert [(f.severity, f.problem.code) for f in findings] == [("info", "unused-leaves")]


def test_row_65_names_the_intervals() -> None:
    findings = diagnose(parse_edges('5;"[0, 10)";*\n7;"[5, 20)";*\n'))
    assert "'[0, 10)' and '[5, 20)'" in str(findings[0])
    with pytest.raises(HierarchyError, match=r"cuts the finer interval \[10, 20\)"):
        from_intervals(["5"], [0, 10, 20], coarser=[[0, 15, 20]])


def test_messages_hold_no_long_labels() -> None:
    long = "x" * 5_000
    text = f"{long};A;*\n{long};B;*\n{long} ;A;*\nc;C\n"
    for finding in diagnose(parse_edges(text), [long + "y"]):
        assert len(str(finding)) < 600
