"""Bandwidths with and without the sync, all 37 patterns, each fault in each, and the removal of the files."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import pytest

from fake_run import lane, point
from kernel_run import MORE_RANKS, KernelRuns
from octant.analysis.figures import figure
from octant.build import program_name
from octant.failure import Exit
from octant.metric import overlap_of
from octant.record import Head, Series
from octant.workloads.mpi.mpiio import WORKLOAD
from point_figures import middle

value = partial(middle, WORKLOAD)

HOW = (
    "s-{}-indv",
    "s-{}-expl",
    "p-{}-indv",
    "p-{}-shared",
    "p-{}-expl",
    "p-{}-priv",
    "c-{}-indv",
    "c-{}-shared",
    "c-{}-expl",
)
ALL = [one.format(what) for what in ("write", "read", "iwrite", "iread") for one in HOW]
SHORT = ("bytes=300", "aggregate=2", "seconds=0.001", "least=5", "samples=5")


def patterns(names: Sequence[str]) -> str:
    return f"pattern={','.join(names)}"


def is_of(command_line: Path, word: str) -> bool:
    with contextlib.suppress(OSError):
        return word in command_line.read_text()
    return False


def phase(name: str, ns: int, samples: int = 8) -> Series:
    series = lane([ns] * samples)
    return Series(Head(f"phase/{name}"), series.values, entries=series.values * 0)


def test_bandwidth_includes_the_sync_and_accepted_does_not() -> None:
    """Two transfers of two ranks, 1 MB each: 4 ms until they are accepted, 10 ms until they are on the disk."""
    lanes = (lane([10_000_000] * 8), phase("transfer", 4_000_000), phase("sync", 6_000_000))
    found = point("steps", counts={"transfers": 2, "bytes_written": 4_000_000}, lanes=lanes, ranks=2)
    assert value(found, "time") == pytest.approx(5e-3)
    assert value(found, "transfer") == pytest.approx(2e-3)
    assert value(found, "bandwidth") == pytest.approx(400e6)
    assert value(found, "accepted") == pytest.approx(1e9)
    assert figure(WORKLOAD, [found], "overlap").value is None


def test_a_nonblocking_transfer_alone_and_during_computation() -> None:
    lanes = (
        lane([9_000_000] * 8),
        phase("pure", 3_000_000),
        phase("compute", 2_000_000),
        phase("overlapped", 4_000_000),
    )
    found = point("steps", counts={"transfers": 1, "bytes_read": 4_000_000}, lanes=lanes)
    assert value(found, "time") == pytest.approx(3e-3)
    assert value(found, "overlapped") == pytest.approx(4e-3)
    assert value(found, "bandwidth") == pytest.approx(4e9 / 3)
    assert value(found, "overlap_imb") == pytest.approx(0.5)
    assert value(found, "overlap") == pytest.approx(0.5) == overlap_of(3, 2, 4)


COUNTED = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>
int MPI_File_sync(void *file) {
    int log = open(LOG, O_WRONLY | O_CREAT | O_APPEND, 0600);
    if (log >= 0 && write(log, "s", 1) == 1) close(log);
    return ((int (*)(void *))dlsym(RTLD_NEXT, "MPI_File_sync"))(file);
}
"""


@pytest.mark.mpi
def test_writes_are_synchronised_in_each_timed_part(run_kernel: KernelRuns, tmp_path: Path) -> None:
    """As in IMB: sync, barrier, sync. A stand-in counts the calls."""
    source, log, library = tmp_path / "count.c", tmp_path / "log", tmp_path / "count.so"
    source.write_text(COUNTED)
    subprocess.run(["cc", "-shared", "-fPIC", f'-DLOG="{log}"', "-o", library, source], check=True)
    memory = Path("/dev/shm")  # noqa: S108 - a file system in memory, where a sync takes no time
    if not os.access(memory, os.W_OK):
        pytest.skip("no /dev/shm here")
    words = (f"folder={memory}", "bytes=300", "precision=0", "seconds=5", "least=20", "samples=20")
    syncs = {}
    for pattern in ("p-write-indv", "p-iwrite-indv", "p-iread-indv"):
        log.unlink(missing_ok=True)
        done = run_kernel("mpi/mpiio", f"pattern={pattern}", *words, ranks=2, environment={"LD_PRELOAD": str(library)})
        assert done.code == 0, done.stderr
        syncs[pattern] = len(log.read_text())
    assert syncs["p-write-indv"] - syncs["p-iread-indv"] >= 20 * 2 * 2, "two of each rank in each step"
    assert syncs["p-iwrite-indv"] - syncs["p-iread-indv"] >= 20 * 2 * 2 * 2, "alone and during computation"


@pytest.mark.mpi
@pytest.mark.parametrize("ranks", [1, 2])
def test_every_pattern_is_right_and_leaves_no_file(run_kernel: KernelRuns, tmp_path: Path, ranks: int) -> None:
    done = run_kernel("mpi/mpiio", patterns([*ALL, "open-close"]), *SHORT, ranks=ranks)
    assert done.code == 0, done.stderr
    assert len(done.points) == 37
    assert [path.name for path in tmp_path.iterdir()] == ["records.jsonl"]


