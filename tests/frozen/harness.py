"""Run a job in a folder of its own, in a still world, and return all that came of it as text.

Everything is kept by its bytes, but for what cannot be, or is too long:

- Compressed files differ from one version of a library to the next. Of Parquet and gzip the content is
  kept, and where the hash of such a file stands in another one (a certificate), there comes the hash of
  its content; where the hash of that other file stands, there comes the hash of its text so made.
- The style of a page is a file of the sources: its hash is kept in its place.
- Of pages, which are long, one of each kind is kept whole. Of the others, the hash, and two characters
  for each line, which tell the first that differs. Of other long files the hash is kept.

As a program, ``python -m tests.frozen.harness`` reads lines ``job<TAB>folder`` and writes the files of
each job into the folder.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import io
import json
import os
import re
import runpy
import shlex
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from . import still
from .jobs import JOBS, Job

ROOT = Path(__file__).resolve().parents[2]
KEPT = Path(__file__).parent / "kept"
COMMANDS = "commands.txt"
"""What the commands of a job printed, in their order."""
CONTENT = ".content"
LINES = ".lines"
HASH = ".hash"
LARGE = 100_000
"""Of files with more bytes than this, only a hash is kept."""
PAGE = ".html"
STYLE = re.compile(r"(?<=<style>).*?(?=</style>)", re.DOTALL)
A_ROW = 50
WIDTH = 120

Files = dict[str, bytes]


def run_job(job: Job) -> dict[str, str]:
    """Run the commands of a job and return the text of every file to keep, by its name.

    Pages that are kept in short are there too, under their own names; `kept_of` leaves them out.
    """
    before = Path.cwd()
    with tempfile.TemporaryDirectory(prefix="frozen-") as place:
        os.chdir(place)
        try:
            for name, text in job.files.items():
                Path(name).write_bytes(_encoded(name, text))
            return _run_here(job)
        finally:
            os.chdir(before)


def _run_here(job: Job) -> dict[str, str]:
    there = _files()
    inputs = dict(there)
    versions: list[tuple[str, bytes]] = []
    told: list[bytes] = []
    for line in job.commands:
        told.append(_run_command(line, job.environment))
        now = _files()
        for name in sorted({*there, *now}):
            if name not in now:
                told.append(f"[removed {name}]\n".encode())
            elif there.get(name) != now[name]:
                mode = Path(name).stat().st_mode & 0o777
                told.append(f"[written {mode:03o} {name}]\n".encode())
                versions.append((name, now[name]))
        there = now
        told.append(b"\n")
    made = {
        name: content
        for name, content in there.items()
        if not name.endswith("/") and inputs.get(name) != content
    }
    texts = with_hashes_of_contents({COMMANDS: b"".join(told), **made}, versions)
    whole = tuple(f"{release}{folder}/" for release in job.pages for folder in ("", ".private"))
    came: dict[str, str] = {}
    for name, content in texts.items():
        if name.endswith((".gz", ".parquet")):
            came[name + CONTENT] = content.decode()
            continue
        if len(content) > LARGE and not name.endswith(PAGE):
            came[name + HASH] = f"{_hash(content).decode()}, {len(content)} bytes\n"
            continue
        came[name] = content.decode()
        if name.endswith(PAGE):
            came[name] = STYLE.sub(_style_in_short, came[name])
            if not name.startswith(whole):
                came[name + LINES] = in_short(came[name])
    return came


def kept_of(came: Mapping[str, str]) -> dict[str, str]:
    """Return of all that came of a job what is kept."""
    return {name: text for name, text in came.items() if name + LINES not in came}


def _run_command(line: str, environment: Mapping[str, str]) -> bytes:
    """Run one command in this process, as the program does; return what came of it.

    ``-m MODULE`` runs a module instead of `setveil`, and ``< FILE`` is what it reads.
    """
    command, _, source = line.partition(" < ")
    words = shlex.split(command)
    module = words[1] if words[0] == "-m" else "setveil"
    arguments = words[2:] if words[0] == "-m" else words
    still.CHANCE.begin()
    given = _stream(Path(source).read_bytes() if source else b"")
    out, err = _stream(), _stream()
    usual = sys.argv, sys.stdin, sys.stdout, sys.stderr
    os.environ |= environment
    sys.argv, sys.stdin, sys.stdout, sys.stderr = [module, *arguments], given, out, err
    code: object = None
    try:
        runpy.run_module(f"{module}.__main__", run_name="__main__")
    except SystemExit as leaving:
        code = leaving.code
    finally:
        sys.argv, sys.stdin, sys.stdout, sys.stderr = usual
        for name in environment:
            del os.environ[name]
    printed, told = _bytes(out), _bytes(err)
    if words[0] == "doctor":
        printed = _without_machine(printed)
    program = "python" if words[0] == "-m" else "setveil"
    head = f"$ {program} {line}\n[exit code {code or 0}]\n".encode()
    return head + _narrow(printed) + (b"[stderr]\n" + told if told else b"")


def _stream(content: bytes = b"") -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BytesIO(content), encoding="utf-8", newline="")


def _bytes(stream: io.TextIOWrapper) -> bytes:
    stream.flush()
    content = stream.buffer
    assert isinstance(content, io.BytesIO)
    return content.getvalue()


def _narrow(printed: bytes) -> bytes:
    """Return what was printed as JSON with its small parts on one line each, else as it is.

    Only where it is printed just as `json.dumps` does with an indent of 2, so that no byte is lost.
    """
    try:
        plain = json.loads(printed)
    except ValueError:
        return printed
    if (json.dumps(plain, indent=2) + "\n").encode() != printed:
        return printed
    return b"[json, indent 2]\n" + "\n".join(_lines(plain, "")).encode() + b"\n"


def _lines(plain: Any, start: str, head: str = "") -> list[str]:
    """Return the lines of a value after a head: one where that is short, else more for its parts."""
    first = start + head
    whole = first + json.dumps(plain)
    if len(whole) <= WIDTH or not isinstance(plain, dict | list):
        return [whole]
    if isinstance(plain, dict):
        brackets = "{}"
        parts = [_lines(value, start + " ", f"{json.dumps(key)}: ") for key, value in plain.items()]
    else:
        brackets = "[]"
        parts = [_lines(value, start + " ") for value in plain]
    for part in parts[:-1]:
        part[-1] += ","
    return [first + brackets[0], *(line for part in parts for line in part), start + brackets[1]]


def _without_machine(printed: bytes) -> bytes:
    """Return what `doctor` printed as JSON without what it found on this machine."""
    plain = json.loads(printed)
    for check in plain["checks"]:
        if check["found"] != still.VERSION:
            check["found"] = "(left out)"
    return json.dumps(plain, indent=2).encode() + b"\n"


def _files() -> Files:
    """Return all files here by their names; folders have a name with a slash, and hold nothing."""
    return {
        f"{path}/" if path.is_dir() else path.as_posix(): b"" if path.is_dir() else path.read_bytes()
        for path in sorted(Path().rglob("*"))
    }


def _encoded(name: str, text: str) -> bytes:
    """Return the bytes of an input; Parquet is given as JSON lines of its rows."""
    if name.endswith(".gz"):
        return gzip.compress(text.encode(), mtime=0)
    if not name.endswith(".parquet"):
        return text.encode()
    import pyarrow as pa
    import pyarrow.parquet as pq

    file = io.BytesIO()
    pq.write_table(pa.Table.from_pylist([json.loads(line) for line in text.splitlines()]), file)
    return file.getvalue()


def _plain(name: str, raw: bytes) -> bytes:
    """Return the content of a compressed file as text, any other file as it is."""
    if name.endswith(".gz"):
        return gzip.decompress(raw)
    if not name.endswith(".parquet"):
        return raw
    import pyarrow.parquet as pq

    table = pq.read_table(io.BytesIO(raw))
    lines = [f"{field.name}: {field.type}, null {field.nullable}" for field in table.schema]
    metadata = table.schema.metadata or {}
    lines += [f"{key.decode()} = {metadata[key].decode()}" for key in sorted(metadata)]
    lines += [json.dumps(row, ensure_ascii=False) for row in table.to_pylist()]
    return "".join(f"{line}\n" for line in lines).encode()


def with_hashes_of_contents(texts: Files, versions: list[tuple[str, bytes]]) -> Files:
    """Return contents in place of compressed files, and their hashes in place of those of the files."""
    contents = {raw: _plain(name, raw) for name, raw in versions}
    hashes: Files = {}
    while True:  # files name others by their hashes, never in a circle, so this ends
        found = {_hash(raw): _hash(_replaced(text, hashes)) for raw, text in contents.items()}
        found = {old.decode(): new for old, new in found.items() if old != new}
        if found == hashes:
            return {name: _replaced(_plain(name, raw), hashes) for name, raw in texts.items()}
        hashes = found


def _replaced(text: bytes, hashes: Files) -> bytes:
    for old, new in hashes.items():
        text = text.replace(old.encode(), new)
    return text


def _hash(content: bytes) -> bytes:
    return hashlib.sha256(content).hexdigest().encode()


def _style_in_short(style: re.Match[str]) -> str:
    return f"[style {_hash(style[0].encode()).decode()}]"


def in_short(text: str) -> str:
    """Return the hash of a text, and the short form of each of its lines."""
    short = [line_in_short(line) for line in text.split("\n")]
    rows = ["".join(short[low : low + A_ROW]) for low in range(0, len(short), A_ROW)]
    return "\n".join([_hash(text.encode()).decode(), *rows, ""])


def line_in_short(line: str) -> str:
    """Return two characters for a line, others for most other lines."""
    return base64.b64encode(hashlib.sha256(line.encode()).digest())[:2].decode()


def write_texts(files: Mapping[str, str], folder: Path) -> None:
    """Write files below a folder."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())


def read_texts(folder: Path) -> dict[str, str]:
    """Return the files below a folder."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes().decode() for path in paths}


class Server:
    """A process in a still world that runs jobs, so that libraries are loaded once."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.frozen.harness"],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def run(self, job: str, folder: Path) -> None:
        """Run a job and write its files into a folder; what went wrong is raised."""
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(f"{job}\t{folder}\n")
        process.stdin.flush()
        answer = process.stdout.readline()
        assert answer, f"the process ended at the job {job}, code {process.wait()}"
        fault = json.loads(answer)
        assert not fault, fault

    def close(self) -> None:
        self._process.communicate()


def _serve() -> None:
    answers = sys.stdout
    for line in sys.stdin:
        name, _, folder = line.rstrip("\n").partition("\t")
        fault = ""
        try:
            write_texts(run_job(JOBS[name]), Path(folder))
        except Exception:
            fault = traceback.format_exc()
        answers.write(json.dumps(fault) + "\n")
        answers.flush()


if __name__ == "__main__":
    still.hold()
    _serve()
