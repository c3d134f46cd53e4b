"""ptrans: its limit and metrics by hand; the running program on uneven parts, and what it sends."""

import math
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from fake_run import MIB, lane, machine, point
from kernel_run import QUICK, KernelRuns
from octant import workloads
from octant.analysis.figures import figure
from octant.build import program_name
from octant.failure import Exit
from octant.limit import Best, Known
from octant.record import Head, Point, Series
from octant.workload import NoTraffic
from octant.workloads.hpcc.ptrans import WORKLOAD

N = 4096


def two_ranks(steps: Sequence[tuple[int, int]], maps: Sequence[int]) -> Point:
    """Return a point with times of two ranks in ns, and the map of each repetition."""
    series: list[Series] = []
    for rank in range(2):
        series += [
            lane([step[rank] for step in steps], rank=rank),
            Series(Head("reading/map", rank, 0, unit="1"), np.array(maps, float)),
        ]
    counts = {"bytes_transposed": 8 * N * N, "bytes_read": 16 * N * N, "bytes_written": 8 * N * N}
    return point("whole", workload="hpcc/ptrans", counts=counts, lanes=tuple(series), ranks=2)


def value(measured: Point, name: str = "") -> float:
    found = figure(WORKLOAD, [measured], name).value
    assert found is not None
    return found.middle


def test_the_rate_counts_8_bytes_an_element_and_hpcc_takes_the_worst_map() -> None:
    ms = 1_000_000
    steps = [(10, 20), (10, 30), (50, 40), (60, 10), (25, 24)]
    measured = two_ranks([(one * ms, other * ms) for one, other in steps], [0, 1, 0, 1, 0])
    assert value(measured) == pytest.approx(8 * N * N / 30e-3), "the median of 20, 30, 50, 60 and 25 ms"
    assert value(measured, "HPCC rate") == pytest.approx(8 * N * N / 30e-3), "20 ms with map 0, 30 ms with map 1"
    assert value(measured, "traffic") == pytest.approx(3 * value(measured))


