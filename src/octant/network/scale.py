"""Rate over machine size, from the model and from published results."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from msgspec.structs import asdict

from octant.failure import Exit, Refusal
from octant.network.applications import FftModel, global_fft, random_ring
from octant.network.files import NetworkFile
from octant.network.jobs import job_nodes
from octant.network.predictions import Bound
from octant.network.published_points import PublishedPoint, published_points
from octant.network.solve import DEFAULTS, Solver, SolverSettings, flow_bytes, no_detour, solve
from octant.network.traffic import TrafficPattern, make


@dataclass(frozen=True)
class ScalePoint:
    """The model at one size. Rates are in base units per node (random ring: per rank; gfft: whole system)."""

    size: int
    nodes: int
    rate_per_s: float
    low_per_s: float  # every calibrated capacity at the low end of its range
    high_per_s: float
    unit: str
    solver: str
    bottleneck: str
    resource: str
    headroom: float | None  # limit of the next class over that of the bottleneck
    bound: Bound | None
    published: PublishedPoint | None
    assumption: str = ""
    note: str = ""  # remark about the rate

    @property
    def error(self) -> float | None:
        """Model over published value, minus one."""
        if self.published is None or math.isinf(self.rate_per_s):
            return None
        return self.rate_per_s / self.published.value - 1


@dataclass(frozen=True)
class ScalingCurve:
    """Rate of a traffic over the size of a machine."""

    network: str
    traffic: str
    size_word: str
    points: tuple[ScalePoint, ...]


def scale(
    network: NetworkFile,
    traffic: str,
    sizes: Sequence[int],
    solver: Solver = "auto",
    settings: SolverSettings = DEFAULTS,
    parameter: int = 1,
    bytes_each: float | None = None,
    job: str = "",
) -> ScalingCurve:
    """Return the curve of a named pattern or application (`gfft`, `random-ring` as in HPCC) over sizes.

    Args:
        bytes_each: payload of every flow; `None`: see `flow_bytes`.
        job: the part of the machine with traffic, as `job_nodes` reads it.

    Raises:
        Refusal: the traffic is unknown, the machine cannot have a size, or the job does not fit.
    """
    known = published_points(network, traffic) if not job else {}
    found = []
    several = traffic == "gfft" or (traffic == "random-ring" and network.endpoint.ranks > 1)
    if several and (job or bytes_each):
        raise Refusal(
            f"cannot use --bytes or --job with {traffic} (it consists of several patterns); try ptrans or ordered-ring",
            Exit.WRONG_WORD,
        )
    each = flow_bytes(bytes_each, solver)
    for size in sizes:
        if traffic == "gfft":
            found.append(_fft(network, size, known.get(size)))
        elif several:
            found.append(_ring(network, size, known.get(size)))
        else:
            sized = network.at_size(size)
            pattern = make(sized, traffic, parameter, each, job=job_nodes(sized, job))
            found.append(_point(network, sized, pattern, size, solver, settings, known.get(size)))
    word = "nodes" if traffic == "gfft" else network.topology.size_word
    return ScalingCurve(network.name, traffic, word, tuple(found))


def _point(
    network: NetworkFile,
    sized: NetworkFile,
    pattern: TrafficPattern,
    size: int,
    solver: Solver,
    settings: SolverSettings,
    known: PublishedPoint | None,
) -> ScalePoint:
    answer = solve(sized, pattern, solver, settings)
    low = solve(sized.at_edge("low"), pattern, solver, settings).rate_per_s
    high = solve(sized.at_edge("high"), pattern, solver, settings).rate_per_s
    tightest = answer.bottleneck
    before, after = asdict(network.topology), asdict(sized.topology)
    thinned = [f"{k} = {after[k]}" for k in ("hosts", "links_per_host", "down") if before.get(k) != after.get(k)]
    notes = [f"cabling assumed: {', '.join(thinned)}"] if thinned else []
    return ScalePoint(
        size=size,
        nodes=len(pattern.active),
        rate_per_s=answer.rate_per_s,
        low_per_s=low,
        high_per_s=high,
        unit=f"{pattern.unit}/s per {answer.per}",
        solver=answer.solver,
        bottleneck=tightest.link_class if tightest else "nothing",
        resource=tightest.resource if tightest else "",
        headroom=answer.runner_up.headroom if answer.runner_up else None,
        bound=answer.bound,
        published=known,
        assumption="; ".join([*notes, *sized.topology.notes()]),
        note=no_detour(sized),
    )


def _fft(network: NetworkFile, nodes: int, known: PublishedPoint | None) -> ScalePoint:
    at = {form: global_fft(network, nodes, FftModel(form)) for form in ("paper", "consistent")}
    edges = [global_fft(network.at_edge(edge), nodes).flops for edge in ("low", "high")]
    return ScalePoint(
        nodes, nodes, at["paper"].flops, edges[0], edges[1], "flop/s", "six-step FFT, formula of the publication",
        "transpose and row FFTs", "", None, Bound("six-step FFT, executed operations", at["consistent"].flops), known,
    )  # fmt: skip


def _ring(network: NetworkFile, nodes: int, known: PublishedPoint | None) -> ScalePoint:
    ring = random_ring(network, nodes)
    edges = [random_ring(network.at_edge(edge), nodes).bytes_per_s for edge in ("low", "high")]
    text = f"enumeration, {ring.rings} rings" + (f", empirical factor {ring.factor:.2f}" if ring.factor != 1 else "")
    limit = "local" if nodes == 1 else "injection and ejection"
    return ScalePoint(
        nodes, nodes, ring.bytes_per_s, edges[0], edges[1], "B/s per rank", text, limit, "bytes", None,
        Bound("without the empirical factor", ring.ideal_bytes_per_s), known,
    )  # fmt: skip
