"""Launchers and OpenMP runtimes, recorded and live: the masks that they give are those that Octant foretells."""

import functools
import os
import random
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import record_launchers as runs
from launcher_syntax import GOALS, REFERENCE, read, syntax_of
from octant.launchers import from_syntax
from octant.machine import CpuSet, Topology
from octant.machine.hwloc import load, read_synthetic
from octant.placement import numbers_text
from octant.placement.expressions import parse_place
from octant.placement.planner import DoesNotFitError, plan
from paths import MACHINES, ROOT


@pytest.mark.parametrize(
    "seen", runs.recorded("openmpi"), ids=lambda seen: f"{seen.topology} {seen.options} {seen.file}"
)
def test_openmpi_masks_are_predicted(seen: runs.Seen) -> None:
    topology = read_synthetic(seen.topology)
    line = f"mpiexec {seen.options} prog\n{seen.file}"
    if not seen.masks:
        with pytest.raises(ValueError, match=r"Open MPI|rank file"):
            from_syntax(line, topology, "openmpi")
        return
    reading = from_syntax(line, topology, "openmpi")[1]
    expected = [topology.allowed if mask is None else mask for mask in seen.masks]
    assert [place.cpus for place in reading.placement.ranks] == expected


def _mpiexec(kind: str) -> str:
    """Return a launcher that is identified by its version text, not by its name."""
    here = Path(sys.prefix) / "bin" / "mpiexec"
    flavour = ROOT / ".venv-openmpi" / "bin" / "mpiexec"
    named = os.environ.get(f"OCTANT_TEST_{kind.upper()}")
    for candidate in filter(None, [named, str(here), str(flavour), shutil.which("mpiexec")]):
        if not Path(candidate).exists():
            continue
        said = subprocess.run([candidate, "--version"], capture_output=True, text=True, check=False).stdout
        if {"mpich": "HYDRA", "openmpi": "(Open MPI) 5"}[kind] in said:
            return candidate
    pytest.skip(f"no mpiexec of {kind} here (set OCTANT_TEST_{kind.upper()})")


@pytest.mark.mpi
@pytest.mark.parametrize("goal", GOALS)
def test_hydra_does_what_our_words_ask(goal: str) -> None:
    placement = plan(REFERENCE, parse_place(goal, REFERENCE))
    line = next(line for line in syntax_of("mpich", goal).lines if line.startswith("mpiexec"))
    seen = runs.hydra(_mpiexec("mpich"), runs.REFERENCE, line.removeprefix("mpiexec ").removesuffix(" PROGRAM"))
    assert list(seen.masks) == [place.cpus for place in placement.ranks]


@pytest.mark.mpi
@pytest.mark.parametrize(
    "goal", [*GOALS, "2x2,cpus=0+2/4+6", "18x1,unit=hwthread,smt=2", "3x5,order=scatter:package,smt=2"]
)
def test_openmpi_does_what_our_words_ask(goal: str, tmp_path: Path) -> None:
    placement = plan(REFERENCE, parse_place(goal, REFERENCE))
    answer = syntax_of("openmpi", goal)
    for name, content in answer.files:
        (tmp_path / name).write_text(content)
    line = next(line for line in answer.lines if line.startswith("mpiexec"))
    options = line.removeprefix("mpiexec ").removesuffix(" PROGRAM")
    seen = runs.openmpi(_mpiexec("openmpi"), runs.REFERENCE, options, tmp_path)
    assert list(seen.masks) == [place.cpus for place in placement.ranks]


@pytest.mark.mpi
@pytest.mark.parametrize("kind", ["mpich", "openmpi"])
def test_random_requests_come_out_as_planned(kind: str, tmp_path: Path) -> None:
    """The launcher itself, on pretended topologies, gives the masks that its words ask for."""
    launcher = _mpiexec(kind)
    pick = random.Random(20261121)
    for _ in range(25):
        description = pick.choice([runs.REFERENCE, runs.LINUX, runs.POWER, "numa:4 pack:4 l2:2 core:1 pu:2"])
        topology = read_synthetic(description)
        unit = pick.choice(["hwthread", "core", "core", "l3", "numa", "package"])
        order = pick.choice(["compact", "scatter", "scatter:numa", "scatter:package"])
        text = (
            f"{pick.randint(1, 12)}x{pick.randint(1, 5)},unit={unit},order={order},smt={pick.randint(1, 2)},share=yes"
        )
        try:
            placement = plan(topology, parse_place(text, topology))
        except DoesNotFitError:
            continue
        answer = syntax_of(kind, text, topology)
        for name, content in answer.files:
            (tmp_path / name).write_text(content)
        line = next(line for line in answer.lines if line.startswith("mpiexec"))
        options = line.removeprefix("mpiexec ").removesuffix(" PROGRAM")
        if kind == "mpich":
            seen = runs.hydra(launcher, description, options)
        else:
            seen = runs.openmpi(launcher, description, options, tmp_path)
        assert list(seen.masks) == [place.cpus for place in placement.ranks], (description, text, options)


