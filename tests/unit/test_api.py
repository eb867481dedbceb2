"""The verbs: what they take, what they return, what they write."""

from __future__ import annotations

import hashlib
import hmac
import json
import stat
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import setveil as sv
from setveil.errors import DataError, FileSystemError, HierarchyError, InternalError, UsageError
from setveil.io.formats import FORMATS
from setveil.model.layout import LayoutColumn
from setveil.model.microdata import Microdata
from setveil.model.rules import NegativeRule
from setveil.registry import METHODS, method

ROWS = [
    ["ale", "milk"],
    ["wine", "milk"],
    ["milk"],
    ["ale", "bun"],
    ["wine", "bun"],
    ["bun", "milk"],
    ["bun", "milk"],
]
TREE = {
    "ale": "alcohol",
    "wine": "alcohol",
    "alcohol": "ALL",
    "milk": "food",
    "bun": "food",
    "food": "ALL",
    "ALL": None,
}


@pytest.fixture
def baskets() -> sv.Transactions:
    return sv.Transactions.from_rows(ROWS)


@pytest.fixture
def products() -> sv.Hierarchy:
    return sv.Hierarchy.from_parents(TREE)


@pytest.fixture
def release(baskets: sv.Transactions, products: sv.Hierarchy) -> sv.Release:
    return sv.anonymize(baskets, sv.KmAnonymity(k=2, m=2), hierarchy=products, method="optimal")


def test_release_says_what_was_kept_and_lost(release: sv.Release) -> None:
    text = str(release)
    assert "2^2-anonymity" in text
    assert "proven" in text
    assert "NCP 0.1538" in text
    assert repr(release) == "Release(2^2-anonymity, optimal, 7 records, NCP 0.1538, LM 0.1026)"
    assert "<table>" in release._repr_html_()
    assert list(release.published.rows())[:2] == [("alcohol", "bun"), ("alcohol", "bun")]


def test_losses_are_exact(release: sv.Release, baskets: sv.Transactions) -> None:
    # Four of thirteen occurrences become a label over 2 of 4 leaves.
    assert release.losses == {"ncp": Fraction(4 * 2, 13 * 4), "lm": Fraction(4, 13 * 3)}
    assert dict(sv.measure(release, measures=["ncp", "lm"])) == release.losses
    assert dict(sv.measure(release)) == dict(sv.measure(release, baskets))
    assert "lower is better" in str(sv.measure(release))
    assert (release.items, release.occurrences, release.unchanged) == (4, 13, 9)


def test_measure_refuses_other_data(release: sv.Release) -> None:
    with pytest.raises(UsageError):
        sv.measure(release, sv.Transactions.from_rows([["ale"], ["wine"]]))


def test_weights_change_the_choice(baskets: sv.Transactions, products: sv.Hierarchy) -> None:
    with pytest.raises(UsageError, match="no item of the hierarchy"):
        sv.anonymize(baskets, sv.KmAnonymity(2, 2), hierarchy=products, weights={"alcohol": 2})
    heavy = sv.anonymize(baskets, sv.KmAnonymity(2, 2), hierarchy=products, weights={"ale": 50})
    assert heavy.objective is not None
    assert "ale" in heavy.labels
    assert "food" in heavy.labels
    assert heavy.objective.value == Fraction(9, 2 * (11 + 2 * 50))
    assert heavy.losses["ncp"] == Fraction(9, 26)


def test_publish_writes_exactly_the_folder(release: sv.Release, tmp_path: Path) -> None:
    publication = sv.publish(release, tmp_path / "out")
    names = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert names == ["certificate.json", "data.jsonl", "hierarchy.csv", "report.html"]
    private = tmp_path / "out.private"
    named = ["audit.json", "hierarchy.csv", "recoding.json", "report.html"]
    assert sorted(path.name for path in private.iterdir()) == named
    assert stat.S_IMODE(private.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in private.iterdir()} == {0o600}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "out.private"]
    assert publication.verdict.holds
    assert str(tmp_path / "out") in str(publication)


