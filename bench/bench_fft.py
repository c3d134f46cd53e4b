"""Octant's Fourier transform on one core against FFTW 3, by length; interleaved, ratios of medians.

python bench/bench_fft.py [--n 1024,4096] [--widths 512,256] [--rounds 5] [--plan-seconds 10] [--real-time]

`apt-get install libfftw3-dev` first. FFTW plans with `patient` to 2^14 and `measure` above, for at most
--plan-seconds (it ends somewhat later); ours by trial. Goals, as shares of FFTW's rate: vectors of 512 bits 0.8 to
2^14, 0.75 to 2^16, 1.0 to 2^18, 1.5 to 2^20; of 256 bits 0.6. `--real-time` (root): both sides have real-time
priority while they transform.
"""

import argparse
import os
import statistics
import sys
from math import log2

from _fftw import Peer, compiled
from _kernel import median

LENGTHS = tuple(2**power for power in range(4, 21))
PATIENT_TO = 2**14
GOALS = ((2**14, 0.8), (2**16, 0.75), (2**18, 1.0), (2**20, 1.5))
GOAL_256 = 0.6


def goal(n: int, width: str) -> float | None:
    """Of FFTW's rate."""
    if n > GOALS[-1][0]:
        return None
    return GOAL_256 if width == "256" else next(least for most, least in GOALS if n <= most)


def ours(n: int, width: str, real_time: bool) -> float:
    """flop/s of one launch."""
    launcher = ["chrt", "-r", "1"] if real_time else []
    return median("node/fft", [f"n={n}", f"width={width}", "seconds=0.1", "least=7"], launcher)


def compare(n: int, widths: list[str], peer: Peer, rounds: int) -> bool:
    """Measure all widths and the peer, interleaved; return whether the goals were reached."""
    flops = 5 * n * log2(n)
    rates: dict[str, list[float]] = {width: [] for width in (*widths, "FFTW")}
    for _ in range(rounds):
        for width in widths:
            rates[width].append(ours(n, width, peer.real_time))
        rates["FFTW"].append(flops / peer.seconds())
    peer.end()
    reached, texts = True, []
    for width in widths:
        ratio = statistics.median(a / b for a, b in zip(rates[width], rates["FFTW"], strict=True))
        least = goal(n, width)
        reached &= least is None or ratio >= least
        texts.append(
            f"{width} bits {statistics.median(rates[width]) / 1e9:.1f}, ratio {ratio:.2f}"
            + ("" if least is None else f" (goal {least}{'' if ratio >= least else ', MISSED'})")
        )
    theirs = statistics.median(rates["FFTW"]) / 1e9
    print(f"n = {n}: {'; '.join(texts)}; FFTW {theirs:.1f} Gflop/s (its plan took {peer.plan_s:.1f} s)", flush=True)
    return reached


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--n", default=",".join(map(str, LENGTHS)))
    parser.add_argument("--widths", default="512,256")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--plan-seconds", type=float, default=10)
    parser.add_argument("--real-time", action="store_true")
    asked = parser.parse_args()
    print(f"load {os.getloadavg()[0]:.0f}{', real-time priority' if asked.real_time else ''}")
    missed = []
    with compiled("bare_fftw", "cc", "-lfftw3") as program:
        if program is None:
            sys.exit(0)
        for n in map(int, asked.n.split(",")):
            effort = ["patient"] if n <= PATIENT_TO else []
            peer = Peer([str(program), str(n), str(asked.plan_seconds), *effort], asked.real_time)
            if not compare(n, asked.widths.split(","), peer, asked.rounds):
                missed.append(n)
    print(f"goals missed at n = {', '.join(map(str, missed))}" if missed else "all goals reached")


if __name__ == "__main__":
    main()
