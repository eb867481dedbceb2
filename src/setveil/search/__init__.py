"""Shared parts of the methods: cuts, the count-tree, clauses and their lifting, the solver."""
