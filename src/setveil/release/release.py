"""A release of records as sets: what is published, how it was made, and what that cost.

Its original records are known again by two keyed hashes. `seal` is over the records as they were read,
in their order, with unprotected cells: it confirms the very input. `digest_of_records` is over the same
records in canonical order without those cells: it confirms them also where rows were shuffled or came
in another format, which is all that a recoding needs, since its records are counted in that order.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..distinct import number_distinct
from ..hierarchy.tree import Hierarchy
from ..model.costs import WEIGHTED, cost_title
from ..model.guarantees import Guarantee
from ..model.layout import Layout
from ..model.numbers import counted
from ..model.transactions import Rows, Transactions, Vocabulary, as_labels, canonical_order
from .header import Header, Seal, as_ratio, is_useless, telling_records
from .recoding import Part, Recoding, published_rows

if TYPE_CHECKING:
    import pyarrow


@dataclass(frozen=True, eq=False)
class Release(Header):
    """The result of `setveil.anonymize`; ``print`` it for what was kept, lost and proven.

    `items`, `occurrences` and `unchanged` count the original's items, their occurrences, and those
    occurrences that are published as they were. `suppressed_items` and `suppressed` count the items
    left out and their occurrences. `dropped` are the places, in canonical order of the original, of the
    records that are not published because nothing was left of them and they were fewer than k. `rows`
    are the original records, as leaves of `hierarchy`, in that order, where they are at hand;
    `count_by_leaf`, in how many of them each leaf is, is told where only that is known. The place of a
    dropped record is -1 where the original is not known.

    >>> import setveil as sv
    >>> from setveil.io.demo import groceries
    >>> baskets, products = groceries()
    >>> release = sv.anonymize(baskets, sv.KmAnonymity(k=5, m=2), hierarchy=products)
    >>> release.records, release.method, release.objective.proven
    (10000, 'trim', True)
    >>> release.to_arrow().column_names
    ['items']
    """

    guarantee: Guarantee = field(kw_only=True)
    part: Part
    recoding: Recoding
    hierarchy: Hierarchy
    items: int
    occurrences: int
    unchanged: int
    layout: Layout | None = None
    complete: bool = True
    suppressed_items: int = 0
    suppressed: int = 0
    dropped: tuple[int, ...] = ()
    rows: Rows | None = None
    count_by_leaf: NDArray[np.int64] | None = None

    @property
    def records(self) -> int:
        """How many records are published."""
        return len(self.part)

    @property
    def published(self) -> Transactions:
        """The published records themselves, which the release may have to fetch."""
        return self.part.in_memory()

    @property
    def sides(self) -> tuple[Part]:
        """The parts of what is published; there is one."""
        return (self.part,)

    @property
    def empty_records(self) -> int:
        """How many of the published records hold no label."""
        return len(self.part) - self.part.count_with(self.part.labels)

    @property
    def occurrences_by_leaf(self) -> NDArray[np.int64] | None:
        """In how many original records each leaf is: counted, or as told; None where not known."""
        if self.rows is None:
            return self.count_by_leaf
        return np.bincount(self.rows.leaves, minlength=self.hierarchy.n_leaves).astype(np.int64)

    @property
    def all_losses(self) -> dict[str, Fraction]:
        """The losses by name, with the weighted one where weights were given."""
        own = self.objective
        if own is None or not own.name.startswith(WEIGHTED):
            return dict(self.losses)
        return {**self.losses, own.name: own.value}

    def _lost(self) -> str:
        named = self.all_losses.items()
        return ", ".join(f"{cost_title(name)} {float(loss):.4f}" for name, loss in named)

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels that occur in the published records, sorted."""
        return self.part.labels

    @property
    def useless(self) -> str | None:
        """What to tell where most records say nothing, and what would help; else None.

        Records that were empty in the data do not count. Where the originals are not at hand it is not
        known which were, so that empty records do not count at all.
        """
        telling = telling_records(self.part, self.hierarchy)
        if self.rows is None:
            held = self.records - self.empty_records + len(self.dropped)
        else:
            held = int(np.count_nonzero(np.diff(self.rows.indptr)))
        if not is_useless(telling, held):
            return None
        labels = self.labels
        if not labels:
            what = "nothing is published: every item was left out."
        elif not telling:
            shown = ", ".join(repr(label[:40]) for label in labels[:3])
            shown += ", ..." if labels[3:] else ""
            what = f"nothing but {shown} is published: nobody can learn anything from it."
        else:
            what = (
                f"{held - telling:,} of {held:,} records would say nothing: nothing is left of them, "
                "or only the top of the hierarchy."
            )
        return f"{what} {self._what_would_help()}"

    def _what_would_help(self) -> str:
        """Return what would keep more, as far as it can be told from the release."""
        tree = self.hierarchy
        flat = tree.height < 2
        ways = [f"a hierarchy{'' if flat and self.suppressed else ' with more levels'}"]
        if flat:
            ways = [f"{ways[0]} (`setveil hierarchy build` or `setveil hierarchy learn`)"]
        asked = self.guarantee
        if asked.key == "km" and not self.suppressed and self.method != "trim":
            ways.insert(0, "--method trim, which may leave rare items out instead")
        if not self.complete:
            ways.insert(0, "more time")
        if (asked.known_at_most or 1) > 1:
            ways.append(f"a smaller {asked.knowledge}")
        ways.append(f"a smaller {asked.strength}")
        listed = f"{', '.join(ways[:-1])} or {ways[-1]}"
        return f"What may help: {listed}. `setveil compare` shows other methods."

    def frame(self) -> pyarrow.Table:
        """Return a column ``items`` of lists, or the columns of the table that was read."""
        return self.frame_of(self.published)

    def lines(self) -> list[tuple[str, str]]:
        """Return the summary as names and texts."""
        share = self.unchanged / self.occurrences if self.occurrences else 1.0
        lines = [
            ("promise", str(self.guarantee)),
            ("method", self.method + (", cut short by the time limit" if not self.complete else "")),
            ("records", f"{self.records:,}"),
            ("labels", f"{len(self.labels):,} published for {self.items:,} in the data"),
            (
                "kept",
                f"{self.unchanged:,} of {self.occurrences:,} occurrences under their own label "
                f"({share:.1%})",
            ),
            ("lost", f"{self._lost()} (0 nothing, 1 everything)"),
        ]
        if self.layout is not None and self.layout.unprotected:
            names = ", ".join(self.layout.unprotected)
            lines.append(("open", f"not covered by the promise, published as they are: {names}"))
        if self.suppressed_items:
            gone = f"; {dropped_words(len(self.dropped))}" if self.dropped else ""
            items, held = counted(self.suppressed_items, "item"), counted(self.suppressed, "occurrence")
            lines.append(("left out", f"{items} with {held}{gone}"))
        if self.empty_records:
            lines.append(("empty", empty_words(self)))
        if self.objective is not None:
            lines.append(("optimum", self.objective.told()))
        lines.append(("time", f"{self.seconds:.2f} s"))
        useless = () if self.useless is None else (self.useless,)
        lines += [("note", notice) for notice in (*self.notices, *useless)]
        return lines

    def __repr__(self) -> str:
        records = counted(self.records, "record")
        return f"Release({self.guarantee}, {self.method}, {records}, {self._lost()})"

    def is_made_of(self, rows: Rows) -> bool:
        """Tell whether the recoding leads from these records to what is published."""
        again, published = published_rows(self.recoding, rows), self.published
        if self.dropped:
            again = again.take(np.flatnonzero(again.length_by_record))
        return (
            again.vocabulary.labels == published.vocabulary.labels
            and np.array_equal(again.indptr, published.indptr)
            and np.array_equal(again.items, published.items)
        )

    def account(self) -> dict[str, object]:
        """Return exact figures of the run as plain values."""
        own = self.objective
        return {
            "records": self.records,
            "items": self.items,
            "occurrences": self.occurrences,
            "unchanged": self.unchanged,
            "suppressed_items": self.suppressed_items,
            "suppressed_occurrences": self.suppressed,
            "dropped_records": len(self.dropped),
            "loss": {
                name: {"exact": as_ratio(loss), "value": float(loss)}
                for name, loss in self.losses.items()
            },
            "domain": self.hierarchy.domain,
            "objective": None if own is None else {**own.as_dict(), "exact": own.as_ratios()},
            "complete": self.complete,
            "learned_hierarchy": self.hierarchy.private,
        }

    def sealed(self) -> dict[str, object] | None:
        """Return the seal of the input, and one of its records alone, whatever their order was."""
        plain = super().sealed()
        if plain is None or self.seal is None:
            return None
        plain["of"] = (
            "the labels as a JSON array, then indptr (int64) and items (int32), little-endian, "
            "then any unprotected cells as a JSON array of arrays"
        )
        if self.rows is not None:
            key = bytes.fromhex(self.seal.key)
            # Every leaf occurs, and the rows are in canonical order already.
            plain["records_hmac_sha256"] = seal(as_labels(self.rows, self.hierarchy), key).digest
        return plain

    def hidden(self) -> dict[str, object]:
        """Return how each original item is published, group by group for a local recoding."""
        recoding, labels = self.recoding, self.hierarchy.labels
        document: dict[str, object] = {"dropped_records": list(self.dropped)}
        counts = self.occurrences_by_leaf
        if counts is not None:
            document["occurrences"] = dict(zip(labels, counts.tolist(), strict=False))
        if self.hierarchy.domain == "hierarchy":
            sizes = zip(labels, self.hierarchy.domain_count.tolist(), strict=True)
            document["items_of_hierarchy"] = dict(list(sizes)[self.hierarchy.n_leaves :])
        if recoding.group_of_record is None:
            nodes = recoding.node_of_leaf().tolist()
            document["recoding"] = "global"
            document["published"] = {
                labels[leaf]: labels[node] for leaf, node in enumerate(nodes) if node >= 0
            }
            document["suppressed"] = [labels[leaf] for leaf, node in enumerate(nodes) if node < 0]
            return document
        document["recoding"] = "local"
        document["published_by_group"] = [
            [labels[node] for node in recoding.cut(group).tolist()]
            for group in range(recoding.n_groups)
        ]
        document["group_of_record"] = recoding.group_of_record.tolist()
        return document


