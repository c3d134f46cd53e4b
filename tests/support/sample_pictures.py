"""Pictures of every kind as data, with the numbers of a small machine, for tests that lay them out."""

import math

from octant.report.charts.picture import (
    Axis,
    ChartSeries,
    Column,
    Mark,
    Note,
    Panel,
    Picture,
    Span,
    Tone,
)

KIB, MIB = 2.0**10, 2.0**20


def every() -> list[Picture]:
    """One of each kind."""
    return [roofline(), ladder(), messages(), noise(), balance(), comparison(), study(), phases()]


def _picture(name: str, *panels: Panel, **more: object) -> Picture:
    title = name.capitalize()
    return Picture(name, title, f"How to read {name}.", panels, ("what",), (("one",),), f"{title}.", **more)  # type: ignore[arg-type]


def _spread(y: float, *factors: float) -> list[float]:
    return [y * factor for factor in factors]


def roofline() -> Picture:
    """Two panels side by side with slanted and flat roofs, a ridge and named points."""
    powers = tuple((2.0**p, f"1/{2**-p}" if p < 0 else f"{2**p}") for p in range(-5, 8))
    across = Axis("flop per byte of traffic", True, powers, ends=(2.0**-5, 2.0**7))
    rates = Axis("flop/s", True, ((1e9, "1G"), (1e10, "10G"), (1e11, "100G")), "flop/s", ends=(5e8, 4e11))
    shapes = {
        "One core": ((271e9, 106e9, 14.2e9), (134e9, 66.8e9)),
        "Two cores": ((367e9, None, 26.1e9), (258e9, 129e9)),
    }
    panels = []
    for title, (traffic, (single, double)) in shapes.items():
        roofs = [
            _roof(f"{name} {speed / 1e9:.3g} GB/s", speed, single, dash)
            for name, speed, dash in zip(("L1", "L2", "memory"), traffic, ("dotted", "dashed", "solid"), strict=True)
            if speed
        ]
        flats = [
            ChartSeries(
                f"{name}\n{peak / 1e9:.3g} Gflop/s", "line", (peak / (traffic[0] or 1), 2.0**7), (peak, peak),
                role="ink", dash="solid", names="margin",
            )
            for name, peak in (("single", single), ("double", double))
        ]  # fmt: skip
        memory = traffic[-1] or 1.0
        ridge = double / memory
        triads = ChartSeries(
            "triad", "points", (1 / 16, 1 / 16, 1 / 16, 1 / 12), (15.9e9, 6.6e9, 0.9e9, 1.17e9),
            labels=("triad, L1 94 %", "triad, L2 99 %", "triad, memory, the limit", "triad, streaming stores 98 %"),
            low=(15e9, 5.3e9, 0.88e9, 1.1e9), high=(16e9, 7.9e9, 0.9e9, 1.2e9), names="points",
            open=(False, True, False, False), marker="circle", role="series-1",
        )  # fmt: skip
        gemms = ChartSeries(
            "gemm", "points", (41.0, 83.0), (0.55 * double, 0.56 * single), labels=("dgemm 512 55 %", "sgemm 512 56 %"),
            low=(0.45 * double, 0.5 * single), high=(0.65 * double, 0.6 * single), names="points", marker="square",
            role="series-1",
        )  # fmt: skip
        regions = (
            Span(2.0**-5, ridge, "memory bounds", place="bottom"),
            Span(ridge, 2.0**7, "arithmetic bounds", place="bottom"),
        )
        note = Note(ridge, double, f"ridge {ridge:.2g}", "x")
        panels.append(
            Panel(across, rates, (*roofs, *flats, triads, gemms), title=title, regions=regions, notes=(note,))
        )
    return _picture("roofline", *panels, beside=True, width=1152)


def _roof(name: str, speed: float, peak: float, dash: str) -> ChartSeries:
    xs = (2.0**-5, peak / speed)
    ys = (xs[0] * speed, peak)
    return ChartSeries(name, "line", xs, ys, role="ink", dash=dash, names="along", short=name.split()[0])  # type: ignore[arg-type]


