"""Claims of memory in control groups with a limit: what fits is measured, and no neighbour is ever killed."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kernel_run import QUICK, read_records
from memory_groups import MIB, MemoryGroup, memory_group
from octant.build import program_name
from octant.failure import Exit
from octant.launch import leftovers
from octant.machine.discover import discover

Started = Callable[..., "subprocess.Popen[str]"]
STREAM = ("node/stream", "kernel=copy", *QUICK)
pytestmark = pytest.mark.root("makes control groups with a memory limit")


@pytest.fixture
def group() -> Iterator[MemoryGroup]:
    with memory_group(800 * MIB) as made:
        yield made


@pytest.fixture
def start(group: MemoryGroup, kernels: Path, tmp_path: Path) -> Iterator[Started]:
    """Starts a kernel in the group; its records are in `records.jsonl`."""

    def started(name: str, *words: str, ranks: int = 1) -> "subprocess.Popen[str]":
        launcher = [str(Path(sys.executable).parent / "mpiexec"), "-n", str(ranks)] if ranks > 1 else []
        output = str(tmp_path / "records.jsonl")
        return group.started_in(*launcher, str(kernels / program_name(name)), *words, "--output", output)

    yield started
    leftovers.remove()  # of a kernel that was killed


def reasons(folder: Path) -> list[str]:
    return [failure.reason for failure in read_records(folder / "records.jsonl")[1]]


@pytest.mark.parametrize("holds", ["memory", "shared memory"])
def test_what_a_neighbour_holds_is_not_claimed(group: MemoryGroup, start: Started, tmp_path: Path, holds: str) -> None:
    """600 MiB in a group of 800, next to 500: as memory, or as a file in memory, which counts as page cache."""
    file = Path(f"/dev/shm/octant-test-{os.getpid()}")  # noqa: S108 - a file system in memory
    try:
        neighbour = group.neighbour("memory", 500 * MIB, file if holds == "shared memory" else None)
        done = start(*STREAM, "bytes=600MiB")
        assert done.wait(60) == Exit.NOT_SUPPORTED
        assert neighbour.poll() is None, "the neighbour lives"
    finally:
        file.unlink(missing_ok=True)
    (reason,) = reasons(tmp_path)
    assert "are left of this rank's share of what is available" in reason


def test_page_cache_that_can_be_dropped_is_claimed(group: MemoryGroup, start: Started, tmp_path: Path) -> None:
    """The group is full of page cache; what is measured takes its place."""
    cache = group.neighbour("cache", 900 * MIB, tmp_path / "file")
    done = start(*STREAM, "bytes=600MiB")
    assert done.wait(60) == Exit.OK, done.stderr
    assert cache.poll() is None
    assert len(read_records(tmp_path / "records.jsonl")[0]) == 1


@pytest.mark.mpi
def test_ranks_share_what_is_left(group: MemoryGroup, start: Started, tmp_path: Path) -> None:
    """Each of two ranks would fit alone; both of them do not."""
    neighbour = group.neighbour("memory", 300 * MIB)
    done = start(*STREAM, "bytes=300MiB,150MiB", ranks=2)
    assert done.wait(60) == Exit.NOT_SUPPORTED
    assert neighbour.poll() is None
    points, failures = read_records(tmp_path / "records.jsonl")
    assert [point.knobs["bytes"] for point in points] == ["150MiB"]
    assert len(failures) == 1


def test_of_a_neighbour_that_grows_meanwhile_and_a_kernel_the_kernel_ends_first(
    group: MemoryGroup, start: Started
) -> None:
    """What was left is claimed and measured when the neighbour takes as much.

    Linux may end the neighbour too, some milliseconds later, if the memory of the first process is not free by then.
    """
    assert any([_neighbour_survives(group, start) for _ in range(6)])  # noqa: C419 - the kernel has to end in each


def _neighbour_survives(group: MemoryGroup, start: Started) -> bool:
    neighbour = group.neighbour("memory", 450 * MIB, growth=300 * MIB)
    kernel = start("node/stream", "kernel=copy", "bytes=200MiB", "seconds=60", "precision=0", "samples=1000000")
    resident_pages = 0
    while resident_pages * os.sysconf("SC_PAGE_SIZE") < 200 * MIB:
        assert kernel.poll() is None
        resident_pages = int(Path(f"/proc/{kernel.pid}/statm").read_text().split()[1])
    assert neighbour.stdin is not None
    assert neighbour.stdout is not None
    neighbour.stdin.write("more\n")
    neighbour.stdin.flush()
    survives = neighbour.stdout.readline() == "there\n"  # it got its memory
    assert kernel.wait(60) < 0
    neighbour.kill()
    neighbour.wait()
    return survives


def test_a_file_in_memory_is_claimed(group: MemoryGroup, start: Started, tmp_path: Path) -> None:
    neighbour = group.neighbour("memory", 500 * MIB)
    done = start("io/local", "bytes=200MiB", "folder=/dev/shm", *QUICK)  # and as much memory to write it from
    assert done.wait(60) == Exit.NOT_SUPPORTED
    assert neighbour.poll() is None
    (reason,) = reasons(tmp_path)
    assert "MiB more memory" in reason


def test_what_the_machine_offers_is_what_kernels_may_claim(group: MemoryGroup) -> None:
    """Sizes are chosen by the same number: limit - usage + page cache of the group."""
    group.neighbour("memory", 300 * MIB)
    words = ("-c", "from octant.machine.discover import discover; print(discover().system['available_memory_bytes'])")
    found = subprocess.run(
        [*group.enter, sys.executable, *words], env={**os.environ}, capture_output=True, text=True, check=True
    )
    assert 300 * MIB < int(found.stdout) < 500 * MIB
    assert int(discover().system["available_memory_bytes"]) > 800 * MIB
