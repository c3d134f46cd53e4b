"""Values of a cell besides its headline: results, checks, metrics, phases, readings, groups, files and output."""

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from octant import units
from octant.analysis.figures import Figure
from octant.analysis.series import pair_readings, series_metrics
from octant.analysis.summary import Summary
from octant.failure import Exit
from octant.program import STDERR, STDOUT, is_program
from octant.record import UNCHECKED, Failure, Point, RecordError, Result
from octant.report.plain import clean
from octant.store import StoredRun, kept

_MAX_FILES = 8
"""Files of a launch, or of all launches of a program's cell, that a row names."""
MAX_LINES = 20
"""Lines of the output of a failed program, and of each at most so many characters."""
_MAX_CHARACTERS = 500
_MAX_CELLS = 16
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
    results = (one for point in figure.points for one in shown_results(figure, point))
    return _named_values(one for one in results if one.bound is None and one.name != figure.metric.name)


def shown_results(figure: Figure, point: Point) -> tuple[Result, ...]:
    """Return the results of a launch that are shown; programs and imports that failed verification only show checks.

    All others are times, memory, and values of the user or the tool, which may be rates; the failed check states the
    checked value.
    """
    return point.checks if has_no_speed(figure) else point.results


def has_no_speed(figure: Figure) -> bool:
    """Return whether a user's program, or an imported benchmark, gave a wrong result in some launch of the cell."""
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
        said = f"{one.name}: not a number (maximum {units.si_text(most, one.unit)})"
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
    by_launch: dict[str, list[str]] = {}
    for one in records:
        for file in one.files:
            why = f", not stored: {file.left_out}" if file.left_out else ""
            text = f"{file.name} ({file.kind}, {units.bytes_text(file.bytes)}, rank {file.rank}{why})"
            by_launch.setdefault(one.launch, []).append(text)
    return [(launch, "; ".join(_first(texts, "file"))) for launch, texts in by_launch.items()]


def _first(texts: Sequence[str], what: str) -> list[str]:
    """Return the first texts, and the number of others."""
    more = len(texts) - _MAX_FILES
    return [*texts[:_MAX_FILES], *([f"and {units.counted(more, f'more {what}')}"] if more > 0 else [])]


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
    rows = [f"in {folder / kept.FOLDER}, one folder per launch"]
    for (request, knobs), launches in list(cells.items())[:_MAX_CELLS]:
        cell = " ".join(filter(None, (request * several, knobs)))
        rows.append(f"{cell}: {_left_text(launches)}" if cell else _left_text(launches))
    more = len(cells) - _MAX_CELLS
    return [*rows, f"and {units.counted(more, 'more combination')} of knobs"] if more > 0 else rows


def _left_text(launches: Sequence[Point | Failure]) -> str:
    """Return the files of the launches of one combination, each name once, and an example of a folder."""
    number = len(launches)
    by_name: dict[str, dict[int, str]] = {}  # of each name the launches that left it, and why they have none stored
    for place, one in enumerate(launches):
        for file in one.files:
            by_name.setdefault(file.name, {})[place] = file.left_out
    texts = []
    for name, left in by_name.items():
        why = next(filter(None, left.values()), "")
        facts = [f"{len(left)} of {number}"] * (len(left) < number) + [f"not stored: {why}"] * bool(why)
        texts.append(f"{name} ({', '.join(facts)})" if facts else name)
    stored = [file.stored.partition("/")[0] for one in launches for file in one.files if file.stored]
    example = f"; for example {stored[-1]}" if stored else ""
    return f"{units.counted(number, 'launch')}: {', '.join(_first(texts, 'name'))}{example}"


def failed_output(run: StoredRun) -> list[str]:
    """Return the last lines of standard error (else standard output) of the last failed program, with a heading.

    Empty if no launch failed, or the program printed nothing.
    """
    left = {launch.key for launch in run.remaining()}
    failed = [one for one in run.failures if one.exit == Exit.CANNOT_RUN and one.launch in left and one.files]
    if not failed:
        return []
    outputs = {file.name: file for file in reversed(failed[-1].files) if file.stored}
    name = next((name for name in (STDERR, STDOUT) if name in outputs), None)
    if name is None:
        return []
    try:
        text = kept.read_kept(run.folder, outputs[name]).decode(errors="replace")
    except RecordError as error:
        return [str(error)]
    lines = re.split(r"\r\n|\n|\r", text.rstrip("\r\n"))
    path = run.folder / kept.FOLDER / outputs[name].stored
    title = "standard error" if name == STDERR else "standard output"
    part = f"the last {MAX_LINES} of {len(lines)} lines" if len(lines) > MAX_LINES else "the end"
    shown = [clean(line.replace("\t", "    ")) for line in lines[-MAX_LINES:]]
    return [
        f"{part} of the {title} of the program ({clean(str(path))}):",
        *(f"  {line[:_MAX_CHARACTERS]}" + " …" * (len(line) > _MAX_CHARACTERS) for line in shown),
    ]
