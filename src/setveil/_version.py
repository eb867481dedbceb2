"""The version of the package, alone so that building needs no import."""

__version__ = "0.2.0"
