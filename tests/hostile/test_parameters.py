"""Bad parameters: each gets its exit code, a short code, a remedy, and nothing is written."""

from __future__ import annotations

from pathlib import Path

import pytest

import setveil as sv
from setveil.errors import Infeasible, SetveilError, UsageError
from tests.integration.cli import Shell
from tests.integration.conftest import shell as shell

TREE = ("--hierarchy", "products.csv")
KM = ("-k", "2", "-m", "2")
OUT = ("-o", "out")

CASES: list[tuple[str, tuple[str, ...], int, str]] = [
    ("k of one", (*TREE, "-k", "1", "-m", "2", *OUT), 2, "k=1 gives no protection"),
    ("k of zero", (*TREE, "-k", "0", "-m", "2", *OUT), 2, "out of range"),
    ("k above the records", (*TREE, "-k", "10", "-m", "2", *OUT), 4, "impossible with 9 records"),
    ("m of zero", (*TREE, "-k", "2", "-m", "0", *OUT), 2, "out of range"),
    *[
        (f"{letter} as {text!r}", (*TREE, *words, *OUT), 2, "plain digits")
        for text in (
            "2.5",
            "1e1",
            "\uff12",
            "\u0663",
            "",
            " 7",
            "+5",
            "1_000",
            "0x10",
            "9" * 30,
            "two",
            "05",
            "00",
        )
        for letter, words in (("k", ("-k", text, "-m", "2")), ("m", ("-k", "2", "-m", text)))
    ],
    ("k with a zero before it", (*TREE, "-k", "05", "-m", "2", *OUT), 2, "without leading zeros"),
    ("m with a zero before it", (*TREE, "-k", "2", "-m", "02", *OUT), 2, "without leading zeros"),
    ("negative k", (*TREE, "-k", "-5", "-m", "2", *OUT), 2, ""),
    ("no k", (*TREE, "-m", "2", *OUT), 2, "-k is missing"),
    ("no m", (*TREE, "-k", "2", *OUT), 2, "-m is missing"),
    ("no output", (*TREE, *KM), 2, "no output"),
    ("no hierarchy", (*KM, *OUT, "--method", "aa"), 2, "hierarchy learn"),
    ("unknown method", (*TREE, *KM, *OUT, "--method", "magic"), 2, "Known: auto, trim"),
    ("unknown domain", (*TREE, *KM, *OUT, "--domain", "all"), 2, "Allowed: used, hierarchy"),
    ("domain of nothing", (*KM, *OUT, "--domain", "hierarchy"), 2, "leave --domain out"),
    ("unknown cost", (*TREE, *KM, *OUT, "--cost", "joy"), 2, "Known: ncp, lm"),
    ("unknown guarantee", (*TREE, *KM, *OUT, "--guarantee", "dp"), 2, "Known: km, k, lm"),
    ("format of a dry run", (*TREE, *KM, "--dry-run", "--format", "bogus"), 2, "unknown format"),
    ("format of a table", (*TREE, *KM, *OUT, "--format", "table"), 2, "nothing else as a table"),
    ("stdin twice", ("--hierarchy", "-", *KM, *OUT, "--weights", "-"), 2, "error[stdin-twice]"),
    ("ids without a column", (*TREE, *KM, *OUT, "--id-policy", "error"), 2, "error[unused-option]"),
    ("ids of baskets", (*TREE, *KM, *OUT, "--layout", "baskets", "--id-policy", "error"), 2, "no use"),
    ("control delimiter", (*TREE, *KM, *OUT, "--delimiter", "\x01"), 2, "error[bad-delimiter]"),
    ("delimiter of one-hot cells", (*TREE, *KM, *OUT, "--delimiter", "1"), 2, "error[bad-delimiter]"),
    ("k above 2^31", (*TREE, "-k", "3000000000", "-m", "2", *OUT), 2, "plain digits"),
    ("bytes above 2^62", (*TREE, *KM, *OUT, "--max-bytes", "5000000000000000000"), 2, "plain digits"),
    ("unknown format", (*TREE, *KM, *OUT, "--format", "xlsx"), 2, "unknown format"),
    ("unknown layout", (*TREE, *KM, *OUT, "--layout", "xlsx"), 2, ""),
    ("unknown policy", (*TREE, *KM, *OUT, "--unknown", "guess"), 2, "attach-to-root"),
    ("unknown option", (*TREE, *KM, *OUT, "--speed", "9"), 2, "--speed"),
    ("option of another method", (*TREE, *KM, *OUT, "--method", "aa", "--parts", "3"), 2, "parts"),
    ("bad option value", (*TREE, *KM, *OUT, "--method", "aa", "--path", "slow"), 2, "fast, reference"),
    ("too small option", (*TREE, *KM, *OUT, "--method", "lra", "--parts", "0"), 2, "parts >= 1"),
    ("odd option number", (*TREE, *KM, *OUT, "--method", "lra", "--parts", "1.5"), 2, "plain digits"),
    ("inner unknown", (*TREE, *KM, *OUT, "--method", "lra", "--inner", "lra"), 2, "Allowed"),
    (
        "inner cannot",
        (*TREE, "--negative", *KM, *OUT, "--method", "lra", "--inner", "vpa"),
        2,
        "only what inner keeps in each part. Give --inner aa or optimal",
    ),
    (
        "inner cannot diversity",
        (*TREE, "--l", "2", "-m", "2", "--sensitive", "ale", *OUT, "--method", "lra", "--inner", "aa"),
        2,
        "Give --inner optimal, or leave it out",
    ),
    (
        "method cannot",
        (*TREE, "--negative", *KM, *OUT, "--method", "oa"),
        2,
        "Methods that do: optimal, aa",
    ),
    ("k of records with m", (*TREE, *KM, *OUT, "--guarantee", "k"), 2, "does not fit"),
    ("l with k", (*TREE, *KM, *OUT, "--l", "2"), 2, "-k does not fit the guarantee 'lm'"),
    ("negative with k", (*TREE, "-k", "2", "--guarantee", "k", "--negative", *OUT), 2, "does not fit"),
    (
        "sensitive with km",
        (*TREE, *KM, *OUT, "--guarantee", "km", "--sensitive", "ale"),
        2,
        "does not fit",
    ),
    ("l of one", (*TREE, "--l", "1", "-m", "2", "--sensitive", "ale", *OUT), 2, "out of range"),
    ("l without sensitive", (*TREE, "--l", "2", "-m", "2", *OUT), 2, "sensitive"),
    ("sensitive unknown", (*TREE, "--l", "2", "-m", "2", "--sensitive", "rum", *OUT), 2, "neither in"),
    ("sensitive category", (*TREE, "--l", "2", "-m", "2", "--sensitive", "food", *OUT), 2, "category"),
    ("l too high", (*TREE, "--l", "99", "-m", "2", "--sensitive", "ale", *OUT), 4, ""),
    ("sensitive file missing", (*TREE, "--l", "2", "-m", "1", "--sensitive", "@none", *OUT), 5, ""),
    ("time limit of zero", (*TREE, *KM, *OUT, "--time-limit", "0"), 2, "above 0"),
    ("time limit in words", (*TREE, *KM, *OUT, "--time-limit", "soon"), 2, "above 0"),
    ("threads of zero", (*TREE, *KM, *OUT, "--threads", "0"), 2, "Give for example 2"),
    (
        "time limit too short",
        (*TREE, *KM, *OUT, "--method", "aa", "--time-limit", "0.000001"),
        6,
        "limit",
    ),
    ("header of a table", (*TREE, *KM, *OUT, "--set", "x", "--header"), 2, "does not fit a table"),
    ("counts of a table", (*TREE, *KM, *OUT, "--set", "x", "--counts"), 2, "does not fit a table"),
    ("no table", (*TREE, *KM, *OUT, "--set", "x"), 3, "baskets.csv:3"),
    (
        "separators",
        (*TREE, *KM, *OUT, "--set", "x", "--set-separator", "a", "--set-separator", "b"),
        2,
        "",
    ),
    ("keep without set", (*TREE, *KM, *OUT, "--keep", "sex"), 2, "--set COLUMN"),
    ("two hierarchies", (*TREE, *TREE, *KM, *OUT), 2, "tables"),
    ("hierarchy missing", ("--hierarchy", "none.csv", *KM, *OUT), 5, ""),
    ("weights missing", (*TREE, *KM, *OUT, "--weights", "none.csv"), 5, ""),
    ("max bytes in words", (*TREE, *KM, *OUT, "--max-bytes", "big"), 2, "plain digits"),
    ("too many bytes", (*TREE, *KM, *OUT, "--max-bytes", "3"), 6, ""),
]


