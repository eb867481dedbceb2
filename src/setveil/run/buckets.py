"""One run on a table with a sensitive column: rules mined or given, buckets made, nothing written yet.

Rules are mined from the very tuples that are published: those that are left out, where that is asked
for, leave no trace in the public part but the word that some may have been.

The randomness that hides who has which value is the system's and secret. A run with another source is
marked as seeded, and is refused by `publish`.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import TYPE_CHECKING, Any, ClassVar

from ..errors import UsageError
from ..io.column_look import told_of_identifiers
from ..model.guarantees import GUARANTEES, BucketGuarantee, MatchingDiversity
from ..model.microdata import Microdata
from ..model.rules import NOT_KNOWN, NegativeRule, binding_rules, check_facts
from ..progress import Watch
from ..registry import default_method, method
from ..release.buckets import BucketRelease, seal_of_table
from . import work
from .fields import BUCKETS, refuse_stdin_twice
from .work import Account, Job

if TYPE_CHECKING:
    from ..mining.rule_findings import RuleSet
    from ..publish import Publication


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


@dataclass(frozen=True, eq=False)
class Prepared:
    """A job bound to a table, and to known facts about it.

    `rules` are known facts, for matching diversity: they join the rules that are mined. With another
    source of chance than the system's, `random`, the result is not for release.
    """

    job: Job
    data: Microdata
    rules: Sequence[NegativeRule]
    random: Random | None
    started: float
    inputs: ClassVar[tuple[str, ...]] = ("rules", "random")
    takes = Microdata
    about = "tables with a sensitive column"
    read_first = "Read the table first: setveil.read_microdata(path, quasi=[...], sensitive=...)."

    @classmethod
    def bind(
        cls,
        job: Job,
        data: Microdata,
        hierarchy: object,
        *,
        started: float,
        rules: Sequence[NegativeRule] = (),
        random: Random | None = None,
    ) -> Prepared:
        """Bind a table to a job that is checked; hierarchies are the table's own."""
        del hierarchy
        if not len(data):
            raise UsageError("the table has no rows.", "Give some.", code="no-records")
        return cls(job, data, rules, random, started)

    @property
    def notices(self) -> tuple[str, ...]:
        """What the holder should know of the data."""
        data = self.data
        values = {attribute.name: attribute.hierarchy.n_leaves for attribute in data.quasi}
        remedy = "leave it out of --quasi"
        return (*data.notices, *told_of_identifiers(values, len(data), remedy=remedy))

    @property
    def guarantee(self) -> BucketGuarantee:
        guarantee = self.job.guarantee
        assert isinstance(guarantee, BucketGuarantee)
        return guarantee

    def reckon(self, watch: Watch) -> Reckoning:
        """Return the tuples and rules to start from; `DataError` where the data contradict a fact."""
        guarantee, data, rules, options = self.guarantee, self.data, self.rules, self.job.options
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

        check_facts(data, rules, exact_share("min_fact_conf", options.get("min_fact_conf", 1)))
        kept = data
        left_out: list[tuple[str, ...]] = []
        while True:
            mined = mine_by_options(kept, options, watch=watch)
            known = tuple(dict.fromkeys((*mined.rules, *binding_rules(kept, rules))))
            if not options.get("suppress_infeasible"):
                return Reckoning(kept, known, mined)
            few = possible_together(kept, known) < guarantee.l
            if few.all() or not few.any():
                # Where nobody has enough values the method says why.
                return Reckoning(kept, known, mined, tuple(sorted(left_out)))
            left_out += kept.subset(few).rows()
            # What is mined next is what anybody could mine from the tuples that are left.
            kept = kept.subset(~few).without_unused()

    def check_possible(self, start: Reckoning) -> None:
        """Raise `Infeasible` where no buckets of these tuples keep the promise."""
        if self.guarantee.takes_rules:
            from ..methods.injector import check_feasible

            check_feasible(start.data, start.rules, self.guarantee.l)
        else:
            from ..methods.anatomy import check_eligible

            check_eligible(start.data, self.guarantee.l)

    def run(
        self,
        watch: Watch | None = None,
        *,
        layout: object = None,
        start: Reckoning | None = None,
    ) -> BucketRelease:
        """Return a table in buckets that keeps the promise; nothing is written.

        `start` is what `reckon` returned, where that was asked before.
        """
        del layout
        watch = watch or Watch(time_limit=self.job.time_limit)
        options = self.job.options
        start = self.reckon(watch) if start is None else start
        own: dict[str, object] = {}
        figures: dict[str, int | float | str] = {}
        if start.mined is not None:
            own |= {"rules": start.rules, "complete": start.mined.complete}
            own |= {name: options[name] for name in ("grouping",) if name in options}
            figures = {"rules mined": len(start.mined.rules), "rules given": len(self.rules)}
        if start.left_out is not None:
            figures["rows left out"] = len(start.left_out)
        outcome = self.job.record.load()(
            start.data, self.guarantee, watch=watch, random=self.random, **own
        )
        return BucketRelease(
            data=start.data,
            bucketing=outcome.bucketing,
            guarantee=self.guarantee,
            method=self.job.record.key,
            rules=start.rules,
            complete=NOT_KNOWN if start.mined is None else start.mined.complete,
            seconds=round(time.monotonic() - self.started, 6),
            options=options,
            figures={**figures, **outcome.figures},
            notices=(*self.notices, *start.notices(), *outcome.notices),
            seeded=outcome.seeded,
            seal=seal_of_table(self.data),
            left_out=start.left_out,
        )


