"""Launchers' words: golden tables, recorded and live runs, and the traps that were seen."""

import functools
import os
import random
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import record_launchers as runs
from octant.machine import CpuSet, Topology
from octant.machine.hwloc import load
from octant.machine.synthetic import parse_cpus, read_synthetic
from octant.placement import set_text
from octant.placement.expressions import parse_place
from octant.placement.planner import DoesNotFit, plan
from octant.placement.request import Request
from octant.placement.words import Reading, Words, backends, from_words, to_words

MACHINES = Path(__file__).parents[1] / "machines"
REFERENCE = load(MACHINES / "frameworks-node.synthetic")
POWER575 = load(MACHINES / "power575.synthetic")
GOALS = ["4x2", "4x2,order=scatter:numa", "4x2,unit=hwthread,smt=2", "4x2,unit=numa", "4x2,order=scatter:package"]
READABLE = sorted(name for name, module in backends().items() if hasattr(module, "from_words"))


def words(name: str, text: str, topology: Topology = REFERENCE) -> Words:
    request = parse_place(text, topology)
    return to_words(name, plan(topology, request), request, topology)


def read(text: str, topology: Topology = REFERENCE) -> Reading:
    return from_words(text, topology)[1]


def masks(reading: Reading) -> list[str]:
    return [set_text(place.cpus) for place in reading.placement.ranks]


GOLDEN = [  # research table of affinity syntax: one column a goal (compact, by NUMA, siblings, NUMA, cyclic sockets)
    ("mpich", ["-bind-to core:2", "-bind-to core:2 -map-by numa", "-bind-to core", "-bind-to numa",
               "-bind-to core:2 -map-by socket"]),
    ("openmpi", ["--map-by slot:PE=2 --bind-to core", "--map-by numa:PE=2", "--map-by core --bind-to core",
                 "--map-by numa --bind-to numa", "--map-by package:PE=2 --rank-by span"]),
    ("openmpi41", ["--map-by slot:PE=2 --bind-to core", "--map-by numa:PE=2", "--map-by slot:PE=1 --bind-to core",
                   "--map-by numa --bind-to numa", "--map-by socket:PE=2"]),
    ("intelmpi", ["I_MPI_PIN_DOMAIN=omp:compact I_MPI_PIN_CELL=core", "I_MPI_PIN_DOMAIN=[0xf,0xf00,0xf0000,0xf000000]",
                  "I_MPI_PIN_DOMAIN=2:compact I_MPI_PIN_CELL=unit", "I_MPI_PIN_DOMAIN=numa",
                  "[0xf,0xf0000,0xf0,0xf00000]"]),
    ("slurm", ["-n 4 -c 2 --threads-per-core=1 --cpu-bind=cores -m block:block", "mask_cpu:0xf,0xf00,0xf0000,0xf000000",
               "-c 2 --cpu-bind=threads -m block:block", "--cpu-bind=ldoms", "-m block:cyclic"]),
    ("flux", ["-n 4 -c 2 -o cpu-affinity=per-task", "map:0-3;8-11;16-19;24-27", "map:0-1;2-3;4-5;6-7",
              "map:0-7;8-15;16-23;24-31", "map:0-3;16-19;4-7;20-23"]),
    ("pbs", ["select=1:ncpus=8:mpiprocs=4:ompthreads=2"] * 2 + ["ncpus=8"] + ["mpiprocs=4:ompthreads=2"] * 2),
    ("lsf", ["span[ptile=4] affinity[core(2):cpubind=core:distribute=pack]", "core(2,same=numa,exclusive=(numa,injob))",
             "affinity[thread(2,same=core)", "affinity[numa(1)]", "distribute=balance"]),
    ("loadleveler", ["mcm_accumulate", "mcm_distribute", "task_affinity = cpu(2)", "rset = rset_mcm_affinity",
                     "mcm_distribute"]),
    ("poe", ["MP_TASK_AFFINITY=CORE:2", "MP_TASK_AFFINITY=CORE:2", "MP_TASK_AFFINITY=CPU:2", "MP_TASK_AFFINITY=MCM",
             "MP_TASK_AFFINITY=CORE:2"]),
    ("aix", ["execrset -c 0-3 -e", "execrset -c 8-11 -e", "execrset -c 0-1 -e", "execrset -c 0-7 -e", "-c 16-19"]),
    ("openmp", ["OMP_PLACES=cores OMP_PROC_BIND=close", "OMP_PLACES=cores", "OMP_PLACES=threads OMP_PROC_BIND=close",
                "OMP_PROC_BIND=false", "OMP_PROC_BIND=close"]),
    ("kmp", ["granularity=core,compact,1,0", "granularity=core,compact,1,0", "granularity=fine,compact,0,0",
             "KMP_AFFINITY=none", "proclist=[{16,17},{18,19}],explicit"]),
    ("gomp", ['"0 2"', '"8 10"', '"0 1"', "", '"16 18"']),
    ("xlsmp", ["parthds=2:startproc=0:stride=2", "startproc=8", "startproc=0:stride=1", "", "startproc=16"]),
    ("taskset", ["taskset -c 0-3", "taskset -c 8-11", "taskset -c 0-1", "taskset -c 0-7", "taskset -c 16-19"]),
    ("numactl", ["--physcpubind=0-3", "--physcpubind=8-11", "--physcpubind=0-1", "--cpunodebind=1", "=16-19"]),
    ("hwloc", ["hwloc-bind core:0-1 --", "core:4-5 --", "core:0 --", "numa:1 --", "core:8-9 --"]),
    ("likwid", ["-pin 0,2_4,6_8,10_12,14", "-pin 0,2_8,10_16,18_24,26", "-pin 0,1_2,3", "likwid-mpirun", "0,2_16,18"]),
    ("cray", ["list:0-3:4-7:8-11:12-15", "-cc 0-3:8-11:16-19:24-27", "-cc 0-1:2-3:4-5:6-7", "list:0-7", "0-3:16-19"]),
]  # fmt: skip


