"""The pages of two data sets: the public one tells nothing of the originals, the private one does."""

from __future__ import annotations

import re
from fractions import Fraction
from itertools import product
from pathlib import Path
from random import Random

import numpy as np
import pytest

from setveil.hierarchy.tree import Hierarchy
from setveil.mining.emerging import EmergingPatterns, emerging_patterns
from setveil.model.guarantees import HiddenPatterns
from setveil.model.pattern_pair import PatternPair
from setveil.model.transactions import Transactions
from setveil.publish import publish
from setveil.release.pair_release import PairRelease
from setveil.release.recoding import PairRecoding
from setveil.report.pages import pairs
from setveil.report.pages.pairs import minimal_patterns

from ..pair_cases import FOOD, random_release

HOSTILE = Hierarchy.from_parents(
    {"<script>alert(1)</script>": "<b>&all", "a\u202eb": "<b>&all", "<b>&all": None}
)


def pages(release: PairRelease, folder: Path) -> tuple[str, str]:
    publish(release, folder / "out", allow_useless=True)
    return (
        (folder / "out" / "report.html").read_text(),
        (folder / "out.private" / "report.html").read_text(),
    )


def drinks(before: list[list[str]], after: list[list[str]]) -> PairRelease:
    pair = PatternPair.of_sets(Transactions.from_rows(before), Transactions.from_rows(after), FOOD)
    roots = [pair.hierarchy.root[side.leaves] for side in pair.sides]
    return PairRelease(
        pair, PairRecoding((roots[0], roots[1])), guarantee=HiddenPatterns(2), method="hide-patterns"
    )


def test_originals_that_lead_to_the_same_release_give_the_same_public_page(tmp_path: Path) -> None:
    one = drinks([["ale"], ["ale"]], [["tea"], ["bun"]])
    other = drinks([["rye"], ["tea"]], [["ham"], ["ham"]])
    texts = []
    for number, release in enumerate((one, other)):
        folder = tmp_path / str(number)
        folder.mkdir()
        public, private = pages(release, folder)
        texts.append(public)
        assert (
            "ale" not in public.replace("emerging", "").split("<main>")[1] or "<bdi>ale" not in public
        )
        assert "<bdi>ale" in private or "<bdi>ham" in private
    assert texts[0] == texts[1]
    names = ["certificate.json", "data-1.jsonl", "data-2.jsonl", "hierarchy.csv", "report.html"]
    for name in names:
        files = [(tmp_path / str(number) / "out" / name).read_bytes() for number in (0, 1)]
        assert files[0] == files[1], name


def test_private_page_lists_patterns_and_what_was_raised(tmp_path: Path) -> None:
    _, private = pages(drinks([["ale"], ["ale", "ham"]], [["tea"], ["tea", "ham"]]), tmp_path)
    for said in (
        "Patterns before",
        "only there",
        "What was raised",
        "Personal data.",
        "Patterns after",
    ):
        assert said in private
    assert "1 up" in private
    assert "2 up" in private


def test_pages_of_tables_tell_columns_and_classes(tmp_path: Path) -> None:
    public, private = pages(random_release("table", 1), tmp_path)
    assert "<bdi>income</bdi> = <bdi>low</bdi>" in public
    assert "one value or a category, covered by the promise" in public
    assert "nothing had to be hidden" in private
    assert "<li><bdi>old</bdi></li>\n<li><bdi>new</bdi></li>" in private
    assert "<bdi>old</bdi>" not in public


@pytest.mark.parametrize("raised", [False, True])
def test_hostile_labels_are_escaped(tmp_path: Path, raised: bool) -> None:
    rows = Transactions.from_rows([["<script>alert(1)</script>"], ["a\u202eb"]])
    pair = PatternPair.of_sets(rows, rows, HOSTILE, names=("<i>", "<u>"))
    nodes = [pair.hierarchy.root[s.leaves] if raised else s.leaves for s in pair.sides]
    recoding = PairRecoding((np.array(nodes[0]), np.array(nodes[1])))
    for text in pages(
        PairRelease(pair, recoding, guarantee=HiddenPatterns(2), method="hide-patterns"), tmp_path
    ):
        assert "<script" not in text
        assert "<i>" not in text
        assert "<b>" not in text
        assert "\u202e" not in text


