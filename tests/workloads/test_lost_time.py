"""Time that is taken from a kernel on purpose: how much, from which thread, by what. Shares of the same launch only.

A machine that is busy with other work takes more, and takes it by the run queue: bounds hold for what is left.
"""

import ctypes
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from kernel_run import QUICK, KernelRuns, read_records
from octant import workloads
from octant.analysis.figures import launch_figures
from octant.analysis.lost import doubts_about_lost, lost_time_of, sustained_share
from octant.analysis.reduce import NoSamplesError
from octant.build import program_name
from octant.record import Point, Taken
from octant.stats.doubts import Grade

pytestmark = pytest.mark.alone

Start = Callable[..., "subprocess.Popen[str]"]
SECOND = ("seconds=1", "samples=1000000", "precision=0")


@pytest.fixture
def records(tmp_path: Path) -> Path:
    return tmp_path / "records.jsonl"


@pytest.fixture
def start(kernels: Path, records: Path) -> Iterator[Start]:
    """Starts a kernel with `words`; `before` are the words of commands that start it."""
    started: list[subprocess.Popen[str]] = []

    def starter(name: str, *words: str, before: tuple[str, ...] = ()) -> "subprocess.Popen[str]":
        inherited = {k: v for k, v in os.environ.items() if not k.startswith(("OCTANT_", "OMP_"))}
        command = [*before, str(kernels / program_name(name)), *words, "--output", str(records)]
        started.append(subprocess.Popen(command, env=inherited, stderr=subprocess.PIPE, text=True))
        return started[-1]

    yield starter
    for process in started:
        process.kill()
        process.communicate()


@pytest.fixture
def real_time() -> Iterator[tuple[str, ...]]:
    """Words before a kernel that keep ordinary work from it, where the system allows; who stops it comes first."""
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(2))
    except PermissionError:
        yield ()
        return
    yield ("chrt", "--fifo", "1")
    os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))


def finished(process: "subprocess.Popen[str]", records: Path) -> Point:
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 0, errors
    (point,), _ = read_records(records)
    return point


def measuring(process: "subprocess.Popen[str]", records: Path) -> None:
    """Until the records file is there: MPI has started, and the kernel begins."""
    while not records.exists() and process.poll() is None:
        time.sleep(0.002)


def graded(point: Point) -> tuple[Grade, float]:
    """The grade of the lost time of the headline, and which part of its undisturbed value was sustained."""
    metric = workloads.workload(point.workload).metrics[0]
    found = launch_figures(point, (metric,))[metric.name]
    assert not isinstance(found, NoSamplesError)
    sustained = sustained_share(metric, found.times)
    assert sustained is not None
    doubts = doubts_about_lost(point, metric, found.value.middle, found.times)
    (doubt,) = [one for one in doubts if one.kind == "lost time"]
    return doubt.grade, sustained


def cpu_s(task: str) -> float:
    """The CPU time that a thread has had; `task` is its path below /proc."""
    return int(Path("/proc", task, "schedstat").read_text().split()[0]) * 1e-9


def state(task: str) -> str:
    """R, S, T, Z, … of a thread, as `cpu_s`."""
    return Path("/proc", task, "stat").read_text().rpartition(")")[2].split()[0]


def take_turns(
    task: str, stop: Callable[[], bool], resume: Callable[[], object], stopped_s: float, had_s: float
) -> None:
    """Lets a thread stand for `stopped_s`, then go on until it has had the CPU for `had_s`, until it ends.

    Other work can make it wait in between, and changes nothing of how long it stands for what it runs.
    """
    with suppress(OSError):
        while stop():
            time.sleep(stopped_s)
            resume()
            until_s = cpu_s(task) + had_s
            while cpu_s(task) < until_s and state(task) != "Z":
                time.sleep(0.001)


def stop_process(number: int, stopped_s: float, had_s: float) -> None:
    """Stops a process of one thread again and again, until it ends."""

    task = f"{number}/task/{number}"

    def stop() -> bool:
        os.kill(number, signal.SIGSTOP)
        while (now := state(task)) not in "TZ":
            time.sleep(0.0005)  # it stops when it runs the next time
        return now == "T"

    take_turns(task, stop, lambda: os.kill(number, signal.SIGCONT), stopped_s, had_s)


def stood_still(taken: Taken) -> list[float]:
    """Of each lane the share of time in which it neither ran nor was in the run queue, of the time beside this queue.

    Other work on the machine adds to the run queue alone.
    """
    return [1 - c / (t - w) for t, c, w in zip(taken.wall_ns, taken.cpu_ns, taken.wait_ns, strict=True)]


@pytest.mark.parametrize(("stopped_s", "least", "most"), [(0.02, 0.35, 0.7), (0.06, 0.6, 0.9)])
def test_a_process_that_is_stopped_loses_that_time(
    start: Start, records: Path, real_time: tuple[str, ...], stopped_s: float, least: float, most: float
) -> None:
    process = start("node/peakflops", *SECOND, before=real_time)
    measuring(process, records)
    stop_process(process.pid, stopped_s, 0.02)
    point = finished(process, records)
    (still,) = stood_still(point.taken[0])
    assert least <= still <= most
    lost = lost_time_of(point)
    assert lost is not None
    assert lost.share >= still - 0.01
    if lost.wait < 0.1:
        assert lost.cause == "stops or other causes"
    grade, sustained = graded(point)
    assert grade == (Grade.DOUBTFUL if lost.share <= 0.5 else Grade.INVALID)
    assert sustained < 0.7


