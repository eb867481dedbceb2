"""The audit's look at the report: what setveil writes passes, whatever else could be there does not."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

import setveil as sv
from setveil.audit import audit_folder
from setveil.audit.words import KNOWN_SHEETS, LARGEST, check_report
from setveil.errors import DataError, ResourceLimit
from setveil.report.html import sheet
from tests.unit.audit.folders import (
    report_bytes,
    sha256,
    spelled,
    write_folder,
)

PLAIN = {
    "guarantee": {"model": "km"},
    "promised": ['Every <set> & "all".'],
    "not_promised": ["Nothing else."],
    "data": {"sha256": "a" * 64},
    "hierarchy": {"sha256": "b" * 64},
}
LABELS = ("milk", "a <b>", "x" * 80, "line\nbreak")


def check(more: str = "", **given: str) -> None:
    check_report(report_bytes(PLAIN, more=more, **given), PLAIN, LABELS)


def refused(more: str = "", **given: str) -> str:
    with pytest.raises(DataError) as caught:
        check(more, **given)
    assert caught.value.problems[0].file == "report.html"
    return caught.value.problems[0].code


def test_the_style_sheet_is_known_to_the_audit() -> None:
    assert hashlib.sha256(sheet().encode()).hexdigest() in KNOWN_SHEETS


@pytest.mark.parametrize(
    "more",
    [
        "",
        "<p>milk</p>\n",
        "<p><bdi>milk</bdi></p>\n",
        "<p><bdi>a &lt;b&gt;</bdi></p>\n",
        f"<p><bdi>{'x' * 59}…</bdi></p>\n",
        "<p><bdi>line\ufffdbreak</bdi></p>\n",
        '<p><a href="#risk">Risk</a></p>\n',
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"><rect width="1"/></svg>\n',
    ],
)
def test_a_page_that_does_nothing_passes(more: str) -> None:
    check(more)


@pytest.mark.parametrize(
    "more",
    [
        "<script>alert(1)</script>\n",
        "<SCRIPT>alert(1)</SCRIPT>\n",
        "<p><!-- a message --></p>\n",
        "<!-- a message -->\n",
        "<?php ?>\n",
        "<![CDATA[x]]>\n",
        '<img src="x.png">\n',
        '<p><img src="data:image/png;base64,AA"/></p>\n',
        '<iframe src="x"></iframe>\n',
        '<object data="x"></object>\n',
        '<form action="/"></form>\n',
        '<link rel="stylesheet" href="x.css">\n',
        '<base href="/">\n',
        '<meta http-equiv="refresh" content="0">\n',
        "<style>p{}</style>\n",
        '<details open=""></details>\n',
        "<svg><image/></svg>\n",
        "<svg><foreignObject></foreignObject></svg>\n",
        '<svg><use href="#a"/></svg>\n',
        "<svg><script>1</script></svg>\n",
        "<svg><animate/></svg>\n",
        "<template><p>x</p></template>\n",
        "<noscript>x</noscript>\n",
        "<plaintext>x</plaintext>\n",
    ],
)
def test_elements_that_do_something_are_refused(more: str) -> None:
    assert refused(more) in ("report-element", "report-markup", "report-attribute")


@pytest.mark.parametrize(
    "more",
    [
        '<p onclick="x()">x</p>\n',
        '<svg onload="x()"></svg>\n',
        '<p style="color:red">x</p>\n',
        '<p data-x="message">x</p>\n',
        '<p hidden="">x</p>\n',
        '<p title="message">x</p>\n',
        '<a href="https://example.org/">x</a>\n',
        '<a href="javascript:x">x</a>\n',
        '<a href="#Upper">x</a>\n',
        '<svg xmlns="http://example.org/"></svg>\n',
        '<svg><rect fill="url(http://example.org/)"/></svg>\n',
        '<svg><line marker-end="url(#other)"/></svg>\n',
        '<p class="a" class="b">x</p>\n',
    ],
)
def test_attributes_that_do_or_hide_something_are_refused(more: str) -> None:
    assert refused(more) == "report-attribute"


@pytest.mark.parametrize(
    "more",
    [
        "<p>x\n",
        "<p>x</div>\n",
        "</p>\n",
        "<p/>\n",
        "<p >x</p>\n",
        '<p  class="a">x</p>\n',
        "<p class='a'>x</p>\n",
        "<p class=a>x</p>\n",
        "<p>x</p >\n",
        "<p>a > b</p>\n",
        "<p>a < b</p>\n",
        "<bdi><p>milk</p></bdi>\n",
    ],
)
def test_another_spelling_is_refused(more: str) -> None:
    assert refused(more) in ("report-markup", "report-element")


@pytest.mark.parametrize(
    "more",
    [
        "<p>&#109;ilk</p>\n",
        "<p>&nbsp;</p>\n",
        "<p>a & b</p>\n",
        "<p>&lt</p>\n",
        '<p class="&#97;">x</p>\n',
    ]
    + [f"<p>a{sign}b</p>\n" for sign in "\u200b\u202e\u2066\u00a0\t\u0007\u00ad"],
)
def test_characters_that_hide_or_are_spelled_strangely_are_refused(more: str) -> None:
    assert refused(more) == "report-text"


@pytest.mark.parametrize("label", ["ale", "mil", "…", "x" * 10 + "…", "milk ", "x" * 59 + "y"])
def test_a_label_that_is_not_published_is_refused(label: str) -> None:
    assert refused(f"<p><bdi>{label}</bdi></p>\n") == "report-label"


def test_another_style_sheet_is_refused() -> None:
    assert refused(style="p{}") == "report-style"
    assert refused(style=sheet() + "p{background:url(x)}") == "report-style"


@pytest.mark.parametrize(
    "change",
    [
        lambda page: page.replace("<!doctype html>", "<!DOCTYPE html>"),
        lambda page: page.replace('lang="en"', 'lang="en" class="message"'),
        lambda page: page.replace("base-uri 'none'", "base-uri 'self'"),
        lambda page: page.replace("default-src 'none'", "default-src *"),
        lambda page: page.replace('<meta name="referrer" content="no-referrer">\n', ""),
        lambda page: page.replace("<title>", '<meta name="author" content="me">\n<title>'),
        lambda page: page.replace("<title>Report</title>", "<title>&#82;eport</title>"),
        lambda page: page.replace("</head>", "<script>1</script>\n</head>"),
        lambda page: page + "<p>more</p>\n",
        lambda page: page + "more\n",
        lambda page: page.replace("</html>\n", "</html>"),
        lambda page: "\ufeff" + page,
        lambda page: page.replace("\n", "\r\n"),
        lambda page: page.replace("</body>", "\x00</body>"),
        lambda page: page.replace("</body>", "</body>\n<body>"),
        lambda page: page.replace('<body class="public">', '<body class="private">'),
        lambda page: page.replace("</body>", "<p>\n</body>"),
    ],
)
def test_another_head_or_tail_is_refused(change) -> None:
    page = report_bytes(PLAIN).decode()
    assert change(page) != page
    with pytest.raises(DataError):
        check_report(change(page).encode(), PLAIN, LABELS)


def test_bytes_that_are_no_text_are_refused() -> None:
    with pytest.raises(DataError, match="UTF-8"):
        check_report(report_bytes(PLAIN).replace(b"Report", b"\xff"), PLAIN, LABELS)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("promised", ["Another sentence."]),
        ("not_promised", ["Another sentence."]),
        ("data", {"sha256": "c" * 64}),
        ("hierarchy", {"sha256": "c" * 64}),
    ],
)
def test_a_page_that_does_not_agree_with_the_certificate_is_refused(key: str, value: object) -> None:
    with pytest.raises(DataError) as caught:
        check_report(report_bytes(PLAIN), {**PLAIN, key: value}, LABELS)
    assert caught.value.problems[0].code == "report-content"


def test_a_changed_report_is_refused(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "r")
    (folder / "report.html").write_bytes((folder / "report.html").read_bytes() + b"\n")
    with pytest.raises(DataError) as caught:
        audit_folder(folder)
    assert caught.value.problems[0].code == "changed"


def test_a_harmful_report_with_the_right_hash_is_refused(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "r")
    certificate = json.loads((folder / "certificate.json").read_bytes())
    page = report_bytes(certificate, more="<script>1</script>\n")
    certificate["report"]["sha256"] = sha256(page)
    (folder / "report.html").write_bytes(page)
    (folder / "certificate.json").write_bytes(spelled(certificate))
    with pytest.raises(DataError) as caught:
        audit_folder(folder)
    assert caught.value.problems[0].code == "report-element"


def test_a_missing_report_is_refused(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "r")
    (folder / "report.html").unlink()
    with pytest.raises(DataError) as caught:
        audit_folder(folder)
    assert caught.value.problems[0].code == "missing-file"


def test_a_report_that_is_too_large_is_refused(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "r", report=b"x" * (LARGEST + 1))
    with pytest.raises(ResourceLimit):
        audit_folder(folder)


def test_a_release_of_the_first_version_is_still_read(tmp_path: Path) -> None:
    def older(certificate: dict) -> None:
        certificate["certificate"] = 1
        for key in ("report", "terms", "evidence"):
            del certificate[key]

    folder = write_folder(tmp_path / "r", change=older)
    with pytest.raises(DataError, match="no part of a release"):
        audit_folder(folder)
    (folder / "report.html").unlink()
    assert audit_folder(folder).holds


def test_published_reports_pass(tmp_path: Path) -> None:
    tree = sv.Hierarchy.from_parents(
        {"ale": "a<b", "wine": "a<b", "a<b": "ALL", "milk": "ALL", "ALL": None}
    )
    rows = [["ale", "milk"], ["wine", "milk"], ["milk"], ["ale"], ["wine"]]
    release = sv.anonymize(sv.Transactions.from_rows(rows), sv.KmAnonymity(2, 2), hierarchy=tree)
    sv.publish(release, tmp_path / "out")
    assert audit_folder(tmp_path / "out").holds
    assert b"<bdi>a&lt;b</bdi>" in (tmp_path / "out/report.html").read_bytes()