@pytest.mark.mpi
@pytest.mark.parametrize(
    ("fault", "check", "names"),
    [(0, 0, ALL), (1, 1, ALL[2:18:2]), (2, 0, ALL[3:18:2])],
    ids=["byte", "short", "exchanged"],
)
def test_each_fault_is_found(run_kernel: KernelRuns, fault: int, check: int, names: list[str]) -> None:
    done = run_kernel("mpi/mpiio", patterns(names), *SHORT, ranks=2, fault=f"wrong:{fault}")
    assert done.code == Exit.WRONG_ANSWER, done.stderr
    assert len(done.points) == len(names)
    assert [point.knobs["pattern"] for point in done.points if point.checks[check].passed] == []
    assert all(point.failed_checks[0].where.startswith(("rank ", "block ")) for point in done.points)


@pytest.mark.mpi
def test_blocks_with_equal_patterns_are_distinguished(run_kernel: KernelRuns) -> None:
    """A pattern of bytes repeats after 256 blocks: the first is exchanged with that one."""
    names = [one for one in ALL if "p-write" in one]
    words = ("bytes=16", "aggregate=300", *SHORT[2:])
    done = run_kernel("mpi/mpiio", patterns(names), *words, ranks=1, fault="wrong:2")
    assert [point.knobs["pattern"] for point in done.points if point.checks[0].passed] == [], done.stderr
    assert len(done.points) == len(names)


@pytest.mark.mpi
@pytest.mark.parametrize("ranks", MORE_RANKS)
def test_every_pattern_is_right_over_open_mpi(run_over_openmpi: KernelRuns, ranks: int) -> None:
    done = run_over_openmpi("mpi/mpiio", patterns([*ALL, "open-close"]), *SHORT, ranks=ranks)
    assert done.code == 0, done.stderr
    assert len(done.points) == 37


@pytest.mark.mpi
def test_a_read_says_whether_it_copied_memory_and_where_the_file_was(run_kernel: KernelRuns, tmp_path: Path) -> None:
    words = ("pattern=p-read-expl", "cache=warm,cold", "bytes=64KiB", *SHORT[1:])
    kept, dropped = run_kernel("mpi/mpiio", *words, ranks=2).points
    assert value(kept, "in the page cache") == 1
    assert "copy of memory" in kept.notes["memory_copy"] or kept.notes["file_system"] == "tmpfs"
    if kept.notes["file_system"] in ("ext4", "xfs", "btrfs"):
        assert value(dropped, "in the page cache") < 0.1  # a page or two can be read ahead again
        assert "memory_copy" not in dropped.notes
    memory = Path("/dev/shm")  # noqa: S108 - a file system in memory
    if not os.access(memory, os.W_OK):
        pytest.skip("no /dev/shm here")
    before = set(memory.iterdir())
    there = run_kernel("mpi/mpiio", "pattern=p-write-priv", f"folder={memory}", *SHORT, ranks=2).points[-1]
    assert (there.notes["file_system"], there.notes["memory_copy"].startswith("tmpfs is in memory")) == (
        "tmpfs",
        True,
    )
    assert not [path for path in set(memory.iterdir()) - before if path.name.startswith("octant-")]


@pytest.mark.mpi
@pytest.mark.parametrize(("folder", "why"), [("/nowhere/at/all", "is not a folder"), ("here", "use the absolute path")])
def test_a_folder_that_cannot_be_written_to_is_refused(run_kernel: KernelRuns, folder: str, why: str) -> None:
    done = run_kernel("mpi/mpiio", f"folder={folder}", *SHORT)
    assert done.code == 3
    assert why in done.failures[0].reason


@pytest.mark.mpi
def test_more_than_a_tenth_of_what_is_free_is_refused(run_kernel: KernelRuns) -> None:
    done = run_kernel("mpi/mpiio", "bytes=1GiB", "aggregate=100000", "seconds=0.01")
    assert done.code == 3
    assert "MiB" in done.failures[0].reason


@pytest.mark.mpi
def test_files_of_a_killed_launch_are_removed_wherever_they_are(kernels: Path, tmp_path: Path) -> None:
    from octant.store.progress import remove_leftovers

    folder = tmp_path / "chosen"
    folder.mkdir()
    (folder / "octant-0123456789abcdef.mine").touch()  # of the user's, though it looks like ours
    program = kernels / program_name("mpi/mpiio")
    words = [str(program), "pattern=p-write-shared", f"folder={folder}", "seconds=30", "precision=0", "samples=1000000"]
    command = [str(Path(sys.executable).parent / "mpiexec"), "-n", "2", *words, "--output", str(tmp_path / "records")]
    with subprocess.Popen(command, start_new_session=True) as process:
        for _ in range(200):
            if len(list(folder.iterdir())) > 1:
                break
            time.sleep(0.05)
        ranks = [int(path.parent.name) for path in Path("/proc").glob("[0-9]*/cmdline") if is_of(path, str(folder))]
        for number in (process.pid, *ranks):
            with contextlib.suppress(ProcessLookupError):
                os.kill(number, signal.SIGKILL)
    assert len(list(folder.iterdir())) > 1
    remove_leftovers(tmp_path / "records")
    assert [path.name for path in folder.iterdir()] == ["octant-0123456789abcdef.mine"]
    assert sorted(path.name for path in tmp_path.iterdir() if "scratch" in path.name) == []
