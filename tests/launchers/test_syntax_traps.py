"""What launchers do that people do not expect: each trap that was seen, the POWER6 guide's table, the POWER7 slides."""

import pytest

from launcher_syntax import POWER575, REFERENCE, masks, read, remarks_of
from octant.launchers import to_syntax
from octant.machine import Topology
from octant.machine.hwloc import load, read_synthetic
from octant.placement import set_text
from paths import MACHINES

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
    assert list(to_syntax("loadleveler", reading.placement, reading.request, topology).lines) == expected


def test_table_5_1_ignores_lists() -> None:
    reading = read("MP_TASK_AFFINITY=0,2", POWER575)
    assert any("LoadLeveler ignores" in remark for remark in reading.remarks)
    assert to_syntax("loadleveler", reading.placement, reading.request, POWER575).lines == ()
    assert {place.cpus for place in read("MP_TASK_AFFINITY=list MP_PROCS=3", POWER575).placement.ranks} == {
        POWER575.allowed
    }
    with pytest.raises(ValueError, match="MP_PROCS many"):
        read("MP_TASK_AFFINITY=CORE MP_PROCS=many", POWER575)
    with pytest.raises(ValueError, match="use MCM, CORE, CPU, SNI"):
        read("MP_TASK_AFFINITY=NODE")


def test_suggested_options_of_the_guide_read_and_write_back() -> None:
    text = "#@rset = rset_mcm_affinity\n#@mcm_affinity_options=mcm_distribute mcm_mem_req mcm_sni_none\n"
    reading = read(text + "#@task_affinity=core(1)", POWER575)
    assert [place.cpus for place in reading.placement.ranks[:4]] == [frozenset({i, i + 1}) for i in (0, 16, 32, 48)]
    again = to_syntax("loadleveler", reading.placement, reading.request, POWER575).lines
    assert "#@mcm_affinity_options = mcm_distribute mcm_mem_req mcm_sni_none" in again


# The traps, each as it was seen


