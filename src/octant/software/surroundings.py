"""Types that describe the state of the system during a measurement: other processes and the environment."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class OtherProcess:
    """A process of others: `cpus` is the processor time that it took while observed, 1.0 = one core."""

    pid: int
    command: str
    cpus: float
    policy: str = "other"  # the scheduler's: "other", "fifo", "round-robin", "batch", "idle", "deadline"


@dataclass(frozen=True)
class CoreTrial:
    """What OpenBLAS does where OPENBLAS_CORETYPE names a core."""

    asked: str  # "SapphireRapids"; empty: the variable is unset
    given: str  # the core whose kernels are used then
    speedup: float | None = None  # of a product of matrices with these kernels; `None` where they are no others


@dataclass(frozen=True)
class OpenBlas:
    """An OpenBLAS library as it was loaded here."""

    path: str
    version: str
    core: str  # whose kernels it uses
    trials: tuple[CoreTrial, ...] = ()


@dataclass(frozen=True)
class Surroundings:
    """Environment variables, processes and libraries around a measurement."""

    environment: Mapping[str, str] = field(default_factory=dict)
    busy: tuple[OtherProcess, ...] = ()  # took more than 2 % of a core while observed, busiest first
    realtime: tuple[OtherProcess, ...] = ()  # scheduled before every normal process, without kernel threads
    openmp_libraries: tuple[str, ...] = ()  # paths of OpenMP runtimes that this Python's packages bring
    openblas: OpenBlas | None = None  # the one that gemm uses
    tried: Mapping[str, str] = field(default_factory=dict)  # commands of advice: empty where they have their effect
