"""Requests whose handles the library uses again while another thread completes them."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from octant.profile.call_names import CALL_NAMES
from octant.profile.process_file import read_processes
from paths import ROOT

PROGRAM = ROOT / "tests" / "profiler" / "programs" / "reused_requests.c"
PAIRS, ROUNDS = 4, 20000


@pytest.mark.mpi
def test_bytes_are_charged_to_the_call_that_started_the_request(kernels: Path, tmp_path: Path) -> None:
    compiler = Path(sys.executable).parent / "mpicc_abi"
    if not compiler.exists():
        pytest.skip("MPICH 5 is not installed; install Octant with MPICH")
    program, folder = tmp_path / "program", tmp_path / "profile"
    folder.mkdir()
    subprocess.run([compiler, "-O1", "-pthread", PROGRAM, "-o", program], check=True, timeout=60)
    profiled = os.environ | {"LD_PRELOAD": str(kernels / "octant-profiler"), "OCTANT_PROFILE": str(folder)}
    subprocess.run([program], check=True, timeout=60, env=profiled)
    (file,) = folder.iterdir()
    (process,), problems = read_processes(file.read_bytes(), file.name)
    entries = np.concatenate([thread.entries for thread in process.threads])
    for name in ("MPI_Irecv", "MPI_Isend"):
        ours = entries[(entries["key"] & 0xFFFF) == CALL_NAMES.index(name)]
        assert sorted(ours["bytes"].tolist()) == [ROUNDS * (pair + 1) for pair in range(PAIRS)]
        assert ours["calls"].tolist() == [ROUNDS] * PAIRS
        assert (ours["waited"] > 0).all()
        assert (ours["in_flight"] > ours["waited"]).all()
    assert (problems, process.header["lost_requests"]) == ([], 0)
