"""The deFinetti attack: nothing to learn from independent data, much from correlated ones."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from math import sqrt
from random import Random

import numpy as np
import pytest

from setveil.errors import Cancelled, ResourceLimit
from setveil.kernels.attack.definetti import guess_again
from setveil.methods import anatomy
from setveil.model.guarantees import LDiversity
from setveil.model.microdata import Microdata
from setveil.progress import Watch
from setveil.release.buckets import Bucketing
from setveil.report.pages.buckets import attacks
from setveil.risk import buckets as risks
from setveil.risk.buckets import attack_by_learning, attack_sample
from tests.oracle.definetti import equal_chances, next_shares
from tests.papers.test_li_injector import adult


def table(random: Random, n: int, values: int, *, told: float) -> Microdata:
    """Return a table in which each of two columns tells the value with probability `told`."""
    ill = [f"s{random.randrange(values)}" for _ in range(n)]
    return Microdata.from_columns(
        {
            name: [own if random.random() < told else f"s{random.randrange(values)}" for own in ill]
            for name in ("job", "town")
        }
        | {"ill": ill},
        "ill",
    )


@pytest.mark.parametrize(("seed", "l"), [(1, 3), (2, 3), (3, 5)])
def test_independent_data_give_no_more_than_the_share_in_a_bucket(seed: int, l: int) -> None:  # noqa: E741
    random = Random(seed)
    data = table(random, 6000, 8, told=0.0)
    bucketing = anatomy.anonymize(data, LDiversity(l), random=random, watch=Watch()).bucketing
    attack = attack_by_learning(data, bucketing)
    # In a bucket of different values the number of right guesses has mean 1 and variance at most 1,
    # whatever is guessed, and buckets are independent.
    error = sqrt(bucketing.n_buckets) / len(data)
    assert attack.baseline == Fraction(bucketing.n_buckets, len(data))
    assert abs(attack.accuracy - attack.baseline) < 4 * error


def test_correlated_data_are_given_away() -> None:
    random = Random(4)
    data = table(random, 6000, 8, told=0.7)
    bucketing = anatomy.anonymize(data, LDiversity(3), random=random, watch=Watch()).bucketing
    attack = attack_by_learning(data, bucketing)
    assert attack.settled
    assert attack.accuracy > Fraction(3, 4)
    assert attack.as_dict()["baseline"] == pytest.approx(1 / 3, abs=1e-9)


def test_rounds_by_plain_dictionaries(monkeypatch: pytest.MonkeyPatch) -> None:
    for seed in range(15):
        random = Random(seed)
        n = random.randint(2, 12)
        rows = [[random.choice("xyz"), random.choice("pq")] for _ in range(n)]
        values = [random.choice("abc") for _ in range(n)]
        raw = [random.randrange(3) for _ in range(n)]
        buckets = [sorted(set(raw)).index(own) for own in raw]
        data = Microdata.from_columns(
            {"u": [row[0] for row in rows], "v": [row[1] for row in rows], "ill": values}, "ill"
        )
        kept: list[np.ndarray] = []

        def spy(*arrays: np.ndarray, kept: list[np.ndarray] = kept) -> int:
            changed = guess_again(*arrays)
            kept.append(arrays[6].copy())
            return changed

        monkeypatch.setattr(risks, "guess_again", spy)
        attack_by_learning(data, Bucketing(np.array(buckets, np.int32)), rounds=3)
        order = sorted(range(n), key=lambda place: buckets[place])
        shares = equal_chances(buckets, values)
        for weights in kept:
            shares = next_shares(rows, buckets, values, shares, risks.SWEEPS)
            flat = [shares[place][value] for place in order for value in sorted(shares[place])]
            assert weights.tolist() == pytest.approx(flat)


def moves(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Return a list that fills with how much all shares together move from round to round."""
    last: list[np.ndarray] = []
    moved: list[float] = []

    def spy(*arrays: np.ndarray) -> int:
        changed = guess_again(*arrays)
        moved.extend(float(np.abs(arrays[6] - before).sum()) for before in last)
        last[:] = [arrays[6].copy()]
        return changed

    monkeypatch.setattr(risks, "guess_again", spy)
    return moved


