"""A run in the format of the summary section of HPC Challenge's output, for programs that read it."""

from __future__ import annotations

import math
import sys
from typing import TYPE_CHECKING

from octant import units
from octant.benchmarks.rows import figures_of_test
from octant.benchmarks.table import read_tests

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from octant.analysis.figures import Figure
    from octant.analysis.summary import Summary
    from octant.benchmarks import Benchmark
    from octant.benchmarks.table import BenchmarkTest

BEGIN, END = "Begin of Summary section.", "End of Summary section."
_TABLES = {
    "MPIRandomAccess": "MPIRandomAccess",
    "MPIRandomAccess_LCG": "MPIRandomAccess_LCG",
    "SingleRandomAccess": "RandomAccess",
    "SingleRandomAccess_LCG": "RandomAccess_LCG",
}
NORMS = {
    "HPL_RnormI": "residual_norm_inf",
    "HPL_Anorm1": "matrix_norm_1",
    "HPL_AnormI": "matrix_norm_inf",
    "HPL_Xnorm1": "solution_norm_1",
    "HPL_XnormI": "solution_norm_inf",
    "HPL_BnormI": "right_side_norm_inf",
}
"""HPCC's keys of the norms in HPL's residual, and their identifiers in `Workload.results`."""
_WORD = 8  # bytes
_NOT_RUN = -1.0  # as HPCC writes it


def text(summary: Summary, benchmark: Benchmark, values: Mapping[str, float | None]) -> str:
    """Return the `Key=value` lines of HPCC's summary section; tests that were not measured have -1.

    `Success` is 1 if no launch failed and all checks, at least one, passed.

    Args:
        summary: the run, with all metrics.
        benchmark: HPC Challenge.
        values: values of the keys of its tests.
    """
    ranks = max(
        (request.shape.ranks for request in summary.run.requests if "ranks" not in request.shape.unstated), default=None
    )
    checked = any(point.checks for figure in summary.figures for point in figure.points)
    right = checked and not summary.run.failures and not any(figure.wrong for figure in summary.figures)
    lines = {"Success": f"{right:d}", **({} if ranks is None else {"CommWorldProcs": str(ranks)})}
    figures = {key: _NOT_RUN if value is None else value for key, value in values.items()}
    lines |= {key: _number(value) for key, value in {**dict(_sizes(summary, benchmark)), **figures}.items()}
    return "\n".join([BEGIN, *(f"{key}={value}" for key, value in lines.items()), END, ""])


def _number(value: float) -> str:
    return str(int(value)) if value == int(value) and abs(value) < 1e15 else f"{value:.10g}"


def _sizes(summary: Summary, benchmark: Benchmark) -> Iterator[tuple[str, float]]:
    """Yield sizes, times and results of checks, by key."""
    for test in read_tests(benchmark.name):
        one = next((figure for figure in figures_of_test(summary, benchmark, test) if figure.value), None)
        try:
            found = dict(_of_test(test, one)) if one else {}
        except (LookupError, ValueError, ArithmeticError):  # of a point of another version
            continue
        yield from ((key, value) for key, value in found.items() if math.isfinite(value))


def _of_test(test: BenchmarkTest, one: Figure) -> Iterator[tuple[str, float]]:
    """Yield sizes, times and results of checks of one test.

    Raises:
        LookupError, ValueError, ArithmeticError: the point does not contain them.
    """
    if test.name in _TABLES:
        yield from _of_table(_TABLES[test.name], one, test.mode == "all")
    elif test.name == "HPL":
        yield from _of_matrix("HPL_", one, ("N", "NB"))
        yield from _of_system(one)
    elif test.name == "PTRANS":
        yield from _of_matrix("PTRANS_", one, ("n", "nb"))
        yield from _found(one, {"PTRANS_residual": "residual"}, "residual")
    elif test.name == "SingleSTREAM of three arrays":
        yield "STREAM_VectorSize", units.parse_bytes(one.knobs["bytes"]) // (3 * _WORD)
        yield from _known("STREAM_Threads", one.point.threads)
    elif test.name in ("SingleDGEMM", "SingleFFT", "MPIFFT"):
        name = test.name.removeprefix("Single")
        yield f"{name}_N", float(one.knobs["n"])
        if test.mode == "all":
            yield from _known(f"{name}_Procs", one.point.ranks)
            yield from _largest_error(one)


