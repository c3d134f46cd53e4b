"""Overlap of direct background transfers with computation, and the gain from collecting small blocks.

    python bench/bench_io.py [--repeats 7] [--bytes 64MiB] [--folder PATH]

Each launch times the transfers alone, a computation of the same length, and both at once. Overlap is (transfers +
computation − both) / the shorter of the two; gain is sequential execution with blocking calls / both at once. Engines
are interleaved; `calls` waits for each transfer, so nothing overlaps. Values are medians over launches.
"""

import argparse
import statistics

from _kernel import points
from octant import workloads
from octant.analysis.figures import figure
from octant.record import Point

ENGINES = ("calls", "uring", "threads")
PATTERNS = ("overlapped-write", "overlapped-read")


def values(found: list[Point], metric: str) -> list[float]:
    """Return a metric of each point of a launch, in order."""
    figures = [figure(workloads.workload("io/local"), [point], metric).value for point in found]
    if None in figures:
        raise SystemExit("cannot compare (a point of io/local has no right answer); run it by itself")
    return [value.middle for value in figures if value]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--bytes", default="64MiB")
    parser.add_argument("--folder", default="local")
    asked = parser.parse_args()
    common = [f"folder={asked.folder}", "precision=0", "seconds=0.5"]
    rows: dict[tuple[str, str], list[list[float]]] = {}
    collected: dict[str, list[float]] = {}
    for _ in range(asked.repeats):
        for pattern in PATTERNS:
            words = [f"pattern={pattern}", f"engine={','.join(ENGINES)}", f"bytes={asked.bytes}", "mode=direct"]
            words += common
            found = points("io/local", words)
            for engine, *pair in zip(ENGINES, values(found, "overlap"), values(found, "gain"), strict=True):
                rows.setdefault((pattern, engine), []).append(pair)
        for mode in ("direct", "buffered"):
            words = ["pattern=write,staged-write", "block=4KiB", "bytes=16MiB", f"mode={mode}", *common]
            by_block, staged = values(points("io/local", words), "bandwidth")
            collected.setdefault(mode, []).append(staged / by_block)
    print(f"{'pattern':<14}{'engine':<10}{'overlap':>9}{'least':>8}{'most':>8}{'gain':>8}")
    for (pattern, engine), pairs in rows.items():
        overlap, gain = ([pair[i] for pair in pairs] for i in (0, 1))
        columns = f"{statistics.median(overlap):>9.2f}{min(overlap):>8.2f}{max(overlap):>8.2f}"
        print(f"{pattern:<14}{engine:<10}{columns}{statistics.median(gain):>8.2f}")
    for mode, ratios in collected.items():
        print(f"staged-write over write in blocks of 4 KiB, {mode}: {statistics.median(ratios):.2f}")


if __name__ == "__main__":
    main()
