"""Observation of a running program: CPUs of its ranks and threads, and NUMA nodes of their memory."""

import contextlib
import os
import re
import socket
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from octant import build, launchers
from octant.failure import Exit, Refusal
from octant.launch import execute, processes
from octant.launch.bind import LOCAL_RANK_VARIABLES
from octant.launch.pages import PageSizes, access_refusal, page_sizes
from octant.machine.cpusets import parse_cpus

RANK_VARIABLES = (
    "PMI_RANK",
    "OMPI_COMM_WORLD_RANK",
    "MV2_COMM_WORLD_RANK",
    "PALS_RANKID",
    "PMIX_RANK",
    "JSM_NAMESPACE_RANK",
    "FLUX_TASK_RANK",
    "SLURM_PROCID",
)
"""Variables with the rank that launchers set, in the order of `LOCAL_RANK_VARIABLES`."""
LOOK_S, EARLY_LOOK_S, EARLY_S = 0.05, 0.01, 1.0
FOLLOW_S = 0.2
MEMORY_SHARE = 0.05
"""Largest share of the time for reading the memory of processes that grow little: the time grows with their memory."""
GROWTH = 1.25
"""A process that grew by this factor since its last sample is read at once. Up to size S, this takes at most five times
as long as reading a process of size S once."""
SAME_PROGRAM = 0.9
"""The maximum of the resident size of a program does not decrease, apart from the accuracy of the system's counters."""
_TICKS_PER_S = os.sysconf("SC_CLK_TCK")


@dataclass
class Thread:
    """One thread, as it was seen over all looks."""

    tid: int
    name: str = ""
    mask: frozenset[int] = frozenset()  # of the last look
    seen_on: Counter[int] = field(default_factory=Counter)  # looks, by the hardware thread it last ran on
    cpu_s: float = 0.0


@dataclass
class WatchedProcess:
    """One process of the program, as it was seen over all looks.

    Memory is that of one sample, the last of those with the largest resident size.
    """

    pid: int
    rank: int | None
    local_rank: int
    name: str = ""
    threads: dict[int, Thread] = field(default_factory=dict)
    node_bytes: Mapping[int, int] = field(default_factory=dict)  # private memory, by memory node
    huge_bytes: int = 0  # of it, on huge pages
    pages: PageSizes | None = None  # its parts by page size, where asked for
    resident_bytes: int = 0  # of that sample: private and shared memory, pages of a pool included
    sampled_s: float = 0.0  # time of that sample, since the observation began
    sampling_s: float = 0.0  # duration of the last sample
    peak_bytes: int = 0  # largest resident size according to the system, between samples too; without pages of a pool


@dataclass(frozen=True)
class Watched:
    """What was seen on this host, and how the program ended."""

    host: str
    processes: tuple[WatchedProcess, ...]  # by rank, then by number
    code: int
    seconds: float
    looks: int


def watch(
    program: Sequence[str],
    size: launchers.JobSize,
    launcher: str,
    bind_words: Sequence[str],
    pages: bool = False,
    segments: bool = False,
) -> Watched:
    """Run the program and observe it until it ends; its input, output and exit status are passed through.

    Args:
        pages: also which page sizes its memory is on, which takes longer to look at.
        segments: large pages are asked for inside the program. Its first process alone reports what it got: of those
            that it starts, which may be many, the looks tell it.

    Only ranks on this host are seen. The processes are found by a variable that octant-bind puts into their
    environment, so that it does not matter whose children they are.

    Raises:
        Refusal: no such launcher, or it cannot start this.
    """
    mark = execute.new_mark()
    of_ranks = f"{mark}-rank"  # launchers have the mark too, and are not looked at
    name = launchers.chosen(launcher, size)
    alone = ["--local-rank", "0"] if name == "direct" and bind_words else []
    bound = [str(build.find("bind")), "--mark", of_ranks, *bind_words, *alone, "--", *program]
    bound = ["env", "OCTANT_PAGES_TELL=1", *bound] if segments else bound
    words = launchers.launcher(name).command(bound, size)
    looker = _Looker(f"OCTANT_MARK={of_ranks}".encode(), pages)
    outcome = execute.run(
        words, lambda _: looker.look(), mark, period_s=lambda s: EARLY_LOOK_S if s < EARLY_S else LOOK_S
    )
    code = outcome.code if outcome.code >= 0 else 128 - outcome.code
    return Watched(socket.gethostname(), _lasting(looker.found.values()), code, outcome.seconds, looker.looks)


