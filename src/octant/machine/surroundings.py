"""What runs beside a measurement, and its environment: facts of the moment, not of the machine."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Process:
    """A process of others: `cpus` is the processor time that it took while observed, 1.0 = one core."""

    pid: int
    command: str
    cpus: float
    policy: str = "other"  # the scheduler's: "other", "fifo", "round-robin", "batch", "idle", "deadline"


@dataclass(frozen=True)
class Surroundings:
    """Environment variables, processes and libraries around a measurement."""

    environment: Mapping[str, str] = field(default_factory=dict)
    busy: tuple[Process, ...] = ()  # took more than 2 % of a core while observed, busiest first
    realtime: tuple[Process, ...] = ()  # scheduled before every normal process, kernel threads left out
    openmp_libraries: tuple[str, ...] = ()  # paths of OpenMP runtimes that this Python's packages bring
