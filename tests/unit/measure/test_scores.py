"""The catalogue of measures, and how their values are shown."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction

import pytest

import setveil as sv
from setveil.errors import Cancelled, UsageError
from setveil.measure.catalogue import CHEAP, MINED, NAMES, chosen

ROWS = [["ale", "bun"], ["wine", "bun"], ["ale"], ["wine"], ["bun"], ["bun"], ["rye"]]
TREE = sv.Hierarchy.from_parents(
    {
        "ale": "<alcohol>",
        "wine": "<alcohol>",
        "bun": "ALL",
        "rye": "ALL",
        "<alcohol>": "ALL",
        "ALL": None,
    }
)


@pytest.fixture(scope="module")
def release() -> sv.Release:
    data = sv.Transactions.from_rows(ROWS)
    return sv.anonymize(data, sv.KmAnonymity(2, 2), hierarchy=TREE, method="trim")


def test_every_measure_says_what_it_is() -> None:
    for name, measure in zip(NAMES, chosen("all"), strict=True):
        assert measure.name == name
        assert measure.goal in ("lower", "higher")
        assert measure.title and measure.about
        assert not measure.about.endswith(".")
        assert measure.range[0] == 0
    assert len(set(NAMES)) == len(NAMES)


def test_cheap_ones_are_the_default(release: sv.Release) -> None:
    assert tuple(sv.measure(release)) == CHEAP
    assert tuple(sv.measure(release, measures="lm")) == ("lm",)
    assert tuple(sv.measure(release, measures=["are", "ncp"])) == ("are", "ncp")
    assert tuple(sv.measure(release, queries=[["ale"]])) == (*CHEAP, "are")
    assert tuple(sv.measure(release, measures="all")) == NAMES


def test_what_was_measured(release: sv.Release) -> None:
    found = sv.measure(release)
    assert len(release.dropped) == 1
    assert found["suppressed"] == Fraction(1, 9)
    assert found["suppressed_items"] == Fraction(1, 4)
    assert found["emptied_records"] == Fraction(1, 7)
    assert found["unchanged"] == Fraction(4, 9)
    # Three pairs of equal records, and one that is dropped: it counts as all seven.
    assert found["discernibility_sum"] == 3 * 4 + 7
    assert found["discernibility"] == Fraction(19, 49)


def test_scores_can_be_read(release: sv.Release) -> None:
    found = sv.measure(release, queries=[["<alcohol>"], ["ale", "bun"]])
    text = str(found)
    assert "Occurrences left out" in text
    assert "(higher is better, 0 to 1)" in text
    assert "        19  (lower is better, 0 or more)" in text
    assert "the share of the records of which nothing is published" in text
    assert "Relative error of COUNT queries" in text
    html = found._repr_html_()
    assert html.count("<table>") == 2
    assert "what it means" in html
    plain = json.loads(json.dumps(found.as_dict()))
    assert plain["measures"]["suppressed"]["exact"] == "1/9"
    assert plain["measures"]["suppressed"]["range"] == [0, 1]
    assert plain["measures"]["suppressed"]["about"]
    assert "exact" not in plain["measures"]["are"]
    assert plain["queries"]["mean"] == plain["measures"]["are"]["value"] == found["are"]
    with pytest.raises(KeyError):
        _ = found["nothing of this name"]


def test_wrong_names_and_options_are_refused(release: sv.Release) -> None:
    for wrong in ("loss", ["ncp", "loss"], []):
        with pytest.raises(UsageError, match="measure"):
            sv.measure(release, measures=wrong)
    with pytest.raises(UsageError, match="sanity"):
        sv.measure(release, sanity=0.01)
    with pytest.raises(UsageError, match="support"):
        sv.measure(release, support=0.01)
    with pytest.raises(UsageError, match="support must be"):
        sv.measure(release, measures="ml2", support=2)
    watch = sv.Watch()
    watch.cancel()
    with pytest.raises(Cancelled):
        sv.measure(release, watch=watch)


def test_measures_that_mine_take_a_support(release: sv.Release) -> None:
    for name in MINED:
        found = sv.measure(release, measures=[name], support=Fraction(1, 2)).scores[0]
        assert found.measure.name == name
        assert "50%" in found.measure.title


def test_progress_names_the_measures(release: sv.Release) -> None:
    stages: list[str] = []
    watch = sv.Watch(listener=lambda stage, share: stages.append(stage))
    sv.measure(release, measures=["ncp", "are"], watch=watch)
    assert stages == ["measuring ncp", "measuring are"]


@pytest.mark.parametrize(
    "other",
    [
        [["ale", "bun"], ["wine", "bun"], ["ale"], ["wine"], ["bun"], ["bun"]],
        [["ale", "bun"], ["ale", "bun"], ["ale"], ["wine"], ["bun"], ["bun"], ["rye"]],
        [*ROWS[:-1], ["tea"]],
        [*ROWS[:-1], ["ALL"]],
    ],
)
def test_other_data_are_refused(release: sv.Release, other: list[list[str]]) -> None:
    with pytest.raises(UsageError, match="not the data"):
        sv.measure(release, sv.Transactions.from_rows(other))


@pytest.mark.parametrize("told", [False, True])
def test_a_release_without_its_records_takes_them(release: sv.Release, told: bool) -> None:
    counts = release.occurrences_by_leaf if told else None
    bare = replace(release, rows=None, dropped=(-1,), count_by_leaf=counts)
    assert dict(sv.measure(bare, sv.Transactions.from_rows(ROWS[::-1]))) == dict(sv.measure(release))
    with pytest.raises(UsageError, match="are needed"):
        sv.measure(bare)
    one_more = [["ale", "wine", "bun"], *ROWS[1:]]
    one_else = [["ale"], ["wine", "bun"], ["ale", "bun"], ["ale"], ["wine"], ["rye"], ["bun"]]
    for rows in (one_more, one_else):
        with pytest.raises(UsageError, match="not the data"):
            sv.measure(bare, sv.Transactions.from_rows(rows))
