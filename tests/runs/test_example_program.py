"""The example program octant-mpi-mesh: its counts, its verification, and how command lines name it."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from octant.failure import Exit

if TYPE_CHECKING:
    from collections.abc import Mapping

    from paths import Octant

MPIEXEC = str(Path(sys.executable).parent / "mpiexec")
COUNT = re.compile(r"^(rank \d+ )?(MPI_\w+) +(\d+) calls +(\d+) messages +(\d+) bytes$", re.MULTILINE)


def started(kernels: Path, *words: str, ranks: int = 2, **variables: str) -> subprocess.CompletedProcess[str]:
    """The end of the program on some ranks."""
    command = [MPIEXEC, "-n", str(ranks), *(word for pair in variables.items() for word in ("-genv", *pair))]
    return subprocess.run(
        [*command, str(kernels / "octant-mpi-mesh"), *words], capture_output=True, text=True, check=False, timeout=60
    )


def counts(text: str, rank: int | None = None) -> Mapping[str, tuple[int, int, int]]:
    """Calls, messages and bytes by routine, of one rank or of all."""
    label = "" if rank is None else f"rank {rank} "
    return {
        found[2]: (int(found[3]), int(found[4]), int(found[5]))
        for found in COUNT.finditer(text)
        if (found[1] or "") == label
    }


@pytest.mark.mpi
def test_the_counts_follow_from_the_options(kernels: Path) -> None:
    done = started(kernels, *["--size", "6", "--fields", "3", "--steps", "8", "--refine", "3", "--by-rank"])
    assert done.returncode == 0, done.stderr
    halo, part, refinements, steps = 6 * 3 * 8, 6 * 6 // 2 * 8, 3, 8
    expected = {
        "MPI_Isend": (4 * steps, 4 * steps, 4 * steps * halo),
        "MPI_Irecv": (4 * steps, 4 * steps, 4 * steps * halo),
        "MPI_Sendrecv": (steps, steps, steps * part),
        "MPI_Waitall": (steps, 0, 0),
        "MPI_Test": (4 * steps, 0, 0),
        "MPI_Allreduce": (steps, 0, 8 * steps),
        "MPI_Allgather": (refinements, 0, 4 * refinements),
        "MPI_Allgatherv": (refinements, 0, 104 * refinements),
        "MPI_Barrier": (1 + refinements, 0, 0),
        "MPI_Gather": (1, 0, (2 + 3 * 13) * 8),
        "MPI_Send": (1, 1, 104),
        "MPI_Recv": (1, 1, 104),
    }
    for rank in (0, 1):  # rank 0 refines first and third: it sends once, and receives once
        assert counts(done.stdout, rank) == {**expected, "MPI_Bcast": (refinements, 0, 12 * refinements * (rank == 0))}
    totals = {name: tuple(2 * one for one in values) for name, values in expected.items()}
    assert counts(done.stdout) == {**totals, "MPI_Bcast": (2 * refinements, 0, 12 * refinements)}
    assert done.stdout.endswith(": verified\n")


@pytest.mark.mpi
def test_more_work_on_one_rank_changes_neither_result_nor_counts(kernels: Path) -> None:
    plain, slow = (started(kernels, "--size", "8", *words).stdout for words in ((), ("--slow-rank", "1")))
    assert counts(plain) == counts(slow) != {}
    assert slow.endswith(": verified\n")


@pytest.mark.mpi
def test_a_wrong_result_is_noticed(kernels: Path) -> None:
    done = started(kernels, OCTANT_FAULT="wrong:mesh")
    assert done.returncode == Exit.WRONG_ANSWER
    assert done.stdout.endswith(": WRONG\n")


@pytest.mark.mpi
@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--steps", "0"), "--steps '0' is not a number from 1 to 1000000; try --steps 20"),
        (("--step", "1"), "no such option '--step'; try --help"),
        (("--slow-rank", "2"), "there is no rank 2; try --slow-rank 0"),
    ],
)
def test_invalid_options_are_refused_once(kernels: Path, words: tuple[str, ...], message: str) -> None:
    done = started(kernels, *words)
    assert done.returncode == Exit.WRONG_WORD
    assert [line for line in done.stderr.splitlines() if "octant-mpi-mesh" in line] == [f"octant-mpi-mesh: {message}"]


@pytest.mark.mpi
@pytest.mark.parametrize("words", [("--", MPIEXEC, "-n", "2"), ("--ranks", "2", "--")])
def test_a_command_line_names_it_without_a_path(octant: Octant, tmp_path: Path, words: tuple[str, ...]) -> None:
    value = ("--value", "time[s]=time of the steps ([0-9.]+)")
    done = octant("run", "--repeats", "1", *value, *words, "octant-mpi-mesh", "--size", "4", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "program/octant-mpi-mesh · time, s" in done.stdout
