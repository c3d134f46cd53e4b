"""Octant's triad against the best triad of likwid-bench and a plain C loop, interleaved; ratios of medians.

    python bench/bench_stream.py [--bytes 24KiB,512KiB,1GiB] [--repeats 5]

likwid-bench (Debian package `likwid`; omitted if not installed) reports 24 bytes an iteration, as `bandwidth` does
here. All its triads ("stream_*") run once, the three fastest again in every repeat, interleaved with Octant. It uses
base pages; from memory Octant's are shown with base and with transparent huge pages. Its whole-run timing suffers from
other load as medians of 100 µs samples do not: only a quiet machine compares the loops. The second ratio is to the best
single run of a peer. The last line has the goals: the median of the ratios of Octant with base pages to the best of
likwid-bench in each repeat (0.98 in the first and second cache, 0.95 from memory).
"""

import argparse
import os
import re
import shutil
import statistics
import subprocess
from pathlib import Path

import _bare
from _kernel import median
from octant import units

IN_CACHE = 2**20  # up to here one thread with base pages and plain stores says it all


def likwid(test: str, size: int, threads: int) -> float:
    """B/s of one run; 0 where the variant does not run here (some crash on arrays that are not aligned)."""
    words = ["likwid-bench", "-t", test, "-s", "1", "-W", f"S0:{size}B:{threads}"]
    done = subprocess.run(words, check=False, capture_output=True, text=True)
    found = re.search(r"MByte/s:\s+([\d.]+)", done.stdout)
    return float(found[1]) * 1e6 if done.returncode == 0 and found else 0.0


def variants() -> list[str]:
    """likwid-bench's double-precision STREAM triads that this processor can run; none where it is not installed."""
    if shutil.which("likwid-bench") is None:
        return []
    listed = subprocess.run(["likwid-bench", "-a"], check=True, capture_output=True, text=True).stdout
    return [name for name in re.findall(r"^(stream\w*) - ", listed, re.M) if "_sp" not in name]


def ours(store: str, pages: str, size: int, threads: int) -> float:
    """Median B/s of one launch."""
    words = ["kernel=triad", f"bytes={size}", f"store={store}", f"pages={pages}", f"threads={threads}", "seconds=1"]
    return median("node/stream", [*words, "precision=0"])


def compare(size: int, threads: int, repeats: int, bare: Path) -> None:
    """All peers and ours in every repeat."""
    first = {name: likwid(name, size, threads) for name in variants()}
    theirs = sorted(first, key=lambda name: -first[name])[:3]
    rates: dict[str, list[float]] = {name: [] for name in theirs}
    in_cache = size <= IN_CACHE
    for _ in range(repeats):
        for name in theirs:
            rates[name].append(likwid(name, size, threads))
        if threads == 1:
            rates.setdefault("plain C loop", []).append(_bare.median(bare, [str(size), "1"]))
        for pages in ("base",) if in_cache else ("base", "thp"):
            for store in ("plain",) if in_cache else ("plain", "streaming"):
                rates.setdefault(f"octant {store} {pages}", []).append(ours(store, pages, size, threads))
    report(size, threads, rates)


def report(size: int, threads: int, rates: dict[str, list[float]]) -> None:
    """One table: medians, extremes, ratio to the best median and to the best single run of the peers."""
    peers = [values for name, values in rates.items() if not name.startswith("octant")]
    best_median = max(map(statistics.median, peers), default=0.0)
    best_run = max(map(max, peers), default=0.0)
    print(f"\ntriad, {units.bytes_text(size)}, {units.counted(threads, 'thread')}: GB/s (24 B an iteration)")
    print(f"{'':<24}{'median':>8}{'min':>8}{'max':>8}{'/ best median':>15}{'/ best run':>12}")
    for name, values in rates.items():
        middle = statistics.median(values)
        columns = f"{middle / 1e9:>8.2f}{min(values) / 1e9:>8.2f}{max(values) / 1e9:>8.2f}"
        ratios = f"{middle / best_median:>15.3f}{middle / best_run:>12.3f}" if peers else ""
        print(f"{name:<24}{columns}{ratios}", flush=True)
    theirs = [values for name, values in rates.items() if name.startswith("stream")]
    same_pages = [values for name, values in rates.items() if name.startswith("octant") and name.endswith("base")]
    if theirs:
        ratios_of = [
            max(values[i] for values in same_pages) / max(values[i] for values in theirs) for i in range(len(theirs[0]))
        ]
        print(
            f"ours / best of likwid-bench, base pages, median of ratios: {statistics.median(ratios_of):.3f}", flush=True
        )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--bytes", default="24KiB,512KiB,1GiB")
    parser.add_argument("--repeats", type=int, default=5)
    asked = parser.parse_args()
    print(f"load {os.getloadavg()[0]:.1f}, {asked.repeats} repeats")
    with _bare.compiled("bare_stream", *_bare.WIDE) as bare:
        for size in map(units.parse_bytes, asked.bytes.split(",")):
            for threads in (1,) if size <= IN_CACHE else (1, 2):
                compare(size, threads, asked.repeats, bare)


if __name__ == "__main__":
    main()
