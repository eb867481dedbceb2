"""``setveil demo``: the whole way on embedded groceries, in a few seconds and a few lines."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import typer

from . import screen
from .anonymize import as_plain, summary

if TYPE_CHECKING:
    from ..model.transactions import Transactions
    from ..release.release import Release

EXAMPLE = "Example: setveil demo --output demo-release"
SHOWN = 5


def demo(
    output: str = typer.Option("demo-release", "-o", "--output", help="The folder to make."),
    force: bool = typer.Option(False, "--force", help="Replace a release that is there."),
    as_json: bool = typer.Option(False, "--json", help="Print the result as JSON."),
) -> None:
    """Anonymize embedded groceries, publish them, audit the written files and show the result."""
    from ..io.releases import check_destination

    check_destination(output, force=force)
    with screen.progress() as listener:
        from ..api import anonymize, audit, publish
        from ..io.demo import groceries
        from ..model.guarantees import KmAnonymity
        from ..model.layout import Layout
        from ..progress import Watch

        baskets, products = groceries()
        release = anonymize(
            baskets,
            KmAnonymity(k=5, m=2),
            hierarchy=products,
            watch=Watch(listener=listener),
            layout=Layout("baskets"),
        )
        publication = publish(release, output, force=force)
        verdict = audit(publication.path)
    screen.notices(publication.notices)
    if as_json:
        screen.print_json(as_plain(release, publication))
        return
    typer.echo(summary(release, publication))
    typer.echo("")
    screen.table("A few baskets", ("before", "after"), before_and_after(baskets, release))
    typer.echo("")
    typer.echo(str(verdict))
    typer.echo(f"\nCheck it yourself: setveil audit {os.fspath(publication.path)}")


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
