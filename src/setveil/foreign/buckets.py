"""A table in buckets that somebody published, in one file or two, judged by a promise that is given."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Self

from ..audit.bucket_tables import PublishedBuckets, rows_meeting
from ..audit.buckets import audit_buckets
from ..errors import HierarchyError, Problem, UsageError
from ..hierarchy.tree import Hierarchy
from ..io.buckets import BucketLists, read_buckets
from ..io.rules import read_rules
from ..model.guarantees import GUARANTEES, AnyGuarantee, LDiversity, MatchingDiversity
from ..model.rules import NegativeRule
from ..run.fields import BUCKETS, refuse_stdin_twice, refuse_unfit
from . import Foreign, refuse_mode

if TYPE_CHECKING:
    from ..audit.verdict import BucketFinding
    from ..run import Run

Trees = Mapping[str, Hierarchy]
NOT_HERE = ("id_column", "normalize", "strict")
"""How tables are read whose columns are looked at; what is published counts as it stands."""


class ForeignBuckets(Foreign):
    """Rows and values of buckets, and the rules that were published with them."""

    def __init__(self, lists: BucketLists, rules: Iterable[NegativeRule] | None, trees: Trees) -> None:
        self.rules = None if rules is None else tuple(rules)
        self.tables = PublishedBuckets.of(lists.cells_by_column, lists.bucket_by_row, lists.counts)
        self.paths = {
            name: _paths(name, lists.cells_by_column[name], tree) for name, tree in trees.items()
        }
        self.notices = (*lists.notices, *self._told_of_rules())

    @classmethod
    def read(
        cls,
        target: Any,
        *,
        mode: str = "exact",
        hierarchy: Hierarchy | Trees | None = None,
        rules: Any = None,
        **reading: Any,
    ) -> Self:
        refuse_mode(mode, "a table in buckets has")
        if not {"quasi", "sensitive"} <= reading.keys():
            raise UsageError(
                "it is not said which columns of the table are which.",
                'Name them: quasi=["age", "sex"], sensitive="disease", bucket="bucket".',
                code="columns-needed",
            )
        if isinstance(hierarchy, Hierarchy):
            what, remedy = "tables have a hierarchy for each column.", "Give {column: hierarchy}."
            raise UsageError(what, remedy, code="hierarchy")
        if hierarchy and rules is None:
            raise UsageError(
                "hierarchies tell which rows a rule is about, and there are no rules.",
                "Give the rules too, or leave the hierarchies out.",
                code="option-does-not-fit",
            )
        lists = read_buckets(target, **reading)
        for name in hierarchy or ():
            if name not in lists.cells_by_column:
                raise UsageError(
                    f"a hierarchy is given for {name[:40]!r}, which is no quasi-identifying column.",
                    f"Quasi-identifying: {', '.join(name[:40] for name in lists.cells_by_column)}.",
                )
        if isinstance(rules, bytes) or not isinstance(rules, str | os.PathLike | Iterable | None):
            rules = [rules]
        if isinstance(rules, Iterable) and not isinstance(rules, str) and not _are_rules(rules):
            raise UsageError(
                "rules are neither a file nor negative rules.",
                "Give a path, or several setveil.NegativeRule.",
                code="wrong-type",
            )
        if isinstance(rules, str | os.PathLike):
            rules = read_rules(
                rules, quasi=tuple(lists.cells_by_column), sensitive=reading["sensitive"]
            )
        return cls(lists, rules, hierarchy or {})

    @classmethod
    def asked(cls, asked: Any, run: Run) -> tuple[Self, AnyGuarantee]:
        refuse_unfit(asked, BUCKETS, but=NOT_HERE)
        model = run.model or (LDiversity if asked.rules is None else MatchingDiversity).model
        promise: Any = GUARANTEES.get(model)
        if promise is None or promise.kind != BUCKETS:
            raise UsageError(
                f"{model[:40]!r} is no promise about a table in buckets (--quasi).",
                "Known: --guarantee l or matching.",
                code="guarantee-method",
            )
        quasi, sensitive = run.quasi_columns(), run.secret
        if run.l is None:
            raise UsageError("--l is missing.", "Give for example --l 5.")
        guarantee: AnyGuarantee = promise(run.l)
        _check_rules(guarantee, rules=asked.rules is not None)
        files = run.column_trees()
        refuse_stdin_twice([run.data, asked.sensitive_table, asked.rules, *files.values()])
        names = (
            *("delimiter", "encoding", "max_bytes", "missing", "missing_cells", "as_is"),
            *("bucket", "bucket_count", "sensitive_table"),
        )
        given = asked.given()
        found = cls.read(
            run.data,
            hierarchy={column: run.read_tree(file) for column, file in files.items()},
            rules=asked.rules,
            quasi=quasi,
            sensitive=sensitive,
            **{name: given[name] for name in names if name in given},
        )
        return found, guarantee

    def judge(self, guarantee: Any, *, witnesses: int = 0, threads: int | None = None) -> BucketFinding:
        """Return the answer; it has no witnesses, and one thread counts."""
        del threads
        if witnesses:
            raise UsageError(
                "the audit of a table in buckets shows no witnesses.",
                "Leave them out.",
                code="option-does-not-fit",
            )
        _check_rules(guarantee, rules=self.rules is not None)
        rules = [(rule.conditions, rule.value) for rule in self.rules or ()]
        return audit_buckets(self.tables, guarantee, rules=rules, paths=self.paths)

    def _told_of_rules(self) -> tuple[str, ...]:
        """Tell how many rules rule nothing out."""
        values = {value for _, value, _ in self.tables.sensitive}
        rows = len(self.tables.bucket_by_row)
        idle = sum(
            rule.value not in values
            or not rows_meeting(self.tables.columns, rows, rule.conditions, self.paths).any()
            for rule in self.rules or ()
        )
        if not idle:
            return ()
        return (
            f"{idle:,} of {len(self.rules or ()):,} rules do nothing: nobody meets their conditions, "
            "or nobody has their value. Are they misspelt, or is a hierarchy missing?",
        )


def _are_rules(given: Iterable[object]) -> bool:
    """Tell whether rules were given as such; a path is none."""
    return not isinstance(given, str) and all(hasattr(one, "conditions") for one in given)


def _check_rules(guarantee: Any, *, rules: bool) -> None:
    """Refuse rules where the promise reckons with none, and none where it does."""
    if rules and not guarantee.takes_rules:
        raise UsageError(
            f"{guarantee} reckons with no rules.",
            "Leave them out, or ask for matching diversity (--guarantee matching).",
            code="option-does-not-fit",
        )
    if guarantee.takes_rules and not rules:
        raise UsageError(
            f"{guarantee} is about what the published rules leave possible, and none are given.",
            "Give the rules (--rules FILE), or ask for --guarantee l.",
            code="rules-needed",
        )


def _paths(name: str, cells: Iterable[str], tree: Hierarchy) -> dict[str, tuple[str, ...]]:
    """Return the path of each published value, which may be a category itself."""
    values = sorted(set(cells))
    strange = [value for value in values if value not in tree.node_of_label]
    if strange:
        raise HierarchyError(
            [
                Problem(
                    "unknown-item",
                    f"the value {value[:40]!r} of column {name[:40]!r} is not in its hierarchy.",
                    "Add it.",
                )
                for value in strange
            ]
        )
    return {value: tree.path(value) for value in values}


FOREIGN = ForeignBuckets
