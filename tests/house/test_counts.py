"""The house stays simple: what is counted only falls. ``python -m tests.house.counts`` prints it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tests.house import counts
from tests.house.sources import ROOT, modules, parsed, tell

MOST_FILES = 234
MOST_LINES = 59_800
MOST_LATE_IMPORTS = 240
MOST_SMALL_FILES = 0
MOST_DISPATCHES = 3
MOST_ON_THE_WAY = 17


def faults() -> Iterator[str]:
    small, dispatches = counts.small_files(), counts.dispatches()
    way, forms = counts.files_on_the_way()
    for what, found, most in (
        ("files", len(modules()), MOST_FILES),
        ("lines", counts.lines(), MOST_LINES),
        ("late imports of our own", counts.late_imports(), MOST_LATE_IMPORTS),
        (f"files under {counts.SMALL} lines with one importer", len(small), MOST_SMALL_FILES),
        ("dispatches on promise or kind", len(dispatches), MOST_DISPATCHES),
        ("files on the way of one basket", len(way), MOST_ON_THE_WAY),
    ):
        if found > most:
            yield f"{found} {what}, at most {most}: `python -m tests.house.counts` lists them"
    architecture = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    for place in dispatches:
        if f"`{place.path}`" not in architecture:
            yield f"{place} is not in ARCHITECTURE.md with its reason"
    defined = {
        node.name
        for module in modules()
        for node in ast.walk(module.tree)
        if isinstance(node, ast.ClassDef)
    }
    for name in {*counts.DATA, *counts.RELEASES, *counts.FORMS} - defined:
        yield f"{name} is no class any more: say in counts.py what took its place"
    for form in {"text", *counts.FORMS} - set(forms):
        yield f"{form} is not seen on the way of a basket: say in counts.py what took its place"


def test_counts_only_fall() -> None:
    tell(faults())


def test_every_way_to_dispatch_is_counted() -> None:
    seen = [
        "isinstance(it, KmAnonymity | Coherence)",
        "isinstance(it, (str, sv.Release))",
        "type(it) is PatternPair",
        "type(it) in (Release, PairRelease)",
        "match it:\n    case KmAnonymity(k=k): pass",
        "match it.kind:\n    case 'buckets': pass",
        "{KmAnonymity: 1, KAnonymity: 2}",
        "{'sets': 1, 'pairs': 2}",
        "{'km': 1, 'lm': 2, 'coherence': 3}",
        "it.model == 'km'",
        "'pair' == it['recoding']",
        "it.kind in ('sets', 'pairs')",
        "getattr(guarantee, 'negative', False)",
        "hasattr(release, 'sides')",
        "@told.register(Coherence)\ndef f(): pass",
    ]
    passed = [
        "assert isinstance(it, KmAnonymity)",
        "name == 'lm'",
        "isinstance(it, str)",
        "{'k': 1, 'm': 2}",
    ]
    search = counts.search()
    missed = [code for code in seen if len(search.in_module(parsed("a.py", code))) != 1]
    tell([*missed, *(code for code in passed if search.in_module(parsed("a.py", code)))])
