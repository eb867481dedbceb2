"""Folders that are published: written so that the old or the new is there, owned, read back."""
