"""The memory levels of a run as rows: stated and measured size, bandwidth and latency of one core and of all cores.

The names and values of levels are those of the run's ladders, those of the memory are of its tiles. A value without a
ladder on its cores is of a footprint that the stated sizes put into the level, as in the roofline, and that is within
the level as the ladder of one core shows it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

from octant.analysis.levels import level_curve, total_footprint
from octant.analysis.named_figures import find
from octant.facts import usable_cores
from octant.limit import MEMORY, cache_capacities, level_of
from octant.machine.cache_levels import CACHE_NAMES, disputed_levels, stated_sizes
from octant.report import claims
from octant.report.charts.curves.figure_curves import rungs

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from octant.analysis.figures import Figure
    from octant.analysis.levels import LevelCurve
    from octant.analysis.summary import Summary
    from octant.limit import Threads
    from octant.machine import Machine
    from octant.report.charts.curves.figure_curves import FigureCurve, MeasuredLadder
    from octant.stats.grades import GradeName

PLATEAU = "plateau of the ladder"
"""Source of a value."""
Cores = Literal["one core", "all cores"]
CORES: tuple[Cores, Cores] = ("one core", "all cores")
_UNDETECTED = ("unseen", "unnamed")
"""Verdicts of a ladder that has footprints in a cache, and no plateau of it."""
Quantity = Literal["bandwidth", "latency"]
UNITS: dict[Quantity, str] = {"bandwidth": "B/s", "latency": "s"}


@dataclass(frozen=True)
class LevelValue:
    """A value of a level on some cores, with its source."""

    value: float  # B/s or s
    unit: str
    text: str  # as tiles and pictures write it
    source: str  # "plateau of the ladder", or the name of a figure
    shared: str = ""  # "L2–L3": the levels that the value does not distinguish; "": it is of this level alone
    grade: GradeName = "reliable"


@dataclass(frozen=True)
class LevelRow:
    """A memory level, or a plateau of a ladder that no stated size identifies."""

    name: str  # "L2", "memory", "to 12 MiB"
    stated_bytes: int | None = None  # of one cache
    dispute: str = ""  # "of the host": a source contradicts the stated size
    measured_bytes: float | None = None  # the largest footprint of the latency ladder in the level
    shared: str = ""  # "L2–L3": the latency ladder does not distinguish the level from others
    values: dict[tuple[Quantity, Cores], LevelValue] = field(default_factory=dict)
    undetected: frozenset[tuple[Quantity, Cores]] = frozenset()
    """Columns without a value although footprints of the stated size were measured: the ladder does not show it."""


@dataclass(frozen=True)
class LevelTable:
    """The memory levels of a run, the nearest first."""

    rows: tuple[LevelRow, ...]
    cores: int  # number of usable cores
    titles: dict[Quantity, str]  # short names of the loops or loads of the ladders


def level_table(summary: Summary) -> LevelTable | None:
    """Return the memory levels of a run; `None` if no ladder of one core has two plateaus."""
    machine = summary.run.machine
    columns = {
        quantity: _Column(summary, ladder)
        for quantity, unit in UNITS.items()
        for ladder in rungs(summary)
        if ladder.metric.unit == unit
    }
    if all(len(column.plateau_names()) < 2 for column in columns.values()):
        return None
    names = [f"L{level}" for level in stated_sizes(machine)]
    unnamed = sorted({one for column in columns.values() for one in column.unnamed()})
    names += [*dict.fromkeys(name for _, name in unnamed), MEMORY]
    rows = tuple(_row(name, columns, machine) for name in names)
    titles = {quantity: column.ladder.title for quantity, column in columns.items()}
    return LevelTable(rows, len(usable_cores(machine)), titles)


def _row(name: str, columns: Mapping[Quantity, _Column], machine: Machine) -> LevelRow:
    number = int(name[1:]) if name in CACHE_NAMES else 0
    stated = stated_sizes(machine).get(number) if number else machine.memory_bytes if name == MEMORY else None
    places = [(quantity, cores) for quantity in columns for cores in CORES]
    found = {(quantity, cores): columns[quantity].value(name, cores) for quantity, cores in places}
    undetected = (place for place in places if not found[place] and columns[place[0]].is_undetected(name, place[1]))
    latency = columns.get("latency")
    return LevelRow(
        name, stated, disputed_levels(machine).get(number, "") if number else "",
        latency.measured_bytes(name) if latency else None, latency.shared(name) if latency else "",
        {place: value for place, value in found.items() if value}, frozenset(undetected),
    )  # fmt: skip


class _Column:
    """The values of one metric: those of a ladder, and of other figures of the same workload."""

    def __init__(self, summary: Summary, ladder: MeasuredLadder) -> None:
        self.summary, self.ladder, self.machine = summary, ladder, summary.run.machine
        self.curves: dict[Cores, LevelCurve] = {}
        for line in ladder.lines:  # the first line of a layout names its levels
            cores = _cores_of(line.figures, self.machine)
            if cores and cores not in self.curves:
                self.curves[cores] = ladder.curve if line is ladder.lines[0] else _curve_of(line, self.machine)
        headlines = (summary.figure(one, ladder.metric.name) for one in summary.figures)
        of_metric = [one for one in headlines if one and one.workload.name == ladder.workload.name]
        first = ladder.lines[0].figures[0]
        self.figures = [one for one in of_metric if one.value and not one.link and _has_same_pages(one, first)]

    def plateau_names(self) -> list[str]:
        """Return the names of the plateaus of one core."""
        curve = self.curves.get("one core")
        return [one.name for one in curve.plateaus] if curve else []

    def unnamed(self) -> list[tuple[float, str]]:
        """Return the ends and names of the plateaus that no stated size identifies."""
        curve = self.curves.get("one core")
        return [(one.last, one.name) for one in curve.plateaus if not one.levels] if curve else []

    def measured_bytes(self, name: str) -> float | None:
        """Return the largest footprint that the ladder of one core shows in a level alone, if an edge follows."""
        curve = self.curves.get("one core")
        alone = (one for one in curve.plateaus if one.name == name and one.beyond) if curve else ()
        return next((one.last for one in alone), None)

    def shared(self, name: str) -> str:
        """Return the name of the plateau that a level shares with others; "" if it has its own or none."""
        curve = self.curves.get("one core")
        plateaus = curve.plateaus if curve else ()
        names = [one.name for one in plateaus if name in one.levels]
        return "" if name in names else next(iter(names), "")

    def is_undetected(self, name: str, cores: Cores) -> bool:
        """Return whether footprints of the stated size of a cache were measured on these cores."""
        curve = self.curves.get("one core")
        if cores == "one core" or curve is None:
            return curve is not None and name in CACHE_NAMES and curve.verdict(int(name[1:])) in _UNDETECTED
        return any(level == name for _, level, _ in self._placed(cores))

    def value(self, name: str, cores: Cores) -> LevelValue | None:
        """Return the value of a level: of the tile, of the ladder on these cores, or of a footprint in the level."""
        if name == MEMORY and (figure := self._of_tile(cores)):
            return self._of_figure(figure)
        if cores in self.curves and (found := self._of_plateau(name, self.curves[cores])):
            return found
        return self._of_footprint(name, cores)

    def _of_tile(self, cores: Cores) -> Figure | None:
        for tile in self.summary.run.screen.tiles:
            for named in tile.figures:
                figure = find(self.summary, named)
                if figure and figure.value and figure.workload.name == self.ladder.workload.name:
                    is_same = figure.metric.name == self.ladder.metric.name
                    if is_same and _cores_of([figure], self.machine) == cores and self._is_of_memory(figure):
                        return figure
        return None

    def _is_of_memory(self, figure: Figure) -> bool:
        """Return whether no cache holds a footprint; if their size is disputed, whether it is as long as the ladder."""
        size, curve = total_footprint(figure, self.machine) or 0, self.curves.get("one core")
        if level_of(self.machine, figure.point.hardware_threads, size) == MEMORY:
            return True
        return bool(disputed_levels(self.machine) and curve and curve.points and size >= curve.points[-1][0])

    def _of_plateau(self, name: str, curve: LevelCurve) -> LevelValue | None:
        plateaus = [one for one in curve.plateaus if name == one.name or name in one.levels]
        if not plateaus:
            return None
        least = min(len(one.levels) for one in plateaus)
        alike = [one for one in plateaus if len(one.levels) == least]  # several if the levels are not distinguishable
        chosen, unit = alike[-1 if name == MEMORY else 0], self.ladder.metric.unit
        shared = chosen.name if len(chosen.levels) > 1 else ""
        return LevelValue(chosen.value, unit, claims.quantity(chosen.value, unit), PLATEAU, shared)

    def _of_footprint(self, name: str, cores: Cores) -> LevelValue | None:
        """Return the value of the largest footprint in a level; of the memory, the best rate."""
        found = [
            (size, one) for size, level, one in self._placed(cores) if level == name and size <= self._end(name, one)
        ]
        if not found:
            return None
        if name == MEMORY and self.ladder.metric.better == "higher":
            return self._of_figure(max((one for _, one in found), key=_middle))
        return replace(self._of_figure(max(found, key=lambda one: one[0])[1]), shared=self.shared(name))

    def _placed(self, cores: Cores) -> list[tuple[int, str, Figure]]:
        """Return the footprint of each valid figure on these cores, and its level by stated sizes."""
        found = []
        for one in self.figures:
            size = total_footprint(one, self.machine)
            if size and not one.invalid and _cores_of([one], self.machine) == cores:
                level = level_of(self.machine, one.point.hardware_threads, size)
                found += [(size, str(level), one)] if level else []
        return found

    def _end(self, name: str, figure: Figure) -> float:
        """Return the largest footprint that is in a level on these threads, as the ladder of one core shows it."""
        curve = self.curves.get("one core")
        if name == MEMORY or curve is None or curve.verdict(number := int(name[1:])) == "unknown":
            return math.inf
        if curve.verdict(number) in _UNDETECTED:
            return 0.0
        plateau = [one for one in curve.plateaus if name in one.levels][-1]
        fits = cache_capacities(self.machine, figure.point.hardware_threads).get(number, 0)
        return plateau.last * fits / curve.sizes[number] if plateau.beyond else math.inf

    def _of_figure(self, figure: Figure) -> LevelValue:
        text, unit = claims.numbered(claims.figure_texts(figure)), self.ladder.metric.unit
        return LevelValue(_middle(figure), unit, text, figure.name, grade=claims.grade(figure))


def _middle(figure: Figure) -> float:
    return figure.value.middle if figure.value else 0.0


def _has_same_pages(one: Figure, other: Figure) -> bool:
    return one.knobs.get("pages", "default") == other.knobs.get("pages", "default")


def _curve_of(line: FigureCurve, machine: Machine) -> LevelCurve:
    return level_curve([(x, one) for x, one in line.measurable.cells if x > 0], machine)


def _cores_of(figures: Sequence[Figure], machine: Machine) -> Cores | None:
    """Return whether figures used one hardware thread, or one of each usable core; `None` for others."""
    found = {_cores_of_threads(point.hardware_threads, machine) for one in figures for point in one.points}
    return found.pop() if len(found) == 1 else None


def _cores_of_threads(threads: Threads, machine: Machine) -> Cores | None:
    used = {number for _, number in threads}
    if len(used) < len(threads):  # on several hosts
        return None
    if len(used) == 1:
        return "one core"
    cores = sum(not used.isdisjoint(core) for core in machine.topology.groups("core"))
    return "all cores" if len(used) == cores == len(usable_cores(machine)) else None
