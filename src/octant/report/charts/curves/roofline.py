"""The roofline of a run: kernels that count flops and bytes, under the roofs that the run measured itself."""

import math
from collections.abc import Sequence
from typing import NamedTuple

from octant import units
from octant.analysis.figures import Figure
from octant.analysis.names import knob_text, short_name
from octant.analysis.roofline import ABOVE, Kernel, Roofs, kernel, layouts
from octant.limit import MEMORY, Known
from octant.machine import Machine
from octant.report import claims
from octant.report.charts.curves.figure_curves import ROLES, Ladders
from octant.report.charts.picture import MAX_POINTS, Axis, ChartSeries, Note, Panel, Picture, Span, thin
from octant.report.charts.texts import picture_texts
from octant.report.charts.ticks import decades

_DASHES: dict[str, str] = {"L1": "dotted", "L2": "dashed", "L3": "dash-dot", MEMORY: "solid"}
_LEFT, _RIGHT = -5, 7  # powers of two of flop/B, widened to the data
_PRECISIONS = {"double": "dp", "single": "sp"}
_ABOVE_ROOF = "above the roof: units, counting or another clock"


class _Roofline(NamedTuple):
    """The contents of a panel: roofs, the kernels under them, and the cores that ran them."""

    roofs: Roofs
    kernels: list[Kernel]
    cores: str


def roofline(known: Known, figures: Sequence[Figure], ladders: Ladders) -> Picture | None:
    """Draw measured kernels under the measured roofs, on the fewest and on the most hardware threads.

    `None` without a peak, without memory, or without a kernel.
    """
    machine, panels = ladders.machine, list[_Roofline]()
    every = layouts(known, [figure for figure in figures if figure.show.table], ladders.extents)
    for roofs, under in [every[0], every[-1]] if len(every) > 1 else every:
        if kernels := list(filter(None, (kernel(roofs, figure, machine) for figure in under))):
            panels.append(_Roofline(roofs, thin(kernels, MAX_POINTS), _cores(machine, roofs)))
    if not panels:
        return None
    x, y = _axes(panels)
    kernels = [one for panel in panels for one in panel.kernels]
    texts = picture_texts(
        "roofline", panels=panels, kernel_text=_kernel_text, values=[one.figure.value for one in kernels],
        above=[_kernel_text(one) for one in kernels if (one.share or 0) > ABOVE], caveat=_ABOVE_ROOF,
        kept=len(kernels), total=sum(len(under) for _, under in every),
    )  # fmt: skip
    return Picture(
        "roofline", "Roofline", panels=tuple(_panel(panel, x, y) for panel in panels),
        header=("on", "what", "flop per byte", "rate", "share of its roof", "roof"),
        rows=tuple(row for panel in panels for row in _rows(ladders, panel)),
        beside=len(panels) > 1, width=1152 if len(panels) > 1 else 780, **texts,
    )  # fmt: skip


def _cores(machine: Machine, roofs: Roofs) -> str:
    """Return the cores of a layout: `1 core`, `2 cores`, `128 cores, 256 threads`."""
    cpus = {cpu.os: cpu.core for cpu in machine.topology.cpus}
    cores = len({(host, cpus.get(number, number)) for host, number in roofs.threads})
    threads = len(roofs.threads)
    return units.counted(cores, "core") + (f", {threads} threads" if threads > cores else "")


def _axes(panels: Sequence[_Roofline]) -> tuple[Axis, Axis]:
    """Return equal scales for all panels."""
    kernels = [one for panel in panels for one in panel.kernels]
    xs = [one.intensity for one in kernels]
    first, last = min(_LEFT, math.floor(math.log2(min(xs)))), max(_RIGHT, math.ceil(math.log2(max(xs))))
    ticks = tuple((2.0**p, f"1/{2**-p}" if p < 0 else f"{2**p}") for p in range(first, last + 1))
    rates = [end for one in kernels for end in (one.low, one.high)]
    tops = [panel.roofs.flats[0].flops_per_s for panel in panels]
    low, high = min(rates) / 2, max(*rates, *tops) * 1.6
    up = []
    for rate, _ in decades(low, high, str):
        scale, prefix = units.si_scale(rate)
        if low <= rate <= high and math.isclose(math.log10(rate), round(math.log10(rate)), abs_tol=1e-9):
            up.append((rate, f"{rate / scale:g}{prefix}"))  # the title has the unit
    return (
        Axis("flop per byte of traffic", True, ticks, ends=(2.0**first, 2.0**last)),
        Axis("flop/s", True, tuple(up), "flop/s", ends=(low, high)),
    )


