"""Time limit, progress and cancelling: the same for sets, tables in buckets and two data sets."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import setveil as sv
from setveil.errors import Cancelled, TimeLimit
from setveil.progress import Watch

from .cli import BASKETS, PRODUCTS, Shell
from .patients import COLUMNS, ROWS, write_patients
from .test_anonymize_pair import PEOPLE, write_people

SETS = ("baskets.csv", "--hierarchy", "products.csv", "-k", "2", "-m", "2")
KINDS = {
    "sets": (*SETS, "--method", "aa"),
    "solved": (*SETS, "--method", "trim"),
    "buckets": ("patients.csv", *COLUMNS, "--l", "2", "--method", "anatomy"),
    "mined": ("patients.csv", *COLUMNS, "--l", "2", "--method", "injector"),
    "pair": (*PEOPLE, "--hierarchy", "education=education.csv"),
}
"""What is given to ``setveil anonymize`` for each kind."""
SHORT = 1e-9
PRIVATE = {*BASKETS.replace("\n", ",").split(","), *(value for row in ROWS for value in row)} - {""}


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("baskets.csv").write_text(BASKETS)
    Path("products.csv").write_text(PRODUCTS)
    write_patients()
    write_people()
    return tmp_path


def anonymized(kind: str, **asked: Any) -> Any:
    """What `setveil.anonymize` returns for the files of a kind."""
    if kind in ("sets", "solved"):
        data, tree = sv.read_transactions("baskets.csv"), sv.read_hierarchy("products.csv")
        return sv.anonymize(data, sv.KmAnonymity(2, 2), hierarchy=tree, method=KINDS[kind][-1], **asked)
    if kind == "pair":
        tree = {"education": sv.read_hierarchy("education.csv")}
        pair = sv.read_pattern_pair("people.csv", class_column="income", hierarchy=tree)
        return sv.anonymize(pair, sv.HiddenPatterns(3), **asked)
    table = sv.read_microdata("patients.csv", quasi=["zip", "age", "sex"], sensitive="disease")
    promise = sv.LDiversity(2) if kind == "buckets" else sv.MatchingDiversity(2)
    return sv.anonymize(table, promise, **asked)


def _expire(watch: Watch) -> None:
    watch.time_limit = SHORT


def late(moment: int, what: Callable[[Watch], None]) -> Watch:
    """Return a watch to which something happens at a moment of the run."""
    left = [moment]

    def listen(stage: str, share: float | None) -> None:
        del stage, share
        left[0] -= 1
        if left[0] < 0:
            what(watch)

    watch = Watch(listener=listen, time_limit=3600)
    return watch


def ticks() -> Iterator[int]:
    """Ever later moments of a run."""
    yield from range(6)
    at = 6
    while True:
        yield at
        at = at * 3 // 2


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("given", ["time_limit", "watch"])
def test_too_short_a_limit_ends_the_run_or_gives_a_valid_result(
    files: Path, kind: str, given: str
) -> None:
    how = {"time_limit": SHORT} if given == "time_limit" else {"watch": Watch(time_limit=SHORT)}
    if kind != "pair":
        with pytest.raises(TimeLimit, match="time limit of 1e-09 s passed"):
            anonymized(kind, **how)
        return
    release = anonymized(kind, **how)
    assert not release.complete
    assert any("time limit ended the search" in notice for notice in release.notices)
    assert sv.audit(release).holds


@pytest.mark.parametrize("kind", KINDS)
def test_time_that_is_up_at_any_moment(files: Path, kind: str) -> None:
    """Nothing comes out, or what is valid; only what ran to its end says that it did."""
    came = []
    for moment in (*range(6), 9, 13, 19, 28, 42, 63):
        watch = late(moment, _expire)
        try:
            release = anonymized(kind, watch=watch)
        except TimeLimit:
            continue
        came.append(moment)
        assert sv.audit(release).holds
        if kind in ("solved", "pair") and not release.complete:
            assert any("time limit" in notice for notice in release.notices)
    assert came


@pytest.mark.parametrize("kind", KINDS)
def test_progress_tells_stages_and_no_values(files: Path, kind: str) -> None:
    told: list[tuple[str, float | None]] = []
    watch = Watch(listener=lambda stage, share: told.append((stage, share)))
    release = anonymized(kind, watch=watch)
    before = len(told)
    sv.publish(release, "out", watch=watch)
    assert before and len(told) > before
    assert all(share is None or 0 <= share <= 1 for _, share in told)
    words = {word.strip(",:") for stage, _ in told for word in stage.split(" ")}
    assert not words & PRIVATE


@pytest.mark.parametrize("kind", KINDS)
def test_cancelling_at_any_moment_leaves_nothing(files: Path, kind: str) -> None:
    before = sorted(files.iterdir())
    for moment in ticks():
        watch = late(moment, Watch.cancel)
        try:
            sv.publish(anonymized(kind, watch=watch), "out", watch=watch)
        except Cancelled:
            assert sorted(files.iterdir()) == before
            continue
        break
    # It came to its end only where nobody asked it to stop, or too late.
    assert moment > 1
    assert sv.audit("out").holds


@pytest.mark.parametrize("kind", KINDS)
def test_a_watch_that_is_stopped_starts_nothing(files: Path, kind: str) -> None:
    watch = Watch()
    watch.cancel()
    with pytest.raises(Cancelled):
        anonymized(kind, watch=watch)


@pytest.mark.parametrize("kind", KINDS)
def test_the_command_keeps_the_limit(files: Path, shell: Shell, kind: str) -> None:
    before = shell.names()
    words = ("anonymize", *KINDS[kind], "--time-limit", "0.000001", "-o", "out")
    ran = shell(*words)
    if kind == "pair":
        assert ran.code == 0, ran.err
        assert "the time limit ended the search" in ran.err
        assert shell("audit", "out").code == 0
        return
    assert ran.code == 6, ran.err
    assert "the time limit of 1e-06 s passed" in ran.err
    assert ran.err.endswith("Nothing was written.\n")
    assert shell.names() == before


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("verb", ["anonymize", "run"])
def test_an_interrupted_command_leaves_nothing(
    files: Path, shell: Shell, monkeypatch: pytest.MonkeyPatch, kind: str, verb: str
) -> None:
    words = ("anonymize", *KINDS[kind], "-o", "out")
    if verb == "run":
        assert shell(*words, "--dry-run", "--save-job", "job.toml").code == 0
        words = ("run", "job.toml")
    before = shell.names()
    with monkeypatch.context() as patched:
        for moment in ticks():
            patched.setattr(Watch, "tick", interrupting(Watch.tick, moment))
            ran = shell(*words)
            patched.undo()
            if ran.code != 130:
                break
            assert ran.err.endswith("Nothing was written.\n")
            assert shell.names() == before
    assert moment > 1
    assert ran.code == 0, ran.err


def interrupting(tick: Callable[..., None], moment: int) -> Callable[..., None]:
    left = [moment]

    def interrupted(self: Watch, stage: str, share: float | None = None) -> None:
        left[0] -= 1
        if left[0] < 0:
            raise KeyboardInterrupt
        tick(self, stage, share)

    return interrupted
