"""A store of version 0.1 is read as before, and its missing launches can still be measured."""

import json
import shutil
from pathlib import Path

import pytest

from fake_kernel import Kernel, planned
from octant.analysis.mismatches import mismatches_of
from octant.failure import Refusal
from octant.request import Subject
from octant.runs.session import execute_run, run_all
from octant.store import Store
from paths import DATA

KEPT = DATA / "store-format-1"


@pytest.fixture
def store(tmp_path: Path) -> Store:
    shutil.copytree(KEPT, tmp_path / "store")
    return Store(tmp_path / "store")


def test_every_run_is_read_under_todays_names() -> None:
    repeats, placed, refused, study, stopped = Store(KEPT).runs()
    assert [run.damaged for run in (repeats, placed, refused, study, stopped)] == [()] * 5
    assert [point.launch for point in repeats.points] == [launch.key for launch in repeats.launches for _ in range(2)]
    assert {run.who for run in (repeats, placed, refused)} == {"run"}
    assert (study.who, study.study.name if study.study else "") == ("study tiny", "tiny")
    assert stopped.who == "evaluate"
    assert {point.workload for point in stopped.points} >= {"node/peakflops", "node/randomaccess", "mpi/p2p"}
    assert refused.complete, "what is not supported is not asked again"
    for run in Store(KEPT).runs():
        known = {launch.key for launch in run.launches}
        assert {*(point.launch for point in run.points), *(failure.launch for failure in run.failures)} <= known


def test_a_placed_run_without_a_plan_is_not_found_fault_with() -> None:
    placed = Store(KEPT).runs()[1]
    request = placed.request_of(placed.points[0].launch)
    assert request is not None
    assert (request.shape.ranks, request.shape.place) == (2, "2x1")
    assert mismatches_of(placed, placed.points[0]) == ()


def test_order_titles_and_repeats_are_kept() -> None:
    study = Store(KEPT).runs()[3]
    assert [(launch.request.show.title, launch.repeat) for launch in study.launches] == [
        ("bandwidth: cached", 0), ("bandwidth: larger", 0), ("bandwidth: larger", 1), ("bandwidth: cached", 1),
    ]  # fmt: skip
    assert {request.repeats for request in study.requests} == {2}


def test_a_stopped_run_is_resumed_with_todays_keys(store: Store) -> None:
    stopped = store.runs()[-1]
    (left,) = stopped.remaining()
    assert left.request.subject == Subject("node/noise")
    kernel = Kernel()
    done = execute_run(
        store, stopped, run_all(stopped.launches), lambda launch: planned(launch, stopped.records), start=kernel
    )
    assert len(kernel.starts) == 1, "what is done is not done again"
    assert done.complete
    assert len(done.points) == len(stopped.points) + 1


def test_a_torn_line_of_it_is_asked_again(store: Store) -> None:
    repeats = store.runs()[0]
    text = repeats.records.read_bytes()
    repeats.records.write_bytes(text[:-200])
    (left,) = store.read(repeats.id).remaining()
    assert (left.repeat, left.started_knobs["bytes"]) == (1, "1MiB")


def test_another_schema_is_refused(store: Store) -> None:
    run = store.runs()[0]
    text = (run.folder / "asked.json").read_text()
    (run.folder / "asked.json").write_text(text.replace('"schema": 1', '"schema": 2', 1))
    with pytest.raises(Refusal, match=r"asked\.json.*schema"):
        store.read(run.id)


def test_what_is_no_launch_of_it_is_refused(store: Store) -> None:
    run = store.runs()[0]
    asked = json.loads((run.folder / "asked.json").read_text())
    asked["launches"][0]["workload"] = "../../bin/sh"
    (run.folder / "asked.json").write_text(json.dumps(asked))
    with pytest.raises(Refusal, match=r"asked\.json"):
        store.read(run.id)
