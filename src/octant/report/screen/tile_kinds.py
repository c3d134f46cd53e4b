"""Tiles and values that are not one figure: lost time with its causes, balance of places, levels of a curve."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from octant import units
from octant.analysis.balance import Balances, balance
from octant.analysis.causes import causes, causes_of_run
from octant.analysis.named_figures import find, matching, place_of
from octant.analysis.names import short_name
from octant.report import claims
from octant.report.charts.curves.figure_curves import FigureCurve
from octant.report.charts.curves.ladders import Ladders, rungs
from octant.report.screen.answer import Tile
from octant.report.sentences import Sentences
from octant.report.strips import ShareBar, Strip
from octant.stats import Grade, graded
from octant.stats.grades import GRADE_NAMES
from octant.stats.paired import LEAST_ROUNDS
from octant.tile import MOST_ALSO

if TYPE_CHECKING:
    from octant.analysis.balance import PlaceBalance
    from octant.analysis.figures import Figure
    from octant.analysis.summary import Summary
    from octant.tile import DeclaredTile, NamedFigure

_MOST_LEVELS = 3
_TEXTS = Sentences("octant.report.screen", "tiles")


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
    if worst is None:
        if not balances:
            return None
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
    tile = Tile(
        declared.name, declared.what, interval=f"{name}: {interval} of {worst.ratio.number} paired launches",
        grade=GRADE_NAMES[grade], reasons=tuple(one.text for one in caveats), strip=_strip(worst),
        also=_others(balances, worst), figure=place_of(summary, worst.figure),
        of=_TEXTS.line("balance", worst, sum(one.proven for one in balances), len(balances), name),
    )  # fmt: skip
    if not worst.proven:
        return replace(tile, number="even", unit=f"within {claims.percent(worst.max_undetected_slowdown or 0.0)}")
    bar = ShareBar("comparison", (("slowest over fastest", worst.ratio.middle),)) if grade < Grade.INVALID else None
    return replace(tile, number=ratio.number, unit="% of fastest", ends=ratio.ends, bar=bar)


def _strip(worst: PlaceBalance) -> Strip:
    ratios = tuple(slow / fast for slow, fast in zip(worst.slowest.relative, worst.fastest.relative, strict=True))
    ratio = worst.ratio.stated
    strip = Strip(ratios, (), ratio.low, ratio.middle, ratio.high)
    least, greatest = (f"{100 * end:.0f}" for end in strip.span)
    return replace(strip, ends=(least, greatest))


def _others(balances: list[PlaceBalance], worst: PlaceBalance) -> tuple[str, ...]:
    """Return the ratios of other figures, as many as a tile takes."""
    first = {id(one.figure): one for one in reversed(balances) if one is not worst and one.figure is not worst.figure}
    texts = [(short_name(one.figure).partition(",")[0], one.ratio.middle) for one in reversed(first.values())]
    return tuple(f"{name} {claims.percent(ratio)}" for name, ratio in texts[:MOST_ALSO])


def levels_text(summary: Summary, named: NamedFigure) -> str:
    """Return the plateaus whose edge was measured: `L1 2.32 ns, L2 7.29 ns; no plateau of an L3 seen`; or ""."""
    ladders = Ladders(rungs(summary), summary.run.machine)
    found = ladders.of_figures(named.title, matching(summary, named))
    if found is None or len(found[0].points) < 2:
        return ""
    curve, metric = found
    seen = [one for one in curve.plateaus if one.beyond]
    levels = [f"{one.name} {claims.quantity(one.value, metric.unit)}" for one in seen[:_MOST_LEVELS]]
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
    xs = sorted(found)
    length = FigureCurve(named.title, tuple(xs), tuple(found[x] for x in xs)).half_length
    return f"half of peak at {claims.quantity(length, 'B')}" if length else ""
