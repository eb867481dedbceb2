"""One record a method: what the API, the CLI, the docs, the benchmarks and the contract tests know.

To add a method: write ``methods/x.py`` with a function ``anonymize(engine, guarantee, *, cost, watch,
...)``, a record here, a page ``docs/methods/x.md`` and a test of the paper's example. The rest
follows from the record. The module is imported when the method is first used.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from .errors import UsageError

if TYPE_CHECKING:
    from .model.guarantees import Promise

OptionValue = int | float | str | bool


@dataclass(frozen=True)
class Option:
    """A keyword of a method: its name, type, default, meaning, and what it may be."""

    name: str
    type: type[int] | type[float] | type[str] | type[bool]
    default: OptionValue | None
    help: str
    allowed: tuple[str, ...] = ()
    least: int | None = None
    goes_with: tuple[str, OptionValue] | None = None
    """Another option and the value that it must have for this one to mean anything."""
    names_method: bool = False
    """Whether its value is the key of another method, which must give the guarantee too."""

    is_variant: bool = False
    """Whether ``setveil compare`` tries its values one by one."""
    share: str = ""
    """Of a share of the records what it may be, "below 1" or "up to 1"; it is held to it exactly."""

    @property
    def flag(self) -> str:
        """The option's name on the command line."""
        return "--" + self.name.replace("_", "-")

    def checked(self, value: object) -> OptionValue:
        """Return `value` if it fits; UsageError that says what is allowed if not."""
        fits = isinstance(value, self.type) and not (self.type is not bool and isinstance(value, bool))
        if self.type is float and isinstance(value, int) and not isinstance(value, bool):
            fits, value = True, float(value)
        if not fits:
            raise UsageError(
                f"{self.name} must be {_KIND[self.type]} (got {str(value)[:40]!r}).", code="bad-option"
            )
        if self.allowed and value not in self.allowed:
            raise UsageError(
                f"{self.name}={str(value)[:40]!r} is not known.",
                f"Allowed: {', '.join(self.allowed)}.",
                code="bad-option",
            )
        if self.least is not None and isinstance(value, int | float) and not value >= self.least:
            raise UsageError(
                f"{self.name}={value} is too small.",
                f"Give {self.name} >= {self.least}.",
                code="bad-option",
            )
        assert isinstance(value, int | float | str | bool)
        return value


_KIND = {int: "a whole number", float: "a number", str: "a text", bool: "true or false"}


@dataclass(frozen=True)
class MethodRecord:
    """What is known of a method without importing it.

    `guarantees` names the models it reaches ("km-negative" is k^m with negative knowledge),
    `default_for` those for which it is taken where no method is named. `kind` is what it works on:
    "sets" of items, a table cut into "buckets", or "pairs" of data sets. `exact` says that its result
    is the cheapest one, `needs_rows` that it reads records, not only counts, `takes_threads` that it
    runs parts of the work side by side itself, `suppresses` that it may leave items out. `function` is
    its name in the module. `exempt` names the properties of `tests/contract` that it need not have,
    with the reason.
    """

    key: str
    module: str
    title: str
    paper: str
    guarantees: tuple[str, ...]
    recoding: str = "global"
    exact: bool = False
    needs_rows: bool = False
    takes_threads: bool = False
    suppresses: bool = False
    needs_hierarchy: bool = True
    function: str = "anonymize"
    kind: str = "sets"
    default_for: tuple[str, ...] = ()
    options: tuple[Option, ...] = ()
    exempt: Mapping[str, str] = field(default_factory=dict, compare=False)

    @property
    def idempotent(self) -> bool:
        """Whether data which already keep the promise come out unchanged."""
        return "anonymous_data_pass_unchanged" not in self.exempt

    def load(self) -> Callable[..., Any]:
        """Import the method and return its function."""
        function: Callable[..., Any] = getattr(importlib.import_module(self.module), self.function)
        return function

    def option(self, name: str) -> Option:
        """Return the option of this name; UsageError where the method has none."""
        for option in self.options:
            if option.name == name:
                return option
        known = ", ".join(option.name for option in self.options) or "none"
        raise UsageError(
            f"the method {self.key!r} has no option {name[:40]!r}.",
            f"Its options: {known}.",
            code="unknown-option",
        )

    def checked_options(self, given: Mapping[str, object]) -> dict[str, OptionValue]:
        """Return the options given, each checked; refused are those unknown or without effect."""
        for name in given:
            other, value = self.option(name).goes_with or (name, given[name])
            if given.get(other, self.option(other).default) != value:
                wanted = self.option(other).flag + ("" if value is True else f" {value}")
                raise UsageError(
                    f"{name} goes with {wanted}.",
                    f"Leave it out, or give {wanted}.",
                    code="option-does-not-fit",
                )
        return {name: self.option(name).checked(value) for name, value in sorted(given.items())}

    def with_defaults(self, given: Mapping[str, object]) -> dict[str, object]:
        """Return all options, those that were not given at their defaults."""
        return {option.name: option.default for option in self.options} | dict(given)

    def check_guarantee(self, guarantee: Promise) -> None:
        """Raise UsageError where the method does not reach this guarantee."""
        model = guarantee.key
        if model in self.guarantees:
            return
        able = ", ".join(record.key for record in ALL_METHODS if model in record.guarantees) or "none"
        raise UsageError(
            f"the method {self.key!r} does not give {guarantee}.",
            f"Methods that do: {able}.",
            code="guarantee-method",
        )

    def check_named_methods(self, guarantee: Promise, options: Mapping[str, OptionValue]) -> None:
        """Raise UsageError where an option names a method that does not reach this guarantee."""
        model = guarantee.key
        for option in (self.option(name) for name in options):
            if option.names_method and model not in method(str(options[option.name])).guarantees:
                able = [key for key in option.allowed if model in method(key).guarantees]
                raise UsageError(
                    f"{option.name}={options[option.name]} does not give {guarantee}, and "
                    f"{self.key} promises for all records only what {option.name} keeps in each part.",
                    f"Give {option.flag} {' or '.join(able)}, or leave it out.",
                    code="guarantee-method",
                )