def test_24_bytes_an_element_limit_it_beyond_the_caches() -> None:
    known = Known(machine().topology, {"memory traffic": {frozenset({("node", 0)}): Best(24e9, "")}})
    counts = {"bytes_transposed": 8 * N * N, "bytes_read": 16 * N * N, "bytes_written": 8 * N * N}
    assert WORKLOAD.footprint(machine(), point(counts=counts)) == 256 * MIB
    limit = WORKLOAD.least_seconds(known, machine(), point(counts=counts))
    assert limit is not None
    assert limit.seconds == pytest.approx(N * N / 1e9)
    small = {name: count // 64 for name, count in counts.items()}
    assert WORKLOAD.least_seconds(known, machine(), point(counts=small)) is None
    nothing = Known(machine().topology, {"memory traffic": {}})
    assert WORKLOAD.least_seconds(nothing, machine(), point(counts=counts)) is None


def test_ranks_of_one_node_say_nothing_of_a_network() -> None:
    assert WORKLOAD.traffic is not None
    assert isinstance(WORKLOAD.traffic(machine(), two_ranks([(1, 1)], [0])), NoTraffic)


@pytest.mark.parametrize("words", [("n=1",), ("n=7", "block=100"), ("n=131", "block=16", "tile=5"), ("n=hpl:200",)])
@pytest.mark.parametrize("width", ["scalar", "128", "auto"])
def test_one_rank_is_right_whatever_is_left_over(run_kernel: KernelRuns, words: tuple[str, ...], width: str) -> None:
    done = run_kernel("hpcc/ptrans", *words, f"width={width}", "seconds=0.01", "least=5", ranks=1)
    assert done.code == 0, done.stderr
    assert [[check.value for check in one.checks] for one in done.points] == [[0, 0, 0]]
    assert done.points[0].count("bytes_sent") == 0


@pytest.mark.mpi
@pytest.mark.parametrize("transport", ["shared", "messages", "hierarchical"])
def test_half_of_what_two_ranks_have_changes_places(run_kernel: KernelRuns, transport: str) -> None:
    """On a grid of 1 x 2 with whole blocks: columns of blocks are rows of blocks there."""
    words = ("n=128", "block=16", f"transport={transport}", "message=4KiB", *QUICK)
    done = run_kernel("hpcc/ptrans", *words, ranks=2)
    assert done.code == 0, done.stderr
    (found,) = done.points
    assert found.count("bytes_transposed") == 8 * 128 * 128
    sends = transport == "messages"
    assert found.count("bytes_sent") == (8 * 128 * 128 // 2 if sends else 0)
    assert found.count("messages") == (8 * 128 * 128 // 2 // 4096 if sends else 0)


@pytest.mark.mpi
@pytest.mark.parametrize("ranks", [2, 3, 4, 6, 8])
@pytest.mark.parametrize("transport", ["shared", "messages"])
def test_any_number_of_ranks_on_any_grid_is_right(run_over_openmpi: KernelRuns, ranks: int, transport: str) -> None:
    """Uneven parts, short last blocks, ranks without any; on every grid of so many ranks."""
    grids = ",".join(f"{p}x{ranks // p}" for p in range(1, ranks + 1) if ranks % p == 0)
    words = (f"grid={grids}", f"transport={transport}", "n=5,101", "block=2,15", "message=1KiB", "seconds=0.01")
    done = run_over_openmpi("hpcc/ptrans", *words, "least=5", "samples=10", ranks=ranks)
    assert done.code == 0, done.stderr
    assert len(done.points) == 4 * len(grids.split(","))
    for found in done.points:
        assert [check.value for check in found.checks] == [0, 0, 0], found.knobs
        assert found.count("bytes_transposed") == 8 * int(found.knobs["n"]) ** 2


@pytest.mark.mpi
@pytest.mark.parametrize("check", [0, 1, 2])
@pytest.mark.parametrize("transport", ["shared", "messages"])
def test_each_check_fails_by_itself_where_it_must(run_kernel: KernelRuns, check: int, transport: str) -> None:
    words = ("n=64", "block=8", f"transport={transport}", *QUICK)
    done = run_kernel("hpcc/ptrans", *words, ranks=2, fault=f"wrong:{check}")
    assert done.code == Exit.WRONG_ANSWER
    (found,) = done.points
    wrong = [not one.passed for one in found.checks]
    assert wrong == [[True, True, False], [False, True, False], [False, False, True]][check]
    assert "row" in found.checks[check].where


@pytest.mark.mpi
def test_maps_are_drawn_from_the_seed_and_taken_in_turn(run_kernel: KernelRuns) -> None:
    done = run_kernel("hpcc/ptrans", "n=64", "block=8", "maps=3", "seconds=0.05", "least=5", ranks=2)
    assert done.code == 0, done.stderr
    readings = next(one.values for one in done.points[0].read().series if one.head.name == "reading/map")
    assert set(readings[:3]) == {0, 1, 2} or len(readings) < 3
    fixed = run_kernel("hpcc/ptrans", "n=64", "block=8", "map=identity", *QUICK, ranks=2).points[-1]
    assert {*next(one.values for one in fixed.read().series if one.head.name == "reading/map")} == {0}


@pytest.mark.parametrize(
    ("word", "why"),
    [
        ("grid=2x2", "the number of ranks is 1"),
        ("grid=two", "rows x columns"),
        ("n=0", "not from 1"),
        ("n=hpl:1", "not from 1"),
    ],
)
def test_what_has_no_meaning_is_refused_in_words(run_kernel: KernelRuns, word: str, why: str) -> None:
    done = run_kernel("hpcc/ptrans", word, *QUICK, ranks=1)
    assert done.code == 2
    assert why in done.stderr
    assert re.search(r"cannot .+ \(.+\); try ", done.stderr)


def test_a_matrix_that_does_not_fit_is_refused_with_its_size(run_kernel: KernelRuns) -> None:
    done = run_kernel("hpcc/ptrans", "n=10000000", *QUICK, ranks=1)
    assert done.code == 3
    assert "MiB" in done.stderr


def test_the_program_is_named_like_its_folder(kernels: Path) -> None:
    assert (kernels / program_name(workloads.workload("ptrans").name)).exists()
    assert not math.isnan(value(two_ranks([(1, 1)] * 4, [0] * 4)))
