"""What one core can do: latency and throughput of operations, its window, misses in flight, and a branch's cost."""

from collections.abc import Mapping

from octant.limit import Known, Limit
from octant.machine import Machine
from octant.metric import Metric, custom, first_of, per
from octant.record import Point
from octant.workload import Bars, Workload
from octant.workloads.node.core import parameters

LEAST_CYCLES: Mapping[str, int] = {
    "add": 1, "multiply": 3, "popcount": 1, "load": 3, "forward": 1, "rounding": 1,
    "fadd": 2, "fmul": 3, "fma": 3, "divide": 6, "sqrt": 6, "reciprocal": 2, "rsqrt": 2, "compare": 3,
}  # fmt: skip
"""Latencies that no core in scope undercuts: a chain that is quicker was broken, or merged by the core."""


def _least_seconds(known: Known, _machine: Machine, point: Point) -> Limit | None:
    """Of a chain; what can be done side by side differs from core to core, and is what is asked here."""
    operation, clock_hz = point.knobs["operation"], known.clock_hz
    if point.pace != "chunks" or point.knobs["form"] != "latency" or clock_hz is None or operation not in LEAST_CYCLES:
        return None
    least = LEAST_CYCLES[operation]
    text = f"no known core takes less than {least} cycle{'s' * (least > 1)}, at {clock_hz / 1e9:.2f} GHz (measured)"
    return Limit(point.count("operations") / point.lanes * least / clock_hz, text)


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
        Metric("cycles", "1", "lower", custom(parameters.cycles), note="of an operation"),
        Metric("per cycle", "1", "higher", custom(parameters.per_cycle), note="operations"),
        Metric("window", "1", "higher", custom(parameters.window), note="instructions among which two misses overlap"),
        Metric("misses", "1", "higher", custom(parameters.misses), note="loads on the way at once"),
        Metric("miss cost", "1", "lower", custom(parameters.miss_cost), note="cycles of a branch guessed wrongly"),
        Metric("clock", "Hz", "higher", custom(parameters.clock_hz)),
    ),
    least_seconds=_least_seconds,
    pictures=(Bars("operation", "cycles", title="Cycles of an operation"),),
    smoke={"pattern": "operations,window,misses,branch"},
)  # fmt: skip
