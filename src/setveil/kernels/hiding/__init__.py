"""Patterns of two data sets: values raised, and what that changes."""
