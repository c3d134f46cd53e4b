"""The table of memory levels, on recorded machines with modelled caches: each value is that of its level."""

import json
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from typer.testing import CliRunner

import trees
from fake_run import KIB, MIB, lane, point, stored, write_run
from octant import suites
from octant.analysis.summary import Summary, summarise
from octant.cli import application
from octant.facts import usable_cores
from octant.limit import LEVELS, MEMORY, cache_capacities, level_of, levels_serving
from octant.machine import Machine
from octant.machine.cache_levels import stated_sizes
from octant.record import Point, RankResources
from octant.report.charts.curves.roofline import roofline
from octant.report.screen.level_rows import LevelTable, level_table
from octant.report.screen.level_section import level_section, with_levels
from octant.report.screen.tiles import tiles
from octant.request import Request
from octant.store import StoredRun
from octant.units import parse_bytes
from reports import ladders_of, report_of

NARROW = "\N{NARROW NO-BREAK SPACE}"
LATENCY_NS = {"L1": 1.0, "L2": 4.0, "L3": 20.0, MEMORY: 100.0}
RATE = {"L1": 100e9, "L2": 50e9, "L3": 20e9, MEMORY: 5e9}
"""Of one core, B/s by the source code; cores do not slow each other down."""
GUEST = "kvm-xeon-2cpu"
"""Its L3 is that of the host; modelled with none of it."""
MACHINES = ("server-offline", "altra-1s", GUEST)
"""With an L3, without, and with one that is disputed."""


def small_machine(name: str) -> Machine:
    """Return a recorded machine of which at most seven cores are usable."""
    found = trees.machine(name)
    allowed = frozenset(usable_cores(found)[:7])
    return replace(found, topology=replace(found.topology, allowed=allowed))


@cache
def run_on(name: str, only: tuple[str, ...] = ("node/stream", "node/latency", "node/peakflops")) -> StoredRun:
    """Return a quick evaluation on a recorded machine whose caches have the stated sizes; one launch per request."""
    machine = small_machine(name)
    suite = suites.load("quick")
    requests = suites.requests(suite, machine, only)
    launches = [request.launches()[0] for request in requests]
    points = [
        made
        for request, launch in zip(requests, launches, strict=True)
        for cell in request.cells()
        for made in [_point(request, launch.key, cell, machine)]
    ]
    run = stored(launches, points, on=machine, title="evaluate --quick")
    return replace(run, screen=suites.first_screen(suite, machine, only))


