"""Values of a study, measured or modelled, and their look-up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Literal, TypeAlias

from octant import catalogue, stats
from octant.analysis.clusters import values_of_pairs
from octant.stats import Grade, Period
from octant.study.measures import metric_of
from octant.study.parts import Cell

if TYPE_CHECKING:
    from datetime import datetime

    from octant.analysis.figures import Figure, LaunchFigure
    from octant.machine import Topology
    from octant.stats import Caveat
    from octant.study.parts import Measure

Better: TypeAlias = Literal["higher", "lower"]
Bounded: TypeAlias = stats.Interval | stats.Estimate
"""Value with bounds: of a model, or of launches (without an interval if there are too few)."""
Place: TypeAlias = tuple[Cell, str]
"""A cell at an axis value (`""`: no axis)."""
SAME_LAUNCH = "both combinations are identical on this machine"
"""Why combinations with the same request cannot be compared."""


class CannotTest(Exception):  # noqa: N818 - an outcome, not an error
    """Reason why a test is not possible; `kind` is that of a caveat that excludes the value, or `""`."""

    def __init__(self, why: str, kind: str = "") -> None:
        super().__init__(why)
        self.kind = kind


@dataclass(frozen=True)
class Quantity:
    """Unit of a measure, and whether a higher value is better."""

    unit: str
    better: Better


@dataclass(frozen=True)
class LaunchValue:
    """Value of a cell in one launch: one sample of a study."""

    value: stats.Interval  # base units, with the launch's own interval
    round: int  # a round holds a launch of every cell, in random order
    begun: datetime
    whole_s: float | None = None  # of a share of time: the whole in seconds

    @classmethod
    def of(cls, launch: LaunchFigure) -> LaunchValue:
        """Return the view of a launch.

        Raises:
            ValueError: its record has no start time; records of a store have it.
        """
        begun = launch.point.process.begun
        if begun is None:
            raise ValueError(f"the record of {launch.point.launch} has no start time")
        return cls(launch.value, int(launch.point.launch.rpartition("-")[2]), begun, launch.whole_s)


@dataclass(frozen=True)
class StudyValue:
    """One value of a study: of a measurement all launches, of a model the value with its bounds."""

    launches: tuple[LaunchValue, ...] = ()
    modelled: stats.Interval | None = None
    caveats: tuple[Caveat, ...] = ()
    pairs: Mapping[tuple[int, int], float] = field(default_factory=dict)  # of hardware threads, of a metric of pairs
    calibrated_on: tuple[str, ...] = ()  # of a model: parameters taken from the published value of this point
    figure: Figure | None = None  # of a measurement: its figure

    @classmethod
    def of(cls, figure: Figure) -> StudyValue:
        """Return the view of a figure, without the caveat of a wide interval: ratios have their own intervals."""
        caveats = tuple(one for one in figure.caveats if one.kind != "wide interval")
        launches = tuple(map(LaunchValue.of, figure.counted))
        return cls(launches, caveats=caveats, pairs=values_of_pairs(figure), figure=figure)

    @property
    def of_limit(self) -> float | None:
        """Return the fraction of the hardware limit; `None` if there is none, or if this is the limit."""
        return self.figure.of_limit if self.figure else None

    @cached_property
    def value(self) -> Bounded:
        """Return the median over launches, or the share of their time, with its interval; or the modelled value."""
        if self.modelled is not None:
            return self.modelled
        begun = [launch.begun for launch in self.launches]
        period, values = Period(min(begun), max(begun)), [launch.value for launch in self.launches]
        wholes = [launch.whole_s for launch in self.launches if launch.whole_s]
        if len(wholes) == len(values):
            return stats.share_over_launches([value.middle for value in values], wholes, period)
        return stats.median_over_launches(values, period)


@dataclass(frozen=True)
class PublishedValue:
    """Published value and its cell in the study."""

    cell: Cell
    at: str  # axis value, or ""
    observation: catalogue.Observation
    value: float  # base units


@dataclass(frozen=True)
class StudyValues:
    """Values of a study: by cell, then by axis value (`""` where the measure has no axis)."""

    quantities: Mapping[str, Quantity]  # by measure
    by_cell: Mapping[Cell, Mapping[str, StudyValue]]
    absent: Mapping[Cell, str]  # cells that are not available, and why
    same: Mapping[Cell, Cell]  # cells that have the same request here as an earlier one
    wrong: tuple[str, ...] = ()  # checks that failed, in words
    gaps: Mapping[tuple[Cell, str], str] = field(default_factory=dict)  # missing axis values of a cell, and why
    topology: Topology | None = None  # of the machine that measured them
    written: Mapping[str, Mapping[str, str]] = field(default_factory=dict)  # measure -> axis value in the file -> here

    read: dict[tuple[Cell, str], StudyValue] = field(default_factory=dict, compare=False, repr=False)  # so far

    def better(self, measure: str) -> Better:
        """Return whether a higher or a lower value is better."""
        return self.quantities[measure].better

    def value(self, cell: Cell, at: str) -> StudyValue:
        """Return the value of a cell at an axis value, as written in the study file.

        Raises:
            CannotTest: there is none, or it is not measurable.
        """
        if cell in self.absent:
            raise CannotTest(self.absent[cell])
        here = self.written.get(cell.measure, {}).get(at, at)
        value = self.by_cell.get(cell, {}).get(here)
        where = f"{cell}{f' at {at}' if at else ''}"
        if value is None:
            raise CannotTest(f"{where}: {self.gaps.get((cell, here), 'not measured')}")
        invalid = next((caveat for caveat in value.caveats if caveat.grade == Grade.INVALID), None)
        if invalid:
            raise CannotTest(f"{where}: {invalid.text}", invalid.kind)
        self.read[cell, at] = value
        return value

    def curve(self, cell: Cell, over: Sequence[str]) -> list[StudyValue]:
        """Return the values of a cell at these axis values.

        Raises:
            CannotTest: see `value`.
        """
        return [self.value(cell, at) for at in over]


def quantity_of(measure: Measure) -> Quantity:
    """Return the unit of a measure, and whether a higher value is better."""
    if measure.model:
        return Quantity(measure.unit, "higher" if measure.kind == "rate" else "lower")
    metric = metric_of(measure)
    return Quantity(metric.unit, metric.better)
