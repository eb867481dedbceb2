"""Writes small folders of two data sets by hand, byte by byte; the sentences are the package's own."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from setveil.model.guarantees import guarantee_from_dict
from setveil.release.claims import Facts, claims_of
from tests.unit.audit.folders import EXTENSION, data_bytes, packed, report_bytes, sha256, spelled

Plain = dict[str, Any]
Files = dict[str, bytes]

TABLES = (
    b"degree,job\n*,clerk\n*,clerk\nBA,clerk\nBA,guard\n",
    b"degree,job\n*,clerk\nBA,\nBA,clerk\nBA,guard\n",
)
TREES = b"degree=*;degree=*\ndegree=BA;degree=*\njob=clerk;job=*\njob=guard;job=*\n"
SETS = ([["a", "b"], ["a", "b"], ["c"]], [["C", "a"], ["a", "b"], ["b", "c"]])
TREE = b"C;T;T\na;A;T\nb;A;T\nc;C;T\n"
GUARANTEE: Plain = {"model": "patterns", "growth": "5", "min_support": "1/2"}


def certificate_for(data: Plain, guarantee: Plain, hierarchy: bytes) -> Plain:
    said = claims_of(guarantee_from_dict(guarantee, "pairs"), Facts(classes="classes" in data))
    return {
        "certificate": 2,
        "tool": {"name": "setveil", "version": "0.1.0"},
        "guarantee": guarantee,
        "promised": said.promised,
        "not_promised": said.not_promised,
        "data": data,
        "hierarchy": {"file": "hierarchy.csv", "sha256": sha256(hierarchy)},
        "method": "hide-patterns",
        "recoding": "pair",
        "loss": {},
        "terms": said.terms,
        "evidence": said.evidence,
        "verdict": {"verifier": "setveil.audit", "mode": "exact", "holds": True},
        "verify": "setveil audit <folder>",
    }


def page_for(certificate: Plain, more: str = "") -> bytes:
    """A report that says what it must: the hash of the second part is in a line of its own."""
    first, second = certificate["data"]["parts"]
    parted = {**certificate, "data": first}
    guarantee = certificate["guarantee"]
    level = " at every level" if guarantee.get("every_level") else ""
    name = f"pattern of growth {guarantee['growth']} or more{level}"
    head = f'<h1>No {name}, verified</h1>\n<p class="lead">{certificate["promised"][-1]}</p>\n'
    page = report_bytes(parted, more=f"{head}<p>{second['sha256']}</p>\n{more}")
    return page.replace(b"<title>Report<", f"<title>Release report: no {name}<".encode())


def write_files(folder: Path, files: Files, certificate: Plain) -> Path:
    folder.mkdir(exist_ok=True)
    for name, content in files.items():
        (folder / name).write_bytes(content)
    (folder / "certificate.json").write_bytes(spelled(certificate))
    return folder


def write_pair(
    folder: Path,
    parts: tuple[bytes, bytes],
    hierarchy: bytes,
    data: Plain,
    *,
    records: tuple[int, int],
    guarantee: Plain | None = None,
    gz: bool = False,
    more: str = "",
) -> Path:
    """Write a folder of these parts; `data` is what the certificate tells of their format."""
    ending = EXTENSION.get(data["format"], "csv") + (".gz" if gz else "")
    contents = [packed(part) if gz else part for part in parts]
    told = [
        {"file": f"data-{number}.{ending}", "sha256": sha256(content), "records": count}
        for number, (content, count) in enumerate(zip(contents, records, strict=True), 1)
    ]
    certificate = certificate_for({**data, "parts": told}, guarantee or GUARANTEE, hierarchy)
    page = page_for(certificate, more)
    certificate["report"] = {"file": "report.html", "sha256": sha256(page)}
    files = {part["file"]: content for part, content in zip(told, contents, strict=True)}
    return write_files(folder, {**files, "hierarchy.csv": hierarchy, "report.html": page}, certificate)


def write_tables(folder: Path, **given: Any) -> Path:
    data = {
        "format": "table",
        "delimiter": ",",
        "columns": ["degree", "job"],
        "classes": {"column": "pay", "values": ["<=50K", ">50K"]},
    }
    return write_pair(folder, TABLES, TREES, data, records=(4, 4), **given)


def write_sets(folder: Path, form: str = "baskets", **given: Any) -> Path:
    data: Plain = {"format": form}
    if form in ("baskets", "long", "onehot"):
        data["delimiter"] = ","
    first, second = (data_bytes(form, rows) for rows in SETS)
    return write_pair(folder, (first, second), TREE, data, records=(3, 3), **given)


def edit(folder: Path, change: Callable[[Plain], object]) -> None:
    """Change the certificate, and mend what follows from it: the report and its hash."""
    certificate = json.loads((folder / "certificate.json").read_bytes())
    change(certificate)
    write_again(folder, certificate)


def write_again(folder: Path, certificate: Plain) -> None:
    try:
        page = page_for(certificate)
    except (KeyError, TypeError, ValueError, AttributeError, IndexError):
        page = (folder / "report.html").read_bytes()
    if isinstance(certificate.get("report"), dict):
        certificate["report"]["sha256"] = sha256(page)
    (folder / "report.html").write_bytes(page)
    (folder / "certificate.json").write_bytes(spelled(certificate))


def forge(folder: Path, name: str, change: Callable[[bytes], bytes]) -> None:
    """Change a file, and mend every hash, as a forger who knows the format does."""
    file = folder / name
    content = change(file.read_bytes())
    assert content != file.read_bytes()
    file.write_bytes(content)

    def mend(certificate: Plain) -> None:
        for part in (*certificate["data"]["parts"], certificate["hierarchy"]):
            if part["file"] == name:
                part["sha256"] = sha256(content)

    edit(folder, mend)
