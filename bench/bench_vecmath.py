"""vecmath's loop over libmvec against a bare C loop, and its largest errors against mpmath's for the same arguments.

    python bench/bench_vecmath.py [--repeats 9]

Launches are interleaved; ratios are of the medians of both sides and of their best values (goal: 0.98 from 1000
elements on), the errors are computed anew in 320 bits from what the bare loop gives (goal: within 0.01 ulp).
"""

import argparse
import math
import statistics
import struct
import subprocess
import sys
from pathlib import Path

import mpmath

import _bare
from _kernel import points
from octant.machine.discover import discover

sys.path.append(str(Path(__file__).parent.parent / "tests/support"))
import vecmath_truth

RANGES = {function.name: function.ranges[0] for function in vecmath_truth.functions()}
NAMES, LENGTHS = ("exp", "log", "sin"), (1000, 10_000)
FLAGS = ("-O2", "-march=native")


def ours(name: str, n: int, width: str) -> tuple[float, float]:
    """Seconds of one element, and the largest error."""
    words = [f"function={name}", f"n={n}", "library=libmvec", f"width={width}", "seconds=0.2", "precision=0"]
    (point,) = points("node/vecmath", words)
    step = statistics.median(point.read().series[0].values) * 1e-9 / point.batch
    return step / n, next(result.value for result in point.results if result.name == "largest error")


def true_error(program: Path, symbol: str, name: str) -> float:
    """Return the largest error of the results of the bare loop, by mpmath."""
    function = next(one for one in vecmath_truth.functions() if one.name == name)
    arguments = [function.arguments("values", i)[0] for i in range(vecmath_truth.COUNT)]
    text = struct.pack(f"<{len(arguments)}d", *arguments)
    done = subprocess.run([program, symbol, "0", "0", "0"], input=text, capture_output=True, check=True).stdout
    results = struct.unpack(f"<{len(arguments)}d", done)
    with mpmath.workprec(320):
        exact = [function.reference(x) for x in arguments]
        return max(
            float(abs(mpmath.mpf(y) - true) / mpmath.mpf(math.ulp(float(true))))
            for y, true in zip(results, exact, strict=True)
        )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--repeats", type=int, default=9)
    repeats = parser.parse_args().repeats
    wide = "avx512f" in discover().processor.flags
    width, prefix = ("512", "_ZGVeN8v_") if wide else ("256", "_ZGVdN4v_")
    print(
        f"{'function':<10}{'n':>8}{'bare, ns':>10}{'octant':>10}{'ratio':>8}{'of best':>9}{'error':>10}{'mpmath':>10}"
    )
    with _bare.compiled("bare_vecmath", *FLAGS) as program:
        for name in NAMES:
            low, high = RANGES[name]
            error = true_error(program, prefix + name, name)
            for n in LENGTHS:
                sides: list[tuple[float, float, float]] = []
                for _ in range(repeats):
                    bare = _bare.median(program, [prefix + name, str(n), str(low), str(high)])
                    sides.append((bare, *ours(name, n, width)))
                bare, octant, said = (statistics.median(column) for column in zip(*sides, strict=True))
                best = min(side[0] for side in sides) / min(side[1] for side in sides)
                columns = f"{bare * 1e9:>10.3f}{octant * 1e9:>10.3f}{bare / octant:>8.3f}{best:>9.3f}"
                columns += f"{said:>10.4f}{error:>10.4f}"
                print(f"{name:<10}{n:>8}{columns}", flush=True)


if __name__ == "__main__":
    main()
