"""Messages and bytes in profiles of our own workloads are those that their kernels count."""

import json
from collections import Counter
from pathlib import Path

import pytest

from mpi_libraries import LIBRARIES
from octant.build import program_name
from truth_programs import recorded, run_program

pytestmark = pytest.mark.mpi

FIRST = LIBRARIES[0]
STEPS = (200, 500)
SENDS = ("MPI_Send", "MPI_Isend", "MPI_Sendrecv", "MPI_Start", "MPI_Startall")
CASES = {
    "mpi/p2p pattern=pingpong bytes=1KiB": SENDS,
    "mpi/p2p pattern=exchange bytes=4KiB": SENDS,
    "mpi/p2p pattern=persistent bytes=100": SENDS,
    "mpi/p2p pattern=biband bytes=8 window=16": SENDS,
    "mpi/collective pattern=allreduce bytes=1KiB": ("MPI_Allreduce",),
    "mpi/collective pattern=bcast bytes=1KiB": ("MPI_Bcast",),
    "mpi/collective pattern=allgatherv bytes=1KiB": ("MPI_Allgatherv",),
    "mpi/collective pattern=alltoall bytes=1KiB": ("MPI_Alltoall",),
    "hpcc/gfft transport=messages n=4096": SENDS,
}
"""Workload and knobs, and the calls that its kernel sends with."""
WITH_OWN_PART = "alltoall"
"""The kernel counts what leaves the rank; the profile also what it sends to itself."""


def run_steps(
    kernels: Path, profiler: Path, folder: Path, words: list[str], steps: int
) -> tuple[Counter[str], int, int]:
    """Run so many steps, and return bytes by call, messages, and the bytes that the kernel counts in one step."""
    knobs = [*words[1:], "seconds=20", f"samples={steps}", f"least={steps}", "--output", str(folder / "records.jsonl")]
    program = kernels / program_name(words[0])
    run = run_program(FIRST, folder, [program, *knobs], profiler=profiler, ranks=2)
    assert run.code == 0, run.stderr
    points = [json.loads(line) for line in (folder / "records.jsonl").read_text(encoding="utf-8").splitlines()]
    (point,) = [one for one in points if one["kind"] == "point"]
    assert {len(one["ns"]) for one in point["series"] if one["name"] == "step"} == {steps}
    job = run.job()
    amounts: Counter[str] = Counter()
    for (_, call), amount in recorded(job)[1].items():
        amounts[call] += amount
    messages = sum(int(row["messages"]) for row in job.peers if row["kind"] == 0)
    return amounts, messages, sum(int(part["counts"].get("bytes_sent", 0)) for part in point["work"])


@pytest.mark.parametrize("case", CASES)
def test_bytes_of_more_steps_are_those_that_the_kernel_counts(
    kernels: Path, profiler: Path, tmp_path: Path, case: str
) -> None:
    words = case.split()
    (few, few_messages, counted), (many, many_messages, _) = (
        run_steps(kernels, profiler, tmp_path / str(steps), words, steps) for steps in STEPS
    )
    more = STEPS[1] - STEPS[0]
    found = sum(many[call] - few[call] for call in CASES[case])
    if WITH_OWN_PART in case:
        counted *= 2  # of two ranks
    assert counted > 0
    assert found == more * counted
    if CASES[case] is SENDS:
        assert many_messages - few_messages > 0
        assert (many_messages - few_messages) % more == 0
