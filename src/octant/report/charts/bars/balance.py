"""Balance: the speed of each place (core, rank, node) while all of them work, against the mean of all."""

from collections.abc import Iterable, Sequence

from octant.analysis.balance import Balances, PlaceBalance
from octant.analysis.names import short_name
from octant.report import claims
from octant.report.charts.picture import MAX_BARS, Axis, ChartSeries, Column, Mark, Panel, Picture, thin
from octant.report.charts.texts import picture_texts

FEW = 4  # places that each have a mark and a name
MANY = 40  # more places are drawn in order in a strip
_NAMED = 5  # of these the slowest
_LEAST = 5.0  # % to either side of the mean
_ENDS = (5.0, 10.0, 20.0, 50.0, 100.0)


def balance(measured: Balances) -> Picture | None:
    """Draw the figures whose lanes or ranks work alone at the same time; return `None` with a single place."""
    finest = {id(one.figure): one for one in reversed(measured.figures)}
    listed = [one for one in measured.figures if finest[id(one.figure)] is one]
    rows = thin(listed, MAX_BARS)
    if not rows:
        return None
    most, worst = max(len(one.places) for one in rows), measured.worst
    noun = rows[0].kind if len({one.kind for one in rows}) == 1 else "place"
    names = list(dict.fromkeys(place.name for one in rows for place in one.places))
    few = len(names) <= FEW
    series = _place_series(rows, names) if few else [_slowest_series(rows, noun)]
    drawn = {id(one.figure) for one in rows}
    ratios = []
    for one in (one for one in measured.figures if id(one.figure) in drawn):
        of = "" if finest[id(one.figure)] is one else f", {one.kind}s"
        ratios.append((short_name(one.figure) + of, _ratio_text(one)))
    texts = picture_texts(
        "balance", noun=noun, few=few, strip=most > MANY, named=_NAMED, narrow=claims.NARROW, most=most, worst=worst,
        values=[place.value for one in rows for place in one.places], kept=len(rows), total=len(listed),
        ratio_of=_ratio_text, short_name=short_name, ratios=ratios,
    )  # fmt: skip
    return Picture(
        "balance", "Balance", panels=(_panel(rows, series, noun), *([_strip(worst or rows[0])] if most > MANY else [])),
        header=("figure", "place", "speed against the mean", "ends", "what the ends are", "slowest over fastest"),
        rows=tuple(row for one in rows for row in _rows(one)), width=564, **texts,
    )  # fmt: skip


def _percent(relative: float) -> float:
    return 100 * (relative - 1)


def _place_series(rows: Sequence[PlaceBalance], names: Sequence[str]) -> list[ChartSeries]:
    """Return a series per place, with its launches as dots."""
    series = []
    for name in names:
        mine = [(float(i), place) for i, one in enumerate(rows) for place in one.places if place.name == name]
        values = [place.value.stated for _, place in mine]
        ends = [(value.low, value.high) if value.is_interval else (value.middle,) * 2 for value in values]
        low, high = (tuple(map(_percent, side)) for side in zip(*ends, strict=True))
        xs, ys = tuple(_percent(place.value.middle) for _, place in mine), tuple(at for at, _ in mine)
        dots = tuple((_percent(x), at) for at, place in mine for x in place.relative)
        series.append(ChartSeries(name, "rows", xs, ys, low, high, dots=dots, names="legend"))
    return series


def _slowest_series(rows: Sequence[PlaceBalance], noun: str) -> ChartSeries:
    """Return the slowest place of each figure, with all places as dots."""
    return ChartSeries(
        f"slowest {noun}", "rows", tuple(_percent(one.slowest.value.middle) for one in rows),
        tuple(map(float, range(len(rows)))), labels=tuple(one.slowest.name for one in rows),
        dots=tuple((_percent(place.value.middle), float(i)) for i, one in enumerate(rows) for place in one.places),
        role="series-1", names="points",
    )  # fmt: skip


def _panel(rows: Sequence[PlaceBalance], series: Sequence[ChartSeries], noun: str) -> Panel:
    most = max(abs(x) for one in series for x in (*one.x, *(x for x, _ in one.dots)))
    end = next((e for e in _ENDS if e >= max(most, _LEAST)), 100.0 * -(-most // 100))
    all_of = "both" if max(len(one.places) for one in rows) == 2 else "all"
    ticks = _signed_ticks((-end, -end / 2, 0.0, end / 2, end))
    ratios = tuple(_ratio_text(one).partition("%")[0] + "%" for one in rows)
    return Panel(
        Axis(f"Speed of each {noun} against the mean of {all_of}", False, ticks, "%", ends=(-end, end)),
        Axis("", False, tuple((float(i), short_name(one.figure)) for i, one in enumerate(rows)), down=True),
        tuple(series),
        (Mark(0.0, "", "solid"),),
        columns=(Column("ratio", ratios, tuple("ink" if one.proven else "" for one in rows)),),
    )


def _signed(percent: float) -> str:
    return f"{'−' if percent < 0 else '+' if percent > 0 else ''}{abs(percent):g}{claims.NARROW}%"


def _signed_ticks(values: Iterable[float]) -> tuple[tuple[float, str], ...]:
    return tuple((value, _signed(value)) for value in values)


def _strip(worst: PlaceBalance) -> Panel:
    """Draw all places of one figure, the slowest first."""
    ordered = sorted(worst.places, key=lambda place: place.value.middle)
    speeds, count = tuple(_percent(place.value.middle) for place in ordered), len(ordered)
    low, high = speeds[0], speeds[-1]
    step = next(e for e in (1.0, 2.0, *_ENDS, float("inf")) if e >= max(abs(low), abs(high), 1.0) / 2)
    ticks = _signed_ticks(x for x in (-2 * step, -step, 0.0, step, 2 * step) if low - step < x < high + step)
    labels = tuple(place.name if i < _NAMED else "" for i, place in enumerate(ordered))
    at = tuple(map(float, range(1, count + 1)))
    return Panel(
        Axis(f"{worst.kind}s, the slowest first", False, ((1.0, "1"), (float(count), str(count)))),
        Axis("Speed against the mean", False, ticks, "%"),
        (ChartSeries(f"{worst.kind}s", "points", at, speeds, labels=labels, role="series-1", names="points"),),
        title=short_name(worst.figure),
    )


def _rows(one: PlaceBalance) -> list[tuple[str, ...]]:
    """Return a row per place, of many the slowest and the fastest."""
    shown, rows = one.places, list[tuple[str, ...]]()
    if len(shown) > MANY:
        shown = (*sorted(shown, key=lambda place: place.value.middle)[:_NAMED], one.fastest)
    for place in shown:
        value = place.value.stated
        low, middle, high = (_signed(round(_percent(x), 2)) for x in (value.low, value.middle, value.high))
        ends = f"{low} … {high}" if value.is_interval else ""
        rows.append((short_name(one.figure), place.name, middle, ends, value.text, _ratio_text(one)))
    return rows


def _ratio_text(one: PlaceBalance) -> str:
    """Return the ratio with its interval: `98.5 %: 97.6 … 99.4 %, 95 % interval, paired in 6 launches`."""
    texts, unit, number = claims.value_texts(one.ratio, "1", share=True), f"{claims.NARROW}%", one.ratio.number
    if not one.ratio.stated.is_interval:
        return f"{texts.number}{unit} ({number} launch{'es' * (number > 1)}, no interval)"
    return f"{texts.number}{unit}: {texts.ends}{unit}, 95{unit} interval, paired in {number} launches"
