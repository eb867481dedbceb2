"""Audit a file that somebody else made: does it keep k^m-anonymity, and if not, how far is it off?

Run it: ``python audit_a_file.py``. It writes a small file and audits it at two strengths.
"""

from __future__ import annotations

from pathlib import Path

import setveil as sv

ROWS = ["tea,milk", "tea,milk", "tea,sugar", "tea,sugar", "coffee,milk"]


def main() -> None:
    path = Path("published.csv")
    path.write_text("\n".join(ROWS) + "\n", encoding="utf-8")

    for guarantee in (sv.KmAnonymity(k=2, m=1), sv.KmAnonymity(k=2, m=2)):
        verdict = sv.audit(path, guarantee, layout="baskets", delimiter=",", witnesses=3)
        print(verdict)
        print(f"  up to each size the largest k is {[size.achieved_k for size in verdict.by_size]}")
        print()


if __name__ == "__main__":
    main()
