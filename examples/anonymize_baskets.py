"""Anonymize baskets and publish them: the whole way, from records to an audited folder.

Run it in an empty folder: ``python anonymize_baskets.py``. It writes ``release/`` and, beside it,
``release.private/``.
"""

from __future__ import annotations

import setveil as sv
from setveil.io.demo import groceries


def main() -> None:
    baskets, products = groceries(n=2_000)
    release = sv.anonymize(baskets, sv.KmAnonymity(k=5, m=2), hierarchy=products)
    print(release)

    publication = sv.publish(release, "release", format="baskets")
    print()
    print(publication)


if __name__ == "__main__":
    main()
