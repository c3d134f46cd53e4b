"""Figures of a run under the names and in the units of a benchmark: one row per published key."""

from __future__ import annotations

import statistics
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING

from octant import stats
from octant.benchmarks.requests import absent
from octant.benchmarks.run_rules import unmet_rule
from octant.benchmarks.table import plain_name, read_tests
from octant.record import known_count

if TYPE_CHECKING:
    from collections.abc import Sequence

    from octant.analysis.figures import Figure
    from octant.analysis.summary import Summary
    from octant.benchmarks import Benchmark
    from octant.benchmarks.table import BenchmarkFigure, BenchmarkTest, Rule

MAX_SHOWN = 3
"""Largest number of values of a knob that are listed in a row."""


UNMEASURABLE = "not measurable"
"""Mark of a value whose figure has this grade."""


@dataclass(frozen=True)
class BenchmarkRow:
    """One key of a benchmark; values are in the unit of the key, `None` if absent."""

    key: str
    test: str
    value: float | None = None  # median over launches of the slowest rank
    low: float | None = None
    high: float | None = None
    launches: str = ""  # number of valid launches, "5 of 6"
    reference: float | None = None  # value by the benchmark's own reduction; `None`: same as Octant's
    of_limit: float | None = None
    limit: str = ""  # description of the limit
    verdict: str = ""  # "right", "WRONG", or "" if nothing was measured
    rule: Rule | str = ""
    ranks: int | None = 0  # `None`: an imported file does not state it
    shown: tuple[str, ...] = ()  # "n=8192"
    varied: tuple[str, ...] = ()  # knobs that distinguish rows of one key: "store=plain"
    caveats: tuple[stats.Caveat, ...] = ()  # those that every view shows
    reason: str = ""  # why there is no value
    invalid: bool = False  # the grade of its figure is "not measurable"
    unmet_rule: str = ""  # run rule of the benchmark that the measurement does not meet

    @property
    def as_data(self) -> dict[str, object]:
        """Fields for JSON; the grade of a figure is in the report."""
        fields = {**asdict(self), "caveats": [one.text for one in self.caveats]}
        return {name: value for name, value in fields.items() if name != "invalid" and (value or name != "unmet_rule")}

    @property
    def published(self) -> float | None:
        """Value that the benchmark itself would print."""
        return self.value if self.reference is None else self.reference


def rows_of(summary: Summary, benchmark: Benchmark) -> tuple[BenchmarkRow, ...]:
    """Return a row for each figure of each test, in the order of the tests.

    Args:
        summary: the run, with all metrics.
        benchmark: the benchmark.
    """
    widest = max((request.shape.ranks for request in summary.run.requests), default=1)
    return tuple(row for test in read_tests(benchmark.name) for row in _rows(summary, benchmark, test, widest))


def is_shown(summary: Summary, benchmark: Benchmark, rows: Sequence[BenchmarkRow]) -> bool:
    """Return whether a run belongs to the benchmark: it has a figure of it, or a request that may have failed."""
    if any(row.value is not None or row.verdict == "WRONG" for row in rows):
        return True
    run, names = summary.run, {test.name for test in read_tests(benchmark.name)}
    asked = run.benchmark == benchmark.command or any(request.show.test in names for request in run.requests)
    return asked and not run.imported


def published_values(rows: Sequence[BenchmarkRow]) -> dict[str, float | None]:
    """Return the value that the benchmark itself would print, by key; `None` if there is none.

    If a key has several rows, the first with a value is used: that of the rule `baseline` if both were measured.
    """
    values: dict[str, float | None] = {}
    for row in rows:
        if values.get(row.key) is None:
            values[row.key] = row.published
    return values


def figures_of_test(summary: Summary, benchmark: Benchmark, test: BenchmarkTest) -> tuple[Figure, ...]:
    """Return the headline figures of a test; with one rank, also those of another test with the same request.

    Of an imported run those that `imported_cells` finds for its keys. None of a workload that is not installed: figures
    made from records alone are of other metrics than its declaration has.
    """
    if summary.run.imported:
        cells = (cell for one in test.figure for cell in imported_cells(summary, test, one))
        return tuple({id(cell): cell for cell in cells}.values())
    if test.workload in summary.unknown:
        return ()
    found = tuple(one for one in summary.figures if one.show.test == test.name)
    if found or any(request.shape.ranks > 1 for request in summary.run.requests):
        return found
    others = {one.name for one in read_tests(benchmark.name)}
    return tuple(one for one in summary.figures if one.show.test in others and test.is_of(one.workload.name, one.knobs))


