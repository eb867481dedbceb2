"""``setveil doctor``, ``methods`` and ``demo``: is all here, what is there, and how does it look?"""

from __future__ import annotations

import os
import platform
import shlex
import shutil
import sys
from collections.abc import Callable
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from .._version import __version__
from ..progress import Watch
from ..registry import ALL_METHODS, MethodRecord, method
from ..run.fields import SETS
from . import screen

if TYPE_CHECKING:
    from ..model.transactions import Transactions
    from ..release.release import Release

DOCTOR_EXAMPLE = "Example: setveil doctor --json"

PACKAGES = ("numpy", "numba", "pyarrow", "highspy", "typer", "rich")
METHODS_EXAMPLE = "Example: setveil methods optimal"
DEMO_EXAMPLE = "Example: setveil demo --output demo-release"
SHOWN = 5
OTHERS = ("optimal", "mhghs", "aa", "vpa", "mm")
"""Methods whose losses are shown beside that of the default."""


def doctor(as_json: bool = typer.Option(False, "--json", help="Print as JSON.")) -> None:
    """Check that everything setveil needs is here; exit code 0 if so, 70 if not."""
    checks: list[tuple[str, Callable[[], str]]] = [
        ("setveil", lambda: __version__),
        ("python", platform.python_version),
        *((name, lambda name=name: metadata.version(name)) for name in PACKAGES),
        ("threads", lambda: str(len(os.sched_getaffinity(0)))),
        ("memory", _memory),
        ("compiled code", _cache),
        ("solver", _solver),
        ("rename in one step", _exchange),
    ]
    found: list[tuple[str, bool, str]] = []
    for name, check in checks:
        try:
            found.append((name, True, check()))
        except Exception as error:
            found.append((name, False, f"{type(error).__name__}: {error}"))
    healthy = all(good for _, good, _ in found)
    if as_json:
        plain = [{"check": name, "ok": good, "found": text} for name, good, text in found]
        screen.print_json({"ok": healthy, "checks": plain})
    else:
        screen.table(
            "Doctor",
            ("check", "", "found"),
            [(name, "ok" if good else "NO", text) for name, good, text in found],
        )
    if not healthy:
        raise typer.Exit(70)


def _memory() -> str:
    size = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return f"{size / 2**30:.1f} GiB"


def _cache() -> str:
    from ..kernels.base import sort_slice

    kernel: Any = sort_slice

    # Numba's own word: beside the sources, in a folder of the user, or where NUMBA_CACHE_DIR says.
    folder = Path(kernel.stats.cache_path)
    folder.mkdir(parents=True, exist_ok=True)
    if not os.access(folder, os.W_OK):
        raise RuntimeError("not writable: every run compiles anew; set NUMBA_CACHE_DIR")
    return "there" if any(folder.glob("*.nbi")) else "not yet: the first run compiles"


def _solver() -> str:
    from highspy import Highs

    solver: Any = Highs
    return f"HiGHS {solver().version()}"


def _exchange() -> str:
    from ..io.folder.disk import can_exchange

    return "yes" if can_exchange() else "no: replacing a release takes two steps here"


def methods(
    key: str | None = typer.Argument(
        None, help="Show one method with its options.", metavar="[METHOD]"
    ),
    as_json: bool = typer.Option(False, "--json", help="Print as JSON."),
) -> None:
    """List the methods, or show one with its options."""
    if key is not None:
        record = method(key)
        screen.result(_page(record), _plain(record), as_json=as_json)
    elif as_json:
        screen.print_json({"methods": [_plain(record) for record in ALL_METHODS]})
    else:
        screen.table(
            "Methods",
            ("method", "title", "guarantees", "recoding", "optimal"),
            [
                (
                    record.key,
                    record.title,
                    ", ".join(record.guarantees),
                    record.recoding,
                    "proven" if record.exact else "no",
                )
                for record in ALL_METHODS
            ],
        )


def _plain(record: MethodRecord) -> dict[str, Any]:
    return {
        "method": record.key,
        "title": record.title,
        "paper": record.paper,
        "guarantees": list(record.guarantees),
        "recoding": record.recoding,
        "exact": record.exact,
        "needs_rows": record.needs_rows,
        "idempotent": record.idempotent,
        "suppresses": record.suppresses,
        "needs_hierarchy": record.needs_hierarchy,
        "options": [
            {
                "name": option.name,
                "flag": option.flag,
                "type": option.type.__name__,
                "default": option.default,
                "help": option.help,
                "allowed": list(option.allowed),
            }
            for option in record.options
        ],
    }


