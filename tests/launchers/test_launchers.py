"""Launchers turn a job's size into words; which one is used."""

import os
from pathlib import Path

import pytest

from octant import launchers
from octant.failure import Exit, Refusal
from octant.launchers import JobSize, direct, flux, mpiexec, openmpi, slurm

HERE, HOSTS = JobSize(4, cpus_per_rank=2), JobSize(4, 2, 2, ("a", "b"), ("OMP_DYNAMIC",))
MPIEXEC = [
    ("mpich", HERE, "-n 4 -bind-to none"),
    ("mpich", HOSTS, "-n 4 -hosts a,b -ppn 2 -bind-to none"),
    ("intelmpi", HERE, "-n 4 -genv I_MPI_PIN off"),
    ("intelmpi", HOSTS, "-n 4 -hosts a,b -ppn 2 -genv I_MPI_PIN off"),
    ("openmpi", HERE, "-n 4 --bind-to none --map-by :OVERSUBSCRIBE"),
    ("openmpi", HOSTS, "-n 4 --host a:2,b:2 -x OMP_DYNAMIC --bind-to none --map-by :OVERSUBSCRIBE"),
    ("pals", HERE, "-n 4 --cpu-bind none --mem-bind none"),
    ("pals", HOSTS, "-n 4 --hosts a,b --ppn 2 --cpu-bind none --mem-bind none"),
]
TAIL = "--distribution=block --kill-on-bad-exit=1 --export=ALL --job-name=octant"


@pytest.mark.parametrize(("flavour", "size", "words"), MPIEXEC)
def test_mpiexec_speaks_each_dialect(flavour: str, size: JobSize, words: str) -> None:
    assert mpiexec.options(flavour, size) == words.split()


def test_open_mpi_gets_its_consent_to_run_as_root() -> None:
    assert mpiexec.options("openmpi", HERE, root=True)[0] == "--allow-run-as-root"
    assert "--allow-run-as-root" not in mpiexec.options("mpich", HERE, root=True)


@pytest.mark.parametrize(
    ("size", "pmi", "words"),
    [
        (HERE, "pmi2", f"--ntasks=4 --cpus-per-task=2 --cpu-bind=none {TAIL} --mpi=pmi2"),
        (JobSize(4, 2, 2), "", f"--ntasks=4 --cpus-per-task=2 --cpu-bind=none --nodes=2 --ntasks-per-node=2 {TAIL}"),
        (
            HOSTS,
            "pmix",
            "--ntasks=4 --cpus-per-task=2 --cpu-bind=none --nodelist=a,b --nodes=2 --ntasks-per-node=2 "
            f"{TAIL} --mpi=pmix",
        ),
    ],
)
def test_srun_always_restates_what_a_task_needs(size: JobSize, pmi: str, words: str) -> None:
    assert slurm.options(size, pmi) == words.split()


def test_flux_leaves_binding_to_us() -> None:
    off = "--setopt=cpu-affinity=off --setopt=mpibind=off --setopt=exit-on-error"
    assert flux.options(HERE) == f"run --ntasks=4 --cores-per-task=2 {off}".split()
    assert flux.options(JobSize(4, 2, 2)) == f"run --ntasks=4 --cores-per-task=2 --nodes=2 {off}".split()


def test_one_rank_needs_no_launcher_and_several_do() -> None:
    assert direct.command(["prog", "a b"], JobSize(1)) == ["prog", "a b"]
    for size in (JobSize(2), JobSize(1, hosts=("a",))):
        with pytest.raises(Refusal, match="use --launcher mpiexec"):
            direct.command(["prog"], size)


@pytest.mark.parametrize(
    ("name", "size", "environment", "expected"),
    [
        ("", JobSize(1), {"SLURM_JOB_ID": "1"}, "direct"),
        ("", JobSize(2), {}, "mpiexec"),
        ("", JobSize(2), {"SLURM_JOB_ID": "1"}, "srun"),
        ("", JobSize(2), {"FLUX_URI": "local:///x"}, "flux"),
        ("", JobSize(2), {"PBS_JOBID": "1"}, "mpiexec"),
        ("", HOSTS, {"SLURM_JOB_ID": "1"}, "mpiexec"),
        ("mpiexec", JobSize(2), {"SLURM_JOB_ID": "1"}, "mpiexec"),
    ],
)
def test_the_launcher_at_hand_is_chosen(name: str, size: JobSize, environment: dict[str, str], expected: str) -> None:
    assert launchers.chosen(name, size, environment) == expected


def test_an_unknown_launcher_is_refused_with_the_known_ones() -> None:
    with pytest.raises(Refusal, match="try one of direct, flux, mpiexec, srun") as refusal:
        launchers.launcher("mpirum")
    assert refusal.value.code == Exit.WRONG_WORD


@pytest.mark.parametrize(
    ("said", "size", "own", "yields"),
    [
        ("mpiexec (Open MPI) 5.0.8", JobSize(2, cpus_per_rank=2), "", True),
        ("mpiexec (Open MPI) 5.0.8", JobSize(2, cpus_per_rank=2), "0", False),  # the user's own
        ("mpiexec (Open MPI) 5.0.8", JobSize(1, cpus_per_rank=2), "", False),
        ("mpiexec (Open MPI) 5.0.8", JobSize(8), "", False),  # it sees these itself
        ("mpiexec (Open MPI) 5.0.8", JobSize(2, cpus_per_rank=2, hosts=("a",)), "", False),
        ("HYDRA build details", JobSize(2, cpus_per_rank=2), "", False),
    ],
)
def test_threads_beyond_the_hardware_threads_yield_where_open_mpi_does_not_see_them(
    said: str, size: JobSize, own: str, yields: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    launcher = tmp_path / "mpiexec"
    launcher.write_text(f"#!/bin/sh\necho '{said}'\n")
    launcher.chmod(0o755)
    monkeypatch.setenv("OCTANT_MPIEXEC", str(launcher))
    monkeypatch.setattr(os, "sched_getaffinity", lambda _pid: {0, 1})
    if own:
        monkeypatch.setenv(openmpi.YIELD, own)
    assert mpiexec.yielding(size) == ({openmpi.YIELD: "1"} if yields else {})


def test_more_ranks_than_hardware_threads_are_for_an_mpi_that_yields() -> None:
    mpiexec.refuse_spinning("openmpi", JobSize(8), 2)
    mpiexec.refuse_spinning("mpich", JobSize(2), 2)
    for flavour in ("mpich", "intelmpi"):
        with pytest.raises(Refusal, match="make openmpi"):
            mpiexec.refuse_spinning(flavour, JobSize(3), 2)


def test_every_launcher_says_when_it_is_at_hand() -> None:
    for name in launchers.names("start"):
        assert launchers.launcher(name).at_hand({}) is False
