"""The one style sheet of all pages: ``report.css``, with the colours of `palette` put before it.

Light, printable, from a phone's width upwards. It names no font file, no picture and no address. The
audit knows the sheet by its hash: after a change, `audit.page.KNOWN_SHEETS` needs the new one.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from . import palette

COLOURS = (
    "INK",
    "MUTED",
    "RULE",
    "SHADE",
    "PAPER",
    "BLUE",
    "ORANGE",
    "GREEN",
    "VERMILION",
    "SKY",
    "SAND",
    "ROSE",
    "MINT",
)


@cache
def sheet() -> str:
    """Return the style sheet as it stands in every page."""
    rules = files(__package__).joinpath("report.css").read_text(encoding="utf-8")
    variables = "".join(f"  --{name.lower()}: {getattr(palette, name)};\n" for name in COLOURS)
    return f":root {{\n{variables}}}\n{rules}"
