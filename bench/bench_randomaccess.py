"""Octant's random updates against plain C loops over the same table, interleaved; ratios of medians.

    python bench/bench_randomaccess.py [--bytes 16KiB,1MiB,256MiB] [--repeats 5]

The plain loops follow one stream of HPCC's sequence, and eight streams in registers. All take base pages.
"""

import argparse
import statistics

import _bare
from _kernel import median
from octant import units


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--bytes", default="16KiB,1MiB,256MiB")
    parser.add_argument("--repeats", type=int, default=5)
    asked = parser.parse_args()
    print(f"{'table':<12}{'octant':>12}{'one stream':>12}{'eight':>12}{'/ best':>8}   (million updates per second)")
    with _bare.compiled("bare_randomaccess", *_bare.WIDE) as bare:
        for size in map(units.parse_bytes, asked.bytes.split(",")):
            rates: list[tuple[float, float, float]] = []
            for _ in range(asked.repeats):
                one, eight = (_bare.median(bare, [str(size), streams, "0.5"]) for streams in ("1", "8"))
                words = [f"bytes={size}", "pages=base", "seconds=0.5", "precision=0"]
                rates.append((median("node/randomaccess", words), one, eight))
            ours, one, eight = (statistics.median(column) for column in zip(*rates, strict=True))
            columns = "".join(f"{rate / 1e6:>12.1f}" for rate in (ours, one, eight))
            print(f"{units.bytes_text(size):<12}{columns}{ours / max(one, eight):>8.3f}", flush=True)


if __name__ == "__main__":
    main()
