"""The Fourier transforms against FFTW 3, FFTW's MPI interface and HPC Challenge; interleaved, ratios of medians.

python bench/bench_hpcc_fft.py [--n 524288,4194304] [--rounds 5] [--plan-seconds 20] [--pages default]
    [--hpcc-order 2900] [--real-time]

`apt-get install libfftw3-dev libfftw3-mpi-dev libopenmpi-dev hpcc` first; an absent peer is omitted and reported. FFTW
plans once for each length, with `measure` and at most --plan-seconds; then its transforms and Octant's are interleaved.
`hpcc` runs all its tests up to its transforms once, and is then ended. Each of its figures is one execution (2^20
numbers with --hpcc-order 2900, 2^22 with 5800), which may take more than five minutes under other load. `--real-time`
(root): both sides have real-time priority while they transform.
"""

import argparse
import contextlib
import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from math import log2
from pathlib import Path

from _fftw import Peer, compiled
from _hpcc import ROOT, hasten, settings
from _kernel import median

RANKS = 2
PATIENCE_S = 600
SECTIONS = {1: ("StarFFT", "SingleFFT"), RANKS: ("MPIFFT", "MPIFFT")}  # by ranks: where the length is, and the rate


def hpcc(program: str, order: int, real_time: bool) -> dict[int, tuple[int, float]]:
    """Length and flop/s of its transforms by one rank and by all.

    Raises:
        SystemExit: it did not come to its transforms in time.
    """
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "hpccinf.txt").write_text(settings(order, 128, 1, RANKS))
        output = Path(folder) / "hpccoutf.txt"
        command = ["mpirun.openmpi", "--oversubscribe", "-n", str(RANKS), program]
        running = subprocess.Popen(
            command, cwd=folder, env={**os.environ, **ROOT, "OPENBLAS_NUM_THREADS": "1"}, stdout=subprocess.DEVNULL,
            start_new_session=True,
        )  # fmt: skip
        try:
            text, until_s, hastened = "", time.monotonic() + PATIENCE_S, False
            while "End of SingleFFT section" not in text and running.poll() is None and time.monotonic() < until_s:
                time.sleep(0.01)
                text = output.read_text() if output.exists() else ""
                if real_time and not hastened and "Begin of StarSTREAM section" in text:
                    hasten(running.pid)
                    hastened = True
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(running.pid, signal.SIGTERM)
            running.wait()
    found = {}
    for ranks, (of_length, of_rate) in SECTIONS.items():
        length = re.search(rf"Begin of {of_length} section.*?Vector size: +(\d+)", text, re.DOTALL)
        rate = re.search(rf"Begin of {of_rate} section.*?Gflop/s:? +(\S+)", text, re.DOTALL)
        if length is None or rate is None:
            raise SystemExit(f"hpcc came to no {of_rate} section; run it by itself, or try a smaller --hpcc-order")
        found[ranks] = int(length[1]), 1e9 * float(rate[1])
    return found


def ours(name: str, ranks: int, words: Sequence[str], real_time: bool) -> float:
    """flop/s of one launch."""
    launcher = ["chrt", "-r", "1"] if real_time else []
    launcher += [str(Path(sys.executable).parent / "mpiexec"), "-n", str(ranks)] if ranks > 1 else []
    return median(name, [*words, "seconds=0.2", "least=7"], launcher)


def compare(
    title: str, n: int, peer: Peer, ways: dict[str, tuple[str, int, list[str]]], asked: argparse.Namespace
) -> None:
    """Measure each variant of Octant and the peer, interleaved."""
    flops = 5 * n * log2(n)
    rates: dict[str, list[float]] = {way: [] for way in (*ways, title)}
    for _ in range(asked.rounds):
        for way, (name, ranks, words) in ways.items():
            rates[way].append(ours(name, ranks, [*words, f"n={n}", f"pages={asked.pages}"], asked.real_time))
        rates[title].append(flops / peer.seconds())
    peer.end()
    for way in ways:
        ratio = statistics.median(a / b for a, b in zip(rates[way], rates[title], strict=True))
        mine, theirs = (statistics.median(rates[one]) / 1e9 for one in (way, title))
        print(
            f"n = {n}: {way} {mine:.2f}, {title} {theirs:.2f} Gflop/s, ratio {ratio:.2f} "
            f"(its plan took {peer.plan_s:.1f} s)",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--n", default="524288,4194304")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--plan-seconds", type=float, default=20)
    parser.add_argument("--hpcc-order", type=int, default=2900)
    parser.add_argument("--pages", default="default")
    parser.add_argument("--real-time", action="store_true")
    asked = parser.parse_args()
    print(f"load {os.getloadavg()[0]:.0f}, pages={asked.pages}{', real-time priority' if asked.real_time else ''}")
    single = {"fft": ("hpcc/fft", 1, list[str]())}
    together = {f"gfft {way}": ("hpcc/gfft", RANKS, [f"transport={way}"]) for way in ("shared", "messages")}
    limit = str(asked.plan_seconds)
    with compiled("bare_fftw", "cc", "-lfftw3") as program:
        for n in map(int, asked.n.split(",") if program and asked.n else []):
            compare("FFTW", n, Peer([str(program), str(n), limit], asked.real_time), single, asked)
    with compiled("bare_fftw_mpi", "mpicc.openmpi", "-lfftw3_mpi", "-lfftw3") as program:
        for n in map(int, asked.n.split(",") if program and asked.n else []):
            command = ["mpirun.openmpi", "--oversubscribe", "-n", str(RANKS), str(program), str(n), limit]
            compare("FFTW-MPI", n, Peer(command, asked.real_time), together, asked)
    program_of_hpcc = shutil.which("hpcc")
    if program_of_hpcc is None:
        raise SystemExit("omitted: hpcc (not installed; try apt-get install hpcc)")
    theirs = hpcc(program_of_hpcc, asked.hpcc_order, asked.real_time)
    for way, (name, ranks, words) in {**single, **together}.items():
        n, peer = theirs[ranks]
        mine = ours(name, ranks, [*words, f"n={n}", f"pages={asked.pages}"], asked.real_time)
        print(f"n = {n}: {way} {mine / 1e9:.2f}, HPC Challenge {peer / 1e9:.2f} Gflop/s, ratio {mine / peer:.2f}")


if __name__ == "__main__":
    main()
