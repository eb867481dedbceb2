"""The pages of a release: a public one for everyone, and a private one for its holder alone.

A page is a head and a list of sections. `sections` has what every release shows, and puts pages
together; `sets`, `buckets` and `pairs` add what their release has beside it.
"""
