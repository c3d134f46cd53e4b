"""Octant's random updates against plain C loops over the same table, and each variant against `hpcc`; interleaved.

    python bench/bench_randomaccess.py [--bytes 16KiB,1MiB,256MiB] [--repeats 5] [--hpl 4100]

First table: the plain loops follow one stream of HPCC's sequence, and eight streams in registers; all use base pages.
Second table: each variant of Octant over 128 MiB, relative to the plain loop with the same pages and with base pages
(medians of ratios), and to `hpcc`'s single RandomAccess, whose table has that length with HPL of order `--hpl` (0 omits
it).
"""

import argparse
import shutil
import statistics
import sys
from pathlib import Path

import _bare
from _hpcc import random_updates
from _kernel import median
from octant import units

WAYS = {
    "one stream": ["streams=1"],
    "128 streams": [],
    "prefetched by 16": ["prefetch=yes", "batch=16"],
    "prefetched by 64": ["prefetch=yes", "batch=64"],
    "prefetched by 128": ["prefetch=yes", "batch=128"],
    "prefetched by 512": ["prefetch=yes", "batch=512"],
    "chosen by trial": ["prefetch=yes"],
}
PAGES = ("base", "thp")
OF_HPCC = 128 << 20  # bytes of its table for the default of --hpl


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--bytes", default="16KiB,1MiB,256MiB")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--hpl", type=int, default=4100)
    asked = parser.parse_args()
    against_loops([units.parse_bytes(size) for size in asked.bytes.split(",")], asked.repeats)
    program = shutil.which("hpcc")
    if program is None and asked.hpl:
        print("without the peer hpcc: it is not installed; try apt-get install hpcc", file=sys.stderr)
    against_hpcc(Path(program) if program is not None and asked.hpl else None, asked.hpl, asked.repeats)


def against_loops(sizes: list[int], repeats: int) -> None:
    """Ours as it is by default against the best of two bare loops."""
    print(f"{'table':<12}{'octant':>12}{'one stream':>12}{'eight':>12}{'/ best':>8}   (million updates per second)")
    with _bare.compiled("bare_randomaccess", *_bare.WIDE) as bare:
        for size in sizes:
            rates: list[tuple[float, float, float]] = []
            for _ in range(repeats):
                one, eight = (_bare.median(bare, [str(size), streams, "0.5"]) for streams in ("1", "8"))
                words = [f"bytes={size}", "pages=base", "seconds=0.5", "precision=0"]
                rates.append((median("node/randomaccess", words), one, eight))
            ours, one, eight = (statistics.median(column) for column in zip(*rates, strict=True))
            columns = "".join(f"{rate / 1e6:>12.1f}" for rate in (ours, one, eight))
            print(f"{units.bytes_text(size):<12}{columns}{ours / max(one, eight):>8.3f}", flush=True)


def against_hpcc(program: Path | None, order: int, repeats: int) -> None:
    """Measure each variant with base and huge pages, and hpcc's single RandomAccess, interleaved."""
    rates: dict[tuple[str, str], list[float]] = {(way, pages): [] for way in WAYS for pages in PAGES}
    peer: list[float] = []
    for _ in range(repeats):
        for (way, pages), found in rates.items():
            words = [*WAYS[way], f"bytes={OF_HPCC}", f"pages={pages}", "seconds=0.3", "precision=0"]
            found.append(median("node/randomaccess", words))
        if program is not None:
            peer.append(random_updates(program, order, 1, ()).get("SingleRandomAccess", float("nan")))
    titles = f"{'10^6 updates/s':>16}{'/ plain':>9}{'/ plain, base':>15}{'/ hpcc':>8}"
    print(f"\n{'way, pages':<28}{titles}")
    for (way, pages), found in rates.items():
        plain, of_base = rates["one stream", pages], rates["one stream", PAGES[0]]
        compared = (_over(found, plain), _over(found, of_base), _over(found, peer) if peer else float("nan"))
        print(
            f"{f'{way}, {pages}':<28}{statistics.median(found) / 1e6:>16.1f}{compared[0]:>9.2f}{compared[1]:>15.2f}"
            f"{compared[2]:>8.2f}"
        )
    if peer:
        print(f"{'hpcc, single':<28}{statistics.median(peer) / 1e6:>16.1f}")


def _over(ours: list[float], theirs: list[float]) -> float:
    """Return the median of the ratios of launches."""
    return statistics.median(one / other for one, other in zip(ours, theirs, strict=True))


if __name__ == "__main__":
    main()
