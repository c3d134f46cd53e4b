"""Placements are given and read back on 1, 2 and 8 ranks, and an environment that does not give them is found out."""

import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from kernel_run import OPEN_MPI
from octant.analysis.mismatches import all_mismatches
from octant.store import Store, StoredRun
from paths import NO_OPENMPI, OPENMPI_KERNELS, ROOT, Octant

CPUS = sorted(os.sched_getaffinity(0))
QUICK = ("stream", "bytes=1MiB", "seconds=0.1", "--repeats", "1")
two_cpus = pytest.mark.skipif(len(CPUS) < 2, reason="needs two hardware threads")


def stored(environment: Mapping[str, str]) -> StoredRun:
    (found,) = Store(Path(environment["OCTANT_STORE"])).runs()
    return found


def masks(run: StoredRun) -> list[tuple[tuple[int, ...], ...]]:
    return [given.thread_masks for point in run.points for given in point.given]


def test_one_rank_is_where_it_was_asked_to_be(octant: Octant, environment: Mapping[str, str]) -> None:
    done = octant("run", *QUICK, "--place", f"1x1,cpus={CPUS[-1]},memory=bind:0")
    run = stored(environment)
    assert done.returncode == 0, done.stderr
    assert masks(run) == [((CPUS[-1],),)]
    assert all_mismatches(run) == []
    assert "REQUEST NOT MET" not in done.stderr


@two_cpus
def test_each_thread_is_where_it_was_asked_to_be_at_every_point(octant: Octant, environment: Mapping[str, str]) -> None:
    octant("run", "stream", "bytes=1MiB,2MiB", "--repeats=1", "--place", f"1x2,cpus={CPUS[1]}+{CPUS[0]}")
    run = stored(environment)
    assert masks(run) == [((CPUS[1],), (CPUS[0],))] * 2
    assert not any(point.share_cores for point in run.points)
    assert all_mismatches(run) == []


@two_cpus
def test_threads_that_may_move_within_their_unit_keep_it(octant: Octant, environment: Mapping[str, str]) -> None:
    octant("run", *QUICK, "--place", "1x2,unit=package")
    (point,) = stored(environment).points
    assert set(point.given[0].thread_masks) == {point.given[0].thread_masks[0]}
    assert not point.share_cores


@pytest.mark.mpi
@two_cpus
def test_two_ranks_are_where_they_were_asked_to_be(octant: Octant, environment: Mapping[str, str]) -> None:
    done = octant("run", *QUICK, "--place", f"2x1,cpus={CPUS[1]}/{CPUS[0]},memory=local,pages=4k")
    run = stored(environment)
    assert done.returncode == 0, done.stderr
    assert masks(run) == [((CPUS[1],),), ((CPUS[0],),)]
    assert all_mismatches(run) == []
    assert run.points[0].given[0].buffers[0].huge_bytes == 0


@pytest.mark.mpi
@pytest.mark.slow
@two_cpus
def test_eight_ranks_share_two_hardware_threads_as_asked(environment: Mapping[str, str]) -> None:
    """With Open MPI, whose ranks yield; the point says that cores were shared."""
    python = ROOT / ".venv-openmpi" / "bin" / "python"
    if not OPENMPI_KERNELS.exists():
        pytest.skip(NO_OPENMPI)
    lists = "/".join(str(CPUS[rank % 2]) for rank in range(8))
    words = ("run", *QUICK, "--place", f"8x1,cpus={lists},oversubscribe=yes")
    own = {**environment, "OCTANT_KERNELS": str(OPENMPI_KERNELS)} | OPEN_MPI
    done = subprocess.run(
        [str(python), "-m", "octant.cli", *words], env=own, capture_output=True, text=True, check=False, timeout=100
    )
    run = stored(environment)
    assert done.returncode == 0, done.stderr
    assert masks(run) == [((CPUS[rank % 2],),) for rank in range(8)]
    (point,) = run.points
    assert (point.ranks, all_mismatches(run), point.share_cores) == (8, [], True)


@pytest.mark.mpi
def test_more_ranks_than_cores_are_refused_where_ranks_spin(octant: Octant) -> None:
    done = octant("run", *QUICK, "--ranks", str(len(CPUS) + 1))
    assert done.returncode == 3
    assert "use Open MPI (`make openmpi`)" in done.stderr


