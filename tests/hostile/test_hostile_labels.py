"""Labels, categories and column names are hostile text: in no report may they be anything but text."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path

import pytest

import setveil as sv
from setveil.audit.words import ATTRIBUTES, ELEMENTS
from tests.hostile.labels import XSS


class Seen(HTMLParser):
    """What a parser other than ours finds in a page."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: set[str] = set()
        self.attributes: set[str] = set()
        self.references: set[str] = set()
        self.strange: list[str] = []
        self.texts: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.add(tag)
        self.attributes |= {name for name, _ in attrs}
        self.references |= {value or "" for name, value in attrs if name in ("href", "src")}

    def handle_comment(self, data: str) -> None:
        self.strange.append(data)

    def unknown_decl(self, data: str) -> None:
        self.strange.append(data)

    def handle_pi(self, data: str) -> None:
        self.strange.append(data)

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def parsed(page: Path) -> Seen:
    seen = Seen()
    seen.feed(page.read_text(encoding="utf-8"))
    seen.close()
    return seen


def harmless(seen: Seen) -> None:
    assert seen.elements <= {name.lower() for name in ELEMENTS} | {
        "html",
        "head",
        "meta",
        "style",
        "body",
    }
    assert seen.attributes <= {name.lower() for name in ATTRIBUTES}
    assert all(reference.startswith("#") for reference in seen.references)
    assert seen.strange == []


def release(labels: tuple[str, ...] = XSS) -> sv.Release:
    """Half of the labels are published, a quarter generalized, and every category is hostile too."""
    parents: dict[str, str | None] = {"<b>ALL</b>": None}
    rows: list[list[str]] = []
    for number, label in enumerate(labels):
        branch = f"<i>{number % 5}</i> \"branch\" & 'more' {'x' * 70}"
        parents[label] = branch
        parents[branch] = "<b>ALL</b>"
        rows += [[label]] * (1 if number % 4 == 0 else 3)
    tree = sv.Hierarchy.from_parents(parents)
    return sv.anonymize(sv.Transactions.from_rows(rows), sv.KmAnonymity(3, 2), hierarchy=tree)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("hostile") / "out"
    sv.publish(release(), place)
    return place


@pytest.mark.parametrize("name", ["out", "out.private"])
def test_labels_are_text(folder: Path, name: str) -> None:
    seen = parsed(folder.parent / name / "report.html")
    harmless(seen)
    shown = {text.strip() for text in seen.texts}
    found = [label for label in XSS if label in shown]
    assert len(found) >= 10


def test_columns_are_text(tmp_path: Path) -> None:
    names = ('<script>alert("s")</script>', "--><svg onload></title>", "<b>raw</b>")
    lines = [",".join('"' + name.replace('"', '""') + '"' for name in names)]
    lines += [f'{"FM"[n % 2]},milk <u>bun</u>,"<script>{n}</script>"' for n in range(8)]
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n")
    records = sv.read_records(
        tmp_path / "t.csv",
        set_columns={names[1]: " "},
        keep=[names[0]],
        keep_unprotected=[names[2]],
    )
    made = sv.anonymize(records, sv.KmAnonymity(2, 2), method="trim")
    sv.publish(made, tmp_path / "out")
    for place in ("out", "out.private"):
        seen = parsed(tmp_path / place / "report.html")
        harmless(seen)
        assert names[0] in seen.texts
        # The cells of columns that are published as they are stand in the data and nowhere else.
        assert "<script>3</script>" not in " ".join(seen.texts)


@pytest.mark.parametrize(
    "guarantee",
    [
        sv.LmDiversity(2, 1, frozenset(XSS[:3])),
        sv.Coherence(60, 2, 1, frozenset(XSS[:3])),  # type: ignore[arg-type]
    ],
)
def test_sensitive_labels_are_text(tmp_path: Path, guarantee: sv.LmDiversity | sv.Coherence) -> None:
    rows = [["milk", XSS[number % 3]] if number % 3 == 0 else ["milk"] for number in range(30)]
    tree = sv.Hierarchy.from_parents(
        {"milk": "ALL", XSS[0]: "ALL", XSS[1]: "ALL", XSS[2]: "ALL", "ALL": None}
    )
    made = sv.anonymize(sv.Transactions.from_rows(rows), guarantee, hierarchy=tree)
    sv.publish(made, tmp_path / "out")
    for place in ("out", "out.private"):
        harmless(parsed(tmp_path / place / "report.html"))
