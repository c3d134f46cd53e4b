"""Launchers' words: golden tables for six goals, memory, pages, files, and what cannot be read."""

import re
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from launcher_syntax import GOALS, REFERENCE, read, syntax_of
from octant.failure import Refusal
from octant.launchers import from_syntax, names, to_syntax
from octant.machine.hwloc import load, read_synthetic
from octant.placement.planner import DoesNotFitError, plan
from octant.placement.request import PlacementRequest
from paths import MACHINES

GOLDEN = [  # research table of affinity syntax: one column a goal (compact, by NUMA, siblings, NUMA, cyclic sockets)
    ("mpich", ["-bind-to core:2", "-bind-to core:2 -map-by numa", "-bind-to core", "-bind-to numa",
               "-bind-to core:2 -map-by socket"]),
    ("openmpi", ["--map-by slot:PE=2 --bind-to core", "--map-by numa:PE=2", "--map-by core --bind-to core",
                 "--map-by numa --bind-to numa", "--map-by package:PE=2 --rank-by span"]),
    ("openmpi41", ["--map-by slot:PE=2 --bind-to core", "--map-by numa:PE=2", "--map-by slot:PE=1 --bind-to core",
                   "--map-by numa --bind-to numa", "--map-by socket:PE=2"]),
    ("intelmpi", ["I_MPI_PIN_DOMAIN=4 I_MPI_PIN_ORDER=compact", "I_MPI_PIN_DOMAIN=[0xf,0xf00,0xf0000,0xf000000]",
                  "I_MPI_PIN_DOMAIN=core I_MPI_PIN_ORDER=compact", "I_MPI_PIN_DOMAIN=auto I_MPI_PIN_ORDER=bunch",
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
        assert fragment in "\n".join(syntax_of(name, goal).lines), goal
    explicit = syntax_of(name, "2x1,cpus=0+2/4+6")
    assert explicit.lines or explicit.cannot


def test_every_file_of_the_folder_is_in_the_tables() -> None:
    assert names("write") == sorted([*(name for name, _ in GOLDEN), "bluegene"])


@pytest.mark.parametrize("name", names("write"))
@pytest.mark.parametrize("machine", sorted(path.name for path in MACHINES.glob("*.[sx][ym][nl]*")))
def test_every_launcher_answers_on_every_machine(name: str, machine: str) -> None:
    """No crash, and nothing silently dropped: what is not exact says why."""
    topology = load(MACHINES / machine)
    for text in ("2x1", "1x2,unit=hwthread,smt=2,memory=interleave,pages=16m,order=scatter", "2x1,unit=l3,share=yes"):
        try:
            answer = syntax_of(name, text, topology)
        except DoesNotFitError:
            continue
        assert answer.lines or answer.cannot
        assert answer.exact or answer.cannot
        if "interleave" in text and name not in ("numactl", "hwloc", "likwid"):
            assert re.search(r"memory|MEMORY|torus", " ".join(answer.cannot)), answer.cannot


@pytest.mark.slow
@settings(max_examples=60)
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
    request = PlacementRequest(ranks, threads, unit, order, smt)  # type: ignore[arg-type]
    try:
        placement = plan(topology, request)
    except DoesNotFitError:
        return
    answer = to_syntax(name, placement, request, topology)
    if not answer.exact or answer.files:
        return
    text = "\n".join(line for line in answer.lines if not line.startswith("#"))
    again = from_syntax(text, topology, name)[1]
    assert [p.cpus for p in again.placement.ranks] == [p.cpus for p in placement.ranks], text
    if "OMP_PLACES" in text and threads % smt == 0:  # the runtime's part of the lines, too, where threads fill cores
        for found, asked in zip(again.placement.ranks, placement.ranks, strict=True):
            assert Counter(found.threads) == Counter(asked.threads), text


def test_rank_files_allow_overload_only_where_ranks_share() -> None:
    assert "overload-allowed" in syntax_of("openmpi", "3x5,order=scatter:package,smt=2").lines[-1]
    assert "overload-allowed" not in syntax_of("openmpi", "2x1,cpus=0/5").lines[-1]


def test_one_launchers_list_becomes_anothers_words() -> None:
    reading = read("I_MPI_PIN_DOMAIN=[0xf,0xf00,0xf0000,0xf000000] OMP_NUM_THREADS=2 mpirun -n 4 prog")
    assert str(reading.request) == "4x2,order=scatter:numa"
    line = to_syntax("openmpi", reading.placement, reading.request, REFERENCE).lines[-1]
    assert line == "mpiexec -n 4 --map-by numa:PE=2 PROGRAM"


def test_memory_and_pages_words() -> None:
    assert "--interleave=0-3" in syntax_of("numactl", "1x2,memory=interleave").lines[-1]
    assert "--membind=1" in syntax_of("numactl", "2x1,unit=numa,memory=bind").lines[-1]
    assert "--localalloc" in syntax_of("numactl", "1x2,memory=local").lines[-1]
    assert "export MEMORY_AFFINITY=MCM" in syntax_of("aix", "1x2,memory=local").lines
    pages = [line for line in syntax_of("aix", "1x2,pages=64k").lines if "LDR_CNTRL" in line]
    assert pages == ["export LDR_CNTRL=DATAPSIZE=64K@TEXTPSIZE=64K@STACKPSIZE=64K@SHMPSIZE=64K"]
    assert "--mem-bind=mask_mem:0x1,0x2" in syntax_of("slurm", "2x1,unit=numa,memory=bind").lines[-2]
    assert "glibc.malloc.hugetlb=2" in " ".join(syntax_of("mpich", "2x1,pages=2m,heap=huge").lines)
    assert any("pages=1g" in said for said in syntax_of("mpich", "2x1,pages=1g").cannot)


def test_blue_gene_letters_and_maps() -> None:
    node = read_synthetic("core:4 pu:1")
    lines = syntax_of("bluegene", "16x1,order=TXYZ,torus=2x2x1", node).lines
    assert "BGLMPI_MAPPING=TXYZ" in lines[0]
    assert "BG_MAPPING=TXYZ" in lines[1]
    q = syntax_of("bluegene", "32x1,order=ABCDET,torus=2x2x2x1x1", node).lines
    assert "--mapping ABCDET" in q[0]
    request = PlacementRequest(
        4, 1, order="XYZT", torus=(2, 2, 1), map=((0, 0, 0, 0), (1, 1, 0, 0), (0, 1, 0, 0), (1, 0, 0, 0))
    )
    answer = to_syntax("bluegene", plan(node, request), request, node)
    assert answer.files == (("octant.map", "0 0 0 0\n1 1 0 0\n0 1 0 0\n1 0 0 0\n"),)
    assert not any("cover the whole partition" in said for said in answer.cannot)
    assert "torus" in syntax_of("bluegene", "2x1", node).cannot[0]
    assert "-mode DUAL" in syntax_of("bluegene", "8x1,order=TXYZ,torus=2x2x1", read_synthetic("core:2 pu:1")).lines[1]


def test_a_map_file_is_read_back() -> None:
    node = read_synthetic("core:2 pu:1")
    request = PlacementRequest(3, 1, torus=(2, 1, 2), map=((1, 0, 1, 0), (0, 0, 0, 1), (0, 0, 0, 0)))
    answer = to_syntax("bluegene", plan(node, request), request, node)
    assert any("cover the whole partition" in said for said in answer.cannot)
    ((name, content),) = answer.files
    again = read(f"{answer.lines[0]}\n# file {name}:\n{content}", node)
    assert again.request == request
    assert "span a torus of 2x1x2" in " ".join(again.remarks)
    with pytest.raises(DoesNotFitError, match="cannot place rank 1 of the map in slot 2: a node has 2 slots"):
        read("BG_MAPPING=m mpirun\n0 0 0 0\n0 0 0 2", node)
    with pytest.raises(ValueError, match="line 2 of the map file"):
        read("BG_MAPPING=m mpirun\n0 0 0 0\n0 0 0 x", node)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("nonsense", "cannot recognise the launcher of"),
        ("mpiexec -n 0 -bind-to core prog", "it is not an integer from 1 to"),
        ("mpiexec -n 2 -bind-to kore prog", "valid values of Hydra"),
        ("mpiexec -n 2 --map-by kore prog", "valid values of Open MPI 5"),
        ("srun -n 2 --cpu-bind=odd prog", "use cores"),
        ("I_MPI_PIN_DOMAIN=odd mpirun -n 2 prog", "supported: masks"),
        ("taskset prog", "use 'taskset -c"),
        ("numactl --cpunodebind=9 prog", "does not exist on this topology"),
        ("hwloc-bind numa:9 -- prog", "'numa:9' is out of range; the indexes are 0 to 3"),
        ("likwid-pin -c S7:0 prog", "unknown domain 'S7'; use N, S0-S1"),
        ("XLSMPOPTS=startproc=99 OMP_NUM_THREADS=1", "logical CPU 99"),
        ("#@rset = rset_mcm_affinity\n#@task_affinity = node(1)", "use core"),
        ("KMP_AFFINITY=explicit,proclist=[99]", "not available to this job"),
    ],
)
def test_lines_that_cannot_be_read_say_why(text: str, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        read(text)


def test_unknown_launchers_are_refused_with_the_known_ones() -> None:
    placement = plan(REFERENCE, PlacementRequest())
    with pytest.raises(Refusal, match="cannot write options for 'mvapich' \\(no such launcher\\); did you mean mpich"):
        to_syntax("mvapich", placement, PlacementRequest(), REFERENCE)
    with pytest.raises(Refusal, match="cannot read command lines of 'pbs'"):
        from_syntax("#PBS -l select=1", REFERENCE, "pbs")