def follow(pid: int, pages: bool = False, seen: Callable[[Watched], None] | None = None) -> Watched:
    """Observe a running process: once, or until it ends or Ctrl-C.

    Args:
        pages: also which page sizes its memory is on.
        seen: called with what was seen so far, again and again; `None`: one look.

    Raises:
        Refusal: there is no such process, or it may not be looked at.
    """
    folder, begun_s = Path("/proc") / str(pid), time.monotonic()
    try:
        process = _new_process(pid, (folder / "environ").read_bytes().split(b"\0"))
    except PermissionError:
        process = WatchedProcess(pid, None, 0)
    except OSError:
        why = f"cannot observe process {pid} (it does not exist); use a PID that ps lists"
        raise Refusal(why, Exit.WRONG_WORD) from None
    looker = _Looker(b"", pages)
    so_far = Watched(socket.gethostname(), (process,), 0, 0.0, 0)
    with contextlib.suppress(KeyboardInterrupt):
        while True:
            looker.looks += 1
            try:
                looker.see(process, folder)
                if (folder / "stat").read_text().rpartition(")")[2].split()[0] in "ZX":  # not reaped yet
                    break
            except PermissionError as error:
                raise access_refusal(pid, error) from error
            except (OSError, ValueError):  # it has ended
                break
            so_far = replace(so_far, seconds=time.monotonic() - begun_s, looks=looker.looks)
            if seen is None:
                break
            seen(so_far)
            time.sleep(FOLLOW_S)
    return so_far


def _lasting(found: Iterable[WatchedProcess]) -> tuple[WatchedProcess, ...]:
    """By rank; without what a rank's wrapper scripts started in passing, unless there was nothing else."""

    def looks(process: WatchedProcess) -> int:
        return max((thread.seen_on.total() for thread in process.threads.values()), default=0)

    processes = sorted(found, key=lambda p: (p.rank if p.rank is not None else p.local_rank, p.pid))
    longest: dict[int, int] = {}
    for process in processes:
        longest[process.local_rank] = max(longest.get(process.local_rank, 0), looks(process))
    return tuple(process for process in processes if looks(process) * 10 >= longest[process.local_rank])


class _Looker:
    """Looks at all marked processes again and again, and remembers."""

    def __init__(self, mark: bytes, pages: bool = False) -> None:
        self.mark, self.pages = mark, pages
        self.found: dict[int, WatchedProcess] = {}
        self.looks = 0
        self.begun_s = time.monotonic()
        self.spent_s = 0.0  # on memory, except after growth

    def look(self) -> None:
        """One look at every process of ours."""
        self.looks += 1
        me = os.getuid()
        for entry in os.scandir("/proc"):
            if not entry.name.isdigit():
                continue
            try:
                if entry.stat().st_uid == me:
                    self._look_at(Path(entry.path))
            except (OSError, ValueError):  # it ended while we looked
                continue

    def _look_at(self, folder: Path) -> None:
        pid = int(folder.name)
        if pid not in self.found:
            environment = processes.environment_of(folder)
            if self.mark not in environment:
                return
            self.found[pid] = _new_process(pid, environment)
        self.see(self.found[pid], folder)

    def see(self, process: WatchedProcess, folder: Path) -> None:
        """One look at a process.

        Raises:
            OSError, ValueError: it ended meanwhile, or may not be looked at.
        """
        process.name = (folder / "comm").read_text().strip()
        resident_bytes, peak_bytes = parse_resident((folder / "status").read_text())
        if 0 < peak_bytes < SAME_PROGRAM * process.peak_bytes:  # it has become another program, with its own maximum
            process.resident_bytes = process.peak_bytes = 0
        process.peak_bytes = max(process.peak_bytes, peak_bytes)
        for task in (folder / "task").iterdir():
            thread = process.threads.setdefault(int(task.name), Thread(int(task.name)))
            thread.name, cpu, thread.cpu_s = parse_stat((task / "stat").read_text())
            thread.seen_on[cpu] += 1
            thread.mask = parse_mask((task / "status").read_text())
        if self._is_due(process, resident_bytes):
            self._sample_memory(process, folder, resident_bytes)

    def _is_due(self, process: WatchedProcess, resident_bytes: int) -> bool:
        """Return whether the memory of a process is read now: at once if it grew, else within a share of the time.

        A process that frees memory keeps its sample; one whose size stays is read again, so that the sample is late.
        """
        if resident_bytes == 0 or resident_bytes < process.resident_bytes:
            return False
        if resident_bytes >= GROWTH * process.resident_bytes:
            return True
        elapsed_s = time.monotonic() - self.begun_s
        return self.spent_s + process.sampling_s <= MEMORY_SHARE * elapsed_s

    def _sample_memory(self, process: WatchedProcess, folder: Path, resident_bytes: int) -> None:
        """Read all that is known of the memory of a process, so that its totals are of the same moment.

        Raises:
            OSError, ValueError: as in `see`.
        """
        begun_s = time.monotonic()
        pages = None
        if self.pages:
            with contextlib.suppress(Refusal):  # it ended while we looked
                pages = page_sizes(process.pid)
        node_bytes = parse_numa_maps((folder / "numa_maps").read_text())
        huge_bytes = parse_huge((folder / "smaps_rollup").read_text())
        if not node_bytes or (self.pages and pages is None):  # it has ended
            return
        process.node_bytes, process.huge_bytes, process.pages = node_bytes, huge_bytes, pages
        process.sampling_s = time.monotonic() - begun_s
        if resident_bytes < GROWTH * process.resident_bytes:
            self.spent_s += process.sampling_s
        process.resident_bytes, process.sampled_s = resident_bytes, begun_s - self.begun_s


