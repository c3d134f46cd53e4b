"""The limit of stream by hand and by property, and its counting rule."""

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fake_run import MIB, durations, lane, machine, point, stored
from kernel_run import KernelRuns
from octant.analysis.summary import summarise
from octant.failure import Exit
from octant.limit import Best, Known
from octant.record import Buffer, Point
from octant.request import Launch, Presentation, Request, Subject
from octant.workloads.node.stream import WORKLOAD, from_memory

PLAIN = {"bytes_read": 16, "bytes_written": 8, "bytes_allocated": 8, "flops": 2}
STREAMING = {"bytes_read": 16, "bytes_written": 8, "flops": 2}


def triad(counts: dict[str, int], size: int = 256 * MIB) -> Point:
    return point(counts=counts, knobs={"bytes": str(size)}, lanes=(lane([100] * 8),))


def at_limit(found: Point, best: float) -> float | None:
    """Return the bandwidth at the limit, B/s, for a highest memory traffic of `best`."""
    known = Known(machine().topology, {"memory traffic": {frozenset({("node", 0)}): Best(best, "")}})
    limit = WORKLOAD.least_seconds(known, machine(), found)
    return WORKLOAD.metric().at(limit.seconds, found.work[0].counts, found.lanes) if limit else None


def test_the_limit_of_plain_triad_is_three_quarters_of_the_best_traffic() -> None:
    assert at_limit(triad(PLAIN), 40e9) == pytest.approx(30e9)  # 24 of the 32 bytes that move
    assert at_limit(triad(STREAMING), 40e9) == pytest.approx(40e9)


def stored_triad(counts: dict[str, int], store: str, pages: str, ns: int) -> tuple[Launch, Point]:
    knobs = {"kernel": "triad", "bytes": str(256 * MIB), "store": store, "pages": pages}
    launch = Launch(Request(Subject("node/stream"), knobs, show=Presentation(f"{store} {pages}")))
    found = point(
        workload="node/stream", counts=counts, knobs=knobs, launch=launch.key, lanes=(lane(durations(ns)),)
    )  # fmt: skip
    return launch, found


def test_the_limit_is_the_best_over_page_sizes_and_kinds_of_stores_and_names_them() -> None:
    """One chunk moves 32 kB with plain stores and 24 kB with streaming stores."""
    plain, streaming = ({name: 1000 * count for name, count in one.items()} for one in (PLAIN, STREAMING))
    made = [
        stored_triad(plain, "plain", "default", 2000),  # 16 GB/s of traffic on base pages
        stored_triad(plain, "plain", "thp", 1600),  # 20 GB/s
        stored_triad(streaming, "streaming", "thp", 1000),  # 24 GB/s
    ]
    small = (Buffer(MIB, MIB, 0, 4096),)
    places = tuple(dataclasses.replace(one, buffers=small) for one in made[0][1].given)
    made[0] = made[0][0], dataclasses.replace(made[0][1], given=places)

    base, huge, best = summarise(stored([one for one, _ in made], [one for _, one in made])).figures
    assert base.of_limit == pytest.approx(16 / 24, rel=0.01)
    assert huge.of_limit == pytest.approx(20 / 24, rel=0.01)
    assert best.is_limit
    assert base.limit is not None
    text = "highest memory traffic in this run ({}), including write-allocates"
    assert base.limit.source == text.format("streaming stores, huge pages")
    (alone,) = summarise(stored([made[0][0]], [made[0][1]])).figures
    assert alone.is_limit
    assert alone.limit is not None
    assert alone.limit.source == text.format("plain stores, base pages"), "the pages that the system granted"


def test_what_fits_into_caches_neither_has_nor_provides_the_memory_limit() -> None:
    small = triad(PLAIN, MIB)
    assert at_limit(small, 40e9) is None
    assert not from_memory(machine(), small)
    assert from_memory(machine(), triad(PLAIN))


@given(st.floats(1e9, 1e12), st.sampled_from([PLAIN, STREAMING]))
def test_twice_the_traffic_is_twice_the_limit(best: float, counts: dict[str, int]) -> None:
    once, twice = at_limit(triad(counts), best), at_limit(triad(counts), 2 * best)
    assert once is not None
    assert twice == pytest.approx(2 * once)


def test_only_patterns_that_use_whole_lines_once_provide_a_limit() -> None:
    by_name = {provides.name: provides for provides in WORKLOAD.provides}
    memory, first = by_name["memory traffic"], by_name["L1 traffic"]
    size = str(256 * MIB)
    for knobs, provided in (
        ({"bytes": size}, True),  # recorded before there were patterns
        ({"bytes": size, "pattern": "streams", "data": "private"}, True),
        ({"bytes": size, "pattern": "strided", "data": "private"}, False),
        ({"bytes": size, "pattern": "contiguous", "data": "shared"}, False),
    ):
        assert memory.when(machine(), point(knobs=knobs, lanes=(lane([100]),))) == provided
        assert not first.when(machine(), point(knobs=knobs, lanes=(lane([100]),)))


