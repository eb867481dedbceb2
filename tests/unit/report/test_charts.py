"""Charts: marks that are round, labels that do not touch, hostile text, the same bytes always."""

from __future__ import annotations

import math
import re
from itertools import pairwise
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from setveil.report.axes import Scale, log_ticks, mark_of, spelled, spread, ticks
from setveil.report.charts import Point, bar_chart, heat_map, line_chart
from setveil.report.drawing import Figure

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = ["<script>alert(1)</script>", '"><a href="x">', "a&b", "x\u202ey", "nul\x00", "]]>", "\ud800"]


def texts(figure: Figure) -> list[str]:
    return [element.text or "" for element in ElementTree.fromstring(figure.svg).iter(f"{SVG}text")]


def lines(n: int) -> dict[str, list[Point]]:
    return {f"line {number}": [(1.0, number / 10), (2.0, number / 9)] for number in range(n)}


@given(st.floats(1e-6, 1e9), st.floats(0, 1e6))
def test_ticks_enclose_the_values(largest: float, below: float) -> None:
    found = ticks(largest, -below)
    slack = (largest + below) * 1e-6
    assert found[0] <= -below + slack
    assert found[-1] >= largest - slack
    assert 2 <= len(found) <= 8
    assert 0.0 in found


@given(st.floats(1e-6, 1e6), st.floats(1e-6, 1e6))
def test_log_ticks_enclose_the_values(one: float, other: float) -> None:
    found = log_ticks(min(one, other), max(one, other))
    assert found[0] <= min(one, other) * 1.000001
    assert found[-1] >= max(one, other) * 0.999999


def test_ticks_are_few_and_close() -> None:
    for largest in (0.003, 0.9, 1.0, 7.3, 250.0, 99_999.0):
        marks = ticks(largest)
        assert marks[0] == 0
        assert marks[-1] >= largest > marks[-2]
        assert 3 <= len(marks) <= 6
    assert log_ticks(1.0, 1.0) == [1.0, 10.0]


@pytest.mark.parametrize("largest", [0.0, math.inf, math.nan, -3.0])
def test_an_axis_without_values_still_has_marks(largest: float) -> None:
    assert ticks(largest) == [0.0, 1.0]
    assert len(Scale.over([largest], 0, 1).marks) >= 2


@given(st.lists(st.floats(0, 300), max_size=12))
def test_places_are_spread_in_order_and_between_the_edges(wanted: list[float]) -> None:
    found = spread(wanted, 17, 0, 300)
    for before, after in pairwise(sorted(found)):
        assert after - before >= 17 - 1e-6
    assert all(-1e-6 <= place <= 300 + 1e-6 for place in found)
    order = sorted(range(len(wanted)), key=lambda number: wanted[number])
    assert [found[number] for number in order] == sorted(found)


def test_places_that_have_room_stay() -> None:
    assert spread([250, 10, 100], 17, 0, 300) == [250, 10, 100]


def test_zero_has_a_place_on_a_logarithmic_axis() -> None:
    scale = Scale.over([0, 1, 100], 0, 90, logarithmic=True)
    assert scale.place(0) == 0
    assert scale.place(1) == pytest.approx(30)
    assert [text for _, text in scale.named()] == ["0", "1", "10", "100"]


def test_numbers_are_written_as_people_do() -> None:
    assert [spelled(value) for value in (0, 3, 0.25, 1234.6, 1e-7)] == [
        "0", "3", "0.25", "1,235", "1.0e-7"
    ]  # fmt: skip
    assert spelled(0.5, percent=True) == "50 %"


def test_series_look_different() -> None:
    looks = [mark_of(number) for number in range(16)]
    assert len(set(looks)) == 16
    for same in ("colour", "dash", "shape"):
        assert len({getattr(look, same) for look in looks[:8]}) == 8


@pytest.mark.parametrize("n", [1, 3, 12, 30])
def test_names_at_the_ends_of_lines_do_not_touch(n: int) -> None:
    figure = line_chart(lines(n), title="T", x_label="x", y_label="y")
    feet = [
        float(y) for y in re.findall(r'<text x="[\d.]+" y="([\d.]+)"[^>]*>line \d+</text>', figure.svg)
    ]
    assert len(feet) == n
    assert all(after - before > 13 for before, after in pairwise(sorted(feet)))


def test_a_line_is_broken_where_there_is_no_value() -> None:
    points: list[Point] = [(1, 0.1), (2, 0.2), (3, None), (4, 0.4), (5, 0.5)]
    figure = line_chart({"a": points}, title="T", x_label="x", y_label="y", percent=True)
    assert figure.svg.count("<polyline") == 2
    assert "none at 3" in figure.svg
    assert "60 %" in texts(figure)


def test_bars_show_name_and_number() -> None:
    figure = bar_chart([("aa", 0.25), ("optimal", 0.0)], title="T", x_label="loss", percent=True)
    assert {"aa", "optimal", "25 %", "0 %"} <= set(texts(figure))
    told = bar_chart([("aa", 0.25)], title="T", x_label="loss", told=["a quarter"])
    assert "a quarter" in texts(told)


