"""The measures by name: what the api, the command line, comparisons and reports choose from.

A cheap measure looks at each occurrence a few times and is taken unless others are named. The others
count queries or mine itemsets, so they are taken where they are asked for, by name or by "all". A
measure's module is loaded when it is first used.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from ..errors import UsageError
from ..progress import Watch
from ..release.recoding import BeforeAfter
from .queries import Workload, checked_share
from .scores import Measure, Score, Scores

ALL = "all"


@dataclass(frozen=True)
class Entry:
    """Where a measure is found, and whether it is taken without being named.

    `maker` is the function that makes the measures of its module at another support.
    """

    name: str
    module: str
    is_cheap: bool = True
    maker: str | None = None

    def load(self, support: Fraction | None = None) -> Measure:
        """Return the measure, at a support of its own or at the share given."""
        module = importlib.import_module(f".{self.module}", __package__)
        found = getattr(module, self.name.upper())
        if support is not None and self.maker is not None:
            asked = (support,) if self.module == "ml2" else support
            made = getattr(module, self.maker)(asked)
            found = next(measure for measure in made if measure.name == self.name)
        assert isinstance(found, Measure)
        return found


_COUNTED = ("ncp", "lm", "unchanged", "suppressed", "suppressed_items", "emptied_records")
_LEVELS = ("ml2", "dml2", "dml2_lost")
_ITEMSETS = (
    "itemset_recall",
    "itemset_precision",
    "label_recall",
    "label_support_error",
    "item_support_error",
)
ENTRIES = (
    *(Entry(name, "counted") for name in (*_COUNTED, "discernibility", "discernibility_sum")),
    Entry("are", "queries", is_cheap=False),
    *(Entry(name, "ml2", is_cheap=False, maker="ml2_measures") for name in _LEVELS),
    *(Entry(name, "itemsets", is_cheap=False, maker="itemset_measures") for name in _ITEMSETS),
)
NAMES = tuple(entry.name for entry in ENTRIES)
CHEAP = tuple(entry.name for entry in ENTRIES if entry.is_cheap)
MINED = tuple(entry.name for entry in ENTRIES if entry.maker is not None)


def chosen(
    measures: str | Iterable[str] | None = None, *, support: Fraction | float | None = None
) -> tuple[Measure, ...]:
    """Return the measures of these names, each once.

    >>> [measure.name for measure in chosen(["lm", "ncp", "lm"])]
    ['lm', 'ncp']
    """
    if measures is None:
        measures = CHEAP
    elif isinstance(measures, str):
        measures = NAMES if measures == ALL else (measures,)
    by_name = {entry.name: entry for entry in ENTRIES}
    names = list(dict.fromkeys(measures))
    for name in names:
        if name not in by_name:
            raise UsageError(
                f"unknown measure {str(name)[:40]!r}.",
                f"Known: {', '.join(NAMES)}; or {ALL}.",
                code="unknown-measure",
            )
    if not names:
        raise UsageError("no measure is named.", f"Known: {', '.join(NAMES)}; or {ALL}.")
    share = None if support is None else checked_share("the support", support)
    if share is not None and not set(MINED) & set(names):
        raise UsageError(
            "a support is for measures that mine, and none is named.",
            f"Name one of: {', '.join(MINED)}; or leave it out.",
        )
    return tuple(by_name[name].load(share) for name in names)


def score(
    pair: BeforeAfter,
    measures: str | Iterable[str] | None = None,
    *,
    workload: Workload | None = None,
    sanity: Fraction | float | None = None,
    support: Fraction | float | None = None,
    watch: Watch | None = None,
) -> Scores:
    """Return the scores of what is published, and the errors of queries if any are asked.

    Parameters
    ----------
    pair
        The records before and after.
    measures
        Names, "all", or None for the cheap ones.
    workload
        Queries to ask; with some the measure "are" is taken whether it is named or not.
    sanity
        The sanity bound of the queries' errors, as a share of the records.
    support
        The share of the records that an itemset must be in to be frequent, for the measures that mine.
    watch
        Progress listener and cancel switch.
    """
    watch = watch or Watch()
    taken = chosen(measures, support=support)
    names = [measure.name for measure in taken]
    if workload is not None and "are" not in names:
        taken += chosen("are")
    if sanity is not None and workload is None and "are" not in names:
        raise UsageError(
            "a sanity bound is for queries, and none are asked.", "Ask some, or leave it out."
        )
    found: list[Score] = []
    errors = None
    for done, measure in enumerate(taken):
        watch.tick(f"measuring {measure.name}", done / len(taken))
        if measure.name == "are":
            from .queries import SANITY, query_errors

            errors = query_errors(pair, workload, sanity=SANITY if sanity is None else sanity)
            found.append(Score(measure, errors.are))
        else:
            found.append(measure(pair))
    return Scores(tuple(found), errors)
