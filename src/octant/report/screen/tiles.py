"""The tiles of a run's first screen and the sentence above them, from what the run declares; no workload is named here.

A run without a declaration, older ones and `octant run`, shows the headline figures of its table, at most six.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from octant import stats
from octant.analysis.named_figures import find, first, place_of
from octant.analysis.names import knob_text, name_and_rest, short_name
from octant.failure import Exit
from octant.report import claims, results
from octant.report.screen.answer import Tile
from octant.report.screen.program_tiles import is_of_programs, program_answer, program_tiles
from octant.report.screen.tile_kinds import balance_tile, half_length_text, levels_text, time_lost_tile
from octant.report.sentences import Sentences
from octant.report.strips import ShareBar, launch_strip
from octant.tile import MOST, DeclaredTile
from octant.units import unbroken

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from octant.analysis.figures import Figure
    from octant.analysis.summary import Summary
    from octant.tile import Also, TileComparison

_FIELD = re.compile(r"\{([^{}]*)\}")
_TEXTS = Sentences("octant.report.screen", "tiles")
_UNUSABLE = ("not measurable", "wrong")
"""Grades of figures that the headline omits, and that have no share of a limit."""


def tiles(summary: Summary) -> tuple[Tile, ...]:
    """Return the tiles in the declared order."""
    declared = summary.run.screen.tiles
    if not declared and is_of_programs(summary):
        return program_tiles(summary, partial(_of_figure, summary))
    if not declared:
        shown = _headlines(summary)
        several = Counter(name_and_rest(figure)[0] for figure in shown)
        same = Counter(map(short_name, shown))
        return tuple(_of_figure(summary, _plain(figure, several, same), figure) for figure in shown)
    return tuple(_tile(summary, one) for one in declared)


def answer_text(summary: Summary, shown: Sequence[Tile]) -> str:
    """Return the headline: one sentence, without the parts whose figures are not measurable or wrong."""
    usable = [tile for tile in shown if tile.number and tile.grade not in _UNUSABLE]
    by_name = {tile.name: tile for tile in usable}
    declared = summary.run.screen.answer
    if says := [text for part in declared.says if (text := _filled(summary, part, by_name))]:
        return _TEXTS.line("answer", declared.subject, says, _filled(summary, declared.besides, by_name))
    if is_of_programs(summary) and (text := program_answer(summary)):
        return text
    names = Counter(tile.name for tile in usable)
    headlines = [
        f"{tile.name if names[tile.name] == 1 or tile.figure is None else summary.figures[tile.figure].name} "
        f"{_headline(tile)}"
        for tile in usable[:3]
    ]
    return _TEXTS.line("plain_answer", headlines, bool(shown))


def _headline(tile: Tile) -> str:
    return f"{tile.number}{claims.NARROW * bool(tile.unit)}{tile.unit}"


def _filled(summary: Summary, text: str, by_name: Mapping[str, Tile]) -> str:
    """Return a part of the headline with the values of its tiles; "" if one of them has none."""
    if any(name not in by_name for field in _FIELD.findall(text) for name in field.split("/")):
        return ""

    def value(found: re.Match[str]) -> str:
        over, _, under = found[1].partition("/")
        if not under:
            return _headline(by_name[over])
        values = [_value_of(summary, by_name[name]) for name in (over, under)]
        return f"{values[0] / values[1]:.1f}" if values[1] else "no"

    return _FIELD.sub(value, text)


def _value_of(summary: Summary, tile: Tile) -> float:
    value = None if tile.figure is None else summary.figures[tile.figure].value
    return value.middle if value else 0.0


def _headlines(summary: Summary) -> list[Figure]:
    """Return at most six figures of the table: the first of each workload, then the others, in the order of the run."""
    rows = [figure for figure in summary.figures if figure.show.table or figure.wrong] or list(summary.figures)
    first = {figure.workload.name: id(figure) for figure in reversed(rows)}
    chosen = sorted(rows, key=lambda figure: first[figure.workload.name] != id(figure))[:MOST]
    return [figure for figure in rows if any(figure is one for one in chosen)]


def _plain(figure: Figure, several: Mapping[str, int], same: Mapping[str, int]) -> DeclaredTile:
    """Return the tile of a figure without a declaration; its name is complete if others begin with the same name.

    Args:
        several: how many figures begin with a name.
        same: how many figures have a short name; what differs between them stands beside it.
    """
    name, what = name_and_rest(figure)
    if several[name] > 1:
        rest = f", {what}" if same[short_name(figure)] > 1 else ""
        name, what = short_name(figure), f"{figure.metric.name}{rest}"
    return DeclaredTile(name, what, (), bar="limit" if figure.limit else "none")


def _tile(summary: Summary, declared: DeclaredTile) -> Tile:
    if declared.kind == "balance":
        return balance_tile(summary, declared) or _missing(summary, declared, None)
    figure = first(summary, declared.figures)
    if figure is None or not (figure.value or figure.wrong):
        return _missing(summary, declared, figure)
    tile = _of_figure(summary, declared, figure)
    return time_lost_tile(summary, declared, figure, tile) if declared.kind == "time lost" else tile


def _missing(summary: Summary, declared: DeclaredTile, figure: Figure | None) -> Tile:
    """Return a tile that states why it has no figure: a failure, launches that are left, or what the suite declares."""
    titles = {named.title for named in declared.figures}
    requests = [(one, summary.run.request_of(one.launch)) for one in summary.run.failures]
    failures = [
        failure.reason
        for failure, request in requests
        if request and request.show.title in titles and not (failure.exit == Exit.NOT_SUPPORTED and declared.missing)
    ]
    left = sum(launch.request.show.title in titles for launch in summary.run.remaining())
    return Tile(
        declared.name, declared.what,
        missing=_TEXTS.line("missing", figure, failures[0] if failures else "", left, declared.missing),
    )  # fmt: skip


def _of_figure(summary: Summary, declared: DeclaredTile, figure: Figure) -> Tile:
    tile = Tile(
        declared.name, declared.what, grade=claims.grade(figure), reasons=claims.reasons(figure),
        also=_also(summary, declared.also, figure), figure=place_of(summary, figure),
    )  # fmt: skip
    if figure.wrong:
        failed = "; ".join(results.failed_texts(figure))
        return replace(tile, number="wrong result", interval=f"failed verification: {failed}", reasons=(failed,))
    value = figure.value
    if value is None:
        return Tile(declared.name, declared.what, missing=figure.missing or "no launch has a value")
    texts = claims.figure_texts(figure)
    few = value.number < stats.FEW_LAUNCHES
    tile = replace(
        tile, number=texts.number, unit=texts.unit, ends=texts.ends or claims.without_interval(figure),
        basis=_TEXTS.line("basis", figure.valid_count, figure.tried, value.kind, few) if figure.valid_count else "",
        interval=claims.claim_text(figure), strip=launch_strip(figure),
    )  # fmt: skip
    if tile.grade in _UNUSABLE:
        return tile
    bar, of = None, ""
    share, best = figure.of_limit, figure.at_limit
    if declared.bar == "limit" and share is not None and best is not None and figure.limit:
        limit = claims.quantity(best, figure.metric.unit, figure.metric.is_share)
        source = figure.limit.source.partition(";")[0]
        bar, of = ShareBar("limit", (("of limit", share),)), f"{claims.percent(share)} of {limit} ({source})"
    elif declared.compared:
        bar, of = _comparison_bar(summary, declared.compared, figure)
    return replace(tile, bar=bar, of=unbroken(of))


def _comparison_bar(summary: Summary, compared: TileComparison, headline: Figure) -> tuple[ShareBar | None, str]:
    sides = {
        name: find(summary, named) if named else headline
        for name, named in (("value", compared.value), ("against", compared.against))
    }
    usable = {
        name: (figure, figure.value.middle)
        for name, figure in sides.items()
        if figure and figure.value and not figure.invalid and figure.value.middle
    }
    if len(usable) < len(sides) or usable["value"][0] is usable["against"][0]:
        return None, ""
    share = usable["value"][1] / usable["against"][1]

    def text(found: re.Match[str]) -> str:
        side, _, knob = found[1].partition(".")
        if side == "share":
            return claims.percent(share)
        figure = usable[side][0]
        return knob_text(knob, figure.knobs.get(knob, "?")) if knob else claims.numbered(claims.figure_texts(figure))

    return ShareBar("comparison", (("compared", share),)), _FIELD.sub(text, compared.text)


def _also(summary: Summary, also: Sequence[Also], headline: Figure) -> tuple[str, ...]:
    found = []
    for one in also:
        if one.show == "value" and one.figure:
            figure = find(summary, one.figure)
            if figure is not None and figure is not headline and figure.value and not figure.invalid:
                found.append(_labelled(one.label, claims.numbered(claims.figure_texts(figure))))
        elif one.show == "plateaus" and one.figure:
            found.append(_labelled(one.label, levels_text(summary, one.figure)))
        elif one.show == "half length" and one.figure:
            found.append(_labelled(one.label, half_length_text(summary, one.figure)))
        elif one.show == "library" and headline.point.process.mpi:
            found.append(results.library_text(headline.point.process.mpi))
    return tuple(filter(None, found))


def _labelled(label: str, text: str) -> str:
    return unbroken(f"{label} {text}".strip()) if text else ""
