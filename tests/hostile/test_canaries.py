"""Canaries: random tokens as labels, ids, paths and weights; none may be in anything public.

Public are the bytes of the release folder; stderr must be free of record content too. Tokens are put
where a leak would be a breach: labels that the release generalizes away, ids of persons, names of
files and folders, and columns that are not declared.
"""

from __future__ import annotations

import json
import os
import secrets
from pathlib import Path

import pytest

import setveil as sv
from setveil.registry import METHODS
from tests.integration.cli import Ran, Shell
from tests.integration.conftest import shell as shell

FORMATS = ("baskets", "long", "onehot", "fimi", "jsonl", "parquet")


def token(kind: str) -> str:
    return f"{kind}-{secrets.token_hex(6)}"


class World:
    """Records in which some labels are too rare to be shown."""

    def __init__(self, folder: Path) -> None:
        self.rare = [token("rare") for _ in range(6)]
        self.branch = token("branch")
        self.ids = [token("person") for _ in range(24)]
        self.folder = folder / token("folder")
        self.folder.mkdir()
        self.data = self.folder / f"{token('file')}.csv"
        self.tree = self.folder / f"{token('tree')}.csv"
        lines = ["who,what"]
        for number, who in enumerate(self.ids):
            lines.append(f"{who},milk")
            if number % 2:
                lines.append(f"{who},bun")
            if number < len(self.rare):
                lines.append(f"{who},{self.rare[number]}")
        self.data.write_text("\n".join(lines) + "\n")
        # The rare ones lie under a category that must itself be generalized away.
        paths = [f"{label};{self.branch};food;ALL" for label in self.rare[:1]]
        paths += [f"{label};spices;food;ALL" for label in self.rare[1:]]
        self.tree.write_text("\n".join([*paths, "milk;food;ALL;ALL", "bun;food;ALL;ALL"]) + "\n")

    @property
    def secrets(self) -> list[str]:
        names = [self.folder.name, self.data.name, self.tree.name]
        return [*self.rare, self.branch, *self.ids, *names]

    def words(self, *more: str) -> tuple[str, ...]:
        reading = ("--layout", "long", "--id", "who", "--item", "what")
        return ("anonymize", str(self.data), *reading, "--hierarchy", str(self.tree), *more)


def clean(world: World, release: Path, ran: Ran) -> None:
    for path in [release, *release.rglob("*")]:
        content = path.read_bytes() if path.is_file() else b""
        for secret in world.secrets:
            assert secret.encode() not in content, f"{secret} is in {path.name}"
    for secret in [*world.rare, world.branch, *world.ids]:
        assert secret not in ran.err
        assert secret not in ran.out


@pytest.mark.parametrize("name", FORMATS)
def test_no_format_leaks(shell: Shell, tmp_path: Path, name: str) -> None:
    world = World(tmp_path)
    ran = shell(*world.words("-k", "3", "-m", "2", "-o", "out", "--format", name))
    assert ran.code == 0, ran.err
    clean(world, tmp_path / "out", ran)
    assert shell("audit", "out").code == 0


@pytest.mark.parametrize("key", [record.key for record in METHODS])
def test_no_method_leaks(shell: Shell, tmp_path: Path, key: str) -> None:
    world = World(tmp_path)
    size = () if key == "partition" else ("-m", "2")
    ran = shell(*world.words("-k", "3", *size, "-o", "out", "--method", key))
    assert ran.code == 0, ran.err
    clean(world, tmp_path / "out", ran)


@pytest.mark.parametrize("key", [record.key for record in METHODS])
def test_no_method_leaks_in_any_format(tmp_path: Path, key: str) -> None:
    """The public folder holds the four files of a release and no byte of what was hidden."""
    world = World(tmp_path)
    data = sv.read_transactions(world.data, layout="long", id_column="who", item_column="what")
    guarantee = sv.KAnonymity(3) if key == "partition" else sv.KmAnonymity(3, 2)
    tree = sv.read_hierarchy(world.tree)
    release = sv.anonymize(data, guarantee, hierarchy=tree, method=key)
    for name in FORMATS:
        place = tmp_path / f"as-{name}"
        publication = sv.publish(release, place, format=name)
        extension = {"fimi": "dat", "jsonl": "jsonl", "parquet": "parquet"}.get(name, "csv")
        names = {"certificate.json", "hierarchy.csv", "report.html", f"data.{extension}"}
        assert {path.name for path in place.iterdir()} == names
        clean(world, place, Ran(0, str(publication.verdict), ""))
        page = (place / "report.html").read_text(encoding="utf-8")
        exact = {str(loss) for loss in release.losses.values() if loss.denominator > 100}
        exact |= {f"{float(loss):.4f}" for loss in release.losses.values() if round(loss, 2) != loss}
        assert not [figure for figure in exact if figure in page]
        assert release.seal is not None
        assert release.seal.digest not in page
        assert str(tmp_path) not in page


