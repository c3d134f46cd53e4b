"""Tile, ladder, table, roofline and the rows of `octant machine` of one run agree on levels and their values."""

import random
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cache_models import KIB, MIB, Case, Scenario, case, stated_by_name
from fake_run import durations, lane, machine, point, stored, write_run
from octant.analysis.appendix.measured import with_measured
from octant.analysis.appendix.stated import of_machine
from octant.analysis.summary import Summary, summarise
from octant.machine import Machine
from octant.record import Point
from octant.report.charts.curves.curve import ladder
from octant.report.charts.curves.roofline import roofline
from octant.report.charts.picture import Panel, Picture
from octant.report.screen.level_rows import PLATEAU, level_table
from octant.report.screen.tiles import tiles
from octant.request import Launch, Presentation, Request, Subject
from octant.store import Store, StoredRun
from octant.tile import Also, DeclaredScreen, DeclaredTile, NamedFigure
from reports import ladders_of

NARROW = "\N{NARROW NO-BREAK SPACE}"
TRAFFIC = {"bytes_read": 16, "bytes_written": 8, "bytes_allocated": 8, "flops": 2}
"""Of an element of triad."""
SCREEN = DeclaredScreen(
    tiles=tuple(
        DeclaredTile(
            name, "x", (NamedFigure(title, knobs),), also=(Also("plateaus", "1 core:", NamedFigure(title, knobs)),)
        )
        for name, title, knobs in (
            ("Memory", "bandwidth against footprint", {"kernel": "triad"}),
            ("Latency", "latency against footprint", {"pages": "thp"}),
        )
    )
)


def on(stated: dict[int, int]) -> Machine:
    """Return a machine with two cores and these caches, the last one shared."""
    here = machine()
    caches = tuple(replace(one, size_bytes=stated.get(one.level, one.size_bytes)) for one in here.topology.caches or ())
    return replace(here, topology=replace(here.topology, caches=caches))


def run_of(bandwidth: Case, latency: Case) -> StoredRun:
    """Return a run with both ladders, one also with base pages, a `load` loop, the peak, and two matrix products."""
    launches: list[Launch] = []
    points: list[Point] = []

    def add(
        workload: str, title: str, swept: dict[str, str], at: dict[str, str], ns: float, counts: dict[str, int]
    ) -> None:
        request = Request(Subject(workload), swept, show=Presentation(title, "footprint" not in title))
        launch = Launch(request, 0)
        if launch.key not in {known.key for known in launches}:
            launches.append(launch)
        lanes = (lane(durations(round(ns), spread=0.001), clock_hz=(3_000_000_000,)),)
        notes = {"width": "512", "lanes": "8", "chains": "24", "fused": "yes"} if "peak" in workload else {}
        knobs = {**swept, **at, "threads": "1"}
        points.append(point(workload=workload, launch=launch.key, knobs=knobs, lanes=lanes, counts=counts, notes=notes))

    def sizes(one: Case) -> str:
        return ",".join(str(int(size)) for size, _ in one.points)

    for size, value in bandwidth.points:
        for kernel, faster in (("triad", 1.0), ("load", 1.2)):
            counts = (
                {name: 10**6 * count for name, count in TRAFFIC.items()}
                if kernel == "triad"
                else {"bytes_read": 24 * 10**6}
            )
            swept = {"kernel": kernel, "bytes": sizes(bandwidth), "pages": "thp"}
            at = {"bytes": str(int(size))}
            add("node/stream", "bandwidth against footprint", swept, at, 24e6 / (value * faster * 100), counts)
    for size, value in latency.points:
        for pages, slower in (("thp", 1.0), ("base", 1.1)):
            swept = {"bytes": sizes(latency), "pages": pages}
            at = {"bytes": str(int(size))}
            add("node/latency", "latency against footprint", swept, at, value * slower * 1e5, {"loads": 10**5})
    beyond, slower = str(int(2 * bandwidth.points[-1][0])), bandwidth.points[-1][1] / 2
    counts = {name: 10**6 * count for name, count in TRAFFIC.items()}
    row = {"kernel": "triad", "bytes": beyond, "pages": "thp"}  # a row of the table, and a point of the ladder
    add("node/stream", "triad from memory", row, {}, 24e6 / (slower * 100), counts)
    add("node/peakflops", "multiply-adds", {"width": "512", "element": "double"}, {}, 1e5, {"flops": 9_000_000})
    for n in (96, 448):
        product = {"flops": 2 * n**3, "bytes_read": 16 * n**2, "bytes_written": 8 * n**2}
        add("node/gemm", f"product {n}", {"element": "double", "n": str(n)}, {}, 2 * n**3 / 60, product)
    return replace(stored(launches, points, on=on(dict(bandwidth.stated))), screen=SCREEN)


SCENARIOS: tuple[Scenario, ...] = ("as stated", "as stated", "L3 slice", "no L3", "L2 halved")


