"""Random pictures of every kind, with names of any length, for tests of their layout."""

from hypothesis import strategies as st

from octant.report.charts.picture import Axis, Band, ChartSeries, Column, LevelLine, Mark, Note, Panel, Picture, Region

_WORDS = ["triad", "plain", "256", "MiB", "Ωmega", "⅛", "WWWWWWWWWWWW", "i", "a,b", "µs", "×", "kernel", "中文", "1.43"]
WORDS = st.lists(
    st.sampled_from(
        ["triad", "plain", "256", "MiB", "Ωmega", "⅛", "WWWWWWWWWWWW", "i", "a,b", "µs", "×", "kernel", "中文", "1.43"]
    ),
    min_size=1,
    max_size=6,
)
NAMES = WORDS.map(" ".join) | st.text(max_size=200)
ROLES = st.sampled_from(["", "", "series-1", "series-2", "series-3", "series-4", "ink", "grey", "faint", "published"])


def values(log: bool) -> st.SearchStrategy[float]:
    """Values of an axis, some of which it cannot show."""
    usual = st.floats(1e-9, 1e12) if log else st.floats(-1e3, 1e6)
    return usual | st.sampled_from([1.0, 8.0, 512.0, 0.0, float("inf"), float("nan")])


@st.composite
def axes(draw: st.DrawFn, log: bool) -> Axis:
    """Return a numeric axis with ticks of its own."""
    ticks = draw(st.lists(st.tuples(values(log), NAMES), max_size=12))
    ends = draw(st.none() | st.just((1.0, 1024.0)))
    return Axis(draw(NAMES), log, tuple(ticks), draw(st.sampled_from(["", "s", "B", "B/s", "1"])), ends=ends)


@st.composite
def series(draw: st.DrawFn, kinds: list[str], log: bool, rows: int = 0) -> ChartSeries:
    """Return a series of one of the kinds, with ends, launches and labels or without."""
    kind = draw(st.sampled_from(kinds))
    upright = st.integers(0, rows - 1).map(float) if rows else values(log)
    points = draw(st.lists(st.tuples(values(log), upright), max_size=12))
    xs, ys = tuple(x for x, _ in points), tuple(y for _, y in points)
    middle = xs if rows else ys
    wide = draw(st.booleans()) or kind == "band"
    names = "points legend none end" if rows else "end along margin points legend none"
    return ChartSeries(
        draw(NAMES),
        kind,  # type: ignore[arg-type]
        xs,
        ys,
        tuple(v * 0.8 for v in middle) if wide else (),
        tuple(v * 1.3 for v in middle) if wide else (),
        tuple(draw(NAMES) for _ in points) if draw(st.booleans()) else (),
        role=draw(ROLES),  # type: ignore[arg-type]
        names=draw(st.sampled_from(names.split())),
        dots=tuple((x * 1.01, y) for x, y in points) if draw(st.booleans()) else (),
        open=tuple(draw(st.booleans()) for _ in points),
    )


@st.composite
def plots(draw: st.DrawFn) -> Panel:
    """Return a panel with two numeric axes."""
    log_x, log_y = draw(st.booleans()), draw(st.booleans())
    place = values(log_x)
    kinds = ["curve", "points", "line", "bars", "band"]
    upright, lines = values(log_y), st.lists(NAMES, max_size=3).map(tuple)
    found = {
        "series": series(kinds, log_x and log_y),
        "marks": st.builds(Mark, place, NAMES),
        "bands": st.builds(Band, place, place, NAMES),
        "levels": st.builds(LevelLine, place, place, upright, NAMES),
        "regions": st.builds(Region, place, place, lines, st.sampled_from(["top", "bottom"])),
        "notes": st.builds(Note, place, upright, NAMES, st.sampled_from(["", "x", "both"])),
    }
    parts = {name: tuple(draw(st.lists(one, max_size=4))) for name, one in found.items()}
    height = draw(st.sampled_from([0.6, 1.0, 1.5]))
    return Panel(draw(axes(log_x)), draw(axes(log_y)), title=draw(NAMES), height=height, **parts)  # type: ignore[arg-type]


@st.composite
def rows(draw: st.DrawFn) -> Panel:
    """Return a panel of named rows with columns."""
    count = draw(st.integers(1, 6))
    log = draw(st.booleans())
    kinds = draw(st.sampled_from([["rows"], ["across"], ["stack"]]))
    cells = st.lists(NAMES, min_size=count, max_size=count).map(tuple)
    place = values(log)
    return Panel(
        draw(axes(log)),
        Axis("", False, tuple((float(i), draw(NAMES)) for i in range(count)), down=True),
        tuple(draw(st.lists(series(kinds, log, count), max_size=4))),
        tuple(draw(st.lists(st.builds(Mark, place, NAMES), max_size=2))),
        draw(NAMES),
        tuple(draw(st.lists(st.builds(Band, place, place, NAMES), max_size=2))),
        notes=tuple(draw(st.lists(st.builds(Note, place, st.integers(0, count - 1).map(float), NAMES), max_size=2))),
        columns=tuple(draw(st.lists(st.builds(Column, NAMES, cells), max_size=3))),
    )


@st.composite
def pictures(draw: st.DrawFn) -> Picture:
    """Return a picture of one to three panels."""
    panels = draw(st.lists(plots() | rows(), min_size=1, max_size=3))
    if draw(st.booleans()):
        panels = panels[:1] * 2  # one x axis
    width = draw(st.sampled_from([1152, 780, 564]))
    return Picture("p", draw(NAMES), draw(NAMES), tuple(panels), (), (), beside=draw(st.booleans()), width=width)  # type: ignore[arg-type]
