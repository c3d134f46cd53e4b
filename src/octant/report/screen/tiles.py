"""The tiles of a run's first screen and the sentence above them, from what the run declares; no workload is named here.

A run without a declaration, older ones and `octant run`, shows the headline figures of its table, at most six.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

from octant import stats, units
from octant.analysis.balance import Balances, balance
from octant.analysis.causes import causes, causes_of_run
from octant.analysis.figures import Figure
from octant.analysis.named_figures import find, first, matching, place_of
from octant.analysis.names import knob_text, name_and_rest, short_name
from octant.analysis.summary import Summary
from octant.failure import Exit
from octant.report import claims, results
from octant.report.charts.curves.figure_curves import FigureCurve, Ladders, rungs
from octant.report.screen.answer import ShareBar, Strip, Tile, launch_strip
from octant.report.screen.program_tiles import ProgramTiles, is_of_programs, program_answer
from octant.report.sentences import Sentences
from octant.stats import Grade, graded
from octant.stats.grades import GRADE_NAMES
from octant.stats.paired import LEAST_ROUNDS
from octant.tile import MAX_ADDITIONAL_VALUES, MAX_TILES, Also, DeclaredTile, NamedFigure, TileComparison
from octant.units import unbroken

_FIELD = re.compile(r"\{([^{}]*)\}")
_TEXTS = Sentences("octant.report.screen", "tiles")
_MAX_LEVELS = 3
_UNUSABLE = ("not measurable", "wrong")
"""Grades of figures that the headline omits, and that have no share of a limit."""


def tiles(summary: Summary) -> tuple[Tile, ...]:
    """Return the tiles in the declared order."""
    declared = summary.run.screen.tiles
    if not declared and is_of_programs(summary):
        return ProgramTiles(summary, partial(_of_figure, summary)).tiles
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
        places = [by_name[name].figure for name in (over, under)]
        values = [None if place is None else summary.figures[place].value for place in places]
        ends = [value.middle if value else 0.0 for value in values]
        return f"{ends[0] / ends[1]:.1f}" if ends[1] else "no"

    return _FIELD.sub(value, text)


def _headlines(summary: Summary) -> list[Figure]:
    """Return at most six figures of the table: the first of each workload, then the others, in the order of the run."""
    rows = [figure for figure in summary.figures if figure.show.table or figure.wrong] or list(summary.figures)
    first = {figure.workload.name: id(figure) for figure in reversed(rows)}
    chosen = sorted(rows, key=lambda figure: first[figure.workload.name] != id(figure))[:MAX_TILES]
    return [figure for figure in rows if any(figure is one for one in chosen)]


def _plain(figure: Figure, several: Mapping[str, int], same: Mapping[str, int]) -> DeclaredTile:
    """Return the tile of a figure without a declaration; its name is complete if others begin with the same name.

    Args:
        several: how many figures begin with a name.
        same: how many figures have a short name; the difference between them is printed with it.
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
    failures = [
        failure.reason
        for failure in summary.run.failures
        if (request := summary.run.request_of(failure.launch)) and request.show.title in titles
        and not (failure.exit == Exit.NOT_SUPPORTED and declared.missing)
    ]  # fmt: skip
    left = sum(launch.request.show.title in titles for launch in summary.run.remaining())
    missing = _TEXTS.line("missing", figure, failures[0] if failures else "", left, declared.missing)
    return Tile(declared.name, declared.what, missing=missing)


