"""One run on a table with a sensitive column: rules mined or given, buckets made, nothing written yet.

Rules are mined from the very tuples that are published: those that are left out, where that is asked
for, leave no trace in the public part but the word that some may have been.

The randomness that hides who has which value is the system's and secret. A run with another source is
marked as seeded, and is refused by `publish`.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING

from .errors import UsageError
from .io.column_look import told_of_identifiers
from .model.guarantees import BucketGuarantee
from .model.microdata import Microdata
from .model.rules import NOT_KNOWN, NegativeRule, binding_rules, check_facts
from .progress import Watch
from .registry import default_method, method
from .release.bucket_release import BucketRelease
from .release.sealing import seal_of_table

if TYPE_CHECKING:
    from .mining.rule_findings import RuleSet


@dataclass(frozen=True, eq=False)
class Reckoning:
    """What buckets are made of: the tuples to publish, and the rules that their promise reckons with.

    `mined` is what mining found, None where the promise knows no rules. `left_out` are the cells of the
    tuples that are not published because the rules leave them too few values; None where that was not
    asked for.
    """

    data: Microdata
    rules: tuple[NegativeRule, ...]
    mined: RuleSet | None = None
    left_out: tuple[tuple[str, ...], ...] | None = None

    @property
    def facts(self) -> tuple[NegativeRule, ...]:
        """The rules that were given and not mined."""
        return self.rules[0 if self.mined is None else len(self.mined.rules) :]

    def notices(self) -> tuple[str, ...]:
        """Return what the holder should know of it."""
        told = () if self.mined is None else self.mined.warnings(facts=bool(self.facts))
        if self.left_out:
            told += (
                f"{len(self.left_out):,} of {len(self.left_out) + len(self.data):,} tuples were left "
                "out, because the rules leave them too few values; the private folder lists them.",
            )
        return told


def reckon(
    data: Microdata,
    guarantee: BucketGuarantee,
    *,
    rules: Sequence[NegativeRule] = (),
    options: Mapping[str, object] | None = None,
    watch: Watch | None = None,
) -> Reckoning:
    """Return the tuples and rules that a run starts from.

    Parameters
    ----------
    data
        The table.
    guarantee
        What will be promised.
    rules
        Known facts; `DataError` where the data contradict one.
    options
        The options of the method.
    watch
        Progress, deadline and cancelling.
    """
    if not guarantee.takes_rules:
        if rules:
            raise UsageError(
                f"{guarantee} reckons with no rules.",
                "Leave them out, or ask for matching diversity (--method injector).",
                code="option-does-not-fit",
            )
        return Reckoning(data, ())
    from .mining.negative_rules import mine_by_options
    from .mining.rule_evidence import exact_share
    from .release.possible import possible_together

    chosen = options or {}
    check_facts(data, rules, exact_share("min_fact_conf", chosen.get("min_fact_conf", 1)))
    kept = data
    left_out: list[tuple[str, ...]] = []
    while True:
        mined = mine_by_options(kept, chosen, watch=watch)
        known = tuple(dict.fromkeys((*mined.rules, *binding_rules(kept, rules))))
        if not chosen.get("suppress_infeasible"):
            return Reckoning(kept, known, mined)
        few = possible_together(kept, known) < guarantee.l
        if few.all() or not few.any():
            # Where nobody has enough values the method says why.
            return Reckoning(kept, known, mined, tuple(sorted(left_out)))
        left_out += kept.subset(few).rows()
        # What is mined next is what anybody could mine from the tuples that are left.
        kept = kept.subset(~few).without_unused()


def check_possible(start: Reckoning, guarantee: BucketGuarantee) -> None:
    """Raise `Infeasible` where no buckets of these tuples keep the promise."""
    if guarantee.takes_rules:
        from .methods.injector import check_feasible

        check_feasible(start.data, start.rules, guarantee.l)
    else:
        from .methods.anatomy import check_eligible

        check_eligible(start.data, guarantee.l)


def anonymize_table(
    data: Microdata,
    guarantee: BucketGuarantee,
    *,
    method_key: str | None = None,
    rules: Sequence[NegativeRule] = (),
    random: Random | None = None,
    watch: Watch | None = None,
    **options: object,
) -> BucketRelease:
    """Return a table in buckets that keeps `guarantee`; nothing is written.

    Parameters
    ----------
    data
        The table, as `setveil.read_microdata` returns it.
    guarantee
        `LDiversity(l)` or `MatchingDiversity(l)`.
    method_key
        "anatomy" or "injector"; by default the one for the guarantee.
    rules
        Known facts, for matching diversity: they join the rules that are mined. `DataError` where the
        data contradict one.
    random
        Another source of chance than the system's; the result is then not for release.
    watch
        Progress, deadline and cancelling.
    options
        The method's own options.
    """
    started = time.monotonic()
    watch = watch or Watch()
    if not isinstance(data, Microdata):
        raise UsageError(
            f"{guarantee} is about tables with a sensitive column.",
            "Read the table first: setveil.read_microdata(path, quasi=[...], sensitive=...).",
        )
    record = default_method(guarantee) if method_key is None else method(method_key)
    record.check_guarantee(guarantee)
    checked = record.checked_options(options)
    if not len(data):
        raise UsageError("the table has no rows.", "Give some.", code="no-records")
    start = reckon(data, guarantee, rules=rules, options=checked, watch=watch)
    values = {attribute.name: attribute.hierarchy.n_leaves for attribute in data.quasi}
    identifiers = told_of_identifiers(values, len(data), remedy="leave it out of --quasi")
    own: dict[str, object] = {}
    figures: dict[str, int | float | str] = {}
    if start.mined is not None:
        own |= {"rules": start.rules, "complete": start.mined.complete}
        own |= {name: checked[name] for name in ("grouping",) if name in checked}
        figures = {"rules mined": len(start.mined.rules), "rules given": len(rules)}
    if start.left_out is not None:
        figures["rows left out"] = len(start.left_out)
    outcome = record.load()(start.data, guarantee, watch=watch, random=random, **own)
    return BucketRelease(
        data=start.data,
        bucketing=outcome.bucketing,
        guarantee=guarantee,
        method=record.key,
        rules=start.rules,
        complete=NOT_KNOWN if start.mined is None else start.mined.complete,
        seconds=round(time.monotonic() - started, 6),
        options=checked,
        figures={**figures, **outcome.figures},
        notices=(*data.notices, *identifiers, *start.notices(), *outcome.notices),
        seeded=outcome.seeded,
        seal=seal_of_table(data),
        left_out=start.left_out,
    )
