"""The memory ladder: what workloads measure along a footprint, one panel each over one axis, with its plateaus."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from octant import units
from octant.analysis.levels import stated_sizes
from octant.analysis.plateaus import APART, reach
from octant.report import claims
from octant.report.charts.curves.caches import cache_marks, size_text
from octant.report.charts.curves.curve import along_axis, how_to_read, listed, span_text, table_rows, value_axis
from octant.report.charts.curves.lines import FigureCurve, dressed
from octant.report.charts.picture import Band, LevelLine, Mark, Note, Panel, Picture, thinned_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from octant.analysis.level_names import NamedPlateau
    from octant.metric import Metric
    from octant.report.charts.curves.rungs import Ladders, Rung


@dataclass(frozen=True)
class _Pages:
    """The measurable points of two lines that differ in the size of their pages."""

    base: FigureCurve
    large: FigureCurve
    metric: Metric

    @property
    def ratios(self) -> list[tuple[float, float]]:
        """By footprint, how many times as fast larger pages are."""
        base, large = dict(self.base.points), dict(self.large.points)
        lower = self.metric.better == "lower"
        return [(x, base[x] / large[x] if lower else large[x] / base[x]) for x in sorted(base.keys() & large.keys())]


def ladder(ladders: Ladders) -> Picture | None:
    """All workloads that declare a rung, in one picture: rates above times; `None` where no line has two places."""
    machine, found = ladders.machine, ladders.rungs
    if not found:
        return None
    xs = sorted({at for rung in found for line in rung.lines for at in line.xs})
    marks = cache_marks(machine, xs[0], xs[-1])
    lines = [line for rung in found for line in rung.lines]
    every = len(lines) + sum(rung.left_out for rung in found)
    return Picture(
        "ladder",
        "Memory ladder",
        _caption(found, lines, bool(marks)) + thinned_text(len(lines), every, "lines"),
        tuple(_panel(rung, xs, marks) for rung in found),
        (
            "measured",
            "curve",
            found[0].x.title,
            "value",
            "low … high",
            "which is",
            "of limit",
            "what the limit is",
            "plateau",
        ),
        tuple(cells for rung in found for line in rung.lines for cells in _rows(rung, line)),
        label=" ".join(_sentence(rung) for rung in found),
        facts=(*_plateau_facts(found), *_page_facts(found), *_cache_facts(ladders)),
    )


def _panel(rung: Rung, xs: Sequence[float], marks: tuple[Mark, ...]) -> Panel:
    ys = [y for line in rung.lines for y in line.ys]
    return Panel(
        along_axis(rung.x, xs),
        value_axis(rung.metric.name, ys, rung.metric.unit, log=True),
        dressed(rung.lines, xs, len(rung.lines) > 1, at_zero=True),
        marks,
        _title(rung),
        bands=tuple(Band(one.last, one.beyond) for one in rung.curve.plateaus if one.beyond),
        levels=tuple(LevelLine(one.first, one.last, one.value, _level_text(rung, one)) for one in rung.curve.plateaus),
        notes=_factor(rung),
    )


def _title(rung: Rung) -> str:
    titles = [figure.show.short or rung.workload.name.rpartition("/")[2] for figure in rung.lines[0].figures]
    return units.capital(max(titles, key=titles.count))


def _level_text(rung: Rung, plateau: NamedPlateau) -> str:
    value = claims.quantity(plateau.value, rung.metric.unit)
    return (
        f"{plateau.name} {value}" if plateau.levels or plateau.name.startswith("beyond") else f"{value} {plateau.name}"
    )


def _factor(rung: Rung) -> tuple[Note, ...]:
    """How far apart page sizes are at the right end, where they are."""
    pages = _pages_of(rung)
    if pages is None:
        return ()
    x, ratio = pages.ratios[-1]
    y = dict(pages.base.points)[x]
    return (Note(x, y, claims.ratio(ratio)),) if ratio > APART else ()


def _pages_of(rung: Rung) -> _Pages | None:
    """The line of base pages against one of larger pages, where both were measured."""
    base = next((one for one in rung.lines if _pages(one) == "base"), None)
    large = next((one for one in rung.lines if _pages(one) not in ("base", "default")), None)
    pages = _Pages(base.measurable, large.measurable, rung.metric) if base and large else None
    return pages if pages and pages.ratios else None


def _pages(line: FigureCurve) -> str:
    return line.figures[0].knobs.get("pages", "default")


def _caption(rungs: Sequence[Rung], lines: Sequence[FigureCurve], marked: bool) -> str:
    threads = {len(figure.point.hardware_threads) for line in lines for figure in line.figures}
    of = (
        "One core" if threads == {1} else " and ".join(units.counted(one, "hardware thread") for one in sorted(threads))
    )
    xs = [x for line in lines for x in line.xs]
    text = f"{of}, {rungs[0].x.title} from {units.bytes_text(min(xs))} to {units.bytes_text(max(xs))}. "
    text += how_to_read(lines)
    plateaus = [one for rung in rungs for one in rung.curve.plateaus]
    if plateaus:
        text += " Grey bands: a plateau ends here, between its last point and the first beyond."
    if any(len(one.levels) > 1 for one in plateaus):
        text += " A name such as L2–L3: these levels are not distinguishable here."
    return text + " Dotted: sizes of caches as the system states them." * marked


def _sentence(rung: Rung) -> str:
    levels = ", ".join(_level_text(rung, one) for one in rung.curve.plateaus)
    return f"{_title(rung)}, {rung.metric.name}: {span_text(rung.lines[0], rung.x)}" + (
        f"; plateaus {levels}." if levels else "."
    )


def _rows(rung: Rung, line: FigureCurve) -> Iterable[tuple[str, ...]]:
    kept = listed(line)
    for x, (name, *cells) in zip(kept.xs, table_rows(kept, rung.x), strict=True):
        plateau = rung.curve.at(x) if line is rung.lines[0] else None
        yield f"{_title(rung)}, {rung.metric.name}", name, *cells, plateau.name if plateau else ""


def _plateau_facts(rungs: Sequence[Rung]) -> list[tuple[str, str]]:
    """By name: the value in each panel, and between which footprints it ends."""
    found: dict[str, list[str]] = {}
    every = [(rung, one) for rung in rungs for one in rung.curve.plateaus]
    for rung, one in sorted(every, key=lambda entry: entry[1].last):
        shared = "; levels not distinguishable" if len(one.levels) > 1 else ""
        text = f"{claims.quantity(one.value, rung.metric.unit)}, {_end_text(one)}{shared}"
        found.setdefault(one.name, []).append(text)
    return [(name, "; ".join(texts)) for name, texts in found.items()]


def _end_text(plateau: NamedPlateau) -> str:
    last = units.bytes_text(plateau.last)
    if plateau.beyond is None:
        return f"goes on at {last}"
    return f"ends between {last} and {units.bytes_text(plateau.beyond)}"


def _page_facts(rungs: Sequence[Rung]) -> list[tuple[str, str]]:
    facts = []
    for rung in rungs:
        pages = _pages_of(rung)
        if pages is None or len(pages.ratios) < 2:
            continue
        x, ratio = pages.ratios[-1]
        facts.append((pages.large.name, f"{claims.ratio(ratio)} as fast as base pages at {units.bytes_text(x)}"))
        begin = reach(pages.ratios)
        text = (
            f"base pages stay behind by more than {claims.ratio(APART)} from {units.bytes_text(begin)} on"
            if begin
            else "not seen: the curves of page sizes stay together, or part and meet again"
        )
        facts.append(("reach of the TLB", text))
    return facts


def _cache_facts(ladders: Ladders) -> list[tuple[str, str]]:
    """The stated caches that a ladder does not show by a plateau of their own."""
    facts = []
    for level in stated_sizes(ladders.machine):
        stated = f"{size_text(ladders.machine, level)} stated"
        texts = dict.fromkeys(ladders.missing_text(rung.curve, rung.metric, level) for rung in ladders.rungs)
        if any(rung.curve.verdict(level) == "unnamed" for rung in ladders.rungs):
            facts.append((f"L{level}", f"{stated}, which names no plateau"))
        elif any(texts):
            facts.append((f"L{level}", f"{stated}; {'; '.join(filter(None, texts))}"))
    return facts
