"""gfft: its limit by hand, the running program over ranks, transports and schedules, and what it refuses."""

from math import log2

import pytest

from fake_run import machine, point
from kernel_run import MORE_RANKS, QUICK, KernelRuns
from octant.failure import Exit
from octant.limit import FMA, Best, Known
from octant.record import Point
from octant.workload import NoTraffic
from octant.workloads.hpcc.gfft import WORKLOAD

ONE = frozenset({("node", 0)})
# Of 375 numbers, 15 x 25, two ranks have other blocks of the input than of the result.
WORDS = ("n=375,8100", "transport=shared,messages,hierarchical", "seconds=0.01", "least=5", "samples=10")
MANY = [4, 7] if MORE_RANKS == [4, 5] else [3, 4, 6, 7, 8]  # as MORE_RANKS; seven cannot have equal blocks


def transform(n: int, transport: str = "shared") -> Point:
    counts = {"nominal_flops": 110 * n, "flops": 120 * n, "bytes_read": 32 * n, "bytes_written": 32 * n}
    return point(counts=counts, knobs={"n": str(n), "transport": transport})


def test_the_longer_of_operations_and_passes_over_memory_limits_it() -> None:
    """2^22 numbers: 64 n bytes at 16 GB/s take longer than 120 n operations at 60 Gflop/s."""
    n = 2**22
    best = {"memory traffic": {ONE: Best(16e9, "")}, FMA["double"]: {ONE: Best(60e9, "")}, FMA["single"]: {}}
    limit = WORKLOAD.least_seconds(Known(machine().topology, best), machine(), transform(n))
    assert limit is not None
    assert limit.seconds == pytest.approx(64 * n / 16e9)
    small = WORKLOAD.least_seconds(Known(machine().topology, best), machine(), transform(2**14))
    assert small is not None
    assert small.seconds == pytest.approx(120 * 2**14 / 60e9), "its arrays fit into the caches"


def test_a_rate_of_transforms_says_nothing_of_links() -> None:
    assert WORKLOAD.traffic is not None
    for transport in ("shared", "messages"):
        assert isinstance(WORKLOAD.traffic(machine(), transform(4096, transport)), NoTraffic)


@pytest.mark.mpi
@pytest.mark.parametrize("ranks", [1, 2])
@pytest.mark.parametrize(
    "words",
    [
        ("lines=static,dynamic", "stores=plain,streaming"),
        ("schedule=ring,xor,library", "chunks=3", "width=128", "team=1"),
    ],
)
def test_every_way_gives_the_transform(run_kernel: KernelRuns, ranks: int, words: tuple[str, ...]) -> None:
    done = run_kernel("hpcc/gfft", *WORDS, *words, ranks=ranks)
    wrong = [(point.knobs, point.checks) for point in done.points if not point.passed]
    assert not wrong, wrong
    assert done.code == 0, done.stderr
    assert len(done.points) >= 12
    assert all(point.passed and len(point.checks) == 3 for point in done.points)


@pytest.mark.mpi
@pytest.mark.parametrize("ranks", MANY)
def test_any_number_of_ranks_alone_and_in_teams(run_over_openmpi: KernelRuns, ranks: int) -> None:
    """576 numbers leave eight ranks lines of three; 14400 leave them lines that fill vectors in part.

    Teams of two: what goes from rank to rank of another team is counted, of blocks that are equal.
    """
    words = ("n=576,14400", "transport=shared,messages,hierarchical", "schedule=prime,library", "chunks=3", "team=2")
    done = run_over_openmpi("hpcc/gfft", *words, "seconds=0.01", "least=5", "samples=10", ranks=ranks)
    assert done.code == 0, done.stderr
    assert len(done.points) == 12
    assert all(len(point.checks) == 3 and point.passed for point in done.points)
    near = {"shared": ranks**2, "messages": ranks, "hierarchical": 4 * (ranks // 2) + ranks % 2}
    for found in done.points:
        n, far = int(found.knobs["n"]), ranks**2 - near[found.knobs["transport"]]
        equal = int(n**0.5) % ranks == 0
        assert equal == (ranks != 7)
        assert found.count("nominal_flops") == pytest.approx(5 * n * log2(n), abs=ranks)
        assert not equal or found.count("bytes_sent") == 3 * 16 * n * far / ranks**2
        assert (found.count("bytes_sent") > 0) == (far > 0)


@pytest.mark.mpi
def test_groups_transform_numbers_of_their_own(run_kernel: KernelRuns) -> None:
    done = run_kernel("hpcc/gfft", "n=4096", "transport=messages,shared,hierarchical", "groups=1", *QUICK, ranks=2)
    assert done.code == 0, done.stderr
    assert all(len(point.groups) == 2 for point in done.points)
    (one,) = {point.count("nominal_flops") for point in done.points}
    assert one == 2 * 5 * 4096 * 12


@pytest.mark.mpi
def test_what_is_sent_is_counted_from_the_blocks(run_kernel: KernelRuns) -> None:
    """Of 4096 numbers on two ranks, half of each rank's go to the other in each of three exchanges."""
    words = ("n=4096", "transport=messages,shared,hierarchical", "chunks=2", "team=0,1")
    done = run_kernel("hpcc/gfft", *words, *QUICK, ranks=2)
    assert len(done.points) == 6
    for found in done.points:
        alone = found.knobs["transport"] == "messages" or (
            found.knobs["transport"] == "hierarchical" and found.knobs["team"] == "1"
        )
        assert found.count("bytes_sent") == (3 * 2 * 1024 * 16 if alone else 0)
        assert found.count("messages") == (2 * 6 if alone else 0)


@pytest.mark.mpi
@pytest.mark.parametrize("check", [0, 1, 2])
def test_each_check_fails_by_itself(run_kernel: KernelRuns, check: int) -> None:
    words = ("n=1024", "transport=shared,messages,hierarchical")
    done = run_kernel("hpcc/gfft", *words, *QUICK, fault=f"wrong:{check}", ranks=2)
    assert done.code == Exit.WRONG_ANSWER
    assert len(done.points) == 3
    for found in done.points:
        assert [index for index, one in enumerate(found.checks) if not one.passed] == [check]


@pytest.mark.mpi
@pytest.mark.parametrize(
    ("words", "tried"), [(("n=4098",), "try n=4096"), (("n=2",), "try n=4"), (("n=16", "chunks=65537"), "chunks=65537")]
)
def test_a_length_that_ranks_cannot_share_is_refused(
    run_kernel: KernelRuns, words: tuple[str, ...], tried: str
) -> None:
    done = run_kernel("hpcc/gfft", *words, *QUICK, ranks=2)
    assert done.code != 0
    assert tried in done.stderr + "".join(failure.reason for failure in done.failures)
