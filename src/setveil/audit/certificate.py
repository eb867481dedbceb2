"""The certificate as the audit reads it: known keys only, in the one spelling JSON output has."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from datetime import date
from typing import Any, TypeVar

from ..errors import UsageError
from ..model.guarantees import (
    BucketGuarantee,
    Guarantee,
    HiddenPatterns,
    LmDiversity,
    guarantee_from_dict,
)
from .spelling import decode, refuse

NAME = "certificate.json"

KEYS = frozenset(
    {
        "certificate",
        "tool",
        "guarantee",
        "promised",
        "not_promised",
        "data",
        "hierarchy",
        "method",
        "recoding",
        "loss",
        "verdict",
        "verify",
    }
)
NEW_KEYS = {1: frozenset[str](), 2: frozenset({"report", "terms", "evidence"})}
"""What each version of the certificate has besides; version 1 knows no report."""
OPTIONAL_KEYS = frozenset({"date", "suppressed", "rules", "domain"})
CRITERIA = frozenset({"singling_out", "linkability", "inference"})

NAMES_OF_FORMAT = {
    "baskets": "data.csv",
    "long": "data.csv",
    "onehot": "data.csv",
    "fimi": "data.dat",
    "jsonl": "data.jsonl",
    "parquet": "data.parquet",
    "table": "data.csv",
}
DELIMITED = frozenset({"baskets", "long", "onehot", "table"})
Promise = TypeVar("Promise", Guarantee, BucketGuarantee, HiddenPatterns)
HEX = re.compile(r"[0-9a-f]{64}")


def read_certificate(content: bytes) -> dict[str, Any]:
    """Return the certificate, all checked but its data and its guarantee, or raise `DataError`.

    Parameters
    ----------
    content
        The bytes of ``certificate.json``.
    """
    text = decode(content, NAME)
    try:
        plain = json.loads(text, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        raise refuse("the certificate is not JSON.", NAME, code="certificate-json") from None
    if not isinstance(plain, dict):
        raise refuse("the certificate is not an object.", NAME, code="certificate-json")
    try:
        canonical = json.dumps(plain, sort_keys=True, indent=2, ensure_ascii=False) + "\n"
    except RecursionError:
        raise refuse("the certificate nests too deeply.", NAME, code="certificate-json") from None
    if canonical != text:
        pairs = zip(canonical.split("\n"), text.split("\n"), strict=False)
        line = next((n for n, (want, got) in enumerate(pairs, 1) if want != got), 1)
        raise refuse(
            "the certificate is not spelled as the tool spells it (order, spaces, escapes).",
            NAME,
            line,
            code="certificate-spelling",
        )
    version = plain.get("certificate", 0)
    need(_is_int(version) and version in NEW_KEYS, "certificate must be 1 or 2")
    need_keys(plain, KEYS | NEW_KEYS[version], "the certificate", OPTIONAL_KEYS)
    _check_head(plain)
    need(isinstance(plain["data"], dict), "data must be an object")
    return plain


def check_sets(plain: Mapping[str, Any]) -> Guarantee:
    """Return the guarantee of a certificate about records as sets, and check its data."""
    _check_data(plain["data"])
    need("rules" not in plain, "rules belong to tables in buckets")
    return named_guarantee(plain["guarantee"], guarantee_from_dict)


def named_guarantee(plain: object, read: Callable[[Mapping[str, object]], Promise]) -> Promise:
    """Return the guarantee that a certificate names, in its plain form and in no other."""
    try:
        if not isinstance(plain, dict):
            raise UsageError("the guarantee is not an object.")
        guarantee = read(plain)
    except UsageError as error:
        what = error.problems[0].what
        raise refuse(f"guarantee: {what}", NAME, code="certificate-guarantee") from None
    need(guarantee.as_dict() == plain, "guarantee is not in its plain form")
    return guarantee


def check_counts(plain: Mapping[str, Any], guarantee: Guarantee, records: int) -> None:
    """Raise `DataError` unless the certificate tells the number of records as it may be told."""
    told = plain["data"]["records"]
    if isinstance(guarantee, LmDiversity):
        right = told == records
    elif records >= guarantee.k:
        right = told == records and isinstance(told, int)
    else:
        right = told == f"<{guarantee.k}"
    need(right, "data.records does not agree with the data")
    if "suppressed" in plain:
        _check_suppressed(plain["suppressed"], guarantee)


def _check_suppressed(suppressed: Any, guarantee: Guarantee) -> None:
    """Few items or records left out are told as a band only; many records are never left out."""
    need_keys(suppressed, frozenset({"items", "records"}), "suppressed")
    least = guarantee.l if isinstance(guarantee, LmDiversity) else guarantee.k
    items, records = suppressed["items"], suppressed["records"]
    need(
        items == f"<{least}" or (_is_int(items) and items >= least),
        "suppressed.items must be a band or a number that is not small",
    )
    need(
        records == f"<{least}" or (_is_int(records) and records == 0),
        "suppressed.records must be 0 or a band",
    )


def _check_head(plain: Mapping[str, Any]) -> None:
    tool = plain["tool"]
    need_keys(tool, frozenset({"name", "version"}), "tool")
    need(tool["name"] == "setveil", "tool.name must be setveil")
    need(
        isinstance(tool["version"], str)
        and re.fullmatch(r"[0-9]+(\.[0-9]+)*([a-z]+[0-9]*)?(\.dev[0-9]+)?", tool["version"]),
        "tool.version is not a version",
    )
    for key in ("promised", "not_promised"):
        _need_sentences(plain[key], key)
    need(
        isinstance(plain["method"], str) and re.fullmatch(r"[a-z][a-z0-9_-]{0,40}", plain["method"]),
        "method is not a name",
    )
    need(
        plain["recoding"] in ("global", "local", "buckets", "pair"),
        "recoding must be global, local, buckets or pair",
    )
    need(
        "report" in plain or plain["recoding"] in ("global", "local"),
        "certificate must be 2 for buckets and pairs",
    )
    loss = plain["loss"]
    need(isinstance(loss, dict), "loss must be an object")
    for name, value in loss.items():
        need(name in ("ncp", "lm"), "loss knows ncp and lm only")
        need(
            isinstance(value, int | float)
            and not isinstance(value, bool)
            and 0 <= value <= 1
            and round(value, 2) == value,
            "loss must be rounded to two digits, between 0 and 1",
        )
    if "domain" in plain:
        need(plain["domain"] == "hierarchy" and loss, "domain must be hierarchy, and is of a loss")
    need_keys(plain["verdict"], frozenset({"verifier", "mode", "holds"}), "verdict")
    need(plain["verdict"]["verifier"] == "setveil.audit", "verdict.verifier is unknown")
    need(plain["verdict"]["mode"] in ("exact", "cover"), "verdict.mode must be exact or cover")
    need(plain["verdict"]["holds"] is True, "verdict.holds must be true")
    need(plain["verify"] == "setveil audit <folder>", "verify is not the known command")
    if "date" in plain:
        try:
            right = date.fromisoformat(plain["date"]).isoformat() == plain["date"]
        except (TypeError, ValueError):
            right = False
        need(right, "date is not an ISO date")
    need_keys(plain["hierarchy"], frozenset({"file", "sha256"}), "hierarchy")
    need(plain["hierarchy"]["file"] == "hierarchy.csv", "hierarchy.file must be hierarchy.csv")
    need_hash(plain["hierarchy"]["sha256"])
    if "report" in plain:
        _check_report(plain)


def _check_report(plain: Mapping[str, Any]) -> None:
    """The report, and the words for what was done and shown; the words themselves are not judged."""
    need_keys(plain["report"], frozenset({"file", "sha256"}), "report")
    need(plain["report"]["file"] == "report.html", "report.file must be report.html")
    need_hash(plain["report"]["sha256"])
    terms, evidence = plain["terms"], plain["evidence"]
    named = frozenset({"standard", "techniques", "privacy_model", "truthfulness"})
    need_keys(terms, named, "terms")
    need(terms["standard"] == "ISO/IEC 20889:2018", "terms.standard is unknown")
    _need_sentences(terms["techniques"], "terms.techniques")
    for key in ("privacy_model", "truthfulness"):
        need(isinstance(terms[key], str) and terms[key], f"terms.{key} must be a sentence")
    need_keys(evidence, CRITERIA, "evidence")
    for criterion in sorted(CRITERIA):
        need_keys(evidence[criterion], frozenset({"shown", "not_shown"}), f"evidence.{criterion}")
        for key in ("shown", "not_shown"):
            _need_sentences(evidence[criterion][key], f"evidence.{criterion}.{key}")


def _check_data(data: Any) -> None:
    need(isinstance(data, dict), "data must be an object")
    form = data.get("format")
    need(isinstance(form, str) and form in NAMES_OF_FORMAT, "data.format is unknown")
    keys = {"file", "format", "sha256", "records"}
    if form in DELIMITED:
        keys.add("delimiter")
    if form == "table":
        keys.add("columns")
    need_keys(data, frozenset(keys), "data")
    name = NAMES_OF_FORMAT[form]
    need(data["file"] in (name, name + ".gz"), f"data.file must be {name} or {name}.gz")
    need_hash(data["sha256"])
    need(
        isinstance(data["records"], str) or _is_int(data["records"]),
        "data.records must be a number or a band",
    )
    if form in DELIMITED:
        need_delimiter(data["delimiter"])
    if form == "table":
        _check_columns(data["columns"])


def _check_columns(columns: Any) -> None:
    need(isinstance(columns, list) and columns, "data.columns must be a list")
    for column in columns:
        need(isinstance(column, dict), "a column must be an object")
        is_set = column.get("kind") == "set"
        keys = {"name", "kind"} | ({"separator"} if is_set else set())
        need_keys(column, frozenset(keys), "a column")
        need(
            column["kind"] in ("kept", "set", "unprotected"),
            "a column's kind must be kept, set or unprotected",
        )
        need(isinstance(column["name"], str) and column["name"], "a column needs a name")
        if is_set:
            separator = column["separator"]
            need(
                isinstance(separator, str) and separator and not set(separator) & set('"\r\n\0\ufeff'),
                "a separator must be text without quotes, line ends, NUL and byte order marks",
            )
    need(
        any(column["kind"] != "unprotected" for column in columns),
        "some column must be covered by the promise",
    )
    names = [column["name"] for column in columns]
    need(len(set(names)) == len(names), "two columns have the same name")


def _is_int(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def need(condition: object, what: str) -> None:
    """Raise `DataError` about the certificate unless the condition holds."""
    if not condition:
        raise refuse(what + ".", NAME, code="certificate-content")


def need_hash(value: object) -> None:
    """Raise `DataError` unless the value is a SHA-256 in hex digits."""
    need(isinstance(value, str) and HEX.fullmatch(value), "sha256 must be 64 hex digits")


def need_delimiter(delimiter: object) -> None:
    """Raise `DataError` unless the value can part the cells of a file."""
    need(
        isinstance(delimiter, str)
        and len(delimiter) == 1
        and (delimiter == "\t" or (delimiter.isascii() and delimiter.isprintable()))
        and delimiter not in '"01',
        "data.delimiter must be a tab or one printable ASCII character, not a quote, 0 or 1",
    )


def need_names(names: object, where: str) -> None:
    """Raise `DataError` unless the value is a list of names, at least one, each its own."""
    need(
        isinstance(names, list)
        and names
        and all(isinstance(name, str) and name for name in names)
        and len(set(names)) == len(names),
        f"{where} must be names, each its own",
    )


def need_keys(
    plain: object, keys: frozenset[str], where: str, optional: frozenset[str] = frozenset()
) -> None:
    """Raise `DataError` unless an object has these keys, and none but these and the optional ones."""
    if not isinstance(plain, dict):
        raise refuse(f"{where} must be an object.", NAME, code="certificate-content")
    unknown = sorted(set(plain) - keys - optional)
    if unknown:
        raise refuse(f"unknown key {unknown[0][:40]!r} in {where}.", NAME, code="certificate-key")
    missing = sorted(keys - set(plain))
    if missing:
        raise refuse(f"{where} lacks the key {missing[0]!r}.", NAME, code="certificate-key")


def _need_sentences(value: object, where: str) -> None:
    need(
        isinstance(value, list) and all(isinstance(sentence, str) and sentence for sentence in value),
        f"{where} must be a list of sentences",
    )


def _no_constant(name: str) -> None:
    raise ValueError(name)
