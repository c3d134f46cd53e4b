"""Figures by hand; every mode and engine, each fault in each, what a disk refuses, and files that nobody finds."""

import contextlib
import os
import re
import resource
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable
from functools import partial
from operator import mul
from pathlib import Path

import pytest

from fake_run import lane, point
from kernel_run import KernelRun, KernelRuns
from octant.analysis.figures import figure
from octant.build import program_name
from octant.failure import Exit
from octant.record import Head, Series
from octant.workloads.io.local import WORKLOAD
from point_figures import middle
from preload import FEW_THREADS, preloaded

value = partial(middle, WORKLOAD)
SHORT = ("bytes=20000", "block=4096", "flush_block=8192", "seconds=0.001", "least=5", "samples=5")
PATTERNS = "pattern=write,read,staged-write,overlapped-write,overlapped-read"
STAND_IN = """
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
static long full_from(void) { char const *text = getenv("FULL_FROM"); return text ? atol(text) : 1L << 40; }
ssize_t pwrite64(int file, void const *from, size_t bytes, off_t at) {
    if (at + (long)bytes > full_from()) return errno = ENOSPC, -1;
    return syscall(SYS_pwrite64, file, from, bytes > 1000 ? bytes / 2 : bytes, at);
}
ssize_t pread64(int file, void *to, size_t bytes, off_t at) {
    return syscall(SYS_pread64, file, to, bytes > 1000 ? bytes / 2 : bytes, at);
}
ssize_t pwrite(int file, void const *from, size_t bytes, off_t at) { return pwrite64(file, from, bytes, at); }
ssize_t pread(int file, void *to, size_t bytes, off_t at) { return pread64(file, to, bytes, at); }
int fdatasync(int file) {
    int log = open(getenv("SYNCS"), O_WRONLY | O_CREAT | O_APPEND, 0600);
    if (log < 0 || write(log, "s", 1) != 1) abort();
    close(log);
    return syscall(SYS_fdatasync, file);
}
__attribute__((constructor)) static void no_ring(void) {
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_io_uring_setup, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {4, code};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) abort();
}
"""


def phase(name: str, ns: int) -> Series:
    series = lane([ns] * 8)
    return Series(Head(f"phase/{name}"), series.values, entries=series.values * 0)


def takes_direct(folder: Path) -> bool:
    """Return whether a file can be opened with O_DIRECT (tmpfs: since Linux 6.6)."""
    with tempfile.NamedTemporaryFile(dir=folder) as file:
        try:
            os.close(os.open(file.name, os.O_RDWR | os.O_DIRECT))
        except OSError:
            return False
    return True


def left_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.rglob("*") if not path.name.startswith("records"))


def refuses_io_uring(done: KernelRun) -> bool:
    return any("cannot use io_uring" in failure.reason for failure in done.failures)


def test_bandwidth_includes_the_sync_and_accepted_does_not() -> None:
    """Of two ranks, 4 MB each: 4 ms until they are accepted, 10 ms until they are on the disk."""
    lanes = (lane([10_000_000] * 8), phase("transfer", 4_000_000), phase("sync", 6_000_000))
    found = point("steps", counts={"blocks": 4, "bytes_written": 8_000_000}, lanes=lanes, ranks=2)
    assert value(found, "bandwidth") == pytest.approx(800e6)
    assert value(found, "accepted") == pytest.approx(2e9)
    assert value(found, "sync") == pytest.approx(6e-3)
    assert figure(WORKLOAD, [found], "overlap").value is None


def test_a_file_alone_and_beside_computing() -> None:
    phases = (("pure", 3_000_000), ("compute", 2_000_000), ("overlapped", 4_000_000), ("sequential", 6_000_000))
    lanes = (lane([15_000_000] * 8), *(phase(name, ns) for name, ns in phases))
    found = point("steps", counts={"blocks": 4, "bytes_read": 6_000_000}, lanes=lanes)
    assert value(found, "bandwidth") == pytest.approx(2e9)
    assert value(found, "overlapped") == pytest.approx(4e-3)
    assert value(found, "gain") == pytest.approx(1.5)
    assert value(found, "overlap") == pytest.approx(0.5)


