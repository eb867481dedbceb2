"""Is a pattern left in two published data sets? All closed sets of either are counted in both.

A pattern is a set of labels that has the minimum support in one data set and is there at least `growth`
times as frequent as in the other. Closed sets are enough: among sets with the same records of the data
set where they are frequent the largest has the fewest records in the other one. So a pattern exists
exactly if a closed one does. Shares are compared as whole numbers: with growth = p/q, counts a of n and
b of m are a pattern if ``a * m * q >= p * b * n``.

At every level a row also holds all labels above its own; then the same is counted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import gcd
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ..errors import ResourceLimit
from ..model.guarantees import HiddenPatterns
from .certificate import need
from .counting import TASKS, WITNESSES_AT_MOST, WORK_LIMIT, Effort, raise_rows, share_out, supports
from .pattern_kernels import (
    Asked,
    Part,
    Tally,
    add_label,
    count_closed,
    lists_of,
    new_desk,
    note,
    smaller_part,
)
from .published import (
    HIERARCHY,
    Merged,
    Numbers,
    Published,
    PublishedHierarchy,
    bounds_of,
    check_against,
    read_hierarchy,
    refuse,
    shortened,
)
from .verdict import PairFinding, PatternWitness

if TYPE_CHECKING:
    from .check import Folder

EVERY_LEVEL_WORK_LIMIT = 4_000_000_000
"""How much work may go into the reading at every level where it is not promised."""

WITNESS_ROOM = 2**18
"""Labels that a task keeps for its witnesses, or more where one set needs more."""

Paths = Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, eq=False)
class ReadPair:
    """A folder of two data sets whose every byte has been checked; only the counting is left."""

    sides: tuple[Published, Published]
    guarantee: HiddenPatterns
    hierarchy: PublishedHierarchy
    labels: set[str]
    """Everything that the report may name: labels, values, categories, columns, classes."""
    certificate: Mapping[str, Any]
    only_its_own: ClassVar[str] = (
        "two data sets are judged by their own promise, and have no other reading."
    )

    def judge(self, effort: Effort, *_: object) -> PairFinding:
        """Return whether its own promise is kept."""
        return _judge(self.sides, self.guarantee, self.hierarchy.path_of_label, effort)


def read_pair(folder: Folder) -> ReadPair:
    """Return two data sets and the hierarchy above both, or raise `DataError`."""
    certificate, data = folder.certificate, folder.certificate["data"]
    columns: Sequence[str] = data.get("columns", ())
    # Every cell is a value that is kept; an empty one is a value that the record does not have.
    kept = {**data, "columns": [{"name": name, "kind": "kept"} for name in columns]}
    column_of_label: dict[str, str] = {}
    sides = []
    for part in data["parts"]:
        file = part["file"]
        sides.append(folder.rows(file, kept, column_of_label))
        records = sides[-1].records
        need(records == part["records"], f"data.parts: the number of records of {file} is wrong")
    hierarchy = read_hierarchy(folder.text(HIERARCHY))
    published = tuple(sorted({*sides[0].labels, *sides[1].labels}))
    check_against(hierarchy, published, local=True, forest=bool(columns))
    _check_roots(hierarchy, column_of_label)
    labels = {*hierarchy.labels, *columns}
    for label, column in column_of_label.items():
        labels |= {step.removeprefix(f"{column}=") for step in hierarchy.path_of_label[label]}
    if "classes" in data:
        labels |= {data["classes"]["column"], *data["classes"]["values"]}
    guarantee: Any = folder.guarantee
    return ReadPair((sides[0], sides[1]), guarantee, hierarchy, labels, certificate)


def _check_roots(hierarchy: PublishedHierarchy, column_of_label: Mapping[str, str]) -> None:
    """Refuse more than one root: of a column, or of all labels where there are no columns."""
    root_of_column: dict[str, str] = {}
    for label, path in hierarchy.path_of_label.items():
        column = column_of_label.get(label, "")
        if not all(step.startswith(f"{column}=" if column else "") for step in path):
            what = f"the path of {shortened(label)} leaves its column."
            raise refuse(what, HIERARCHY, code="published-hierarchy")
        if root_of_column.setdefault(column, path[-1]) != path[-1]:
            where = f"of the column {shortened(column)}" if column else "of the hierarchy"
            raise refuse(f"there are several roots {where}.", HIERARCHY, code="published-hierarchy")


def audit_pair(
    first: Published,
    second: Published,
    guarantee: HiddenPatterns,
    *,
    paths: Paths | None = None,
    witnesses: int = 0,
    threads: int | None = None,
    work_limit: int = WORK_LIMIT,
) -> PairFinding:
    """Return whether two data sets hold no pattern.

    `paths` has for each published label its path, from itself to its root; labels not named are roots.
    So many closed patterns are returned as `witnesses`, which may point at single persons. Beyond
    `work_limit` entries of rows the answer is `ResourceLimit`, or no if a pattern was found before.

    >>> one = Published.from_rows([["a"], ["a", "b"]])
    >>> other = Published.from_rows([["a"], ["b"]])
    >>> finding = audit_pair(one, other, HiddenPatterns(3))
    >>> finding.holds, finding.patterns, finding.highest_growth
    (False, 1, Fraction(2, 1))
    """
    return _judge((first, second), guarantee, paths or {}, Effort.of(witnesses, threads, work_limit))


def _judge(
    data: tuple[Published, Published], guarantee: HiddenPatterns, paths: Paths, effort: Effort
) -> PairFinding:
    found = _count(data, guarantee, paths if guarantee.every_level else {}, effort)
    if not found.counted_all and not found.patterns:
        raise ResourceLimit(
            f"the audit needs more than {effort.limit:,} steps on these records.",
            "Raise the work limit, or promise a larger minimum support.",
            code="audit-work",
        )
    if guarantee.every_level or all(len(path) == 1 for path in paths.values()):
        return found
    fewer = effort._replace(witnesses=0, limit=min(effort.limit, EVERY_LEVEL_WORK_LIMIT))
    raised = _count(data, guarantee, paths, fewer)
    return replace(found, patterns_every_level=raised.patterns_every_level)


def _count(
    data: tuple[Published, Published], guarantee: HiddenPatterns, paths: Paths, effort: Effort
) -> PairFinding:
    """Count the closed sets of either data set; rows hold all labels on the paths of their own."""
    labels, sides = _in_shared_codes(data, paths)
    checked, patterns, left = 0, 0, effort.limit
    growths: list[Fraction] = []
    found: list[PatternWitness] = []
    for place, (here, elsewhere) in enumerate((sides, sides[::-1]), 1):
        tally, code_of_rank = _search(here, elsewhere, len(labels), guarantee, effort)
        checked += int(tally.checked.sum())
        patterns += int(tally.patterns.sum())
        left -= int(tally.work.sum())
        effort = effort._replace(limit=max(left, 0))
        growths += [
            Fraction(int(count) * elsewhere.records, int(other) * here.records)
            for count, other in tally.best
            if count
        ]
        found += _witnesses(tally, code_of_rank, labels, place)
    found.sort(key=lambda one: (len(one.labels), one.labels, one.more_frequent_in))
    return PairFinding(
        patterns == 0,
        guarantee,
        (data[0].records, data[1].records),
        checked,
        max(growths, default=None),
        patterns,
        patterns if left >= 0 else None,
        left >= 0,
        tuple(found[: effort.witnesses]),
    )


def _in_shared_codes(
    data: tuple[Published, Published], paths: Paths
) -> tuple[tuple[str, ...], list[Merged]]:
    """Return all labels that count, sorted, and both data sets in codes of those."""
    published = sorted({*data[0].labels, *data[1].labels})
    path_of = {label: paths.get(label, (label,)) for label in published}
    labels = tuple(sorted({step for path in path_of.values() for step in path}))
    code = {label: number for number, label in enumerate(labels)}
    sides = []
    for rows in data:
        ups = [[code[step] for step in path_of[label]] for label in rows.labels]
        up_ptr = bounds_of([len(up) for up in ups])
        up_codes = np.array([step for up in ups for step in up], np.int32)
        merged = rows.merged
        row_ptr, codes = raise_rows(merged.indptr, merged.items, up_ptr, up_codes)
        sides.append(Merged(row_ptr, codes, merged.weight_by_row))
    return labels, sides


def _search(
    here: Merged, elsewhere: Merged, n_codes: int, guarantee: HiddenPatterns, effort: Effort
) -> tuple[Tally, Numbers]:
    """Count the closed sets of one data set; return the tally, and the code of each rank in it."""
    records, others = here.records, elsewhere.records
    least = _least_count(guarantee.min_support, records)
    support_by_code = supports(here, n_codes)
    by_support = np.argsort(support_by_code, kind="stable")
    code_of_rank = by_support[support_by_code[by_support] >= least]
    tally = _no_tally(len(code_of_rank), effort.witnesses)
    if not len(code_of_rank):
        return tally, code_of_rank
    whole = _whole_part(here, elsewhere, code_of_rank, n_codes)
    desk = new_desk(len(whole.name_by_item))
    held, held_elsewhere, closing, touched, entries = add_label(whole, 0, desk)
    tally.work[0] += entries
    names = whole.name_by_item[desk.closing[:closing]]
    asked = Asked(least, _most_elsewhere(guarantee.growth, records, others), records, others)
    if closing:
        note(held, held_elsewhere, names, asked, tally, 0)
    root = smaller_part(whole, 0, held, closing, touched, least, desk)
    firsts = len(root.name_by_item)

    def run(task: int, chosen: Numbers) -> None:
        count_closed(chosen, root, names, len(code_of_rank), asked, tally, task, effort.limit)

    if firsts:
        share_out(run, firsts, tally.work, effort)
    return tally, code_of_rank


def _whole_part(here: Merged, elsewhere: Merged, code_of_rank: Numbers, n_codes: int) -> Part:
    """Return all rows of both; label 0 is in every row, and label r + 1 has rank r."""
    label_of_code = np.zeros(n_codes, np.int32)
    label_of_code[code_of_rank] = np.arange(1, len(code_of_rank) + 1)
    # Codes without a rank stand for nothing.
    row_ptr, labels = raise_rows(
        np.concatenate([here.indptr, elsewhere.indptr[1:] + here.indptr[-1]]),
        np.concatenate([here.items, elsewhere.items]),
        bounds_of((label_of_code > 0).astype(np.int64)),
        label_of_code[label_of_code > 0],
    )
    items = np.insert(labels, row_ptr[:-1], 0)
    row_ptr += np.arange(len(row_ptr))
    rows = len(row_ptr) - 1
    nowhere, here_by_row, elsewhere_by_row = np.zeros((3, rows), np.int64)
    here_by_row[: len(here.weight_by_row)] = here.weight_by_row
    elsewhere_by_row[len(here.weight_by_row) :] = elsewhere.weight_by_row
    names = np.arange(-1, len(code_of_rank), dtype=np.int32)
    return Part(
        *(names, 0, row_ptr, items, nowhere, nowhere, np.empty(0, np.int32)),
        *(here_by_row, elsewhere_by_row, *lists_of(row_ptr, items, 0, len(names))),
    )


def _least_count(support: Fraction | int, records: int) -> int:
    """Return how many records a set needs: a share of them, rounded up, or the count itself."""
    if isinstance(support, Fraction):
        return max(1, -(-support.numerator * records // support.denominator))
    return support


def _most_elsewhere(growth: Fraction, here: int, elsewhere: int) -> Numbers:
    """Return for each count here the largest count elsewhere that makes a set a pattern."""
    times, by = elsewhere * growth.denominator, here * growth.numerator
    common = gcd(times, by)
    times, by = times // common, by // common
    if here * times < 2**63 and by < 2**63:
        return np.arange(here + 1, dtype=np.int64) * times // by
    return np.array([count * times // by for count in range(here + 1)], np.int64)


def _no_tally(n_ranks: int, witnesses: int) -> Tally:
    kept = min(witnesses, WITNESSES_AT_MOST)
    room = max(n_ranks, min(kept * n_ranks, WITNESS_ROOM)) if kept else 0
    return Tally(
        np.zeros(TASKS, np.int64),
        np.zeros(TASKS, np.int64),
        np.tile(np.array([0, 1], np.int64), (TASKS, 1)),
        np.zeros(TASKS, np.int64),
        np.zeros(TASKS, np.int64),
        np.zeros((TASKS, kept, 2), np.int64),
        np.zeros((TASKS, kept + 1), np.int64),
        np.empty((TASKS, room), np.int32),
    )


def _witnesses(
    tally: Tally, code_of_rank: Numbers, labels: Sequence[str], place: int
) -> list[PatternWitness]:
    found = []
    for task in range(TASKS):
        for number in range(int(tally.witness_count[task])):
            begin, end = tally.witness_ptr[task, number : number + 2]
            ranks = tally.witness_names[task, begin:end]
            count, other = tally.witness_counts[task, number]
            names = tuple(sorted(labels[code_of_rank[rank]] for rank in ranks))
            found.append(PatternWitness(names, place, int(count), int(other)))
    return found
