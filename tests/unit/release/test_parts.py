"""Publishing asks a handle and assumes no arrays: one of lines of text leads to the same bytes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import BinaryIO

import setveil as sv
from setveil.release.recoding import InMemory, Part

ROWS = [["ale", "bun"], ["ale", "bun"], ["ale"], ["rye", "bun"], ["rye"], ["fig", "ale", "rye"]]
TREE = sv.Hierarchy.from_parents(
    {"ale": "grain", "rye": "grain", "bun": "grain", "grain": "ALL", "fig": "ALL", "ALL": None}
)


@dataclass(frozen=True)
class Lines:
    """Published records as an engine may leave them: lines in files, counted where they lie."""

    lines: list[str]
    asked: list[str] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.lines)

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(sorted(self.records_by_label()))

    @property
    def has_open_cells(self) -> bool:
        return False

    def records_by_label(self) -> Mapping[str, int]:
        return Counter(label for line in self.lines for label in line.split(","))

    def count_with(self, labels: Collection[str]) -> int:
        return sum(not set(labels).isdisjoint(line.split(",")) for line in self.lines)

    def fault_in(self, layout: sv.Layout) -> str | None:
        return None if layout.format == "baskets" else f"only baskets, no {layout.format}"

    def formula_in(self, layout: sv.Layout) -> str | None:
        return None

    def write(self, layout: sv.Layout, file: BinaryIO) -> None:
        assert layout.format == "baskets"
        file.writelines(f"{line}\n".encode() for line in self.lines)

    def in_memory(self) -> sv.Transactions:
        self.asked.append("records")
        return sv.Transactions.from_rows(line.split(",") for line in self.lines)


def test_a_handle_without_arrays_is_published_alike(tmp_path: Path) -> None:
    own = sv.anonymize(
        sv.Transactions.from_rows(ROWS),
        sv.KmAnonymity(2, 2),
        hierarchy=TREE,
        layout=sv.Layout("baskets"),
    )
    handle = Lines([",".join(row) for row in own.published.rows()])
    part: Part = handle
    release = replace(own, part=part)
    assert not release.useless
    assert str(release) == str(own)
    assert (release.labels, release.records, release.empty_records) == (own.labels, own.records, 0)
    assert own.part.records_by_label() == handle.records_by_label()
    assert own.account() == release.account()
    assert own.hidden() == release.hidden()
    assert not handle.asked
    published = [
        sv.publish(one, tmp_path / name, private_report=False)
        for one, name in ((own, "own"), (release, "lines"))
    ]
    one, other = ({file.name: file.read_bytes() for file in p.path.iterdir()} for p in published)
    assert one == other
    assert handle.asked  # the public page shows records


def test_a_part_in_memory_counts_records() -> None:
    part = InMemory(sv.Transactions.from_rows([["a", "b"], ["b"], []]))
    assert part.records_by_label() == {"a": 1, "b": 2}
    assert [part.count_with(labels) for labels in ("", "a", "b", "ab", "c")] == [0, 1, 2, 2, 0]
    nothing = InMemory(sv.Transactions.from_rows([[]]))
    assert (len(nothing), nothing.labels, nothing.count_with(["a"])) == (1, (), 0)