@pytest.mark.parametrize(("name", "expected"), GOLDEN, ids=[name for name, _ in GOLDEN])
def test_six_goals_in_every_launchers_words(name: str, expected: list[str]) -> None:
    for goal, fragment in zip(GOALS, expected, strict=True):
        assert fragment in "\n".join(words(name, goal).lines), goal
    explicit = words(name, "2x1,cpus=0+2/4+6")
    assert explicit.lines or explicit.cannot


def test_every_file_of_the_folder_is_in_the_tables() -> None:
    assert sorted(backends()) == sorted([*(name for name, _ in GOLDEN), "bluegene"])


@pytest.mark.parametrize("name", sorted(backends()))
@pytest.mark.parametrize("machine", sorted(path.name for path in MACHINES.glob("*.[sx][ym][nl]*")))
def test_every_launcher_answers_on_every_machine(name: str, machine: str) -> None:
    """No crash, and nothing silently dropped: what is not exact says why."""
    topology = load(MACHINES / machine)
    for text in ("2x1", "1x2,unit=hwthread,smt=2,memory=interleave,pages=16m,order=scatter", "2x1,unit=l3,share=yes"):
        try:
            answer = words(name, text, topology)
        except DoesNotFit:
            continue
        assert answer.lines or answer.cannot
        assert answer.exact or answer.cannot
        if "interleave" in text and name not in ("numactl", "hwloc", "likwid"):
            assert re.search(r"memory|MEMORY|torus", " ".join(answer.cannot)), answer.cannot


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(["taskset", "numactl", "hwloc", "mpich", "openmpi", "intelmpi", "slurm"]),
    st.sampled_from(
        ["frameworks-node.synthetic", "epyc-2s-nps4.synthetic", "power8-2s-smt8.synthetic", "vm-2core.xml"]
    ),
    st.integers(1, 6),
    st.integers(1, 4),
    st.sampled_from(["hwthread", "core", "numa", "package"]),
    st.sampled_from(["compact", "scatter", "scatter:numa", "scatter:package"]),
    st.sampled_from([1, 2]),
)
def test_exact_words_read_back_to_the_same_masks(
    name: str, machine: str, ranks: int, threads: int, unit: str, order: str, smt: int
) -> None:
    topology = load(MACHINES / machine)
    request = Request(ranks, threads, unit, order, smt)  # type: ignore[arg-type]
    try:
        placement = plan(topology, request)
    except DoesNotFit:
        return
    answer = to_words(name, placement, request, topology)
    if not answer.exact or answer.files:
        return
    text = "\n".join(line for line in answer.lines if not line.startswith("#"))
    again = from_words(text, topology, name)[1]
    assert [p.cpus for p in again.placement.ranks] == [p.cpus for p in placement.ranks], text


