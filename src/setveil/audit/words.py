"""What a release says in words, as far as the audit judges: the certificate's sentences and the page.

What a sentence says cannot be proven, but the numbers in it can be compared: whoever lowers k in the
guarantee and leaves the words as they were promises more than was counted. So every number in the
promise, in the name of the privacy model and in the evidence must be one of the guarantee's.

Of two data sets numbers are not enough: growth and support could change places, and whether values
count at every level is told by words alone. So the audit writes the sentences itself, from the
guarantee, by templates of its own: what is promised, named and shown must be these word by word, and
what is not promised must begin with them. The other sentences name no number and no level.

What a page may be made of is spelled out here, and everything else is refused: scripts, forms, frames,
pictures, comments, addresses, event handlers, style attributes, another style sheet, a second spelling
of the same content. The grammar is so narrow that a browser cannot read it in another way. Labels
stand in ``bdi`` elements, and must be published ones. What remains unchecked is the wording: sentences
and numbers beyond those compared here are the publisher's word. Of two data sets more is compared: the
title and the first heading name the promise as the audit does, the lead is a sentence of it, no other
heading has a number, and growth, patterns and levels are named by the certificate's sentences alone.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Collection, Mapping
from fractions import Fraction
from typing import Any

from ..errors import DataError
from .certificate import REPORT, need
from .promises import PROMISES
from .published import decode, refuse

_NUMBER = re.compile(r"[0-9]+")
_NAMES = frozenset({"k", "m", "l", "h", "p"})
_CLAIM_OF_SENTENCE = re.compile("[0-9]|every level|every category", re.IGNORECASE)
"""What a sentence about two data sets holds only where it is one of the templates."""


def check_words(certificate: Mapping[str, Any]) -> None:
    """Raise `DataError` unless the sentences are there and name no number but the guarantee's."""
    guarantee = certificate["guarantee"]
    if PROMISES[guarantee["model"]].is_worded:
        _check_pair_words(certificate)
        return
    own = {name: _NUMBER.findall(str(guarantee[name])) for name in _NAMES & set(guarantee)}
    known = {"1", *(number for numbers in own.values() for number in numbers)}
    known.add(str(guarantee.get("k", 2) - 1))
    promised = certificate["promised"]
    need(promised and certificate["not_promised"], "promised and not_promised must not be empty")
    told = set(_NUMBER.findall(" ".join(promised)))
    need(told <= known, "promised names a number that is not the guarantee's")
    # A parameter of 1 is told in words ("one thing") as well as in digits.
    needed = {number for numbers in own.values() for number in numbers if number != "1"}
    need(needed <= told, "promised does not name the guarantee's numbers")
    # The first version of the certificate has neither terms nor evidence.
    shown = [certificate.get("terms", {}).get("privacy_model", "")]
    shown += [text for found in certificate.get("evidence", {}).values() for text in found["shown"]]
    told = set(_NUMBER.findall(" ".join(shown)))
    need(told <= known, "the terms or the evidence name a number that is not the guarantee's")


def _check_pair_words(certificate: Mapping[str, Any]) -> None:
    """The sentences about two data sets are those of the templates; the rest claims nothing."""
    guarantee, terms, evidence = (certificate[key] for key in ("guarantee", "terms", "evidence"))
    right = certificate["promised"] == pair_promise(guarantee)
    need(right, "promised does not say what the guarantee says, word by word")
    limits = _pair_limits(guarantee, classes="classes" in certificate["data"])
    right = certificate["not_promised"][: len(limits)] == limits
    need(right, "not_promised does not begin with what the guarantee leaves open, word by word")
    growth, support = guarantee["growth"], _told_support(guarantee["min_support"])
    model = "None of the formal privacy measurement models: what is hidden are emerging patterns of "
    model += f"two data sets, of growth {growth} or more in {support}."
    right = terms["privacy_model"] == model
    need(right, "terms.privacy_model does not say what the guarantee says, word by word")
    shown = f"No set of published values in {support} is {growth} times as frequent in one data set as "
    shown += "in the other, so none of them tells the two apart by that much."
    right = {name: found["shown"] for name, found in evidence.items() if found["shown"]} == {
        "inference": [shown]
    }
    need(right, "evidence shows something else than the guarantee, word by word")
    others = [*certificate["not_promised"][len(limits) :], *terms["techniques"], terms["truthfulness"]]
    others += [sentence for found in evidence.values() for sentence in found["not_shown"]]
    claims = any(map(_CLAIM_OF_SENTENCE.search, others))
    need(not claims, "a sentence beside the promise names a number or a level")


