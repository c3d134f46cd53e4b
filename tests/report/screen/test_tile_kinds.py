"""Tiles of lost time and of places: their parts add up, and no place is called slower than another by chance."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from fake_run import lane, point
from octant.analysis.summary import Summary, summarise
from octant.record import Point, RankResources, RankTimes
from octant.report.screen.answer import Tile
from octant.report.screen.tiles import tiles
from octant.tile import Also, DeclaredScreen, DeclaredTile, NamedFigure
from octant.workloads.node.noise import WORKLOAD as NOISE
from screen_run import WORKLOADS, run_of

BALANCE = DeclaredTile(
    "Balance", "slower core", (NamedFigure("loop", {"n": "2"}), NamedFigure("loop", {"n": "3"})), "balance",
    "comparison",
    missing="one core, nothing to compare",
)  # fmt: skip
LOST = DeclaredTile(
    "Noise", "2 cores", (NamedFigure("noise"),), "time lost", "parts", also=(Also("time lost", "whole run"),)
)


def side_by_side(ns: Sequence[Sequence[float]], n: int = 2) -> list[Point]:
    """A launch for each row, with a rank on each core that takes so many ns."""
    return [
        point(
            workload="fake/loop", launch=f"{i}", knobs={"n": str(n)}, counts={"flops": 1000}, ranks=len(row),
            lanes=tuple(lane([round(value)] * 9, rank=rank) for rank, value in enumerate(row)),
            given=tuple(RankResources("node", (cpu,), ((cpu,),)) for cpu in range(len(row))),
            started=f"2026-11-21T21:{45 + i}:31Z",
        )
        for i, row in enumerate(ns)
    ]  # fmt: skip


def balance(*groups: Sequence[Point]) -> Tile:
    merged = [one for group in groups for one in group]
    summary = summarise(run_of(merged, screen=DeclaredScreen(tiles=(BALANCE,))), WORKLOADS, all_metrics=True)
    return tiles(summary)[0]


def test_a_core_that_is_always_slower_is_named_with_its_ratio() -> None:
    slower = [(100_000 + 300 * (i % 3), 112_000 + 200 * (i % 2)) for i in range(6)]
    even = [(100_000 + 900 * (i % 2), 100_300) for i in range(6)]
    tile = balance(side_by_side(slower), side_by_side(even, n=3))
    assert (tile.number, tile.unit) == ("89.5", "% of fastest")
    assert tile.of == "core 1 is slower than core 0 in Loop, n 2; detected in 1 of 2 tests"
    assert tile.bar is not None
    assert (tile.bar.kind, round(tile.bar.shares[0][1], 2)) == ("comparison", 0.89)
    assert tile.interval.startswith("Loop, n 2: ")
    assert tile.interval.endswith("95\u202f% interval of 6 paired launches")
    assert tile.also == ("Loop 100\u202f%",)
    assert tile.strip is not None
    assert len(tile.strip.counted) == 6


def test_cores_without_a_detected_difference_are_even_within_the_detectable_one() -> None:
    """The medians of the launches differ; the ratio is not shown as if it were the cores'."""
    tile = balance(side_by_side([(100_000, 100_000 * (1.1 if i % 2 else 0.92)) for i in range(6)]))
    assert tile.number == "even"
    assert tile.unit.startswith("within 1")
    assert tile.bar is None
    assert tile.of == "no difference between cores detected in 1 test"
    assert tile.grade == "limited", "the interval of the ratio is wide"


def test_places_need_four_launches_and_two_cores() -> None:
    few = balance(side_by_side([(100_000, 112_000)] * 3))
    assert few.missing == "too few valid launches to compare: 3 of 4 required"
    assert balance(side_by_side([(100_000,)] * 6)).missing == "one core, nothing to compare"


def noise(shares: Sequence[float]) -> Summary:
    """Launches of quanta, of which so large a share of the time is in one long pause; a third of it known as wait."""
    points = []
    for i, share in enumerate(shares):
        quanta = [10_000] * 99 + [10_000 + round(990_000 * share / (1 - share))]
        wall = sum(quanta)
        taken = RankTimes(
            0, (wall,), (round(wall * (1 - share)),), (round(wall * share / 3),), elapsed_ns=wall, stolen_ns=0
        )
        points.append(
            point(
                workload="node/noise", launch=f"{i}", knobs={"bytes": "8"}, counts={"quanta": 1}, lanes=(lane(quanta),),
                taken=(taken,), started=f"2026-11-21T21:{45 + i}:31Z",
            )
        )  # fmt: skip
    run = run_of(points, screen=DeclaredScreen(tiles=(LOST,)))
    requests = tuple(replace(request, show=replace(request.show, title="noise")) for request in run.requests)
    return summarise(replace(run, requests=requests), {"node/noise": NOISE}, all_metrics=True)


@pytest.mark.parametrize("shares", [[0.1, 0.2, 0.3, 0.2, 0.2, 0.2], [0.034] * 6, [0.333, 0.3, 0.31, 0.29, 0.3, 0.3]])
def test_causes_of_lost_time_add_up_to_what_was_lost(shares: list[float]) -> None:
    (tile,) = tiles(noise(shares))
    assert tile.unit == "% of time"
    parts = [part.partition("\u202f")[0].rpartition(" ")[2] for part in tile.of.split(", ")]
    places = len(tile.number.partition(".")[2])
    assert sum(map(float, parts)) == pytest.approx(float(tile.number), abs=1e-9 if places else 0.5)
    assert all(len(part.partition(".")[2]) == max(1, places) for part in parts)
    assert "other processes" in tile.of
    assert tile.bar is not None
    assert tile.bar.kind == "parts"
    assert tile.also[0].startswith("whole run ")


def test_a_silent_machine_lost_nothing() -> None:
    (tile,) = tiles(noise([0.0] * 6))
    assert (tile.of, tile.number) == ("no time was lost", "0")