@pytest.mark.parametrize(
    ("text", "remark"),
    [
        ("mpiexec -n 18 -bind-to core prog", "rank 16 has the mask of rank 0"),
        ("mpiexec -n 3 -bind-to user:0+2,4+6 prog", "binds ranks 0-1 only; the other ranks are unbound"),
        ("mpiexec -n 2 -bind-to none prog", "does not bind ranks"),
        ("OMP_PLACES=cores OMP_NUM_THREADS=2 mpiexec -n 2 -bind-to none prog", "to the same hardware threads, because"),
        ("OMP_PROC_BIND=cores srun -n 4 -c 4 --cpu-bind=cores prog", "OMP_PROC_BIND=cores is not a value"),
        ("mpiexec -n 2 -bind-to core -genv KMP_AFFINITY none prog", "KMP_AFFINITY does not bind threads here"),
        ("taskset -c 8-9 mpiexec -n 2 -bind-to core prog", "MPICH and Open MPI bind outside of it"),
        ("mpiexec -n 2 --map-by numa numactl --strict prog", "the mask of numactl is not shown"),
        ("mpirun --map-by numa prog", "no number of ranks given: Open MPI 5 starts 16"),
        ("rank 0=a slot=0", "with --map-by rankfile:file=FILE:HWTCPUS they are hardware threads"),
        (
            "mpirun --rankfile f --bind-to none prog\nrank 0=a slot=0",
            "unbound here without a warning (binding is switched off)",
        ),
        ("mpirun --rankfile f prog\nrank 0=a", "ranks without slot= in the rank file run unbound"),
        ("OMP_NUM_THREADS=4 XLSMPOPTS=parthds=4", "without startproc, procs or bind does not bind threads"),
        ("numactl -N 0 -m 0 p\nnumactl -N 0 -i all p", "ranks have different memory policies"),
        ("OMP_NUM_THREADS=4 mpiexec -n 2 -bind-to core prog", "threads share hardware threads"),
        (
            "mpiexec -n 20 --map-by core:OVERSUBSCRIBE prog",
            "leaves every rank unbound here without a warning (oversubscribing is allowed)",
        ),
        ("OMP_NUM_THREADS=4 mpiexec -n 2 --map-by core prog", "exceeds the number of cores in a rank's mask"),
        ("mpiexec -n 2 --map-by core:OVERSUBSCRIBE prog", "unbound here"),
        ("mpiexec -n 2 --cpu-list 0,1 prog", "every rank is bound to the whole pe-list"),
        ("mpiexec -n 2 --map-by pe-list=0,1 prog", "without :ordered, every rank is bound to the whole"),
        ("#SBATCH -n 4\n#SBATCH --cpus-per-task=4\nsrun prog", "does not inherit --cpus-per-task=4"),
        (
            "KMP_AFFINITY=proclist=[0,1],explicit OMP_NUM_THREADS=2 mpiexec -n 2 -bind-to core p",
            "rank 1: cannot use the pro",
        ),
        ("srun -n 40 --overcommit --cpu-bind=cores prog", "may use all CPUs of the step"),
        ("srun -N 2 -n 8 -c 2 prog", "the placement on one of 2 nodes is shown"),
        ("srun -n 4 --cpu-bind=map_ldom:0,9 prog", "the machine has 4, and Slurm starts again with the first one"),
        (
            "mpirun -hosts a,b -n 4 -ppn 2 -bind-to core prog",
            "the placement on one of 2 hosts is shown: ranks 0-1 of 4",
        ),
        ("mpirun --host a:2,b:2 -n 4 --map-by core prog", "several hosts are given"),
        ("I_MPI_PIN_PROCESSOR_LIST=0,2 mpirun -n 3 prog", "3 ranks on 2 hardware threads"),
        ("KMP_AFFINITY=balanced OMP_NUM_THREADS=4", "is unknown; scatter is assumed"),
        ("srun -n 4 -c 2 prog", "-c counts hardware threads, not cores"),
        (
            "srun -n 4 -c 2 --cpu-bind=threads -m block:cyclic prog",
            "alternate between packages, and the threads of a rank share a core while 12 cores are idle",
        ),
        ("I_MPI_PIN_DOMAIN=numa mpirun -n 5 prog", "overlaps domains without a warning"),
        ("OMP_NUM_THREADS=2 OMP_PROC_BIND=cores", "OMP_PROC_BIND=cores is not a value"),
        ("OMP_NUM_THREADS=2 OMP_PLACES=core", "the GNU runtime warns and ignores it"),
        ("OMP_NUM_THREADS=2 OMP_PLACES=cores KMP_AFFINITY=compact", "KMP_AFFINITY overrides OMP_PLACES"),
        ("GOMP_CPU_AFFINITY=0-1 KMP_AFFINITY=compact", "if a process has two OpenMP runtimes"),
        ("MP_TASK_AFFINITY=MCM", "accumulates tasks on one MCM"),
        ("#@rset = rset_mcm_affinity", "accumulates tasks on one MCM"),
        ("#@task_affinity = core(1)", "without rset = rset_mcm_affinity"),
        ("MP_TASK_AFFINITY=CORE", "batch jobs ignore MP_TASK_AFFINITY"),
        (
            "taskset -c 6-9 prog",
            "rank 0: placed on more than one NUMA domain; first touch determines the memory placement",
        ),
        ("OMP_NUM_THREADS=4 taskset -c 0-1 prog", "rank 0: oversubscribed, 4 threads on 2 hardware thread(s)"),
        ("OMP_NUM_THREADS=4 XLSMPOPTS=startproc=0:stride=1", "use a stride of 2"),
        ("XLSMPOPTS=procs=0,0 OMP_NUM_THREADS=2", "rank 0: oversubscribed, 2 threads on 1 hardware thread(s)"),
        ("numactl --cpunodebind=0 --membind=0 prog", "the program is killed when these nodes are full"),
        ("BG_MAPPING=XYZT mpirun -np 4 prog", "consecutive ranks on different nodes"),
    ],
)
def test_trap_is_reported(text: str, remark: str) -> None:
    assert remark in remarks_of(text)


def test_gomp_numbers_outside_the_job_are_reported() -> None:
    container = load(MACHINES / "container-2s.xml")
    reading = read("OMP_NUM_THREADS=2 GOMP_CPU_AFFINITY=0-1", container)
    assert "outside the set of this job (2-3,10-13,16-19,26-29)" in " ".join(reading.remarks)
    assert reading.placement.ranks[0].threads == (container.allowed,) * 2
    assert "refuses hardware threads 0-1" in remarks_of("numactl --physcpubind=0-1 prog", container)
    assert masks(read("numactl --physcpubind=+0-1 prog", container)) == ["2-3"]


