"""Kills a measuring command at one moment, starts the next one, and checks that nothing was lost or left behind."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from octant.store import Store, StoredRun
from segments import stray_segments

PATIENCE_S = 20.0
"""Time after which processes and segments of a killed command count as left behind."""


@dataclass(frozen=True)
class Trial:
    """What was found in one trial."""

    killed: bool  # False: the command had ended before
    kept: int  # complete records that the killed command had written
    faults: tuple[str, ...]


def command(words: Sequence[str], store: Path) -> list[str]:
    """The command line of octant in this environment."""
    return [sys.executable, "-m", "octant.cli", *words, "--store", str(store)]


def kill_and_resume(words: Sequence[str], moment_s: float, store: Path, environment: Mapping[str, str]) -> Trial:
    """Start the command, kill octant alone with SIGKILL after this time, and resume the run.

    Args:
        words: a command that creates one run in the store, which is empty before.
        moment_s: seconds from the start to the kill.
    """
    before, token = stray_segments(), f"octant-kill-{os.getpid()}-{time.monotonic_ns()}"
    environment = {**environment, "OCTANT_TOKEN": token}
    with subprocess.Popen(
        command(words, store), env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        try:
            process.wait(moment_s)
        except subprocess.TimeoutExpired:
            process.kill()
    killed, faults = process.wait() < 0, list[str]()
    if not eventually(lambda: not marked_processes(token)):
        faults.append(f"processes are left behind: {marked_processes(token)}")
    written = complete_lines(store)
    again = ["resume", "last"] if written else words
    done = subprocess.run(command(again, store), env=environment, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        faults.append(f"octant {' '.join(again)} exits with {done.returncode}: {done.stderr[-500:]}")
    faults += lost_records(written, store)
    if not eventually(lambda: stray_segments() <= before):
        faults.append(f"segments are left behind: {sorted(stray_segments() - before)}")
    return Trial(killed, sum(map(len, written.values())), tuple(faults))


def complete_lines(store: Path) -> dict[str, list[bytes]]:
    """The records of each run that end with a line feed, by the id of the run."""
    found = {}
    for run in Store(store).ids():
        text = (store / "runs" / run / "records.jsonl").read_bytes()
        found[run] = text.split(b"\n")[:-1]
    return found


def lost_records(written: Mapping[str, Sequence[bytes]], store: Path) -> list[str]:
    """What is wrong with runs that were killed and resumed."""
    faults, now = [], complete_lines(store)
    for name, lines in written.items():
        run = Store(store).read(name)
        if now[name][: len(lines)] != lines:
            faults.append(f"run {name}: its first {len(lines)} records have changed")
        if not run.complete:
            faults.append(f"run {name}: {len(run.remaining())} launches are left")
        faults += [f"run {name}: {text}" for text in run.torn]
        torn_by_kill = f"records.jsonl, line {len(lines) + 1}: "
        faults += [f"run {name}: {text}" for text in run.damaged if not text.startswith((torn_by_kill, "plan.jsonl"))]
        faults += repeated_points(run)
    return faults


def repeated_points(run: StoredRun) -> list[str]:
    """Points that were measured twice although the first was kept."""
    keys = [f"{point.launch} {sorted(point.knobs.items())}" for point in run.points]
    return [f"run {run.id}: measured {keys.count(key)} times: {key}" for key in set(keys) if keys.count(key) > 1]


def marked_processes(token: str) -> list[str]:
    """Command lines of the processes that have this word in their environment."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if token.encode() in (folder / "environ").read_bytes():
                found.append((folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace"))
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
