"""randomaccess: its limit by hand, and the running program on small tables."""

import json
import subprocess

import pytest

from fake_run import MIB, machine, point
from kernel_run import KernelRuns
from octant import build
from octant.analysis.figures import figure
from octant.failure import Exit
from octant.limit import Best, Known
from octant.record import Point
from octant.workloads.node.randomaccess import WORKLOAD

PROGRAM = "node/randomaccess"


def table(size: int) -> Point:
    return point(counts={"updates": 1000}, knobs={"bytes": str(2 * size - 1)}, notes={"table_bytes": str(size)})


def test_two_lines_per_update_limit_it_beyond_the_caches() -> None:
    """A machine with 32 MiB of last-level cache and 12.8 GB/s: 12.8e9 / 128 = 1e8 updates a second."""
    known = Known(machine().topology, {"memory traffic": {frozenset({("node", 0)}): Best(12.8e9, "")}})
    limit = WORKLOAD.least_seconds(known, machine(), table(64 * MIB))
    assert limit is not None
    assert 1000 / limit.seconds == pytest.approx(1e8)
    assert WORKLOAD.least_seconds(known, machine(), table(32 * MIB)) is None, "what was asked may be nearly twice that"
    nothing = Known(machine().topology, {"memory traffic": {}})
    assert WORKLOAD.least_seconds(nothing, machine(), table(64 * MIB)) is None


@pytest.mark.parametrize(
    "words",
    [
        ("bytes=4KiB,3MiB", "streams=128,1", "threads=2"),
        ("bytes=1MiB", "pages=thp"),
        ("bytes=64KiB", "streams=128,1", "prefetch=yes", "batch=auto,16,32,64,128,256,512", "threads=2"),
    ],
)
def test_undoing_the_updates_restores_the_table(run_kernel: KernelRuns, words: tuple[str, ...]) -> None:
    done = run_kernel(PROGRAM, *words, "seconds=0.01")
    assert done.code == 0, done.stderr
    assert done.points
    for found in done.points:
        assert found.checks, found.knobs
        assert [check.value for check in found.checks] == [0], found.knobs
        value = figure(WORKLOAD, [found]).value
        assert value is not None
        assert value.middle > 0


def test_each_thread_takes_the_largest_power_of_two_that_fits(run_kernel: KernelRuns) -> None:
    (found,) = run_kernel(PROGRAM, "bytes=3MiB", "threads=2", "seconds=0.05").points
    assert found.notes["table_bytes"] == str(2**20)
    assert len({head.thread for head in found.heads}) == 2


def test_the_prefetch_distance_is_as_requested_or_chosen_by_all_ranks(run_kernel: KernelRuns) -> None:
    done = run_kernel(PROGRAM, "bytes=64KiB", "prefetch=yes", "batch=256,auto", "seconds=0.01", ranks=2)
    assert done.code == 0, done.stderr
    found = {one.knobs["batch"]: one.notes["batch"] for one in done.points}
    assert found["256"] == "256"
    assert found["auto"] in ("16", "64", "128")


def test_nothing_is_asked_for_ahead_of_a_plain_loop(run_kernel: KernelRuns) -> None:
    refused = run_kernel(PROGRAM, "batch=64")
    assert refused.code == Exit.NOT_SUPPORTED
    assert "cannot use batch=64 (prefetch=no); use prefetch=yes" in refused.stderr


def test_the_kernel_says_what_it_can_be_asked() -> None:
    text = subprocess.run([build.find(PROGRAM), "--describe"], check=True, capture_output=True, text=True).stdout
    assert "bytes" in {knob["name"] for knob in json.loads(text)["knobs"]}