def test_same_map_different_rank_order() -> None:
    """By package, Open MPI 5 fills package 0 first while Hydra alternates."""
    theirs = read("mpiexec -n 4 --map-by package:PE=2 prog")
    assert masks(theirs) == ["0-3", "4-7", "16-19", "20-23"]
    assert masks(read("mpiexec -n 4 -bind-to core:2 -map-by socket prog")) == ["0-3", "16-19", "4-7", "20-23"]


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


@pytest.mark.parametrize(
    ("text", "threads"),
    [  # the launcher's mask of each rank, and the runtime's place of each thread within it
        ("OMP_PLACES=cores OMP_NUM_THREADS=2 mpiexec -n 2 --map-by numa:PE=4 p", [["0-1", "2-3"], ["8-9", "10-11"]]),
        ("OMP_PROC_BIND=spread OMP_PLACES=cores OMP_NUM_THREADS=2 mpiexec -n 2 -bind-to numa p",
         [["0-1", "4-5"], ["8-9", "12-13"]]),
        ("mpirun -np 2 --map-by numa -x OMP_NUM_THREADS=2 -x OMP_PLACES=threads p", [["0", "1"], ["8", "9"]]),
        ("mpiexec -n 2 -bind-to core:2 -genv OMP_NUM_THREADS 2 -genv OMP_PROC_BIND=close p", [["0", "1"], ["4", "5"]]),
        ("export OMP_NUM_THREADS=2 OMP_PLACES=cores\nsrun -n 2 --cpu-bind=mask_cpu:0xf0,0xf p",
         [["4-5", "6-7"], ["0-1", "2-3"]]),
        ("OMP_NUM_THREADS=2 OMP_PLACES=threads taskset -c 6-9 p", [["6", "7"]]),
        ("OMP_NUM_THREADS=2 GOMP_CPU_AFFINITY='9 8' numactl -N 1 p", [["9", "8"]]),
    ],
)  # fmt: skip
def test_threads_lie_inside_the_launchers_masks(text: str, threads: list[list[str]]) -> None:
    """Variables of an OpenMP runtime do not hide the launcher that they stand before."""
    assert [[set_text(held) for held in place.threads] for place in read(text).placement.ranks] == threads


@pytest.mark.parametrize(
    ("text", "cpus", "memory"),
    [  # the program's own options are not the tool's
        ("numactl -N 0 ./gemm -m 1024 -N 7", ["0-7"], "default"),
        ("numactl -C 0-1 --membind=1 -- ./gemm -C 9", ["0-1"], "bind:1"),
        ("taskset 0xf prog -c 9", ["0-3"], "default"),
        ("taskset -c 2-3 prog -p 7", ["2-3"], "default"),
        ("hwloc-bind core:1 prog core:7", ["2-3"], "default"),
        ("hwloc-bind --single core:1 --strict -- prog", ["2"], "default"),
        ("hwloc-bind --cpubind core:0 --membind numa:1 --mempolicy interleave -- p", ["0-1"], "interleave:1"),
        ("hwloc-bind numa:1 --membind nodeset=0x5 -- p", ["8-15"], "bind:0+2"),
    ],
)
def test_a_tools_words_end_at_the_program(text: str, cpus: list[str], memory: str) -> None:
    reading = read(text)
    assert (masks(reading), str(reading.request.memory)) == (cpus, memory)


