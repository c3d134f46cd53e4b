"""Machines row by row: what is published, what is stated, and what the newest valid run measured."""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from fake_run import KIB, MIB, durations, lane, machine, point, stored, write_run
from octant import catalogue, workloads
from octant.analysis.appendix import ComparisonRow, Entry, KnownMachine, compare_machines, row_specs, value_text
from octant.analysis.appendix.measured import with_measured
from octant.analysis.appendix.published import of_published
from octant.analysis.appendix.stated import of_machine
from octant.machine import Machine
from octant.record import Buffer, RankResources
from octant.request import Request, Subject
from octant.store import Store
from octant.study.file import names as study_names

_SECONDS = itertools.count(10)
BUILD = {"compiler": "g++ 12.2.0", "optimised": True, "faults_compiled": False}


def texts(side: KnownMachine) -> dict[str, str]:
    return {f"{group}, {name}": entry.text for (group, name), entry in side.entries.items()}


def test_the_published_side_says_what_the_appendix_says() -> None:
    power = texts(of_published(catalogue.machines()["power575"]))
    expected = {
        "Core, stated clock": "4.70 GHz",
        "Core, hardware threads per core": "2",
        "Core, dispatch per cycle, one thread": "5",
        "Core, dispatch per cycle, two threads": "7",
        "Core, instructions in flight, one thread": "120",
        "Core, instructions in flight, two threads": "184",
        "Core, integer units": "2",
        "Core, multiply-add latency": "6 cycles",
        "Caches, L1 instruction": "64 KiB, 4-way, each core",
        "Caches, L1 data": "64 KiB, 8-way, each core",
        "Caches, L2": "4 MiB, each core",
        "Address translation, page sizes": "4 KiB, 64 KiB, 16 MiB, 16 GiB",
        "Address translation, TLB entries": "2048",
        "Memory, latency": "90.0 ns",
        "Memory, latency in cycles": "420 cycles",
        "Memory, bandwidth per node": "544 GB/s (derived)",
        "Peak, one core, double precision": "18.8 Gflop/s (assumed)",
        "Links, within a node": "X, Y, Z 4.70 GB/s; A, B; GX++",
    }
    assert {name: power.get(name) for name in expected} == expected
    older = texts(of_published(catalogue.machines()["p575-power5plus"]))
    assert (older["Core, instructions in flight, one thread"], older["Core, instructions in flight, two threads"]) == (
        "191",
        "215",
    )


@pytest.mark.parametrize("name", catalogue.machines())
def test_every_published_machine_has_rows(name: str) -> None:
    side = of_published(catalogue.machines()[name])
    assert all(entry.text and "None" not in entry.text for entry in side.entries.values())


def test_what_a_system_states() -> None:
    here = machine(packages=2, cores=4, smt=2)
    caches = here.topology.caches or ()
    first = replace(caches[0], ways=12)
    here = replace(here, topology=replace(here.topology, caches=(first, *caches[1:])))
    said = texts(of_machine(replace(here, system={"thp_sizes": "64kB=madvise 2048kB=inherit"})))
    assert said["Core, cores per socket"] == "4"
    assert said["Core, cores per node"] == "8"
    assert said["Core, hardware threads per core"] == "2"
    assert said["Caches, L1 data"] == "48 KiB, 12-way, each core"
    assert said["Caches, L3"] == "32 MiB, 4 cores"
    assert said["Address translation, page sizes"] == "4 KiB, 64 KiB, 2 MiB"


def test_rows_name_what_there_is() -> None:
    names = [(spec.group, spec.name) for spec in row_specs()]
    assert len(names) == len(set(names))
    for spec in row_specs():
        assert spec.stated or spec.published or spec.text or spec.measure
        if spec.measure:
            assert workloads.workload(spec.measure.workload).metric(spec.measure.metric).name == spec.measure.metric
            assert spec.command.startswith("octant ")


def _ladder(
    where: Store, times_ns: Mapping[int, int], pages: str = "thp", invalid: bool = False, pattern: str = ""
) -> str:
    """Return a stored run of loads from these footprints; its build makes its figures invalid if requested."""
    request = Request(Subject("node/latency"), {"bytes": ",".join(map(str, times_ns)), "pages": pages})
    (launch,) = request.launches()
    points = [
        point(
            workload="node/latency",
            launch=launch.key,
            knobs={"bytes": str(size), "pages": pages, **({"pattern": pattern} if pattern else {})},
            lanes=(lane(durations(time * 1000), clock_hz=[3_000_000_000]),),
            counts={"loads": 1000},
            build={**BUILD, "faults_compiled": invalid},
        )
        for size, time in times_ns.items()
    ]
    return write_run(stored([launch], points, folder=Path(f"runs/20261121-2145{next(_SECONDS)}-3f2a")), where.root).id


LADDER = {16 * KIB: 1, 24 * KIB: 1, 32 * KIB: 1, 256 * KIB: 4, 512 * KIB: 4, MIB: 4} | {
    size * MIB: 100 for size in (64, 128, 256)
}


def _row(rows: Sequence[ComparisonRow], name: str) -> ComparisonRow:
    return next(row for row in rows if f"{row.spec.group}, {row.spec.name}" == name)


