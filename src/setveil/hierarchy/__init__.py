"""The taxonomy: a tree over labels as arrays, made by hand, by intervals or from data, and mended.

Nothing here knows records; what is learned from them is handed over as arrays.
"""
