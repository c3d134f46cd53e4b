"""Verdict of the noise test against the one from independent counters, over the same seconds of the same threads.

    python bench/bench_doctor.py [--tries 20] [--seconds 5] [--cpus 0-1] [--only stops]

A try is one launch of the noise test on the CPUs: without planted load, with a process that uses the first CPU, in a
control group with half a CPU (needs root), and with stops of 2 of every 40 ms (SIGSTOP, SIGCONT). The counters are
/proc/PID/task/TID/schedstat, /proc/stat, cpu.stat and the times of the signals. The thresholds of the verdict are those
of Octant; the share of each thread is computed here. Goal: the verdicts are equal in at least 19 of 20 tries of each
case. With `--cpus`, several of these run at the same time on disjoint CPUs of a larger machine; each then sees the
others as other load.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "support"))
import planted
from octant.advice import Diagnosis
from octant.advice.fitness import MAX_LOST, MAX_LOST_OF_FIT, MAX_OTHER_LOAD, Fitness, judge_fitness
from octant.analysis.summary import summarise
from octant.machine.cpusets import cpus_text, parse_cpus
from octant.store import Store

CASES = ("nothing", "hog", "quota of 0.5 CPU", "stops of 5 %")
STOPPED_S = 0.05 * planted.PERIOD_S
READ_EVERY_S = 0.02
TICK_S = 1 / os.sysconf("SC_CLK_TCK")
MIN_RAN_S = 0.02  # of each thread before the first reading: the kernel has started its threads


@dataclass(frozen=True)
class Reading:
    """The counters at one moment, in seconds."""

    at_s: float
    ran_s: dict[str, float]  # by thread
    waited_s: dict[str, float]
    steal_s: float  # of the CPUs of the try
    busy_s: float  # of all CPUs of the system
    throttled_s: float


@dataclass(frozen=True)
class CountedTry:
    """What the counters say about a try."""

    lost: float  # of the thread that lost most
    other_load: float

    @property
    def verdict(self) -> str:
        """The verdict that follows from the thresholds."""
        if self.lost > MAX_LOST:
            return "not fit"
        return "fit with reservations" if self.lost > MAX_LOST_OF_FIT or self.other_load > MAX_OTHER_LOAD else "fit"


class ThreadCounters:
    """Reads the counters of all threads of a process until it ends."""

    def __init__(self, process: int, cpus: frozenset[int], group: Path | None) -> None:
        self._process, self._cpus, self._group = process, cpus, group
        self._readings: list[Reading] = []
        self._thread = threading.Thread(target=self._read_until_end)
        self._thread.start()

    def _read_until_end(self) -> None:
        with contextlib.suppress(OSError, ValueError, IndexError):
            while Path(f"/proc/{self._process}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX":
                self._readings.append(self._read())
                time.sleep(READ_EVERY_S)

    def _read(self) -> Reading:
        ran, waited = {}, {}
        for folder in Path(f"/proc/{self._process}/task").iterdir():
            with contextlib.suppress(OSError):
                words = (folder / "schedstat").read_text().split()
                ran[folder.name], waited[folder.name] = int(words[0]) * 1e-9, int(words[1]) * 1e-9
        rows = [line.split() for line in Path("/proc/stat").read_text().splitlines() if line.startswith("cpu")]
        ticks = {name: [int(word) for word in words] for name, *words in rows}
        steal = sum(ticks[f"cpu{number}"][7] for number in self._cpus) * TICK_S
        busy = sum(ticks["cpu"][place] for place in (0, 1, 2, 5, 6)) * TICK_S
        throttled = planted.throttled_s(self._group) if self._group else 0.0
        return Reading(time.monotonic(), ran, waited, steal, busy, throttled)

    def counted(self, spans: list[tuple[float, float]]) -> CountedTry:
        """Return what the counters say, from when all threads work to the last but one reading.

        Raises:
            ValueError: the process ended too early.
        """
        self._thread.join()
        number = len(self._cpus)
        working = [
            one for one in self._readings if sum(seconds > MIN_RAN_S for seconds in one.ran_s.values()) >= number
        ]
        if len(working) < 4:
            raise ValueError("cannot count lost time (the process ended before its counters were read)")
        first, last = working[0], working[-2]
        elapsed_s = last.at_s - first.at_s
        names = [name for name in last.ran_s if name in first.ran_s]
        ran = {name: last.ran_s[name] - first.ran_s[name] for name in names}
        used = sorted(names, key=lambda name: -ran[name])[:number]
        stopped_s = sum(max(0.0, min(end, last.at_s) - max(begin, first.at_s)) for begin, end in spans)
        throttled_s = (last.throttled_s - first.throttled_s) / number
        shares = []
        for name in used:
            waited_s = max(last.waited_s[name] - first.waited_s[name], throttled_s)
            shares.append((waited_s + stopped_s) / (waited_s + stopped_s + ran[name]))
        steal = (last.steal_s - first.steal_s) / elapsed_s / number
        other = (last.busy_s - first.busy_s - sum(ran.values())) / elapsed_s
        return CountedTry(max(*shares, steal), max(0.0, other))


def tried(case: str, cpus: frozenset[int], seconds: float, store: Path) -> tuple[Fitness, CountedTry]:
    """Measure once; return the verdict of the noise test, and what the counters say.

    Raises:
        OSError: the system refuses the disturbance.
        TimeoutError: the kernel did not start.
    """
    knobs = [f"threads={len(cpus)}", f"seconds={seconds:g}"]
    options = ["--repeats", "1", "--store", str(store)]
    command = [sys.executable, "-m", "octant.cli", "run", "node/noise", *knobs, *options]
    others = sorted(os.sched_getaffinity(0) - cpus) or sorted(cpus)
    with contextlib.ExitStack() as stack:
        group = stack.enter_context(planted.control_group(*planted.quota(0.5))) if case.startswith("quota") else None
        if case == "hog":
            stack.enter_context(planted.hog(min(cpus), 1.0))
        enter = planted.entering(group) if group else ()
        process = subprocess.Popen(
            [*enter, "taskset", "-c", cpus_text(cpus), *command],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        stack.callback(process.kill)
        records = created_records(process, store)
        (kernel,) = planted.ranks_of(process, records, 1)
        counters = ThreadCounters(kernel, cpus, group)
        spans = stack.enter_context(planted.stops([kernel], STOPPED_S, others[-1])) if "stops" in case else None
        _, errors = process.communicate()
        counted = counters.counted(spans() if spans else [])
    run, _ = Store(store).newest()
    if not run.points:
        raise SystemExit(f"the noise test failed: {errors}")
    return judge_fitness(summarise(run), Diagnosis(())), counted


def created_records(process: subprocess.Popen[str], store: Path) -> Path:
    """Wait until the run exists, and return the path of its records.

    Raises:
        TimeoutError: it is not created.
    """
    until_s = time.monotonic() + 2 * planted.START_S
    while time.monotonic() < until_s and process.poll() is None:
        if found := [*store.glob("runs/*/records.jsonl")]:
            return found[0].resolve()
        time.sleep(0.005)
    raise TimeoutError("the run was not created")


def row(case: str, cpus: frozenset[int], seconds: float, tries: int) -> int:
    """Print the row of a case; return the number of tries with different verdicts."""
    verdicts: Counter[str] = Counter()
    found: list[tuple[float, float]] = []
    differing: list[str] = []
    for number in range(tries):
        with tempfile.TemporaryDirectory() as folder:
            try:
                fitness, counted = tried(case, cpus, seconds, Path(folder).resolve())
            except OSError as error:
                print(f"{case:18}  cannot be measured here ({error})")
                return 0
        test = fitness.tested
        lost = test.by_hardware_thread[test.worst].lost if test else 0.0
        found.append((lost, counted.lost))
        verdicts[fitness.verdict] += 1
        if fitness.verdict != counted.verdict:
            reasons = "; ".join(reason.text for reason in fitness.reasons)
            counts = f"{counted.verdict}: {counted.lost:.2%} lost, other load {counted.other_load:.2f}"
            differing.append(f"  try {number + 1}: Octant {fitness.verdict} ({reasons}); counters {counts}")
    lost, by_counters = (sorted(column)[tries // 2] for column in zip(*found, strict=True))
    off = max(abs(one - other) for one, other in found)
    same = f"{tries - len(differing)}/{tries}"
    shown = ", ".join(f"{name} {times}" for name, times in verdicts.most_common())
    print(f"{case:18}{same:>8}{100 * lost:9.2f}{100 * by_counters:9.2f}{100 * off:9.2f}  {shown}", flush=True)
    print(*differing, sep="\n", end="\n" * bool(differing), flush=True)
    return len(differing)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tries", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--cpus", default=cpus_text(os.sched_getaffinity(0)), help="CPUs of the noise test: 0-1")
    parser.add_argument("--only", default="", help="cases whose name contains this")
    given = parser.parse_args()
    cpus = frozenset(parse_cpus(given.cpus))
    print(f"CPUs {cpus_text(cpus)}, {given.seconds:g} s per try; lost time of the thread that lost most, percent")
    print(f"{'planted':18}{'equal':>8}{'Octant':>9}{'counters':>9}{'most off':>9}  verdicts of Octant")
    wrong = [row(case, cpus, given.seconds, given.tries) for case in CASES if given.only in case]
    sys.exit(any(20 * number > given.tries for number in wrong))


if __name__ == "__main__":
    main()
