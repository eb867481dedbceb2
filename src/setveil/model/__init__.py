"""What the data are: vocabularies, transactions, records, guarantees, costs.

Immutable values. Nothing here opens a file or knows a method.
"""