# Recorded and live runs


HYDRAS = [
    pytest.param(seen, id=f"{name} {seen.topology} {seen.options}")
    for name in ("hydra", "hydra-4.0.2")  # 5.0.1 of the wheel, and Debian 12's
    for seen in runs.recorded(name)
]


@pytest.mark.parametrize("seen", HYDRAS)
def test_hydra_masks_are_foretold(seen: runs.Seen) -> None:
    topology = read_synthetic(seen.topology)
    if not seen.masks:
        with pytest.raises(ValueError, match=r"cannot|Hydra"):
            read(f"mpiexec {seen.options} prog", topology)
        return
    reading = read(f"mpiexec {seen.options} prog", topology)
    assert [place.cpus for place in reading.placement.ranks] == list(seen.masks)


@pytest.mark.parametrize("seen", runs.recorded("openmpi"), ids=lambda seen: f"{seen.topology} {seen.options}")
def test_openmpi_masks_are_foretold(seen: runs.Seen) -> None:
    topology = read_synthetic(seen.topology)
    line = f"mpiexec {seen.options} prog"
    if not seen.masks:
        with pytest.raises(ValueError, match="Open MPI"):
            from_words(line, topology, "openmpi")
        return
    reading = from_words(line, topology, "openmpi")[1]
    expected = [topology.allowed if mask is None else mask for mask in seen.masks]
    assert [place.cpus for place in reading.placement.ranks] == expected


def _mpiexec(kind: str) -> str:
    """A launcher told apart by what it says, not by its name."""
    here = Path(sys.prefix) / "bin" / "mpiexec"
    flavour = Path(__file__).parents[1] / ".venv-openmpi" / "bin" / "mpiexec"
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
    line = next(line for line in words("mpich", goal).lines if line.startswith("mpiexec"))
    seen = runs.hydra(_mpiexec("mpich"), runs.REFERENCE, line.removeprefix("mpiexec ").removesuffix(" PROGRAM"))
    assert list(seen.masks) == [place.cpus for place in placement.ranks]


@pytest.mark.mpi
@pytest.mark.parametrize(
    "goal", [*GOALS, "2x2,cpus=0+2/4+6", "18x1,unit=hwthread,smt=2", "3x5,order=scatter:package,smt=2"]
)
def test_openmpi_does_what_our_words_ask(goal: str, tmp_path: Path) -> None:
    placement = plan(REFERENCE, parse_place(goal, REFERENCE))
    answer = words("openmpi", goal)
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
        except DoesNotFit:
            continue
        answer = words(kind, text, topology)
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
    """This machine, as far as affinity goes."""
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
    for line in words(name, text, topology).lines:
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
    ],
)
def test_gnu_openmp_binds_threads_as_foretold(line: str, threads_program: str) -> None:
    topology = _here()
    variables = dict(word.split("=", 1) for word in shlex.split(line))
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("OMP_", "GOMP_"))} | variables
    output = subprocess.run([threads_program], capture_output=True, text=True, env=environment, check=True).stdout
    found = [frozenset(int(cpu) for cpu in row.split()[1:]) for row in output.splitlines()]
    assert found == list(read(line, topology).placement.ranks[0].threads)


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
    assert [set_text(held) for held in reading.placement.ranks[0].threads] == expected