def ladder() -> Picture:
    """Two panels with one x: bandwidth and latency by footprint, with plateaus, edges and stated sizes."""
    feet = tuple(8 * KIB * 2**i for i in range(16))
    ticks = tuple((8 * KIB * 4**i, text) for i, text in enumerate(
        ("8 KiB", "32 KiB", "128 KiB", "512 KiB", "2 MiB", "8 MiB", "32 MiB", "128 MiB")
    ))  # fmt: skip
    across = Axis("footprint", True, ticks, "B")
    marks = (Mark(48 * KIB, "L1 48 KiB"), Mark(2 * MIB, "L2 2 MiB"), Mark(105 * MIB, "L3 105 MiB (of the host)"))

    def along(levels: tuple[float, ...], places: tuple[int, ...]) -> tuple[float, ...]:
        return tuple(levels[sum(i > place for place in places)] * (1 + 0.06 * math.sin(3 * i)) for i in range(16))

    rates = along((200e9, 71e9, 19.5e9, 10.5e9), (2, 7, 11))
    small, huge = along((2.32e-9, 7.3e-9, 190e-9), (2, 7)), along((2.32e-9, 7.29e-9, 158e-9), (2, 7))

    def curve(name: str, ys: tuple[float, ...], role: str, short: str = "") -> ChartSeries:
        dots = tuple((x, at) for x, y in zip(feet, ys, strict=True) for at in _spread(y, 0.93, 1.04, 1.2))
        return ChartSeries(name, "curve", feet, ys, role=role, dots=dots, short=short)  # type: ignore[arg-type]

    upper = Panel(
        across,
        Axis("Bandwidth of triad, B/s", True, tuple((v * 1e9, f"{v}G") for v in (10, 20, 50, 100, 200)), "B/s"),
        (curve("triad, plain", rates, "series-1", "triad"),),
        marks,
        bands=(Span(32 * KIB, 64 * KIB), Span(1 * MIB, 2 * MIB), Span(16 * MIB, 32 * MIB)),
        levels=(
            Span(16 * KIB, 32 * KIB, "201 GB/s", 200e9), Span(64 * KIB, MIB, "71.3 GB/s", 71e9),
            Span(4 * MIB, 16 * MIB, "19.5 GB/s", 19.5e9), Span(32 * MIB, 256 * MIB, "10.5 GB/s", 10.5e9),
        ),
    )  # fmt: skip
    lower = Panel(
        across,
        Axis("Latency of one load, s", True, ((1e-9, "1n"), (1e-8, "10n"), (1e-7, "100n")), "s"),
        (curve("base pages", small, "series-2", "base"), curve("huge pages", huge, "series-1", "huge")),
        marks,
        bands=(Span(32 * KIB, 64 * KIB), Span(1 * MIB, 2 * MIB)),
        levels=(
            Span(8 * KIB, 32 * KIB, "L1 2.32 ns, to 32 KiB", 2.32e-9),
            Span(64 * KIB, MIB, "L2 7.29 ns, to 1 MiB", 7.29e-9),
            Span(2 * MIB, 256 * MIB, "beyond L2 158 ns", 158e-9),
        ),
        notes=(Note(256 * MIB, 174e-9, "× 1.43"),),
        height=1.1,
    )
    return _picture("ladder", upper, lower)


def messages() -> Picture:
    """Time above and bandwidth below, with segments, N½ and its guides."""
    sizes = (0.5, *(8.0 * 2**i for i in range(20)))
    ticks = tuple((8.0 * 8**i, text) for i, text in enumerate(
        ("8 B", "64 B", "512 B", "4 KiB", "32 KiB", "256 KiB", "2 MiB")
    ))  # fmt: skip
    across = Axis("length of the message", True, ((0.5, "0"), *ticks), "B")
    times = tuple(1.5e-6 + n / 12e9 * (1 if n < 1e6 else 5) for n in sizes)
    late = tuple(1.5e-6 + n / 2.6e9 for n in sizes)
    breaks = (Mark(6 * KIB, ""), Mark(700 * KIB, ""))
    dots = tuple((x, at) for x, y in zip(sizes, times, strict=True) for at in _spread(y, 0.96, 1.3))
    regions = (
        Span(8, 6 * KIB, "1.5 µs + n/2.6 GB/s\nA: to 4 KiB"),
        Span(6 * KIB, 700 * KIB, "4.5 µs + n/14 GB/s\nB: 8 to 512 KiB"),
        Span(700 * KIB, 4 * MIB, "C\nfrom 1 MiB: no line fits (error 55 %)"),
    )
    upper = Panel(
        across,
        Axis("Time of one message", True, ((1e-6, "1 µs"), (1e-5, "10 µs"), (1e-4, "100 µs"), (1e-3, "1 ms")), "s"),
        (
            ChartSeries("same buffer", "curve", sizes, times, role="series-1", dots=dots),
            ChartSeries("new buffers", "curve", sizes[9:], late[9:], role="series-2"),
            ChartSeries("fit A", "line", sizes[1:11], times[1:11], role="ink", dash="dotted", names="none"),
        ),
        breaks,
        regions=regions,
        notes=(Note(8, times[1], "8 B: 1.51 µs"),),
    )  # fmt: skip
    rates, slow = (tuple(n / t for n, t in zip(sizes, ts, strict=True)) for ts in (times, late))
    best = max(range(len(sizes)), key=lambda i: rates[i])
    lower = Panel(
        across,
        Axis("Bandwidth, GB/s", False, tuple((v * 1e9, f"{v}") for v in (0, 4, 8, 12, 16)), "B/s"),
        (
            ChartSeries("same buffer", "curve", sizes, rates, role="series-1", names="none"),
            ChartSeries("new buffers", "curve", sizes[9:], slow[9:], role="series-2", names="none"),
        ),
        breaks,
        notes=(
            Note(sizes[best], rates[best], "best 12.2 GB/s at 512 KiB"),
            Note(18 * KIB, rates[best] / 2, "N½ = 52 KiB", "both", "diamond"),
            Note(sizes[-1], rates[-1], "2.4"),
        ),
    )
    return _picture("messages", upper, lower)


