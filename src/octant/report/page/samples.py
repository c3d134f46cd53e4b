"""The samples of a page's figures, deflated: all that a figure keeps where they fit, else thinned with the extremes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from octant import stats
from octant.analysis.reduce import measure
from octant.report.page.html import packed

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from octant.analysis.figures import Figure, LaunchFigure

MOST_BYTES = 1_000_000
"""Of deflated samples on a page, unless all are asked for."""
_FIRST_GUESS = 2.6  # bytes of a page that one sample takes


@dataclass(frozen=True)
class PackedSamples:
    """What the script draws of each figure, in the order of the page, and what the page says of it."""

    figures: tuple[dict[str, Any], ...]
    kept: int
    there: int

    @property
    def text(self) -> str:
        """`This page holds 4000 of 90000 samples: …`."""
        if not self.there:
            return "The run has no samples."
        if self.kept >= self.there:
            return f"This page holds all {self.there} samples of its figures."
        return (
            f"This page holds {self.kept} of {self.there} samples of its figures, evenly chosen, with the least and "
            "the greatest of each launch; octant report --all-samples keeps all."
        )


def pack(figures: Sequence[Figure], every: bool = False) -> PackedSamples:
    """The samples of these figures, at most `MOST_BYTES` of them; `every`: all, read again from the store.

    Raises:
        RecordError: the samples of a point can no longer be read.
    """
    there = sum(launch.count for figure in figures for launch in figure.launches)
    held = sum(len(launch.samples) for figure in figures for launch in figure.launches)
    share = 1.0 if every else min(1.0, MOST_BYTES / _FIRST_GUESS / (held or 1))
    while True:
        made = [_packed(figure, share, every) for figure in figures]
        size = sum(len(one["samples"]) for one, _ in made)
        if every or size <= MOST_BYTES:
            return PackedSamples(tuple(one for one, _ in made), sum(kept for _, kept in made), there)
        share *= 0.95 * MOST_BYTES / size


def _packed(figure: Figure, share: float, every: bool) -> tuple[dict[str, Any], int]:
    value = figure.value
    launches = [_samples(figure, launch, share, every) for launch in figure.launches]
    found = {
        "title": figure.name,
        "metric": figure.metric.name,
        "unit": figure.metric.unit,
        "interval": [value.low, value.middle, value.high] if value and value.kind != "not measurable" else None,
        "count": sum(launch.count for launch in figure.launches),
        "samples": packed([[float(f"{x:.5g}") for x in samples.tolist()] for samples in launches]),
    }
    return found, sum(map(len, launches))


def _samples(figure: Figure, launch: LaunchFigure, share: float, every: bool) -> NDArray[np.float64]:
    if every and launch.count > len(launch.samples):
        return measure(figure.metric, launch.point, launch.point.read()).samples
    return stats.thinned(launch.samples, max(2, int(share * len(launch.samples))))
