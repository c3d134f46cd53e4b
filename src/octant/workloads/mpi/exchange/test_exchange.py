"""Figures of an exchange by hand, scenarios against the network model, every protocol, and the faults it may have."""

import pytest

from fake_run import lane, machine, point
from kernel_run import KernelRuns
from octant.analysis.figures import figure
from octant.failure import Exit, Refusal
from octant.network.applications import pair_experiments
from octant.network.files import load
from octant.record import Point, Work
from octant.workload import Traffic
from octant.workloads.mpi.exchange import SCENARIOS, WORKLOAD, groups_of

BYTES = 1000
TINY = ("seconds=0.01", "least=5", "samples=20")


def two_pairs(repeats: int = 1) -> Point:
    """Pair 0 takes 15 us on rank 0 and 20 us on rank 2, pair 1 takes 40 us; once rank 2 needs 60 us."""
    times = {0: [15_000] * 9, 2: [20_000] * 2 + [60_000] + [20_000] * 6, 1: [40_000] * 9, 3: [30_000] * 9}
    lanes = tuple(lane(ns, rank=rank, group=rank % 2) for rank, ns in times.items())
    counts = {"exchanges": repeats, "messages": 2 * repeats, "bytes_sent": 2 * repeats * BYTES}
    work = tuple(Work(counts, lanes=2, group=group) for group in (0, 1))
    knobs = {"bytes": str(BYTES), "mode": "ten" if repeats == 10 else "single", "protocol": "sendrecv"}
    return point("steps", knobs=knobs, lanes=lanes, work=work, ranks=4, groups=((0, 2), (1, 3)))


@pytest.mark.parametrize(
    ("metric", "expected"),
    [
        ("time", 40e-6),
        ("bandwidth", 2 * BYTES / 20e-6 + 2 * BYTES / 40e-6),
        ("pair bandwidth", 2 * BYTES / 40e-6),
        ("worst time", 60e-6),
    ],
)
def test_time_and_bandwidth_of_pairs(metric: str, expected: float) -> None:
    value = figure(WORKLOAD, [two_pairs()], metric).value
    assert value is not None
    assert value.middle == pytest.approx(expected)


def test_ten_in_a_row_are_ten_exchanges() -> None:
    for metric in ("time", "worst time"):
        one, ten = (figure(WORKLOAD, [two_pairs(n)], metric).value for n in (1, 10))
        assert one is not None
        assert ten is not None
        assert ten.middle == pytest.approx(one.middle / 10)


def test_a_pair_alone_is_traffic_of_the_network_model() -> None:
    assert WORKLOAD.traffic is not None
    several = WORKLOAD.traffic(machine(), two_pairs())
    assert isinstance(several, Traffic)
    assert not several.of_link  # one pair among several does not use the whole link
    alone = point(
        "steps", knobs={"mode": "cold"}, lanes=(lane([1000] * 9),), counts={"messages": 2, "bytes_sent": 16}, ranks=2
    )
    traffic = WORKLOAD.traffic(machine(), alone)
    assert isinstance(traffic, Traffic)
    assert traffic.both_ways
    assert traffic.of_link
    assert (traffic.pattern, traffic.units, traffic.may_be_cached) == ("first-to-last", 8, False)