def drawn(seed: int) -> StoredRun:
    """Ladders of random ratios, noise and parts of an L3; latency and bandwidth may see different parts of it."""
    draw = random.Random(seed)
    stated = stated_by_name()[draw.choice(["Zen 2", "Zen 4", "Zen 5", "Sapphire Rapids", "POWER9", "Neoverse N1"])]
    made = []
    for rising in (False, True):
        scenario = draw.choice(SCENARIOS)
        ratio, noise = draw.choice([1.05, 1.2, 1.5, 3.0]), draw.choice([0.0, 0.02, 0.08])
        one = case(stated, scenario, ratio, noise, draw)
        points = one.points if one.rising == rising else tuple((size, 1 / value) for size, value in one.points)
        made.append(replace(one, points=points))
    return run_of(*made)


def labels(panel: Panel) -> dict[str, str]:
    """Return the names of the plateaus of a panel, with their values."""
    texts = [level.label.replace(NARROW, " ") for level in panel.levels]
    matches = (re.fullmatch(r"(\S+|beyond \S+) ([\d.]+ \S+)", text) for text in texts)
    return {found[1]: found[2] for found in matches if found}


def names_of(picture: Picture, of: int, curve: str) -> dict[str, str]:
    """By footprint, what the table of the ladder calls the plateau."""
    title = picture.panels[of].title
    return {row[2]: row[-1] for row in picture.rows if row[0].startswith(title) and curve in row[1]}


def pictures(summary: Summary) -> tuple[Picture, Picture]:
    found = ladder(ladders_of(summary)), roofline(summary.known, summary.figures, ladders_of(summary))
    assert found[0] is not None
    assert found[1] is not None
    return found[0], found[1]


SAID = re.compile(r"(?:; |^)(no plateau of an L3 detected|L3 detected in \w+ only|L3 not distinguishable from .+)$")


@pytest.mark.parametrize("seed", range(24))
def test_all_places_that_name_a_level_agree(seed: int, tmp_path: Path) -> None:
    run = drawn(seed)
    summary = summarise(run, all_metrics=True)
    ladders, roofs = pictures(summary)
    by_panel = [labels(panel) for panel in ladders.panels]
    for tile, panel, named, other in zip(tiles(summary), ladders.panels, by_panel, by_panel[::-1], strict=True):
        text = "".join(tile.also).replace(NARROW, " ").removeprefix("1 core: ")
        found = SAID.search(text)
        said = found[1] if found else ""
        ending = [level for level in panel.levels if level.end < panel.series[0].x[-1]]
        assert SAID.sub("", text) == ", ".join(_as_in_tile(level.label) for level in ending[:3])
        assert ("no plateau" in said) <= ("L3" not in named and "L3" not in other)
        assert ("only" in said) == ("L3" not in named and "L3" in other)
        assert ("distinguishable" in said) <= any("–" in name for name in named)
        assert ("L3" in named) <= (said == "")
    _check_roofs(roofs, by_panel[0])
    _check_table(ladders)
    _check_level_table(summary, ladders.panels)
    write_run(run, tmp_path)
    entries = with_measured(of_machine(run.machine), Store(tmp_path)).entries
    entry = entries.get(("Caches", "measured memory levels"))
    levels = re.findall(r"(?:^|; )(\S+|beyond \S+|to \S+ \S+) [\d.]+ ", entry.text) if entry else []
    assert levels == _order(ladders.panels[1])


def _as_in_tile(label: str) -> str:
    """Return the label of a plateau with its name first: `to 16 MiB 30 GB/s`."""
    value, found, name = label.replace(NARROW, " ").partition(" to ")
    return f"to {name} {value}" if found else value


def _order(panel: Panel) -> list[str]:
    """Return the names of the plateaus of a panel, from small footprints to large."""
    return [re.sub(r" [\d.]+ \S+$", "", _as_in_tile(level.label)) for level in panel.levels]


def _check_roofs(roofs: Picture, bandwidth: dict[str, str]) -> None:
    """Check that exactly the caches of the ladder have roofs, each at least the traffic of its plateau."""
    rows = {row[1].removeprefix("roof: "): row for row in roofs.rows if row[1].startswith("roof: ")}
    caches = {name for name in bandwidth if name.startswith("L") and "memory" not in name}
    assert caches == set(rows) - {"memory", "double", "single", "scalar"}
    for name in caches:
        assert rows[name][5].replace(NARROW, " ") == f"plateau of the ladder: {bandwidth[name]}"
        write_allocates = 1.0 if name.startswith("L1") else 4 / 3
        assert _rate(rows[name][3]) >= 0.98 * write_allocates * _rate(bandwidth[name])
    for row in roofs.rows:
        assert row[5].partition(" ")[0] in {"", "plateau", "double", "single", "scalar", "memory", *caches}


