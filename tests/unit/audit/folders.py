"""Writes small release folders by hand, byte by byte, without the package's own writer."""

from __future__ import annotations

import base64
import gzip
import hashlib
import io
import json
from pathlib import Path
from xml.sax.saxutils import escape

from setveil.report.html import sheet

Rows = list[list[str]]

ROWS: Rows = [["a", "b"], ["a", "b"], ["a", "b"], ["b"], ["b"], ["c d"], ["c d"]]
PATHS = ["a;A;All", "b;B;All", "c d;All;All"]
EXTENSION = {"fimi": "dat", "jsonl": "jsonl", "parquet": "parquet"}
DELIMITED = ("baskets", "long", "onehot", "table")


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def packed(content: bytes) -> bytes:
    sink = io.BytesIO()
    with gzip.GzipFile(filename="", mode="wb", fileobj=sink, mtime=0) as member:
        member.write(content)
    return sink.getvalue()


def data_bytes(form: str, rows: Rows = ROWS, delimiter: str = ",") -> bytes:
    """The data file of rows whose labels need no quotes."""
    if form == "baskets":
        lines = [delimiter.join(row) for row in rows]
    elif form == "long":
        lines = [f"record{delimiter}item"]
        lines += [f"{n}{delimiter}{label}" for n, row in enumerate(rows, 1) for label in row]
    elif form == "onehot":
        labels = sorted({label for row in rows for label in row})
        lines = [delimiter.join(labels)]
        lines += [delimiter.join("01"[label in row] for label in labels) for row in rows]
    elif form == "fimi":
        lines = [" ".join(row) for row in rows]
    elif form == "jsonl":
        lines = [json.dumps(row, separators=(",", ":"), ensure_ascii=False) for row in rows]
    else:
        import pyarrow as pa
        import pyarrow.parquet as pq

        sink = io.BytesIO()
        pq.write_table(pa.table({"items": pa.array(rows, pa.list_(pa.string()))}), sink)
        return sink.getvalue()
    return ("\n".join(lines) + "\n").encode()


def numbers_of(guarantee: object) -> str:
    """The numbers that the promise has to name."""
    plain = guarantee if isinstance(guarantee, dict) else {}
    return " and ".join(str(plain[name]) for name in ("k", "m", "l", "h", "p") if name in plain)


def certificate_for(
    form: str, data: bytes, hierarchy: bytes, *, gz: bool, records: object, guarantee: object
) -> dict:
    name = f"data.{EXTENSION.get(form, 'csv')}" + (".gz" if gz else "")
    about = {"file": name, "format": form, "records": records, "sha256": sha256(data)}
    if form in DELIMITED:
        about["delimiter"] = ","
    return {
        "certificate": 2,
        "tool": {"name": "setveil", "version": "0.1.0"},
        "guarantee": guarantee,
        "promised": [f"Something with {numbers_of(guarantee)}."],
        "not_promised": ["Something else."],
        "data": about,
        "hierarchy": {"file": "hierarchy.csv", "sha256": sha256(hierarchy)},
        "method": "optimal",
        "recoding": "global",
        "loss": {"ncp": 0.03, "lm": 0.03},
        "terms": {
            "standard": "ISO/IEC 20889:2018",
            "techniques": ["Generalization."],
            "privacy_model": "K-anonymity model.",
            "truthfulness": "Kept.",
        },
        "evidence": {
            criterion: {"shown": [], "not_shown": ["Nothing."]}
            for criterion in ("singling_out", "linkability", "inference")
        },
        "verdict": {"verifier": "setveil.audit", "mode": "exact", "holds": True},
        "verify": "setveil audit <folder>",
    }


def report_bytes(certificate: dict, *, more: str = "", style: str | None = None) -> bytes:
    """A report that says what it must and no more; `more` comes at the end of its body."""
    style = sheet() if style is None else style
    source = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{source}'; base-uri 'none'; form-action 'none'"
    said = [*certificate["promised"], *certificate["not_promised"]]
    said += [certificate[name]["sha256"] for name in ("data", "hierarchy")]
    body = "\n".join(f"<p>{escape(str(sentence))}</p>" for sentence in said)
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="referrer" content="no-referrer">\n'
        f"<title>Report</title>\n<style>{style}</style>\n</head>\n"
        f'<body class="public">\n{body}\n{more}\n</body>\n</html>\n'
    ).encode()


def spelled(certificate: object) -> bytes:
    text = json.dumps(certificate, sort_keys=True, indent=2, ensure_ascii=False)
    return (text + "\n").encode()


def write_folder(
    folder: Path,
    form: str = "baskets",
    *,
    data: bytes | None = None,
    rows: Rows = ROWS,
    hierarchy: bytes | None = None,
    gz: bool = False,
    guarantee: object = None,
    change=lambda certificate: None,
    report: bytes | None = None,
) -> Path:
    """Write a folder; `change` may edit the certificate in place before it is written."""
    content = data_bytes(form, rows) if data is None else data
    content = packed(content) if gz else content
    paths = ("\n".join(PATHS) + "\n").encode() if hierarchy is None else hierarchy
    promise = {"model": "km", "k": 2, "m": 2} if guarantee is None else guarantee
    certificate = certificate_for(form, content, paths, gz=gz, records=len(rows), guarantee=promise)
    page = report_bytes(certificate) if report is None else report
    certificate["report"] = {"file": "report.html", "sha256": sha256(page)}
    change(certificate)
    folder.mkdir(exist_ok=True)
    (folder / certificate["data"]["file"]).write_bytes(content)
    (folder / "report.html").write_bytes(page)
    (folder / "hierarchy.csv").write_bytes(paths)
    (folder / "certificate.json").write_bytes(spelled(certificate))
    return folder