def pair_name(guarantee: Mapping[str, Any]) -> str:
    """Return what the promise about two data sets is called in the headings of the report."""
    level = " at every level" if guarantee.get("every_level") else ""
    return f"no pattern of growth {guarantee['growth']} or more{level}"


def pair_promise(guarantee: Mapping[str, Any]) -> list[str]:
    """Return the sentences that promise this guarantee of two data sets, and no others do."""
    growth, support = guarantee["growth"], _told_support(guarantee["min_support"])
    counted, read = "Values count as they stand in the files.", "taken as they stand"
    if guarantee.get("every_level"):
        counted, read = "A value also counts for every category above it.", "read at every level"
    return [
        f"Whatever set of published values is in {support} of one data set, its share of the records "
        f"there is less than {growth} times its share of the records of the other. {counted}",
        f"Whoever compares the two data sets, values {read}, finds no emerging pattern of growth "
        f"{growth} or more that is in {support} of either.",
    ]


def _pair_limits(guarantee: Mapping[str, Any], *, classes: bool) -> list[str]:
    """Return what has to be said first of what is not promised."""
    limits = [
        "Nothing about single people: a record may be the only one that fits what is known, in either "
        "data set.",
        "Nothing about rare sets of values, below the minimum support, nor about smaller differences "
        "than the growth named.",
    ]
    if not guarantee.get("every_level"):
        limits.append(
            "Nothing against reading a value as every category above it: a pattern may show once "
            "values are raised to the same level."
        )
    if classes:
        limits.append(
            "Nothing about the class: which of the two classes a record belongs to is told by its file."
        )
    return limits


def _told_support(support: str | int) -> str:
    """Return the minimum support in words: a number is a count, a text a share."""
    if isinstance(support, int):
        return "at least 1 record" if support == 1 else f"at least {support} records"
    if support == "1":
        return "all records"
    percent = Fraction(support) * 100
    share = f"{percent} %" if percent.denominator == 1 else support
    return f"at least {share} of the records"


LARGEST = 4 * 2**20

KNOWN_SHEETS = frozenset(
    {
        "762bde97c3f5a4174bd616fa2d64370624488cbc4f3f7111c24d7e3ed6cc8e3c",
        "37700020814111e04b338dad571109a63c53be61362db4500e6c97f9ed87b667",
    }
)
"""The SHA-256 of every style sheet that setveil wrote into a public report, the newest last."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


ELEMENTS = _words(
    "title header main section footer nav div figure figcaption h1 h2 h3 p ul "
    "li dl dt dd table caption thead tbody tr th td span strong em sup code pre bdi a svg g path rect "
    "line circle ellipse polyline polygon text tspan desc defs marker"
)
LONGEST_LABEL = 60
"""A longer label is cut, with an ellipsis as its last character."""
ATTRIBUTES = _words(
    "class id lang charset name content http-equiv href scope colspan role tabindex aria-label "
    "aria-hidden xmlns viewBox preserveAspectRatio width height x y x1 y1 x2 y2 cx cy r rx ry d points "
    "dx dy fill stroke stroke-width stroke-dasharray stroke-linecap stroke-linejoin fill-opacity "
    "stroke-opacity opacity font-family font-size font-weight font-style text-anchor text-decoration "
    "dominant-baseline transform marker-end refX refY markerWidth markerHeight orient"
)
START, END = '\n</head>\n<body class="public">\n', "\n</body>\n</html>\n"
METAS = (
    '<meta charset="utf-8">',
    '<meta http-equiv="Content-Security-Policy" content="{policy}">',
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    '<meta name="referrer" content="no-referrer">',
)
_TOKEN = re.compile(
    r'<(?P<end>/?)(?P<name>[A-Za-z][A-Za-z0-9]*)(?P<attributes>(?: [A-Za-z][A-Za-z0-9-]*="[^"<>]*")*)'
    r"(?P<closed>/?)>|(?P<text>[^<>]+)"
)
_ATTRIBUTE = re.compile(r' ([A-Za-z][A-Za-z0-9-]*)="([^"<>]*)"')
READ_FIRST = _words("h1 h2 h3 lead")
_CLAIM_OF_TEXT = re.compile("grow|pattern|level|times", re.IGNORECASE)
"""What a text about two data sets says only where it is one of the certificate's sentences."""
_REFERENCE = re.compile(r"&(?!(?:amp|lt|gt|quot);)")