def _check_level_table(summary: Summary, panels: Sequence[Panel]) -> None:
    """Check that the table of memory levels has the named plateaus of the ladders and their values, and no others."""
    table = level_table(summary)
    if table is None:
        assert all(len(panel.levels) < 2 for panel in panels)
        return
    names = [row.name for row in table.rows]
    for quantity, panel in zip(("bandwidth", "latency"), panels, strict=True):
        drawn = [_as_in_tile(level.label) for level in panel.levels]
        single = {name for name in labels(panel) if "–" not in name and name != "memory"}
        for row in table.rows:
            value = row.values.get((quantity, "one core"))  # type: ignore[arg-type]
            if value and value.source == PLATEAU:
                name = value.shared or row.name
                assert row.name == name or row.name in _members(name, names)
                assert f"{name} {value.text}".replace(NARROW, " ") in drawn
                single -= {name}
        assert not single, "each plateau of one level is in the table"
    for row in table.rows:  # a level has a size only where the ladder shows it alone
        assert row.measured_bytes is None or row.name in labels(panels[1]) or row.name.startswith("to ")


def _members(name: str, order: list[str]) -> list[str]:
    first, _, last = name.partition("–")
    return order[order.index(first) : order.index(last or first) + 1]


def _rate(text: str) -> float:
    number, unit = text.split()[:2]
    return float(number) * {"B/s": 1, "kB/s": 1e3, "MB/s": 1e6, "GB/s": 1e9, "TB/s": 1e12}[unit]


def _check_table(ladders: Picture) -> None:
    for number, panel in enumerate(ladders.panels):
        first = panel.series[0].name
        names = names_of(ladders, number, first)
        spans = [(level.begin, level.end) for level in panel.levels]
        lying = [next((i for i, (begin, end) in enumerate(spans) if begin <= x <= end), -1) for x in panel.series[0].x]
        assert list(names.values()) == ["" if i < 0 else _order(panel)[i] for i in lying]


def test_the_ladder_names_the_levels_of_the_loop_that_the_tile_shows() -> None:
    """`load` is faster than `triad` in memory, and would come first without the tile."""
    draw = random.Random(1)
    made = [case(stated_by_name()["Zen 4"], "as stated", 3.0, 0.0, draw, "sharp") for _ in range(2)]
    bandwidth, latency = (
        replace(one, points=tuple((x, y if one.rising == rising else 1 / y) for x, y in one.points))
        for one, rising in zip(made, (False, True), strict=True)
    )
    run = run_of(bandwidth, latency)
    most = int(bandwidth.points[-1][0])  # the row of the table goes beyond
    ladders = tuple(one for one in run.points if int(one.knobs.get("bytes", 0)) <= most)
    for screen, first in ((SCREEN, "triad"), (DeclaredScreen(), "load")):
        picture = ladder(ladders_of(summarise(replace(run, points=ladders, screen=screen))))
        assert picture is not None
        assert first in picture.panels[0].series[0].name


@pytest.mark.parametrize(
    ("workload", "tops"),
    [
        ("node/stream", (96 * KIB, 4 * MIB, 32 * MIB)),  # of the footprint each thread has a half
        ("node/latency", (48 * KIB, 2 * MIB, 16 * MIB)),  # it is that of one of two copies, which share the L3
    ],
)
def test_levels_of_two_threads_are_those_that_the_caches_of_both_hold(workload: str, tops: tuple[int, ...]) -> None:
    sizes = sorted({8 * KIB << i for i in range(16)} | {12 * KIB << i for i in range(14)})
    request = Request(Subject(workload), {"bytes": ",".join(map(str, sizes))}, show=Presentation("two"))
    (launch,) = request.launches()
    copies = workload == "node/latency"
    shape: dict[str, Any] = {"ranks": 2} if copies else {"threads": 2}
    points = []
    for size in sizes:
        ns = next(value for top, value in zip((*tops, 2**40), (1, 4, 20, 80), strict=True) if size <= top)
        lanes = tuple(lane(durations(ns * 10**5, spread=0.001), *((0, i) if copies else (i, 0))) for i in range(2))
        counts = {"loads": 10**5} if copies else {name: 10**6 * count for name, count in TRAFFIC.items()}
        knobs = {"bytes": str(size), "threads": "1" if copies else "2"}
        points.append(point(workload=workload, launch=launch.key, knobs=knobs, lanes=lanes, counts=counts, **shape))
    picture = ladder(ladders_of(summarise(stored([launch], points))))
    assert picture is not None
    levels = picture.panels[0].levels
    assert [(name, level.end) for name, level in zip(_order(picture.panels[0]), levels, strict=True)] == [
        *((f"L{i}", max(size for size in sizes if size <= top)) for i, top in enumerate(tops, 1)),
        ("memory", sizes[-1]),
    ]
