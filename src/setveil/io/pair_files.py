"""The files of a release of two data sets: their names, and which folder holds such a release."""

from __future__ import annotations

import os

from ..model.layout import Layout
from .ownership import told_recoding
from .write import data_file_name


def pair_file_names(layout: Layout) -> tuple[str, str]:
    """Return the names of the two data files.

    >>> pair_file_names(Layout("baskets", gzip=True)), pair_file_names(Layout("fimi"))
    (('data-1.csv.gz', 'data-2.csv.gz'), ('data-1.dat', 'data-2.dat'))
    """
    name, ending = data_file_name(layout).split(".", 1)
    return f"{name}-1.{ending}", f"{name}-2.{ending}"


def holds_pair(path: str | os.PathLike[str]) -> bool:
    """Tell whether a folder says of itself that it holds two data sets; False for anything else."""
    return told_recoding(path) == "pair"
