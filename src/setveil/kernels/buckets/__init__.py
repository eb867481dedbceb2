"""Tuples in buckets: forming, repairing, dealing anew, and who can have which value."""