def test_certificate_is_public_and_private_audit_is_not(release: sv.Release, tmp_path: Path) -> None:
    sv.publish(release, tmp_path / "out")
    certificate = json.loads((tmp_path / "out/certificate.json").read_bytes())
    audit = json.loads((tmp_path / "out.private/audit.json").read_bytes())
    assert certificate["loss"] == {"lm": 0.1, "ncp": 0.15}
    assert "date" not in certificate
    assert audit["loss"]["ncp"]["exact"] == "2/13"
    assert audit["time"].endswith("+00:00")
    assert audit["objective"]["proven"] is True
    digest = hashlib.sha256((tmp_path / "out/certificate.json").read_bytes()).hexdigest()
    assert audit["certificate_sha256"] == digest


def test_seal_is_the_keyed_hash_of_the_input(release: sv.Release, baskets: sv.Transactions) -> None:
    assert release.seal is not None
    told = json.dumps(list(baskets.vocabulary.labels), ensure_ascii=False).encode()
    told += baskets.indptr.tobytes() + baskets.items.tobytes()
    expected = hmac.new(bytes.fromhex(release.seal.key), told, hashlib.sha256).hexdigest()
    assert release.seal.digest == expected


def test_date_only_where_asked_for(
    release: sv.Release, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "86400")
    sv.publish(release, tmp_path / "out")
    assert json.loads((tmp_path / "out/certificate.json").read_bytes())["date"] == "1970-01-02"
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "yesterday")
    with pytest.raises(UsageError):
        sv.publish(release, tmp_path / "other")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "out.private"]


@pytest.mark.parametrize("name", [name for name in FORMATS if name != "table"])
def test_every_format_is_audited_and_reads_back(release: sv.Release, tmp_path: Path, name: str) -> None:
    publication = sv.publish(release, tmp_path / "out", format=name)
    assert publication.layout.format == name
    [data] = (tmp_path / "out").glob("data.*")
    options = {"id_column": "record", "item_column": "item"} if name == "long" else {}
    again = sv.read_transactions(data, layout=name, **options)
    assert sorted(again.rows()) == list(release.published.rows())


def test_falls_back_to_json_lines_with_a_notice(tmp_path: Path) -> None:
    rows = [["whole milk"], ["whole milk"]]
    tree = sv.Hierarchy.from_parents({"whole milk": "ALL", "ALL": None})
    release = sv.anonymize(
        sv.Transactions.from_rows(rows), sv.KmAnonymity(2, 1), hierarchy=tree, layout=sv.Layout("fimi")
    )
    publication = sv.publish(release, tmp_path / "out")
    assert publication.layout.format == "jsonl"
    assert any("JSON lines" in notice for notice in publication.notices)
    with pytest.raises(DataError, match="cannot hold"):
        sv.publish(release, tmp_path / "other", format="fimi")


def test_empty_records_are_kept(products: sv.Hierarchy, tmp_path: Path) -> None:
    data = sv.Transactions.from_rows([*ROWS, [], []])
    release = sv.anonymize(data, sv.KmAnonymity(2, 2), hierarchy=products, layout=sv.Layout("baskets"))
    publication = sv.publish(release, tmp_path / "out")
    assert publication.layout.format == "jsonl"
    assert (tmp_path / "out/data.jsonl").read_text().startswith("[]\n[]\n")


def test_audit_takes_releases_folders_files_and_frames(
    release: sv.Release, baskets: sv.Transactions, tmp_path: Path
) -> None:
    sv.publish(release, tmp_path / "out", format="baskets")
    promise = sv.KmAnonymity(2, 2)
    assert sv.audit(release).holds
    assert sv.audit(tmp_path / "out").holds
    assert not sv.audit(tmp_path / "out", sv.KmAnonymity(4, 2)).holds
    assert sv.audit(tmp_path / "out/data.csv", promise, layout="baskets", delimiter=",").holds
    assert not sv.audit(baskets, promise).holds
    assert sv.audit(release.to_arrow(), promise).holds
    assert sv.audit(release, mode="cover").holds
    assert len(sv.audit(baskets, promise, witnesses=1).witnesses) == 1
    with pytest.raises(UsageError):
        sv.audit(baskets)
    with pytest.raises(UsageError):
        sv.audit(baskets, promise, delimiter=",")
    with pytest.raises(UsageError):
        sv.audit(tmp_path / "out", delimiter=",")


