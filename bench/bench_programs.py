"""Time that Octant adds to a launch of a user's program, against a bare fork and exec; interleaved.

Each round starts the program once bare and once as a launch of a stored run: planned, guarded, its output captured and
its record written to disk.
"""

import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from octant.machine.discover import discover
from octant.request import Launch, Presentation, Request, Subject
from octant.runs.plan import planner_of
from octant.runs.session import execute_run
from octant.store import Store, StoredRun

ROUNDS = 200
GOAL_S = 0.005
SOURCE = """
#include <time.h>
#include <stdio.h>
int main(void) { struct timespec t = {0, 10000000}; nanosleep(&t, 0); puts("done"); return 0; }
"""


def main(rounds: int = ROUNDS) -> None:
    """Print the medians of both and of their difference."""
    with tempfile.TemporaryDirectory() as folder, compiled(Path(folder)) as program:
        bare, launched, guarded = measure(program, Path(folder), rounds)
    added = [one - other for one, other in zip(launched, bare, strict=True)]
    print(f"{rounds} launches of a static program that sleeps 10 ms")
    for name, values in (("bare fork and exec", bare), ("launch of Octant", launched), ("its guard's report", guarded)):
        low, high = statistics.quantiles(values, n=20)[0], statistics.quantiles(values, n=20)[-1]
        middle = statistics.median(values)
        print(f"{name:<20} median {middle * 1e3:6.2f} ms, 5 to 95 %: {low * 1e3:6.2f} to {high * 1e3:6.2f} ms")
    print(f"added by Octant: median {statistics.median(added) * 1e3:.2f} ms (goal: at most {GOAL_S * 1e3:.0f} ms)")


@contextmanager
def compiled(folder: Path) -> Iterator[Path]:
    """Yield the program."""
    (folder / "program.c").write_text(SOURCE)
    program = folder / "program"
    subprocess.run(["cc", "-O2", "-static", str(folder / "program.c"), "-o", str(program)], check=True)
    yield program


def measure(program: Path, folder: Path, rounds: int) -> tuple[list[float], list[float], list[float]]:
    """Seconds of each round: bare, as a launch, and as the guard reports it."""
    store = Store(folder / "store")
    subject = Subject(command=(str(program),), directory=str(folder))
    run = store.create("overhead", discover(), [Request(subject, show=Presentation("program"), repeats=rounds)])
    bare: list[float] = []
    launched: list[float] = []
    begun_s = [0.0]

    def schedule_launches(of: StoredRun) -> Iterator[Launch]:
        for launch in of.launches:
            begin_s = time.perf_counter()
            subprocess.run([str(program)], check=True, capture_output=True)
            bare.append(time.perf_counter() - begin_s)
            begun_s[0] = time.perf_counter()
            yield launch
            launched.append(time.perf_counter() - begun_s[0])

    done = execute_run(store, run, schedule_launches(run), planner_of(run))  # type: ignore[arg-type]
    guarded = [one.value for point in done.points for one in point.results if one.name == "wall time"]
    return bare, launched, guarded


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