@dataclass(frozen=True)
class OverPeak:
    """A figure divided by the peak of all ranks: a share, or a rate per flop/s."""

    name: str
    value: float
    unit: str  # "1", "B/s", "update/s"


def over_peak(summary: Summary, benchmark: Benchmark) -> tuple[float, tuple[OverPeak, ...]] | None:
    """Return the peak of all ranks in flop/s, and the figures divided by it; `None` if the run has no peak."""
    tests = read_tests(benchmark.name)
    peaks = [figure for test in tests if test.peak for figure in figures_of_test(summary, benchmark, test)]
    peak = next((figure.value.middle for figure in peaks if figure.value), None)
    if not peak:
        return None
    found = []
    for test in tests:
        for one in test.figure:
            cells = figures_of_test(summary, benchmark, test) if one.per_peak else ()
            of_cell = next((cell for cell in cells if cell.value and one.is_of(cell.knobs)), None)
            if of_cell and of_cell.value:
                unit = "1" if of_cell.metric.unit == "flop/s" else of_cell.metric.unit
                found.append(OverPeak(one.per_peak, of_cell.value.middle / peak, unit))
    return peak, tuple(found)


def _rows(summary: Summary, benchmark: Benchmark, test: BenchmarkTest, widest: int) -> list[BenchmarkRow]:
    if summary.run.imported:
        return _imported_rows(summary, test)
    figures = figures_of_test(summary, benchmark, test)
    made = []
    for one in test.figure:
        cells = [figure for figure in figures if one.is_of(figure.knobs)]
        varied = (f"{name}={one.knobs[name]}",) if (name := test.varied(one)) else ()
        empty = BenchmarkRow(one.key, test.name, rule=one.rule or test.rule, varied=varied)
        if cells:
            unmet = unmet_rule(summary.run.machine, benchmark, test, cells[0])
            made.append(_measured(summary, test, one, cells, replace(empty, unmet_rule=unmet)))
        else:
            made.append(replace(empty, reason=_reason(summary, test, widest)))
    return made


def _imported_rows(summary: Summary, test: BenchmarkTest) -> list[BenchmarkRow]:
    """Return a row for each imported cell of each key, for any rule, sorted by number of ranks."""
    made: list[BenchmarkRow] = []
    for one in {figure.key: figure for figure in reversed(test.figure)}.values():
        empty = BenchmarkRow(one.key, test.name, reason="not in the imported output")
        cells = imported_cells(summary, test, one)
        made = [*([_stated(test, one, cell, empty) for cell in cells] or [empty]), *made]
    return sorted(made, key=lambda row: row.ranks or 0)


def imported_cells(summary: Summary, test: BenchmarkTest, one: BenchmarkFigure) -> list[Figure]:
    """Return the imported cells of a key, matched by the name of the test in the output, or by workload and shape.

    An output has its own problem sizes and settings. If several cells have the name, those with the knobs of the test
    are used.
    """
    known = [figure for figure in summary.figures if one.may_be(figure.knobs) and one.is_in(figure.metric.unit)]
    name = plain_name(one.imported or test.imported or test.name)
    named = [figure for figure in known if plain_name(figure.show.test) == name]
    alike = [figure for figure in named or known if test.may_be(figure.workload.name, figure.knobs)]
    if named:
        return alike or named
    if one.imported:
        return []  # a single measurement is not a minimum, mean or maximum
    return [figure for figure in alike if figure.mode == test.mode]


def _stated(test: BenchmarkTest, one: BenchmarkFigure, chosen: Figure, empty: BenchmarkRow) -> BenchmarkRow:
    """Return the row of an imported value, in the unit of the key."""
    value = chosen.value
    row = replace(
        empty,
        verdict=_verdict([chosen]),
        ranks=chosen.point.ranks,
        shown=_shown([chosen], test, empty),
        caveats=tuple(one for one in chosen.caveats if one.grade > stats.Grade.NOTE),
        invalid=value is not None and chosen.invalid,
        launches=chosen.count_text,
        reason="" if value or chosen.wrong else chosen.missing or "no valid launch",
    )
    if value is None:
        return row
    many = value.number > 1 and value.kind != "not measurable"
    low, high = (value.low / one.unit, value.high / one.unit) if many else (None, None)
    return replace(row, value=value.middle / one.unit, low=low, high=high)


