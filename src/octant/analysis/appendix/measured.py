"""Measured entries of the comparison, from the newest stored run that has each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import islice

from octant import units, workloads
from octant.analysis.appendix import Entry, FigureSource, KnownMachine, RowSpec, number, row_specs
from octant.analysis.figures import Figure, figure
from octant.analysis.level_names import NamedPlateau
from octant.analysis.levels import level_curve
from octant.analysis.plateaus import LEAST_POINTS, reach
from octant.analysis.summary import clock_hz
from octant.facts import usable_cores
from octant.failure import Refusal
from octant.identity import identity_of
from octant.limit import CLEAR, MEMORY
from octant.machine import Machine
from octant.machine.cache_levels import stated_sizes
from octant.machine.codec import fingerprint
from octant.record import Point
from octant.request import canonical
from octant.store import Store, StoredRun

MAX_RUNS = 50
"""Maximum number of runs of a machine that are read, the newest first."""
_BEYOND = 4
"""Multiple of the cache capacity beyond which loads are from memory."""
_STREAMED_BEYOND = 2
"""Multiple of the cache capacity beyond which repeatedly traversed arrays are in memory."""


def with_measured(side: KnownMachine, where: Store) -> KnownMachine:
    """Return the machine with values that the store's runs measured; a published machine has none."""
    if side.machine is None:
        return side
    entries = dict(side.entries)
    wanted = [spec for spec in row_specs() if spec.measure]
    for run in islice(runs_of(where, side.machine), MAX_RUNS):
        for spec in wanted:
            key = spec.group, spec.name
            found = _entry(spec, run, side.machine)
            if found and not (found.limited and key in entries):
                entries[key] = replace(found, run=run.id)
                wanted = wanted if found.limited else [one for one in wanted if one is not spec]
        if not wanted:
            break
    return replace(side, entries=entries)


def runs_of(where: Store, machine: Machine) -> Iterable[StoredRun]:
    """Return the readable runs of the machine, the newest first, without imported ones."""
    same = fingerprint(machine)
    for row in reversed(where.list_runs()):
        if row.fingerprint == same and row.points:
            try:
                run = where.read(row.id)
            except Refusal:  # removed meanwhile
                continue
            if not run.imported:
                yield run


def _entry(spec: RowSpec, run: StoredRun, machine: Machine) -> Entry | None:
    """Return the entry of a run in a row, from valid figures if there are any; `None` without such a cell."""
    figures = _figures(spec, run, machine)
    if spec.measure is None or not figures:
        return None
    pick = _PICKS[spec.measure.pick]
    valid = [one for one in figures if not one.invalid]
    if found := pick(spec, valid, machine) if valid else None:
        return found
    limited = pick(spec, figures, machine)
    return replace(limited, limited=True) if limited else None


def memory_load(run: StoredRun) -> Figure | None:
    """Return the valid memory latency of a run, as in the row `latency` of the comparison."""
    spec = next(spec for spec in row_specs() if (spec.group, spec.name) == ("Memory", "latency"))
    valid = [one for one in _figures(spec, run, run.machine) if not one.invalid]
    found = _of_memory(valid, run.machine) if valid else None
    return found[0] if found else None


def _figures(spec: RowSpec, run: StoredRun, machine: Machine) -> list[Figure]:
    """Return the figures of a run that answer a row; none if the workload is not installed."""
    measure = spec.measure
    workload = workloads.workloads().get(measure.workload) if measure else None
    if measure is None or workload is None:
        return []
    points = [point for point in run.points if _is_asked(point, measure, machine)]
    return [one for cell in _cells(points) if (one := figure(workload, cell, measure.metric)).value]


def _is_asked(point: Point, measure: FigureSource, machine: Machine) -> bool:
    if point.workload != measure.workload or not point.passed or point.process.link:
        return False
    knobs = measure.knobs.items()
    if any(canonical(point.knobs.get(name, "")) not in canonical(values).split(",") for name, values in knobs):
        return False
    hosts = {given.host for given in point.given}
    if measure.mode == "one":
        return point.ranks == 1 and point.threads == 1
    if measure.mode == "every core":
        used = {cpu for _, cpu in point.hardware_threads}
        cores = sum(not used.isdisjoint(core) for core in machine.topology.groups("core"))
        return len(hosts) == 1 and cores >= len(usable_cores(machine))
    return point.ranks is not None and point.ranks > 1 and (len(hosts) > 1) == (measure.mode == "between")


