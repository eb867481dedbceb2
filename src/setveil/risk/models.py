"""Three attackers: the prosecutor, the journalist and the marketer.

The names are those of disclosure control. The *prosecutor* knows that a person is in the data and
looks for that one record: among f records that match, the chance is 1/f. The *journalist* only knows
that the person is in a population from which the data were taken. F of it match, at least f, and the
chance is 1/F. Without a population at hand nothing is known to be better than for the prosecutor. The
*marketer* wants as many as possible, not one in particular: the expected share of records that are put
to the right person is the mean of 1/F.

What matches depends on what is known: j items picked at random, or the whole record and that there is
nothing else in it. A record is above the line where its risk is above 1/k.
"""

from __future__ import annotations

from dataclasses import dataclass

from .estimate import Estimate, percent
from .tables import as_html, as_text

ATTACKERS = ("prosecutor", "journalist", "marketer")


@dataclass(frozen=True)
class AttackerRisk:
    """The risk from one attacker who knows `known` items, or all where that is None.

    `mean` is the mean risk over records, for the marketer the expected share that is re-identified.
    `highest` is the highest risk of a record, `above` the share of records above 1/k, `mean_above` the
    mean risk of those. These are None for the marketer, who is after nobody in particular, and the last
    one is where no record is above.
    """

    attacker: str
    known: int | None
    mean: Estimate
    highest: Estimate | None = None
    above: Estimate | None = None
    mean_above: Estimate | None = None

    def as_dict(self) -> dict[str, object]:
        """Return plain values."""
        shares = {
            name: None if share is None else share.as_dict()
            for name, share in (
                ("mean", self.mean),
                ("highest", self.highest),
                ("above", self.above),
                ("mean_above", self.mean_above),
            )
        }
        return {"attacker": self.attacker, "known": self.known, **shares}

    def cells(self) -> tuple[str, str, str, str]:
        """Return mean, highest, share above the line and their mean, as texts."""
        highest = "-"
        if self.highest is not None:
            highest = f"{'' if self.highest.exact else '>='}{percent(self.highest.value)}"
        above = "-" if self.above is None else str(self.above)
        return str(self.mean), highest, above, "-" if self.mean_above is None else str(self.mean_above)


@dataclass(frozen=True)
class AttackerModels:
    """The risk from all three attackers, for each kind of knowledge; ``print`` it as a table."""

    k: int
    records: int
    risks: tuple[AttackerRisk, ...]
    population: int | None = None
    notes: tuple[str, ...] = ()

    def of(self, attacker: str, known: int | None = None) -> AttackerRisk:
        """Return the risk from one attacker; KeyError where it was not asked for.

        Parameters
        ----------
        attacker
            prosecutor, journalist or marketer.
        known
            How many items are known; None for whole records.
        """
        for risk in self.risks:
            if (risk.attacker, risk.known) == (attacker, known):
                return risk
        raise KeyError((attacker, known))

    def as_dict(self) -> dict[str, object]:
        """Return plain values for ``--json``."""
        return {
            "population": self.population,
            "risks": [risk.as_dict() for risk in self.risks],
            "notes": list(self.told()),
        }

    def _rows(self) -> list[tuple[str, ...]]:
        """Return a row for each kind of knowledge, and two where the population makes a difference."""
        told = ("prosecutor",) if self.population is None else ("prosecutor", "journalist")
        rows = [("known", "attacker", "mean risk", "highest", f"above 1/{self.k}", "mean of those")]
        for risk in self.risks:
            if risk.attacker in told:
                known = "all and no more" if risk.known is None else str(risk.known)
                rows.append((known, risk.attacker, *risk.cells()))
        if len(told) > 1:
            return list(rows)
        return [(known, *cells) for known, _, *cells in rows]  # a column that says nothing

    def told(self) -> tuple[str, ...]:
        """Return what to know about the numbers, in words."""
        if self.population is None:
            who = (
                "prosecutor: knows that the person is in the data; these are the numbers above.",
                "journalist: does not know that; without a population the same numbers, at most.",
                "marketer: tries everybody, and is right for the share of the mean risk.",
            )
        else:
            who = (
                "prosecutor: knows that the person is in the data.",
                "journalist: does not; knows only that the person is in the population.",
                "marketer: tries everybody, and is right for the share of the journalist's mean risk.",
            )
        return (*who, *self.notes)

    def __str__(self) -> str:
        return as_text(self._rows(), self.told())

    def _repr_html_(self) -> str:
        return as_html(self._rows(), self.told())
