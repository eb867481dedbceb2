"""Workloads and the errors of their queries, on a few baskets."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import pytest

import setveil as sv
from setveil.errors import DataError, UsageError
from setveil.io.lists import QueryFile
from setveil.measure.queries import asked_workload, query_errors, random_workload, workload_of
from setveil.model.transactions import Rows, bind
from setveil.release.recoding import BeforeAfter, Recoding

ROWS = [["ale", "bun"], ["ale", "milk"], ["wine", "bun"], ["bun"]]
TREE = sv.Hierarchy.from_parents(
    {
        "ale": "alcohol",
        "wine": "alcohol",
        "milk": "food",
        "bun": "food",
        "alcohol": "ALL",
        "food": "ALL",
        "ALL": None,
    }
)


def published(*labels: str) -> BeforeAfter:
    hierarchy, rows = bind(sv.Transactions.from_rows(ROWS), TREE)
    cut = [hierarchy.node_of_label[label] for label in labels]
    return BeforeAfter(Recoding.from_cut(hierarchy, cut), rows)


def test_errors_by_hand() -> None:
    pair = published("alcohol", "milk", "bun")
    found = query_errors(pair, workload_of([["ale"], ["wine"], ["ale", "bun"], ["food"]], TREE))
    assert found.true_by_query.tolist() == [2, 1, 1, 4]
    assert found.estimate_by_query.tolist() == [1.5, 1.5, 1.0, 4.0]
    assert found.error_by_query.tolist() == [0.25, 0.5, 0.0, 0.0]
    assert found.are == 0.1875
    assert (found.quantile(50), found.quantile(75), found.quantile(100)) == (0.0, 0.25, 0.5)
    assert dict(found.histogram) == {
        "exact": 2,
        "up to 1%": 0,
        "up to 5%": 0,
        "up to 10%": 0,
        "up to 25%": 1,
        "up to 50%": 1,
        "up to 100%": 0,
        "above 100%": 0,
    }
    assert [query["query"] for query in found.worst()] == [["wine"], ["ale"]]
    assert found.worst(1)[0] == {"query": ["wine"], "true": 1, "estimate": 1.5, "error": 0.5}
    assert "mean 0.1875, median 0.0000, largest 0.5000" in str(found)
    assert found.as_dict()["count"] == 4


def test_the_sanity_bound_is_the_least_divisor() -> None:
    pair = published("alcohol", "food")
    asked = workload_of([["wine"]], pair.hierarchy)
    assert query_errors(pair, asked).are == 0.5
    bounded = query_errors(pair, asked, sanity=0.5)
    assert (bounded.are, bounded.least) == (0.25, 2)
    assert "true counts below 2 count as 2" in str(bounded)
    for wrong in (0, -1, 1.5, float("nan"), True, "0.1"):
        with pytest.raises(UsageError, match="sanity bound"):
            query_errors(pair, asked, sanity=wrong)  # type: ignore[arg-type]


def test_queries_of_another_hierarchy_are_refused() -> None:
    other = sv.Hierarchy.from_parents({"ale": "ALL", "tea": "ALL", "ALL": None})
    with pytest.raises(UsageError, match="another hierarchy"):
        query_errors(published("ALL"), workload_of([["tea"]], other))


def test_a_label_above_another_of_the_query_adds_nothing() -> None:
    asked = workload_of([["ALL", "ale", "alcohol"], ["food", "alcohol"]], TREE)
    assert asked.queries() == [("ale",), ("alcohol", "food")]


def test_unknown_labels_are_told_together_with_their_lines() -> None:
    file = QueryFile("q.csv", (("ale",), ("tea", "rum"), ("gin",)), (1, 3, 4))
    with pytest.raises(DataError) as caught:
        asked_workload(published("ALL"), file)
    problems = [(problem.line, problem.file) for problem in caught.value.problems]
    assert problems == [(3, "q.csv"), (3, "q.csv"), (4, "q.csv")]
    assert "'rum'" in caught.value.problems[0].what


def test_random_queries_are_the_same_each_time_and_of_all_sizes() -> None:
    pair = published("ALL")
    drawn = random_workload(pair, 400, size=2)
    assert drawn.queries() == random_workload(pair, 400, size=2).queries()
    assert drawn.queries() != random_workload(pair, 400, size=2, seed=1).queries()
    sizes = Counter(map(len, drawn.queries()))
    assert set(sizes) == {1, 2}
    labels = {label for query in drawn.queries() for label in query}
    assert labels == {"ale", "wine", "milk", "bun", "alcohol", "food"}
    assert (query_errors(pair, drawn).true_by_query > 0).all()
    anywhere = random_workload(pair, 400, size=2, drawn_from="items")
    assert (query_errors(pair, anywhere).true_by_query == 0).any()


def test_their_order_does_not_depend_on_that_of_the_records() -> None:
    data = [sv.Transactions.from_rows(rows) for rows in (ROWS, ROWS[::-1])]
    releases = [sv.anonymize(rows, sv.KmAnonymity(2, 1), hierarchy=TREE) for rows in data]
    found = [sv.measure(release, random_queries=50).queries for release in releases]
    assert found[0] is not None and found[1] is not None
    assert found[0].workload.queries() == found[1].workload.queries()


@pytest.mark.parametrize(
    "options",
    [
        {"random_queries": 0},
        {"random_queries": True},
        {"random_queries": 10, "query_size": 0},
        {"random_queries": 10, "query_size": 1000},
        {"random_queries": 10, "drawn_from": "hats"},
        {"random_queries": 10, "queries": [["ale"]]},
        {"query_size": 2},
        {"drawn_from": "items"},
        {"queries": []},
        {"queries": "ale"},
    ],
)
def test_what_cannot_be_asked_is_refused(options: dict[str, object]) -> None:
    with pytest.raises(UsageError):
        asked_workload(published("ALL"), **options)  # type: ignore[arg-type]


def test_data_without_items_cannot_be_asked() -> None:
    pair = published("ALL")
    empty = BeforeAfter(pair.recoding, Rows(pair.rows.indptr[:1], pair.rows.leaves[:0]))
    with pytest.raises(UsageError, match="nothing to ask"):
        random_workload(empty)
    with pytest.raises(DataError, match="without labels"):
        workload_of([[]], TREE)


def test_a_table_is_asked_by_column() -> None:
    table = sv.Transactions.from_rows([["sex=F", "drug=a"], ["sex=F", "drug=b"], ["sex=M", "drug=b"]])
    tree = sv.Hierarchy.from_parents(
        {"sex=F": "sex=*", "sex=M": "sex=*", "sex=*": None, "drug=a": "drug=*", "drug=b": "drug=*",
         "drug=*": None}
    )  # fmt: skip
    hierarchy, rows = bind(table, tree)
    cut = [hierarchy.node_of_label[label] for label in ("sex=F", "sex=M", "drug=*")]
    pair = BeforeAfter(Recoding.from_cut(hierarchy, cut), rows)
    found = query_errors(pair, workload_of([["sex=F", "drug=a"], ["sex=M"]], hierarchy))
    assert found.estimate_by_query.tolist() == [1.0, 1.0]
    assert found.least == Fraction(3, 1000)