def test_cover_counts_the_items_under_a_label(products: sv.Hierarchy) -> None:
    rows = sv.Transactions.from_rows([["alcohol"], ["alcohol"], ["ale"]])
    promise = sv.KmAnonymity(3, 1)
    assert not sv.audit(rows, promise).holds
    assert not sv.audit(rows, promise, mode="cover", hierarchy=products).holds
    assert sv.audit(rows, sv.KmAnonymity(2, 1), mode="cover", hierarchy=products).holds


@pytest.mark.parametrize("library", ["pandas", "polars", "duckdb", "pyarrow"])
def test_frames_in_and_out(library: str, products: sv.Hierarchy) -> None:
    import pyarrow as pa

    baskets = pa.table({"items": ROWS})
    if library == "duckdb":
        duckdb = pytest.importorskip("duckdb")
        duckdb.register("baskets", baskets)
    frames = {
        "pyarrow": lambda: baskets,
        "pandas": lambda: pytest.importorskip("pandas").DataFrame({"items": ROWS}),
        "polars": lambda: pytest.importorskip("polars").DataFrame({"items": ROWS}),
        "duckdb": lambda: duckdb.sql("from baskets"),
    }
    release = sv.anonymize(frames[library](), sv.KmAnonymity(2, 2), hierarchy=products)
    assert release.records == 7
    out = pa.table(release)
    assert out.column_names == ["items"]
    assert [tuple(row) for row in out["items"].to_pylist()] == list(release.published.rows())


def test_tables_have_one_tree_a_column(tmp_path: Path) -> None:
    text = (
        "sex,drug,town\n"
        + "F,ale milk,X\nM,wine milk,X\nF,ale,X\nM,wine bun,X\nF,bun ale,Y\nM,bun wine,Y\n"
    )
    (tmp_path / "t.csv").write_text(text)
    records = sv.read_records(tmp_path / "t.csv", set_columns={"drug": " "}, keep=("sex",))
    drugs = sv.Hierarchy.from_parents(TREE)
    promise = sv.KmAnonymity(k=2, m=2)
    release = sv.anonymize(records, promise, hierarchy={"drug": drugs})
    assert any("'sex' has no hierarchy" in notice for notice in release.notices)
    publication = sv.publish(release, tmp_path / "out")
    assert publication.layout.format == "table"
    assert (tmp_path / "out/data.csv").read_text().startswith("sex,drug\n")
    assert "town" not in (tmp_path / "out/data.csv").read_text()
    with pytest.raises(UsageError, match="needs a hierarchy"):
        sv.anonymize(records, promise, hierarchy={"sex": drugs})
    with pytest.raises(UsageError, match="no column"):
        sv.anonymize(records, promise, hierarchy={"town": drugs})
    with pytest.raises(UsageError, match="table is published as a table"):
        sv.publish(release, tmp_path / "other", format="parquet")
    assert sv.publish(release, tmp_path / "other", format="jsonl").verdict.holds
    assert '["drug=' in (tmp_path / "other/data.jsonl").read_text()


def test_columns_are_only_for_tables(baskets: sv.Transactions, products: sv.Hierarchy) -> None:
    with pytest.raises(UsageError, match="need a table"):
        sv.anonymize(baskets, sv.KmAnonymity(2, 2), hierarchy={"drug": products})


