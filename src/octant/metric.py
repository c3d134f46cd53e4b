"""What makes a quantity out of a point: which series or counts, and which reductions, in their order, as data.

`octant.analysis` evaluates these. The order of the reductions is the definition: the maximum over ranks and then the
median over steps is Octant's time; the mean over steps and then the maximum over ranks is t_max of the Intel MPI
Benchmarks; the maximum over both is the worst of 10,000 steps of the Blue Gene/P evaluation.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from octant.record import Point, Samples

How = Literal["mean", "median", "max", "min", "sum", "p99.9"]
"""`p99.9`: what one in a thousand exceeds; of fewer, the largest."""


@dataclass(frozen=True)
class Reduce:
    """One axis of the samples, and the one number that stands for it."""

    axis: Literal["steps", "ranks", "groups"]
    how: How


def steps(how: How) -> Reduce:
    """Over the samples of a rank or, after `ranks`, of a group."""
    return Reduce("steps", how)


def ranks(how: How) -> Reduce:
    """Over the ranks of a group: step by step, or of what `steps` left of each."""
    return Reduce("ranks", how)


def groups(how: How) -> Reduce:
    """Over the groups of a point, by place, or of what `steps` left of each."""
    return Reduce("groups", how)


SLOWEST = (ranks("max"), groups("max"), steps("median"))
"""A step of all takes as long as its slowest rank; the median over steps. Octant's own."""


@dataclass(frozen=True)
class Seconds:
    """A time: of a step or chunk, of a phase, or of one of what a step counts."""

    of: str = "step"  # "step" or "phase/NAME"
    per: tuple[str, ...] = ()  # divided by these counts together; none: by one step or chunk
    role: str | None = None  # `None`: the first role, which is what is measured
    over: tuple[Reduce, ...] | None = None  # `None`: `SLOWEST`; samples of lanes that work alone are pooled
    undisturbed: bool = False  # of those steps alone during which no rank was switched out


@dataclass(frozen=True)
class Rate:
    """Counts over the time of a step or phase; rates of groups, and of lanes that work alone, add up."""

    counts: tuple[str, ...]
    of: str = "step"
    role: str | None = None
    over: tuple[Reduce, ...] | None = None  # `None`: `SLOWEST`, with rates of groups added up


@dataclass(frozen=True)
class Share:
    """A time's share of another: a sum over a sum, over all steps and ranks."""

    of: str
    to: str = "step"
    role: str | None = None


@dataclass(frozen=True)
class Reading:
    """A reading of the kernel's own."""

    of: str
    role: str | None = None
    over: tuple[Reduce, ...] = (ranks("max"), groups("max"), steps("median"))


@dataclass(frozen=True)
class NamedResult:
    """A named result."""

    name: str


@dataclass(frozen=True)
class Custom:
    """A pure function of a point and its samples, for what no reduction says."""

    function: Callable[[Point, Samples], float]


@dataclass(frozen=True)
class Interruptions:
    """What interrupted one lane or rank, and for how long."""

    rank: int
    thread: int
    ns: NDArray[np.float64]  # how long; not negative
    counts: NDArray[np.int64]  # how many took so long
    whole_ns: float  # all the time of the lane, interruptions included


@dataclass(frozen=True)
class Interrupted:
    """The share of the time of all lanes that interruptions took, a sum over a sum; the function says which there were.

    Nothing where the record does not say it.
    """

    function: Callable[[Point, Samples], Sequence[Interruptions]]


@dataclass(frozen=True)
class OfPairs:
    """A value of each pair of hardware threads, which the function gives by their numbers, the lower first.

    Nothing where the record does not say it.
    """

    function: Callable[[Point, Samples], Mapping[tuple[int, int], float]]
    how: How = "median"  # over the pairs
    readings: tuple[str, ...] = ()  # that only say which pair it was


@dataclass(frozen=True)
class Derived:
    """A function of other values of the same launch."""

    function: Callable[..., float]
    values: tuple["Value", ...]


@dataclass(frozen=True)
class FirstOf:
    """The first of these values that a point has: points of one workload may have other phases."""

    values: tuple["Value", ...]


@dataclass(frozen=True)
class Needed:
    """A name that the definition of a metric takes from the records of a kernel."""

    kind: Literal["series", "count", "result"]
    name: str  # "step", "phase/pack", "reading/residual"; "bytes_sent"; "resolution"
    role: str | None = None  # `None`: the first role


Value: TypeAlias = Seconds | Rate | Share | Reading | NamedResult | Custom | Interrupted | OfPairs | Derived | FirstOf


def seconds(
    of: str = "step", role: str | None = None, over: tuple[Reduce, ...] | None = None, undisturbed: bool = False
) -> Seconds:
    """The time of a step, chunk or phase.

    Args:
        undisturbed: of those steps alone during which no rank of the group was switched out.
    """
    return Seconds(of, (), role, over, undisturbed)