def thread_on(process: "subprocess.Popen[str]", cpu: int) -> int:
    """The number of the thread that may use this CPU alone, as soon as there is one."""
    while process.poll() is None:
        for task in Path(f"/proc/{process.pid}/task").iterdir():
            with suppress(OSError):
                if os.sched_getaffinity(int(task.name)) == {cpu}:
                    return int(task.name)
        time.sleep(0.002)
    raise AssertionError(f"no thread was pinned to CPU {cpu}")


SEIZE, INTERRUPT, CONTINUE, ALL_THREADS = 0x4206, 0x4207, 7, 0x40000000


def stop_thread(process: int, number: int, stopped_s: float, had_s: float) -> None:
    """Stops one thread of a process again and again, as a debugger does, until that ends."""
    libc = ctypes.CDLL(None, use_errno=True)

    def trace(request: int) -> bool:
        return bool(libc.ptrace(request, number, None, None) == 0)

    if not trace(SEIZE):
        pytest.skip(f"threads cannot be stopped here ({os.strerror(ctypes.get_errno())})")

    def stop() -> bool:
        return trace(INTERRUPT) and os.WIFSTOPPED(os.waitpid(number, ALL_THREADS)[1])

    take_turns(f"{process}/task/{number}", stop, lambda: trace(CONTINUE), stopped_s, had_s)
    if number != process:
        with suppress(ChildProcessError):  # it is ours to bury
            os.waitpid(number, ALL_THREADS)


def test_each_thread_loses_what_is_taken_from_it(start: Start, records: Path, real_time: tuple[str, ...]) -> None:
    first, *others = sorted(os.sched_getaffinity(0))
    if not others:
        pytest.skip("one CPU: threads cannot lose differently")
    second = others[0]
    mask = ("taskset", "-c", f"{first},{second}")
    process = start("node/peakflops", "threads=2", *SECOND, before=(*mask, *real_time))
    measuring(process, records)  # MPI moves its threads about while it starts
    stop_thread(process.pid, thread_on(process, second), 0.02, 0.02)
    point = finished(process, records)
    (taken,) = point.taken
    stopped = point.given[0].thread_masks.index((second,))
    still = stood_still(taken)
    assert 0.35 <= still[stopped] <= 0.7
    assert abs(still[1 - stopped]) < 0.1
    lost = lost_time_of(point)
    assert lost is not None
    assert lost.by_thread[stopped] >= still[stopped] - 0.01
    assert lost.share == pytest.approx(sum(lost.by_thread) / 2, abs=0.05)


@pytest.fixture
def half_a_core() -> Iterator[Path]:
    """A control group with a quota of half a core and nearly all CPU time against others."""
    first, second = Path("/sys/fs/cgroup/cpu"), Path("/sys/fs/cgroup")
    version_1 = (first / "cpu.cfs_quota_us").exists() or (first / "cgroup.procs").exists()
    group = (first if version_1 else second) / f"octant-test-{os.getpid()}"
    limits = (
        {"cpu.cfs_period_us": "20000", "cpu.cfs_quota_us": "10000", "cpu.shares": "262144"}
        if version_1
        else {"cpu.max": "10000 20000", "cpu.weight": "10000"}
    )
    try:
        group.mkdir()
    except OSError as error:
        pytest.skip(f"cannot make a control group ({error.strerror})")
    try:
        for name, value in limits.items():
            try:
                (group / name).write_text(value)
            except OSError as error:
                pytest.skip(f"cannot set a quota ({name}: {error.strerror})")
        yield group
    finally:
        for _ in range(100):  # until the kernel has let go of the last process
            with suppress(OSError):
                group.rmdir()
                break
            time.sleep(0.05)


@pytest.mark.root("sets the quota of a control group")
@pytest.mark.parametrize(("threads", "least", "most"), [(1, 0.45, 0.55), (2, 0.68, 0.9)])
def test_a_quota_takes_what_it_does_not_grant(
    start: Start, records: Path, half_a_core: Path, threads: int, least: float, most: float
) -> None:
    if threads > len(os.sched_getaffinity(0)):
        pytest.skip("one CPU: two threads take it from each other")
    enter = ("sh", "-c", f'echo $$ > {half_a_core}/cgroup.procs && exec "$@"', "sh")
    point = finished(start("node/peakflops", f"threads={threads}", *SECOND, before=enter), records)
    told = dict(line.split() for line in (half_a_core / "cpu.stat").read_text().splitlines())
    throttled_s = int(told.get("throttled_time", 0)) * 1e-9 + int(told.get("throttled_usec", 0)) * 1e-6
    if throttled_s < 0.35 * threads:
        pytest.skip(f"other work left less than the quota grants (throttled for {throttled_s:.2f} s)")
    lost = lost_time_of(point)
    assert lost is not None
    assert lost.cause == "a CPU quota"
    assert least <= lost.share <= most
    assert lost.throttled <= lost.share + 0.12  # of both threads: added up over CPUs it would be twice as much
    scheduling = point.given[0].scheduling
    assert scheduling is not None
    assert (scheduling.quota_cores, scheduling.quota_group) == (0.5, f"/{half_a_core.name}")
    grade, sustained = graded(point)
    assert grade == (Grade.DOUBTFUL if lost.share <= 0.5 else Grade.INVALID)
    assert sustained < 1.3 * (1 - lost.share)


@pytest.mark.mpi
def test_ranks_that_work_together_count_their_run_queues_alone(run_kernel: KernelRuns) -> None:
    done = run_kernel("mpi/p2p", "bytes=8", *QUICK, ranks=2)
    (point,) = done.points
    assert [(one.rank, len(one.wall_ns), one.cpu_ns, len(one.wait_ns)) for one in point.taken] == [
        (0, 1, (), 1),
        (1, 1, (), 1),
    ]
    lost = lost_time_of(point)
    assert lost is not None
    assert lost.share == max(lost.by_thread)
