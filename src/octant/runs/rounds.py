"""When each launch of a run starts: in rounds over the whole run, in an order that a seed draws.

What differs between launches differs most between minutes, so the launches of a figure are spread over all of the run.
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

LAUNCHES = 6  # of a figure in the table
CURVE_LAUNCHES = 3  # of each point of a curve
MOST_VALUES = 4  # of a knob; with more it spans a curve


def usual_launches(knobs: Mapping[str, str]) -> int:
    """How often cells with these knobs are launched where nobody says."""
    curve = any(len(values.split(",")) > MOST_VALUES for values in knobs.values())
    return CURVE_LAUNCHES if curve else LAUNCHES


def new_seed() -> int:
    """A seed for the orders of a run."""
    return secrets.randbelow(2**31)


def due_rounds(repeats: Sequence[int]) -> list[list[int]]:
    """The round, from 0, in which each launch of each request is due.

    There are as many rounds as the most launched ask has launches. Those of another are spread evenly: n of them in R
    rounds are at most ⌈R/n⌉ rounds apart, and no farther from either end. Asks with equally many begin in different
    rounds, so that rounds take about equally long.

    Args:
        repeats: launches of each request.
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
    """(ask, repeat) of every launch as they start: round by round, in an order that is drawn for two rounds.

    With equally many launches of each request these are randomised complete blocks (Montgomery, Design and Analysis of
    Experiments, ch. 4). The second round of two has the order of the first backwards, so that a steady drift cancels
    in ratios of requests: of four rounds drawn on their own, one in eight runs starts two requests in one order in all of them.
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
    """The seed of something that is drawn in a run.

    Args:
        seed: of the run.
        what: "launch 3" for the order of points and the hardware threads of every request's fourth launch, which are
            compared with one another by rounds; "round 3" for the order of that round.
    """
    return int.from_bytes(hashlib.sha256(f"{seed} {what}".encode()).digest()[:4])


def rounds_of(run: RunRequest) -> dict[str, int]:
    """The round of each launch of a run, by the launch's key; empty where its order has no rounds.

    Of a probe, the last request, whose two launches stand at the ends, they are the first round and the last.
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
