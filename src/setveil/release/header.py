"""What every release begins with, whatever its shape, and when one is of no use.

A release has one of two shapes: records as sets, in one part (`Release`) or two (`PairRelease`) over
one hierarchy, or a table in buckets (`BucketRelease`). All of it belongs to the data holder; what may
leave the house is decided by `release.documents`, and written by `setveil.publish`.
"""

from __future__ import annotations

import hashlib
import hmac
import importlib
import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..errors import UsageError
from ..hierarchy.tree import Hierarchy
from ..model.costs import cost_title
from ..model.guarantees import AnyGuarantee
from ..plain import Summary

if TYPE_CHECKING:
    import pyarrow

    from ..model.transactions import Transactions
    from .recoding import Part

Bools = NDArray[np.bool_]

UNKNOWN_OPTIMUM = "not known: this method gives no bound"
APPLIED = "apply"
"""What the certificate of a release and new records names as its method; see `Header.made_by`."""
BY_SOLVER = "by the solver's word, which nothing recomputed"


@dataclass(frozen=True)
class ObjectiveValue:
    """What the method minimized, as shares of losing everything: the value reached and a bound.

    `name` is that of the cost, such as "ncp" or "weighted lm". The bound is `certified` where it was
    computed in integers; otherwise it is the word of a solver that computes in floats.
    """

    name: str
    value: Fraction
    bound: Fraction | None = None
    proven: bool = False
    certified: bool = True

    @property
    def title(self) -> str:
        return cost_title(self.name)

    @property
    def gap(self) -> Fraction | None:
        """How far above the optimum the value can be at most; None where no bound is known."""
        return None if self.bound is None else max(self.value - self.bound, Fraction(0))

    def as_dict(self) -> dict[str, object]:
        return {
            "name": self.name,
            "value": float(self.value),
            "bound": None if self.bound is None else float(self.bound),
            "gap": None if self.gap is None else float(self.gap),
            "proven": self.proven,
            "certified": self.bound is not None and self.certified,
        }

    def as_ratios(self) -> dict[str, str | None]:
        """Return the value and the bound, exactly."""
        return {
            "value": as_ratio(self.value),
            "bound": None if self.bound is None else as_ratio(self.bound),
        }

    def told(self, digits: int = 4) -> str:
        """Return what is known of the best value there is, with numbers of so many digits.

        >>> ObjectiveValue("ncp", Fraction(1, 6), Fraction(1, 6), proven=True).told()
        'proven: no recoding of this kind has a lower NCP than 0.1667'
        >>> ObjectiveValue("weighted lm", Fraction(1, 2), Fraction(1, 4)).told()
        'at most 0.2500 away: weighted LM 0.5000 was reached, and none is below 0.2500'
        """
        if self.bound is None or self.gap is None:
            return UNKNOWN_OPTIMUM
        value = f"{float(self.value):.{digits}f}"
        if self.proven:
            said = "proven" if self.certified else f"proven {BY_SOLVER}"
            return f"{said}: no recoding of this kind has a lower {self.title} than {value}"
        least = Fraction(1, 10**digits)
        how_far = f"at most {float(self.gap):.{digits}f}"
        if self.gap < least:
            how_far = f"less than {float(least):.{digits}f}"
        vouched = "" if self.certified else f", {BY_SOLVER}"
        return (
            f"{how_far} away: {self.title} {value} was reached, and none is below "
            f"{float(self.bound):.{digits}f}{vouched}"
        )


def as_ratio(share: Fraction) -> str:
    """Return a share exactly, as private twins tell it."""
    return f"{share.numerator}/{share.denominator}"


@dataclass(frozen=True)
class Seal:
    """A keyed hash of the input: shows later that a file was the input, and tells others nothing."""

    key: str
    digest: str

    @classmethod
    def over(cls, parts: Iterable[bytes], key: bytes | None = None) -> Seal:
        """Return the seal of these bytes, under a fresh random key where none is given."""
        key = secrets.token_bytes(32) if key is None else key
        digest = hmac.new(key, digestmod=hashlib.sha256)
        for part in parts:
            digest.update(part)
        return cls(key.hex(), digest.hexdigest())


