"""Levels of memory and half of the best bandwidth, as a tile says them of curves whose edges are known."""

from dataclasses import replace

import pytest

from fake_run import machine
from octant.analysis.summary import Summary, summarise
from octant.machine import Disagreement
from octant.report.screen.tiles import tiles
from octant.stats import Caveat, Grade
from octant.tile import Also, DeclaredScreen, DeclaredTile, NamedFigure
from screen_run import WORKLOADS, messages, run_of

KIB, MIB = 2**10, 2**20
SIZES = [8 * KIB << i for i in range(16)]  # to 256 MiB
CURVE = NamedFigure("message")


def shown(summary: Summary) -> tuple[str, ...]:
    return tiles(summary)[0].also


def ladder(times: dict[int, float], l3: int = 32 * MIB, disputed: bool = False) -> Summary:
    """Times of one message over these lengths, as if they were loads from so large a footprint."""
    tile = DeclaredTile("Latency", "x", (CURVE,), also=(Also("plateaus", "1 core:", CURVE),))
    here = machine()
    topology = replace(
        here.topology,
        caches=tuple(replace(one, size_bytes=l3) if one.level == 3 else one for one in here.topology.caches or ()),
    )
    caveats = (Disagreement("last-level cache", (("stated", "32 MiB"),), "neither"),) if disputed else ()
    on = replace(here, topology=topology, disagreements=caveats)
    points = [replace(one, ranks=1, given=one.given[:1]) for one in messages(times, 3)]
    run = run_of(points, screen=DeclaredScreen(tiles=(tile,)), on=on)
    return summarise(run, WORKLOADS, all_metrics=True)


def of(size: int, levels: dict[int, float]) -> float:
    return next(ns for top, ns in levels.items() if size <= top)


@pytest.mark.parametrize("noise", [0.0, 0.05])
def test_levels_are_named_by_stated_sizes(noise: float) -> None:
    levels = {48 * KIB: 2.0, 2 * MIB: 7.0, 32 * MIB: 40.0, 10**12: 180.0}
    times = {size: of(size, levels) * (1 + noise * ((7 * i) % 5 - 2) / 2) for i, size in enumerate(SIZES)}
    (text,) = shown(ladder(times))
    names = [part.split()[0] for part in text.removeprefix("1 core: ").split(", ")]
    assert names == ["L1", "L2", "L3"]
    assert text.startswith("1 core: L1 2.0")


def test_a_level_that_is_not_seen_is_said_and_renames_no_other() -> None:
    levels = {48 * KIB: 2.0, 2 * MIB: 7.0, 10**12: 180.0}
    (text,) = shown(ladder({size: of(size, levels) for size in SIZES}))
    assert text == "1 core: L1 2.00\u202fns, L2 7.00\u202fns; L3 not distinguishable from memory"
    slope = {size: 7.0 * (180 / 7) ** (i / 4) for i, size in enumerate(SIZES[9:13], 1)}
    (text,) = shown(ladder({size: slope.get(size, of(size, levels)) for size in SIZES}))
    assert text == "1 core: L1 2.00\u202fns, L2 7.00\u202fns; no plateau of an L3 detected"


def test_a_level_of_disputed_size_that_is_seen_is_not_called_unseen() -> None:
    levels = {48 * KIB: 2.0, 2 * MIB: 7.0, 32 * MIB: 40.0, 10**12: 180.0}
    (text,) = shown(ladder({size: of(size, levels) for size in SIZES}, disputed=True))
    assert text.endswith("to 32 MiB 40.0\u202fns".replace("32 MiB", "32\u202fMiB"))


def test_a_curve_that_ends_before_a_level_does_not_miss_it() -> None:
    levels = {48 * KIB: 2.0, 2 * MIB: 7.0}
    (text,) = shown(ladder({size: of(size, levels) for size in SIZES if size <= 2 * MIB}))
    assert text == "1 core: L1 2.00\u202fns"


def test_the_length_with_half_of_the_best_bandwidth() -> None:
    """With t = 1 µs + n / 10 GB/s half of the longest's rate comes shortly before 10,000 B."""
    times = {size: 1000 + size / 10 for size in (8, *SIZES)}
    named = NamedFigure("message", metric="bandwidth")
    tile = DeclaredTile("Messages", "x", (CURVE,), also=(Also("half length", figure=named),))
    run = run_of(messages(times, 3), screen=DeclaredScreen(tiles=(tile,)))
    (text,) = shown(summarise(run, WORKLOADS, all_metrics=True))
    assert text.startswith("half of peak at ")
    assert float(text.split(" ")[-1].removesuffix("\u202fKiB")) == pytest.approx(10_000 / KIB, rel=0.1)
    one = run_of(messages({8: 1000.0}), screen=DeclaredScreen(tiles=(tile,)))
    assert shown(summarise(one, WORKLOADS, all_metrics=True)) == ()


def test_a_time_has_no_half_of_the_best() -> None:
    """An older declaration names no metric, and the headline of messages is a time."""
    tile = DeclaredTile("Messages", "x", (CURVE,), also=(Also("half length", figure=CURVE),))
    run = run_of(messages({size: 1000 + size / 10 for size in (8, *SIZES)}, 3), screen=DeclaredScreen(tiles=(tile,)))
    assert shown(summarise(run, WORKLOADS, all_metrics=True)) == ()


def test_a_level_is_of_measurable_points() -> None:
    levels = {48 * KIB: 2.0, 2 * MIB: 7.0, 10**12: 180.0}
    summary = ladder({size: of(size, levels) for size in SIZES})
    bad = Caveat("request not met", Grade.INVALID, "NOT AS REQUESTED")
    figures = tuple(
        replace(one, launches=tuple(replace(launch, caveats=(bad,)) for launch in one.launches)) if i > 7 else one
        for i, one in enumerate(summary.figures)
    )
    assert shown(replace(summary, figures=figures)) == ("1 core: L1 2.00\u202fns",)
