"""SIGKILL of octant at random moments of every measuring command: what is lost, and what is left behind.

Goal: of 50 kills none loses a complete record or leaves a process or, after the next start, a segment in /dev/shm, and
every `octant resume` ends with 0. As root, /dev/shm is a private one, so that segments of other programs do not count.

Usage: bench_kills.py [TRIALS [SEED]]
"""

import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "support"))

from kills import command, kill_and_resume

COMMANDS = (
    ("run", "p2p", "pattern=pingpong,exchange", "bytes=8,64KiB", "seconds=0.1", "--ranks", "2", "--repeats", "4"),
    ("mpi", "PingPong", "Allreduce", "--sizes", "8,1KiB", "-n", "2", "--repeats", "4"),
    ("hpcc", "--size", "hpl:256", "-n", "2", "--repeats", "1"),
    ("evaluate", "--only", "p2p"),
    ("study", "run", "mpi-clock-cost", "--repeats", "4"),
)
PRIVATE = "OCTANT_PRIVATE_SHM"


def main(trials: int = 50, seed: int = 1) -> None:
    """Print a line for each command and exit with 1 if a trial fails."""
    with_private_segments()
    generator, failed = random.Random(seed), 0
    for number, words in enumerate(COMMANDS):
        with tempfile.TemporaryDirectory() as folder:
            begun_s = time.monotonic()
            subprocess.run(command(words, Path(folder)), check=True, capture_output=True)
            whole_s = time.monotonic() - begun_s
        count = len(range(number, trials, len(COMMANDS)))
        killed = kept = 0
        for _ in range(count):
            moment_s = generator.uniform(0, whole_s)
            with tempfile.TemporaryDirectory() as folder:
                found = kill_and_resume(words, moment_s, Path(folder), os.environ)
            killed, kept, failed = killed + found.killed, kept + found.kept, failed + bool(found.faults)
            for fault in found.faults:
                print(f"  killed after {moment_s:.2f} s: {fault}", flush=True)
        print(
            f"octant {' '.join(words)}: {whole_s:.0f} s, {count} trials, {killed} killed, {kept} records kept",
            flush=True,
        )
    print(f"{failed} of {trials} trials failed (goal: 0)")
    raise SystemExit(failed > 0)


def with_private_segments() -> None:
    """Start this program again with a /dev/shm of its own, where the system allows it."""
    if os.geteuid() == 0 and PRIVATE not in os.environ:
        mount = 'mount -t tmpfs tmpfs /dev/shm && exec "$@"'
        words = ["unshare", "--mount", "sh", "-c", mount, "sh", sys.executable, *sys.argv]
        os.execvpe(words[0], words, {**os.environ, PRIVATE: "1"})  # noqa: S606


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
