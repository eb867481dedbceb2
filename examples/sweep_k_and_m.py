"""What does each strength of the promise cost? A grid of k and m in one call, as a table and as CSV.

Run it: ``python sweep_k_and_m.py``. It writes ``sweep.csv``.
"""

from __future__ import annotations

from pathlib import Path

from setveil.io.demo import groceries
from setveil.sweep import sweep


def main() -> None:
    baskets, products = groceries(n=2_000)
    found = sweep(baskets, products, ks=[2, 5, 10], ms=[1, 2])
    print(found)
    Path("sweep.csv").write_text(found.to_csv(), encoding="utf-8")

    affordable = [point for point in found.points if point.loss is not None and point.loss < 0.05]
    strongest = max(affordable, key=lambda point: (point.m, point.k))
    print(f"\nThe strongest promise below 5 % loss: k={strongest.k}, m={strongest.m}")


if __name__ == "__main__":
    main()
