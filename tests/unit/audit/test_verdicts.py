"""Small cases with known answers, the mutants that must die, limits, and how a verdict reads."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from collections import Counter
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

from setveil.audit import Published, audit_folder, audit_published, km, negative
from setveil.audit.__main__ import main
from setveil.errors import DataError, ResourceLimit, UsageError
from setveil.model.guarantees import Coherence, KAnonymity, KmAnonymity, LmDiversity
from tests.shared_data import shared_data
from tests.unit.audit.folders import ROWS, write_folder


def published(*rows):
    return Published.from_rows([list(row) for row in rows])


def test_support_k_is_enough_and_one_less_is_not():
    rows = published("ab", "ab", "ab")
    assert audit_published(rows, KmAnonymity(3, 2)).holds
    assert not audit_published(rows, KmAnonymity(4, 2)).holds
    assert audit_published(rows, KAnonymity(3)).holds
    assert not audit_published(rows, KAnonymity(4)).holds


def test_single_labels_count_besides_pairs():
    verdict = audit_published(published("a", "bc", "bc"), KmAnonymity(2, 2), witnesses=5)
    assert not verdict.holds
    assert [witness.present for witness in verdict.witnesses] == [("a",)]
    assert [finding.achieved_k for finding in verdict.by_size] == [1, 1]
    assert [finding.violations for finding in verdict.by_size] == [1, 0]


def test_sets_of_exactly_m_count_and_larger_ones_do_not():
    # Every pair is in two rows at least, the triple in one.
    rows = published("abc", "ab", "bc", "ac")
    assert audit_published(rows, KmAnonymity(2, 2)).holds
    verdict = audit_published(rows, KmAnonymity(2, 3), witnesses=1)
    assert not verdict.holds
    assert verdict.witnesses[0].present == ("a", "b", "c") and verdict.witnesses[0].support == 1


def test_empty_rows_are_records_but_hold_no_set():
    rows = published("", "a", "a")
    verdict = audit_published(rows, KmAnonymity(2, 5))
    assert verdict.holds and verdict.records == 3 and "m=5" in verdict.notes[0]
    assert not audit_published(rows, KAnonymity(2)).holds
    assert not audit_published(rows, KmAnonymity(2, 1, negative=True)).holds
    nothing = audit_published(published("", ""), KmAnonymity(2, 2))
    assert nothing.holds and nothing.smallest_support is None and nothing.by_size == ()
    assert audit_published(published("", ""), KmAnonymity(2, 2, negative=True)).holds
    assert audit_published(published("", ""), LmDiversity(2, 2, frozenset("s"))).holds


def test_negative_knowledge_is_more_than_presence():
    rows = published("a", "b", "c", "abc", "abc")
    assert audit_published(rows, KmAnonymity(2, 1)).holds
    verdict = audit_published(published("a", "a", "a", ""), KmAnonymity(3, 1, True), witnesses=9)
    assert [(w.present, w.absent, w.support) for w in verdict.witnesses] == [((), ("a",), 1)]


def test_diversity_examples():
    secret = frozenset({"s"})
    same = audit_published(published("abs", "abs", "abs"), LmDiversity(2, 2, secret), witnesses=1)
    assert not same.holds and same.worst_ratio == 1
    assert same.witnesses[0].sensitive == "s" and same.witnesses[0].support == 3
    merged = audit_published(published("As", "As", "A"), LmDiversity(2, 2, secret))
    assert not merged.holds and merged.worst_ratio == Fraction(2, 3)
    fine = audit_published(published("as", "bs", "ab"), LmDiversity(2, 2, secret))
    assert fine.holds and fine.worst_ratio == Fraction(1, 2)


def test_a_share_is_compared_without_rounding():
    rows = published(*["as"] * 33, *["a"] * 66)
    assert audit_published(rows, LmDiversity(3, 1, frozenset("s"))).holds
    rows = published(*["as"] * 34, *["a"] * 67)
    assert not audit_published(rows, LmDiversity(3, 1, frozenset("s"))).holds


def test_cover_needs_k_rows_over_each_leaf():
    rows = published("A", "A", "x")
    tree = {"A": ["x", "y"]}
    assert audit_published(rows, KmAnonymity(2, 2), mode="cover", leaves_under=tree).holds
    assert not audit_published(rows, KmAnonymity(2, 2)).holds
    assert not audit_published(rows, KmAnonymity(3, 2), mode="cover", leaves_under=tree).holds


@pytest.mark.parametrize(
    "guarantee", [KAnonymity(2), LmDiversity(2, 1, frozenset("a")), KmAnonymity(2, 1, True)]
)
def test_cover_is_for_km_only(guarantee):
    with pytest.raises(UsageError):
        audit_published(published("a"), guarantee, mode="cover")


def test_wrong_options_are_refused():
    rows, guarantee = published("a"), KmAnonymity(2, 1)
    for options in ({"mode": "x"}, {"witnesses": -1}, {"witnesses": True}):
        with pytest.raises(UsageError):
            audit_published(rows, guarantee, **options)
    with pytest.raises(UsageError):
        audit_published(published("ab"), KmAnonymity(2, 2), threads=0)


@pytest.mark.parametrize(
    ("indptr", "items", "labels"),
    [
        ([0, 2], [0, 0], ["a"]),
        ([0, 2], [1, 0], ["a", "b"]),
        ([0, 1], [2], ["a", "b"]),
        ([0, 1], [-1], ["a", "b"]),
        ([0, 2], [0], ["a"]),
        ([1, 1], [0], ["a"]),
        ([0, 2, 1], [0], ["a"]),
        ([], [], []),
        ([0, 1], [0], ["a", "a"]),
        ([0, 1], [0], [""]),
    ],
)
def test_rows_that_are_no_sets_of_labels_are_refused(indptr, items, labels):
    with pytest.raises(DataError):
        Published(np.array(indptr, np.int64), np.array(items, np.int32), tuple(labels))


def test_a_repeated_label_names_its_row():
    with pytest.raises(DataError, match="row 2 repeats"):
        Published.from_rows([["a"], ["b", "c", "b"]])
    with pytest.raises(DataError, match="row 2 "):
        Published(np.array([0, 1, 3]), np.array([0, 1, 1]), ("a", "b"))


def test_rows_may_end_high_and_start_low():
    rows = Published(np.array([0, 1, 1, 2]), np.array([1, 0]), ("a", "b"))
    assert rows.records == 3 and rows.longest == 1
    assert not rows.items.flags.writeable


def test_too_much_work_is_refused_unless_the_answer_is_known():
    rng = np.random.default_rng(1)
    rows = [[str(label) for label in range(16) if rng.random() < 0.5] for _ in range(400)]
    for guarantee in (KmAnonymity(5, 6), KmAnonymity(5, 6, True)):
        with pytest.raises(ResourceLimit):
            audit_published(Published.from_rows(rows * 5), guarantee, work_limit=1_000)
    # With and without the sensitive label in equal number: the share is a half everywhere.
    halves = Published.from_rows([*rows, *([*row, "s"] for row in rows)])
    diversity = LmDiversity(2, 4, frozenset("s"))
    with pytest.raises(ResourceLimit):
        audit_published(halves, diversity, work_limit=1_000)
    assert audit_published(halves, diversity).worst_ratio == Fraction(1, 2)
    cut = audit_published(Published.from_rows([*rows * 5, ["x"]]), KmAnonymity(5, 6), work_limit=10)
    assert not cut.holds and "work limit" in cut.notes[0] and not cut.by_size[-1].exact


def test_too_wide_a_cover_is_refused(monkeypatch):
    monkeypatch.setattr(km, "WIDEST", 2)
    tree = {"a": ["x"], "b": ["y", "x"]}
    with pytest.raises(ResourceLimit):
        audit_published(published("ab"), KmAnonymity(2, 2), mode="cover", leaves_under=tree)


def test_too_many_bitmaps_are_refused(monkeypatch):
    monkeypatch.setattr(negative, "LARGEST_BITMAPS", -1)
    with pytest.raises(ResourceLimit):
        audit_published(published("ab", "a"), KmAnonymity(2, 2, True))


def test_the_search_below_k_can_be_bounded(monkeypatch):
    monkeypatch.setattr(km, "RARE_WORK_LIMIT", -64)
    rows = ["abcd", "abd", "acd", "bcd"] * 2
    verdict = audit_published(published(*rows), KmAnonymity(5, 4))
    assert not verdict.holds
    assert not verdict.by_size[-1].exact and verdict.by_size[-1].achieved_k >= 2


def test_large_weights_are_counted_exactly():
    rows = Published.from_rows([["a", "b", "c"]] * 1_000 + [["a", "b"]] * 777 + [["c"]] * 3)
    verdict = audit_published(rows, KmAnonymity(1_000, 3))
    assert verdict.holds and verdict.smallest_support == 1_000
    assert not audit_published(rows, KmAnonymity(1_001, 3)).holds


def test_a_verdict_reads_well():
    verdict = audit_published(published("a<b>", "a"), KmAnonymity(2, 2), witnesses=2)
    text = str(verdict)
    assert text.startswith("DOES NOT HOLD: 2^2-anonymity (exact support), 2 records")
    assert "size  checked  rarest in  new violations" in text
    assert "  new: not counting sets that contain a smaller violating set\n" in text
    assert "not counting" in verdict._repr_html_()
    assert "witness: {<} in 1" in text
    page = verdict._repr_html_()
    assert "<b>" not in page and "&lt;" in page
    assert json.loads(json.dumps(verdict.as_dict()))["by_size"][1]["violations"] == 0
    assert not verdict and verdict.violations == 3
    kept = str(audit_published(published("a", "a"), KmAnonymity(2, 1)))
    assert kept.startswith("HOLDS") and "not counting" not in kept
    alone = str(audit_published(published("a"), KmAnonymity(2, 1)))
    assert alone.splitlines()[0].endswith(", 1 record")
    lm = audit_published(published("as", "a"), LmDiversity(2, 1, frozenset("s")))
    assert (
        "largest l  violations" in str(lm)
        and "1/2" in str(lm)
        and lm.as_dict()["worst_ratio"] == [1, 2]
    )


def test_the_command_leaves_with_the_right_code(tmp_path, capsys):
    good = write_folder(tmp_path / "good")
    assert main([str(good)]) == 0
    assert capsys.readouterr().out.startswith("HOLDS")
    bad = write_folder(tmp_path / "bad", guarantee={"model": "km", "k": 3, "m": 2})
    assert main([str(bad), "--json", "--witnesses", "1"]) == 1
    answer = json.loads(capsys.readouterr().out)
    assert answer["holds"] is False and answer["witnesses"] == [
        {"present": ["c d"], "absent": [], "support": 2}
    ]
    assert main([str(tmp_path / "none")]) == 5
    assert "error[file]" in capsys.readouterr().err
    (good / "x").touch()
    assert main([str(good), "--json"]) == 3
    told = json.loads(capsys.readouterr().out)["error"]
    assert told["exit_code"] == 3 and told["problems"][0]["code"] == "spare-file"
    assert main([str(bad), "--witnesses", "-1"]) == 2
    with pytest.raises(SystemExit) as left:
        main(["--mode", "x"])
    assert left.value.code == 2
    with pytest.raises(UsageError):
        audit_folder(bad, mode="x")


def test_the_command_stands_alone(tmp_path):
    folder = write_folder(tmp_path / "r")
    script = (
        "import sys, runpy; sys.argv = ['audit', sys.argv[1]]\n"
        "try: runpy.run_module('setveil.audit', run_name='__main__')\n"
        "except SystemExit as left: code = left.code\n"
        "ours = {n for n in sys.modules if n.startswith('setveil.')}\n"
        "allowed = ('setveil.audit', 'setveil.errors', 'setveil.model', 'setveil._version')\n"
        "odd = [n for n in ours if not n.startswith(allowed)]\n"
        "assert not odd, odd\n"
        "models = {n for n in ours if n.startswith('setveil.model.')}\n"
        "known = ('setveil.model.guarantees', 'setveil.model.numbers')\n"
        "assert all(n.startswith(known) for n in models), models\n"
        "sys.exit(code)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(folder)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("HOLDS") and f"{len(ROWS)} records" in done.stdout


def test_real_data_are_counted_right():
    path = shared_data("BMS-WebView-2.dat.gz")
    with gzip.open(path, "rt") as lines:
        rows = [sorted(set(line.split())) for line in lines]
    raw = Published.from_rows(rows)
    guarantee = KmAnonymity(5, 3)
    verdict = audit_published(raw, guarantee)
    assert not verdict.holds
    assert [finding.achieved_k for finding in verdict.by_size] == [1, 1, 1]
    # The same sets by plain Python: pairs from the rows, triples of good pairs from sets of rows.
    single = Counter(label for row in rows for label in row)
    pairs = Counter(pair for row in rows for pair in combinations(row, 2))
    rows_with: dict[str, set[int]] = {}
    for number, row in enumerate(rows):
        for label in row:
            rows_with.setdefault(label, set()).add(number)
    partners: dict[str, set[str]] = {}
    for (one, other), count in pairs.items():
        if count >= 5:
            partners.setdefault(one, set()).add(other)
    rare_triples = 0
    for one, others in partners.items():
        for other in others:
            both = rows_with[one] & rows_with[other]
            for third in others & partners.get(other, set()):
                rare_triples += 0 < len(both & rows_with[third]) < 5
    rare = {label for label, count in single.items() if count < 5}
    assert verdict.by_size[0].violations == len(rare)
    assert verdict.by_size[1].checked == len(pairs)
    assert verdict.by_size[1].violations == sum(
        count < 5 and not rare & set(pair) for pair, count in pairs.items()
    )
    assert verdict.by_size[2].violations == rare_triples


def test_a_very_long_row_is_refused_at_once():
    labels = [str(label) for label in range(3_000)]
    rows = [labels] * 5 + [labels[1:]] * 5
    with pytest.raises(ResourceLimit):
        audit_published(Published.from_rows(rows), KmAnonymity(5, 2), work_limit=1_000_000)


WIDE = np.arange(200_000)
WIDE_LABELS = tuple(f"i{number:06d}" for number in WIDE)


def wide_rows(*rows: np.ndarray) -> Published:
    indptr = np.concatenate(([0], np.cumsum([len(row) for row in rows]))).astype(np.int64)
    return Published(indptr, np.concatenate(rows).astype(np.int32), WIDE_LABELS)


@pytest.mark.parametrize("equal", [1, 5])
@pytest.mark.parametrize(
    ("guarantee", "mode"),
    [
        (KmAnonymity(5, 2), "exact"),
        (KmAnonymity(5, 3), "exact"),
        (KmAnonymity(5, 2), "cover"),
        (KmAnonymity(5, 2, negative=True), "exact"),
        (Coherence(100, 5, 2), "exact"),
        (LmDiversity(2, 2, frozenset({"i000007"})), "exact"),
    ],
    ids=str,
)
def test_very_wide_rows_are_settled_by_their_labels(guarantee, mode, equal):
    """Two hundred thousand labels have twenty thousand million pairs: a few steps each are enough."""
    verdict = audit_published(wide_rows(*[WIDE] * equal), guarantee, mode=mode, work_limit=10_000_000)
    diverse = isinstance(guarantee, LmDiversity)
    assert verdict.holds == (equal == 5 and not diverse)
    if not diverse and not getattr(guarantee, "negative", False) and mode == "exact":
        assert verdict.by_size[1].checked == len(WIDE) * (len(WIDE) - 1) // 2
        assert verdict.smallest_support == equal


@pytest.mark.parametrize(
    "guarantee",
    [
        KmAnonymity(2, 2),
        KmAnonymity(2, 2, negative=True),
        LmDiversity(2, 2, frozenset({"none"})),
        Coherence(50, 2, 2, frozenset({"i000007"})),
    ],
    ids=str,
)
def test_too_much_work_is_known_before_it_begins(guarantee):
    rows = wide_rows(*[WIDE] * 2, *[WIDE[1:]] * 2)
    with pytest.raises(
        ResourceLimit, match=r"at least [0-9,]{13,} steps.*the limit is 1,000,000"
    ) as caught:
        audit_published(rows, guarantee, work_limit=1_000_000)
    assert caught.value.exit_code == 6
    assert "Lower m" in caught.value.problems[0].remedy


@pytest.mark.parametrize("negative", [False, True])
def test_a_rare_label_answers_before_very_many_pairs_are_counted(negative):
    """Of 200,000 labels a quarter are in one row alone, the others in up to four."""
    rows = wide_rows(WIDE, WIDE[::2], WIDE[::3], WIDE[::5])
    verdict = audit_published(rows, KmAnonymity(2, 2, negative=negative))
    rows_of_label = [1 + sum(number % step == 0 for step in (2, 3, 5)) for number in range(len(WIDE))]
    lone = rows_of_label.count(1) + (rows_of_label.count(3) if negative else 0)  # one lacks it
    assert not verdict.holds
    assert verdict.by_size[0].violations == lone
    assert not verdict.by_size[1].exact
    assert "counting stopped at the work limit, after violations had been found." in verdict.notes


def test_pairs_of_rare_labels_are_passed_over_where_they_are_many():
    """Both rows alone are rare; nothing that holds a rare label is a minimal violation."""
    verdict = audit_published(
        wide_rows(WIDE[:150_000], WIDE[50_000:]), KmAnonymity(5, 2), work_limit=1_000_000
    )
    assert not verdict.holds
    assert [finding.violations for finding in verdict.by_size] == [len(WIDE), 0]
    assert verdict.smallest_support == 1 and verdict.by_size[1].exact