def _verdict(cells: Sequence[Figure]) -> str:
    """Return the result of the checks of the cells; "" if a launch recorded none."""
    if any(cell.wrong for cell in cells):
        return "WRONG"
    every = [point for cell in cells for point in cell.points]
    return "right" if all(point.checks and "unverified" not in point.notes for point in every) else ""


def _measured(
    summary: Summary, test: BenchmarkTest, one: BenchmarkFigure, cells: Sequence[Figure], empty: BenchmarkRow
) -> BenchmarkRow:
    found = [figure for cell in cells if (figure := summary.figure(cell, one.metric)) and one.is_in(figure.metric.unit)]
    first = cells[0].point
    row = replace(
        empty,
        verdict=_verdict(cells),
        rule=first.notes.get("rule") or empty.rule,
        ranks=first.ranks,
        shown=_shown(cells, test, empty),
    )
    with_value = [figure for figure in found if figure.value]
    if not with_value or row.verdict == "WRONG":
        missing = next((figure.missing for figure in found if figure.missing), "no valid launch")
        return replace(row, reason="" if row.verdict == "WRONG" else missing)
    chosen = _chosen(with_value, one.over)
    scale = one.unit * (known_count(first.working_ranks) if one.each else 1)
    value = chosen.value
    assert value is not None  # noqa: S101 - figures without a value are excluded above
    mean = one.over == "mean" and len(with_value) > 1
    middle = statistics.fmean(figure.value.middle for figure in with_value if figure.value) if mean else value.middle
    many = len(chosen.counted) > 1 and not mean and value.kind != "not measurable"
    cell = next(cell for cell in cells if cell.knobs == chosen.knobs)
    return replace(
        row,
        value=middle / scale,
        low=value.low / scale if many else None,
        high=value.high / scale if many else None,
        launches=chosen.count_text,
        reference=_reference(summary, one, cells, scale),
        of_limit=chosen.of_limit,
        limit=chosen.limit.source if chosen.limit and chosen.of_limit is not None else "",
        shown=_shown([cell] if one.over == "best" else cells, test, empty),
        caveats=tuple(one for one in chosen.caveats if one.grade > stats.Grade.NOTE),
        invalid=any(figure.invalid for figure in with_value) if mean else chosen.invalid,
    )


def _reference(summary: Summary, one: BenchmarkFigure, cells: Sequence[Figure], scale: float) -> float | None:
    if not one.reference:
        return None
    found = [
        figure
        for cell in cells
        if (figure := summary.figure(cell, one.reference)) and figure.value and one.is_in(figure.metric.unit)
    ]
    values = [figure.value.middle for figure in found if figure.value]
    if not values:
        return None
    if one.over == "mean":
        return statistics.fmean(values) / scale
    chosen = _chosen(found, one.over).value
    return chosen.middle / scale if chosen else None


def _chosen(figures: Sequence[Figure], over: str) -> Figure:
    """Return the figure that represents all cells."""

    def middle(figure: Figure) -> float:
        return figure.value.middle if figure.value else 0.0

    greatest = over == "max" or (over == "best" and figures[0].metric.better == "higher")
    return (max if greatest else min)(figures, key=middle)


def _shown(cells: Sequence[Figure], test: BenchmarkTest, empty: BenchmarkRow) -> tuple[str, ...]:
    """Return the knobs, or notes of the same name, that describe the measurement, with the values of all cells."""
    varied = {word.partition("=")[0] for word in empty.varied}
    words = []
    for name in test.shows:
        values = dict.fromkeys(_short(cell.point.notes.get(name) or cell.knobs.get(name, "")) for cell in cells)
        several = f"{len(values)} values" if len(values) > MAX_SHOWN else "|".join(values)
        words += [f"{name}={several}"] if any(values) and name not in varied else []
    return tuple(words)


def _short(value: str) -> str:
    """Return the value; of a path, the last part."""
    return value.rpartition("/")[2]


def _reason(summary: Summary, test: BenchmarkTest, widest: int) -> str:
    """Return why a test has no figure: its launches failed, or it was not requested."""
    for failure in summary.run.failures:
        request = summary.run.request_of(failure.launch)
        if request and request.show.test == test.name:
            return failure.reason
    if why := absent(test, widest):
        return why
    if any(request.show.test == test.name for request in summary.run.requests):
        return "not measured yet"
    return "not requested in this run"
