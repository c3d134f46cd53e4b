"""Bars of a run: a metric by a knob, phases of a step, the cost of choices, CPU time of ranks, lost time, balance."""

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from octant import units
from octant.analysis.balance import Balances, PlaceBalance
from octant.analysis.causes import Causes, causes
from octant.analysis.choices import RankedFigures, choices
from octant.analysis.figures import Figure
from octant.analysis.lengths import EDGES_S, LaneTime, share_by_length
from octant.analysis.names import knob_of, knob_text, picture_title, short_name
from octant.analysis.program import SYSTEM, USER, values_of_ranks
from octant.analysis.series import STEP
from octant.report import claims
from octant.report.charts import picture
from octant.report.charts.curves import figure_curves as curves
from octant.report.charts.curves.curve import share_text, value_cells, value_columns
from octant.report.charts.curves.figure_curves import MeasuredCells, MetricOf
from octant.report.charts.picture import Axis, ChartSeries, Column, Mark, Note, Panel, Picture, Span, even_ticks, thin
from octant.report.sentences import picture_texts
from octant.stats import Estimate, Interval
from octant.workload import Bars, Choice, LostTime, RankBars, Stacked

_LABEL = 26  # characters of a line of a bar's label
REST = "rest of the step"
_ROOM, _WIDE_ROOM = 1.25, 1.9  # the axis against the longest bar, for a value or for words at its end
_LABELLED = 0.04  # the least share of a step that is written at its part
SILENT = 0.001
"""If the share of lost time, rounded to 0.01 %, is below this, a sentence replaces the histogram."""
MANY_LANES = 4  # with more lanes, each is a point of a strip
_NAMED = 5  # of many lanes or places, the slowest, or those that lost most
_LENGTH_BORDERS = (10e-6, 1e-3)  # s, between short, middle and long interruptions
_LENGTHS = ("under 10 µs", "10 µs to 1 ms", "over 1 ms")
_DECADES = tuple((10.0**n, picture.si_ticks("s")(10.0**n)) for n in range(-7, 1))
_CAUSE_ROLES: Mapping[str, picture.Role] = {
    "other processes": "series-2", "oversubscription": "series-2", "unexplained": "series-1", "work": "faint",
}  # fmt: skip
"""Of causes; the others are grey."""
FEW_PLACES = 4  # places that each have a mark and a name
MANY_PLACES = 40  # more places are drawn in order in a strip
_LEAST_REACH = 5.0  # % to either side of the mean
_REACHES = (5.0, 10.0, 20.0, 50.0, 100.0)


def bars(cells: MeasuredCells, shown: Bars) -> Picture | None:
    """Draw a bar per value of the knob; return `None` if it has only one value."""
    workload, figures = cells.workload, cells.figures
    metric = workload.metric(shown.y)
    with_knob = [figure for figure in figures if shown.x in figure.knobs]
    every = [one for cell in with_knob for one in [cells.figure(cell, shown.y)] if one and one.value]
    if len({figure.knobs[shown.x] for figure in every}) < 2:
        return None
    kept = thin(every, picture.MAX_BARS)
    labels, values = bar_labels(kept, shown.x), [figure.value for figure in kept if figure.value]
    is_open = tuple(figure.invalid for figure in kept)
    most = max(end for value in values for end in (value.middle, value.high)) or 1.0  # all may be 0
    ticks = even_ticks(most, picture.si_ticks(metric.unit))
    axis = Axis(metric.name, False, ticks, metric.unit, ends=(0.0, _ROOM * most))
    texts = [value_cells(figure) for figure in kept]
    return Picture(
        "bars", shown.title or picture_title(figures, f"{metric.name} by {shown.x}"),
        panels=(_lying_bars(axis, shown.x, labels, values, [text for text, *_ in texts], is_open),),
        header=(shown.x, *value_columns(metric), "of limit"),
        rows=tuple((label, *text, share_text(one)) for label, text, one in zip(labels, texts, kept, strict=True)),
        width=564,
        **picture_texts(
            "bars/bars", workload=workload, metric=metric, open=any(is_open), values=values, kept=len(kept),
            total=len(every),
        ),
    )  # fmt: skip


