"""The bytes of releases, of their private twins and of what commands print are those of before.

What may not change is kept in ``kept/``; where a difference is meant, ``make freeze`` writes it anew.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from difflib import unified_diff
from pathlib import Path

import pytest

from . import still
from .harness import (
    COMMANDS,
    KEPT,
    LINES,
    Server,
    in_short,
    kept_of,
    line_in_short,
    read_texts,
    with_hashes_of_contents,
)
from .jobs import JOBS

SHOWN = 30
"""Lines that a failure shows of a file, and `FILES_SHOWN` files."""
FILES_SHOWN = 3
WIDTH = 300
HASH = re.compile(r"\b[0-9a-f]{64}\b")
"""A file in which nothing else differs is shown last: it follows from another one."""


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    server = Server()
    yield server
    server.close()


@pytest.mark.parametrize("job", JOBS)
def test_job_is_as_it_was(job: str, server: Server, tmp_path: Path) -> None:
    server.run(job, tmp_path)
    told = differences(read_texts(KEPT / job), read_texts(tmp_path))
    if told:
        pytest.fail("\n".join([f"{job} differs; where it is meant: make freeze", *told]), pytrace=False)


def test_kept_are_the_jobs_that_there_are() -> None:
    assert sorted(path.name for path in KEPT.iterdir()) == sorted(JOBS)


def test_the_world_stands_still() -> None:
    trim = read_texts(KEPT / "sets-trim")
    account = json.loads(trim["out.private/audit.json"])
    assert account["input"]["key"] == bytes(range(still.KEY_SIZE)).hex()
    assert account["time"] == "2026-01-02T03:04:05+00:00"
    assert account["tool"]["version"] == still.VERSION
    assert account["seconds"] == 0
    certificate = json.loads(read_texts(KEPT / "sets-optimal")["out/certificate.json"])
    assert certificate["date"] == "1970-01-02"
    assert '"memory_bytes": null' in trim[COMMANDS]


def differences(kept: Mapping[str, str], came: Mapping[str, str]) -> list[str]:
    """Return what differs: files that are gone or new, and the first lines of those that changed."""
    now = kept_of(came)
    told = [f"gone: {name}" for name in sorted(kept.keys() - now.keys())]
    told += [f"new: {name}" for name in sorted(now.keys() - kept.keys())]
    changed = [name for name in sorted(kept.keys() & now.keys()) if kept[name] != now[name]]
    changed.sort(key=lambda name: HASH.sub("", kept[name]) == HASH.sub("", now[name]))
    for name in changed[:FILES_SHOWN]:
        page = name.removesuffix(LINES)
        if page != name:
            told += differing_lines(kept[name], came[page], page)
            continue
        lines = kept[name].splitlines(), now[name].splitlines()
        found = unified_diff(*lines, f"{name} as kept", f"{name} now", n=2, lineterm="")
        told += [line[:WIDTH] for line in [*found][:SHOWN]]
    return told + [f"changed too: {name}" for name in changed[FILES_SHOWN:]]


def differing_lines(kept: str, now: str, name: str) -> list[str]:
    """Return the first line of a page that is not as it was, and those after it."""
    short, lines = "".join(kept.split("\n")[1:]), now.split("\n")
    same = 0
    while same < len(lines) and short[2 * same : 2 * same + 2] == line_in_short(lines[same]):
        same += 1
    told = [f"{name} now, from line {same + 1}, the first that is not as it was:"]
    return told + [f"+{line[:WIDTH]}" for line in lines[same : same + 5]]


def test_a_difference_is_shown_where_it_is() -> None:
    page = "<p>\none\ntwo\n</p>\n"
    other = page.replace("two", "three")
    kept = {"a.csv": "x\ny\n", "p.html.lines": in_short(page), "old.csv": ""}
    came = {"a.csv": "x\nz\n", "p.html": other, "p.html.lines": in_short(other), "new.csv": ""}
    told = "\n".join(differences(kept, came))
    assert "gone: old.csv" in told
    assert "new: new.csv" in told
    assert "-y\n+z" in told
    assert "p.html now, from line 3, the first that is not as it was:\n+three\n+</p>" in told
    assert not differences({"a.csv": "x"}, {"a.csv": "x"})


def test_the_cause_is_shown_before_what_follows_from_it() -> None:
    kept = {"certificate.json": "0" * 64, "data.csv": "x\n"}
    told = differences(kept, {"certificate.json": "1" * 64, "data.csv": "y\n"})
    assert told[0] == "--- data.csv as kept"


def test_a_change_that_no_short_line_tells_is_told() -> None:
    assert differences({"p.html.lines": "0\nab\n"}, {"p.html.lines": "1\nab\n", "p.html": "x"})


def chain(level: int) -> dict[str, bytes]:
    """Return two compressed files and three that name what was before them by its hash."""

    def sha(*contents: bytes) -> bytes:
        return "\n".join(hashlib.sha256(content).hexdigest() for content in contents).encode()

    one, two = (gzip.compress(text * 50, level, mtime=0) for text in (b"ale\n", b"bun\n"))
    page = sha(one)
    certificate = sha(one, two, page)
    files = {"one.gz": one, "two.gz": two, "page": page, "certificate": certificate}
    return files | {"account": sha(certificate)}


def test_hashes_that_follow_from_compressed_bytes_are_those_of_contents() -> None:
    low, high = (with_hashes_of_contents(chain(level), [*chain(level).items()]) for level in (1, 9))
    assert chain(1)["account"] != chain(9)["account"]
    assert low == high
    assert low["one.gz"] == b"ale\n" * 50
    assert low["page"].decode() == hashlib.sha256(low["one.gz"]).hexdigest()
    assert low["account"].decode() == hashlib.sha256(low["certificate"]).hexdigest()
