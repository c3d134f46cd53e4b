"""mpi/clock, mpi/mpiio and mpi/threads against plain loops in the same MPI; interleaved launches, medians.

`MPI_Wtime` is compared with a bare loop of it, transfers of a file in memory with pwrite and pread, and a ping-pong of
one thread under MPI_THREAD_MULTIPLE with one without.

python bench/bench_mpi_system.py [--repeats 7]
"""

import argparse
import statistics
import subprocess
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

from _kernel import median, points
from octant import workloads
from octant.analysis.figures import figure
from octant.build import find_environment_program

MEMORY = "/dev/shm"  # noqa: S108 - a file system in memory: no disk between the two
LENGTHS = (4096, 65536, 1048576)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--repeats", type=int, default=7)
    repeats = parser.parse_args().repeats
    compiler = find_environment_program("mpicc_abi") or find_environment_program("mpicc") or "mpicc"
    pair = [str(find_environment_program("mpiexec") or "mpiexec"), "-n", "2"]
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "bare"
        source = Path(__file__).parent / "bare_system.c"
        subprocess.run([str(compiler), "-O2", str(source), "-o", str(program)], check=True)

        def bare(*words: str) -> float:
            done = subprocess.run([str(program), *words], check=True, capture_output=True, text=True)
            return statistics.median(map(float, done.stdout.split()))

        sides: dict[str, tuple[Callable[[], float], Callable[[], float]]] = {
            "MPI_Wtime": (lambda: bare("clock"), lambda: median("mpi/clock", ["pattern=cost", "precision=0"])),
            "THREAD_MULTIPLE, 8 B": (
                lambda: median("mpi/p2p", ["pattern=pingpong", "bytes=8"], pair),
                lambda: median("mpi/threads", ["pattern=pingpong", "bytes=8"], pair),
            ),
        }
        for what in ("write", "read"):
            for length in LENGTHS:
                sides[f"{what} {length}"] = (
                    partial(bare, what, str(length), MEMORY),
                    partial(transfer, what, length),
                )
        print(f"{'':24}{'bare, us':>11}{'octant, us':>12}{'ratio':>8}{'of best':>9}")
        found: dict[str, tuple[list[float], list[float]]] = {name: ([], []) for name in sides}
        for _ in range(repeats):
            for name, both in sides.items():
                for values, measure in zip(found[name], both, strict=True):
                    values.append(measure())
    for name, (theirs, ours) in found.items():
        middle, mine = statistics.median(theirs), statistics.median(ours)
        best = min(ours) / min(theirs)
        print(f"{name:24}{middle * 1e6:>11.3f}{mine * 1e6:>12.3f}{mine / middle:>8.3f}{best:>9.3f}")


def transfer(what: str, length: int) -> float:
    """Seconds of one transfer of mpi/mpiio, before any sync."""
    words = [f"pattern=s-{what}-expl", f"bytes={length}", f"folder={MEMORY}", "seconds=0.3", "precision=0"]
    found = figure(workloads.workload("mpi/mpiio"), points("mpi/mpiio", words), "transfer").value
    if found is None:
        raise SystemExit(f"cannot compare (s-{what}-expl gave no right answer); run it by itself")
    return found.middle


if __name__ == "__main__":
    main()
