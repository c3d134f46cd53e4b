"""Types of the network model's predictions for a benchmark on a described machine.

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
    """A published value per node (rings: per rank), at the published size nearest to the requested one."""

    per_part: float
    at: str
    text: str  # how it is derived from the published text
    calibrated: tuple[str, ...]  # parameters of the model that were taken from it


@dataclass(frozen=True)
class OnSystem:
    """Predicted rate of a test on a number of nodes, in B/s or flop/s: of all nodes (rings: per rank)."""

    test: str
    nodes: int
    unit: str
    per_s: Interval
    limited_by: str
    published: PublishedNodeValue | None = None
    note: str = ""
    title: str = field(kw_only=True, repr=False)  # name in tables
    parts: int = field(kw_only=True, repr=False)  # number of nodes that share the rate; 1: the rate is per rank

    @property
    def error(self) -> float | None:
        """Relative error: the model's rate per node over the published one, minus one."""
        if self.published is None:
            return None
        return self.per_s.middle / self.parts / self.published.per_part - 1


@dataclass(frozen=True)
class System:
    """Predictions for a described machine."""

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