def _panel(panel: _Roofline, x: Axis, y: Axis) -> Panel:
    roofs, ((left, right), (bottom, _)) = panel.roofs, (x.ends or (0.0, 0.0), y.ends or (0.0, 0.0))
    ridge, double = roofs.ridge, roofs.flat("double")
    notes = (Note(ridge, double.flops_per_s, f"ridge {ridge:.2g}", "x"),) if double and left < ridge < right else ()
    bounds = ((left, ridge, "memory-bound"), (ridge, right, "compute-bound"))
    regions = tuple(Span(*one, place="bottom") for one in bounds)
    series = (*_roofs(roofs, left, right, bottom), *_points(panel.kernels))
    return Panel(x, y, series, title=panel.cores, regions=regions if notes else (), notes=notes)


def _roofs(roofs: Roofs, left: float, right: float, bottom: float) -> list[ChartSeries]:
    """Return slanted roofs up to the highest flat one, and flat roofs from the steepest slanted one on."""
    top, steepest = roofs.flats[0].flops_per_s, max(slope.bytes_per_s for slope in roofs.slopes)
    series = []
    for slope in roofs.slopes:
        rate, name = slope.bytes_per_s, f"{slope.level} traffic {units.si_text(slope.bytes_per_s, 'B/s')}"
        begin, end = max(left, bottom / rate), top / rate
        dash = _DASHES[slope.extent.levels[0]]
        if begin < end:
            series.append(
                ChartSeries(
                    name, "line", (begin, end), (begin * rate, top), role="ink", dash=dash,  # type: ignore[arg-type]
                    names="along", short=slope.level,
                )
            )  # fmt: skip
    for flat in roofs.flats:
        name, short = (f"{flat.name}\n{units.si_text(flat.flops_per_s, unit).strip()}" for unit in ("flop/s", ""))
        xs = (max(left, flat.flops_per_s / steepest), right)
        ys = (flat.flops_per_s,) * 2
        series.append(ChartSeries(name, "line", xs, ys, role="ink", dash="solid", names="margin", short=short))
    return series


def _points(kernels: Sequence[Kernel]) -> list[ChartSeries]:
    groups: dict[str, list[Kernel]] = {}
    for one in kernels:
        groups.setdefault(one.figure.workload.name, []).append(one)
    series = []
    for number, (name, mine) in enumerate(groups.items()):
        xs, ys, low, high = zip(*((one.intensity, one.rate, one.low, one.high) for one in mine), strict=True)
        series.append(
            ChartSeries(
                name, "points", xs, ys, low, high, tuple(map(_kernel_text, mine)),
                tuple(_kernel_text(one, _short_name(one, mine)) for one in mine),
                role=ROLES[number % len(ROLES)], names="points", open=tuple(one.figure.invalid for one in mine),
            )
        )  # fmt: skip
    return series


def _kernel_text(one: Kernel, name: str = "") -> str:
    """Return a kernel with its share: `Triad, streaming stores 98 %`; the panel has the number of cores."""
    name = name or short_name(one.figure, with_place=False)
    return f"{name}{', ' if one.is_limit else ' '}{_share_text(one)}".rstrip()


def _short_name(one: Kernel, others: Sequence[Kernel]) -> str:
    """Return the workload and the values of knobs that differ in its colour: `gemm 256 dp`."""
    knobs = one.figure.knobs
    names = [name for name in knobs if name != "threads" and len({of.figure.knobs.get(name) for of in others}) > 1]
    values = [_PRECISIONS.get(knobs[name]) or knob_text(name, knobs[name], bare=True) for name in names[:2]]
    return " ".join([one.figure.workload.name.rpartition("/")[2], *values])


def _share_text(one: Kernel) -> str:
    share = "" if one.share is None else units.percent_text(one.share)
    return "the limit" if one.is_limit else share


def _rows(ladders: Ladders, panel: _Roofline) -> list[tuple[str, ...]]:
    """Return a row per roof, with what the ladder of the run shows at its level, and a row per kernel."""
    cores, rows = panel.cores, list[tuple[str, ...]]()
    ladder = ladders.rates_like(panel.roofs.threads)
    plateaus = {one.levels: one.value for one in reversed(ladder.curve.plateaus)} if ladder else {}
    for slope in panel.roofs.slopes:
        value = plateaus.get(slope.extent.levels)
        plateau = "" if value is None else f"plateau of the ladder: {claims.quantity(value, 'B/s')}"
        rate = f"{units.si_text(slope.bytes_per_s, 'B/s')} of traffic"
        rows.append((cores, f"roof: {slope.level}", "", rate, "", plateau))
    flats = [(flat.name, units.si_text(flat.flops_per_s, "flop/s")) for flat in panel.roofs.flats]
    rows += [(cores, f"roof: {name}", "", rate, "", "") for name, rate in flats]
    for one in panel.kernels:
        name, rate = short_name(one.figure, with_place=False), units.si_text(one.rate, "flop/s")
        share = "not measurable" if one.figure.invalid else _share_text(one)
        beyond = f" ({_ABOVE_ROOF})" if (one.share or 0) > ABOVE else ""
        rows.append((cores, name, f"{one.intensity:.3g}", rate, share + beyond, one.roof_name))
    return rows
