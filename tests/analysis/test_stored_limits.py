"""Limits of earlier runs: which runs are comparable, how old they may be, and that a run keeps what it used."""

import dataclasses
import datetime
import shutil
from pathlib import Path
from typing import Any

import pytest

import trees
from fake_run import durations, lane, point, stored, write_run
from octant.analysis.stored_limits import MAY_DIFFER, LimitSearch, find_age_problem, find_difference
from octant.analysis.summary import summarise
from octant.launch import Planned
from octant.limit import StoredLimit
from octant.machine import Machine
from octant.request import Launch, Presentation, Request, Shape, Subject
from octant.runs.limit_requests import NeededLimit
from octant.store import Store, StoredRun
from octant.store.run_request import start_line
from octant.workloads import workloads

MACHINES = ("kvm-xeon-2cpu", "laptop-6p8e", "container-4of32")
NOW = datetime.datetime(2026, 11, 22, 21, 45, 30, tzinfo=datetime.UTC)
PEAK = next(one for one in workloads()["node/peakflops"].provides if one.name == "fma double")
NEEDED = NeededLimit(
    "fma double", "node/peakflops", PEAK, "peak", Request(Subject("node/peakflops"), {"element": "double"})
)
GEMM = Request(Subject("node/gemm"), {"n": "256"}, show=Presentation("gemm"))
BUILD = "0123456789abcdef"
EARLIER = "20261122-200000-123-1c8081d884c7d65f"


def on(name: str, **system: str) -> Machine:
    """A recorded machine with the widest vectors that the points of the peak use."""
    found = trees.machine(name)
    processor = dataclasses.replace(found.processor, flags=frozenset({"avx512f"}))
    return dataclasses.replace(found, processor=processor, system={**found.system, "microcode": "0x2b", **system})


def new_run(machine: Machine, **changes: Any) -> StoredRun:
    """The run that is about to start."""
    return dataclasses.replace(stored([], on=machine), started=NOW.isoformat(), **changes)


def peak_run(machine: Machine, begun: datetime.datetime, name: str = EARLIER) -> StoredRun:
    """A run that measured the peak of the first core: 100 Gflop/s."""
    launch = Launch(NEEDED.request)
    number = min(machine.topology.allowed)
    series = (lane(durations(100_000)),)
    made = point(
        workload="node/peakflops", launch=launch.key, knobs={"element": "double", "width": "auto"}, lanes=series,
        counts={"flops": 10_000_000}, notes={"width": "512", "lanes": "8"}, started=begun.isoformat(),
    )  # fmt: skip
    given = tuple(dataclasses.replace(one, cpus=(number,), thread_masks=((number,),)) for one in made.given)
    run = stored([launch], [dataclasses.replace(made, given=given)], on=machine, folder=Path("runs") / name)
    return dataclasses.replace(run, started=begun.isoformat())


def write(run: StoredRun, store: Path, build: str = BUILD) -> None:
    written = write_run(run, store)
    lines = [
        start_line(Planned(launch, ("kernel",), {}, "direct", (), 1.0, 9.0, build), was_asked=True)
        for launch in run.launches
    ]
    written.plan.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def search(store: Path, now: StoredRun, needed: NeededLimit = NEEDED) -> tuple[StoredLimit, ...]:
    (found,) = LimitSearch(Store(store), now, lambda _workload: BUILD).find([needed])
    return found


def hours_ago(hours: float) -> datetime.datetime:
    return NOW - datetime.timedelta(hours=hours)


