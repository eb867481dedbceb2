"""The picture of the risk curves: what it names, its intervals, the same bytes always."""

from __future__ import annotations

from itertools import combinations
from xml.etree import ElementTree

import pytest

from setveil.errors import UsageError
from setveil.io.demo import groceries, toy
from setveil.report.risk_picture import risk_figure
from setveil.risk.assessment import RiskComparison, assess_risk
from setveil.risk.curve import risk_curve

SVG = "{http://www.w3.org/2000/svg}"


def test_both_curves_are_named_in_both_panels() -> None:
    before = risk_curve(groceries(400)[0], 5)
    after = risk_curve(groceries(300, seed=1)[0], 5, most=3)
    figure = risk_figure(before=before, after=after)
    texts = [element.text for element in ElementTree.fromstring(figure.svg).iter(f"{SVG}text")]
    for name in ("before, worst", "before, average", "after, worst", "after, average"):
        assert texts.count(name) == 2
    assert "fewer than 5 records match" in texts
    assert "no other record matches" in texts
    assert not any("intervals" in (text or "") for text in texts)
    assert figure.svg == risk_figure(before=before, after=after).svg


def test_one_curve_needs_no_before_and_after() -> None:
    figure = risk_figure(after=risk_curve(toy()[0], 2))
    assert "after" not in [e.text for e in ElementTree.fromstring(figure.svg).iter(f"{SVG}text")]
    assert "<desc>" in figure.svg


def test_estimates_have_bars_and_a_note() -> None:
    data = groceries(3000)[0]
    counted, drawn = risk_curve(data, 5), risk_curve(data, 5, budget=1000)
    assert "95 % intervals" in risk_figure(after=drawn).svg
    assert risk_figure(after=drawn).svg.count("<line") > risk_figure(after=counted).svg.count("<line")


@pytest.mark.parametrize("most", [1, 2, 6, 40, 200])
def test_words_do_not_touch_each_other(most: int) -> None:
    curve = risk_curve(groceries(200)[0], 5, most=most)
    root = ElementTree.fromstring(risk_figure(before=curve, after=curve).svg)
    boxes = []
    for text in root.iter(f"{SVG}text"):
        size, x, y = (float(text.attrib[name]) for name in ("font-size", "x", "y"))
        width = 0.55 * size * len(text.text or "")
        left = (
            x - width * {"start": 0, "middle": 0.5, "end": 1}[text.attrib.get("text-anchor", "start")]
        )
        boxes.append((left, y - 0.75 * size, left + width, y + 0.2 * size))
    for one, other in combinations(boxes, 2):
        apart = one[2] <= other[0] or other[2] <= one[0] or one[3] <= other[1] or other[3] <= one[1]
        assert apart, (one, other)
    assert all(box[2] <= 880 for box in boxes)


def test_what_is_refused() -> None:
    data = toy()[0]
    with pytest.raises(UsageError, match="no curve"):
        risk_figure()
    with pytest.raises(UsageError, match="different k"):
        risk_figure(before=risk_curve(data, 2), after=risk_curve(data, 3))


def test_a_comparison_shows_both() -> None:
    before, after = assess_risk(groceries(400)[0], 5), assess_risk(toy()[0], 5)
    found = RiskComparison(before, after)
    lines = str(found).splitlines()
    assert len(lines) == 3 + 6 + 2
    assert all("->" in line for line in lines[3:])
    assert set(found.as_dict()) == {"before", "after"}
    assert "<td>" in found._repr_html_()
    rough = RiskComparison(assess_risk(groceries(3000)[0], 5, budget=1000), after)
    assert "~: estimated" in str(rough)
