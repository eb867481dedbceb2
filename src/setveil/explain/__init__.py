"""Why is this published as it is, and what would it take to keep it?

`explain` looks at a release together with its originals. Of sets a label is published finer, all else
unchanged, and the combinations are told that would then break the promise (`cuts`). Of two data sets a
value is published as itself again, and the patterns are told that would show (`pairs`). Of a table in
buckets a row is looked for, and who shares its bucket (`buckets`). Here is what all answers have in
common, and the answer about sets with its words. Answers point at single persons: they are for the
holder's eyes, and say so wherever they are shown.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from html import escape
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ..arguments import checked
from ..distinct import distinct
from ..errors import UsageError
from ..hierarchy.tree import Hierarchy
from ..model.guarantees import Guarantee
from ..model.numbers import counted
from ..plain import Plain
from ..release.claims import claims_of

if TYPE_CHECKING:
    from ..progress import Watch
    from ..release.buckets import BucketRelease
    from ..release.pair_release import PairRelease
    from ..release.release import Release

PERSONAL = "Personal data: rare combinations point at persons. Keep it as safe as the original records."
NOTHING = "nothing was changed, so there is nothing to explain."
Question = str | int | Mapping[str, str]
"""A label; of a table in buckets what a row shows, by column or as a text, or its number."""


class Answer(Plain):
    """An answer about a release: a head, what speaks for it line by line, and a conclusion."""

    conclusion: str

    def head(self) -> str:
        """Return the answer in a sentence."""
        raise NotImplementedError

    def details(self) -> Iterator[str]:
        """Yield the reasons."""
        raise NotImplementedError

    def as_dict(self) -> dict[str, Any]:
        told = super().as_dict()
        conclusion = told.pop("conclusion")
        return {"personal_data": PERSONAL, **told, "conclusion": conclusion}

    def __str__(self) -> str:
        lines = (*self.details(), *self.conclusion.split("\n"))
        return "\n".join([self.head(), *(f"  {line}" for line in lines)])

    def _repr_html_(self) -> str:
        return f"<p>{escape(PERSONAL)}</p><pre>{escape(str(self))}</pre>"


class Shown(Protocol):
    """One of several things that answers list: in words, and as plain values."""

    def as_dict(self) -> dict[str, object]: ...


@dataclass(frozen=True)
class Pattern:
    """A combination that would break the promise, and in how many records it is.

    For k-anonymity it is a class of records that would be published alike, told by the labels that set
    it apart. `secret` is the item that the combination would point at, in `with_secret` of the records.
    """

    labels: tuple[str, ...]
    support: int
    absent: tuple[str, ...] = ()
    secret: str | None = None
    with_secret: int = 0

    def as_dict(self) -> dict[str, object]:
        plain: dict[str, object] = {"labels": list(self.labels), "support": self.support}
        if self.absent:
            plain["absent"] = list(self.absent)
        if self.secret is not None:
            plain |= {"secret": self.secret, "with_secret": self.with_secret}
        return plain

    def __str__(self) -> str:
        names = " + ".join([*self.labels, *(f"not {label}" for label in self.absent)]) or "none of them"
        pointing = "" if self.secret is None else f", {self.with_secret:,} of them with {self.secret}"
        return f"{names}: {counted(self.support, 'record')}{pointing}"


@dataclass(frozen=True)
class Patterns:
    """The first combinations of several, and how many there are; more where not `complete`."""

    shown: tuple[Shown, ...] = ()
    total: int = 0
    complete: bool = True

    def as_dict(self) -> dict[str, object]:
        return {
            "total": self.total,
            "complete": self.complete,
            "shown": [pattern.as_dict() for pattern in self.shown],
        }

    def lines(self) -> Iterator[str]:
        yield from map(str, self.shown)
        if self.total > len(self.shown):
            yield f"... and {self.total - len(self.shown):,} more"


@dataclass(frozen=True)
class Level(Plain):
    """What would happen if the label asked about were published as `label`, all else unchanged.

    `against` are the combinations with that label that would break the promise, `beside` those with
    `siblings`, the labels that would be published too, because `instead_of` would no longer be.
    `taken` are published labels that would become `label`. Where a published category is asked about,
    `parts` are the labels that it would be split into.
    """

    label: str
    records: int
    against: Patterns
    beside: Patterns = Patterns()
    taken: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()
    siblings: tuple[str, ...] = ()
    instead_of: str | None = None

    @property
    def free(self) -> bool:
        return not self.against.total and not self.beside.total


@dataclass(frozen=True)
class GivingWay(Plain):
    """Another label that would have to give way: published as `instead`, or left out (None)."""

    label: str
    instead: str | None

    def __str__(self) -> str:
        if self.instead is None:
            return f"{self.label!r} left out"
        return f"{self.label!r} published as {self.instead!r}"


@dataclass(frozen=True)
class Share(Plain):
    """How many occurrences of the label's items are published as one label (None: left out)."""

    published_as: str | None
    items: int
    occurrences: int


