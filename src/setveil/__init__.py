"""setveil: publish set-valued data so that nobody can be picked out, and prove it."""

from ._version import __version__

__all__ = ["__version__"]
