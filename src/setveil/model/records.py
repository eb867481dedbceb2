"""Tables with set-valued columns: each record a row of cells, some of them sets.

A kept cell is known to an attacker as an item is, so it counts as one: every value is the item
``column=value``, and all columns together make one set a record. The id of a person, if there was one,
has served to merge rows and is gone.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .layout import LayoutColumn
from .transactions import Transactions


@dataclass(frozen=True, eq=False)
class Records:
    """Records as sets of ``column=value`` items, with the columns they came from.

    >>> table = Transactions.from_rows([["sex=F", "drug=a", "drug=b"], ["sex=M"]])
    >>> columns = (LayoutColumn("sex", "kept"), LayoutColumn("drug", "set", " "))
    >>> records = Records(columns, table)
    >>> records
    Records(2 records, sex kept, drug set)
    >>> list(records.column("drug").rows())
    [('a', 'b'), ()]
    """

    columns: tuple[LayoutColumn, ...]
    items: Transactions

    def __len__(self) -> int:
        return len(self.items)

    def __repr__(self) -> str:
        roles = ", ".join(f"{column.name} {column.role}" for column in self.columns)
        return f"Records({len(self):,} records, {roles})"

    @property
    def notices(self) -> tuple[str, ...]:
        """What the reader had to say about the data."""
        return self.items.notices

    def as_transactions(self) -> Transactions:
        """Return all columns as one set a record, labelled ``column=value``."""
        return self.items

    def labels_of(self, name: str) -> tuple[str, ...]:
        """Return the labels ``column=value`` of one column."""
        prefix = f"{name}="
        return tuple(label for label in self.items.vocabulary.labels if label.startswith(prefix))

    def column(self, name: str) -> Transactions:
        """Return one column as transactions, its values without the name of the column."""
        prefix = f"{name}="
        labels = [
            label.removeprefix(prefix) if label.startswith(prefix) else ""
            for label in self.items.vocabulary.labels
        ]
        of_column = np.array([label.startswith(prefix) for label in self.items.vocabulary.labels])
        records = np.repeat(np.arange(len(self), dtype=np.int64), self.items.length_by_record)
        kept = of_column[self.items.items] if len(of_column) else np.zeros(0, dtype=np.bool_)
        return Transactions.from_codes(labels, records[kept], self.items.items[kept], len(self))
