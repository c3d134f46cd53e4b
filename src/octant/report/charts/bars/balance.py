"""Balance: the speed of each place while all of them work, against the mean of all."""

from __future__ import annotations

from typing import TYPE_CHECKING

from octant.analysis.names import short_name
from octant.report import claims
from octant.report.charts.picture import MOST_BARS, Axis, ChartSeries, Column, Mark, Panel, Picture, thin, thinned_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from octant.analysis.balance import Balances, PlaceBalance, PlaceSpeed

FEW = 4  # places that each have a mark and a name
MANY = 40  # places beyond which they stand sorted in a strip
_NAMED = 5  # of these the slowest
_LEAST = 5.0  # % to either side of the mean
_ENDS = (5.0, 10.0, 20.0, 50.0, 100.0)


def balance(measured: Balances) -> Picture | None:
    """The figures whose lanes or ranks work alone at the same time; `None` with a single place."""
    every = measured.figures
    finest = {id(one.figure): one for one in reversed(every)}
    listed = [one for one in every if finest[id(one.figure)] is one]
    rows = thin(listed, MOST_BARS)
    if not rows:
        return None
    most = max(len(one.places) for one in rows)
    noun = rows[0].kind if len({one.kind for one in rows}) == 1 else "place"
    drawn = {id(one.figure) for one in rows}
    known = list(dict.fromkeys(place.name for one in rows for place in one.places))
    series = _each(rows, known) if len(known) <= FEW else _slowest(rows, noun)
    worst = measured.worst
    return Picture(
        "balance", "Balance",
        _caption(rows, noun, most, len(known) <= FEW) + thinned_text(len(rows), len(listed), "figures"),
        (_panel(rows, series, noun), *([_strip(worst or rows[0])] if most > MANY else [])),
        ("figure", "place", "speed against the mean", "ends", "what the ends are", "slowest over fastest"),
        tuple(row for one in rows for row in _table(one)),
        _sentence(worst, noun, most),
        tuple(
            (short_name(one.figure) + f", {one.kind}s" * (finest[id(one.figure)] is not one), _ratio(one))
            for one in every
            if id(one.figure) in drawn
        ),
        width=564,
    )  # fmt: skip


def _caption(rows: Sequence[PlaceBalance], noun: str, most: int, few: bool) -> str:
    bold = f"Bold ratios exclude 100{claims.NARROW}%: there a {noun} is slower."
    if few:
        lines = claims.caption(place.value for one in rows for place in one.places)
        return f"Each {noun} while all of them work; dots are launches. {bold}{lines}"
    strip = f" Below, all of them sorted, the slowest {_NAMED} named." if most > MANY else ""
    return f"Each {noun} while all of them work. Dots are medians of launches, the mark is the slowest. {bold}{strip}"


def _percent(relative: float) -> float:
    return 100 * (relative - 1)


def _each(rows: Sequence[PlaceBalance], names: Sequence[str]) -> list[ChartSeries]:
    """A series for each place, with its launches as dots."""
    found = []
    for name in names:
        mine = [(float(i), p) for i, one in enumerate(rows) for p in one.places if p.name == name]
        values = [p.value.stated for _, p in mine]
        ends = [(value.low, value.high) if value.is_interval else (value.middle,) * 2 for value in values]
        found.append(
            ChartSeries(
                name, "rows", tuple(_percent(p.value.middle) for _, p in mine), tuple(at for at, _ in mine),
                tuple(_percent(low) for low, _ in ends), tuple(_percent(high) for _, high in ends),
                dots=tuple((_percent(x), at) for at, p in mine for x in p.relative), names="legend",
            )
        )  # fmt: skip
    return found


def _slowest(rows: Sequence[PlaceBalance], noun: str) -> list[ChartSeries]:
    """The slowest place of each figure, with all places as dots."""
    return [
        ChartSeries(
            f"slowest {noun}", "rows", tuple(_percent(one.slowest.value.middle) for one in rows),
            tuple(map(float, range(len(rows)))), labels=tuple(one.slowest.name for one in rows),
            dots=tuple((_percent(p.value.middle), float(i)) for i, one in enumerate(rows) for p in one.places),
            role="series-1", names="points",
        )
    ]  # fmt: skip


