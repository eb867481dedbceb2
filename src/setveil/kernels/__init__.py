"""Compiled loops: arrays in, arrays out. No classes, no errors, no files.

Each kernel has a slow, obvious twin in ``tests/oracle`` and a property test that compares the two.
"""
