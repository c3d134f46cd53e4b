"""Figures and limit of p2p by hand, and its program: every pattern is right, and every fault is seen."""

import json
import subprocess
from pathlib import Path

import numpy as np
import pytest

from fake_run import MIB, lane, machine, point, there_and_back
from kernel_run import MORE_RANKS, KernelRuns
from octant.analysis.figures import figure
from octant.failure import Exit
from octant.limit import Best, Known
from octant.record import Point, RankResources
from octant.workload import NoTraffic, Traffic
from octant.workloads.mpi.p2p import WORKLOAD

KNOWN = Known(
    machine().topology,
    {
        "memory traffic": {frozenset({("a", 0)}): Best(20e9, ""), frozenset({("a", 0), ("a", 1)}): Best(40e9, "")},
        "cache-line transfer": {},
    },
)

SHORT = ("window=4", "depth=20", "seconds=0.002", "least=5", "samples=100")
THERE_AND_BACK, BOTH_WAYS, RING, FACES, WINDOW = (2, 2, 2), (2, 1, 1), (2, 1, 2), (4, 1, 4), (4, 4, 4)
COUNTED = {
    "pingpong": THERE_AND_BACK, "pingping": BOTH_WAYS, "sendrecv": RING, "exchange": FACES, "sendrecv-replace": RING,
    "isendrecv": RING, "uniband": WINDOW, "biband": (8, 4, 8), "fan-in": WINDOW, "fan-out": WINDOW,
    "duplex": (12, 8, 12), "halo-2d": FACES, "halo-3d": FACES, "persistent-pingpong": THERE_AND_BACK,
    "persistent": FACES, "partitioned": BOTH_WAYS, "derived": THERE_AND_BACK, "packed": THERE_AND_BACK,
    "posted": THERE_AND_BACK, "unexpected": THERE_AND_BACK, "large-count": (1, 1, 1),
}  # fmt: skip
"""Of two ranks with windows of 4: messages of a step, by what its time is divided, and messages in its bandwidth."""
BLIND = {
    1: {"partitioned"},  # parts have one length
    2: {"large-count"},  # which compares its own memory only
    4: {"pingpong", "pingping", "sendrecv", "sendrecv-replace", "isendrecv", "persistent-pingpong", "partitioned",
        "derived", "packed", "large-count"},  # one message alone has no order
}  # fmt: skip
"""Patterns in which a fault cannot be injected."""
QUEUES = {"posted", "unexpected"}


def failing(fault: int, pattern: str) -> int:
    """Return the check that must detect a fault: queues have a separate one."""
    if pattern in QUEUES and fault == 3:
        return 3
    return 0 if fault > 2 or (fault, pattern) == (1, "isendrecv") else fault  # its status is undefined in MPICH


def pingpong(length: int, ns: int, buffers: str = "rotating", hosts: tuple[str, str] = ("a", "a")) -> Point:
    given = tuple(RankResources(host, (0,), ((0,),)) for host in hosts)
    knobs = {"pattern": "pingpong", "bytes": str(length), "buffers": buffers}
    return point("steps", counts=there_and_back(length), knobs=knobs, lanes=(lane([ns] * 8),), ranks=2, given=given)


def value(of: Point, metric: str) -> float:
    found = figure(WORKLOAD, [of], metric).value
    assert found is not None
    return found.middle


def test_a_ping_pong_s_time_is_one_way_and_its_bandwidth_too() -> None:
    found = pingpong(MIB, 200_000)
    assert value(found, "time") == pytest.approx(1e-4)
    assert value(found, "bandwidth") == pytest.approx(MIB / 1e-4)
    assert value(found, "message rate") == pytest.approx(1e4)


def test_an_exchange_is_read_in_the_definitions_of_each_tool() -> None:
    """Two ranks, steps of 1, 1 and 4 µs on one and always 2 µs on the other; messages of 500 B, 4 a step in all."""
    steps = (np.array([1000, 1000, 4000]), np.array([2000, 2000, 2000]))
    counts = {"messages": 4, "bytes_sent": 2000, "turns": 1, "bytes_passed": 2000}
    lanes = tuple(lane(ns.tolist(), rank=rank) for rank, ns in enumerate(steps))
    found = point("steps", counts=counts, knobs={"pattern": "exchange"}, lanes=lanes, ranks=2)
    assert value(found, "time") == pytest.approx(2e-6)  # the slowest rank's of each step, 2, 2 and 4: their median
    assert [value(found, f"t_{how}") for how in ("min", "avg", "max")] == pytest.approx([2e-6, 2e-6, 2e-6])
    assert value(found, "bandwidth") == pytest.approx(4 * 500 / 2e-6)
    assert value(found, "message rate") == pytest.approx(4 / 2e-6)


