"""Every row with every completion and kind of window; what is refused; faults; factors of bandwidths; the limit."""

import re

import pytest

from fake_run import MIB, lane, machine, point
from kernel_run import MORE_RANKS, KernelRun, KernelRuns
from octant.analysis.figures import figure
from octant.failure import Exit
from octant.limit import Best, Known
from octant.record import Point, RankResources
from octant.workload import CollectiveTraffic, NoTraffic, Traffic
from octant.workloads.mpi.onesided import WORKLOAD

LOCAL = ("put-local", "get-local", "put-all-local", "get-all-local")
PASSIVE = ("passive-put", "passive-get", "passive-accumulate")
VALUES = ("accumulate", "all-accumulate", "get-accumulate", "fetch-and-op", "compare-and-swap", "counter")
MOVES = (
    *("put", "get", "bidirectional-put", "bidirectional-get", "one-put-all", "one-get-all", "all-put-all"),
    *("all-get-all", "exchange-put", "exchange-get"),
)
ALL = ",".join((*MOVES, *LOCAL, *VALUES, *PASSIVE, "window"))
COMPLETIONS = "flush,fence,pscw,lock,lock-exclusive,lock-all"
TINY = ("seconds=0.002", "samples=8", "compute=20")


def is_right(done: KernelRun, points: int) -> None:
    """So many points, all with a right answer; the others are refused for what they mean."""
    assert done.code in (0, 3), done.stderr
    assert all(re.fullmatch(r"cannot use .* with pattern=.* \(.*\); try .*", one.reason) for one in done.failures)
    assert [(one.knobs, one.checks[0].where) for one in done.points if not one.passed] == []
    assert len(done.points) == points


@pytest.mark.mpi
def test_every_row_is_right_with_every_completion(run_kernel: KernelRuns) -> None:
    done = run_kernel("mpi/onesided", f"pattern={ALL}", f"completion={COMPLETIONS}", "window=2", *TINY)
    everywhere = (len(MOVES) + len(VALUES) + 1) * 6
    is_right(done, everywhere + len(LOCAL) + 4 * len(PASSIVE))


@pytest.mark.mpi
def test_operations_are_right_in_every_kind_of_window(run_kernel: KernelRuns) -> None:
    patterns = f"pattern=put,exchange-get,{','.join(VALUES)},window"
    windows = "win=create,dynamic,shared"
    rotating = ("buffers=rotating", "rotation=8KiB")
    done = run_kernel("mpi/onesided", patterns, windows, "completion=flush,fence", *rotating, *TINY)
    is_right(done, 9 * 3 * 2)


@pytest.mark.mpi
def test_types_and_operations_are_those_asked_for(run_kernel: KernelRuns) -> None:
    types, operations = "type=int64,int32,uint8,float,double", "op=sum,prod,min,max,band,bor,bxor,replace,no-op"
    done = run_kernel("mpi/onesided", "pattern=get-accumulate", types, operations, "bytes=24", *TINY)
    assert len(done.failures) == 6  # bits of real numbers
    assert all("bitwise" in failure.reason for failure in done.failures)
    assert all(one.passed for one in done.points)
    assert len(done.points) == 5 * 9 - 6


@pytest.mark.mpi
@pytest.mark.parametrize(
    ("fault", "patterns"),
    [("wrong:0", f"{ALL}"), ("wrong:1", ",".join((*MOVES, *VALUES))), ("wrong:2", ",".join(VALUES))],
    ids=["one operation is left out", "the target resets late", "put instead of accumulate"],
)
def test_each_fault_is_detected_and_located(run_kernel: KernelRuns, fault: str, patterns: str) -> None:
    done = run_kernel("mpi/onesided", f"pattern={patterns}", *TINY, fault=fault)
    assert done.code == Exit.WRONG_ANSWER, done.stderr
    assert len(done.points) == patterns.count(",") + 1
    assert [one.knobs["pattern"] for one in done.points if one.passed] == []
    assert [one.knobs["pattern"] for one in done.points if not one.checks[0].where] == []


@pytest.mark.mpi
@pytest.mark.parametrize("kind", ["int64", "uint8", "double"])
def test_two_that_find_the_same_value_are_seen_although_the_sum_is_right(run_kernel: KernelRuns, kind: str) -> None:
    words = ("pattern=counter", f"type={kind}", f"bytes={1 if kind == 'uint8' else 8}", "window=3", *TINY)
    assert run_kernel("mpi/onesided", *words).code == 0
    done = run_kernel("mpi/onesided", *words, fault="wrong:3")
    assert done.code == Exit.WRONG_ANSWER, done.stderr
    assert re.fullmatch(r"the sorted values contain \d+ instead of \d+", done.points[-1].checks[0].where)