def _lying_bars(
    axis: Axis, title: str, labels: Sequence[str], values: Sequence[Estimate | Interval], texts: Sequence[str],
    is_open: tuple[bool, ...] = (),
) -> Panel:  # fmt: skip
    """Return a panel of bars with intervals, and a text at the end of each."""
    middle, low, high = zip(*((value.middle, value.low, value.high) for value in values), strict=True)
    at = tuple(map(float, range(len(values))))
    series = ChartSeries(axis.title, "across", middle, at, low, high, tuple(labels), role="grey", open=is_open)
    notes = tuple(Note(max(x, end), y, text) for x, end, y, text in zip(middle, high, at, texts, strict=True))
    return Panel(axis, places_axis(title, labels), (series,), notes=notes)


def stacked(cells: MeasuredCells, shown: Stacked) -> Picture | None:
    """Draw the phases of each cell's step next to each other; return `None` if no cell has phases."""
    workload, figures = cells.workload, cells.figures
    every = [(figure, parts) for figure in figures if (parts := own_times(cells.figure, figure, shown.phases))]
    if not every:
        return None
    kept = thin(every, picture.MAX_BARS)
    labels = bar_labels([figure for figure, _ in kept], shown.x)
    names = [*dict.fromkeys(name for _, parts in kept for name in parts if name != REST), REST]
    totals = [sum(parts.values()) for _, parts in kept]
    series, rows = [], []
    for name in names:
        times = tuple(parts.get(name, 0.0) for _, parts in kept)
        shares = [time / total if total else 0.0 for time, total in zip(times, totals, strict=True)]
        words = tuple(units.percent_text(share) if share >= _LABELLED else "" for share in shares)
        role: picture.Role = "grey" if name in shown.waiting else "faint" if name == REST else ""
        at = tuple(map(float, range(len(kept))))
        series.append(ChartSeries(name, "stack", times, at, labels=words, role=role, names="legend"))
    for label, (_, parts), total in zip(labels, kept, totals, strict=True):
        for name, time in parts.items():
            rows.append((label, name, units.si_text(time, "s", 4), units.percent_text(time / (total or 1.0))))
    axis = Axis("time of a step", False, even_ticks(max(totals), picture.si_ticks("s")), "s")
    return Picture(
        "phases", picture_title(figures, "where the time of a step goes"),
        panels=(Panel(axis, places_axis(shown.x, labels), tuple(series)),),
        header=(shown.x or "configuration", "phase", "time", "share of the step"), rows=tuple(rows),
        **picture_texts(
            "bars/phases", workload=workload, waiting=set(shown.waiting) & set(names), kept=len(kept), total=len(every)
        ),
    )  # fmt: skip


def own_times(metric_of: MetricOf, headline: Figure, phases: Sequence[str] = ()) -> Mapping[str, float]:
    """Return the seconds per step of each phase without the phases inside it, and of the rest; empty without phases.

    Args:
        phases: names without `phase/`; none: all that were recorded.
    """
    heads = dict.fromkeys(head.name for point in headline.points for head in point.heads)
    names = phases or [name.removeprefix("phase/") for name in heads if name.startswith("phase/")]
    known = {name: metric_of(headline, f"phase/{name}") for name in names}
    times = {name: one.value.middle for name, one in known.items() if one and one.value}
    step = metric_of(headline, STEP)
    if not times or step is None or step.value is None:
        return {}
    parents = {name: max((one for one in times if name.startswith(f"{one}/")), key=len, default=None) for name in times}
    children = {name: sum(times[child] for child, parent in parents.items() if parent == name) for name in times}
    outermost = sum(time for name, time in times.items() if parents[name] is None)
    own = {name: max(0.0, time - children[name]) for name, time in times.items()}
    return {**own, REST: max(0.0, step.value.middle - outermost)}