class Work(work.Work):
    """What there is to do for a run on a table with a sensitive column.

    `start` is, after an estimate, what the buckets would be made of.
    """

    prepared: Prepared
    start: Reckoning | None = None

    def read_guarantee(self) -> BucketGuarantee:
        run = self.run
        run.quasi_columns()
        model = run.model
        if model is None and run.method is not None:
            model = method(run.method).guarantees[0]
        promise: Any = GUARANTEES.get(model or MatchingDiversity.model)
        if promise is None or promise.kind != BUCKETS:
            raise UsageError(
                f"{str(model)[:40]!r} is no promise about a table in buckets (--quasi).",
                "Known: --guarantee l or matching; --method anatomy or injector.",
                code="guarantee-method",
            )
        if run.l is not None:
            l = run.l  # noqa: E741
        elif run.rules_only and not run.options.get("suppress_infeasible"):
            l = 2  # noqa: E741 - the rules are the same for every l
        else:
            raise UsageError("--l is missing.", "Give for example --l 5.")
        guarantee: BucketGuarantee = promise(l)
        return guarantee

    def check_job(self) -> None:
        super().check_job()
        guarantee = self.job.guarantee
        if guarantee.takes_rules:
            check_mining(self.run.options)
        elif self.run.rules_only:
            raise UsageError(
                f"--rules-only does not fit: {guarantee} reckons with no rules.",
                "Leave it out, or ask for matching diversity (--method injector).",
                code="option-does-not-fit",
            )

    def name_inputs(self) -> list[str]:
        run = self.run
        named = [run.data, *run.column_trees().values(), *filter(None, [run.rules])]
        refuse_stdin_twice(named)
        return [name for name in named if name != "-"]

    def check_format(self) -> None:
        from ..editions.buckets import check_bucket_format

        check_bucket_format(self.run.format)

    def load(self) -> tuple[Any, Any, Job]:
        run = self.run
        table = run.read_table(run.data)
        self.notices[:] = table.notices
        facts: tuple[NegativeRule, ...] = ()
        if run.rules is not None:
            from ..io.rules import read_rules, told_of_rules

            facts = read_rules(run.rules, quasi=run.quasi_columns(), sensitive=table.sensitive)
            self.remarks = told_of_rules(facts, table)
        return table, None, replace(self.job, options={**self.job.options, "rules": facts})

    def read(self) -> None:
        table, _, job = self.load()
        self.prepared = job.prepare(table)

    def estimate(self, watch: Watch) -> tuple[str, dict[str, Any]]:
        """Return what a run would do; `Infeasible` where it would end so."""
        run, prepared = self.run, self.prepared
        guarantee = prepared.guarantee
        self.start = start = prepared.reckon(watch)
        self.notices[:] = (*prepared.data.notices, *self.remarks, *start.notices())
        if run.rules_only:
            return "", {}
        prepared.check_possible(start)
        plain: dict[str, Any] = {
            "dry_run": True,
            "method": prepared.job.record.key,
            "guarantee": guarantee.as_dict(),
            "options": dict(prepared.job.options),
            "records": len(start.data),
            "left_out": len(start.left_out or ()),
            "buckets_at_most": len(start.data) // guarantee.l,
            "rules": len(start.rules),
            "output": run.output,
        }
        return work.told_of_estimate(work.NOT_WRITTEN, plain, guarantee=str(guarantee)), plain


def account(release: Any, publication: Publication) -> Account:
    """Return what is told of a release."""
    verdict = publication.verdict.as_dict()
    joined = publication.layout.format == "joined"
    return Account(
        {
            "records": release.records,
            "buckets": release.bucketing.n_buckets,
            "rules": len(release.rules),
            "left_out": len(release.left_out or ()),
        },
        {"verdict": verdict},
        f"; fewest possible values {verdict['fewest_possible']}",
        [
            *(["data.csv"] if joined else ["quasi.csv", "sensitive.csv"]),
            *(["rules.csv"] if release.guarantee.takes_rules else []),
        ],
    )


def check_mining(options: Mapping[str, object]) -> Mapping[str, object]:
    """Return options of mining, checked as far as no data are needed for it."""
    from ..model.numbers import whole_number

    if "max_antecedent" in options:
        whole_number("max-antecedent", options["max_antecedent"], least=1)
    return default_method(MatchingDiversity(2)).checked_options(options)
