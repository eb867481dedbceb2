"""One run on two data sets: their patterns hidden, nothing written yet."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ..distinct import distinct
from ..errors import UsageError
from ..io.column_look import told_of_identifiers
from ..methods.hide_patterns.work import count_patterns
from ..model.guarantees import HiddenPatterns
from ..model.numbers import exact_growth
from ..model.pattern_pair import PatternPair
from ..progress import Watch
from ..release.pair_release import PairRelease, seal_of_pair
from . import work
from .fields import refuse_stdin_twice
from .reading import warn_of_nothing_shared
from .work import Account, Job

if TYPE_CHECKING:
    from ..publish import Publication

FLAT = (
    "nothing stands between values and their root, so a value is published as it is or as {root!r}: a "
    "hierarchy would keep more."
)
UNGUARDED = (
    "sets below the minimum support are too many to be looked after: they may differ more than before."
)
ENDED = "the time limit ended the search: the promise is kept, at a larger loss than need be."


@dataclass(frozen=True, eq=False)
class Prepared:
    """A job bound to two data sets."""

    job: Job
    pair: PatternPair
    started: float
    inputs: ClassVar[tuple[str, ...]] = ()
    takes = PatternPair
    about = "two data sets"
    read_first = (
        "Read them first: setveil.read_pattern_pair(first, second), or with class_column=... where one "
        "table holds both."
    )

    @property
    def notices(self) -> tuple[str, ...]:
        """What the holder should know of the data."""
        return (*self.pair.notices, *_warn_of_names(self.pair), *_warn_of_flat(self.pair))

    @classmethod
    def bind(cls, job: Job, pair: PatternPair, hierarchy: object, *, started: float) -> Prepared:
        """Bind two data sets, which have their hierarchy with them, to a job that is checked."""
        del hierarchy
        for name, records in zip(pair.names, pair.records, strict=True):
            if not records:
                raise UsageError(
                    f"the data set {name[:40]!r} has no records.", "Give some.", code="no-records"
                )
        return cls(job, pair, started)

    @property
    def guarantee(self) -> HiddenPatterns:
        guarantee = self.job.guarantee
        assert isinstance(guarantee, HiddenPatterns)
        return guarantee

    def run(self, watch: Watch | None = None, *, layout: object = None) -> PairRelease:
        """Return a release in which no pattern is left; nothing is written."""
        del layout
        job, pair, guarantee = self.job, self.pair, self.guarantee
        watch = watch or Watch(time_limit=job.time_limit)
        hide = job.record.load()
        outcome = hide(pair, guarantee, watch=watch, threads=job.threads, **job.options)
        return PairRelease(
            pair=pair,
            recoding=outcome.recoding,
            guarantee=guarantee,
            method=job.record.key,
            options=job.options,
            figures=outcome.figures,
            seconds=round(time.monotonic() - self.started, 6),
            complete=outcome.complete,
            notices=(
                *self.notices,
                *((UNGUARDED,) if "rarer sets" in outcome.figures else ()),
                *(() if outcome.complete else (ENDED,)),
            ),
            seal=seal_of_pair(pair),
        )


def _warn_of_names(pair: PatternPair) -> tuple[str, ...]:
    """Return a notice for each column of tables that can name people."""
    used = np.unique(np.concatenate([side.leaves for side in pair.sides]))
    # The name of a column holds no '='.
    values = Counter(pair.hierarchy.labels[leaf].partition("=")[0] for leaf in used.tolist())
    values_of_column = {name: values[name] for name in pair.columns}
    remedy = "leave it out (--attributes names the others)"
    return told_of_identifiers(values_of_column, sum(pair.records), remedy=remedy)


def _warn_of_flat(pair: PatternPair) -> tuple[str, ...]:
    """Return a notice where no value has anything above it but a root."""
    tree = pair.hierarchy
    if tree.height > 1 or not tree.n_leaves or tree.n_leaves == len(tree):
        return ()
    root = tree.labels[tree.roots[0]]
    return (FLAT.format(root="*" if pair.is_table else root),)


class Work(work.Work):
    """What there is to do for a run on two data sets."""

    prepared: Prepared

    def read_guarantee(self) -> HiddenPatterns:
        run = self.run
        if run.model not in (None, HiddenPatterns.model):
            raise UsageError(
                f"{str(run.model)[:40]!r} is no promise about two data sets.",
                "Leave --guarantee out, or give patterns.",
                code="guarantee-method",
            )
        if run.growth is None:
            raise UsageError(
                "--growth is missing.", "Give for example --growth 5: five times as frequent."
            )
        growth = exact_growth(run.growth)
        support = {} if run.min_support is None else {"min_support": run.min_support}
        return HiddenPatterns(growth, every_level=run.every_level, **support)  # type: ignore[arg-type]

    def name_inputs(self) -> list[str]:
        run = self.run
        self.tree_files = self._name_trees()
        named = [*run.check_two(run.data), *self.tree_files.values()]
        refuse_stdin_twice(named)
        return [name for name in named if name != "-"]

    def check_format(self) -> None:
        from ..editions.pairs import check_pair_format

        check_pair_format(self.run.format, table=self.run.is_table)

    def _name_trees(self) -> dict[str, str]:
        """Return the file of each column that has a hierarchy; of sets that of the column ''."""
        run = self.run
        files: dict[str, str] = {}
        for text in run.hierarchy:
            column, sign, path = text.partition("=") if run.is_table else ("", "=", text)
            if not sign or not path:
                raise UsageError(
                    f"--hierarchy {text[:60]!r} does not name a column.",
                    "Give COLUMN=FILE.",
                    code="hierarchy",
                )
            if column in files:
                what = f"for the column {column[:40]!r}" if column else "for one data set of items"
                raise UsageError(f"two hierarchies are given {what}.", "Give one.", code="hierarchy")
            files[column] = path
        run.refuse_options_alone()
        return files

    def load(self) -> tuple[Any, Any, Job]:
        from ..io.pairs import bind_pair

        run = self.run
        read = run.read_two(run.data)
        self.notices[:] = read.notices
        check_columns(self.tree_files, read.columns)
        trees = {column: run.read_tree(path) for column, path in self.tree_files.items()}
        pair = bind_pair(read, trees if read.columns else trees.get(""))
        if read.columns and not run.attributes:
            self.remarks = (
                f"all {len(read.columns):,} columns are published; name those that shall be: "
                "--attributes.",
            )
        self.remarks += tuple(warn_of_nothing_shared(read))
        return pair, None, self.job

    def read(self) -> None:
        pair, _, job = self.load()
        self.prepared = job.prepare(pair)

    def estimate(self, watch: Watch) -> tuple[str, dict[str, Any]]:
        """Return what a run would do, and how many patterns are counted in some seconds."""
        prepared = self.prepared
        job, pair = prepared.job, prepared.pair
        guarantee = prepared.guarantee
        found, is_all = count_patterns(pair, guarantee, watch=watch, threads=job.threads)
        leaves = np.concatenate([side.leaves for side in pair.sides])
        self.notices[:] = (*prepared.notices, *self.remarks)
        plain: dict[str, Any] = {
            "dry_run": True,
            "method": job.record.key,
            "guarantee": guarantee.as_dict(),
            "options": dict(job.options),
            "records": list(pair.records),
            "items": len(distinct(leaves)),
            "values": len(leaves),
            "closed_patterns": found,
            "counted_all": is_all,
            "output": self.run.output,
        }
        words = {
            "guarantee": str(guarantee),
            "closed_patterns": f"{found:,}" if is_all else f"at least {found:,}",
            "counted_all": None,
        }
        return work.told_of_estimate(work.NOT_WRITTEN, plain, **words), plain


def account(release: Any, publication: Publication) -> Account:
    """Return what is told of a release."""
    from ..io.formats import pair_file_names

    verdict = publication.verdict.as_dict()
    rarer = None if publication.scores is None else publication.scores.rarer
    every = getattr(publication.verdict, "patterns_every_level", None)
    more = every and not release.guarantee.every_level
    return Account(
        {"records": list(release.records), "values": release.values, "raised": release.raised},
        {"complete": release.complete, "verdict": verdict},
        f"; read at every level they hold {every:,} patterns" if more else "",
        pair_file_names(publication.layout),
        [] if rarer is None else [("rarer", rarer.told)],
        {"half_support": None if rarer is None else rarer.as_dict()},
    )


def check_columns(files: Collection[str], columns: Sequence[str]) -> None:
    """Refuse a hierarchy for a column that the tables do not have."""
    for name in files if columns else ():
        if name not in columns:
            raise UsageError(
                f"there is no column {name[:40]!r} for a hierarchy.",
                f"Columns: {', '.join(other[:40] for other in columns)}.",
                code="unknown-column",
            )
