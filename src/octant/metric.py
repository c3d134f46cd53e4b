"""Definitions of metrics as data: series or counts, and reductions in their order.

`octant.analysis` evaluates these. The order of the reductions is part of the definition: the maximum over ranks and
then the median over steps is Octant's time; the mean over steps and then the maximum over ranks is t_max of the Intel
MPI Benchmarks; the maximum over both is the worst of 10,000 steps of the Blue Gene/P evaluation.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from octant.record import Point, Samples

How = Literal["mean", "median", "max", "min", "sum", "p99.9"]
"""`p99.9`: the value that one in a thousand exceeds; of fewer values, the largest."""


@dataclass(frozen=True)
class Reduce:
    """Reduction of one axis of the samples to one number."""

    axis: Literal["steps", "ranks", "groups"]
    how: How


def steps(how: How) -> Reduce:
    """Return a reduction over the samples of a rank or, after `ranks`, of a group."""
    return Reduce("steps", how)


def ranks(how: How) -> Reduce:
    """Return a reduction over the ranks of a group, step by step or after `steps`."""
    return Reduce("ranks", how)


def groups(how: How) -> Reduce:
    """Return a reduction over the groups of a measurement, by position or after `steps`."""
    return Reduce("groups", how)


SLOWEST = (ranks("max"), groups("max"), steps("median"))
"""Octant's time: the slowest rank of each step, then the median over steps."""


@dataclass(frozen=True)
class Seconds:
    """Time of a step or chunk, of a phase, or of one counted item of a step."""

    of: str = "step"  # "step" or "phase/NAME"
    per: tuple[str, ...] = ()  # divided by these counts together; none: by one step or chunk
    role: str | None = None  # `None`: the first role, which is what is measured
    over: tuple[Reduce, ...] | None = None  # `None`: `SLOWEST`; samples of lanes that work alone are pooled
    undisturbed: bool = False  # only steps during which no rank was switched out


@dataclass(frozen=True)
class Rate:
    """Counts over the time of a step or phase. Rates of groups, and of lanes that work alone, are summed."""

    counts: tuple[str, ...]
    of: str = "step"
    role: str | None = None
    over: tuple[Reduce, ...] | None = None  # `None`: `SLOWEST`, with rates of groups added up


@dataclass(frozen=True)
class Share:
    """Share of a time in another: a sum over a sum, over all steps and ranks."""

    of: str
    to: str = "step"
    role: str | None = None


@dataclass(frozen=True)
class Reading:
    """Reading of the kernel."""

    of: str
    role: str | None = None
    over: tuple[Reduce, ...] = (ranks("max"), groups("max"), steps("median"))


@dataclass(frozen=True)
class NamedResult:
    """Named result."""

    name: str


@dataclass(frozen=True)
class Custom:
    """Pure function of a measurement and its samples, for definitions that are no reduction."""

    function: Callable[[Point, Samples], float]


@dataclass(frozen=True)
class Interruptions:
    """Interruptions of one lane or rank by length."""

    rank: int
    thread: int
    ns: NDArray[np.float64]  # how long; not negative
    counts: NDArray[np.int64]  # how many took so long
    whole_ns: float  # all the time of the lane, interruptions included


@dataclass(frozen=True)
class Interrupted:
    """Share of the time of all lanes in interruptions, a sum over a sum; the function returns the interruptions.

    None if it is not recorded.
    """

    function: Callable[[Point, Samples], Sequence[Interruptions]]


@dataclass(frozen=True)
class OfPairs:
    """Value of each pair of hardware threads, which the function returns by number, the lower first.

    None if it is not recorded.
    """

    function: Callable[[Point, Samples], Mapping[tuple[int, int], float]]
    how: How = "median"  # over the pairs
    readings: tuple[str, ...] = ()  # readings that only identify the pair


@dataclass(frozen=True)
class Derived:
    """Function of other values of the same launch."""

    function: Callable[..., float]
    values: tuple["Value", ...]


@dataclass(frozen=True)
class FirstOf:
    """First of these values that a measurement has: measurements of one workload may have other phases."""

    values: tuple["Value", ...]


