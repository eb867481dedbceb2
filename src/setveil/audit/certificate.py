"""The certificate as the audit reads it: known keys only, in the one spelling JSON output has."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import date
from typing import Any

from ..errors import UsageError
from ..model.guarantees import (
    AnyGuarantee,
    BucketGuarantee,
    Guarantee,
    HiddenPatterns,
    guarantee_from_dict,
)
from .promises import traits_of
from .published import HIERARCHY, decode, label_fault, refuse

NAME = "certificate.json"
REPORT, RULES = "report.html", "rules.csv"
QUASI, SENSITIVE, JOINED = "quasi.csv", "sensitive.csv", "data.csv"

KEYS = {
    *("certificate", "tool", "guarantee", "promised", "not_promised", "data", "hierarchy", "method"),
    *("recoding", "loss", "verdict", "verify"),
}
NEW_KEYS = {1: set[str](), 2: {"report", "terms", "evidence"}}
"""What each version of the certificate has besides; version 1 knows no report."""
OPTIONAL_KEYS = {"date", "suppressed", "rules", "domain"}
CRITERIA = ("inference", "linkability", "singling_out")

NAMES_OF_FORMAT = {
    "baskets": "data.csv",
    "long": "data.csv",
    "onehot": "data.csv",
    "fimi": "data.dat",
    "jsonl": "data.jsonl",
    "parquet": "data.parquet",
    "table": "data.csv",
}
DELIMITED = ("baskets", "long", "onehot", "table")
HEX = "[0-9a-f]{64}"
CHANCE = r"0\.0{0,300}[1-9][0-9]{0,3}"
"""A chance as it is told: above 0 and below 1, up to four digits, none at the end that says nothing."""


def read_certificate(content: bytes) -> tuple[dict[str, Any], AnyGuarantee]:
    """Return the certificate, checked but for its words, and its guarantee, or raise `DataError`."""
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
        what = "the certificate is not spelled as the tool spells it (order, spaces, escapes)."
        raise refuse(what, NAME, line, code="certificate-spelling")
    version = plain.get("certificate", 0)
    need(_is_int(version) and version in NEW_KEYS, "certificate must be 1 or 2")
    _need_keys(plain, KEYS | NEW_KEYS[version], "the certificate", OPTIONAL_KEYS)
    _check_head(plain)
    need(isinstance(plain["data"], dict), "data must be an object")
    return plain, _CHECKS[plain["recoding"]](plain)


def hash_of_file(plain: Mapping[str, Any]) -> dict[str, str]:
    """Return the files that a certificate names, with their hashes."""
    data = plain["data"]
    parts = [plain["hierarchy"], *data.get("parts", [data]), data.get("sensitive", {})]
    parts += [plain.get(name, {}) for name in ("rules", "report")]
    return {part["file"]: part["sha256"] for part in parts if "file" in part}


def check_counts(plain: Mapping[str, Any], records: int) -> None:
    """Raise `DataError` unless a certificate about sets tells the number of records as it may."""
    told, promise = plain["data"]["records"], plain["guarantee"]
    fewest, band = promise.get("k", 0), f"<{promise.get('k')}"
    right = told == records and _is_int(told) if records >= fewest else told == band
    need(right, "data.records does not agree with the data")
    if "suppressed" not in plain:
        return
    # Few items or records left out are told as a band only; many records are never left out.
    _need_keys(plain["suppressed"], {"items", "records"}, "suppressed")
    least = promise.get("k", promise.get("l"))
    items, left_out = plain["suppressed"]["items"], plain["suppressed"]["records"]
    right = items == f"<{least}" or (_is_int(items) and items >= least)
    need(right, "suppressed.items must be a band or a number that is not small")
    right = left_out == f"<{least}" or (_is_int(left_out) and left_out == 0)
    need(right, "suppressed.records must be 0 or a band")


def _check_head(plain: Mapping[str, Any]) -> None:
    tool = plain["tool"]
    _need_keys(tool, {"name", "version"}, "tool")
    need(tool["name"] == "setveil", "tool.name must be setveil")
    version = r"[0-9]+(\.[0-9]+)*([a-z]+[0-9]*)?(\.dev[0-9]+)?"
    need(_is_text(tool["version"], version), "tool.version is not a version")
    for key in ("promised", "not_promised"):
        _need_sentences(plain[key], key)
    need(_is_text(plain["method"], r"[a-z][a-z0-9_-]{0,40}"), "method is not a name")
    recoding = plain["recoding"]
    known = isinstance(recoding, str) and recoding in _CHECKS
    need(known, "recoding must be global, local, buckets or pair")
    loss = plain["loss"]
    need(isinstance(loss, dict), "loss must be an object")
    for name, value in loss.items():
        need(name in ("ncp", "lm"), "loss knows ncp and lm only")
        number = isinstance(value, int | float) and not isinstance(value, bool)
        right = number and 0 <= value <= 1 and round(value, 2) == value
        need(right, "loss must be rounded to two digits, between 0 and 1")
    if "domain" in plain:
        need(plain["domain"] == "hierarchy" and loss, "domain must be hierarchy, and is of a loss")
    verdict = plain["verdict"]
    _need_keys(verdict, {"verifier", "mode", "holds"}, "verdict")
    need(verdict["verifier"] == "setveil.audit", "verdict.verifier is unknown")
    need(verdict["mode"] in ("exact", "cover"), "verdict.mode must be exact or cover")
    need(verdict["holds"] is True, "verdict.holds must be true")
    need(plain["verify"] == "setveil audit <folder>", "verify is not the known command")
    if "date" in plain:
        try:
            right = date.fromisoformat(plain["date"]).isoformat() == plain["date"]
        except (TypeError, ValueError):
            right = False
        need(right, "date is not an ISO date")
    _need_file(plain["hierarchy"], HIERARCHY, "hierarchy")
    if "report" in plain:
        _need_file(plain["report"], REPORT, "report")
        _check_words(plain["terms"], plain["evidence"])


def _check_words(terms: Any, evidence: Any) -> None:
    """The words for what was done and shown, which `words` judges as far as they can be."""
    _need_keys(terms, {"standard", "techniques", "privacy_model", "truthfulness"}, "terms")
    need(terms["standard"] == "ISO/IEC 20889:2018", "terms.standard is unknown")
    _need_sentences(terms["techniques"], "terms.techniques")
    for key in ("privacy_model", "truthfulness"):
        need(_is_text(terms[key]), f"terms.{key} must be a sentence")
    _need_keys(evidence, set(CRITERIA), "evidence")
    for criterion in CRITERIA:
        _need_keys(evidence[criterion], {"shown", "not_shown"}, f"evidence.{criterion}")
        for key in ("shown", "not_shown"):
            _need_sentences(evidence[criterion][key], f"evidence.{criterion}.{key}")


def _check_sets(plain: Mapping[str, Any]) -> Guarantee:
    """Return the guarantee of a certificate about records as sets, and check its data."""
    data = plain["data"]
    form = _known_format(data, {"file", "sha256", "records"})
    name = NAMES_OF_FORMAT[form]
    need(data["file"] in (name, name + ".gz"), f"data.file must be {name} or {name}.gz")
    _need_hash(data["sha256"])
    records = data["records"]
    need(isinstance(records, str) or _is_int(records), "data.records must be a number or a band")
    if form == "table":
        _check_columns(data["columns"])
    need("rules" not in plain, "rules belong to tables in buckets")
    guarantee: Guarantee = _promised(plain["guarantee"], "sets")
    return guarantee


def _known_format(data: Any, keys: set[str], optional: Collection[str] = ()) -> str:
    """Return the format of records as sets, after a look at what every format has."""
    form = data.get("format")
    need(isinstance(form, str) and form in NAMES_OF_FORMAT, "data.format is unknown")
    keys = keys | {"format"} | ({"delimiter"} if form in DELIMITED else set())
    if form == "table":
        _need_keys(data, keys | {"columns"}, "data", optional)
    else:
        _need_keys(data, keys, "data")
    if form in DELIMITED:
        delimiter = data["delimiter"]
        right = _is_text(delimiter, r"\t|[ -~]") and delimiter not in '"01'
        what = "a tab or one printable ASCII character, not a quote, 0 or 1"
        need(right, f"data.delimiter must be {what}")
    return str(form)


def _check_columns(columns: Any) -> None:
    need(isinstance(columns, list) and columns, "data.columns must be a list")
    for column in columns:
        need(isinstance(column, dict), "a column must be an object")
        is_set = column.get("kind") == "set"
        _need_keys(column, {"name", "kind"} | ({"separator"} if is_set else set()), "a column")
        known = column["kind"] in ("kept", "set", "unprotected")
        need(known, "a column's kind must be kept, set or unprotected")
        need(_is_text(column["name"]), "a column needs a name")
        if is_set:
            mark = column["separator"]
            right = _is_text(mark) and set(mark).isdisjoint('"\r\n\0\ufeff')
            need(right, "a separator must be text without quotes, line ends, NUL and byte order marks")
    covered = any(column["kind"] != "unprotected" for column in columns)
    need(covered, "some column must be covered by the promise")
    names = [column["name"] for column in columns]
    need(len(set(names)) == len(names), "two columns have the same name")


def _check_buckets(plain: Mapping[str, Any]) -> BucketGuarantee:
    """Return the guarantee of a certificate about a table in buckets, and check its data."""
    _need_report(plain)
    guarantee: BucketGuarantee = _promised(plain["guarantee"], "buckets")
    data = plain["data"]
    keys = {"file", "sha256", "format", "records", "delimiter", "columns", "bucket", "sensitive"}
    _need_keys(data, keys, "data")
    file = {"buckets": QUASI, "joined": JOINED}.get(str(data["format"]))
    need(file, "data.format must be buckets or joined")
    need(data["file"] == file, "data.file is not the known one")
    _need_hash(data["sha256"])
    need(data["delimiter"] == ",", "data.delimiter must be a comma")
    secret, columns, joined = data["sensitive"], data["columns"], file == JOINED
    if joined:
        _need_keys(secret, {"column"}, "sensitive")
    else:
        _need_file(secret, SENSITIVE, "sensitive", {"column", "count"})
    need(isinstance(columns, list) and columns, "data.columns must be a list")
    names = [*columns, data["bucket"], secret["column"], *([] if joined else [secret["count"]])]
    need(_are_names(names), "columns need names, each its own")
    # The names that setveil gives, made longer only where the table has them already.
    for given, usual in [(data["bucket"], "bucket"), *([] if joined else [(secret["count"], "count")])]:
        name = usual
        while name in (*columns, secret["column"]):
            name += "_"
        need(given == name, f"the added column must be named {name}")
    has_rules = traits_of(guarantee).has_rules
    need(("rules" in plain) == has_rules, "rules belong to matching diversity, and to it alone")
    if has_rules:
        _check_rules(plain["rules"], columns, plain["promised"])
    need(plain["loss"] == {}, "loss must be empty: nothing is generalized")
    need("suppressed" not in plain, "nothing is suppressed in buckets")
    return guarantee


def _check_rules(rules: Any, columns: Sequence[str], promised: Sequence[str]) -> None:
    _need_file(rules, RULES, "rules", optional={"complete"})
    chances = rules.get("complete", [])
    right = isinstance(chances, list) and len(chances) <= len(columns)
    right = right and all(chance is None or _is_text(chance, CHANCE) for chance in chances)
    need(right, "rules.complete must be a list of chances below 1")
    together = any(chances) == ("rules.complete" in " ".join(promised))
    need(together, "rules.complete and the promise about rules that are missing belong together")


def _check_pair(plain: Mapping[str, Any]) -> HiddenPatterns:
    """Return the guarantee of a certificate about two data sets, and check its data."""
    _need_report(plain)
    guarantee: HiddenPatterns = _promised(plain["guarantee"], "pairs")
    data = plain["data"]
    form = _known_format(data, {"parts"}, {"classes"})
    if form == "table":
        need(data["delimiter"] == ",", "data.delimiter must be a comma")
        need(_are_names(data["columns"]), "data.columns must be names, each its own")
    if "classes" in data:
        _check_classes(data["classes"], data["columns"])
    parts = data["parts"]
    need(isinstance(parts, list) and len(parts) == 2, "data.parts must be two")
    for number, part in enumerate(parts, 1):
        _need_keys(part, {"file", "sha256", "records"}, f"data.parts {number}")
        _need_hash(part["sha256"])
        need(_is_int(part["records"]), "data.parts: records is no number")
    names = tuple(NAMES_OF_FORMAT[form].replace(".", f"-{number}.", 1) for number in (1, 2))
    packed = tuple(f"{name}.gz" for name in names if not name.endswith(".parquet"))
    right = tuple(part["file"] for part in parts) in (names, packed)
    need(right, f"data.parts must be {names[0]} and {names[1]}, packed or not, but alike")
    need(plain["verdict"]["mode"] == "exact", "verdict.mode must be exact")
    need(plain["loss"] == {}, "loss must be empty: it depends on the originals")
    for key in ("rules", "suppressed"):
        need(key not in plain, f"{key} has no place in a release of two data sets")
    return guarantee


def _check_classes(classes: Any, columns: Sequence[str]) -> None:
    """The column that split a table in two is none of the published ones."""
    _need_keys(classes, {"column", "values"}, "data.classes")
    column, values = classes["column"], classes["values"]
    need(_are_names(values), "data.classes.values must be names, each its own")
    need(len(values) == 2, "data.classes.values must be two")
    need(_is_text(column), "data.classes.column must be names, each its own")
    need(column not in columns, "data.classes.column is published")
    need(not any(map(label_fault, (column, *values))), "data.classes names what no file can hold")


_CHECKS: Mapping[str, Callable[[Mapping[str, Any]], AnyGuarantee]] = {
    "global": _check_sets,
    "local": _check_sets,
    "buckets": _check_buckets,
    "pair": _check_pair,
}
"""What a certificate with each recoding has to be besides."""


def _need_report(plain: Mapping[str, Any]) -> None:
    need("report" in plain, "certificate must be 2 for buckets and pairs")


def _promised(plain: Any, kind: Any) -> Any:
    """Return the guarantee that a certificate names, in its plain form and in no other."""
    try:
        if not isinstance(plain, dict):
            raise UsageError("the guarantee is not an object.")
        guarantee = guarantee_from_dict(plain, kind)
    except UsageError as error:
        what = error.problems[0].what
        raise refuse(f"guarantee: {what}", NAME, code="certificate-guarantee") from None
    need(guarantee.as_dict() == plain, "guarantee is not in its plain form")
    return guarantee


def need(condition: object, what: str) -> None:
    """Raise `DataError` about the certificate unless the condition holds."""
    if not condition:
        raise refuse(what + ".", NAME, code="certificate-content")


def _is_int(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_text(value: object, pattern: str = ".+") -> bool:
    return isinstance(value, str) and re.fullmatch(pattern, value, re.DOTALL) is not None


def _are_names(names: Any) -> bool:
    """Tell whether a value is a list of names, at least one, each its own."""
    return isinstance(names, list) and all(map(_is_text, names)) and 0 < len(names) == len(set(names))


def _need_hash(value: object) -> None:
    need(_is_text(value, HEX), "sha256 must be 64 hex digits")


def _need_file(
    part: Any, name: str, where: str, more: Collection[str] = (), optional: Collection[str] = ()
) -> None:
    """Raise `DataError` unless an object tells a file of this name and its hash."""
    _need_keys(part, {"file", "sha256", *more}, where, optional)
    need(part["file"] == name, f"{where}.file must be {name}")
    _need_hash(part["sha256"])


def _need_keys(plain: object, keys: set[str], where: str, optional: Collection[str] = ()) -> None:
    """Raise `DataError` unless an object has these keys, and none but these and the optional ones."""
    if not isinstance(plain, dict):
        raise refuse(f"{where} must be an object.", NAME, code="certificate-content")
    unknown = sorted(set(plain) - keys - set(optional))
    if unknown:
        raise refuse(f"unknown key {unknown[0][:40]!r} in {where}.", NAME, code="certificate-key")
    missing = sorted(keys - set(plain))
    if missing:
        raise refuse(f"{where} lacks the key {missing[0]!r}.", NAME, code="certificate-key")


def _need_sentences(value: object, where: str) -> None:
    need(isinstance(value, list) and all(map(_is_text, value)), f"{where} must be a list of sentences")


def _no_constant(name: str) -> None:
    raise ValueError(name)
