"""``setveil demo``: the whole way on embedded groceries, in a few seconds and a few lines."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from . import screen

if TYPE_CHECKING:
    from ..model.transactions import Transactions
    from ..release.release import Release

EXAMPLE = "Example: setveil demo --output demo-release"
SHOWN = 5
OTHERS = ("optimal", "mhghs", "aa", "vpa", "mm")
"""Methods whose losses are shown beside that of the default."""


def demo(
    output: str = typer.Option("demo-release", "-o", "--output", help="The folder to make."),
    force: bool = typer.Option(False, "--force", help="Replace a release that is there."),
    as_json: bool = typer.Option(False, "--json", help="Print the result as JSON."),
) -> None:
    """Anonymize embedded groceries, publish them, audit the written files and show the result."""
    from ..io.folder.staging import check_destination

    check_destination(output, force=force)
    with screen.progress() as listener:
        from ..api import anonymize, audit
        from ..io.demo import groceries
        from ..io.folder.ownership import REPORT
        from ..model.guarantees import KmAnonymity
        from ..model.layout import Layout
        from ..progress import Watch
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
