"""Both reports in a real browser: they load nothing, run nothing, fit a phone, and print."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import setveil as sv
from setveil.hierarchy.build import balanced
from setveil.io.demo import groceries
from tests.hostile.labels import XSS
from tests.hostile.test_hostile_labels import release as hostile_release
from tests.integration.browser import browser, visit

WIDTHS = (1200, 360)
KINDS = ("demo", "many", "table", "useless", "hostile", "local", "coherent")
DESKTOP, PHONE = WIDTHS


@pytest.fixture(scope="module")
def running() -> Iterator[Any]:
    with browser() as started:
        yield started


def demo() -> sv.Release:
    data, tree = groceries()
    return sv.anonymize(data, sv.KmAnonymity(5, 2), hierarchy=tree)


def many(items: int = 10_000, records: int = 20_000) -> sv.Release:
    """A release with thousands of labels, and thousands of items behind them."""
    draw = np.random.default_rng(1)
    labels = [f"item {number:05}" for number in range(items)]
    weight = 1 / np.arange(1, items + 1) ** 0.9
    codes = draw.permutation(items)[draw.choice(items, size=records * 6, p=weight / weight.sum())]
    record_of_entry = np.repeat(np.arange(records, dtype=np.int64), 6)
    data = sv.Transactions.from_codes(labels, record_of_entry, codes.astype(np.int32), records)
    return sv.anonymize(data, sv.KmAnonymity(5, 1), hierarchy=balanced(labels, 6), method="optimal")


def table(folder: Path) -> sv.Release:
    lines = ["name,sex,city,drugs"]
    cities = ("Rome", "Oslo", "a place with a very long name indeed")
    for number in range(60):
        drugs = ["aspirin", "insulin" if number % 3 else "statin", "zinc"][: 1 + number % 3]
        lines.append(f"person {number},{'FM'[number % 2]},{cities[number % 3]},{' '.join(drugs)}")
    (folder / "table.csv").write_text("\n".join(lines) + "\n")
    records = sv.read_records(
        folder / "table.csv",
        set_columns={"drugs": " "},
        keep=["sex", "city"],
        keep_unprotected=["name"],
    )
    return sv.anonymize(records, sv.KmAnonymity(4, 2), method="trim")


def useless() -> sv.Release:
    tree = sv.Hierarchy.from_parents({**dict.fromkeys("abcdefgh", "ALL"), "ALL": None})
    rows = [[item] for item in "abcdefgh"]
    return sv.anonymize(
        sv.Transactions.from_rows(rows), sv.KmAnonymity(5, 2), hierarchy=tree, method="optimal"
    )


def local() -> sv.Release:
    data, tree = groceries()
    return sv.anonymize(data, sv.KAnonymity(5), hierarchy=tree)


def coherent() -> sv.Release:
    data, tree = groceries()
    private = frozenset(data.vocabulary.labels[:3])
    guarantee = sv.Coherence(40, 5, 1, private)  # type: ignore[arg-type]
    return sv.anonymize(data, guarantee, hierarchy=tree)


@pytest.fixture(scope="module")
def pages(running: Any, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("pages")
    made = {
        "demo": demo,
        "many": many,
        "table": lambda: table(folder),
        "useless": useless,
        "hostile": hostile_release,
        "local": local,
        "coherent": coherent,
    }
    found: dict[str, Path] = {}
    for name in KINDS:
        sv.publish(made[name](), folder / name, allow_useless=name == "useless")
        found[f"{name}-public"] = folder / name / "report.html"
        found[f"{name}-private"] = folder / f"{name}.private" / "report.html"
    return found


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", [f"{kind}-{side}" for kind in KINDS for side in ("public", "private")])
def test_a_report_does_nothing_and_fits(
    running: Any, pages: dict[str, Path], name: str, width: int
) -> None:
    with visit(running, pages[name], width=width) as seen:
        page = seen.page
        assert seen.ask("document.documentElement.scrollWidth") <= width
        assert seen.ask("document.body.scrollWidth") <= width
        assert seen.ask("document.scripts.length") == 0
        assert seen.ask("document.images.length") == 0
        assert seen.ask("document.documentElement.lang") == "en"
        assert seen.ask("document.compatMode") == "CSS1Compat"
        assert page.locator("h1").count() == 1
        assert page.locator("section > h2").count() == page.locator("section").count() >= 5
        assert ("PRIVATE" in page.title()) == name.endswith("private")
        assert ("Personal data" in page.inner_text("header")) == name.endswith("private")
        # What is too wide scrolls in its own box, which the keyboard reaches.
        assert seen.ask(
            "[...document.querySelectorAll('.scroll')].every(box => box.tabIndex === 0"
            " && box.getAttribute('aria-label') && box.scrollWidth >= box.clientWidth)"
        )
        assert seen.ask(
            "[...document.querySelectorAll('main svg[role=img]')].every(one => one.ariaLabel)"
        )
        smallest = seen.ask(
            "Math.min(...[...document.querySelectorAll('p, li, td, dd')]"
            ".map(one => parseFloat(getComputedStyle(one).fontSize)))"
        )
        assert smallest >= 12
        seen.did_nothing()


@pytest.mark.parametrize("side", ["public", "private"])
def test_hostile_labels_are_inert(running: Any, pages: dict[str, Path], side: str) -> None:
    with visit(running, pages[f"hostile-{side}"], width=DESKTOP) as seen:
        seen.page.mouse.move(300, 500)
        seen.page.keyboard.press("Tab")
        shown = seen.ask("[...document.querySelectorAll('bdi')].map(one => one.textContent)")
        assert len(set(shown) & set(XSS)) >= 10
        strange = "script, iframe, object, embed, form, input, img, base, link, style ~ style, textarea"
        assert seen.ask(f"document.body.querySelectorAll('{strange}').length") == 0
        handlers = (
            "[...document.querySelectorAll('*')].filter(one => [...one.attributes].some("
            "a => a.name.startsWith('on') || a.name === 'style' || a.name === 'src')).length"
        )
        assert seen.ask(handlers) == 0
        seen.did_nothing()


def test_the_policy_stops_what_would_get_in(running: Any, pages: dict[str, Path]) -> None:
    """Even if markup got into a page, the browser would run and load nothing of it."""
    with visit(running, pages["demo-public"], width=DESKTOP) as seen:
        seen.ask(
            "document.body.insertAdjacentHTML('beforeend',"
            '\'<img src="x.png" onerror="window.ran = 1"><p id=styled style="color: red">x</p>'
            '<svg onload="window.ran = 1"></svg>\')'
        )
        seen.page.wait_for_timeout(200)
        assert seen.ask("window.ran") is None
        assert seen.ask("getComputedStyle(styled).color") != "rgb(255, 0, 0)"
        assert seen.loaded == [seen.address]
        assert any("Content Security Policy" in message for message in seen.messages)


@pytest.mark.parametrize("name", ["demo-public", "demo-private", "many-private", "table-public"])
def test_a_report_prints(running: Any, pages: dict[str, Path], name: str) -> None:
    with visit(running, pages[name], width=DESKTOP) as seen:
        printed = seen.page.pdf(prefer_css_page_size=True, print_background=True)
        assert printed.startswith(b"%PDF")
        sheets = printed.count(b"/Type /Page\n") + printed.count(b"/Type /Page ")
        assert 1 <= sheets <= 12
        # A4, which the page itself asks for: 595 by 842 points.
        assert b"/MediaBox [0 0 594.95996 841.91998]" in printed or b"/MediaBox [0 0 595" in printed
        seen.page.emulate_media(media="print")
        assert seen.ask("getComputedStyle(document.body).maxWidth") == "none"
        seen.did_nothing()


def test_sizes_are_bounded(pages: dict[str, Path]) -> None:
    for name, path in pages.items():
        assert path.stat().st_size < 200_000, name
