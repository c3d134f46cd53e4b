"""Limits that a request needs, and the short requests that measure them, from the declarations of the workloads."""

from collections.abc import Mapping

import pytest

from fake_run import KIB, MIB, machine
from octant.build.describe import describe
from octant.request import Request, Shape, Subject
from octant.runs.limit_requests import LIMIT_LAUNCHES, limit_requests, needed_limits

LARGE, ONE_RANK = str(256 * MIB), Shape()


def needed(workload: str, knobs: Mapping[str, str], shape: Shape = ONE_RANK) -> dict[str, Request]:
    """Return the request that measures each limit."""
    found = needed_limits(Request(Subject(workload), knobs, shape), machine(cores=4))
    return {one.name: one.request for one in found}


@pytest.mark.parametrize(
    ("workload", "knobs", "names"),
    [
        ("node/gemm", {"n": "256"}, ["fma double"]),
        ("node/gemm", {"n": "256", "element": "single"}, ["fma single"]),
        ("node/gemm", {"n": "256", "element": "double,single"}, ["fma double", "fma single"]),
        ("hpcc/hpl", {"n": "1000"}, ["fma double"]),
        ("node/stream", {"bytes": LARGE}, ["memory traffic"]),
        ("node/stream", {"bytes": str(64 * KIB)}, []),  # in a cache
        ("node/stream", {"bytes": LARGE, "store": "plain,streaming", "pages": "thp"}, ["memory traffic"]),
        ("node/latency", {"bytes": LARGE}, [f"load latency; {LARGE} B"]),
        ("node/latency", {"bytes": LARGE, "pages": "base,thp"}, []),  # it measures the limit itself
        ("node/latency", {"bytes": str(16 * KIB)}, []),  # cycles of the first-level cache
        ("mpi/p2p", {"bytes": "8"}, ["cache-line transfer"]),
        ("mpi/p2p", {"bytes": "8", "pattern": "uniband"}, []),  # messages overlap
        ("mpi/p2p", {"bytes": "1MiB", "buffers": "rotating"}, ["memory traffic"]),
        ("mpi/p2p", {"bytes": "1MiB"}, []),
        ("node/peakflops", {}, []),
    ],
)
def test_a_request_needs_the_limits_that_change_its_least_time(
    workload: str, knobs: dict[str, str], names: list[str]
) -> None:
    ranks = 2 if workload == "mpi/p2p" else 1
    assert list(needed(workload, knobs, Shape(ranks))) == names


def test_a_limit_is_measured_with_the_ranks_threads_and_placement_of_the_request() -> None:
    of_ranks = needed("hpcc/hpl", {"n": "1000"}, Shape(2, "2x1", launcher="mpiexec"))["fma double"]
    assert (of_ranks.shape, of_ranks.repeats) == (Shape(2, "2x1", launcher="mpiexec"), LIMIT_LAUNCHES)
    assert of_ranks.subject.name == "node/peakflops"
    of_threads = needed("node/gemm", {"n": "256", "threads": "2", "pin": "none"})["fma double"]
    assert dict(of_threads.knobs) == {"element": "double", "threads": "2", "pin": "none"}
    of_pairs = needed("mpi/p2p", {"bytes": "8"}, Shape(2, "2x1"))["cache-line transfer"]
    assert of_pairs.shape == Shape()
    memory = needed("node/stream", {"bytes": LARGE, "memory": "interleave"}, Shape(4))["memory traffic"]
    assert dict(memory.knobs) == {
        "kernel": "triad", "store": "plain,streaming", "bytes": str(32 * MIB), "pages": "try-thp",
    }  # fmt: skip
    assert memory.show.purpose == "limit"
    assert not memory.show.table


@pytest.mark.parametrize("shape", [Shape(2, hosts=("a", "b")), Shape(2, link="1Gbit/s,delay=1ms")])
def test_limits_of_this_machine_do_not_apply_to_other_hosts_and_emulated_links(shape: Shape) -> None:
    assert needed("mpi/p2p", {"bytes": "8"}, shape) == {}
    assert needed("hpcc/hpl", {"n": "1000"}, shape) == {}


def test_the_kernels_accept_the_knobs_of_their_short_requests() -> None:
    found = [
        *needed("node/gemm", {"element": "double,single"}).values(),
        *needed("node/stream", {}).values(),
        *needed("node/latency", {}).values(),
        *needed("mpi/p2p", {"bytes": "8"}, Shape(2)).values(),
    ]
    assert len(found) == 5
    for request in found:
        describe(request.subject.name, request.knobs, request.shape.ranks)  # refuses unknown knobs and values


def test_a_program_needs_no_limit() -> None:
    assert needed_limits(Request(Subject(command=("sleep", "1"))), machine()) == ()


def test_a_curve_over_many_footprints_measures_no_limit_of_each() -> None:
    few, many = (",".join(f"{number}MiB" for number in range(100, 100 + count)) for count in (4, 5))
    for sizes, count in ((few, 4), (many, 0)):
        found = needed_limits(Request(Subject("node/latency"), {"bytes": sizes}), machine())
        assert len(limit_requests(found)) == count
