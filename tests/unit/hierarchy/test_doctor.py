"""The doctor lists all faults at once and mends the unambiguous ones."""

from __future__ import annotations

import pytest

from setveil.errors import HierarchyError
from setveil.hierarchy.doctor import diagnose, mend, to_hierarchy
from setveil.hierarchy.tree import Hierarchy
from setveil.io.hierarchies import parse_edges


def found(text: str, items: object = None, severity: str | None = None) -> list[tuple[str, int | None]]:
    findings = diagnose(parse_edges(text, name="h.csv"), items)  # type: ignore[arg-type]
    return [
        (finding.problem.code, finding.problem.line)
        for finding in findings
        if severity in (None, finding.severity)
    ]


def test_a_sound_tree_has_no_findings() -> None:
    assert found("a;A;*\nb;A;*\nc;B;*\nd;B;*\n", ["a", "b", "c", "d"]) == []


def test_everything_at_once() -> None:
    text = "a;A;*\nb;A;*\nb;A;*\nb;B;*\nc;C\nd;D;#\nq;r;q\nA;F;*\n"
    errors = found(text, {"zz": 7, "A": 9, "a": 1}, "error")
    assert ("ragged-row", 5) in errors
    assert ("several-roots", 1) in errors
    assert ("several-roots", 6) in errors
    assert ("two-parents", 4) in errors
    assert ("cycle", 7) in errors
    assert ("leaf-and-category", 8) in errors
    assert ("unknown-item", 7) in errors
    assert ("item-is-category", 9) in errors
    assert found(text, None, "info") == [("duplicate-line", 3)]


def test_errors_come_first_then_warnings_then_infos() -> None:
    findings = diagnose(parse_edges("a;A;*\na;A;*\nb;B;#\n"), ["a"])
    order = [("error", "warning", "info").index(finding.severity) for finding in findings]
    assert order == sorted(order)
    assert set(order) == {0, 1, 2}


def test_every_error_has_a_remedy_and_names_the_file() -> None:
    text = "a;A;*\nb;B;*\nb;A;*\nc;C\nd;D;#\nq;r;q\n"
    for finding in diagnose(parse_edges(text, name="h.csv")):
        assert finding.problem.remedy
        assert finding.problem.file == "h.csv"
        assert finding.as_dict()["severity"] == finding.severity
        assert str(finding).startswith(f"{finding.severity}[")


def test_both_lines_of_two_parents_are_told() -> None:
    findings = diagnose(parse_edges("child,parent\na,A\nb,A\na,B\nA,T\nB,T\n"))
    message = next(str(finding) for finding in findings if finding.problem.code == "two-parents")
    assert "'A' (line 2)" in message
    assert "'B' (line 4)" in message


def test_a_cycle_is_printed_once_and_long_ones_shortened() -> None:
    findings = diagnose(parse_edges("a,b\nb,c\nc,a\nx,y\n"))
    cycles = [str(finding) for finding in findings if finding.problem.code == "cycle"]
    assert len(cycles) == 1
    assert "'a' -> 'b' -> 'c' -> 'a'" in cycles[0]
    ring = "".join(f"n{number},n{(number + 1) % 5000}\n" for number in range(5000))
    (cycle,) = [f for f in diagnose(parse_edges(ring)) if f.problem.code == "cycle"]
    assert len(str(cycle)) < 400


def test_two_cycles_are_two_findings() -> None:
    codes = found("a,b\nb,a\nc,d\nd,c\n", severity="error")
    assert [code for code, _ in codes].count("cycle") == 2
    assert ("no-root", None) in codes


@pytest.mark.parametrize(
    ("item", "hint"),
    [("Milk", "'milk'"), ("milk ", "'milk'"), ("mi\u200blk", "'milk'"), ("cafe\u0301", "'café'")],
)
def test_missing_items_that_look_like_known_ones_say_so(item: str, hint: str) -> None:
    findings = diagnose(parse_edges("milk;A;*\ncafé;A;*\n"), [item])
    message = str(findings[0])
    assert "unknown-item" in message
    assert hint in message
    assert "Spell both alike" in message


def test_odd_spellings_and_look_alikes_are_warnings() -> None:
    text = "milk;A;*\nmilk ;A;*\nMilk;A;*\nbeer;A;*\n"
    assert found(text, severity="warning") == [
        ("odd-spelling", 2), ("look-alike", 2), ("look-alike", 3),
    ]  # fmt: skip
    # A leaf and a category may share their letters.
    assert found("a;A;*\nb;A;*\nc;B;*\nd;B;*\n") == []


