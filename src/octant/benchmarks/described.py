"""What the network model predicts of a benchmark on a machine that is described and not here: the types of the answer.

A benchmark folder with a module `described` offers `on_system(network, nodes) -> System`.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from octant.benchmarks import benchmarks
from octant.benchmarks.table import read_tests
from octant.stats import Interval

if TYPE_CHECKING:
    from types import ModuleType


@dataclass(frozen=True)
class PublishedNodeValue:
    """A published value of one node (of a ring: of a rank), at the size nearest to the one asked."""

    per_part: float
    at: str
    text: str  # how it follows from what is printed
    calibrated: tuple[str, ...]  # what of the model was taken from it


@dataclass(frozen=True)
class OnSystem:
    """A test on so many nodes: the rate of all of them (of a ring: of each rank), in base units (B/s, flop/s)."""

    test: str
    nodes: int
    unit: str
    per_s: Interval
    limited_by: str
    published: PublishedNodeValue | None = None
    note: str = ""
    title: str = field(kw_only=True, repr=False)  # in tables
    parts: int = field(kw_only=True, repr=False)  # nodes that share the rate; 1 where it is of each rank

    @property
    def error(self) -> float | None:
        """The model's rate of a node over the published one, minus one."""
        if self.published is None:
            return None
        return self.per_s.middle / self.parts / self.published.per_part - 1


@dataclass(frozen=True)
class System:
    """What the model says of a described machine."""

    network: str
    answers: tuple[OnSystem, ...]
    left_out: tuple[str, ...]
    assumptions: tuple[str, ...]


def described_tests(workloads: Collection[str]) -> ModuleType | None:
    """Return the module `described` of the benchmark whose tests use all of these workloads; `None`: there is none."""
    for one in benchmarks().values():
        if {*workloads} <= {test.workload for test in read_tests(one.name)} and (part := one.part("described")):
            return part
    return None