_KM_2008 = "Terrovitis, Mamoulis, Kalnis: Privacy-preserving anonymization of set-valued data (2008)"
_KM_2011 = "Terrovitis, Mamoulis, Kalnis: Local and global recoding methods for set-valued data (2011)"
_HE_2009 = "He, Naughton: Anonymization of set-valued data via top-down, local generalization (2009)"
_LIU_2010 = (
    "Liu, Wang: Anonymizing transaction data by integrating suppression and generalization (2010)"
)
_XU_2008 = "Xu, Wang, Fu, Yu: Anonymizing transaction databases for publication (2008)"
_LI_2008 = "Li, Li: Injector: mining background knowledge for data anonymization (2008)"
_XIAO_2006 = "Xiao, Tao: Anatomy: simple and effective privacy preservation (2006)"
_CHENG = "Cheng: Hiding emerging pattern with local recoding generalization"
_MAX_THREATS = Option(
    "max_threats", int, 50_000_000, "refuse to hold more minimal privacy threats than this", least=1
)
_MEMORY = Option(
    "memory", int, None, "memory budget in bytes; more parts where it asks for them", least=1024
)

_IN_PARTS: Mapping[str, str] = {
    "anonymous_data_pass_unchanged": "records are recoded part by part, whatever the whole keeps",
    "no_two_labels_cover_the_same_item": "parts may publish different levels of one branch",
}
_BY_CHANCE: Mapping[str, str] = {
    "row_order_does_not_matter": "who is with whom in a bucket is drawn secretly, so two runs differ",
    "anonymous_data_pass_unchanged": "buckets are not records that could be put into buckets again",
}

