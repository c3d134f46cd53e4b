"""Balance of places: cores, sockets, hosts, ranks, with launches that draw their hardware threads anew."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np
import pytest

from fake_run import WORKLOADS, fake_run, lane, machine, point, stored
from octant.analysis.balance import Balances, PlaceBalance, balance, of_figure
from octant.analysis.figures import Figure, figure
from octant.analysis.lane_speeds import lane_speeds
from octant.analysis.summary import summarise
from octant.machine import Machine
from octant.metric import Metric, rate
from octant.record import Point, RankResources, RankTotal, Reduced, Samples, Work
from octant.workload import Workload
from sketches import sketch_of

WORKLOAD = Workload("Adds", (Metric("rate", "flop/s", "higher", rate("flops")),), {}, "fake/thing")


def launch(number: int, ns: Iterable[float], cpus: Sequence[int], host: Sequence[str] = ()) -> Point:
    """Return a point with one rank on each of these CPUs, and the duration of a chunk of each."""
    lanes = tuple(lane([round(float(value))] * 9, rank=rank) for rank, value in enumerate(ns))
    given = tuple(RankResources(host[i] if host else "node", (cpu,), ((cpu,),)) for i, cpu in enumerate(cpus))
    started = f"2026-11-21T21:{number:02}:00Z"
    return point(lanes=lanes, ranks=len(cpus), counts={"flops": 1000}, given=given, started=started)


def made(points: Sequence[Point]) -> Figure:
    return figure(WORKLOAD, points)


def jitter(number: int, place: int) -> float:
    return 1 + 0.002 * ((7 * number + 5 * place) % 5 - 2)


def found(points: Sequence[Point], on: Machine | None = None) -> list[PlaceBalance]:
    return of_figure(made(points), (on or machine()).topology)


def test_a_core_that_takes_a_tenth_longer_is_slower_wherever_the_ranks_were_put() -> None:
    """Every second launch has its ranks the other way round: the core is the place, not the rank."""
    points = []
    for n in range(6):
        of_core = [10_000 * jitter(n, 0), 11_000 * jitter(n, 1)]
        cpus = (0, 1) if n % 2 else (1, 0)
        points.append(launch(n, [of_core[cpu] for cpu in cpus], cpus))
    (one,) = found(points)
    assert (one.kind, one.slowest.name, one.fastest.name) == ("core", "core 1", "core 0")
    assert one.ratio.middle == pytest.approx(1 / 1.1, rel=0.01)
    assert one.proven
    assert one.max_undetected_slowdown == pytest.approx(1 - one.ratio.low)
    assert one.places[1].value.middle == pytest.approx(2 / 2.1, rel=0.01)
    assert one.places[1].cpus == (("node", 1),)
    assert all(sum(pair) == pytest.approx(2) for pair in zip(*(p.relative for p in one.places), strict=True))


def test_what_changes_from_launch_to_launch_hides_differences_and_proves_none() -> None:
    points = [launch(n, (10_000, 10_000 * (1.1 if n % 2 else 0.95)), (0, 1)) for n in range(6)]
    (one,) = found(points)
    assert not one.proven
    assert one.max_undetected_slowdown is not None
    assert one.max_undetected_slowdown > 0.05


@pytest.mark.parametrize("number", [1, 2, 3])
def test_fewer_than_four_launches_prove_nothing(number: int) -> None:
    (one,) = found([launch(n, (10_000 + n, 20_000), (0, 1)) for n in range(number)])
    assert not one.proven
    assert one.ratio.middle == pytest.approx(0.5, rel=0.01)
    assert (one.max_undetected_slowdown is None) == (number < 3)
    assert Balances([one]).worst is None


def test_sockets_and_domains_are_places_of_their_own() -> None:
    on = machine(packages=2, nodes=2, cores=2)
    points = []
    for n in range(4):
        cpus = list(range(8))
        slow = [12_000 if on.topology.cpus[cpu].package else 10_000 for cpu in cpus]
        points.append(launch(n, [ns * jitter(n, cpu) for ns, cpu in zip(slow, cpus, strict=True)], cpus))
    kinds = found(points, on)
    assert [(one.kind, len(one.places)) for one in kinds] == [("core", 8), ("domain", 4), ("socket", 2)]
    assert kinds[-1].slowest.name == "socket 1"
    assert kinds[-1].ratio.middle == pytest.approx(10 / 12, rel=0.01)
    assert len(kinds[-1].slowest.cpus) == 4


def test_cores_of_several_hosts_carry_their_host_and_hosts_are_compared_too() -> None:
    points = [
        launch(n, [10_000, 10_100 * jitter(n, 1), 13_000, 13_100 * jitter(n, 3)], (0, 1, 0, 1), ("a", "a", "b", "b"))
        for n in range(4)
    ]
    core, host = found(points)
    assert core.slowest.name == "core 1 of b"
    assert (host.kind, host.slowest.name, host.fastest.name) == ("host", "b", "a")


def test_siblings_of_a_core_are_one_place_and_only_places_of_every_launch_count() -> None:
    on = machine(cores=3, smt=2)
    drawn = [(0, 1, 2), (3, 1, 5), (3, 4), (0, 4, 2)]
    points = [launch(n, [10_000 + cpu % 3 for cpu in cpus], cpus) for n, cpus in enumerate(drawn)]
    (one,) = found(points, on)
    assert [place.name for place in one.places] == ["core 0", "core 1"]
    assert one.places[0].cpus == (("node", 0), ("node", 3))


def test_ranks_that_are_bound_to_no_core_are_compared_as_ranks() -> None:
    free = tuple(RankResources("node", (cpu,), ((0, 1),)) for cpu in (0, 1))
    points = [replace(launch(n, (10_000, 12_000 + n), (0, 1)), given=free) for n in range(4)]
    (one,) = found(points)
    assert (one.kind, one.slowest.name, one.slowest.cpus) == ("rank", "rank 1", ())
    lanes = tuple(lane([ns] * 9, thread) for thread, ns in enumerate((10_000, 12_000)))
    threads = [
        point(lanes=lanes, threads=2, counts={"flops": 1}, given=(RankResources("node", (0, 1), ((0, 1), (0, 1))),))
        for _ in range(4)
    ]
    assert [(one.kind, one.slowest.name) for one in found(threads)] == [("thread", "thread 1")]


def test_a_lane_alone_ranks_that_work_together_and_shared_cores_have_no_places() -> None:
    assert found([launch(n, (10_000,), (0,)) for n in range(4)]) == []
    steps = point("steps", lanes=tuple(lane([10_000] * 9, rank=rank) for rank in range(2)), ranks=2)
    assert lane_speeds(steps, steps.read()) == ()
    shared = [replace(launch(n, (10_000, 20_000), (0, 1)), share_cores=True) for n in range(4)]
    assert found(shared) == []


def test_groups_of_one_rank_are_compared_by_their_batches_and_by_sketches_of_large_records() -> None:
    work = tuple(Work({"flops": 1}, group, batch=batch) for group, batch in enumerate((1, 2)))
    lanes = tuple(lane([ns] * 9, rank=rank, group=rank) for rank, ns in enumerate((10_000, 40_000)))
    alone = point("steps", lanes=lanes, ranks=2, groups=((0,), (1,)), work=work)
    assert dict(lane_speeds(alone, alone.read())) == pytest.approx({(0, 0): 1e5, (1, 0): 5e4})
    kept = tuple(
        Reduced("step", (RankTotal(rank, 9, 9 * ns, ns, ns),), sketch_of([ns] * 9), rank)
        for rank, ns in enumerate((10_000, 40_000))
    )
    large = replace(alone, read=lambda: Samples((), kept))
    speeds = dict(lane_speeds(large, large.read()))
    assert speeds[(0, 0)] / speeds[(1, 0)] == pytest.approx(2, rel=0.01)


def test_256_even_cores_are_even_and_one_slow_one_is_found() -> None:
    on, generator = machine(packages=2, cores=128), np.random.default_rng(3)
    even = [launch(n, 10_000.0 * (1 + 0.005 * generator.normal(size=256)), range(256)) for n in range(6)]
    core = found(even, on)[0]
    assert not core.proven
    slow = np.where(np.arange(256) == 200, 11_000, 10_000)
    slowed = [launch(n, slow * (1 + 0.005 * generator.normal(size=256)), range(256)) for n in range(6)]
    core = found(slowed, on)[0]
    assert (core.proven, core.slowest.name) == (True, "core 200")


def test_a_run_has_the_balance_of_each_figure_of_the_table_and_the_worst_proven_one() -> None:
    run = fake_run(repeats=4)
    balances = balance(summarise(run, WORKLOADS))
    assert {one.figure.mode for one in balances} == {"star", "threads"}
    assert Balances(balances).worst is not None
    assert balance(summarise(stored((), (), ()), {})) == ()
