"""Validation of study files, before anything is planned.

Each function yields (key, problem). The reader reports the first, so that a check may rely on the previous ones.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from octant import catalogue, workloads
from octant.failure import suggestion
from octant.placement.expressions import LOCATION
from octant.placement.request import parse_request
from octant.profile.named_values import is_name
from octant.runs.programs import table as program_table
from octant.runs.programs.table import ValueTable
from octant.study.cells import cells
from octant.study.measures import metric_of
from octant.study.parts import (
    OF_A_LAUNCH,
    Bar,
    Level,
    Levels,
    Measure,
    MeasureAxis,
    Problem,
    PublishedRange,
    PublishedTable,
    number,
    place_text,
    sample_values,
)

if TYPE_CHECKING:
    from octant.study.question import Study

_FINDINGS = "octant catalogue findings"
MAX_LAUNCHES = 20_000  # of one study, about six hours at one second each


def problems(study: Study) -> Iterator[Problem]:
    """Yield all problems of a study."""
    for factor in study.factors:
        if factor not in study.baseline:
            yield "baseline", f"no level of {factor}; try one of {', '.join(study.factors[factor])}"
    yield from _with_prefix("baseline", levels_problems(study, study.baseline))
    for name in study.scale:
        if name not in study.factors:
            yield "scale", f"no factor {name!r}; try one of {', '.join(study.factors)}"
    yield from _part_problems(study)
    for n, combination in enumerate(study.combinations):
        yield from _with_prefix(f"combinations.{n}", levels_problems(study, combination))
    drawn = any(
        measure.axis for measure in study.measures.values()
    )  # measures without an axis are bars next to the curves
    for name, measure in study.measures.items():
        yield from _with_prefix(f"measures.{name}", _measure_problems(study, measure))
        if study.picture == "curve" and not (measure.axis.has_numbers if measure.axis else drawn):
            yield "picture", f"a curve needs an axis of numbers, and {name} has none; try 'bars'"
    yield from _value_problems(study)
    yield from _knob_problems(study)
    yield from _size_problems(study)
    yield from _level_problems(study)
    for n, published in enumerate(study.published):
        yield from _with_prefix(f"published.{n}", _published_problems(study, published))
    for n, finding in enumerate(study.findings):
        if not finding.statement and finding.id not in catalogue.findings():
            yield (
                f"findings.{n}.id",
                f"no finding {finding.id!r}; {suggestion(finding.id, catalogue.findings(), _FINDINGS)}",
            )
        if finding.statement and finding.id in catalogue.findings():
            yield (
                f"findings.{n}.statement",
                f"the catalogue already has a statement for {finding.id}; remove it, or use another id",
            )
        if finding.there:
            there = _row_problems(finding.there.table, finding.there.metric, finding.there.where)
            yield from _with_prefix(f"findings.{n}.there", there)
            there = _row_problems(finding.there.table, finding.there.metric, finding.there.to)
            yield from _with_prefix(f"findings.{n}.there.to", there)
            yield from _with_prefix(f"findings.{n}.there", _ratio_problems(finding.there))
        yield from _with_prefix(f"findings.{n}.test", finding.test.problems(study))


def _part_problems(study: Study) -> Iterator[Problem]:
    """Yield factors of `parts` that do not exist, or whose levels change the launch."""
    for name in study.parts:
        if name not in study.factors:
            yield "parts", f"no factor {name!r}; try one of {', '.join(study.factors)}"
            continue
        for title, level in study.factors[name].items():
            if level != Level(about=level.about, year=level.year):
                yield f"factors.{name}.{title}", "a level of a part must not change the launch; remove its keys"


def _with_prefix(prefix: str, found: Iterator[Problem]) -> Iterator[Problem]:
    for key, problem in found:
        yield f"{prefix}.{key}" if key else prefix, problem


def levels_problems(study: Study, levels: Levels) -> Iterator[Problem]:
    """Yield factors and levels that the study does not have."""
    for factor, level in levels.items():
        if factor not in study.factors:
            yield "", f"no factor {factor!r}; {suggestion(factor, study.factors)}"
        elif level not in study.factors[factor]:
            yield "", f"no level {level!r} of {factor}; {suggestion(level, study.factors[factor])}"


def shared_problems(
    study: Study, measures: Sequence[str], requested_levels: Sequence[Levels], bar: Bar | None
) -> Iterator[Problem]:
    """Yield missing measures and combinations of a test, and an invalid bar."""
    for name in measures:
        if name not in study.measures:
            yield "", f"no measure {name!r}; {suggestion(name, study.measures)}"
    planned = {study.full(levels) for levels in study.combinations}
    for levels in requested_levels:
        yield from levels_problems(study, levels)
        if planned and study.full(levels) not in planned:
            yield "", f"the combination {', '.join(study.full(levels))} is not listed in [[combinations]]"
    if bar is None:
        return
    if sum(edge is not None for edge in (bar.above, bar.below, bar.within)) != 1:
        yield "bar", "exactly one of above, below and within is needed"
    elif bar.within is not None and bar.within[0] > bar.within[1]:
        yield "bar.within", f"{bar.within[0]:g} to {bar.within[1]:g} is not a range; swap the two"


def factor_problems(study: Study, factor: str, levels: Sequence[str]) -> Iterator[Problem]:
    """Yield a missing factor of a test, or a repeated level."""
    if factor not in study.factors:
        yield "factor", f"no factor {factor!r}; {suggestion(factor, study.factors)}"
    twice = [level for level, count in Counter(levels).items() if count > 1]
    if twice:
        yield "", f"{twice[0]!r} is listed twice; remove one"


def pair_problems(study: Study, of: Levels, to: Levels) -> Iterator[Problem]:
    """Yield a combination that is compared with itself."""
    if study.full(of) == study.full(to):
        yield "", "a combination is compared with itself; give `of` and `to` that differ"


def place_problems(study: Study, measure: str, *at: str) -> Iterator[Problem]:
    """Yield missing or invalid axis values of a measure."""
    axis = study.measures[measure].axis
    if axis is not None and not at[0]:
        yield "", f"`at` must be a value of the axis {axis.knob}"
    yield from on_axis_problems(study, measure, [value for value in at if value])


def axis_problems(study: Study, measure: str, kind: str) -> Iterator[Problem]:
    """Yield a measure without an axis, which this kind of test needs."""
    if study.measures[measure].axis is None:
        yield "", f"a {kind} needs a measure with an axis, and {measure} has none"


def on_axis_problems(study: Study, measure: str, values: Sequence[str]) -> Iterator[Problem]:
    """Yield values that the axis of a measure does not have."""
    axis = study.measures[measure].axis
    known = [value for value in axis.values if len(sample_values(value)) == 1] if axis else []
    for value in values:
        if value not in known:
            yield (
                "",
                f"no axis value {value!r} in {measure}; {suggestion(value, known) if known else 'give it an axis'}",
            )


def _measure_problems(study: Study, measure: Measure) -> Iterator[Problem]:
    named = [measure.model, measure.workload, measure.command]
    if sum(map(bool, named)) != 1 or bool(measure.model) != (study.source == "model"):
        wanted = "a model" if study.source == "model" else "a workload or a command"
        yield "", f"with source = {study.source!r} it must name {wanted}, and nothing else"
        return
    yield from program_table.problems(measure)
    if measure.workload:
        try:
            workload = workloads.workload(measure.workload)
        except LookupError as error:
            yield "workload", str(error.args[0])
            return
        if measure.predicted and not (workload.step and workload.scaling):
            yield "predicted", f"{workload.name} does not declare a step and its scaling; remove it"
    if not measure.model:
        yield from _metric_problems(study, measure)
    if measure.command:
        yield from _program_problems(study, measure)
    levels = [level for factor in study.factors.values() for level in factor.values()]
    if any(level.profile is not None for level in levels) and not measure.command:
        yield "", "a level has the key `profile`, which is available for programs only; remove it"
    of_profile = is_name(measure.metric) and not measure.profile
    if of_profile and not any(level.profile for level in levels):
        yield "metric", f"{measure.metric} is a value of a profile; add profile = true"
    if measure.predicted and (measure.axis or not measure.workload):
        yield "predicted", "a prediction requires a workload and no axis; remove it"
    if measure.axis:
        yield from _with_prefix("axis.values", _axis_problems(measure.axis, ladders=not measure.model))


def _metric_problems(study: Study, measure: Measure) -> Iterator[Problem]:
    """Yield an unknown metric, in each combination of the factors in braces in its name."""
    wrong = sorted(measure.parts - set(study.parts))
    if wrong:
        hint = suggestion(wrong[0], study.parts or study.factors)
        yield "metric", f"{{{wrong[0]}}} is not a factor of `parts`; {hint}"
        return
    named = [[(factor, level) for level in study.factors[factor]] for factor in sorted(measure.parts)]
    for chosen in itertools.product(*named):
        try:
            metric_of(measure, dict(chosen))
        except LookupError as error:
            yield "metric", str(error.args[0])


def _program_problems(study: Study, measure: Measure) -> Iterator[Problem]:
    """Yield keys of a measure or level that do not apply to programs."""
    if measure.mode:
        yield "mode", "a program has no mode; remove it, and set `ranks` instead"
    if measure.link:
        yield "link", "programs cannot run on emulated hosts; remove it"
    settings = {**study.knobs, **measure.knobs, **({measure.axis.knob: ""} if measure.axis else {})}
    name = next(name for name, one in study.measures.items() if one is measure)
    for factor, levels in study.factors.items():
        for title, level in levels.items():
            settings |= {**level.knobs, **level.measures.get(name, {})}
            if level.link:
                yield "command", f"{factor} {title} has the key `link`, which is not available for programs; remove it"
    for knob in settings:
        if why := program_table.knob_problem(measure, knob):
            yield "command", why


def _value_problems(study: Study) -> Iterator[Problem]:
    """Yield values of the same name with different definitions: measures of the same command share launches."""
    known: dict[str, tuple[str, ValueTable]] = {}
    for name, measure in study.measures.items():
        for value in measure.values:
            other, first = known.setdefault(value.name, (name, value))
            if first != value:
                yield (
                    f"measures.{name}.values",
                    f"{other} defines {value.name!r} differently; use two different names",
                )


def _axis_problems(axis: MeasureAxis, ladders: bool) -> Iterator[Problem]:
    values: list[str] = []
    for value in axis.values:
        try:
            values += sample_values(value) if ladders else [value]
        except ValueError as error:
            yield "", str(error)
    if len(values) < 2:
        yield "", "an axis needs at least two values; add some, or use a ladder such as '64KiB to 4*llc by 4'"
    seen: dict[float | str, str] = {}
    for value in axis.values:
        try:
            same = seen.setdefault(number(value), value)
        except ValueError:
            same = seen.setdefault(value, value)
        if same is not value:
            yield "", f"{value!r} is listed twice (as {same!r}); remove one"


def _level_problems(study: Study) -> Iterator[Problem]:
    for factor, levels in study.factors.items():
        for name, level in levels.items():
            yield from _with_prefix(f"factors.{factor}.{name}.place", _place_problems(level))
            for one in level.measures:
                if one not in study.measures:
                    problem = f"no measure {one!r}; {suggestion(one, study.measures)}"
                    yield f"factors.{factor}.{name}.measures.{one}", problem


def _knob_problems(study: Study) -> Iterator[Problem]:
    """Yield knobs with several values, and knobs that the axis would override."""
    every = tuple(study.measures)
    settings = [("knobs", study.knobs, every)]
    settings += [(f"measures.{name}.knobs", measure.knobs, (name,)) for name, measure in study.measures.items()]
    for factor, levels in study.factors.items():
        for name, level in levels.items():
            settings.append((f"factors.{factor}.{name}.knobs", level.knobs, every))
            settings += [
                (f"factors.{factor}.{name}.measures.{one}", own, (one,)) for one, own in level.measures.items()
            ]
    axes = {name: measure.axis.knob for name, measure in study.measures.items() if measure.axis}
    for key, knobs, of in settings:
        for knob, value in knobs.items():
            try:
                several = len(sample_values(value, of_a_launch=True)) > 1
            except ValueError as error:
                yield f"{key}.{knob}", str(error)
                continue
            if several:
                yield f"{key}.{knob}", f"several values ({value}) are not allowed; use an axis"
            if gone := next((name for name in of if axes.get(name) == knob), ""):
                yield f"{key}.{knob}", f"the axis of {gone} already varies {knob}; remove one of the two"


def _size_problems(study: Study) -> Iterator[Problem]:
    combinations = len(study.combinations) or math.prod(map(len, study.factors.values()))
    launches = combinations * len(study.measures) * study.repeats
    if study.source == "model":  # a value is computed for every point of an axis
        launches = combinations * sum(len(one.axis.values) if one.axis else 1 for one in study.measures.values())
    if launches > MAX_LAUNCHES:
        yield "factors", f"{launches:,} launches exceed the maximum of {MAX_LAUNCHES:,}; list some [[combinations]]"
    twice = [name for name, count in Counter(map(str, cells(study))).items() if count > 1]
    if twice:
        yield "factors", f"several combinations have the name {twice[0]!r}; rename a level"


def _place_problems(level: Level) -> Iterator[Problem]:
    try:
        if level.place and not LOCATION.fullmatch(level.place):  # a location can only be resolved on a machine
            parse_request(place_text(level.place, dict.fromkeys(OF_A_LAUNCH, 1)))
    except ValueError as error:
        yield "", f"not a placement request: {error}"


def _row_problems(table: str, metric: str, where: Mapping[str, str]) -> Iterator[Problem]:
    if table not in catalogue.results():
        yield "", f"no table {table!r}; {suggestion(table, catalogue.results(), 'octant catalogue results')}"
        return
    try:
        found = catalogue.results()[table].find(metric, where)
    except KeyError as error:
        yield "", str(error.args[0])
        return
    if not found:
        yield "", f"no row of {table} has {', '.join(f'{k} = {v!r}' for k, v in where.items())}"


def _ratio_problems(there: PublishedRange) -> Iterator[Problem]:
    """Yield a ratio with several matching rows."""
    for key, where in (("where", there.where), ("to", there.to)):
        rows = [one for one in catalogue.results()[there.table].find(there.metric, where) if one.value is not None]
        if there.to and len(rows) > 1:
            yield key, f"a ratio needs exactly one row, and {len(rows)} rows match; add a column"


def _published_problems(study: Study, published: PublishedTable) -> Iterator[Problem]:
    if published.measure not in study.measures:
        yield "", f"no measure {published.measure!r}; {suggestion(published.measure, study.measures)}"
    yield from _row_problems(published.table, published.metric, published.where)
    for factor, levels in published.columns.items():
        for level, where in levels.items():
            yield from _with_prefix("columns", levels_problems(study, {factor: level}))
            yield from _with_prefix(
                f"columns.{factor}.{level}", _row_problems(published.table, published.metric, where)
            )
