"""One MPI program, started by each launcher and alone: the record of the run equals what the program says itself.

The program is a kernel of ours. With `--output` it writes a record of its own, with the host and the masks of each of
its ranks as they read them, and it does not know of the guard that reads the same from outside.
"""

import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from kernel_run import OPEN_MPI, read_records
from octant.record import Point, RankResources
from octant.store import Store, StoredRun
from paths import NO_OPENMPI, OPENMPI_KERNELS, ROOT, Octant
from slurm_cluster import NoCluster, slurm

CPUS = tuple(sorted(os.sched_getaffinity(0)))
PROGRAM = "octant-mpi-ring"
QUICK = ("pin=none", "seconds=0.02", "least=5", "samples=20")
pytestmark = [pytest.mark.mpi, pytest.mark.skipif(len(CPUS) < 2, reason="needs two hardware threads")]

Ranks = list[tuple[str, frozenset[tuple[int, ...]]]]
"""By rank: the host, and the masks of its threads. An MPI library may add threads, which inherit the mask."""


@dataclass(frozen=True)
class Launcher:
    """A launcher with two ranks, and the words and variables that it needs here."""

    words: Sequence[str]
    unbound: Sequence[str]  # its option that leaves the ranks unbound
    bound: Sequence[str]  # its option that puts the second hardware thread first
    option: str  # that Octant then names
    kernels: Path
    variables: Mapping[str, str] = field(default_factory=dict)


def mpich(kernels: Path) -> Launcher:
    words = (str(Path(sys.executable).parent / "mpiexec"), "-n", "2")
    return Launcher(words, ("-bind-to", "none"), ("-bind-to", f"user:{CPUS[1]},{CPUS[0]}"), "-bind-to", kernels)


def open_mpi(_kernels: Path) -> Launcher:
    if not OPENMPI_KERNELS.exists():
        pytest.skip(NO_OPENMPI)
    words = (str(ROOT / ".venv-openmpi/bin/mpiexec"), "-n", "2", "--allow-run-as-root")
    bound = ("--map-by", "pe-list=1,0:ordered")
    return Launcher(words, ("--bind-to", "none"), bound, "--map-by", OPENMPI_KERNELS, OPEN_MPI)


def intel_mpi(kernels: Path) -> Launcher:
    """Its binary interface is that of MPICH."""
    folder = ROOT / ".venv-intel"
    if not (folder / "lib/libmpi_abi.so.1").exists():
        pytest.skip("Intel MPI is not installed; try `make intel`")
    bound, library = "I_MPI_PIN_PROCESSOR_LIST", {"LD_LIBRARY_PATH": str(folder / "lib")}
    words, listed = (str(folder / "bin/mpiexec"), "-n", "2"), f"{CPUS[1]},{CPUS[0]}"
    return Launcher(words, ("-genv", "I_MPI_PIN", "off"), ("-genv", bound, listed), bound, kernels, library)


def srun(kernels: Path, cluster: Mapping[str, str]) -> Launcher:
    words = ("srun", "-N1", "-n2", "--mpi=pmi2", "--time=2")
    return Launcher(
        words, ("--cpu-bind=none",), (f"--cpu-bind=map_cpu:{CPUS[1]},{CPUS[0]}",), "--cpu-bind", kernels, cluster
    )


LIBRARIES = [mpich, open_mpi, intel_mpi]


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mapping[str, str]]:
    try:
        with slurm(tmp_path_factory.mktemp("slurm"), 1) as variables:
            yield variables
    except NoCluster as reason:
        pytest.skip(str(reason))


class Measured:
    """A run of the program, as Octant recorded it and as the program did."""

    def __init__(self, octant: Octant, folder: Path, program: Path, launcher: Sequence[str], *options: str) -> None:
        own, store = folder / "own.jsonl", folder / "store"
        asked = ("run", "--repeats", "1", *options, "--", *launcher, str(program), *QUICK, "--output", str(own))
        done = octant(*asked, env={"OCTANT_STORE": str(store)})
        assert done.returncode == 0, done.stderr
        self.stderr = done.stderr
        (run,) = Store(store).runs()
        assert isinstance(run, StoredRun)
        (self.point,) = run.points
        (said,), failures = read_records(own)
        assert failures == []
        self.recorded, self.said = ranks(self.point), ranks(said)

    def check(self, number: int) -> None:
        """What the record says of the ranks is what they say of themselves."""
        assert len(self.said) == number
        assert self.recorded == self.said
        assert self.point.ranks == number
        assert "ranks missing" not in self.point.notes


def ranks(point: Point) -> Ranks:
    def of(given: RankResources) -> tuple[str, frozenset[tuple[int, ...]]]:
        return given.host, frozenset(given.thread_masks)

    return [of(given) for given in point.given]


def masks(found: Ranks) -> list[set[tuple[int, ...]]]:
    return [set(of_rank) for _, of_rank in found]


def check_launcher(octant: Octant, folder: Path, launcher: Launcher) -> None:
    """Plain, placed by Octant, and bound by the launcher itself."""
    program = launcher.kernels / PROGRAM
    variables = [f"--env={name}={value}" for name, value in launcher.variables.items()]

    def measured(name: str, words: Sequence[str], *options: str) -> Measured:
        (folder / name).mkdir()
        return Measured(octant, folder / name, program, [*launcher.words, *words], *variables, *options)

    measured("plain", ()).check(2)
    crossed = [{(CPUS[1],)}, {(CPUS[0],)}]
    placed = measured("placed", launcher.unbound, "--place", f"2x1,cpus={CPUS[1]}/{CPUS[0]}")
    placed.check(2)
    assert masks(placed.recorded) == crossed
    assert "binds its ranks" not in placed.stderr
    bound = measured("bound", launcher.bound)
    bound.check(2)
    assert masks(bound.recorded) == crossed
    assert f"binds its ranks because of {launcher.option}" in bound.stderr
    assert bound.point.notes["binds itself"].endswith(" ".join(launcher.bound))


@pytest.mark.parametrize("library", LIBRARIES)
def test_ranks_of_mpiexec_are_what_the_program_says(
    octant: Octant, kernels: Path, tmp_path: Path, library: Callable[[Path], Launcher]
) -> None:
    check_launcher(octant, tmp_path, library(kernels))


@pytest.mark.root("starts Slurm's daemons, which change users")
def test_ranks_of_srun_are_what_the_program_says(
    octant: Octant, kernels: Path, tmp_path: Path, cluster: Mapping[str, str]
) -> None:
    check_launcher(octant, tmp_path, srun(kernels, cluster))


def test_the_program_alone_is_what_it_says(octant: Octant, kernels: Path, tmp_path: Path) -> None:
    alone = Measured(octant, tmp_path, kernels / PROGRAM, ())
    alone.check(1)
    assert masks(alone.recorded) == [{CPUS}]


def test_ranks_that_octant_starts_are_what_the_program_says(octant: Octant, kernels: Path, tmp_path: Path) -> None:
    place = f"2x1,cpus={CPUS[1]}/{CPUS[0]}"
    started = Measured(octant, tmp_path, kernels / PROGRAM, (), "--ranks", "2", "--place", place)
    started.check(2)
    assert masks(started.recorded) == [{(CPUS[1],)}, {(CPUS[0],)}]