def test_unknown_items(products: sv.Hierarchy) -> None:
    data = sv.Transactions.from_rows([*ROWS, ["kvass"], ["kvass"]])
    with pytest.raises(HierarchyError, match="kvass"):
        sv.anonymize(data, sv.KmAnonymity(2, 2), hierarchy=products)
    release = sv.anonymize(data, sv.KmAnonymity(2, 2), hierarchy=products, unknown="attach-to-root")
    assert release.hierarchy.path("kvass") == ("kvass", "ALL")
    assert any("put under its root" in notice for notice in release.notices)
    with pytest.raises(UsageError):
        sv.anonymize(data, sv.KmAnonymity(2, 2), hierarchy=products, unknown="suppress")


def test_several_roots_are_refused(baskets: sv.Transactions) -> None:
    trees = sv.Hierarchy.from_parents(
        {label: None if above == "ALL" else above for label, above in TREE.items()}
    )
    with pytest.raises(HierarchyError, match="several roots"):
        sv.anonymize(baskets, sv.KmAnonymity(2, 2), hierarchy=trees)


def test_sensitive_items_are_never_generalized(products: sv.Hierarchy, tmp_path: Path) -> None:
    rows = [["milk", "bun"]] * 6 + [["milk", "wine"], ["bun", "ale"]]
    promise = sv.LmDiversity(l=3, m=2, sensitive=frozenset({"wine", "ale"}))
    release = sv.anonymize(sv.Transactions.from_rows(rows), promise, hierarchy=products)
    assert {"wine", "ale"} <= set(release.labels)
    assert "alcohol" not in release.hierarchy.labels
    publication = sv.publish(release, tmp_path / "out")
    certificate = json.loads((tmp_path / "out/certificate.json").read_bytes())
    assert certificate["guarantee"]["sensitive"] == ["ale", "wine"]
    assert publication.verdict.holds


@pytest.mark.parametrize("sensitive", [{"rum"}, {"alcohol"}])
def test_wrong_sensitive_items(
    sensitive: set[str], baskets: sv.Transactions, products: sv.Hierarchy
) -> None:
    with pytest.raises(UsageError):
        sv.anonymize(baskets, sv.LmDiversity(2, 1, frozenset(sensitive)), hierarchy=products)


def test_learned_hierarchies_stay_private(baskets: sv.Transactions, tmp_path: Path) -> None:
    parents: dict[str, str | None] = {**TREE, "alcohol": "odd", "food": "odd", "odd": "ALL"}
    tree = sv.Hierarchy.from_parents(parents, private=True)
    release = sv.anonymize(baskets, sv.KmAnonymity(2, 2), hierarchy=tree)
    sv.publish(release, tmp_path / "out")
    assert "odd" not in (tmp_path / "out/hierarchy.csv").read_text()
    assert sv.audit(tmp_path / "out").holds