def _under_intel(program: str, line: str) -> list[str]:
    """The program, built for GNU's runtime, under Intel's: it speaks the same interface. Both are then loaded."""
    beside = Path(sys.prefix) / "lib" / "libiomp5.so"
    library = os.environ.get("OCTANT_TEST_IOMP5", str(beside))
    if not Path(library).exists():
        pytest.skip("no libiomp5.so here (pip install intel-openmp, or set OCTANT_TEST_IOMP5)")
    variables = dict(word.split("=", 1) for word in shlex.split(line)) | {"LD_PRELOAD": library}
    clean = {key: value for key, value in os.environ.items() if not key.startswith(("OMP_", "GOMP_", "KMP_"))}
    output = subprocess.run([program], capture_output=True, text=True, env=clean | variables, check=True).stdout
    rows = [row.split()[1:] for row in output.splitlines() if row.startswith("thread")]
    return [set_text(frozenset(int(cpu) for cpu in row)) for row in rows]


@pytest.mark.parametrize(("line", "expected"), INTEL)
def test_intel_openmp_live(line: str, expected: list[str], threads_program: str) -> None:
    _here()
    assert _under_intel(threads_program, line) == expected


@pytest.mark.parametrize("line", ["OMP_PLACES=cores OMP_PROC_BIND=close", "GOMP_CPU_AFFINITY=1,0"])
def test_two_runtimes_in_one_process_put_all_threads_on_one_cpu(line: str, threads_program: str) -> None:
    """GNU's runtime binds the first thread when loaded; Intel's then takes that CPU for all that the job has."""
    _here()
    assert len(set(_under_intel(threads_program, f"OMP_NUM_THREADS=2 {line}"))) == 1
    assert any("second OpenMP runtime" in said for said in words("openmp", "1x2").cannot)


# Table 5-1 of the POWER6 guide


@pytest.mark.parametrize(
    ("poe", "expected"),
    [
        ("MP_TASK_AFFINITY=MCM", ["#@rset = rset_mcm_affinity"]),
        ("MP_TASK_AFFINITY=CORE", ["#@rset = rset_mcm_affinity", "#@task_affinity = core(1)"]),
        ("MP_TASK_AFFINITY=CPU", ["#@rset = rset_mcm_affinity", "#@task_affinity = cpu(1)"]),
        (
            "MP_TASK_AFFINITY=SNI",
            ["#@rset = rset_mcm_affinity", "#@mcm_affinity_options = MCM_SNI_PREF MCM_DISTRIBUTE"],
        ),
        ("export MP_TASK_AFFINITY = CORE", ["#@rset = rset_mcm_affinity", "#@task_affinity = core(1)"]),
    ],
)
@pytest.mark.parametrize("topology", [POWER575, REFERENCE], ids=["power575", "reference"])
def test_table_5_1(poe: str, expected: list[str], topology: Topology) -> None:
    """POE's variable and the job command file lines that it generates, exactly."""
    reading = read(poe, topology)
    assert list(to_words("loadleveler", reading.placement, reading.request, topology).lines) == expected


def test_table_5_1_ignores_lists() -> None:
    reading = read("MP_TASK_AFFINITY=0,2", POWER575)
    assert any("ignored" in remark for remark in reading.remarks)
    with pytest.raises(ValueError, match="POE knows MCM, CORE, CPU, SNI"):
        read("MP_TASK_AFFINITY=NODE")


def test_suggested_options_of_the_guide_read_and_write_back() -> None:
    text = "#@rset = rset_mcm_affinity\n#@mcm_affinity_options=mcm_distribute mcm_mem_req mcm_sni_none\n"
    reading = read(text + "#@task_affinity=core(1)", POWER575)
    assert [place.cpus for place in reading.placement.ranks[:4]] == [frozenset({i, i + 1}) for i in (0, 16, 32, 48)]
    again = to_words("loadleveler", reading.placement, reading.request, POWER575).lines
    assert "#@mcm_affinity_options = mcm_distribute mcm_mem_req mcm_sni_none" in again


# The traps, each as it was seen


def remarks_of(text: str, topology: Topology = REFERENCE) -> str:
    return " / ".join(read(text, topology).remarks)


