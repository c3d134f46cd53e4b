"""Messages and bytes in profiles of our own workloads are those that their kernels count."""

import json
from pathlib import Path

import pytest

from mpi_libraries import LIBRARIES
from octant.build import program_name
from truth_programs import recorded, run_program

pytestmark = pytest.mark.mpi

FIRST = LIBRARIES[0]
STEPS = 300
SENDS = ("MPI_Send", "MPI_Isend", "MPI_Sendrecv")
CASES = {
    "mpi/p2p pattern=pingpong bytes=1KiB": SENDS,
    "mpi/p2p pattern=exchange bytes=4KiB": SENDS,
    "mpi/p2p pattern=persistent bytes=1000": ("MPI_Start", "MPI_Startall"),
    "mpi/p2p pattern=biband bytes=800 window=16": SENDS,
    "mpi/collective pattern=allreduce bytes=1KiB": ("MPI_Allreduce",),
    "mpi/collective pattern=bcast bytes=1KiB": ("MPI_Bcast",),
    "mpi/collective pattern=allgatherv bytes=1KiB": ("MPI_Allgatherv",),
    "mpi/collective pattern=alltoall bytes=1KiB": ("MPI_Alltoall",),
    "hpcc/gfft transport=messages n=4096": SENDS,
}
"""Workload and knobs, and the calls that its kernel sends with."""
WITH_OWN_PART = "alltoall"
"""The kernel counts what leaves the rank; the profile also what it sends to itself."""
WITH_RECEIVES = "persistent"
"""A call starts sends and receives, which have the same bytes."""


@pytest.mark.parametrize("case", CASES)
def test_bytes_are_those_that_the_kernel_counts(kernels: Path, profiler: Path, tmp_path: Path, case: str) -> None:
    """How many steps a kernel takes depends on times: a whole number of them, at least those of the series."""
    words = case.split()
    records = tmp_path / "records.jsonl"
    knobs = [*words[1:], "seconds=20", f"samples={STEPS}", f"least={STEPS}", "--output", str(records)]
    run = run_program(FIRST, tmp_path, [kernels / program_name(words[0]), *knobs], profiler=profiler, ranks=2)
    assert run.code == 0, run.stderr
    points = [json.loads(line) for line in records.read_text(encoding="utf-8").splitlines()]
    (point,) = [one for one in points if one["kind"] == "point"]
    counts = [part["counts"] for part in point["work"]]
    of_step = sum(int(one.get("bytes_sent", 0)) for one in counts)
    messages = sum(int(one.get("messages", 0)) for one in counts)
    job = run.job()
    largest = max(recorded(job, "bucket")[1], key=lambda key: (key[1] in CASES[case], key[2]))[2]
    rows = [row for row in job.calls if job.call_names[row["call"]] in CASES[case] and row["bucket"] == largest]
    calls, amount = sum(int(row["calls"]) for row in rows), sum(int(row["bytes"]) for row in rows)
    if WITH_OWN_PART in case or WITH_RECEIVES in case:
        of_step *= 2
    assert of_step > 0
    steps, rest = divmod(amount, of_step)
    assert rest == 0
    assert steps >= STEPS
    if messages and WITH_RECEIVES not in case:
        assert calls == steps * messages
    of_peers = sum(int(row["bytes"]) for row in job.peers if row["kind"] == 0)
    assert not messages or of_peers >= steps * of_step // (2 if WITH_RECEIVES in case else 1)
