"""Searches for sets of items: rare, frequent, closed, signed, telling."""
