"""Disturbances of known size for a kernel that runs, and independent counters of what they took from it.

Stops come from a process of its own that is pinned to one CPU; hogs use a CPU for a part of each period; quotas are
control groups. The counters are /proc/PID/schedstat, /proc/stat and the group's cpu.stat, read outside of the kernel.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

PERIOD_S = 0.04
READ_EVERY_S = 0.02
START_S = 20.0


@dataclass(frozen=True)
class Counted:
    """What the ranks of one launch did while their counters were read, as shares of that time, rank by rank."""

    seconds: float
    ran: tuple[float, ...]
    waited: tuple[float, ...]  # on the run queue; contains what a quota throttled
    stopped: tuple[float, ...]  # by the signals that were sent
    throttled: float  # by a quota, CPU time over time: of all threads of the group together
    steal: float  # by the hypervisor, of the CPUs that this process may use

    @property
    def lost(self) -> tuple[float, ...]:
        """Of each rank, of the time in which it did not sleep: stopped, on the run queue, or stolen."""
        each = zip(self.stopped, self.waited, self.ran, strict=True)
        taken = [(stopped + waited + self.steal, ran) for stopped, waited, ran in each]
        return tuple(lost / (lost + ran) if lost + ran else 0.0 for lost, ran in taken)


@dataclass(frozen=True)
class _Reading:
    at_s: float
    ran_s: tuple[float, ...]
    waited_s: tuple[float, ...]
    throttled_s: float
    steal_s: float


class Counters:
    """Reads the counters of the first threads of processes every `READ_EVERY_S` until one process has ended."""

    def __init__(self, processes: Sequence[int], group: Path | None = None) -> None:
        self._processes, self._group = tuple(processes), group
        self._readings: list[_Reading] = []
        self._thread = threading.Thread(target=self._read_until_end)
        self._thread.start()

    def _read_until_end(self) -> None:
        with contextlib.suppress(OSError, IndexError, ValueError):
            while True:
                ran, waited = zip(*map(_schedstat_s, self._processes), strict=True)
                throttled = throttled_s(self._group) if self._group else 0.0
                self._readings.append(_Reading(time.monotonic(), ran, waited, throttled, _steal_s()))
                time.sleep(READ_EVERY_S)

    def counted(self, stops: Sequence[tuple[float, float]] = (), part: tuple[float, float] = (0, 1)) -> Counted:
        """The shares from the first reading to the last but one, or in a part of this time.

        Args:
            stops: from when to when all processes were stopped, seconds of the monotonic clock.
            part: from where to where, as shares of the readings.

        Raises:
            ValueError: the processes ended too early.
        """
        self._thread.join()
        if len(self._readings) < 4:
            raise ValueError("cannot count what was lost (the processes ended before their counters were read)")
        first, last = (self._readings[round(place * (len(self._readings) - 2))] for place in part)
        seconds = last.at_s - first.at_s
        stopped = sum(max(0.0, min(end, last.at_s) - max(begin, first.at_s)) for begin, end in stops) / seconds
        return Counted(
            seconds,
            tuple((b - a) / seconds for a, b in zip(first.ran_s, last.ran_s, strict=True)),
            tuple((b - a) / seconds for a, b in zip(first.waited_s, last.waited_s, strict=True)),
            (stopped,) * len(self._processes),
            (last.throttled_s - first.throttled_s) / seconds,
            (last.steal_s - first.steal_s) / seconds / len(os.sched_getaffinity(0)),
        )


def _schedstat_s(process: int) -> tuple[float, float]:
    """CPU time and run-queue wait of a process's first thread.

    Raises:
        ProcessLookupError: it has ended.
    """
    if Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] in "ZX":
        raise ProcessLookupError(process)
    ran, waited, _ = Path(f"/proc/{process}/schedstat").read_text().split()
    return int(ran) * 1e-9, int(waited) * 1e-9


def _steal_s() -> float:
    """Time that the hypervisor has taken, added up over CPUs."""
    return int(Path("/proc/stat").read_text().split(maxsplit=10)[8]) / os.sysconf("SC_CLK_TCK")


def throttled_s(group: Path) -> float:
    """Seconds for which a quota has stopped the CPUs of a control group, added up."""
    counters = dict(line.split() for line in (group / "cpu.stat").read_text().splitlines())
    return int(counters.get("throttled_time", 0)) * 1e-9 + int(counters.get("throttled_usec", 0)) * 1e-6


def ranks_of(launcher: subprocess.Popen[str], records: Path, number: int) -> list[int]:
    """The processes of a launch that writes to `records`, once all are there and the file is: MPI has started then.

    Raises:
        TimeoutError: the launch ended, or did not start in time.
    """
    until_s = time.monotonic() + START_S
    while time.monotonic() < until_s and launcher.poll() is None:
        found = []
        for folder in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                program, *words = (folder / "cmdline").read_bytes().split(b"\0")
                if str(records).encode() in words and program.rpartition(b"/")[2].startswith(b"octant-"):
                    found.append(int(folder.name))
        if len(found) == number and records.exists():
            return sorted(found)
        time.sleep(0.005)
    raise TimeoutError("the kernel did not start")


def burn(cpu: int, share: float) -> None:
    """Uses a CPU for `share` of each `PERIOD_S` until it is killed."""
    os.sched_setaffinity(0, {cpu})
    begin_s = time.monotonic()
    while True:
        while time.monotonic() < begin_s + share * PERIOD_S:
            pass
        begin_s += PERIOD_S
        time.sleep(max(0.0, begin_s - time.monotonic()))


def stop(cpu: int, stopped_s: float, output: Path, processes: Sequence[int]) -> None:
    """Stops processes for `stopped_s` of each `PERIOD_S` until one ends; writes from when to when."""
    os.sched_setaffinity(0, {cpu})
    with contextlib.suppress(PermissionError):
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(2))
    begin_s = time.monotonic()
    with contextlib.suppress(ProcessLookupError), output.open("w") as spans:
        while True:
            stopped_at_s = time.monotonic()
            for process in processes:
                os.kill(process, signal.SIGSTOP)
            time.sleep(max(0.0, begin_s + stopped_s - time.monotonic()))
            for process in processes:
                os.kill(process, signal.SIGCONT)
            print(stopped_at_s, time.monotonic(), file=spans, flush=True)
            begin_s += PERIOD_S
            time.sleep(max(0.0, begin_s - time.monotonic()))
    resume(processes)


def resume(processes: Sequence[int]) -> None:
    """Lets those that have not ended run on."""
    for process in processes:
        with contextlib.suppress(ProcessLookupError):
            os.kill(process, signal.SIGCONT)


@contextlib.contextmanager
def _helper(*words: str) -> Iterator[None]:
    process = subprocess.Popen([sys.executable, __file__, *words])
    try:
        yield
    finally:
        process.kill()
        process.wait()


@contextlib.contextmanager
def hog(cpu: int, share: float) -> Iterator[None]:
    """A process that uses `share` of a CPU, while the context lasts."""
    with _helper("burn", str(cpu), str(share)):
        time.sleep(0.2)  # until it has started
        yield


@contextlib.contextmanager
def stops(processes: Sequence[int], stopped_s: float, cpu: int) -> Iterator[Callable[[], list[tuple[float, float]]]]:
    """Stops processes for `stopped_s` of each `PERIOD_S` from a CPU while the context lasts; gives the spans so far."""
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "spans"

        def spans() -> list[tuple[float, float]]:
            lines = output.read_text().splitlines() if output.exists() else []
            return [(float(begin), float(end)) for begin, end in map(str.split, lines)]

        try:
            with _helper("stop", str(cpu), str(stopped_s), str(output), *map(str, processes)):
                yield spans
        finally:
            resume(processes)


def quota(cores: float, period_us: int = 100_000) -> tuple[Mapping[str, str], Mapping[str, str]]:
    """The limits of a control group that may use so many cores, by version 1 and 2."""
    quota_us = round(cores * period_us)
    first = {"cpu.cfs_period_us": str(period_us), "cpu.cfs_quota_us": str(quota_us)}
    return first, {"cpu.max": f"{quota_us} {period_us}"}


@contextlib.contextmanager
def control_group(version_1: Mapping[str, str], version_2: Mapping[str, str]) -> Iterator[Path]:
    """A control group for CPU time with the limits of the version that the system has, while the context lasts.

    Raises:
        OSError: it cannot be made, or a limit cannot be set.
    """
    first, second = Path("/sys/fs/cgroup/cpu"), Path("/sys/fs/cgroup")
    is_first = (first / "cgroup.procs").exists()
    group = (first if is_first else second) / f"octant-test-{os.getpid()}"
    group.mkdir()
    try:
        for name, value in (version_1 if is_first else version_2).items():
            (group / name).write_text(value)
        yield group
    finally:
        for _ in range(100):  # until the kernel has let go of the last process
            with contextlib.suppress(OSError):
                group.rmdir()
                break
            time.sleep(0.05)


def entering(group: Path) -> tuple[str, ...]:
    """The words before a command that start it inside of a control group."""
    return ("sh", "-c", f'echo $$ > {group}/cgroup.procs && exec "$@"', "sh")


if __name__ == "__main__":
    kind, *words = sys.argv[1:]
    if kind == "burn":
        burn(int(words[0]), float(words[1]))
    else:
        stop(int(words[0]), float(words[1]), Path(words[2]), [int(word) for word in words[3:]])