@pytest.mark.parametrize(
    ("words", "code", "text"), [case[1:] for case in CASES], ids=[c[0] for c in CASES]
)
def test_bad_parameters(shell: Shell, words: tuple[str, ...], code: int, text: str) -> None:
    before = shell.names()
    ran = shell("anonymize", "baskets.csv", *words, "--json")
    assert ran.code == code, ran.err
    assert text in ran.err
    assert ran.err.count("error[") >= 1
    assert ran.err.endswith("Nothing was written.\n")
    assert "Traceback" not in ran.err
    assert ran.json["exit_code"] == code
    for problem in ran.json["problems"]:
        assert problem["code"]
        assert problem["what"]
    assert shell.names() == before


def test_the_table_is_long_enough() -> None:
    assert len(CASES) >= 60


def test_m_above_the_longest_is_a_notice(shell: Shell) -> None:
    ran = shell("anonymize", "baskets.csv", *TREE, "-k", "2", "-m", "9", *OUT, "--json")
    assert ran.code == 0
    assert ran.json["guarantee"]["m"] == 9
    assert "treated as m=2" in ran.err


def test_no_cut_suffices_even_at_the_root(shell: Shell) -> None:
    Path("baskets.csv").write_text("ale\n\n\n\n")
    words = (
        "anonymize",
        "baskets.csv",
        "--layout",
        "baskets",
        "--empty-rows",
        "keep",
        *TREE,
        *KM,
        *OUT,
        "--no-suppression",
    )
    ran = shell(*words)
    assert ran.code == 4, ran.err
    assert not Path("out").exists()


