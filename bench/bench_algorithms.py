"""Compare Octant's algorithms of collectives with the library's choice, and count false alarms of a guideline.

    python bench/bench_algorithms.py [--repeats 5] [--seconds 0.02] [--only mpich|openmpi|control] [--controls 100]

Two ranks of MPICH, and four of Open MPI where `make openmpi` was run. Each launch measures all algorithms of a pattern
at all lengths, in random order; a ratio is the median over launches. `control`: runs of the guideline
MPI_Bcast against itself, each of six launches and judged as `octant` judges a guideline.
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

from _kernel import points
from octant import workloads
from octant.analysis.figures import figure
from octant.build import find_environment_program
from octant.stats.guidelines import LEAST_LAUNCHES, judge_guidelines

if TYPE_CHECKING:
    from collections.abc import Sequence

SIZES = ("8", "1KiB", "64KiB", "1MiB")
OWN = {
    "allreduce": ("recursive-doubling", "ring", "rabenseifner", "binomial"),
    "alltoall": ("linear", "ring", "pairwise", "bruck", "prime-stride", "prime-stride-from-zero"),
    "bcast": ("binomial", "scatter-allgather", "chain"),
    "allgather": ("ring", "recursive-doubling", "bruck"),
    "reduce": ("binomial",),
}
OPEN_MPI = Path(__file__).parent.parent / ".venv-openmpi"
Cell = tuple[str, str, str]  # pattern, algorithm, length


def launch(pattern: str, seconds: str, launcher: Sequence[str]) -> dict[Cell, float]:
    """Seconds of a call, by algorithm and length."""
    names, sizes = ["library", *OWN[pattern]], list(SIZES)
    random.shuffle(names)
    random.shuffle(sizes)
    words = [f"pattern={pattern}", f"algorithm={','.join(names)}", f"bytes={','.join(sizes)}", f"seconds={seconds}"]
    found = {}
    for point in points("mpi/collective", [*words, "precision=0"], launcher):
        value = figure(workloads.workload("mpi/collective"), [point]).value
        if value:
            found[(pattern, point.knobs["algorithm"], point.knobs["bytes"])] = value.middle
    return found


def table(title: str, repeats: int, seconds: str, launcher: Sequence[str]) -> None:
    """Print the ratio of each algorithm to the library, and the best of each pattern."""
    ratios: dict[Cell, list[float]] = defaultdict(list)
    for _ in range(repeats):
        for pattern in OWN:
            times = launch(pattern, seconds, launcher)
            for (_, name, size), time in times.items():
                if name != "library" and (library := times.get((pattern, "library", size))):
                    ratios[(pattern, name, size)].append(time / library)
    lengths = list(SIZES)
    print(f"{title}: time over the library's, medians of {repeats} launches")
    print(f"{'':32}" + "".join(f"{size:>12}" for size in lengths))
    for pattern, names in OWN.items():
        rows = {name: [ratios.get((pattern, name, size), []) for size in lengths] for name in names}
        middles = {name: [statistics.median(one) if one else float("inf") for one in row] for name, row in rows.items()}
        for name, row in middles.items():
            print(f"{pattern:10} {name:21}" + "".join(f"{one:12.2f}" for one in row))
        print(
            f"{pattern:10} {'best':21}"
            + "".join(f"{min(column):12.2f}" for column in zip(*middles.values(), strict=True))
        )


def controls(number: int, launcher: Sequence[str]) -> None:
    """How many of so many runs find a call slower than itself."""
    guidelines = workloads.workload("mpi/guidelines")
    words = ["guideline=control", "bytes=8", "seconds=0.02", "precision=0"]
    runs = []
    for _ in range(number):
        values = [figure(guidelines, points(guidelines.name, words, launcher)).value for _ in range(LEAST_LAUNCHES)]
        runs += judge_guidelines([[value.middle for value in values if value]])
    slower = sum(run.word == "slower" for run in runs)
    undecided = sum(run.word == "undecided" for run in runs)
    print(
        f"MPI_Bcast of 8 B against itself: slower in {slower} of {number} runs of {LEAST_LAUNCHES} launches, "
        f"{undecided} undecided; ratios {min(run.ratio for run in runs):.3f} to {max(run.ratio for run in runs):.3f}"
    )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--seconds", default="0.02")
    parser.add_argument("--controls", type=int, default=100)
    parser.add_argument("--only", choices=("mpich", "openmpi", "control"))
    asked = parser.parse_args()
    mpich = [str(find_environment_program("mpiexec") or "mpiexec"), "-n", "2"]
    if asked.only in (None, "mpich"):
        table("MPICH, 2 ranks", asked.repeats, asked.seconds, mpich)
    programs = next(iter(sorted(OPEN_MPI.glob("lib/python3*/site-packages/octant/bin"))), None)
    if asked.only in (None, "openmpi") and programs:
        options = ["--allow-run-as-root", "--oversubscribe", "--bind-to", "none"]
        launcher = [str(OPEN_MPI / "bin/mpiexec"), "-n", "4", *options]
        before = os.environ.get("OCTANT_KERNELS", "")
        os.environ["OCTANT_KERNELS"] = str(programs)
        table("Open MPI, 4 ranks", asked.repeats, asked.seconds, launcher)
        os.environ["OCTANT_KERNELS"] = before
    if asked.only in (None, "control"):
        controls(asked.controls, mpich)


if __name__ == "__main__":
    main()