def random_patterns(seed: int) -> EmergingPatterns:
    random = Random(seed)
    tilts = [random.choice((0.2, 0.5, 0.9)) for _ in "ab"]
    first, second = (
        Transactions.from_rows(
            [[item for item in "abcdefg" if random.random() < tilt] for _ in range(20)]
        )
        for tilt in tilts
    )
    return emerging_patterns(first, second, growth=Fraction(3, 2), min_support=2)


@pytest.mark.parametrize("seed", range(20))
def test_minimal_patterns_are_those_without_a_smaller_one(seed: int) -> None:
    found = random_patterns(seed)
    patterns = [(set(pattern.items), pattern.more_frequent_in) for pattern in found]
    expected = [
        not any(smaller < items and where == there for smaller, there in patterns)
        for items, where in patterns
    ]
    is_minimal = minimal_patterns(found)
    assert is_minimal is not None
    assert is_minimal.tolist() == expected


def nested(folder: Path) -> str:
    """The private page of sets in one data set alone: ale, tea and bun, and all that holds them."""
    return pages(drinks([["ale", "tea", "bun"]] * 2, [["rye"], ["rye"]]), folder)[1]


def test_private_page_lists_the_minimal_patterns_first(tmp_path: Path) -> None:
    private = nested(tmp_path)
    assert "8 sets of values" in private
    assert "4 of them are minimal" in private
    minimal, _, rest = private.partition("All minimal patterns</caption>")[2].partition("<caption>")
    assert rest.startswith("Of the others, which add values to these, the 4 fastest growing")
    assert minimal.count("<td>") == 4
    assert "</bdi>, <bdi>" not in minimal
    assert rest.partition("</table>")[0].count("</bdi>, <bdi>") == 5
    picture = private.partition('id="before"')[2].partition("</svg>")[0]
    assert picture.count(">only there</text>") == 4
    assert ">more frequent in first</text>" in picture
    assert ">more frequent in second</text>" in picture


def test_no_more_patterns_are_listed_than_fit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pairs, "MOST_PATTERNS", 3)
    private = nested(tmp_path)
    assert "The 3 fastest growing minimal patterns" in private
    assert "Of the others" not in private


def test_too_many_patterns_are_not_compared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pairs, "MOST_COMPARED", 7)
    private = nested(tmp_path)
    assert "too many to tell which are minimal" in private
    assert "All patterns" in private


def test_growth_comes_first_and_names_of_data_sets_stand_alone(tmp_path: Path) -> None:
    private = nested(tmp_path)
    heads = re.findall("<th [^>]*>([^<]*)</th>", private.partition('id="before"')[2])
    assert heads[:2] == ["growth", "pattern, and the shares of the records that hold it"]
    # Three columns at most: a wider table scrolls sideways.
    assert "wide" not in private.partition('id="before"')[2].partition("</section>")[0]
    assert "100.0 % of <bdi>first</bdi>, 0.0 % of the other" in private
    assert "<li><bdi>first</bdi></li>\n<li><bdi>second</bdi></li>" in private


def test_values_of_two_columns_are_told_apart_in_the_picture(tmp_path: Path) -> None:
    columns = ("gain", "loss")
    rows = [
        Transactions.from_rows([[f"{name}={value}" for name in columns]] * 2) for value in ("0", "1")
    ]
    pair = PatternPair.of_tables(*rows, columns, names=("old", "new"))
    roots = [pair.hierarchy.root[side.leaves] for side in pair.sides]
    recoding = PairRecoding((roots[0], roots[1]))
    _, private = pages(
        PairRelease(pair, recoding, guarantee=HiddenPatterns(2), method="hide-patterns"), tmp_path
    )
    for name, value in product(columns, "01"):
        assert f">{name}={value}</text>" in private


@pytest.mark.parametrize("every_level", [False, True])
def test_no_pattern_left_says_how_values_are_read(tmp_path: Path, every_level: bool) -> None:
    release = drinks([["ale"], ["ham"]], [["tea"], ["ham"]])
    promise = HiddenPatterns(2, every_level=every_level)
    release = PairRelease(release.pair, release.recoding, guarantee=promise, method="hide-patterns")
    public, private = pages(release, tmp_path)
    said = private.partition('id="after"')[2].partition("</p>")[0]
    assert "no pattern is left" in said
    assert ("nothing is promised of them" in said) == (not every_level)
    read = "read at every level" if every_level else "taken as they stand"
    assert f'<p class="lead">Whoever compares the two data sets, values {read}, finds no' in public