def _here() -> Topology:
    """Return the topology of this machine, restricted to the CPUs of this process."""
    allowed = sorted(os.sched_getaffinity(0))
    if allowed != [0, 1] or os.cpu_count() != 2:
        pytest.skip("these runs compare masks on a machine of two cores without SMT")
    return load(MACHINES / "vm-2core.xml")


@pytest.mark.parametrize("name", ["taskset", "numactl", "hwloc"])
@pytest.mark.parametrize("text", ["1x1", "2x1", "1x2", "1x1,cpus=1", "1x2,memory=local"])
def test_one_process_lines_give_these_masks(name: str, text: str) -> None:
    topology = _here()
    tool = {"hwloc": "hwloc-bind"}.get(name, name)
    if shutil.which(tool) is None:
        pytest.skip(f"{tool} is not installed")
    expected = [place.cpus for place in plan(topology, parse_place(text, topology)).ranks]
    show = f'{sys.executable} -c "import os; print(*sorted(os.sched_getaffinity(0)))"'
    found: list[CpuSet] = []
    for line in syntax_of(name, text, topology).lines:
        if line.startswith(tool):
            command = shlex.split(line.replace("PROGRAM", show))
            output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
            found.append(frozenset(int(cpu) for cpu in output.split()))
    assert found == expected


PROGRAM = """
#include <omp.h>
#include <sched.h>
#include <cstdio>
int main() {
#pragma omp parallel
    for (int turn = 0; turn < omp_get_num_threads(); ++turn) {
#pragma omp barrier
        if (turn != omp_get_thread_num()) continue;
        cpu_set_t set;
        sched_getaffinity(0, sizeof set, &set);
        std::printf("thread");
        for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
            if (CPU_ISSET(cpu, &set)) std::printf(" %d", cpu);
        std::printf("\\n");
    }
}
"""


@functools.cache
def _openmp_program(folder: str) -> str | None:
    source, binary = Path(folder) / "threads.cpp", Path(folder) / "threads"
    source.write_text(PROGRAM)
    compiler = shutil.which("g++")
    if compiler is None:
        return None
    subprocess.run([compiler, "-fopenmp", "-O1", str(source), "-o", str(binary)], check=True)
    return str(binary)


@pytest.fixture(scope="session")
def threads_program(tmp_path_factory: pytest.TempPathFactory) -> str:
    binary = _openmp_program(str(tmp_path_factory.mktemp("openmp")))
    if binary is None:
        pytest.skip("no g++ to build the program that shows its threads' masks")
    return binary


@pytest.mark.parametrize(
    "line",
    [
        "OMP_NUM_THREADS=2 OMP_PLACES=cores OMP_PROC_BIND=close",
        "OMP_NUM_THREADS=2 OMP_PLACES=threads OMP_PROC_BIND=spread",
        "OMP_NUM_THREADS=2 OMP_PLACES=cores OMP_PROC_BIND=master",
        "OMP_NUM_THREADS=3 OMP_PLACES=cores OMP_PROC_BIND=close",
        "OMP_NUM_THREADS=7 OMP_PLACES=cores OMP_PROC_BIND=spread",
        "OMP_NUM_THREADS=1 OMP_PLACES=cores OMP_PROC_BIND=spread",
        "OMP_NUM_THREADS=2 OMP_PLACES=cores OMP_PROC_BIND=cores",
        "OMP_NUM_THREADS=2 OMP_PLACES={7},{8}",
        "OMP_NUM_THREADS=2 OMP_PLACES={7},{1}",
        "OMP_NUM_THREADS=2 OMP_PLACES=kores OMP_PROC_BIND=close",
        "OMP_NUM_THREADS=2 OMP_PLACES={1},{0} OMP_PROC_BIND=true",
        "OMP_NUM_THREADS=2 OMP_PLACES={0}:2:1 OMP_PROC_BIND=close",
        "OMP_NUM_THREADS=2 OMP_PLACES=sockets OMP_PROC_BIND=close",
        "OMP_NUM_THREADS=2 OMP_PROC_BIND=cores",
        "OMP_NUM_THREADS=2 OMP_PLACES={7},{8} OMP_PROC_BIND=close",
        "OMP_NUM_THREADS=2 OMP_PROC_BIND=false",
        "OMP_NUM_THREADS=2 GOMP_CPU_AFFINITY='1 0'",
        "OMP_NUM_THREADS=3 GOMP_CPU_AFFINITY=0-1",
        "OMP_NUM_THREADS=2 GOMP_CPU_AFFINITY=1,64",
        "OMP_NUM_THREADS=2 GOMP_CPU_AFFINITY=64-65",
        "GOMP_CPU_AFFINITY=1",
        "OMP_PLACES={1} OMP_PROC_BIND=close",
        "OMP_PLACES=cores(1) OMP_PROC_BIND=spread",
    ],
)
def test_gnu_openmp_binds_threads_as_predicted(line: str, threads_program: str) -> None:
    topology = _here()
    variables = dict(word.split("=", 1) for word in shlex.split(line))
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("OMP_", "GOMP_"))} | variables
    output = subprocess.run([threads_program], capture_output=True, text=True, env=environment, check=True).stdout
    found = [frozenset(int(cpu) for cpu in row.split()[1:]) for row in output.splitlines()]
    assert found == list(read(line, topology).placement.ranks[0].threads)


