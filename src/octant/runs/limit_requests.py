"""Limits that a request needs, and the short requests that measure them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from octant import workloads
from octant.build.describe import default_knobs, pace
from octant.facts import usable_cores
from octant.limit import Best, Known, Provides, declared_name, variant_name
from octant.record import Point, RankResources, Samples, Work
from octant.request import Presentation, Request, Shape, Subject, comparable
from octant.runs.cell_costs import declared_cost
from octant.workload import total

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from octant.limit import Limit, Threads
    from octant.machine import Machine
    from octant.workload import Workload

LIMIT_LAUNCHES = 3
"""Launches of a request that measures a limit."""
MAX_VARIANTS = 4
"""Maximum number of variants of one limit that are measured; a curve over many footprints measures none."""
_FAST = 1e30  # a rate that limits nothing
_COPIED = ("threads", "pin")
"""Knobs of the harness that determine the hardware threads in use."""
_GRANTED = {"try-thp": "thp"}  # the same pages if the system grants them


@dataclass(frozen=True)
class NeededLimit:
    """Limit that a request needs."""

    name: str  # with its variant, as `Known.by_name` has it
    provider: str  # workload that measures it
    provides: Provides
    title: str  # of what is measured: "memory bandwidth"
    request: Request  # that measures it with the ranks and threads of the request in need

    @property
    def hardware_threads(self) -> int | None:
        """The number of hardware threads of a usable measurement; `None`: any number."""
        if self.provides.measured_by and self.provides.measured_by.of_pairs:
            return None
        return self.request.shape.ranks * int(self.request.knobs.get("threads", "1"))


@dataclass(frozen=True)
class _AssumedLimits(Known):
    """Limits that are fast, except one that is slow or absent; records the names that a workload looks up."""

    name: str = ""
    value: float | None = None
    names: dict[str, None] = field(default_factory=dict)

    def best(self, name: str, threads: Threads, variant: str = "") -> Best | None:  # noqa: ARG002 - any threads
        return self.greatest(variant_name(name, variant))

    def greatest(self, name: str) -> Best | None:
        self.names[name] = None
        value = self.value if name == self.name else _FAST
        return None if value is None else Best(value, None)


def needed_limits(request: Request, machine: Machine) -> tuple[NeededLimit, ...]:
    """Return the limits that a request needs and that a short request can measure, by name and hardware threads.

    A limit is needed if it changes the least time of a declared step. Requests of programs, on other hosts and over an
    emulated link need none, since the limits of this machine do not apply to them.
    """
    shape = request.shape
    workload = workloads.workloads().get(request.subject.workload)
    if workload is None or not workload.bounded_by or shape.hosts or shape.link:
        return ()
    found: dict[tuple[str, str], NeededLimit] = {}
    for cell in request.cells():
        for name in _used_names(workload, request, cell, machine):
            needed = _provider(name, request, cell, machine)
            if needed and not _is_covered(needed, request):
                found.setdefault((name, needed.request.key), needed)
    return tuple(found.values())


def limit_requests(needed: Sequence[NeededLimit]) -> tuple[Request, ...]:
    """Return the requests that measure these limits, each once; none of a limit with too many variants."""
    by_limit: dict[str, dict[str, Request]] = {}
    for one in needed:
        by_limit.setdefault(one.provides.name, {})[one.request.key] = one.request
    return tuple(
        {
            key: request
            for requests in by_limit.values()
            if len(requests) <= MAX_VARIANTS
            for key, request in requests.items()
        }.values()
    )


def _used_names(workload: Workload, request: Request, cell: Mapping[str, str], machine: Machine) -> list[str]:
    """Return the limits, with their variants, that change the least time of a cell."""
    point = _assumed_point(request, cell, machine)
    if point is None:
        return []
    answer = total(workload.least_seconds, None)
    names: dict[str, None] = {}
    answer(_AssumedLimits(machine.topology, names=names), machine, point)

    def seconds(name: str, value: float | None) -> float | None:
        limit: Limit | None = answer(_AssumedLimits(machine.topology, name=name, value=value), machine, point)
        return limit.seconds if limit else None

    return [name for name in names if seconds(name, 1.0) != seconds(name, None)]


def _assumed_point(request: Request, cell: Mapping[str, str], machine: Machine) -> Point | None:
    """Return a point of a cell with the declared counts; `None`: no step is declared for these knobs."""
    cost = declared_cost(request, cell)
    if cost is None:
        return None
    knobs = {**default_knobs(request.subject.workload), **cell}
    threads, ranks = int(knobs["threads"]), request.shape.ranks
    step = cost.step
    counts = {"messages": step.messages, "bytes_sent": step.bytes_sent, **step.counts}
    kind = pace(request.subject.workload, knobs)
    work = Work(
        {name: round(count) for name, count in counts.items()}, lanes=ranks * (threads if kind == "chunks" else 1)
    )
    cores = usable_cores(machine) or [0]
    given = tuple(
        RankResources("", (), tuple((cores[(rank * threads + one) % len(cores)],) for one in range(threads)))
        for rank in range(ranks)
    )
    return Point(
        request.subject.workload, "", knobs, ranks, threads, "chunks" if kind == "chunks" else "steps", (work,), (),
        Samples, given=given,
    )  # fmt: skip


def _provider(name: str, request: Request, cell: Mapping[str, str], machine: Machine) -> NeededLimit | None:
    """Return how a limit is measured for a cell; `None`: no workload measures it for others."""
    for workload, provides in _measuring():
        knobs = _limit_knobs(provides, request, cell, machine)
        if knobs is not None and declared_name(name) == provides.name:
            of_pairs = provides.measured_by is not None and provides.measured_by.of_pairs
            copied = {} if of_pairs else {one: cell[one] for one in _COPIED if one in cell}
            shape = Shape() if of_pairs else Shape(request.shape.ranks, request.shape.place, (), request.shape.launcher)
            title = provides.measured_by.title if provides.measured_by else ""
            show = Presentation(f"limit: {title}", table=False, purpose="limit")
            measured = Request(Subject(workload), {**knobs, **copied}, shape, {}, show, LIMIT_LAUNCHES)
            return NeededLimit(name, workload, provides, title, measured)
    return None


def _measuring() -> Iterator[tuple[str, Provides]]:
    """Yield the declarations of limits that a short request measures, with their workloads."""
    for workload in workloads.workloads().values():
        for provides in workload.provides:
            if provides.measured_by:
                yield workload.name, provides


def _limit_knobs(
    provides: Provides, request: Request, cell: Mapping[str, str], machine: Machine
) -> Mapping[str, str] | None:
    knobs = {**default_knobs(request.subject.workload), **cell}
    if provides.measured_by is None:
        return None
    return total(provides.measured_by.knobs, None)(machine, knobs, request.shape.ranks)


def _is_covered(needed: NeededLimit, request: Request) -> bool:
    """Return whether a request measures the limit itself: it has every cell of the request that measures it."""
    if needed.provider != request.subject.workload:
        return False
    defaults = default_knobs(request.subject.workload)
    own = [{name: plain_value(value) for name, value in {**defaults, **cell}.items()} for cell in request.cells()]
    return all(
        any(all(have.get(name) == plain_value(value) for name, value in cell.items()) for have in own)
        for cell in needed.request.cells()
    )


def plain_value(value: str) -> str:
    """Return a knob's value in comparable spelling; pages that the system may refuse are those that it grants."""
    return comparable(_GRANTED.get(value, value))
