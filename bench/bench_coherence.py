"""Octant's pairs of hardware threads against plain C with the same protocol, interleaved; medians of ratios.

    python bench/bench_coherence.py [--repeats 9] [--seconds 0.2] [--pair 0,1]

The value of a launch is the 10th percentile of its samples. If the host moves virtual processors between caches, a pair
has two different times. Ratios are therefore computed from consecutive launches; their median is printed.
"""

import argparse
import statistics
import subprocess

import numpy as np

import _bare
from _kernel import points

TRIPS = 1000


def ours(protocol: str, pair: str, seconds: float) -> float:
    """Seconds one way that the quickest tenth of a launch's visits takes."""
    words = ["pattern=pairs", f"protocol={protocol}", f"trips={TRIPS}", f"seconds={seconds}"]
    (found,) = points("node/coherence", words, launcher=["taskset", "-c", pair])
    if not found.passed:
        raise SystemExit("cannot compare (node/coherence gave a wrong result); run it by itself")
    (phase,) = (one for one in found.read().series if one.head.name == "phase/passing")
    return float(np.quantile(phase.values, 0.1)) * 1e-9 / found.count("passes")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--repeats", type=int, default=9)
    parser.add_argument("--seconds", type=float, default=0.2)
    parser.add_argument("--pair", default="0,1")
    asked = parser.parse_args()
    print(f"{'protocol':<12}{'octant':>10}{'bare':>10}{'ratio':>8}{'half of them':>16}   (ns one way)")
    with _bare.compiled("bare_coherence", "-O2", "-pthread") as bare:
        for protocol in ("exchange", "handover"):
            both: list[tuple[float, float]] = []
            for _ in range(asked.repeats):
                words = [str(bare), protocol, *asked.pair.split(","), str(TRIPS), str(asked.seconds)]
                printed = subprocess.run(words, check=True, capture_output=True, text=True).stdout
                peer = float(np.quantile([float(word) for word in printed.split()], 0.1))
                both.append((ours(protocol, asked.pair, asked.seconds), peer))
            us, them = (statistics.median(column) for column in zip(*both, strict=True))
            ratios = [one / peer for one, peer in both]
            columns = f"{us * 1e9:>10.1f}{them * 1e9:>10.1f}{statistics.median(ratios):>8.3f}"
            low, high = np.quantile(ratios, [0.25, 0.75])
            columns += f"{low:>9.2f} … {high:.2f}"
            print(f"{protocol:<12}{columns}", flush=True)


if __name__ == "__main__":
    main()