def per(*counts: str, of: str = "step", role: str | None = None, over: tuple[Reduce, ...] | None = None) -> Seconds:
    """The time of one of what a step counts: a load, a message."""
    return Seconds(of, counts, role, over)


def rate(*counts: str, of: str = "step", role: str | None = None, over: tuple[Reduce, ...] | None = None) -> Rate:
    """These counts together, a second."""
    return Rate(counts, of, role, over)


def share(of: str, to: str = "step", role: str | None = None) -> Share:
    """The share that a phase or reading has of the step, or of another phase."""
    return Share(of, to, role)


def reading(of: str, role: str | None = None, over: tuple[Reduce, ...] = SLOWEST) -> Reading:
    """A reading of the kernel's own, by its name without `reading/`."""
    return Reading(of, role, over)


def result(name: str) -> NamedResult:
    """The named result."""
    return NamedResult(name)


def custom(function: Callable[[Point, Samples], float]) -> Custom:
    """`function` of the point and its samples."""
    return Custom(function)


def interrupted(function: Callable[[Point, Samples], Sequence[Interruptions]]) -> Interrupted:
    """The share of the time that interruptions took, which `function` lists for each lane."""
    return Interrupted(function)


def of_pairs(
    function: Callable[[Point, Samples], Mapping[tuple[int, int], float]],
    how: How = "median",
    readings: tuple[str, ...] = (),
) -> OfPairs:
    """What `function` gives for each pair of hardware threads; `how`: the one number that stands for all pairs.

    Args:
        readings: names of those that only say which pair it was, and are no figures.
    """
    return OfPairs(function, how, readings)


def derived(function: Callable[..., float], *values: Value) -> Derived:
    """`function` of these values of a launch, in their order."""
    return Derived(function, values)


def needed_names(value: Value) -> Iterator[Needed]:
    """The names that a value takes from records, in the order of its definition; those in functions are not known."""
    if isinstance(value, Derived | FirstOf):
        for part in value.values:
            yield from needed_names(part)
    elif isinstance(value, Seconds | Rate):
        yield Needed("series", value.of, value.role)
        for count in value.per if isinstance(value, Seconds) else value.counts:
            yield Needed("count", count, value.role)
    elif isinstance(value, Share):
        yield Needed("series", value.of, value.role)
        yield Needed("series", value.to, value.role)
    elif isinstance(value, Reading):
        yield Needed("series", f"reading/{value.of}", value.role)
    elif isinstance(value, NamedResult):
        yield Needed("result", value.name)
    elif isinstance(value, OfPairs):
        for name in value.readings:
            yield Needed("series", f"reading/{name}")


def overlap_of(pure_s: float, compute_s: float, whole_s: float) -> float:
    """The share of the shorter of both that went on beside the other: 1 if they take the longer's time together."""
    return (pure_s + compute_s - whole_s) / min(pure_s, compute_s)


def first_of(*values: Value) -> FirstOf:
    """The first of these values that a point has."""
    return FirstOf(values)


@dataclass(frozen=True)
class Metric:
    """One quantity with a unit. Where a point lacks its series, the result of the metric's own name is read."""

    name: str  # "bandwidth"
    unit: str  # base units: "B/s", "flop/s", "s", "1"
    better: Literal["higher", "lower"]
    value: Value
    note: str = ""  # the counting rule, shown beside the figure
    of_lost_time: bool = False  # a share of all time: what was lost is no caveat about it
    of_system: bool = False  # what the system did to threads: that it also took their time is no caveat about it
    per_rank: bool = False  # the mean of one rank, where ranks that work alone otherwise have a value together

    @property
    def is_share(self) -> bool:
        """Whether it is a share of time, 0 to 1, which launches have together: a sum over a sum."""
        return self.of_lost_time or isinstance(self.value, Share | Interrupted)

    def at(self, step_s: float, counts: Mapping[str, int], lanes: int) -> float | None:
        """The metric if the step (or a chunk of every lane) took `step_s`; `None` where that says nothing.

        Args:
            counts: of all groups or lanes together.
            lanes: how many groups, or lanes that work alone; a time per count is one's.
        """
        every = self.value.values if isinstance(self.value, FirstOf) else (self.value,)
        value = next((one for one in every if getattr(one, "of", "") == "step"), None)
        if step_s <= 0:
            return None
        if isinstance(value, Rate):
            return sum(counts.get(name, 0) for name in value.counts) / step_s
        if isinstance(value, Seconds):
            number = sum(counts.get(name, 0) for name in value.per) / lanes if value.per else 1
            return step_s / number if number else None
        return None