@pytest.mark.parametrize(
    ("text", "remark"),
    [
        ("mpiexec -n 18 -bind-to core prog", "rank 16 gets the mask of rank 0 again"),
        ("mpiexec -n 3 -bind-to user:0+2,4+6 prog", "binds only ranks 0-1; the others run unbound"),
        ("mpiexec -n 2 -bind-to none prog", "binds nothing"),
        ("OMP_NUM_THREADS=4 mpiexec -n 2 -bind-to core prog", "threads take turns"),
        ("mpiexec -n 20 --map-by core:OVERSUBSCRIBE prog", "unbound here (oversubscribing is allowed), without a word"),
        ("OMP_NUM_THREADS=4 mpiexec -n 2 --map-by core prog", "more than the cores of a rank's mask"),
        ("mpiexec -n 2 --map-by core:OVERSUBSCRIBE prog", "unbound here"),
        ("mpiexec -n 2 --map-by core --cpu-list 0,1 prog", "accepts --cpu-list but binds every rank"),
        ("mpiexec -n 2 --map-by pe-list=0,1 prog", "without :ordered every rank is bound to the whole"),
        ("#SBATCH -n 4\n#SBATCH --cpus-per-task=4\nsrun prog", "does not inherit --cpus-per-task=4"),
        ("srun -n 4 -c 2 prog", "-c counts hardware threads, not cores"),
        ("srun -n 4 -c 2 --cpu-bind=threads -m block:cyclic prog", "alternate between packages, yet the threads"),
        ("I_MPI_PIN_DOMAIN=[f,f0] mpirun -n 2 prog", "complains of masks without 0x"),
        ("I_MPI_PIN_DOMAIN=numa mpirun -n 5 prog", "overlaps domains without a word"),
        ("OMP_NUM_THREADS=2 OMP_PROC_BIND=cores", "OMP_PROC_BIND=cores is no value"),
        ("OMP_NUM_THREADS=2 OMP_PLACES=core", "goes on as if it were not set"),
        ("OMP_NUM_THREADS=2 OMP_PLACES=cores KMP_AFFINITY=compact", "KMP_AFFINITY beats OMP_PLACES"),
        ("GOMP_CPU_AFFINITY=0-1 KMP_AFFINITY=compact", "two OpenMP runtimes in one process"),
        ("MP_TASK_AFFINITY=MCM", "accumulates tasks on one MCM"),
        ("#@rset = rset_mcm_affinity", "accumulates tasks on one MCM"),
        ("#@task_affinity = core(1)", "without rset = rset_mcm_affinity"),
        ("MP_TASK_AFFINITY=CORE", "ignored in batch jobs"),
        ("taskset -c 6-9 prog", "spans several NUMA domains"),
        ("OMP_NUM_THREADS=4 taskset -c 0-1 prog", "4 threads on 2 hardware thread(s) take turns"),
        ("OMP_NUM_THREADS=4 XLSMPOPTS=startproc=0:stride=1", "a stride of 2 gives each a core"),
        ("XLSMPOPTS=procs=0,0 OMP_NUM_THREADS=2", "take turns"),
        ("numactl --cpunodebind=0 --membind=0 prog", "ends the program when those nodes are full"),
        ("BG_MAPPING=XYZT mpirun -np 4 prog", "consecutive ranks on different nodes"),
    ],
)
def test_trap_is_told(text: str, remark: str) -> None:
    assert remark in remarks_of(text)


def test_gomp_numbers_outside_the_job_are_told() -> None:
    container = load(MACHINES / "container-2s.xml")
    reading = read("OMP_NUM_THREADS=2 GOMP_CPU_AFFINITY=0-1", container)
    assert "outside this job's set (2-3,10-13,16-19,26-29)" in " ".join(reading.remarks)
    assert reading.placement.ranks[0].threads == (container.allowed,) * 2
    assert "refuses hardware threads 0-1" in remarks_of("numactl --physcpubind=0-1 prog", container)
    assert masks(read("numactl --physcpubind=+0-1 prog", container)) == ["2-3"]