@pytest.mark.parametrize("name", MACHINES)
def test_a_limit_of_a_comparable_run_is_found_and_kept_with_the_run(name: str, tmp_path: Path) -> None:
    machine = on(name)
    write(peak_run(machine, hours_ago(2)), tmp_path)
    (limit,) = search(tmp_path, new_run(machine))
    assert limit.value == pytest.approx(100e9, rel=0.01)
    assert (limit.run, limit.measured) == (EARLIER, hours_ago(2).isoformat())

    launch = Launch(GEMM)
    cpu = min(machine.topology.allowed)
    product = point(
        workload="node/gemm", launch=launch.key, knobs={"n": "256", "element": "double"},
        lanes=(lane(durations(100_000)),), counts={"flops": 8_000_000},
    )  # fmt: skip
    given = tuple(dataclasses.replace(one, cpus=(cpu,), thread_masks=((cpu,),)) for one in product.given)
    mine = stored(
        [launch], [dataclasses.replace(product, given=given)], on=machine, folder=Path("runs/20261122-220000")
    )
    mine = write_run(dataclasses.replace(mine, started=NOW.isoformat(), limits=(limit,)), tmp_path)
    shutil.rmtree(tmp_path / "runs" / limit.run)  # the page of the run does not change
    (figure,) = summarise(Store(tmp_path).read(mine.id)).figures
    assert figure.of_limit == pytest.approx(0.8, rel=0.02)
    assert figure.limit is not None
    assert figure.limit.source == "double multiply-adds measured in run 20261122-200000-123, 2 h 0 min earlier"


@pytest.mark.parametrize(
    ("hours", "is_used"), [(23 + 59 / 60, True), (24.0, True), (24 + 1 / 60, False), (-1 / 60, False)]
)
def test_a_limit_is_at_most_24_hours_old(hours: float, is_used: bool, tmp_path: Path) -> None:
    machine = on("kvm-xeon-2cpu")
    write(peak_run(machine, hours_ago(hours)), tmp_path)
    assert bool(search(tmp_path, new_run(machine))) == is_used
    assert (find_age_problem(hours_ago(hours), NOW) == "") == is_used


def test_the_oldest_launch_decides_the_age(tmp_path: Path) -> None:
    """`octant resume` may have measured the last launches a day after the first."""
    machine = on("kvm-xeon-2cpu")
    for oldest, is_used in ((25, False), (5, True)):
        runs = [peak_run(machine, hours_ago(hours)) for hours in (1, oldest)]
        launches = [Launch(dataclasses.replace(NEEDED.request, repeats=2), repeat) for repeat in range(2)]
        points = [
            dataclasses.replace(run.points[0], launch=launch.key) for run, launch in zip(runs, launches, strict=True)
        ]
        both = stored(launches, points, on=machine, folder=Path("runs") / EARLIER)
        store = tmp_path / str(oldest)
        write(dataclasses.replace(both, started=hours_ago(2).isoformat()), store)
        found = search(store, new_run(machine))
        assert [one.measured for one in found] == [hours_ago(oldest).isoformat()] * is_used


CHANGES: dict[str, dict[str, str]] = {
    "kernel": {"kernel": "7.0.1"},
    "microcode": {"microcode": "0x2c"},
    "transparent huge pages": {"thp": "another"},
    "governor": {"governor": "another"},
    "turbo": {"turbo": "another"},
    "SMT": {"smt": "another"},
    "NUMA balancing": {"numa_balancing": "7"},
    "quota": {"cgroup_cpu_quota": "1.5"},
}


@pytest.mark.parametrize("name", MACHINES)
@pytest.mark.parametrize("changed", CHANGES.values(), ids=CHANGES)
def test_each_condition_refuses_the_limit(name: str, changed: dict[str, str]) -> None:
    earlier = peak_run(on(name), hours_ago(1))
    assert find_difference(earlier, new_run(on(name))) == ""
    (condition,) = changed
    assert find_difference(earlier, new_run(on(name, **changed))).startswith(f"{condition}: ")


