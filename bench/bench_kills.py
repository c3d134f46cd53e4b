"""Send SIGKILL at random moments of every measuring command, and check for lost and left-over data.

Every second trial kills the process group of octant, the others only octant. Further trials kill a launcher or a rank,
after which octant continues. Each trial checks that every complete record is kept, that after the start of another
command no process, segment in /dev/shm or temporary file is left, that `octant resume` ends with 0, and that no launch
counts as failed then (`tests/support/kills.py`). As root, /dev/shm is private, so that segments of other programs are
not counted.

Usage: bench_kills.py [TRIALS [SEED [COMMAND]]], for example bench_kills.py 50 1 hpcc: the 10 trials of `octant hpcc`
"""

import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "support"))

from kills import Trial, command, kill_and_resume

COMMANDS = (
    ("run", "p2p", "bytes=8,64KiB", "seconds=0.05", "--ranks", "2", "--repeats", "4", "--no-limit"),
    ("mpi", "PingPong", "Allreduce", "--sizes", "8,1KiB", "-n", "2", "--repeats", "2"),
    ("hpcc", "--size", "hpl:64", "-n", "2", "--repeats", "1"),
    ("evaluate", "--suite", str(Path(__file__).with_name("kills.toml"))),
    ("study", "run", "mpi-clock-cost", "--repeats", "4"),
)
LAUNCHED = ("launcher", "rank")
MAX_TRIES = 4
"""Trials until the victim is running at the moment of the kill."""
PRIVATE = "OCTANT_PRIVATE_SHM"


def main(trials: int = 50, seed: int = 1, only: str = "") -> None:
    """Print a row for each command, and exit with 1 if a trial fails.

    Args:
        trials: those that kill octant, of all commands together.
        only: the first word of one command; "": all of them.
    """
    with_private_segments()
    print(f"seed {seed}")
    print(
        "seconds  trials  octant killed  launcher or rank killed  records kept  runs resumed  failed  command",
        flush=True,
    )
    failed = 0
    for number, words in enumerate(COMMANDS):
        if only in ("", words[0]):
            count = len(range(number, trials, len(COMMANDS)))
            victims = [("octant", "group")[trial % 2] for trial in range(count)]
            failed += trials_of(words, [*victims, *LAUNCHED * round(count / 5)], random.Random(f"{seed} {words[0]}"))
    print(f"failed trials: {failed} (goal: 0)")
    raise SystemExit(failed > 0)


def trials_of(words: Sequence[str], victims: Sequence[str], generator: random.Random) -> int:
    """Print the row of a command and the faults that were found, and return how many trials failed."""
    with tempfile.TemporaryDirectory() as folder:
        begun_s = time.monotonic()
        subprocess.run(command(words, Path(folder)), check=True, capture_output=True)
        whole_s = time.monotonic() - begun_s
    found, octants = list[Trial](), 0
    for victim in victims:
        moment_s = whole_s
        for _ in range(MAX_TRIES):
            moment_s = generator.uniform(0, moment_s)
            with tempfile.TemporaryDirectory() as folder:
                found.append(kill_and_resume(words, moment_s, Path(folder) / "store", os.environ, victim))
            for fault in found[-1].faults:
                print(f"  {victim} killed after {moment_s:.2f} s: {fault}", flush=True)
            if found[-1].killed:
                octants += victim not in LAUNCHED
                break
    killed, kept, failed = sum(t.killed for t in found), sum(t.kept for t in found), sum(bool(t.faults) for t in found)
    resumed = sum(t.left > 0 for t in found)
    row = f"{whole_s:7.1f}  {len(found):6}  {octants:13}  {killed - octants:23}  {kept:12}  {resumed:12}  {failed:6}"
    print(f"{row}  octant {' '.join(words)}", flush=True)
    return failed


def with_private_segments() -> None:
    """Start this program again with a /dev/shm of its own, where the system allows it."""
    if os.geteuid() == 0 and PRIVATE not in os.environ:
        mount = 'mount -t tmpfs tmpfs /dev/shm && exec "$@"'
        words = ["unshare", "--mount", "sh", "-c", mount, "sh", sys.executable, *sys.argv]
        os.execvpe(words[0], words, {**os.environ, PRIVATE: "1"})  # noqa: S606


if __name__ == "__main__":
    trials, seed, only = (*sys.argv[1:], *("50", "1", "")[len(sys.argv) - 1 :])
    main(int(trials), int(seed), only)