def test_loops_of_which_much_is_presumed_provide_no_traffic() -> None:
    """A processor that writes whole lines without reading them first would raise the limit up to twice."""
    provided = {one.name: one for one in WORKLOAD.provides}["memory traffic"].when
    assert provided(machine(), triad(PLAIN))
    assert not provided(machine(), triad({"bytes_read": 8, "bytes_written": 8, "bytes_allocated": 8}))  # copy
    assert not provided(machine(), triad({"bytes_written": 8, "bytes_allocated": 8}))
    assert provided(machine(), triad({"bytes_written": 8}))


BRIEF = ("seconds=0.001", "least=5", "samples=20", "threads=2")
STORES = "plain,streaming,interleaved,libc,rep,best"


def test_every_way_to_store_gives_the_same_result_and_writes_nothing_outside(run_kernel: KernelRuns) -> None:
    """47,104 B: neither whole blocks of four pages nor whole iterations of 16 vectors."""
    words = ("kernel=load,copy,triad,write,update", f"store={STORES}", "bytes=94208", "offset=200")
    done = run_kernel("node/stream", *words, *BRIEF)
    assert done.code == 3, "some kernels have not every way"
    assert all(point.passed for point in done.points)
    measured = {(point.knobs["kernel"], point.knobs["store"]) for point in done.points}
    assert {("copy", "libc"), ("write", "libc"), ("load", "best"), ("update", "best")} <= measured
    assert ("triad", "libc") not in measured
    assert all("try store=best" in failure.reason for failure in done.failures if failure.reason)
    chosen = [
        point.notes["store"] for point in done.points if point.knobs["store"] == "best" and "store" in point.notes
    ]
    assert chosen
    assert set(chosen) <= set(STORES.split(","))


@pytest.mark.parametrize("check", [0, 1], ids=["the last line left out", "a line too many"])
def test_a_count_that_is_wrong_by_a_line_is_seen(run_kernel: KernelRuns, check: int) -> None:
    words = ("kernel=copy,write", f"store={STORES.removesuffix(',best')}", "bytes=32KiB")
    done = run_kernel("node/stream", *words, *BRIEF, fault=f"wrong:{check}")
    assert done.code == Exit.WRONG_ANSWER
    assert done.points
    assert not any(point.results[check].passed for point in done.points)


ORDERS = (
    ("pattern=strided", "stride=8,24,64,72,1000,4KiB", "bytes=200000", "prefetch=0,64"),
    ("pattern=gather", "index=random,page,sorted", "bytes=200000", "prefetch=0,4KiB"),
    ("pattern=streams", "streams=1,7,8,9,63", "bytes=200000", "prefetch=0,64", "width=scalar,auto"),
    ("pattern=transposed", "tile=1,3,12,64", "bytes=200000", "prefetch=0,64"),
    ("kernel=load", "data=shared", "bytes=200000,3MiB", "width=scalar,128,auto"),
    ("kernel=triad", "align=8,2048", "offset=0,8,8KiB", "bytes=40000", "width=scalar,128,auto"),
    ("kernel=copy,update", "store=plain,streaming,interleaved", "bytes=94208", "prefetch=512"),
)


@pytest.mark.parametrize("words", ORDERS, ids=lambda words: words[0])
def test_sums_and_elements_are_right_in_every_order(run_kernel: KernelRuns, words: tuple[str, ...]) -> None:
    done = run_kernel("node/stream", *words, *BRIEF)
    assert done.code == 0, done.stderr
    assert all(point.passed for point in done.points)


def test_streams_that_read_one_another_s_part_are_seen(run_kernel: KernelRuns) -> None:
    done = run_kernel("node/stream", "pattern=streams", "streams=1,2,8,9,64", "bytes=1MiB", *BRIEF, fault="wrong")
    assert done.code == Exit.WRONG_ANSWER
    assert not any(point.passed for point in done.points)


def test_lines_of_which_a_part_is_used_count_whole_in_traffic(run_kernel: KernelRuns) -> None:
    """Eight loads of a line bring it once; loads 64 B and more apart bring one each."""
    done = run_kernel("node/stream", "pattern=strided", "stride=8,16,64,512", "bytes=256KiB", *BRIEF)
    unused = {point.knobs["stride"]: point.count("bytes_unused") / point.count("bytes_read") for point in done.points}
    assert unused == {"8": 0, "16": 1, "64": 7, "512": 7}


def test_what_threads_would_write_at_once_is_not_shared(run_kernel: KernelRuns) -> None:
    done = run_kernel("node/stream", "kernel=copy", "data=shared", "bytes=64KiB", *BRIEF)
    assert done.code == 3
    assert "use kernel=load" in done.stderr
