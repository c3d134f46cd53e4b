"""All figures of HPC Challenge by `octant hpcc` against those of the program `hpcc`, at its sizes; interleaved.

    python bench/bench_hpcc.py [--order 2900] [--ranks 2] [--rounds 3]

A round is one run of each. Figures use the reduction of HPCC if `octant hpcc` also has it, else Octant's median; the
median over rounds is printed. Above 1 Octant is better, for rates and for times. `hpcc` is Debian's package
of that name; a run of it takes a minute or more, whatever the order.
"""

import argparse
import json
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

from _hpcc import summary

PATIENCE_S = 300
BLOCK = 128


def ours(order: int, ranks: int) -> dict[tuple[str, str], float]:
    """Values of one run by key and rule."""
    with tempfile.TemporaryDirectory() as store:
        words = ["hpcc", "--size", f"hpl:{order}", "-n", str(ranks), "--json", "--store", store]
        done = subprocess.run(
            [sys.executable, "-m", "octant.cli", *words], stdout=subprocess.PIPE, text=True, check=True
        )
    rows = json.loads(done.stdout)["figures"]
    values: dict[tuple[str, str], float] = {}
    for row in rows:
        if value := row["reference"] or row["value"]:
            values.setdefault((row["key"], row["rule"]), value)  # of rings the first row has HPCC's buffers
    return values


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--order", type=int, default=2900)
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    asked = parser.parse_args()
    program = shutil.which("hpcc")
    if program is None:
        raise SystemExit("cannot compare (hpcc is not installed); try apt-get install hpcc")
    theirs, mine = defaultdict(list), defaultdict(list)
    for _ in range(asked.rounds):
        for key, value in summary(Path(program), asked.order, BLOCK, asked.ranks, PATIENCE_S).items():
            theirs[key].append(value)
        for of, value in ours(asked.order, asked.ranks).items():
            mine[of].append(value)
    print(f"{'figure':36}{'rule':11}{'hpcc':>12}{'octant':>12}{'ratio':>8}")
    for (key, rule), values in mine.items():
        if theirs.get(key):
            one, other = statistics.median(theirs[key]), statistics.median(values)
            ratio = one / other if key.endswith("usec") else other / one
            print(f"{key:36}{rule:11}{one:>12.5g}{other:>12.5g}{ratio:>8.2f}")


if __name__ == "__main__":
    main()
