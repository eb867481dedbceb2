"""The pages of two data sets: the public one tells nothing of the originals, the private one does."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from setveil.model.guarantees import HiddenPatterns
from setveil.model.hierarchy import Hierarchy
from setveil.model.pattern_pair import PatternPair
from setveil.model.transactions import Transactions
from setveil.pair_publishing import publish_pair
from setveil.release.pair_recoding import PairRecoding
from setveil.release.pair_release import PairRelease

from ..pair_cases import FOOD, random_release

HOSTILE = Hierarchy.from_parents(
    {"<script>alert(1)</script>": "<b>&all", "a\u202eb": "<b>&all", "<b>&all": None}
)


def pages(release: PairRelease, folder: Path) -> tuple[str, str]:
    publish_pair(release, folder / "out")
    return (
        (folder / "out" / "report.html").read_text(),
        (folder / "out.private" / "report.html").read_text(),
    )


def drinks(before: list[list[str]], after: list[list[str]]) -> PairRelease:
    pair = PatternPair.of_sets(Transactions.from_rows(before), Transactions.from_rows(after), FOOD)
    roots = [pair.hierarchy.root[side.leaves] for side in pair.sides]
    return PairRelease(pair, PairRecoding((roots[0], roots[1])), HiddenPatterns(2), "hide-patterns")


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
    assert "<bdi>old</bdi> and <bdi>new</bdi>" in private
    assert "<bdi>old</bdi>" not in public


@pytest.mark.parametrize("raised", [False, True])
def test_hostile_labels_are_escaped(tmp_path: Path, raised: bool) -> None:
    rows = Transactions.from_rows([["<script>alert(1)</script>"], ["a\u202eb"]])
    pair = PatternPair.of_sets(rows, rows, HOSTILE, names=("<i>", "<u>"))
    nodes = [pair.hierarchy.root[s.leaves] if raised else s.leaves for s in pair.sides]
    recoding = PairRecoding((np.array(nodes[0]), np.array(nodes[1])))
    for text in pages(PairRelease(pair, recoding, HiddenPatterns(2), "hide-patterns"), tmp_path):
        assert "<script" not in text
        assert "<i>" not in text
        assert "<b>" not in text
        assert "\u202e" not in text