def pairs_of(groups: str, ranks: int) -> set[tuple[int, int]]:
    """Return the pairs of ranks that `shift:K`, `shift:K:N` and `mirror:C` define."""
    kind, first, *most = groups.split(":")
    by = ranks // 2 if first == "P/2" else int(first)
    if kind == "mirror":
        return {(r, (ranks // by - 1 - r // by) * by + r % by) for r in range(ranks // 2)}
    found = [(r, r + by) for r in range(ranks - by) if r % (2 * by) < by]
    return set(found[: int(most[0])] if most else found)


def test_scenarios_have_the_pairs_of_the_network_model() -> None:
    experiments = {one.name: one for one in pair_experiments(load("bgp"))}
    assert list(experiments) == list(SCENARIOS)
    for name, one in experiments.items():
        scenario, nodes = SCENARIOS[name], one.sizes[0] * one.sizes[1] * one.sizes[2]
        assert (scenario.cores, scenario.nodes) == (one.ranks_per_node, nodes)
        assert len(pairs_of(groups_of(name, one.ranks_per_node), nodes * one.ranks_per_node)) == one.pairs
    assert (0, 252) in pairs_of(groups_of("h", 4), 256), "node 0 with node 63"
    with pytest.raises(Refusal, match="try a to h"):
        groups_of("i", 4)


TWO_SIDED = "sendrecv,isend-recv,irecv-send,irecv-rsend,irecv-isend,isend-irecv,ordered,ssend-ordered,irecv-ssend"
OTHERS = "issend-recv,isend-mprobe,alltoallv,irecv-rsend-ahead,bsend-recv,irecv-bsend,persistent,persistent-ready"
WINDOWS = "put-fence,put-pscw,put-lock,put-flush,get-fence,get-pscw,get-lock,get-flush,shared-store"
EVERY = f"{TWO_SIDED},replace,isendrecv,{OTHERS},partitioned,neighbour-alltoall,{WINDOWS}"


@pytest.mark.mpi
def test_every_protocol_is_right_or_absent(run_kernel: KernelRuns) -> None:
    done = run_kernel("exchange", f"protocol={EVERY}", "bytes=0,40000", *TINY)
    lacking = {failure.knobs["protocol"] for failure in done.failures}
    assert lacking <= {"alltoallv", "partitioned", "isendrecv"}, done.stderr
    assert len(done.points) == 2 * len(EVERY.split(",")) - len(done.failures)
    assert all(point.passed for point in done.points)
    assert all(point.batch == 1 for point in done.points), "a single exchange is single"


@pytest.mark.mpi
def test_a_short_message_is_found_where_it_ends(run_kernel: KernelRuns) -> None:
    done = run_kernel("exchange", "protocol=sendrecv,irecv-rsend-ahead,put-fence", "bytes=9000", *TINY, fault="short")
    assert done.code == Exit.WRONG_ANSWER, done.stderr
    assert [point.failed_checks[0].where for point in done.points] == ["rank 0, byte 8999 of 9000 from rank 1"] * 3


@pytest.mark.mpi
def test_a_put_without_a_notification_is_no_exchange(run_kernel: KernelRuns) -> None:
    done = run_kernel("exchange", "protocol=put-flush,get-flush,shared-store", *TINY, fault="silent")
    assert done.code == Exit.WRONG_ANSWER, done.stderr
    assert [point.passed for point in done.points] == [False, False, False]


@pytest.mark.mpi
def test_a_throw_on_one_rank_ends_the_job_although_windows_are_freed_together(run_kernel: KernelRuns) -> None:
    done = run_kernel("exchange", "protocol=put-flush", *TINY, fault="throw:1")
    assert done.code == 1
    assert "fault 'throw' was injected" in done.stderr


@pytest.mark.mpi
def test_modes_and_the_hang_test(run_kernel: KernelRuns) -> None:
    """Ten are ten, cold walks, and unordered sends are found to block without hanging."""
    modes = run_kernel("exchange", "mode=single,cold,ten", "walk=1MiB", "bytes=8", *TINY)
    assert [point.work[0].counts["exchanges"] for point in modes.points] == [1, 1, 10]
    found = run_kernel("exchange", "protocol=unordered", "bytes=4MiB", "least=5", "seconds=0.01").points[-1]
    (longest,) = [result.value for result in found.results if result.bound is None]
    assert 0 <= longest <= 4 << 20
    assert found.passed


@pytest.mark.mpi
def test_a_rank_that_is_switched_out_once_does_not_end_the_search(run_kernel: KernelRuns) -> None:
    words = ("protocol=unordered", "bytes=1KiB", "least=5", "seconds=0.01")
    for fault in ("", "late:1"):
        found = run_kernel("exchange", *words, fault=fault).points[-1]
        assert [result.value for result in found.results if result.bound is None] == [1024], "MPICH keeps so short ones"


@pytest.mark.mpi
def test_a_shortage_on_one_rank_during_the_work_ends_the_job(run_kernel: KernelRuns) -> None:
    """The other waits in a collective; to free windows both would be needed."""
    done = run_kernel("exchange", "protocol=put-flush,sendrecv", *TINY, fault="lack:1")
    assert done.code == 1, done.stderr
    assert "rank 1: cannot continue here (fault 'lack' was injected)" in done.failures[0].reason
    assert not done.points


@pytest.mark.mpi
def test_empty_messages_are_no_exchange_by_alltoallv(run_kernel: KernelRuns) -> None:
    done = run_kernel("exchange", "protocol=alltoallv", "bytes=0", *TINY)
    assert done.code == 3
    assert "try bytes=1" in done.stderr