def choice(cells: MeasuredCells, shown: Choice) -> Picture | None:
    """Draw how many times as good the best value of a knob is as the worst, for each combination of the others."""
    every = choices(cells.figures, shown.x)
    if not every:
        return None
    kept = thin(every, picture.MAX_BARS)
    costs = [one.cost for one in kept]
    most = max(end for cost in costs for end in (cost.middle, cost.high))
    axis = Axis("worst over best", False, even_ticks(most, lambda v: f"×{v:g}"), "1", ends=(0.0, _WIDE_ROOM * most))
    rows = tuple((case or "all", *texts) for case, *texts in map(_choice_cells, kept))
    best = [f"{best} best" for _, best, *_ in rows]
    return Picture(
        "choice", picture_title([one.best for one in kept], f"best {shown.x} and cost of the worst"),
        panels=(_lying_bars(axis, "", [label for label, *_ in rows], costs, best),),
        header=("case", f"best {shown.x}", "value", "equally good", "worst", "value", "best over worst"), rows=rows,
        **picture_texts("bars/choice", workload=cells.workload, knob=shown.x, kept=len(kept), total=len(every)),
    )  # fmt: skip


def choice_texts(figures: Iterable[Figure], knob: str) -> list[str]:
    """Return lines such as `8 B, single: isend-mprobe best (712 ns); equally good: sendrecv; worst ordered, ×2.6`."""
    texts = []
    for case, best, value, also, worst, of_worst, cost in map(_choice_cells, choices(figures, knob)):
        first = f"{f'{case}: ' if case else ''}{best} best ({value})"
        texts.append("; ".join([first, *[f"equally good: {also}"] * bool(also), f"worst {worst} ({of_worst}), {cost}"]))
    return texts


def _choice_cells(one: RankedFigures) -> tuple[str, ...]:
    """Return the other knobs, the best and its value, those as good, the worst and its value, and their ratio."""
    low, middle, high = (f"{end:.3g}" for end in (one.cost.low, one.cost.middle, one.cost.high))
    best, worst = (
        (figure.knobs[one.knob], units.si_text(figure.value.middle, figure.metric.unit) if figure.value else "")
        for figure in (one.best, one.worst)
    )
    also = ", ".join(figure.knobs[one.knob] for figure in one.equivalents)
    case = ", ".join(knob_text(name, value) for name, value in one.others.items())
    return case, *best, also, *worst, f"×{middle}" + f" [{low}, {high}]" * (low != high)


def rank_bars(cells: MeasuredCells, shown: RankBars) -> Picture | None:
    """Draw user and system time of each rank of the cell with most ranks, medians over its launches.

    `None` if no cell has CPU times of several ranks.

    Raises:
        RecordError: the samples of a point can no longer be read.
    """
    counted = [figure for figure in cells.figures if figure.counted]
    figure = max(counted, key=lambda one: one.point.ranks or 0, default=None)
    if figure is None:
        return None
    times = {name: _rank_medians(figure, f"reading/{name}") for name in (USER, SYSTEM)}
    ranks = sorted(times[USER].keys() & times[SYSTEM].keys())
    if len(ranks) < 2:
        return None
    kept = thin(ranks, picture.MAX_BARS)
    places = tuple(map(float, range(len(kept))))
    series = tuple(
        ChartSeries(name, "stack", tuple(mine[rank] for rank in kept), places, role=role, names="legend")
        for (name, mine), role in zip(times.items(), curves.ROLES, strict=False)
    )
    sums = {rank: times[USER][rank] + times[SYSTEM][rank] for rank in ranks}
    busiest, least = (most(sums.items(), key=lambda one: one[1]) for most in (max, min))
    axis = Axis("CPU time", False, even_ticks(busiest[1] or 1.0, picture.si_ticks("s")), "s")
    return Picture(
        "ranks", shown.title, panels=(Panel(axis, places_axis("rank", [str(rank) for rank in kept]), series),),
        header=("rank", USER, SYSTEM),
        rows=tuple((str(rank), *(units.si_text(mine[rank], "s", 4) for mine in times.values())) for rank in kept),
        **picture_texts(
            "bars/ranks", name=short_name(figure), busiest=busiest, least=least, kept=len(kept), total=len(ranks)
        ),
    )  # fmt: skip


