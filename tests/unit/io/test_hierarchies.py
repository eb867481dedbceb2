"""Hierarchy files: four forms, both ways."""

from __future__ import annotations

import gzip
import io
import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from setveil.errors import FileSystemError, HierarchyError, UsageError
from setveil.hierarchy.build import balanced
from setveil.hierarchy.doctor import to_hierarchy
from setveil.hierarchy.tree import Hierarchy
from setveil.io.hierarchies import (
    FORMATS,
    parse_edges,
    read_edges,
    read_hierarchy,
    write_hierarchy,
)
from tests.shared_data import shared_data

TOY: dict[str, str | None] = {
    "a1": "A", "a2": "A", "b1": "B", "b2": "B", "c": "ALL", "A": "ALL", "B": "ALL", "ALL": None,
}  # fmt: skip


def parsed(text: str, **options: object) -> dict[str, str | None]:
    return to_hierarchy(parse_edges(text, **options)).parents_by_label()  # type: ignore[arg-type]


def written(tree: Hierarchy, form: str, **options: object) -> str:
    sink = io.BytesIO()
    write_hierarchy(tree, sink, format=form, **options)  # type: ignore[arg-type]
    return sink.getvalue().decode("utf-8")


@pytest.mark.parametrize(
    "text",
    [
        "a1;A;ALL\na2;A;ALL\nb1;B;ALL\nb2;B;ALL\nc;c;ALL\n",
        "a1,A,ALL\na2,A,ALL\nb1,B,ALL\nb2,B,ALL\nc,ALL,ALL",
        "a1\tA\tALL\r\na2\tA\tALL\r\nb1\tB\tALL\r\nb2\tB\tALL\r\nc\tc\tALL\r\n",
        'a1|A|ALL\n"a2"|A|ALL\n\nb1|B|"ALL"\nb2|B|ALL\nc|c|ALL\n',
        "child,parent\na1,A\na2,A\nb1,B\nb2,B\nc,ALL\nA,ALL\nB,ALL\nALL,\n",
        "a1;A\na2;A\nb1;B\nb2;B\nc;ALL\nA;ALL\nB;ALL\n",
        "Item;Category\na1;A\na2;A\nb1;B\nb2;B\nc;ALL\nA;ALL\nB;ALL\n",
        '{"ALL": {"A": ["a1", "a2"], "B": {"b1": {}, "b2": null}, "c": []}}',
        '{"label": "ALL", "children": [{"label": "A", "children": ["a1", {"label": "a2"}]},\n'
        '{"name": "B", "children": [{"name": "b1", "children": []}, "b2"]}, "c"]}',
        "distinct\nname toy\ntype string\nheight 3\n\nA has a1 a2\nB has b1 b2\n\nALL has A B c\n",
    ],
)
def test_forms_that_say_the_same(text: str) -> None:
    assert parsed(text) == TOY


@pytest.mark.parametrize("form", FORMATS)
def test_what_is_written_reads_back(form: str, tmp_path: Path) -> None:
    tree = Hierarchy.from_parents(TOY)
    path = tmp_path / "tree"
    write_hierarchy(tree, path, format=form)
    source = read_edges(path)
    assert source.format == form
    assert to_hierarchy(source).parents_by_label() == TOY
    assert path.read_bytes().endswith(b"\n")
    assert b"\r" not in path.read_bytes()


def test_paths_are_sorted_and_padded_with_the_root() -> None:
    assert written(Hierarchy.from_parents(TOY), "paths") == (
        "a1;A;ALL\na2;A;ALL\nb1;B;ALL\nb2;B;ALL\nc;ALL;ALL\n"
    )


def test_parents_have_a_header_unless_a_label_is_one() -> None:
    tree = Hierarchy.from_parents({"a": "T", "b": "T", "T": None})
    assert written(tree, "parents") == "child,parent\nT,\na,T\nb,T\n"
    tree = Hierarchy.from_parents({"child": "parent", "b": "parent", "parent": None})
    text = written(tree, "parents")
    assert text == "b,parent\nchild,parent\nparent,\n"
    assert parsed(text) == tree.parents_by_label()


def test_amnesia_form_as_amnesia_writes_it() -> None:
    assert written(Hierarchy.from_parents(TOY), "amnesia", name="toy") == (
        "distinct\nname toy\ntype string\nheight 3\n\nA has a1 a2\nB has b1 b2\n\nALL has A B c\n\n"
    )


labels = st.text(
    st.characters(exclude_categories=("Cs",), exclude_characters="\0\ufeff"), min_size=1, max_size=6
)
hostile = st.sampled_from(
    ['a"b', "x;y", "x,y", " lead", "trail ", "two\nlines", "cr\rlf", "=1+1", "ü", "*"]
)


