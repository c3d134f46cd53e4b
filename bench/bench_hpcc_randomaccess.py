"""HPCC's RandomAccess by Octant against a bare C program and the program `hpcc`; interleaved, ratios of medians.

    python bench/bench_hpcc_randomaccess.py [--ranks 1,2] [--bytes 512MiB] [--repeats 5] [--hpl 2900] [--real-time]
                                            [--mpiexec "mpirun --oversubscribe"]

The bare program has the algorithm of HPCC's default build (Octant's `algorithm=buckets`) and its memory from malloc; it
is compiled with the MPI library of this environment. Both make 2 million updates or more. `hpcc` (Debian's package of
that name) sizes its table by HPL's order `--hpl` and makes all its updates; it is ended after its single RandomAccess.
0 omits it. `--real-time` gives the ranks of both sides real-time priority.
"""

import argparse
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from _hpcc import random_updates
from _kernel import median
from octant import units
from octant.build import find_environment_program

UPDATES = 2_000_000  # of each rank, at least
REALTIME = ("chrt", "-f", "1")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--ranks", default="1,2")
    parser.add_argument("--bytes", default="512MiB")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--hpl", type=int, default=2900)
    parser.add_argument("--real-time", action="store_true")
    parser.add_argument("--mpiexec", default=str(find_environment_program("mpiexec") or "mpiexec"))
    asked = parser.parse_args()
    prefix = REALTIME if asked.real_time else ()
    program = shutil.which("hpcc")
    if program is None and asked.hpl:
        print("without the peer hpcc: it is not installed; try apt-get install hpcc", file=sys.stderr)
    with tempfile.TemporaryDirectory() as folder:
        bare = Path(folder) / "bare"
        source = Path(__file__).with_name("bare_hpcc_randomaccess.c")
        compiler = find_environment_program("mpicc") or "mpicc"
        subprocess.run([str(compiler), "-O3", "-march=native", str(source), "-o", str(bare)], check=True)
        for ranks in map(int, asked.ranks.split(",")):
            launcher = [*asked.mpiexec.split(), "-n", str(ranks), *prefix]
            against_bare(bare, units.parse_bytes(asked.bytes), ranks, launcher, asked.repeats)
            if program is not None and asked.hpl:
                against_hpcc(Path(program), asked.hpl, ranks, launcher, prefix, asked.repeats)


def ours(words: Sequence[str], launcher: Sequence[str]) -> float:
    """Return the updates per second."""
    return median("hpcc/randomaccess", [*words, "seconds=0.01", "warmup=1"], launcher)


def against_bare(bare: Path, table: int, ranks: int, launcher: Sequence[str], repeats: int) -> None:
    """Ours in each transport against the bare program, the same number of updates for each rank."""
    bits = (table // 8).bit_length() - 1
    each = max(1, -(-UPDATES * ranks * 8 // table))  # updates for each word
    of_rank = each * 2**bits // ranks

    def peer() -> float:
        done = subprocess.run(
            [*launcher, str(bare), str(bits), str(min(of_rank, UPDATES))], check=True, capture_output=True, text=True
        )
        return float(done.stdout)

    sides: dict[str, Callable[[], float]] = {"bare C": peer}
    for transport in ("shared", "messages") if ranks > 1 else ("messages",):
        words = [f"bytes={table}", f"updates={each}", f"transport={transport}"]
        sides[transport if ranks > 1 else "in memory"] = partial(ours, words, launcher)
    show(f"{ranks} rank{'s' * (ranks > 1)}, {units.bytes_text(table)}", sides, repeats)


def against_hpcc(
    program: Path, order: int, ranks: int, launcher: Sequence[str], prefix: Sequence[str], repeats: int
) -> None:
    """Ours against HPC Challenge, at its size."""
    last: dict[str, float] = {}

    def peer() -> float:
        last.update(random_updates(program, order, ranks, prefix))
        return last.get("MPIRandomAccess", float("nan"))

    sides: dict[str, Callable[[], float]] = {
        "hpcc, MPI": peer,
        "hpcc, single": lambda: last.get("SingleRandomAccess", float("nan")),
    }
    for transport in ("shared", "messages") if ranks > 1 else ("messages",):
        sides[transport if ranks > 1 else "in memory"] = partial(
            ours, [f"hpl={order}", f"transport={transport}"], launcher
        )
    show(f"{ranks} rank{'s' * (ranks > 1)}, hpl={order}", sides, repeats)


def show(title: str, sides: dict[str, Callable[[], float]], repeats: int) -> None:
    """Run all sides, interleaved, and print the median of each and its ratio to the first."""
    found: dict[str, list[float]] = {name: [] for name in sides}
    for _ in range(repeats):
        for name, measure in sides.items():
            found[name].append(measure())
    middles = {name: statistics.median(values) for name, values in found.items()}
    first = next(iter(middles))
    for name, middle in middles.items():
        print(f"{title:<24}{name:<14}{middle / 1e9:>9.4f} GUPS{middle / middles[first]:>8.2f} x {first}", flush=True)


if __name__ == "__main__":
    main()