@pytest.mark.mpi
@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ("pattern=put-local completion=lock", "MPI_Win_flush_local); try completion=flush"),
        ("pattern=put barrier=inside", "the pattern has one origin); try barrier=outside"),
        (
            "pattern=all-put-all barrier=inside completion=fence",
            "always ends with a synchronisation); try barrier=outside",
        ),
        ("pattern=fetch-and-op bytes=16", "one value of type int64); try bytes=8"),
        ("pattern=accumulate bytes=12", "have 8 bytes); try bytes=a multiple of 8"),
        ("pattern=compare-and-swap type=float bytes=4", "integers only); try type=int64"),
        ("pattern=accumulate op=no-op", "old value is fetched); try op=sum"),
        ("pattern=counter op=max", "the pattern adds one); try op=sum"),
        ("pattern=passive-put completion=pscw", "makes no MPI call); try completion=flush"),
    ],
)
def test_what_means_nothing_gets_a_sentence(run_kernel: KernelRuns, words: str, reason: str) -> None:
    done = run_kernel("mpi/onesided", *words.split(), *TINY)
    assert done.code == 3
    assert reason in done.failures[0].reason
    assert reason in done.stderr


@pytest.mark.mpi
@pytest.mark.slow
@pytest.mark.parametrize("ranks", MORE_RANKS)
def test_every_row_is_right_on_more_ranks_than_cores(run_over_openmpi: KernelRuns, ranks: int) -> None:
    quiet = {"OMPI_MCA_osc": "^ucx"}  # which complains about every window
    words = (f"pattern={ALL}", "completion=flush,fence,pscw,lock-all", "barrier=outside", *TINY)
    done = run_over_openmpi("mpi/onesided", *words, ranks=ranks, environment=quiet)
    is_right(done, (len(MOVES) + len(VALUES) + 1) * 4 + len(LOCAL) + 2 * len(PASSIVE))


KNOWN = Known(machine().topology, {"memory traffic": {frozenset({("a", 0), ("a", 1)}): Best(40e9, "")}})


def moved(pattern: str, length: int, origins: int, each: int, buffers: str = "rotating", hosts: str = "aa") -> Point:
    """Return a step of 100 us in which each origin moves `each` pieces of a length."""
    given = tuple(RankResources(host, (0,), ((0,),)) for host in hosts)
    counts = {"rounds": 1, "operations": origins * each}
    counts |= {"bytes_moved": origins * each * length, "bytes_of_one_origin": each * length}
    knobs = {"pattern": pattern, "buffers": buffers, "bytes": str(length)}
    lanes = tuple(lane([100_000] * 8, rank=rank) for rank in range(origins))
    return point("steps", workload="mpi/onesided", counts=counts, knobs=knobs, lanes=lanes, ranks=2, given=given)


def value(of: Point, name: str) -> float:
    found = figure(WORKLOAD, [of], name).value
    assert found is not None
    return found.middle


def test_bandwidths_have_the_factors_of_imb() -> None:
    for pattern, origins, each in (("put", 1, 1), ("bidirectional-put", 2, 1), ("one-put-all", 1, 3)):
        measured = moved(pattern, MIB, origins, each)
        assert value(measured, "time") == pytest.approx(1e-4)
        assert value(measured, "bandwidth") == pytest.approx(each * MIB / 1e-4)
        assert value(measured, "total bandwidth") == pytest.approx(origins * each * MIB / 1e-4)
        assert value(measured, "operation rate") == pytest.approx(origins * each / 1e-4)


def test_what_is_complete_at_the_origin_alone_has_no_bandwidth() -> None:
    local = point(
        "steps",
        counts={"rounds": 1, "operations": 1},
        knobs={"pattern": "put-local"},
        lanes=(lane([900] * 8),),
        ranks=2,
    )
    found = figure(WORKLOAD, [local], "bandwidth")
    assert found.value is None
    assert "there is no count bytes_of_one_origin" in found.missing
    assert value(local, "operation rate") == pytest.approx(1 / 900e-9)


def test_the_limit_is_one_read_and_one_write_of_what_is_moved() -> None:
    limit = WORKLOAD.least_seconds(KNOWN, machine(), moved("bidirectional-get", MIB, 2, 1))
    assert limit is not None
    assert limit.seconds == pytest.approx(2 * 2 * MIB / 40e9)
    for silent in (
        moved("put", 8, 1, 1),
        moved("put", MIB, 1, 1, buffers="hot"),
        moved("put", MIB, 1, 1, hosts="ab"),
        moved("accumulate", MIB, 1, 1),
    ):
        assert WORKLOAD.least_seconds(KNOWN, machine(), silent) is None


def test_one_put_is_one_flow_and_other_patterns_say_nothing_of_a_link() -> None:
    assert WORKLOAD.traffic is not None
    put = WORKLOAD.traffic(machine(), moved("put", 4096, 1, 1, buffers="hot"))
    assert isinstance(put, Traffic)
    assert (put.pattern, put.units, put.may_be_cached) == ("first-to-last", 4096, True)
    assert put.of_link
    for silent in ("counter", "put-local", "passive-put", "window"):
        assert isinstance(WORKLOAD.traffic(machine(), moved(silent, 8, 2, 1)), NoTraffic)
    for pattern, name in (("bidirectional-get", "pingping"), ("one-get-all", "fan-in"), ("exchange-put", "exchange")):
        several = WORKLOAD.traffic(machine(), moved(pattern, 4096, 2, 1))
        assert isinstance(several, Traffic)
        assert (several.pattern, several.units, several.of_link) == (name, 4096, False)
    everybody = WORKLOAD.traffic(machine(), moved("all-put-all", 4096, 2, 1))
    assert everybody == CollectiveTraffic("alltoall", 4096, "linear")
