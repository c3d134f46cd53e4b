"""Pasted lines as a whole: heads of batch scripts, unset variables, tools around launchers, several libraries."""

import pytest

from launcher_syntax import masks, read
from octant.launchers import from_syntax
from octant.machine.hwloc import load

MACHINE = load("pack:2 numa:4 core:16 pu:2(indexes=core)")


@pytest.mark.parametrize(
    "unset",
    ["unset SLURM_CPU_BIND", "unset OTHER SLURM_CPU_BIND", "export -n SLURM_CPU_BIND", "unset -v SLURM_CPU_BIND",
     "declare +x SLURM_CPU_BIND", "unsetenv SLURM_CPU_BIND"],
)  # fmt: skip
def test_a_variable_that_is_unset_has_no_influence(unset: str) -> None:
    line = "srun -n 4 -c 4 ./x"
    assert masks(read(f"export SLURM_CPU_BIND=none\n{unset}\n{line}", MACHINE)) == masks(read(line, MACHINE))
    unbound = masks(read(f"export SLURM_CPU_BIND=none\n{line}", MACHINE))
    assert masks(read(f"export SLURM_CPU_BIND=none\n{line}\n{unset}", MACHINE)) == unbound != masks(read(line, MACHINE))


@pytest.mark.parametrize(
    "head",
    ["#SBATCH --ntasks-per-node=8", "#SBATCH -N 2", "#SBATCH -n 8 -c 4", "#PBS -l select=2:mpiprocs=4", "#BSUB -n 8"],
)
def test_a_head_that_may_decide_the_number_of_ranks_is_refused(head: str) -> None:
    with pytest.raises(ValueError, match=r"may set the number of ranks that Open MPI 5"):
        read(f"#SBATCH --time=10\n{head}\nmpirun --map-by numa:PE=4 ./x", MACHINE)


@pytest.mark.parametrize("head", ["#SBATCH --time=10 -J x", "#SBATCH --ntasks=4", "#SBATCH -N 1", "#PBS -A me"])
def test_other_heads_are_listed(head: str) -> None:
    said = read(f"{head}\nmpirun -n 4 --map-by numa:PE=4 ./x", MACHINE).remarks
    assert f"not used for the placement: {head} (options of the job)" in said


def test_several_nodes_in_a_head_are_refused_even_with_a_number_of_ranks() -> None:
    with pytest.raises(ValueError, match=r"#SBATCH -N 2 may set"):
        read("#SBATCH -N 2\nmpirun -n 4 --map-by numa:PE=4 ./x", MACHINE)


@pytest.mark.parametrize("launcher", ["mpirun -n 4 --map-by core", "srun -n 4", "mpiexec -n 4 -bind-to core"])
def test_a_launcher_behind_another_one_is_refused_by_name(launcher: str) -> None:
    name = launcher.split()[0]
    for front in ("likwid-pin -c 0-3", "env A=b likwid-pin -c 0-3", "srun -n 2"):
        with pytest.raises(ValueError, match=f"cannot interpret this line: .* starts {name}"):
            read(f"{front} {launcher} ./a", MACHINE)


@pytest.mark.parametrize(
    "tool",
    [
        "likwid-pin -c 0-3",
        "likwid-perfctr -C 0-3 -g MEM",
        "dplace -s1",
        "omplace -nt 4",
        "numa_bind 0",
        "hwloc-bind core:0",
    ],
)
def test_a_tool_behind_a_launcher_that_binds_the_program_is_refused(tool: str) -> None:
    for line in ("srun -n 8 -c 8", "mpirun -n 4 --map-by core", "mpiexec -n 4 -bind-to core env A=b"):
        with pytest.raises(ValueError, match=f"cannot interpret .*{tool.split()[0]}"):
            read(f"{line} {tool} ./a", MACHINE)
    assert read("srun -n 8 -c 8 ./prun in.dat", MACHINE)
    assert read("srun -n 8 -c 8 likwid-perfctr -g MEM ./a", MACHINE)


@pytest.mark.parametrize("option", ["--interleave=all", "-i 0-3", "--membind=1", "--preferred=2"])
def test_a_memory_policy_behind_a_launcher_is_drawn(option: str) -> None:
    found = read(f"mpirun -n 4 --map-by core numactl {option} ./a", MACHINE)
    alone = read(f"numactl {option} ./a", MACHINE)
    assert {place.memory for place in found.placement.ranks} == {alone.placement.ranks[0].memory}
    assert found.request.memory == alone.request.memory
    assert not any("numactl" in remark for remark in found.remarks)


