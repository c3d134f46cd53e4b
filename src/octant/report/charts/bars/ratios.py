"""Ratios of two sides, one per row: value and interval over the band of equality, with detectable differences."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from octant import units
from octant.report.charts.picture import MAX_BARS, Axis, ChartSeries, Column, Mark, Panel, Picture, Span, Tone, thin
from octant.report.sentences import picture_texts

WIDEST = 8.0
"""The largest ratio, or reciprocal, on an axis; an arrow replaces what is beyond."""
LEAST_REACH = 1.06
"""The least that an axis shows on either side."""
ON_ONE_SIDE = 1.03
"""Values within this of 1 are on both sides."""
_FIRST, _LAST = 20, 10
"""Rows that are always drawn: the worst ones and the best ones."""
_STEPS = (1.01, 1.02, 1.05, 1.1, 1.25, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 8.0, 10.0, 20.0, 50.0, 100.0)


@dataclass(frozen=True)
class RatioRow:
    """One ratio, above 1 is better. Without an interval `low` and `high` equal `middle`."""

    name: str
    low: float
    middle: float
    high: float
    min_detectable_effect: float  # least relative difference that is detected in 80 % of cases; inf: not known
    detectable: str = ""
    verdict: str = ""
    tone: Tone = "soft"  # of the verdict

    @property
    def text(self) -> str:
        """The ratio: `× 1.05`."""
        return f"× {units.fixed_text(self.middle, 2)}"


def ratios(rows: Sequence[RatioRow], margin: float, base: str, lines: str = "") -> Picture:
    """Draw ratios in the given order; of more than 40, the first, the last and some between.

    Args:
        margin: relative difference that counts as equal.
        base: what the intervals are of: `paired rounds`; "": there are none.
        lines: what the intervals are, for the caption.
    """
    drawn = list(rows)
    if len(rows) > MAX_BARS:
        drawn = [*rows[:_FIRST], *thin(rows[_FIRST:-_LAST], MAX_BARS - _FIRST - _LAST), *rows[-_LAST:]]
    title = "Speed of B over A" + f", 95 % interval of {base}" * bool(base)
    detectable = [1 + one.min_detectable_effect for one in drawn]
    low, middle, high = zip(*((one.low, one.middle, one.high) for one in drawn), strict=True)
    at, x = tuple(map(float, range(len(drawn)))), ratio_axis(list(zip(low, middle, high, strict=True)), near=detectable)
    names = tuple(f"{one.name}: {one.text}" for one in drawn)
    points = ChartSeries(title, "rows", middle, at, low, high, names, names="none")
    known = [(n, ratio) for n, ratio in zip(at, detectable, strict=True) if math.isfinite(ratio)]
    ticks = ChartSeries(
        "smallest detectable difference (power 80 %)", "rows", tuple(x for _, end in known for x in (1 / end, end)),
        tuple(n for n, _ in known for _ in range(2)), role="grey", marker="tick", names="legend",
    )  # fmt: skip
    ink: tuple[Tone, ...] = tuple("ink" for _ in drawn)
    left, right = x.ends or (1.0, 1.0)
    panel = Panel(
        x, Axis("", False, tuple((n, one.name) for n, one in zip(at, drawn, strict=True)), down=True),
        (points, ticks) if known else (points,), (Mark(1.0, "", "solid"),), title,
        (Span(1 / (1 + margin), 1 + margin, f"counts as equal: {100 * margin:g} %"),),
        regions=(Span(left, 1.0, "← B slower"), Span(1.0, right, "B faster →")),
        columns=(
            Column("ratio", tuple(units.fixed_text(one, 2) for one in middle), ink),
            Column("detectable", tuple(one.detectable for one in drawn)),
            Column("verdict", tuple(one.verdict for one in drawn), tuple(one.tone for one in drawn)),
        ),
    )  # fmt: skip
    table = []
    for one in rows:
        ends = " … ".join(units.fixed_text(end, 3) for end in (one.low, one.high)) if one.low < one.high else ""
        table.append((one.name, units.fixed_text(one.middle, 3), ends, one.detectable, one.verdict))
    return Picture(
        "ratios", "Ratios by verdict", panels=(panel,),
        header=("figure", "ratio", "95 % interval", "detectable", "verdict"), rows=tuple(table), width=1152,
        **picture_texts("bars/ratios", rows=rows, drawn=len(drawn), first=_FIRST, last=_LAST, lines=lines),
    )  # fmt: skip


def ratio_axis(spans: Sequence[tuple[float, float, float]], widest: float = WIDEST, near: Sequence[float] = ()) -> Axis:
    """Return an axis of ratios: symmetric in logarithms about 1, or longer on the side of all middles.

    Args:
        spans: low end, middle and high end of each.
        widest: the largest ratio, or reciprocal, on the axis.
        near: ratios above 1 that are shown on both sides if they lengthen the axis by no more than a half; otherwise an
            arrow replaces them.
    """
    low = min((low for low, _, _ in spans if low > 0), default=1.0)  # 0 has no place; it gets an arrow
    high = max((high for _, _, high in spans), default=1.0)
    reach = max(high, 1 / low, LEAST_REACH)
    reach = min(max([reach, *(ratio for ratio in near if ratio <= reach**1.5)]) ** 1.06, widest)
    ends = 1 / reach, reach
    if all(middle >= 1 / ON_ONE_SIDE for _, middle, _ in spans):
        ends = 1 / min(reach, max(reach**0.35, 1.06 / low)), reach
    elif all(middle <= ON_ONE_SIDE for _, middle, _ in spans):
        ends = 1 / reach, min(reach, max(reach**0.35, 1.06 * high))
    return Axis("", True, ratio_ticks(ends), ends=ends)


def ratio_ticks(ends: tuple[float, float]) -> tuple[tuple[float, str], ...]:
    """Return at most nine round ratios with 1 among them: `× 0.8`, `× 1`, `× 1.25`."""
    low, high = ends
    least = math.log(max(high, 1 / low) ** 0.14)  # closer ticks would touch
    kept = [1.0]
    for side in ([step for step in _STEPS if step <= high], [1 / step for step in _STEPS if 1 / step >= low]):
        last = 1.0
        for value in side:
            if abs(math.log(value / last)) >= least:
                kept.append(value)
                last = value
    return tuple((value, f"× {value:.{2 + (value > 1)}g}") for value in sorted(kept))