def noise() -> Picture:
    """Return a histogram of lost time with sums, and one stacked bar under it."""
    xs = tuple(1e-7 * 10 ** (i / 4) for i in range(20))
    ys = (0.01, 0.02, 0.05, 1.0, 1.8, 1.2, 0.1, 0.1, 1.3, 1.6, 0.4, 0.1, 0.2, 0.7, 2.3, 0.1, 0.2, 0.3, 9.0, 0.0)
    names = ("0.1 µs", "1 µs", "10 µs", "100 µs", "1 ms", "10 ms", "100 ms")
    ticks = tuple((10.0 ** (p - 7), name) for p, name in enumerate(names))
    histogram = Panel(
        Axis("length of one interruption", True, ticks, "s"),
        Axis("Share of all time that was lost, %", False, ((0, "0"), (5, "5"), (10, "10")), "%"),
        (ChartSeries("lost", "bars", xs, ys, role="series-1", names="none"),),
        (Mark(1e-5, ""), Mark(1e-3, "")),
        regions=(
            Span(1e-7, 1e-5, "4.3 %\nunder 10 µs"),
            Span(1e-5, 1e-3, "6.5 %\n10 µs to 1 ms"),
            Span(1e-3, 0.1, "9.5 %\nover 1 ms"),
        ),
    )
    causes = zip(
        ("11 % other processes", "9 % unexplained", "0.0 % host", "80 % work"),
        (11.0, 9.0, 0.0, 80.0),
        ("series-2", "series-1", "grey", "faint"),
        strict=True,
    )
    bar = Panel(
        Axis("", False, (), "%", ends=(0, 100)),
        Axis("", False, ((0.0, ""),), down=True),
        tuple(ChartSeries(name, "stack", (x,), (0.0,), role=role, names="legend") for name, x, role in causes),  # type: ignore[arg-type]
        title="Where the time went",
    )
    return _picture("noise", histogram, bar, width=564)


def balance() -> Picture:
    """Rows with two places each, launches as dots, and a column."""
    names = ("Peak, double", "Triad, memory", "Load, L2", "dgemm 512", "Latency, huge pages")
    off = (-2.4, -0.5, -1.1, 7.4, 0.2)
    rows = tuple(map(float, range(5)))

    def place(name: str, sign: float) -> ChartSeries:
        xs = tuple(sign * v for v in off)
        ends = tuple((x - 3 - abs(x) * 1.4, x + 3 + abs(x) * 1.4) for x in xs)
        dots = tuple((x + d, y) for x, y in zip(xs, rows, strict=True) for d in (-6, 1, 5))
        low, high = tuple(low for low, _ in ends), tuple(high for _, high in ends)
        return ChartSeries(name, "rows", xs, rows, low, high, dots=dots)

    ticks = ((-20.0, "−20 %"), (-10.0, "−10 %"), (0.0, "0 %"), (10.0, "+10 %"), (20.0, "+20 %"))
    panel = Panel(
        Axis("Speed of each core against the mean of both", False, ticks, "%", ends=(-20, 20)),
        Axis("", False, tuple(zip(rows, names, strict=True)), down=True),
        (place("core 0", 1), place("core 1", -1)),
        (Mark(0, "", "solid"),),
        columns=(Column("ratio", ("95 %", "99 %", "98 %", "87 %", "100 %"), ("ink", "", "", "", "")),),
    )
    return _picture("balance", panel, width=564)


