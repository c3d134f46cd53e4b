"""pingpong against a hand-written bare MPI loop in the same MPI, hot buffers; interleaved launches, medians.

python bench/bench_pingpong.py [--repeats 9]
"""

import argparse
import statistics
import subprocess
import tempfile
from pathlib import Path

from _kernel import median
from octant.build import beside_python

LENGTHS = (0, 8, 1024, 65536, 1048576)
ROUNDS = 1  # each round trip is timed, as octant does: a mean over many would compare another statistic


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--repeats", type=int, default=9)
    repeats = parser.parse_args().repeats
    # octant's own library: MPICH's libmpi_abi takes 7 % longer than its libmpi at 1 KiB
    compiler = beside_python("mpicc_abi") or beside_python("mpicc") or "mpicc"
    launcher = str(beside_python("mpiexec") or "mpiexec")
    bare: dict[int, list[float]] = {length: [] for length in LENGTHS}
    ours: dict[int, list[float]] = {length: [] for length in LENGTHS}
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "bare"
        source = Path(__file__).parent / "bare_pingpong.c"
        subprocess.run([str(compiler), "-O2", str(source), "-o", str(program)], check=True)
        for _ in range(repeats):
            for length in LENGTHS:
                words = [str(program), str(length), str(ROUNDS)]
                pinned = [launcher]
                for cpu in ("0", "1"):
                    pinned += [":"] * (cpu == "1") + ["-n", "1", "taskset", "-c", cpu, *words]
                output = subprocess.run(pinned, check=True, capture_output=True, text=True).stdout
                bare[length].append(statistics.median(map(float, output.split())))
                words = [f"bytes={length}", "seconds=0.5", "precision=0"]
                ours[length].append(median("mpi/p2p", words, [launcher, "-n", "2"]))
    print(f"{'bytes':>8}{'bare, us':>11}{'octant, us':>12}{'ratio':>8}{'of best':>9}")
    for length in LENGTHS:
        theirs, mine = statistics.median(bare[length]), statistics.median(ours[length])
        best = min(ours[length]) / min(bare[length])
        print(f"{length:>8}{theirs * 1e6:>11.3f}{mine * 1e6:>12.3f}{mine / theirs:>8.3f}{best:>9.3f}")


if __name__ == "__main__":
    main()