def test_memory_is_drawn_where_the_lines_put_it() -> None:
    lines = "numactl -N 0 --membind=1 p\nnumactl -N 1 --membind=0 p"
    assert [place.memory for place in read(lines).placement.ranks] == [(1,), (0,)]
    own = read("numactl -N 0 --membind=0 p\nnumactl -N 1 --membind=1 p")
    assert str(own.request) == "2x4,memory=bind"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I_MPI_PIN_PROCESSOR_LIST=0,4-5 mpirun -n 3 prog", ["0", "4", "5"]),
        ("srun -n 2 -c 2 --hint=nomultithread -m block:block prog", ["0,2", "4,6"]),
        ("srun -n 2 --cpu-bind=sockets prog", ["0-15", "16-31"]),
        ("srun -n 3 --cpu-bind=rank prog", ["0", "1", "2"]),
        ("srun -N 2 -n 4 -c 2 --threads-per-core=1 -m block:block prog", ["0,2", "4,6"]),
        ("srun -n 8 --ntasks-per-node=2 -c 2 --threads-per-core=1 -m block:block prog", ["0,2", "4,6"]),
        ("#SBATCH -N 4 -n 8\nsrun -c 4 -m block:block prog", ["0-3", "4-7"]),
        ("srun -n 2 --cpu-bind=map_ldom:3,0 prog", ["24-31", "0-7"]),
        ("srun -n 2 -c 4 -m block:fcyclic prog", ["0-1,16-17", "2-3,18-19"]),
    ],
)
def test_lines_are_drawn_as_the_manuals_say(text: str, expected: list[str]) -> None:
    assert masks(read(text)) == expected


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("srun -n 4 --cpu-bind=map_ldom:0,0-1 prog", "as the list of map_ldom"),
        ("srun -n 4 --cpu-bind=mask_cpu:0xzz prog", "use mask_cpu:0x3,0xc"),
        ("I_MPI_PIN_PROCESSOR_LIST=allcores mpirun -n 3 prog", "ignores processor sets"),
        (
            "mpiexec -n 3 --map-by ppr:2:package prog",
            "starts none of the 3 ranks and still exits with status 0; use -n 4",
        ),
        ("mpiexec -n 5 --map-by ppr:1:numa prog", "refuses 5 ranks: 1 per numa are 4"),
        ("mpiexec -n 2 --map-by ppr:0:numa prog", "cannot read --map-by ppr 0"),
        ("mpiexec -n 2 --map-by ppr:2 prog", "use ppr:2:numa"),
        ("mpiexec -n 2 --map-by ppr:2:slot prog", "valid values of Open MPI 5"),
        ("mpiexec -n 2 -npernode 2 --map-by numa prog", "use --map-by ppr:2:node"),
        ("mpiexec -n 2 --map-by numa:PE=0 prog", "cannot read PE 0"),
        ("mpiexec -n 2 --map-by rankfile:file=f prog", "without its lines"),
        ("mpiexec -n 3 --rankfile f p\nrank 0=a slot=0", "3 ranks with a rank file of 1 lines"),
        ("rank 1=a slot=0\nrank 0=a slot=1", "line 1 .*first line is not rank 0"),
        ("rank 0=a slot=0\n\nrank 1=a slot=0", "line 3 .*refuses ranks that share"),
        ("rank 0=a slot=0\nrank 1=b slot=1", "several hosts .a, b"),
        ("rank 0=a slot=0\nrank 2=a slot=1", "without a line for rank 1"),
        ("rank 0=a slot=16", "line 1 .*no core 16, the last one is 15"),
        ("rank 0=a slot=0:8", "no core of package 0 8"),
        ("rank 0=a slot=2:0", "no package 2"),
        ("rank 0=a slot=0:0-1,3", "misreads lists of a package that contain both commas and ranges"),
        ("rank 0=a slot=x", "line 1 .*'x' is not a list of numbers; use the form 0-3,8"),
        ("rank 0=a slot=1 2", "line 1 .*use 'rank 0=localhost"),
        ("numactl -N 0 -m 9 prog", "NUMA node 9"),
        ("taskset -pc 3 123", "-pc: it acts on a running process"),
        ("hwloc-bind --pid 7 core:0", "acts on running processes"),
        ("taskset -c 0-99999999999 p", "'0-99999999999' is out of range; the largest number is 65535"),
        ("mpiexec -n 99999999999 -bind-to core p", "not an integer from 1 to 4096"),
        ("XLSMPOPTS=nonsense", "use startproc=0"),
        ("XLSMPOPTS=nonsense mpiexec -n 2 -bind-to core p", "use startproc=0"),
        ("unset KMP_AFFINITY", "cannot find KMP_AFFINITY=VALUE"),
        ("echo XLSMPOPTS", "cannot find XLSMPOPTS=VALUE"),
        ("echo $GOMP_CPU_AFFINITY", "cannot find GOMP_CPU_AFFINITY=VALUE"),
        ("taskset -c 0 'prog", "no closing quotation"),
    ],
)
def test_what_would_be_misread_is_refused(text: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        read(text)