@dataclass(frozen=True)
class Group(Plain):
    """A group of records of a local recoding: how many, how many hold the label, and as what."""

    size: int
    records: int
    published_as: str | None
    levels: tuple[Level, ...]


@dataclass(frozen=True)
class Explanation(Answer):
    """Why a label is published as it is, and what it would take to keep it.

    Attributes
    ----------
    label, records
        The label asked about, and how many original records hold it, or an item under it.
    published_as
        The label it is published as; itself where nothing was changed, None where there is no single
        answer, or it is left out: `shares` tells of each label how much is published so.
    levels
        The labels it is not published as, from near what is published to the label itself.
    largest_k, largest_m
        The largest k (or l) and the largest m (or p) that publishing it as itself would keep, all else
        unchanged and the other number as it is; None where none is kept, or where nothing is lost.
    giving_way
        Other labels that would have to give way for it; None where nothing would help, or too many.
    ncp, ncp_then
        The loss of the release, and what it would be with `giving_way`.
    groups, groups_total
        For a local recoding the first groups of records, and how many hold the label.
    conclusion
        Whether it had to be, in words.

    >>> import setveil as sv
    >>> from setveil.io.demo import groceries
    >>> baskets, products = groceries()
    >>> release = sv.anonymize(baskets, sv.KmAnonymity(k=5, m=2), hierarchy=products)
    >>> found = sv.explain(release, products.labels[0])
    >>> found.label == products.labels[0], found.records > 0
    (True, True)
    """

    label: str
    records: int
    guarantee: Guarantee
    published_as: str | None
    conclusion: str
    shares: tuple[Share, ...] = ()
    levels: tuple[Level, ...] = ()
    largest_k: int | None = None
    largest_m: int | None = None
    giving_way: tuple[GivingWay, ...] | None = None
    ncp: Fraction | None = None
    ncp_then: Fraction | None = None
    groups: tuple[Group, ...] = ()
    groups_total: int = 0

    @property
    def kept(self) -> bool:
        return self.published_as == self.label

    def head(self) -> str:
        name = f"{self.label!r}, in {counted(self.records, 'record')},"
        if self.kept:
            return f"{name} is published as itself."
        if self.published_as is not None:
            return f"{name} is published as {self.published_as!r}."
        if [share.published_as for share in self.shares] == [None]:
            return f"{name} is left out."
        if len(self.shares) == 1:
            return f"{name} is published by the finer label {self.shares[0].published_as!r}."
        return f"{name} is published in {len(self.shares)} ways."

    def details(self) -> Iterator[str]:
        if len(self.shares) > 1:
            for share in self.shares:
                name = "left out" if share.published_as is None else f"as {share.published_as!r}"
                items = f" of {share.items:,} items" if share.items > 1 else ""
                yield f"{name}: {counted(share.occurrences, 'occurrence')}{items}"
        for level in reversed(self.levels):  # as itself first, then upwards
            yield from _told(level, self.guarantee)
        for group in self.groups:
            name = "left out" if group.published_as is None else f"as {group.published_as!r}"
            yield (
                f"a group of {counted(group.size, 'record')}, {group.records:,} of them with it: {name}"
            )
            for level in reversed(group.levels):
                yield from (f"  {line}" for line in _told(level, self.guarantee))
        if self.groups_total > len(self.groups):
            yield f"... and {counted(self.groups_total - len(self.groups), 'more group')}"


def _told(level: Level, guarantee: Guarantee) -> Iterator[str]:
    if level.parts:
        head = f"as its parts {few(level.parts)}: "
    else:
        head = f"as {level.label!r} ({counted(level.records, 'record')}): "
    if level.taken:
        head += f"{few(level.taken)} would become it too; "
    if level.free:
        yield f"{head}nothing speaks against it"
        return
    beside = "what comes up beside it"
    if level.siblings:
        beside = f"{few(level.siblings)} would be published too, instead of {level.instead_of!r}"
    beside += f": {_number(level.beside, guarantee)} {claims_of(guarantee).broken}"
    if not level.against.total:
        yield f"{head}no combination with it breaks the promise, but"
    else:
        yield f"{head}{_number(level.against, guarantee)} {claims_of(guarantee).broken}"
        yield from (f"  {line}" for line in level.against.lines())
    if level.beside.total:
        yield f"  {beside}"
        yield from (f"    {line}" for line in level.beside.lines())


def few(labels: tuple[str, ...]) -> str:
    """Return the first labels, and how many more there are.

    >>> few(("bread", "cake"))
    "'bread', 'cake'"
    """
    more = f" and {len(labels) - 3:,} more" if len(labels) > 3 else ""
    return ", ".join(map(repr, labels[:3])) + more


