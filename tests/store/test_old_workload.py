"""A run of a workload that has another name today is read as if it had been asked and measured today."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from fake_run import fake_run, lane, machine, point, write_run
from octant.analysis.summary import summarise
from octant.failure import RenamedWarning
from octant.launch import Planned
from octant.record import Failure
from octant.record.lines import read_line
from octant.record.writer import failure_line
from octant.request import Launch, Request, Shape, Subject
from octant.store import Store, StudyRequest
from octant.store.run_request import RunRequest, start_line
from octant.workloads import workload

OLD = Request(Subject("mpi/pingpong"), {"bytes": "8,1KiB"}, Shape(2), repeats=2)
TODAY = replace(OLD, subject=Subject("mpi/p2p"))


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """One launch of two was made: 8 B took 1 µs one way, 1 KiB failed."""
    study = StudyRequest("mpi-eager-limit", 7, "question = '?'", cells={"pingpong a": OLD.key})
    base = fake_run()
    measured = point(
        "steps", workload="mpi/pingpong", launch=f"{OLD.key}-0", knobs={"bytes": "8"}, ranks=2,
        counts={"messages": 2, "bytes_sent": 16}, lanes=(lane([2000] * 8),),
    )  # fmt: skip
    failed = Failure("mpi/pingpong", f"{OLD.key}-0", {"bytes": "1KiB"}, 2, "why", 3)
    run = replace(
        base, requests=(OLD,), order=((0, 0), (0, 1)), points=(measured,), failures=(failed,), study=study, who="run"
    )
    write_run(run, tmp_path)
    plan = start_line(Planned(Launch(OLD, 0), ("mpiexec",), {}, "mpiexec", (), 1.0, 2.0, ""), True)
    (tmp_path / "runs" / run.id / "plan.jsonl").write_text(f"{plan}\n", encoding="utf-8")
    return Store(tmp_path)


def test_an_old_run_is_read_under_todays_name(store: Store) -> None:
    (run,) = store.runs()
    assert (run.damaged, run.requests) == ((), (TODAY,))
    assert run.study is not None
    assert run.study.cells == {"pingpong a": TODAY.key}
    assert list(run.plans) == [f"{TODAY.key}-0"]
    (measured,), (failed,) = run.points, run.failures
    assert measured.launch == failed.launch == f"{TODAY.key}-0"
    assert measured.workload == failed.workload == "mpi/p2p"
    assert measured.knobs["pattern"] == failed.knobs["pattern"] == "pingpong"
    assert run.request_of(measured.launch) == TODAY


def test_an_old_run_has_the_figures_of_today_and_only_its_second_launch_is_left(store: Store) -> None:
    (run,) = store.runs()
    (figure,) = summarise(run).figures
    assert (figure.workload.name, figure.metric.name) == ("mpi/p2p", "time")
    assert figure.value is not None
    assert figure.value.middle == pytest.approx(1e-6)
    bandwidth = summarise(run).figure(figure, "bandwidth")
    assert bandwidth is not None
    assert bandwidth.value is not None
    assert bandwidth.value.middle == pytest.approx(8e6)
    assert [launch.key for launch in run.remaining()] == [f"{TODAY.key}-1"]


@pytest.mark.parametrize("name", ["pingpong", "mpi/pingpong"])
def test_a_former_name_finds_the_workload_with_a_note(name: str) -> None:
    with pytest.warns(RenamedWarning, match=f"^workload {name} is now mpi/p2p$"):
        assert workload(name) == workload("mpi/p2p")


def test_what_is_written_today_stays_as_it_is() -> None:
    failure = Failure("mpi/p2p", "p2p-0", {"pattern": "exchange"}, 2, "why", 3)
    assert read_line(failure_line(failure).encode()) == failure
    asked = RunRequest("run", "", "2026-11-22T07:35:00+00:00", machine(), {}, (TODAY,), ())
    assert json.dumps(asked.keys) == "{}"
