"""The first screen of a run of a user's program: time, memory, use of the processors, lost time, placement."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from octant.analysis.causes import causes_of_run
from octant.analysis.lost import queue_bound
from octant.analysis.names import knob_of, place_text
from octant.analysis.occupancy import most_occupied
from octant.analysis.program import CORES_USED, IMBALANCE, MEMORY, PREEMPTIONS, SYSTEM, USER, UTILISATION, WALL
from octant.placement import numbers_text
from octant.program import is_program
from octant.report import claims
from octant.report.screen.answer import Tile
from octant.report.screen.last_run import last_run
from octant.report.strips import ShareBar
from octant.stats import graded
from octant.stats.grades import GRADE_NAMES
from octant.tile import DeclaredTile
from octant.units import capital, counted, unbroken

if TYPE_CHECKING:
    from collections.abc import Callable

    from octant.analysis.figures import Figure
    from octant.analysis.summary import Summary

    TileOf = Callable[[DeclaredTile, Figure], Tile]

_MOST_RANKS = 8  # masks that a tile names


def is_of_programs(summary: Summary) -> bool:
    """Return whether the run has figures, and all of them are of users' programs."""
    return bool(summary.figures) and all(is_program(figure.workload.name) for figure in summary.figures)


def program_tiles(summary: Summary, tile_of: TileOf) -> tuple[Tile, ...]:
    """Return at most six tiles: of the only cell, or of the best and the worst cell.

    Args:
        tile_of: makes the tile of a figure (`tiles`).
    """
    return _Screen(summary, tile_of).tiles


def program_answer(summary: Summary) -> str:
    """Return the time of a program in a sentence; "" without a value, or if programs have several headlines."""
    shown = _shown(summary)
    values = [figure for figure in shown if figure.value and not figure.invalid]
    if not values or len({(figure.workload.name, figure.metric.name) for figure in summary.figures}) > 1:
        return ""
    metric, name = values[0].metric, values[0].label
    if len(shown) > 1:
        ends = [f"{claims.numbered(claims.figure_texts(one))} ({_cell(one)})" for one in values]
        text = f"{name}: the best {metric.name} of {counted(len(summary.figures), 'combination')} is {ends[0]}"
        return f"{text}, the worst {ends[1]}." if len(ends) > 1 else f"{text}."
    took = claims.numbered(claims.figure_texts(values[0]))
    begin = f"{name} took {took}" if metric.name == WALL else f"{name} reached {took} ({metric.name})"
    return f"{begin}{_used_text(summary, values[0])}."


def _used_text(summary: Summary, headline: Figure) -> str:
    """Return cores and memory, if they are known: `, kept 1.9 of 2 hardware threads busy and …`."""
    cores, memory = (summary.figure(headline, name) for name in (CORES_USED, MEMORY))
    occupied = most_occupied(headline.points)
    parts = []
    if cores and cores.value:
        of = f" of {counted(len(occupied.hardware_threads), 'hardware thread')}" if occupied else " cores"
        parts.append(f"kept {cores.value.middle:.3g}{of} busy")
    if memory and memory.value:
        parts.append(f"used at most {claims.quantity(memory.value.middle, 'B')} in a process")
    return f", {' and '.join(parts)}" if parts else ""


def _shown(summary: Summary) -> list[Figure]:
    """Return the only cell, or the best and the worst one of the first program; wrong ones first."""
    figures = [figure for figure in summary.figures if figure.metric is figure.workload.metrics[0]]
    first = [figure for figure in figures if figure.workload.name == figures[0].workload.name]
    wrong = [figure for figure in first if figure.wrong]
    known = [figure for figure in first if figure.value and figure.metric.name == first[0].metric.name]
    if not known or len(first) == 1:
        return (wrong or first)[:1]
    ordered = sorted(known, key=_rank_of)
    return list({id(one): one for one in (*wrong[:1], ordered[0], ordered[-1])}.values())[:2]


def _rank_of(figure: Figure) -> float:
    value = figure.value.middle if figure.value else 0.0
    return value if figure.metric.better == "lower" else -value