def test_processor_software_environment_host_and_build_refuse_the_limit(tmp_path: Path) -> None:
    machine = on("kvm-xeon-2cpu")
    write(peak_run(machine, hours_ago(1)), tmp_path)
    same = new_run(machine)
    assert search(tmp_path, same)
    other = dataclasses.replace(machine, processor=dataclasses.replace(machine.processor, model="another"))
    for now in (
        new_run(other),
        new_run(on("kvm-xeon-2cpu", kernel="7.0.1")),
        new_run(dataclasses.replace(machine, software={"blas": "another"})),
        new_run(dataclasses.replace(machine, name="another")),
        new_run(machine, environment={"GLIBC_TUNABLES": "x"}),
    ):
        assert search(tmp_path, now) == ()
    assert LimitSearch(Store(tmp_path), same, lambda _workload: "another build").find([NEEDED]) == [()]


def test_facts_that_change_by_themselves_do_not_refuse_the_limit(tmp_path: Path) -> None:
    write(peak_run(on("kvm-xeon-2cpu"), hours_ago(1)), tmp_path)
    changed = {"load_1min": "9", "steal_fraction": "0.5", "available_memory_bytes": "1", "swap_used_bytes": "5"}
    assert set(changed) <= MAY_DIFFER
    now = new_run(on("kvm-xeon-2cpu", **changed))
    environment = {**now.environment, "SLURM_JOB_ID": "7", "OCTANT_STORE": "elsewhere"}
    assert search(tmp_path, dataclasses.replace(now, environment=environment))


def test_another_placement_or_number_of_threads_has_another_limit(tmp_path: Path) -> None:
    machine = on("kvm-xeon-2cpu")
    write(peak_run(machine, hours_ago(1)), tmp_path)
    for shape, knobs in ((Shape(2), {}), (Shape(1, "1x1"), {}), (Shape(), {"threads": "2"})):
        request = dataclasses.replace(NEEDED.request, shape=shape, knobs={**NEEDED.request.knobs, **knobs})
        assert search(tmp_path, new_run(machine), dataclasses.replace(NEEDED, request=request)) == ()


def test_a_run_that_did_not_measure_the_best_setting_is_no_limit(tmp_path: Path) -> None:
    """Memory traffic of plain stores on base pages is no limit of streaming stores on huge pages."""
    machine = on("kvm-xeon-2cpu")
    provides = next(one for one in workloads()["node/stream"].provides if one.name == "memory traffic")
    size = str(4 * machine.may_be_cached_bytes())
    short = Request(Subject("node/stream"), {"store": "plain,streaming", "pages": "try-thp", "bytes": size})
    needed = NeededLimit("memory traffic", "node/stream", provides, "bandwidth", short)
    for stores, pages, is_used in (("plain", "base", False), ("plain", "thp", False), ("plain,streaming", "thp", True)):
        launch = Launch(Request(Subject("node/stream"), {"store": stores, "pages": pages, "bytes": size}))
        points = [
            point(
                workload="node/stream", launch=launch.key, knobs=cell, started=hours_ago(1).isoformat(),
                lanes=(lane(durations(1000)),), counts={"bytes_read": 16_000, "bytes_written": 8_000},
            )
            for cell in launch.cells()
        ]  # fmt: skip
        run = stored([launch], points, on=machine, folder=Path("runs") / EARLIER)
        store = tmp_path / f"{stores} {pages}"
        write(dataclasses.replace(run, started=hours_ago(1).isoformat()), store)
        assert bool(search(store, new_run(machine), needed)) == is_used


def test_the_newest_run_is_used_and_an_unreliable_one_is_not(tmp_path: Path) -> None:
    machine = on("kvm-xeon-2cpu")
    write(peak_run(machine, hours_ago(5), "20261122-160000-000-0000"), tmp_path)
    newer = peak_run(machine, hours_ago(3), "20261122-180000-000-0000")
    write(newer, tmp_path)
    broken = tuple(
        dataclasses.replace(one, process=dataclasses.replace(one.process, build={"faults_compiled": True}))
        for one in peak_run(machine, hours_ago(1)).points
    )
    write(dataclasses.replace(peak_run(machine, hours_ago(1)), points=broken), tmp_path)
    assert [one.run for one in search(tmp_path, new_run(machine))] == [newer.id]
