"""Every row of every workload of messages, on 1 and 2 ranks of MPICH and of Intel MPI, and more of Open MPI.

A row is right, or is refused with a sentence: by the number of ranks, or because the library does not have it.
"""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from kernel_run import MORE_RANKS, OPEN_MPI, QUICK, KernelRuns, read_records, smoke
from octant import workloads
from octant.build import program_name
from octant.failure import Exit
from octant.mpi.faults import faults
from paths import NO_OPENMPI, OPENMPI_KERNELS, ROOT

NAMES = [name for name in sorted(workloads.workloads()) if name.startswith("mpi/")]
TINY = ("seconds=0.002", "least=5", "samples=5")
OWN = {
    "barrier": "dissemination,tree",
    "bcast": "binomial,scatter-allgather,chain",
    "reduce": "binomial",
    "allreduce": "recursive-doubling,ring,rabenseifner,binomial",
    "reduce-scatter-block": "ring,pairwise",
    "allgather": "ring,recursive-doubling,bruck",
    "alltoall": "linear,ring,pairwise,bruck,prime-stride,prime-stride-from-zero",
}
"""Our own algorithms, by pattern."""


def open_mpi() -> Path:
    """The folder of the Open MPI flavour's programs."""
    if not OPENMPI_KERNELS.exists():
        pytest.skip(NO_OPENMPI)
    return OPENMPI_KERNELS


def intel_mpi() -> tuple[Path, dict[str, str]]:
    """The launcher of Intel MPI, whose binary interface is that of MPICH, and what its library needs."""
    folder = ROOT / ".venv-intel"
    if not (folder / "lib/libmpi_abi.so.1").exists():
        pytest.skip("Intel MPI is not installed; try `make intel`")
    return folder / "bin/mpiexec", {"LD_LIBRARY_PATH": str(folder / "lib")}


def start(
    folder: Path,
    launcher: Path,
    ranks: int,
    name: str,
    records: Path,
    *words: str,
    settings: Mapping[str, str] | None = None,
) -> str:
    """Runs a kernel; what it says on standard error. A time-out fails the test."""
    more = ["--allow-run-as-root", "--oversubscribe", "--bind-to", "none"] if "openmpi" in str(launcher) else []
    inherited = {k: v for k, v in os.environ.items() if not k.startswith(("OCTANT_", "OMP_", "OMPI_", "PRTE_"))}
    command = [str(launcher), "-n", str(ranks), *more, str(folder / program_name(name)), *words]
    environment = {**inherited, **OPEN_MPI, "OMPI_MCA_osc": "^ucx"}  # its complaints about each window
    environment |= settings or {}
    done = subprocess.run(
        [*command, "--output", str(records)], env=environment, capture_output=True, text=True, timeout=170, check=False
    )
    return done.stderr


def rows_of(folder: Path, name: str) -> list[str]:
    """`pattern=a,b,c` for a program of several kernels."""
    shown = subprocess.run([folder / program_name(name), "--describe"], capture_output=True, text=True, check=True)
    described = json.loads(shown.stdout)
    chooser = described.get("chooser")
    return [f"{chooser}={','.join(described['rows'])}"] if chooser else []


def check_rows(
    folder: Path,
    launcher: Path,
    ranks: int,
    name: str,
    records: Path,
    settings: Mapping[str, str] | None = None,
    library: str = "",
) -> None:
    """All rows are right or refused, except where a fault of that library is known."""
    rows = rows_of(folder, name)
    own = [word for word in smoke(name) if not rows or not word.startswith(f"{rows[0].partition('=')[0]}=")]
    errors = start(folder, launcher, ranks, name, records, *rows, *own, *TINY, settings=settings)
    points, failures = read_records(records)
    known = [fault for fault in faults() if fault.library == library and fault.kind == "wrong data"]
    expected = [point for point in points if any(fault.concerns(name, point.knobs, ranks) for fault in known)]
    wrong = [(point.knobs, check.text) for point in points if point not in expected for check in point.failed_checks]
    assert not wrong
    assert not expected or any(point.failed_checks for point in expected), "a known fault has vanished"
    assert points or failures or "cannot" in errors, errors
    assert all(failure.exit == 3 and "; try " in failure.reason for failure in failures), failures
    if rows and points:
        chooser, _, words = rows[0].partition("=")
        seen = {point.knobs[chooser] for point in points} | {one.knobs[chooser] for one in failures}
        assert seen == set(words.split(",")), errors


