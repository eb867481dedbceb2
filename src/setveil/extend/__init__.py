"""The recoding of a release applied to new records of the same domain.

What is published is the union: the records of the release and the new ones, under the same labels. It
is audited as any release. The audit can say no, for a new record can bring a combination that the
promise does not allow: then nothing is published, and everything has to be anonymized anew.

Here is what all releases have in common that take new records; `sets` and `pairs` have what is one
kind's own. That a table in buckets takes none is told in the table of refusals.
"""

from __future__ import annotations

import importlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, overload

from ..api import refuse_paths
from ..arguments import checked
from ..errors import HierarchyError, UsageError
from ..hierarchy.tree import Hierarchy
from ..io.folder.ownership import kind_of_folder
from ..model.numbers import counted
from ..model.transactions import Transactions, problem_with
from ..plain import Summary
from ..progress import Watch
from ..refusals import refuse, refuse_release
from ..release.header import Header
from ..release.release import Release
from ..run.fields import SETS

if TYPE_CHECKING:
    from ..audit.verdict import PairFinding, Verdict
    from ..io.pairs import PatternData
    from ..model.pattern_pair import PatternPair
    from ..release.pair_release import PairRelease

UNSEEN = ("error", "suppress")


class Union(Summary):
    """A release and new records together: what the audit says of it, and the union if it says yes."""

    release: Any
    verdict: Any
    new_records: Any
    unseen: int
    placed: int
    alone: bool | None

    @property
    def holds(self) -> bool:
        return bool(self.verdict.holds)

    @property
    def new(self) -> str:
        """How many records are new, in words."""
        return counted(self.new_records, "new record")

    @property
    def broken(self) -> str:
        """What is in the way of a yes, in words."""
        raise NotImplementedError

    def as_dict(self) -> dict[str, object]:
        new = self.new_records
        return {
            "holds": self.holds,
            "new_records": list(new) if isinstance(new, tuple) else new,
            "unseen_items": self.unseen,
            "placed_items": self.placed,
            "new_records_keep_the_promise_alone": self.alone,
            "verdict": self.verdict.as_dict(),
        }

    @property
    def head(self) -> str:
        return f"The union with {self.new} {'keeps' if self.holds else 'does not keep'} the promise"

    def lines(self) -> list[tuple[str, str]]:
        alone = [] if self.alone is None else [("by themselves", self._told_alone())]
        placed = f"{self.unseen:,} left out, {self.placed:,} put under a published label"
        return [("new", self.new), *alone, ("never seen", placed)]

    def _told_alone(self) -> str:
        return f"the new records {'keep' if self.alone else 'do not keep'} the promise"

    def _repr_html_(self) -> str:
        return super()._repr_html_() + str(self.verdict._repr_html_())

    def __str__(self) -> str:
        if self.holds:
            return f"The union with {self.new} keeps the promise.\n{self.verdict}"
        return (
            f"The union with {self.new} does not keep the promise: {self.broken}.\n"
            "Nothing is published. Anonymize the old and the new records together anew.\n"
            f"{self.verdict}"
        )


@dataclass(frozen=True)
class Extension(Union):
    """The union of a release of sets and new records.

    `unseen` counts the new items that are left out by choice, `placed` those that a hierarchy put under
    a published label. `alone` tells whether the new records keep the promise by themselves: whoever has
    both releases can tell them apart.

    >>> import setveil as sv
    >>> from setveil.io.demo import groceries
    >>> baskets, products = groceries()
    >>> release = sv.anonymize(baskets, sv.KmAnonymity(k=5, m=2), hierarchy=products)
    >>> union = sv.apply(release, baskets)
    >>> union.holds, union.new_records == release.records
    (True, True)
    """

    release: Release | None
    verdict: Verdict
    new_records: int
    unseen: int
    placed: int
    alone: bool

    @property
    def broken(self) -> str:
        return f"{counted(self.verdict.violations, 'combination')} of labels would break it"