def _page(record: MethodRecord) -> str:
    lines = [
        f"{record.key}: {record.title}",
        f"  paper       {record.paper}",
        f"  guarantees  {', '.join(record.guarantees)}",
        f"  recoding    {record.recoding}",
        f"  optimal     {'proven' if record.exact else 'no'}",
        f"  leaves out  {'items, where that costs less' if record.suppresses else 'nothing'}",
        f"  hierarchy   {'needed' if record.needs_hierarchy else 'not needed'}",
    ]
    lines += [
        f"  {option.flag.ljust(18)} {option.help}"
        + ("" if option.default is None else f" (default: {option.default})")
        for option in record.options
    ]
    return "\n".join(lines)


def demo(
    output: str = typer.Option("demo-release", "-o", "--output", help="The folder to make."),
    force: bool = typer.Option(False, "--force", help="Replace a release that is there."),
    as_json: bool = typer.Option(False, "--json", help="Print the result as JSON."),
) -> None:
    """Anonymize embedded groceries, publish them, audit the written files and show the result."""
    from ..io.folder.staging import check_destination

    screen.about(SETS)
    check_destination(output, force=force)
    with screen.progress() as listener:
        from ..api import anonymize, audit
        from ..io.demo import groceries
        from ..io.folder.ownership import REPORT
        from ..model.guarantees import KmAnonymity
        from ..model.layout import Layout
        from ..publish import check_environment, publish

        check_environment()
        baskets, products = groceries()
        release = anonymize(
            baskets,
            KmAnonymity(k=5, m=2),
            hierarchy=products,
            watch=Watch(listener=listener),
            layout=Layout("baskets"),
        )
        publication = publish(release, output, force=force, placed=screen.note_placed)
        verdict = audit(publication.path)
        others = [
            anonymize(
                baskets,
                release.guarantee,
                hierarchy=products,
                method=key,
                watch=Watch(listener=listener),
            )
            for key in OTHERS
        ]
    from ..run.work import Outcome

    outcome = Outcome(release, publication)
    screen.notices(outcome.notices)
    if as_json:
        losses = {other.method: _losses(other) for other in others}
        screen.print_json({**outcome.as_dict(), "other_methods": losses})
        return
    screen.echo(str(outcome))
    screen.echo()
    screen.table("A few baskets", ("before", "after"), before_and_after(baskets, release))
    screen.echo()
    rows = [
        (each.method, *(f"{loss:.4f}" for loss in _losses(each).values()), f"{each.suppressed:,}")
        for each in (release, *others)
    ]
    heads = ("method", "NCP", "LM", "occurrences left out")
    screen.table("The same promise by other methods", heads, rows)
    screen.echo()
    screen.echo(str(verdict))
    folder = shlex.quote(os.fspath(publication.path))
    page = shlex.quote(os.fspath(publication.path / REPORT))
    screen.echo(f"\nOpen {page} in a browser to read about the release.")
    screen.echo(f"Check it yourself: {this_command()} audit {folder}")


def this_command() -> str:
    """Return what starts setveil when typed here; after ``make demo`` it is not on the PATH."""
    if shutil.which("setveil") is not None:
        return "setveil"
    script = Path(sys.argv[0])
    if script.name == "__main__.py" or not script.is_file():
        return f"{shlex.quote(_from_here(sys.executable))} -m setveil"
    return shlex.quote(_from_here(script))


def _from_here(path: str | os.PathLike[str]) -> str:
    try:
        near = os.path.relpath(path)
    except ValueError:  # another drive
        near = os.pardir
    if near.startswith(os.pardir):
        return str(Path(path).absolute())
    return near if os.sep in near else f"{os.curdir}{os.sep}{near}"


def _losses(release: Release) -> dict[str, float]:
    return {name: float(loss) for name, loss in release.losses.items()}


def before_and_after(baskets: Transactions, release: Release) -> list[tuple[str, str]]:
    """Return a few original baskets beside what is published of them."""
    hierarchy = release.hierarchy
    label_of_item = {
        hierarchy.labels[leaf]: hierarchy.labels[node]
        for leaf, node in enumerate(release.recoding.node_of_leaf().tolist())
        if node >= 0
    }
    pairs: list[tuple[str, str]] = []
    for basket in baskets.rows():
        after = sorted({label_of_item[label] for label in basket if label in label_of_item})
        if 3 <= len(basket) <= 6 and tuple(after) != basket:
            pairs.append((", ".join(basket), ", ".join(after)))
        if len(pairs) == SHOWN:
            break
    return pairs
