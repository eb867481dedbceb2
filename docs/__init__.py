"""The documentation, and `docs.build`, which makes its pictures and its reference from the code."""