@dataclass(frozen=True, eq=False, kw_only=True)
class Header(Summary):
    """What is promised, how that was reached, and what the holder should know; ``print`` it.

    `options` are those of the method, `figures` what it counted on its way, `objective` what it kept
    small, with a bound. `seal` shows later which data the release was made from.
    """

    guarantee: AnyGuarantee
    method: str
    options: Mapping[str, object] = field(default_factory=dict)
    figures: Mapping[str, int | float | str] = field(default_factory=dict)
    losses: Mapping[str, Fraction] = field(default_factory=dict)
    objective: ObjectiveValue | None = None
    seconds: float = 0.0
    notices: tuple[str, ...] = ()
    seal: Seal | None = None

    @property
    def made_by(self) -> str:
        """The method that found the recoding, however often it was applied since."""
        found = self.figures.get("recoding of") if self.method == APPLIED else None
        return found if isinstance(found, str) else self.method

    @property
    def useless(self) -> str | None:
        """What to tell where most records say nothing, and what would help; else None."""
        raise NotImplementedError

    def lines(self) -> list[tuple[str, str]]:
        raise NotImplementedError

    def account(self) -> dict[str, object]:
        """Return what the private twin tells of this shape alone, as plain values."""
        raise NotImplementedError

    def hidden(self) -> dict[str, object]:
        """Return what leads from what is published back to the originals, as plain values."""
        raise NotImplementedError

    def sealed(self) -> dict[str, object] | None:
        """Return the seal as plain values, if there is one."""
        return None if self.seal is None else {"hmac_sha256": self.seal.digest, "key": self.seal.key}

    def frame(self) -> pyarrow.Table:
        """Return what is published as one Arrow table, which nobody has audited yet."""
        raise NotImplementedError

    @staticmethod
    def frame_of(records: Transactions) -> pyarrow.Table:
        """Return records as a table, as `setveil.to_arrow` does."""
        from ..io.frames import to_arrow

        return to_arrow(records)

    @cached_property
    def verdict(self) -> Any:
        """What the audit says of the release, asked once; an error where publishing would refuse it."""
        # The judge is above this layer, and so named by text, as methods are in the registry.
        return importlib.import_module(JUDGE).confirm(self)

    def to_arrow(self) -> pyarrow.Table:
        """Return what is published as an Arrow table, audited the first time that it is asked for."""
        assert self.verdict.holds
        return self.frame()

    def to_pandas(self) -> Any:
        """Return what is published as a pandas frame, audited the first time that it is asked for."""
        table = self.to_arrow()
        columns = {name: table[name].to_pylist() for name in table.column_names}
        return library("pandas").DataFrame(columns)

    def to_polars(self) -> Any:
        """Return what is published as a polars frame, audited the first time that it is asked for."""
        return library("polars").from_arrow(self.to_arrow())

    def __arrow_c_stream__(self, requested_schema: object = None) -> Any:
        """Hand what is published, audited, to any library that reads Arrow streams."""
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    @property
    def _chosen(self) -> str:
        """The method with its options."""
        chosen = ", ".join(f"{name} {value}" for name, value in self.options.items())
        return self.method + (f" ({chosen})" if chosen else "")

    def __str__(self) -> str:
        return "\n".join(["Release", *(f"  {name.ljust(8)} {text}" for name, text in self.lines())])

    @property
    def head(self) -> str:
        return "Release"


JUDGE = "setveil.publish"


def library(name: str) -> Any:
    """Return a library that only frames of its own need; `UsageError` where it is not installed."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise UsageError(
            f"{name} is not installed.",
            f"Install it: pip install {name}. `to_arrow` does without.",
            code="not-installed",
        ) from error


def is_useless(telling: int, held: int) -> bool:
    """Tell whether fewer than half of the records that held something tell anything.

    A record tells something where one of its labels lies below a root, or is an item; the others are
    empty, left out, or stand at the root. In a table in buckets a record tells something where its
    bucket is a part of the table; that one bucket holds all says nothing of anybody, unless there are
    too few records for two.

    >>> is_useless(2, 4), is_useless(2, 5), is_useless(0, 0)
    (False, True, False)
    """
    return 2 * telling < held


def tops(tree: Hierarchy) -> Bools:
    """Tell of each node whether it is a root with something below it."""
    above = np.arange(len(tree)) >= tree.n_leaves
    return np.asarray(above & (np.asarray(tree.parent) < 0), dtype=np.bool_)


def records_with(indptr: NDArray[np.int64], flags: Bools) -> int:
    """Return how many records have an entry whose flag is set.

    >>> records_with(np.array([0, 2, 2, 3]), np.array([False, True, False]))
    1
    """
    before = np.concatenate([[0], np.cumsum(flags)])[indptr]
    return int(np.count_nonzero(np.diff(before)))


def telling_records(part: Part, tree: Hierarchy) -> int:
    """Return how many published records have a label that is no root with something below it."""
    at_top = {tree.labels[node] for node in np.flatnonzero(tops(tree)).tolist()}
    return part.count_with(set(part.labels) - at_top)