@pytest.mark.parametrize(
    "options",
    [
        {"method": 5},
        {"cost": "joy"},
        {"time_limit": -1},
        {"time_limit": "5"},
        {"time_limit": True},
        {"threads": 0},
        {"threads": True},
        {"threads": 2.0},
        {"unknown": "guess"},
        {"weights": {"rum": 1}},
        {"weights": {"ale": -1}},
        {"weights": {"ale": "heavy"}},
        {"weights": {"ale": float("nan")}},
        {"weights": {"ale": None}},
        {"cost": 5},
        {"strange": 1},
        {"method": "lra", "parts": "3"},
        {"method": "lra", "parts": True},
        {"method": "lra", "inner": None},
        {"hierarchy": None, "method": "aa"},
    ],
)
def test_bad_parameters_in_python(options: dict[str, object]) -> None:
    tree = sv.Hierarchy.from_parents({"ale": "ALL", "bun": "ALL", "ALL": None})
    data = sv.Transactions.from_rows([["ale"], ["bun"]])
    with pytest.raises(UsageError):
        sv.anonymize(data, sv.KmAnonymity(2, 1), **{"hierarchy": tree, **options})  # type: ignore[arg-type]


@pytest.mark.parametrize("data", ["baskets.csv", Path("x"), b"x", 5, None, [["ale"]]])
def test_data_of_other_kinds(data: object) -> None:
    tree = sv.Hierarchy.from_parents({"ale": "ALL", "ALL": None})
    with pytest.raises(SetveilError):
        sv.anonymize(data, sv.KmAnonymity(2, 1), hierarchy=tree)


