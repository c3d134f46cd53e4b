"""Collective operations: overlap, limit, and the worst of all calls by hand."""

import numpy as np
import pytest

from fake_run import MIB, lane, machine, point
from octant.analysis.reduce import measure
from octant.limit import Best, Known
from octant.metric import overlap_of
from octant.network import load
from octant.network.collectives import operations
from octant.record import Head, Point, RankResources, Samples, Series
from octant.workload import CollectiveTraffic, NoTraffic, Traffic
from octant.workloads.mpi.collective import _MODELLED, WORKLOAD, imb_overlap_of

KNOWN = Known(machine().topology, {"memory traffic": {frozenset({("a", 0), ("a", 1)}): Best(40e9, "")}})


def called(ns: int = 1000, hosts: tuple[str, str] = ("a", "a"), **knobs: str) -> Point:
    given = tuple(RankResources(host, (0,), ((0,),)) for host in hosts)
    counts = {"bytes_sent": 2 * MIB, "bytes_read": 2 * MIB, "bytes_written": 2 * MIB}
    knobs = {"pattern": "allreduce", "bytes": str(MIB), "buffers": "rotating", "call": "blocking", **knobs}
    return point("steps", counts=counts, knobs=knobs, lanes=(lane([ns] * 8),), ranks=2, given=given)


def value(name: str, *series: Series) -> float:
    samples = Samples(series)
    found = called()
    heads = tuple(one.head for one in series)
    found = Point(**{**found.__dict__, "heads": heads, "groups": ((0, 1),), "read": lambda: samples})
    return measure(WORKLOAD.metric(name), found, samples).value


def times(us: list[float], rank: int = 0, name: str = "step", preempted: frozenset[int] = frozenset()) -> Series:
    return Series(Head(name, rank), np.asarray(us) * 1000, preempted=preempted)


def test_overlap_is_the_overlapped_share_of_the_shorter_part() -> None:
    assert overlap_of(1.0, 1.0, 2.0) == 0
    assert overlap_of(1.0, 2.0, 2.0) == 1
    assert overlap_of(1.0, 3.0, 3.5) == pytest.approx(0.5)
    assert overlap_of(1.0, 1.0, 2.5) == pytest.approx(-0.5)
    assert imb_overlap_of(1.0, 3.0, 3.5) == pytest.approx(0.5 / 3)
    assert imb_overlap_of(1.0, 1.0, 2.5) == 0


def test_the_time_during_computation_is_that_of_the_call_alone() -> None:
    phases = [
        times([at], rank, f"phase/{name}")
        for rank in (0, 1)
        for name, at in (("pure", 10.0), ("compute", 20.0), ("overlapped", 25.0), ("overlapped/compute", 22.0))
    ]
    steps = [times([60.0], rank) for rank in (0, 1)]
    assert value("time", *steps) == pytest.approx(60e-6)
    assert value("time", *steps, *phases) == pytest.approx(10e-6)
    assert value("overlap", *steps, *phases) == pytest.approx(0.5)
    assert value("overlap_imb", *steps, *phases) == pytest.approx(0.25)
    assert value("test overhead", *steps, *phases) == pytest.approx(0.1)


def test_the_worst_call_and_the_worst_that_nothing_disturbed() -> None:
    series = (times([1, 9, 2, 3], 0), times([1, 1, 5, 4], 1, preempted=frozenset({1})))
    assert value("worst", *series) == pytest.approx(9e-6)
    assert value("worst_undisturbed", *series) == pytest.approx(5e-6)
    assert value("least", *series) == pytest.approx(1e-6)
    assert value("t_max", *series) == pytest.approx(3.75e-6)
    assert value("t_min", *series) == pytest.approx(2.75e-6)
    many = [times([1.0] * 998 + [7.0, 8.0], rank) for rank in (0, 1)]
    assert value("p99_9", *many) == pytest.approx(7e-6)


def test_the_limit_is_one_read_of_all_input_and_one_write_of_all_output() -> None:
    limit = WORKLOAD.least_seconds(KNOWN, machine(), called())
    assert limit is not None
    assert limit.seconds == pytest.approx(4 * MIB / 40e9)
    silent = (called(buffers="hot"), called(hosts=("a", "b")), called(call="nonblocking"))
    assert [WORKLOAD.least_seconds(KNOWN, machine(), one) for one in silent] == [None] * 3


def test_a_call_is_an_operation_of_the_model_or_says_why_not() -> None:
    assert WORKLOAD.traffic is not None

    def of(**knobs: str) -> CollectiveTraffic | NoTraffic | Traffic:
        assert WORKLOAD.traffic is not None
        return WORKLOAD.traffic(machine(), called(1000, ("a", "a"), **knobs))

    assert of(pattern="barrier") == CollectiveTraffic("barrier", 0)
    assert of(algorithm="ring") == CollectiveTraffic("allreduce", MIB, "ring")
    assert of(pattern="exscan") == CollectiveTraffic("scan", MIB)
    assert of(pattern="reduce-scatter", bytes="1001") == CollectiveTraffic("reduce-scatter", 501)  # of two ranks
    assert of(pattern="gatherv", counts="equal") == CollectiveTraffic("gather", MIB)
    for silent in (
        {"pattern": "gatherv", "counts": "linear"},
        {"pattern": "neighbour-alltoall"},
        {"pattern": "reduce-local"},
        {"pattern": "barrier", "algorithm": "tree"},
    ):
        assert isinstance(of(**silent), NoTraffic)


def test_the_model_knows_every_operation_and_algorithm_that_is_named() -> None:
    known = operations(load("bgp"))
    for pattern, operation in _MODELLED.items():
        assert operation in known, pattern
    for operation, algorithms in {"allreduce": ("ring", "rabenseifner"), "alltoall": ("bruck", "prime-stride")}.items():
        assert set(algorithms) <= set(known[operation])
