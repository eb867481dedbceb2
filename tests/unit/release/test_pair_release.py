"""What is published of two data sets: rows in canonical order, and words that say what is promised."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from setveil.model.guarantees import HiddenPatterns, KmAnonymity, LDiversity
from setveil.model.layout import Layout
from setveil.model.pattern_pair import PatternPair
from setveil.model.transactions import canonical_order
from setveil.publish import Wish, edition_of
from setveil.release.claims import Facts, claims_of
from setveil.release.documents import published_paths
from setveil.release.pair_release import PairRelease, cell_by_row, publish_pair
from setveil.release.recoding import PairRecoding

from ..pair_cases import COLUMNS, random_recoding, random_release, random_sets, random_table

KINDS = ["sets", "table"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(6))
def test_every_published_value_covers_its_original(kind: str, seed: int) -> None:
    release = random_release(kind, seed)
    tree = release.pair.hierarchy
    for side, nodes, shown, order in zip(
        release.pair.sides,
        release.recoding.node_by_entry,
        release.published.sides,
        release.published.record_by_row,
        strict=True,
    ):
        assert sorted(order.tolist()) == list(range(len(side)))
        bounds = side.indptr
        for row, record in zip(shown.rows(), order.tolist(), strict=True):
            entries = slice(bounds[record], bounds[record + 1])
            assert set(row) == {tree.labels[node] for node in nodes[entries].tolist()}
            for leaf in side.leaves[entries].tolist():
                above = [label for label in row if tree.covers(tree.node_of_label[label], leaf)]
                assert len(above) == 1 if kind == "table" else above


@pytest.mark.parametrize("seed", range(4))
def test_rows_are_in_canonical_order_whatever_the_input_was(seed: int) -> None:
    for pair in (random_sets(seed), random_table(seed)):
        recoding = random_recoding(pair, seed)
        once = publish_pair(pair, recoding)
        order = np.random.default_rng(seed).permutation(len(pair.sides[0]))
        entries = np.concatenate(
            [np.arange(pair.sides[0].indptr[r], pair.sides[0].indptr[r + 1]) for r in order]
        )
        rows = pair.sides[0].take(order)
        nodes = recoding.node_by_entry[0][entries]
        shuffled = PatternPair(pair.hierarchy, (rows, rows), pair.columns)
        again = publish_pair(shuffled, PairRecoding((nodes, nodes)))
        for here, there in zip(once.sides, again.sides, strict=True):
            assert list(here.rows()) == list(there.rows())


def test_tables_are_ordered_by_cells_and_sets_by_labels() -> None:
    table = random_release("table", 3).published.sides[0]
    cells = cell_by_row(table, COLUMNS)
    texts = [
        [table.vocabulary.labels[cell].partition("=")[2] if cell >= 0 else "" for cell in row]
        for row in cells.tolist()
    ]
    assert texts == sorted(texts)
    sets = random_release("sets", 3).published.sides[0]
    assert canonical_order(sets).tolist() == list(range(len(sets)))


def test_certificate_tells_files_columns_and_classes_but_no_names() -> None:
    release = random_release("table", 1)
    hashes = dict.fromkeys(("data-1.csv", "data-2.csv", "hierarchy.csv"), "0" * 64)
    edition = edition_of(release, Wish(None, csv_safe=False, path=Path("out")))
    edition.layout = Layout("table")
    told = edition.certificate(hashes, None)
    assert told["data"] == {
        "format": "table",
        "delimiter": ",",
        "columns": list(COLUMNS),
        "classes": {"column": "income", "values": ["low", "high"]},
        "parts": [
            {"file": "data-1.csv", "sha256": "0" * 64, "records": 12},
            {"file": "data-2.csv", "sha256": "0" * 64, "records": 12},
        ],
    }
    assert told["recoding"] == "pair"
    assert told["loss"] == {}
    assert "'old'" not in str(told)
    assert "'new'" not in str(told)


@pytest.mark.parametrize("seed", range(3))
def test_the_published_hierarchy_holds_what_is_published_and_what_is_above(seed: int) -> None:
    release = random_release("table", seed)
    paths = published_paths(release.hierarchy, release.labels)
    assert [path[0] for path in paths] == list(release.published.labels)
    assert len({len(path) for path in paths}) == 1
    for path in paths:
        assert tuple(dict.fromkeys(path)) == release.pair.hierarchy.path(path[0])


@pytest.mark.parametrize(
    ("guarantee", "support"),
    [
        (HiddenPatterns(Fraction(5)), "at least 10 % of the records"),
        (HiddenPatterns(Fraction(15, 4), Fraction(1, 3)), "at least 1/3 of the records"),
        (HiddenPatterns(Fraction(2), 50), "at least 50 records"),
        (HiddenPatterns(Fraction(2), Fraction(1)), "all records"),
    ],
)
def test_sentences_name_growth_and_support(guarantee: HiddenPatterns, support: str) -> None:
    said = claims_of(guarantee)
    for sentence in said.promised:
        assert str(guarantee.growth) in sentence
        assert support in sentence
    assert support in str(said.terms["privacy_model"])
    assert support in said.evidence["inference"]["shown"][0]
    assert said.evidence["singling_out"]["shown"] == []


def test_what_is_not_promised_follows_from_the_promise() -> None:
    plain, strict = HiddenPatterns(5), HiddenPatterns(5, every_level=True)
    assert "every category above" in " ".join(claims_of(plain).not_promised)
    assert "every category above" not in " ".join(claims_of(strict).not_promised)
    assert "every category above" in claims_of(strict).promised[0]
    assert "values taken as they stand, finds no" in claims_of(plain).promised[1]
    assert "values read at every level, finds no" in claims_of(strict).promised[1]
    assert "class" in " ".join(claims_of(plain, Facts(classes=True)).not_promised)
    assert "class" not in " ".join(claims_of(plain).not_promised)


def test_no_certificate_says_that_a_value_had_to_be_raised() -> None:
    """Searches raise more than need be, and nothing proves the opposite."""
    said = [
        *claims_of(HiddenPatterns(5)).not_promised,
        *claims_of(KmAnonymity(2, 2)).not_promised,
        *claims_of(LDiversity(2)).not_promised,
    ]
    assert sum("reasoning about the method" in sentence for sentence in said) == 3
    assert not any("had to be" in sentence for sentence in said)
    assert any("sets below the minimum support" in sentence for sentence in said)


def test_private_recoding_holds_the_original_of_every_row() -> None:
    release = random_release("sets", 5)
    told = release.hidden()
    values, rows = told["values"], told["rows"]
    assert isinstance(values, list)
    assert isinstance(rows, list)
    first = sorted(
        tuple(values[int(word.partition(">")[0])] for word in text.split()) for text in rows[0]
    )
    labels = told["labels"]
    assert isinstance(labels, list)
    shown = [
        {labels[int(above)] if above else values[int(value)] for value, _, above in words}
        for words in ([word.partition(">") for word in text.split()] for text in rows[0])
    ]
    assert shown == [set(row) for row in release.published.sides[0].rows()]
    tree, side = release.pair.hierarchy, release.pair.sides[0]
    bounds = side.indptr.tolist()
    assert first == sorted(
        tuple(sorted(tree.labels[leaf] for leaf in side.leaves[a:b].tolist()))
        for a, b in pairwise(bounds)
    )


def test_summary_counts_what_was_raised_and_warns_of_nothing_left() -> None:
    pair = random_table(2)
    tree = pair.hierarchy
    roots = PairRecoding((tree.root[pair.sides[0].leaves], tree.root[pair.sides[1].leaves]))
    release = PairRelease(
        pair, roots, guarantee=HiddenPatterns(2), method="hide-patterns", options={"search": "greedy"}
    )
    assert release.raised == release.values == 2 * len(pair.sides[0].leaves)
    assert "topmost" in str(release.useless)
    text = str(release)
    assert "no pattern of growth 2 or more" in text
    assert "cells (100.0%)" in text
    assert "search greedy" in text
    assert "<table>" in release._repr_html_()
    as_is = PairRecoding((pair.sides[0].leaves, pair.sides[1].leaves))
    kept = PairRelease(pair, as_is, guarantee=HiddenPatterns(2), method="hide-patterns")
    assert kept.raised == 0
    assert kept.useless is None