def test_same_map_different_rank_order() -> None:
    """By package, Open MPI 5 fills package 0 first while Hydra alternates."""
    theirs = read("mpiexec -n 4 --map-by package:PE=2 prog")
    assert masks(theirs) == ["0-3", "4-7", "16-19", "20-23"]
    assert masks(read("mpiexec -n 4 -bind-to core:2 -map-by socket prog")) == ["0-3", "16-19", "4-7", "20-23"]


def test_rank_files_allow_overload_only_where_ranks_share() -> None:
    assert "overload-allowed" in words("openmpi", "3x5,order=scatter:package,smt=2").lines[-1]
    assert "overload-allowed" not in words("openmpi", "2x1,cpus=0/5").lines[-1]


def test_one_launchers_list_becomes_anothers_words() -> None:
    reading = read("I_MPI_PIN_DOMAIN=[f,f00,f0000,f000000] OMP_NUM_THREADS=2 mpirun -n 4 prog")
    assert str(reading.request) == "4x2,order=scatter:numa"
    line = to_words("openmpi", reading.placement, reading.request, REFERENCE).lines[-1]
    assert line == "mpiexec -n 4 --map-by numa:PE=2 PROGRAM"


@pytest.mark.parametrize(
    ("text", "expected"),
    [  # POWER7 slides: binding of OpenMP threads
        ("OMP_NUM_THREADS=4 XLSMPOPTS=startproc=0:stride=4", "0,4,8,12"),
        ('XLSMPOPTS="procs=0,2,4,6" OMP_NUM_THREADS=4', "0,2,4,6"),
        ('XLSMPOPTS="bind=PROC=0,16,2" OMP_NUM_THREADS=4', "0,2,4,6"),
        ('XLSMPOPTS="bindlist=MCM=0,1,2,3" OMP_NUM_THREADS=4', "0,32,64,96"),
        ("execrset -c 0-7 -e prog", "0-7"),
        ("taskset -c 0-2,5 prog", "0-2,5"),
    ],
)
def test_power7_slides(text: str, expected: str) -> None:
    assert masks(read(text, read_synthetic("pack:4 numa:1 core:8 pu:4"))) == [expected]


def test_memory_and_pages_words() -> None:
    assert "--interleave=0-3" in words("numactl", "1x2,memory=interleave").lines[-1]
    assert "--membind=1" in words("numactl", "2x1,unit=numa,memory=bind").lines[-1]
    assert "--localalloc" in words("numactl", "1x2,memory=local").lines[-1]
    assert "export MEMORY_AFFINITY=MCM" in words("aix", "1x2,memory=local").lines
    pages = [line for line in words("aix", "1x2,pages=64k").lines if "LDR_CNTRL" in line]
    assert pages == ["export LDR_CNTRL=DATAPSIZE=64K@TEXTPSIZE=64K@STACKPSIZE=64K@SHMPSIZE=64K"]
    assert "--mem-bind=mask_mem:0x1,0x2" in words("slurm", "2x1,unit=numa,memory=bind").lines[-2]
    assert "glibc.malloc.hugetlb=2" in " ".join(words("mpich", "2x1,pages=2m,heap=huge").lines)
    assert any("pages=1g" in said for said in words("mpich", "2x1,pages=1g").cannot)


def test_blue_gene_letters_and_maps() -> None:
    node = read_synthetic("core:4 pu:1")
    lines = words("bluegene", "16x1,order=TXYZ,torus=2x2x1", node).lines
    assert "BGLMPI_MAPPING=TXYZ" in lines[0]
    assert "BG_MAPPING=TXYZ" in lines[1]
    q = words("bluegene", "32x1,order=ABCDET,torus=2x2x2x1x1", node).lines
    assert "--mapping ABCDET" in q[0]
    request = Request(4, 1, order="XYZT", torus=(2, 2, 1), map=((0, 0, 0, 0), (1, 1, 0, 0), (0, 1, 0, 0), (1, 0, 0, 0)))
    answer = to_words("bluegene", plan(node, request), request, node)
    assert answer.files == (("octant.map", "0 0 0 0\n1 1 0 0\n0 1 0 0\n1 0 0 0\n"),)
    assert any("cover the whole partition" in said for said in answer.cannot)
    assert "torus" in words("bluegene", "2x1", node).cannot[0]


