"""Copies of one core with every store method, compared with `store=best` and with libc's memcpy.

    python bench/bench_copy.py [--bytes 4KiB,…,256MiB] [--repeats 5] [--pages try-thp]

A launch measures all methods at one length of the copy in random order, so that each ratio is of adjacent measurements.
Goal: `best` reaches at least 0.98 of the best other method (median over the ratios of launches).
"""

import argparse
import os
import statistics

from _kernel import points
from octant import units, workloads
from octant.analysis.figures import figure

WAYS = ("plain", "streaming", "interleaved", "libc", "rep", "best")
SIZES = "4KiB,16KiB,64KiB,256KiB,1MiB,4MiB,16MiB,64MiB,256MiB"


def rates(size: int, pages: str, seed: int) -> tuple[dict[str, float], str]:
    """Return the rate in B/s of each available method in one launch, and the method that `best` selected."""
    words = [
        "kernel=copy",
        f"bytes={2 * size}",
        f"store={','.join(WAYS)}",
        f"pages={pages}",
        "seconds=0.3",
        "precision=0",
    ]
    found, chosen = {}, ""
    for point in points("node/stream", [*words, "--seed", str(seed)]):
        value = figure(workloads.workload("node/stream"), [point]).value
        if value is None:
            raise SystemExit(f"cannot compare (store={point.knobs['store']} gave no right answer); run it by itself")
        found[point.knobs["store"]] = value.middle
        chosen = point.notes.get("store", chosen)
    return found, chosen


def compare(size: int, pages: str, repeats: int) -> None:
    """One line: medians of all ways, and the ratios of `best` and of libc to the best other way of the same launch."""
    launches = [rates(size, pages, seed) for seed in range(1, repeats + 1)]
    medians = {way: statistics.median(rate[way] for rate, _ in launches) for way in launches[0][0]}
    others = [max(value for way, value in rate.items() if way != "best") for rate, _ in launches]
    of_best = statistics.median(rate["best"] / other for (rate, _), other in zip(launches, others, strict=True))
    of_libc = statistics.median(rate["libc"] / other for (rate, _), other in zip(launches, others, strict=True))
    columns = "".join(f"{medians[way] / 1e9:>13.1f}" if way in medians else f"{'':>13}" for way in WAYS)
    chosen = ", ".join(dict.fromkeys(choice for _, choice in launches))
    print(f"{units.bytes_text(size):<9}{columns}{of_best:>14.3f}{of_libc:>14.3f}  {chosen}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--bytes", default=SIZES)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--pages", default="try-thp")
    asked = parser.parse_args()
    print(f"copy, one core, read + written GB/s, medians of {asked.repeats} launches, load {os.getloadavg()[0]:.1f}")
    print(f"{'':<9}{''.join(f'{way:>13}' for way in WAYS)}{'best / best':>14}{'libc / best':>14}  chosen")
    for size in map(units.parse_bytes, asked.bytes.split(",")):
        compare(size, asked.pages, asked.repeats)


if __name__ == "__main__":
    main()
