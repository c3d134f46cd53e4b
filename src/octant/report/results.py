"""Values of a cell besides its headline: named results, checks, metrics, phases, readings and groups."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from octant import units
from octant.analysis.series import pair_readings, series_metrics
from octant.program import is_program
from octant.record import UNCHECKED
from octant.store import kept

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from octant.analysis.figures import Figure
    from octant.analysis.summary import Summary
    from octant.record import Failure, KeptFile, Point, Result

_MOST_FILES = 8
"""Files of a launch, or of all launches of a program's cell, that a row names."""
_MOST_CELLS = 16
"""Combinations of knobs of programs that have a row each."""


@dataclass(frozen=True)
class NamedValue:
    """A result or check of all launches and groups of a cell."""

    name: str
    unit: str
    least: float
    middle: float
    greatest: float
    count: int  # launches times groups
    bound: float | None = None

    @property
    def text(self) -> str:
        """The value with its unit; if values differ, the median, minimum, maximum and number."""
        least, middle, greatest = map(self._written, (self.least, self.middle, self.greatest))
        if self.least == self.greatest or self.count == 1:
            return middle
        return f"{middle} ({self.count} values: {least} … {greatest})"

    def _written(self, value: float) -> str:
        return units.bytes_text(value) if self.unit == "B" else units.si_text(value, self.unit, 4)


def named_results(figure: Figure) -> list[NamedValue]:
    """Return the results without a bound, each name once, except the figure itself."""
    results = (one for point in figure.points for one in told_results(figure, point))
    return _named_values(one for one in results if one.bound is None and one.name != figure.metric.name)


def told_results(figure: Figure, point: Point) -> tuple[Result, ...]:
    """Return the results of a launch that are shown; programs and imports that failed verification only show checks.

    All others are times, memory, and values of the user or the tool, which may be rates; the failed check states the
    checked value.
    """
    return point.checks if has_no_speed(figure) else point.results


def has_no_speed(figure: Figure) -> bool:
    """Return whether a user's program, or an imported benchmark, gave a wrong answer in some launch of the cell."""
    imported = any("imported" in point.notes for point in figure.points)
    return bool(figure.wrong) and (imported or is_program(figure.workload.name))


def checks(figure: Figure) -> list[NamedValue]:
    """Return the results with a bound, each name once."""
    return _named_values(check for point in figure.points for check in point.checks)


def _named_values(results: Iterable[Result]) -> list[NamedValue]:
    groups: dict[tuple[str, str, float | None], list[float]] = {}
    for one in results:
        groups.setdefault((one.name, one.unit, one.bound), []).append(one.value)
    return [
        NamedValue(name, unit, float(np.min(some)), float(np.median(some)), float(np.max(some)), len(some), bound)
        for (name, unit, bound), some in groups.items()
    ]


def failed_texts(figure: Figure) -> list[str]:
    """Return each failed check with its worst value, its bound and its position: `residual: 17.2 > 16 (rank 1)`."""
    places = {one.name: one.where for one in reversed(figure.wrong) if one.where}
    texts = []
    for one in _named_values(figure.wrong):
        place, most = places.get(one.name, ""), one.bound or 0.0
        said = f"{one.name}: no number, where {units.si_text(most, one.unit)} is the most"
        if math.isfinite(one.greatest):
            found, bound = _differing(one.greatest, most, one.unit)
            said = f"{one.name}: {found} > {bound}"
        elif place.startswith(UNCHECKED):
            said, place = f"{one.name}: could not be checked", place.removeprefix(UNCHECKED)
        texts.append(f"{said} ({place})" if place else said)
    return texts


def _differing(first: float, second: float, unit: str) -> tuple[str, str]:
    """Return two quantities with three significant digits, or with more if their texts would be equal."""
    pairs = ((units.si_text(first, unit, digits), units.si_text(second, unit, digits)) for digits in range(3, 18))
    return next(
        (pair for pair in pairs if pair[0] != pair[1]), (units.si_text(first, unit), units.si_text(second, unit))
    )


def further_figures(summary: Summary, headline: Figure) -> list[Figure]:
    """Return the other metrics of a cell, then its phases and readings, if the summary has them."""
    declared = headline.workload.metrics
    known = [metric.value for metric in declared]
    names = {f"reading/{name}" for value in known for name in pair_readings(value)}
    further = [metric for metric in series_metrics(headline.points) if metric.value not in known]
    metrics = (*declared[1:], *(metric for metric in further if metric.name not in names))
    return [figure for metric in metrics for figure in [summary.figure(headline, metric.name)] if figure is not None]