def check_report(content: bytes, certificate: Mapping[str, Any], labels: Collection[str]) -> None:
    """Raise `DataError` unless the bytes are a page as a release may hold.

    The certificate has been checked; `labels` are all that the page may show, columns included.
    """
    text = decode(content, REPORT)
    head, start, rest = text.partition(START)
    if not start or not rest.endswith(END):
        raise _wrong("the page has no head, or something follows its end.", None, "report-head")
    title = _check_head(head)
    scan = _Scan(rest.removesuffix(END), 1 + head.count("\n") + start.count("\n"))
    scan.run()
    known = {_shown(label) for label in labels}
    for label, line in scan.labels:
        if label not in known and not _starts_one(label, known):
            raise _wrong("a label is shown that the release does not publish.", line, "report-label")
    said = set(scan.texts)
    data = certificate["data"]
    for file, parts in (("data", data.get("parts", [data])), ("hierarchy", [certificate["hierarchy"]])):
        if not {part["sha256"] for part in parts} <= said:
            raise _wrong(f"the hash of the {file} is not told.", None, "report-content")
    for key in ("promised", "not_promised"):
        for sentence in certificate[key]:
            if _shown(sentence) not in said:
                raise _wrong(f"a sentence of {key} is missing.", None, "report-content")
    if PROMISES[certificate["guarantee"]["model"]].is_worded:
        _check_pair_page(title, scan, certificate)


def _check_pair_page(title: str, scan: _Scan, certificate: Mapping[str, Any]) -> None:
    """The page about two data sets claims what its certificate does, which was checked before."""
    name, evidence = pair_name(certificate["guarantee"]), certificate["evidence"]
    heading = f"{name[:1].upper()}{name[1:]}, verified"
    headings = {kind: scan.said_in(kind) for kind in ("h1", "h2", "h3")}
    if title != f"Release report: {name}" or headings["h1"] != [heading]:
        raise _wrong("title and first heading do not name the promise.", None, "report-words")
    if any(sign.isdigit() for text in headings["h2"] + headings["h3"] for sign in text):
        raise _wrong("a heading names a number.", None, "report-words")
    if not set(scan.said_in("lead")) <= set(certificate["promised"]):
        raise _wrong("the lead is no sentence of promised.", None, "report-words")
    terms = certificate["terms"]
    known = {heading, *certificate["promised"], *certificate["not_promised"], certificate["method"]}
    known |= {*terms["techniques"], terms["privacy_model"], terms["truthfulness"]}
    known |= {sentence for found in evidence.values() for part in found.values() for sentence in part}
    for text, line in scan.free_texts:
        if _CLAIM_OF_TEXT.search(text) and text not in known:
            raise _wrong("growth, patterns or levels are named anew.", line, "report-words")