@dataclass(frozen=True)
class Needed:
    """Name that the definition of a metric takes from the records of a kernel."""

    kind: Literal["series", "count", "result"]
    name: str  # "step", "phase/pack", "reading/residual"; "bytes_sent"; "resolution"
    role: str | None = None  # `None`: the first role


Value: TypeAlias = Seconds | Rate | Share | Reading | NamedResult | Custom | Interrupted | OfPairs | Derived | FirstOf


def seconds(
    of: str = "step", role: str | None = None, over: tuple[Reduce, ...] | None = None, undisturbed: bool = False
) -> Seconds:
    """Return the time of a step, chunk or phase.

    Args:
        undisturbed: only steps during which no rank of the group was switched out.
    """
    return Seconds(of, (), role, over, undisturbed)


def per(*counts: str, of: str = "step", role: str | None = None, over: tuple[Reduce, ...] | None = None) -> Seconds:
    """Return the time per counted item of a step: a load, a message."""
    return Seconds(of, counts, role, over)


def rate(*counts: str, of: str = "step", role: str | None = None, over: tuple[Reduce, ...] | None = None) -> Rate:
    """Return the sum of these counts per second."""
    return Rate(counts, of, role, over)


def share(of: str, to: str = "step", role: str | None = None) -> Share:
    """Return the share of a phase or reading in the step or in another phase."""
    return Share(of, to, role)


def reading(of: str, role: str | None = None, over: tuple[Reduce, ...] = SLOWEST) -> Reading:
    """Return a reading of the kernel by its name without `reading/`."""
    return Reading(of, role, over)


def result(name: str) -> NamedResult:
    """Return the named result."""
    return NamedResult(name)


def custom(function: Callable[[Point, Samples], float]) -> Custom:
    """Return the value of `function` of the measurement and its samples."""
    return Custom(function)


def interrupted(function: Callable[[Point, Samples], Sequence[Interruptions]]) -> Interrupted:
    """Return the share of the time in interruptions, which `function` lists for each lane."""
    return Interrupted(function)


def of_pairs(
    function: Callable[[Point, Samples], Mapping[tuple[int, int], float]],
    how: How = "median",
    readings: tuple[str, ...] = (),
) -> OfPairs:
    """Return the value of `function` for each pair of hardware threads, reduced by `how`.

    Args:
        readings: names of readings that only identify the pair, and are no figures.
    """
    return OfPairs(function, how, readings)


def derived(function: Callable[..., float], *values: Value) -> Derived:
    """Return the value of `function` of other values of the launch, in their order."""
    return Derived(function, values)


def needed_names(value: Value) -> Iterator[Needed]:
    """Yield the names that a value takes from records, in the order of its definition, except names in functions."""
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
    """Return the overlap: the overlapped time over the shorter of both; 1 if together they take the longer time."""
    return (pure_s + compute_s - whole_s) / min(pure_s, compute_s)


def first_of(*values: Value) -> FirstOf:
    """Return the first of these values that a measurement has."""
    return FirstOf(values)


@dataclass(frozen=True)
class Metric:
    """Quantity with a unit. If a measurement does not contain its series, the result with the metric's name is used."""

    name: str  # "bandwidth"
    unit: str  # base units: "B/s", "flop/s", "s", "1"
    better: Literal["higher", "lower"]
    value: Value
    note: str = ""  # the counting rule, shown with the figure
    of_lost_time: bool = False  # a share of all time: lost time is no caveat of it
    of_system: bool = False  # an activity of the system: lost time is no caveat of it
    per_rank: bool = False  # the mean of one rank instead of the total of ranks that work alone
    of_capacity: bool = False  # a part of what is available, 0 to 1

    @property
    def is_share(self) -> bool:
        """Whether it is a share of time, 0 to 1, computed over all launches together: a sum over a sum."""
        return self.of_lost_time or isinstance(self.value, Share | Interrupted)

    @property
    def is_percentage(self) -> bool:
        """Whether tables print it in percent; exports keep the number 0 to 1."""
        return self.is_share or self.of_capacity

    def at(self, step_s: float, counts: Mapping[str, int], lanes: int) -> float | None:
        """Return the metric if the step (or a chunk of every lane) took `step_s`; `None` if it does not depend on it.

        Args:
            counts: of all groups or lanes together.
            lanes: number of groups, or of lanes that work alone; a time per count is that of one.
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
