"""What the audit has to know of each promise, by the model's name in certificates.

How it is counted, what of its release is looked at besides, and what the answer calls things. Nobody
else asks of which promise something is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from ..model.guarantees import AnyGuarantee


@dataclass(frozen=True)
class Traits:
    """One promise as the audit takes it.

    `counter` is the function that judges published data by it, and `reader` the one that reads them
    from a folder, each as its module and its name: what no data ask for is not loaded. `broken` is what
    the answer counts where it is broken, and `achieved` the strength that it finds at each size.
    """

    counter: str
    reader: str = "check:read_sets"
    broken: str = "violations"
    achieved: str = "rarest in"
    minimal: bool = False
    """A combination breaks the promise only where no part of it does."""
    has_cover: bool = False
    """It can be read as being about the leaves that labels cover."""
    has_rules: bool = False
    """Rules are published with it."""
    is_worded: bool = False
    """Its sentences are those of the audit, word by word; of others the numbers are compared."""


_BUCKETS, _PAIRS = "bucket_tables:read_buckets", "patterns:read_pair"

PROMISES = {
    "km": Traits("km:audit_km", broken="new violations", minimal=True, has_cover=True),
    "k": Traits("km:audit_k"),
    "lm": Traits("diversity:audit_lm", achieved="largest l"),
    "coherence": Traits("diversity:audit_coherence"),
    "l": Traits("buckets:audit_buckets", _BUCKETS, "buckets"),
    "matching": Traits("buckets:audit_buckets", _BUCKETS, "rows", has_rules=True),
    "patterns": Traits("patterns:audit_pair", _PAIRS, "closed sets", is_worded=True),
}


def traits_of(guarantee: AnyGuarantee) -> Traits:
    """Return what the audit has to know of a promise."""
    return PROMISES[guarantee.model]


def load(named: str) -> Callable[..., Any]:
    """Return a function by its module and its name."""
    module, _, name = named.partition(":")
    found: Callable[..., Any] = getattr(import_module(f".{module}", __package__), name)
    return found
