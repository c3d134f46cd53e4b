"""Options and variables of Slurm, Cray, Open MPI and Intel MPI: used, listed below the answer, or refused."""

import functools
import itertools

import pytest

from launcher_syntax import REFERENCE, masks, read, remarks_of, syntax_of
from octant.launchers import from_syntax
from octant.launchers.slurm.option_tables import BATCH_OPTIONS
from octant.machine.hwloc import load, read_synthetic
from octant.placement import set_text
from paths import MACHINES

SMT = read_synthetic("pack:2 numa:4 core:16 pu:2(indexes=core)")
SMALL = read_synthetic("pack:2 core:4 pu:2(indexes=core)")
NO_SMT = read_synthetic("pack:2 numa:4 core:16 pu:1")
VALUES = ("1", "2", "3", "4", "none", "cores", "threads", "block:block", "nomultithread", "compute_bound", "local",
          "2:2", "2:2:1", "n[1-3]", "user")  # fmt: skip
STEPS = ("srun -n 4 p", "srun -c 2 --cpu-bind=threads p")


@functools.cache
def answer(text: str) -> tuple[list[object], tuple[str, ...]]:
    reading = read(text, SMALL)
    ranks = [(place.cpus, place.memory) for place in reading.placement.ranks]
    return [str(reading.request), *ranks], reading.remarks


@pytest.mark.parametrize("name", sorted({key for key in BATCH_OPTIONS if len(key) > 1}))
def test_an_option_of_the_batch_job_is_used_listed_or_refused(name: str) -> None:
    option = BATCH_OPTIONS[name]
    values = VALUES if option.effect == "interpreted" else VALUES[:1]
    for step, value in itertools.product(STEPS, values if option.values == 1 else ("", *values[: option.values])):
        spelt = f"--{name}={value}" if value else f"--{name}"
        try:
            changed, before = answer(f"#SBATCH {spelt}\n{step}"), answer(f"#SBATCH --no-kill\n{step}")
        except ValueError:
            continue
        listed = any(f"--{name}" in note for note in changed[1])
        stated = name in ("nodes", "nodelist", "exclusive")  # they change remarks only: the first node is drawn
        used = changed[0] != before[0] or {*changed[1]} - {*before[1]}
        assert listed or stated or used, f"{spelt} is skipped silently before {step}"


@pytest.mark.parametrize("option", ["--cpu-bind=none", "--exact", "--whole", "--overlap"])
def test_options_of_steps_are_refused_in_the_batch_job(option: str) -> None:
    with pytest.raises(ValueError, match=option.partition("=")[0]):
        read(f"#SBATCH {option}\n#SBATCH -n 8\nsrun -c 4 ./x", SMT)


@pytest.mark.parametrize(
    "line",
    [
        "srun -n 4 --cores-per-socket=4 ./x", "srun -n 4 --sockets-per-node=1 ./x",
        "srun -n 4 --cpu-bind=threads --threads-per-core=2 ./x", "srun -n 4 --cpu-bind=cores -B 2:4 ./x",
    ],
)  # fmt: skip
def test_constraints_on_nodes_are_listed(line: str) -> None:
    assert "(it selects nodes, and the placement on one node is shown)" in remarks_of(line, SMT)


def test_the_answer_says_that_it_assumes_a_whole_node() -> None:
    said = "is assumed to have the whole node"
    for line in ("srun -n 4 p", "#SBATCH -n 4\nsrun p", "#SBATCH --exclusive=user\nsrun -n 4 p",
                 "#SBATCH -n 4\nsrun --exclusive p"):  # fmt: skip
        assert said in remarks_of(line, SMT)
    for line in ("#SBATCH --exclusive\nsrun -n 4 p", "srun --exclusive -n 4 p"):
        assert said not in remarks_of(line, SMT)


def test_an_ignored_hint_says_where_the_other_option_comes_from() -> None:
    said = remarks_of("#SBATCH --hint=nomultithread\n#SBATCH --ntasks-per-node=8\nsrun ./x", SMT)
    assert "because SLURM_THREADS_PER_CORE=1 (set from --hint in the #SBATCH lines) is given" in said
    assert "--threads-per-core" not in said


def test_lists_of_slurm_are_decimal_or_hexadecimal() -> None:
    assert masks(read("srun -n 3 --cpu-bind=map_cpu:0x0,0x11,11 p", SMT)) == ["0", "17", "11"]
    bound = [read(f"srun -n 2 --mem-bind=map_mem:{listed} p", SMT) for listed in ("0x1,2", "1,2")]
    assert bound[0] == bound[1]


def test_values_assigned_in_the_lines_are_expanded() -> None:
    lines = "export OMP_NUM_THREADS=4\nexport SRUN_CPUS_PER_TASK=${OMP_NUM_THREADS}\n"
    assert masks(read(f"{lines}srun -n 2 p", SMT)) == masks(read("srun -n 2 -c 4 p", SMT))
    assert masks(read("T=4\nsrun -n 2 -c$T p", SMT)) == masks(read("srun -n 2 -c 4 p", SMT))
    job = "#SBATCH -n 2\n#SBATCH --cpus-per-task=4\nexport SRUN_CPUS_PER_TASK=$SLURM_CPUS_PER_TASK\n"
    assert masks(read(f"{job}srun p", SMT)) == masks(read("srun -n 2 -c 4 p", SMT))
    assert masks(read("#SBATCH -c 4\nsrun -n 2 -c${SLURM_CPUS_PER_TASK} p", SMT)) == masks(
        read("srun -n 2 -c 4 p", SMT)
    )
    for unclear in ("#SBATCH -n 2\nsrun -c $SLURM_CPUS_PER_TASK -c 4 p",
                    "#SBATCH -c 2\n#SBATCH -c 4\nsrun -c $SLURM_CPUS_PER_TASK p",
                    "T=4 srun -n 2 -c$T p", "T=4\nfor T in 1 2; do srun -n 2 -c$T p; done", "T=4\nsrun -n 2 '-c$T' p",
                    "T=4\nT=8\nsrun -n 2 -c$T p", "T='4 -m block'\nsrun -n 2 -c$T p", "srun -n 2 -c$T p",
                    "T=4\nsrun -n 2 -c$(echo 4) p"):  # fmt: skip
        with pytest.raises(ValueError, match="it needs a shell to expand"):
            read(unclear, SMT)


