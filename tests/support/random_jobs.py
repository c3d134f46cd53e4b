"""Random profiles, with any numbers that a profiler may record, for tests of reports."""

from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import strategies as st

from made_jobs import HOSTILE, NAMES
from octant.profile.job import CALLS, PEERS, REGION_TIMES, Communicator, JobProfile, ProcessProfile, Region, Site

_TIMES = st.sampled_from([0.0, 1e-9, 3.3e-6, 0.0123, 1.0, 59.9996, 12345.678]) | st.floats(0, 1e5).map(
    lambda x: round(x, 9)
)
_COUNTS = st.integers(0, 3) | st.integers(0, 10**12)
TEXTS = st.sampled_from(["", "a", "solve", "x" * 300, "名前" * 30, HOSTILE]) | st.text(max_size=40)


@st.composite
def _sites(draw: st.DrawFn) -> Site:
    return Site(draw(TEXTS), draw(st.integers(0, 2**40)), draw(TEXTS), draw(TEXTS), draw(st.integers(0, 99999)))


@st.composite
def _processes(draw: st.DrawFn, rank: int) -> ProcessProfile:
    unknown: Callable[[st.SearchStrategy[Any]], st.SearchStrategy[Any]] = lambda some: st.none() | some  # noqa: E731
    return ProcessProfile(
        rank, draw(TEXTS), 100 + rank, draw(st.sampled_from(["running", "finalized", "exited"])), draw(_TIMES),
        draw(st.integers(1, 4)), draw(_TIMES), draw(_TIMES), 1e-8, draw(_COUNTS), draw(_COUNTS),
        draw(unknown(_COUNTS)), draw(unknown(_TIMES)), draw(unknown(_TIMES)), draw(unknown(_COUNTS)),
        tuple(draw(st.lists(st.sampled_from(["counts only", "no sites", "lost entries"]), max_size=2))),
    )  # fmt: skip


@st.composite
def random_jobs(draw: st.DrawFn) -> JobProfile:
    """Return a profile whose parts fit to each other."""
    ranks = draw(st.integers(1, 5))
    present = draw(st.lists(st.integers(0, ranks - 1), unique=True, max_size=ranks).map(sorted))
    sites = draw(st.lists(_sites(), min_size=1, max_size=4))
    communicators = [
        Communicator(draw(TEXTS), draw(st.integers(1, ranks)), kind)
        for kind in draw(st.lists(st.sampled_from(["communicator", "window", "file"]), min_size=1, max_size=3))
    ]
    regions = [Region(draw(TEXTS)), *(Region(draw(TEXTS), 0) for _ in range(draw(st.integers(0, 3))))]
    calls: list[tuple[Any, ...]] = []
    for _ in range(draw(st.integers(0, 12)) if present else 0):
        size = draw(st.sampled_from([0, 1, 8, 100, 2**20, 2**40]))
        number, time = draw(st.integers(1, 10**6)), draw(_TIMES)
        waited = draw(st.sampled_from([0.0, 0.25, 1.0]))
        calls.append((
            draw(st.sampled_from(present)), 0, draw(st.integers(0, len(NAMES) - 1)),
            draw(st.integers(0, len(sites) - 1)), draw(st.integers(0, len(communicators) - 1)),
            draw(st.integers(0, len(regions) - 1)), size.bit_length(), number, number * size, time,
            waited * time, time, 0.0, time,
        ))  # fmt: skip
    peers = [
        (draw(st.sampled_from(present)), draw(st.integers(-1, ranks - 1)), draw(st.integers(0, 3)),
         draw(st.integers(1, 1000)), draw(st.integers(0, 2**40)))
        for _ in range(draw(st.integers(0, 6)) if present else 0)
    ]  # fmt: skip
    times = [(rank, region, 1, draw(_TIMES), draw(_TIMES)) for rank in present for region in range(len(regions))]
    return JobProfile(
        ranks, tuple(draw(_processes(rank)) for rank in present), NAMES, tuple(sites), tuple(communicators),
        tuple(regions), np.array(calls, CALLS), np.array(peers, PEERS), np.array(times, REGION_TIMES), draw(TEXTS),
        "standard", draw(TEXTS), tuple(sorted({*range(ranks)} - {*present})), tuple(draw(st.lists(TEXTS, max_size=2))),
    )  # fmt: skip