@pytest.mark.parametrize(
    "words", [("mode=buffered,direct", "engine=calls,uring,threads"), ("mode=mmap", "bytes=20000,7")]
)
def test_every_mode_and_engine_is_right_and_leaves_no_file(
    run_kernel: KernelRuns, tmp_path: Path, words: tuple[str, ...]
) -> None:
    """20,000 bytes are four blocks and a part that no direct transfer may have."""
    named = {word.partition("=")[0] for word in words}
    done = run_kernel("io/local", PATTERNS, *words, *(word for word in SHORT if word.partition("=")[0] not in named))
    refuses_direct = "mode=mmap" not in words and not takes_direct(tmp_path)
    assert done.code == (3 if refuses_io_uring(done) or refuses_direct else 0), done.stderr
    many = 2 if "mode=mmap" in words else (2 - refuses_direct) * (3 - refuses_io_uring(done))
    assert len(done.points) == many * 5
    assert all(found.passed for found in done.points)
    assert left_in(tmp_path) == []


@pytest.mark.mpi
def test_ranks_that_exchange_messages_meanwhile_are_right(run_kernel: KernelRuns, tmp_path: Path) -> None:
    mode = "direct" if takes_direct(tmp_path) else "buffered"
    words = ("pattern=overlapped-write,overlapped-read", "overlap=messages", f"mode={mode}", *SHORT)
    done = run_kernel("io/local", *words, ranks=2)
    assert done.code == 0, done.stderr
    assert [found.checks[-1].name for found in done.points] == ["messages that differ from the sent data"] * 2


@pytest.mark.parametrize(("fault", "finds"), [(0, "bytes"), (1, "size"), (2, "syncs")])
def test_each_fault_is_found(run_kernel: KernelRuns, fault: int, finds: str) -> None:
    """Blocks exchanged, the last part lost, and no sync."""
    patterns = "pattern=write,staged-write,overlapped-write" if fault == 2 else PATTERNS
    done = run_kernel("io/local", patterns, "engine=calls,uring,threads", *SHORT, fault=f"wrong:{fault}")
    assert done.code == Exit.WRONG_ANSWER, done.stderr
    assert len(done.points) >= (6 if fault == 2 else 10)
    for found in done.points:
        failed = " ".join(check.name for check in found.failed_checks)
        assert finds in failed or (fault == 1 and found.knobs["pattern"].endswith("read") and "bytes" in failed)


@pytest.fixture
def stand_in(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., dict[str, str]]:
    """Build a library with short transfers, a full disk, a count of syncs, and no io_uring."""
    folder = tmp_path_factory.mktemp("stand-in")
    source, library = folder / "calls.c", folder / "calls.so"
    source.write_text(STAND_IN)
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source], check=True)
    return lambda **more: {"LD_PRELOAD": str(library), "SYNCS": str(folder / "syncs"), **more}


def test_calls_that_move_a_part_are_repeated_and_threads_stand_in_for_io_uring(
    run_kernel: KernelRuns, stand_in: Callable[..., dict[str, str]]
) -> None:
    environment = stand_in()
    done = run_kernel("io/local", PATTERNS, *SHORT, environment=environment)
    assert done.code == 0, done.stderr
    assert len(done.points) == 5
    assert done.points[-1].notes["engine"] == "threads; io_uring: Operation not permitted"
    steps = [1, 0, 1, 3, 0]  # syncs of one step, by pattern: writing alone, beside other work, and in turn with it
    measured = [len(found.read().series[0].values) for found in done.points]
    assert len(Path(environment["SYNCS"]).read_text()) >= sum(map(mul, measured, steps))


def test_a_full_disk_is_a_refusal_that_leaves_nothing(
    run_kernel: KernelRuns, stand_in: Callable[..., dict[str, str]], tmp_path: Path
) -> None:
    done = run_kernel("io/local", "pattern=overlapped-write", *SHORT, environment=stand_in(FULL_FROM="9000"))
    assert done.code == 1
    # Several writes are under way; the first that fails is reported.
    found = re.search(
        r"cannot write to a file \(No space left on device at byte ([0-9]+)\); free some space", done.failures[0].reason
    )
    assert found
    assert int(found[1]) >= 8192
    assert left_in(tmp_path) == []


