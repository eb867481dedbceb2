"""Kernels in threads: results in the order of the tasks, and a question that may end the work."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from setveil.kernels.base import in_threads, new_stop
from setveil.kernels.itemsets.rare import find_rare


class Enough(Exception):
    """What a question raises to end the work."""


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("tasks", [0, 1, 7])
def test_results_are_in_the_order_of_the_tasks_asked_or_not(threads: int, tasks: int) -> None:
    expected = [task * task for task in range(tasks)]
    asked: list[int] = []
    assert in_threads(lambda task: task * task, range(tasks), threads) == expected
    found = in_threads(lambda task: task * task, range(tasks), threads, lambda: asked.append(1))
    assert found == expected
    assert asked


@pytest.mark.parametrize("threads", [1, 2])
def test_what_the_question_raises_ends_the_work_and_tells_the_kernels(threads: int) -> None:
    stop = new_stop()
    began: list[int] = []
    seen = threading.Event()

    def task(number: int) -> None:
        began.append(number)
        seen.set()
        while not stop[0]:
            pass

    def ask() -> None:
        if seen.is_set():
            raise Enough

    with pytest.raises(Enough):
        in_threads(task, range(50), threads, ask, stop)
    # The others were never begun.
    assert len(began) <= threads


def test_a_task_that_fails_ends_the_others() -> None:
    stop = new_stop()

    def task(number: int) -> None:
        if number == 0:
            raise MemoryError
        while not stop[0]:
            pass

    with pytest.raises(MemoryError):
        in_threads(task, range(3), 2, lambda: None, stop)


@pytest.mark.parametrize("items", [60, 300])
@pytest.mark.parametrize("threads", [1, 2])
def test_a_search_for_rare_sets_ends_when_asked(items: int, threads: int) -> None:
    # Few and many items take different loops; either would need far longer than a test may.
    rows = np.random.default_rng(5).random((1200, items)) < 0.4
    indptr = np.concatenate([[0], np.cumsum(rows.sum(axis=1))])
    looks = 0

    def ask() -> None:
        nonlocal looks
        looks += 1
        if looks > 6:
            raise Enough

    with pytest.raises(Enough):
        find_rare(
            indptr, np.nonzero(rows)[1], np.ones(1200, np.int64), items, 4, 8, threads=threads, ask=ask
        )


def test_asking_changes_nothing() -> None:
    rows = np.random.default_rng(6).random((300, 40)) < 0.3
    indptr = np.concatenate([[0], np.cumsum(rows.sum(axis=1))])
    data = (indptr, np.nonzero(rows)[1], np.ones(300, np.int64), 40, 6, 4)
    for limit in (0, 50, 5_000):
        sets, support = find_rare(*data, limit)
        same_sets, same_support = find_rare(*data, limit, 2, lambda: None)
        assert (sets == same_sets).all()
        assert (support == same_support).all()
