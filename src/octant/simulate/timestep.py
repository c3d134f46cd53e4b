"""Time step of an application on the model: measured computation, and halo exchanges and reductions on a network."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from octant import _network, units
from octant.analysis.figures import Figure, value_of
from octant.failure import Exit, Refusal
from octant.network.collectives import STATED, MessageCosts, Program, exchange, fastest, programs
from octant.network.files import NetworkFile
from octant.network.topologies import Torus
from octant.network.traffic import Flows, Nodes, place
from octant.record import Point, known_count
from octant.simulate.stored_figures import figures_of_one_point
from octant.store import StoredRun


@dataclass(frozen=True)
class Halo:
    """A halo exchange in a periodic grid of ranks, which is as close to a cube as their number allows."""

    dimensions: Literal[2, 3]
    bytes_each: float  # to each neighbour
    count: float = 1.0  # per time step


@dataclass(frozen=True)
class Reduction:
    """An allreduce of all ranks."""

    bytes_each: int
    count: float = 1.0  # per time step
    algorithm: str = ""  # of the model; "": that of the whole step


@dataclass(frozen=True)
class TimeStep:
    """Work of every rank in one time step of an application."""

    compute_s: float
    halos: tuple[Halo, ...] = ()
    reductions: tuple[Reduction, ...] = ()
    source: str = "given"  # origin of the computing time
    range_s: tuple[float, float] | None = None  # of the computing time, if measured
    range_is: str = ""  # meaning of that range
    caveats: tuple[str, ...] = ()  # what casts doubt on it


@dataclass(frozen=True)
class StepTime:
    """Predicted time step on a number of ranks, without overlap and with halo exchanges that overlap computation."""

    ranks: int
    nodes: int
    compute_s: float
    halo_s: float
    reduction_s: float
    limited_by: str  # link class with the highest load from halo exchanges
    algorithms: tuple[str, ...] = ()  # of the step's reductions

    @property
    def together_s(self) -> float:
        """Time without overlap, in seconds."""
        return self.compute_s + self.halo_s + self.reduction_s

    @property
    def overlapped_s(self) -> float:
        """Time if halo exchanges overlap with computation, and reductions follow both, in seconds."""
        return max(self.compute_s, self.halo_s) + self.reduction_s

    @property
    def efficiency(self) -> tuple[float, float]:
        """Share of computation in the time, without and with overlap."""
        least = self.compute_s
        return (least / self.together_s, least / self.overlapped_s) if self.together_s else (1.0, 1.0)


def step_time(
    network: NetworkFile,
    step: TimeStep,
    ranks: int,
    per_node: int = 1,
    order: str = "block",
    costs: MessageCosts = STATED,
    algorithm: str = "all",
) -> StepTime:
    """Predict a time step (weak scaling: constant computation per rank) on the first nodes of a network.

    A message takes latency, overhead at either end (o of LogGP) and the transfer over its most loaded link. Ranks are
    synchronised.

    Args:
        network: the network.
        step: work of every rank.
        ranks: number of ranks.
        per_node: ranks per node.
        order: order of the ranks, as in `place`.
        costs: costs of a message in addition to the links.
        algorithm: default algorithm of reductions; `all`: the fastest.

    Raises:
        Refusal: there are more ranks than places, the latency of a message is not known, or the algorithm is unknown.
    """
    nodes = place(network, order, ranks, per_node)
    exchanges = [(halo.count, *_exchange(network, halo, nodes, costs)) for halo in step.halos]
    halo_s = sum(count * seconds for count, seconds, _ in exchanges)
    limited = max(((count * seconds, name) for count, seconds, name in exchanges), default=(0.0, ""))[1]
    reduction_s, chosen = 0.0, []
    known: dict[str, list[Program]] = {}
    for reduction in step.reductions:
        wanted = reduction.algorithm or algorithm
        if wanted not in known:
            known[wanted] = programs(network, "allreduce", nodes, costs, wanted)[0]
        program = fastest(known[wanted], reduction.bytes_each)
        reduction_s += reduction.count * program.seconds(reduction.bytes_each)
        chosen.append(program.algorithm)
    return StepTime(ranks, len(np.unique(nodes)), step.compute_s, halo_s, reduction_s, limited, tuple(chosen))


def _exchange(network: NetworkFile, halo: Halo, nodes: Nodes, costs: MessageCosts) -> tuple[float, str]:
    """Return the time of one exchange, and the link class with the highest load."""
    shape = Torus(sizes=(1,) * halo.dimensions).at_size(len(nodes))
    columns = _network.halo(list(shape.sizes), True)
    flows = Flows(columns[0], columns[1], columns[2] * halo.bytes_each)
    if not len(flows):
        return 0.0, ""
    found = exchange(network, flows, nodes, costs)
    return found.time_s, next(iter(found.wire_s), "")


def measured_step(run: StoredRun, kernel: str, chunks: float) -> TimeStep:
    """Return a step in which each rank executes `chunks` chunks (or steps) of a kernel, as measured in a stored run.

    Threads of a rank share its chunks. The times include the mutual slowdown of ranks that computed simultaneously.

    Raises:
        Refusal: the text matches no point or several points, the verification failed, the figure is not derived from
            the time of a chunk, or the number of chunks is not positive.
    """
    if not 0 < chunks < math.inf:
        raise Refusal(f"the number of chunks must be positive, not {chunks:g}; try --chunks 1", Exit.WRONG_WORD)
    figures = figures_of_one_point(run, kernel)
    if any(figure.wrong for figure in figures):
        why = "its verification failed"
        raise Refusal(f"cannot use {kernel} of run {run.id} ({why}); try another run", Exit.WRONG_WORD)
    if figures[0].link:
        why = "it was measured over an emulated link"
        raise Refusal(f"cannot use {kernel} of run {run.id} ({why}); use one without an emulated link", Exit.WRONG_WORD)
    first, launches = figures[0], [launch for figure in figures for launch in figure.counted]
    if not launches or not _per_second_of_chunk(first):
        why = first.missing or f"{first.metric.name} is not derived from the time of a chunk"
        raise Refusal(f"cannot use {kernel} of run {run.id} ({why}); try another kernel", Exit.WRONG_WORD)
    over = value_of(launches)
    low_s, middle_s, high_s = sorted(_chunk_seconds(first, value) for value in (over.low, over.middle, over.high))
    each = {name: count / first.point.parts for name, count in _counts(first.point).items() if count}
    work = ", ".join(f"{count:,.0f} {name.replace('_', ' ')}" for name, count in each.items())
    words = f"{first.workload.name} ({first.name}), run {run.id} on {run.machine.name}, launches: {len(launches)}"
    text = f"{words}; a chunk of {work} takes {units.si_text(middle_s, 's')}"
    caveats = tuple(dict.fromkeys(one.text for figure in figures for one in figure.caveats))
    return TimeStep(
        chunks * middle_s, source=text, range_s=(chunks * low_s, chunks * high_s), range_is=over.text, caveats=caveats
    )


def _chunk_seconds(figure: Figure, value: float) -> float:
    """Return the time of a chunk of each rank, or of a step, for the headline value `value`."""
    ratio, point = _per_second_of_chunk(figure), figure.point
    seconds = ratio / value if figure.metric.better == "higher" else value / ratio
    return seconds * known_count(point.working_ranks) / point.lanes if point.pace == "chunks" else seconds


def _per_second_of_chunk(figure: Figure) -> float:
    """Return the headline value if a chunk of every lane, or a step, took one second; 0: not defined."""
    return figure.metric.at(1.0, _counts(figure.point), figure.point.parts) or 0.0


def _counts(point: Point) -> dict[str, int]:
    return {name: point.count(name) for work in point.work for name in work.counts}


def compose_step(
    compute: str,
    run: Callable[[], StoredRun] | None,
    kernel: str,
    chunks: float,
    halos: Sequence[str],
    reductions: Sequence[str],
) -> TimeStep:
    """Return a step from texts, with a given computing time or that of `kernel` (`stream op=triad`) in a run.

    Args:
        run: reads the run; `None`: `compute` is the computing time of a step.

    Raises:
        Refusal: both or neither of `compute` and `run` are given, or as `measured_step` and `read_step`.
    """
    if bool(compute) == (run is not None):
        raise Refusal(
            "the computing time of a step is needed once; give either --compute 1.2ms or --run last --kernel NAME",
            Exit.WRONG_WORD,
        )
    if run is None:
        return read_step(compute, halos, reductions)
    if not kernel.strip():
        raise Refusal("--run needs a figure of the run; add --kernel NAME", Exit.WRONG_WORD)
    messages = read_step("0s", halos, reductions)
    computing = measured_step(run(), kernel, chunks)
    return replace(computing, halos=messages.halos, reductions=messages.reductions)


def read_step(compute: str, halos: Sequence[str], reductions: Sequence[str]) -> TimeStep:
    """Return a step from texts: time (`1.2ms`), halos `3d:64KiB[:count]`, reductions `8[:count[:algorithm]]`.

    Raises:
        Refusal: a text has another form.
    """
    try:
        return TimeStep(
            units.parse_seconds(compute),
            tuple(_halo(word) for word in halos),
            tuple(_reduction(word) for word in reductions),
        )
    except ValueError as error:
        text = f"invalid time step ({error}); try --compute 1.2ms --halo 3d:64KiB:2 --reduce 8:1"
        raise Refusal(text, Exit.WRONG_WORD) from error


def _halo(word: str) -> Halo:
    grid, _, sized = word.partition(":")
    size, *rest = sized.split(":")
    dimensions: dict[str, Literal[2, 3]] = {"2d": 2, "3d": 3}
    if grid not in dimensions:
        raise ValueError(f"{word!r} does not begin with 2d: or 3d:")
    return Halo(dimensions[grid], units.parse_bytes(size), _count(rest))


def _reduction(word: str) -> Reduction:
    size, *rest = word.split(":")
    count, algorithm = rest[:1], rest[1] if len(rest) == 2 else ""
    return Reduction(units.parse_bytes(size), _count(count if len(rest) <= 2 else rest), algorithm)


def _count(words: Sequence[str]) -> float:
    count = float(words[0]) if words else 1.0
    if len(words) > 1 or not 0 <= count < math.inf:
        raise ValueError(f"{':'.join(words)!r} is not a count")
    return count
