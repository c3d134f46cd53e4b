"""Peak floating-point rate: multiply-adds on registers."""

import numpy as np

from octant.facts import facts
from octant.limit import FMA, SCALAR, Known, Limit, LimitRequest, Provides
from octant.machine import Machine, Processor
from octant.metric import Metric, derived, per, rate
from octant.record import Point
from octant.workload import Bars, Workload
from octant.workloads.node.peakflops.step import step

CLOCK_ERROR = 1.1
"""Tolerated ratio of measured rate to peak at the observed clock, which may be lower than that of the work."""


def units_known(processor: Processor, bits: int) -> int | None:
    """Return the number of multiply-add units of a width; `None` if the flags do not determine it.

    Intel's server cores (recognised by AMX) have two at every width. Of AVX-512 without AMX some have one and some
    two, so nothing is assumed. Intel and AMD cores with AVX2 and without hybrid siblings have two of up to 256 bits.
    """
    if processor.vendor not in ("GenuineIntel", "AuthenticAMD"):
        return None
    if bits == 512:
        return 2 if "amx_tile" in processor.flags else None
    return 2 if "avx2" in processor.flags else None


def _units(machine: Machine, point: Point, clock_hz: float) -> tuple[int, str]:
    bits = 0 if point.notes["width"] == "scalar" else int(point.notes["width"])
    known = units_known(machine.processor, bits)
    if known is not None:
        return known, f"{known} units known for this processor"
    flops = point.count("flops") / point.lanes
    steps = [
        series.values / point.batch_of(series.head.group, series.head.role)
        for series in point.read().series
        if series.head.name == "step"
    ]
    per_cycle = flops / (float(np.median(np.concatenate(steps))) * 1e-9) / (2 * int(point.notes["lanes"]) * clock_hz)
    units = next((n for n in (1, 2, 4) if per_cycle <= CLOCK_ERROR * n), 8)
    return units, f"{units} units inferred from {per_cycle:.2f} measured operations per cycle, rounded up"


def _least_seconds(known: Known, machine: Machine, point: Point) -> Limit | None:
    """Return the time at width x units x 2 x the clock observed during this load, on all hardware threads in use."""
    clock_hz = known.clock_hz
    if clock_hz is None:
        return None
    units, why = _units(machine, point, clock_hz)
    elements, threads = int(point.notes["lanes"]), len(point.hardware_threads) or 1
    cores = f"{threads} core{'s' * (threads > 1)}"
    source = f"{elements} lanes × {units} units × 2 × {clock_hz / 1e9:.2f} GHz × {cores}; clock under load, {why}"
    return Limit(point.count("flops") / (elements * units * 2 * clock_hz * threads), source)


def is_widest(machine: Machine, point: Point) -> bool:
    """Return whether the loop used the widest vectors of the machine."""
    width, widest = point.notes["width"], facts(machine).get("vector_bits")
    return width != "scalar" and widest is not None and int(width) >= widest


def _of(element: str) -> Provides:
    return Provides(
        FMA[element],
        "rate",
        lambda m, point: point.knobs["element"] == element and is_widest(m, point),
        measured_by=LimitRequest(lambda _m, _knobs, _ranks: {"element": element}, f"{element}-precision peak"),
    )


def _is_scalar(_machine: Machine, point: Point) -> bool:
    return point.notes["width"] == "scalar" and point.knobs["element"] == "double"


WORKLOAD = Workload(
    summary="Peak floating-point rate: multiply-adds on registers for each vector width and precision",
    metrics=(
        Metric("rate", "flop/s", "higher", rate("flops"), note="a multiply-add counts as two operations"),
        Metric(
            "rate per thread", "flop/s", "higher", derived(lambda seconds: 1 / seconds, per("flops")),
            note="from the median time of a chunk over all threads",
        ),
    ),
    least_seconds=_least_seconds,
    provides=(_of("double"), _of("single"), Provides(SCALAR, "rate", _is_scalar)),
    pictures=(Bars("width", title="Peak by vector width"),),
    step=step,
    not_declared=("flops",),
    aliases={
        "flops": {},
        "fma": {},
    },
    smoke={"element": "double"},
)  # fmt: skip
