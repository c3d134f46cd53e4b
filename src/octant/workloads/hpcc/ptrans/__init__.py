"""Parallel matrix transposition C := Aᵀ + C on a grid of ranks (HPC Challenge's PTRANS)."""

import math

import numpy as np

from octant.limit import Known, Limit, memory_limit
from octant.machine import Machine
from octant.metric import Metric, custom, rate, share
from octant.record import Point, Samples
from octant.step import Scaling
from octant.workload import Curve, NoTraffic, Stacked, Traffic, Workload, any_size
from octant.workloads.hpcc.ptrans.step import order_of, step

MATRICES = 2
PHASES = ("pack", "exchange", "add")


def _hpcc_rate(point: Point, samples: Samples) -> float:
    """Return the lowest rate of all maps: 8 n² over the first time of the slowest rank."""
    transposed = point.count("bytes_transposed")
    steps = [one.values[point.warmup :] for one in samples.series if one.head.name == "step"]
    maps = next((one.values[point.warmup :] for one in samples.series if one.head.name == "reading/map"), None)
    if not steps or maps is None or any(len(one) != len(maps) for one in steps):
        return float("nan")
    slowest = np.max(steps, axis=0) * 1e-9
    return float(min(transposed / slowest[maps == one][0] for one in np.unique(maps)))


def _footprint(_machine: Machine, point: Point) -> int:
    """Return the bytes of A and C of all ranks."""
    return MATRICES * point.count("bytes_transposed")


def _least_seconds(known: Known, machine: Machine, point: Point) -> Limit | None:
    """Return the memory limit beyond the caches: 24 bytes per element (read A and C, write C)."""
    size, moved = _footprint(machine, point), point.count("bytes_read", "bytes_written")
    return memory_limit(known, machine, point, size, moved, "24 bytes per element")


def _traffic(_machine: Machine, point: Point) -> Traffic | NoTraffic:
    """Return the traffic on a grid of coprime P and Q, where every rank sends equally to all others."""
    if len({given.host for given in point.given}) < 2:
        return NoTraffic("all ranks are on one node; no data crosses a network")
    grid = point.notes["grid"]
    if math.gcd(*map(int, grid.split("x"))) > 1:
        return NoTraffic(f"on a grid of {grid}, ranks exchange data with few others (P, Q not coprime)")
    return Traffic("ptrans", cost="transpose", description="transposition between all nodes")


WORKLOAD = Workload(
    summary="Parallel transposition of a distributed matrix (HPCC PTRANS)",
    metrics=(
        Metric(
            "rate", "B/s", "higher", rate("bytes_transposed"),
            note="8 n² over the time of the slowest rank; median over repetitions and maps",
        ),
        Metric(
            "HPCC rate", "B/s", "higher", custom(_hpcc_rate),
            note="8 n² over the first time of the slowest map (HPC Challenge transposes once per map)",
        ),
        Metric("traffic", "B/s", "higher", rate("bytes_read", "bytes_written"), note="24 bytes per element"),
        Metric("pack share", "1", "lower", share("phase/pack"), note="share of time: transposing into a buffer"),
        Metric("exchange share", "1", "lower", share("phase/exchange"), note="share of time: messages and waiting"),
        Metric("add share", "1", "lower", share("phase/add"), note="share of time: adding a buffer to C"),
    ),
    bounded_by=("memory traffic",),
    least_seconds=_least_seconds,
    pictures=(Curve("n", each=("transport",)), Stacked("transport", PHASES, waiting=("exchange",))),
    traffic=_traffic,
    footprint=_footprint,
    step=step,
    scaling=Scaling("ptrans", "PTRANS", "n", power=2, read=order_of, apart=({"transport": "messages"},)),
    messages=True,
    smoke={"n": "100", "block": "7", "transport": "shared,messages", "tile": "16"},
    results={"residual": "largest difference from A transposed + C, over eps n"},
    sizes=dict.fromkeys(("n", "block", "grid"), any_size),
)  # fmt: skip
