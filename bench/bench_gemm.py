"""gemm against a bare C loop that calls the same library; interleaved launches, ratio of medians.

python bench/bench_gemm.py [--n 1024] [--repeats 9]
"""

import argparse
import statistics
import subprocess
import tempfile
from pathlib import Path

from _kernel import median
from octant.machine.blas import openblas_path

CALLS = 15


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--n", type=int, default=1024)
    parser.add_argument("--repeats", type=int, default=9)
    asked = parser.parse_args()
    library = str(openblas_path())
    bare: list[float] = []
    ours: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "bare"
        source = Path(__file__).parent / "bare_gemm.c"
        subprocess.run(["cc", "-O2", str(source), "-o", str(program), "-ldl"], check=True)
        for _ in range(asked.repeats):
            words = [str(program), library, str(asked.n), str(CALLS)]
            output = subprocess.run(words, check=True, capture_output=True, text=True).stdout
            bare.append(2 * asked.n**3 / statistics.median(map(float, output.split())))
            words = [f"n={asked.n}", f"samples={CALLS}", "precision=0", "seconds=30"]
            ours.append(median("node/gemm", words, environment={"OCTANT_BLAS": library}))
    for name, rates in (("bare loop", bare), ("octant gemm", ours)):
        middle = statistics.median(rates)
        print(
            f"{name:<12} median {middle / 1e9:6.1f}  min {min(rates) / 1e9:6.1f}  max {max(rates) / 1e9:6.1f} Gflop/s"
        )
    print(
        f"ratio of medians {statistics.median(ours) / statistics.median(bare):.3f}, of best {max(ours) / max(bare):.3f}"
    )


if __name__ == "__main__":
    main()
