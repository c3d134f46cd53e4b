"""The first screen of a run of a user's program: time, memory, use of the processors, lost time, placement.

The time is compared with that of the last comparable run in the store.
"""

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from octant.analysis.causes import causes_of_run
from octant.analysis.compare import Comparison, compare
from octant.analysis.evidence import occasions_in
from octant.analysis.figures import Figure
from octant.analysis.lost import queue_bound
from octant.analysis.names import knob_of, place_text
from octant.analysis.occupancy import most_occupied
from octant.analysis.program import CORES_USED, IMBALANCE, MEMORY, PREEMPTIONS, SYSTEM, USER, UTILISATION, WALL
from octant.analysis.sessions import MAX_HISTORY_RUNS
from octant.analysis.summary import Summary, summarise
from octant.failure import Refusal
from octant.machine import codec
from octant.placement import numbers_text
from octant.program import is_program
from octant.report import claims
from octant.report.screen.answer import ShareBar, Tile
from octant.report.sentences import Sentences
from octant.stats import graded
from octant.stats.grades import GRADE_NAMES
from octant.stats.verdicts import percent
from octant.store import Store, StoredRun
from octant.tile import DeclaredTile
from octant.units import capital, counted, unbroken

TileOf = Callable[[DeclaredTile, Figure], Tile]

_MAX_RANKS = 8  # masks that a tile names
_TEXTS = Sentences("octant.report.screen", "tiles")


def is_of_programs(summary: Summary) -> bool:
    """Return whether the run has figures, and all of them are of users' programs."""
    return bool(summary.figures) and all(is_program(figure.workload.name) for figure in summary.figures)


def program_answer(summary: Summary) -> str:
    """Return the time of a program in a sentence; "" without a value, or if programs have several headlines."""
    shown = _shown(summary)
    values = [figure for figure in shown if figure.value and not figure.invalid]
    if not values or len({(figure.workload.name, figure.metric.name) for figure in summary.figures}) > 1:
        return ""
    ends = [(claims.numbered(claims.figure_texts(one)), _cell(one)) for one in values]
    cores, memory = (_value(summary.figure(values[0], one)) for one in (CORES_USED, MEMORY))
    return _TEXTS.line(
        "program", values[0].label, values[0].metric.name, ends, len(shown) > 1, len(summary.figures), cores, memory,
        most_occupied(values[0].points), WALL,
    )  # fmt: skip


def _shown(summary: Summary) -> list[Figure]:
    """Return the only cell, or the best and the worst one of the first program; wrong ones first."""
    figures = [figure for figure in summary.figures if figure.metric is figure.workload.metrics[0]]
    first = [figure for figure in figures if figure.workload.name == figures[0].workload.name]
    wrong = [figure for figure in first if figure.wrong]
    known = [figure for figure in first if figure.value and figure.metric.name == first[0].metric.name]
    if not known or len(first) == 1:
        return (wrong or first)[:1]
    is_time = first[0].metric.better == "lower"
    ordered = sorted(known, key=_middle, reverse=not is_time)
    return list({id(one): one for one in (*wrong[:1], ordered[0], ordered[-1])}.values())[:2]


def _value(figure: Figure | None) -> float | None:
    return figure.value.middle if figure and figure.value else None


def _middle(figure: Figure | None) -> float:
    return _value(figure) or 0.0


def _cell(figure: Figure) -> str:
    """Return what distinguishes a cell from others of its request: `n 2, static`."""
    swept = [part.partition(" ")[0] for part in figure.title.removeprefix(figure.label).split(", ")[1:]]
    return ", ".join(knob_of(figure, name) for name in swept) or figure.label


