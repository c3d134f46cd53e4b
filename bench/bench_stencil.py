"""Octant's stencil, plain and blocked, against a bare plain loop; interleaved, medians of ratios, one thread.

    python bench/bench_stencil.py [--grids 64x64,256x256,512x80] [--elements single,double] [--repeats 5]
                                  [--seconds 0.3] [--real-time]

A grid of `512x80` has 80 planes of 512 × 512 points. All use huge pages. `--real-time` gives each side real-time
priority over other processes of the machine.
"""

import argparse
import statistics
from collections.abc import Sequence

import _bare
from _kernel import median

WAYS = {
    "plain": ["blocking=none", "prefetch=0"],
    "plain, prefetched": ["blocking=none"],
    "yz": ["blocking=yz", "prefetch=0"],
    "yz, prefetched": ["blocking=yz"],
    "streaming": ["blocking=yz", "store=streaming"],
    "time, 2 steps": ["blocking=time", "depth=2"],
    "time, 4 steps": ["blocking=time", "depth=4"],
    "time, 8 steps": ["blocking=time", "depth=8"],
}
REALTIME = ("chrt", "-f", "1")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--grids", default="64x64,256x256,512x80")
    parser.add_argument("--elements", default="single,double")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=0.3)
    parser.add_argument("--real-time", action="store_true")
    asked = parser.parse_args()
    prefix = REALTIME if asked.real_time else ()
    with _bare.compiled("bare_stencil", *_bare.WIDE) as bare:
        for element in asked.elements.split(","):
            for grid in asked.grids.split(","):
                n, planes = grid.split("x")
                rates: dict[str, list[float]] = {"bare": [], **{way: [] for way in WAYS}}
                for _ in range(asked.repeats):
                    peer = _bare.median(bare, [element, n, planes, str(asked.seconds)], prefix)
                    rates["bare"].append(peer)
                    for way, words in WAYS.items():
                        shape = [f"element={element}", f"n={n}", f"planes={planes}", "pages=thp"]
                        arguments = [*words, *shape, f"seconds={asked.seconds}", "precision=0"]
                        rates[way].append(median("node/stencil", arguments, prefix))
                show(f"{element}, {n} x {n} x {planes}", rates)


def show(title: str, rates: dict[str, list[float]]) -> None:
    """Print for each variant its rate, and its ratio to the bare loop of the same round."""
    print(f"\n{title:<28}{'Gpoint/s':>10}{'/ bare':>8}")
    for way, found in rates.items():
        print(f"{way:<28}{statistics.median(found) / 1e9:>10.3f}{_over(found, rates['bare']):>8.2f}", flush=True)


def _over(ours: Sequence[float], theirs: Sequence[float]) -> float:
    return statistics.median(one / other for one, other in zip(ours, theirs, strict=True))


if __name__ == "__main__":
    main()
