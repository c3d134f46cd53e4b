"""Core parameters: instruction latency and throughput, reorder-buffer size, MLP, branch misprediction penalty."""

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
"""Lower bounds of latencies; a faster chain was broken by the compiler or merged by the core."""


HALVED = 0.6
"""Share of the reorder-buffer size below which the buffer counts as split between two hardware threads."""


def documented_rob_size(machine: Machine) -> int | None:
    """Return the reorder-buffer size of one thread alone on its core, instructions; `None` if unknown."""
    if machine.processor.vendor == "GenuineIntel" and "amx_tile" in machine.processor.flags:
        return 512  # Golden Cove and later
    if machine.processor.vendor == "AuthenticAMD" and machine.system.get("family") == "26":
        return 448  # Zen 5: 224 entries for each thread, of two instructions each
    return None


def _least_seconds(known: Known, _machine: Machine, point: Point) -> Limit | None:
    """Return the limit of a dependent chain; throughput has no known limit."""
    operation, clock_hz = point.knobs["operation"], known.clock_hz
    if point.pace != "chunks" or point.knobs["form"] != "latency" or clock_hz is None or operation not in LEAST_CYCLES:
        return None
    least = LEAST_CYCLES[operation]
    text = f"at least {least} cycle{'s' * (least > 1)} on any known core, at {clock_hz / 1e9:.2f} GHz (measured)"
    return Limit(point.count("operations") / point.lanes * least / clock_hz, text)


def _smt_interference(machine: Machine, sizes: Sequence[float]) -> str:
    """Return the reason if a measured reorder-buffer size suggests a busy SMT sibling; "" otherwise.

    Sizes are compared with the documented size of the processor or, if that is unknown, with the largest one.
    """
    documented = documented_rob_size(machine)
    expected, least = documented or max(sizes), min(sizes)
    if least > HALVED * expected:
        return ""
    of = "documented" if documented else "measured at another time of this run"
    return (
        f"the effective reorder buffer was {least:.0f} instructions instead of {expected:.0f} ({of}); "
        "another thread was probably active on the same core"
    )


WORKLOAD = Workload(
    summary="Core parameters: instruction latency and throughput, reorder buffer, MLP, branch misprediction",
    metrics=(
        Metric(
            "time", "s", "lower",
            first_of(
                per("operations"),
                per("loads_of_chain", of="phase/chains 1"),
                per("loads_of_chain", of="phase/fillers 64"),
                per("branches_of_phase", of="phase/random"),
            ),
            note="one operation; one load (mlp); two loads with 64 fillers each (rob-size); one random branch (branch)",
        ),
        Metric(
            "rate", "operation/s", "higher", first_of(rate("operations"), rate("branches_of_phase", of="phase/random")),
            note="operations or random branches of all threads",
        ),
        Metric("cycles", "1", "lower", custom(parameters.cycles), note="cycles per operation"),
        Metric("per cycle", "1", "higher", custom(parameters.per_cycle), note="operations per cycle"),
        Metric(
            "rob size", "1", "higher", custom(parameters.rob_size),
            note="largest distance of two overlapping misses, instructions",
        ),
        Metric("mlp", "1", "higher", custom(parameters.mlp), note="outstanding cache misses"),
        Metric(
            "misprediction penalty", "1", "lower", custom(parameters.misprediction_penalty),
            note="cycles per mispredicted branch",
        ),
        Metric("clock", "Hz", "higher", custom(parameters.clock_hz)),
    ),
    least_seconds=_least_seconds,
    pictures=(Bars("operation", "cycles", title="Cycles per operation"),),
    probe=Probe(
        "core probe",
        {"pattern": "rob-size,mlp", "bytes": "64MiB", "pages": "try-thp", "seconds": "0.05"},
        "rob size",
        _smt_interference,
        "possible SMT interference",
    ),
    step=step,
    smoke={"pattern": "operations,rob-size,mlp,branch"},
)  # fmt: skip