def _cells(points: Sequence[Point]) -> list[list[Point]]:
    cells: dict[tuple[object, ...], list[Point]] = {}
    for point in points:
        cells.setdefault(identity_of(point).cell, []).append(point)
    return list(cells.values())


def _middle(one: Figure) -> float:
    return one.value.middle if one.value else float("nan")


def _bytes(one: Figure) -> int:
    try:
        return units.parse_bytes(one.knobs.get("bytes", ""))
    except ValueError:
        return 0


def _last(spec: RowSpec, figures: Sequence[Figure], _machine: Machine) -> Entry:
    return number(spec, _middle(figures[-1]), "measured")


def _best(spec: RowSpec, figures: Sequence[Figure], _machine: Machine) -> Entry:
    values = list(map(_middle, figures))
    return number(spec, max(values) if figures[0].metric.better == "higher" else min(values), "measured")


def _from_memory(spec: RowSpec, figures: Sequence[Figure], machine: Machine) -> Entry | None:
    """Return the best value of footprints that no cache holds: the arrays of all ranks."""
    least = _STREAMED_BEYOND * machine.may_be_cached_bytes()
    found = [one for one in figures if _bytes(one) * (one.point.working_ranks or 1) >= least]
    return _best(spec, found, machine) if found else None


def _ladder(figures: Sequence[Figure], pages: str) -> list[tuple[float, float]]:
    """Return (bytes, seconds) of one page size, ascending."""
    return sorted((float(_bytes(one)), _middle(one)) for one in figures if one.knobs.get("pages") == pages)


def _plateaus(figures: Sequence[Figure], machine: Machine) -> tuple[NamedPlateau, ...]:
    """Return the plateaus of the ladder with huge pages, named as in the report of the run."""
    at = {float(_bytes(one)): one for one in figures if one.knobs.get("pages") == "thp" and _bytes(one) > 0}
    return level_curve(sorted(at.items()), machine).plateaus if len(at) > LEAST_POINTS else ()


def _levels(_spec: RowSpec, figures: Sequence[Figure], machine: Machine) -> Entry | None:
    """Return each plateau of a ladder: its name, its end, and the time of a load."""
    texts = [
        f"{one.name} {units.si_text(one.value, 's')}" + (f" to {units.bytes_text(one.last)}" if one.beyond else "")
        for one in _plateaus(figures, machine)
    ]
    return Entry("; ".join(texts), source="measured") if texts else None


def _reach(spec: RowSpec, figures: Sequence[Figure], _machine: Machine) -> Entry | None:
    """Return the footprint from which base pages take longer than large ones."""
    base, large = (dict(_ladder(figures, pages)) for pages in ("base", "thp"))
    reached = reach([(size, base[size] / large[size]) for size in sorted(base.keys() & large.keys())])
    return number(spec, reached, "measured", words="or less") if reached else None


def _of_memory(figures: Sequence[Figure], machine: Machine) -> tuple[Figure, str] | None:
    """Return the load with the largest footprint: of the last plateau, or beyond all caches."""
    found, largest = _plateaus(figures, machine), max(figures, key=_bytes)
    if not found or found[-1].beyond is not None:
        return (largest, "") if _bytes(largest) >= _BEYOND * machine.may_be_cached_bytes() else None
    tail = found[-1]
    if tail.levels == (MEMORY,):
        return largest, ""
    in_cache = tail.levels and tail.last < CLEAR * max(stated_sizes(machine).values())
    if in_cache or (tail.levels and MEMORY not in tail.levels):
        return None
    named = tail.name if tail.name.startswith("beyond") else f"from {units.bytes_text(tail.first)} on"
    return largest, f"({named})"


def _memory(spec: RowSpec, figures: Sequence[Figure], machine: Machine) -> Entry | None:
    found = _of_memory(figures, machine)
    return number(spec, _middle(found[0]), "measured", words=found[1]) if found else None


def _memory_cycles(spec: RowSpec, figures: Sequence[Figure], machine: Machine) -> Entry | None:
    found = _of_memory(figures, machine)
    hz = clock_hz(found[0]) if found else None
    return number(spec, _middle(found[0]) * hz, "measured", words=found[1]) if found and hz else None


_PICKS: Mapping[str, Callable[[RowSpec, Sequence[Figure], Machine], Entry | None]] = {
    "last": _last,
    "best": _best,
    "from memory": _from_memory,
    "levels": _levels,
    "reach": _reach,
    "memory": _memory,
    "memory cycles": _memory_cycles,
}
