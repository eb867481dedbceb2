"""The two reports of a table in buckets: what anybody may read, and what only its holder may.

The public page is made of the certificate and the published tables alone, so two inputs that lead to
the same release give the same page.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from ...measure.buckets import BucketScores
from ...model.layout import NO_VALUE
from ...model.rules import NegativeRule
from ...progress import where_time_went
from ...release.buckets import BucketRelease, BucketTables
from ...risk.buckets import BackgroundAttack, DeFinettiAttack
from ..html import (
    Content,
    Html,
    bar,
    box,
    element,
    first_of,
    join,
    label,
    listed,
    paragraph,
    section,
    small,
    table,
)
from .sections import Certificate, counted, head_of, private_page, public_page, run_part

MOST_VALUES, MOST_RULES, MOST_SIZES, MOST_IN_EXAMPLE = 40, 40, 12, 12


def public_report(
    certificate: Certificate, tables: BucketTables, rules: Sequence[NegativeRule]
) -> bytes:
    """Return the page of a release folder, made of what is published."""
    return public_page(
        certificate,
        _head(certificate, tables),
        *_parts(certificate, tables, rules),
        recoding="in buckets",
        column="published as it is",
    )


def private_report(
    release: BucketRelease,
    certificate: Certificate,
    *,
    notices: Sequence[str],
    background: BackgroundAttack | None,
    learning: DeFinettiAttack | None,
    seconds: Mapping[str, float],
    scores: BucketScores | None = None,
) -> bytes:
    """Return the page for the holder of the data alone.

    It tells what whoever knows the rules learns, how well the values are guessed from the buckets
    together (of a large table from some of them), what each stage took until the page was made, and how
    far counts and rules are from the original ones, where that was measured.
    """
    return private_page(
        certificate,
        _head(certificate, release.tables),
        attacks(background, learning, release.records),
        Html("") if scores is None else _loss(scores),
        *_parts(certificate, release.tables, release.rules),
        run_part(release, "How it was made", ("Time", where_time_went(seconds))),
        notices=notices,
    )


def _loss(scores: BucketScores) -> Html:
    """Return how far counts and rules in the buckets are from those in the original table."""
    return section(
        "loss",
        "What was lost",
        paragraph("Every value is published as it is; what is lost is whose is whose."),
        table(("measure", "#value", "meaning"), scores.lines(), caption="Measures of the loss"),
    )


def _parts(
    certificate: Certificate, tables: BucketTables, rules: Sequence[NegativeRule]
) -> tuple[Html, ...]:
    return _buckets(tables), _values(tables), _known(rules) if "rules" in certificate else Html("")


def _head(certificate: Certificate, tables: BucketTables) -> Html:
    sizes = np.bincount(tables.bucket_of_row)
    return head_of(
        certificate,
        [
            (f"{len(tables.bucket_of_row):,}", "records"),
            (f"{len(sizes):,}", "bucket" if len(sizes) == 1 else "buckets"),
            (f"{int(sizes.min())}", "records in the smallest"),
            (f"{len(set(tables.data.values) - {NO_VALUE}):,}", "sensitive values"),
        ],
    )


def _buckets(tables: BucketTables) -> Html:
    """Return how large the buckets are."""
    sizes: Mapping[int, int] = Counter(np.bincount(tables.bucket_of_row).tolist())
    most = max(sizes.values())
    shown = sorted(sizes.items())
    rows: list[tuple[Content, Content, Content]] = [
        (str(size), f"{number:,}", bar(number / most)) for size, number in shown[:MOST_SIZES]
    ]
    if len(shown) > MOST_SIZES:
        left = shown[MOST_SIZES:]
        rows.append((f"{left[0][0]} to {left[-1][0]}", f"{sum(number for _, number in left):,}", ""))
    return section(
        "buckets",
        "The buckets",
        paragraph(
            "Inside a bucket it is told which people are in it and which sensitive values, but not "
            "whose is whose. Larger buckets hide more and tell less."
        ),
        _example(tables),
        table(("#records in a bucket", "#buckets", ""), rows, caption="Buckets by their size"),
    )


def _example(tables: BucketTables) -> Html:
    """Return one bucket as it is published: the first of the smallest."""
    number = int(np.bincount(tables.bucket_of_row).argmin())
    leaves = tables.leaves[tables.bucket_of_row == number].tolist()
    labels = [attribute.hierarchy.labels for attribute in tables.data.quasi]
    people = [
        join((label(labels[place][leaf]) for place, leaf in enumerate(row)), ", ") for row in leaves
    ]
    held = tables.bucket_of_count == number
    values = [
        join((label(tables.data.values[value]), "" if count == 1 else f", {count:,} times"))
        for value, count in zip(
            tables.value_of_count[held].tolist(), tables.counts[held].tolist(), strict=True
        )
    ]
    cards = (
        box("card", element("h3", title), listed(first_of(lines, MOST_IN_EXAMPLE)))
        for title, lines in (("These people", people), ("have these values", values))
    )
    return join((paragraph(f"Bucket {number + 1} as it is published:"), box("pair", *cards)))


def _values(tables: BucketTables) -> Html:
    """Return how often each sensitive value is in the whole release; it is published in full."""
    total = np.bincount(tables.value_of_count, weights=tables.counts).astype(np.int64)
    order = np.argsort(-total, kind="stable").tolist()
    records = len(tables.bucket_of_row)
    rows: list[tuple[Content, Content, Content]] = [
        (label(tables.data.values[value]), f"{int(total[value]):,}", bar(int(total[value]) / records))
        for value in order[:MOST_VALUES]
    ]
    if len(order) > MOST_VALUES:
        rows.append((f"and {len(order) - MOST_VALUES:,} more", "", ""))
    return section(
        "values",
        "The sensitive values",
        paragraph("Every value is published as often as these records have it."),
        table(("value", "#records", ""), rows, caption="Sensitive values, the most frequent first"),
    )


def _known(rules: Sequence[NegativeRule]) -> Html:
    """Return the rules that the promise reckons with."""
    title = "What an attacker is assumed to know"
    if not rules:
        none = "No rules: nothing was found in the data or given. Other knowledge is not reckoned with."
        return section("rules", title, paragraph(none))
    shown = sorted(rules)[:MOST_RULES]

    def conditions(rule: NegativeRule) -> Html:
        met = (join((label(name), " = ", label(value))) for name, value in rule.conditions)
        return join(met, " and ")

    return section(
        "rules",
        title,
        paragraph(
            f"{counted(len(rules), 'rule')}, {'all of them ' if len(rules) > 1 else ''}in ",
            element("code", "rules.csv"),
            ". The promise holds against whoever knows this, and says nothing about other knowledge.",
        ),
        table(
            ("whoever has", "does not have"),
            [(conditions(rule), label(rule.value)) for rule in shown],
            caption="All rules" if len(shown) == len(rules) else f"The first {len(shown)} rules",
        ),
    )


def attacks(
    background: BackgroundAttack | None, learning: DeFinettiAttack | None, records: int
) -> Html:
    """Return what two attacks find; for the holder alone, since they look at the true values."""
    parts: list[Content] = []
    if background is not None:
        parts += [
            element("h3", "By the rules"),
            paragraph(
                f"{counted(background.vulnerable, 'record')} of {background.tuples:,} with fewer than "
                f"{background.l} possible values; the fewest are {background.fewest}."
            ),
        ]
        if background.vulnerable_by_gaps is not None:
            told = (
                f"{counted(background.vulnerable_by_gaps, 'record')} with fewer for whoever also "
                "concludes from a rule that is missing that somebody breaks it."
            )
            parts.append(paragraph(told))
    if learning is not None:
        parts += [
            element("h3", "By learning from all buckets (deFinetti)"),
            paragraph(
                f"{float(learning.accuracy):.1%} of the sensitive values are guessed. Naming the most "
                f"frequent value of each bucket would guess {float(learning.baseline):.1%}. No promise "
                "about buckets covers this attack: where the first number is well above the second, "
                "think again about what the columns tell."
            ),
        ]
        if learning.tuples < records:
            told = (
                f"This was tried on whole buckets with {learning.tuples:,} of the {records:,} "
                "records, since the table is large; from all of them more can be learned: "
                "setveil risk looks at all."
            )
            parts.append(small(told))
    return section("attacks", "What attacks find", *parts) if parts else Html("")
