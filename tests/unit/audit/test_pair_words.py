"""The sentences about two data sets are the guarantee's, word by word, or the folder is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from setveil.audit import audit_folder
from setveil.audit.words import check_words
from setveil.errors import DataError
from tests.unit.audit.folders import sha256, spelled
from tests.unit.audit.pair_folders import edit, write_sets, write_tables

Plain = dict[str, Any]

HALF: Plain = {"model": "patterns", "growth": "15/4", "min_support": "1/2"}
THIRD: Plain = {"model": "patterns", "growth": "5", "min_support": "1/3"}
ALL: Plain = {"model": "patterns", "growth": "5", "min_support": "1"}
COUNT: Plain = {"model": "patterns", "growth": "5", "min_support": 1200}
ONE: Plain = {"model": "patterns", "growth": "3", "min_support": 1}
TWO: Plain = {"model": "patterns", "growth": "10", "min_support": 2}
EVERY: Plain = {**TWO, "every_level": True}


def refused(folder: Path, change: Callable[[Plain], object], match: str) -> None:
    edit(folder, change)
    with pytest.raises(DataError, match=match):
        audit_folder(folder)


def swap(old: str, new: str, *keys: str) -> Callable[[Plain], None]:
    """A change that puts one text for another in sentences of the certificate."""

    def swapped(found: Any) -> Any:
        if isinstance(found, str):
            return found.replace(old, new)
        if isinstance(found, list):
            return [swapped(part) for part in found]
        return {key: swapped(part) for key, part in found.items()}

    def change(plain: Plain) -> None:
        before = {key: plain[key] for key in keys}
        plain.update({key: swapped(part) for key, part in before.items()})
        assert before != {key: plain[key] for key in keys}

    return change


@pytest.mark.parametrize("guarantee", [HALF, THIRD, ALL, COUNT, ONE, TWO, EVERY])
@pytest.mark.parametrize("write", [write_tables, write_sets])
def test_own_words_pass(write: Callable[..., Path], tmp_path: Path, guarantee: Plain) -> None:
    """Written by the package, judged by templates that share no code with it."""
    folder = write(tmp_path / "out", guarantee=guarantee)
    check_words(json.loads((folder / "certificate.json").read_bytes()))
    audit_folder(folder)


@pytest.mark.parametrize(
    ("guarantee", "old", "new"),
    [
        (HALF, "15/4", "3"),
        (HALF, "15/4", "3.75"),
        (HALF, "50 %", "5 %"),
        (HALF, "50 %", "1/2"),
        (THIRD, "1/3", "1/30"),
        (ALL, "all records", "at least 5 % of the records"),
        (COUNT, "1200", "120"),
        (ONE, "3", "2"),
    ],
)
@pytest.mark.parametrize("key", ["promised", "terms", "evidence"])
def test_other_numbers_are_refused(
    tmp_path: Path, guarantee: Plain, old: str, new: str, key: str
) -> None:
    folder = write_tables(tmp_path / "out", guarantee=guarantee)
    refused(folder, swap(old, new, key), f"{key}.* word by word")


@pytest.mark.parametrize("key", ["promised", "terms", "evidence"])
def test_growth_and_support_have_their_places(tmp_path: Path, key: str) -> None:
    """Growth 10 in two records or more is not growth 2 in ten, though the figures are the same."""

    def change(plain: Plain) -> None:
        for old, new in (("10", "#"), ("least 2", "least 10"), ("#", "2")):
            swap(old, new, key)(plain)

    refused(write_tables(tmp_path / "out", guarantee=TWO), change, f"{key}.* word by word")


def test_levels_that_do_not_count_are_not_promised(tmp_path: Path) -> None:
    as_they_stand, also = (
        "Values count as they stand in the files.",
        "A value also counts for every category above it.",
    )
    folder = write_tables(tmp_path / "higher", guarantee=TWO)

    def promise_more(plain: Plain) -> None:
        swap(as_they_stand, also, "promised")(plain)
        plain["not_promised"] = [line for line in plain["not_promised"] if "every category" not in line]

    refused(folder, promise_more, "promised does not")
    folder = write_tables(tmp_path / "read", guarantee=TWO)
    refused(folder, swap("taken as they stand", "read at every level", "promised"), "promised does not")
    folder = write_tables(tmp_path / "lower", guarantee=EVERY)
    refused(folder, swap(also, as_they_stand, "promised"), "promised does not")


@pytest.mark.parametrize("line", range(4))
def test_what_is_left_open_is_not_left_out(tmp_path: Path, line: int) -> None:
    """People, rare sets, levels, the class: the first four lines."""
    folder = write_tables(tmp_path / "out")
    refused(folder, lambda plain: plain["not_promised"].pop(line), "not_promised does not begin")


def test_words_left_behind_by_a_lower_promise_are_refused(tmp_path: Path) -> None:
    for number, guarantee in enumerate(
        ({**HALF, "growth": "50"}, {**HALF, "min_support": "1"}, {**HALF, "every_level": True})
    ):
        folder = write_tables(tmp_path / str(number), guarantee=HALF)
        refused(folder, lambda plain, new=guarantee: plain.update(guarantee=new), "promised")  # type: ignore[misc]


@pytest.mark.parametrize("key", ["promised", "not_promised"])
def test_something_is_said_and_nothing_is_added(tmp_path: Path, key: str) -> None:
    refused(write_tables(tmp_path / "none"), lambda plain: plain.update({key: []}), key)
    folder = write_tables(tmp_path / "more")
    refused(folder, lambda plain: plain[key].append("None of growth 2."), "promise")


@pytest.mark.parametrize("claim", ["No growth of 2.", "Nothing at every level.", "Also 1/100."])
def test_other_sentences_claim_nothing(tmp_path: Path, claim: str) -> None:
    changes: list[Callable[[Plain], object]] = [
        lambda plain: plain["terms"]["techniques"].append(claim),
        lambda plain: plain["terms"].update(truthfulness=claim),
        lambda plain: plain["evidence"]["linkability"]["not_shown"].append(claim),
    ]
    for number, change in enumerate(changes):
        refused(write_tables(tmp_path / str(number)), change, "beside the promise")
    folder = write_tables(tmp_path / "shown")
    refused(folder, lambda plain: plain["evidence"]["linkability"]["shown"].append("All."), "evidence")


def rewrite(folder: Path, old: str, new: str) -> None:
    """Change the page alone, and its hash."""
    text = (folder / "report.html").read_text()
    assert old in text
    content = text.replace(old, new, 1).encode()
    (folder / "report.html").write_bytes(content)
    plain = json.loads((folder / "certificate.json").read_bytes())
    plain["report"]["sha256"] = sha256(content)
    (folder / "certificate.json").write_bytes(spelled(plain))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (
            "<title>Release report: no pattern of growth 5 or",
            "<title>Release report: no pattern of 2 or",
        ),
        ("or more</title>", "or more at every level</title>"),
        ("<h1>No pattern of growth 5", "<h1>No pattern of growth 101/100 at 1 %"),
        ("or more, verified</h1>", "or more at every level, verified</h1>"),
        ("</h1>", "<strong> at 1 %</strong></h1>"),
        ("</h1>", "</h1>\n<h1>All is well</h1>"),
        ('<p class="lead">', '<p class="lead">Nobody finds anything. '),
        ('<p class="lead">', '<p class="small lead">Nothing.</p>\n<p class="lead">'),
        ("</body>", "<h2>At 1 %</h2>\n</body>"),
        ("</body>", "<p>No growth of 101/100.</p>\n</body>"),
        ("</body>", "<p>Values count at every <strong>level</strong>.</p>\n</body>"),
        ("</body>", '<div aria-label="No pattern at all"></div>\n</body>'),
    ],
)
def test_a_page_that_claims_more_is_refused(tmp_path: Path, old: str, new: str) -> None:
    folder = write_tables(tmp_path / "out")
    audit_folder(folder)
    rewrite(folder, old, new)
    with pytest.raises(DataError) as caught:
        audit_folder(folder)
    assert caught.value.problems[0].code == "report-words"


def test_a_page_may_say_other_things(tmp_path: Path) -> None:
    folder = write_tables(tmp_path / "out", guarantee=EVERY)
    rewrite(folder, "</body>", "<h2>The data</h2>\n<p>1,200 records.</p>\n</body>")
    audit_folder(folder)


def test_certificates_with_the_sentence_of_before_hold(tmp_path: Path) -> None:
    """What is said besides is free, as long as it names no number and no level."""
    folder = write_tables(tmp_path / "out")
    before = "Nothing against reasoning about the method: a value was raised because it had to be."

    def put_back(plain: Plain) -> None:
        (place,) = (n for n, line in enumerate(plain["not_promised"]) if "reasoning" in line)
        plain["not_promised"][place] = before
        plain["not_promised"] = [
            line for line in plain["not_promised"] if "raising values did" not in line
        ]

    edit(folder, put_back)
    assert before in json.loads((folder / "certificate.json").read_text())["not_promised"]
    assert audit_folder(folder).holds
