"""Control groups with a limit on memory, and processes in them, for tests that may make them."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest

MIB = 1 << 20
_NEIGHBOUR = """
import mmap, os, sys
kind, size, path, growth = sys.argv[1], int(sys.argv[2]), sys.argv[3], int(sys.argv[4])
file = os.open(path, os.O_RDWR | os.O_CREAT) if path else -1
if kind == "cache":  # pages that can be dropped: read from a disk, or written to it
    os.posix_fallocate(file, 0, size)
    os.fsync(file)
    for at in range(0, size, 1 << 20):
        os.pread(file, 1 << 20, at)
    held = b""
else:
    if path:
        os.ftruncate(file, size)
    held = mmap.mmap(file, size, mmap.MAP_SHARED if path else mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    for at in range(0, size, 4096):
        held[at] = 1
print("there", flush=True)
for line in sys.stdin:  # each line lets it take more
    more = mmap.mmap(-1, growth, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    for at in range(0, growth, 4096):
        more[at] = 1
    print("there", flush=True)
"""


@dataclass
class MemoryGroup:
    """A group that holds the processes that are started in it."""

    folder: Path
    started: list["subprocess.Popen[str]"] = field(default_factory=list)

    @property
    def enter(self) -> tuple[str, ...]:
        """Words before a command that start it in this group."""
        return ("sh", "-c", f'echo $$ > {self.folder}/cgroup.procs && exec "$@"', "sh")

    def neighbour(self, kind: str, size: int, path: Path | None = None, growth: int = 0) -> "subprocess.Popen[str]":
        """Start a process that holds `size` bytes: "memory", of a file where there is a `path`, or page "cache"."""
        words = [*self.enter, sys.executable, "-c", _NEIGHBOUR, kind, str(size), str(path or ""), str(growth)]
        one = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.started.append(one)
        assert one.stdout is not None
        assert one.stdout.readline() == "there\n"
        return one

    def started_in(self, *words: str, env: dict[str, str] | None = None) -> "subprocess.Popen[str]":
        """Start a command in this group."""
        one = subprocess.Popen(
            [*self.enter, *words], env={**os.environ, **(env or {})}, stderr=subprocess.PIPE, text=True
        )
        self.started.append(one)
        return one


def _written(folder: Path, names: Sequence[str], value: str) -> bool:
    for name in names:
        with suppress(OSError):
            (folder / name).write_text(value)
            return True
    return False


@contextmanager
def memory_group(limit: int) -> Iterator[MemoryGroup]:
    """A group of version 1 or 2 whose processes may take `limit` bytes; skips the test where none can be made."""
    first, second = Path("/sys/fs/cgroup/memory"), Path("/sys/fs/cgroup")
    group = (first if (first / "cgroup.procs").exists() else second) / f"octant-test-{os.getpid()}"
    try:
        group.mkdir()
    except OSError as error:
        pytest.skip(f"cannot make a control group ({error.strerror})")
    made = MemoryGroup(group)
    try:
        if not _written(group, ("memory.max", "memory.limit_in_bytes"), str(limit)):
            pytest.skip("cannot limit the memory of a control group")
        for name, value in (("memory.swap.max", "0"), ("memory.memsw.limit_in_bytes", str(limit))):
            _written(group, (name,), value)  # where there is swap: memory that is full is full
        yield made
    finally:
        for one in made.started:
            one.kill()
            one.communicate()
        for _ in range(100):  # until the kernel has let go of the last process
            with suppress(OSError):
                group.rmdir()
                break
            time.sleep(0.05)
