"""Documentation that cannot fall behind: generated files are new, links lead somewhere, tests exist."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from docs.build import HERE, built, differing

import setveil
from setveil.registry import ALL_METHODS, METHODS

ROOT = HERE.parent
PAGES = sorted([*ROOT.glob("*.md"), *HERE.rglob("*.md")])
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
CODE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
TO_BE_WRITTEN = "tests/papers/test_x.py"
TEST = re.compile(r"`(test_\w+)`")


def short(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def known_tests() -> set[str]:
    files = (ROOT / "tests").rglob("test_*.py")
    return {name for file in files for name in re.findall(r"def (test_\w+)", file.read_text())}


def test_generated_files_are_what_the_code_makes() -> None:
    assert differing(built()) == [], "run `make docs`"


def test_pictures_are_well_formed_and_hold_nothing_active() -> None:
    pictures = sorted(HERE.glob("pictures/*.svg"))
    assert len(pictures) >= len(ALL_METHODS) + 1
    for path in pictures:
        tree = ElementTree.parse(path)
        kinds = {element.tag.rpartition("}")[2] for element in tree.iter()}
        assert "title" in kinds
        assert not kinds & {"script", "image", "foreignObject", "style", "use"}


@pytest.mark.parametrize("page", PAGES, ids=short)
def test_links_lead_somewhere(page: Path) -> None:
    text = CODE.sub("", page.read_text(encoding="utf-8"))
    wrong = []
    for target in LINK.findall(text):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        there = (page.parent / path).resolve() if path else page
        if not there.exists() or (anchor and anchor not in anchors(there)):
            wrong.append(target)
    assert wrong == []


def anchors(page: Path) -> set[str]:
    heads = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


@pytest.mark.parametrize("key", [record.key for record in ALL_METHODS])
def test_page_of_a_method_shows_its_picture_and_names_its_tests(key: str) -> None:
    text = (HERE / "methods" / f"{key}.md").read_text(encoding="utf-8")
    assert f"](../pictures/{key}.svg)" in text
    named = set(TEST.findall(text))
    assert named
    assert named <= known_tests(), f"unknown tests: {sorted(named - known_tests())}"


@pytest.mark.parametrize("key", [one.key for one in METHODS if one.key not in ("auto", "mm")])
def test_page_of_a_method_says_which_items_its_loss_counts(key: str) -> None:
    text = (HERE / "methods" / f"{key}.md").read_text(encoding="utf-8")
    if key not in ("optimal", "trim"):
        text = text.partition("## Differences from the paper")[2]
    assert (
        "those that occur in the data" in text
        or "items that occur in the data" in text
        or ("both domains" in text)
    )


@pytest.mark.parametrize("key", ["aa", "hghs", "mhghs"])
def test_pages_say_where_forests_are_allowed(key: str) -> None:
    text = (HERE / "methods" / f"{key}.md").read_text(encoding="utf-8")
    rows = [line for line in text.split("\n") if line.startswith("|") and "forests" in line]
    assert rows
    assert all("table" in row for row in rows)


def test_every_page_is_reached_from_the_index() -> None:
    index = (HERE / "README.md").read_text(encoding="utf-8")
    reached = {(HERE / target).resolve() for target in LINK.findall(index)}
    pages = {path for path in HERE.rglob("*.md") if path.name != "README.md"}
    assert sorted(short(path) for path in pages - reached) == []


def test_tests_named_in_the_docs_exist() -> None:
    named = {name for page in PAGES for name in TEST.findall(page.read_text(encoding="utf-8"))}
    assert named <= known_tests()
    paths = {
        path for page in PAGES for path in re.findall(r"`(tests/[\w/.]+)`", page.read_text("utf-8"))
    }
    assert [
        path for path in sorted(paths) if not (ROOT / path).exists() and path != TO_BE_WRITTEN
    ] == []


def test_changelog_knows_this_version() -> None:
    assert f"## {setveil.__version__}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_every_method_is_in_the_index() -> None:
    index = (HERE / "README.md").read_text(encoding="utf-8")
    assert [record.key for record in ALL_METHODS if f"(methods/{record.key}.md)" not in index] == []
