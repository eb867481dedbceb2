"""Buckets by brute force: assignments, Definitions 1 and 2 and Figure 2 of the Injector paper.

A person is a sensitive value and the set of values that the rules rule out. Nothing here is clever on
purpose; nothing is shared with the methods or the audit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import permutations, product
from typing import NamedTuple


class Person(NamedTuple):
    value: int
    cannot: frozenset[int]


Group = Sequence[Person]


def largest_matching(cannot: Sequence[frozenset[int]], values: Sequence[int]) -> int:
    """How many of the people can be given one of the values each (MBM of the paper), by augmenting."""
    taker: dict[int, int] = {}

    def give(person: int, seen: set[int]) -> bool:
        for place, value in enumerate(values):
            if value in cannot[person] or place in seen:
                continue
            seen.add(place)
            if place not in taker or give(taker[place], seen):
                taker[place] = person
                return True
        return False

    return sum(give(person, set()) for person in range(len(cannot)))


def valid_values(group: Group, person: int) -> set[int]:
    """The valid values of a person: lines 2-6 of Figure 1, and that the person can take the value."""
    valid = set()
    others = [each.cannot for place, each in enumerate(group) if place != person]
    for place, other in enumerate(group):
        rest = [each.value for number, each in enumerate(group) if number != place]
        can_take = other.value not in group[person].cannot
        if can_take and largest_matching(others, rest) == len(group) - 1:
            valid.add(other.value)
    return valid


def valid_values_by_permutation(group: Group, person: int) -> set[int]:
    """The same from every way to hand the values out; for a handful of people."""
    values = [each.value for each in group]
    return {
        given[person]
        for given in permutations(values)
        if all(value not in each.cannot for value, each in zip(given, group, strict=True))
    }


def is_matching_diverse(group: Group, l: int) -> bool:  # noqa: E741
    return all(len(valid_values(group, person)) >= l for person in range(len(group)))


def most_buckets(table: Group, l: int) -> int:  # noqa: E741
    """The largest number of groups with Definition 1 into which people can be put, 0 where none can.

    Tries every group that the first person can be in, and what is left after it; for a dozen people.
    """
    known: dict[tuple[Person, ...], bool] = {}
    best: dict[int, int] = {0: 0}

    def fits(places: int) -> bool:
        group = (table[place] for place in range(len(table)) if places >> place & 1)
        alike = tuple(sorted(group, key=lambda person: (person.value, sorted(person.cannot))))
        if alike not in known:
            known[alike] = len({p.value for p in alike}) >= l and is_matching_diverse(alike, l)
        return known[alike]

    def most(places: int) -> int:
        if places not in best:
            first = places & -places
            rest = others = places ^ first
            found = -len(table)
            while True:
                if fits(others | first):
                    found = max(found, 1 + most(rest ^ others))
                if not others:
                    break
                others = (others - 1) & rest
            best[places] = found
        return best[places]

    return max(0, most(2 ** len(table) - 1))


def are_incompatible(one: Person, other: Person) -> bool:
    """Definition 2."""
    return one.value == other.value or other.value in one.cannot or one.value in other.cannot


def is_share_diverse(values: Sequence[str], l: int) -> bool:  # noqa: E741
    """No value in more than one of l people who have one; and at most one of l people without one."""
    have = [value for value in values if value != "(missing)"]
    absent = len(values) - len(have)
    return absent * l <= len(values) and all(have.count(value) * l <= len(have) for value in have)


def real_values(group: Group, person: int, values: Sequence[str]) -> set[str]:
    """The valid values of a person that are one: an empty cell is none."""
    return {values[value] for value in valid_values(group, person)} - {"(missing)"}


def incompatible_with(group: Group, person: Person) -> int:
    return sum(are_incompatible(each, person) for each in group)


def nit(group: Group, table: Group) -> int:
    """How many people of the table are incompatible with someone of the group."""
    return sum(any(are_incompatible(each, person) for each in group) for person in table)


def nit_by_formula(group: Group, table: Group) -> int:
    """NIT[g] as section V-C computes it from counts by value and set."""
    sen = {person.value for person in group}
    every = sen.union(*(person.cannot for person in group))
    first = sum(person.value in every for person in table)
    second = sum(person.value not in every and bool(person.cannot & sen) for person in table)
    return first + second


def deal(count_by_value: Sequence[int], l: int, words: Sequence[int]) -> list[list[int]]:  # noqa: E741
    """Anatomy's groups of values, then what is left; the word of a value's last copy breaks ties."""
    copies = {value: count for value, count in enumerate(count_by_value) if count}
    before = [sum(count_by_value[:value]) for value in range(len(count_by_value))]
    groups = []
    while len(copies) >= l:
        order = sorted(copies, key=lambda v: (-copies[v], words[before[v] + copies[v] - 1]))
        groups.append(order[:l])
        for value in order[:l]:
            copies[value] -= 1
            if not copies[value]:
                del copies[value]
    return [*groups, sorted(value for value, count in copies.items() for _ in range(count))]


def bucketize(
    table: Group,
    l: int,  # noqa: E741
    chance: Iterator[int],
    rank_of: Callable[[int], Sequence[int]],
) -> tuple[list[list[Person]], list[int]]:
    """Figure 2, line by line, on single people; and the NIT of each choice made in lines 3 and 13.

    Where several people are equally good, the one at a random place among them, in the order of
    `table`, is taken; equally good groups are told apart by size and then by `rank_of(how many)`. The
    people left over are taken in the order of `table`.
    """
    people = list(table)
    left = list(range(len(people)))
    groups: list[list[int]] = []
    rest: list[int] = []
    chosen: list[int] = []

    def members(places: Sequence[int]) -> list[Person]:
        return [people[place] for place in places]

    def values_of(places: Sequence[int]) -> set[int]:
        return {people[place].value for place in places}

    def pick(candidates: list[int], group: list[int], *, most: bool) -> int:
        nit_of = {j: nit(members([*group, j]), members(left)) for j in candidates}
        best = max(nit_of.values()) if most else min(nit_of.values())
        ties = [j for j in candidates if nit_of[j] == best]
        chosen.append(best)
        return ties[next(chance) % len(ties)]

    while len(left) >= l:
        first = pick(left, [], most=True)
        group = [first]
        left.remove(first)
        while len(group) < l:
            able = [j for j in left if incompatible_with(members(group), people[j]) == 0]
            if not able:
                left = sorted([*left, *group[1:]])
                rest.append(first)
                group = []
                break
            added = pick(able, group, most=False)
            group.append(added)
            left.remove(added)
        if group:
            groups.append(group)
    rest = sorted(rest + left)

    rank = rank_of(len(groups))
    alive = set(range(len(groups)))
    if not groups:
        return [members(rest)] if rest else [], chosen
    for j in rest:
        g = min(
            alive,
            key=lambda g: (incompatible_with(members(groups[g]), people[j]), len(groups[g]), rank[g]),
        )
        groups[g].append(j)
        while len(valid_values(members(groups[g]), len(groups[g]) - 1)) < l and len(alive) > 1:
            sen = values_of(groups[g])
            other = min(
                alive - {g}, key=lambda h: (-len(values_of(groups[h]) - sen), len(groups[h]), rank[h])
            )
            # The newcomer stays last, where it is looked at.
            groups[g] = [*groups[other], *groups[g]]
            alive.remove(other)
    return [members(groups[g]) for g in sorted(alive)], chosen


def every_way(groups: Sequence[Group]) -> Iterator[tuple[int, ...]]:
    """Every way to hand out the values of each group among its people, group after group."""
    ways = [
        {
            given
            for given in permutations([each.value for each in group])
            if all(value not in each.cannot for value, each in zip(given, group, strict=True))
        }
        for group in groups
    ]
    for chosen in product(*ways):
        yield tuple(value for given in chosen for value in given)


def values_in_worlds(
    groups: Sequence[Group], is_known: Callable[[tuple[int, ...]], bool]
) -> list[set[int]]:
    """The values that each person has in some world of which what is known is true."""
    found: list[set[int]] = [set() for group in groups for _ in group]
    for world in every_way(groups):
        if is_known(world):
            for values, value in zip(found, world, strict=True):
                values.add(value)
    return found
