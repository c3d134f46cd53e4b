"""The rate of multiply-adds on registers alone: what a core can compute at most."""

import statistics
from typing import Literal

from octant.machine import Machine, Processor
from octant.record import Point
from octant.workload import Ask, Ceilings, Limit, Metric, Workload


def busy_clock_hz(point: Point) -> float | None:
    """Median clock of the lanes while their units were busy; `None` if it was not observed."""
    clocks = [hz for lane in point.lanes for hz in lane.clock_hz]
    return statistics.median(clocks) if clocks else None


def units_known(processor: Processor, bits: int) -> int | None:
    """Multiply-add units of that width, where flags tell; `None` where they do not.

    Intel's server cores (told by AMX) have two at every width. Of AVX-512 without AMX some have one and some two, so
    nothing is assumed. Intel and AMD cores with AVX2 and without hybrid siblings have two of up to 256 bits.
    """
    if processor.vendor not in ("GenuineIntel", "AuthenticAMD"):
        return None
    if bits == 512:
        return 2 if "amx_tile" in processor.flags else None
    return 2 if "avx2" in processor.flags else None


def _units(machine: Machine, point: Point, clock_hz: float) -> tuple[float, str]:
    lanes = int(point.notes["lanes"])
    bits = 0 if point.notes["width"] == "scalar" else int(point.notes["width"])
    known = units_known(machine.processor, bits)
    if known is not None:
        return known, f"{known} units known for this processor"
    flops = point.work.flops * point.batch
    rates = [flops / (ns * 1e-9) for lane in point.lanes for ns in lane.duration_ns]
    per_cycle = statistics.median(rates) / (2 * lanes * clock_hz)
    units = next((n for n in (1, 2, 4) if per_cycle <= 1.02 * n), 8)
    return units, f"{units} units inferred from the {per_cycle:.2f} a cycle measured, rounded up"


def _limit(machine: Machine, _ceilings: Ceilings, point: Point) -> Limit | None:
    """Width x units x 2 x the clock observed under this very load, on all hardware threads in use."""
    clock_hz = busy_clock_hz(point)
    if clock_hz is None:
        return None
    lanes, threads = int(point.notes["lanes"]), point.ranks * point.threads
    units, why = _units(machine, point, clock_hz)
    text = f"{lanes} elements x {units} units x 2 at {clock_hz / 1e9:.2f} GHz (measured under load) x {threads}; {why}"
    return Limit(lanes * units * 2 * clock_hz * threads, text)


def _ceiling(_machine: Machine, point: Point) -> tuple[Literal["flops"], str] | None:
    return ("flops", "rate") if point.knobs["element"] == "double" else None


def widths(processor: Processor) -> tuple[str, ...]:
    """The vector widths that the processor's flags promise, as the knob takes them."""
    wide = [bits for flag, bits in (("avx2", "256"), ("avx512f", "512")) if flag in processor.flags]
    return ("scalar", "128", *wide)


def _evaluate(machine: Machine, quick: bool) -> tuple[Ask, ...]:
    seconds = "0.5" if quick else "3"
    knobs = {"element": "double,single", "seconds": seconds}
    ladder = {"width": ",".join(widths(machine.processor)), "seconds": "0.3" if quick else "2"}
    return (
        Ask("one", knobs, "multiply-adds, one core"),
        Ask("star", knobs, "multiply-adds, a copy on every core"),
        Ask("threads", {"seconds": seconds}, "multiply-adds, a thread on every core"),
        Ask("one", ladder, "multiply-adds against vector width, one core", table=False),
    )


WORKLOAD = Workload(
    name="peakflops",
    summary="Multiply-adds on registers alone, for every vector width and precision: the compute limit",
    metrics=(Metric("rate", "flop/s", "rate", lambda point: point.work.flops, note="a multiply-add counts two"),),
    limit=_limit,
    evaluate=_evaluate,
    ceiling=_ceiling,
    axis="width",
    order=10,
)