@pytest.mark.parametrize(
    ("text", "words_of_it"),
    [
        ("nonsense", "cannot tell whose lines"),
        ("mpiexec -n 0 -bind-to core prog", "that is no number from 1 on"),
        ("mpiexec -n 2 -bind-to kore prog", "Hydra knows"),
        ("mpiexec -n 2 --map-by kore prog", "Open MPI knows"),
        ("srun -n 2 --cpu-bind=odd prog", "read are cores"),
        ("I_MPI_PIN_DOMAIN=odd mpirun -n 2 prog", "read are masks"),
        ("taskset prog", "try 'taskset -c"),
        ("numactl --cpunodebind=9 prog", "none on this topology"),
        ("hwloc-bind numa:9 -- prog", "there are 4"),
        ("likwid-pin -c S7:0 prog", "no domain 'S7'"),
        ("XLSMPOPTS=startproc=99 OMP_NUM_THREADS=1", "logical CPU 99"),
        ("#@rset = rset_mcm_affinity\n#@task_affinity = node(1)", "try core"),
        ("KMP_AFFINITY=explicit,proclist=[99]", "is not this job's"),
    ],
)
def test_lines_that_cannot_be_read_say_why(text: str, words_of_it: str) -> None:
    with pytest.raises(ValueError, match=words_of_it):
        read(text)


def test_unknown_launchers_are_refused_with_the_known_ones() -> None:
    placement = plan(REFERENCE, Request())
    with pytest.raises(ValueError, match="no launcher 'mvapich'; try aix, bluegene"):
        to_words("mvapich", placement, Request(), REFERENCE)
    with pytest.raises(ValueError, match="cannot read lines of 'pbs'"):
        from_words("#PBS -l select=1", REFERENCE, "pbs")


def test_likwid_expressions() -> None:
    def cpus(text: str, on: Topology = REFERENCE) -> tuple[int, ...]:
        return parse_place(text, on).cpus[0]

    assert cpus("E:S0:8:1:2") == tuple(range(0, 16, 2))
    assert cpus("E:N:2") == (0, 1)
    assert cpus("S:scatter:4") == (0, 16, 2, 18)
    assert cpus("S:balanced:4") == (0, 1, 16, 17)
    assert cpus("S:cbalanced:4") == (0, 2, 16, 18)
    assert cpus("M1:0-3") == (8, 10, 12, 14)
    assert cpus("0,4,8") == (0, 4, 8)
    assert cpus("S0:0@S1:0-1") == (0, 16, 18)
    assert cpus("E:S0:4:2:4") == (0, 1, 4, 5)
    assert parse_place("S0:0-1_S1:0-1", REFERENCE).ranks == 2
    linux = read_synthetic("pack:2 core:4 pu:2(indexes=core)")
    assert cpus("S0:0-7", linux) == (0, 1, 2, 3, 8, 9, 10, 11)
    assert cpus("E:S1:4", linux) == (4, 12, 5, 13)


HWLOC = {  # as hwloc-calc 2.9.0 prints them for the reference topology
    "numa:1.core:0-1": "8-11",
    "core:0 core:3": "0-1,6-7",
    "core:2:3": "4-9",
    "pu:even ~numa:0": "8,10,12,14,16,18,20,22,24,26,28,30",
    "pack:1.pu:odd": "17,19,21,23,25,27,29,31",
}


@pytest.mark.parametrize(("text", "expected"), HWLOC.items())
def test_hwloc_expressions(text: str, expected: str) -> None:
    request = parse_place(text, REFERENCE)
    assert set_text(frozenset(request.cpus[0])) == expected
    if shutil.which("hwloc-calc"):
        command = ["hwloc-calc", "-i", runs.REFERENCE, "--li", "--po", "-I", "pu", *text.split()]
        output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        assert parse_cpus(output.strip()) == frozenset(request.cpus[0])