METHODS: tuple[MethodRecord, ...] = (
    MethodRecord(
        key="auto",
        module="setveil.methods.auto",
        title="The best of ours for the case",
        paper="setveil: trim, or optimal where nothing may be left out",
        guarantees=("km",),
        default_for=("km",),
        exact=True,
        suppresses=True,
        needs_hierarchy=False,
        options=(Option("suppression", bool, True, "whether rare items may be left out"),),
    ),
    MethodRecord(
        key="trim",
        module="setveil.methods.trim",
        title="Generalization and suppression with a proven gap",
        paper="setveil: lazy clauses over antichains, solved as an integer program",
        guarantees=("km",),
        exact=True,
        suppresses=True,
        needs_hierarchy=False,
    ),
    MethodRecord(
        key="optimal",
        module="setveil.methods.optimal",
        title="Proven optimal generalization",
        paper="setveil: lazy clauses over cuts, solved as an integer program",
        guarantees=("km", "km-negative", "lm"),
        default_for=("km-negative", "lm"),
        exact=True,
    ),
    MethodRecord(
        key="aa",
        module="setveil.methods.apriori",
        title="Apriori anonymization",
        paper=_KM_2008,
        guarantees=("km", "km-negative"),
        options=(
            Option(
                "path",
                str,
                "fast",
                "fast, or the paper's count-tree; both give the same cut",
                allowed=("fast", "reference"),
            ),
        ),
    ),
    MethodRecord(
        key="da",
        module="setveil.methods.direct",
        title="Direct anonymization",
        paper=_KM_2008,
        guarantees=("km",),
        needs_rows=True,
        options=(
            Option(
                "max_tree_nodes", int, 20_000_000, "refuse a count-tree that may grow larger", least=1
            ),
        ),
    ),
    MethodRecord(
        key="oa",
        module="setveil.methods.exhaustive",
        title="Optimal anonymization by lattice search",
        paper=_KM_2008,
        guarantees=("km",),
        exact=True,
        options=(
            Option("max_cuts", int, 200_000, "refuse a hierarchy with more cuts than this", least=1),
        ),
    ),
    MethodRecord(
        key="lra",
        module="setveil.methods.local",
        title="Local recoding anonymization",
        paper=_KM_2011,
        guarantees=("km", "km-negative", "lm"),
        recoding="local",
        needs_rows=True,
        exempt=_IN_PARTS,
        takes_threads=True,
        options=(
            Option("parts", int, 3, "into how many parts the work is cut", least=1),
            Option("f", int, 10, "by how many records a border may move", least=0),
            Option(
                "inner",
                str,
                None,
                "the method for each chunk: aa, or optimal for l^m-diversity, if not given; it must "
                "give the guarantee too",
                allowed=("aa", "da", "oa", "optimal", "vpa"),
                names_method=True,
            ),
            _MEMORY,
        ),
    ),
    MethodRecord(
        key="vpa",
        module="setveil.methods.vertical",
        title="Vertical partitioning anonymization",
        paper=_KM_2011,
        guarantees=("km",),
        takes_threads=True,
        options=(
            Option("parts", int, 3, "into how many parts the work is cut", least=1),
            Option("level", int, 1, "depth of the classes that stay whole: 1 below the root", least=0),
            _MEMORY,
        ),
    ),
    MethodRecord(
        key="partition",
        module="setveil.methods.partition",
        title="Top-down local generalization",
        paper=_HE_2009,
        guarantees=("k",),
        default_for=("k",),
        recoding="local",
        needs_rows=True,
        exempt={**_IN_PARTS, "m_above_the_longest_works": "k-anonymity of whole records has no m"},
    ),
    MethodRecord(
        key="hghs",
        module="setveil.methods.topdown",
        title="Top-down generalization with suppression",
        paper=_LIU_2010,
        guarantees=("km",),
        suppresses=True,
        options=(_MAX_THREATS,),
    ),
    MethodRecord(
        key="mhghs",
        module="setveil.methods.topdown",
        title="Top-down generalization with suppression, in rounds",
        paper=_LIU_2010,
        guarantees=("km",),
        suppresses=True,
        function="anonymize_rounds",
        options=(_MAX_THREATS,),
    ),
    MethodRecord(
        key="mm",
        module="setveil.methods.moles",
        title="Total item suppression",
        paper=_XU_2008,
        guarantees=("km", "coherence"),
        default_for=("coherence",),
        suppresses=True,
        needs_hierarchy=False,
        options=(Option("max_moles", int, 50_000_000, "refuse to hold more minimal moles", least=1),),
    ),
)

_KINDS, _JUDGED = ("product", "minimum"), ("all", "longer", "none")
MINING_OPTIONS: tuple[Option, ...] = (
    Option(
        "min_exp",
        float,
        0.9,
        "how surely a value was to be expected for a rule to count",
        share="below 1",
    ),
    Option(
        "min_conf", float, 1.0, "the share of people that a mined rule must hold for", share="up to 1"
    ),
    Option("max_antecedent", int, 1, "how many conditions a rule may have", least=1),
    Option("fuzzy", bool, False, "numbers close to a condition belong to it in part"),
    Option("membership", str, "product", "how memberships are joined", _KINDS, None, ("fuzzy", True)),
    Option("control", str, "all", "rules tested for chance (longer: of several conditions)", _JUDGED),
)
"""How negative rules are mined, by `anonymize` and by ``setveil mine rules``."""

