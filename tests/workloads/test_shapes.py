"""Kernels say before they start which ranks, threads and knobs go together, with the reason where they do not."""

import subprocess
from pathlib import Path

import pytest

from octant.build import program_name
from octant.failure import Exit

REFUSED = [
    ("hpcc/fft", 1, "n=7", "cannot transform n=7 numbers (a prime factor is larger than 5); try n=6", 2),
    ("hpcc/fft", 1, "part=plan library=fftw threads=2", "cannot plan with threads=2", 3),
    ("hpcc/gfft", 2, "n=14", "cannot transform n=14 numbers (n must be 2^a 3^b 5^c); try n=12", 2),
    ("hpcc/gfft", 16, "n=64", "with 16 ranks (its matrix of 8 x 8 has fewer lines); try n=256", 2),
    ("hpcc/gfft", 3, "transport=messages schedule=xor", "(not a power of two); try schedule=ring", 3),
    ("hpcc/hpl", 2, "grid=2x2", "cannot use grid=2x2 (2 ranks work together); try grid=1x2", 2),
    ("hpcc/ptrans", 2, "grid=3x1", "cannot use grid=3x1 (the number of ranks is 2); try grid=1x2", 2),
    ("hpcc/randomaccess", 64, "bytes=4KiB", "cannot divide a table of 512 words between 64 ranks", 3),
    ("io/local", 3, "pattern=overlapped-write overlap=messages", "cannot exchange messages (odd number of ranks)", 3),
    ("mpi/collective", 6, "pattern=allgather algorithm=recursive-doubling", "(it needs a power of two)", 3),
    ("mpi/collective", 300, "pattern=allreduce type=byte", "cannot sum bytes of 300 ranks", 3),
    ("mpi/threads", 2, "pattern=allreduce comms=one threads=2", "cannot share a communicator between threads", 3),
    ("node/core", 1, "pattern=rob-size threads=2", "cannot measure pattern=rob-size with several threads", 3),
    ("node/fft", 1, "n=7", "cannot transform n=7 (a prime factor is larger than 5); try n=8", 2),
    ("node/stencil", 1, "n=100", "cannot use n=100 (rows must be whole cache lines); try n=112", 2),
]
TAKEN = [
    ("hpcc/gfft", 3, "transport=shared schedule=xor"),
    ("hpcc/gfft", 3, "transport=messages schedule=xor,ring"),  # one point is not supported, the other is measured
    ("hpcc/hpl", 4, "grid=2x2 groups=first:4"),
    ("hpcc/hpl", 8, "grid=2x2 groups=4"),
    ("mpi/collective", 6, "pattern=allgather algorithm=recursive-doubling groups=4"),
    ("io/local", 3, "pattern=write overlap=messages"),
]


def request(kernels: Path, workload: str, ranks: int, knobs: str) -> subprocess.CompletedProcess[str]:
    words = [str(kernels / program_name(workload)), "--describe", *knobs.split(), "--ranks", str(ranks)]
    return subprocess.run(words, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(("workload", "ranks", "knobs", "why", "code"), REFUSED)
def test_a_shape_that_a_kernel_does_not_take_is_refused_with_the_reason(
    kernels: Path, workload: str, ranks: int, knobs: str, why: str, code: int
) -> None:
    answer = request(kernels, workload, ranks, knobs)
    assert answer.returncode == Exit(code)
    assert why in answer.stderr
    assert answer.stdout == ""


@pytest.mark.parametrize(("workload", "ranks", "knobs"), TAKEN)
def test_a_shape_that_a_kernel_takes_is_described(kernels: Path, workload: str, ranks: int, knobs: str) -> None:
    answer = request(kernels, workload, ranks, knobs)
    assert (answer.returncode, answer.stderr) == (0, "")
