"""setveil: publish set-valued data so that nobody can be picked out, and prove it.

A map of the package, lowest layer first; each layer uses only those before it::

    errors, progress   what can go wrong; progress, deadlines, cancelling
    model              what the data are: Transactions, Microdata, PatternPair, Hierarchy, guarantees
    io                 files and frames in and out; release folders
    release            what comes out: Recoding, Release, certificate
    kernels, engines   compiled loops; where counting runs
    search, mining     shared parts of finding; frequent itemsets, negative rules
    methods            how a recoding is found; one file a method
    audit              is the promise kept? shares no code with what it judges
    measure, risk      how much was lost; what an attacker can still do
    report             pictures and pages
    registry, run      one record a method; one run as data
    api and others     the verbs below: publishing, comparing, sweeping, explaining, extending
    cli                the command line

The verbs and nouns are all here::

    import setveil as sv

    baskets  = sv.read_transactions("baskets.csv")
    products = sv.read_hierarchy("products.csv")
    release  = sv.anonymize(baskets, sv.KmAnonymity(k=5, m=2), hierarchy=products)
    print(release)                   # what was kept, lost, and how far from the optimum at most
    print(sv.audit(release))         # an independent recount
    print(sv.measure(release))       # what was lost, by every measure
    print(sv.risk(release))          # what somebody can do with it who knows more
    sv.publish(release, "release")   # writes, audits the written bytes, renames into place

Names are loaded when first used: ``import setveil`` alone loads nothing heavy. Some verbs share their
name with a module: `audit`, `compare`, `explain`, `measure`, `report`, `risk` and `sweep` are modules
that can be called.
"""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

from ._version import __version__

if TYPE_CHECKING:
    from .api import anonymize, audit, measure, risk
    from .audit.verdict import BucketFinding, PairFinding, Verdict
    from .compare import compare
    from .errors import SetveilError
    from .explain import Explanation, explain
    from .extend import Extension, PairExtension, apply
    from .hierarchy.tree import Hierarchy
    from .io.frames import from_frame, to_arrow
    from .io.hierarchies import read_hierarchy
    from .io.lists import QueryFile
    from .io.microdata import read_microdata
    from .io.pairs import read_pattern_pair
    from .io.records import read_records
    from .io.transactions import read_transactions
    from .measure.buckets import BucketScores
    from .measure.pairs import PairScores
    from .measure.scores import Scores
    from .model.guarantees import (
        Coherence,
        HiddenPatterns,
        KAnonymity,
        KmAnonymity,
        LDiversity,
        LmDiversity,
        MatchingDiversity,
    )
    from .model.layout import Layout
    from .model.microdata import Microdata
    from .model.pattern_pair import PatternPair
    from .model.rules import NegativeRule
    from .model.transactions import Records, Transactions
    from .progress import Watch
    from .publish import Publication, publish
    from .release.buckets import BucketRelease
    from .release.pair_release import PairRelease
    from .release.release import Release
    from .reopen import read_release
    from .report.comparison import Comparison
    from .report.frontier import Sweep
    from .reporting import report
    from .risk.assessment import Assessment
    from .risk.buckets import TableRisk
    from .run.work import Job
    from .sweep import sweep

_HOME = {
    "Assessment": "risk.assessment",
    "BucketFinding": "audit.verdict",
    "BucketRelease": "release.buckets",
    "BucketScores": "measure.buckets",
    "Coherence": "model.guarantees",
    "Comparison": "report.comparison",
    "Explanation": "explain",
    "Extension": "extend",
    "HiddenPatterns": "model.guarantees",
    "Hierarchy": "hierarchy.tree",
    "Job": "run.work",
    "KAnonymity": "model.guarantees",
    "KmAnonymity": "model.guarantees",
    "LDiversity": "model.guarantees",
    "Layout": "model.layout",
    "LmDiversity": "model.guarantees",
    "MatchingDiversity": "model.guarantees",
    "Microdata": "model.microdata",
    "NegativeRule": "model.rules",
    "PairExtension": "extend",
    "PairFinding": "audit.verdict",
    "PairRelease": "release.pair_release",
    "PairScores": "measure.pairs",
    "PatternPair": "model.pattern_pair",
    "Publication": "publish",
    "QueryFile": "io.lists",
    "Records": "model.transactions",
    "Release": "release.release",
    "Scores": "measure.scores",
    "SetveilError": "errors",
    "Sweep": "report.frontier",
    "TableRisk": "risk.buckets",
    "Transactions": "model.transactions",
    "Verdict": "audit.verdict",
    "Watch": "progress",
    "anonymize": "api",
    "apply": "extend",
    "from_frame": "io.frames",
    "read_hierarchy": "io.hierarchies",
    "read_microdata": "io.microdata",
    "read_pattern_pair": "io.pairs",
    "read_records": "io.records",
    "read_release": "reopen",
    "read_transactions": "io.transactions",
    "to_arrow": "io.frames",
}

__all__ = [
    "Assessment",
    "BucketFinding",
    "BucketRelease",
    "BucketScores",
    "Coherence",
    "Comparison",
    "Explanation",
    "Extension",
    "HiddenPatterns",
    "Hierarchy",
    "Job",
    "KAnonymity",
    "KmAnonymity",
    "LDiversity",
    "Layout",
    "LmDiversity",
    "MatchingDiversity",
    "Microdata",
    "NegativeRule",
    "PairExtension",
    "PairFinding",
    "PairRelease",
    "PairScores",
    "PatternPair",
    "Publication",
    "QueryFile",
    "Records",
    "Release",
    "Scores",
    "SetveilError",
    "Sweep",
    "TableRisk",
    "Transactions",
    "Verdict",
    "Watch",
    "__version__",
    "anonymize",
    "apply",
    "audit",
    "compare",
    "explain",
    "from_frame",
    "measure",
    "publish",
    "read_hierarchy",
    "read_microdata",
    "read_pattern_pair",
    "read_records",
    "read_release",
    "read_transactions",
    "report",
    "risk",
    "sweep",
    "to_arrow",
]


_VERB_MODULES = {
    "audit": "setveil.api",
    "compare": "setveil.compare",
    "explain": "setveil.explain",
    "measure": "setveil.api",
    "publish": "setveil.publish",
    "report": "setveil.reporting",
    "risk": "setveil.api",
    "sweep": "setveil.sweep",
}
"""Verbs whose name is also a module's, and where the function is."""


class _Verb(ModuleType):
    """A module that can be called: it calls the function of its own name."""

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        return self.__wrapped__(*arguments, **options)

    @property
    def __wrapped__(self) -> Any:
        """The function: `help` and `inspect.signature` show what it takes."""
        verb = self.__name__.rpartition(".")[2]
        return getattr(importlib.import_module(_VERB_MODULES[verb]), verb)


class _Package(ModuleType):
    """This package: a layer that is also a verb becomes callable when the import binds its name."""

    def __setattr__(self, name: str, value: object) -> None:
        if name in _VERB_MODULES and isinstance(value, ModuleType):
            value.__class__ = _Verb
        super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package


def __getattr__(name: str) -> Any:
    if name in _VERB_MODULES:
        return importlib.import_module(f".{name}", __name__)
    home = _HOME.get(name)
    if home is None:
        raise AttributeError(f"module 'setveil' has no attribute {name!r}")
    return getattr(importlib.import_module(f".{home}", __name__), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
