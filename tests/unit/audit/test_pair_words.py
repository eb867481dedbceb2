"""The numbers in sentences about two data sets are the guarantee's, or the folder is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from setveil.audit import audit_folder
from setveil.errors import DataError
from tests.unit.audit.pair_folders import edit, write_tables

HALF = {"model": "patterns", "growth": "15/4", "min_support": "1/2"}
THIRD = {"model": "patterns", "growth": "5", "min_support": "1/3"}
ALL = {"model": "patterns", "growth": "5", "min_support": "1"}
COUNT = {"model": "patterns", "growth": "5", "min_support": 1200}
ONE = {"model": "patterns", "growth": "3", "min_support": 1}


def judged(folder: Path, **changes: Any) -> None:
    edit(folder, lambda plain: plain.update(changes))
    audit_folder(folder)


@pytest.mark.parametrize(
    ("guarantee", "sentence"),
    [
        (HALF, "None in 1/2 of the records is 15/4 times as frequent."),
        (HALF, "None in 50 % of the records is 15/4 times as frequent."),
        (HALF, "None in 50% of the records grows 15/4."),
        (THIRD, "None in 1/3 of the records is 5 times as frequent, no, not 5."),
        (ALL, "None in all records is 5 times as frequent."),
        (ALL, "None in 100 % of the records is 5 times as frequent."),
        (COUNT, "None in 1200 records grows by 5, or more."),
        (COUNT, "None in 1,200 records grows by 5."),
        (ONE, "None grows by 3."),
        (ONE, "None in 1 record or more grows by 3."),
    ],
)
def test_the_promise_in_its_own_numbers(
    tmp_path: Path, guarantee: dict[str, object], sentence: str
) -> None:
    judged(write_tables(tmp_path / "out", guarantee=guarantee), promised=[sentence])


@pytest.mark.parametrize(
    ("guarantee", "sentence"),
    [
        (HALF, "None in 1/2 of the records is 3 times as frequent."),
        (HALF, "None in 1/2 of the records is 15 times as frequent as 4."),
        (HALF, "None in 1/2 of the records is 3.75 times as frequent."),
        (HALF, "None in 1/2 of the records is 1.5 times as frequent, or 15/4 times."),
        (HALF, "None in 1/20 of the records is 15/4 times as frequent."),
        (HALF, "None in 50 of the records is 15/4 times as frequent."),
        (HALF, "None in 5 % of the records is 15/4 times as frequent."),
        (HALF, "None is 15/4 times as frequent."),
        (HALF, "None in 1/2 of the records is more frequent."),
        (HALF, "None of 4 records in 1/2 of the records is 15/4 times as frequent."),
        (THIRD, "None in 33 % of the records is 5 times as frequent."),
        (COUNT, "None in 1,200 records grows by 5,000."),
        (COUNT, "None in 1 of 200 records grows by 5."),
        (COUNT, "None in 1200 % of the records grows by 5."),
        (ONE, "None in 2 records grows by 3."),
    ],
)
def test_a_promise_in_other_numbers_is_refused(
    tmp_path: Path, guarantee: dict[str, object], sentence: str
) -> None:
    folder = write_tables(tmp_path / "out", guarantee=guarantee)
    with pytest.raises(DataError, match="promised"):
        judged(folder, promised=[sentence])


def test_words_left_behind_by_a_lower_promise_are_refused(tmp_path: Path) -> None:
    folder = write_tables(tmp_path / "out")
    with pytest.raises(DataError, match="not the guarantee's"):
        judged(folder, guarantee={"model": "patterns", "growth": "50", "min_support": "1/2"})


@pytest.mark.parametrize("key", ["promised", "not_promised"])
def test_something_is_said(tmp_path: Path, key: str) -> None:
    with pytest.raises(DataError, match="must not be empty"):
        judged(write_tables(tmp_path / "out"), **{key: []})


def test_evidence_and_terms(tmp_path: Path) -> None:
    folder = write_tables(tmp_path / "out")

    def say(sentence: str) -> None:
        def change(plain: dict[str, Any]) -> None:
            plain["evidence"]["inference"]["shown"] = [sentence]

        edit(folder, change)
        audit_folder(folder)

    say("In 4 records there is none of growth 5 in 50 %.")
    with pytest.raises(DataError, match="terms or the evidence"):
        say("None of growth 3.")
    say("None.")
    edit(folder, lambda plain: plain["terms"].update(privacy_model="K-anonymity: 70."))
    with pytest.raises(DataError, match="terms or the evidence"):
        audit_folder(folder)