@st.composite
def trees(draw: st.DrawFn) -> Hierarchy:
    names = draw(st.lists(labels | hostile, min_size=3, max_size=14, unique=True))
    parents: dict[str, str | None] = {names[0]: None, names[1]: names[0]}
    for number in range(2, len(names)):
        parents[names[number]] = names[draw(st.integers(0, number - 1))]
    return Hierarchy.from_parents(parents)


@given(trees(), st.sampled_from(["paths", "parents", "json"]))
def test_any_label_survives_the_round_trip(tree: Hierarchy, form: str) -> None:
    text = written(tree, form)
    options = {} if form == "json" else {"delimiter": ";" if form == "paths" else ","}
    source = parse_edges(text, format=form, has_header=None, **options)
    assert dict(source.parent_of) == tree.parents_by_label()
    assert written(Hierarchy.from_parents(source.parent_of), form) == text


@given(trees())
def test_json_is_json(tree: Hierarchy) -> None:
    import json

    top = json.loads(written(tree, "json"))
    seen: dict[str, str | None] = {}
    stack: list[tuple[dict[str, object], str | None]] = [(top, None)]
    while stack:
        node, parent = stack.pop()
        seen[str(node["label"])] = parent
        stack += [(child, str(node["label"])) for child in node.get("children", [])]  # type: ignore[attr-defined]
    assert seen == tree.parents_by_label()


def test_forest_in_paths_and_json() -> None:
    tree = Hierarchy.from_parents({"a": "A", "b": "A", "A": None, "s": None})
    assert written(tree, "paths") == "a;A\nb;A\ns;s\n"
    for form in ("paths", "json"):
        source = parse_edges(written(tree, form), format=form)
        assert to_hierarchy(source, allow_forest=True).parents_by_label() == tree.parents_by_label()
    with pytest.raises(HierarchyError, match="one tree"):
        written(tree, "amnesia")


@pytest.mark.parametrize("label", ["two words", "has", "tab\tbed", "nbsp\u00a0"])
def test_labels_that_amnesia_cannot_read_are_refused(label: str) -> None:
    tree = Hierarchy.from_parents({label: "T", "b": "T", "T": None})
    with pytest.raises(HierarchyError) as caught:
        written(tree, "amnesia")
    assert caught.value.problems[0].code == "not-for-amnesia"


def test_the_delimiter_is_the_first_that_fits() -> None:
    # Labels with commas, as in the trees of the BMS data.
    source = parse_edges("1;1,2;1,9;*\n2;1,2;1,9;*\n")
    assert source.delimiter == ";"
    assert source.parent_of["1"] == "1,2"


def test_a_header_is_told_and_can_be_forced() -> None:
    text = "leaf;level 1;level 2\na;A;*\nb;A;*\n"
    source = parse_edges(text)
    assert source.notices == ["line 1 was taken for column names"]
    assert "leaf" not in source.parent_of
    assert parse_edges("x;y;z\na;A;*\nb;A;*\n", has_header=True).roots == ["*"]
    assert set(parse_edges(text, has_header=False).roots) == {"level 2", "*"}
    # The same words elsewhere in the file are labels, not names of columns.
    assert parsed("child,parent\nother,parent\n") == {
        "child": "parent", "other": "parent", "parent": None,
    }  # fmt: skip


def test_line_numbers_count_line_feeds_only() -> None:
    text = 'a;A;*\n"b\nb";A;*\n\nc\u2028c;A;*\nd\x0bd;A;*\nd\x0bd;B;*\n'
    source = parse_edges(text)
    lines = source.line_of
    assert lines["b\nb"] == 2
    assert lines["c\u2028c"] == 5
    assert lines["d\x0bd"] == 6
    assert [(other.label, other.line) for other in source.other_parents] == [("d\x0bd", 7)]


def test_json_keeps_lines() -> None:
    source = parse_edges('{"T": {\n"A": ["a",\n"b"],\n"B": ["a"]}}')
    assert source.line_of == {"T": 1, "A": 2, "a": 2, "b": 3, "B": 4}
    assert [(other.label, other.parent, other.line) for other in source.other_parents] == [
        ("a", "B", 4)
    ]


def test_bom_gzip_and_other_encodings(tmp_path: Path) -> None:
    text = "é;A;*\nb;A;*\n"
    plain = tmp_path / "h.csv"
    plain.write_bytes(b"\xef\xbb\xbf" + text.encode())
    packed = tmp_path / "h.csv.gz"
    packed.write_bytes(gzip.compress(text.encode()))
    latin = tmp_path / "l.csv"
    latin.write_bytes(text.encode("latin-1"))
    wide = tmp_path / "w.csv"
    wide.write_bytes(text.encode("utf-16"))
    trees = [
        read_hierarchy(plain),
        read_hierarchy(packed),
        read_hierarchy(latin, encoding="latin-1"),
        read_hierarchy(wide, encoding="utf-16"),
    ]
    assert all(tree.path("é") == ("é", "A", "*") for tree in trees)


