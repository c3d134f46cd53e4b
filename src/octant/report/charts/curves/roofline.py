"""The roofline of a run: kernels that count flops and bytes, under the roofs that the run measured itself."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from octant import units
from octant.analysis.names import knob_text, short_name
from octant.analysis.roofline import ABOVE, kernel, layouts
from octant.limit import MEMORY
from octant.report import claims
from octant.report.charts.picture import (
    MOST_POINTS,
    Axis,
    ChartSeries,
    Note,
    Panel,
    Picture,
    Region,
    thin,
    thinned_text,
)
from octant.report.charts.ticks import decades

if TYPE_CHECKING:
    from collections.abc import Sequence

    from octant.analysis.figures import Figure
    from octant.analysis.roofline import Kernel, Roofs, Slope
    from octant.limit import Known
    from octant.machine import Machine
    from octant.report.charts.curves.rungs import Ladders
    from octant.report.charts.picture import Role

_DASHES: dict[str, str] = {"L1": "dotted", "L2": "dashed", "L3": "dash-dot", MEMORY: "solid"}
_LEFT, _RIGHT = -5, 7  # powers of two of flop/B, widened to the data
_ROLES: tuple[Role, ...] = ("series-1", "series-2", "series-3", "series-4")
_PRECISIONS = {"double": "dp", "single": "sp"}
_CAVEAT = "above the roof: units, counting or another clock"
_Panel = tuple["Roofs", "list[Kernel]", "str"]


def roofline(known: Known, figures: Sequence[Figure], ladders: Ladders) -> Picture | None:
    """Measured kernels under the measured roofs, on the fewest and on the most hardware threads.

    `None` without a peak, without memory, or without a kernel.
    """
    machine = ladders.machine
    found = layouts(known, [figure for figure in figures if figure.show.table], ladders.extents)
    shown = [found[0], found[-1]] if len(found) > 1 else found
    panels: list[_Panel] = []
    for over, under in shown:
        kernels = [one for figure in under for one in [kernel(over, figure, machine)] if one]
        if kernels:
            panels.append((over, thin(kernels, MOST_POINTS), _cores(machine, over)))
    if not panels:
        return None
    drawn = sum(len(kernels) for _, kernels, _ in panels)
    x, y = _axes(panels)
    above = [one for _, kernels, _ in panels for one in kernels if (one.share or 0) > ABOVE]
    caption = (
        "Roofs are the best traffic that any loop of this run reached in each level, and its multiply-adds in each "
        "precision; they are the limits of the table. Levels are those that the memory ladder shows; where too few of "
        "its footprints could be measured, the stated cache sizes give them. Traffic has lines that stores read first, "
        "so a roof may be above the plateau of the memory ladder, a median of the bytes that a loop asks for. "
        "Percentages are of the roof above the point; open marks are not measurable."
    )
    caption += claims.caption(one.figure.value for _, kernels, _ in panels for one in kernels)
    caption += f" {' and '.join(map(_words, above))}: {_CAVEAT}." * bool(above)
    return Picture(
        "roofline", "Roofline",
        caption + thinned_text(drawn, sum(len(under) for _, under in found), "kernels"),
        tuple(_panel(over, kernels, cores, x, y) for over, kernels, cores in panels),
        ("on", "what", "flop per byte", "rate", "share of its roof", "roof"),
        tuple(row for panel in panels for row in _rows(ladders, *panel)),
        "; ".join(_sentence(*panel) for panel in panels) + ".",
        tuple((f"ridge, {cores}", f"{over.ridge:.2g} flop per byte of memory") for over, _, cores in panels),
        beside=len(panels) > 1, width=1152 if len(panels) > 1 else 780,
    )  # fmt: skip


def _cores(machine: Machine, over: Roofs) -> str:
    """`1 core`, `2 cores`, `128 cores, 256 threads`."""
    cpus = {cpu.os: cpu.core for cpu in machine.topology.cpus}
    cores = len({(host, cpus.get(number, number)) for host, number in over.threads})
    threads = len(over.threads)
    return units.counted(cores, "core") + (f", {threads} threads" if threads > cores else "")


def _axes(panels: Sequence[_Panel]) -> tuple[Axis, Axis]:
    """Equal scales for all panels."""
    xs = [one.intensity for _, kernels, _ in panels for one in kernels]
    first, last = min(_LEFT, math.floor(math.log2(min(xs)))), max(_RIGHT, math.ceil(math.log2(max(xs))))
    powers = range(first, last + 1)
    ticks = tuple((2.0**p, f"1/{2**-p}" if p < 0 else f"{2**p}") for p in powers)
    rates = [end for _, kernels, _ in panels for one in kernels for end in (one.low, one.high)]
    tops = [over.flats[0].flops_per_s for over, _, _ in panels]
    low, high = min(rates) / 2, max(*rates, *tops) * 1.6
    up = tuple(tick for tick in decades(low, high, _scaled) if low <= tick[0] <= high and _is_decade(tick[0]))
    return (
        Axis("flop per byte of traffic", True, ticks, ends=(2.0**first, 2.0**last)),
        Axis("flop/s", True, up, "flop/s", ends=(low, high)),
    )


def _scaled(value: float) -> str:
    """`100G`: the title has the unit."""
    scale, prefix = units.si_scale(value)
    return f"{value / scale:g}{prefix}"


def _is_decade(value: float) -> bool:
    return math.isclose(math.log10(value), round(math.log10(value)), abs_tol=1e-9)


def _panel(over: Roofs, kernels: Sequence[Kernel], cores: str, x: Axis, y: Axis) -> Panel:
    (left, right), (bottom, _) = x.ends or (0.0, 0.0), y.ends or (0.0, 0.0)
    ridge, double = over.ridge, over.flat("double")
    notes = (Note(ridge, double.flops_per_s, f"ridge {ridge:.2g}", "x"),) if double and left < ridge < right else ()
    regions = (
        Region(left, ridge, ("memory bounds",), "bottom"),
        Region(ridge, right, ("arithmetic bounds",), "bottom"),
    )
    return Panel(
        x, y, (*_slopes(over, left, bottom), *_flats(over, left, right), *_points(kernels)), title=cores,
        regions=regions if notes else (), notes=notes,
    )  # fmt: skip


def _slopes(over: Roofs, left: float, bottom: float) -> list[ChartSeries]:
    """From where they enter the picture to the highest flat roof."""
    top = over.flats[0].flops_per_s
    found = []
    for slope in over.slopes:
        begin, end = max(left, bottom / slope.bytes_per_s), top / slope.bytes_per_s
        if begin < end:
            found.append(
                ChartSeries(
                    f"{slope.level} traffic {units.si_text(slope.bytes_per_s, 'B/s')}", "line", (begin, end),
                    (begin * slope.bytes_per_s, top), role="ink",
                    dash=_DASHES[slope.extent.levels[0]],  # type: ignore[arg-type]
                    names="along", short=slope.level,
                )
            )  # fmt: skip
    return found


def _flats(over: Roofs, left: float, right: float) -> list[ChartSeries]:
    """From the steepest slanted roof to the right end."""
    steepest = max(slope.bytes_per_s for slope in over.slopes)
    return [
        ChartSeries(
            f"{flat.name}\n{units.si_text(flat.flops_per_s, 'flop/s')}", "line",
            (max(left, flat.flops_per_s / steepest), right), (flat.flops_per_s,) * 2, role="ink", dash="solid",
            names="margin", short=f"{flat.name}\n{units.si_text(flat.flops_per_s, '').strip()}",
        )
        for flat in over.flats
    ]  # fmt: skip


def _points(kernels: Sequence[Kernel]) -> list[ChartSeries]:
    """A series for each workload."""
    groups: dict[str, list[Kernel]] = {}
    for one in kernels:
        groups.setdefault(one.figure.workload.name, []).append(one)
    return [
        ChartSeries(
            name, "points", tuple(one.intensity for one in mine), tuple(one.rate for one in mine),
            tuple(one.low for one in mine), tuple(one.high for one in mine),
            tuple(map(_words, mine)),
            short_labels=tuple(_with_share(_short(one, mine), one) for one in mine),
            role=_ROLES[number % len(_ROLES)], names="points", open=tuple(one.figure.invalid for one in mine),
        )
        for number, (name, mine) in enumerate(groups.items())
    ]  # fmt: skip


def _words(one: Kernel) -> str:
    """`Triad, streaming stores 98 %`; on how many cores says the panel."""
    return _with_share(short_name(one.figure, with_place=False), one)


def _short(one: Kernel, others: Sequence[Kernel]) -> str:
    """`gemm 256 dp`: the workload and the values of knobs that tell it from the others of its colour."""
    knobs = one.figure.knobs
    telling = [
        name for name in knobs if name != "threads" and len({other.figure.knobs.get(name) for other in others}) > 1
    ]
    values = [_PRECISIONS.get(knobs[name]) or knob_text(name, knobs[name], bare=True) for name in telling[:2]]
    return " ".join([one.figure.workload.name.rpartition("/")[2], *values])


def _with_share(name: str, one: Kernel) -> str:
    return f"{name}, the limit" if one.is_limit else f"{name} {_share_text(one)}".rstrip()


def _share_text(one: Kernel) -> str:
    if one.is_limit:
        return "the limit"
    if one.share is None:
        return ""
    return units.percent_text(one.share)


def _rows(ladders: Ladders, over: Roofs, kernels: Sequence[Kernel], cores: str) -> list[tuple[str, ...]]:
    found: list[tuple[str, ...]] = []
    for slope in over.slopes:
        rate = f"{units.si_text(slope.bytes_per_s, 'B/s')} of traffic"
        found.append((cores, f"roof: {slope.level}", "", rate, "", _plateau_text(ladders, over, slope)))
    found += [
        (cores, f"roof: {flat.name}", "", units.si_text(flat.flops_per_s, "flop/s"), "", "") for flat in over.flats
    ]
    for one in kernels:
        name, rate = short_name(one.figure, with_place=False), units.si_text(one.rate, "flop/s")
        share = "not measurable" if one.figure.invalid else _share_text(one)
        beyond = f" ({_CAVEAT})" if (one.share or 0) > ABOVE else ""
        found.append((cores, name, f"{one.intensity:.3g}", rate, share + beyond, one.roof_name))
    return found


def _plateau_text(ladders: Ladders, over: Roofs, slope: Slope) -> str:
    """What the ladder of the same run says of the level of a roof: `plateau of the ladder: 195 GB/s`."""
    rung = ladders.rates_like(over.threads)
    plateaus = rung.curve.plateaus if rung else ()
    found = next((one for one in plateaus if one.levels == slope.extent.levels), None)
    return f"plateau of the ladder: {claims.quantity(found.value, 'B/s')}" if found else ""


def _sentence(over: Roofs, kernels: Sequence[Kernel], cores: str) -> str:
    words = list(map(_words, kernels[:6]))
    levels = ", ".join(slope.level for slope in over.slopes)
    return f"On {cores}, under roofs of {levels} and arithmetic with the ridge at {over.ridge:.2g} flop per byte: " + (
        ", ".join(words)
    )
