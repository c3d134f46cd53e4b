"""The roofline: what a kernel of some arithmetic intensity can reach at most (Williams, Waterman, Patterson 2009)."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from octant.limit import FMA, Known, Threads, fma_peak, pattern
from octant.record import Point

TRAFFIC = "memory traffic"
"""The limit that makes the slope; `limit.FMA` has those that make the flat part."""


@dataclass(frozen=True)
class Roofline:
    """One flat roof and one slope, for a number of hardware threads in use and a precision."""

    threads: int
    element: str  # double or single
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


def rooflines(known: Known, used: Iterable[tuple[Threads, str]]) -> tuple[Roofline, ...]:
    """The roofs over points on these hardware threads with these elements, few threads first, double before single.

    Both limits are looked up as the shares of the points are, so a point at its roof has 100 %. Points whose threads
    lie alike share a roof; there is none where either limit was not measured.
    """
    limits = known.only((*FMA.values(), TRAFFIC))
    roofs: dict[object, Roofline] = {}
    for threads, element in used:
        peak, memory = fma_peak(limits, element, threads), limits.best(TRAFFIC, threads)
        if peak and memory:
            key = pattern(known.topology, threads), element
            roofs.setdefault(key, Roofline(len(threads), element, 1 / peak.seconds, memory.value))
    return tuple(sorted(roofs.values(), key=lambda roof: (roof.threads, roof.element, roof.flops_per_s)))


def element_of(point: Point) -> str:
    """The precision of the numbers that a point computes with: its knob `element`, or double."""
    named = point.knobs.get("element", "")
    return named if named in FMA else "double"


def intensity(point: Point) -> float | None:
    """flop/B of a kernel's own count, write-allocates counted; `None` where it moves nothing or computes nothing."""
    moved = point.count("bytes_read", "bytes_written", "bytes_allocated")
    flops = point.count("flops")
    return flops / moved if moved > 0 and flops > 0 else None