def test_a_release_that_the_audit_refuses_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from setveil.errors import InternalError
    from setveil.report.pages import sections

    world = World(tmp_path)
    data = sv.read_transactions(world.data, layout="long", id_column="who", item_column="what")
    release = sv.anonymize(data, sv.KmAnonymity(3, 2), hierarchy=sv.read_hierarchy(world.tree))
    real = sections.page

    def leaking(title: str, *content: str, private: bool = False) -> bytes:
        from setveil.report.html import element, label

        return real(title, *content, element("p", label(world.rare[0])), private=private)

    monkeypatch.setattr(sections, "page", leaking)
    with pytest.raises(InternalError) as caught:
        sv.publish(release, tmp_path / "out")
    assert world.rare[0] not in str(caught.value)
    assert sorted(path.name for path in tmp_path.iterdir()) == [world.folder.name]


def test_the_private_twin_has_what_the_public_one_has_not(shell: Shell, tmp_path: Path) -> None:
    world = World(tmp_path)
    assert shell(*world.words("-k", "3", "-m", "2", "-o", "out")).code == 0
    recoding = json.loads((tmp_path / "out.private/recoding.json").read_bytes())
    assert set(world.rare) <= {*recoding["published"], *recoding["suppressed"]}
    page = (tmp_path / "out.private/report.html").read_text(encoding="utf-8")
    assert [label for label in world.rare if label in page]
    assert "Personal data" in page
    private = b"".join(path.read_bytes() for path in (tmp_path / "out.private").iterdir())
    assert not [person for person in world.ids if person.encode() in private]


@pytest.mark.parametrize(
    "more",
    [
        ("-k", "99", "-m", "2", "-o", "out"),
        ("-k", "3", "-m", "2", "-o", "out", "--l", "2"),
        ("-k", "3", "-m", "2", "-o", "none/out"),
        ("-k", "3", "-m", "2", "-o", "out", "--method", "oa", "--max-cuts", "1"),
        ("-k", "3", "-m", "2", "-o", "out", "--comment", "#"),
    ],
)
def test_failing_runs_do_not_leak(shell: Shell, tmp_path: Path, more: tuple[str, ...]) -> None:
    world = World(tmp_path)
    ran = shell(*world.words(*more))
    assert ran.code in (2, 3, 4, 5, 6), ran.err
    found = [label for label in [*world.rare, world.branch, *world.ids] if label in ran.err + ran.out]
    # An error may show one label, shortened, to say where the fault is.
    assert len(found) <= 1
    assert not (tmp_path / "out").exists()


def test_undeclared_columns_do_not_pass(shell: Shell, tmp_path: Path) -> None:
    names = [token("name") for _ in range(12)]
    lines = ["name,sex,drugs", *(f"{name},{'FM'[n % 2]},milk bun" for n, name in enumerate(names))]
    Path("t.csv").write_text("\n".join(lines) + "\n")
    ran = shell(
        "anonymize", "t.csv", "--set", "drugs", "--keep", "sex", "--hierarchy", "drugs=products.csv",
        "-k", "2", "-m", "2", "-o", "out",
    )  # fmt: skip
    assert ran.code == 0, ran.err
    everything = b"".join(path.read_bytes() for path in tmp_path.rglob("out*/*"))
    assert not [name for name in names if name.encode() in everything]
    assert b"name," not in everything


def test_user_and_machine_are_not_named(
    shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = World(tmp_path)
    user = token("user")
    for variable in ("USER", "LOGNAME", "USERNAME", "HOSTNAME"):
        monkeypatch.setenv(variable, user)
    assert shell(*world.words("-k", "3", "-m", "2", "-o", "out")).code == 0
    public = b"".join(path.read_bytes() for path in (tmp_path / "out").iterdir())
    # A name of two or three letters is somewhere in any text by chance.
    names = [name for name in (os.uname().nodename,) if len(name) > 4]
    for secret in (user, str(tmp_path), *names):
        assert secret.encode() not in public


def test_inputs_behind_the_same_release_give_the_same_documents(tmp_path: Path) -> None:
    tree = sv.Hierarchy.from_parents(
        {"a": "A", "b": "A", "c": "A", "A": "ALL", "milk": "ALL", "ALL": None}
    )
    public = []
    for name, rows in (
        ("one", [["a", "milk"], ["b", "milk"], ["c", "milk"]]),
        ("two", [["c", "milk"], ["a", "milk"], ["b", "milk"]]),
        ("three", [["b", "milk"], ["c", "milk"], ["a", "milk"]]),
    ):
        release = sv.anonymize(sv.Transactions.from_rows(rows), sv.KmAnonymity(2, 2), hierarchy=tree)
        sv.publish(release, tmp_path / name)
        public.append({path.name: path.read_bytes() for path in (tmp_path / name).iterdir()})
    assert public[0] == public[1] == public[2]


def test_a_bag_never_passes(tmp_path: Path) -> None:
    """A label stands once in a record, however many of its items were there."""
    tree = sv.Hierarchy.from_parents({"a": "A", "b": "A", "c": "A", "A": None})
    rows = [["a", "b", "c"], ["a"], ["b", "c"]]
    release = sv.anonymize(sv.Transactions.from_rows(rows), sv.KmAnonymity(3, 1), hierarchy=tree)
    sv.publish(release, tmp_path / "out", allow_useless=True)
    assert (tmp_path / "out/data.jsonl").read_text() == '["A"]\n' * 3
