"""Numbers as people write them: one grammar, exact, wherever a share is asked for."""

from __future__ import annotations

from fractions import Fraction

import pytest

from setveil.errors import UsageError
from setveil.model.guarantees import Coherence, HiddenPatterns
from setveil.model.numbers import (
    counted,
    exact_growth,
    exact_number,
    exact_share,
    exact_support,
    percentage,
)
from setveil.registry import MINING_OPTIONS
from setveil.run.fields import read_option

THIRD = Fraction(33, 100)


@pytest.mark.parametrize("text", ["33%", "33 %", ".33", "0.33", "33/100"])
def test_a_share_is_read_wherever_one_is_asked_for(text: str) -> None:
    assert exact_support(text) == THIRD
    assert exact_share("min_conf", text) == THIRD
    assert HiddenPatterns(5, text).min_support == THIRD


@pytest.mark.parametrize("text", ["1/3", ".5", "0.5", "7"])
def test_what_is_no_percent_is_read_the_same_everywhere(text: str) -> None:
    exact = exact_number(text)
    assert exact == Fraction(text)
    assert percentage(text) == exact
    assert Coherence(text, 2, 1).h == exact
    assert exact_growth(f"{exact + 1}") == exact + 1


@pytest.mark.parametrize(
    "text",
    [
        "",
        " 1",
        "1 ",
        "+1",
        "-1",
        "1.",
        ".",
        "%",
        "1%%",
        "1,5",
        "1e3",
        "1/0",
        "1/2/3",
        "1/3%",
        "٣",
        "nan",
    ],
)
def test_other_texts_are_no_numbers(text: str) -> None:
    assert exact_number(text, percent=True, tiny=True) is None
    for read in (exact_support, exact_growth, percentage, lambda value: exact_share("x", value)):
        with pytest.raises(UsageError):
            read(text)


def test_an_option_kept_as_a_decimal_takes_what_a_decimal_says() -> None:
    option = next(option for option in MINING_OPTIONS if option.name == "min_conf")
    assert [read_option(option, text) for text in ("1/4", "25%", ".25")] == [0.25] * 3
    with pytest.raises(UsageError, match="Give for example 1 or 40%"):
        read_option(option, "1/3")


def test_percent_is_for_shares_alone() -> None:
    for read in (exact_growth, percentage):
        with pytest.raises(UsageError):
            read("500%")


def test_floats_count_as_written() -> None:
    assert exact_number(0.1) == Fraction(1, 10)
    assert exact_support(1e-05) == exact_support("1e-5") == Fraction(1, 100_000)
    assert exact_support(1.0) == 1
    assert type(exact_support(1.0)) is Fraction
    for wrong in (True, None, float("inf"), float("nan")):
        assert exact_number(wrong) is None


def test_numbers_with_their_nouns() -> None:
    assert counted(1, "class", "classes") == "1 class"
    assert counted(1234, "class", "classes") == "1,234 classes"
