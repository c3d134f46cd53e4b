"""What `step.py` of a workload declares, beside what its kernel counts in one step: exactly, on 1 to 8 ranks."""

import functools
import os
from collections.abc import Collection

import numpy as np
import pytest

from kernel_run import KernelRun, KernelRuns
from octant import workloads
from octant.record import Point
from octant.step import Step
from octant.workloads.hpcc.hpl.step import step_with_pivots
from octant.workloads.hpcc.randomaccess.step import WORD_BYTES
from paths import OPENMPI_KERNELS

SHORT = ("seconds=0.001", "least=5", "samples=5")
CORES = 2
RANKS = (2, 5) if "CI" in os.environ else (1, 2, 3, 8)
GRIDS = ("1x2", "2x2") if "CI" in os.environ else ("1x2", "2x1", "2x4")
NOT_DECLARED = {
    "hpcc/gfft": {"flops"},  # depends on the vectors of the processor
    "node/stream": {"lines", "bytes_unused"},  # of pattern=gather, drawn at random
}


@pytest.fixture
def run(request: pytest.FixtureRequest, run_kernel: KernelRuns) -> KernelRuns:
    """Runs a kernel; more ranks than cores over Open MPI, where its programs are built: its ranks do not spin."""

    def start(name: str, *words: str, ranks: int) -> KernelRun:
        over = ranks > CORES and OPENMPI_KERNELS.exists()
        started: KernelRuns = request.getfixturevalue("run_over_openmpi") if over else run_kernel
        done = started(name, *words, *SHORT, ranks=ranks)
        assert done.code == 0, done.stderr
        return done

    return start


def declared(point: Point) -> Step:
    """The step of a point; of ranks that work alone, all their lanes are one group."""
    step = workloads.workload(point.workload).step
    assert step is not None
    return step(point.knobs, point.ranks, point.threads)


def differences(point: Point, step: Step, but: Collection[str] = ()) -> dict[str, tuple[float | None, float | None]]:
    """What the kernel counts and the step declares, where they differ; `but` is left out."""
    names = dict.fromkeys(name for work in point.work_of(None) for name in work.counts)
    found: dict[str, float] = {"messages": 0, "bytes_sent": 0, **{name: point.count(name) for name in names}}
    said = {**step.counts, "messages": step.messages, "bytes_sent": step.bytes_sent}
    compared = ({*found, *said} - NOT_DECLARED.get(point.workload, set()) - set(but)) | {*step.counts}
    return {name: (found.get(name), said.get(name)) for name in compared if found.get(name) != said.get(name)}


HPCC = {
    "hpcc/ptrans": ("n=300", "block=32", "tile=16,192", "message=4KiB", "transport=messages"),
    "hpcc/gfft": ("n=14400,262144", "chunks=0", "schedule=ring", "transport=messages"),
}
NOTHING_SENT = {
    "hpcc/ptrans": ("n=hpl:300", "transport=shared"),
    "hpcc/gfft": ("n=16384", "transport=messages", "schedule=library", "chunks=3"),
    "hpcc/randomaccess": ("bytes=64KiB", "transport=shared"),
}
"""The last of them by a collective operation, whose messages are the library's."""


@pytest.mark.mpi
@pytest.mark.parametrize("ranks", RANKS)
@pytest.mark.parametrize("name", HPCC)
def test_counts_of_a_step_are_those_of_the_kernel(run: KernelRuns, name: str, ranks: int) -> None:
    for point in run(name, *HPCC[name], ranks=ranks).points:
        assert not differences(point, declared(point)), (dict(point.knobs), ranks)


@pytest.mark.mpi
@pytest.mark.parametrize("name", NOTHING_SENT)
def test_counts_without_messages_are_those_of_the_kernel(run: KernelRuns, name: str) -> None:
    for point in run(name, *NOTHING_SENT[name], ranks=2).points:
        assert not differences(point, declared(point)), dict(point.knobs)
        assert not declared(point).messages