def test_lines_for_open_mpi_41_are_read_back_as_such() -> None:
    machine = load(MACHINES / "power8-2s-smt8.synthetic")
    for request in ("8x1,order=scatter", "4x1", "2x4,unit=numa"):
        wanted = syntax_of("openmpi41", request, machine)
        name, reading = from_syntax("\n".join(wanted.lines), machine)
        assert name == "openmpi41"
        assert masks(reading) == masks(from_syntax("\n".join(wanted.lines), machine, "openmpi41")[1])


def test_runtime_options_of_open_mpi_are_listed_or_refused() -> None:
    line = "mpirun -np 2 --map-by numa --{} p"
    assert "not used for the placement: --runtime-options" in remarks_of(line.format("runtime-options show-progress"))
    for option in ("rtos donotl", "rtos show-progress,donotlaunch", "runtime-options place-elsewhere"):
        with pytest.raises(ValueError, match=r"starts no program|cannot read --runtime-options place-elsewhere"):
            read(line.format(option))


@pytest.mark.parametrize("line", ["mpirun -np 2 --map-by numa", "mpirun -np 2 --mca hwloc_base_report_bindings 1"])
def test_options_of_open_mpi_that_state_the_default_are_listed(line: str) -> None:
    assert "--nooversubscribe (the placement is the same without it)" in remarks_of(f"{line} --nooversubscribe p")


@pytest.mark.parametrize("request_text", ["4x1", "4x2", "2x4,order=scatter", "4x1,unit=hwthread"])
@pytest.mark.parametrize("machine", [SMT, NO_SMT, REFERENCE], ids=["smt", "no-smt", "reference"])
def test_cray_prints_named_options_only_for_equal_masks(machine: object, request_text: str) -> None:
    lines = syntax_of("cray", request_text, machine).lines  # type: ignore[arg-type]
    listed = next(line for line in lines if line.startswith("mpiexec"))
    for named in (line.partition(": ")[2] for line in lines if line.startswith("# with named options")):
        assert masks(read(named, machine)) == masks(read(listed, machine))  # type: ignore[arg-type]
    assert any("named" in line for line in lines) == (
        (machine is NO_SMT and "scatter" not in request_text) or (machine is SMT and request_text.endswith("hwthread"))
    )


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("mpiexec -n 8 -ppn 4 --depth 8 --cpu-bind depth ./a", ["0-7", "8-15", "16-23", "24-31"]),
        ("mpiexec -n 2 -ppn 2 -envall --no-vni -genvall -depth=2 -cpu-bind depth ./a", ["0-1", "2-3"]),
        ("mpiexec -n 4 --cpu-bind verbose,list:0:8:16:24 ./a", ["0", "8", "16", "24"]),
        ("mpiexec -n2 -d2 --cpu-bind v,depth ./a", ["0-1", "2-3"]),
        ("aprun -n4 -d8 -cc depth ./a", ["0-7", "8-15", "16-23", "24-31"]),
        ("aprun -n32 -N2 -cc 0:1 ./a", ["0", "1"]),
    ],
)
def test_options_of_cray_in_every_spelling(line: str, expected: list[str]) -> None:
    assert masks(read(line, SMT)) == expected


def test_refusals_of_cray_give_their_reason() -> None:
    with pytest.raises(ValueError, match="default binding depends on the configuration of the site"):
        read("mpiexec -n 2 --depth 4 --cpu-bind verbose p", SMT)
    with pytest.raises(ValueError, match="no verified rule for --cpu-bind numa"):
        read("mpiexec -n 2 --depth 4 --cpu-bind v,numa p", SMT)


def test_variables_of_cray_mpich_that_do_not_bind_are_listed() -> None:
    names = ("MPICH_CPUMASK_DISPLAY", "MPICH_OFI_NIC_POLICY", "MPICH_GPU_SUPPORT_ENABLED", "MPICH_OFI_CXI_X",
             "FI_CXI_RX_MATCH_MODE")  # fmt: skip
    for name in names:
        for line in ("srun -n 2 p", "mpiexec -n 2 --depth 4 --cpu-bind depth p"):
            said = remarks_of(f"export {name}=1\n{line}", SMT)
            assert name in said
            assert "unknown variable" not in said
    with pytest.raises(ValueError, match="MPICH_RANK_REORDER_METHOD"):
        read("export MPICH_RANK_REORDER_METHOD=3\nsrun -n 2 p", SMT)


def test_masks_of_intel_mpi_without_0x_are_refused() -> None:
    for domain in ("[3,c]", "[0x3,c]"):
        with pytest.raises(ValueError, match="masks without 0x as invalid"):
            read(f"I_MPI_PIN_DOMAIN={domain} mpirun -n 2 p", SMT)
    first = read("I_MPI_PIN_DOMAIN=[0x3,0xc] mpirun -n 2 p", SMT).placement.ranks[0]
    assert set_text(first.cpus) == "0-1"