def test_a_mean_over_repetitions_comes_before_the_ranks_in_imb_s_times() -> None:
    counts = {"messages": 2, "bytes_sent": 2000, "turns": 1, "bytes_passed": 2000}
    lanes = tuple(lane(ns, rank=rank) for rank, ns in enumerate(([1000, 1000, 7000], [2000, 2000, 2000])))
    found = point("steps", counts=counts, knobs={"pattern": "sendrecv"}, lanes=lanes, ranks=2)
    times = [value(found, name) for name in ("time", "t_min", "t_avg", "t_max")]
    assert times == pytest.approx([2e-6, 2e-6, 2.5e-6, 3e-6])
    assert value(found, "mean bandwidth") == pytest.approx(2000 / 3e-6)


def test_the_limit_is_one_read_and_one_write_of_each_message() -> None:
    limit = WORKLOAD.least_seconds(KNOWN, machine(), pingpong(MIB, 200_000))
    assert limit is not None
    assert limit.seconds == pytest.approx(2 * 2 * MIB / 40e9)  # of a step: there and back
    for silent in (
        pingpong(8, 1000),
        pingpong(MIB, 200_000, buffers="hot"),
        pingpong(MIB, 200_000, hosts=("a", "b")),
    ):
        assert WORKLOAD.least_seconds(KNOWN, machine(), silent) is None


def test_the_limit_of_a_short_message_is_the_transfer_of_a_cache_line() -> None:
    by_name = {**KNOWN.by_name, "cache-line transfer": {frozenset({("", 0)}): Best(1 / 50e-9, "")}}
    known = Known(KNOWN.topology, by_name)
    limit = WORKLOAD.least_seconds(known, machine(), pingpong(8, 1000, "hot"))
    assert limit is not None
    assert limit.seconds == pytest.approx(2 * 50e-9)  # of a step: there and back
    assert limit.source == "one transfer of a cache line between the nearest cores, measured in this run"
    assert WORKLOAD.least_seconds(known, machine(), pingpong(65, 1000, "hot")) is None
    assert WORKLOAD.least_seconds(known, machine(), pingpong(8, 1000, "hot", ("a", "b"))) is None


def test_a_message_is_one_flow_to_the_network_model() -> None:
    assert WORKLOAD.traffic is not None
    hot, rotating = (WORKLOAD.traffic(machine(), pingpong(4096, 1000, buffers=b)) for b in ("hot", "rotating"))
    assert isinstance(hot, Traffic)
    assert isinstance(rotating, Traffic)
    assert (hot.pattern, hot.units, hot.may_be_cached) == ("first-to-last", 4096, True)
    assert not rotating.may_be_cached
    assert hot.of_link
    queued = point("steps", counts={"messages": 4, "bytes_sent": 32}, knobs={"pattern": "posted"})
    assert isinstance(WORKLOAD.traffic(machine(), queued), NoTraffic)


@pytest.mark.parametrize(
    ("pattern", "ranks", "messages", "expected"),
    [
        ("exchange", 4, 8, ("exchange", 16, 1, 1)),
        ("sendrecv-replace", 4, 4, ("sendrecv", 16, 1, 1)),
        ("uniband", 4, 2 * 64, ("uniband", 16, 64, 64)),
        ("biband", 2, 2 * 64, ("biband", 16, 64, 64)),
        ("fan-in", 5, 4 * 64, ("fan-in", 4, 4 * 64, 64)),  # the headline is the step over all messages
        ("halo-2d", 4, 16, ("halo-2d", 16, 1, 1)),
    ],
)
def test_patterns_have_the_model_s_names_and_parts(
    pattern: str, ranks: int, messages: int, expected: tuple[str, float, int, int]
) -> None:
    counts = {"messages": messages, "bytes_sent": 16 * messages}
    found = point("steps", counts=counts, knobs={"pattern": pattern, "window": "64"}, ranks=ranks)
    assert WORKLOAD.traffic is not None
    traffic = WORKLOAD.traffic(machine(), found)
    assert isinstance(traffic, Traffic)
    assert (traffic.pattern, traffic.units, traffic.parts, traffic.at_once) == expected
    assert traffic.units * traffic.parts / traffic.at_once == 16  # the length of a message
    assert not traffic.of_link


def test_every_pattern_is_answered_or_says_why_not() -> None:
    assert WORKLOAD.traffic is not None
    for pattern in COUNTED:
        found = point(
            "steps", counts={"messages": 4, "bytes_sent": 32}, knobs={"pattern": pattern, "window": "8"}, ranks=2
        )
        answer = WORKLOAD.traffic(machine(), found)
        assert isinstance(answer, Traffic) or (isinstance(answer, NoTraffic) and answer.reason)


def test_duplex_is_what_two_windows_at_once_take_over_one() -> None:
    lanes = tuple(
        lane([ns] * 8, name=name) for name, ns in (("step", 3000), ("phase/one_way", 1200), ("phase/both_ways", 1800))
    )
    counts = {"messages": 12, "bytes_sent": 12_000, "turns": 8, "bytes_passed": 12_000}
    found = point("steps", counts=counts, knobs={"pattern": "duplex"}, lanes=lanes, ranks=2)
    assert value(found, "duplex") == pytest.approx(1.5)


