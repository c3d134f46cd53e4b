"""The tiles of a run's first screen and the sentence above them, from what the run declares; no workload is named here.

A run without a declaration, older ones and `octant run`, shows the headline figures of its table, at most six.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from octant.analysis.named_figures import find, first, place_of
from octant.analysis.names import knob_text, name_and_rest, short_name
from octant.failure import Exit
from octant.report import claims, results
from octant.report.screen.answer import Tile
from octant.report.screen.program_tiles import is_of_programs, program_answer, program_tiles
from octant.report.screen.tile_curves import half_length_text, levels_text
from octant.report.screen.tile_kinds import balance_tile, time_lost_tile
from octant.report.strips import ShareBar, launch_strip
from octant.tile import MOST, DeclaredTile
from octant.units import counted, unbroken

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from octant.analysis.figures import Figure
    from octant.analysis.summary import Summary
    from octant.tile import Also, TileComparison

_FIELD = re.compile(r"\{([^{}]*)\}")
_UNTOLD = ("not measurable", "wrong")
"""Grades of figures that the sentence leaves out, and that have no share of anything."""


def tiles(summary: Summary) -> tuple[Tile, ...]:
    """The tiles in the order in which they are declared."""
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
    """The sentence that sums the run up; parts whose figures were not measured well are left out."""
    told = [tile for tile in shown if tile.number and tile.grade not in _UNTOLD]
    by_name = {tile.name: tile for tile in told}
    declared = summary.run.screen.answer
    says = [text for part in declared.says if (text := _filled(summary, part, by_name))]
    if says:
        last = f" and {says[-1]}" if len(says) > 1 else says[-1]
        besides = _filled(summary, declared.besides, by_name)
        return f"{declared.subject} {', '.join(says[:-1])}{last}{'; ' * bool(besides)}{besides}."
    if is_of_programs(summary) and (text := program_answer(summary)):
        return text
    names = Counter(tile.name for tile in told)
    whole = {
        id(tile): summary.figures[tile.figure].name if names[tile.name] > 1 and tile.figure is not None else tile.name
        for tile in told
    }
    found = [f"{whole[id(tile)]} {_headline(tile)}" for tile in told[:3]]
    if found:
        return f"{'; '.join(found)}."
    return "Nothing was measured well enough to be summed up." if shown else "Nothing was measured."


def _headline(tile: Tile) -> str:
    return f"{tile.number}{claims.NARROW * bool(tile.unit)}{tile.unit}"


def _filled(summary: Summary, text: str, by_name: Mapping[str, Tile]) -> str:
    """A part of the sentence with the values of its tiles; empty where one of them has none."""
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
    """At most six figures of the table: the first of each workload, then the others, in the order of the run."""
    rows = [figure for figure in summary.figures if figure.show.table or figure.wrong] or list(summary.figures)
    first = {figure.workload.name: id(figure) for figure in reversed(rows)}
    chosen = sorted(rows, key=lambda figure: first[figure.workload.name] != id(figure))[:MOST]
    return [figure for figure in rows if any(figure is one for one in chosen)]


def _plain(figure: Figure, several: Mapping[str, int], same: Mapping[str, int]) -> DeclaredTile:
    """The tile of a figure that nobody declared; its name is whole where others begin so.

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
    return Tile(declared.name, declared.what, missing=_why_missing(summary, declared, figure))


def _why_missing(summary: Summary, declared: DeclaredTile, figure: Figure | None) -> str:
    """Why there is no figure: what failed, what is still to be measured, or what the suite says of such machines."""
    titles = {named.title for named in declared.figures}
    if figure is not None and figure.missing:
        return figure.missing
    for failure in summary.run.failures:
        request = summary.run.request_of(failure.launch)
        if request and request.show.title in titles and not (failure.exit == Exit.NOT_SUPPORTED and declared.missing):
            return f"failed: {failure.reason}"
    if left := [launch for launch in summary.run.remaining() if launch.request.show.title in titles]:
        return f"{counted(len(left), 'launch')} left to measure"
    return declared.missing or "not asked"


def _of_figure(summary: Summary, declared: DeclaredTile, figure: Figure) -> Tile:
    tile = Tile(
        declared.name, declared.what, grade=claims.grade(figure), reasons=claims.reasons(figure),
        also=_also(summary, declared.also, figure), figure=place_of(summary, figure),
    )  # fmt: skip
    if figure.wrong:
        failed = "; ".join(results.failed_texts(figure))
        return replace(tile, number="no speed", interval=f"wrong answer: {failed}", reasons=(failed,))
    if figure.value is None:
        return Tile(declared.name, declared.what, missing=figure.missing or "no launch has a value")
    texts = claims.figure_texts(figure)
    tile = replace(
        tile, number=texts.number, unit=texts.unit, interval=claims.claim_text(figure), strip=launch_strip(figure)
    )
    if tile.grade in _UNTOLD:
        return tile
    bar, of = None, ""
    if declared.bar == "limit":
        bar, of = _limit_bar(figure)
    elif declared.compared:
        bar, of = _comparison_bar(summary, declared.compared, figure)
    if figure.is_limit:
        of = "; ".join(filter(None, ["is itself the limit of others", of]))
    return replace(tile, bar=bar, of=of)


def _limit_bar(figure: Figure) -> tuple[ShareBar | None, str]:
    share, best = figure.of_limit, figure.at_limit
    if share is None or best is None or figure.limit is None:
        return None, "" if figure.is_limit else "no limit known"
    limit = claims.quantity(best, figure.metric.unit, figure.metric.is_share)
    source = figure.limit.source.partition(";")[0]
    return ShareBar("limit", (("of limit", share),)), unbroken(f"{claims.percent(share)} of {limit}: {source}")


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

    return ShareBar("comparison", (("compared", share),)), unbroken(_FIELD.sub(text, compared.text))


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