def _known(key: str, count: int | None) -> Iterator[tuple[str, float]]:
    """Yield a number of ranks or threads, unless an imported file does not state it."""
    if count is not None:
        yield key, count


def _largest_error(one: Figure) -> Iterator[tuple[str, float]]:
    """Yield the error after the transform and its inverse; the kernel's check is in units of u ln n."""
    unit = math.log(float(one.knobs["n"])) * sys.float_info.epsilon / 2 if _stated(one, "error") is None else 1.0
    for key, value in _found(one, {"MPIFFT_maxErr": "residual"}, "error"):
        yield key, value * unit


def _of_system(one: Figure) -> Iterator[tuple[str, float]]:
    """Yield the norms in HPL's residual, of the last repetition of a launch."""
    norms = tuple(_found(one, NORMS))
    if norms:
        yield "HPL_eps", sys.float_info.epsilon / 2
    yield from norms
    if (depth := one.knobs.get("depth", "")).isdigit():
        yield "HPL_depth", int(depth)


def _found(one: Figure, names: Mapping[str, str], stated: str = "") -> Iterator[tuple[str, float]]:
    """Yield the finite declared results of the workload, by key.

    Args:
        one: the figure.
        names: identifiers in `Workload.results`, by key.
        stated: name of the check in an imported output.
    """
    for key, identifier in names.items():
        value = one.workload.result(identifier, one.point)
        value = _stated(one, stated) if value is None else value
        if value is not None and math.isfinite(value):
            yield key, value


def _of_matrix(prefix: str, one: Figure, names: tuple[str, str]) -> Iterator[tuple[str, float]]:
    order = float(one.knobs["n"])
    yield prefix + names[0], order
    settings: Mapping[str, str] = {**one.knobs, **one.point.notes}
    if (block := settings.get("block", "")).isdigit():
        yield prefix + names[1], int(block)
    rows, _, columns = settings.get("grid", "").partition("x")
    if rows.isdigit() and columns.isdigit():
        yield f"{prefix}nprow", int(rows)
        yield f"{prefix}npcol", int(columns)
    if (seconds := _stated(one, "time")) is not None:
        yield f"{prefix}time", seconds
    elif one.value and one.metric.unit == "flop/s":
        yield f"{prefix}time", (2 / 3 * order**3 + 3 / 2 * order**2) / one.value.middle
    elif one.value and one.metric.unit == "B/s":
        yield f"{prefix}time", _WORD * order**2 / one.value.middle


def _of_table(prefix: str, one: Figure, of_all: bool) -> Iterator[tuple[str, float]]:
    table = int(one.point.notes.get("table_bytes") or units.parse_bytes(one.knobs["bytes"]))
    yield f"{prefix}_N", table // _WORD
    if not of_all:
        return
    rate, seconds = one.value.middle if one.value else 0.0, _stated(one, "time")
    if updates := one.point.count("updates") if seconds is None else round(seconds * rate):
        yield f"{prefix}_ExeUpdates", updates
        yield f"{prefix}_time", updates / rate if seconds is None else seconds
    for key, share in _found(one, {f"{prefix}_ErrorsFraction": "error_share"}, "errors"):
        yield key, share
        yield f"{prefix}_Errors", round(share * (table // _WORD))


def _stated(one: Figure, name: str) -> float | None:
    """Return a time or the value of a check from an imported output; `None`: it is absent."""
    imported = "imported" in one.point.notes
    return next((result.value for result in one.point.results if imported and result.name == name), None)
