"""How pages are put together, and the sections they share, made from the certificate alone.

The certificate is public, so whatever is made of it is: these sections cannot tell more than it does.
What one kind of release says in words of its own, its page hands over.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ...hierarchy.tree import Hierarchy
from ...model import numbers
from ...model.guarantees import guarantee_from_dict
from ...release.claims import SUPPRESSES_ONLY
from ..html import (
    ABOVE,
    MOST_LINES,
    PUBLISHED,
    Content,
    Html,
    bar,
    box,
    element,
    join,
    label,
    listed,
    outline,
    page,
    paragraph,
    section,
    small,
    table,
    terms_and_meanings,
    text,
    with_below,
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
_RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")

Certificate = Mapping[str, Any]

SMALL = 0.5
"""Below this a loss may be taken for more items left as they were than there are."""
ALL_ITEMS = "All items are all of the hierarchy, whether a record held them or not."
SMALL_AND_COARSE = "A small number does not mean that most items kept their own label."
MOST_COLUMNS, MOST_FREQUENT = 40, 10
_KINDS = {
    "kept": "one value, covered by the promise",
    "set": "a set of values, covered by the promise",
    "unprotected": "published as it is, NOT covered by the promise",
}


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


def guarantee_name(certificate: Certificate) -> Html:
    """Return what the promise of a release is called."""
    return raised(guarantee_from_dict(certificate["guarantee"], None).called)


def plain_name(certificate: Certificate) -> str:
    """Return the same without markup, for titles.

    >>> plain_name({"guarantee": {"model": "km", "k": 5, "m": 2}})
    '5²-anonymity'
    """
    name = guarantee_from_dict(certificate["guarantee"], None).called
    return re.sub(r"\^([0-9]+)", lambda found: found[1].translate(_RAISED), name)


def raised(sentence: str) -> Html:
    """Return a sentence with its powers as such.

    >>> raised("as k^m-anonymity")
    'as k<sup>m</sup>-anonymity'
    """
    return Html(re.sub(r"\b([0-9]+|[kl])\^([0-9]+|m)\b", r"\1<sup>\2</sup>", text(sentence)))


def tiled(tiles: Sequence[tuple[str, str]]) -> Html:
    """Return numbers that are read first, each with what it counts."""
    return box(
        "tiles",
        *(
            box("tile", paragraph(figure, class_="figure"), paragraph(what, class_="what"))
            for figure, what in tiles
        ),
    )


def public_page(
    certificate: Certificate, head: Html, *parts: Content, recoding: str, column: str = ""
) -> bytes:
    """Return the page of a release folder; `column` is said of a column that is only named."""
    return page(
        f"Release report: {plain_name(certificate)}",
        head,
        element(
            "main",
            promises(certificate),
            *parts,
            questions(certificate),
            making(certificate, recoding, column),
            verification(certificate),
        ),
        footer(certificate),
    )


def private_page(
    certificate: Certificate, head: Html, *parts: Content, notices: Sequence[str]
) -> bytes:
    """Return the page for the holder of the data: its parts between what every release tells."""
    return page(
        f"Private: release report, {plain_name(certificate)}",
        box(
            "warning",
            element("strong", "Personal data. "),
            "This page tells about the original records. Keep it as safe as those, and never publish "
            "it.",
        ),
        head,
        element(
            "main",
            promises(certificate),
            *parts,
            section("notices", "Notices", listed(notices) if notices else paragraph("None.")),
            questions(certificate),
            verification(certificate, private=True),
        ),
        footer(certificate),
        private=True,
    )


def head_of(
    certificate: Certificate,
    tiles: Sequence[tuple[str, str]],
    *warnings: Content,
    name: Html | None = None,
    counting: str | None = None,
) -> Html:
    """Return the head of a page: the promise, the figures that are read first, the verdict.

    `name` is how the promise is called at the head of a line, `counting` how the verifier counted,
    where these are not said as everywhere.
    """
    return element(
        "header",
        paragraph("setveil · report of a release", class_="kind"),
        element("h1", name or guarantee_name(certificate), ", verified"),
        paragraph(certificate["promised"][-1], class_="lead"),
        tiled(tiles),
        box(
            "verdict",
            paragraph(
                element("strong", "✓ The promise holds. "),
                "It was verified on the published files themselves before they were put into place.",
            ),
            small(
                "Verifier: ",
                element("code", certificate["verdict"]["verifier"]),
                f" ({counting or certificate['verdict']['mode']}), which shares no code with the "
                "program that made the release. Do not take its word for it: the commands at the end "
                "repeat the check.",
            ),
        ),
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


def promises(certificate: Certificate) -> Html:
    """Return what is promised beside what is not."""
    return section(
        "promise",
        "What is promised, and what is not",
        box(
            "pair",
            box("card yes", element("h3", "✓ Promised"), listed(certificate["promised"])),
            box("card no", element("h3", "✗ Not promised"), listed(certificate["not_promised"])),
        ),
        small(
            "These are statements about the published records, counted in whole numbers. They do not "
            "say that the data are anonymous in the sense of a law."
        ),
    )


def loss(certificate: Certificate, empty: int | str = 0) -> Html:
    """Return the rounded losses, each with a bar and a sentence, and how many records are empty."""
    parts: list[Content] = []
    for name, (title, about) in MEASURES.items():
        if name not in certificate["loss"]:
            continue
        value = float(certificate["loss"][name])
        ends = (element("span", "0: nothing lost"), element("span", "1: everything lost"))
        parts += [
            element("h3", f"{title} {value:.2f}"),
            bar(value, class_="meter"),
            paragraph(*ends, class_="ends"),
            paragraph(about.format(share="less than 1 %" if value < 0.01 else in_percent(value, 0))),
        ]
        if name == "ncp" and value < SMALL and certificate["method"] not in SUPPRESSES_ONLY:
            parts.append(small(SMALL_AND_COARSE))
    if certificate.get("domain") == "hierarchy":
        parts.append(small(ALL_ITEMS))
    left_out = certificate.get("suppressed")
    if left_out:
        told = f"Left out of all records, and not named here: {counted(left_out['items'], 'item')}."
        if left_out["records"]:
            its = "its" if left_out["records"] == 1 else "their"
            told += (
                f" Not published: {counted(left_out['records'], 'record')}, because all {its} items "
                "were left out."
            )
        parts.append(paragraph(told))
    if empty:
        why = " All their items were left out, or they held none." if left_out else ""
        told = f"Published empty, without any label: {counted(empty, 'record')}.{why}"
        parts.append(paragraph(told))
    parts.append(small("Public figures are rounded to two digits."))
    return section("loss", "What was lost", *parts)


def labels_part(
    paths: Sequence[Sequence[str]],
    count_by_label: Mapping[str, int],
    told_of_label: Callable[[str], Content],
    *about: Content,
) -> Html:
    """Return the published hierarchy at and above the cut, with what is told of each published label.

    The labels come by their `paths` up to their roots; those that most records hold come first. What
    is said before the hierarchy is `about` all of them.
    """
    if not paths:
        return Html("")
    tree = Hierarchy.from_paths(paths)
    shown = [name in count_by_label for name in tree.labels]
    below = with_below(tree, [int(yes) for yes in shown])

    def told_of_node(node: int) -> Content:
        return told_of_label(tree.labels[node]) if shown[node] else counted(below[node], "label")

    frequent: list[tuple[Content, ...]] = []
    if len(paths) > MOST_LINES // 2:
        first = sorted(count_by_label, key=lambda name: (-count_by_label[name], name))[:MOST_FREQUENT]
        frequent = [(label(name), told_of_label(name)) for name in first]
    return section(
        "labels",
        "The labels it shows",
        *about,
        outline(
            tree,
            kind_by_node=[PUBLISHED if yes else ABOVE for yes in shown],
            weight_by_node=with_below(tree, [count_by_label.get(name, 0) for name in tree.labels]),
            told_of_node=told_of_node,
            told_of_rest=lambda nodes: f"and {counted(sum(below[n] for n in nodes), 'label')} more",
        ),
        table(("label", "records"), frequent, caption="The most frequent labels") if frequent else "",
    )


def questions(certificate: Certificate) -> Html:
    """Return the evidence for each of the three questions."""
    cards = [
        box(
            "card",
            element("h3", title),
            paragraph(question),
            paragraph("✓ Shown", class_="sub"),
            listed(certificate["evidence"][name]["shown"] or ["Nothing."]),
            paragraph("✗ Not shown", class_="sub"),
            listed(certificate["evidence"][name]["not_shown"]),
        )
        for name, (title, question) in QUESTIONS.items()
    ]
    return section(
        "questions",
        "Three questions about any published data",
        box("three", *cards),
        small(
            "Data protection authorities ask these three. What is shown here is evidence for an "
            "answer, which remains for people who know the data and the law."
        ),
    )


def making(certificate: Certificate, recoding: str, column: str = "") -> Html:
    """Return how the release was made, in the terms of the standard."""
    terms, data = certificate["terms"], certificate["data"]
    pairs: list[tuple[Content, Content]] = [
        ("Method", join((element("code", certificate["method"]), f", {recoding}"))),
        ("Techniques", listed(terms["techniques"])),
        ("Privacy model", raised(terms["privacy_model"])),
        ("Truthfulness", terms["truthfulness"]),
        ("Format", data["format"]),
    ]
    if "date" in certificate:
        pairs.append(("Date", certificate["date"]))
    return section(
        "making",
        "How it was made",
        terms_and_meanings(pairs),
        _columns(data, column) if "columns" in data else "",
        small(f"Techniques and model are named in the terms of {terms['standard']}."),
    )


def _columns(data: Mapping[str, Any], plain: str) -> Html:
    """Return what the columns hold; of a table in buckets and of two data sets the names are told."""
    columns, secret = data["columns"], data.get("sensitive", {}).get("column")
    rows: list[tuple[Content, Content]] = [
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
    """Return how anybody repeats the check; a private page does not lie in the folder to check."""
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
        paragraph(
            f"{which}and run one of the first two commands. Exit code 0 means that the promise holds. "
            "The third shows that the files are those this page is about."
        ),
        element("pre", element("code", join(commands, "\n"))),
        terms_and_meanings(hashes),
        small(
            "This page has no hash of itself: ",
            element("code", "certificate.json"),
            " holds it. Nor is there one of the original data: few possible originals and a hash are "
            "enough to guess the original.",
        ),
    )


def footer(certificate: Certificate) -> Html:
    """Return who made the page, and that it loads nothing."""
    tool = certificate["tool"]
    return element(
        "footer",
        paragraph(
            f"Made by {tool['name']} {tool['version']}. This page runs no program and loads nothing "
            "from anywhere."
        ),
    )
