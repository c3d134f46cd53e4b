"""What one core can do: latency and throughput of operations, its window, misses in flight, and a branch's cost."""

from collections.abc import Mapping, Sequence

from octant.limit import Known, Limit
from octant.machine import Machine
from octant.metric import Metric, custom, first_of, per, rate
from octant.record import Point
from octant.workload import Bars, Probe, Workload
from octant.workloads.node.core import parameters
from octant.workloads.node.core.step import step

LEAST_CYCLES: Mapping[str, int] = {
    "add": 1, "multiply": 3, "popcount": 1, "load": 3, "forward": 1, "rounding": 1,
    "fadd": 2, "fmul": 3, "fma": 3, "divide": 6, "sqrt": 6, "reciprocal": 2, "rsqrt": 2, "compare": 3,
}  # fmt: skip
"""Latencies that no core in scope undercuts: a chain that is quicker was broken, or merged by the core."""


HALVED = 0.6
"""Of a window: less is half of it, and what the places of the fillers leave open."""


def documented_window(machine: Machine) -> int | None:
    """Fillers of one thread, alone on its core, on processors that say what they are; `None`: not known here."""
    if machine.processor.vendor == "GenuineIntel" and "amx_tile" in machine.processor.flags:
        return 512  # Golden Cove and later
    if machine.processor.vendor == "AuthenticAMD" and machine.system.get("family") == "26":
        return 448  # Zen 5: 224 entries for each thread, of two instructions each
    return None


def _least_seconds(known: Known, _machine: Machine, point: Point) -> Limit | None:
    """Of a chain; what can be done side by side differs from core to core, and is what is asked here."""
    operation, clock_hz = point.knobs["operation"], known.clock_hz
    if point.pace != "chunks" or point.knobs["form"] != "latency" or clock_hz is None or operation not in LEAST_CYCLES:
        return None
    least = LEAST_CYCLES[operation]
    text = f"no known core takes less than {least} cycle{'s' * (least > 1)}, at {clock_hz / 1e9:.2f} GHz (measured)"
    return Limit(point.count("operations") / point.lanes * least / clock_hz, text)


def _shared(machine: Machine, windows: Sequence[float]) -> str:
    """Whether some look saw about half of the window, as where two hardware threads of a core are both at work.

    That of the processor, where it is known; else the largest that was seen.
    """
    known = documented_window(machine)
    whole, least = known or max(windows), min(windows)
    if least > HALVED * whole:
        return ""
    of = f"the {whole:.0f} of this processor" if known else f"the {whole:.0f} at another time of this run"
    return f"the core looked {least:.0f} instructions ahead instead of {of}: another thread was probably at work on it"


WORKLOAD = Workload(
    summary="What one core can do: operations, reorder window, misses in flight, wrong guesses of branches",
    metrics=(
        Metric(
            "time", "s", "lower",
            first_of(
                per("operations"),
                per("loads_of_chain", of="phase/chains 1"),
                per("loads_of_chain", of="phase/fillers 64"),
                per("branches_of_phase", of="phase/random"),
            ),
            note="of an operation; of a load alone (misses); of two with 64 fillers each (window); of a random branch",
        ),
        Metric(
            "rate", "operation/s", "higher", first_of(rate("operations"), rate("branches_of_phase", of="phase/random")),
            note="operations, or random branches, of all threads",
        ),
        Metric("cycles", "1", "lower", custom(parameters.cycles), note="of an operation"),
        Metric("per cycle", "1", "higher", custom(parameters.per_cycle), note="operations"),
        Metric("rob size", "1", "higher", custom(parameters.rob_size), note="instructions among which two misses overlap"),
        Metric("mlp", "1", "higher", custom(parameters.mlp), note="loads on the way at once"),
        Metric("misprediction penalty", "1", "lower", custom(parameters.misprediction_penalty), note="cycles of a branch guessed wrongly"),
        Metric("clock", "Hz", "higher", custom(parameters.clock_hz)),
    ),
    least_seconds=_least_seconds,
    pictures=(Bars("operation", "cycles", title="Cycles of an operation"),),
    probe=Probe(
        "core probe",
        {"pattern": "rob-size,mlp", "bytes": "64MiB", "pages": "try-thp", "seconds": "0.05"},
        "rob size",
        _shared,
        "window halved",
    ),
    step=step,
    smoke={"pattern": "operations,rob-size,mlp,branch"},
)  # fmt: skip
