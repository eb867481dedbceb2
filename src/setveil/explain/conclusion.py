"""Whether it had to be: how far the promise would have to be weakened, and what had to give way."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from ..engines.local import LocalEngine
from ..model.guarantees import Coherence, Guarantee, LmDiversity
from ..progress import Watch
from ..registry import METHODS
from ..release.release import Release
from ..search.alternatives import Breach, strongest
from ..search.concessions import MOST, after, find_concessions, ncp
from .account import Explanation, GivingWay, counted, few
from .changes import Change

NOTHING = "nothing was changed, so there is nothing to explain."
MIXED = "its items are published by finer labels, or left out: ask about them one by one."


def concluded(
    plain: Explanation,
    release: Release,
    engine: LocalEngine,
    last: tuple[Change, list[Breach]] | None,
    watch: Watch,
) -> Explanation:
    """Return the explanation with its conclusion.

    Parameters
    ----------
    plain
        What is known so far.
    release, engine
        The release, and answers about its original records.
    last
        The change that publishes the label as itself, and what it would break; None where there is
        nothing to change.
    watch
        Progress listener and cancel switch.
    """
    if last is None:
        return replace(plain, conclusion=NOTHING if plain.kept else MIXED)
    change, found = last
    name = "as its parts" if change.split else "as itself"
    if not found:
        text = (
            f"not forced: published {name} it would break nothing, but {release.method} did not do so."
        )
        return replace(plain, conclusion=text)
    guarantee = release.guarantee
    watch.tick("explain: how much of the promise would be kept", None)
    largest_k, largest_m = strongest(engine, change.cut, guarantee)
    siblings = plain.levels[-1].siblings
    with_them = f"{name}, with {few(siblings)} beside it and" if siblings else f"{name},"
    lines = [_weaker(guarantee, with_them, largest_k, largest_m)]
    alone = [breach for breach in found if change.own.issuperset(breach.nodes)]
    giving_way, then = None, None
    if alone:
        lines.append(_forced(change, alone[0]))
    else:
        bargain = find_concessions(engine, change.cut, guarantee, change.own, watch)
        if bargain.outcome == "enough":
            labels = engine.hierarchy.labels
            giving_way = tuple(
                GivingWay(labels[other.node], None if other.instead is None else labels[other.instead])
                for other in bargain.given
            )
            then = ncp(engine, after(engine, change.cut, bargain.given))
            lines.append(_choice(plain, release, name, giving_way, then))
        else:
            lines.append(f"for that, more than {MOST} other labels would have to give way.")
    return replace(
        plain,
        conclusion="\n".join(lines),
        largest_k=largest_k,
        largest_m=largest_m,
        giving_way=giving_way,
        ncp_then=then,
    )


def _weaker(guarantee: Guarantee, name: str, largest_k: int | None, largest_m: int | None) -> str:
    """Return how much of the promise would be kept."""
    strength = "l" if isinstance(guarantee, LmDiversity) else "k"
    knowledge = "p" if isinstance(guarantee, Coherence) else "m"
    kept_k = f"not even {strength}=2" if largest_k is None else f"{strength} up to {largest_k}"
    kept_m = f"not even {knowledge}=1" if largest_m is None else f"{knowledge} up to {largest_m}"
    return (
        f"{name} all else unchanged, the release would keep {kept_k} with "
        f"{knowledge}={getattr(guarantee, knowledge)}, {kept_m} with "
        f"{strength}={getattr(guarantee, strength)}."
    )


def _forced(change: Change, alone: Breach) -> str:
    """Return why nothing else that gives way would help."""
    support = counted(alone.support, "record")
    if change.split:
        return f"forced: a combination of its own parts is in {support}, whatever else gives way."
    without = (
        f"{support} that do not hold it would stand out" if alone.absent else f"it is in {support}"
    )
    return f"forced: {without}, too few by itself, whatever else gives way."


def _choice(
    plain: Explanation, release: Release, name: str, given: tuple[GivingWay, ...], then: Fraction
) -> str:
    """Return what the method preferred."""
    now = plain.ncp or Fraction(0)
    others = ", ".join(map(str, given[:5])) + (f" and {len(given) - 5} more" if given[5:] else "")
    text = f"a choice: it could be published {name} with {others}; NCP {float(then):.4f} instead of "
    text += f"{float(now):.4f}."
    if then > now:
        return f"{text} {release.method} kept {'that' if len(given) == 1 else 'those'} and lost less."
    if then == now:
        return f"{text} Both lose the same."
    suppresses = any(record.key == release.method and record.suppresses for record in METHODS)
    if not suppresses and any(other.instead is None for other in given):
        return f"{text} That loses less, but {release.method} leaves no item out."
    if release.objective is not None and release.objective.name != "ncp":
        minimized = release.objective.title
        return f"{text} That loses less NCP, but {release.method} minimized {minimized}."
    return f"{text} That loses less: {release.method} does not prove that it loses least."