def test_nothing_is_published_that_the_audit_refuses(
    release: sv.Release, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from dataclasses import replace

    wrong = replace(release, guarantee=sv.KmAnonymity(k=5, m=2))
    with pytest.raises(InternalError, match="a bug in setveil"):
        sv.publish(wrong, tmp_path / "out")
    # The bytes are judged, not the memory: a writer that loses a line is caught.
    from setveil.io.formats.base import Format

    def spoiled(
        _format: object, transactions: sv.Transactions, layout: sv.Layout, file: object
    ) -> None:
        file.write(b'["alcohol"]\n' * len(transactions))  # type: ignore[attr-defined]

    monkeypatch.setattr(Format, "write", spoiled)
    with pytest.raises(InternalError):
        sv.publish(release, tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


def test_force_replaces_in_one_step(release: sv.Release, tmp_path: Path) -> None:
    sv.publish(release, tmp_path / "out")
    with pytest.raises(FileSystemError, match="exists"):
        sv.publish(release, tmp_path / "out")
    sv.publish(release, tmp_path / "out", force=True, format="baskets")
    assert (tmp_path / "out/data.csv").exists()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "out.private"]


def test_public_bytes_do_not_depend_on_the_input_behind_them(
    products: sv.Hierarchy, tmp_path: Path
) -> None:
    """Two inputs with the same release, parameters and banded figures: the same public documents."""
    contents = []
    for name, change in (("one", ("ale", "wine")), ("two", ("wine", "ale"))):
        swap = dict([change, change[::-1]])
        rows = [[swap.get(item, item) if name == "two" else item for item in row] for row in ROWS]
        release = sv.anonymize(
            sv.Transactions.from_rows(rows), sv.KmAnonymity(2, 2), hierarchy=products
        )
        sv.publish(release, tmp_path / name)
        contents.append({path.name: path.read_bytes() for path in (tmp_path / name).iterdir()})
    assert contents[0] == contents[1]


def test_registry_answers() -> None:
    assert method("aa").load().__name__ == "anonymize"
    with pytest.raises(UsageError, match="Did you mean optimal"):
        method("optimum")
    assert len({record.key for record in METHODS}) == len(METHODS)


def test_estimate_comes_before_the_work(baskets: sv.Transactions, products: sv.Hierarchy) -> None:
    estimate = sv.Job(sv.KmAnonymity(2, 2)).prepare(baskets, products).estimate()
    assert estimate["itemsets_of_size_m"] == 6
    assert estimate["records"] == 7


def test_sweep_is_a_verb(baskets: sv.Transactions, products: sv.Hierarchy) -> None:
    grid = sv.sweep(baskets, products, [2, 9], [1, 2])
    assert [point.loss for point in grid.points] == [0, Fraction(2, 13), None, None]


def test_layout_columns_of_a_sensitive_set(tmp_path: Path) -> None:
    """A sensitive column that is set-valued keeps its separator in the certificate."""
    columns = (LayoutColumn("sex", "kept"), LayoutColumn("ill", "sensitive", "|"))
    tree = sv.Hierarchy.from_parents({"sex=F": "sex=*", "sex=*": None, "ill=flu": None})
    data = sv.Transactions.from_rows([["sex=F", "ill=flu"], ["sex=F"]])
    data = sv.Transactions(
        data.vocabulary, data.indptr, data.items, sv.Layout("table", columns=columns)
    )
    release = sv.anonymize(data, sv.LmDiversity(2, 1, frozenset({"ill=flu"})), hierarchy=tree)
    assert sv.publish(release, tmp_path / "out").verdict.holds
    document = json.loads((tmp_path / "out" / "certificate.json").read_text())
    assert document["data"]["columns"] == [
        {"name": "sex", "kind": "kept"},
        {"name": "ill", "kind": "set", "separator": "|"},
    ]


def test_arrays_of_a_release_are_canonical(release: sv.Release) -> None:
    rows = list(release.published.rows())
    assert rows == sorted(rows)
    assert release.published.items.dtype == np.int32


def test_paths_and_lists_are_named_for_what_they_are() -> None:
    data, tree = sv.Transactions.from_rows(ROWS), sv.Hierarchy.from_parents(TREE)
    wanted = sv.KmAnonymity(2, 2)
    for path in ("products.csv", Path("products.csv"), {"drug": "products.csv"}):
        with pytest.raises(UsageError, match=r"a path: read it first with setveil\.read_hierarchy"):
            sv.anonymize(data, wanted, hierarchy=path)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="a list, not a hierarchy"):
        sv.anonymize(data, wanted, hierarchy=[TREE])  # type: ignore[arg-type]
    with pytest.raises(UsageError) as caught:
        sv.anonymize(ROWS, wanted, hierarchy=tree)
    assert "setveil.Transactions.from_rows" in (caught.value.problems[0].remedy or "")


def test_a_sweep_takes_what_anonymize_takes(tmp_path: Path) -> None:
    data, tree = sv.Transactions.from_rows(ROWS), sv.Hierarchy.from_parents(TREE)
    grid = sv.sweep(data, tree, [2, 3], [2])
    losses = [point.loss for point in grid.points]
    frame = sv.to_arrow(data)
    assert [point.loss for point in sv.sweep(frame, tree, (3, 2), 2).points] == losses
    assert [point.loss for point in sv.sweep(data, tree, ks=3, ms=2).points] == losses[1:]
    for wrong in ("3", 2.5, [2.5], None, ["3"], True, {3: 1}):
        with pytest.raises(UsageError):
            sv.sweep(data, tree, wrong, 2)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="read_hierarchy"):
        sv.sweep(data, "products.csv", 2, 2)  # type: ignore[arg-type]
    path = tmp_path / "t.csv"
    path.write_text("drug,sex\n" + "".join(f"{' '.join(row)},F\n" for row in ROWS))
    records = sv.read_records(path, set_columns={"drug": " "})
    assert [point.loss for point in sv.sweep(records, {"drug": tree}, [2, 3], 2).points] == losses
    assert [point.loss for point in sv.sweep(records, tree, [2, 3], 2).points] == losses