def test_bars_go_both_ways() -> None:
    figure = bar_chart([("less", -0.5), ("more", 0.5)], title="T", x_label="change")
    assert {"-0.5", "0.5"} <= set(texts(figure))


def test_cells_show_numbers_and_what_is_missing() -> None:
    values = {(1, 2): 0.0, (1, 5): 0.5, (2, 2): None, (2, 5): 1.0}
    figure = heat_map(values, title="T", x_label="m", y_label="k", percent=True, marked=(1, 5))
    assert {"0 %", "50 %", "100 %", "none", "m = 1", "m = 2", "k = 5"} <= set(texts(figure))
    assert figure.svg.count('stroke-dasharray="4 3"') == 1
    own = heat_map(values, title="T", x_label="m", y_label="k", told={(2, 2): "time limit"})
    assert "time limit" in texts(own)


def test_a_large_map_has_a_legend_instead_of_numbers() -> None:
    values: dict[tuple[int, int], float | None] = {
        (x, y): x * y / 7 for x in range(40) for y in range(9)
    }
    figure = heat_map(values, title="T", x_label="m", y_label="k")
    assert any(text.startswith("From light") for text in texts(figure))


@pytest.mark.parametrize("empty", [0, 1])
def test_charts_of_nothing_and_of_one_point(empty: int) -> None:
    series: dict[str, list[Point]] = {"a": [(3, 0.5)]} if empty else {}
    for figure in (
        line_chart(series, title="T", x_label="x", y_label="y"),
        line_chart(series, title="T", x_label="x", y_label="y", log_x=True, log_y=True),
        bar_chart([("a", 0.0)] if empty else [], title="T", x_label="x"),
        heat_map({(1, 1): None} if empty else {}, title="T", x_label="x", y_label="y"),
    ):
        ElementTree.fromstring(figure.svg)


@pytest.mark.parametrize("label", HOSTILE)
def test_labels_are_hostile_text(label: str) -> None:
    for figure in (
        line_chart({label: [(1, 1)]}, title=label, x_label=label, y_label=label, notes=[label]),
        bar_chart([(label, 1)], title=label, x_label=label, told=[label], notes=[label]),
        heat_map(
            {(1, 1): 1}, title=label, x_label=label, y_label=label, told={(1, 1): label}, notes=[label]
        ),
    ):
        figure.svg.encode("utf-8")
        kinds = {element.tag.removeprefix(SVG) for element in ElementTree.fromstring(figure.svg).iter()}
        assert not kinds & {"script", "a", "foreignObject", "image"}


def test_long_labels_are_cut() -> None:
    long = "label " * 80
    for figure in (
        line_chart({long: [(1, 1)]}, title=long, x_label="x", y_label=long, notes=[long]),
        bar_chart([(long, 1)], title=long, x_label=long, told=[long]),
    ):
        assert max(len(text) for text in texts(figure)) < 160


def test_the_same_input_gives_the_same_bytes() -> None:
    assert (
        line_chart(lines(5), title="T", x_label="x", y_label="y").svg
        == line_chart(lines(5), title="T", x_label="x", y_label="y").svg
    )


def test_names_of_bars_stay_apart_when_they_are_cut() -> None:
    start = "a value that all of them have, " * 4
    names = [f"{start}one", f"{start}one, two", f"{start}{'x' * 90}1", f"{start}{'x' * 90}2"]
    figure = bar_chart([(name, 1.0) for name in names], title="T", x_label="x", told=["7"] * 4)
    assert texts(figure).count("7") == 4
    shown = [text for text in texts(figure) if text.startswith("… ")]
    assert len(set(shown)) == 4
    assert {"… one", "… one, two"} <= set(shown)
    assert [text[-1] for text in shown[2:]] == ["1", "2"]


def test_groups_of_bars_are_told_in_words_and_apart_in_grey() -> None:
    bars = [("a", 3.0), ("b", 2.0), ("c", 1.0)]
    figure = bar_chart(bars, title="T", x_label="x", groups=["in one", "in two", "in one"])
    assert {"in one", "in two"} <= set(texts(figure))
    assert "b, in two: 2" in figure.svg
    drawn = re.findall(r'height="12" rx="2" fill="([^"]+)"', figure.svg)
    legend, filled = drawn[:2], drawn[2:]
    assert filled == [legend[0], legend[1], legend[0]]
    assert legend[0] != legend[1]


def test_numbers_of_bars_are_where_a_narrow_screen_shows_them() -> None:
    figure = bar_chart([("a" * 200, 1.0), ("b", 9.0)], title="T", x_label="x", told=["1.23", "9.87"])
    for number in ("1.23", "9.87"):
        found = re.search(rf'<text x="([\d.]+)"[^>]*>{number}</text>', figure.svg)
        assert found
        assert float(found[1]) < 100
