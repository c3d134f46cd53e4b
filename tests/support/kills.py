"""Kills a measuring command at one moment, starts the next one, and checks that nothing was lost or left behind."""

import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from octant.failure import Exit
from octant.store import Store, StoredRun, kept
from segments import stray_segments

PATIENCE_S = 20.0
"""Time after which processes and segments of a killed command count as left behind."""
MAX_S = 300.0
"""Time after which a command counts as hung."""
NEXT = ("run", "stream", "bytes=64KiB", "seconds=0.05", "--repeats", "1")
"""The measuring command that is started after the kill."""
OF_A_RUN = {"asked.json", "plan.jsonl", "records.jsonl", "report.html", "study.html"}
"""The files of a run that nobody measures."""
VICTIMS = {
    "octant": "",
    "group": "",  # the process group of octant
    "launcher": "mpiexec",
    "rank": "octant-(?:node|mpi|hpcc|npb|apps|io)-.*",
    "guard": "octant-bind",  # of a program, one of them
    "program": "sh",  # a process of a program
}
"""What a trial kills, and the program of a victim that octant has started."""


@dataclass(frozen=True)
class Trial:
    """What was found in one trial."""

    killed: bool  # False: the command had ended before, or its victim was not running
    kept: int  # complete records at the time of the kill
    left: int  # launches that the run lacked after the kill
    faults: tuple[str, ...]


def command(words: Sequence[str], store: Path) -> list[str]:
    """The command line of octant in this environment."""
    at = words.index("--") if "--" in words else len(words)
    return [sys.executable, "-m", "octant.cli", *words[:at], "--store", str(store), *words[at:]]


def kill_and_resume(
    words: Sequence[str],
    moment_s: float,
    store: Path,
    environment: Mapping[str, str],
    victim: str = "octant",
    repeated: Sequence[str] = (),
) -> Trial:
    """Start the command, send SIGKILL to the victim after this time, start another command, and resume the run.

    Args:
        words: a command that creates one run in the store, which is empty before.
        moment_s: seconds from the start to the kill.
        victim: of `VICTIMS`.
        repeated: what `octant resume RUN` is given in addition: the options and the command line of a program.
    """
    before, token = stray_segments(), f"octant-kill-{os.getpid()}-{time.monotonic_ns()}"
    with tempfile.TemporaryDirectory() as temporary:
        environment = {**environment, "OCTANT_TOKEN": token, "TMPDIR": temporary}
        killed, at_once, faults = _start_and_kill(words, moment_s, store, environment, victim)
        if not eventually(lambda: not marked_processes(token)):
            faults.append(f"processes are left behind: {list(marked_processes(token).values())}")
        written, torn = complete_lines(store), set(torn_lines(store))
        left = sum(len(Store(store).read(run).remaining()) for run in written)
        faults += changed_records(at_once, written)
        faults += lost_records(written, store, torn)
        faults += _run(NEXT, store, environment)
        if not eventually(lambda: stray_segments() <= before):
            faults.append(f"segments are left behind: {sorted(stray_segments() - before)}")
        again: list[Sequence[str]] = [("resume", run, *repeated) for run in written] or [words]
        for resumed in again:
            faults += _run(resumed, store, environment)
        faults += lost_records(written, store, torn)
        faults += [text for run in written for text in unfinished(Store(store).read(run))]
        faults += [f"left behind: {path}" for path in left_files(store, Path(temporary))]
        if marked_processes(token):
            faults.append(f"processes are left behind: {list(marked_processes(token).values())}")
    if not eventually(lambda: stray_segments() <= before):
        faults.append(f"segments are left behind: {sorted(stray_segments() - before)}")
    return Trial(killed, sum(map(len, at_once.values())), left, tuple(dict.fromkeys(faults)))


def _start_and_kill(
    words: Sequence[str], moment_s: float, store: Path, environment: Mapping[str, str], victim: str
) -> tuple[bool, dict[str, list[bytes]], list[str]]:
    """Return whether the victim was killed, the complete records at that time, and what else went wrong."""
    faults = list[str]()
    with subprocess.Popen(
        command(words, store),
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
    ) as process:
        try:
            process.wait(moment_s)
            return False, complete_lines(store), faults
        except subprocess.TimeoutExpired:
            killed = _kill(process.pid, victim, environment["OCTANT_TOKEN"])
        at_once = complete_lines(store)
        try:
            errors = process.communicate(timeout=MAX_S)[1].decode(errors="replace")
        except subprocess.TimeoutExpired:
            process.kill()
            errors = f"it had not ended {MAX_S:.0f} s later"
    allowed = (-signal.SIGKILL,) if victim in ("octant", "group") else (Exit.OK, Exit.CANNOT_RUN)
    if killed and process.returncode not in allowed:
        faults.append(f"after the kill, octant {' '.join(words)} ended with {process.returncode}: {errors[-500:]}")
    return killed, at_once, faults