@dataclass(frozen=True)
class ProgramTiles:
    """At most six tiles: of the only cell, or of the best and the worst cell; `tile_of` returns that of a figure."""

    summary: Summary
    tile_of: TileOf

    @property
    def tiles(self) -> tuple[Tile, ...]:
        """The tiles in their order."""
        return *self._headlines(), self._memory(), self._processors(), self._lost(), self._placement()

    def _headlines(self) -> list[Tile]:
        figures = _shown(self.summary)
        compared, several, tiles = last_run_texts(self.summary, figures), len(figures) > 1, []
        for figure in figures:
            own = figure.metric.name  # a value of the user is spelled as the user does
            name = _cell(figure) if several else capital(own) if own == WALL else own
            what = ", ".join(filter(None, (figure.label, place_text(figure), figure.metric.name * several)))
            tile = self.tile_of(DeclaredTile(name, what, ()), figure)
            values = [launch.value.middle for launch in figure.counted]
            spread = max(values) / min(values) - 1 if len(values) > 1 and min(values) > 0 else None
            also = _TEXTS.lines("spread", spread)
            tiles.append(
                replace(tile, of=unbroken(compared.get(id(figure), "")), also=tuple(also)) if tile.number else tile
            )
        wall = None if several or figures[0].metric.name == WALL else self.summary.figure(figures[0], WALL)
        if wall is not None:
            tiles.append(self.tile_of(DeclaredTile(capital(WALL), figures[0].label, ()), wall))
        return tiles

    def _worst(self, metric: str, lowest: bool = False) -> Figure | None:
        """Return the figure of a further metric of the cell with the greatest value."""
        found = [one for figure in self.summary.figures if (one := self.summary.figure(figure, metric)) and one.value]
        return (min if lowest else max)(found, key=_middle, default=None)

    def _of(self, figure: Figure) -> str:
        """Return the cell of a tile if there are several."""
        return f" of {_cell(figure)}" if len(self.summary.figures) > 1 else ""

    def _memory(self) -> Tile:
        name, figure = "Memory", self._worst(MEMORY)
        if figure is None:
            return Tile(name, "peak of the largest process", missing="not recorded")
        tile = self.tile_of(DeclaredTile(name, f"peak of the largest process{self._of(figure)}", ()), figure)
        also = _TEXTS.lines("memory", most_occupied(figure.points))
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
        headline = next(
            one for one in self.summary.figures if one.points is figure.points or one.points == figure.points
        )
        busy, user, system = (self.summary.figure(headline, name) for name in (CORES_USED, USER, SYSTEM))
        also = _TEXTS.lines("processors", *map(_value, (busy, user, system, self._worst(IMBALANCE))))
        return replace(
            tile, number=texts.number, unit="%", ends=texts.ends or tile.ends,
            interval=f"{ends}: {claim}" if ends and claim else tile.interval,
            strip=None, bar=ShareBar("comparison", (("used", min(1.0, figure.value.middle)),)), also=tuple(also),
        )  # fmt: skip

    def _lost(self) -> Tile:
        name, what = "Time lost", "by all launches"
        lost, points, preempted = causes_of_run(self.summary), self.summary.run.points, self._worst(PREEMPTIONS)
        bounds = [bound for point in points if (bound := queue_bound(point)) is not None]
        also = _TEXTS.lines("lost", max(bounds, default=None), preempted and round(_middle(preempted)))
        if lost is None:
            return Tile(name, "; ".join((what, *also)), missing="not recorded")
        texts = claims.number_texts(lost.lost, "1", share=True)
        caveats = graded("lost time", lost.lost, f"{claims.percent(lost.lost)} of the time was lost")
        worst = max((one.grade for one in caveats), default=0)
        launches = counted(len({point.launch for point in points}), "launch")
        parts = " · ".join(f"{claims.percent(share)} {cause}" for cause, share in lost.named)
        return Tile(
            name, what, number=texts.number, unit="% of time", interval=f"sum over {launches}",
            grade=GRADE_NAMES[worst], reasons=tuple(one.text for one in caveats),
            bar=ShareBar("parts", lost.named) if lost.named else None,
            of=parts or "no time lost to a CPU quota or the host", also=tuple(also),
        )  # fmt: skip

    def _placement(self) -> Tile:
        name = "Placement"
        occupied = most_occupied(self.summary.run.points)
        if occupied is None:
            return Tile(name, "threads and memory", missing="the placement could not be observed")
        ranks = len(occupied.ranks)
        what = f"of {counted(ranks, 'rank')} " * (ranks > 1) + f"observed {occupied.place_text}"
        masks = list(dict.fromkeys(numbers_text(sorted(rank.cpus)) for rank in occupied.ranks))
        also = _TEXTS.lines("placement", occupied, masks if ranks > 1 else (), _MAX_RANKS)
        if not occupied.threads:
            return Tile(name, what, missing="the program ended before its threads could be observed")
        number, unit = counted(occupied.threads, "thread").split(" ", 1)
        return Tile(name, what, number=number, unit=unit, also=tuple(also))