def _cell(figure: Figure) -> str:
    """Return what distinguishes a cell from others of its request: `n 2, static`."""
    swept = [part.partition(" ")[0] for part in figure.title.removeprefix(figure.label).split(", ")[1:]]
    return ", ".join(knob_of(figure, name) for name in swept) or figure.label


@dataclass(frozen=True)
class _Screen:
    summary: Summary
    tile_of: TileOf

    @cached_property
    def shown(self) -> list[Figure]:
        return _shown(self.summary)

    @property
    def tiles(self) -> tuple[Tile, ...]:
        found = [*self._headlines(), self._memory(), self._processors(), self._lost(), self._placement()]
        return tuple(found)

    def _headlines(self) -> list[Tile]:
        last = last_run(self.summary, self.shown)
        several = len(self.shown) > 1
        tiles = []
        for figure in self.shown:
            where = place_text(figure)
            own = figure.metric.name  # a value of the user is spelled as the user does
            name = _cell(figure) if several else capital(own) if own == WALL else own
            what = ", ".join(filter(None, (figure.label, where, figure.metric.name * several)))
            tile = self.tile_of(DeclaredTile(name, what, ()), figure)
            compared = last.text(figure) if last else ""
            tiles.append(replace(tile, of=unbroken(compared), also=_spread(figure)) if tile.number else tile)
        if not several and self.shown[0].metric.name != WALL:
            wall = self.summary.figure(self.shown[0], WALL)
            if wall is not None:
                tiles.append(self.tile_of(DeclaredTile(capital(WALL), self.shown[0].label, ()), wall))
        return tiles

    def _worst(self, metric: str, lowest: bool = False) -> Figure | None:
        """Return the figure of a further metric of the cell with the greatest value."""
        found = [one for figure in self.summary.figures if (one := self.summary.figure(figure, metric)) and one.value]
        sign = -1 if lowest else 1
        return max(found, key=lambda one: sign * (one.value.middle if one.value else 0.0), default=None)

    def _of(self, figure: Figure) -> str:
        """Return the cell of a tile if there are several."""
        return f" of {_cell(figure)}" if len(self.summary.figures) > 1 else ""

    def _memory(self) -> Tile:
        name, figure = "Memory", self._worst(MEMORY)
        if figure is None:
            return Tile(name, "peak of the largest process", missing="not recorded")
        tile = self.tile_of(DeclaredTile(name, f"peak of the largest process{self._of(figure)}", ()), figure)
        occupied, also = most_occupied(figure.points), []
        if occupied and occupied.resident_bytes:
            also.append(f"private memory {claims.quantity(occupied.resident_bytes, 'B')}")
        if occupied and occupied.huge_share is not None:
            also.append(f"{claims.percent(occupied.huge_share)} of it on huge pages")
        even = tile.strip is not None and len(set(tile.strip.ends)) == 1  # dots would show errors of rounding
        return replace(tile, also=tuple(also), strip=None if even else tile.strip)

    def _processors(self) -> Tile:
        name, figure = capital(UTILISATION), self._worst(UTILISATION, lowest=True)
        cores = self._worst(CORES_USED, lowest=True)
        if figure is None or figure.value is None:
            known = cores.value if cores else None
            if known is None:
                return Tile(name, "of the hardware threads that it may use", missing="not recorded")
            used = f"{known.middle:.3g} cores were busy on average"
            return Tile(name, used, missing="the hardware threads that it may use were not read back")
        occupied = most_occupied(figure.points)
        number = len(occupied.hardware_threads) if occupied else 0
        texts = claims.value_texts(figure.value, "1", share=True)
        what = f"of {counted(number, 'hardware thread')}{self._of(figure)}"
        tile = self.tile_of(DeclaredTile(name, what, ()), figure)
        ends = f"{texts.ends}{claims.NARROW}%" if texts.ends else ""
        claim = tile.interval.partition(": ")[2]
        headline = self._headline_of(figure)
        return replace(
            tile, number=texts.number, unit="%", interval=f"{ends}: {claim}" if ends and claim else tile.interval,
            strip=None, bar=ShareBar("comparison", (("used", min(1.0, figure.value.middle)),)),
            also=tuple(filter(None, (self._cores_text(headline), self._system_text(headline), self._balance_text()))),
        )  # fmt: skip

    def _headline_of(self, figure: Figure) -> Figure:
        return next(one for one in self.summary.figures if one.points is figure.points or one.points == figure.points)

    def _middle(self, headline: Figure, metric: str) -> float | None:
        figure = self.summary.figure(headline, metric)
        return figure.value.middle if figure and figure.value else None

    def _cores_text(self, headline: Figure) -> str:
        cores = self._middle(headline, CORES_USED)
        return "" if cores is None else f"{cores:.3g} cores used"

    def _system_text(self, headline: Figure) -> str:
        user, system = self._middle(headline, USER), self._middle(headline, SYSTEM)
        if user is None or system is None or not user + system:
            return ""
        return f"{claims.percent(system / (user + system))} of it in the system"

    def _balance_text(self) -> str:
        figure = self._worst(IMBALANCE)
        return f"load imbalance {claims.percent(figure.value.middle)}" if figure and figure.value else ""

    def _lost(self) -> Tile:
        name, what = "Time lost", "by all launches"
        lost, also = causes_of_run(self.summary), self._lost_evidence()
        if lost is None:
            return Tile(name, "; ".join((what, *also)), missing="not recorded")
        texts = claims.number_texts(lost.lost, "1", share=True)
        caveats = graded("lost time", lost.lost, f"{claims.percent(lost.lost)} of the time was lost")
        worst = max((one.grade for one in caveats), default=0)
        parts = " · ".join(f"{claims.percent(share)} {cause}" for cause, share in lost.named)
        return Tile(
            name, what, number=texts.number, unit="% of time", interval=self._launches_text(),
            grade=GRADE_NAMES[worst], reasons=tuple(one.text for one in caveats),
            bar=ShareBar("parts", lost.named) if lost.named else None,
            of=parts or "nothing to a CPU quota or the host", also=also,
        )  # fmt: skip

    def _launches_text(self) -> str:
        launches = counted(len({point.launch for point in self.summary.run.points}), "launch")
        return f"sum over {launches}"

    def _lost_evidence(self) -> tuple[str, ...]:
        """Return evidence of lost time that is not a share of it."""
        found = []
        bounds = [bound for point in self.summary.run.points if (bound := queue_bound(point)) is not None]
        if bounds:
            found.append(f"besides, at most {claims.percent(max(bounds))} of a launch on the run queue")
        preempted = self._worst(PREEMPTIONS)
        if preempted and preempted.value:
            found.append(f"{counted(round(preempted.value.middle), 'involuntary switch')} in a launch")
        return tuple(found)

    def _placement(self) -> Tile:
        name = "Placement"
        occupied = most_occupied(self.summary.run.points)
        if occupied is None:
            return Tile(name, "threads and memory", missing="nothing was read back")
        ranks = len(occupied.ranks)
        what = f"seen busy {occupied.place_text}"
        if ranks > 1:
            what = f"of {counted(ranks, 'rank')} {what}"
        masks = list(dict.fromkeys(_mask(rank.cpus) for rank in occupied.ranks))
        also = [occupied.memory_text]
        if occupied.huge_share is not None:
            also.append(f"{claims.percent(occupied.huge_share)} on huge pages")
        if ranks > 1 and len(masks) > 1:
            more = ", …" * (len(masks) > _MOST_RANKS)
            also.append(f"bound to {', '.join(masks[:_MOST_RANKS])}{more}")
        if not occupied.threads:
            return Tile(name, what, missing="it ended before its threads were looked at")
        threads = counted(occupied.threads, "thread")
        number, unit = threads.split(" ", 1)
        return Tile(name, what, number=number, unit=unit, also=tuple(filter(None, also)))


def _mask(cpus: frozenset[int]) -> str:
    return numbers_text(sorted(cpus))


def _spread(figure: Figure) -> tuple[str, ...]:
    """Return the spread of launches: `launches differ by 3.1 %`."""
    values = [launch.value.middle for launch in figure.counted]
    if len(values) < 2 or not min(values) > 0:
        return ()
    return (f"launches differ by {claims.percent(max(values) / min(values) - 1)}",)
