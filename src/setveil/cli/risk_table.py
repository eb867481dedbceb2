"""``setveil risk`` on a table in buckets: what rules tell, and what learning from all buckets tells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import FileSystemError, ResourceLimit, UsageError
from . import screen
from .flags import Flag
from .table_original import FITTING, confirm_original

if TYPE_CHECKING:
    from ..risk.buckets import TableRisk

RULES = (
    Flag(
        "rules",
        str | None,
        "for a table in buckets: what an attacker knows beside its rules.csv, see `setveil mine rules`",
        panel="Risk",
        metavar="FILE",
    ),
)
_FITTING = frozenset({"rules", "as_json", "verbose"}) | FITTING
PRIVATE = "Personal data: the guesses are counted with the true values. Keep it as safe as those."
NO_TWIN = (
    "no private folder lies beside the release, so it is not counted how many values are guessed by "
    "learning from all buckets (deFinetti)."
)


def risk_of_table(target: str, given: Mapping[str, Any], flags: Sequence[Flag]) -> None:
    """Show what two attackers get out of a table in buckets.

    Parameters
    ----------
    target
        The folder.
    given, flags
        The flags of `risk`; those that do not fit a table in buckets are refused.
    """
    refuse_unfit(given, flags, _FITTING)
    from ..io.folder.leftovers import private_twin
    from ..progress import Watch
    from ..reopen.buckets import read_bucket_release, read_public_buckets
    from ..risk.buckets import TableRisk, attack_by_rules
    from ..risk.definetti import attack_by_learning

    told: list[str] = []
    with screen.progress() as listener:
        watch = Watch(listener=listener)
        watch.tick("reading the release", None)
        public = read_public_buckets(target)
        rules = public.rules
        if given["rules"] is not None:
            from ..io.rules import read_rules, told_of_rules

            quasi = [attribute.name for attribute in public.data.quasi]
            more = read_rules(given["rules"], quasi=quasi, sensitive=public.data.sensitive)
            told += told_of_rules(more, public.data)
            rules = tuple(dict.fromkeys((*rules, *more)))
        watch.tick("attack by rules", None)
        background = attack_by_rules(
            public.data, public.bucketing, rules, public.guarantee.l, complete=public.complete
        )
        learning = None
        if private_twin(Path(target).absolute()).exists():
            release = read_bucket_release(target, watch=watch)
            if given["original"] is not None:
                told += confirm_original(release, given)
            try:
                learning = attack_by_learning(release.data, release.bucketing, watch=watch)
            except ResourceLimit as error:  # the other attack is told all the same
                told.append(f"{error.problems[0].what} {error.problems[0].remedy}")
        elif given["original"] is not None:
            raise FileSystemError(
                "no private folder lies beside the release, and only it tells whose value is whose.",
                "Put it back, or leave --original out.",
                code="no-private-twin",
            )
        else:
            told.append(NO_TWIN)
    screen.notices(told, verbose=given["verbose"])
    found = TableRisk(
        public.guarantee,
        len(public.data),
        public.bucketing.n_buckets,
        len(rules),
        background,
        learning,
    )
    _show(found, given)


def _show(found: TableRisk, given: Mapping[str, Any]) -> None:
    plain: dict[str, Any] = {"target": "table in buckets"}
    parts = [str(found)]
    if found.learning is not None:
        plain["personal_data"] = PRIVATE
        parts.append(PRIVATE)
    screen.result("\n\n".join(parts), {**plain, "risk": found.as_dict()}, as_json=given["as_json"])


def refuse_unfit(given: Mapping[str, Any], flags: Sequence[Flag], fitting: frozenset[str]) -> None:
    """Raise `UsageError` for a flag that was given and is of no use for a table in buckets."""
    for flag in flags:
        if flag.name not in fitting and given[flag.name] not in (flag.default, []):
            raise UsageError(
                f"{flag.spelled[0].partition('/')[0]} does not fit a table in buckets.",
                "Leave it out; the folder and its private twin tell all that is needed.",
                code="option-does-not-fit",
            )
