"""Itemsets as CSV: one set a line, its labels in one cell, which is a line of CSV itself."""

from __future__ import annotations

from collections.abc import Iterable

from .csv_text import quoted

HEADER = "support,share,items,itemset"


def itemsets_as_csv(sets: Iterable[tuple[tuple[str, ...], int]], n_records: int) -> str:
    """Return the lines of these sets and their supports among so many records.

    >>> print(itemsets_as_csv([(("ale",), 3), (("ale", "bun"), 2)], 4), end="")
    support,share,items,itemset
    3,0.75,1,ale
    2,0.5,2,"ale,bun"
    """
    lines = [HEADER]
    for labels, support in sets:
        cell = ",".join(quoted(label, ",") for label in labels)
        lines.append(f"{support},{support / n_records:.9g},{len(labels)},{quoted(cell, ',')}")
    return "\n".join(lines) + "\n"