def library_text(mpi: str) -> str:
    """Return the MPI library and its version from its version text: `MPICH 5.0.2`."""
    first = next(iter(mpi.strip().splitlines()), "").partition(",")[0]
    return " ".join(re.sub(r"\bversion\s*:", "", first, flags=re.IGNORECASE).split())


def group_values(figure: Figure) -> list[tuple[str, float]]:
    """Return the ranks of each group and its median over launches; empty if the metric reduces groups."""
    launches = [launch.by_group for launch in figure.launches if launch.by_group]
    if not launches:
        return []
    number = min(map(len, launches))
    groups = figure.point.groups if len(figure.point.groups) == number else ()
    names = [" ".join(map(str, group)) for group in groups] or [f"group {place}" for place in range(number)]
    return [(name, float(np.median([one[place] for one in launches]))) for place, name in enumerate(names)]


def group_text(figure: Figure) -> str:
    """Return the range over groups: `groups 3.1 GB/s … 4.2 GB/s (6)`; "" if the metric reduces groups."""
    values = [value for _, value in group_values(figure)]
    if not values:
        return ""
    unit = figure.metric.unit
    return f"groups {units.si_text(min(values), unit)} … {units.si_text(max(values), unit)} ({len(values)})"


def kept_file_texts(records: Iterable[Point | Failure]) -> list[tuple[str, str]]:
    """Return each launch that left files, with their names, kinds and sizes: `state.bin (state, 16 B, rank 0)`."""
    by_launch: dict[str, list[KeptFile]] = {}
    for one in records:
        if one.files:
            by_launch.setdefault(one.launch, []).extend(one.files)
    rows = []
    for launch, files in by_launch.items():
        texts = [_kept_file_text(one) for one in files[:_MOST_FILES]]
        more = [f"and {units.counted(len(files) - _MOST_FILES, 'more file')}"] if len(files) > _MOST_FILES else []
        rows.append((launch, "; ".join(texts + more)))
    return rows


def program_file_texts(records: Iterable[Point | Failure], folder: Path) -> list[str]:
    """Return the folder with the files of users' programs, and the files of each combination of knobs.

    `n=4: 6 launches: stdout, stderr (1 of 6); for example program-app-5c1d85c3a8-5.0123456789abcdef`; empty if
    no launch of a program left a file.

    Args:
        records: of the run; those of kernels are ignored.
        folder: of the run.
    """
    cells: dict[tuple[str, str], list[Point | Failure]] = {}
    for one in records:
        if is_program(one.workload):
            knobs = " ".join(f"{name}={value}" for name, value in one.knobs.items())
            cells.setdefault((one.launch.rpartition("-")[0], knobs), []).append(one)
    cells = {cell: launches for cell, launches in cells.items() if any(one.files for one in launches)}
    if not cells:
        return []
    several = len({request for request, _ in cells}) > 1
    rows = [f"in {folder / kept.FOLDER}, a folder for each launch"]
    for (request, knobs), launches in list(cells.items())[:_MOST_CELLS]:
        cell = " ".join(filter(None, (request * several, knobs)))
        rows.append(f"{cell}: {_left_text(launches)}" if cell else _left_text(launches))
    more = len(cells) - _MOST_CELLS
    return [*rows, f"and {units.counted(more, 'more combination')} of knobs"] if more > 0 else rows


def _left_text(launches: Sequence[Point | Failure]) -> str:
    """Return the files of the launches of one combination, each name once, and an example of a folder."""
    number = len(launches)
    by_name: dict[str, dict[int, str]] = {}  # of each name the launches that left it, and why they have none stored
    for place, one in enumerate(launches):
        for file in one.files:
            by_name.setdefault(file.name, {})[place] = file.left_out
    texts = []
    for name, left in list(by_name.items())[:_MOST_FILES]:
        why = next(filter(None, left.values()), "")
        beside = [f"{len(left)} of {number}"] * (len(left) < number) + [f"not stored: {why}"] * bool(why)
        texts.append(f"{name} ({', '.join(beside)})" if beside else name)
    more = len(by_name) - _MOST_FILES
    texts += [f"and {units.counted(more, 'more name')}"] if more > 0 else []
    stored = [file.stored.partition("/")[0] for one in launches for file in one.files if file.stored]
    example = f"; for example {stored[-1]}" if stored else ""
    return f"{units.counted(number, 'launch')}: {', '.join(texts)}{example}"


def _kept_file_text(file: KeptFile) -> str:
    left_out = f", not stored: {file.left_out}" if file.left_out else ""
    return f"{file.name} ({file.kind}, {units.bytes_text(file.bytes)}, rank {file.rank}{left_out})"