def _rank_medians(figure: Figure, series: str) -> Mapping[int, float]:
    values: dict[int, list[float]] = {}
    for launch in figure.counted:
        for rank, value in values_of_ranks(launch.point.read(), series).items():
            values.setdefault(rank, []).append(value)
    return {rank: float(np.median(of)) for rank, of in values.items()}


def bar_labels(figures: Sequence[Figure], knob: str) -> list[str]:
    """Return the label of each bar: the knob's value, or the title, and what else differs among the bars."""
    if not knob:
        return [figure.name for figure in figures]
    others = [name for name in curves.other_knobs(figures, knob) if name != "threads"]  # the place has their number
    return curves.with_places(
        figures, [[one.knobs.get(knob, ""), *(knob_of(one, name) for name in others)] for one in figures]
    )


def places_axis(title: str, labels: Sequence[str]) -> Axis:
    """Return the axis along which bars are, one below the other."""
    ticks = tuple((float(place), textwrap.fill(label, _LABEL)) for place, label in enumerate(labels))
    return Axis(title, False, ticks, down=True)


def lost_time(cells: MeasuredCells, shown: LostTime) -> Picture | None:
    """Draw interruptions by length of the figure of the table with the most lanes, and causes of all its figures.

    `None` without a measured figure.
    """
    every = [one for one in cells.figures if one.show.table and one.value and any(of.lanes for of in one.counted)]
    if not every:
        return None
    widest = max(every, key=lambda one: len(one.counted[0].lanes))
    kept = thin(every, picture.MAX_BARS)
    silent, found = _is_silent(widest), causes(widest)
    texts = picture_texts(
        "bars/lost-time", workload=cells.workload, silent=silent, kept=len(kept), total=len(every),
        lost=f"{'Under 0.1' if silent else _headline(widest)}{claims.NARROW}%",
        causes=[(name, text) for name, _, text in _cause_texts(widest, found)] if found else [],
        lengths=() if silent else zip(_LENGTHS, _part_texts(widest), strict=True),
        many=len({(lane.rank, lane.thread) for lane in _lanes(widest)}) > MANY_LANES,  # the picture shows one of them
    )  # fmt: skip
    return Picture(
        "lost-time", shown.title or "Time lost", panels=(*_length_panels(widest), _cause_panel(kept)),
        header=("figure", "what", "share of all time"), rows=tuple(row for one in kept for row in _lost_time_rows(one)),
        width=564, **texts,
    )  # fmt: skip


def _is_silent(figure: Figure) -> bool:
    return figure.value is None or round(figure.value.middle, 4) < SILENT


def _lanes(figure: Figure) -> list[LaneTime]:
    return [lane for launch in figure.counted for lane in launch.lanes]


def _length_panels(figure: Figure) -> tuple[Panel, ...]:
    """Draw several ranks or threads together; of many, the one that lost most, and the share of each."""
    places: dict[tuple[int, int], list[LaneTime]] = {}
    for lane in _lanes(figure):
        places.setdefault((lane.rank, lane.thread), []).append(lane)
    if _is_silent(figure):
        return ()
    if len(places) <= MANY_LANES:
        return (_length_panel(_lanes(figure), "Share of all time that was lost, %", _part_texts(figure)),)
    noun = "rank" if len({rank for rank, _ in places}) > 1 else "thread"
    shares = sorted((sum(share_by_length(mine)), place) for place, mine in places.items())
    names = [f"{noun} {place[noun == 'thread']}" for _, place in shares]
    most, worst = shares[-1]
    parts = claims.part_texts(_length_sums(places[worst]), claims.number_texts(most, "1", share=True).number)
    up = Axis(f"Share of the time of each {noun} that was lost, %", False, _percents(100 * most), "%")
    labels = ["" if len(shares) - i > _NAMED else name for i, name in enumerate(names)]
    strip = _strip(f"{noun}s", f"{noun}s, sorted by lost time", up, [100 * share for share, _ in shares], labels)
    title = f"Share of the time of {names[-1]} that was lost, %"
    return _length_panel(places[worst], title, parts), replace(strip, height=0.7)


