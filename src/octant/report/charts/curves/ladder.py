"""The memory ladder: values along a footprint, one panel per workload over one axis, with their plateaus."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from octant.analysis.levels import stated_sizes
from octant.analysis.plateaus import APART, reach
from octant.report import claims
from octant.report.charts.curves import curve as shared
from octant.report.charts.curves.figure_curves import FigureCurve, dressed
from octant.report.charts.picture import Band, LevelLine, Mark, Note, Panel, Picture
from octant.report.charts.texts import picture_texts

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from octant.analysis.level_names import NamedPlateau
    from octant.report.charts.curves.ladders import Ladders, MeasuredLadder


@dataclass(frozen=True)
class _PageRatios:
    """How many times as fast larger pages are, by footprint, at the measurable points of two lines."""

    base: FigureCurve
    large: FigureCurve
    ratios: list[tuple[float, float]]

    @property
    def reach(self) -> float | None:
        """The footprint from which base pages are slower."""
        return reach(self.ratios)


def ladder(ladders: Ladders) -> Picture | None:
    """Draw all workloads that declare a ladder in one picture, rates above times; `None` if no line has two places."""
    machine, shown = ladders.machine, ladders.rungs
    if not shown:
        return None
    lines = [line for one in shown for line in one.lines]
    xs = sorted({at for line in lines for at in line.xs})
    marks = shared.cache_marks(machine, xs[0], xs[-1])
    plateaus = sorted(((one, level) for one in shown for level in one.curve.plateaus), key=lambda pair: pair[1].last)
    by_name: dict[str, list[tuple[MeasuredLadder, NamedPlateau]]] = {}
    for one, plateau in plateaus:
        by_name.setdefault(plateau.name, []).append((one, plateau))
    caches = []
    for level in stated_sizes(machine):
        texts = dict.fromkeys(ladders.missing_text(one.curve, one.metric, level) for one in shown)
        is_unnamed = any(one.curve.verdict(level) == "unnamed" for one in shown)
        caches.append((level, shared.size_text(machine, level), is_unnamed, list(filter(None, texts))))
    pages = list(filter(None, map(_page_ratios, shown)))
    texts = picture_texts(
        "ladder", panels=shown, span=shared.span_text, level=_level_text, least=xs[0], most=xs[-1],
        reading=shared.how_to_read(lines),
        threads=sorted({len(figure.point.hardware_threads) for line in lines for figure in line.figures}),
        shared=any(len(plateau.levels) > 1 for _, plateau in plateaus), marks=marks, by_name=by_name, pages=pages,
        apart=APART, caches=caches, kept=len(lines), total=len(lines) + sum(one.left_out for one in shown),
    )  # fmt: skip
    columns = ("value", "low … high", "which is", "of limit", "what the limit is", "plateau")
    return Picture(
        "ladder", "Memory ladder", panels=tuple(_panel(one, xs, marks) for one in shown),
        header=("measured", "curve", shown[0].x.title, *columns),
        rows=tuple(row for one in shown for line in one.lines for row in _rows(one, line)), **texts,
    )  # fmt: skip


def _panel(one: MeasuredLadder, xs: Sequence[float], marks: tuple[Mark, ...]) -> Panel:
    levels, pages = one.curve.plateaus, _page_ratios(one)
    notes = []
    if pages and pages.ratios[-1][1] > APART:  # of page sizes at the right end
        x, ratio = pages.ratios[-1]
        notes.append(Note(x, dict(pages.base.points)[x], claims.ratio(ratio)))
    return Panel(
        shared.along_axis(one.x, xs),
        shared.value_axis(one.metric.name, [y for line in one.lines for y in line.ys], one.metric.unit, log=True),
        dressed(one.lines, xs, len(one.lines) > 1, at_zero=True),
        marks,
        one.title,
        bands=tuple(Band(level.last, level.beyond) for level in levels if level.beyond),
        levels=tuple(LevelLine(level.first, level.last, level.value, _level_text(one, level)) for level in levels),
        notes=tuple(notes),
    )


def _level_text(one: MeasuredLadder, level: NamedPlateau) -> str:
    value = claims.quantity(level.value, one.metric.unit)
    return f"{level.name} {value}" if level.levels or level.name.startswith("beyond") else f"{value} {level.name}"


def _page_ratios(one: MeasuredLadder) -> _PageRatios | None:
    """Compare the line of base pages with one of larger pages, if both were measured."""
    pages = {line.figures[0].knobs.get("pages", "default"): line.measurable for line in reversed(one.lines)}
    base = pages.get("base")
    large = next((line for name, line in reversed(pages.items()) if name not in ("base", "default")), None)
    if not base or not large:
        return None
    old, new = dict(base.points), dict(large.points)
    lower = one.metric.better == "lower"
    at = sorted(old.keys() & new.keys())
    ratios = [(x, old[x] / new[x] if lower else new[x] / old[x]) for x in at]
    return _PageRatios(base, large, ratios) if ratios else None


def _rows(one: MeasuredLadder, line: FigureCurve) -> Iterable[tuple[str, ...]]:
    kept = shared.listed(line)
    for x, (name, *cells) in zip(kept.xs, shared.table_rows(kept, one.x), strict=True):
        plateau = one.curve.at(x) if line is one.lines[0] else None
        yield f"{one.title}, {one.metric.name}", name, *cells, plateau.name if plateau else ""
