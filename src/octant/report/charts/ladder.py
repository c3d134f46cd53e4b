"""The memory ladder: what workloads measure along a footprint, one panel each over one axis, with its plateaus."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from octant import units
from octant.analysis.levels import doubted_levels, stated_sizes, unseen_levels
from octant.analysis.plateaus import APART, level_name, plateaus, reach
from octant.report import claims
from octant.report.charts.caches import cache_marks, size_text
from octant.report.charts.curve import along_axis, how_to_read, listed, span_text, table_rows, value_axis
from octant.report.charts.lines import MOST_SERIES, Along, Line, along, dressed, lead_somewhere, lines_of
from octant.report.charts.picture import Band, Level, Mark, Note, Panel, Picture, thin, thinned_text
from octant.workload import Ladder

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from octant.analysis.figures import Figure
    from octant.analysis.plateaus import Plateau
    from octant.analysis.summary import Summary
    from octant.machine import Machine
    from octant.metric import Metric
    from octant.workload import Workload


@dataclass(frozen=True)
class _Rung:
    """What one workload measured along the footprint."""

    title: str
    metric: Metric
    x: Along
    lines: tuple[Line, ...]  # the best at the right end first
    named: tuple[tuple[str, Plateau], ...]  # plateaus of the first line
    left_out: int  # lines that are not shown

    @property
    def pages(self) -> _Pages | None:
        """The line of base pages against one of larger pages, where both were measured."""
        base = next((one for one in self.lines if _pages(one) == "base"), None)
        large = next((one for one in self.lines if _pages(one) not in ("base", "default")), None)
        pages = _Pages(base.measurable, large.measurable, self.metric) if base and large else None
        return pages if pages and pages.ratios else None


@dataclass(frozen=True)
class _Pages:
    """The measurable points of two lines that differ in the size of their pages."""

    base: Line
    large: Line
    metric: Metric

    @property
    def ratios(self) -> list[tuple[float, float]]:
        """By footprint, how many times as fast larger pages are."""
        base, large = dict(self.base.points), dict(self.large.points)
        lower = self.metric.better == "lower"
        return [(x, base[x] / large[x] if lower else large[x] / base[x]) for x in sorted(base.keys() & large.keys())]


def ladder(summary: Summary) -> Picture | None:
    """All workloads that declare a rung, in one picture: rates above times; `None` where no line has two places."""
    declared = [
        (workload, figures, shown)
        for workload, figures in summary.by_workload()
        for shown in workload.pictures
        if isinstance(shown, Ladder)
    ]
    machine = summary.run.machine
    found = [rung for one in declared if (rung := _rung(summary, *one))]
    if not found:
        return None
    rungs = sorted(found, key=lambda rung: rung.metric.better != "higher")
    xs = sorted({at for rung in rungs for line in rung.lines for at in line.xs})
    marks = cache_marks(machine, xs[0], xs[-1])
    lines = [line for rung in rungs for line in rung.lines]
    every = len(lines) + sum(rung.left_out for rung in rungs)
    return Picture(
        "ladder",
        "Memory ladder",
        _caption(rungs, lines, bool(marks)) + thinned_text(len(lines), every, "lines"),
        tuple(_panel(rung, xs, marks) for rung in rungs),
        (
            "measured",
            "curve",
            rungs[0].x.title,
            "value",
            "low … high",
            "which is",
            "of limit",
            "what the limit is",
            "plateau",
        ),
        tuple(cells for rung in rungs for line in rung.lines for cells in _rows(rung, line)),
        label=" ".join(_sentence(rung) for rung in rungs),
        facts=(*_plateau_facts(rungs), *_page_facts(rungs), *_unseen_levels(machine, rungs)),
    )


def _rung(summary: Summary, workload: Workload, figures: Sequence[Figure], shown: Ladder) -> _Rung | None:
    metric, x = workload.metric(shown.y), along(workload, figures, shown.x, shown.along)
    lines = lines_of(summary, x, figures, shown.y)
    if not lead_somewhere(lines):
        return None
    sign = -1 if metric.better == "higher" else 1
    kept = sorted(thin(lines, MOST_SERIES), key=lambda line: (-line.xs[-1], sign * line.ys[-1]))
    machine = summary.run.machine
    stated, doubted = stated_sizes(machine), doubted_levels(machine)
    named = tuple((level_name(one, stated, doubted), one) for one in plateaus(kept[0].measurable.points))
    titles = [figure.show.short or workload.name.rpartition("/")[2] for figure in kept[0].figures]
    title = max(titles, key=titles.count)
    return _Rung(units.capital(title), metric, x, tuple(kept), named, len(lines) - len(kept))


def _panel(rung: _Rung, xs: Sequence[float], marks: tuple[Mark, ...]) -> Panel:
    ys = [y for line in rung.lines for y in line.ys]
    return Panel(
        along_axis(rung.x, xs),
        value_axis(rung.metric.name, ys, rung.metric.unit, log=True),
        dressed(rung.lines, xs, len(rung.lines) > 1, at_zero=True),
        marks,
        rung.title,
        bands=tuple(Band(one.last, one.beyond) for _, one in rung.named if one.beyond),
        levels=tuple(Level(one.first, one.last, one.value, _level_text(rung, name, one)) for name, one in rung.named),
        notes=_factor(rung),
    )


def _level_text(rung: _Rung, name: str, plateau: Plateau) -> str:
    value = claims.quantity(plateau.value, rung.metric.unit)
    return f"{value} {name}" if name.startswith("to ") else f"{name} {value}"


def _factor(rung: _Rung) -> tuple[Note, ...]:
    """How far apart page sizes are at the right end, where they are."""
    if rung.pages is None:
        return ()
    x, ratio = rung.pages.ratios[-1]
    y = dict(rung.pages.base.points)[x]
    return (Note(x, y, claims.ratio(ratio)),) if ratio > APART else ()


def _pages(line: Line) -> str:
    return line.figures[0].knobs.get("pages", "default")


def _caption(rungs: Sequence[_Rung], lines: Sequence[Line], marked: bool) -> str:
    threads = {len(figure.point.hardware_threads) for line in lines for figure in line.figures}
    of = (
        "One core" if threads == {1} else " and ".join(units.counted(one, "hardware thread") for one in sorted(threads))
    )
    xs = [x for line in lines for x in line.xs]
    text = f"{of}, {rungs[0].x.title} from {units.bytes_text(min(xs))} to {units.bytes_text(max(xs))}. "
    text += how_to_read(lines)
    if any(rung.named for rung in rungs):
        text += " Grey bands: a plateau ends here, between its last point and the first beyond."
    return text + " Dotted: sizes of caches as the system states them." * marked


def _sentence(rung: _Rung) -> str:
    levels = ", ".join(_level_text(rung, name, one) for name, one in rung.named)
    return f"{rung.title}, {rung.metric.name}: {span_text(rung.lines[0], rung.x)}" + (
        f"; plateaus {levels}." if levels else "."
    )


def _rows(rung: _Rung, line: Line) -> Iterable[tuple[str, ...]]:
    kept = listed(line)
    for x, (name, *cells) in zip(kept.xs, table_rows(kept, rung.x), strict=True):
        level = next((level for level, one in rung.named if one.first <= x <= one.last), "")
        yield f"{rung.title}, {rung.metric.name}", name, *cells, level if line is rung.lines[0] else ""


def _plateau_facts(rungs: Sequence[_Rung]) -> list[tuple[str, str]]:
    """By name: the value in each panel, and between which footprints it ends."""
    found: dict[str, list[str]] = {}
    every = [(rung, name, one) for rung in rungs for name, one in rung.named]
    for rung, name, one in sorted(every, key=lambda entry: entry[2].last):
        found.setdefault(name, []).append(f"{claims.quantity(one.value, rung.metric.unit)}, {_end_text(one)}")
    return [(name, "; ".join(texts)) for name, texts in found.items()]


def _end_text(plateau: Plateau) -> str:
    last = units.bytes_text(plateau.last)
    if plateau.beyond is None:
        return f"goes on at {last}"
    return f"ends between {last} and {units.bytes_text(plateau.beyond)}"


def _page_facts(rungs: Sequence[_Rung]) -> list[tuple[str, str]]:
    facts = []
    for rung in rungs:
        if rung.pages is None or len(rung.pages.ratios) < 2:
            continue
        x, ratio = rung.pages.ratios[-1]
        facts.append((rung.pages.large.name, f"{claims.ratio(ratio)} as fast as base pages at {units.bytes_text(x)}"))
        begin = reach(rung.pages.ratios)
        text = (
            f"base pages stay behind by more than {claims.ratio(APART)} from {units.bytes_text(begin)} on"
            if begin
            else "not seen: the curves of page sizes stay together, or part and meet again"
        )
        facts.append(("reach of the TLB", text))
    return facts


def _unseen_levels(machine: Machine, rungs: Sequence[_Rung]) -> list[tuple[str, str]]:
    """Stated levels that show no plateau, though measurable footprints go beyond the level before."""
    stated, facts = stated_sizes(machine), []
    xs = {at for rung in rungs for line in rung.lines for at in line.measurable.xs}
    unseen = unseen_levels(stated, [one for rung in rungs for _, one in rung.named], max(xs, default=0))
    for level in stated:
        if level in unseen and len(xs) > 2:
            facts.append((f"L{level}", f"{size_text(machine, level)} stated; no plateau of an L{level} seen"))
        elif level not in unseen and max(xs, default=0) > stated.get(level - 1, 0) and level in doubted_levels(machine):
            facts.append((f"L{level}", f"{size_text(machine, level)} stated, which names no plateau"))
    return facts