def _check_head(head: str) -> str:
    """Return the title; the rest of the head is fixed but for the style sheet, one of those known."""
    found = re.fullmatch(
        r"<!doctype html>\n<html lang=\"en\">\n<head>\n(?P<metas>(?:<meta [^<>]*>\n)+)"
        r"<title>(?P<title>[^<>\n]+)</title>\n<style>(?P<style>[^<&]*)</style>",
        head,
    )
    if found is None:
        raise _wrong("the head is not the one that setveil writes.", 1, "report-head")
    style = found["style"].encode()
    digest = hashlib.sha256(style)
    if digest.hexdigest() not in KNOWN_SHEETS:
        raise _wrong("the style sheet is none that setveil writes.", None, "report-style")
    source = base64.b64encode(digest.digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{source}'; base-uri 'none'; form-action 'none'"
    if found["metas"] != "".join(meta.format(policy=policy) + "\n" for meta in METAS):
        raise _wrong("the head is not the one that setveil writes.", 3, "report-head")
    _check_text(found["title"], 1)
    return _plain(found["title"])


class _Scan:
    """One walk over the body: elements closed in order, attributes known, texts and labels kept."""

    def __init__(self, body: str, line: int) -> None:
        self.body, self.line = body, line
        self.open: list[str] = []
        self.texts: list[str] = []
        self.labels: list[tuple[str, int]] = []
        self.free_texts: list[tuple[str, int]] = []
        self._said: list[tuple[str, list[str]]] = []
        self._within: list[tuple[int, list[str]]] = []

    def run(self) -> None:
        """Walk to the end, or raise `DataError` at the first thing that has no place here."""
        place = 0
        while place < len(self.body):
            token = _TOKEN.match(self.body, place)
            if token is None:
                raise _wrong("here is something that no report holds.", self.line, "report-markup")
            if token["text"] is not None:
                self._text(token["text"])
            else:
                self._tag(token)
            self.line += token[0].count("\n")
            place = token.end()
        if self.open:
            raise _wrong(f"<{self.open[-1]}> is not closed.", self.line, "report-markup")

    def _text(self, text: str) -> None:
        _check_text(text, self.line)
        if self.open and self.open[-1] == "bdi":
            self.labels.append((_plain(text), self.line))
        else:
            self.free_texts.append((_plain(text), self.line))
        for _, parts in self._within:
            parts.append(_plain(text))
        if text.strip("\n"):
            self.texts.append(_plain(text))

    def _tag(self, token: re.Match[str]) -> None:
        name = token["name"]
        if name not in ELEMENTS:
            raise _wrong(f"<{name[:20]}> has no place in a report.", self.line, "report-element")
        if token["end"]:
            if token["attributes"] or token["closed"] or not self.open or self.open.pop() != name:
                raise _wrong(f"</{name}> closes nothing.", self.line, "report-markup")
            self._within = [found for found in self._within if found[0] < len(self.open)]
            return
        seen: set[str] = set()
        kinds = {name}
        for key, value in _ATTRIBUTE.findall(token["attributes"]):
            self._attribute(key, value)
            if key in seen:
                raise _wrong(f"the attribute {key} comes twice.", self.line, "report-attribute")
            seen.add(key)
            if key == "class":
                kinds |= set(value.split())
            elif key == "aria-label":
                self.free_texts.append((_plain(value), self.line))
        if token["closed"] and "svg" not in self.open:
            raise _wrong(f"<{name}/> is spelled wrongly.", self.line, "report-markup")
        if not token["closed"]:
            if self.open and self.open[-1] == "bdi":
                raise _wrong("a label holds markup.", self.line, "report-markup")
            for kind in kinds & READ_FIRST:
                self._said.append((kind, []))
                self._within.append((len(self.open), self._said[-1][1]))
            self.open.append(name)

    def said_in(self, kind: str) -> list[str]:
        """Return the text of each element of a kind that is read first, a heading or the lead."""
        return ["".join(parts) for name, parts in self._said if name == kind]

    def _attribute(self, key: str, value: str) -> None:
        _check_text(value, self.line)
        right = key in ATTRIBUTES
        if key == "href":
            right = re.fullmatch("#[a-z-]+", value) is not None
        elif key == "xmlns":
            right = value == "http://www.w3.org/2000/svg"
        elif key == "marker-end":
            right = value == "url(#head)"
        elif "url(" in value.lower() or "javascript:" in value.lower():
            right = False
        if not right:
            raise _wrong(f"the attribute {key[:20]} has no place here.", self.line, "report-attribute")


def _check_text(text: str, line: int) -> None:
    if _REFERENCE.search(text):
        raise _wrong("a character is spelled in an unusual way.", line, "report-text")
    for sign in text:
        if not sign.isprintable() and sign != "\n":
            raise _wrong("a character that cannot be seen is in the text.", line, "report-text")


def _plain(text: str) -> str:
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", '"').replace("&amp;", "&")


def _shown(label: str) -> str:
    """Return a label as a page shows it: with a sign for each character that cannot be seen."""
    if label.isprintable():
        return label
    return "".join(sign if sign.isprintable() else "\ufffd" for sign in label)


def _starts_one(label: str, known: Collection[str]) -> bool:
    cut = len(label) == LONGEST_LABEL and label.endswith("…")
    return cut and any(name.startswith(label[:-1]) for name in known)


def _wrong(what: str, line: int | None, code: str) -> DataError:
    return refuse(what, REPORT, line, code=code)
