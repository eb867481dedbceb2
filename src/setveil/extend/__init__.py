"""The recoding of a release applied to new records of the same domain.

What is published is the union: the records of the release and the new ones, under the same labels. It
is as if both had been recoded together, so the result does not depend on which records came first; and
it is audited as any release. The audit can say no, for a new record can bring a combination that is too
rare: then nothing is published, and everything has to be anonymized anew.

The loss of the union is exact. It is counted from the original records where the release holds them,
and else from what the private twin knows: in how many records each original item is. Only a release
that holds its original records gets a seal, by which the union can later be compared with its own.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..api import as_transactions, audit, refuse_paths
from ..arguments import checked
from ..errors import UsageError
from ..hierarchy.tree import Hierarchy
from ..model.transactions import Transactions, as_labels
from ..progress import Watch
from ..refusals import refuse_release
from ..release.recoding import BeforeAfter, InMemory, Recoding
from ..release.release import Release, dropped_notice
from ..run.sets import WHOLE_DOMAIN
from .union import as_leaves, cells_of, check, extended, losses_of, united, with_rows

if TYPE_CHECKING:
    from ..audit.verdict import Verdict

UNSEEN = ("error", "suppress")
METHOD = "apply"
"""What the certificate of a union names as its method; the recoding's own is in the private twin."""


@dataclass(frozen=True)
class Extension:
    """The union of a release and new records: what the audit says of it, and the union if it says yes.

    `unseen` counts the new items that are left out by choice, `placed` those that a hierarchy put under
    a published label. `alone` tells whether the new records keep the promise by themselves: whoever has
    both releases can tell them apart.
    """

    release: Release | None
    verdict: Verdict
    new_records: int
    unseen: int
    placed: int
    alone: bool

    @property
    def holds(self) -> bool:
        """Whether the union keeps the promise of the release."""
        return self.verdict.holds

    def as_dict(self) -> dict[str, object]:
        """Return plain values for ``--json``."""
        return {
            "holds": self.holds,
            "new_records": self.new_records,
            "unseen_items": self.unseen,
            "placed_items": self.placed,
            "new_records_keep_the_promise_alone": self.alone,
            "verdict": self.verdict.as_dict(),
        }

    def __str__(self) -> str:
        new = f"{self.new_records:,} new {'record' if self.new_records == 1 else 'records'}"
        if self.holds:
            return f"The union with {new} keeps the promise.\n{self.verdict}"
        rare = self.verdict.violations
        return (
            f"The union with {new} does not keep the promise: "
            f"{rare:,} {'combination' if rare == 1 else 'combinations'} of labels would break it.\n"
            "Nothing is published. Anonymize the old and the new records together anew.\n"
            f"{self.verdict}"
        )


