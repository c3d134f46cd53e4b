"""Test at which axis value a curve leaves a level: the capacity of a cache or TLB."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, TypeAlias

import numpy as np
from msgspec import Meta

from octant import stats
from octant.analysis.plateaus import EVEN, plateaus
from octant.study import checks
from octant.study.parts import BASELINE, Bar, Cell, Levels, Problem, number
from octant.study.question import Judgement, KindOfTest, Study
from octant.study.ratios import over_extremes
from octant.study.values import CannotTest, StudyValue, StudyValues, quantity_of
from octant.study.verdict import Effect, caveats_of, caveats_text, judge_effect, judge_value, more_text
from octant.untrusted import InputTable

NOISE = 0.1
"""Share of the subtracted time that is attributed to its own noise."""
_Row: TypeAlias = "list[tuple[float, float]]"
"""(place, time) of one round, the places ascending."""
_Edge: TypeAlias = "tuple[float, float] | None"
"""The two places between which a level ends; `None` if there is no such level."""


class Other(InputTable, frozen=True):
    """Another curve over the same axis."""

    measure: str = ""  # "": the same
    of: Levels = BASELINE


class StepTest(KindOfTest, frozen=True, kw_only=True):
    """End of a level of a time: the axis value, or its ratio to `near` or to that of `to`.

    The level is the `level`-th one, the one that ends nearest to the axis value `near`, or the part below the midpoint
    of the values at the two places `half`. The curve `less` is subtracted first, so that its own levels do not count.
    """

    measure: str
    of: Levels = BASELINE
    less: Other | None = None
    to: Levels | None = None
    to_measure: str = ""  # "": the same
    level: Annotated[int, Meta(ge=0, le=9)] = 0
    near: str = ""
    half: tuple[str, str] | None = None
    bar: Bar

    def problems(self, study: Study) -> Iterator[Problem]:
        """Yield missing measures, combinations or axis values, ambiguous levels, and measures that are not times."""
        less = self.less or Other()
        measures = [self.measure, *filter(None, [less.measure, self.to_measure])]
        yield from checks.shared_problems(study, measures, (self.of, less.of, self.to or {}), self.bar)
        if self.to is not None and self.to_measure in ("", self.measure):
            yield from checks.pair_problems(study, self.of, self.to)
        if self.to_measure and self.to is None:
            yield "to_measure", "it needs the key `to`; try to = {}"
        for name in measures:
            yield from checks.axis_problems(study, name, self.kind)
            axis = study.measures[name].axis
            if axis and not axis.has_numbers:
                yield "", f"a step needs numbers along the axis of {name}"
            if quantity_of(study.measures[name]).better == "higher":
                yield (
                    "measure",
                    f"a step needs a measure of time, and {name} is a rate; use a measure for which lower is better",
                )
        axes = [study.measures[name].axis for name in measures]
        if any(one is None or axes[0] is None or one.values != axes[0].values for one in axes):
            yield "", "measures that are compared need the same values along their axes"
        if sum((self.level > 0, bool(self.near), self.half is not None)) != 1:
            yield "", "exactly one of level, near and half is needed"
        if self.near and self.to is not None:
            yield "near", "`near` and `to` exclude each other; remove one"
        yield from checks.on_axis_problems(study, self.measure, [*filter(None, [self.near]), *(self.half or ())])

    def unit(self, study: Study) -> str:
        """Return the unit of the axis; empty if the place is compared with another."""
        axis = study.measures[self.measure].axis
        return "" if self.to is not None or self.near else (axis.unit if axis else "") or "1"

    @property
    def least_launches(self) -> int:
        """Return the number that a range or an interval from order statistics requires."""
        return stats.FEW_LAUNCHES

    def judge(self, study: Study, values: StudyValues) -> Judgement:
        """Judge the axis value, or its ratio to another."""
        axis = study.measures[self.measure].axis
        knob = axis.knob if axis else ""
        one = self._found(study, values, self.measure, self.of)
        if self.to is not None:
            return self._moved(study, values, one, knob)
        if isinstance(one, _Missing):
            return one.judgement
        if not self.near:
            return judge_value(one, self.bar, self.unit(study), f", the end of the level along {knob}")
        expected = self._number(values, self.near)
        here = stats.Interval(one.here.low / expected, one.here.middle / expected, one.here.high / expected)
        of_it = Effect(here, one.launches, one.caveats, one.least, ends=one.ends)
        return judge_effect(of_it, self.bar, f" of {self.near}, the end of the level along {knob}")

    def _moved(self, study: Study, values: StudyValues, one: Effect | _Missing, knob: str) -> Judgement:
        """Judge the factor by which the place moves; a level beyond the axis moves at least to its end."""
        other = self._found(study, values, self.to_measure or self.measure, self.to or {})
        if isinstance(other, _Missing):
            raise CannotTest(other.judgement.why)
        if isinstance(one, _Missing):
            least = one.end / other.here.high
            if not one.goes_on or self.bar.above is None or least <= self.bar.above:
                raise CannotTest(one.judgement.why)
            why = f"at least ×{least:.3g}, the shift of the end of the level along {knob}: {one.judgement.why}"
            why += f" (required: {self.bar.text})"
            if 0 < other.launches < other.least:
                missing = other.least - other.launches
                text = more_text(missing, other.launches, other.least)
                return Judgement("undecided", f"{why}; {text}", more_launches=missing)
            return Judgement("holds", why)
        launches = min(one.launches, other.launches)
        here, caveats = over_extremes(one.here, other.here), one.caveats + other.caveats
        moved = Effect(
            here, launches, caveats, one.least, ends="ratio of both ranges (minimum to maximum over launches)"
        )
        return judge_effect(moved, self.bar, f", the shift of the end of the level along {knob}")

    def _number(self, values: StudyValues, written: str) -> float:
        return number(values.written.get(self.measure, {}).get(written, written))

    def _found(self, study: Study, values: StudyValues, measure: str, levels: Levels) -> Effect | _Missing:
        """Return the range of the place over launches, or that no such level was found."""
        axis = study.measures[measure].axis
        at = sorted(axis.values if axis else (), key=number)
        curve = _curve(values, study.cell(measure, levels), at)
        off = _curve(values, study.cell(self.less.measure or measure, self.less.of), at) if self.less else None
        caveats = caveats_of((*curve.values(), *(off or {}).values()))
        rows = _rows(curve, off, len(at) / 2)
        launches = 0 if all(value.modelled is not None for value in curve.values()) else len(rows)
        edges = [self._edge(values, row) for row in rows]
        known = [edge for edge in edges if edge is not None]
        if len(known) < len(edges):
            goes_on = not known and all(_is_even(row) for row in rows)
            name = ", ".join((measure, *study.full(levels)))
            return _Missing(
                self._missing(name, len(known), launches, (at[0], at[-1]), caveats), number(at[-1]), goes_on
            )
        middle = float(np.median([low for low, _ in known]))
        here = stats.Interval(min(low for low, _ in known), middle, max(high for _, high in known))
        return Effect(here, launches, caveats, self.least_launches, ends=f"range over {launches} launches")

    def _edge(self, values: StudyValues, points: _Row) -> _Edge:
        if self.half is not None:
            low, high = (self._number(values, text) for text in self.half)
            return _halfway([point for point in points if low <= point[0] <= high])
        found = plateaus(points)
        edges = [(one.last, one.beyond) for one in found if one.beyond is not None]
        if self.level:
            return edges[self.level - 1] if len(edges) >= self.level else None
        expected = self._number(values, self.near)
        return min(edges, key=lambda edge: abs(math.log(edge[0] / expected)), default=None)

    def _missing(
        self, name: str, seen: int, launches: int, ends: tuple[str, str], caveats: tuple[stats.Caveat, ...]
    ) -> Judgement:
        """Return the judgement without a level: `does not hold` if there are enough launches and none has it."""
        what = (
            f"level {self.level}" if self.level else f"level near {self.near}" if self.near else "midpoint of the rise"
        )
        where = f"for {name}, from {ends[0]} to {ends[1]}"
        if seen:
            why = f"{what} not found in {launches - seen} of {launches} launches {where}"
            return Judgement("undecided", why)
        why = f"{what} not found {where}"
        enough = not 0 < launches < self.least_launches
        text = caveats_text([Effect(stats.Interval(1, 1, 1), launches, caveats)])
        more = None if enough else self.least_launches - launches
        return Judgement("does not hold" if enough else "undecided", why + text, more_launches=more)


class _Missing:
    """Judgement without a level in some launches; `goes_on`: the first level extends to the end of the axis in all."""

    def __init__(self, judgement: Judgement, end: float, goes_on: bool) -> None:
        self.judgement, self.end, self.goes_on = judgement, end, goes_on


def _curve(values: StudyValues, cell: Cell, at: Sequence[str]) -> dict[float, StudyValue]:
    """Return the available values along the axis; a value that is not measurable leaves a gap."""
    found: dict[float, StudyValue] = {}
    reasons = []
    for text in at:
        try:
            found[number(text)] = values.value(cell, text)
        except CannotTest as reason:
            reasons.append(reason)
    if 2 * len(found) < len(at):
        raise reasons[0]
    return found


def _rows(curve: Mapping[float, StudyValue], off: Mapping[float, StudyValue] | None, least: float) -> list[_Row]:
    """Return (place, time) in each round with at least `least` places, less the subtracted curve.

    Raises:
        CannotTest: there is no such round, or a value is zero.
    """
    sides = [_by_round(one) for one in (curve, off) if one is not None]
    found = []
    for name in sorted(set.intersection(*(set(side) for side in sides))):
        both = [side[name] for side in sides]
        places = sorted(set.intersection(*(set(one) for one in both)))
        if len(places) < least:
            continue
        if min(one[place] for one in both for place in places) <= 0:
            raise CannotTest("a value is zero, so there is no level")
        found.append(_without(places, *both))
    if not found:
        raise CannotTest("no round has values for at least half of the axis")
    return found


def _by_round(curve: Mapping[float, StudyValue]) -> dict[int, dict[float, float]]:
    found: dict[int, dict[float, float]] = {}
    for place, value in curve.items():
        if value.modelled is not None:
            found.setdefault(0, {})[place] = value.value.middle
        for launch in value.launches:
            found.setdefault(launch.round, {})[place] = launch.value.middle
    return found


def _without(places: Sequence[float], row: Mapping[float, float], off: Mapping[float, float] | None = None) -> _Row:
    """Return the times minus others, plus their minimum: positive, and even where both are equal except for noise."""
    if off is None:
        return [(place, row[place]) for place in places]
    floor = min(off[place] for place in places)
    return [(place, floor + max(0.0, row[place] - (1 + NOISE) * off[place])) for place in places]


def _is_even(row: _Row) -> bool:
    times = [time for _, time in row]
    return max(times) <= EVEN * min(times)


def _halfway(points: _Row) -> _Edge:
    """Return the first places between which the values cross the midpoint of the first and the last value."""
    (_, first), (_, last) = points[0], points[-1]
    if last < EVEN * first:
        return None
    at = next(i for i, (_, value) in enumerate(points) if value >= (first + last) / 2)
    return points[at - 1][0], points[at][0]
