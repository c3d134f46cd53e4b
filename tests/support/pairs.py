"""All-pairs test design: few combinations that contain every pair of values of any two factors."""

import itertools
from collections.abc import Mapping, Sequence
from typing import TypeVar

T = TypeVar("T")


def all_pairs(factors: Mapping[str, Sequence[T]]) -> list[dict[str, T]]:
    """Return combinations of values, one for each factor, so that every pair of values of two factors occurs in one.

    Greedy and deterministic: each combination begins with the first pair that is still missing, and each further
    factor takes the value that adds most missing pairs (the earliest of them in the list). The first value of a factor
    should be the usual one.

    Args:
        factors: the values of each factor, at least one; values of one factor differ.
    """
    names = list(factors)
    places = {name: range(len(factors[name])) for name in names}
    missing = {
        ((a, i), (b, j)): None for a, b in itertools.combinations(names, 2) for i in places[a] for j in places[b]
    }
    position = {name: at for at, name in enumerate(names)}

    def pair(one: tuple[str, int], other: tuple[str, int]) -> tuple[tuple[str, int], tuple[str, int]]:
        return (one, other) if position[one[0]] < position[other[0]] else (other, one)

    found: list[dict[str, int]] = []
    while missing:
        chosen = dict(next(iter(missing)))
        for name in sorted(names, key=lambda name: -len(factors[name])):
            if name not in chosen:
                gains = [sum(pair((name, value), item) in missing for item in chosen.items()) for value in places[name]]
                chosen[name] = gains.index(max(gains))
        for one, other in itertools.combinations(chosen.items(), 2):
            missing.pop(pair(one, other), None)
        found.append(chosen)
    return [{name: factors[name][chosen[name]] for name in names} for chosen in found]
