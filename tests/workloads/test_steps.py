"""What `step.py` of a workload declares, compared with what its kernel counts in one step, on 1 to 8 ranks."""

import functools
import os
from collections.abc import Collection, Sequence

import numpy as np
import pytest

from kernel_run import KernelRun, KernelRuns
from octant.record import Point, known_count
from octant.step import Step
from octant.workloads.hpcc.hpl.step import step_with_pivots
from octant.workloads.hpcc.randomaccess.step import WORD_BYTES
from paths import OPENMPI_KERNELS
from step_counts import declared, differences

SHORT = ("seconds=0.001", "least=5", "samples=5")
CORES = 2
RANKS = (2, 5) if "CI" in os.environ else (1, 2, 3, 8)
GRIDS = ("1x2", "2x2") if "CI" in os.environ else ("1x2", "2x1", "2x4")
NOT_DECLARED = {
    "hpcc/gfft": {"flops"},  # depends on the vectors of the processor
    "hpcc/fft": {"flops"},
    "node/fft": {"flops"},
    "node/stream": {"lines", "bytes_unused"},  # of pattern=gather, drawn at random
    "node/core": {"operations"},  # of vectors side by side: the processor decides how many
    "node/peakflops": {"flops"},
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


def found_otherwise(point: Point, step: Step, but: Collection[str] = ()) -> object:
    """Where the kernel counts something else than the step declares."""
    return differences(point, step, but, NOT_DECLARED.get(point.workload, ()))


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
        assert not found_otherwise(point, declared(point)), (dict(point.knobs), ranks)


@pytest.mark.mpi
@pytest.mark.parametrize("name", NOTHING_SENT)
def test_counts_without_messages_are_those_of_the_kernel(run: KernelRuns, name: str) -> None:
    for point in run(name, *NOTHING_SENT[name], ranks=2).points:
        assert not found_otherwise(point, declared(point)), dict(point.knobs)
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
            assert not found_otherwise(point, declared(point)), dict(point.knobs)
            continue
        exactly = step_with_pivots(point.knobs, known_count(point.ranks), 1, brought_to_the_top(n, block))
        assert not found_otherwise(point, exactly), dict(point.knobs)
        most = declared(point)
        assert not found_otherwise(point, most, ("bytes_sent", "messages"))
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
        assert not found_otherwise(point, step, ("bytes_sent",)), dict(point.knobs)
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


PAIRS = (
    "pattern=pingpong,pingping,derived,posted,persistent-pingpong,large-count,sendrecv,sendrecv-replace,isendrecv,"
    "partitioned,exchange,persistent,uniband,biband,duplex,fan-in,fan-out,halo-2d,halo-3d"
)
COLLECTIVES = (
    "pattern=allreduce,barrier,bcast,reduce,reduce-scatter,reduce-scatter-block,gather,gatherv,scatter,scatterv,"
    "allgather,allgatherv,alltoall,alltoallv,alltoallw,scan,exscan,reduce-local"
)
THREADS = "pattern=pingpong,pingping,sendrecv,exchange,uniband,biband,allreduce,bcast,barrier,reduce"
ONE_SIDED = "put,bidirectional-put,put-local,counter,all-accumulate,get-accumulate,fetch-and-op,compare-and-swap,window"
MESSAGES = [
    ("mpi/p2p", 2, (PAIRS, "bytes=8", "window=5", "depth=3")),
    ("mpi/p2p", 5, ("pattern=uniband,biband,fan-out,halo-2d,halo-3d", "bytes=100", "window=3")),
    ("mpi/p2p", 8, ("pattern=halo-2d,halo-3d", "bytes=100")),
    ("mpi/ring", 3, ("bytes=1000", "loops=2", "buffers=hot,rotating")),
    ("mpi/collective", 3, (COLLECTIVES, "bytes=100", "type=double", "root=rotating")),
    ("mpi/startup", 3, ("bytes=100",)),
    ("mpi/threads", 3, (THREADS, "bytes=100", "window=3", "repeats=2", "oversubscribe=yes")),
    ("mpi/exchange", 2, ("bytes=8", "mode=single,ten")),
    ("mpi/exchange", 3, ("bytes=64", "protocol=unordered")),
    ("mpi/clock", 3, ("pattern=offset", "exchanges=7")),
    ("mpi/guidelines", 3, ("guideline=control", "bytes=1000")),
    ("mpi/mpiio", 2, ("pattern=s-read-indv", "bytes=1000", "aggregate=2")),
    ("mpi/onesided", 2, (f"pattern={ONE_SIDED}", "bytes=8", "window=3")),
    ("mpi/onesided", 3, ("pattern=one-put-all,all-get-all,exchange-put", "bytes=8")),
]


@pytest.mark.mpi
@pytest.mark.parametrize(("name", "ranks", "words"), MESSAGES)
def test_patterns_send_what_their_kernels_count(run: KernelRuns, name: str, ranks: int, words: Sequence[str]) -> None:
    for point in run(name, *words, ranks=ranks).points:
        assert not found_otherwise(point, declared(point)), dict(point.knobs)


NODE = {
    "node/stream": (
        ("bytes=384KiB,5000000", "kernel=load,triad,update,copy", "store=plain,streaming", "threads=2"),
        ("bytes=384KiB", "pattern=strided,gather,streams,transposed", "stride=1000", "streams=7"),
    ),
    "node/randomaccess": (("bytes=100000", "threads=2", "prefetch=no,yes"),),
    "node/stencil": (("n=32", "planes=0,20", "blocking=none,time", "element=single,double"),),
    "node/lapack": (("n=20", "routine=lu,cholesky,qr,eigenvalues,eigenvectors,svd"),),
    "node/fft": (("n=60", "rows=0,4", "batch=1,3", "element=double-complex,single", "threads=2"),),
    "hpcc/fft": (("n=1000", "part=transform,plan,columns", "threads=2"),),
    "node/latency": (
        ("pattern=lines,loaded", "bytes=64KiB", "load=64KiB", "threads=2"),
        ("pattern=pages", "count=50", "stride=128", "threads=2"),
    ),
    "node/coherence": (("pattern=pairs,sharing,flush", "protocol=read", "trips=100", "bytes=5000"),),
    "node/core": (
        ("operation=rounding,divide,popcount", "form=latency", "threads=2"),
        ("operation=load,nop,fma", "form=throughput"),
        ("pattern=rob-size,mlp,branch", "bytes=100000"),
    ),
    "node/memory": (("pattern=free,unmap,segments", "bytes=1500000", "block=100"),),
    "node/peakflops": (("width=auto,256", "element=double,single", "threads=2"),),
    "node/vecmath": (("function=pow", "library=strict", "n=7", "element=double,single", "threads=2"),),
}


@pytest.mark.parametrize("name", NODE)
def test_counts_of_a_chunk_are_those_of_the_kernel(run: KernelRuns, name: str) -> None:
    for words in NODE[name]:
        for point in run(name, *words, ranks=1).points:
            assert not found_otherwise(point, declared(point)), dict(point.knobs)
