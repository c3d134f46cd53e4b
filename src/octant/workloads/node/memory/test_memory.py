"""What each way of releasing memory leaves, each fault in each, and large pages as they are granted."""

import os
import subprocess
from functools import partial
from pathlib import Path

import pytest

from kernel_run import KernelRuns
from octant.failure import Exit
from octant.workloads.node.memory import SEGMENTS, WORKLOAD
from point_figures import middle

value = partial(middle, WORKLOAD)
WAYS = ("free-below-held", "free", "trim", "unmap", "madv-free", "madv-dontneed")
BLIND = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
static FILE *opened(char const *path, char const *how, char const *name) {
    FILE *(*real)(char const *, char const *) = dlsym(RTLD_NEXT, name);
    return strstr(path, "smaps_rollup") ? NULL : real(path, how);
}
FILE *fopen(char const *path, char const *how) { return opened(path, how, "fopen"); }
FILE *fopen64(char const *path, char const *how) { return opened(path, how, "fopen64"); }
"""
SHORT = ("seconds=0.01", "least=5", "samples=5")


def test_what_stays_by_way(run_kernel: KernelRuns) -> None:
    """Laws of the allocator and the kernel, not of this machine."""
    done = run_kernel("node/memory", f"pattern={','.join(WAYS)}", "bytes=16MiB", *SHORT)
    assert done.code == 0, done.stderr
    kept = {found.knobs["pattern"]: value(found, "retained") for found in done.points}
    resident = {found.knobs["pattern"]: value(found, "resident") for found in done.points}
    assert kept["free-below-held"] > 0.5, "a block above holds what is below it"
    assert all(kept[way] < 0.1 for way in WAYS[1:]), kept
    assert all(resident[way] >= kept[way] for way in WAYS), "what may be taken counts until it is, early or late"
    assert resident["madv-dontneed"] < 0.1


@pytest.mark.parametrize("fault", [0, 1])
def test_each_fault_is_found(run_kernel: KernelRuns, fault: int) -> None:
    """A wrong word, and a part that was not checked."""
    done = run_kernel("node/memory", f"pattern={','.join(WAYS)},segments", "bytes=4MiB", *SHORT, fault=f"wrong:{fault}")
    assert done.code == Exit.WRONG_ANSWER, done.stderr
    assert len(done.points) == len(WAYS) + 1
    assert [found.knobs["pattern"] for found in done.points if found.checks[fault].passed] == []


def test_large_pages_are_read_back_and_a_refusal_has_its_reason(run_kernel: KernelRuns) -> None:
    done = run_kernel("node/memory", "pattern=segments", "thp=collapse,none,madvise", "bytes=8MiB", *SHORT)
    assert done.code == 0, done.stderr
    assert len(done.points) == 3
    granted = Path("/sys/kernel/mm/transparent_hugepage/enabled")
    always = not granted.exists() or "[always]" in granted.read_text()
    for found in done.points:
        shares = {name: value(found, name) for name in SEGMENTS}
        assert all(0 <= share <= 1 for share in shares.values())
        if found.knobs["thp"] == "none" and not always:
            assert shares["data"] == 0, "what was moved before has been given back"
        if found.knobs["thp"] == "collapse":  # each segment was moved, or the reason why not is in the record
            stayed = {name for name, share in shares.items() if share == 0}
            assert stayed <= {name.removeprefix("refused, ") for name in found.notes} | {"stack", "thread stack"}


def test_small_blocks_are_claimed_with_what_malloc_takes_for_each(run_kernel: KernelRuns) -> None:
    """Of 16 bytes malloc takes 32, and the list of blocks 8. Nothing is allocated before."""
    if os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") > 1 << 40:
        pytest.skip("there is that much memory here")
    done = run_kernel("node/memory", "pattern=trim,unmap", "bytes=1TiB", "block=16", *SHORT)
    assert done.code == 3
    claimed = [failure.reason.partition(" more")[0] for failure in done.failures]
    assert claimed == ["cannot use 2621440 MiB", "cannot use 1048576 MiB"]


def test_where_the_kernel_does_not_say_what_is_resident_nothing_is_measured(
    run_kernel: KernelRuns, tmp_path: Path
) -> None:
    source, library = tmp_path / "blind.c", tmp_path / "blind.so"
    source.write_text(BLIND)
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True)
    done = run_kernel("node/memory", "pattern=trim", *SHORT, environment={"LD_PRELOAD": str(library)})
    assert (done.code, done.points) == (3, [])
    assert "(/proc/self/smaps_rollup is not available); use Linux 4.14" in done.failures[0].reason
