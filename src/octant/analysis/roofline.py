"""The roofline: what a kernel of some arithmetic intensity can reach at most (Williams, Waterman, Patterson 2009)."""

from collections.abc import Sequence
from dataclasses import dataclass

from octant.record import Work
from octant.workload import Ceilings


@dataclass(frozen=True)
class Roofline:
    """One flat roof and one slope, for a number of hardware threads in use."""

    threads: int
    flops_per_s: float
    bytes_per_s: float  # from memory, write-allocates counted

    @property
    def ridge(self) -> float:
        """The least intensity, in flop/B, at which the arithmetic units can be kept busy."""
        return self.flops_per_s / self.bytes_per_s

    def attainable(self, intensity: float) -> float:
        """flop/s at most, at `intensity` flop/B.

        Raises:
            ValueError: a negative intensity.
        """
        if intensity < 0:
            raise ValueError(f"an arithmetic intensity is not negative ({intensity})")
        return min(self.flops_per_s, intensity * self.bytes_per_s)

    def bound(self, intensity: float) -> str:
        """Which of the two limits: `memory` left of the ridge, `compute` from it on."""
        return "memory" if intensity < self.ridge else "compute"

    def curve(self, intensities: Sequence[float]) -> tuple[float, ...]:
        """The roof over each intensity, for drawing."""
        return tuple(self.attainable(intensity) for intensity in intensities)


def rooflines(ceilings: Ceilings) -> tuple[Roofline, ...]:
    """One for every number of hardware threads for which both ceilings were measured, few threads first."""
    both = sorted(set(ceilings.flops_per_s) & set(ceilings.memory_bytes_per_s))
    return tuple(Roofline(n, ceilings.flops_per_s[n], ceilings.memory_bytes_per_s[n]) for n in both)


def intensity(work: Work) -> float | None:
    """flop/B of a kernel's own count, write-allocates counted; `None` where it moves nothing or computes nothing."""
    moved = work.bytes_read + work.bytes_written + work.bytes_allocated
    return work.flops / moved if moved > 0 and work.flops > 0 else None
