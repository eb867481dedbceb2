"""Notices that hardly matter, marked so that a screen may leave them out.

A notice is a sentence for the user. Most are shown always; a `Remark` is shown where all are asked for.
"""

from __future__ import annotations


class Remark(str):
    """A notice that is shown with ``-v`` only.

    >>> [Remark("a blank was cut")] == ["a blank was cut"]
    True
    """

    __slots__ = ()
