"""What two attackers get out of a table in buckets: one knows rules, one learns from all buckets.

The first is judged from what is published alone; it is what matching diversity promises against. The
second is covered by no promise about buckets, and how well it guesses can only be counted by whoever
knows the true values.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..model.guarantees import BucketGuarantee
from ..model.layout import NO_VALUE
from .background import BackgroundAttack
from .definetti import DeFinettiAttack


@dataclass(frozen=True)
class TableRisk:
    """The two attacks on a table in buckets; ``print`` it for a summary.

    Attributes
    ----------
    guarantee
        What the table promises.
    records, buckets
        How many there are.
    rules
        How many rules the first attacker knows.
    background
        What whoever knows the rules learns.
    learning
        How many values are guessed by learning; None where the true ones are not known. Private.
    """

    guarantee: BucketGuarantee
    records: int
    buckets: int
    rules: int
    background: BackgroundAttack
    learning: DeFinettiAttack | None = None

    def as_dict(self) -> dict[str, object]:
        """Return plain values."""
        return {
            "guarantee": self.guarantee.as_dict(),
            "records": self.records,
            "buckets": self.buckets,
            "rules": self.rules,
            "by_rules": self.background.as_dict(),
            "by_learning": None if self.learning is None else self.learning.as_dict(),
        }

    def __str__(self) -> str:
        found = self.background
        known = "no rules" if not self.rules else f"{self.rules:,} rule" + "s" * (self.rules > 1)
        lines = [
            f"Risk: {self.guarantee}, {self.records:,} records in {self.buckets:,} buckets",
            f"  whoever knows {known}:",
            f"    {_share(found.vulnerable, found.tuples)} have fewer than {found.l} possible values; "
            f"the fewest are {found.fewest}",
            f"    {_share(found.disclosed, found.tuples)} have one possible value: it is known",
        ]
        contradicted = sum(found.tuples_by_possible[:1])
        if contradicted:
            told = _share(contradicted, found.tuples)
            none = f"the rules contradict their buckets, or leave no value but {NO_VALUE}"
            lines.append(f"    {told} have none: {none}")
        if found.vulnerable_by_gaps is not None:
            lines += [
                "  whoever also concludes from rules that are missing that somebody breaks them:",
                f"    {_share(found.vulnerable_by_gaps, found.tuples)} have fewer than {found.l} "
                f"possible values; {found.disclosed_by_gaps:,} have one",
            ]
        if self.learning is not None:
            lines += [
                "  whoever learns from all buckets (deFinetti):",
                f"    {float(self.learning.accuracy):.1%} of the values are guessed; naming the most "
                f"frequent value of each bucket guesses {float(self.learning.baseline):.1%}",
            ]
        return "\n".join(lines)


def _share(count: int, of: int) -> str:
    return f"{count:,} of {of:,} records ({count / max(1, of):.1%})"
