"""Stored runs that place this machine among published ones: benchmark results over its peak, or memory latency."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from octant.study.local_reference import NO_LOCAL_RUN, LocalRun
from octant.workload import Ladder, Workload

if TYPE_CHECKING:
    from collections.abc import Iterator

    from octant.store import StoredRun

_MAX_READ = 50  # newest runs that are searched


def own_run(store: Path | None, model: str) -> LocalRun:
    """Return the newest run with the values that a model compares, or `NO_RUN`.

    Args:
        store: folder of the store.
        model: "normalised" (a run of a benchmark that measured a peak) or "published" (the latency of memory).
    """
    found = _runs_over_peak(store) if model == "normalised" else _latency_runs(store)
    return next(found, NO_LOCAL_RUN)


def _runs_over_peak(store: Path | None) -> Iterator[LocalRun]:
    from octant.analysis.summary import summarise
    from octant.benchmarks import benchmarks
    from octant.benchmarks.rows import over_peak
    from octant.benchmarks.table import read_tests
    from octant.stats import Interval
    from octant.store import open_store

    known = {one.command: one for one in benchmarks().values() if any(test.peak for test in read_tests(one.name))}
    where = open_store(store)
    for listed in reversed(where.list_runs()):
        benchmark = known.get(listed.benchmark)
        if listed.refused or benchmark is None or not listed.points:
            continue
        run = where.read(listed.id)
        found = over_peak(summarise(run, all_metrics=True), benchmark)
        if found is None or not found[1]:
            continue
        values = {one.name: one.value * (100 if one.unit == "1" else 1e9) for one in found[1]}
        intervals = {name: Interval(value, value, value) for name, value in values.items()}
        yield LocalRun(run.id, run.machine.name, int(listed.started[:4]), intervals)


def _latency_runs(store: Path | None) -> Iterator[LocalRun]:
    from octant.store import open_store
    from octant.workloads import workloads

    ladders = {name for name, one in workloads().items() if _is_latency(one)}
    where = open_store(store)
    for listed in list(reversed(where.list_runs()))[:_MAX_READ]:
        if listed.refused or not listed.points:
            continue
        run = where.read(listed.id)
        if not run.imported and ladders & {request.subject.name for request in run.requests}:
            own = _latency_of(run, int(listed.started[:4]))
            if own is not None:
                yield own


def _latency_of(run: StoredRun, year: int) -> LocalRun | None:
    """Return memory latency and clock frequency of a run, if the latency is reliable."""
    from octant.analysis.appendix.measured import memory_load
    from octant.analysis.summary import clock_hz, summarise
    from octant.stats import Interval

    load = memory_load(summarise(run).run)
    if load is None:
        return None
    value, hertz = load.value, clock_hz(load)
    if value is None or hertz is None:
        return None
    values = {"memory_latency_ns": value.middle, "memory_latency_cycles": value.middle * hertz, "clock": hertz}
    figures = {name: Interval(one, one, one) for name, one in values.items()}
    return LocalRun(run.id, run.machine.name, year, figures)


def _is_latency(workload: Workload) -> bool:
    """Return whether a workload measures a time for each memory footprint."""
    return workload.metrics[0].unit == "s" and any(isinstance(one, Ladder) for one in workload.pictures)