@dataclass(frozen=True)
class PairExtension(Union):
    """The union of a release of two data sets and new records of one of them or of both.

    `new_records` has the number of each data set. `unseen` counts the values, of each data set by
    itself, that are left out by choice. `alone` tells whether the new records keep the promise by
    themselves; None where they are of one data set alone, of which nothing is promised.

    >>> import setveil as sv
    >>> tree = sv.Hierarchy.from_parents({"ale": "drink", "tea": "drink", "drink": None})
    >>> before = sv.Transactions.from_rows([["ale"], ["ale"], ["tea"]])
    >>> after = sv.Transactions.from_rows([["tea"], ["tea"], ["ale"]])
    >>> pair = sv.PatternPair.of_sets(before, after, tree)
    >>> release = sv.anonymize(pair, sv.HiddenPatterns(growth=2))
    >>> union = sv.apply(release, pair)
    >>> union.new_records
    (3, 3)
    """

    release: PairRelease | None
    verdict: PairFinding
    new_records: tuple[int, int]
    unseen: int
    alone: bool | None
    placed: int = 0

    @property
    def new(self) -> str:
        first, second = self.new_records
        return f"{first:,} and {second:,} new records"

    @property
    def broken(self) -> str:
        least = "" if self.verdict.counted_all else "at least "
        return f"{least}{counted(self.verdict.patterns, 'pattern')} would be left in it"


class Adding:
    """New records on their way to a release in a folder, as a command is asked for it.

    Raises for what is wrong whatever is in the files. `inputs` are those that are read beside the
    release, standard input aside.
    """

    inputs: Sequence[str]

    def __init__(self, asked: Any, release: str, new_data: str | None) -> None:
        self.asked, self.path, self.new_data = asked, release, new_data

    def read(self) -> Sequence[str]:
        """Read what is new; return the notices."""
        raise NotImplementedError

    def join(self, watch: Watch) -> Union:
        """Return the union with the release in the folder."""
        raise NotImplementedError


def of_kind(kind: str) -> Any:
    """Return the module of a kind that takes new records: its `extended` and its `Adding`."""
    refuse("apply", kind)
    return importlib.import_module(f".{kind}", __package__)


def adding_to(release: str, new_data: str | None, asked: Any) -> Adding:
    """Return what a command does that adds records to the release in a folder."""
    adding: Adding = of_kind(kind_of_folder(release) or SETS).ADDING(asked, release, new_data)
    return adding


def refuse_labels(
    new: Transactions, labels: Collection[str], code: str, what: str, remedy: str
) -> None:
    """Raise `HierarchyError` for labels of new records, if any, each with the line it is first on."""
    if labels:
        first = sorted(labels, key=lambda label: (new.first_line_of(label) or 0, label))
        raise HierarchyError(
            [problem_with(new, label, code, f"item {label[:40]!r} {what}", remedy) for label in first]
        )


@overload
def apply(
    release: PairRelease,
    data: PatternPair | PatternData,
    *,
    unseen: str = "error",
    watch: Watch | None = None,
) -> PairExtension: ...
@overload
def apply(
    release: Release,
    data: Any,
    *,
    hierarchy: Hierarchy | Mapping[str, Hierarchy] | None = None,
    unseen: str = "error",
    watch: Watch | None = None,
) -> Extension: ...
@checked("release", "hierarchy")
def apply(
    release: Release | PairRelease,
    data: Any,
    *,
    hierarchy: Hierarchy | Mapping[str, Hierarchy] | None = None,
    unseen: str = "error",
    watch: Watch | None = None,
) -> Extension | PairExtension:
    """Return the union of a release and new records under the release's recoding; nothing is written.

    Parameters
    ----------
    release
        What `setveil.anonymize` or `setveil.read_release` returned; every value must have one published
        form: a global recoding of sets, or two data sets each of which treats every value alike.
    data
        The new records: transactions, a table's records, or any frame that `setveil.from_frame` takes.
        For two data sets those of either, as `setveil.read_pattern_pair` returns them; those of one may
        be none.
    hierarchy
        The full hierarchy, or one that adds items to it: a new item below a published label is
        published as that label. Two data sets take none.
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
    given: object = release
    if not isinstance(given, Header):
        refuse_release(given)
    kind = of_kind(release.guarantee.kind)
    refuse_paths(hierarchy)
    if unseen not in UNSEEN:
        raise UsageError(
            f"unseen={str(unseen)[:40]!r} is not known.",
            f"Allowed: {', '.join(UNSEEN)}.",
            code="unseen",
        )
    watch = watch or Watch()
    watch.tick("applying the recoding", None)
    union: Extension | PairExtension = kind.extended(
        release, data, hierarchy=hierarchy, unseen=unseen, watch=watch
    )
    return union
