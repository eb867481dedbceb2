"""A picture as an object: SVG text that notebooks show and that can be saved."""

from __future__ import annotations

import os
from dataclasses import dataclass


@dataclass(frozen=True)
class Figure:
    """A finished picture; `svg` is its text, `title` what it shows.

    >>> from setveil.report.drawing import Drawing
    >>> figure = Figure("An empty sheet", Drawing(10, 10, title="An empty sheet").svg())
    >>> figure
    Figure('An empty sheet')
    """

    title: str
    svg: str

    def __repr__(self) -> str:
        return f"Figure({self.title!r})"

    def _repr_svg_(self) -> str:
        return self.svg

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the picture as an SVG file for the owner alone; a file that is there is replaced."""
        from ..io.files import write_text_file

        write_text_file(path, self.svg, mode=0o600, force=True)