def seal(transactions: Transactions, key: bytes | None = None) -> Seal:
    """Return a keyed hash of records as they are: labels, where each begins, items, open cells."""
    parts = [
        json.dumps(list(transactions.vocabulary.labels), ensure_ascii=False).encode(),
        transactions.indptr.astype("<i8").tobytes(),
        transactions.items.astype("<i4").tobytes(),
    ]
    if transactions.unprotected is not None:
        parts.append(json.dumps(transactions.unprotected, ensure_ascii=False).encode())
    return Seal.over(parts, key)


def digest_of_records(transactions: Transactions, key: bytes) -> str:
    """Return the keyed hash of the records alone, whatever their order, in hex digits."""
    used, items = number_distinct(transactions.items)
    labels = tuple(transactions.vocabulary.labels[item] for item in used.tolist())
    plain = Transactions(Vocabulary(labels), transactions.indptr, items.astype(np.int32))
    return seal(plain.take(canonical_order(plain)), key).digest


def dropped_words(count: int) -> str:
    """Return that records were dropped, and why.

    >>> dropped_words(1)
    '1 record was dropped, because all its items were left out'
    """
    were, its = ("was", "its") if count == 1 else ("were", "their")
    return f"{counted(count, 'record')} {were} dropped, because all {its} items were left out"


def dropped_notice(count: int) -> str:
    """Return the notice of a run that dropped records.

    >>> dropped_notice(2).partition(":")[0]
    '2 records are not published'
    """
    are, its = ("is", "its") if count == 1 else ("are", "their")
    return (
        f"{counted(count, 'record')} {are} not published: all {its} items were left out, and so few "
        "empty records would stand out."
    )


def empty_words(release: Release) -> str:
    """Return how many records are published empty, and why, for the holder; nothing where none is."""
    count = release.empty_records
    if not count:
        return ""
    are, they, their = ("is", "it", "its") if count == 1 else ("are", "they", "their")
    told = f"{counted(count, 'record')} {are} published empty"
    if not release.suppressed_items:
        return f"{told}, as in the data"
    gone = f"all {their} items were left out"
    if release.rows is None or not np.diff(release.rows.indptr).all():
        gone += f", or {they} held none"
    return f"{told}: {gone}"
