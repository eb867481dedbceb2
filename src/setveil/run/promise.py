"""What is promised, field by field, and the guarantee that the fields describe."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..errors import UsageError
from ..model.guarantees import Coherence, Guarantee, KAnonymity, KmAnonymity, LmDiversity
from ..model.numbers import percentage
from ..refusals import refuse
from ..registry import method
from .fields import ALL, GUARANTEE_PANEL, Fields, Text, Texts, declare, joined, switch, texts

if TYPE_CHECKING:
    from ..model.transactions import Transactions

MODELS = ("km", "k", "lm", "coherence")
"""The guarantees about sets."""


class Promised(Fields):
    """The guarantee and its parameters."""

    PANEL = GUARANTEE_PANEL
    FITS = "sets"

    model: Text = declare(
        "km, k, lm or coherence; l or matching for a table; patterns for two data sets; follows from "
        "method and options",
        "--guarantee",
        fits=ALL,
    )
    k: int | None = declare(
        "records that fit at least", "-k", "--k", metavar="K", models="km k coherence"
    )
    m: int | None = declare(
        "items that an attacker knows at most", "-m", "--m", metavar="M", models="km lm"
    )
    l: int | None = declare(  # noqa: E741
        "a sensitive item is in at most one of L fitting records",
        metavar="L",
        fits="sets buckets",
        models="lm",
    )
    negative: bool = switch("the attacker may know absent items too", models="km")
    sensitive: Texts = texts(
        "items by commas, or @FILE with one a line; may be repeated",
        metavar="ITEMS",
        path="list",
        fits="sets buckets",
        models="lm",
    )
    h: Text = declare(
        "percent of fitting records that may hold a private item", metavar="H", models="coherence"
    )
    p: int | None = declare(
        "public items that an attacker knows at most", metavar="P", models="coherence"
    )
    private: Texts = texts(
        "private items by commas, or @FILE; may be repeated",
        metavar="ITEMS",
        path="list",
        models="coherence",
    )

    def item_lists(self) -> tuple[str, ...]:
        """Return the lists of items that may be files."""
        return (*self.sensitive, *self.private)

    def guarantee(self, method_key: str | None = None, data: Transactions | None = None) -> Guarantee:
        """Return the guarantee about sets; parameters that it does not have are refused.

        Without `data` a sensitive column stands for its values, which are filled in later.
        """
        model = self._model(method_key)
        for field in sorted(self.given_fields(), key=lambda field: field.name):
            if field.models and model not in field.models:
                raise UsageError(
                    f"{field.flag} does not fit the guarantee {model!r}.",
                    "Leave it out, or name another --guarantee.",
                    code="option-does-not-fit",
                )
        if model == "km":
            return KmAnonymity(self._number("k"), self._number("m"), self.negative)
        if model == "k":
            return KAnonymity(self._number("k"))
        if model == "coherence":
            private = frozenset(_items(self.private))
            h = percentage(self.h if self.h is not None or private else "100")
            return Coherence(h, self._number("k"), self._number("p"), private)
        return LmDiversity(self._number("l"), self._number("m"), self._sensitive_items(data))

    def _model(self, method_key: str | None) -> str:
        """Return the guarantee's name: given, or what the parameters and the method ask for."""
        if self.model is not None:
            if self.model not in MODELS:
                raise UsageError(
                    f"unknown guarantee {self.model[:40]!r}.", f"Known: {', '.join(MODELS)}."
                )
            return self.model
        if self.l is not None or self.sensitive or self._sensitive_column:
            return "lm"
        if self.h or self.p is not None or self.private:
            return "coherence"
        if method_key is None:
            return "km"
        record = method(method_key)
        refuse("method", record.kind, method_key)
        return record.guarantees[0]

    @property
    def _sensitive_column(self) -> str | None:
        """The column whose values are all sensitive; only tables have columns."""
        column: str | None = getattr(self, "sensitive_column", None)
        return column

    def _number(self, name: str) -> int:
        value: int | None = getattr(self, name)
        if value is None:
            flag = f"--{name}" if name in ("l", "p") else f"-{name}"
            remedy = f"Give for example {flag} {2 if name in ('m', 'p') else 5}."
            if name == "m" and self.l is not None:
                remedy += " Or, for a table with a secret column, --quasi COLUMNS."
            raise UsageError(f"{flag} is missing.", remedy)
        return value

    def _sensitive_items(self, data: Transactions | None) -> frozenset[str]:
        labels = set(_items(self.sensitive))
        if self._sensitive_column:
            start = f"{self._sensitive_column}="
            found = {label for label in data.vocabulary if label.startswith(start)} if data else {start}
            labels |= found
        if not labels:
            raise UsageError(
                "l^m-diversity needs sensitive items.",
                "Give --sensitive a,b or --sensitive-column NAME.",
            )
        return frozenset(labels)


def _items(lists: tuple[str, ...]) -> list[str]:
    from ..io.lists import read_lines

    labels: list[str] = []
    for text in lists:
        labels += read_lines(text[1:]) if text.startswith("@") else filter(None, joined([text]))
    return labels
