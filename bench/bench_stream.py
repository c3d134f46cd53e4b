"""Octant's triad against the best triad of likwid-bench, on the same array, interleaved; ratios of medians.

    python bench/bench_stream.py [--bytes 1GB] [--repeats 5]

likwid-bench (Debian package `likwid`) reports 24 bytes an iteration, as `bandwidth` does here. All its triads
("stream_*") run once, the three fastest again in every repeat beside ours. It takes base pages; ours are shown with
base and with transparent huge pages. Its whole-run timing suffers from other load as our medians of 100 µs samples do
not: only a quiet machine compares the loops. The best of its runs is shown too; the second ratio is ours against that.
"""

import argparse
import re
import shutil
import statistics
import subprocess
import sys

from _kernel import median


def likwid(test: str, size: str, threads: int) -> float:
    """B/s of one run; 0 where the variant does not run here (some crash on arrays that are not aligned)."""
    words = ["likwid-bench", "-t", test, "-s", "1", "-W", f"S0:{size}:{threads}"]
    done = subprocess.run(words, check=False, capture_output=True, text=True)
    found = re.search(r"MByte/s:\s+([\d.]+)", done.stdout)
    return float(found[1]) * 1e6 if done.returncode == 0 and found else 0.0


def variants() -> list[str]:
    """likwid-bench's double-precision STREAM triads that this processor can run."""
    listed = subprocess.run(["likwid-bench", "-a"], check=True, capture_output=True, text=True).stdout
    return [name for name in re.findall(r"^(stream\w*) - ", listed, re.M) if "_sp" not in name]


def ours(store: str, pages: str, size: str, threads: int) -> float:
    """Median B/s of one launch."""
    words = ["kernel=triad", f"bytes={size}", f"store={store}", f"pages={pages}", f"threads={threads}", "seconds=1"]
    return median("node/stream", [*words, "precision=0"])


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--bytes", default="1GB")
    parser.add_argument("--repeats", type=int, default=5)
    asked = parser.parse_args()
    if shutil.which("likwid-bench") is None:
        sys.exit("cannot compare (likwid-bench is not installed); try apt-get install likwid")
    for threads in (1, 2):
        first = {name: likwid(name, asked.bytes, threads) for name in variants()}
        theirs = sorted(first, key=lambda name: -first[name])[:3]
        rates: dict[str, list[float]] = {name: [] for name in theirs}
        for _ in range(asked.repeats):
            for name in theirs:
                rates[name].append(likwid(name, asked.bytes, threads))
            for pages in ("base", "thp"):
                for store in ("plain", "streaming"):
                    rates.setdefault(f"octant {store} {pages}", []).append(ours(store, pages, asked.bytes, threads))
        report(threads, rates, theirs)


def report(threads: int, rates: dict[str, list[float]], theirs: list[str]) -> None:
    """One table: medians, extremes, ratio to the best median and to the best single run of likwid-bench."""
    best_median = max(statistics.median(rates[name]) for name in theirs)
    best_run = max(max(rates[name]) for name in theirs)
    print(f"\ntriad, {threads} thread{'s' if threads > 1 else ''}: GB/s (24 B an iteration)")
    print(f"{'':<24}{'median':>8}{'min':>8}{'max':>8}{'/ best median':>15}{'/ best run':>12}")
    for name, values in rates.items():
        middle = statistics.median(values)
        columns = f"{middle / 1e9:>8.2f}{min(values) / 1e9:>8.2f}{max(values) / 1e9:>8.2f}"
        print(f"{name:<24}{columns}{middle / best_median:>15.3f}{middle / best_run:>12.3f}", flush=True)


if __name__ == "__main__":
    main()
