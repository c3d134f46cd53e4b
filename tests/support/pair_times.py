"""A launch of `node/coherence` whose pairs take what the test says, and machines that tell this or that of them."""

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from fake_run import lane, point
from octant.machine import Topology
from octant.machine.hwloc import read_synthetic
from octant.record import Clock, Point

PASSES = 2000
TWO_SOCKETS = read_synthetic("pack:2 l3:2 core:2 pu:2")
"""Hardware threads 0 and 1 are of one core, 0 to 3 of one L3 cache, 0 to 7 of one package."""


def distance_ns(a: int, b: int) -> float:
    """One way on `TWO_SOCKETS`, as such machines have it."""
    return 7.0 if a // 2 == b // 2 else 20.0 if a // 4 == b // 4 else 90.0 if a // 8 == b // 8 else 210.0


def values(cpus: Sequence[int], ns: Callable[[int, int], float] = distance_ns) -> dict[tuple[int, int], float]:
    """Seconds by pair."""
    return {pair: ns(*pair) * 1e-9 for pair in combinations(cpus, 2)}


def launch(
    cpus: Sequence[int] = range(16), ns: Callable[[int, int], float] = distance_ns, visits: int = 3, **changes: Any
) -> Point:
    """Every pair is visited so often, the caller being now one and now the other; each third visit is disturbed."""
    pairs = [pair[:: (-1) ** visit] for visit in range(visits) for pair in combinations(cpus, 2)]
    slow = [1.1 if visit % 3 == 2 else 1.0 for visit in range(visits) for _ in combinations(cpus, 2)]
    times = [round(ns(*pair) * PASSES * factor) + 40 for pair, factor in zip(pairs, slow, strict=True)]
    phase = lane(times, name="phase/passing")
    object.__setattr__(phase, "entries", np.ones(len(times)))
    readings = [
        lane([pair[end] for pair in pairs], name=f"reading/{name}", unit="1")
        for end, name in enumerate(("first", "second"))
    ]
    whole: dict[str, Any] = {
        "workload": "node/coherence",
        "knobs": {"pattern": "pairs", "protocol": "exchange"},
        "counts": {"passes": PASSES},
        "lanes": (lane([time + 90_000 for time in times]), phase, *readings),
        "clock": Clock("", 21.0, 1.0, 65.0, 40.0),
    }
    return point("steps", **{**whole, **changes})


def flat(text: str = "core:16 pu:1") -> Topology:
    """A machine that reports no groups."""
    return read_synthetic(text)