@pytest.mark.mpi
@pytest.mark.parametrize("grid", GRIDS)
def test_factors_send_panels_pivots_and_the_rows_that_change_places(run: KernelRuns, grid: str) -> None:
    """Which rows those are depends on the matrix, whose pivots are found here again."""
    rows, columns = map(int, grid.split("x"))
    words = ("n=97", "block=16", "library=plain", "depth=0,1", "transport=messages", f"grid={grid}")
    for point in run("hpcc/hpl", *words, ranks=rows * columns).points:
        n, block = int(point.knobs["n"]), int(point.knobs["block"])
        if rows == 1:
            assert not differences(point, declared(point)), dict(point.knobs)
            continue
        exactly = step_with_pivots(point.knobs, point.ranks, 1, brought_to_the_top(n, block))
        assert not differences(point, exactly), dict(point.knobs)
        most = declared(point)
        assert not differences(point, most, ("bytes_sent", "messages"))
        assert exactly.bytes_sent <= most.bytes_sent <= exactly.bytes_sent * 1.15
        assert exactly.messages <= most.messages


@functools.cache
def brought_to_the_top(n: int, block: int) -> tuple[tuple[int, ...], ...]:
    """Of each panel, the rows from below its block on the diagonal that its pivots bring up (seed 100)."""
    state, numbers = 100, np.empty(n * (n + 1))
    for i in range(numbers.size):
        state = (6364136223846793005 * state + 1) % 2**64
        numbers[i] = 0.5 - (state >> 11) * 2.0**-53
    a = numbers.reshape(n + 1, n).T
    found = []
    for first in range(0, n, block):
        end, rows = min(n, first + block), np.arange(n)
        for k in range(first, end):
            pivot = k + int(np.abs(a[k:, k]).argmax())
            a[[k, pivot]], rows[[k, pivot]] = a[[pivot, k]], rows[[pivot, k]]
            a[k + 1 :, k] /= a[k, k]
            a[k + 1 :, k + 1 :] -= np.outer(a[k + 1 :, k], a[k, k + 1 :])
        found.append(tuple(int(row) for row in rows[first:end] if row >= end))
    return tuple(found)


@pytest.mark.mpi
@pytest.mark.parametrize("ranks", RANKS)
def test_updates_leave_in_as_many_messages_and_go_where_random_numbers_say(run: KernelRuns, ranks: int) -> None:
    words = ("bytes=64KiB", "sequence=lcg", "algorithm=halves,routed", "transport=messages")
    for point in run("hpcc/randomaccess", *words, ranks=ranks).points:
        step = declared(point)
        sent = point.count("bytes_sent")
        assert not differences(point, step, ("bytes_sent",)), dict(point.knobs)
        if point.knobs["algorithm"] == "halves":
            assert sent == WORD_BYTES * updates_that_leave(point.knobs["sequence"], ranks)
        assert step.bytes_sent == pytest.approx(sent, rel=0.02)


@functools.cache
def updates_that_leave(sequence: str, ranks: int) -> int:
    """Of a table of 2^13 words, updates whose word another rank has than the one that makes them (HPCC's sequences)."""
    bits, number, leave = 13, 1, 0
    words = 2**bits
    firsts = [words // ranks * rank + min(rank, words % ranks) for rank in range(ranks + 1)]
    maker = 0
    for update in range(4 * words):
        while update >= 4 * firsts[maker + 1]:
            maker += 1
        if sequence == "polynomial":
            number = (number << 1) % 2**64 ^ (7 if number >> 63 else 0)
        else:
            number = (6364136223846793005 * number + 1) % 2**64
        word = number % words if sequence == "polynomial" else number >> (64 - bits)
        leave += not firsts[maker] <= word < firsts[maker + 1]
    return leave


NODE = {
    "node/stream": (
        ("bytes=384KiB,5000000", "kernel=load,triad,update,copy", "store=plain,streaming", "threads=2"),
        ("bytes=384KiB", "pattern=strided,gather,streams,transposed", "stride=1000", "streams=7"),
    ),
    "node/gemm": (("n=50", "library=plain", "element=single,double-complex", "beta=0,1", "padding=3"),),
}


@pytest.mark.parametrize("name", NODE)
def test_counts_of_a_chunk_are_those_of_the_kernel(run: KernelRuns, name: str) -> None:
    for words in NODE[name]:
        for point in run(name, *words, ranks=1).points:
            assert not differences(point, declared(point)), dict(point.knobs)