def _strip(name: str, title: str, up: Axis, values: Sequence[float], labels: Sequence[str]) -> Panel:
    """Return all places, `ranks`, in an order as labelled points."""
    at, ends = tuple(map(float, range(1, len(values) + 1))), (1, len(values))
    points = ChartSeries(name, "points", at, tuple(values), labels=tuple(labels), role="series-1", names="points")
    return Panel(Axis(title, False, tuple((float(n), str(n)) for n in ends)), up, (points,))


def _length_panel(lanes: Sequence[LaneTime], title: str, parts: Sequence[str]) -> Panel:
    heights = [100 * share for share in share_by_length(lanes)]
    middles = tuple((low * high) ** 0.5 for low, high in pairwise(EDGES_S))
    spans = zip(pairwise((EDGES_S[0], *_LENGTH_BORDERS, EDGES_S[-1])), parts, _LENGTHS, strict=True)
    return Panel(
        Axis("length of one interruption", True, _DECADES, "s", ends=(EDGES_S[0], EDGES_S[-1])),
        Axis(title, False, _percents(max(heights)), "%"),
        (ChartSeries("lost", "bars", middles, tuple(heights), role="series-1", names="none"),),
        tuple(Mark(border, "") for border in _LENGTH_BORDERS),
        regions=tuple(Span(*span, f"{text}\n{part}") for span, text, part in spans),
    )


