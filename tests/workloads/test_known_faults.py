"""Known faults of MPI libraries: each can be asked for, and is still there in the libraries of this machine."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from kernel_run import OPEN_MPI, read_records
from octant import workloads
from octant.build import program_name
from octant.failure import Exit
from octant.launchers.openmpi import YIELD
from octant.mpi.faults import Fault, faults, of_library
from octant.mpi.inventory import parse_probe
from octant.mpi.neutral import Library
from octant.units import parse_bytes
from paths import OPENMPI_KERNELS, ROOT

pytestmark = pytest.mark.alone

TINY = ("seconds=0.005", "least=5", "samples=5")
TIME_LIMIT_S, LATEST_S = 8, 120
"""Until a program is said to hang, and of one that ends, on a machine that is busy with other work."""


def least(condition: str) -> str:
    """A value for which it holds."""
    number = condition.lstrip(">=")
    return str(int(number) + 1) if condition.startswith(">") and not condition.startswith(">=") else number


@pytest.mark.parametrize("fault", faults(), ids=lambda fault: fault.name)
def test_what_a_fault_is_about_can_be_asked_for(kernels: Path, fault: Fault) -> None:
    """A row that no cell can match would never be named."""
    program = kernels / program_name(fault.workload)
    shown = subprocess.run([program, "--describe"], capture_output=True, text=True, check=True)
    known = {knob["name"]: knob for knob in json.loads(shown.stdout)["knobs"]}
    for name, conditions in fault.knobs.items():
        for value in map(least, conditions):
            if choices := known[name].get("choices"):
                assert value in choices
            if most := known[name].get("most"):
                assert known[name]["least"] <= parse_bytes(value) <= most


def flavours(kernels: Path) -> dict[str, tuple[Path, tuple[str, ...]]]:
    """Folders of programs with the words that start two ranks and more of them, by the library's name."""
    found: dict[str, tuple[Path, tuple[str, ...]]] = {
        "mpich": (kernels, (str(Path(sys.executable).parent / "mpiexec"),))
    }
    site = ROOT / ".venv-openmpi"
    if OPENMPI_KERNELS.exists():
        words = ("--allow-run-as-root", "--oversubscribe", "--bind-to", "none")
        found["openmpi"] = (OPENMPI_KERNELS, (str(site / "bin/mpiexec"), *words))
    return found


def library_of(folder: Path) -> Library:
    shown = subprocess.run([folder / "octant-mpi-probe", "describe"], capture_output=True, text=True, check=True)
    inventory = parse_probe(shown.stdout)
    return Library(inventory.library, inventory.version)


@pytest.mark.slow
def test_a_fault_that_nothing_avoids_is_still_in_the_library(kernels: Path, tmp_path: Path) -> None:
    """It fails once the library is mended: then the row gets an `until`, and `--only-safe` leaves out nothing more."""
    vanished = []
    for name, (folder, launcher) in flavours(kernels).items():
        try:
            library = library_of(folder)
        except (OSError, subprocess.CalledProcessError):
            pytest.skip(f"the probe of {name} is not built")
        assert library.name == name
        present = [one for one in of_library(library) if not one.avoided]
        vanished += [one.name for one in present if not shows(one, folder, launcher, tmp_path / one.name)]
    assert not vanished


def shows(fault: Fault, folder: Path, launcher: tuple[str, ...], records: Path) -> bool:
    """Whether the first cell that it is about goes wrong in the way that it says."""
    ranks = least(fault.ranks[0]) if fault.ranks else "2" if workloads.workload(fault.workload).messages else "1"
    words = [f"{knob}={least(values[0])}" for knob, values in fault.knobs.items()]
    command = [*launcher, "-n", ranks, str(folder / program_name(fault.workload)), *words, *TINY]
    inherited = {k: v for k, v in os.environ.items() if not k.startswith(("OCTANT_", "OMP_", "OMPI_", "PRTE_"))}
    environment = {**inherited, **OPEN_MPI, YIELD: "1"}  # others may be at work here
    endless = fault.kind in ("hang", "slow")
    command += ["--output", str(records)]
    with subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL, start_new_session=True) as started:
        try:
            code = started.wait(TIME_LIMIT_S if endless else LATEST_S)
        except subprocess.TimeoutExpired:
            os.killpg(started.pid, signal.SIGKILL)
            return endless
    points, _ = read_records(records)
    concerned = [point for point in points if fault.concerns(fault.workload, point.knobs, int(ranks))]
    if fault.kind == "wrong data":
        return code == Exit.WRONG_ANSWER and bool(concerned) and not any(point.passed for point in concerned)
    return fault.kind == "crash" and code not in range(5)
