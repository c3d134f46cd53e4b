"""The samples of the figures of a page, deflated; beyond a budget they are thinned, and the extremes are kept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from octant import stats
from octant.analysis.reduce import measure
from octant.report.export.sharing import cleaned
from octant.report.page.html import packed

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from octant.analysis.figures import Figure, LaunchFigure
    from octant.report.page.html import Clean

MOST_BYTES = 110_000
"""Budget of deflated samples on a page, so that the page of a quick evaluation has less than 0.5 MB."""
_FIRST_GUESS = 2.1  # bytes of a page that one sample takes


@dataclass(frozen=True)
class PackedSamples:
    """The samples of each figure, in the order of the page, and how many of all samples they are."""

    figures: tuple[str, ...]
    kept: int
    total: int


def pack(figures: Sequence[Figure], every: bool = False, clean: Clean = str) -> PackedSamples:
    """Pack the samples of these figures into at most `MOST_BYTES`; `every`: all samples, read again from the store.

    Raises:
        RecordError: the samples of a point can no longer be read.
    """
    launches = [launch for figure in figures for launch in figure.launches]
    total, held = sum(launch.count for launch in launches), sum(len(launch.samples) for launch in launches)
    share, before = 1.0 if every else min(1.0, MOST_BYTES / _FIRST_GUESS / (held or 1)), 0
    while True:
        made = [_packed(figure, share, every, clean) for figure in figures]
        size = sum(len(text) for text, _ in made)
        if every or size <= MOST_BYTES or size == before:  # two samples per launch remain in any case
            return PackedSamples(tuple(text for text, _ in made), sum(kept for _, kept in made), total)
        share, before = 0.95 * share * MOST_BYTES / size, size


def _packed(figure: Figure, share: float, every: bool, clean: Clean) -> tuple[str, int]:
    value = figure.value
    launches = [_samples(figure, launch, share, every) for launch in figure.launches]
    found = {
        "title": figure.name,
        "metric": figure.metric.name,
        "unit": figure.metric.unit,
        "interval": [value.low, value.middle, value.high] if value and value.kind != "not measurable" else None,
        "count": sum(launch.count for launch in figure.launches),
        "samples": [[float(f"{x:.4g}") for x in samples.tolist()] for samples in launches],
    }
    return packed(cleaned(found, clean)), sum(map(len, launches))


def _samples(figure: Figure, launch: LaunchFigure, share: float, every: bool) -> NDArray[np.float64]:
    if every and launch.count > len(launch.samples):
        return measure(figure.metric, launch.point, launch.point.read()).samples
    return stats.thinned(launch.samples, max(2, int(share * len(launch.samples))))