def _percents(most: float) -> tuple[tuple[float, str], ...]:
    ticks = even_ticks(most, lambda v: f"{v:g}")
    return ticks[:: max(1, len(ticks) // 4)]


def _length_sums(lanes: Sequence[LaneTime]) -> list[float]:
    """Return the shares of short, middle and long interruptions."""
    sums = [0.0, 0.0, 0.0]
    for edge, share in zip(EDGES_S, share_by_length(lanes), strict=False):
        sums[sum(edge * (1 + 1e-9) >= border for border in _LENGTH_BORDERS)] += share
    return sums


def _part_texts(figure: Figure) -> list[str]:
    return claims.part_texts(_length_sums(_lanes(figure)), claims.figure_texts(figure).number)


def _headline(figure: Figure) -> str:
    """Return the share that was lost, in percent as the table has it; on a silent machine to two decimals."""
    value = figure.value
    return f"{100 * value.middle:.2f}" if value and _is_silent(figure) else claims.figure_texts(figure).number


def _cause_texts(figure: Figure, known: Causes) -> list[tuple[str, float, str]]:
    """Return each cause that took time, with its share and a text, then the work.

    Shares and texts add up to 100 %: a cause whose text would be 0 % counts as work.
    """
    texts = claims.part_texts([share for _, share in known.parts], _headline(figure))
    numbers = [text.partition(claims.NARROW)[0] for text in texts]
    places = len(numbers[0].partition(".")[2])
    work = f"{100 - sum(map(float, numbers)):.{places}f}{claims.NARROW}%"
    named = [(*part, text) for part, text, number in zip(known.parts, texts, numbers, strict=True) if float(number)]
    return [*named, ("work", 1 - sum(share for _, share, _ in named), work)]


def _cause_panel(figures: Sequence[Figure]) -> Panel:
    """Draw a bar per figure; the texts of a single one are in the legend."""
    known = [(one, _cause_texts(one, of)) for one in figures for of in [causes(one)] if of]
    parts = [{name: (share, text) for name, share, text in texts} for _, texts in known]
    order = [name for name, _ in Causes(0.0, 0.0, 0.0, 0.0, 0.0, oversubscribed=1.0).parts]
    alone, at, series = len(known) == 1, tuple(map(float, range(len(known)))), []
    for name in [*(name for name in order if any(name in mine for mine in parts)), "work"]:
        shares, texts = zip(*(mine.get(name, (0.0, "")) for mine in parts), strict=True) if parts else ((), ())
        title, xs = f"{texts[0]} {name}" if alone else name, tuple(100 * share for share in shares)
        labels, role = () if alone else texts, _CAUSE_ROLES.get(name, "grey")
        series.append(ChartSeries(title, "stack", xs, at, labels=labels, role=role, names="legend"))
    rows = tuple((float(i), "" if alone else short_name(one)) for i, (one, _) in enumerate(known))
    across = Axis("", False, (), "%", ends=(0.0, 100.0))
    return Panel(across, Axis("", False, rows, down=True), tuple(series), title="Causes of lost time")


def _lost_time_rows(figure: Figure) -> list[tuple[str, ...]]:
    name, known = short_name(figure), causes(figure)
    rows: list[tuple[str, ...]] = []
    for (low, high), share in zip(pairwise(EDGES_S), share_by_length(_lanes(figure)), strict=True):
        if share:
            span = f"{units.si_text(low, 's')} to {units.si_text(high, 's')}"
            rows.append((name, span, f"{100 * share:.3g}{claims.NARROW}%"))
    return rows + [(name, cause, text) for cause, _, text in (_cause_texts(figure, known) if known else [])]


def balance(measured: Balances) -> Picture | None:
    """Draw the figures whose lanes or ranks work alone at the same time; return `None` with a single place."""
    finest = {id(one.figure): one for one in reversed(measured.figures)}
    listed = [one for one in measured.figures if finest[id(one.figure)] is one]
    rows = thin(listed, picture.MAX_BARS)
    if not rows:
        return None
    most, worst = max(len(one.places) for one in rows), measured.worst
    noun = rows[0].kind if len({one.kind for one in rows}) == 1 else "place"
    names = list(dict.fromkeys(place.name for one in rows for place in one.places))
    few = len(names) <= FEW_PLACES
    series = _place_series(rows, names) if few else [_slowest_series(rows, noun)]
    drawn, ratios = {id(one.figure) for one in rows}, []
    strip = [worst or rows[0]] if most > MANY_PLACES else []
    for one in (one for one in measured.figures if id(one.figure) in drawn):
        of = "" if finest[id(one.figure)] is one else f", {one.kind}s"
        ratios.append((short_name(one.figure) + of, _ratio_text(one)))
    texts = picture_texts(
        "bars/balance", noun=noun, few=few, strip=bool(strip), named=_NAMED, narrow=claims.NARROW, most=most,
        worst=worst, values=[place.value for one in rows for place in one.places], kept=len(rows),
        total=len(listed), ratio_of=_ratio_text, short_name=short_name, ratios=ratios,
    )  # fmt: skip
    return Picture(
        "balance", "Balance", panels=(_balance_panel(rows, series, noun), *map(_speed_strip, strip)),
        header=("figure", "place", "speed against the mean", "interval", "kind of interval", "slowest over fastest"),
        rows=tuple(row for one in rows for row in _balance_rows(one)), width=564, **texts,
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


def _balance_panel(rows: Sequence[PlaceBalance], series: Sequence[ChartSeries], noun: str) -> Panel:
    most = max(abs(x) for one in series for x in (*one.x, *(x for x, _ in one.dots)))
    end = next((e for e in _REACHES if e >= max(most, _LEAST_REACH)), 100.0 * -(-most // 100))
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


def _speed_strip(worst: PlaceBalance) -> Panel:
    """Draw all places of one figure, the slowest first."""
    ordered = sorted(worst.places, key=lambda place: place.value.middle)
    speeds = [_percent(place.value.middle) for place in ordered]
    low, high = speeds[0], speeds[-1]
    step = next(e for e in (1.0, 2.0, *_REACHES, float("inf")) if e >= max(abs(low), abs(high), 1.0) / 2)
    ticks = _signed_ticks(x for x in (-2 * step, -step, 0.0, step, 2 * step) if low - step < x < high + step)
    labels = [place.name if i < _NAMED else "" for i, place in enumerate(ordered)]
    up, name = Axis("Speed against the mean", False, ticks, "%"), f"{worst.kind}s"
    return replace(_strip(name, f"{name}, the slowest first", up, speeds, labels), title=short_name(worst.figure))


def _balance_rows(one: PlaceBalance) -> list[tuple[str, ...]]:
    """Return a row per place, of many the slowest and the fastest."""
    shown, rows = one.places, list[tuple[str, ...]]()
    if len(shown) > MANY_PLACES:
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
