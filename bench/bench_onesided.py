"""onesided against a hand-written bare MPI loop in the same MPI, allocated windows; interleaved launches, medians.

python bench/bench_onesided.py [--repeats 7]
"""

import argparse
import itertools
import statistics
import subprocess
import tempfile
from pathlib import Path

from _kernel import median
from octant.build import find_environment_program

PATTERNS = ("put", "get")
LENGTHS = (8, 1048576)
COMPLETIONS = ("flush", "lock", "fence", "pscw")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--repeats", type=int, default=7)
    repeats = parser.parse_args().repeats
    compiler = find_environment_program("mpicc_abi") or find_environment_program("mpicc") or "mpicc"
    launcher = str(find_environment_program("mpiexec") or "mpiexec")
    cells = list(itertools.product(PATTERNS, LENGTHS, COMPLETIONS))
    bare: dict[tuple[str, int, str], list[float]] = {cell: [] for cell in cells}
    ours: dict[tuple[str, int, str], list[float]] = {cell: [] for cell in cells}
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "bare"
        source = Path(__file__).parent / "bare_onesided.c"
        subprocess.run([str(compiler), "-O2", str(source), "-o", str(program)], check=True)
        for _, cell in itertools.product(range(repeats), cells):
            pattern, length, completion = cell
            rounds = 32 if length == LENGTHS[0] and completion == "flush" else 1  # octant batches what is that short
            words = [str(program), pattern, str(length), completion, str(rounds)]
            pinned = [launcher]
            for cpu in ("0", "1"):
                pinned += [":"] * (cpu == "1") + ["-n", "1", "taskset", "-c", cpu, *words]
            output = subprocess.run(pinned, check=True, capture_output=True, text=True).stdout
            bare[cell].append(statistics.median(map(float, output.split())))
            words = [f"pattern={pattern}", f"bytes={length}", f"completion={completion}", "seconds=0.3", "precision=0"]
            ours[cell].append(median("mpi/onesided", words, [launcher, "-n", "2"]))
    print(f"{'':>5}{'bytes':>9}{'completion':>12}{'bare, us':>11}{'octant, us':>12}{'ratio':>8}{'of best':>9}")
    for cell in cells:
        theirs, mine = statistics.median(bare[cell]), statistics.median(ours[cell])
        best = min(ours[cell]) / min(bare[cell])
        pattern, length, completion = cell
        shown = f"{pattern:>5}{length:>9}{completion:>12}{theirs * 1e6:>11.3f}{mine * 1e6:>12.3f}"
        print(f"{shown}{mine / theirs:>8.3f}{best:>9.3f}")


if __name__ == "__main__":
    main()
