"""Lost time: the share of all time that interruptions of each length took, and its causes."""

from collections.abc import Mapping, Sequence
from itertools import pairwise

from octant import units
from octant.analysis.causes import Causes, causes
from octant.analysis.figures import Figure
from octant.analysis.lengths import EDGES_S, LaneTime, share_by_length
from octant.analysis.names import short_name
from octant.report import claims
from octant.report.charts.curves.figure_curves import MeasuredCells
from octant.report.charts.picture import MAX_BARS, Axis, ChartSeries, Mark, Panel, Picture, Role, Span, thin
from octant.report.charts.texts import thinned_text
from octant.report.charts.ticks import even_ticks, si_ticks
from octant.workload import LostTime

SILENT = 0.001
"""If the share of lost time, rounded to 0.01 %, is below this, a sentence replaces the histogram."""
MANY = 4  # with more lanes, each is a point of a strip
_NAMED = 5  # of these the ones that lost most
_BORDERS = (10e-6, 1e-3)  # s, between short, middle and long interruptions
_PARTS = ("under 10 µs", "10 µs to 1 ms", "over 1 ms")
_DECADES = tuple((10.0**n, si_ticks("s")(10.0**n)) for n in range(-7, 1))
_ROLES: Mapping[str, Role] = {
    "other processes": "series-2", "oversubscription": "series-2", "unexplained": "series-1", "work": "faint",
}  # fmt: skip
"""Of causes; the others are grey."""


def lost_time(cells: MeasuredCells, shown: LostTime) -> Picture | None:
    """Draw interruptions by length of the figure of the table with the most lanes, and causes of all its figures.

    `None` without a measured figure.
    """
    every = [one for one in cells.figures if one.show.table and one.value and any(of.lanes for of in one.counted)]
    if not every:
        return None
    widest = max(every, key=lambda one: len(one.counted[0].lanes))
    kept = thin(every, MAX_BARS)
    lost = f"Under 0.1{claims.NARROW}%" if _is_silent(widest) else f"{_headline(widest)}{claims.NARROW}%"
    sentence = f"{lost} of the time was lost."
    how = "" if _is_silent(widest) else " Height is time, not the number of interruptions."
    found = causes(widest)
    parts = [(name, text) for name, _, text in _cause_texts(widest, found)] if found else []
    facts = [*parts]
    if not _is_silent(widest):  # over all lanes, of which the picture may show one
        of = "of all: " * (len({(lane.rank, lane.thread) for lane in _lanes(widest)}) > MANY)
        facts = [*((of + part, text) for part, text in zip(_PARTS, _part_texts(widest), strict=True)), *parts]
    words = f" Of all time: {', '.join(f'{text} {name}' for name, text in parts)}." if parts else ""
    return Picture(
        "lost-time", shown.title or "Time lost",
        f"{cells.workload.summary}. {sentence}{how}" + thinned_text(len(kept), len(every), "figures"),
        (*_length_panels(widest), _cause_panel(kept)), ("figure", "what", "share of all time"),
        tuple(row for one in kept for row in _rows(one)), sentence + words, tuple(facts), width=564,
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
    if len(places) <= MANY:
        return (_histogram(_lanes(figure), "Share of all time that was lost, %", _part_texts(figure)),)
    noun = "rank" if len({rank for rank, _ in places}) > 1 else "thread"
    shares = sorted((sum(share_by_length(mine)), place) for place, mine in places.items())
    names = [f"{noun} {place[noun == 'thread']}" for _, place in shares]
    most, worst = shares[-1]
    parts = claims.part_texts(_sums(places[worst]), claims.number_texts(most, "1", share=True).number)
    strip = ChartSeries(
        f"{noun}s", "points", tuple(map(float, range(1, len(shares) + 1))), tuple(100 * share for share, _ in shares),
        labels=tuple("" if len(shares) - i > _NAMED else name for i, name in enumerate(names)), names="points",
        role="series-1", marker="circle",
    )  # fmt: skip
    ticks = tuple((float(n), str(n)) for n in (1, len(shares)))
    axes = (
        Axis(f"{noun}s in the order of their loss", False, ticks),
        Axis(f"Share of the time of each {noun} that was lost, %", False, _percents(100 * most), "%"),
    )
    title = f"Share of the time of {names[-1]} that was lost, %"
    return _histogram(places[worst], title, parts), Panel(*axes, (strip,), height=0.7)


def _histogram(lanes: Sequence[LaneTime], title: str, parts: Sequence[str]) -> Panel:
    heights = [100 * share for share in share_by_length(lanes)]
    middles = tuple((low * high) ** 0.5 for low, high in pairwise(EDGES_S))
    spans = zip(pairwise((EDGES_S[0], *_BORDERS, EDGES_S[-1])), parts, _PARTS, strict=True)
    return Panel(
        Axis("length of one interruption", True, _DECADES, "s", ends=(EDGES_S[0], EDGES_S[-1])),
        Axis(title, False, _percents(max(heights)), "%"),
        (ChartSeries("lost", "bars", middles, tuple(heights), role="series-1", names="none"),),
        tuple(Mark(border, "") for border in _BORDERS),
        regions=tuple(Span(*span, f"{text}\n{part}") for span, text, part in spans),
    )


def _percents(most: float) -> tuple[tuple[float, str], ...]:
    ticks = even_ticks(most, lambda v: f"{v:g}")
    return ticks[:: max(1, len(ticks) // 4)]


def _sums(lanes: Sequence[LaneTime]) -> list[float]:
    """Return the shares of short, middle and long interruptions."""
    sums = [0.0, 0.0, 0.0]
    for edge, share in zip(EDGES_S, share_by_length(lanes), strict=False):
        sums[sum(edge * (1 + 1e-9) >= border for border in _BORDERS)] += share
    return sums


def _part_texts(figure: Figure) -> list[str]:
    return claims.part_texts(_sums(_lanes(figure)), claims.figure_texts(figure).number)


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
    alone, series = len(known) == 1, []
    for name in [*(name for name in order if any(name in mine for mine in parts)), "work"]:
        shares, texts = zip(*(mine.get(name, (0.0, "")) for mine in parts), strict=True) if parts else ((), ())
        series.append(
            ChartSeries(
                f"{texts[0]} {name}" if alone else name, "stack", tuple(100 * share for share in shares),
                tuple(map(float, range(len(known)))), labels=() if alone else texts, role=_ROLES.get(name, "grey"),
                names="legend",
            )
        )  # fmt: skip
    rows = tuple((float(i), "" if alone else short_name(one)) for i, (one, _) in enumerate(known))
    across = Axis("", False, (), "%", ends=(0.0, 100.0))
    return Panel(across, Axis("", False, rows, down=True), tuple(series), title="Causes of lost time")


def _rows(figure: Figure) -> list[tuple[str, ...]]:
    name, known = short_name(figure), causes(figure)
    rows: list[tuple[str, ...]] = []
    for (low, high), share in zip(pairwise(EDGES_S), share_by_length(_lanes(figure)), strict=True):
        if share:
            span = f"{units.si_text(low, 's')} to {units.si_text(high, 's')}"
            rows.append((name, span, f"{100 * share:.3g}{claims.NARROW}%"))
    return rows + [(name, cause, text) for cause, _, text in (_cause_texts(figure, known) if known else [])]