def test_a_perceived_bandwidth_begins_when_the_last_part_is_ready() -> None:
    lanes = tuple(
        lane([ns] * 8, name=name) for name, ns in (("step", 5000), ("phase/early", 4000), ("phase/late", 1000))
    )
    counts = {"messages": 2, "bytes_sent": 2000, "turns": 1, "bytes_passed": 1000}
    found = point("steps", counts=counts, knobs={"pattern": "partitioned"}, lanes=lanes, ranks=2)
    assert value(found, "perceived bandwidth") == pytest.approx(1000 / 1e-6)
    assert value(found, "bandwidth") == pytest.approx(1000 / 5e-6)


def test_the_table_of_patterns_is_the_program_s(kernels: Path) -> None:
    shown = subprocess.run([kernels / "octant-mpi-p2p", "--describe"], capture_output=True, text=True, check=True)
    assert list(json.loads(shown.stdout)["rows"]) == list(COUNTED)
    text = (Path(__file__).parent / "README.md").read_text(encoding="utf-8")
    assert [name for name in COUNTED if f"| `{name}` |" not in text] == []


@pytest.mark.mpi
def test_every_pattern_is_right_and_counts_by_its_definition(run_kernel: KernelRuns) -> None:
    done = run_kernel("mpi/p2p", f"pattern={','.join(COUNTED)}", "bytes=0,1000", *SHORT)
    assert (done.code, done.failures) == (0, []), done.stderr
    for found in done.points:
        messages, turns, passed = COUNTED[found.knobs["pattern"]]
        length = int(found.knobs["bytes"])
        counted = [found.count(name) for name in ("messages", "turns", "bytes_sent", "bytes_passed")]
        assert counted == [messages, turns, messages * length, passed * length], found.knobs["pattern"]
        assert value(found, "time") > 0
    rotating = run_kernel(
        "mpi/p2p",
        f"pattern={','.join(COUNTED)}",
        "bytes=1000",
        "buffers=rotating",
        "rotation=64KiB",
        "source=any",
        *SHORT,
    )
    assert rotating.code == 0, rotating.stderr
    assert len(rotating.points) == len(done.points) + len(COUNTED)


@pytest.mark.mpi
@pytest.mark.parametrize("fault", range(5))
def test_every_fault_is_seen(run_kernel: KernelRuns, fault: int) -> None:
    seen = COUNTED.keys() - BLIND.get(fault, set())
    done = run_kernel("mpi/p2p", f"pattern={','.join(COUNTED)}", "bytes=1000", *SHORT, fault=f"wrong:{fault}")
    assert done.code == Exit.WRONG_ANSWER
    assert {found.knobs["pattern"] for found in done.points if not found.passed} == seen
    for found in done.points:
        wrong = {i for i, check in enumerate(found.checks) if not check.passed}
        assert all(" from rank " in found.checks[i].where for i in wrong)
        also = {0} if fault == 1 else set()  # the byte that did not come is still poisoned
        pattern = found.knobs["pattern"]
        assert pattern not in seen or failing(fault, pattern) in wrong <= also | {failing(fault, pattern)}, pattern


@pytest.mark.mpi
def test_what_a_pattern_cannot_do_is_refused_and_the_others_go_on(run_kernel: KernelRuns) -> None:
    words = ("pattern=pingpong,partitioned,persistent", "bytes=4GiB,12", "buffers=rotating", "rotation=4MiB")
    done = run_kernel("mpi/p2p", *words, *SHORT)
    assert done.code == 3
    reasons = {(one.knobs["pattern"], one.knobs["bytes"]): one.reason for one in done.failures}
    assert "try pattern=large-count" in reasons["pingpong", "4GiB"]
    assert "in parts=8" in reasons["partitioned", "12"]
    assert "cannot rotate persistent requests" in reasons["persistent", "12"]
    assert [found.knobs["pattern"] for found in done.points] == ["pingpong"]


@pytest.mark.mpi
@pytest.mark.slow
@pytest.mark.parametrize("ranks", MORE_RANKS)
def test_every_pattern_is_right_with_more_ranks_under_open_mpi(run_over_openmpi: KernelRuns, ranks: int) -> None:
    done = run_over_openmpi("mpi/p2p", f"pattern={','.join(COUNTED)}", "bytes=0,1000", *SHORT, ranks=ranks)
    assert {failure.knobs["pattern"] for failure in done.failures} <= {"isendrecv"}, done.stderr  # of MPI 4
    assert all(found.passed for found in done.points)
    assert {found.knobs["pattern"] for found in done.points} >= COUNTED.keys() - {"isendrecv"}
    notes = {found.knobs["pattern"]: found.notes for found in done.points}
    assert ("has no partner" in notes["uniband"].get("idle", "")) == (ranks % 2 == 1)
    assert notes["halo-3d"]["grid"].count(" x ") == 2
