"""Octant's transposition against HPC Challenge's, interleaved; ratios of medians.

    python bench/bench_hpcc_ptrans.py [--n 5792] [--block 192] [--ranks 2] [--repeats 5] [--maps 5]
        [--pages thp] [--real-time]

The peer is the program `hpcc` (Debian's package of that name, over its Open MPI). It is ended in its PTRANS section
after the requested number of rank maps. The median of these times, which have two decimals, is compared
with ours, and the least of its rates, which it reports, with that of our worst map. `--real-time` starts the ranks of
both at real-time priority.
"""

import argparse
import math
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from _hpcc import settings
from _kernel import points
from octant import workloads
from octant.analysis.figures import figure
from octant.build import find_environment_program

TRANSPORTS = ("shared", "messages")
PATIENCE_S = 120
OTHER_N = 500  # HPL's order, for the tests that are not asked for


def hpcc(program: Path, n: int, block: int, ranks: int, maps: int, before: list[str]) -> tuple[float, float]:
    """B/s of the median execution, and of the slowest, which it reports.

    Args:
        before: words that start its launcher.

    Raises:
        SystemExit: it ended before it had transposed, or took too long.
    """
    rows = max(p for p in range(1, math.isqrt(ranks) + 1) if ranks % p == 0)
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "hpccinf.txt").write_text(settings(OTHER_N, block, rows, ranks // rows, ptrans=(n,)))
        command = [*before, str(program.with_name("mpirun.openmpi")), "--allow-run-as-root", "--oversubscribe"]
        started = subprocess.Popen([*command, "-n", str(ranks), str(program)], cwd=folder, stdout=subprocess.DEVNULL)
        try:
            found = executions(started, Path(folder) / "hpccoutf.txt", n, maps)
        finally:
            started.send_signal(signal.SIGTERM)
            started.wait()
    return 8 * n * n / statistics.median(seconds for seconds, _ in found), found[-1][1] * 1e9


def executions(started: "subprocess.Popen[bytes]", output: Path, n: int, maps: int) -> list[tuple[float, float]]:
    """Seconds of each execution, and the least rate so far in GB/s."""
    line = re.compile(rf"^WALL +{n} +{n} .*?([0-9.]+) PASSED +([0-9.]+) .*\n", re.MULTILINE)
    begin = time.monotonic()
    while True:
        found = line.findall(output.read_text()) if output.exists() else []
        if len(found) >= maps:
            return [(float(seconds), float(rate)) for seconds, rate in found]
        if started.poll() is not None or time.monotonic() > begin + PATIENCE_S:
            raise SystemExit("cannot compare (hpcc has not transposed); run it by itself")
        time.sleep(0.02)


def ours(words: list[str], launcher: list[str]) -> tuple[float, float]:
    """B/s of the median repetition, and of the worst map."""
    workload = workloads.workload("hpcc/ptrans")
    (point,) = points(workload.name, words, launcher)
    values = [figure(workload, [point], name).value for name in ("rate", "HPCC rate")]
    if None in values:
        raise SystemExit(f"cannot compare (hpcc/ptrans {' '.join(words)} gave no right answer); run it by itself")
    return tuple(value.middle for value in values if value)  # type: ignore[return-value]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--n", type=int, default=5792)
    parser.add_argument("--block", type=int, default=192)
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--maps", type=int, default=5)
    parser.add_argument("--pages", default="thp")
    parser.add_argument("--real-time", action="store_true")
    asked = parser.parse_args()
    peer = shutil.which("hpcc")
    if peer is None:
        sys.exit("cannot compare (the program hpcc is not installed); try apt-get install hpcc")
    before = ["chrt", "-f", "1"] if asked.real_time else []
    launcher = [*before, str(find_environment_program("mpiexec") or "mpiexec"), "-n", str(asked.ranks)]
    rates: dict[str, list[tuple[float, float]]] = {name: [] for name in ("hpcc", *TRANSPORTS)}
    for _ in range(asked.repeats):
        rates["hpcc"].append(hpcc(Path(peer), asked.n, asked.block, asked.ranks, asked.maps, before))
        for transport in TRANSPORTS:
            words = [f"n={asked.n}", f"block={asked.block}", f"transport={transport}", f"pages={asked.pages}"]
            rates[transport].append(ours([*words, "seconds=1.5", "precision=0"], launcher))
    medians = {
        name: [statistics.median(column) for column in zip(*found, strict=True)] for name, found in rates.items()
    }
    print(f"{asked.ranks} ranks, n = {asked.n}{'median, GB/s':>24}{'/ hpcc':>8}{'worst map, GB/s':>18}{'/ hpcc':>8}")
    for name, (median, worst) in medians.items():
        of_median, of_worst = median / medians["hpcc"][0], worst / medians["hpcc"][1]
        print(f"{name:<26}{median / 1e9:>14.2f}{of_median:>8.2f}{worst / 1e9:>18.2f}{of_worst:>8.2f}", flush=True)


if __name__ == "__main__":
    main()
