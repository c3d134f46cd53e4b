"""The types that a workload folder fills in: metrics, what the hardware allows, and which points to evaluate."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from octant.machine import Machine
from octant.record import Point

Mode = Literal["one", "star", "threads", "all"]
"""one: one rank, one thread. star: a rank on every core, each its own copy at once (HPCC's word). threads: one rank,
a thread on every core. all: the ranks work together (messages)."""


@dataclass(frozen=True)
class Limit:
    """The best value that the hardware could give, and where that number comes from."""

    value: float
    source: str  # "8 flop a cycle at 2.99 GHz (measured), 1 core"


@dataclass(frozen=True)
class Ceilings:
    """What was measured about the machine: a measured ceiling beats a stated one. `None`: not measured yet.

    Lists by hardware threads in use: `flops_per_s[2]` is the rate with two of them.
    """

    clock_hz: float | None = None
    flops_per_s: Mapping[int, float] = field(default_factory=dict)  # double precision, widest vectors
    memory_bytes_per_s: Mapping[int, float] = field(default_factory=dict)  # write-allocates counted


@dataclass(frozen=True)
class Metric:
    """One figure derived from a point's samples, in base units.

    `count` is the work of one chunk or step: bytes, flop, messages, loads. A rate is count / seconds (higher is
    better), a time is seconds / count (lower is better).
    """

    name: str  # "bandwidth"
    unit: str  # "B/s", "flop/s", "s"
    kind: Literal["rate", "time"]
    count: Callable[[Point], float]
    note: str = ""  # the counting rule, shown beside the figure


@dataclass(frozen=True)
class Ask:
    """One launch that `octant evaluate` makes of a workload. Knob values may be lists (`1KiB,2KiB`): one point each."""

    mode: Mode
    knobs: Mapping[str, str]
    title: str  # "triad from memory, every core"
    table: bool = True  # a row of the terminal table; curves show in the report only


@dataclass(frozen=True)
class Workload:
    """Something measurable. Its kernel is the program `octant-<family>-<name>`; its page is the folder's README."""

    summary: str  # one line
    metrics: tuple[Metric, ...]  # the first is the headline
    limit: Callable[[Machine, Ceilings, Point], Limit | None]  # of the headline metric
    evaluate: Callable[[Machine, bool], tuple[Ask, ...]]  # (machine, quick)
    ceiling: Callable[[Machine, Point], tuple[Literal["flops", "memory"], str] | None] = lambda _machine, _point: None
    """Which ceiling a point may raise, and by which metric; `None` for most points."""
    axis: str = ""  # the knob that this workload's curve runs along ("bytes"), or ""
    order: int = 50  # `evaluate` goes from low to high: what sets ceilings comes first
    name: str = ""  # "node/stream": where its folder lies, filled in by whoever finds it there

    def metric(self, name: str = "") -> Metric:
        """The metric of that name, or the headline.

        Raises:
            KeyError: no such metric; the message lists the known ones.
        """
        for metric in self.metrics:
            if name in ("", metric.name):
                return metric
        raise KeyError(f"no metric {name!r} in {self.name}; try {', '.join(m.name for m in self.metrics)}")
