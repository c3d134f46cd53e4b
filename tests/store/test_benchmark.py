"""A stored run says which benchmark asked for it, and each ask for which test; of old runs their titles say it."""

import json
import tarfile
from dataclasses import replace
from pathlib import Path

import pytest

from fake_kernel import request
from fake_run import machine
from octant.request import Presentation
from octant.store import Store
from octant.store.run_request import ImportedFile
from paths import DATA

REQUESTS = (request(bytes="1MiB,2MiB"), request(2, bytes="4MiB", kernel="copy"))


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "store")


def test_the_benchmark_of_a_run_and_the_tests_of_its_asks_are_stored(store: Store) -> None:
    tested = tuple(replace(one, show=Presentation("a row", test="PTRANS")) for one in REQUESTS)
    run = store.create("mpi of a title that says otherwise", machine(), tested, benchmark="hpcc")
    other = store.create("hpcc of a title that says otherwise", machine(), REQUESTS)
    assert (store.read(run.id).benchmark, store.read(other.id).benchmark) == ("hpcc", "")
    assert [request.show.test for request in store.read(run.id).requests] == ["PTRANS"] * len(REQUESTS)
    assert {row.id: row.benchmark for row in store.list_runs()} == {run.id: "hpcc", other.id: ""}


@pytest.mark.parametrize(
    ("title", "benchmark", "test"),
    [
        ("hpcc --quick --size hpl:256", "hpcc", "PTRANS, all"),
        ("B again: A again: mpi PTRANS", "mpi", "PTRANS, all"),
        ("evaluate --quick", "evaluate", ""),
        ("mpi/p2p bytes=8", "", ""),
        ("import hpcc out.txt", "", "PTRANS"),
    ],
)
def test_a_run_of_an_earlier_version_gets_both_from_its_titles(
    store: Store, title: str, benchmark: str, test: str
) -> None:
    requests = tuple(replace(one, show=Presentation("PTRANS, all")) for one in REQUESTS)
    files = [ImportedFile("HPCC 1.5.0", "1.5.0", "out.txt")] * title.startswith("import")
    run = store.create(title, machine(), requests, imported=files)
    written = json.loads((run.folder / "asked.json").read_text())
    del written["benchmark"]
    for one in written["asks"]:
        del one["show"]["test"]
    (run.folder / "asked.json").write_text(json.dumps(written))
    found = store.read(run.id)
    assert found.benchmark == benchmark
    assert {request.show.test for request in found.requests} == {test}


def test_runs_that_version_0_2_stored_name_their_benchmark_and_tests(tmp_path: Path) -> None:
    with tarfile.open(DATA / "store-of-0.2.tar.xz") as archive:
        archive.extractall(tmp_path)  # noqa: S202 - our own archive
    found = {
        run.benchmark or run.who: [request.show.test for request in run.requests] for run in Store(tmp_path).runs()
    }
    assert found["mpi"] == ["PingPong", "Allreduce"]
    assert found["import imb"] == ["PingPong", "Birandom"]
    assert found["hpcc"][:3] == ["Peak of one rank", "Peak of all ranks", "HPL"]
    assert (found["run"], found["study mpi-clock-cost"]) == ([""], [""] * 4)
    old = {run.benchmark: run.who for run in Store(DATA / "store-format-1").runs()}
    assert old["evaluate"] == "evaluate"
