"""The values of a study, whether launches or a model gave them, and how they are looked up."""

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
"""Of a model what it says with its own bounds; of launches what they claim, or a value without an interval."""
Place: TypeAlias = tuple[Cell, str]
"""A cell at an axis value (`""`: no axis)."""
SAME_LAUNCH = "both combinations are the same launch here"
"""Why there is nothing to compare where two combinations ask the same."""


class CannotTest(Exception):  # noqa: N818 - an outcome, not an error
    """Why there is nothing to test; `kind` is that of the caveat which forbids it, `""` where it is none."""

    def __init__(self, why: str, kind: str = "") -> None:
        super().__init__(why)
        self.kind = kind


@dataclass(frozen=True)
class Quantity:
    """What a measure gives."""

    unit: str
    better: Better


@dataclass(frozen=True)
class LaunchValue:
    """What one launch says of a cell: one sample of a study."""

    value: stats.Interval  # base units, with the launch's own interval
    round: int  # a round holds a launch of every cell, in random order
    begun: datetime
    whole_s: float | None = None  # of a share of time: what it is a share of

    @classmethod
    def of(cls, launch: LaunchFigure) -> LaunchValue:
        """The view of a launch.

        Raises:
            ValueError: its record does not say when it started. Those of a store do.
        """
        begun = launch.point.process.begun
        if begun is None:
            raise ValueError(f"the record of {launch.point.launch} does not say when it started")
        return cls(launch.value, int(launch.point.launch.rpartition("-")[2]), begun, launch.whole_s)


@dataclass(frozen=True)
class StudyValue:
    """One value of a study. Of a measurement: what every launch said. Of a model: the value with its bounds."""

    launches: tuple[LaunchValue, ...] = ()
    modelled: stats.Interval | None = None
    caveats: tuple[Caveat, ...] = ()
    pairs: Mapping[tuple[int, int], float] = field(default_factory=dict)  # of hardware threads, of a metric of pairs
    calibrated_on: tuple[str, ...] = ()  # of a model: what of it was taken from the published value of this point
    figure: Figure | None = None  # of a measurement: what it is a view of

    @classmethod
    def of(cls, figure: Figure) -> StudyValue:
        """The view of a figure. Its interval may be wide: a ratio of two figures has an interval of its own."""
        caveats = tuple(one for one in figure.caveats if one.kind != "wide interval")
        launches = tuple(map(LaunchValue.of, figure.counted))
        return cls(launches, caveats=caveats, pairs=values_of_pairs(figure), figure=figure)

    @property
    def of_limit(self) -> float | None:
        """Fraction of the hardware's limit that was reached; `None` where there is none, or this is the limit."""
        return self.figure.of_limit if self.figure else None

    @cached_property
    def value(self) -> Bounded:
        """The median over launches, or the share of their time, with its uncertainty; of a model, what it says."""
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
    """One published value and the cell of the study that asks the same."""

    cell: Cell
    at: str  # axis value, or ""
    observation: catalogue.Observation
    value: float  # base units


@dataclass(frozen=True)
class StudyValues:
    """The values of a study: by cell, then by axis value (`""` where the measure has no axis)."""

    quantities: Mapping[str, Quantity]  # by measure
    by_cell: Mapping[Cell, Mapping[str, StudyValue]]
    absent: Mapping[Cell, str]  # what could not be had, and why
    same: Mapping[Cell, Cell]  # cells that have the same request here as an earlier one
    wrong: tuple[str, ...] = ()  # checks that failed, in words
    gaps: Mapping[tuple[Cell, str], str] = field(default_factory=dict)  # axis values that a cell lacks, and why
    topology: Topology | None = None  # of the machine that measured them
    written: Mapping[str, Mapping[str, str]] = field(default_factory=dict)  # measure -> axis value in the file -> here

    read: dict[tuple[Cell, str], StudyValue] = field(default_factory=dict, compare=False, repr=False)  # so far

    def better(self, measure: str) -> Better:
        """Whether a higher or a lower value is better."""
        return self.quantities[measure].better

    def value(self, cell: Cell, at: str) -> StudyValue:
        """The value of a cell at an axis value, as the study file writes it.

        Raises:
            CannotTest: there is none, or it is invalid: not what was asked, say.
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
        """The values of a cell at these axis values.

        Raises:
            CannotTest: as `value`.
        """
        return [self.value(cell, at) for at in over]


def quantity_of(measure: Measure) -> Quantity:
    """The unit of what is measured or modelled, and whether a higher value is better."""
    if measure.model:
        return Quantity(measure.unit, "higher" if measure.kind == "rate" else "lower")
    metric = metric_of(measure)
    return Quantity(metric.unit, metric.better)