TABLE_METHODS: tuple[MethodRecord, ...] = (
    MethodRecord(
        key="injector",
        module="setveil.methods.injector",
        title="Buckets that hold against known rules",
        paper=_LI_2008,
        guarantees=("matching",),
        default_for=("matching",),
        kind="buckets",
        recoding="buckets",
        needs_rows=True,
        exempt=_BY_CHANCE,
        needs_hierarchy=False,
        options=(
            *MINING_OPTIONS,
            Option("min_fact_conf", float, 1.0, "the share of people that a known fact must hold for"),
            Option("suppress_infeasible", bool, False, "leave out rows that no buckets can hide"),
            Option(
                "grouping",
                str,
                "compact",
                "how buckets are made: as many as can be found, or as the paper prints it",
                allowed=("compact", "printed"),
                is_variant=True,
            ),
        ),
    ),
    MethodRecord(
        key="anatomy",
        module="setveil.methods.anatomy",
        title="Buckets of l different values",
        paper=_XIAO_2006,
        guarantees=("l",),
        default_for=("l",),
        kind="buckets",
        recoding="buckets",
        needs_rows=True,
        exempt=_BY_CHANCE,
        needs_hierarchy=False,
    ),
)
"""Methods for tables with a sensitive column, which they cut into buckets."""

_ANNEALED = ("search", "annealed")
PAIR_METHODS: tuple[MethodRecord, ...] = (
    MethodRecord(
        key="hide-patterns",
        module="setveil.methods.hide_patterns",
        title="Hiding emerging patterns of two data sets",
        paper=_CHENG,
        guarantees=("patterns",),
        default_for=("patterns",),
        kind="pairs",
        recoding="pair",
        needs_rows=True,
        takes_threads=True,
        needs_hierarchy=False,
        options=(
            Option(
                "frequent_support",
                float,
                0.4,
                "share of the records that makes a set of values frequent, and worth keeping",
            ),
            Option(
                "search",
                str,
                "grouped",
                "how the next step is chosen: the paper's greedy and annealed, or the best of several",
                allowed=("grouped", "greedy", "annealed"),
                is_variant=True,
            ),
            Option("theta_p", float, 0.4, "weight of falling growth against distortion, 0 to 1"),
            Option(
                "theta_q", float, 0.8, "weight of frequent sets distorted against lost ones, 0 to 1"
            ),
            Option("temperature", float, 10.0, "where annealing starts", goes_with=_ANNEALED),
            Option(
                "cooling",
                float,
                0.4,
                "share of the temperature that is left after a round",
                goes_with=_ANNEALED,
            ),
            Option(
                "restarts",
                int,
                5,
                "how often annealing is run; the best is kept",
                least=1,
                goes_with=_ANNEALED,
            ),
            Option(
                "seed", int, 0, "where the chance of annealing starts", least=0, goes_with=_ANNEALED
            ),
            Option("multilevel", bool, False, "sets of categories count as frequent sets too"),
            Option(
                "guard",
                bool,
                None,
                "of good steps those that leave fewest sets of values in one data set alone, down to "
                "half the minimum support; where not given in the grouped search alone",
            ),
        ),
    ),
)
"""Methods for two data sets, whose differences they hide."""

ALL_METHODS: tuple[MethodRecord, ...] = (*METHODS, *TABLE_METHODS, *PAIR_METHODS)


def method(key: str) -> MethodRecord:
    """Return the record of a method; UsageError that lists the known ones.

    >>> method("aa").title
    'Apriori anonymization'
    """
    for record in ALL_METHODS:
        if record.key == key:
            return record
    known = [record.key for record in ALL_METHODS]
    near = get_close_matches(str(key), known, n=1)
    hint = f"Did you mean {near[0]}? " if near else ""
    raise UsageError(
        f"unknown method {str(key)[:40]!r}.", f"{hint}Known: {', '.join(known)}.", code="unknown-method"
    )


def default_method(guarantee: Promise) -> MethodRecord:
    """Return the method taken where none is named."""
    return next(record for record in ALL_METHODS if guarantee.key in record.default_for)
