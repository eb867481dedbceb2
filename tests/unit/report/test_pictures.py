"""Pictures: hostile labels are escaped, large trees stay readable, bytes are the same."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

from setveil.hierarchy.build import balanced
from setveil.hierarchy.tree import Hierarchy
from setveil.io.demo import groceries, toy
from setveil.release.recoding import Recoding
from setveil.report import drawing
from setveil.report.drawing import HIDDEN, PUBLISHED, Drawing, Style, cut_to_width, text_width
from setveil.report.tree_picture import ABOVE, MOST_LINES, draw_recoding, draw_tree, styles_of

SVG = "{http://www.w3.org/2000/svg}"


def texts(svg: str) -> list[str]:
    return [element.text or "" for element in ElementTree.fromstring(svg).iter(f"{SVG}text")]


def test_small_tree_shows_every_label_and_its_support() -> None:
    _, tree = toy()
    svg = draw_tree(tree, published=[4, 2, 3], support_by_node={node: node + 10 for node in range(7)})
    assert set(tree.labels) <= set(texts(svg))
    assert "in 16" in texts(svg)


def test_what_is_published_hidden_and_above() -> None:
    _, tree = toy()
    styles = styles_of(tree, [4, 2, 3])
    assert [styles[node] for node in range(7)] == [
        HIDDEN, HIDDEN, PUBLISHED, PUBLISHED, PUBLISHED, ABOVE, ABOVE
    ]  # fmt: skip


def test_suppressed_items_are_hidden() -> None:
    _, tree = toy()
    assert styles_of(tree, [2, 3])[0] is HIDDEN


@pytest.mark.parametrize("n_items", [40, 3000])
def test_large_tree_is_summarised(n_items: int) -> None:
    tree = balanced([f"item {number:04}" for number in range(n_items)], 7)
    svg = draw_tree(tree, published=range(tree.n_leaves))
    assert len(svg) < 40_000
    boxes = svg.count("<rect") - 4
    assert boxes <= 3 * MOST_LINES
    assert any("more" in text for text in texts(svg)) or "items" in " ".join(texts(svg))


def test_a_flat_tree_with_thousands_of_items_is_summarised() -> None:
    parents: dict[str, str | None] = {f"item {number}": "ALL" for number in range(5000)}
    svg = draw_tree(Hierarchy.from_parents({**parents, "ALL": None}))
    assert len(svg) < 40_000
    assert any(re.fullmatch(r"and [\d,]+ more", text) for text in texts(svg))


def test_counts_in_the_summary_add_up() -> None:
    baskets, products = groceries(n=500)
    tree = products.restricted_to(baskets.vocabulary)
    shown = " ".join(texts(draw_recoding(Recoding.identity(tree))))
    closed = sum(int(number) for number in re.findall(r"(\d+) items?, \d+ labels?", shown))
    assert 0 < closed <= tree.n_leaves


@pytest.mark.parametrize(
    "label",
    ["<script>alert(1)</script>", '"><a href="x">', "a&b", "x\u202ey", "nul\x00", "]]>", "\ud800"],
)
def test_labels_are_hostile_text(label: str) -> None:
    tree = Hierarchy.from_parents({label: "T", "other": "T", "T": None})
    for title in ("plain", label):
        svg = draw_tree(tree, published=[0, 1], title=title)
        svg.encode("utf-8")
        kinds = {element.tag.removeprefix(SVG) for element in ElementTree.fromstring(svg).iter()}
        assert not kinds & {"script", "a"}
        assert "\u202e" not in svg


def test_same_bytes_and_nothing_from_outside() -> None:
    _, tree = toy()
    assert draw_tree(tree) == draw_tree(tree)
    assert re.findall(r'(?:href|src|url)\W*=?\W*"?(https?:[^"]*)', draw_tree(tree)) == []


def test_text_is_cut_to_its_room() -> None:
    assert cut_to_width("short", 12, 100) == "short"
    assert text_width(cut_to_width("x" * 100, 12, 80), 12) <= 80


def test_a_drawing_says_what_it_is() -> None:
    svg = Drawing(10, 10, title="a < b", description="words").svg()
    root = ElementTree.fromstring(svg)
    assert root.attrib["aria-label"] == "a < b"
    assert root.findtext(f"{SVG}desc") == "words"


def luminance(colour: str) -> float:
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize(
    "name", [name for name, style in vars(drawing).items() if isinstance(style, Style)]
)
def test_text_can_be_read_on_its_box(name: str) -> None:
    style: Style = getattr(drawing, name)
    light, dark = sorted((luminance(style.fill), luminance(style.text)), reverse=True)
    assert (light + 0.05) / (dark + 0.05) >= 4.5