def test_one_hierarchy_is_that_of_the_only_set_valued_column(tmp_path: Path) -> None:
    tree, wanted = sv.Hierarchy.from_parents(TREE), sv.KmAnonymity(2, 2)
    path = tmp_path / "t.csv"
    path.write_text("drug,sex\n" + "".join(f"{' '.join(row)},F\n" for row in ROWS))
    one = sv.read_records(path, set_columns={"drug": " "}, keep=["sex"])
    release = sv.anonymize(one, wanted, hierarchy=tree)
    named = sv.anonymize(one, wanted, hierarchy={"drug": tree})
    assert list(release.published.rows()) == list(named.published.rows())
    assert sv.audit(release, mode="cover").holds
    sets = sv.anonymize(sv.read_records(path, set_columns={"drug": " "}), wanted, hierarchy=tree)
    assert sv.audit(sets.published, wanted, mode="cover", hierarchy=tree).holds
    forest = sv.anonymize(one, wanted, hierarchy=release.hierarchy)
    assert list(forest.published.rows()) == list(named.published.rows())
    two = sv.read_records(path, set_columns={"drug": " ", "sex": " "})
    with pytest.raises(UsageError, match=r"2 set-valued columns") as caught:
        sv.anonymize(two, wanted, hierarchy=tree)
    assert "Give {column: hierarchy}" in (caught.value.problems[0].remedy or "")


def test_verbs_on_a_table_in_buckets() -> None:
    columns = {"sex": ["F", "M"] * 6, "ill": ["flu", "flu", "gout", "gout", "cold", "cold"] * 2}
    table = Microdata.from_columns(columns, "ill")
    known = {"rules": [NegativeRule((("sex", "F"),), "flu")]}
    with pytest.raises(DataError, match="2 of 6 records that meet its conditions have that value"):
        sv.anonymize(table, sv.MatchingDiversity(2), **known)
    release = sv.anonymize(table, sv.MatchingDiversity(2), min_fact_conf=0.6, **known)
    verdict = sv.audit(release)
    assert verdict.holds
    assert verdict.as_dict()["fewest_possible"] >= 2
    risk = sv.risk(release)
    assert risk.background.vulnerable == 0
    assert risk.learning is not None
    more = [NegativeRule((("sex", sex),), ill) for sex in "FM" for ill in ("gout", "cold")]
    assert sv.risk(release, rules=more).background.vulnerable > 0
    scores = sv.measure(release, random_queries=10, query_size=1, support=0.1, selectivity=0.5)
    assert (scores.queries.queries, scores.dimensions, scores.selectivity) == (10, 1, "0.5")
    assert sv.measure(release, table).as_dict() == sv.measure(release).as_dict()
    with pytest.raises(UsageError, match="not the data"):
        sv.measure(release, table.subset(table.value_by_tuple > 0))
    for wrong in (
        {"k": 3},
        {"most": 2},
        {"population": sv.Transactions.from_rows([["a"]])},
        {"threads": 1},
    ):
        with pytest.raises(UsageError, match=f"{min(wrong)} does not fit a table in buckets"):
            sv.risk(release, **wrong)
    with pytest.raises(UsageError, match="measures does not fit a table in buckets"):
        sv.measure(release, measures="ncp")
    with pytest.raises(UsageError, match="a release is needed"):
        sv.measure(table)
    with pytest.raises(FileSystemError, match="no such folder"):
        sv.measure("release")
