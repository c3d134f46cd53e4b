"""Time that octant-bind adds to a start: bound and bare starts of the same program, interleaved; medians in ms."""

import os
import random
import statistics
import subprocess
import sys
import time

from octant import build

STARTS = 400


def start_ms(words: list[str]) -> float:
    """One start, from before the fork until the program has ended."""
    begin = time.perf_counter()
    subprocess.run(words, check=True)
    return 1e3 * (time.perf_counter() - begin)


def main() -> int:
    cpus = sorted(os.sched_getaffinity(0))
    place = ["--rank", "0", "cpus=" + "+".join(map(str, cpus)), "threads=" + "/".join(map(str, cpus)), "mem=local"]
    bare = ["/bin/true"]
    bound = [str(build.find("bind")), *place, "--no-thp", "--local-rank", "0", "--", "/bin/true"]
    found: dict[str, list[float]] = {"bare": [], "bound": []}
    for _ in range(STARTS):
        pair = [("bare", bare), ("bound", bound)]
        random.shuffle(pair)
        for name, words in pair:
            found[name].append(start_ms(words))
    medians = {name: statistics.median(times) for name, times in found.items()}
    # Differences of neighbours in time: what disturbs one start disturbs the other too.
    cost = statistics.median(b - a for a, b in zip(found["bare"], found["bound"], strict=True))
    print(f"bare start {medians['bare']:.2f} ms, through octant-bind {medians['bound']:.2f} ms")
    print(f"octant-bind adds {cost:.2f} ms (goal: under 2), ratio {medians['bound'] / medians['bare']:.2f}")
    undisturbed = {name: statistics.quantiles(times, n=10)[0] for name, times in found.items()}
    print(f"where nothing interfered (10 % quantile): {undisturbed['bound'] - undisturbed['bare']:.2f} ms more")
    return 0


if __name__ == "__main__":
    sys.exit(main())
