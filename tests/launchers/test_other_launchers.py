"""Intel MPI, as recorded and live."""

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from octant.launchers import from_syntax, to_syntax
from octant.machine import Topology
from octant.machine.hwloc import load
from octant.placement import numbers_text
from octant.placement.expressions import parse_place
from octant.placement.planner import plan
from paths import MACHINES


def here() -> Topology:
    """Return the topology of this machine, restricted to the CPUs of this process."""
    if sorted(os.sched_getaffinity(0)) != [0, 1] or os.cpu_count() != 2:
        pytest.skip("these runs compare masks on a machine of two cores without SMT")
    return load(MACHINES / "vm-2core.xml")


INTEL_MPI = [  # masks of the ranks as Intel MPI 2021.18.1 (wheel impi-rt) gave them on two cores without SMT
    ("I_MPI_PIN_DOMAIN=[0x2,0x1]", ["1", "0"]),
    ("I_MPI_PIN_DOMAIN=[0x3,0x2]", ["0-1", "1"]),
    ("I_MPI_PIN_DOMAIN=numa", ["0-1", "0-1"]),
    ("I_MPI_PIN_DOMAIN=socket", ["0-1", "0-1"]),
    ("I_MPI_PIN_DOMAIN=core", ["0", "1"]),
    ("I_MPI_PIN_DOMAIN=2", ["0-1", "0-1"]),
    ("I_MPI_PIN_DOMAIN=omp:compact OMP_NUM_THREADS=1 I_MPI_PIN_CELL=core", ["0", "1"]),
    ("I_MPI_PIN=0", ["0-1", "0-1"]),
    ("I_MPI_PIN=1", ["0", "1"]),
    ("I_MPI_PIN_DOMAIN=auto", ["0", "1"]),
    ("I_MPI_PIN_PROCESSOR_LIST=1,0", ["1", "0"]),
]


@pytest.mark.parametrize(("line", "expected"), INTEL_MPI)
def test_intel_mpi_as_recorded(line: str, expected: list[str]) -> None:
    reading = from_syntax(f"{line} mpiexec -n 2 prog", load(MACHINES / "vm-2core.xml"), "intelmpi")[1]
    assert [numbers_text(place.cpus) for place in reading.placement.ranks] == expected


def _under_intel_mpi(line: str, ranks: int, folder: Path) -> list[str]:
    """Each rank writes its mask to a file: lines on standard output may run into each other."""
    launcher = os.environ.get("OCTANT_TEST_IMPI", str(Path(sys.prefix) / "bin" / "mpiexec.hydra"))
    asked = [launcher, "-V"] if Path(launcher).exists() else ["true"]
    if "Intel" not in subprocess.run(asked, capture_output=True, text=True, check=False).stdout:
        pytest.skip("no mpiexec of Intel MPI here (pip install impi-rt elsewhere, and set OCTANT_TEST_IMPI)")
    show = "import os; print(*os.sched_getaffinity(0), file=open(os.environ['PMI_RANK'], 'w'))"
    variables = dict(word.split("=", 1) for word in shlex.split(line))
    root = str(Path(launcher).parents[1])
    environment = {**os.environ, "I_MPI_ROOT": root, "I_MPI_FABRICS": "shm", **variables}
    command = [launcher, "-n", str(ranks), sys.executable, "-c", show]
    subprocess.run(command, env=environment, check=True, timeout=60, cwd=folder)
    return [numbers_text([int(cpu) for cpu in (folder / str(rank)).read_text().split()]) for rank in range(ranks)]


@pytest.mark.mpi
@pytest.mark.parametrize(("line", "expected"), INTEL_MPI)
def test_intel_mpi_live(line: str, expected: list[str], tmp_path: Path) -> None:
    here()
    assert _under_intel_mpi(line, 2, tmp_path) == expected


@pytest.mark.mpi
@pytest.mark.parametrize("text", ["2x1", "2x1,cpus=1/0", "1x2", "2x1,cpus=0+1/1,share=yes"])
def test_intel_mpi_does_what_our_words_ask(text: str, tmp_path: Path) -> None:
    topology = here()
    request = parse_place(text, topology)
    placement = plan(topology, request)
    expected = [numbers_text(place.cpus) for place in placement.ranks]
    lines = to_syntax("intelmpi", placement, request, topology).lines
    line = next(line for line in lines if "I_MPI_PIN_DOMAIN" in line)
    assert _under_intel_mpi(line.removeprefix("export "), len(expected), tmp_path) == expected
