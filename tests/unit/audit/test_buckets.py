"""What the audit of buckets refuses and says."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from setveil.audit.bucket_tables import PublishedBuckets
from setveil.audit.buckets import audit_buckets
from setveil.errors import DataError
from setveil.model.guarantees import LDiversity, MatchingDiversity

SENSITIVE = [(0, "flu", 1), (0, "gout", 1), (1, "flu", 2), (1, "gout", 1)]


def tables(**changed: object) -> PublishedBuckets:
    parts: dict[str, object] = {
        "cells_by_column": {"sex": list("FMFMM")},
        "bucket_by_row": [0, 0, 1, 1, 1],
        "sensitive": SENSITIVE,
    }
    return PublishedBuckets.of(**(parts | changed))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("changed", "what"),
    [
        ({"bucket_by_row": [0, 0, 1, 1, 2]}, "bucket 2 has 2 rows in one table and 3 in the other"),
        ({"bucket_by_row": [0, 0, 2, 2, 2]}, "bucket 2 has no rows"),
        ({"bucket_by_row": [0, 0, -1, 1, 1]}, "negative number"),
        ({"cells_by_column": {"sex": list("FM")}}, "'sex' has 2 cells for 5 rows"),
        ({"sensitive": [*SENSITIVE, (2, "flu", 1)]}, "names bucket 3, which has no rows"),
        ({"sensitive": [*SENSITIVE, (1, "flu", 1)]}, "'flu' is counted twice in bucket 2"),
        ({"sensitive": [*SENSITIVE, (1, "cold", 0)]}, "a count of 0 in bucket 2"),
        ({"sensitive": SENSITIVE[:3]}, "bucket 2 has 3 rows in one table and 2 in the other"),
    ],
)
def test_tables_that_do_not_fit_each_other_are_refused(changed: dict[str, object], what: str) -> None:
    with pytest.raises(DataError, match=what):
        tables(**changed)


def test_rules_about_other_columns_are_refused() -> None:
    with pytest.raises(DataError, match="'age', which is not published"):
        audit_buckets(tables(), MatchingDiversity(2), rules=[((("age", "7"),), "flu")])


def test_what_is_said() -> None:
    finding = audit_buckets(tables(), LDiversity(2))
    assert not finding
    assert finding.as_dict() == {
        "holds": False,
        "guarantee": {"model": "l", "l": 2},
        "records": 5,
        "buckets": 2,
        "smallest_bucket": 2,
        "worst_share": [2, 3],
        "fewest_possible": 2,
        "violations": 1,
        "fewest_by_missing_rules": None,
    }
    assert audit_buckets(tables(), MatchingDiversity(2)).worst_share == Fraction(2, 3)


def test_a_rule_that_leaves_nobody_for_a_value_breaks_everything_in_the_bucket() -> None:
    rules = [((("sex", "F"),), "flu"), ((("sex", "M"),), "flu")]
    finding = audit_buckets(tables(), MatchingDiversity(2), rules=rules)
    assert (finding.fewest_possible, finding.violations) == (0, 5)


def test_an_empty_cell_is_none_of_the_l() -> None:
    """Beside an empty cell flu is the only diagnosis that anybody there can have."""
    told = [(0, "(missing)", 1), (0, "flu", 1), (1, "(missing)", 1), (1, "flu", 1), (1, "gout", 1)]
    for guarantee, broken in ((LDiversity(2), 1), (MatchingDiversity(2), 2)):
        finding = audit_buckets(tables(sensitive=told), guarantee)
        assert (finding.holds, finding.violations, finding.fewest_possible) == (False, broken, 1)
    # Of two rows in the first bucket one has a value: flu has all of it.
    assert audit_buckets(tables(sensitive=told), LDiversity(2)).worst_share == 1


def test_exactly_one_in_l_is_allowed() -> None:
    half = tables(sensitive=[(0, "flu", 1), (0, "gout", 1), (1, "a", 1), (1, "b", 1), (1, "c", 1)])
    assert audit_buckets(half, LDiversity(2)).holds
    assert audit_buckets(half, LDiversity(3)).violations == 1


def test_tables_without_rows_hold() -> None:
    nothing = PublishedBuckets((), np.empty(0, np.int64), ())
    for guarantee in (LDiversity(2), MatchingDiversity(2)):
        finding = audit_buckets(nothing, guarantee)
        assert finding.holds
        assert finding.worst_share is None
        assert finding.fewest_possible is None
