"""Partition on BMS-WebView-2: k-anonymity of whole records, beside the Python peers."""

from __future__ import annotations

from ..context import Context
from ..report import Cell, Report, Table, at_most, cells, is_true

PEER = {5: (9.0, 0.05143), 50: (9.0, 0.09677)}
"""k -> CPU seconds and NCP of the Python peers."""
SECONDS, NCP = 1.5, 0.0514


def run(context: Context) -> Report:
    """Run partition at k=5 and k=50."""
    source = context.source("BMS-WebView-2")
    rows: list[tuple[Cell, ...]] = []
    bars = []
    for k, (peer_seconds, peer_ncp) in PEER.items():
        found = context.measure(
            "anonymize", source, guarantee={"model": "k", "k": k}, method="partition", runs=5
        )
        own = cells(found, "seconds", "cpu_seconds", "peak_mb", "ncp", "holds")
        rows.append((k, *own, peer_seconds, peer_ncp))
        if k == 5:
            bars.append(at_most(f"k={k}", found["seconds"], SECONDS, quick=context.quick))
            ncp = at_most(f"k={k}, NCP", found["ncp"], NCP, "", quick=context.quick)
            bars.append(ncp)
        bars.append(is_true(f"k={k} holds by the audit", found["holds"], quick=context.quick))
    columns = ("k", "seconds", "CPU s", "peak MB", "NCP", "holds", "peers' CPU s", "peers' NCP")
    return Report(
        "partition",
        "Top-down local generalization on BMS-WebView-2",
        (Table(columns, tuple(rows)),),
        tuple(bars),
        quick=context.quick,
    )