@pytest.mark.mpi
@pytest.mark.parametrize("binding", ["-bind-to core", "-bind-to none", "-bind-to user:1,0", "-bind-to core:2"])
@pytest.mark.parametrize(
    "variables", ["OMP_PROC_BIND=close", "OMP_PLACES=cores OMP_PROC_BIND=spread", "OMP_PLACES={1}"]
)
def test_openmp_binds_threads_inside_hydras_masks(binding: str, variables: str, threads_program: str) -> None:
    """Threads of both ranks as predicted from the whole line; if ranks are unbound, they share CPUs."""
    topology = _here()
    line = f"OMP_NUM_THREADS=2 {variables} mpiexec -n 2 {binding} prog"
    added = dict(word.split("=", 1) for word in f"OMP_NUM_THREADS=2 {variables}".split())
    clean = {key: value for key, value in os.environ.items() if not key.startswith(("OMP_", "GOMP_"))}
    command = [_mpiexec("mpich"), "-prepend-rank", "-n", "2", *binding.split(), threads_program]
    output = subprocess.run(command, capture_output=True, text=True, env=clean | added, check=True).stdout
    found = [
        tuple(frozenset(map(int, row.split()[2:])) for row in output.splitlines() if row.startswith(f"[{rank}] thread"))
        for rank in (0, 1)
    ]
    assert found == [place.threads for place in read(line, topology).placement.ranks]


INTEL = [  # masks of the threads as Intel's runtime 2026 gave them on two cores without SMT
    ("OMP_NUM_THREADS=2 KMP_AFFINITY=compact", ["0", "1"]),
    ("OMP_NUM_THREADS=2 KMP_AFFINITY=scatter", ["0", "1"]),
    ("OMP_NUM_THREADS=3 KMP_AFFINITY=granularity=core,compact,1,0", ["0", "1", "0"]),
    ("OMP_NUM_THREADS=2 KMP_AFFINITY=granularity=fine,proclist=[1,0],explicit", ["1", "0"]),
    ("OMP_NUM_THREADS=3 KMP_AFFINITY=granularity=fine,proclist=[{0,1},1],explicit", ["0-1", "1", "0-1"]),
    ("OMP_NUM_THREADS=2 KMP_AFFINITY=none", ["0-1", "0-1"]),
]


@pytest.mark.parametrize(("line", "expected"), INTEL)
def test_intel_openmp_as_recorded(line: str, expected: list[str]) -> None:
    reading = read(line, load(MACHINES / "vm-2core.xml"))
    assert [numbers_text(held) for held in reading.placement.ranks[0].threads] == expected


def _under_intel(program: str, line: str) -> list[str]:
    """Run the program, built for the GNU runtime, with the Intel runtime: both are then loaded."""
    installed = Path(sys.prefix) / "lib" / "libiomp5.so"
    library = os.environ.get("OCTANT_TEST_IOMP5", str(installed))
    if not Path(library).exists():
        pytest.skip("no libiomp5.so here (pip install intel-openmp, or set OCTANT_TEST_IOMP5)")
    variables = dict(word.split("=", 1) for word in shlex.split(line)) | {"LD_PRELOAD": library}
    clean = {key: value for key, value in os.environ.items() if not key.startswith(("OMP_", "GOMP_", "KMP_"))}
    output = subprocess.run([program], capture_output=True, text=True, env=clean | variables, check=True).stdout
    rows = [row.split()[1:] for row in output.splitlines() if row.startswith("thread")]
    return [numbers_text(frozenset(int(cpu) for cpu in row)) for row in rows]


@pytest.mark.parametrize(("line", "expected"), INTEL)
def test_intel_openmp_live(line: str, expected: list[str], threads_program: str) -> None:
    _here()
    assert _under_intel(threads_program, line) == expected


@pytest.mark.parametrize("line", ["OMP_PLACES=cores OMP_PROC_BIND=close", "GOMP_CPU_AFFINITY=1,0"])
def test_two_runtimes_in_one_process_put_all_threads_on_one_cpu(line: str, threads_program: str) -> None:
    """GNU's runtime binds the first thread when loaded; Intel's then takes that CPU for all that the job has."""
    _here()
    assert len(set(_under_intel(threads_program, f"OMP_NUM_THREADS=2 {line}"))) == 1
    assert any("second OpenMP runtime" in said for said in syntax_of("openmp", "1x2").cannot)