@two_cpus
def test_a_mask_from_outside_limits_what_fits(octant: Octant, needs: Callable[[str], str]) -> None:
    """As in a cpuset: the planner sees what is allowed, and refuses rather than squeezing two ranks onto one core."""
    words = (sys.executable, "-m", "octant.cli", "run", *QUICK, "--place", "2x1")
    done = subprocess.run([needs("taskset"), "-c", str(CPUS[1]), *words], capture_output=True, text=True, check=False)
    assert done.returncode == 3
    assert "the largest request that fits is 1x1" in done.stderr


@pytest.mark.mpi
@two_cpus
def test_a_launcher_that_binds_first_is_found_out(
    octant: Octant, tmp_path: Path, environment: Mapping[str, str]
) -> None:
    """An mpiexec that binds each rank to the core that the other one was to have."""
    from octant.build.mpiexec import find

    wrong = tmp_path / "mpiexec"
    wrong.write_text(
        f'#!/bin/sh\ncase "$1" in --version) exec {find()} --version;; esac\n'
        f'shift 4\nexec {find()} -n 2 -bind-to user:{CPUS[1]},{CPUS[0]} "$@"\n'
    )
    wrong.chmod(0o755)
    place = f"2x1,cpus={CPUS[0]}/{CPUS[1]}"
    done = octant("run", *QUICK, "--place", place, env={"OCTANT_MPIEXEC": str(wrong)})
    assert done.returncode == 3
    either = [f"cannot bind to hardware threads {a} (allowed: {b}" for a, b in (CPUS[:2], CPUS[1::-1])]
    assert any(text in done.stderr for text in either), "the first that ends takes the other with it"
    (failure,) = stored(environment).failures
    assert failure.exit == 3


@pytest.mark.alone  # its figure must be worth a caveat
@two_cpus
def test_a_kernel_that_ran_elsewhere_casts_doubt_loudly(octant: Octant, tmp_path: Path, kernels: Path) -> None:
    """A wrapper moves the kernel after octant-bind placed it, as a site's own wrapper might."""
    for program in kernels.glob("octant-*"):
        (tmp_path / program.name).symlink_to(program)
    moved = tmp_path / "octant-node-stream"
    moved.unlink()
    moved.write_text(f'#!/bin/sh\nexec taskset -c {CPUS[1]} {kernels}/octant-node-stream "$@"\n')
    moved.chmod(0o755)
    done = octant("run", *QUICK, "--place", f"1x1,cpus={CPUS[0]}", env={"OCTANT_KERNELS": str(tmp_path)})
    assert f"octant: REQUEST NOT MET: rank 0: CPUs {CPUS[0]} requested, bound to {CPUS[1]}" in done.stderr
    assert "the request was not met" in " ".join(done.stdout.lower().split())


@pytest.mark.parametrize(
    ("words", "said", "code"),
    [
        (("--place", "1x2", "threads=1"), "the placement sets threads=2", 2),
        (("--place", "1x1", "pin=each"), "the placement sets pin=none", 2),
        (("--place", "nonsense"), "octant: 'nonsense' is not of the form KEY=VALUE; keys are ranks, threads", 2),
        (("--place", "4096x1"), "the largest request that fits", 3),
        (("--launcher", "mpirum"), "try one of direct, flux, mpiexec, srun", 2),
        (("--place", "2x1", "--ranks", "3"), "cannot distribute 3 ranks to nodes with 2", 2),
        (("--hosts", "a,a"), "a host occurs twice", 2),
        (("--hosts", "@/nowhere"), "cannot read the host file", 1),
        (("--hosts", "@/proc/self/exe"), "cannot read the host file", 2),
        (("--hosts", "a,-oProxyCommand=x"), "invalid host name '-oProxyCommand=x'", 2),
        (("--hosts", "a:2"), "--ranks sets the number", 2),
        (("--hosts", "a;b"), "invalid host name", 2),
        (("threads=many",), "cannot read 'many' as a non-negative integer; try 1", 2),
    ],
)
@two_cpus
def test_words_that_contradict_are_refused(octant: Octant, words: tuple[str, ...], said: str, code: int) -> None:
    done = octant("run", *QUICK, *words)
    assert said in done.stderr
    assert done.returncode == code
