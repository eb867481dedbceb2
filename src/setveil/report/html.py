"""Pages as text: elements that escape what they hold, and a shell that lets a browser load nothing.

Labels are hostile text. Whatever is not `Html` already is escaped by `element`, characters that cannot
be seen or that turn other text around are replaced, and a label stands in a ``bdi`` element of its
own. A page holds no script and no address; its policy forbids both, and its one style sheet is named
by hash. Each content has one spelling, so that the audit can tell that nothing hides in another.

The style sheet is ``report.css``, with the colours of `drawing` put before it: light, printable, from a
phone's width upwards, without font file, picture or address. The audit knows it by its hash: after a
change, `audit.words.KNOWN_SHEETS` needs the new one.

A hierarchy is an indented list (`outline`): readable on a phone, on paper, and by a screen reader. It
has at most `MOST_LINES` lines. The heaviest branches are opened while there is room; the others stand
as one line that counts what is under them, and siblings that are too many share the last line. So ten
labels are all shown, and of ten thousand those that matter most.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from importlib.resources import files

from ..hierarchy.tree import Hierarchy
from . import drawing
from .drawing import ARROW_HEAD, Figure, escaped
from .tree_picture import Branch, open_branches

LONGEST_LABEL = 60
NARROW = 3
"""How many columns a table may have to be squeezed on a narrow screen; more of them scroll."""
WIDE_PICTURE = 800
COLOURS = (
    *("INK", "MUTED", "RULE", "SHADE", "PAPER", "BLUE", "ORANGE", "GREEN", "VERMILION"),
    *("SKY", "SAND", "ROSE", "MINT"),
)
"""The colours that the style sheet names."""
VOID = frozenset({"meta", "br"})
_BLOCKS = frozenset(
    {"html", "head", "body", "header", "main", "section", "footer", "nav", "div", "figure"}
    | {"table", "thead", "tbody", "tr", "ul", "dl"}
)

MOST_LINES = 48
PUBLISHED, ABOVE, HIDDEN, LEFT_OUT = "published", "above", "hidden", "left-out"
KEYS: Mapping[str, str] = {
    PUBLISHED: "in the records",
    ABOVE: "above what is in the records",
    HIDDEN: "published as the category above it",
    LEFT_OUT: "left out",
}


class Html(str):
    """Text that is markup already: `element` takes it as it is, and escapes everything else."""

    __slots__ = ()


Content = str | Html


def text(content: Content) -> Html:
    """Return a content as markup: escaped, unless it is markup already.

    >>> text("a < b")
    'a &lt; b'
    """
    return content if isinstance(content, Html) else Html(escaped(content))


def _attribute(value: str | int) -> str:
    return escaped(str(value)).replace('"', "&quot;")


def element(name: str, /, *content: Content, **attributes: str | int | None) -> Html:
    """Return an element; an attribute's name may end in ``_`` and hold ``_`` for ``-``.

    >>> element("p", "1 < 2", class_="sum")
    '<p class="sum">1 &lt; 2</p>'
    """
    spelled = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{_attribute(value)}"'
        for key, value in attributes.items()
        if value is not None
    )
    if name in VOID:
        return Html(f"<{name}{spelled}>")
    if name in _BLOCKS:
        inner = "\n".join(text(part) for part in content if part)
        return Html(
            f"<{name}{spelled}>\n{inner}\n</{name}>" if inner else f"<{name}{spelled}></{name}>"
        )
    return Html(f"<{name}{spelled}>{''.join(text(part) for part in content)}</{name}>")


def paragraph(*content: Content, class_: str | None = None) -> Html:
    """Return a paragraph."""
    return element("p", *content, class_=class_)


def small(*content: Content) -> Html:
    """Return a paragraph in small print."""
    return paragraph(*content, class_="small")


def box(class_: str, /, *content: Content, role: str | None = None) -> Html:
    """Return what the style sheet draws as a box of a class."""
    return element("div", *content, class_=class_, role=role)


def join(parts: Iterable[Content], between: str = "") -> Html:
    """Return the parts as one piece of markup, with a line end or a blank between them where given."""
    return Html(between.join(text(part) for part in parts))


def label(name: str) -> Html:
    """Return a label of the data, cut where it is long, apart from the text around it.

    >>> label("<b>")
    '<bdi>&lt;b&gt;</bdi>'
    """
    return element("bdi", shortened(name))


def shortened(name: str, longest: int = LONGEST_LABEL) -> str:
    """Return a label that is not too long to be shown."""
    return name if len(name) <= longest else name[: longest - 1] + "…"


def first_of(items: Sequence[Content], most: int) -> list[Content]:
    """Return the first items, and how many more there are."""
    return [*items[:most], *([f"and {len(items) - most:,} more"] if len(items) > most else [])]


def listed(items: Iterable[Content], *, class_: str | None = None) -> Html:
    """Return a list; an empty text where there is nothing in it."""
    entries = [element("li", item) for item in items]
    return element("ul", *entries, class_=class_) if entries else Html("")


def terms_and_meanings(pairs: Iterable[tuple[Content, Content]], *, class_: str = "facts") -> Html:
    """Return a list of terms, each with its meaning."""
    return element(
        "dl",
        *(element("div", element("dt", term), element("dd", meaning)) for term, meaning in pairs),
        class_=class_,
    )


def table(heads: Sequence[Content], rows: Iterable[Sequence[Content]], *, caption: str) -> Html:
    """Return a table that scrolls by itself; a column whose head starts with ``#`` holds numbers."""
    numeric = [str(head).startswith("#") for head in heads]
    kinds = ["number" if yes else None for yes in numeric]
    head = element(
        "tr",
        *(
            element("th", text(str(name).removeprefix("#")), scope="col", class_=kind)
            for name, kind in zip(heads, kinds, strict=True)
        ),
    )
    body = [
        element(
            "tr", *(element("td", cell, class_=kind) for cell, kind in zip(row, kinds, strict=True))
        )
        for row in rows
    ]
    drawn = element(
        "table",
        element("caption", caption),
        element("thead", head),
        element("tbody", *body),
    )
    kind = "scroll wide" if len(heads) > NARROW else "scroll"
    return element("div", drawn, class_=kind, tabindex=0, role="region", aria_label=caption)


