"""hpcc/randomaccess: its limit by hand, and the running program with any number of ranks."""

import pytest

from fake_run import MIB, machine, point
from kernel_run import QUICK, KernelRuns
from octant.failure import Exit
from octant.limit import Best, Known
from octant.record import Point
from octant.workload import NoTraffic
from octant.workloads.hpcc.randomaccess import WORKLOAD

EXACT = "wrong words in a mode without lost updates"


def table(size: int) -> Point:
    return point("whole", counts={"updates": 1000}, notes={"table_bytes": str(size)})


def test_two_lines_per_update_limit_it_beyond_the_caches() -> None:
    """A machine with 32 MiB of last-level cache and 12.8 GB/s: 12.8e9 / 128 = 1e8 updates a second."""
    known = Known(machine().topology, {"memory traffic": {frozenset({("node", 0)}): Best(12.8e9, "")}})
    limit = WORKLOAD.least_seconds(known, machine(), table(64 * MIB))
    assert limit is not None
    assert 1000 / limit.seconds == pytest.approx(1e8)
    assert WORKLOAD.least_seconds(known, machine(), table(32 * MIB)) is None
    assert WORKLOAD.traffic is not None
    assert isinstance(WORKLOAD.traffic(machine(), table(64 * MIB)), NoTraffic)


def value(found: Point, name: str) -> float:
    return next(check.value for check in found.checks if check.name == name)


@pytest.mark.mpi
@pytest.mark.parametrize("ranks", [1, 2])
@pytest.mark.parametrize("words", [("transport=messages",), ("transport=shared", "atomic=yes"), ("hpl=362",)])
def test_no_update_is_lost_where_none_may_be(run_kernel: KernelRuns, ranks: int, words: tuple[str, ...]) -> None:
    asked = (*words, "bytes=100KiB", "sequence=polynomial,lcg")
    done = run_kernel("hpcc/randomaccess", *asked, *QUICK, ranks=ranks)
    assert done.code == 0, done.stderr
    for found in done.points:
        assert value(found, EXACT) == 0
        bytes_ = int(found.notes["table_bytes"])
        assert bytes_ == (2**19 if words[0].startswith("hpl") else 2**16)
        assert found.count("updates") == 4 * bytes_ // 8


def test_small_tables_of_which_most_words_are_never_reached_are_right(run_kernel: KernelRuns) -> None:
    """Of a start from place 0: one update for each word of 16 KiB reaches 8 % of them."""
    sizes = "bytes=4KiB,8KiB,16KiB,32KiB,64KiB"
    done = run_kernel("hpcc/randomaccess", sizes, "updates=1,2", "seconds=0.001", "least=5", "samples=5", ranks=1)
    assert done.code == 0, done.stderr
    name = "share of the words that no update reached"
    found = {(one.knobs["bytes"], one.knobs["updates"]): value(one, name) for one in done.points}
    assert max(found.values()) == found["16KiB", "1"] == pytest.approx(0.922, abs=0.001)


@pytest.mark.mpi
def test_updates_are_atomic_by_themselves_where_ranks_share_a_small_part(run_kernel: KernelRuns) -> None:
    """In teams of one rank none can be lost, however small its part is."""
    words = ("bytes=64KiB,4MiB,8MiB", "transport=shared,hierarchical", "team=1")
    done = run_kernel("hpcc/randomaccess", *words, *QUICK, ranks=2)
    assert done.code == 0, done.stderr
    atomic = {
        (found.knobs["transport"], int(found.notes["table_bytes"]) // 2**10): found.notes["atomic"]
        for found in done.points
    }
    assert {size: word for (how, size), word in atomic.items() if how == "shared"} == {
        64: "yes",
        4096: "yes",
        8192: "no",
    }
    assert {size: word for (how, size), word in atomic.items() if how != "shared"} == {64: "no", 4096: "no", 8192: "no"}
    for found in done.points:
        exact = found.notes["atomic"] == "yes" or found.knobs["transport"] == "hierarchical"
        assert (EXACT in {check.name for check in found.checks}) == exact


@pytest.mark.mpi
def test_every_algorithm_of_messages_applies_every_update(run_kernel: KernelRuns) -> None:
    algorithms = ("halves", "hypercube", "opt2", "routed", "buckets")
    words = (f"algorithm={','.join(algorithms)}", "transport=messages", "sequence=polynomial,lcg", "bytes=1MiB")
    done = run_kernel("hpcc/randomaccess", *words, *QUICK, ranks=2)
    assert done.code == 0, done.stderr
    assert len(done.points) == 2 * len(algorithms)
    assert {found.notes["rule"] for found in done.points if found.knobs["algorithm"] == "buckets"} == {"baseline"}
    for found in done.points:
        assert value(found, EXACT) == 0
        assert int(found.notes["look-ahead"].split()[0]) <= 1024
        assert found.count("bytes_sent") > 8 * found.count("updates") * 0.4, "half of them are for the other rank"


@pytest.mark.mpi
@pytest.mark.parametrize("ranks", [3, 4, 6, 8])
def test_any_number_of_ranks_applies_every_update(run_over_openmpi: KernelRuns, ranks: int) -> None:
    short = ("bytes=100KiB", "seconds=0.01", "least=5", "samples=5")
    algorithms = "algorithm=halves,hypercube,opt2,routed,buckets"
    for words in (("transport=messages", algorithms), ("transport=shared,hierarchical", "atomic=yes", "team=2")):
        done = run_over_openmpi("hpcc/randomaccess", *words, *short, ranks=ranks)
        assert done.code == 0, done.stderr
        for found in done.points:
            assert value(found, EXACT) == 0
            assert found.count("updates") == 4 * 2**13


@pytest.mark.mpi
@pytest.mark.parametrize("words", [("pages=thp",), ("pages=base",), ("pages=thp", "sequence=lcg", "batch=512")])
def test_few_updates_are_lost_in_a_large_shared_table(run_kernel: KernelRuns, words: tuple[str, ...]) -> None:
    done = run_kernel("hpcc/randomaccess", "bytes=16MiB", "updates=1", *words, *QUICK, ranks=2)
    assert done.code == 0, done.stderr
    (found,) = done.points
    assert not any(check.name == EXACT for check in found.checks), "HPCC allows some"
    assert value(found, "share of the words that differ after all updates were undone") <= 0.01


@pytest.mark.mpi
@pytest.mark.parametrize("check", range(5))
def test_each_check_is_seen_to_fail(run_kernel: KernelRuns, check: int) -> None:
    words = ("bytes=64KiB", "transport=messages")
    done = run_kernel("hpcc/randomaccess", *words, *QUICK, ranks=2, fault=f"wrong:{check}")
    assert done.code == Exit.WRONG_ANSWER, done.stderr
    (found,) = done.points
    assert not found.checks[check].passed
    _, number, untouched, *_ = (one.value for one in found.checks)
    if check == 2:
        assert untouched == 1, "no word differs from what it was, which is counted"
    if check == 3:
        assert number == 0, "as many updates as without the fault, in other places"


@pytest.mark.mpi
@pytest.mark.parametrize(
    ("words", "sentence"), [(("bytes=1TiB",), "try a smaller size"), (("batch=1024",), "try batch=512")]
)
def test_what_cannot_be_is_refused_with_a_way_out(
    run_kernel: KernelRuns, words: tuple[str, ...], sentence: str
) -> None:
    done = run_kernel("hpcc/randomaccess", *words, *QUICK, ranks=2)
    assert done.code == 3
    assert sentence in done.stderr
    assert not done.points
