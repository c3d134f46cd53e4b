"""Lost time: how much of all time went to interruptions of each length, and to which cause."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from octant import units
from octant.analysis.causes import Causes, causes
from octant.analysis.lengths import EDGES_S, LaneTime, share_by_length
from octant.analysis.names import short_name
from octant.report import claims
from octant.report.charts.picture import MOST_BARS, Axis, ChartSeries, Mark, Panel, Picture, Region, thin, thinned_text
from octant.report.charts.ticks import even_ticks, si_ticks

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from octant.analysis.figures import Figure
    from octant.report.charts.curves.ladders import MeasuredCells
    from octant.report.charts.picture import Role
    from octant.workload import LostTime

SILENT = 0.001
"""A share of lost time under which a sentence says all."""
MANY = 4  # lanes beyond which each is a point of a strip
_NAMED = 5  # of these the ones that lost most
_BORDERS = (10e-6, 1e-3)  # s, between short, middle and long interruptions
_PARTS = ("under 10 µs", "10 µs to 1 ms", "over 1 ms")
_DECADES = tuple((10.0**n, si_ticks("s")(10.0**n)) for n in range(-7, 1))
_ROLES: Mapping[str, Role] = {
    "other processes": "series-2",
    "oversubscription": "series-2",
    "unexplained": "series-1",
    "work": "faint",
}
"""Of causes; the others are grey."""


def lost_time(cells: MeasuredCells, shown: LostTime) -> Picture | None:
    """Of the figure of the table with the most lanes its interruptions by length; of all of them where time went.

    `None` without a measured figure.
    """
    workload, figures = cells.workload, cells.figures
    every = [one for one in figures if one.show.table and one.value and any(launch.lanes for launch in one.counted)]
    if not every:
        return None
    widest = max(every, key=lambda one: len(one.counted[0].lanes))
    kept = thin(every, MOST_BARS)
    panels = (*_by_length(widest), _stacks(kept))
    value, headline = widest.value, claims.figure_texts(widest).number
    lost = f"{headline}{claims.NARROW}%"
    silent = value is not None and value.middle < SILENT
    sentence = f"Under 0.1{claims.NARROW}% of the time was lost." if silent else f"{lost} of the time was lost."
    how = "" if silent else " Height is time, not the number of interruptions."
    return Picture(
        "lost-time", shown.title or "Time lost",
        f"{workload.summary}. {sentence}{how}" + thinned_text(len(kept), len(every), "figures"),
        panels,
        ("figure", "what", "share of all time"),
        tuple(row for one in kept for row in _rows(one)),
        f"{sentence} {_causes_text(widest)}".strip(),
        (() if silent else _part_facts(widest)) + _cause_facts(widest),
        width=564,
    )  # fmt: skip


def _lanes(figure: Figure) -> list[LaneTime]:
    return [lane for launch in figure.counted for lane in launch.lanes]


def _by_length(figure: Figure) -> tuple[Panel, ...]:
    """Of several ranks or threads together; of many, of the one that lost most, and the share of each."""
    lanes = _lanes(figure)
    places: dict[tuple[int, int], list[LaneTime]] = {}
    for lane in lanes:
        places.setdefault((lane.rank, lane.thread), []).append(lane)
    if figure.value is None or figure.value.middle < SILENT:
        return ()
    if len(places) <= MANY:
        return (_histogram(lanes, "Share of all time that was lost, %", _part_texts(figure)),)
    noun = "rank" if len({rank for rank, _ in places}) > 1 else "thread"
    shares = sorted((sum(share_by_length(mine)), place) for place, mine in places.items())
    most, worst = shares[-1]
    name = f"{noun} {worst[noun == 'thread']}"
    title = f"Share of the time of {name} that was lost, %"
    parts = claims.part_texts(_sums(places[worst]), claims.number_texts(most, "1", share=True).number)
    labels = [f"{noun} {place[noun == 'thread']}" for _, place in shares]
    strip = ChartSeries(
        f"{noun}s", "points", tuple(map(float, range(1, len(shares) + 1))), tuple(100 * share for share, _ in shares),
        labels=tuple("" if len(shares) - i > _NAMED else label for i, label in enumerate(labels)), names="points",
        role="series-1", marker="circle",
    )  # fmt: skip
    ends = tuple((float(n), str(n)) for n in (1, len(shares)))
    return (
        _histogram(places[worst], title, parts),
        Panel(
            Axis(f"{noun}s in the order of their loss", False, ends),
            Axis(f"Share of the time of each {noun} that was lost, %", False, _percents(100 * most), "%"),
            (strip,), height=0.7,
        ),
    )  # fmt: skip


def _histogram(lanes: Sequence[LaneTime], title: str, parts: Sequence[str]) -> Panel:
    heights = [100 * share for share in share_by_length(lanes)]
    middles = tuple((low * high) ** 0.5 for low, high in pairwise(EDGES_S))
    borders = (EDGES_S[0], *_BORDERS, EDGES_S[-1])
    return Panel(
        Axis("length of one interruption", True, _DECADES, "s", ends=(EDGES_S[0], EDGES_S[-1])),
        Axis(title, False, _percents(max(heights)), "%"),
        (ChartSeries("lost", "bars", middles, tuple(heights), role="series-1", names="none"),),
        tuple(Mark(border, "") for border in _BORDERS),
        regions=tuple(
            Region(low, high, (text, part))
            for (low, high), text, part in zip(pairwise(borders), parts, _PARTS, strict=True)
        ),
    )


def _percents(most: float) -> tuple[tuple[float, str], ...]:
    ticks = even_ticks(most, lambda v: f"{v:g}")
    return ticks[:: max(1, len(ticks) // 4)]


def _sums(lanes: Sequence[LaneTime]) -> list[float]:
    """Shares that short, middle and long interruptions took."""
    shares = list(zip(EDGES_S, share_by_length(lanes), strict=False))
    short, long = _BORDERS
    eps = 1 + 1e-9
    return [
        sum(share for edge, share in shares if edge * eps < short),
        sum(share for edge, share in shares if short <= edge * eps < long),
        sum(share for edge, share in shares if edge * eps >= long),
    ]


def _part_texts(figure: Figure) -> list[str]:
    return claims.part_texts(_sums(_lanes(figure)), claims.figure_texts(figure).number)


def _headline(figure: Figure) -> str:
    """The share that was lost, in percent as the table has it; on a silent machine to two decimals."""
    value = figure.value
    silent = value is not None and value.middle < SILENT
    return f"{100 * value.middle:.2f}" if value and silent else claims.figure_texts(figure).number


def _cause_texts(figure: Figure, found: Causes) -> list[tuple[str, float, str]]:
    """Each cause that took time, with its share and in words that add up to the headline, then the work, to 100 %."""
    headline = _headline(figure)
    texts = claims.part_texts([share for _, share in found.parts], headline)
    causes_ = [(name, share, text) for (name, share), text in zip(found.parts, texts, strict=True)]
    numbers = [text.partition(claims.NARROW)[0] for text in texts]
    places = len(numbers[0].partition(".")[2])
    work = f"{100 - sum(map(float, numbers)):.{places}f}{claims.NARROW}%"
    taken = [cause for cause, number in zip(causes_, numbers, strict=True) if float(number)]
    return [*taken, ("work", 1 - found.lost, work)]


def _stacks(figures: Sequence[Figure]) -> Panel:
    """A bar for each figure; the texts of a single one stand at its parts."""
    found = [(one, _cause_texts(one, of)) for one in figures for of in [causes(one)] if of]
    parts = [{name: (share, text) for name, share, text in texts} for _, texts in found]
    order = [name for name, _ in Causes(0.0, 0.0, 0.0, 0.0, 0.0, oversubscribed=1.0).parts]
    series = []
    for name in [*(name for name in order if any(name in of for of in parts)), "work"]:
        shares = tuple(100 * of[name][0] if name in of else 0.0 for of in parts)
        text = f"{parts[0][name][1]} {name}" if len(found) == 1 else name
        labels = tuple(of[name][1] if name in of else "" for of in parts) if len(found) > 1 else ()
        places = tuple(map(float, range(len(found))))
        role = _ROLES.get(name, "grey")
        series.append(ChartSeries(text, "stack", shares, places, labels=labels, role=role, names="legend"))
    rows = tuple((float(i), short_name(one) if len(found) > 1 else "") for i, (one, _) in enumerate(found))
    return Panel(
        Axis("", False, (), "%", ends=(0.0, 100.0)), Axis("", False, rows, down=True), tuple(series),
        title="Where the time went",
    )  # fmt: skip


def _rows(figure: Figure) -> list[tuple[str, ...]]:
    name, found = short_name(figure), causes(figure)
    stretches = zip(pairwise(EDGES_S), share_by_length(_lanes(figure)), strict=True)
    rows: list[tuple[str, ...]] = [
        (name, f"{units.si_text(low, 's')} to {units.si_text(high, 's')}", f"{100 * share:.3g}{claims.NARROW}%")
        for (low, high), share in stretches
        if share
    ]
    return rows + [(name, cause, text) for cause, _, text in (_cause_texts(figure, found) if found else [])]


def _part_facts(figure: Figure) -> tuple[tuple[str, str], ...]:
    """The sums over all lanes, which are not those of the picture where it shows one of many."""
    of = "of all: " * (len({(lane.rank, lane.thread) for lane in _lanes(figure)}) > MANY)
    return tuple((of + part, text) for part, text in zip(_PARTS, _part_texts(figure), strict=True))


def _cause_facts(figure: Figure) -> tuple[tuple[str, str], ...]:
    found = causes(figure)
    return tuple((name, text) for name, _, text in _cause_texts(figure, found)) if found else ()


def _causes_text(figure: Figure) -> str:
    words = [f"{text} {name}" for name, text in _cause_facts(figure)]
    return f"Of all time: {', '.join(words)}." if words else ""
