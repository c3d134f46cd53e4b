"""The roofline: what a kernel of some arithmetic intensity can reach at most (Williams, Waterman, Patterson 2009)."""

from collections.abc import Sequence
from dataclasses import dataclass

from octant.limit import Known
from octant.record import Point

FLOPS, TRAFFIC = "fma double", "memory traffic"
"""The limits that make the roof."""


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


def rooflines(known: Known) -> tuple[Roofline, ...]:
    """One for every set of hardware threads for which both limits were measured, few threads first.

    Of sets of the same size the one with the fastest arithmetic stands for all.
    """
    flops, traffic = (known.by_name.get(name, {}) for name in (FLOPS, TRAFFIC))
    roofs: dict[int, Roofline] = {}
    for threads, best in flops.items():
        memory = Known(known.topology, {TRAFFIC: traffic}).best(TRAFFIC, threads)
        known_roof = roofs.get(len(threads))
        if memory and (known_roof is None or best.value > known_roof.flops_per_s):
            roofs[len(threads)] = Roofline(len(threads), best.value, memory.value)
    return tuple(roofs[count] for count in sorted(roofs))


def intensity(point: Point) -> float | None:
    """flop/B of a kernel's own count, write-allocates counted; `None` where it moves nothing or computes nothing."""
    moved = point.count("bytes_read", "bytes_written", "bytes_allocated")
    flops = point.count("flops")
    return flops / moved if moved > 0 and flops > 0 else None