@pytest.mark.parametrize("told", [0.05, 0.15, 0.4])
def test_shares_move_less_in_every_later_round(told: float, monkeypatch: pytest.MonkeyPatch) -> None:
    random = Random(5)
    data = table(random, 3000, 8, told=told)
    bucketing = anatomy.anonymize(data, LDiversity(6), random=random, watch=Watch()).bucketing
    moved = moves(monkeypatch)
    assert attack_by_learning(data, bucketing).settled
    late = moved[len(moved) // 2 :]
    assert all(later < earlier for earlier, later in pairwise(late))


def test_adult_at_l_6_needs_many_rounds_but_not_for_going_round_in_circles(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    data = adult()
    bucketing = anatomy.anonymize(data, LDiversity(6), random=Random(1), watch=Watch()).bucketing
    assert not attack_by_learning(data, bucketing, rounds=risks.FEWEST_ROUNDS).settled
    moved = moves(monkeypatch)
    attack = attack_by_learning(data, bucketing)
    assert attack.settled
    assert attack.rounds > risks.FEWEST_ROUNDS
    # After the first few rounds each moves a little less than the one before.
    assert all(0.8 * earlier < later < earlier for earlier, later in pairwise(moved[10:]))
    assert 0.95 < moved[-1] / moved[-2] < 0.97


def test_large_tables_get_fewer_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    random = Random(5)
    data = table(random, 3000, 8, told=0.1)
    bucketing = anatomy.anonymize(data, LDiversity(6), random=random, watch=Watch()).bucketing
    monkeypatch.setattr(risks, "FEWEST_ROUNDS", 3)
    monkeypatch.setattr(risks, "MOST_GUESSES", 5 * len(data))
    attack = attack_by_learning(data, bucketing)
    assert (attack.rounds, attack.settled) == (5, False)
    monkeypatch.setattr(risks, "MOST_GUESSES", 1)
    assert attack_by_learning(data, bucketing).rounds == 3


def test_limits() -> None:
    data = Microdata.from_columns({"a": list("xy"), "ill": list("uv")}, "ill")
    one = Bucketing(np.zeros(2, np.int32))
    assert attack_by_learning(data, one, rounds=1).rounds == 1
    watch = Watch()
    watch.cancel()
    with pytest.raises(Cancelled):
        attack_by_learning(data, one, watch=watch)
    nobody = Microdata(
        tuple(type(a)(a.name, a.hierarchy, a.leaf_by_tuple[:0]) for a in data.quasi),
        data.sensitive,
        data.values,
        data.value_by_tuple[:0],
    )
    attack = attack_by_learning(nobody, Bucketing(np.empty(0, np.int32)))
    assert (attack.tuples, attack.accuracy, attack.settled) == (0, 0, True)


def test_too_many_values_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(risks, "LARGEST", 3)
    data = Microdata.from_columns({"a": list("xy"), "ill": list("uv")}, "ill")
    with pytest.raises(ResourceLimit, match="2 x 2 pairs"):
        attack_by_learning(data, Bucketing(np.zeros(2, np.int32)))


def test_a_large_table_is_attacked_by_whole_buckets_of_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    random = Random(4)
    data = table(random, 3000, 8, told=0.4)
    bucketing = anatomy.anonymize(data, LDiversity(3), random=random, watch=Watch()).bucketing
    whole = attack_by_learning(data, bucketing)
    assert attack_sample(data, bucketing) == whole
    seen: list[tuple[Microdata, Bucketing, int | None]] = []

    def spy(part: Microdata, buckets: Bucketing, *, rounds: int, watch: Watch | None) -> object:
        seen.append((part, buckets, rounds))
        return attack_by_learning(part, buckets, rounds=rounds, watch=watch)

    monkeypatch.setattr(risks, "attack_by_learning", spy)
    monkeypatch.setattr(risks, "SAMPLED_CELLS", 2 * 600)
    sample = attack_sample(data, bucketing)
    assert sample == attack_sample(data, bucketing)
    part, buckets, rounds = seen[0]
    assert len(part) == sample.tuples == 600
    assert buckets.n_buckets == bucketing.n_buckets // 5
    assert set(np.bincount(buckets.bucket_by_tuple).tolist()) == {3}
    assert rounds == risks.rounds_for(len(data))
    # Much is told of the value, so a fifth of the buckets teaches nearly as much.
    assert abs(sample.accuracy - whole.accuracy) < Fraction(1, 10)
    assert sample.accuracy > sample.baseline + Fraction(1, 10)


def test_the_private_page_says_that_it_looked_at_a_sample() -> None:
    found = risks.DeFinettiAttack(tuples=600, right=300, by_share=200, rounds=9, settled=True)
    assert "600 of the 3,000 records" in attacks(None, found, 3000)
    assert "whole buckets" not in attacks(None, found, 600)
