"""Tiles whose headline is no figure's value: time lost with its causes, and how even the places of a machine are."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from octant.analysis.balance import Balances, balance
from octant.analysis.causes import causes, causes_of_run
from octant.analysis.named_figures import find, place_of
from octant.analysis.names import short_name
from octant.report import claims
from octant.report.screen.answer import Tile
from octant.report.strips import ShareBar, Strip
from octant.stats import Grade, graded
from octant.stats.grades import GRADE_NAMES
from octant.stats.paired import LEAST_ROUNDS
from octant.tile import MOST_ALSO
from octant.units import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from octant.analysis.balance import PlaceBalance
    from octant.analysis.causes import Causes
    from octant.analysis.figures import Figure
    from octant.analysis.summary import Summary
    from octant.stats import Caveat
    from octant.tile import DeclaredTile


def time_lost_tile(summary: Summary, declared: DeclaredTile, figure: Figure, tile: Tile) -> Tile:
    """The tile of a share of lost time, with its causes over all time.

    Args:
        tile: of the figure alone.
    """
    found, value = causes(figure), figure.value
    if found is None or value is None or figure.wrong:
        return tile
    over_run = causes_of_run(summary)
    also = [
        f"{one.label} {claims.percent(over_run.lost)}" for one in declared.also if one.show == "time lost" and over_run
    ]
    interval = tile.interval
    if tile.strip and value.is_interval:
        dots, ends = (*tile.strip.counted, *tile.strip.left_out), claims.figure_texts(figure).ends
        low, high = claims.end_texts(value, figure.metric, (min(dots), max(dots)))
        launches = f"{claims.launches_text(figure)} {low} … {high}{claims.NARROW}%"
        interval = f"{launches}; together {ends}: 95{claims.NARROW}% interval"
    bar = ShareBar("parts", found.named) if declared.bar == "parts" else None
    return replace(
        tile, unit="% of time", interval=interval, also=(*also, *tile.also), bar=bar, of=_parts_text(found, tile.number)
    )


def _parts_text(found: Causes, headline: str) -> str:
    """The causes that add up to the headline; those that round to nothing are left out."""
    texts = claims.part_texts([share for _, share in found.parts], headline)
    shown = [
        f"{text} {name}"
        for text, (name, _) in zip(texts, found.parts, strict=True)
        if float(text.split(claims.NARROW)[0])
    ]
    return " · ".join(shown) or "nothing was lost"


def balance_tile(summary: Summary, declared: DeclaredTile) -> Tile | None:
    """How much slower the slowest place is than the fastest, of the worst figure; `None` where nothing tells it.

    Where no place is slower for sure: that they are even, within what could hide.
    """
    wanted = [figure for named in declared.figures if (figure := find(summary, named))]
    balances = [one for one in balance(summary) if any(one.figure is figure for figure in wanted)]
    worst = Balances(balances).worst
    if worst is None:
        return _too_few(declared, balances) if balances else None
    name, ratio = short_name(worst.figure, with_place=False), claims.value_texts(worst.ratio, "1", share=True)
    grade = _grade(worst)
    ends = f"{ratio.ends}{claims.NARROW}%, 95{claims.NARROW}% interval" if ratio.ends else "no interval"
    claim = f"{name}: {ends} of {worst.ratio.number} paired launches"
    tile = Tile(
        declared.name, declared.what, interval=claim, grade=GRADE_NAMES[grade],
        reasons=_reasons(worst), strip=_strip(worst), also=_others(balances, worst),
        figure=place_of(summary, worst.figure),
    )  # fmt: skip
    if not worst.proven:
        within = claims.percent(worst.hidden or 0.0)
        return replace(
            tile, number="even", unit=f"within {within}", of=f"no {worst.kind} is slower as far as this can tell"
        )
    slower = [one for one in balances if one.proven]
    of = f"{worst.slowest.name} is slower than {worst.fastest.name}; proven in {len(slower)} of {len(balances)} figures"
    bar = ShareBar("comparison", (("slowest over fastest", worst.ratio.middle),)) if grade < Grade.INVALID else None
    return replace(tile, number=ratio.number, unit=f"% of the fastest {worst.kind}", bar=bar, of=of)


def _too_few(declared: DeclaredTile, balances: Sequence[PlaceBalance]) -> Tile:
    launches = max(one.ratio.number for one in balances)
    missing = f"too few launches count to tell places apart: {launches} of the {LEAST_ROUNDS} that it takes"
    return Tile(declared.name, declared.what, missing=missing)


def _grade(worst: PlaceBalance) -> int:
    """The worse of the interval of the ratio and of what casts doubt on the figure beside its own interval."""
    half = worst.ratio.relative_half_width or 0.0
    caveats = [one.grade for one in (*graded("wide interval", half, ""), *_caveats(worst))]
    return max(caveats, default=0)


def _caveats(worst: PlaceBalance) -> list[Caveat]:
    return [one for one in worst.figure.caveats if one.kind not in ("wide interval", "beyond its limit")]


def _reasons(worst: PlaceBalance) -> tuple[str, ...]:
    half = worst.ratio.relative_half_width or 0.0
    text = f"the interval of the ratio is ± {claims.percent(half)}"
    if worst.ratio.is_too_wide:
        text = f"{counted(worst.ratio.number, 'launch')} differ too much: not measurable here"
    wide = graded("wide interval", half, text)
    return tuple(one.text for one in (*wide, *_caveats(worst)))


def _strip(worst: PlaceBalance) -> Strip:
    ratios = tuple(slow / fast for slow, fast in zip(worst.slowest.relative, worst.fastest.relative, strict=True))
    ratio = worst.ratio.stated
    strip = Strip(ratios, (), ratio.low, ratio.middle, ratio.high)
    least, greatest = (f"{100 * end:.0f}" for end in strip.span)
    return replace(strip, ends=(least, greatest))


def _others(balances: Sequence[PlaceBalance], worst: PlaceBalance) -> tuple[str, ...]:
    """The ratios of the other figures, as many as a tile takes."""
    first = {id(one.figure): one for one in reversed(balances) if one is not worst and one.figure is not worst.figure}
    shown = list(reversed(first.values()))[:MOST_ALSO]
    return tuple(f"{short_name(one.figure).partition(',')[0]} {claims.percent(one.ratio.middle)}" for one in shown)