def comparison() -> Picture:
    """Paired ratios with the margin, what could have been found, and verdicts."""
    rows: tuple[tuple[str, float, float, float, float, str, Tone], ...] = (
        ("Random updates, 256 MiB", 1.05, 0.93, 1.19, 0.18, "cannot tell", "limited"),
        ("Random load, 16 KiB", 1.01, 0.97, 1.05, 0.05, "no verdict: 3 of 4 rounds", "soft"),
        ("Random load, 512 KiB", 1.21, 1.14, 1.29, 0.08, "no verdict: 3 of 4 rounds", "soft"),
        ("Triad, 1 core", 1.26, 1.16, 1.38, 0.13, "at least 3 % faster", "good"),
        ("Triad, streaming stores, 2 cores", 0.8, 0.7, 0.9, 0.09, "at least 3 % slower", "wrong"),
        ("Peak, double, 1 core", 2.19, 1.69, 2.6, 0.42, "at least 3 % faster", "good"),
    )
    ys = tuple(map(float, range(len(rows))))
    ratio = ChartSeries(
        "speed of B over A, 95 % interval", "rows", tuple(r[1] for r in rows), ys, tuple(r[2] for r in rows),
        tuple(r[3] for r in rows),
    )  # fmt: skip
    found = tuple((sign, y) for r, y in zip(rows, ys, strict=True) for sign in (1 / (1 + r[4]), 1 + r[4]))
    could = ChartSeries(
        "could have found (power 80 %)", "rows", tuple(x for x, _ in found), tuple(y for _, y in found), role="grey",
        marker="tick",
    )  # fmt: skip
    panel = Panel(
        Axis("", True, tuple((v, f"× {v:g}") for v in (0.8, 1, 1.25, 1.5, 2)), "1", ends=(0.72, 2.3)),
        Axis("", False, tuple((y, r[0]) for y, r in zip(ys, rows, strict=True)), down=True),
        (ratio, could),
        (Mark(1, "", "solid"),),
        "Speed of B over A, 95 % interval of paired rounds",
        (Span(1 / 1.03, 1.03, "counts as equal: 3 %"),),
        regions=(Span(0.72, 1, "← B slower"), Span(1, 1.4, "B faster →")),
        columns=(
            Column("ratio", tuple(f"{r[1]:.2f}" for r in rows), tuple("ink" for _ in rows)),
            Column("could have found", tuple(f"± {r[4]:.0%}" for r in rows)),
            Column("verdict", tuple(r[5] for r in rows), tuple(r[6] for r in rows)),
        ),
    )
    return _picture("comparison", panel, width=1152)


def study() -> Picture:
    """Ratios to a baseline here and published, with words where nothing was measured."""
    names = (
        "no binding, memory anywhere, small pages",
        "bound",
        "bound, local memory",
        "the same, one rank per hardware thread",
    )
    ys = (0.0, 1.0, 2.0, 3.0)
    panel = Panel(
        Axis("", True, tuple((v, f"× {v:g}") for v in (0.8, 1, 1.25, 1.5, 2, 2.5)), "1", ends=(0.8, 2.6)),
        Axis("", False, tuple(zip(ys, names, strict=True)), down=True),
        (
            ChartSeries(
                "here, 95 % interval", "rows", (1.0, 1.01, 1.0), ys[:3], (1.0, 0.92, 0.93), (1.0, 1.4, 1.39),
                labels=("baseline", "", ""), names="points",
            ),
            ChartSeries("published", "rows", (1.0, 1.0, 2.14, 2.05), ys, role="published"),
        ),
        (Mark(1, "", "solid"),),
        "Bandwidth against the baseline of each machine",
        notes=(Note(1.0, 3.0, "not measured: one hardware thread a core"),),
        columns=(
            Column("here", ("17.9 GB/s", "18.1 GB/s", "18.0 GB/s", "–")),
            Column("Power 755, published", ("57 GB/s", "57 GB/s", "122 GB/s", "117 GB/s")),
        ),
    )  # fmt: skip
    return _picture("study", panel, width=1152)


def phases() -> Picture:
    """Stacked bars of phases, and bars that lie, with their ends."""
    ys = (0.0, 1.0, 2.0)
    across = Axis("time of a step", False, tuple((v * 1e-3, f"{v} ms" if v else "0") for v in (0, 2, 4, 6, 8)), "s")
    along = Axis("ranks", False, ((0.0, "1 rank"), (1.0, "2 ranks, bound"), (2.0, "4 ranks")), down=True)
    parts = {
        "compute": (6e-3, 3e-3, 1.6e-3),
        "halo": (0.0, 0.4e-3, 0.6e-3),
        "rest of the step": (1e-3, 0.2e-3, 0.1e-3),
    }
    stack = Panel(across, along, tuple(ChartSeries(name, "stack", xs, ys) for name, xs in parts.items()))
    rates = Axis("bandwidth", False, tuple((v * 1e9, f"{v} GB/s" if v else "0") for v in (0, 5, 10, 15)), "B/s")
    bars = Panel(
        rates,
        along,
        (
            ChartSeries("here", "across", (5e9, 9e9, 12e9), ys, (4.5e9, 8e9, 11e9), (5.5e9, 9.6e9, 13e9)),
            ChartSeries("published", "across", (6e9, 10e9, 14e9), ys, role="published"),
        ),
    )
    return _picture("phases", stack, bars)