def test_one_leaf_categories_and_unused_leaves() -> None:
    assert found("a;A;*\nb;B;*\nc;B;*\n", ["a", "b"]) == [
        ("one-leaf-category", 1), ("unused-leaves", None),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "code", "severity"),
    [
        ("5;[0, 10);*\n15;[10, 20);*\n16;[10, 20);*\n", None, None),
        ("5;[0, 10);*\n15;[5, 20);*\n", "interval-overlap", "error"),
        ("5;[0, 10];*\n15;[10, 20];*\n", "interval-overlap", "error"),
        ("5;[0, 10);*\n25;[20, 30);*\n", "interval-gap", "error"),
        ("5;(0, 10);*\n15;(10, 20);*\n", "interval-gap", "error"),
        ("5;[0,10[;*\n15;[10,20[;*\n", "ambiguous-interval", "error"),
        ("5;[10, 20);*\n15;[10, 20);*\n", "outside-interval", "error"),
        ("5;[10, 0);*\n6;[10, 0);*\n", "interval-order", "error"),
        ("5;[0, 10);[0, 7);*\n", "interval-overlap", "error"),
        ("5;0-9;*\n15;10-19;*\n", None, None),
        ("5;0-9;*\n25;20-29;*\n", "interval-gap", "warning"),
        ("5;0-4;*\n3;0-4;*\n", "outside-interval", "warning"),
        ("5;0-9;*\n7;5-12;*\n", "interval-overlap", "warning"),
    ],
)
def test_intervals(text: str, code: str | None, severity: str | None) -> None:
    findings = [
        finding for finding in diagnose(parse_edges(text)) if "interval" in finding.problem.code
    ]
    assert {finding.problem.code for finding in findings} == ({code} if code else set())
    assert {finding.severity for finding in findings} == ({severity} if severity else set())


def test_several_roots_may_be_allowed() -> None:
    source = parse_edges("a,A\nb,B\n")
    assert len(to_hierarchy(source, allow_forest=True).roots) == 2
    with pytest.raises(HierarchyError) as caught:
        to_hierarchy(source)
    assert [problem.code for problem in caught.value.problems] == ["several-roots"] * 2


def test_mend_joins_roots_under_a_new_or_a_known_one() -> None:
    source = parse_edges("a,A\nb,B\n")
    mended, done = mend(source, add_root="ALL")
    assert to_hierarchy(mended).path("a") == ("a", "A", "ALL")
    assert len(done) == 1
    mended, _ = mend(source, add_root="B")
    assert to_hierarchy(mended).path("a") == ("a", "A", "B")
    with pytest.raises(HierarchyError, match="already a label"):
        mend(source, add_root="a")
    assert mend(parse_edges("a,A\nb,A\n"), add_root="ALL")[1] == []


def test_mend_drops_repeats() -> None:
    mended, done = mend(parse_edges("a;A;*\nb;A;*\na;A;*\n"))
    assert diagnose(mended) == []
    assert done == ["dropped 1 repeated lines"]


def test_mend_attaches_missing_items() -> None:
    source = parse_edges("a;A;*\nb;A;*\nc;C;*\nd;C;*\n")
    mended, _ = mend(source, ["a", "x", "y"], attach="A")
    assert to_hierarchy(mended).path("x") == ("x", "A", "*")
    mended, _ = mend(source, ["a", "x"], attach="*")
    assert to_hierarchy(mended).path("x") == ("x", "*")
    with pytest.raises(HierarchyError, match="no category"):
        mend(source, ["x"], attach="a")


def test_mend_gives_a_category_an_unspecified_leaf() -> None:
    source = parse_edges("stout;Beer;Drinks;*\nBeer;Drinks;Drinks;*\ntea;Drinks;Drinks;*\n")
    assert [f.problem.code for f in diagnose(source) if f.severity == "error"] == ["leaf-and-category"]
    mended, done = mend(source, ["Drinks"], unspecified=True)
    tree = to_hierarchy(mended)
    assert tree.path("Beer (unspecified)") == ("Beer (unspecified)", "Beer", "Drinks", "*")
    assert tree.path("Drinks (unspecified)")[1] == "Drinks"
    assert len(done) == 2


def test_mend_leaves_its_input_alone() -> None:
    source = parse_edges("a,A\nb,B\n")
    before = dict(source.parent_of)
    mend(source, ["x"], add_root="ALL", attach="A")
    assert source.parent_of == before


def test_a_finished_hierarchy_can_be_diagnosed() -> None:
    tree = Hierarchy.from_parents({"a": "T", "b": "T", "T": None})
    assert [finding.problem.code for finding in diagnose(tree, ["a", "T"])] == [
        "item-is-category", "unused-leaves",
    ]  # fmt: skip
