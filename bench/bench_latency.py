"""Octant's latency ladder against a bare chase in C over as many lines of large pages, interleaved.

    python bench/bench_latency.py [--bytes 16KiB,256KiB,4MiB,64MiB,256MiB] [--repeats 5]

Each launch uses a new random order on both sides; the median of ratios of consecutive launches is printed.
"""

import argparse
import statistics

import _bare
from _kernel import median
from octant import units


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--bytes", default="16KiB,256KiB,4MiB,64MiB,256MiB")
    parser.add_argument("--repeats", type=int, default=5)
    asked = parser.parse_args()
    print(f"{'footprint':<12}{'octant':>10}{'bare':>10}{'/ bare':>9}   (ns a load)")
    with _bare.compiled("bare_latency", "-O2") as bare:
        for size in (units.parse_bytes(text) for text in asked.bytes.split(",")):
            times: list[tuple[float, float]] = []
            for seed in range(1, asked.repeats + 1):
                words = [f"bytes={size}", "pages=thp", "seconds=0.5", "precision=0", f"seed={seed}"]
                times.append((1e9 * median("node/latency", words), _bare.median(bare, [str(size), "0.5", str(seed)])))
            ours, peer = (statistics.median(column) for column in zip(*times, strict=True))
            ratio = statistics.median(one / other for one, other in times)
            print(f"{units.bytes_text(size):<12}{ours:>10.2f}{peer:>10.2f}{ratio:>9.3f}", flush=True)


if __name__ == "__main__":
    main()