def _point(request: Request, launch: str, cell: dict[str, str], machine: Machine) -> Point:
    threads, ranks = int(cell.get("threads", "1")), request.shape.ranks
    cores = usable_cores(machine)[: threads * ranks]
    used = frozenset(("node", cpu) for cpu in cores)
    workload = request.subject.workload
    counts = {"flops": 10**6}
    ns = 1e4
    if "bytes" in cell:
        size = parse_bytes(cell["bytes"])
        total = size * (ranks if "stream" in workload else ranks * threads)
        level = _true_level(machine, used, total)
        if "stream" in workload:
            allocated = 8 * 10**6 * (cell.get("store", "plain") == "plain")
            counts = {"bytes_read": 16 * 10**6, "bytes_written": 8 * 10**6, "bytes_allocated": allocated}
            counts["flops"] = 2 * 10**6
            ns = 24e6 / RATE[level] * 1e9 * (1 if allocated else 0.8)
        else:
            counts, ns = {"loads": 10**6}, 1e6 * LATENCY_NS[level]
    lanes = tuple(lane([round(ns)] * 8, rank=i // threads, thread=i % threads, clock_hz=(3_000_000_000,))
                  for i in range(threads * ranks))  # fmt: skip
    given = tuple(
        RankResources("node", tuple(mine), tuple((cpu,) for cpu in mine), ())
        for rank in range(ranks)
        for mine in [cores[rank * threads : (rank + 1) * threads]]
    )
    notes = {"width": "256", "lanes": "4", "chains": "8", "fused": "yes"}
    return point(workload=workload, launch=launch, knobs=cell, lanes=lanes, counts=counts, ranks=ranks,
                 threads=threads, given=given, notes=notes)  # fmt: skip


def _true_level(machine: Machine, threads: frozenset[tuple[str, int]], total: int) -> str:
    """Return where data are: the guest has nothing of the host's L3."""
    capacities = cache_capacities(machine, threads)
    if machine.name == trees.machine(GUEST).name:
        capacities.pop(3, None)
    return next((f"L{level}" for level, fits in capacities.items() if total <= fits), MEMORY)


@cache
def table_of(name: str) -> tuple[Summary, LevelTable]:
    summary = summarise(run_on(name), all_metrics=True)
    table = level_table(summary)
    assert table is not None
    return summary, table


@pytest.mark.parametrize("name", MACHINES)
def test_every_value_is_that_of_its_level(name: str) -> None:
    summary, table = table_of(name)
    machine = summary.run.machine
    cores, hidden = len(usable_cores(machine)), {"L3"} if name == GUEST else set()
    assert {row.name: row.stated_bytes for row in table.rows if row.name in LEVELS[:3]} == {
        f"L{level}": size for level, size in stated_sizes(machine).items()
    }
    for row in table.rows:
        if row.name in hidden:
            assert not row.values, "the ladder does not show it"
            continue
        if row.name not in LEVELS:
            continue  # a plateau that no size identifies
        for where, count in (("one core", 1), ("all cores", cores)):
            rate, load = (row.values.get((quantity, where)) for quantity in ("bandwidth", "latency"))  # type: ignore[arg-type]
            if row.name == MEMORY and name == GUEST and where == "all cores":
                continue  # its largest footprints may be in the host's L3
            assert rate is not None
            assert load is not None
            faster = 1.25 if row.name == MEMORY else 1.0  # streaming stores, as in the tile
            assert rate.value == pytest.approx(count * RATE[row.name] * faster, rel=0.01)
            assert load.value == pytest.approx(1e-9 * LATENCY_NS[row.name], rel=0.01)
        if row.name != MEMORY:
            assert row.measured_bytes is not None
            assert row.measured_bytes <= (row.stated_bytes or 0) < 2 * row.measured_bytes


@pytest.mark.parametrize("name", MACHINES[:2])
def test_the_memory_is_that_of_the_tiles_and_the_caches_have_roofs(name: str) -> None:
    summary, table = table_of(name)
    memory = table.rows[-1].values
    shown = {tile.name: f"{tile.number}{NARROW}{tile.unit}" for tile in tiles(summary)}
    assert memory["bandwidth", "all cores"].text == shown["Memory"]
    assert memory["latency", "one core"].text == shown["Latency"]
    picture = roofline(summary.known, summary.figures, ladders_of(summary))
    assert picture is not None
    roofs: dict[str, dict[str, float]] = {}
    for row in picture.rows:
        if row[1].startswith("roof: L"):
            number, unit = row[3].replace(NARROW, " ").split()[:2]
            roofs.setdefault(row[0], {})[row[1].removeprefix("roof: ")] = (
                float(number) * {"GB/s": 1e9, "TB/s": 1e12}[unit]
            )
    for (_, mine), where in zip(
        sorted(roofs.items(), key=lambda one: max(one[1].values())), ("one core", "all cores"), strict=True
    ):
        rows = {row.name: row.values["bandwidth", where] for row in table.rows if row.name in mine}  # type: ignore[index]
        assert rows.keys() == mine.keys()
        for level, roof in mine.items():
            assert roof == pytest.approx(rows[level].value * (1 if level == "L1" else 4 / 3), rel=0.02)


def test_what_was_not_measured_says_so_with_the_command() -> None:
    run = run_on("altra-1s")
    alone = [request for request in run.requests if "bandwidth by footprint" in request.show.title]
    keys = {request.key for request in alone}
    points = tuple(one for one in run.points if one.launch.rpartition("-")[0] in keys)
    table = level_table(summarise(replace(run, requests=tuple(alone), order=((0, 0),), points=points)))
    assert table is not None
    section = level_section(table)
    assert [row[0] for row in section.rows] == ["L1", "L2", "beyond L2", "memory"]
    assert all(row[-1] == "not measured" for row in section.rows)
    assert section.below.endswith("To measure what is missing: octant evaluate --quick")
    assert "octant evaluate" not in level_section(table, is_evaluation=True).below, "it has just been measured"
    report = report_of(summarise(replace(run, points=points[:1])))
    assert with_levels(report) is report, "a single footprint is no ladder"


def test_json_and_section_have_the_same_rows() -> None:
    summary, table = table_of("server-offline")
    report = with_levels(report_of(summary))
    (section,) = report.sections
    document = report.documents["levels"]
    assert isinstance(document, list)
    assert [row[0] for row in section.rows] == [one["level"] for one in document] == ["L1", "L2", "L3", "memory"]
    assert section.columns[-1].title == "latency, 7 cores"
    assert document[1]["bandwidth_all_cores"]["value"] == table.rows[1].values["bandwidth", "all cores"].value


def test_the_newest_run_of_a_machine_answers(tmp_path: Path) -> None:
    name, store = "server-offline", tmp_path / "store"
    tree = trees.tree(name, tmp_path / "tree")
    write_run(run_on(name), store)
    newer = run_on(name, ("node/peakflops",))  # without memory levels
    write_run(replace(newer, id="20271121-214530-3f2a", folder=store / "runs" / "20271121-214530-3f2a"), store)
    line = ["machine", "--from", str(tree), "--measured", "--store", str(store)]
    shown = CliRunner().invoke(application(), line)
    assert shown.exit_code == 0, shown.output
    assert f"run {run_on(name).id}" in shown.output
    assert "ago" in shown.output
    document: Mapping[str, object] = json.loads(CliRunner().invoke(application(), [*line, "--json"]).stdout)
    assert document["run"] == run_on(name).id
    assert isinstance(document["age_s"], int)
    other = CliRunner().invoke(
        application(), ["machine", "--from", str(trees.tree("laptop-6p8e", tmp_path / "b")), *line[3:]]
    )
    assert "no run of this machine" in str(other.exception)
    assert "octant evaluate --quick" in str(other.exception)


@pytest.mark.parametrize("name", ["laptop-6p8e", "container-4of32", "power8-2s-smt8", "board-no-numa", *MACHINES])
def test_the_levels_that_serve_a_footprint(name: str) -> None:
    """They include the level of the data, are neighbours, and come no nearer as the footprint grows."""
    machine = trees.machine(name)
    threads = frozenset([("node", usable_cores(machine)[0])])
    capacities, before = cache_capacities(machine, threads), 0
    for size in sorted({8 * KIB * 2**i for i in range(18)} | set(capacities.values())):
        levels = levels_serving(machine, threads, size)
        places = [LEVELS.index(one) for one in levels]
        assert places[0] >= before
        before = places[0]
        known = [level - 1 for level in capacities] + [len(LEVELS) - 1]
        assert places == known[known.index(places[0]) :][: len(places)]
        level = level_of(machine, threads, size)
        assert level is None or level in levels
        if size in capacities.values():
            assert len(levels) > 1, "a footprint of the size of a cache does not fit completely"
    assert levels_serving(machine, threads, 4096 * MIB) == (MEMORY,)
