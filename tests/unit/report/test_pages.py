"""What the reports say, and what the public one must not."""

from __future__ import annotations

import json
import re
from html import unescape
from pathlib import Path

import pytest

import setveil as sv
from setveil.hierarchy.build import balanced
from setveil.io.demo import groceries
from setveil.release.documents import banded, published_paths
from setveil.report.html import MOST_LINES, Html, element, join, label, page, sheet, table
from setveil.report.pages.sets import labels
from setveil.report.risk_picture import told
from setveil.risk.crowd import Estimate

TREE = {"ale": "alcohol", "wine": "alcohol", "alcohol": "ALL", "milk": "ALL", "bun": "ALL", "ALL": None}


def shown(path: Path) -> str:
    """Return the text of a page as a reader sees it."""
    text = re.sub(r"<style>.*?</style>", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    return re.sub(r"\s+", " ", unescape(re.sub("<[^>]+>", " ", text)))


def published(tmp_path: Path, release: sv.Release) -> tuple[str, str]:
    sv.publish(release, tmp_path / "out", allow_useless=True)
    return shown(tmp_path / "out/report.html"), shown(tmp_path / "out.private/report.html")


@pytest.fixture(scope="module")
def demo() -> sv.Release:
    data, tree = groceries()
    return sv.anonymize(data, sv.KmAnonymity(5, 2), hierarchy=tree)


@pytest.fixture(scope="module")
def both(demo: sv.Release, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    return published(tmp_path_factory.mktemp("demo"), demo)


def test_whatever_is_not_markup_is_escaped() -> None:
    assert (
        element("p", "<b>", Html("<b>"), title='"&"') == '<p title="&quot;&amp;&quot;">&lt;b&gt;<b></p>'
    )
    assert label("a\u202eb\n") == "<bdi>a�b�</bdi>"
    assert label("x" * 100) == f"<bdi>{'x' * 59}…</bdi>"
    assert join(["<", Html("<br>")]) == "&lt;<br>"
    assert "<script>" not in table(("<script>", "#n"), [("<script>", "1")], caption="<script>")
    assert b"<script>" not in page("<script>", "<script>")


def test_a_page_names_nothing_outside_itself() -> None:
    text = page("x", "y").decode()
    assert "default-src 'none'" in text
    assert not re.search(r"url\(|@import|https?:|//[a-z]", text)
    assert "expression" not in sheet()


def test_the_public_report_tells_promise_loss_risk_and_how_to_check(
    both: tuple[str, str], demo: sv.Release, tmp_path: Path
) -> None:
    public, _ = both
    sv.publish(demo, tmp_path / "again")
    certificate = json.loads((tmp_path / "again/certificate.json").read_bytes())
    for sentence in (*certificate["promised"], *certificate["not_promised"]):
        assert sentence in public
    for found in certificate["evidence"].values():
        for sentence in (*found["shown"], *found["not_shown"]):
            assert sentence in public
    for said in (
        "10,000 records",
        "46 different labels",
        "NCP 0.03",
        "setveil audit <folder>",
        "python -m setveil.audit <folder>",
        "ISO/IEC 20889:2018",
        "Singling out",
        "Linkability",
        "Inference",
        "Whoever knows up to 2 labels of a record singles nobody out.",
        "Whoever knows at most 2 items of a person's record always finds at least 5 records that fit",
        "A small number does not mean that most items kept their own label.",
        "exact support: every published label is counted as it stands",
        certificate["data"]["sha256"],
        certificate["hierarchy"]["sha256"],
    ):
        assert said in public, said


def test_no_report_claims_what_only_a_court_could(both: tuple[str, str]) -> None:
    for text in both:
        assert not re.search(r"GDPR|HIPAA|fully anonymous|compliant", text, re.IGNORECASE)


def test_the_public_report_has_nothing_of_the_private_one(
    both: tuple[str, str], demo: sv.Release
) -> None:
    public, private = both
    hidden = set(demo.hierarchy.labels[: demo.hierarchy.n_leaves]) - set(demo.labels)
    hidden -= {word for word in hidden if len(word) < 5}
    ancestors = {name for path in published_paths(demo.hierarchy, demo.labels) for name in path}
    words = " ".join(ancestors)
    leaked = [
        name for name in hidden if re.search(rf"\b{re.escape(name)}\b", public) and name not in words
    ]
    assert leaked == []
    exact = f"{float(demo.losses['ncp']):.4f}"
    for secret in (exact, str(demo.losses["ncp"]), "proven", "before and after", "celeriac"):
        assert secret not in public, secret
    for told_privately in (exact, "proven", "before and after", "celeriac", "Personal data"):
        assert told_privately in private, told_privately


def test_the_private_report_tells_what_became_of_what(both: tuple[str, str]) -> None:
    _, private = both
    for said in (
        "What was generalized to what",
        "Where the loss is, worst branches first",
        "What was left out",
        "The hierarchy, and the cut through it",
        "What an attacker could do, before and after",
        "never publish it",
        "bananas (1,368)",
        "celeriac (17 records)",
        "Take the public folder",
        "5 2 -anonymity, exact support: every published label is counted as it stands.",
    ):
        assert said in private, said


def test_counts_below_k_are_bands(tmp_path: Path) -> None:
    tree = sv.Hierarchy.from_parents({**dict.fromkeys(("a", "b", "HIV"), "ALL"), "ALL": None})
    rows = [["a", "HIV"], *[["a"]] * 9, *[["b"]] * 9]
    guarantee = sv.LmDiversity(5, 1, frozenset({"HIV"}))
    release = sv.anonymize(sv.Transactions.from_rows(rows), guarantee, hierarchy=tree)
    public, _ = published(tmp_path, release)
    assert banded(1, guarantee.least_support) == "<5"
    assert "HIV in fewer than 5 records" in public
    assert "Named as sensitive: HIV ." in public
    assert "in 1 record" not in public


@pytest.mark.parametrize(("empty", "said"), [(4, "fewer than 5 records"), (6, "6 records")])
def test_empty_records_are_told_of(tmp_path: Path, empty: int, said: str) -> None:
    rows = [*[["a"]] * 9, *[[]] * empty]
    tree = sv.Hierarchy.from_parents({"a": "ALL", "ALL": None})
    release = sv.anonymize(sv.Transactions.from_rows(rows), sv.KmAnonymity(5, 1), hierarchy=tree)
    assert release.empty_records == empty
    assert f"empty    {empty} records are published empty, as in the data" in str(release)
    public, private = published(tmp_path, release)
    assert f"Published empty, without any label: {said}." in public
    assert f"{empty} records are published empty, as in the data" in private


def test_records_left_empty_are_told_of_with_the_reason(tmp_path: Path) -> None:
    rows = [["a"], ["a"], ["b"], ["c"]]
    release = sv.anonymize(sv.Transactions.from_rows(rows), sv.KmAnonymity(2, 1), method="mm")
    assert "2 records are published empty: all their items were left out" in str(release)
    public, _ = published(tmp_path, release)
    assert "2 records. All their items were left out, or they held none." in public
    assert "A small number" not in public  # Nothing was coarsened by this method.


def test_shares_of_few_records_are_bands() -> None:
    assert told(Estimate.counted(0), 1000, 5).words == "0 %"
    assert told(Estimate.counted(4, 1000), 1000, 5).words == "fewer than 5 records"
    assert told(Estimate.counted(4, 1000), 1000, 5).drawn == 0.005
    assert told(Estimate.counted(5, 1000), 1000, 5).words == "0.50 %"
    assert told(Estimate.drawn(0, 4000), 1000, 5).words == "fewer than 5 records"
    assert told(Estimate.drawn(20, 4000), 1000, 5).words == "up to 0.77 %"
    assert told(Estimate.drawn(400, 4000), 1000, 5).words == "9.11 % to 10.97 %"


@pytest.mark.parametrize(
    ("guarantee", "said"),
    [
        (sv.KmAnonymity(2, 2), "2 2 -anonymity"),
        (sv.KmAnonymity(2, 1, negative=True), "with negative knowledge"),
        (sv.KAnonymity(2), "Nobody is singled out by labels"),
        (sv.Coherence(50, 2, 1, frozenset({"bun"})), "(50 %, 2, 1)-coherence"),  # type: ignore[arg-type]
        (sv.LmDiversity(2, 1, frozenset({"bun"})), "2 1 -diversity"),
    ],
)
def test_every_guarantee_has_its_words(tmp_path: Path, guarantee: object, said: str) -> None:
    rows = [["ale", "milk"], ["wine", "milk"], ["milk"], ["ale"], ["wine"], ["milk", "bun"], ["milk"]]
    release = sv.anonymize(
        sv.Transactions.from_rows(rows),
        guarantee,  # type: ignore[arg-type]
        hierarchy=sv.Hierarchy.from_parents(TREE),
    )
    public, private = published(tmp_path, release)
    assert said in public
    assert said.partition(" at least")[0] in public + private


def test_a_useless_release_says_so(tmp_path: Path) -> None:
    tree = sv.Hierarchy.from_parents({**dict.fromkeys("abcdef", "ALL"), "ALL": None})
    data = sv.Transactions.from_rows([[item] for item in "abcdef"])
    release = sv.anonymize(data, sv.KmAnonymity(4, 2), hierarchy=tree, method="optimal")
    public, private = published(tmp_path, release)
    assert "nobody can learn anything from it" in public
    assert "nobody can learn anything from it" in private


def test_a_release_without_a_label_says_so(tmp_path: Path) -> None:
    data = sv.Transactions.from_rows([[item] for item in "abcdef"])
    public, private = published(tmp_path, sv.anonymize(data, sv.KmAnonymity(4, 2), method="mm"))
    assert "This release holds no label at all" in public
    assert "nothing is published" in private.lower()


def test_unprotected_columns_are_told_of(tmp_path: Path) -> None:
    lines = ["name,sex,drugs", *(f"n{n},{'FM'[n % 2]},milk bun" for n in range(12))]
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n")
    records = sv.read_records(
        tmp_path / "t.csv", set_columns={"drugs": " "}, keep=["sex"], keep_unprotected=["name"]
    )
    public, _ = published(tmp_path, sv.anonymize(records, sv.KmAnonymity(2, 2), method="trim"))
    assert "The promise does not cover 1 column" in public
    assert "name published as it is, NOT covered by the promise" in public


def test_ten_labels_are_all_shown_and_ten_thousand_are_summarised() -> None:
    for items in (10, 10_000):
        names = [f"item {number:05}" for number in range(items)]
        tree = balanced(names, 7)
        data = sv.Transactions.from_rows([[name] for name in names] * 2)
        drawn = labels(sv.KmAnonymity(2, 1), data, [tree.path(name) for name in names])
        assert drawn.count("<li>") <= MOST_LINES
        assert len(drawn) < 20_000
        assert (all(f">{name}<" in drawn for name in names)) == (items == 10)
        assert (f"{items:,} labels" in drawn) and ('class="more"' in drawn) == (items > 10)


def test_the_same_release_gives_the_same_page_whatever_the_order(tmp_path: Path) -> None:
    data, tree = groceries()
    rows = list(data.rows())[:800]
    pages = []
    for place, ordered in enumerate((rows, rows[::-1])):
        made = sv.anonymize(sv.Transactions.from_rows(ordered), sv.KmAnonymity(4, 2), hierarchy=tree)
        sv.publish(made, tmp_path / str(place))
        pages.append((tmp_path / str(place) / "report.html").read_bytes())
    assert pages[0] == pages[1]