def test_a_file_that_may_not_grow_is_a_refusal_of_io_uring_too(run_kernel: KernelRuns, tmp_path: Path) -> None:
    """A first call may write a part: the limit lies within a block."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (6_500_000, before[1]))
    try:
        done = run_kernel("io/local", "bytes=8MiB", "engine=uring", "depth=1")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    if refuses_io_uring(done):
        pytest.skip(done.failures[0].reason)
    assert done.code == 1
    assert "cannot write to a file (File too large at byte 6500000)" in done.failures[0].reason
    assert left_in(tmp_path) == []


@pytest.mark.parametrize("most", [0, 7])
def test_threads_that_the_system_does_not_start_are_refused_and_the_sweep_goes_on(
    run_kernel: KernelRuns, tmp_path: Path, most: int
) -> None:
    environment = preloaded(FEW_THREADS, tmp_path) | {"MAX_THREADS": str(most)}
    done = run_kernel("io/local", "engine=threads,calls", "depth=16", *SHORT, environment=environment)
    assert done.code == Exit.NOT_SUPPORTED, done.stderr
    assert [failure.exit for failure in done.failures] == [Exit.NOT_SUPPORTED]
    assert "cannot start a thread (Resource temporarily unavailable); try a smaller depth=" in done.failures[0].reason
    assert [point.notes["engine"] for point in done.points] == ["calls"]


def test_a_figure_says_where_it_comes_from_and_which_mode_means_nothing(run_kernel: KernelRuns, tmp_path: Path) -> None:
    memory = Path("/dev/shm")  # noqa: S108 - a file system in memory
    if not os.access(memory, os.W_OK):
        pytest.skip("no /dev/shm here")
    words = ("pattern=read", "mode=direct,buffered", "cache=warm,cold", f"folder={memory},scratch")
    done = run_kernel("io/local", *words, "bytes=1MiB", *SHORT[1:])
    direct_in = [takes_direct(folder) for folder in (memory, tmp_path)]
    assert len(done.points) == 4 + 2 * sum(direct_in), done.stderr
    for found in done.points:
        noted = found.notes.get("memory_copy", "")
        direct, kept = found.knobs["mode"] == "direct", found.knobs["cache"] == "warm"
        if found.knobs["folder"] != "scratch":
            assert noted.startswith("tmpfs is in memory")
            assert noted.endswith("mode=direct has no effect") == direct
            assert found.notes["mount"].startswith("tmpfs of ")
        elif found.notes["file_system"] in ("ext4", "xfs"):
            share = value(found, "in the page cache")
            assert share > 0.9 if kept else share < 0.1  # of what was dropped somebody may have a page
            came_through = "went through the page cache" if direct else "read from the page cache of this host"
            assert (came_through in noted) == (share > 0.01 and not (direct and kept))


def test_what_cannot_be_is_refused_with_what_was_looked_for(run_kernel: KernelRuns) -> None:
    mounted = Path("/proc/self/mounts").read_text()
    absent = next(kind for kind in ("beegfs", "ceph", "lustre", "gpfs") if kind not in mounted)
    done = run_kernel("io/local", f"folder=/nowhere/at/all,{absent}", "bytes=1000")
    assert done.code == 3
    assert "(/nowhere/at/all is not a folder); use the absolute path" in done.failures[0].reason
    assert (
        f"cannot write files on {absent} (no writable folder on it; mounted file systems: " in done.failures[1].reason
    )
    done = run_kernel("io/local", "mode=mmap", "engine=threads", "bytes=100000")
    assert "(mode=mmap makes no transfers); try engine=calls" in done.failures[2].reason


def test_direct_transfers_are_whole_sectors_and_memory_takes_any_block(run_kernel: KernelRuns, tmp_path: Path) -> None:
    if not takes_direct(tmp_path):
        pytest.skip("no file here may go past the page cache")
    words = ("pattern=write,staged-write", "mode=direct", "block=5000", "flush_block=8192,5000")
    done = run_kernel("io/local", *words, "bytes=20000", *SHORT[3:])
    tried = [failure.reason.partition("(")[2] for failure in done.failures]
    refused = "the size is not a multiple of 4096); try "
    assert sorted(tried) == [f"{refused}block=1MiB", f"{refused}block=1MiB", f"{refused}flush_block=1MiB"]
    assert [(found.knobs["pattern"], found.knobs["flush_block"]) for found in done.points] == [("staged-write", "8192")]


def test_a_killed_launch_leaves_nothing(kernels: Path, tmp_path: Path) -> None:
    folder = tmp_path / "chosen"
    folder.mkdir()
    words = ["bytes=1MiB", f"folder={folder}", "seconds=30", "precision=0", "samples=1000000"]
    command = [str(kernels / program_name("io/local")), *words, "--output", str(tmp_path / "records.jsonl")]
    with subprocess.Popen(command) as process:
        files: list[str] = []
        until = time.monotonic() + 60
        while not files and process.poll() is None and time.monotonic() < until:
            with contextlib.suppress(OSError):
                descriptors = Path(f"/proc/{process.pid}/fd").glob("*")
                files = [where for one in descriptors if (where := str(one.readlink())).startswith(str(folder))]
            time.sleep(0.02)
        process.send_signal(signal.SIGKILL)
    assert files, "it was at work"
    assert list(folder.iterdir()) == []