def picture(figure: Figure, caption: Content = "") -> Html:
    """Return a picture in a box that scrolls by itself where the screen is narrow."""
    svg = figure.svg.strip()
    if "url(#head)" not in svg:
        svg = svg.replace(ARROW_HEAD + "\n", "")
    found = re.match(r'<svg [^>]*?width="([0-9]+)', svg)
    kind = "scroll wide" if found and int(found[1]) > WIDE_PICTURE else "scroll"
    framed = element("div", Html(svg), class_=kind, tabindex=0, role="region", aria_label=figure.title)
    return element("figure", framed, element("figcaption", caption) if caption else Html(""))


def bar(share: float, *, class_: str = "bar") -> Html:
    """Return a small bar that fills a share of its length; the number stands beside it in words."""
    filled = f"{min(max(share, 0.0), 1.0) * 100:.1f}".removesuffix(".0")
    return Html(
        f'<svg class="{class_}" viewBox="0 0 100 8" width="100" height="8" preserveAspectRatio="none" '
        'aria-hidden="true"><rect class="rest" width="100" height="8"/>'
        f'<rect class="full" width="{filled}" height="8"/></svg>'
    )


def section(name: str, title: str, *content: Content) -> Html:
    """Return a section with a heading that can be linked to."""
    return element("section", element("h2", title), *content, id=name)


@cache
def sheet() -> str:
    """Return the one style sheet of all pages, as it stands in each."""
    rules = files(__package__).joinpath("report.css").read_text(encoding="utf-8")
    variables = "".join(f"  --{name.lower()}: {getattr(drawing, name)};\n" for name in COLOURS)
    return f":root {{\n{variables}}}\n{rules}"


@cache
def policy() -> str:
    """Return what a page may load: nothing but the style sheet it brings."""
    digest = base64.b64encode(hashlib.sha256(sheet().encode()).digest()).decode()
    return f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"


def page(title: str, *content: Content, private: bool = False) -> bytes:
    """Return a whole page; one with personal data is marked throughout and not to be indexed."""
    robots = [element("meta", name="robots", content="noindex, nofollow, noarchive")] if private else []
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=policy()),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="referrer", content="no-referrer"),
        *robots,
        element("title", title),
        Html(f"<style>{sheet()}</style>"),
    )
    body = element("body", *content, class_="private" if private else "public")
    return f"<!doctype html>\n{element('html', head, body, lang='en')}\n".encode()


def outline(
    hierarchy: Hierarchy,
    *,
    kind_by_node: Sequence[str],
    weight_by_node: Sequence[int],
    told_of_node: Callable[[int], Content],
    told_of_rest: Callable[[Sequence[int]], str],
) -> Html:
    """Return the list, with a legend of the kinds that it shows.

    What each node is to the release is a key of `KEYS`; the heaviest are opened and shown first. What
    is told stands behind a node that is not opened, and for the rest of siblings that share a line.
    """
    if not len(hierarchy):
        return Html("")

    def lines_of(nodes: Sequence[int], most: int) -> Sequence[tuple[int, ...]]:
        """Put each node into a line, heaviest first; where too many, the last holds the rest."""
        ordered = sorted(nodes, key=lambda node: (-weight_by_node[node], hierarchy.labels[node]))
        shown = len(nodes) if len(nodes) <= most else max(most - 1, 0)
        rest = tuple(ordered[shown:])
        return [*((node,) for node in ordered[:shown]), *([rest] if rest else [])]

    lines = open_branches(
        hierarchy,
        MOST_LINES,
        lines_of=lines_of,
        heaviest=lambda node: (weight_by_node[node], hierarchy.labels[node]),
        keeps_line=True,
    )
    seen: set[str] = set()

    def drawn(line: Branch) -> Html:
        if len(line.nodes) > 1:
            return element("li", element("span", told_of_rest(line.nodes), class_="more"))
        node = line.nodes[0]
        kind = kind_by_node[node]
        seen.add(kind)
        chip = element("span", label(hierarchy.labels[node]), class_=f"node {kind}")
        told = told_of_node(node) if not line.below or kind == PUBLISHED else ""
        note = element("span", told, class_="note") if told else Html("")
        below = element("ul", *map(drawn, line.below)) if line.below else Html("")
        return element("li", chip, note, below)

    tree = element("ul", *map(drawn, lines), class_="tree")
    return join((_legend(seen), tree), "\n")


def with_below(tree: Hierarchy, own: Sequence[int]) -> list[int]:
    """Return the sum of each node's own number and of those of all nodes below it."""
    total = list(own)
    for node, above in enumerate(tree.parent.tolist()):
        if above >= 0:
            total[above] += total[node]
    return total


def _legend(seen: set[str]) -> Html:
    keys = [
        element("span", element("span", "label", class_=f"node {kind}"), said, class_="key")
        for kind, said in KEYS.items()
        if kind in seen
    ]
    return element("p", *keys, class_="legend")