def _kill(octant: int, victim: str, token: str) -> bool:
    """Send SIGKILL to the victim; return whether there was one."""
    if victim == "octant":
        os.kill(octant, signal.SIGKILL)
        return True
    if victim == "group":
        os.killpg(octant, signal.SIGKILL)
        return True
    for process, words in marked_processes(token).items():
        if re.fullmatch(VICTIMS[victim], Path(words.split(" ")[0]).name):
            os.kill(process, signal.SIGKILL)
            return True
    return False


def _run(words: Sequence[str], store: Path, environment: Mapping[str, str]) -> list[str]:
    """Run a command to its end, and return what is wrong with it."""
    done = subprocess.run(
        command(words, store), env=environment, capture_output=True, text=True, check=False, timeout=MAX_S
    )
    if done.returncode == 0:
        return []
    return [f"octant {' '.join(words)} exits with {done.returncode}: {done.stderr[-500:]}"]


def complete_lines(store: Path) -> dict[str, list[bytes]]:
    """The records of each run that end with a line feed, by the id of the run."""
    runs = store / "runs"
    return {run: (runs / run / "records.jsonl").read_bytes().split(b"\n")[:-1] for run in Store(store).ids()}


def torn_lines(store: Path) -> Iterator[str]:
    """The last lines without an end, as `StoredRun` calls them, each with the id of its run."""
    for path in sorted(store.glob("runs/*/*.jsonl")):
        *lines, rest = path.read_bytes().split(b"\n")
        if rest:
            yield f"{path.parent.name}: {path.name}, line {len(lines) + 1}: "


def changed_records(before: Mapping[str, Sequence[bytes]], now: Mapping[str, Sequence[bytes]]) -> list[str]:
    """What is wrong with records that were complete before."""
    return [
        f"run {name}: its first {len(lines)} records have changed"
        for name, lines in before.items()
        if now[name][: len(lines)] != lines
    ]


def lost_records(written: Mapping[str, Sequence[bytes]], store: Path, torn: set[str]) -> list[str]:
    """What is wrong with the records of runs that were killed.

    Args:
        torn: lines that may be damaged, from `torn_lines`.
    """
    faults = changed_records(written, complete_lines(store))
    for name in written:
        run = Store(store).read(name)
        unread = [f"{name}: {text}" for text in run.unread]
        faults += [f"run {text}" for text in unread if not text.startswith(tuple(torn))]
        faults += repeated_points(run)
    return faults


def unfinished(run: StoredRun) -> list[str]:
    """What a run lacks after `octant resume`."""
    faults = [] if run.complete else [f"run {run.id}: {len(run.remaining())} launches are left"]
    faults += [f"run {run.id}: {text}" for text in run.torn]
    return faults + [
        f"run {run.id}: {failure.launch} counts as failed: {failure.reason}"
        for failure in run.failures
        if failure.exit == Exit.CANNOT_RUN
    ]


def left_files(store: Path, temporary: Path) -> list[Path]:
    """Files of the killed command that the next commands have not removed."""
    found = [path for path in store.glob("runs/*/*") if path.name not in OF_A_RUN and path.name != kept.FOLDER]
    folders = store.glob(f"runs/*/{kept.FOLDER}/*")
    found += [one for one in folders if one.name.encode() not in (one.parent.parent / "records.jsonl").read_bytes()]
    return [*found, *store.glob("locks/*"), *store.glob(".*"), *store.parent.glob(".*"), *temporary.iterdir()]


def repeated_points(run: StoredRun) -> list[str]:
    """Points that were measured twice although the first was kept."""
    keys = [f"{point.launch} {sorted(point.knobs.items())}" for point in run.points]
    return [f"run {run.id}: measured {keys.count(key)} times: {key}" for key in set(keys) if keys.count(key) > 1]


def marked_processes(token: str) -> dict[int, str]:
    """Command lines of the processes that have this word in their environment, by their number."""
    found = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if token.encode() in (folder / "environ").read_bytes():
                words = (folder / "cmdline").read_bytes().replace(b"\0", b" ")
                found[int(folder.name)] = words.decode(errors="replace")
        except OSError:
            continue
    return found


def eventually(holds: Callable[[], bool]) -> bool:
    """Whether this holds within `PATIENCE_S`."""
    end = time.monotonic() + PATIENCE_S
    while not holds():
        if time.monotonic() > end:
            return False
        time.sleep(0.1)
    return True
