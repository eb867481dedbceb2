"""Documentation that cannot fall behind: generated files are new, links lead somewhere, tests exist."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

from docs.build import HERE, built, differing

import setveil
from setveil.cli.main import app
from setveil.registry import ALL_METHODS, METHODS
from tests.house.sources import ROOT, tell

PAGES = sorted([*ROOT.glob("*.md"), *HERE.rglob("*.md")])
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
CODE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
TO_BE_WRITTEN = "tests/papers/test_x.py"
WHICH_ITEMS = ("those that occur in the data", "items that occur in the data", "both domains")
NO_PAGE = {"demo", "doctor", "methods"}
"""Verbs that `--help` tells all of."""
CHOICES = {"choose-a-guarantee", "choose-a-method", "data-formats", "python", "read-a-release"}
TEST = re.compile(r"`(test_\w+)`")


def short(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def known_tests() -> set[str]:
    files = (ROOT / "tests").rglob("test_*.py")
    return {name for file in files for name in re.findall(r"def (test_\w+)", file.read_text("utf-8"))}


def faults_of_pictures() -> Iterator[str]:
    pictures = sorted(HERE.glob("pictures/*.svg"))
    if len(pictures) <= len(ALL_METHODS):
        yield f"there are only {len(pictures)} pictures"
    for path in pictures:
        tree = ElementTree.parse(path)
        kinds = {element.tag.rpartition("}")[2] for element in tree.iter()}
        if "title" not in kinds:
            yield f"{short(path)} has no title"
        for kind in sorted(kinds & {"script", "image", "foreignObject", "style", "use"}):
            yield f"{short(path)} holds {kind}"


def faults_of_links() -> Iterator[str]:
    heads = {page.resolve(): anchors(page) for page in PAGES}
    for page in PAGES:
        for target in LINK.findall(CODE.sub("", page.read_text(encoding="utf-8"))):
            if re.match(r"[a-z]+:", target):
                continue
            path, _, anchor = target.partition("#")
            there = (page.parent / path).resolve() if path else page.resolve()
            if not there.exists() or (anchor and anchor not in heads.get(there, ())):
                yield f"{short(page)} links to {target}, which is nowhere"
    index = (HERE / "README.md").read_text(encoding="utf-8")
    reached = {(HERE / target).resolve() for target in LINK.findall(index)}
    for path in sorted(path for path in HERE.rglob("*.md") if path.name != "README.md"):
        if path not in reached:
            yield f"{short(path)} is not reached from the index"
    for record in ALL_METHODS:
        if f"(methods/{record.key}.md)" not in index:
            yield f"{record.key} is not in the index"


def anchors(page: Path) -> set[str]:
    heads = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


def faults_of_method_pages() -> Iterator[str]:
    tests = known_tests()
    for record in ALL_METHODS:
        page, text = _page_of(record.key)
        if f"](../pictures/{record.key}.svg)" not in text:
            yield f"{page} does not show its picture"
        named = set(TEST.findall(text))
        if not named or not named <= tests:
            yield f"{page} names no test, or unknown ones: {sorted(named - tests)}"
    for key in [one.key for one in METHODS if one.key not in ("auto", "mm")]:
        page, text = _page_of(key)
        if key not in ("optimal", "trim"):
            text = text.partition("## Differences from the paper")[2]
        if not any(words in text for words in WHICH_ITEMS):
            yield f"{page} does not say which items its loss counts"
    for key in ("aa", "hghs", "mhghs"):
        page, text = _page_of(key)
        rows = [line for line in text.split("\n") if line.startswith("|") and "forests" in line]
        if not rows or not all("table" in row for row in rows):
            yield f"{page} does not say where forests are allowed"


def _page_of(key: str) -> tuple[str, str]:
    path = HERE / "methods" / f"{key}.md"
    return short(path), path.read_text(encoding="utf-8")


def faults_of_guide() -> Iterator[str]:
    """A page a verb, and no page for a verb with one kind of data."""
    verbs = {str(info.name) for info in app.registered_commands} | {
        str(info.name) for info in app.registered_groups
    }
    pages = {path.stem for path in (HERE / "guide").glob("*.md")}
    yield from (f"the verb {verb} has no page in docs/guide" for verb in verbs - NO_PAGE - pages)
    yield from (f"docs/guide/{page}.md is no verb" for page in pages - verbs - CHOICES)


def faults_of_names() -> Iterator[str]:
    tests = known_tests()
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        yield from (
            f"{short(page)} names {name}, which is no test" for name in set(TEST.findall(text)) - tests
        )
        for path in re.findall(r"`(tests/[\w/.]+)`", text):
            if not (ROOT / path).exists() and path != TO_BE_WRITTEN:
                yield f"{short(page)} names {path}, which is not there"
    if f"## {setveil.__version__}" not in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"):
        yield f"CHANGELOG.md does not know {setveil.__version__}"


def test_pages_and_pictures_are_true() -> None:
    tell(
        [
            *faults_of_pictures(),
            *faults_of_links(),
            *faults_of_method_pages(),
            *faults_of_guide(),
            *faults_of_names(),
        ]
    )


def test_generated_files_are_what_the_code_makes() -> None:
    tell(f"docs/{path} differs: run `make docs`" for path in differing(built()))