@pytest.mark.mpi
@pytest.mark.parametrize("ranks", [1, 2])
@pytest.mark.parametrize("name", NAMES)
def test_rows_are_right_on_few_ranks(kernels: Path, tmp_path: Path, name: str, ranks: int) -> None:
    check_rows(kernels, Path(sys.executable).parent / "mpiexec", ranks, name, tmp_path / "records.jsonl")


@pytest.mark.mpi
@pytest.mark.parametrize("ranks", [1, 2])
@pytest.mark.parametrize("name", NAMES)
def test_rows_are_right_with_intel_mpi(kernels: Path, tmp_path: Path, name: str, ranks: int) -> None:
    launcher, settings = intel_mpi()
    check_rows(kernels, launcher, ranks, name, tmp_path / "records.jsonl", settings, "intelmpi")
    points, _ = read_records(tmp_path / "records.jsonl")
    assert all("Intel" in point.process.mpi for point in points)


@pytest.mark.mpi
@pytest.mark.slow
@pytest.mark.parametrize("ranks", MORE_RANKS)
@pytest.mark.parametrize("name", NAMES)
def test_rows_are_right_on_more_ranks_than_cores(tmp_path: Path, name: str, ranks: int) -> None:
    folder = open_mpi()
    check_rows(folder, ROOT / ".venv-openmpi/bin/mpiexec", ranks, name, tmp_path / "records.jsonl")


def check_own_algorithms(folder: Path, launcher: Path, ranks: int, records: Path) -> None:
    """Each is right in place and not, from every root; and keeps the order of operands, or says that it does not."""
    words = ("inplace=no,yes", "root=rotating", "bytes=8,100000", "op=sum,matrix", *TINY)
    for pattern, names in OWN.items():
        start(folder, launcher, ranks, "mpi/collective", records, f"pattern={pattern}", f"algorithm={names}", *words)
    points, failures = read_records(records)
    assert [point.failed_checks for point in points if not point.passed] == []
    measured = {(point.knobs["pattern"], point.knobs["algorithm"]) for point in points}
    refused = {(one.knobs["pattern"], one.knobs["algorithm"]) for one in failures}
    power_of_two = ranks & (ranks - 1) == 0
    need_it = {("allgather", "recursive-doubling"), ("alltoall", "pairwise")}
    every = {(pattern, name) for pattern, names in OWN.items() for name in names.split(",")}
    assert measured == (every if power_of_two else every - need_it)
    for one in failures:
        reasons = ("it needs a power of two", "it changes the order of operands", "no such combination")
        assert any(text in one.reason for text in reasons), one.reason
    in_order = {("allreduce", "recursive-doubling"), ("allreduce", "binomial"), ("reduce", "binomial")}
    matrices = {(p.knobs["pattern"], p.knobs["algorithm"]) for p in points if p.knobs["op"] == "matrix"}
    assert in_order <= matrices
    assert {("allreduce", "ring"), ("allreduce", "rabenseifner")} <= refused - matrices


@pytest.mark.mpi
def test_own_algorithms_are_right_on_two_ranks(kernels: Path, tmp_path: Path) -> None:
    check_own_algorithms(kernels, Path(sys.executable).parent / "mpiexec", 2, tmp_path / "records.jsonl")


@pytest.mark.mpi
@pytest.mark.slow
@pytest.mark.parametrize("ranks", MORE_RANKS)
def test_own_algorithms_are_right_on_more_ranks_than_cores(tmp_path: Path, ranks: int) -> None:
    folder = open_mpi()
    check_own_algorithms(folder, ROOT / ".venv-openmpi/bin/mpiexec", ranks, tmp_path / "records.jsonl")


@pytest.mark.mpi
def test_a_wrong_result_outweighs_a_row_that_is_refused(run_kernel: KernelRuns) -> None:
    done = run_kernel("mpi/p2p", "pattern=pingpong,partitioned", "bytes=12", *QUICK, fault="wrong:0", ranks=2)
    assert [failure.exit for failure in done.failures] == [3]
    assert [point.passed for point in done.points] == [False]
    assert done.code == Exit.WRONG_ANSWER
