"""Results and series of a profile, as records, tables and comparisons read them."""

from pathlib import Path

import pytest

from octant.analysis.program import program_workload
from octant.analysis.reduce import measure
from octant.profile import layout, measures
from octant.profile.job import JobProfile
from octant.profile.merge import merge
from octant.record import FORMAT, Point
from octant.record.lines import Reader
from octant.record.writer import seal
from octant.request import Request, Shape, Subject
from profile_files import Call, MadeProcess, exchange, write_files


def values(job: JobProfile) -> dict[str, float]:
    return {one.name: one.value for one in measures.results(job)}


def test_results_are_those_of_the_calls(tmp_path: Path) -> None:
    job = merge(write_files(tmp_path, exchange(5)))
    found = values(job)
    inside = [0.01 + 0.01 + 0.15 + 0.1 + 2.0 * (4 - rank) / 4 for rank in range(5)]
    useful = [10.0 - one for one in inside]
    assert found["MPI time"] == pytest.approx(sum(inside) / 5)
    assert found["MPI share"] == pytest.approx(sum(inside) / 50)
    assert found["MPI calls"] == 5 * 351
    assert found["messages sent"] == 5 * 100
    assert found["bytes sent"] == 5 * (100 * 1000 + 50 * 8), "of sends and collectives, not of receives"
    assert found["load balance"] == pytest.approx(sum(useful) / 5 / max(useful))
    assert found["communication efficiency"] == pytest.approx(max(useful) / 10)
    assert found["parallel efficiency"] == pytest.approx(sum(useful) / 50)
    assert found["profiling cost"] == 0
    units = {one.name: one.unit for one in measures.results(job)}
    assert (units["MPI time"], units["bytes sent"], units["MPI share"]) == ("s", "B", "1")


def test_counts_have_no_times(tmp_path: Path) -> None:
    one = MadeProcess(calls=[Call("MPI_Send", calls=3, bytes_each=8)], flags=layout.COUNTS_ONLY)
    job = merge(write_files(tmp_path, [one]))
    assert set(values(job)) == {"MPI calls", "profiling cost"}
    assert measures.series(job) == ()
    nothing = merge([], ranks=2)
    assert measures.results(nothing) == ()
    assert measures.series(nothing) == ()


def test_series_have_the_values_of_each_rank_and_region(tmp_path: Path) -> None:
    processes = exchange(3)
    processes[1].regions, processes[1].visits = [("solve", 0), ("halo", 1)], [(1, 1, 4.0, 0.1), (2, 5, 2.0, 0.1)]
    found = {(one["name"], one["rank"]): one for one in measures.series(merge(write_files(tmp_path, processes)))}
    assert found["reading/MPI time", 2]["values"] == pytest.approx([0.27])
    assert found["reading/bytes sent", 0]["values"] == [100_400]
    assert found["phase/exchange", 0]["ns"] == [1_500_000_000]
    assert found["phase/exchange", 0]["entries"] == 100
    assert found["phase/exchange", 1]["ns"] == [0], "the rank was not in this region"
    assert found["phase/solve/halo", 1]["ns"] == [2_000_000_000]
    assert found["phase/solve/halo", 1]["entries"] == 5
    assert len(found) == 3 * (2 + 3)


def test_regions_with_least_time_are_left_out_of_long_records(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one = MadeProcess(regions=[(f"r{n}", 0) for n in range(4)], visits=[(n + 1, 1, 1.0 + n % 3, 0.0) for n in range(4)])
    job = merge(write_files(tmp_path, [one]))
    monkeypatch.setattr(measures, "MAX_SERIES", 2)
    assert [each["name"] for each in measures.series(job) if each["name"].startswith("phase")] == [
        "phase/r1",
        "phase/r2",
    ]


def test_analysis_reads_a_profile_like_a_kernel(tmp_path: Path) -> None:
    job = merge(write_files(tmp_path, exchange(4)))
    line = seal(
        {
            "format": FORMAT, "kind": "point", "workload": "program/solver", "launch": "solver-0", "knobs": {},
            "shape": {"ranks": 4}, "pace": "whole", "work": [],
            "results": [{"name": one.name, "value": one.value, "unit": one.unit} for one in measures.results(job)],
            "series": list(measures.series(job)),
        }
    )  # fmt: skip
    point = Reader().read(line.encode())
    assert isinstance(point, Point)
    request = Request(Subject(command=("./solver",)), {}, Shape(4))
    workload = program_workload(request, [point])
    metrics = {one.name: one for one in workload.metrics}
    assert metrics["load balance"].better == "higher"
    assert metrics["MPI time"].better == "lower"
    assert measure(metrics["MPI share"], point, point.read()).value == pytest.approx(values(job)["MPI share"])
    assert measure(metrics["time in exchange"], point, point.read()).value == pytest.approx(1.5)
