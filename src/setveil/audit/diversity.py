"""Nobody is linked to a secret: l^m-diversity and (h, k, p)-coherence.

l^m-diversity: nobody who knows m other labels of a record links it to a sensitive one above 1/l. For
every set c of 1..m labels that are not sensitive, and every sensitive label s, ``l * support(c + s) <=
support(c)``, in whole numbers.

(h, k, p)-coherence: no public labels that somebody knows single out few records or tell a secret. The
rows without their private labels must be k^p-anonymous. And for every set c of 1..p public labels and
every private label s, ``support(c + s)`` is at most h percent of ``support(c)``, compared as whole
numbers: with h/100 = a/b, ``b * support(c + s) <= a * support(c)``.

Known labels are counted by intersection, with the secret ones along. A set of known labels that occurs
in no record with a secret one is left with all that contain it. So is a set that fits the same records
as one of its parts: whatever is added, the part with the same added fits the same records again.
Nothing else is left out, for the promise is not monotone.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from ..model.guarantees import Coherence, KmAnonymity, LmDiversity
from ._jit import jit
from .counting import (
    STOPPED,
    TASKS,
    Counts,
    Effort,
    Flags,
    Lists,
    Members,
    Words,
    bitmaps,
    entries_of_pairs,
    keep_witness,
    lay_out,
    live_words,
    meeting,
    narrowed,
    no_counts,
    note_support,
    ranks_with,
    share_out,
    too_much_work,
)
from .km import ENOUGH, audit_km, by_size, choose_witnesses
from .published import Numbers, Published
from .verdict import Verdict, Witness


class Bound(NamedTuple):
    """The share that a secret may have: ``times * linked <= part * fitting``."""

    times: int
    part: int


class _Linked(NamedTuple):
    """What was found of the sets that lead to a secret."""

    counts: Counts
    witnesses: list[Witness]
    worst: Fraction | None
    stopped: bool


def audit_lm(published: Published, guarantee: LmDiversity, effort: Effort) -> Verdict:
    """Compare each set of known labels with its most frequent sensitive label.

    Violations are the counted sets that break the promise, not only minimal ones: larger sets can
    keep it where smaller ones break it, and the reverse.
    """
    m = min(guarantee.m, published.longest)
    bound = Bound(guarantee.l, 1)
    linked = _count_linked(published, guarantee.sensitive, bound, m, effort, even_if_none=True)
    findings = by_size(linked.counts, m, single_known=False)
    return Verdict(
        not any(finding.violations for finding in findings),
        guarantee,
        "exact",
        published.records,
        None,
        findings,
        choose_witnesses(linked.witnesses, effort),
        (ENOUGH,) if linked.stopped else (),
        linked.worst,
    )


def audit_coherence(published: Published, guarantee: Coherence, effort: Effort) -> Verdict:
    """Count public labels, then the private ones among the records that fit them.

    Violations are the minimal rare sets of public labels and the counted sets, not only minimal ones,
    in whose records a private label is too frequent.
    """
    public = _public_part(published, guarantee)
    verdict = audit_km(public, KmAnonymity(guarantee.k, guarantee.p), effort)
    most, p = guarantee.h / 100, min(guarantee.p, published.longest)
    bound = Bound(most.denominator, most.numerator)
    settled = not verdict.holds
    linked = _count_linked(published, guarantee.private, bound, p, effort, settled=settled)
    broken = linked.counts.rare.sum(axis=0)
    by_size = tuple(
        replace(
            finding,
            violations=finding.violations + int(broken[finding.size]),
            exact=finding.exact and not linked.stopped,
        )
        for finding in verdict.by_size
    )
    notes = [note.replace("m=", "p=") for note in verdict.notes]
    return replace(
        verdict,
        holds=verdict.holds and not broken.any(),
        guarantee=guarantee,
        records=published.records,
        by_size=by_size,
        witnesses=choose_witnesses([*verdict.witnesses, *linked.witnesses], effort),
        notes=tuple(dict.fromkeys([*notes, ENOUGH] if linked.stopped else notes)),
        worst_ratio=linked.worst,
    )


def _public_part(published: Published, guarantee: Coherence) -> Published:
    """Return the rows without their private labels."""
    is_public = np.array([label not in guarantee.private for label in published.labels], np.bool_)
    shown = is_public[published.items] if len(published.items) else np.empty(0, np.bool_)
    kept_before = np.concatenate(([0], np.cumsum(shown)))
    return Published(kept_before[published.indptr], published.items[shown], published.labels)


def _count_linked(
    published: Published,
    secrets: Collection[str],
    bound: Bound,
    m: int,
    effort: Effort,
    *,
    settled: bool = False,
    even_if_none: bool = False,
) -> _Linked:
    """Count known labels that lead to a secret; too much work is refused unless all is `settled`."""
    layout = lay_out(published)
    lists = layout.lists
    is_secret = np.array([published.labels[code] in secrets for code in layout.code_of_rank], np.bool_)
    counts = no_counts(m, effort)
    worst_by_task = np.tile(np.array([0, 1], np.int64), (TASKS, 1))

    def run(task: int, firsts: Numbers) -> None:
        own = counts._replace(task=task)
        count_shares(firsts, lists, is_secret, bound, m, own, worst_by_task)

    if m and (even_if_none or is_secret.any()):
        needed = int(entries_of_pairs(lists, both_sides=True)[~is_secret].sum())
        if needed > effort.limit and not settled:
            raise too_much_work(effort.limit, needed=needed)
        counts.cut_short[:, STOPPED] = needed > effort.limit
        if needed <= effort.limit:
            share_out(run, len(is_secret), counts.work, effort)
    stopped = bool(counts.cut_short[:, STOPPED].any())
    if stopped and not settled and not counts.rare.any():
        raise too_much_work(effort.limit)
    found = [
        Witness(layout.names(kept[:size]), (), support, layout.names(kept[size : size + 1])[0])
        for kept, size, support in layout.kept(counts)
    ]
    worst = max(Fraction(int(held), int(whole)) for held, whole in worst_by_task) or None
    return _Linked(counts, found, worst, stopped)


@jit
def breaks(
    support: int,
    most: int,
    size: int,
    bound: Bound,
    checked: Numbers,
    smallest: Numbers,
    worst: Numbers,
) -> bool:
    """Note that of `support` records with such known labels `most` have a secret; tell if too many."""
    if most == 0:
        checked[size] += 1
        return False
    note_support(size, support // most, checked, smallest)
    if most * worst[1] > worst[0] * support:
        worst[0] = most
        worst[1] = support
    return bool(bound.times * most > bound.part * support)


@jit
def secret_in_row(row: int, lists: Lists, is_secret: Flags) -> int:
    """Return the first secret rank of a row, -1 where it has none."""
    for place in range(lists.row_ptr[row], lists.row_ptr[row + 1]):
        if is_secret[lists.row_ranks[place]]:
            return int(lists.row_ranks[place])
    return -1


@jit
def count_shares(
    firsts: Numbers,
    lists: Lists,
    is_secret: Flags,
    bound: Bound,
    m: int,
    counts: Counts,
    worst: Numbers,
) -> None:
    """Check all sets of 1..m known labels whose smallest rank is one of `firsts`."""
    ranks, task = len(lists.support_by_rank), counts.task
    member_of_rank = np.full(ranks, -1, np.int64)
    support_with_first = np.zeros(ranks, np.int64)
    touched = np.empty(ranks, np.int32)
    kept, supports_of_kept = np.empty(ranks, np.int64), np.empty(ranks, np.int64)
    checked, smallest, rare = counts.checked[task], counts.smallest[task], counts.rare[task]
    room = counts.witness_size.shape[1]
    own_worst = worst[task]
    now = np.empty(m + 1, np.int32)
    # The first secret rank of a row, -1 where it has none and -2 where nobody has looked.
    secret_of_row = np.full(len(lists.weight_by_row), -2, np.int64)
    for first in firsts:
        if is_secret[first]:
            continue
        if counts.work.sum() > counts.limit:
            counts.cut_short[task, STOPPED] = True
            return
        now[0] = first
        first_support = lists.support_by_rank[first]
        rows = lists.rows_of_rank[lists.list_ptr[first] : lists.list_ptr[first + 1]]
        if len(rows) == 1:
            # What else is in its one row fits the same records: nothing to tell the first one by.
            row = rows[0]
            if secret_of_row[row] == -2:
                secret_of_row[row] = secret_in_row(row, lists, is_secret)
                counts.work[task] += lists.row_ptr[row + 1] - lists.row_ptr[row]
            secret = secret_of_row[row]
            linked = first_support if secret >= 0 else 0
            now[1] = secret
            if breaks(first_support, linked, 1, bound, checked, smallest, own_worst):
                rare[1] += 1
                if counts.witness_count[task] < room:
                    keep_witness(now[:2], 1, linked, counts)
            continue
        count, entries = ranks_with(first, True, lists, support_with_first, touched)
        counts.work[task] += entries
        known_ranks, secret_ranks = np.empty(count, np.int32), np.empty(count, np.int32)
        known_count, secret_count, most, most_secret = 0, 0, 0, -1
        for rank in touched[:count]:
            support = support_with_first[rank]
            if is_secret[rank]:
                secret_ranks[secret_count] = rank
                secret_count += 1
                if support > most:
                    most, most_secret = int(support), int(rank)
            elif rank > first and support < first_support:
                known_ranks[known_count] = rank
                known_count += 1
        known_supports = support_with_first[known_ranks[:known_count]]
        secret_supports = support_with_first[secret_ranks[:secret_count]]
        support_with_first[touched[:count]] = 0
        now[1] = most_secret
        if breaks(first_support, most, 1, bound, checked, smallest, own_worst):
            rare[1] += 1
            if counts.witness_count[task] < room:
                keep_witness(now[:2], 1, most, counts)
        if most == 0 or m == 1 or known_count == 0:
            continue
        # Members 0..known-1 are known labels, the ones after them secret.
        for which in range(known_count):
            member_of_rank[known_ranks[which]] = which
        for which in range(secret_count):
            member_of_rank[secret_ranks[which]] = known_count + which
        members = known_count + secret_count
        words, digits = bitmaps(rows, lists.row_ptr[rows], member_of_rank, members, lists)
        member_of_rank[touched[:count]] = -1
        counts.work[task] += len(words)
        split = known_count * len(digits)
        known = Members(known_ranks[:known_count], known_supports, words[:split], digits)
        secrets = Members(secret_ranks[:secret_count], secret_supports, words[split:], digits)
        pending = [(known, secrets, now[:1].copy())]
        while len(pending) > 0:
            known, secrets, prefix = pending.pop()
            size = len(prefix) + 1
            for place in range(size - 1):
                now[place] = prefix[place]
            words, digits = known.words, known.digits
            wide = len(digits)
            for one in range(len(known.ranks)):
                if counts.work.sum() > counts.limit:
                    counts.cut_short[task, STOPPED] = True
                    return
                live = live_words(words, one * wide, wide)
                count = meet_all(
                    words, one * wide, secrets.words, 0, digits, live, kept, supports_of_kept
                )
                most, most_secret = 0, -1
                if count:
                    which = int(np.argmax(supports_of_kept[:count]))
                    most = int(supports_of_kept[which])
                    most_secret = int(secrets.ranks[kept[which]])
                now[size - 1] = known.ranks[one]
                counts.work[task] += (len(secrets.ranks) + 1) * (len(live) + 1)
                fitting = known.supports[one]
                now[size] = most_secret
                if breaks(fitting, most, size, bound, checked, smallest, own_worst):
                    rare[size] += 1
                    if counts.witness_count[task] < room:
                        keep_witness(now[: size + 1], size, most, counts)
                # The same records as without the first label: already told there.
                same = size == 2 and fitting == lists.support_by_rank[known.ranks[one]]
                if most == 0 or size >= m or same:
                    continue
                fewer = narrowed(known, one, secrets, kept[:count], supports_of_kept[:count], live)
                # A set that fits the same records as one of its parts is left.
                met = meet_all(words, one * wide, words, one + 1, digits, live, kept, supports_of_kept)
                count = 0
                for which in range(met):
                    support = supports_of_kept[which]
                    if support < fitting and support < known.supports[kept[which]]:
                        kept[count] = kept[which]
                        supports_of_kept[count] = support
                        count += 1
                counts.work[task] += (len(known.ranks) - one - 1) * (len(live) + 1)
                if count:
                    free = narrowed(known, one, known, kept[:count], supports_of_kept[:count], live)
                    pending.append((free, fewer, now[:size].copy()))


@jit
def meet_all(
    words: Words,
    one_at: int,
    other_words: Words,
    start: int,
    digits: Numbers,
    live: Numbers,
    met: Numbers,
    supports_of_met: Numbers,
) -> int:
    """List the members from `start` on that a record has with one; return how many. See `meeting`."""
    count, wide = 0, len(digits)
    for other in range(start, len(other_words) // wide):
        support = meeting(words, one_at, other_words, other * wide, digits, live)
        if support > 0:
            met[count] = other
            supports_of_met[count] = support
            count += 1
    return count