def _of_figure(summary: Summary, declared: DeclaredTile, figure: Figure) -> Tile:
    tile = Tile(
        declared.name, declared.what, grade=claims.grade(figure), figure=place_of(summary, figure),
        reasons=tuple(one.text for one in figure.caveats), also=_also(summary, declared.also, figure),
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
        limit = claims.quantity(best, figure.metric.unit, figure.metric.is_percentage)
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


def time_lost_tile(summary: Summary, declared: DeclaredTile, figure: Figure, tile: Tile) -> Tile:
    """Return the tile of a share of lost time, with its causes over all time.

    Args:
        tile: of the figure alone.
    """
    found, value, over_run = causes(figure), figure.value, causes_of_run(summary)
    if found is None or value is None or figure.wrong:
        return tile
    labels = [one.label for one in declared.also if one.show == "time lost" and over_run]
    also = [f"{label} {claims.percent(over_run.lost)}" for label in labels if over_run]
    # Causes that round to nothing are omitted.
    texts = claims.part_texts([share for _, share in found.parts], tile.number)
    parts = [f"{name} {text}" for text, (name, _) in zip(texts, found.parts, strict=True)
             if float(text.split(claims.NARROW)[0])]  # fmt: skip
    bar = ShareBar("parts", found.named) if declared.bar == "parts" else None
    of = ", ".join(parts) or "no time was lost"
    return replace(tile, unit="% of time", also=(*also, *tile.also), bar=bar, of=of)


def balance_tile(summary: Summary, declared: DeclaredTile) -> Tile | None:
    """Return how much slower the slowest place is than the fastest, in the worst figure; `None` without places.

    If no difference was detected: "even", within the difference that can be detected.
    """
    wanted = [figure for named in declared.figures if (figure := find(summary, named))]
    balances = [one for one in balance(summary) if any(one.figure is figure for figure in wanted)]
    worst = Balances(balances).worst
    if not balances:
        return None
    if worst is None:
        launches = max(one.ratio.number for one in balances)
        return Tile(declared.name, declared.what, missing=_TEXTS.line("few_rounds", launches, LEAST_ROUNDS))
    name, ratio = short_name(worst.figure, with_place=False), claims.value_texts(worst.ratio, "1", share=True)
    interval = f"{ratio.ends}{claims.NARROW}%, 95{claims.NARROW}% interval" if ratio.ends else "no interval"
    half = worst.ratio.relative_half_width or 0.0
    wide = graded("wide interval", half, _TEXTS.line("ratio_caveat", worst.ratio))
    caveats = (
        *wide,
        *(one for one in worst.figure.caveats if one.kind not in ("wide interval", "measured above the limit")),
    )
    grade = max((one.grade for one in caveats), default=0)
    slow, fast, stated = worst.slowest.relative, worst.fastest.relative, worst.ratio.stated
    ratios = tuple(one / other for one, other in zip(slow, fast, strict=True))
    strip = Strip(ratios, (), stated.low, stated.middle, stated.high)
    least, greatest = (f"{100 * end:.0f}" for end in strip.span)
    # Of each other figure one place, as many as a tile takes.
    others = {id(one.figure): one for one in reversed(balances) if one.figure is not worst.figure}
    also = [(short_name(one.figure).partition(",")[0], one.ratio.middle) for one in reversed(others.values())]
    tile = Tile(
        declared.name, declared.what, interval=f"{name}: {interval} of {worst.ratio.number} paired launches",
        grade=GRADE_NAMES[grade], reasons=tuple(one.text for one in caveats),
        strip=replace(strip, ends=(least, greatest)),
        also=tuple(f"{short} {claims.percent(ratio)}" for short, ratio in also[:MAX_ADDITIONAL_VALUES]),
        figure=place_of(summary, worst.figure),
        of=_TEXTS.line("balance", worst, sum(one.proven for one in balances), len(balances), name),
    )  # fmt: skip
    if not worst.proven:
        return replace(tile, number="even", unit=f"within {claims.percent(worst.max_undetected_slowdown or 0.0)}")
    bar = ShareBar("comparison", (("slowest over fastest", worst.ratio.middle),)) if grade < Grade.INVALID else None
    return replace(tile, number=ratio.number, unit="% of fastest", ends=ratio.ends, bar=bar)


def levels_text(summary: Summary, named: NamedFigure) -> str:
    """Return the plateaus whose edge was measured: `L1 2.32 ns, L2 7.29 ns; no plateau of an L3 seen`; or ""."""
    ladders = Ladders(rungs(summary), summary.run.machine)
    found = ladders.of_figures(named.title, matching(summary, named))
    if found is None or len(found[0].points) < 2:
        return ""
    curve, metric = found
    seen = [one for one in curve.plateaus if one.beyond]
    levels = [f"{one.name} {claims.quantity(one.value, metric.unit)}" for one in seen[:_MAX_LEVELS]]
    last = ladders.missing_text(curve, metric, max(curve.sizes, default=0))
    return "; ".join(filter(None, [", ".join(levels), last]))


def half_length_text(summary: Summary, named: NamedFigure) -> str:
    """Return `half of peak at 52.3 KiB`; "" of a time, and if the curve does not reach half of its peak from below."""
    found: dict[float, Figure] = {}
    for figure in matching(summary, named):
        try:
            size = units.parse_bytes(figure.knobs.get("bytes", ""))
        except ValueError:
            continue
        if figure.value and figure.value.middle > 0:
            found.setdefault(float(size), figure)
    length = FigureCurve(named.title, tuple(sorted(found.items()))).half_length
    return f"half of peak at {claims.quantity(length, 'B')}" if length else ""
