"""gemm against a bare C loop that calls the same library, in all four types; interleaved launches, ratio of medians.

python bench/bench_gemm.py [--n 64,256] [--repeats 9]
"""

import argparse
import os
import statistics
from pathlib import Path

import _bare
from _kernel import median
from octant.software.blas import openblas_path

ELEMENTS = {"single": ("s", 2), "double": ("d", 2), "single-complex": ("c", 8), "double-complex": ("z", 8)}
"""BLAS's letter, and operations of a product and a sum."""
SAMPLES = 200
SAMPLE_S = 1e-4  # as the kernel batches its calls


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--n", default="64,256")
    parser.add_argument("--repeats", type=int, default=9)
    asked = parser.parse_args()
    print(f"load {os.getloadavg()[0]:.1f}, {asked.repeats} launches of each, {openblas_path()}")
    with _bare.compiled("bare_gemm", "-O2") as program:
        for n in map(int, asked.n.split(",")):
            for element in ELEMENTS:
                compare(program, n, element, asked.repeats)


def compare(program: Path, n: int, element: str, repeats: int) -> None:
    """One line: rates of both, and their ratio."""
    library, (letter, flops) = str(openblas_path()), ELEMENTS[element]
    calls = max(1, round(SAMPLE_S * 50e9 / (flops * n**3)))  # of a core with 50 Gflop/s; others are off by little
    ours, bare = [], []
    for _ in range(repeats):
        bare.append(flops * n**3 / _bare.median(program, [library, letter, str(n), str(calls), str(SAMPLES)]))
        words = [f"n={n}", f"element={element}", f"samples={SAMPLES}", "precision=0", "seconds=30"]
        ours.append(median("node/gemm", words, environment={"OCTANT_BLAS": library}))
    ratios = [one / other for one, other in zip(ours, bare, strict=True)]
    middle, other = statistics.median(ours), statistics.median(bare)
    print(
        f"n = {n:<5} {element:<15} bare {other / 1e9:6.1f}, octant {middle / 1e9:6.1f} Gflop/s, "
        f"ratio of medians {middle / other:.3f}, of best {max(ours) / max(bare):.3f}, "
        f"median of ratios {statistics.median(ratios):.3f}"
    )


if __name__ == "__main__":
    main()