def _panel(rows: Sequence[PlaceBalance], series: Sequence[ChartSeries], noun: str) -> Panel:
    most = max(abs(x) for one in series for x in (*one.x, *(x for x, _ in one.dots)))
    end = next((e for e in _ENDS if e >= max(most, _LEAST)), 100.0 * -(-most // 100))
    ticks = tuple((x, _signed(x)) for x in (-end, -end / 2, 0.0, end / 2, end))
    count = max(len(one.places) for one in rows)
    names = tuple((float(i), short_name(one.figure)) for i, one in enumerate(rows))
    return Panel(
        Axis(
            f"Speed of each {noun} against the mean of {'both' if count == 2 else 'all'}", False, ticks, "%",
            ends=(-end, end),
        ),
        Axis("", False, names, down=True),
        tuple(series),
        (Mark(0.0, "", "solid"),),
        columns=(
            Column(
                "ratio", tuple(_ratio(one).partition("%")[0] + "%" for one in rows),
                tuple("ink" if one.proven else "" for one in rows),
            ),
        ),
    )  # fmt: skip


def _signed(percent: float) -> str:
    sign = "−" if percent < 0 else "+" if percent > 0 else ""
    return f"{sign}{abs(percent):g}{claims.NARROW}%"


def _strip(worst: PlaceBalance) -> Panel:
    """All places of one figure, the slowest first."""
    ordered = sorted(worst.places, key=lambda place: place.value.middle)
    count = len(ordered)
    low, high = (_percent(place.value.middle) for place in (ordered[0], ordered[-1]))
    top = max(abs(low), abs(high), 1.0)
    step = next(e for e in (1.0, 2.0, *_ENDS, float("inf")) if e >= top / 2)
    ticks = tuple((x, _signed(x)) for x in (-2 * step, -step, 0.0, step, 2 * step) if low - step < x < high + step)
    return Panel(
        Axis(f"{worst.kind}s, the slowest first", False, ((1.0, "1"), (float(count), str(count)))),
        Axis("Speed against the mean", False, ticks, "%"),
        (
            ChartSeries(
                f"{worst.kind}s", "points", tuple(map(float, range(1, count + 1))),
                tuple(_percent(place.value.middle) for place in ordered),
                labels=tuple(place.name if i < _NAMED else "" for i, place in enumerate(ordered)),
                role="series-1", names="points",
            ),
        ),
        title=short_name(worst.figure),
    )  # fmt: skip


def _table(one: PlaceBalance) -> list[tuple[str, ...]]:
    """Every place, of many the slowest and the fastest."""
    shown: Sequence[PlaceSpeed] = one.places
    if len(shown) > MANY:
        shown = [*sorted(shown, key=lambda place: place.value.middle)[:_NAMED], one.fastest]
    return [(short_name(one.figure), place.name, *_place_cells(place), _ratio(one)) for place in shown]


def _place_cells(place: PlaceSpeed) -> tuple[str, str, str]:
    value = place.value.stated
    low, middle, high = (_signed(round(_percent(x), 2)) for x in (value.low, value.middle, value.high))
    return middle, f"{low} … {high}" if value.is_interval else "", value.text


def _ratio(one: PlaceBalance) -> str:
    """`98.5 %: 97.6 … 99.4 %, 95 % interval, paired in 6 launches`."""
    texts, space = claims.value_texts(one.ratio, "1", share=True), claims.NARROW
    if not one.ratio.stated.is_interval:
        return f"{texts.number}{space}% ({one.ratio.number} launch{'es' * (one.ratio.number > 1)}, no interval)"
    ends = f"{texts.ends}{space}%, 95{space}% interval, paired in {one.ratio.number} launches"
    return f"{texts.number}{space}%: {ends}"


def _sentence(worst: PlaceBalance | None, noun: str, most: int) -> str:
    if worst is None:
        return f"Speed of {most} {noun}s against their mean; too few launches to tell whether they are even."
    if worst.proven:
        slow = f"{worst.slowest.name} is slower than {worst.fastest.name}"
        return f"{slow}: {_ratio(worst)} in {short_name(worst.figure)}."
    slowdown = claims.percent(worst.max_undetected_slowdown or 0.0)
    return f"No {noun} is slower as far as this can tell: even within {slowdown}."