def test_a_measured_row_is_of_the_newest_run_that_is_valid(tmp_path: Path) -> None:
    where, here = Store(tmp_path), of_machine(machine())
    assert with_measured(here, where).entries == here.entries
    limited = _ladder(where, LADDER, invalid=True)
    latency = with_measured(here, where).entries["Memory", "latency"]
    assert (latency.text, latency.limited, latency.run) == ("100 ns", True, limited)
    first = _ladder(where, LADDER)
    second = _ladder(where, {size: 2 * time for size, time in LADDER.items()})
    _ladder(where, LADDER, invalid=True)
    found = with_measured(here, where).entries
    latency = found["Memory", "latency"]
    assert latency == Entry("200 ns", latency.value, "measured", second)
    assert latency.value == pytest.approx(2e-7, rel=0.01)
    assert found["Memory", "latency in cycles"].text == "600 cycles"
    assert found["Caches", "measured memory levels"].text.startswith("L1 2.00 ns to 32 KiB; L2 8.00 ns to 1 MiB; ")
    assert first != second


def test_loads_of_another_pattern_are_no_ladder(tmp_path: Path) -> None:
    """A cycle through pages has a size too, and is no footprint in memory."""
    where, here = Store(tmp_path), of_machine(machine())
    _ladder(where, LADDER, pattern="pages")
    assert ("Memory", "latency") not in with_measured(here, where).entries
    _ladder(where, LADDER, pattern="lines")
    assert with_measured(here, where).entries["Memory", "latency"].text == "100 ns"


def _streamed(where: Store, here: Machine, *cpus: int, **knobs: str) -> Entry | None:
    """Return the bandwidth row of a node from a run of one rank on each of these hardware threads."""
    asked = {"bytes": "32MiB", "pages": "thp", **knobs}
    (launch,) = Request(Subject("node/stream"), asked).launches()
    one = point(
        workload="node/stream", launch=launch.key, knobs=asked, ranks=len(cpus), counts={"bytes_read": 1000},
        lanes=tuple(lane(durations(1000), rank=rank) for rank in range(len(cpus))),
        given=tuple(
            RankResources("node", (cpu,), ((cpu,),), (Buffer(MIB, MIB, MIB, 4096, {"0": 256}),)) for cpu in cpus
        ),
    )  # fmt: skip
    write_run(stored([launch], [one], folder=Path(f"runs/20261121-2146{next(_SECONDS)}-3f2a"), on=here), where.root)
    return with_measured(of_machine(here), where).entries.get(("Memory", "bandwidth per node"))


def test_a_nodes_bandwidth_is_of_arrays_in_memory_and_of_every_core(tmp_path: Path) -> None:
    """Of 32 MiB for each rank two are past twice the caches together; a core's hardware threads are one core."""
    where = Store(tmp_path)
    for other in ({"data": "shared"}, {"pattern": "strided"}, {"bytes": "16MiB"}, {"hwprefetch": "off"}):
        assert _streamed(where, machine(), 0, 1, **other) is None
    assert _streamed(where, machine(), 0, bytes="256MiB") is None
    assert _streamed(where, machine(), 0, 1) is not None
    with_smt = machine(smt=2)
    assert _streamed(where, with_smt, *with_smt.topology.groups("core")[0]) is None
    assert _streamed(where, with_smt, 0, 1) is not None


def test_runs_of_another_machine_say_nothing(tmp_path: Path) -> None:
    where = Store(tmp_path)
    _ladder(where, LADDER)
    other = with_measured(of_machine(machine(cores=4)), where)
    assert ("Memory", "latency") not in other.entries


def test_the_reach_of_base_pages_is_where_the_curves_part(tmp_path: Path) -> None:
    where = Store(tmp_path)
    request = Request(Subject("node/latency"), {"pages": "base,thp"})
    (launch,) = request.launches()
    points = [
        point(
            workload="node/latency",
            launch=launch.key,
            knobs={"bytes": str(size), "pages": pages},
            lanes=(lane(durations(time * 1000 * (2 if pages == "base" and size >= 512 * KIB else 1))),),
            counts={"loads": 1000},
        )
        for pages in ("base", "thp")
        for size, time in LADDER.items()
    ]
    write_run(stored([launch], points), where.root)
    assert (
        with_measured(of_machine(machine()), where)
        .entries["Address translation", "TLB reach with base pages"]
        .text.startswith("512 KiB")
    )


def test_what_is_not_known_has_the_command_that_measures_it_or_why_it_cannot() -> None:
    rows = compare_machines(of_machine(machine()), of_published(catalogue.machines()["power575"]))
    window, two = (
        _row(rows, "Core, instructions in flight, one thread"),
        _row(rows, "Core, instructions in flight, two threads"),
    )
    assert (window.here, window.command) == (None, "octant run core pattern=rob-size")
    assert (two.command, two.reason) == ("", "needs 2 hardware threads per core; this machine has 1")
    assert not _row(rows, "Caches, L2").command
    assert all(spec.measure for spec in row_specs() if spec.command)


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (4.7e9, "Hz", "4.70 GHz"),
        (2.0, "1", "2"),
        (1.333, "1", "1.33"),
        (336, "cycles", "336 cycles"),
        (2**20, "B", "1 MiB"),
    ],
)
def test_numbers_in_the_unit_of_their_row(value: float, unit: str, text: str) -> None:
    assert value_text(value, unit) == text


def test_commands_name_what_there_is() -> None:
    """Each command measures a workload, a suite's part or a study that exists."""
    known = {name.rpartition("/")[2] for name in workloads.workloads()}
    for spec in row_specs():
        words = spec.command.split()
        if words[1:3] == ["study", "run"]:
            assert words[3] in study_names()
        elif words:
            assert words[2 if words[1] == "run" else 3] in known
