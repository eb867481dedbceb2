"""What only the holder of two data sets may see: the patterns of before, and what hiding them cost."""

from __future__ import annotations

from ..measure.pair_scores import MOST_PATTERNS, PairScores
from .charts import bar_chart
from .figure import Figure
from .html import Content, Html, bar, element, join, label, picture, section, table
from .sections import counted, in_percent

MOST_BARS, MOST_SETS = 20, 50
LONGEST_NAME = 60


def patterns_part(scores: PairScores, *, columns: bool) -> Html:
    """Return the patterns of the originals, the fastest growing first.

    Parameters
    ----------
    scores
        The figures.
    columns
        Whether the data sets are tables: the picture then names values alone.
    """
    title, found = "Patterns before", scores.before
    if found is None:
        return section("before", title, element("p", "There are too many to be listed."))
    if not len(found):
        told = f"None of growth {scores.guarantee.growth} or more: nothing had to be hidden."
        return section("before", title, element("p", told))
    shown = found[:MOST_PATTERNS]
    rows: list[tuple[Content, ...]] = [
        (
            join((label(item) for item in pattern.items), ", "),
            label(pattern.more_frequent_in),
            pattern.told_growth,
            in_percent(float(pattern.share)),
            in_percent(float(pattern.share_elsewhere)),
        )
        for pattern in shown
    ]
    jumping = len(found.jumping)
    said = (
        f"{counted(len(found), 'set')} of values in the originals had a growth of "
        f"{scores.guarantee.growth} or more"
        + (
            f"; {counted(jumping, 'of them is', 'of them are')} in one data set alone."
            if jumping
            else "."
        )
    )
    caption = "All patterns" if len(shown) == len(found) else f"The {len(shown)} fastest growing"
    return section(
        "before",
        title,
        element("p", said),
        picture(
            _growths(scores, columns),
            "A pattern that is in one data set only has no finite growth: its bar is the longest."
            if jumping
            else "",
        ),
        table(
            ("pattern", "more frequent in", "#growth", "#share there", "#share elsewhere"),
            rows,
            caption=caption,
        ),
    )


def _growths(scores: PairScores, columns: bool) -> Figure:
    found = scores.before
    assert found is not None
    shown = found[:MOST_BARS]
    finite = [float(pattern.growth) for pattern in shown if pattern.growth is not None]
    # A jumping pattern has no length: it gets the longest there is, and says so.
    longest = max(finite, default=float(scores.guarantee.growth)) * 1.1
    bars, told = [], []
    for pattern in shown:
        items = [item.partition("=")[2] if columns else item for item in pattern.items]
        name = ", ".join(items)
        name = name if len(name) <= LONGEST_NAME else name[: LONGEST_NAME - 1] + "…"
        bars.append((name, longest if pattern.growth is None else float(pattern.growth)))
        told.append("only there" if pattern.growth is None else pattern.told_growth)
    return bar_chart(
        bars,
        title="Growth of the patterns of before",
        x_label="times as frequent in one data set as in the other",
        told=told,
    )


def raised_part(scores: PairScores, *, columns: bool) -> Html:
    """Return how far values were raised, column by column.

    Parameters
    ----------
    scores
        The figures.
    columns
        Whether the data sets are tables.
    """
    share = scores.raised / scores.values if scores.values else 0.0
    steps = max((len(column.values_by_steps) for column in scores.columns), default=1)
    heads = ["column" if columns else "hierarchy", "#values", "#as they are"]
    heads += [f"#{step} up" for step in range(1, steps)]
    rows: list[tuple[Content, ...]] = []
    for column in scores.columns:
        counts = [*column.values_by_steps, *(0,) * (steps - len(column.values_by_steps))]
        rows.append(
            (
                label(column.name),
                f"{column.values:,}",
                *(f"{count:,}" for count in counts),
                f"{float(column.ncp):.3f}",
                bar(column.raised / column.values if column.values else 0.0),
            )
        )
    return section(
        "raised",
        "What was raised",
        element(
            "p",
            f"{counted(scores.raised, 'value')} of {scores.values:,} ({in_percent(share)}) are "
            "published as something more general.",
        ),
        element(
            "p",
            f"NCP {float(scores.ncp):.4f}: 0 where all values are as they are, 1 where all are "
            "raised to the root.",
        ),
        table(
            (*heads, "#NCP", "share raised"),
            rows,
            caption="Values by how many steps up they are published",
        ),
    )


def frequent_part(scores: PairScores) -> Html:
    """Return what became of the frequent sets of values."""
    title, found = "Frequent sets of values", scores.frequent
    if not found.kept:
        return section("frequent", title, element("p", "No set of values was frequent."))
    fates = scores.fates
    largest = found.largest
    share = float(found.distortion / largest) if largest else 0.0
    rows: list[tuple[Content, ...]] = []
    order = sorted(found.kept, key=lambda one: (one.distance is not None, -(one.distance or 0)))
    for one in order[:MOST_SETS]:
        published = one.published or ()
        rows.append(
            (
                join((label(item) for item in one.items), ", "),
                join((label(item) for item in published), ", ") if published else "lost",
                "" if one.distance is None else f"{float(one.distance):.2f}",
                f"{float(one.largest):.2f}",
            )
        )
    caption = "All frequent sets" if len(rows) == len(found.kept) else f"The {len(rows)} that lost most"
    return section(
        "frequent",
        title,
        element(
            "p",
            f"Of {counted(len(found.kept), 'maximal frequent set')} {fates['exactly']:,} are kept, "
            f"{fates['in a general form']:,} have a more general form, and {fates['lost']:,} are lost. "
            f"The distortion is {in_percent(share)} of the largest possible, lost sets aside.",
        ),
        table(
            ("frequent before", "frequent after", "#distance", "#largest possible"),
            rows,
            caption=caption,
        ),
    )
