"""Medians against means: one workload on a quiet machine, and with a process that occupies a core in bursts.

    python bench/bench_noise_robustness.py [--seconds 3] [--mode one|star|threads]

The process occupies one core for 30 to 150 ms, then sleeps for 20 to 100 ms, repeatedly. Goal: medians of the quiet and
the disturbed run differ by less than 10 %; means differ by far more. On a machine with other load the first run is also
disturbed, and its caveats state this.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from octant.analysis.figures import Figure
from octant.analysis.summary import summarise
from octant.store import Store

HOG_ON_S, HOG_OFF_S = (0.03, 0.15), (0.02, 0.1)


def hog(cpu: int) -> None:
    """Burns one core in bursts until it is killed."""
    os.sched_setaffinity(0, {cpu})
    generator = random.Random(20)
    while True:
        end = time.monotonic() + generator.uniform(*HOG_ON_S)
        while time.monotonic() < end:
            pass
        time.sleep(generator.uniform(*HOG_OFF_S))


@contextlib.contextmanager
def hogging() -> Iterator[None]:
    """Run a competing process on the first allowed hardware thread during the block."""
    first = min(os.sched_getaffinity(0))
    process = subprocess.Popen([sys.executable, __file__, "--hog", str(first)])
    try:
        yield
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()


def measured(store: Path, words: list[str]) -> list[Figure]:
    """One `octant run`, through the command, and its figures."""
    subprocess.run(
        [sys.executable, "-m", "octant.cli", "run", *words, "--store", str(store), "--json"],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    return list(summarise(Store(store).find("last")).figures)


def mean(figure: Figure) -> float:
    """Return the rate of all work over all time: the chunks of every thread over its time."""
    point = figure.point
    lanes = [series.values for series in point.read().series if series.head.name == "step"]
    names = getattr(figure.metric.value, "counts", ())
    each = point.count(*names) / point.lanes * point.batch
    return float(sum(each * len(lane) / (lane.sum() * 1e-9) for lane in lanes))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", default="3")
    parser.add_argument("--mode", default="one", choices=("one", "star", "threads"))
    parser.add_argument("--hog", type=int, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.hog is not None:
        hog(asked.hog)
    if asked.mode == "one":  # launches draw their hardware threads: some would miss the hog
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    precise = [f"seconds={asked.seconds}", "precision=0"]  # the whole budget, so that both runs see as much
    workloads = {
        "stream triad, 256 MiB": ["stream", "kernel=triad", "bytes=256MiB"],
        "stream triad, 16 KiB": ["stream", "kernel=triad", "bytes=16KiB"],
        "peakflops": ["peakflops"],
    }
    lines = []
    with tempfile.TemporaryDirectory() as folder:
        for name, words in workloads.items():
            call = [*words, *precise, "--mode", asked.mode]
            quiet = measured(Path(folder), call)[0]
            with hogging():
                disturbed = measured(Path(folder), call)[0]
            if quiet.value is None or disturbed.value is None:
                sys.exit(f"{name}: wrong result; nothing to compare")
            medians = disturbed.value.middle / quiet.value.middle - 1
            means = mean(disturbed) / mean(quiet) - 1
            lines.append({"workload": name, "mode": asked.mode, "median_change": medians, "mean_change": means})
            print(f"{name:24} {asked.mode:8} median {100 * medians:+6.1f} %   mean {100 * means:+6.1f} %", flush=True)
            for when, row in (("quiet", quiet), ("with load", disturbed)):
                print(f"  {when}: {'; '.join(one.text for one in row.caveats) or 'nothing to caveat'}")
    print(json.dumps(lines))


if __name__ == "__main__":
    main()
