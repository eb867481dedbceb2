"""How pages are put together, and the sections they share, made from the certificate alone.

The certificate is public, so whatever is made of it is: these sections cannot tell more than it does.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ...model import numbers
from ...release.claims import SUPPRESSES_ONLY
from ..html import (
    Content,
    Html,
    bar,
    element,
    join,
    label,
    listed,
    page,
    section,
    table,
    terms_and_meanings,
    text,
)

if TYPE_CHECKING:
    from ...release.buckets import BucketRelease
    from ...release.pair_release import PairRelease

QUESTIONS: Mapping[str, tuple[str, str]] = {
    "singling_out": ("Singling out", "Can one person's record be found?"),
    "linkability": ("Linkability", "Can it be joined with other data about the person?"),
    "inference": ("Inference", "Can something about the person be concluded?"),
}
MEASURES: Mapping[str, tuple[str, str]] = {
    "ncp": (
        "NCP",
        "On average, what is published of an item covers {share} of all items. An item under its own "
        "label counts as 0 %, one that is left out as 100 %.",
    ),
    "lm": (
        "LM",
        "On average, what is published of an item also covers {share} of the other items. The ends "
        "count as for NCP.",
    ),
}

SUPPORTS: Mapping[str, str] = {
    "exact": "exact support: every published label is counted as it stands",
    "cover": "cover support: a label counts for every item that it may stand for",
}
_RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")

Certificate = Mapping[str, Any]

SMALL = 0.5
"""Below this a loss may be taken for more items left as they were than there are."""
ALL_ITEMS = "All items are all of the hierarchy, whether a record held them or not."
SMALL_AND_COARSE = "A small number does not mean that most items kept their own label."


def counted(number: int | str, one: str, many: str | None = None) -> str:
    """Return a number with its noun; a band, such as ``<5``, in words.

    >>> counted(1, "record"), counted(1200, "record"), counted("<5", "record")
    ('1 record', '1,200 records', 'fewer than 5 records')
    """
    if isinstance(number, str):
        return f"fewer than {number.removeprefix('<')} {numbers.plural(0, one, many)}"
    return numbers.counted(number, one, many)


def in_percent(share: float, digits: int = 1) -> str:
    """Return a share in percent, written as everywhere on a page.

    >>> in_percent(0.5), in_percent(0.123, 0)
    ('50.0 %', '12 %')
    """
    return f"{share * 100:.{digits}f} %"


def guarantee_name(plain: Mapping[str, Any]) -> Html:
    """Return the name of a guarantee in the plain form of certificates."""
    match plain["model"]:
        case "km":
            signed = " with negative knowledge" if plain.get("negative") else ""
            return join((str(plain["k"]), element("sup", str(plain["m"])), f"-anonymity{signed}"))
        case "k":
            return text(f"{plain['k']}-anonymity of whole records")
        case "lm":
            return join((str(plain["l"]), element("sup", str(plain["m"])), "-diversity"))
        case "coherence":
            return text(f"({plain['h']} %, {plain['k']}, {plain['p']})-coherence")
        case "l":
            return text(f"{plain['l']}-diversity of buckets")
        case "matching":
            return text(f"matching {plain['l']}-diversity")
        case "patterns":
            level = " at every level" if plain.get("every_level") else ""
            return text(f"no pattern of growth {plain['growth']} or more{level}")
    return text(str(plain["model"]))


def plain_name(plain: Mapping[str, Any]) -> str:
    """Return the same without markup, for titles.

    >>> plain_name({"model": "km", "k": 5, "m": 2})
    '5²-anonymity'
    """
    marked = guarantee_name(plain)
    name = re.sub("<sup>([0-9]+)</sup>", lambda found: found[1].translate(_RAISED), marked)
    return name.replace("&amp;", "&")


def raised(sentence: str) -> Html:
    """Return a sentence with its powers as such.

    >>> raised("as k^m-anonymity")
    'as k<sup>m</sup>-anonymity'
    """
    return Html(re.sub(r"\b([0-9]+|[kl])\^([0-9]+|m)\b", r"\1<sup>\2</sup>", text(sentence)))


def tiled(tiles: Sequence[tuple[str, str]]) -> Html:
    """Return numbers that are read first, each with what it counts."""
    return element(
        "div",
        *(
            element(
                "div",
                element("p", figure, class_="figure"),
                element("p", what, class_="what"),
                class_="tile",
            )
            for figure, what in tiles
        ),
        class_="tiles",
    )


def public_page(certificate: Certificate, head: Html, *parts: Content) -> bytes:
    """Return the page of a release folder: what every release tells around the parts of this one."""
    return page(
        f"Release report: {plain_name(certificate['guarantee'])}",
        head,
        element(
            "main",
            promises(certificate),
            *parts,
            questions(certificate),
            making(certificate),
            verification(certificate),
        ),
        footer(certificate),
    )


def private_page(
    certificate: Certificate, head: Html, *parts: Content, notices: Sequence[str]
) -> bytes:
    """Return the page for the holder of the data: its parts between what every release tells."""
    return page(
        f"Private: release report, {plain_name(certificate['guarantee'])}",
        element(
            "div",
            element("strong", "Personal data. "),
            "This page tells about the original records. Keep it as safe as those, and never publish "
            "it.",
            class_="warning",
        ),
        head,
        element(
            "main",
            promises(certificate),
            *parts,
            section("notices", "Notices", listed(notices) if notices else element("p", "None.")),
            questions(certificate),
            verification(certificate, private=True),
        ),
        footer(certificate),
        private=True,
    )


def head_of(certificate: Certificate, tiles: Sequence[tuple[str, str]], *warnings: Content) -> Html:
    """Return the head of a page: the promise, the figures that are read first, the verdict."""
    name = guarantee_name(certificate["guarantee"])
    if certificate["recoding"] == "pair":
        name = Html(name[:1].upper() + name[1:])
    return element(
        "header",
        element("p", "setveil · report of a release", class_="kind"),
        element("h1", name, ", verified"),
        element("p", certificate["promised"][-1], class_="lead"),
        tiled(tiles),
        verdict(certificate),
        *warnings,
        class_="top",
    )


def run_part(release: BucketRelease | PairRelease, title: str, *told: tuple[Content, Content]) -> Html:
    """Return how the run went: the method, what is told of it, its options and figures."""
    facts: list[tuple[Content, Content]] = [
        ("Method", element("code", release.method)),
        *told,
        *((name.replace("_", " "), str(value)) for name, value in release.options.items()),
        *((name, str(value)) for name, value in release.figures.items()),
    ]
    return section("run", title, terms_and_meanings(facts))


def verdict(certificate: Certificate) -> Html:
    """Return what was verified, and by whom."""
    mode = certificate["verdict"]["mode"]
    if certificate["recoding"] not in ("buckets", "pair"):
        mode = SUPPORTS[mode]
    return element(
        "div",
        element(
            "p",
            element("strong", "✓ The promise holds. "),
            "It was verified on the published files themselves before they were put into place.",
        ),
        element(
            "p",
            "Verifier: ",
            element("code", certificate["verdict"]["verifier"]),
            f" ({mode}), which shares no code with the program that made the release. Do not "
            "take its word for it: the commands at the end repeat the check.",
            class_="small",
        ),
        class_="verdict",
    )


def promises(certificate: Certificate) -> Html:
    """Return what is promised beside what is not."""
    return section(
        "promise",
        "What is promised, and what is not",
        element(
            "div",
            element(
                "div", element("h3", "✓ Promised"), listed(certificate["promised"]), class_="card yes"
            ),
            element(
                "div",
                element("h3", "✗ Not promised"),
                listed(certificate["not_promised"]),
                class_="card no",
            ),
            class_="pair",
        ),
        element(
            "p",
            "These are statements about the published records, counted in whole numbers. They do not "
            "say that the data are anonymous in the sense of a law.",
            class_="small",
        ),
    )


def loss(certificate: Certificate, empty: int | str = 0) -> Html:
    """Return the rounded losses, each with a bar and a sentence, and how many records are empty."""
    parts: list[Content] = []
    for name, (title, about) in MEASURES.items():
        if name not in certificate["loss"]:
            continue
        value = float(certificate["loss"][name])
        parts += [
            element("h3", f"{title} {value:.2f}"),
            bar(value, class_="meter"),
            element(
                "p",
                element("span", "0: nothing lost"),
                element("span", "1: everything lost"),
                class_="ends",
            ),
            element("p", about.format(share="less than 1 %" if value < 0.01 else in_percent(value, 0))),
        ]
        if name == "ncp" and value < SMALL and certificate["method"] not in SUPPRESSES_ONLY:
            parts.append(element("p", SMALL_AND_COARSE, class_="small"))
    if certificate.get("domain") == "hierarchy":
        parts.append(element("p", ALL_ITEMS, class_="small"))
    left_out = certificate.get("suppressed")
    if left_out:
        sentences = [
            f"Left out of all records, and not named here: {counted(left_out['items'], 'item')}."
        ]
        if left_out["records"]:
            its = "its" if left_out["records"] == 1 else "their"
            sentences.append(
                f"Not published: {counted(left_out['records'], 'record')}, because all {its} items "
                "were left out."
            )
        parts.append(element("p", " ".join(sentences)))
    if empty:
        why = " All their items were left out, or they held none." if left_out else ""
        told = f"Published empty, without any label: {counted(empty, 'record')}.{why}"
        parts.append(element("p", told))
    parts.append(element("p", "Public figures are rounded to two digits.", class_="small"))
    return section("loss", "What was lost", *parts)


def questions(certificate: Certificate) -> Html:
    """Return the evidence for each of the three questions."""
    cards = []
    for name, (title, question) in QUESTIONS.items():
        found = certificate["evidence"][name]
        shown = found["shown"] or ["Nothing."]
        cards.append(
            element(
                "div",
                element("h3", title),
                element("p", question),
                element("p", "✓ Shown", class_="sub"),
                listed(shown),
                element("p", "✗ Not shown", class_="sub"),
                listed(found["not_shown"]),
                class_="card",
            )
        )
    return section(
        "questions",
        "Three questions about any published data",
        element("div", *cards, class_="three"),
        element(
            "p",
            "Data protection authorities ask these three. What is shown here is evidence for an "
            "answer, which remains for people who know the data and the law.",
            class_="small",
        ),
    )


def making(certificate: Certificate) -> Html:
    """Return how the release was made, in the terms of the standard."""
    terms = certificate["terms"]
    data = certificate["data"]
    pairs: list[tuple[Content, Content]] = [
        (
            "Method",
            join((element("code", certificate["method"]), _RECODINGS[certificate["recoding"]])),
        ),
        ("Techniques", listed(terms["techniques"])),
        ("Privacy model", raised(terms["privacy_model"])),
        ("Truthfulness", terms["truthfulness"]),
        ("Format", data["format"]),
    ]
    if "date" in certificate:
        pairs.append(("Date", certificate["date"]))
    parts: list[Content] = [
        terms_and_meanings(pairs),
    ]
    if "columns" in data:
        plain = _AS_TOLD.get(certificate["recoding"], "")
        parts.append(_columns(data["columns"], data.get("sensitive", {}).get("column"), plain))
    parts.append(
        element(
            "p", f"Techniques and model are named in the terms of {terms['standard']}.", class_="small"
        )
    )
    return section("making", "How it was made", *parts)


_RECODINGS = {
    "global": ", global recoding",
    "local": ", local recoding",
    "buckets": ", in buckets",
    "pair": ", local recoding of two data sets",
}
MOST_COLUMNS = 40
_KINDS = {
    "kept": "one value, covered by the promise",
    "set": "a set of values, covered by the promise",
    "unprotected": "published as it is, NOT covered by the promise",
}


_AS_TOLD = {"buckets": "published as it is", "pair": "one value or a category, covered by the promise"}


def _columns(columns: list[dict[str, str] | str], secret: str | None, plain: str) -> Html:
    rows: list[tuple[Content, Content]] = [
        # Of a table in buckets and of two data sets the names alone are told.
        (label(column), plain)
        if isinstance(column, str)
        else (label(column["name"]), _KINDS[column["kind"]])
        for column in columns[:MOST_COLUMNS]
    ]
    if len(columns) > MOST_COLUMNS:
        rows.append((f"and {len(columns) - MOST_COLUMNS:,} more", ""))
    if secret is not None:
        rows.append((label(secret), "told for whole buckets: whose value is whose is hidden"))
    return table(("column", "holds"), rows, caption="The columns of the table")


def verification(certificate: Certificate, *, private: bool = False) -> Html:
    """Return how anybody repeats the check: commands, and the hashes of the files.

    A private page lies in the twin, which is not the folder to check.
    """
    which = (
        "Take the public folder, the release itself and not the private one that holds this page, "
        if private
        else "Put the folder with these files anywhere "
    )
    data = certificate["data"]
    files = [*data.get("parts", [data]), certificate["hierarchy"]]
    # A table in buckets has more files than these.
    files += [
        part for part in (data.get("sensitive"), certificate.get("rules")) if "file" in (part or ())
    ]
    commands = (
        certificate["verify"],
        "python -m setveil.audit <folder>",
        "sha256sum " + " ".join(file["file"] for file in files),
    )
    hashes: list[tuple[Content, Content]] = [
        (element("code", file["file"]), element("code", file["sha256"], class_="hash"))
        for file in files
    ]
    return section(
        "verify",
        "Check it yourself",
        element(
            "p",
            f"{which}and run one of the first two commands. Exit code 0 means that the promise holds. "
            "The third shows that the files are those this page is about.",
        ),
        element("pre", element("code", join(commands, "\n"))),
        terms_and_meanings(hashes),
        element(
            "p",
            "This page has no hash of itself: ",
            element("code", "certificate.json"),
            " holds it. Nor is there one of the original data: few possible originals and a hash are "
            "enough to guess the original.",
            class_="small",
        ),
    )


def footer(certificate: Certificate) -> Html:
    """Return who made the page, and that it loads nothing."""
    tool = certificate["tool"]
    return element(
        "footer",
        element(
            "p",
            f"Made by {tool['name']} {tool['version']}. This page runs no program and loads nothing "
            "from anywhere.",
        ),
    )
