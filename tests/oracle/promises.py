"""Each guarantee by brute force: slow, obvious, and written without looking at the audit.

Rows are collections of labels. Nothing here is clever on purpose.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import combinations

Rows = Sequence[Collection[str]]


def labels_of(rows: Rows) -> list[str]:
    return sorted({label for row in rows for label in row})


def support(rows: Rows, present: Collection[str], absent: Collection[str] = ()) -> int:
    return sum(
        all(label in row for label in present) and not any(label in row for label in absent)
        for row in rows
    )


def occurring_sets(rows: Rows, size: int) -> dict[tuple[str, ...], int]:
    """Every set of `size` labels that is in some row, with its support."""
    counted: dict[tuple[str, ...], int] = {}
    for row in rows:
        for chosen in combinations(sorted(set(row)), size):
            counted[chosen] = counted.get(chosen, 0) + 1
    return counted


def smallest_support_up_to(rows: Rows, size: int) -> int | None:
    """The largest k for which the rows are k^size-anonymous."""
    found = [count for part in range(1, size + 1) for count in occurring_sets(rows, part).values()]
    return min(found, default=None)


def is_km_anonymous(rows: Rows, k: int, m: int) -> bool:
    return all(count >= k for size in range(1, m + 1) for count in occurring_sets(rows, size).values())


def minimal_rare_sets(rows: Rows, k: int, size: int) -> set[tuple[str, ...]]:
    """Rare sets of this size all of whose smaller non-empty parts are not rare."""
    return {
        chosen
        for chosen, count in occurring_sets(rows, size).items()
        if count < k
        and all(
            support(rows, part) >= k
            for smaller in range(1, size)
            for part in combinations(chosen, smaller)
        )
    }


def is_km_anonymous_in_sql(rows: Rows, k: int, m: int) -> bool:
    """The same as a self-join: m copies of (record, label), labels not falling, grouped.

    A set of fewer than m labels appears with its last label repeated.
    """
    with sqlite3.connect(":memory:") as database:
        database.execute("create table held (record integer, label text)")
        database.executemany(
            "insert into held values (?, ?)",
            [(number, label) for number, row in enumerate(rows) for label in set(row)],
        )
        tables = ", ".join(f"held as h{i}" for i in range(m))
        conditions = [
            f"h{i}.record = h{i - 1}.record and h{i}.label >= h{i - 1}.label" for i in range(1, m)
        ]
        where = " and ".join(conditions) or "1"
        columns = ", ".join(f"h{i}.label" for i in range(m))
        query = (
            f"select count(*) from (select count(distinct h0.record) as support from {tables} "
            f"where {where} group by {columns} having support < ?)"
        )
        (violations,) = database.execute(query, (k,)).fetchone()
    database.close()
    return violations == 0


def signed_sets(rows: Rows, size: int) -> Iterator[tuple[tuple[str, ...], tuple[str, ...], int]]:
    """Every occurring combination of `size` signed labels: present, absent, support."""
    for chosen in combinations(labels_of(rows), size):
        for signs in range(2**size):
            present = tuple(label for i, label in enumerate(chosen) if signs >> i & 1)
            absent = tuple(label for i, label in enumerate(chosen) if not signs >> i & 1)
            count = support(rows, present, absent)
            if count:
                yield present, absent, count


def smallest_signed_support_up_to(rows: Rows, size: int) -> int | None:
    return min(
        (count for part in range(1, size + 1) for _, _, count in signed_sets(rows, part)),
        default=None,
    )


def minimal_rare_signed_sets(
    rows: Rows, k: int, size: int
) -> set[tuple[tuple[str, ...], tuple[str, ...]]]:
    found = set()
    for present, absent, count in signed_sets(rows, size):
        if count >= k:
            continue
        signed = [(label, True) for label in present] + [(label, False) for label in absent]
        parts = [
            ([label for label, sign in part if sign], [label for label, sign in part if not sign])
            for smaller in range(1, size)
            for part in combinations(signed, smaller)
        ]
        if all(support(rows, *part) >= k for part in parts):
            found.add((present, absent))
    return found


def is_negative_km_anonymous(rows: Rows, k: int, m: int) -> bool:
    return all(count >= k for size in range(1, m + 1) for _, _, count in signed_sets(rows, size))


def is_k_anonymous(rows: Rows, k: int) -> bool:
    return all(sum(set(row) == set(other) for other in rows) >= k for row in rows)


def worst_share(rows: Rows, m: int, sensitive: Collection[str]) -> Fraction | None:
    """The largest support(c + s) / support(c) over sets c of 1..m other labels."""
    shares = [
        Fraction(support(rows, [*chosen, secret]), count)
        for size in range(1, m + 1)
        for chosen, count in occurring_sets(rows, size).items()
        if not set(chosen) & set(sensitive)
        for secret in sensitive
    ]
    return max((share for share in shares if share), default=None)


def is_lm_diverse(rows: Rows, ell: int, m: int, sensitive: Collection[str]) -> bool:
    return all(
        ell * support(rows, [*chosen, secret]) <= count
        for size in range(1, m + 1)
        for chosen, count in occurring_sets(rows, size).items()
        if not set(chosen) & set(sensitive)
        for secret in sensitive
    )


def is_coherent(rows: Rows, h: Fraction, k: int, p: int, private: Collection[str]) -> bool:
    """Every set of at most p public labels that occurs: k records, and no private label above h %."""
    for size in range(1, p + 1):
        for chosen, count in occurring_sets(rows, size).items():
            if set(chosen) & set(private):
                continue
            if count < k:
                return False
            if any(Fraction(support(rows, [*chosen, secret]) * 100, count) > h for secret in private):
                return False
    return True


def is_covered(rows: Rows, k: int, m: int, leaves_under: Mapping[str, Collection[str]]) -> bool:
    """Every set of at most m leaves is covered by 0 or at least k rows."""
    covered = [{leaf for label in row for leaf in leaves_under.get(label, (label,))} for row in rows]
    return is_km_anonymous(covered, k, m)
