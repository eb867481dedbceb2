"""Pictures of the methods that put tables into buckets, on the nine patients of Li and Li, Table I.

Buckets and possible values come from running the methods with a fixed seed; only arrangement and words
are made here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from random import Random

import numpy as np

from docs.method_pictures import chips
from setveil.methods import anatomy, injector
from setveil.model.guarantees import LDiversity, MatchingDiversity
from setveil.model.microdata import Microdata
from setveil.model.rules import NegativeRule
from setveil.progress import Watch
from setveil.release.buckets import Bucketing
from setveil.release.possible import classify, possible_counts
from setveil.report.drawing import ABOVE, CHOSEN, MUTED, PLAIN, PUBLISHED, RARE, REMARK, Drawing, Style

PEOPLE = (
    ("Ann 29 F", "F", "ovarian"),
    ("Bea 22 F", "F", "ovarian"),
    ("Bob 27 M", "M", "prostate"),
    ("Carl 43 M", "M", "flu"),
    ("Dora 52 F", "F", "heart"),
    ("Emil 47 M", "M", "heart"),
    ("Finn 30 M", "M", "heart"),
    ("Gus 36 M", "M", "flu"),
    ("Hal 32 M", "M", "flu"),
)
NAMES = [name for name, _, _ in PEOPLE]
DATA = Microdata.from_columns(
    {"sex": [sex for _, sex, _ in PEOPLE], "disease": [value for _, _, value in PEOPLE]}, "disease"
)
RULE = (NegativeRule((("sex", "M"),), "ovarian"),)
TABLE_II = Bucketing(np.array([0, 0, 0, 1, 1, 1, 2, 2, 2], dtype=np.int32))


def _members(bucketing: Bucketing, bucket: int) -> list[int]:
    return np.flatnonzero(bucketing.bucket_by_tuple == bucket).tolist()


def _bucket(
    sheet: Drawing,
    x: float,
    y: float,
    members: Sequence[int],
    possible: Sequence[int] | None = None,
    *,
    title: str,
    style: Style = PUBLISHED,
    least: int = 2,
) -> float:
    """Draw a bucket: who is in it on the left, which values on the right; return where it ends."""
    values = sorted(PEOPLE[place][2] for place in members)
    height = 34 + 29 * len(members)
    sheet.box(x, y, 376, height, ABOVE)
    sheet.text(x + 12, y + 20, title, size=12.5, bold=True)
    for row, place in enumerate(sorted(members)):
        foot = y + 46 + 29 * row
        few = possible is not None and possible[place] < least
        chips(sheet, x + 12, foot, [NAMES[place]], style=RARE if few else PLAIN)
        if possible is not None:
            sheet.text(x + 104, foot, f"{possible[place]} possible", size=11.5, colour=MUTED)
        chips(sheet, x + 290, foot, [values[row]], style=style)
    middle = y + 34 + 29 * len(members) / 2
    sheet.text(x + 240, middle, "?", size=26, colour=MUTED, anchor="middle")
    return y + height


def anatomy_picture() -> str:
    """Heaps of equal values, and the buckets dealt from them."""
    outcome = anatomy.anonymize(DATA, LDiversity(3), random=Random(3), watch=Watch())
    sheet = Drawing(
        900,
        462,
        title="anatomy: one tuple from each of the largest heaps",
        description="Patients in heaps by disease; each bucket takes one from each of three heaps.",
    )
    sheet.heading(24, 34, "Heaps of equal values, l = 3", number="1.")
    count = Counter(value for _, _, value in PEOPLE)
    heaps = sorted(count, key=lambda value: (-count[value], value))
    y = 76.0
    for value in heaps:
        chips(sheet, 24, y, [value], style=PUBLISHED)
        chips(sheet, 112, y, [name for name, _, own in PEOPLE if own == value])
        y += 46
    sheet.lines(
        24,
        y + 14,
        [
            "Each bucket takes a random tuple from each of the l largest",
            "heaps. What is left over goes to buckets that lack its value.",
            "No value has more than one of l places in a bucket.",
        ],
    )
    sheet.heading(480, 34, "Buckets: whose value is whose is not told", number="2.")
    y = 54.0
    for bucket in range(outcome.bucketing.n_buckets):
        members = _members(outcome.bucketing, bucket)
        y = _bucket(sheet, 480, y, members, title=f"bucket {bucket + 1}") + 12
    return sheet.svg()


def injector_picture() -> str:
    """A bucket that a rule opens, and buckets that hold."""
    outcome = injector.anonymize(
        DATA, MatchingDiversity(2), rules=RULE, random=Random(1), watch=Watch()
    )
    classes = classify(DATA, RULE)
    before = possible_counts(classes, TABLE_II).tolist()
    after = possible_counts(classes, outcome.bucketing).tolist()
    buckets = [_members(outcome.bucketing, bucket) for bucket in range(outcome.bucketing.n_buckets)]
    height = 54 + sum(46 + 29 * len(members) for members in buckets) + 10
    sheet = Drawing(
        900,
        height,
        title="injector: buckets of people who can swap their values",
        description="No man has ovarian cancer: a bucket of Ann, Bea and Bob hides nothing; others do.",
    )
    sheet.heading(24, 34, "What a rule opens", number="1.")
    chips(sheet, 24, 72, [f"rule: {RULE[0]}"], style=REMARK)
    end = _bucket(sheet, 24, 92, _members(TABLE_II, 0), before, title="a bucket by values alone")
    sheet.lines(
        24,
        end + 28,
        [
            "Bob cannot have ovarian cancer, so he has the other value;",
            "what is left is Ann's and Bea's. Two values, nothing hidden.",
            "",
            "A value counts as possible for somebody only if the others",
            "of the bucket can then share the rest.",
        ],
    )
    sheet.heading(480, 34, "Buckets that hold against it, l = 2", number="2.")
    y = 54.0
    for bucket, members in enumerate(buckets):
        y = _bucket(sheet, 480, y, members, after, title=f"bucket {bucket + 1}", style=CHOSEN) + 12
    return sheet.svg()


PICTURES: dict[str, Callable[[], str]] = {"anatomy": anatomy_picture, "injector": injector_picture}
