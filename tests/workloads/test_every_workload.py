"""Every workload of the registry is whole: declared, described, run, checked, and seen to fail."""

import json
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from kernel_run import QUICK, KernelRuns, smoke
from octant import _network, workloads
from octant.analysis.figures import MeasuredCell, figures_of
from octant.build import program_name
from octant.failure import Exit
from octant.network.traffic import NAMES as PATTERNS
from octant.step import Declared
from octant.workload import Bars, CollectiveTraffic, Curve, NoTraffic, Stacked
from step_counts import differences_of_any

NAMES = sorted(workloads.workloads())
LIMITS = {provides.name for workload in workloads.workloads().values() for provides in workload.provides}
OF_THE_MACHINE = {"node/core": {"rob size"}}
"""Metrics that have no value on some machines: where a cache answers sooner than the fillers pass, no step is seen."""
NEIGHBOURS = frozenset(f"neighbour-{way}" for way in ("allgather", "allgatherv", "alltoall", "alltoallv", "alltoallw"))
NO_STEP = {"mpi/collective": NEIGHBOURS, "mpi/startup": frozenset({"sessions"})}
"""Values of the knob that chooses the kernel, of which no step is declared."""
LANES = [name for name in NAMES if not workloads.workload(name).messages]


def describe(kernels: Path, name: str) -> dict[str, object]:
    shown = subprocess.run([kernels / program_name(name), "--describe"], capture_output=True, text=True, check=True)
    found = json.loads(shown.stdout)
    assert isinstance(found, dict)
    return found


def without_step(described: Mapping[str, Any], step: Declared) -> set[str]:
    """Kernels of a program for which no step is declared: their first launch has an hour, and no memory check."""
    found = set()
    defaults = {knob["name"]: knob["default"] for knob in described["knobs"]}
    for row in described.get("rows", [""]):
        try:
            assert step({**defaults, str(described.get("chooser")): row}, 2, 1).bytes_held >= 0
        except (KeyError, ValueError):
            found.add(row)
    return found


@pytest.mark.parametrize("name", NAMES)
def test_a_declaration_is_whole(name: str) -> None:
    workload = workloads.workload(name)
    assert workload.metrics
    assert workload.problems(limits=LIMITS) == []
    assert all(re.fullmatch(r"[a-z][a-z0-9_]*", identifier) for identifier in workload.results)
    assert workload.smoke, "a workload has a tiny and complete run"
    assert all(re.fullmatch(r"[a-z0-9_/ -]+", text) for text in (*workload.bounded_by, workload.name))
    assert all(picture.phases for picture in workload.pictures if isinstance(picture, Stacked))


@pytest.mark.parametrize("name", NAMES)
def test_the_kernel_s_description_agrees_with_the_declaration(kernels: Path, name: str) -> None:
    described, workload = describe(kernels, name), workloads.workload(name)
    knobs = described["knobs"]
    assert isinstance(knobs, list)
    names = [knob["name"] for knob in knobs]
    assert len(names) == len(set(names))
    assert workload.problems(described) == []
    assert workload.step is not None
    assert without_step(described, workload.step) == NO_STEP.get(name, set())
    assert described["workload"] == name
    assert described["pace"] in ("chunks", "steps", "whole")
    least_ranks = described["least_ranks"]
    assert isinstance(least_ranks, int)
    assert workload.messages or least_ranks == 1
    assert all(picture.x for picture in workload.pictures if isinstance(picture, Curve | Bars | Stacked))


@pytest.mark.mpi
@pytest.mark.parametrize("name", NAMES)
def test_the_smoke_run_is_right_and_every_metric_has_a_value(kernels: Path, run_kernel: KernelRuns, name: str) -> None:
    done = run_kernel(name, *smoke(name), *QUICK)
    assert done.code == 0, done.stderr
    assert done.points
    workload = workloads.workload(name)
    assert workload.problems(describe(kernels, name), done.points) == []
    without = {metric.name: "" for metric in workload.metrics}  # the kernels of a program differ in what they measure
    for point in done.points:
        assert point.checks
        assert point.passed
        assert not differences_of_any(point), "`step.py` declares other counts than the kernel"
        assert all(len(series.values) for series in point.read().series)
        for metric, figure in figures_of(MeasuredCell(workload, [point], workload.metrics)).items():
            assert figure.value is not None or metric != workload.metric().name, f"{metric}: {figure.missing}"
            assert figure.value is None or figure.value.middle >= 0 or workload.metric(metric).unit == "1"
            if figure.value is not None:
                without.pop(metric, None)
    assert not set(without) - OF_THE_MACHINE.get(name, set()), "no point of the smoke run has a value of these"


@pytest.mark.mpi
@pytest.mark.parametrize("name", NAMES)
def test_a_wrong_result_exits_4_and_is_recorded_as_wrong(run_kernel: KernelRuns, name: str) -> None:
    done = run_kernel(name, *smoke(name), *QUICK, fault="wrong")
    assert done.code == Exit.WRONG_ANSWER, done.stderr
    assert done.points
    assert not any(point.passed for point in done.points)


@pytest.mark.mpi
@pytest.mark.parametrize("name", NAMES)
def test_a_throw_on_one_rank_ends_the_job_with_the_reason(run_kernel: KernelRuns, name: str) -> None:
    done = run_kernel(name, *smoke(name), *QUICK, ranks=2, fault="throw:1")
    assert done.code == 1
    assert "fault 'throw' was injected" in done.stderr
    assert ["rank 1" in failure.reason and "injected" in failure.reason for failure in done.failures] == [True]
    assert not done.points


@pytest.mark.parametrize("name", NAMES)
def test_a_limit_is_a_least_time_or_nothing(run_kernel: KernelRuns, name: str) -> None:
    """On a point that a real kernel made, with nothing known of this machine."""
    from fake_run import machine
    from octant.limit import Known

    workload = workloads.workload(name)
    point = run_kernel(name, *smoke(name), *QUICK).points[0]
    known = Known(machine().topology, {name: {} for name in workload.bounded_by})
    limit = workload.least_seconds(known, machine(), point)
    assert limit is None or (limit.seconds > 0 and limit.source)
    traffic = workload.traffic(machine(), point) if workload.traffic else NoTraffic("the pattern sends no data")
    if isinstance(traffic, CollectiveTraffic):
        assert traffic.operation in {operation for operation, _ in _network.collectives()}
    else:
        assert isinstance(traffic, NoTraffic) or traffic.pattern in PATTERNS
