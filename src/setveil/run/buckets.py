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
from typing import TYPE_CHECKING, Any

from ..errors import UsageError
from ..io.column_look import told_of_identifiers
from ..model.guarantees import BucketGuarantee, LDiversity, MatchingDiversity
from ..model.microdata import Microdata
from ..model.rules import NOT_KNOWN, NegativeRule, binding_rules, check_facts
from ..progress import Watch
from ..registry import MethodRecord, default_method, method
from ..release.buckets import BucketRelease, seal_of_table
from .fields import refuse_stdin_twice
from .work import Work

if TYPE_CHECKING:
    from ..mining.rule_findings import RuleSet


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
        notices = () if self.mined is None else self.mined.warnings(facts=bool(self.facts))
        if self.left_out:
            notices += (
                f"{len(self.left_out):,} of {len(self.left_out) + len(self.data):,} tuples were left "
                "out, because the rules leave them too few values; the private folder lists them.",
            )
        return notices


def reckon(
    data: Microdata,
    guarantee: BucketGuarantee,
    *,
    rules: Sequence[NegativeRule] = (),
    options: Mapping[str, object] | None = None,
    watch: Watch | None = None,
) -> Reckoning:
    """Return the tuples and rules that a run starts from.

    `rules` are known facts; `DataError` where the data contradict one.
    """
    if not guarantee.takes_rules:
        if rules:
            raise UsageError(
                f"{guarantee} reckons with no rules.",
                "Leave them out, or ask for matching diversity (--method injector).",
                code="option-does-not-fit",
            )
        return Reckoning(data, ())
    from ..mining.negative_rules import mine_by_options
    from ..model.numbers import exact_share
    from ..release.possible import possible_together

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
        from ..methods.injector import check_feasible

        check_feasible(start.data, start.rules, guarantee.l)
    else:
        from ..methods.anatomy import check_eligible

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

    `rules` are known facts, for matching diversity: they join the rules that are mined. With another
    source of chance than the system's, `random`, the result is not for release.
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


class BucketsWork(Work):
    """What there is to do for a run on a table with a sensitive column.

    `start` is, after an estimate, what the buckets would be made of.
    """

    table: Microdata
    start: Reckoning | None = None

    def check_asked(self) -> None:
        """Raise for a promise, method or option that is wrong."""
        run = self.run
        run.quasi_columns()
        self.guarantee = self._read_guarantee()
        self.record: MethodRecord = (
            method(run.method) if run.method is not None else default_method(self.guarantee)
        )
        self.record.check_guarantee(self.guarantee)
        self.options = self.record.checked_options(run.options)
        if self.guarantee.takes_rules:
            check_mining(run.options)
        elif run.rules_only:
            raise UsageError(
                f"--rules-only does not fit: {self.guarantee} reckons with no rules.",
                "Leave it out, or ask for matching diversity (--method injector).",
                code="option-does-not-fit",
            )

    def _read_guarantee(self) -> BucketGuarantee:
        run = self.run
        model = run.model
        if model is None and run.method is not None:
            model = method(run.method).guarantees[0]
        kinds: dict[str, type[LDiversity] | type[MatchingDiversity]] = {
            one.model: one for one in (LDiversity, MatchingDiversity)
        }
        kind = kinds.get(model or MatchingDiversity.model)
        if kind is None:
            raise UsageError(
                f"{str(model)[:40]!r} is no promise about a table in buckets (--quasi).",
                "Known: --guarantee l or matching; --method anatomy or injector.",
                code="guarantee-method",
            )
        if run.l is not None:
            return kind(run.l)
        if run.rules_only and not run.options.get("suppress_infeasible"):
            return kind(2)  # the rules are the same for every l
        raise UsageError("--l is missing.", "Give for example --l 5.")

    def name_inputs(self) -> list[str]:
        """Return the files that are read."""
        run = self.run
        named = [run.data, *run.column_trees().values(), *filter(None, [run.rules])]
        refuse_stdin_twice(named)
        return [name for name in named if name != "-"]

    def check_format(self) -> None:
        """Raise for a format that tables in buckets do not have."""
        from ..editions.buckets import check_bucket_format

        check_bucket_format(self.run.format)

    def read(self) -> None:
        """Open the files: the table and known facts about it."""
        run = self.run
        self.table = run.read_table(run.data)
        self.notices[:] = self.table.notices
        self.facts: tuple[NegativeRule, ...] = ()
        if run.rules is not None:
            from ..io.rules import read_rules, told_of_rules

            quasi = run.quasi_columns()
            self.facts = read_rules(run.rules, quasi=quasi, sensitive=self.table.sensitive)
            self.remarks = told_of_rules(self.facts, self.table)

    def estimate(self, watch: Watch) -> tuple[str, dict[str, Any]]:
        """Return what a run would do; `Infeasible` where it would end so."""
        run, guarantee = self.run, self.guarantee
        self.start = start = reckon(
            self.table, guarantee, rules=self.facts, options=self.options, watch=watch
        )
        self.notices[:] = (*self.table.notices, *self.remarks, *start.notices())
        if run.rules_only:
            return "", {}
        check_possible(start, guarantee)
        plain: dict[str, Any] = {
            "dry_run": True,
            "method": self.record.key,
            "guarantee": guarantee.as_dict(),
            "options": dict(self.options),
            "records": len(start.data),
            "left_out": len(start.left_out or ()),
            "buckets_at_most": len(start.data) // guarantee.l,
            "rules": len(start.rules),
            "output": run.output,
        }
        lines = ["Dry run: nothing was written."]
        for name in ("method", "records", "left_out", "buckets_at_most", "rules"):
            shown = f"{plain[name]:,}" if isinstance(plain[name], int) else plain[name]
            lines.append(f"  {name.replace('_', ' ').ljust(16)} {shown}")
        return "\n".join(lines), plain

    def compute(self, watch: Watch) -> BucketRelease:
        """Return the release."""
        return anonymize_table(
            self.table,
            self.guarantee,
            method_key=self.record.key,
            rules=self.facts,
            watch=watch,
            **dict[str, Any](self.run.options),
        )


def check_mining(options: Mapping[str, object]) -> Mapping[str, object]:
    """Return options of mining, checked as far as no data are needed for it."""
    from ..model.numbers import whole_number

    if "max_antecedent" in options:
        whole_number("max-antecedent", options["max_antecedent"], least=1)
    return default_method(MatchingDiversity(2)).checked_options(options)
