"""Matrix times matrix by a tuned library: the rate that the best general code reaches."""

from octant.machine import Machine
from octant.record import Point
from octant.workload import Ask, Ceilings, Limit, Metric, Workload

SINGLE_TO_DOUBLE = 2  # elements of a vector


def _limit(_machine: Machine, ceilings: Ceilings, point: Point) -> Limit | None:
    """The rate of multiply-adds that `peakflops` measured on as many hardware threads."""
    best = ceilings.flops_per_s.get(point.ranks * point.threads)
    if best is None:
        return None
    single = point.knobs["element"] == "single"
    source = "multiply-adds that peakflops measured" + (", twice for single precision" if single else "")
    return Limit(best * (SINGLE_TO_DOUBLE if single else 1), source)


def _evaluate(machine: Machine, quick: bool) -> tuple[Ask, ...]:
    # One core does 70 Gflop/s or so: samples of 4 ms, which most other load misses, or 0.2 s. All cores get more work.
    growing = 64 * round(8 * machine.topology.usable_cores() ** (1 / 3))
    n, all_cores, seconds = ("512", str(growing), "1") if quick else ("2048", "4096", "10")
    knobs = {"n": n, "element": "double,single", "seconds": seconds}
    threads = {**knobs, "n": all_cores, "element": "double"}
    curve = {
        "n": ",".join(str(2**power) for power in range(5, 10 if quick else 13)),
        "seconds": "0.2" if quick else "2",
    }
    return (
        Ask("one", knobs, f"matrix multiply n={n}, one core"),
        Ask("star", knobs, f"matrix multiply n={n}, a copy on every core"),
        Ask("threads", threads, f"matrix multiply n={all_cores}, the library's threads on every core"),
        Ask("one", curve, "matrix multiply against size, one core", table=False),
    )


WORKLOAD = Workload(
    name="gemm",
    summary="Matrix times matrix, double and single, by a tuned library that is loaded at run time",
    metrics=(Metric("rate", "flop/s", "rate", lambda point: point.work.flops, note="2 n³, whatever the library does"),),
    limit=_limit,
    evaluate=_evaluate,
    axis="n",
    order=40,
)