@checked("release", "hierarchy")
def apply(
    release: Release,
    data: Any,
    *,
    hierarchy: Hierarchy | Mapping[str, Hierarchy] | None = None,
    unseen: str = "error",
    watch: Watch | None = None,
) -> Extension:
    """Return the union of a release and new records under the release's recoding; nothing is written.

    Parameters
    ----------
    release
        What `setveil.anonymize` or `setveil.read_release` returned; its recoding must be global.
    data
        The new records: transactions, a table's records, or any frame that `setveil.from_frame` takes.
    hierarchy
        The full hierarchy, or one that adds items to it: a new item below a published label is
        published as that label.
    unseen
        What to do with items that the recoding does not know: "error", or "suppress" to leave them out.
    watch
        Progress listener and cancel switch.

    >>> import setveil as sv
    >>> old = sv.Transactions.from_rows([["ale", "milk"], ["wine", "milk"], ["milk"]])
    >>> drinks = sv.Hierarchy.from_parents({"ale": "alcohol", "wine": "alcohol", "alcohol": "drink",
    ...                                     "milk": "drink", "drink": None})
    >>> release = sv.anonymize(old, sv.KmAnonymity(k=2, m=2), hierarchy=drinks)
    >>> new = sv.Transactions.from_rows([["ale"]])
    >>> union = apply(release, new)
    >>> list(union.release.published.rows())
    [('alcohol',), ('alcohol', 'milk'), ('alcohol', 'milk'), ('milk',)]
    """
    started = time.monotonic()
    refuse_release(release)
    watch = watch or Watch()
    watch.tick("applying the recoding", None)
    refuse_paths(hierarchy)
    if unseen not in UNSEEN:
        raise UsageError(
            f"unseen={str(unseen)[:40]!r} is not known.",
            f"Allowed: {', '.join(UNSEEN)}.",
            code="unseen",
        )
    new = as_transactions(data)
    old_counts = check(release, new, hierarchy)
    tree, strange, placed = extended(release, new, hierarchy, unseen)
    recoding = Recoding.from_cut(
        tree,
        [
            tree.node_of_label[release.hierarchy.labels[node]]
            for node in release.recoding.cut().tolist()
        ],
    )
    rows = as_leaves(new, tree)
    counts = np.bincount(rows.leaves, minlength=tree.n_leaves).astype(np.int64)
    leaf_of_old = [tree.node_of_label[label] for label in release.hierarchy.labels[: len(old_counts)]]
    counts[leaf_of_old] += old_counts
    fresh = replace(BeforeAfter(recoding, rows).by_record, unprotected=cells_of(release, new))
    lost = losses_of(recoding, counts)
    left_out = recoding.node_of_leaf() < 0
    published, dropped = united(release, fresh, suppressing=bool(counts[left_out].sum()))
    union = Release(
        part=InMemory(replace(published, layout=release.layout)),
        guarantee=release.guarantee,
        method=METHOD,
        recoding=recoding,
        hierarchy=tree,
        losses=lost,
        seconds=0.0,
        items=tree.n_leaves,
        occurrences=int(counts.sum()),
        unchanged=int(counts[recoding.node_of_leaf() == np.arange(tree.n_leaves)].sum()),
        layout=release.layout,
        figures={"recoding of": _maker(release), "new records": len(new), "unseen items": len(strange)},
        suppressed_items=int(left_out.sum()),
        suppressed=int(counts[left_out].sum()),
        dropped=(-1,) * dropped,
        count_by_leaf=counts,
    )
    watch.tick("auditing the union", None)
    verdict = audit(union)
    alone = audit(fresh, release.guarantee).holds
    union = replace(union, notices=_notices(new, strange, placed, union, alone=alone))
    if verdict.holds and release.rows is not None:
        union = with_rows(union, as_labels(release.rows, release.hierarchy), new)
    union = replace(union, seconds=round(time.monotonic() - started, 6))
    return Extension(
        union if verdict.holds else None, verdict, len(new), len(strange), len(placed), alone
    )


def _maker(release: Release) -> str:
    """Return the method that found the recoding, however often it was applied since."""
    found = release.figures.get("recoding of") if release.method == METHOD else None
    return found if isinstance(found, str) else release.method


def _notices(
    new: Transactions, strange: set[str], placed: set[str], union: Release, *, alone: bool
) -> tuple[str, ...]:
    """Return what the holder should know; no label is named."""
    notices = list(new.notices)
    if union.hierarchy.domain == "hierarchy":
        notices.append(WHOLE_DOMAIN)
    if strange:
        notices.append(f"items that the recoding does not know are left out: {len(strange):,}.")
    if placed:
        notices.append(f"items that the release did not hold, put under its labels: {len(placed):,}.")
    if union.dropped:
        notices.append(dropped_notice(len(union.dropped)))
    own = "do" if alone else "do not"
    notices.append(
        "whoever has both releases can tell which records are new, and the new ones alone "
        f"{own} keep the promise: replace the earlier release, do not publish both."
    )
    return tuple(notices)