def last_run_texts(summary: Summary, figures: Sequence[Figure]) -> dict[int, str]:
    """Return the verdicts on figures, by their ids, against the newest earlier run of this machine that has one.

    A verdict has its interval, or the smallest detectable difference if the interval does not exclude 1. Figures that
    are not comparable have none; nor have all if there is no such run, or if the store cannot be read.
    """
    wanted = {figure.identity.same_quantity for figure in figures}
    store = Store(summary.run.folder.parent.parent)
    try:
        for run in _earlier(store, summary.run):
            if any(run.identity_of(point).same_quantity in wanted for point in run.points):
                history = occasions_in(lambda: itertools.islice(store.runs_like(summary.run), MAX_HISTORY_RUNS))
                found = compare(summarise(run), summary, curves=True, history=history)
                short = run.id[:15]  # if it is unique
                name = short if sum(one.startswith(short) for one in store.ids()) == 1 else run.id
                differing, headlines = [what for what, _, _ in found.differences], set(map(id, figures))
                rows = [one for one in found.figures if one.before and id(one.after) in headlines]
                return {id(one.after): _change_text(one, run, name, differing) for one in rows}
    except Refusal:
        pass
    return {}


def _change_text(one: Comparison, run: StoredRun, name: str, differing: Sequence[str]) -> str:
    """Return the verdict on a figure; "" without one.

    Args:
        run, name: the earlier run and its name.
        differing: what else differs between the two: names of conditions.
    """
    verdict, before = one.verdict, one.before
    if verdict is None:
        return ""
    speed, is_proven = verdict.speed, False
    begun = [begun for point in run.points if (begun := point.process.begun)]
    if speed and not speed.low <= 1 <= speed.high and not speed.is_too_wide:
        # Beyond the margin the verdict must be corrected for many figures.
        within_margin = 1 / (1 + verdict.margin) < speed.middle < 1 + verdict.margin
        is_proven = within_margin or verdict.word in ("differs", "faster", "slower")
    return _TEXTS.line(
        "last_run",
        run=name,
        day=f"{min(begun).day} {min(begun):%b}" if begun else run.started[:10],
        before=before and claims.numbered(claims.figure_texts(before)),
        speed=speed,
        ends=sorted(abs(100 * (end - 1)) for end in (speed.low, speed.high)) if speed else (),
        proven=is_proven,
        is_time=one.figure.metric.unit == "s",
        differing=differing,
        detectable=percent(verdict.min_detectable_effect),
    )


def _earlier(store: Store, run: StoredRun) -> Iterator[StoredRun]:
    """Yield earlier runs of this machine, newest first: the newest few, and the newest with the same title."""
    machine = codec.fingerprint(run.machine)
    rows = [
        row
        for row in reversed(store.list_runs())
        if row.fingerprint == machine and row.started < run.started and row.id != run.id and not row.refused
    ]
    alike = [row.id for row in rows if row.title == run.title][:1]
    newest = [row.id for row in rows[:MAX_HISTORY_RUNS]]
    stop = newest.index(alike[0]) + 1 if alike and alike[0] in newest else MAX_HISTORY_RUNS
    yield from (store.read(name) for name in dict.fromkeys([*newest[:stop], *alike]))
