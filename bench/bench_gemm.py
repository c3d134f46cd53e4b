"""gemm against a bare C loop that calls the same library; interleaved launches, ratio of medians.

python bench/bench_gemm.py [--n 256] [--repeats 9]
"""

import argparse
import statistics

import _bare
from _kernel import median
from octant.machine.blas import openblas_path

CALLS = 200


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--n", type=int, default=256)
    parser.add_argument("--repeats", type=int, default=9)
    asked = parser.parse_args()
    library = str(openblas_path())
    bare: list[float] = []
    ours: list[float] = []
    with _bare.compiled("bare_gemm", "-O2") as program:
        for _ in range(asked.repeats):
            bare.append(2 * asked.n**3 / _bare.median(program, [library, str(asked.n), str(CALLS)]))
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
