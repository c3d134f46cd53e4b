"""The profile of octant-mpi-mesh equals what the program counts itself."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from octant.analysis.profiles import profiled_launches, read_profile
from octant.failure import Exit
from octant.profile.job import SENT
from octant.store import Store

if TYPE_CHECKING:
    from paths import Octant

MPIEXEC = str(Path(sys.executable).parent / "mpiexec")
COUNT = re.compile(r"^rank (\d+) (MPI_\w+) +(\d+) calls +(\d+) messages +(\d+) bytes$", re.MULTILINE)
SENDS = ("MPI_Send", "MPI_Isend", "MPI_Sendrecv")


@pytest.mark.mpi
def test_the_profile_has_the_counts_of_the_program(octant: Octant, tmp_path: Path) -> None:
    words = ["octant-mpi-mesh", "--size", "12", "--steps", "7", "--refine", "2", "--by-rank"]
    done = octant("profile", "--", MPIEXEC, "-n", "2", *words, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    run = Store(tmp_path / "store").find("last")
    (launch,) = profiled_launches(run)
    job = read_profile(run, launch)
    assert job.is_complete
    assert not job.problems
    counted = {(int(one[1]), one[2]): (int(one[3]), int(one[5])) for one in COUNT.finditer(done.stdout)}
    recorded = {}
    for rank, name in counted:
        rows = job.calls[(job.calls["rank"] == rank) & (job.calls["call"] == job.call_names.index(name))]
        recorded[rank, name] = (int(rows["calls"].sum()), int(rows["bytes"].sum()))
    assert len(counted) == 26
    assert recorded == counted
    messages = {0: 0, 1: 0}
    for one in COUNT.finditer(done.stdout):
        messages[int(one[1])] += int(one[4]) * (one[2] in SENDS)
    sent = job.peers[job.peers["kind"] == SENT]
    assert {rank: int(sent["messages"][sent["rank"] == rank].sum()) for rank in messages} == messages
    visits = np.bincount(job.region_times["region"], job.region_times["visits"])
    found = {region.name: int(visits[number]) for number, region in enumerate(job.regions) if number}
    assert found == {"refine": 2 * 4, "exchange": 2 * 7, "solve": 2 * 7}


@pytest.mark.mpi
def test_values_of_a_profile_are_results_of_a_run(octant: Octant, tmp_path: Path) -> None:
    values = (
        "region:solve", "wait=region:nowhere", "call:MPI_Allreduce:calls", "call:MPI_Allreduce:bytes per call:1",
    )  # fmt: skip
    options = [word for value in values for word in ("--value", value)]
    program = (MPIEXEC, "-n", "2", "octant-mpi-mesh", "--steps", "9")
    done = octant("run", "--repeats", "1", *options, "--", *program, cwd=tmp_path)
    assert done.returncode == Exit.WRONG_WORD
    assert re.search("the profile has no region 'nowhere'; use one of .*solve", done.stderr)
    (point,) = Store(tmp_path / "store").find("last").points
    results = {one.name: one for one in point.results}
    assert results["call:MPI_Allreduce:calls"].value == 18
    assert results["call:MPI_Allreduce:bytes per call:1"].value == 8
    assert results["solve"].unit == "s"
    assert 0 < results["solve"].value < results["wall time"].value