def test_a_variable_that_one_library_alone_has_decides_whose_line_it_is() -> None:
    for front in ("I_MPI_DEBUG=5", "I_MPI_FABRICS=shm"):
        assert from_syntax(f"export {front}\nmpirun -n 4 -map-by numa -bind-to core ./a", MACHINE)[0] == "intelmpi"
        assert from_syntax(f"{front} mpirun -n 4 ./a", MACHINE)[0] == "intelmpi"


@pytest.mark.parametrize("value", ["core:2", "rr", "numanode", "machine", "user:0+8"])
def test_values_that_one_library_alone_has_decide(value: str) -> None:
    assert from_syntax(f"mpiexec --bind-to {value} -n 4 ./a", MACHINE)[0] == "mpich"


@pytest.mark.parametrize(
    "program",
    ['bash -c "export OMP_PLACES=cores; ./a"', "./a --map-by x", "./a -bind-to core", "./a KMP_AFFINITY=compact"],
)
def test_words_of_the_program_have_no_influence(program: str) -> None:
    line = "OMP_NUM_THREADS=2 srun -n 4 -c 8"
    assert read(f"{line} {program}", MACHINE).placement == read(f"{line} ./a", MACHINE).placement
    with pytest.raises(ValueError, match="cannot identify the MPI library of mpirun"):
        read(f"mpirun -n 4 {program}", MACHINE)


@pytest.mark.parametrize("launcher", ["openmp", "gomp", "kmp", "xlsmp"])
def test_one_line_of_a_runtime_for_each_rank_is_read_as_several_ranks(launcher: str) -> None:
    from octant.launchers import to_syntax
    from octant.placement.expressions import parse_place
    from octant.placement.planner import plan

    request = parse_place("4x2,unit=hwthread", MACHINE)
    planned = plan(MACHINE, request)
    lines = "\n".join(to_syntax(launcher, planned, request, MACHINE).lines)
    found = from_syntax(lines, MACHINE, launcher)[1]
    assert [place.threads for place in found.placement.ranks] == [place.threads for place in planned.ranks]
    last = from_syntax(f"{lines}\n./a", MACHINE)[1].placement.ranks  # a shell: the last assignment counts
    assert [place.threads for place in last] == [planned.ranks[-1].threads]


def test_a_misspelt_option_names_the_nearest_one() -> None:
    with pytest.raises(ValueError, match=r"--mapby-x .*option$|did you mean --distribution\?"):
        read("srun -n 4 --distributon=block ./a", MACHINE)
    with pytest.raises(ValueError, match=r"did you mean --physcpubind\?"):
        read("numactl --physcpubnd=0-3 ./a", MACHINE)


def test_env_is_not_said_to_change_nothing_where_it_changed_a_variable() -> None:
    said = " / ".join(read("OMP_PLACES=cores OMP_NUM_THREADS=2 env -u OMP_PLACES taskset -c 0-3 ./a", MACHINE).remarks)
    assert "env" not in said


def test_each_example_of_an_undecided_line_decides_when_it_is_added() -> None:
    with pytest.raises(ValueError, match="cannot identify the MPI library of mpiexec") as refused:
        read("mpiexec -n 4 ./a", MACHINE)
    for words in ("-bind-to core", "--map-by core", "I_MPI_PIN=1"):
        assert words in str(refused.value)
    assert from_syntax("mpiexec -bind-to core -n 4 ./a", MACHINE)[0] == "mpich"
    assert from_syntax("mpiexec --map-by core -n 4 ./a", MACHINE)[0] == "openmpi"
    assert from_syntax("I_MPI_PIN=1 mpiexec -n 4 ./a", MACHINE)[0] == "intelmpi"


@pytest.mark.parametrize(
    "inner", ["taskset -c 0", "nice likwid-pin -c 0", "env OMP_PLACES=cores", "numactl -C 0", "mpirun -n 2"]
)
def test_a_tool_behind_numactl_behind_a_launcher_is_refused(inner: str) -> None:
    with pytest.raises(ValueError, match="cannot interpret"):
        read(f"mpirun -n 4 --map-by core numactl --interleave=all {inner} ./a", MACHINE)
    said = read("mpirun -n 4 --map-by core numactl --interleave=all ./a in.dat", MACHINE).remarks
    assert any(remark.startswith("./a is taken as the program") for remark in said)