def _number(patterns: Patterns, guarantee: Guarantee) -> str:
    least = "" if patterns.complete else "at least "
    if guarantee.known_at_most is None:
        return f"{patterns.total:,} {'class' if patterns.total == 1 else 'classes'} of records"
    return least + counted(patterns.total, "combination")


@checked("release")
def explain(
    release: Release | BucketRelease | PairRelease | str | os.PathLike[str],
    label: Question,
    *,
    original: Any = None,
    top: int = 5,
    watch: Watch | None = None,
) -> Any:
    """Return why a label is published as it is, and what it would take to publish it as itself.

    Of two data sets: which patterns forced a value up. Of a table in buckets: who shares the bucket of
    a row, and which of its values each may have.

    Parameters
    ----------
    release
        What `setveil.anonymize` or `setveil.read_release` returned, or the path of a release folder.
    label
        An item or a category; ``column=value`` for a table, or the value alone where one column has it.
        Of a table in buckets what a row shows, such as ``{"age": "34", "sex": "M"}`` or
        ``"age=34,sex=M"``, or its number in the published table.
    original
        The data the release was made from, where the release does not hold them.
    top
        How many combinations, patterns or rows to show, and how many groups of a local recoding.
    watch
        Progress listener and cancel switch.

    >>> import setveil as sv
    >>> baskets = sv.Transactions.from_rows([["ale", "milk"], ["wine", "milk"], ["milk"]])
    >>> drinks = sv.Hierarchy.from_parents({"ale": "alcohol", "wine": "alcohol", "alcohol": "drink",
    ...                                     "milk": "drink", "drink": None})
    >>> release = sv.anonymize(baskets, sv.KmAnonymity(k=2, m=2), hierarchy=drinks)
    >>> print(explain(release, "ale"))  # doctest: +NORMALIZE_WHITESPACE
    'ale', in 1 record, is published as 'alcohol'.
      as 'ale' (1 record): 1 combination would fit fewer than 2 records
        ale: 1 record
        'wine' would be published too, instead of 'alcohol': 1 combination would fit fewer than
        2 records
          wine: 1 record
      as itself, with 'wine' beside it and all else unchanged, the release would keep not even k=2 with
      m=2, not even m=1 with k=2.
      forced: it is in 1 record, too few by itself, whatever else gives way.
    """
    return explain_all(release, [label], original=original, top=top, watch=watch)[0]


def explain_all(
    release: Release | BucketRelease | PairRelease | str | os.PathLike[str],
    labels: Sequence[Question],
    *,
    original: Any = None,
    top: int = 5,
    watch: Watch | None = None,
) -> tuple[Any, ...]:
    """Return an answer to each question; the records are read once. Parameters as in `explain`."""
    from ..progress import Watch
    from ..publish import edition_of
    from ..reopen import opened

    if isinstance(top, bool) or not isinstance(top, int) or top < 1:
        raise UsageError("top must be a whole number, 1 or more.", "Give for example 5.")
    watch = watch or Watch()
    found, original = opened(release, original, watch=watch)
    answers: tuple[Answer, ...] = edition_of(found).explain(
        labels, original=original, top=top, watch=watch
    )
    return answers


def node_of(hierarchy: Hierarchy, columns: Sequence[str], label: Question) -> int:
    """Return the node of a label; of a table also where the column is left out and only one fits."""
    nodes = hierarchy.node_of_label
    if not isinstance(label, str):
        raise UsageError(
            "a label is needed.",
            "Give an item or a category; values of a table are column=value.",
            code="unknown-label",
        )
    if label in nodes:
        return nodes[label]
    fitting = [f"{name}={label}" for name in columns if f"{name}={label}" in nodes]
    if len(fitting) == 1:
        return nodes[fitting[0]]
    if fitting:
        raise UsageError(
            f"{label[:40]!r} is a value of several columns.",
            "Give it as column=value.",
            code="which-column",
        )
    raise UsageError(
        f"{label[:40]!r} is neither an item of the original data nor a category above one.",
        "Spell it as in the data; values of a table are column=value.",
        code="unknown-label",
    )


def shares_of(
    hierarchy: Hierarchy,
    published: NDArray[np.int32],
    leaves: NDArray[np.int32],
    counts: NDArray[np.int64] | int = 1,
) -> tuple[Share, ...]:
    """Return what occurrences of leaves are published as, most first; `counts` of each, or one."""
    shares = [
        Share(
            None if upper < 0 else hierarchy.labels[upper],
            len(distinct(leaves[published == upper])),
            int((counts * (published == upper)).sum()),
        )
        for upper in distinct(published).tolist()
    ]
    return tuple(sorted(shares, key=lambda share: (-share.occurrences, share.published_as or "")))
