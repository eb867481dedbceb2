"""What the audit says of two data sets, and what it refuses."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from setveil.audit import Published, audit_pair
from setveil.errors import UsageError
from setveil.model.guarantees import HiddenPatterns

FIRST = Published.from_rows([["a"], ["a", "b"], ["a", "b"], []])
SECOND = Published.from_rows([["a"], ["b"]])
NOBODY = Published(np.zeros(1, np.int64), np.empty(0, np.int32), ())


def test_what_is_said() -> None:
    finding = audit_pair(FIRST, SECOND, HiddenPatterns(2, Fraction(1, 2)), witnesses=5)
    assert not finding
    assert finding.as_dict() == {
        "holds": False,
        "guarantee": {"model": "patterns", "growth": "2", "min_support": "1/2"},
        "mode": "exact",
        "records": [4, 2],
        "checked": 4,
        "highest_growth": [3, 2],
        "patterns": 1,
        "patterns_every_level": 1,
        "counted_all": True,
        "witnesses": [{"labels": ["a", "b"], "more_frequent_in": 1, "count": 2, "count_elsewhere": 0}],
    }
    assert str(finding) == (
        "DOES NOT HOLD: no pattern of growth 2 or more (exact), 4 and 2 records\n"
        "  minimum support: 1/2 of the records\n"
        "  closed sets counted: 4\n"
        "  highest finite growth: 1.50\n"
        "  closed sets that break it: 1\n"
        "  patterns at every level, of which nothing is promised: 1\n"
        "  witness: {a, b} in 2 of data set 1, 0 of the other"
    )
    assert "<li>witness" not in finding._repr_html_()
    assert "<li>{a, b} in 2" in finding._repr_html_()
    assert finding.highest_growth == Fraction(3, 2)


def test_growth_is_never_rounded_up() -> None:
    data = [Published.from_rows([["a"]] * count + [["b"]] * (1000 - count)) for count in (999, 200)]
    finding = audit_pair(*data, HiddenPatterns(5, 900))
    assert finding.holds
    assert "highest finite growth: 4.99\n" in str(finding)
    assert "minimum support: 900 records" in str(finding)


def test_every_level() -> None:
    """As they stand two values are equally frequent; as what is above them they are not."""
    first = Published.from_rows([["a"], ["b"], ["c"], ["c"]])
    second = Published.from_rows([["a"], ["c"], ["c"], ["c"]])
    paths = {"a": ("a", "A"), "b": ("b", "A"), "c": ("c", "C")}
    plain = HiddenPatterns(2, Fraction(1, 2))
    finding = audit_pair(first, second, plain, paths=paths)
    assert finding.holds
    assert finding.patterns_every_level == 1
    strict = HiddenPatterns(2, Fraction(1, 2), every_level=True)
    found = audit_pair(first, second, strict, paths=paths, witnesses=9)
    assert not found.holds
    assert (found.patterns, found.patterns_every_level) == (1, 1)
    assert [witness.labels for witness in found.witnesses] == [("A",)]
    assert "every level, of which" not in str(found)
    # Without a hierarchy there is nothing above.
    assert audit_pair(first, second, strict).holds


def test_data_sets_without_records_or_values() -> None:
    empty = Published.from_rows([[], []])
    for first, second in ((empty, empty), (NOBODY, NOBODY), (NOBODY, empty)):
        finding = audit_pair(first, second, HiddenPatterns(2, 1))
        assert finding.holds
        assert finding.highest_growth is None
        assert "highest finite growth: none" in str(finding)
    # What nobody has elsewhere is a pattern, be there people or not.
    for other in (empty, NOBODY):
        assert audit_pair(SECOND, other, HiddenPatterns(2)).patterns == 2
        assert audit_pair(other, SECOND, HiddenPatterns(2)).patterns == 2


def test_the_minimum_support_decides() -> None:
    first = Published.from_rows([["a"]] * 9 + [["b"]])
    second = Published.from_rows([["a"]] * 10)
    assert not audit_pair(first, second, HiddenPatterns(2, Fraction(1, 10))).holds
    assert audit_pair(first, second, HiddenPatterns(2, Fraction(101, 1000))).holds
    assert not audit_pair(first, second, HiddenPatterns(2, 1)).holds
    assert audit_pair(first, second, HiddenPatterns(2, 2)).holds


@pytest.mark.parametrize("given", [{"witnesses": -1}, {"witnesses": True}, {"threads": 0}])
def test_options_that_mean_nothing_are_refused(given: dict[str, int]) -> None:
    with pytest.raises(UsageError):
        audit_pair(FIRST, SECOND, HiddenPatterns(2), **given)  # type: ignore[arg-type]
