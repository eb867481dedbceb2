"""The measures of sets by name: what the api, the command line, comparisons and reports choose from.

A cheap measure looks at each occurrence a few times and is taken unless others are named. The others
count queries or mine itemsets, so they are taken where they are asked for, by name or by "all". A
measure's module is loaded when it is first used.

Of tables in buckets and of two data sets nothing is chosen: `measure.buckets` and `measure.pairs` give
all their figures, always.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from importlib import import_module

from ..errors import UsageError
from ..progress import Watch
from ..release.recoding import BeforeAfter
from .queries import SANITY, Workload, checked_share, query_errors
from .scores import Measure, Score, Scores

ALL = "all"
CHEAP = (
    *("ncp", "lm", "unchanged", "suppressed", "suppressed_items", "emptied_records"),
    *("discernibility", "discernibility_sum"),
)
MINED = (
    *("ml2", "dml2", "dml2_lost", "itemset_recall", "itemset_precision", "label_recall"),
    *("label_support_error", "item_support_error"),
)
"""What counts frequent itemsets, at a support of its own or at the one given."""
NAMES = (*CHEAP, "are", *MINED)
_MODULES = {
    **dict.fromkeys(CHEAP, "scores"),
    "are": "queries",
    **dict.fromkeys(MINED, "mining"),
}


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
    names = list(dict.fromkeys(measures))
    for name in names:
        if name not in NAMES:
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
    return tuple(_load(name, share) for name in names)


def _load(name: str, support: Fraction | None) -> Measure:
    module = import_module(f".{_MODULES[name]}", __package__)
    found: tuple[Measure, ...] = module.MEASURES
    if support is not None and name in MINED:
        found = module.measures_at(support)
    return next(measure for measure in found if measure.name == name)


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

    `measures` are names, "all", or None for the cheap ones; with a `workload` of queries "are" is taken
    whether it is named or not. `sanity` is the bound of the queries' errors, `support` what makes an
    itemset frequent, both as shares of the records.
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
            errors = query_errors(pair, workload, sanity=SANITY if sanity is None else sanity)
            found.append(Score(measure, errors.are))
        else:
            found.append(measure(pair))
    return Scores(tuple(found), errors)