def _new_process(pid: int, environment: Sequence[bytes]) -> WatchedProcess:
    variables = dict(word.decode(errors="replace").partition("=")[::2] for word in environment)

    def first(names: Sequence[str]) -> int | None:
        return next((int(variables[name]) for name in names if variables.get(name, "").isdigit()), None)

    return WatchedProcess(pid, first(RANK_VARIABLES), first(LOCAL_RANK_VARIABLES) or 0)


def parse_stat(text: str) -> tuple[str, int, float]:
    """Name, last hardware thread and CPU seconds of `/proc/<pid>/task/<tid>/stat`; a name may hold anything.

    Raises:
        ValueError: not such a line.
    """
    head, paren, tail = text.rpartition(")")
    fields = tail.split()
    if not paren or len(fields) < 37:
        raise ValueError("not a line of /proc/PID/stat")
    # proc(5): fields 14 and 15 are user and system time, 39 is the processor; the state after the name is field 3.
    return head.partition("(")[2], int(fields[36]), (int(fields[11]) + int(fields[12])) / _TICKS_PER_S


def parse_mask(status: str) -> frozenset[int]:
    """Return the allowed hardware threads from `/proc/<pid>/task/<tid>/status`."""
    match = re.search(r"^Cpus_allowed_list:\s*(\S+)", status, re.MULTILINE)
    return frozenset(parse_cpus(match[1])) if match else frozenset()


def parse_resident(status: str) -> tuple[int, int]:
    """Return the resident size with pages of a pool, and the largest without them, from `/proc/<pid>/status`, in bytes.

    Both are 0 for a process without memory, which has ended.
    """
    fields = {name: 1024 * int(kib) for name, kib in re.findall(r"^(\w+):\s*(\d+) kB", status, re.MULTILINE)}
    return fields.get("VmRSS", 0) + fields.get("HugetlbPages", 0), fields.get("VmHWM", 0)


def parse_numa_maps(text: str) -> dict[int, int]:
    """Bytes of private memory by node from `/proc/<pid>/numa_maps`; pages of files are not the program's own."""
    found: Counter[int] = Counter()
    for line in text.splitlines():
        words = line.split()
        if not any(word.startswith("anon=") or word == "huge" for word in words):
            continue
        page_kib = next((int(word[18:]) for word in words if word.startswith("kernelpagesize_kB=")), 4)
        for word in words:
            match = re.fullmatch(r"N(\d+)=(\d+)", word)
            if match:
                found[int(match[1])] += int(match[2]) * page_kib * 1024
    return dict(sorted(found.items()))


def parse_huge(rollup: str) -> int:
    """Bytes on huge pages, transparent or from a pool, from `/proc/<pid>/smaps_rollup`."""
    return sum(1024 * int(kib) for kib in re.findall(r"^(?:AnonHugePages|Private_Hugetlb):\s*(\d+) kB", rollup, re.M))
