"""What an attacker can do with records: how many fit what is known of a person, and whom it gives away.

Everything here takes records as sets and knows nothing about how they came to be, so the same code
reads the original and the release. What it says about a release depends on its published records alone,
and is the same for the same records in any order.
"""