@pytest.mark.parametrize("guarantee", [None, "km", 5, {"k": 5, "m": 2}])
def test_guarantees_of_other_kinds(guarantee: object) -> None:
    data = sv.Transactions.from_rows([["ale"], ["ale"]])
    with pytest.raises(UsageError):
        sv.anonymize(data, guarantee, hierarchy=None)  # type: ignore[arg-type]


def test_huge_records_are_refused_by_estimate() -> None:
    import numpy as np

    from setveil.errors import ResourceLimit
    from setveil.model.transactions import Vocabulary

    n = 600_000
    labels = Vocabulary(tuple(f"{number:07d}" for number in range(n)))
    data = sv.Transactions(labels, np.array([0, n, n], dtype=np.int64), np.arange(n, dtype=np.int32))
    with pytest.raises(ResourceLimit, match=r"179,999,700,000 sets of 2 items.* 600,000 items") as told:
        sv.Job(sv.KmAnonymity(2, 2)).prepare(data, None)
    assert told.value.exit_code == 6
    assert told.value.problems[0].remedy.startswith("Lower m to 1")
    with pytest.raises(UsageError, match="needs a hierarchy"):
        sv.Job(sv.KmAnonymity(2, 1), method="aa").prepare(data, None)
    shorter = sv.Transactions(labels, np.array([0, 50_000, 50_000]), data.items[:50_000])
    with pytest.raises(ResourceLimit, match="sets of 3 items"):
        sv.Job(sv.KmAnonymity(2, 5)).prepare(shorter, None)
    with pytest.raises(UsageError, match="needs a hierarchy"):
        sv.Job(sv.KmAnonymity(2, 2), method="aa").prepare(shorter, None)


def test_k_above_the_records_is_told_before_anything_else() -> None:
    data = sv.Transactions.from_rows([["ale"]])
    with pytest.raises(Infeasible, match="1 record"):
        sv.anonymize(data, sv.KmAnonymity(2, 1), hierarchy=None)


@pytest.mark.parametrize(
    "more", [("--max-bytes", "5000000000"), ("--method", "lra", "--memory", "8000000000")]
)
def test_bytes_beyond_two_gib_can_be_named(shell: Shell, more: tuple[str, ...]) -> None:
    assert shell.anonymize(*more).code == 0


@pytest.mark.parametrize("words", [(), ("--dry-run",)])
@pytest.mark.parametrize("epoch", ["abc", "", "-1", "1e9"])
def test_a_date_that_is_none_is_told_first(
    shell: Shell, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], epoch: str
) -> None:
    def read(*_: object, **__: object) -> None:
        raise AssertionError("read before the environment was checked")

    monkeypatch.setenv("SOURCE_DATE_EPOCH", epoch)
    monkeypatch.setattr("setveil.run.Run.read_sets", read)
    before = shell.names()
    ran = shell.anonymize(*words)
    assert ran.code == 2, ran.err
    assert "SOURCE_DATE_EPOCH" in ran.err
    assert shell.names() == before


@pytest.mark.parametrize("method", ["vpa", "lra"])
def test_the_time_limit_told_is_the_one_given(shell: Shell, method: str) -> None:
    ran = shell.anonymize("--method", method, "--time-limit", "0.000001")
    assert ran.code == 6, ran.err
    assert "the time limit of 1e-06 s passed" in ran.err


def test_a_share_of_the_time_tells_the_whole() -> None:
    from setveil.errors import TimeLimit
    from setveil.progress import Watch

    watch = Watch(time_limit=5.0, started=-1e9)
    for part in (watch.of_part(), watch.of_part(3).of_part(2)):
        assert part.stop is watch.stop
        with pytest.raises(TimeLimit, match="limit of 5 s"):
            part.check_deadline()
    assert Watch().of_part().time_limit is None
    assert 0 < Watch(time_limit=60.0).of_part(2).remaining <= 30


def test_a_format_that_cannot_hold_names_the_file(shell: Shell) -> None:
    ran = shell.anonymize("--format", "fimi")
    assert ran.code == 3, ran.err
    assert "error[format-cannot-hold] out/data.dat: " in ran.err
    assert "Choose another format" in ran.err
