"""Compare two equal programs with hyperfine and Octant: false differences, and overhead of each tool.

The program is static and sleeps 5 ms. Hyperfine (on PATH, or the file in HYPERFINE) runs each program as often
as Octant did, one after the other, which is its method; Octant measures paired rounds and tests after 4, 6, 8 and 12.
"""

import json
import math
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from octant.analysis.compare import Comparisons, compare
from octant.analysis.summary import summarise
from octant.runs.interleaved import Interleaved, RoundEnd, create_program_runs, measure_rounds
from octant.runs.plan import planner_of
from octant.runs.program_pair import request_pairs
from octant.stats.gate import OBRIEN_FLEMING_THRESHOLDS
from octant.store import Store

REPETITIONS = 100
SLEEP_S = 0.005
SOURCE = """
#include <time.h>
int main(void) { struct timespec t = {0, 5000000}; nanosleep(&t, 0); return 0; }
"""


@dataclass
class Said:
    """What one tool said of all repetitions."""

    faster: int = 0
    stated_s: list[float] = field(default_factory=list)  # the time of a launch, as the tool states it
    launch_s: list[float] = field(default_factory=list)  # wall time of the comparison over its launches


def main(repetitions: int = REPETITIONS) -> None:
    """Print both."""
    hyperfine = os.environ.get("HYPERFINE") or shutil.which("hyperfine")
    ours, peers = Said(), Said()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        programs = compiled(folder)
        for _ in range(repetitions):
            rounds = by_octant(programs, Store(folder / "store"), ours)
            if hyperfine:
                by_hyperfine(hyperfine, programs, rounds, folder / "hyperfine.json", peers)
    print(f"{repetitions} comparisons of a program that sleeps 5 ms with a copy of itself")
    report("octant compare", ours, repetitions)
    if hyperfine:
        report("hyperfine", peers, repetitions)
    else:
        print("hyperfine is absent: put it on PATH, or name it in HYPERFINE")


def report(tool: str, said: Said, repetitions: int) -> None:
    """Print one line."""
    stated, launch = (statistics.median(values) - SLEEP_S for values in (said.stated_s, said.launch_s))
    print(
        f"{tool:<16} called one faster {said.faster:3d} times of {repetitions}; stated {stated * 1e3:.2f} ms and took "
        f"{launch * 1e3:.2f} ms per launch in addition to the sleep"
    )


def compiled(folder: Path) -> tuple[str, str]:
    """Return the program and a copy of it."""
    (folder / "program.c").write_text(SOURCE)
    names = (str(folder / "old"), str(folder / "new"))
    subprocess.run(["cc", "-O2", "-static", str(folder / "program.c"), "-o", names[0]], check=True)
    shutil.copy(*names)
    return names


def by_octant(programs: tuple[str, str], store: Store, said: Said) -> int:
    """Compare once; return the number of rounds."""
    commands = ((programs[0],), (programs[1],))
    couples, machine = request_pairs(commands, (), None)
    sides = create_program_runs(store, couples, commands, machine, max(OBRIEN_FLEMING_THRESHOLDS), "rising")

    def is_enough(end: RoundEnd) -> bool:
        return end.number in OBRIEN_FLEMING_THRESHOLDS and not judged(end.read()).undecided

    planners = planner_of(sides.before), planner_of(sides.after)
    begun_s = time.monotonic()
    sides = measure_rounds(store, sides, planners, max(OBRIEN_FLEMING_THRESHOLDS), is_enough)
    took_s = time.monotonic() - begun_s
    (one,) = judged(sides).figures
    said.faster += one.word in ("faster", "slower")
    said.stated_s += [value for value in one.values if value is not None]
    said.launch_s.append(took_s / (2 * sides.rounds))
    return sides.rounds


def judged(sides: Interleaved) -> Comparisons:
    """Return the comparison of both stored sides."""
    return compare(summarise(sides.before, headlines=True), summarise(sides.after, headlines=True))


def by_hyperfine(hyperfine: str, programs: tuple[str, str], rounds: int, export: Path, said: Said) -> None:
    """Compare once; a program is faster if the ratio that hyperfine prints exceeds 1 by more than its uncertainty."""
    words = [hyperfine, "-N", "--runs", str(rounds), "--style", "none", "--export-json", str(export), *programs]
    begun_s = time.monotonic()
    subprocess.run(words, check=True, capture_output=True)
    said.launch_s.append((time.monotonic() - begun_s) / (2 * rounds))
    results = json.loads(export.read_text())["results"]
    (mean, deviation), (other, others) = sorted((one["mean"], one["stddev"]) for one in results)
    ratio = other / mean
    uncertainty = ratio * math.hypot(deviation / mean, others / other)
    said.faster += ratio - uncertainty > 1
    said.stated_s += [mean, other]


if __name__ == "__main__":
    main(int(sys.argv[1]) if sys.argv[1:] else REPETITIONS)