def test_add_root_on_reading(tmp_path: Path) -> None:
    path = tmp_path / "h.csv"
    path.write_text("a,A\nb,B\n")
    assert read_hierarchy(path, add_root="ALL").path("a") == ("a", "A", "ALL")
    assert len(read_hierarchy(path, allow_forest=True).roots) == 2


def test_an_existing_file_is_kept_unless_forced(tmp_path: Path) -> None:
    tree = Hierarchy.from_parents(TOY)
    path = tmp_path / "h.csv"
    path.write_text("mine")
    with pytest.raises(FileSystemError) as caught:
        write_hierarchy(tree, path)
    assert caught.value.problems[0].code == "exists"
    assert path.read_text() == "mine"
    write_hierarchy(tree, path, force=True)
    assert read_hierarchy(path).parents_by_label() == TOY
    link = tmp_path / "link.csv"
    link.symlink_to(path)
    with pytest.raises(FileSystemError):
        write_hierarchy(tree, link, force=True)
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["h.csv", "link.csv"]


def test_a_refusal_while_writing_leaves_nothing(tmp_path: Path) -> None:
    tree = Hierarchy.from_parents({"two words": "T", "b": "T", "T": None})
    with pytest.raises(HierarchyError):
        write_hierarchy(tree, tmp_path / "h.txt", format="amnesia")
    with pytest.raises(FileSystemError):
        write_hierarchy(tree, tmp_path / "no" / "h.csv")
    assert list(tmp_path.iterdir()) == []


def test_a_private_hierarchy_is_for_its_owner(tmp_path: Path) -> None:
    tree = Hierarchy.from_parents(TOY, private=True)
    write_hierarchy(tree, tmp_path / "h.csv")
    assert stat.S_IMODE((tmp_path / "h.csv").stat().st_mode) == 0o600


@pytest.mark.parametrize(
    "options",
    [{"format": "xml"}, {"delimiter": ";;"}, {"delimiter": '"'}, {"format": "json", "delimiter": ";"}],
)
def test_wrong_options(options: dict[str, str], tmp_path: Path) -> None:
    path = tmp_path / "h.csv"
    path.write_text("a;A;*\nb;A;*\n")
    with pytest.raises(UsageError):
        read_edges(path, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("form", FORMATS)
def test_deep_trees_in_every_form(form: str) -> None:
    depth = 10_000
    parents: dict[str, str | None] = {f"n{level}": f"n{level + 1}" for level in range(depth)}
    parents |= {"twin": "n1", f"n{depth}": None}
    tree = Hierarchy.from_parents(parents)
    assert dict(parse_edges(written(tree, form)).parent_of) == parents


def test_a_large_file_is_read_in_seconds() -> None:
    text = written(balanced([f"item{number}" for number in range(100_000)], 8), "paths")
    tree = to_hierarchy(parse_edges(text))
    assert tree.n_leaves == 100_000


def test_shared_trees_read_and_round_trip() -> None:
    folder = shared_data("groceries.hierarchy.csv").parent
    for path in sorted(folder.glob("*hierarchy*.csv")):
        tree = read_hierarchy(path)
        for form in ("paths", "parents", "json"):
            assert parsed(written(tree, form)) == tree.parents_by_label()
    assert repr(read_hierarchy(folder / "icd9_3digit.hierarchy.csv")) == (
        "Hierarchy(1,212 leaves, 165 categories, height 4)"
    )


def test_data_taken_for_a_hierarchy_are_refused_without_their_labels() -> None:
    baskets = "".join(",".join(f"item{n}" for n in range(2 + line % 5)) + "\n" for line in range(40))
    with pytest.raises(HierarchyError) as caught:
        parse_edges(baskets, delimiter=",")
    codes = [problem.code for problem in caught.value.problems]
    assert codes == ["ragged-row"] * 5 + ["not-a-hierarchy"]
    assert "are data and hierarchy swapped?" in str(caught.value).lower()
    assert "item" not in str(caught.value)
    with pytest.raises(HierarchyError, match="swapped"):
        parse_edges("one\n" * 20 + baskets, delimiter=",")


def test_a_few_slips_among_many_rows_are_all_told() -> None:
    rows = [f"i{n};c{n % 3};ALL" for n in range(100)] + ["slip;ALL"] * 12
    assert len(parse_edges("\n".join(rows)).faults) == 12
