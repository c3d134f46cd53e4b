"""Rounds of a run, in an order that is randomised from a seed.

Launches differ more between minutes than within one. Therefore the launches of a figure are spread over the whole run.
"""

from __future__ import annotations

import hashlib
import random
import secrets
from typing import TYPE_CHECKING

from octant.request import Launch

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from octant.store.run_request import RunRequest

LAUNCHES = 6  # per figure of a table
CURVE_LAUNCHES = 3  # per point of a curve
MAX_VALUES = 4  # of a knob; a knob with more values spans a curve


def usual_launches(knobs: Mapping[str, str]) -> int:
    """Return the default number of launches of cells with these knobs."""
    curve = any(len(values.split(",")) > MAX_VALUES for values in knobs.values())
    return CURVE_LAUNCHES if curve else LAUNCHES


def new_seed() -> int:
    """Return a new random seed for the orders of a run."""
    return secrets.randbelow(2**31)


def due_rounds(repeats: Sequence[int]) -> list[list[int]]:
    """Return the round, from 0, of each launch of each request.

    The number of rounds is the largest number of launches of a request. Launches of other requests are evenly spaced:
    n of them in R rounds are at most ⌈R/n⌉ rounds apart, and no farther from either end. Requests with equal numbers of
    launches begin in different rounds, so that rounds take about equally long.

    Args:
        repeats: number of launches of each request.
    """
    rounds = max(repeats, default=0)
    alike = {number: repeats.count(number) for number in repeats}
    earlier = dict.fromkeys(repeats, 0)
    due = []
    for number in repeats:
        due.append([(i * alike[number] + earlier[number]) * rounds // (number * alike[number]) for i in range(number)])
        earlier[number] += 1
    return due


def drawn_order(repeats: Sequence[int], seed: int) -> tuple[tuple[int, int], ...]:
    """Return (request, repeat) of every launch in the order of execution: round by round, randomised for two rounds.

    With equal numbers of launches these are randomised complete blocks (Montgomery, Design and Analysis of Experiments,
    ch. 4). Every second round reverses the order of the round before it, so that a steady drift cancels in ratios of
    requests. With four independently randomised rounds, two requests would have the same order in all rounds of one in
    eight runs.
    """
    rounds: list[list[tuple[int, int]]] = [[] for _ in range(max(repeats, default=0))]
    for request, due in enumerate(due_rounds(repeats)):
        for repeat, number in enumerate(due):
            rounds[number].append((request, repeat))
    draw, places = random.Random(seed), list(range(len(repeats)))
    for number, block in enumerate(rounds):
        if number % 2 == 0:
            draw.shuffle(places)
        block.sort(key=lambda start: places[start[0]], reverse=number % 2 == 1)
    return tuple(start for block in rounds for start in block)


def seed_within(seed: int, what: str) -> int:
    """Return the seed of one random choice in a run.

    Args:
        seed: seed of the run.
        what: "launch 3" for the order of points and the hardware threads of the fourth launch of every request, which
            are compared within rounds; "round 3" for the order of that round.
    """
    return int.from_bytes(hashlib.sha256(f"{seed} {what}".encode()).digest()[:4])


def rounds_of(run: RunRequest) -> dict[str, int]:
    """Return the round of each launch of a run, by the key of the launch; empty if its order has no rounds.

    A probe is the last request, and its two launches are the first and the last of the run. They belong to the first
    and the last round.
    """
    order, requests = run.order, run.requests
    launches = [Launch(requests[request], repeat).key for request, repeat in order]
    due = due_rounds([request.repeats for request in requests])
    found = [due[request][repeat] for request, repeat in order]
    if found != sorted(found) and order[0] == (len(requests) - 1, 0) and order[-1] == (len(requests) - 1, 1):
        due = due_rounds([request.repeats for request in requests[:-1]])
        within = [due[request][repeat] for request, repeat in order[1:-1]]
        found = [0, *within, max(within, default=0)]
    return dict(zip(launches, found, strict=True)) if found == sorted(found) else {}
