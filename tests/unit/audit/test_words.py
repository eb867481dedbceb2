"""The numbers in a certificate's sentences are the guarantee's, or the folder is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

import setveil as sv
from setveil.audit import audit_folder
from setveil.errors import DataError
from setveil.io.folder.staging import json_document
from setveil.model.microdata import Microdata

Plain = dict[str, Any]


def promise_less(plain: Plain) -> None:
    """The guarantee is lowered and the words are left as they were."""
    name = "k" if "k" in plain["guarantee"] else "l"
    plain["guarantee"][name] -= 1


def say_more(plain: Plain) -> None:
    plain["promised"][0] = plain["promised"][0].replace("3", "30")


def say_nothing(plain: Plain) -> None:
    plain["promised"] = []


def leave_nothing_open(plain: Plain) -> None:
    plain["not_promised"] = []


def show_more(plain: Plain) -> None:
    plain["evidence"]["linkability"]["shown"] = ["At least 70 records fit."]


def name_another_model(plain: Plain) -> None:
    plain["terms"]["privacy_model"] = "K-anonymity model: k = 70."


def sets(path: Path) -> None:
    rows = [["a", "m"], ["b", "m"], ["c", "m"], ["m"]] * 2
    tree = sv.Hierarchy.from_parents({"a": "A", "b": "A", "c": "A", "A": "T", "m": "T", "T": None})
    release = sv.anonymize(sv.Transactions.from_rows(rows), sv.KmAnonymity(3, 2), hierarchy=tree)
    sv.publish(release, path)


def table(path: Path) -> None:
    columns = {"sex": ["F", "M"] * 6, "ill": ["flu", "flu", "gout", "gout", "cold", "cold"] * 2}
    sv.publish(sv.anonymize(Microdata.from_columns(columns, "ill"), sv.LDiversity(3)), path)


@pytest.mark.parametrize("make", [sets, table])
@pytest.mark.parametrize(
    "change",
    [promise_less, say_more, say_nothing, leave_nothing_open, show_more, name_another_model],
)
def test_words_that_do_not_fit_are_refused(
    make: Callable[[Path], None], change: Callable[[Plain], None], tmp_path: Path
) -> None:
    folder = tmp_path / "out"
    make(folder)
    assert audit_folder(folder).holds
    certificate = folder / "certificate.json"
    plain = json.loads(certificate.read_bytes())
    change(plain)
    # The report is resealed, so that nothing but the words is wrong.
    plain["report"]["sha256"] = sha256((folder / "report.html").read_bytes()).hexdigest()
    certificate.write_bytes(json_document(plain))
    with pytest.raises(DataError, match="certificate-content"):
        audit_folder(folder)


def test_every_guarantee_passes(tmp_path: Path) -> None:
    rows = [["a", "m"], ["b", "m"], ["c", "m"], ["m"]] * 4
    tree = sv.Hierarchy.from_parents({"a": "A", "b": "A", "c": "A", "A": "T", "m": "T", "T": None})
    data = sv.Transactions.from_rows(rows)
    for number, guarantee in enumerate(
        (
            sv.KmAnonymity(2, 1),
            sv.KmAnonymity(12, 2),
            sv.KmAnonymity(2, 2, negative=True),
            sv.KAnonymity(3),
            sv.LmDiversity(2, 1, {"a"}),
            sv.Coherence("25/2", 2, 1, {"a"}),
        )
    ):
        release = sv.anonymize(data, guarantee, hierarchy=None if number == 5 else tree)
        sv.publish(release, tmp_path / str(number))
        assert audit_folder(tmp_path / str(number)).holds
